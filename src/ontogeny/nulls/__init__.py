"""What there would be to see if there were nothing to find: of evidence or of one series; one file each."""

from ontogeny.nulls.autoregressive import autoregressive
from ontogeny.nulls.circular_shift import circular_shift
from ontogeny.nulls.monotone import monotone
from ontogeny.nulls.random_direction import random_direction
from ontogeny.nulls.shuffled_label import shuffled_label
from ontogeny.nulls.shuffled_lag import shuffled_lag
from ontogeny.nulls.trend_matched import trend_matched

__all__ = [
    "autoregressive",
    "circular_shift",
    "monotone",
    "random_direction",
    "shuffled_label",
    "shuffled_lag",
    "trend_matched",
]
