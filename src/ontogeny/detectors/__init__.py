"""Parts that say when a series changed, or why nothing is claimed; one file each."""

from ontogeny.detectors.binary_segmentation import binary_segmentation
from ontogeny.detectors.double_sigmoid import double_sigmoid
from ontogeny.detectors.emergence_time import emergence_time
from ontogeny.detectors.half_rise import half_rise
from ontogeny.detectors.jump import jump
from ontogeny.detectors.online_change import online_change
from ontogeny.detectors.peak import peak
from ontogeny.detectors.pelt import pelt
from ontogeny.detectors.reversal import reversal
from ontogeny.detectors.sigmoid import sigmoid
from ontogeny.detectors.threshold import threshold
from ontogeny.detectors.trough import trough

__all__ = [
    "binary_segmentation",
    "double_sigmoid",
    "emergence_time",
    "half_rise",
    "jump",
    "online_change",
    "peak",
    "pelt",
    "reversal",
    "sigmoid",
    "threshold",
    "trough",
]
