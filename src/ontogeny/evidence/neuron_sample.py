"""An MLP's neurons at a fixed choice of tokens, spread as those of the residual sample are."""

from torch import Tensor

from ontogeny.evidence.kinds import derived, streamed
from ontogeny.evidence.residual_sample import ROWS, ResidualSample

#: Neurons up to which a sample has at least as many tokens as there are neurons. The sample of a wider layer
#: would be hundreds of megabytes for all layers, and its eigenvalues would take minutes.
WIDEST = 3072


class _NeuronSample(ResidualSample):
    """[item neuron] in float32: 1,280 tokens, or as many as there are neurons if those are more."""

    def rows(self, width: int) -> int:
        return max(ROWS, width) if width <= WIDEST else ROWS


for _at in ("mlp_preactivation", "mlp_activation"):
    streamed("neuron_sample", at=_at, make=_NeuronSample)


@derived("preactivation_sample", at="mlp_activation", there="mlp_preactivation")
def of_preactivation(neuron_sample: Tensor) -> Tensor:
    """What the non-linearity was given at the same tokens."""
    return neuron_sample
