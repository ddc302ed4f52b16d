"""SPE-10."""

from torch import Tensor

from ontogeny.catalogue import instrument
from ontogeny.evidence.covariance_eigenvalues import Variances, of_residual
from ontogeny.evidence.magnitude_peaks import Peaks
from ontogeny.evidence.residual_gram import Gram
from ontogeny.numerics.power_laws import rank_slope, tail_exponent
from ontogeny.numerics.spectra import eigenvalues_of_gram
from ontogeny.vocabulary import Reading, Status, undefined

#: Vectors needed for each feature.
VECTORS_A_FEATURE = 10


@instrument(unit="exponent", source="SPE-05 and SPE-06 composed (definition ours)", family="spectra")
def covariance_tail(
    covariance_eigenvalues: Variances, residual_gram: Gram, first_vectors: Tensor, magnitude_peaks: Peaks
) -> dict[str, Reading]:
    """The power law of a layer's variances: exponent of their density, and slope over their rank.

    Eigenvalues of the centred covariance; `""` is the exponent of their density as `weight_tail_exponent`
    finds it, with `not_power_law` beside it, `slope` that of `alpha_req`. Position 0 is left out; the same
    three with it are `with_first` …, and without the massive dimensions of `massive_activation` (whose
    number is `massive_dimensions`) `without_massive` …. A definition of ours. `n-too-small` below 10 vectors
    a feature.

    Known: λ_i = 1/i -> exponent 2, slope 1: they agree where exponent = 1 + 1 / slope. White data ->
    `not_power_law`.
    Misleads: the two read different ends of the spectrum, and any spectrum has an exponent.
    """
    n, width = residual_gram.n, len(residual_gram.total)
    if n < VECTORS_A_FEATURE * width:
        reason = f"{n} vectors of {width} features; {VECTORS_A_FEATURE * width} are needed"
        return {"": undefined(Status.N_TOO_SMALL, reason, n=n)}
    plain = covariance_eigenvalues.values
    massive = magnitude_peaks.massive_dimensions()
    found = _laws("", plain, n)
    whole = _with_first(residual_gram, first_vectors)
    found |= _laws(
        "with_first", whole if isinstance(whole, Reading) else whole.values, n + len(first_vectors)
    )
    found |= _laws("without_massive", _without(residual_gram, massive) if len(massive) else plain, n)
    return found | {"massive_dimensions": Reading(float(len(massive)), n=len(magnitude_peaks.median))}


def _laws(prefix: str, eigenvalues: Tensor | Reading, n: int) -> dict[str, Reading]:
    """The exponent under the prefix itself, the flag and the slope under names of their own."""
    joint = f"{prefix}_" if prefix else ""
    tail, slope = tail_exponent(eigenvalues), rank_slope(eigenvalues)
    found = {
        prefix: tail if isinstance(tail, Reading) else Reading(tail.alpha, n=n),
        f"{joint}slope": slope if isinstance(slope, Reading) else Reading(slope.slope, n=n),
    }
    if not isinstance(tail, Reading):
        found[f"{joint}not_power_law"] = Reading(float(tail.not_power_law), n=n)
    return found


def _with_first(gram: Gram, first: Tensor) -> Variances | Reading:
    vectors = first.double()
    outer, total = gram.outer + vectors.mT @ vectors, gram.total + vectors.sum(0)
    return of_residual(Gram(outer, total, gram.n + len(vectors)))


def _without(gram: Gram, dimensions: list[int]) -> Tensor | Reading:
    kept = [feature for feature in range(len(gram.total)) if feature not in dimensions]
    moment = float(gram.outer.diagonal()[kept].sum()) / (gram.n - 1)
    return eigenvalues_of_gram(gram.covariance()[kept][:, kept], moment=moment)
