"""Fixed, seeded inputs that checkpoints are measured on; one file each."""

from ontogeny.stimuli.heldout import heldout
from ontogeny.stimuli.repeated_tokens import repeated_tokens

__all__ = ["heldout", "repeated_tokens"]
