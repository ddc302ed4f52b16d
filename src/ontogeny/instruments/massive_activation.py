"""ACT-01."""

import torch

from ontogeny.catalogue import instrument
from ontogeny.evidence.magnitude_peaks import Peaks
from ontogeny.vocabulary import Reading, Status, undefined


@instrument(
    unit="ratio",
    source="Sun et al. 2402.17762 (ratio statistics checked, criteria recalled)",
    family="activations",
    version=2,
)
def massive_activation(magnitude_peaks: Peaks) -> dict[str, Reading]:
    """How far the largest entry of the residual stream stands out from the median entry.

    max |x| / median |x| of one sequence's T × d entries, mean over 10 sequences. Beside it `top1` … `top3`,
    `median`; the most frequent `dimension` and `position` of the largest entry, and of the two after it
    (`dimension2` …); `massive`: how many of a sequence's top 3 entries exceed 100 and reach 1000 × the
    median; `massive_rel`: how many reach 1000 × the median, whatever their size.

    Known: Gaussian 64 × 768 -> 6.5 ± 0.4; one entry set to 1e4 -> massive = 1.
    Misleads: small models rarely pass the absolute rule, and the ratio grows with the number of entries.
    """
    n = len(magnitude_peaks.median)
    median = magnitude_peaks.median.double()
    if not bool(magnitude_peaks.top.isfinite().all()):
        return {"": undefined(Status.NONFINITE, "a sequence has entries that are not finite", n=n)}
    if bool((median == 0).any()):
        return {"": undefined(Status.ZERO_OUTPUT, "the median entry of a sequence is 0", n=n)}
    top = magnitude_peaks.top.double()
    found = {"": (top[:, 0] / median).mean(), "median": median.mean()}
    found |= {f"top{k + 1}": top[:, k].mean() for k in range(top.shape[1])}
    found["massive"] = magnitude_peaks.massive().sum(1).double().mean()
    found["massive_rel"] = magnitude_peaks.standing_out().sum(1).double().mean()
    for k, place in enumerate(magnitude_peaks.place.T):
        rank = str(k + 1) if k else ""
        found[f"dimension{rank}"] = torch.mode(place % magnitude_peaks.width).values.double()
        found[f"position{rank}"] = torch.mode(place // magnitude_peaks.width).values.double()
    return {name: Reading(value, n=n) for name, value in found.items()}
