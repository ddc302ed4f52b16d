"""Weights that parts may ask for without a pass: matrices, heads, the readout."""

from collections.abc import Collection, Iterator
from typing import Any

from torch import Tensor

from ontogeny.errors import NotObservable
from ontogeny.evidence import RAW
from ontogeny.subject import Subject
from ontogeny.vocabulary import Place

Raw = dict[tuple[str, str, Place], Any]


def raw_weights(subject: Subject, sites: Collection[str]) -> Raw:
    """Weights by (name, kind of site, place) for those of the sites that need no pass.

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
    for site, offered in (("head", _heads), ("readout", _readout)):
        if site in sites:
            found |= {(name, site, place): weight.clone() for name, place, weight in offered(subject)}
    return found


def _heads(subject: Subject) -> Iterator[tuple[str, Place, Tensor]]:
    names = [name for name, site in RAW.items() if site == "head"]
    for layer in range(subject.anatomy.layers if subject.anatomy.projections else 0):
        weights = subject.head_weights(layer)
        for head in range(subject.anatomy.heads):
            for name, weight in zip(names, weights, strict=True):
                yield name, Place(layer=layer, head=head), weight[head]


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
            yield name, Place(), weight
