"""What instruments would read if there were nothing to find; one file each."""

from ontogeny.nulls.random_direction import random_direction
from ontogeny.nulls.shuffled_lag import shuffled_lag

__all__ = ["random_direction", "shuffled_lag"]
