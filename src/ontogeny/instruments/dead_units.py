"""ACT-03."""

import math

from torch import Tensor

from ontogeny.catalogue import instrument
from ontogeny.evidence.neuron_activity import Activities, Activity
from ontogeny.vocabulary import Reading, Status, undefined

#: Tokens that a claim of death is about.
TOKENS = 100_000
#: Below this share of the layer's median RMS a unit of a smooth activation is dead.
WEAK = 1e-3


@instrument(
    unit="share", source="Sokar et al. 2302.12902; Voita et al. 2309.04827 (recalled)", family="activations"
)
def dead_units(neuron_activity: Activities, rectified: bool) -> dict[str, Reading]:
    """What share of an MLP's neurons does nothing on any token.

    Where the non-linearity gives exactly 0 for what is not positive (`rectified` is then 1): neurons that are
    0 on every token. Elsewhere: neurons whose RMS is below 1e-3 of the layer's median RMS. `silent` and
    `weak` are the shares by either rule. Position 0 is left out; `with_first` has it in. `n` is the number
    of tokens. The claim is about 100,000 tokens; of fewer, `low` and `high` are what the share over 100,000
    can be, whatever the rest does (the median RMS taken as it is), and `rate_bound` is the share of tokens
    that a silent neuron may still fire on, at 95 % (1 − 0.05^(1/n), about 3/n).

    Known: a bias of −1e3 -> 1; Gaussian input -> 0. OPT-66B: above 0.7 in some early layers.
    Misleads: tokens of one text are no independent draws; a neuron for a rare language is dead on others.
    """
    rest, whole = neuron_activity.rest, neuron_activity.rest.plus(neuron_activity.first)
    found = {"": _dead(rest, rectified), "with_first": _dead(whole, rectified)}
    if _gap(rest) is None:
        found |= {"silent": _silent(rest), "weak": _weak(rest)}
        found["rate_bound"] = Reading(-math.expm1(math.log(0.05) / rest.n), n=rest.n)
        found["rectified"] = Reading(float(rectified), n=rest.n)
    return found


def _dead(activity: Activity, rectified: bool) -> Reading:
    return _gap(activity) or (_silent(activity) if rectified else _weak(activity))


def _gap(activity: Activity) -> Reading | None:
    if not activity.n:
        return undefined(Status.TOO_SHORT, "no tokens are left without position 0", n=0)
    if not bool((activity.size + activity.energy).isfinite().all()):
        return undefined(Status.NONFINITE, "some neurons' sums are not finite", n=activity.n)
    return None


def _silent(activity: Activity) -> Reading:
    return _bounded(activity.size == 0, activity.size == 0, activity.n)


def _weak(activity: Activity) -> Reading:
    rms = (activity.energy / activity.n).sqrt()
    least = WEAK * rms.median()
    if not float(least):
        return undefined(Status.ZERO_OUTPUT, "the median RMS of the layer's neurons is 0", n=activity.n)
    # Of the energy over 100,000 tokens, n tokens are known to bring theirs.
    known = min(1.0, activity.n / TOKENS)
    return _bounded(rms < least, rms * math.sqrt(known) < least, activity.n)


def _bounded(dead: Tensor, possibly: Tensor, n: int) -> Reading:
    share = dead.double().mean()
    return Reading(share, n=n, low=share if n >= TOKENS else 0.0, high=possibly.double().mean())
