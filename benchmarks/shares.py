"""Shares found by simulation, held against bounds through their Clopper-Pearson interval."""

import scipy.stats

from claims import Claim


def limits(hits: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Clopper-Pearson limits of a share, in percent."""
    found = scipy.stats.binomtest(hits, trials).proportion_ci(level, "exact")
    return 100 * found.low, 100 * found.high


def share(
    what: str, hits: int, trials: int, least: float = 0.0, most: float = 100.0, note: str = ""
) -> Claim:
    """A claim that a share (in percent) lies between two bounds: missed if its whole interval lies outside.

    What is measured is by how much the interval misses the bounds; the share itself is in the note. Without
    bounds it stands beside others.
    """
    low, high = limits(hits, trials)
    seen = f"{100 * hits / trials:5.1f} % ({low:.1f} to {high:.1f})"
    if (least, most) == (0.0, 100.0):
        return Claim(what, 100 * hits / trials, "%", note=f"{seen} {note}".rstrip())
    allowed = f"at most {most:g}" if least == 0 else f"{least:g} to {most:g}"
    beyond = max(low - most, least - high, 0.0)
    return Claim(what, beyond, "% beyond", 0.0, f"{seen}, allowed {allowed} {note}".rstrip())
