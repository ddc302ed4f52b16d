"""The table of a series' steps, kept beside its rows: tokens seen, and where each checkpoint came from.

Rows are keyed by step; whoever draws or detects over tokens joins this table to them.
"""

import math
from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd
import pyarrow as pa

from ontogeny.errors import BadSource
from ontogeny.series.checkpoint import SeriesCheckpoint
from ontogeny.store.rows import read_table, write_table

TABLE = "steps.parquet"
_COLUMNS = {"step": "int64", "tokens": "float64", "label": "str"}

#: Tokens per step, or tokens seen by a step.
TokenRule = int | float | Callable[[int], float]


def tokens_by(rule: TokenRule | None) -> Callable[[int], float | None]:
    """The rule as a function of the step. BadSource where it gives no count."""

    def tokens(step: int) -> float | None:
        if rule is None:
            return None
        found = rule(step) if callable(rule) else rule * step
        if not isinstance(found, int | float) or not math.isfinite(found) or found < 0:
            raise BadSource(
                f"the rule gives no number of tokens for step {step}",
                received=repr(found),
                allowed="a number of tokens per step, or a function from the step to the tokens seen by then",
            )
        return float(found)

    return tokens


def write_steps(home: Path, checkpoints: Iterable[SeriesCheckpoint]) -> None:
    """Keep step, tokens (missing where unknown) and label of every checkpoint.

    What was known earlier stays where nothing better is known now: tokens, and steps that are gone since.
    """
    before = read_steps(home).set_index("step")
    lines = [(c.step, c.tokens, c.label) for c in checkpoints]
    now = pd.DataFrame(lines, columns=list(_COLUMNS)).astype(_COLUMNS).set_index("step")
    whole = now.combine_first(before).sort_index()
    if not whole.equals(before):
        table = whole.reset_index()[list(_COLUMNS)].astype(_COLUMNS)
        write_table(home / TABLE, pa.Table.from_pandas(table, preserve_index=False))


def read_steps(home: Path | str) -> pd.DataFrame:
    """What `write_steps` kept, by step; empty before anything was measured there."""
    path = Path(home) / TABLE
    if not path.exists():
        return pd.DataFrame(columns=list(_COLUMNS)).astype(_COLUMNS)
    return read_table(path).to_pandas().sort_values("step", ignore_index=True)


def with_tokens(rows: pd.DataFrame, home: Path | str) -> pd.DataFrame:
    """Rows with a column `tokens`, by their step; NaN where the series does not know.

    Misleads: a rule of so many tokens per step is wrong for runs that changed their batch size.
    """
    known = read_steps(home).set_index("step")["tokens"]
    return rows.assign(tokens=rows["step"].map(known).astype("float64"))
