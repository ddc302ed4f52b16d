"""Rows as labelled arrays: one dimension an axis that varies or is present."""

import pandas as pd
import xarray as xr

from ontogeny.errors import UnknownName
from ontogeny.vocabulary import AXES


def labelled(
    table: pd.DataFrame,
    part: str,
    component: str = "",
    stimulus: str | None = None,
    settings: str | None = None,
    run: bool = False,
) -> xr.DataArray:
    """Values of one part's component over (run,) step and its place axes; undefined is NaN.

    Rows of several stimuli or settings need one of each to be named; the default is the first stimulus of
    the table, and the part's default settings. A part measured at several kinds of site has one array for
    those places that share its axes: matrices are left out unless nothing else was measured
    (`run.table(part)` has them all). Numbers between two places have the second one, as text, on `place_to`.
    """
    components = set(table["component"])
    if component not in components:
        raise UnknownName(f"component of {part!r}", component, components)
    chosen = one_definition(table[table["component"] == component], part, stimulus, settings)
    axes = [axis for axis in AXES if chosen[axis].notna().any()]
    if axes:
        chosen = chosen.dropna(subset=axes)
    edges = ["place_to"] if (chosen["place_to"].fillna("") != "").any() else []
    keys = (["run"] if run else []) + ["step", *axes, *edges]
    series = chosen.astype(dict.fromkeys([a for a in axes if AXES[a] is int], "int64"))
    series = series.drop_duplicates(keys, keep="last").set_index(keys)["value"].astype("float64")
    array = xr.DataArray.from_series(series)
    array.name = part
    said = chosen[["stimulus_name", "settings"]].iloc[0]
    array.attrs |= {"component": component, "stimulus": said["stimulus_name"], "settings": said["settings"]}
    return array


def one_definition(
    table: pd.DataFrame, part: str, stimulus: str | None = None, settings: str | None = None
) -> pd.DataFrame:
    """Rows of one part on one stimulus with one choice of parameters; UnknownName lists what there is.

    Left out, the stimulus is the first in the table, and the settings are the part's defaults (or the only
    ones there are).
    """
    stimuli = list(table["stimulus_name"].unique())
    if stimulus is None:
        stimulus = next((name for name in stimuli if name), "")
    if stimulus not in stimuli:
        raise UnknownName(f"stimulus {part!r} was measured on", str(stimulus), stimuli)
    table = table[table["stimulus_name"] == stimulus]
    choices = list(table["settings"].unique())
    if settings is None:
        settings = choices[0] if len(choices) == 1 else ""
    if settings not in choices:
        raise UnknownName(f"settings {part!r} was measured with", str(settings), choices)
    return table[table["settings"] == settings]
