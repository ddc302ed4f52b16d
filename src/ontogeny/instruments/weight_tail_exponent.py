"""SPE-06."""

from torch import Tensor

from ontogeny.catalogue import instrument
from ontogeny.numerics.power_laws import tail_exponent
from ontogeny.vocabulary import Reading


@instrument(
    unit="exponent",
    source="Martin, Peng, Mahoney 2002.06716 (Nature Comms 2021, table 2); WeightWatcher 0.7.7 (checked); "
    "not_power_law is our rule",
    family="spectra",
    at=("matrix",),
)
def weight_tail_exponent(singular_values: Tensor) -> dict[str, Reading]:
    """How heavy the tail of a weight matrix's spectrum is (WeightWatcher's α).

    λ = σ², zeros dropped; p(λ) ∝ λ^−α above the λ_min with the least Kolmogorov–Smirnov distance,
    α = 1 + n / Σ log(λ_i / λ_min). Beside it `sigma` = (α − 1) / √n, `distance`, `lambda_min`, `tail` (how
    many eigenvalues lie in it), `alpha_hat` = α log10 λ_max, and `not_power_law`: 1 where the tail holds
    fewer than 20 or the distance exceeds 0.1. Below 20 eigenvalues α takes n − 1 and short tails are let off
    0.868 / √n; `n-too-small` below 8.

    Known: 2,000 Pareto draws, α = 3 -> 3.05 ± 0.045; 512² Student-t(2) weights -> 2.3 … 2.6.
    Misleads: Gaussian weights give anything from 4 to 18: read nothing where `not_power_law` is 1.
    """
    found = tail_exponent(singular_values.square())
    if isinstance(found, Reading):
        return {"": found}
    numbers = {
        "": found.alpha,
        "sigma": found.sigma,
        "distance": found.distance,
        "lambda_min": found.start,
        "tail": float(found.size),
        "alpha_hat": found.alpha_hat,
        "not_power_law": float(found.not_power_law),
    }
    return {name: Reading(number, n=found.values) for name, number in numbers.items()}
