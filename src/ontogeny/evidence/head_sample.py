"""What each head hands on at a fixed choice of tokens, the same ones as the sample of the stream."""

from ontogeny.evidence.kinds import streamed
from ontogeny.evidence.residual_sample import ResidualSample

streamed("head_sample", at="head_output", make=ResidualSample)
