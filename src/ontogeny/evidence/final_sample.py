"""A fixed choice of vectors after the final norm, the same tokens at every checkpoint."""

from ontogeny.evidence.kinds import streamed
from ontogeny.evidence.residual_sample import ResidualSample

streamed("final_sample", at="final_state", make=ResidualSample)
