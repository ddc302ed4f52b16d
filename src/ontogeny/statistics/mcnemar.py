"""Whether one model is right more often than another on the same items (STA-03)."""

from scipy import stats

from ontogeny.errors import BadArgument
from ontogeny.vocabulary import Reading


def mcnemar(gained: int, lost: int) -> Reading:
    """Exact two-sided p that as many items are gained as lost, given how many changed at all; `n` is that.

    Binomial(gained + lost, ½). Items that both models have right, or both wrong, say nothing.
    Known: 10 and 2 -> 0.03857; no item changed -> 1.
    Misleads: items must be independent examples and the same for both models; a p of two single evaluations
    is of these two evaluations, and what would change if either were repeated is not in it.
    Source: McNemar 1947; scipy `binomtest`, as statsmodels' `mcnemar(exact=True)` (checked).
    """
    if gained < 0 or lost < 0:
        raise BadArgument("items are counted", received=f"{gained} and {lost}", allowed="0 or more")
    changed = gained + lost
    return Reading(float(stats.binomtest(gained, changed).pvalue) if changed else 1.0, n=changed)
