"""What can be learned from what; one file each."""

from ontogeny.objectives.copied_segments import copied_segments
from ontogeny.objectives.modular_addition import modular_addition
from ontogeny.objectives.next_token import next_token

__all__ = ["copied_segments", "modular_addition", "next_token"]
