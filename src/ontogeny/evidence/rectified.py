"""Whether a layer's non-linearity is one that gives exactly 0 for whatever is not positive (ReLU, ReLU²)."""

from torch import Tensor

from ontogeny.evidence.kinds import derived


@derived("rectified", at="mlp_activation")
def of_neurons(neuron_sample: Tensor, preactivation_sample: Tensor) -> bool:
    """Told from what went in and what came out: true if some inputs are not positive and all of these gave 0.

    Gated ones count, too. Where every input lies so low that a smooth function rounds to 0, it is one here.
    """
    low = preactivation_sample <= 0
    return bool(low.any()) and not bool((low & (neuron_sample != 0)).any())
