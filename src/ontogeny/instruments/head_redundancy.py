"""HEA-07."""

from collections.abc import Mapping

from ontogeny.catalogue import instrument
from ontogeny.numerics.pair_cosines import PairCosines, mean_cosine
from ontogeny.vocabulary import Reading, Status

#: Why no pair of heads has a cosine, by what is compared.
LACKING = {
    "": (Status.ZERO_OUTPUT, "no two heads attend to anything"),
    "centred": (Status.CONSTANT_INPUT, "no two heads attend other than uniformly"),
    "output": (Status.ZERO_OUTPUT, "no two heads write anything"),
    "weights": (Status.ZERO_WEIGHT, "no two heads have weights other than 0"),
}


@instrument(
    unit="cosine",
    source="weight decay as a control parameter in modular arithmetic, 2026 (from abstract)",
    family="heads",
)
def head_redundancy(head_cosines: Mapping[str, PairCosines]) -> dict[str, Reading]:
    """How alike the heads of a layer are: the mean cosine over every two of them.

    `""`: of whole attention patterns, sequence by sequence; `centred`: of the same less uniform attention;
    `output`: of what they write, z_h W_O, at 1,280 tokens without position 0; `weights`: of W_V W_O. Each
    pair's cosine is averaged first, then the pairs. From an abstract: the assumption that it means whole
    patterns, and the last two, are ours.

    Known: duplicated heads -> 1 throughout; independent random writes -> 0, a pair within 1/√d.
    Misleads: patterns are never negative, so `""` is biased upwards (two sinks are alike): read it beside
    `centred`. A mean hides two groups of twins.
    Null: none, because it is one number for all heads of a layer and picks none out.
    """
    return {name: mean_cosine(cosines, *LACKING[name]) for name, cosines in head_cosines.items()}
