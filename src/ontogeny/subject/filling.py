"""Weights into a model that exists, by canonical name, all or nothing."""

import re
from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

from ontogeny.errors import ForeignCheckpoint
from ontogeny.formats import Weights
from ontogeny.formats.canonical import canonical_names, examples, require_values

#: Masks and rotary frequencies that older releases stored, and that a model makes anew from its config.
CONSTANTS = re.compile(
    r"(^|\.)(attn|attention|self_attn|crossattention)\.(masked_)?bias$|(^|\.)inv_freq$|(^|\.)position_ids$"
)


def fill(model: nn.Module, weights: Weights, label: str) -> None:
    """Copy every tensor into the model, in the model's dtypes; nothing is written if anything does not fit.

    ForeignCheckpoint lists what is missing, of another shape, or left over. Constants that the model makes
    itself may be left over; a tensor that the model ties may be stored under each of its names, if its
    values are the same.
    """
    held = {n: t for n, t in model.state_dict(keep_vars=True).items() if isinstance(t, Tensor)}
    require_values(held)
    names, _ = canonical_names(held)
    here: dict[int, tuple[Tensor, list[str]]] = {}
    for name, tensor in held.items():
        here.setdefault(id(tensor), (tensor, []))[1].append(names[name])
    found = {ties[0]: (tensor, _stored(ties, weights)) for tensor, ties in here.values()}
    _require_fit(found, weights, label)
    with torch.no_grad():
        for tensor, stored in found.values():
            tensor.copy_(weights.tensors[stored[0]])


def _stored(names: Iterable[str], weights: Weights) -> list[str]:
    """Under which names, at most all of a tied tensor's, the weights hold it."""
    kept = dict.fromkeys(weights.aliases.get(name, name) for name in names)
    return [name for name in kept if name in weights.tensors]


def _require_fit(found: Mapping[str, tuple[Tensor, list[str]]], weights: Weights, label: str) -> None:
    given = weights.shapes
    used = {name for _, stored in found.values() for name in stored}
    wrong = [
        f"{name} {list(given[stored])} instead of {list(tensor.shape)}"
        for name, (tensor, all_stored) in found.items()
        for stored in all_stored
        if given[stored] != tuple(tensor.shape)
    ]
    refuse_misfit(
        label,
        missing=[name for name, (_, stored) in found.items() if not stored],
        mismatched=wrong,
        unexpected=[name for name in given if name not in used and not CONSTANTS.search(name)],
        matched=len(used),
        given=given,
    )
    for name, (_, stored) in found.items():
        if any(not torch.equal(weights.tensors[stored[0]], weights.tensors[other]) for other in stored[1:]):
            raise ForeignCheckpoint(
                f"the model ties {name}, and {label} holds different values for it",
                received=", ".join(stored),
                allowed="equal values under all names of a tied tensor",
                remedy="set tie_word_embeddings to false in its config.json, if they were trained apart",
            )


def refuse_misfit(
    label: str,
    *,
    missing: list[str],
    mismatched: list[str],
    unexpected: list[str],
    matched: int,
    given: Iterable[str],
) -> None:
    """ForeignCheckpoint if any list has an entry; examples of both sides where nothing matches at all."""
    if not (missing or mismatched or unexpected):
        return
    if not matched:
        raise ForeignCheckpoint(
            f"none of the names in {label} is a name of its model",
            received=f"the checkpoint has {examples(given)}; the model has {examples(missing)}",
            allowed="the same names on both sides, after wrappers' names are stripped",
            remedy="compare the two lists: a prefix, or the config of another model",
        )
    faults = {"missing_keys": missing, "mismatched_keys": mismatched, "unexpected_keys": unexpected}
    raise ForeignCheckpoint(
        f"{label} and its model do not fill each other",
        received="; ".join(f"{fault}: {examples(names)}" for fault, names in faults.items() if names),
        allowed="every tensor the architecture has, in its shape, and no other",
        remedy="check that weights and config are of one checkpoint, and that the download is complete",
    )
