"""An ordered set of checkpoints, wherever they lie and whoever wrote them.

Series.open("runs/mine")                                # a run
Series.open("checkpoints/", tokens=512 * 1024)          # a folder of them, in any format
Series.open("hub:owner/name", pattern="step{step}")     # a hub's revisions, one here at a time
Series.of(load, range(0, 1000, 100), name="mine")       # whatever a function gives
"""

from ontogeny.series.checkpoint import LocalCheckpoint, SeriesCheckpoint, StoredCheckpoint
from ontogeny.series.hub import FETCHED
from ontogeny.series.made import MadeCheckpoint, module_of
from ontogeny.series.series import Series, home_of
from ontogeny.series.steps import TokenRule, read_steps, with_tokens, write_steps

__all__ = [
    "FETCHED",
    "LocalCheckpoint",
    "MadeCheckpoint",
    "Series",
    "SeriesCheckpoint",
    "StoredCheckpoint",
    "TokenRule",
    "home_of",
    "module_of",
    "read_steps",
    "with_tokens",
    "write_steps",
]
