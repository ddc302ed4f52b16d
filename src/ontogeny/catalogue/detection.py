"""The decorators that declare detectors and what they are held against."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ontogeny.catalogue.declare import Declared, check_words, declared, signature
from ontogeny.errors import BadContract, UnknownName
from ontogeny.vocabulary import CHANGES

#: What a null may be of.
NULLS_OF = ("evidence", "series")


def null(*, source: str, of: str = "evidence", version: int = 1) -> Callable[[Declared], Declared]:
    """What there would be to see if nothing had happened; of an instrument's evidence, or of one series.

    `of="evidence"` sees exactly the evidence its instrument saw; returns draws [draw, *the instrument's
    axes]. `of="series"` makes surrogates of a single series: `(steps [checkpoint], values [checkpoint], *,
    draws=199, seed=0) -> [draw, checkpoint]`. Its randomness comes from the seed and from the data, so the
    same series has the same surrogates. Where a value is not finite, so is every draw; of a series that is
    too short or constant every draw is the series itself, so that nothing can be claimed.
    """
    if of not in NULLS_OF:
        raise UnknownName("what a null is of", of, NULLS_OF)

    def declare(make: Declared) -> Declared:
        check_words("null", make, source)
        needs, parameters = signature(make)
        if of == "series" and (needs != ("steps", "values") or not {"draws", "seed"} <= set(parameters)):
            raise BadContract(
                f"null {make.__name__!r} does not keep the contract of a series",
                received=(*needs, *parameters),
                allowed="(steps, values, *, draws=199, seed=0)",
            )
        return declared("null", source, version=version, options={"of": of})(make)

    return declare


def detector(
    *,
    source: str,
    finds: Sequence[str] = ("rise",),
    null: str = "trend_matched",
    surrogate: Mapping[str, Any] | None = None,
    version: int = 1,
) -> Callable[[Declared], Declared]:
    """`steps` [checkpoint], `values` [checkpoint], `null` [draw, place, checkpoint] or None in, Detected out.

    Detected is one `Located`, or a tuple of several changes of one series in order of steps. It is never
    empty: where nothing is found it is one Located with the verdict `none` and the reason. Every draw of
    the null goes through the detector's own statistic, with every selection done again and the largest over
    places taken: p = (1 + #{null ≥ observed}) / (draws + 1). Without a null nothing is claimed.

    `finds` are the kinds of change it can claim (`CHANGES`). `null` is the part of kind null that makes
    surrogates for a series which has no null of its own, and `surrogate` are parameters with which the
    detector is then run (an evidence null may speak of rises only; surrogates speak of both directions).
    With these it is calibrated.
    """
    for kind in finds:
        if kind not in CHANGES:
            raise UnknownName("kind of change", kind, CHANGES)

    def declare(make: Declared) -> Declared:
        check_words("detector", make, source)
        needs, parameters = signature(make)
        if needs != ("steps", "values", "null") or set(surrogate or {}) - set(parameters):
            raise BadContract(
                f"detector {make.__name__!r} does not keep its contract",
                received=(*needs, *(surrogate or {})),
                allowed="steps, values, null, and surrogate= of its own parameters",
            )
        options = {"finds": tuple(finds), "surrogate": dict(surrogate or {})}
        return declared("detector", source, version=version, null=null, options=options)(make)

    return declare
