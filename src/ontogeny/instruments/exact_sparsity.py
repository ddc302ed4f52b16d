"""ACT-02."""

from ontogeny.catalogue import instrument
from ontogeny.evidence.neuron_activity import Activities, Activity
from ontogeny.vocabulary import Reading, Status, undefined


@instrument(
    unit="share", source="CETT at 0, Zhang et al. 2402.03804 (checked); standard", family="activations"
)
def exact_sparsity(neuron_activity: Activities) -> dict[str, Reading]:
    """What share of the values that enter an MLP's down projection is exactly 0.

    Over all neurons and tokens, after the non-linearity and any gate; position 0 is left out, `with_first`
    has it in. `n` counts values. It is the sparsity that pruning without any error would find (CETT 0).

    Known: ReLU of symmetric input -> 0.5; GELU or SiLU of moderate input -> 0.
    Misleads: smooth activations are near 0 without being 0, and in low precision small values round to 0.
    """
    rest = neuron_activity.rest
    return {"": _share(rest), "with_first": _share(rest.plus(neuron_activity.first))}


def _share(activity: Activity) -> Reading:
    n = activity.n * len(activity.size)
    if not n:
        return undefined(Status.TOO_SHORT, "no tokens are left without position 0", n=0)
    if not bool(activity.size.isfinite().all()):
        return undefined(Status.NONFINITE, "some neurons have values that are not finite", n=n)
    return Reading(activity.zeros.double() / n, n=n)
