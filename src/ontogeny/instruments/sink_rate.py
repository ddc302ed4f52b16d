"""HEA-05."""

from collections.abc import Iterator

import numpy as np

from ontogeny.catalogue import Course, summary
from ontogeny.vocabulary import Reading, Status, Summarised, undefined

#: Upper bounds of the mass of healthy heads and of sinks, and of the entropy of sharp ones, in nats.
HEALTHY, SINK, SHARP = 0.50, 0.95, 0.50


@summary(
    unit="share",
    source="Gu et al. 2410.10781; classes Schallon 2603.09616 (checked)",
    family="heads",
    stimuli=("heldout",),
)
def sink_rate(sink_mass: Course, attention_entropy: Course, *, epsilon: float = 0.3) -> Iterator[Summarised]:
    """What share of all heads parks attention on the first position.

    The share of heads with α > ε, α the sink mass over the first 64 queries. `healthy`, `sink`, `dead` and
    `low_entropy` are numbers of heads: α up to 0.50, to 0.95, above; and of those up to 0.50 the ones whose
    entropy is below 0.50 nats count as `low_entropy` and not as `healthy`.

    Known: all heads on key 0 -> 1, all of them dead; uniform attention at T = 64 (α = 0.0741) -> 0, all
    healthy. A 60 M model after 5 B tokens: 0.182.
    Misleads: shorter stimuli raise α; a share of few heads moves in steps of 1 / heads.
    """
    steps = sink_mass.steps
    masses = sink_mass.labelled("early").reindex(step=steps)
    entropies = attention_entropy.labelled().reindex_like(masses)
    for step, mass, entropy in zip(steps, masses.values, entropies.values, strict=True):
        for component, reading in _of_step(mass[np.isfinite(mass)], entropy[np.isfinite(mass)], epsilon):
            yield Summarised(reading, step=step, component=component)


def _of_step(mass: np.ndarray, entropy: np.ndarray, epsilon: float) -> Iterator[tuple[str, Reading]]:
    if not mass.size:
        yield "", undefined(Status.NONFINITE, "no head's sink mass is a number", n=0)
        return
    yield "", Reading(float((mass > epsilon).mean()), n=mass.size)
    known = (mass > HEALTHY) | np.isfinite(entropy)
    sharp = (mass <= HEALTHY) & (entropy < SHARP)
    classes = {
        "healthy": (mass <= HEALTHY) & ~sharp & known,
        "sink": (mass > HEALTHY) & (mass <= SINK),
        "dead": mass > SINK,
        "low_entropy": sharp,
    }
    for name, members in classes.items():
        yield name, Reading(float(members.sum()), n=int(known.sum()))
