"""Tables of changes as `detect` gives them, from a few words."""

import pandas as pd

from ontogeny.detect.table import as_table


def change(
    part: str = "induction",
    step: float | None = 100.0,
    size: float | None = 0.5,
    p: float | None = 0.005,
    *,
    claimed: bool = True,
    stimulus: str = "heldout",
    within: float = 1.1,
    **place: int,
) -> dict:
    """One change; its interval reaches from the step over `within` to the step times it."""
    bounds = {} if step is None else {"low": step / within, "high": step * within}
    return {
        "part": part, "stimulus_name": stimulus, "unit": "attention", "method": "half_rise", **place,
        "verdict": "transition" if claimed else "none", "step": step, "size": size, "p": p, "level": 0.95,
        "reason": "" if claimed else "quiet", **bounds,
    }  # fmt: skip


def table(*changes: dict) -> pd.DataFrame:
    """What `detect` would give for one run."""
    return as_table(list(changes))
