"""Views: pure functions from tables to the description of a figure. They never draw and touch no disk.

Tables are found by name: `telemetry`, `rows`, `transitions` (pandas) and `samples` (pairs of step and text).
A table may be empty or lack columns; the figure then says what is not there.
"""

from ontogeny.views.head_grid import head_grid
from ontogeny.views.head_timeline import head_timeline
from ontogeny.views.layer_by_step import layer_by_step
from ontogeny.views.learning_curve import learning_curve
from ontogeny.views.not_found import not_found
from ontogeny.views.optimizer_health import optimizer_health
from ontogeny.views.part_over_time import part_over_time
from ontogeny.views.samples import samples
from ontogeny.views.seeds_table import seeds_table
from ontogeny.views.spectra_over_time import spectra_over_time
from ontogeny.views.transition_table import transition_table

__all__ = [
    "head_grid",
    "head_timeline",
    "layer_by_step",
    "learning_curve",
    "not_found",
    "optimizer_health",
    "part_over_time",
    "samples",
    "seeds_table",
    "spectra_over_time",
    "transition_table",
]
