"""What instruments would read if there were nothing to find; one file each."""

from ontogeny.nulls.shuffled_lag import shuffled_lag

__all__ = ["shuffled_lag"]
