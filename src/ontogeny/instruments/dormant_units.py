"""ACT-03."""

from ontogeny.catalogue import instrument
from ontogeny.evidence.neuron_activity import Activities, Activity
from ontogeny.vocabulary import Reading, Status, undefined

TAU = 0.025
TAUS = (0.0, TAU, 0.1)


@instrument(unit="share", source="Sokar et al. 2302.12902 (recalled)", family="activations")
def dormant_units(neuron_activity: Activities) -> dict[str, Reading]:
    """What share of an MLP's neurons is hardly active beside the others of its layer.

    Neurons with s_i ≤ 0.025, s_i = E|h_i| / mean_k E|h_k| over tokens; `tau_0`, `tau_0.025`, `tau_0.1` at
    those thresholds. Position 0 is left out; `with_first` has it in. `n` is the number of tokens; the share
    at 0 can only fall with more of them, which its `low` and `high` say.

    Known: equal units -> 0 (s = 1); one unit active of d -> (d − 1) / d.
    Misleads: a few very active neurons raise the mean and make the others dormant; a rare neuron is too.
    """
    rest = neuron_activity.rest
    found = {f"tau_{tau:g}": _share(rest, tau) for tau in TAUS}
    whole = _share(rest.plus(neuron_activity.first), TAU)
    return {"": _share(rest, TAU), **found, "with_first": whole}


def _share(activity: Activity, tau: float) -> Reading:
    n = activity.n
    if not n:
        return undefined(Status.TOO_SHORT, "no tokens are left without position 0", n=0)
    if not bool(activity.size.isfinite().all()):
        return undefined(Status.NONFINITE, "some neurons have values that are not finite", n=n)
    if not float(activity.size.sum()):
        return undefined(Status.ZERO_OUTPUT, "no neuron of the layer is ever active", n=n)
    share = (activity.size <= tau * activity.size.mean()).double().mean()
    return Reading(share, n=n) if tau else Reading(share, n=n, low=0.0, high=share)
