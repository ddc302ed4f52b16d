"""HEA-07."""

from collections.abc import Iterator

import numpy as np

from ontogeny.catalogue import Course, summary
from ontogeny.vocabulary import Place, Reading, Status, Summarised, undefined


@summary(
    unit="nats",
    source="weight decay as a control parameter in modular arithmetic, 2026 (from abstract)",
    family="heads",
)
def entropy_dispersion(attention_entropy: Course) -> Iterator[Summarised]:
    """How much heads differ in how spread their attention is.

    The standard deviation of `attention_entropy` over all heads of all layers; `within_layer` over the heads
    of each layer. Of these heads (divisor: their number). From an abstract: the plain deviation is our
    assumption.

    Known: duplicated heads -> 0; two heads at 0 and 2 nats -> 1.
    Misleads: a layer of sinks and a layer of spread heads read as dispersed as heads that differ within
    each layer: compare the two.
    """
    steps = attention_entropy.steps
    entropies = attention_entropy.labelled().reindex(step=steps)
    for step, whole in zip(steps, entropies, strict=True):
        yield Summarised(_deviation(whole.values), step=step)
        layers = whole.transpose("layer", ...)
        for layer, heads in zip(layers["layer"].values, layers.values, strict=True):
            yield Summarised(_deviation(heads), step, Place(layer=int(layer)), "within_layer")


def _deviation(entropies: np.ndarray) -> Reading:
    found = entropies[np.isfinite(entropies)]
    if found.size < 2:
        return undefined(Status.N_TOO_SMALL, f"the entropy of {found.size} heads is a number", n=found.size)
    return Reading(float(found.std()), n=found.size)
