"""Detect: when each measured number changed, held against its null; or why nothing is claimed."""

from ontogeny.detect.configurations import by_configuration
from ontogeny.detect.looking import locate
from ontogeny.detect.one_run import detect, transitions_of
from ontogeny.detect.order import leads
from ontogeny.detect.over_seeds import over_seeds
from ontogeny.detect.seeds import SEEDS, detect_each, detect_seeds, read_seeds, write_seeds
from ontogeny.detect.table import LEAST, TABLE, claimed, read_transitions

__all__ = [
    "LEAST",
    "SEEDS",
    "TABLE",
    "by_configuration",
    "claimed",
    "detect",
    "detect_each",
    "detect_seeds",
    "leads",
    "locate",
    "over_seeds",
    "read_seeds",
    "read_transitions",
    "transitions_of",
    "write_seeds",
]
