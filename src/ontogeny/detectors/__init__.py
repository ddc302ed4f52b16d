"""Parts that say when a series changed, or why nothing is claimed; one file each."""

from ontogeny.detectors.half_rise import half_rise

__all__ = ["half_rise"]
