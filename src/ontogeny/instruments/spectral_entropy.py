"""ACT-06."""

import math
from collections.abc import Mapping

from ontogeny.catalogue import instrument
from ontogeny.evidence.covariance_eigenvalues import Variances
from ontogeny.numerics.spectral_shape import early_enrichment_of, spectral_divergence, spectral_entropy_of
from ontogeny.vocabulary import Reading, Status, undefined


@instrument(unit="nats", source="NerVE, Jha & Reagen 2603.06922 (checked)", family="activations")
def spectral_entropy(variance_spectra: Mapping[str, Variances | Reading]) -> dict[str, Reading]:
    """How evenly the variance of a layer is spread over directions, before and after its non-linearity.

    SE = −Σ λ̂ log λ̂, λ̂ the eigenvalues of the centred covariance over their sum: `""` of the residual
    stream, `preactivation` and `activation` of an MLP's neurons (at the tokens of a fixed sample, at least
    as many as neurons: `n-too-small` above 3,072 neurons, whose sample is not kept). Beside each, `…
    dispersion` = SE / ln D and `… early_enrichment` = (2/D) Σ_k (share of the first k − k/D), within 0 and
    1. `divergence` is the Jensen–Shannon divergence of an MLP's two spectra, 0 to ln 2. Position 0 is left
    out.

    Known: D equal variances -> ln D, enrichment 0; one direction -> 0, enrichment (D − 1) / D.
    Misleads: with few tokens white data reads ln D − D / (2n), not ln D; one massive dimension brings it
    near 0.
    """
    found: dict[str, Reading] = {}
    for name, spectrum in variance_spectra.items():
        found |= {f"{name}_{what}".strip("_"): one for what, one in _shape(spectrum).items()}
    if {"preactivation", "activation"} <= set(variance_spectra):
        found["divergence"] = _divergence(variance_spectra["preactivation"], variance_spectra["activation"])
    return found


def _shape(spectrum: Variances | Reading) -> dict[str, Reading]:
    if isinstance(spectrum, Reading):
        return {"": spectrum}
    n, values = spectrum.n, spectrum.values
    if isinstance(values, Reading):
        return {"": values}
    width = len(values)
    if n < width:
        reason = f"{n} vectors of {width} features; at least as many are needed"
        return {"": undefined(Status.N_TOO_SMALL, reason, n=n)}
    entropy = _of(spectral_entropy_of(values), n)
    if width < 2:
        dispersion = undefined(Status.N_TOO_SMALL, "one direction has nothing to spread over", n=n)
    else:
        dispersion = _of(entropy, n, 1 / math.log(width))
    return {
        "": entropy,
        "dispersion": dispersion,
        "early_enrichment": _of(early_enrichment_of(values), n),
    }


def _of(reading: Reading, n: int, scale: float = 1.0) -> Reading:
    return Reading(reading.value * scale, n=n, status=reading.status, reason=reading.reason)


def _divergence(before: Variances | Reading, after: Variances | Reading) -> Reading:
    if isinstance(before, Reading):
        return before
    if isinstance(after, Reading):
        return after
    return _of(spectral_divergence(before.values, after.values), min(before.n, after.n))
