"""Whether steps are spaced as one trainer would space them; a gap is a lost stretch, or a counter reset."""

from collections.abc import Sequence
from itertools import pairwise

#: How many times wider than both its neighbours a gap must be.
WIDER = 3


def jumps(steps: Sequence[int]) -> list[str]:
    """A note for every gap at least three times as wide as the gaps before and after it.

    At the end, where nothing comes after, the two gaps before must be alike. Steps whose distances grow
    (0, 1, 2, 4 … 512, 1000, 2000) have no such gap.
    """
    gaps = [later - earlier for earlier, later in pairwise(steps)]
    found = []
    for index in range(1, len(gaps)):
        before = gaps[index - 1]
        after = gaps[index + 1] if index + 1 < len(gaps) else gaps[index - 2] if index > 1 else None
        alike = index + 1 < len(gaps) or after == before
        if after is not None and alike and gaps[index] >= WIDER * max(before, after):
            found.append(
                f"the steps jump from {steps[index]} to {steps[index + 1]}: "
                "checkpoints are missing there, or the counter was set anew"
            )
    return found
