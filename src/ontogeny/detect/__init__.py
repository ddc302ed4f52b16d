"""Detect: when each measured number changed, held against its null; or why nothing is claimed."""

from ontogeny.detect.looking import locate
from ontogeny.detect.one_run import detect, transitions_of
from ontogeny.detect.table import LEAST, TABLE, claimed, read_transitions

__all__ = ["LEAST", "TABLE", "claimed", "detect", "locate", "read_transitions", "transitions_of"]
