"""Many runs of one configuration: each looked at, and all of them together."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from ontogeny.detect.configurations import require_repeats
from ontogeny.detect.one_run import detect
from ontogeny.detect.over_seeds import over_seeds
from ontogeny.errors import NotARun
from ontogeny.store.rows import read_table, write_table

#: Where a collection keeps what its runs say together; it may be deleted.
SEEDS = "seeds.parquet"


def detect_each(
    paths: Sequence[Path | str], parts: Sequence[str] = (), **how: Any
) -> dict[str, pd.DataFrame]:
    """What `detect` gives for each run, by its name (by its path where two names are alike)."""
    names = [Path(path).name for path in paths]
    labels = names if len(set(names)) == len(names) else [str(path) for path in paths]
    return {label: detect(path, parts, **how) for label, path in zip(labels, paths, strict=True)}


def detect_seeds(
    runs: Sequence[Path | str],
    parts: Sequence[str] = (),
    *,
    controls: Sequence[Path | str] = (),
    by: str = "best",
    alpha: float = 0.05,
    home: Path | str | None = None,
    **how: Any,
) -> pd.DataFrame:
    """When runs of one configuration changed, in how many of them, and whether by chance; see `over_seeds`.

    runs      runs (or series of checkpoints) that differ in their seed only; the run is the unit
    controls  runs of another configuration, in which nothing of the kind should be seen
    by        `best`: each run's own best place; `place`: the same place in every run
    home      where the table is kept, as `seeds.parquet`; it is not kept if None
    how       `detector`, `null`, `least`, `correction`: as for `detect`, which is done for every run
    Errors: NotObservable where runs are of several configurations, or one of them is a copy of another.
    """
    if not runs:
        raise NotARun("there are no runs to hold together", allowed="one or more runs of one configuration")
    require_repeats(runs)
    tables = detect_each(runs, parts, **how)
    against = detect_each(controls, parts, **how) if controls else None
    found = over_seeds(tables, against, by=by, alpha=alpha)
    if home is not None:
        write_seeds(home, found)
    return found


def write_seeds(home: Path | str, found: pd.DataFrame) -> None:
    """Keep what runs say together as `seeds.parquet`; `group` tells configurations apart."""
    labelled = found if "group" in found else found.assign(group="")
    write_table(Path(home) / SEEDS, pa.Table.from_pandas(labelled, preserve_index=False))


def read_seeds(homes: Sequence[Path | str]) -> pd.DataFrame:
    """What is kept in collections' folders, one below the other; empty where nothing is."""
    kept = [Path(home) / SEEDS for home in homes if (Path(home) / SEEDS).exists()]
    found = [read_table(path).to_pandas() for path in kept]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()
