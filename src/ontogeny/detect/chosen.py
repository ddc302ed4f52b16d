"""One change a run: the one that stands for it where runs are held together."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ontogeny.errors import BadArgument
from ontogeny.vocabulary import AXES, Status, Verdict

#: The same place in every run; or each run's own best, wherever it is.
BY = ("best", "place")
#: What is looked at together.
FAMILY = ("part", "component", "stimulus_name")


def chosen_changes(tables: Mapping[str, pd.DataFrame], by: str = "best") -> pd.DataFrame:
    """One row for every run and family (part, component, stimulus), and for every place with `by="place"`.

    Of several rows the one that is claimed, then that of the smallest p, then that of the largest size. p is
    held against the largest of the null over all places, so the choice of the best place is paid for in it.
    `run` holds the names of the tables. A run in which something was not looked at has no row for it; one in
    which no change was found has a change of size 0, unless its series was too short.
    """
    if by not in BY:
        raise BadArgument("an unknown way to hold runs together", received=by, allowed=", ".join(BY))
    frames = [frame.assign(run=name) for name, frame in tables.items() if len(frame)]
    if not frames:
        return pd.DataFrame(columns=[*FAMILY, *AXES, "run", "verdict", "p", "size", "step", "low", "high"])
    every = pd.concat(frames, ignore_index=True)
    nothing = every["size"].isna() & ~every["reason"].str.startswith(str(Status.TOO_SHORT))
    every["size"] = every["size"].mask(nothing, 0.0)
    rank = pd.DataFrame(
        {
            "unclaimed": every["verdict"] != str(Verdict.TRANSITION),
            "p": every["p"].fillna(np.inf),
            "small": -every["size"].abs().fillna(0.0),
        }
    )
    ordered = every.loc[rank.sort_values(["unclaimed", "p", "small"], kind="stable").index]
    best = ordered.drop_duplicates(["run", *FAMILY, *places(by)])
    return best.sort_values([*FAMILY, *places(by), "run"], kind="stable", ignore_index=True)


def places(by: str) -> Sequence[str]:
    """The axes that tell rows apart."""
    return list(AXES) if by == "place" else []


def claims(chosen: pd.DataFrame) -> pd.DataFrame:
    """The rows that claim a change at a step."""
    return chosen[(chosen["verdict"] == str(Verdict.TRANSITION)) & chosen["step"].notna()]
