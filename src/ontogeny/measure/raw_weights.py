"""Weights that parts may ask for without a pass: matrices, heads, the readout."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from torch import Tensor

from ontogeny.anatomy import HeadGains, HeadWeights
from ontogeny.errors import NotObservable
from ontogeny.numerics.token_ends import TokenEnds
from ontogeny.subject import Subject
from ontogeny.vocabulary import Place

Raw = dict[tuple[str, str, Place], Any]

#: A head's own weights, in the order of HeadWeights.
OF_HEAD = ("head_query", "head_key", "head_value", "head_output_weight")


def raw_weights(subject: Subject, sites: Collection[str]) -> Raw:
    """Weights by (name, kind of site, place) for those of the sites that offer any.

    They are copies, each tensor once: the next checkpoint is loaded into the same parameters, and a
    reference must outlive that. What a model does not have, or does not show, is missing.
    """
    found: Raw = {}
    if "matrix" in sites or "model" in sites:
        copies = {name: tensor.clone() for name, tensor in subject.parameters().items()}
        if "matrix" in sites:
            for place, name in subject.anatomy.matrix_names(subject.model).items():
                found["weight", "matrix", place] = copies[name]
        if "model" in sites:
            found["parameters", "model", Place()] = copies
    by_site = {"head": _heads, "head_output": _layers, "readout": _whole_readout, "final_state": _final_ends}
    for site, offered in by_site.items():
        if site in sites:
            found |= {(name, site, place): weight for name, place, weight in offered(subject)}
    return found


def _heads(subject: Subject) -> Iterator[tuple[str, Place, Any]]:
    ends = _ends(subject)
    for layer in range(subject.anatomy.layers if subject.anatomy.projections else 0):
        weights = HeadWeights(*(weight.clone() for weight in subject.head_weights(layer)))
        gains = _gains(subject, layer)
        for head in range(subject.anatomy.heads):
            place = Place(layer=layer, head=head)
            for name, weight in zip(OF_HEAD, weights, strict=True):
                yield name, place, weight[head]
            if gains is not None:
                yield "head_gains", place, gains
            if ends is not None:
                yield "token_ends", place, ends


def _gains(subject: Subject, layer: int) -> HeadGains | None:
    try:
        return HeadGains(*(gain.clone() for gain in subject.head_gains(layer)))
    except NotObservable:
        return None


def _ends(subject: Subject) -> TokenEnds | None:
    return _ends_of(subject, {name: weight for name, _, weight in _readout(subject)})


def _ends_of(subject: Subject, given: Mapping[str, Tensor]) -> TokenEnds | None:
    """Both ends of the model, where nothing but the final norm stands between the stream and the logits."""
    if "readout" not in subject.anatomy.claims:
        return None
    embedding, unembedding = given.get("embedding_weight"), given.get("unembedding_weight")
    if embedding is None or unembedding is None:
        return None
    return TokenEnds(embedding, unembedding, given.get("final_norm_gain"))


def _layers(subject: Subject) -> Iterator[tuple[str, Place, HeadWeights]]:
    if subject.anatomy.projections is None:
        return
    for layer, place in subject.anatomy.places():
        yield (
            "layer_heads",
            place,
            HeadWeights(*(weight.clone() for weight in subject.head_weights(layer))),
        )


def _whole_readout(subject: Subject) -> Iterator[tuple[str, Place, Any]]:
    given = list(_readout(subject))
    yield from given
    if (ends := _ends_of(subject, {name: weight for name, _, weight in given})) is not None:
        yield "readout_ends", Place(), ends


def _final_ends(subject: Subject) -> Iterator[tuple[str, Place, TokenEnds]]:
    if (ends := _ends(subject)) is not None:
        yield "final_ends", Place(), ends


def _readout(subject: Subject) -> Iterator[tuple[str, Place, Tensor]]:
    asked: dict[str, Any] = {
        "embedding_weight": subject.embedding,
        "unembedding_weight": subject.unembedding,
        "final_norm_gain": subject.final_norm_gain,
    }
    for name, read in asked.items():
        try:
            weight = read()
        except NotObservable:
            continue
        if weight is not None:
            yield name, Place(), weight.clone()
