"""Rows as labelled arrays: one dimension an axis that varies or is present."""

import pandas as pd
import xarray as xr

from ontogeny.errors import UnknownName
from ontogeny.vocabulary import AXES


def labelled(
    table: pd.DataFrame, part: str, component: str = "", stimulus: str | None = None, run: bool = False
) -> xr.DataArray:
    """Values of one part's component over (run,) step and its place axes; undefined is NaN.

    Rows of several stimuli need one to be named; the default is the first in the table. A part measured at
    several kinds of site has one array for those places that share its axes: matrices are left out unless
    nothing else was measured (`run.table(part)` has them all).
    """
    components = set(table["component"])
    if component not in components:
        raise UnknownName(f"component of {part!r}", component, components)
    chosen = table[table["component"] == component]
    stimuli = list(dict.fromkeys(chosen["stimulus_name"]))
    if stimulus is None:
        stimulus = next((name for name in stimuli if name), "")
    if stimulus not in stimuli:
        raise UnknownName(f"stimulus {part!r} was measured on", str(stimulus), stimuli)
    chosen = chosen[chosen["stimulus_name"] == stimulus]
    axes = [axis for axis in AXES if chosen[axis].notna().any()]
    if axes:
        chosen = chosen.dropna(subset=axes)
    keys = (["run"] if run else []) + ["step", *axes]
    series = chosen.astype(dict.fromkeys([a for a in axes if AXES[a] is int], "int64"))
    series = series.drop_duplicates(keys, keep="last").set_index(keys)["value"].astype("float64")
    array = xr.DataArray.from_series(series)
    array.name = part
    array.attrs |= {"component": component, "stimulus": stimulus}
    return array
