"""Whether a map is that of its model: a few random tokens are run and what the map claims is compared."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from ontogeny.anatomy import TAPPABLE, Anatomy, Spot
from ontogeny.anatomy.anatomy import MODULE
from ontogeny.anatomy.module import read_module
from ontogeny.errors import NotObservable
from ontogeny.hooks.modules import Wire, tapped_modules
from ontogeny.hooks.watch import Tap, Watch
from ontogeny.subject import identities
from ontogeny.vocabulary import Place

if TYPE_CHECKING:
    from ontogeny.subject.subject import Subject

SEQUENCES, LENGTH = 4, 6
Seen = dict[tuple[str, Place], Tensor]


@dataclass(frozen=True)
class Run:
    """One run of a few random tokens: what was seen at every site, and around the heads' projections."""

    tokens: Tensor
    logits: Tensor
    seen: Mapping[tuple[str, Place], Tensor]
    attended: Mapping[Place, Tensor]
    projected: Mapping[Place, Tensor]


def checked(subject: "Subject") -> Anatomy:
    """The subject's map if it holds; of a guessed one what holds.

    NotObservable with the site and the difference if a map that is not guessed is wrong. Models without
    weights (meta device) are not run.
    """
    anatomy = subject.anatomy
    if not anatomy.blocks or any(parameter.is_meta for parameter in subject.model.parameters()):
        return anatomy
    wrong = faults(subject)
    if not wrong:
        return anatomy
    if not anatomy.guessed:
        raise NotObservable(
            f"the map of {anatomy.family!r} models is not this {type(subject.model).__name__}'s",
            received="; ".join(dict.fromkeys(f"{site}: {what}" for site, what in wrong.items())),
            remedy="give Subject an anatomy of your own, or report the model",
        )
    if "residual" in wrong:
        return read_module(subject.model)
    subject.anatomy = anatomy.without(wrong)
    return checked(subject)


def faults(subject: "Subject") -> dict[str, str]:
    """What a map says wrongly: sites and claims, and how far each is off; empty if all of it holds."""
    tokens = _tokens(subject)
    try:
        found = _run(subject, tokens)
    except Exception as error:  # whatever a foreign model raises when it is hooked in a wrong place
        return _untappable(subject, tokens) or {"head": _said(error)}
    with torch.no_grad():
        for compare in identities.ALL:
            wrong = compare(subject, found)
            if wrong:  # what comes later builds on what came before
                return wrong
    return {}


def _tokens(subject: "Subject") -> Tensor:
    """Random tokens; the first ones of the sequences differ."""
    vocabulary, context = subject.anatomy.vocabulary, subject.anatomy.context
    rng = torch.Generator().manual_seed(0)
    tokens = torch.randint(vocabulary, (SEQUENCES, min(LENGTH, context)), generator=rng)
    tokens[:, 0] = torch.arange(SEQUENCES) % vocabulary
    return tokens


def _untappable(subject: "Subject", tokens: Tensor) -> dict[str, str]:
    """Sites that cannot be tapped, and why."""
    wrong = {}
    for site in TAPPABLE:
        if site != MODULE and subject.anatomy.shows(site):
            try:
                subject.run(tokens, taps={site: lambda place, tensor: None})
            except Exception as error:
                wrong[site] = _said(error)
    return wrong


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".replace("\n", "; ")


def _run(subject: "Subject", tokens: Tensor) -> Run:
    seen: Seen = {}
    around: dict[str, dict[Place, Tensor]] = {"input": {}, "output": {}}
    taps: dict[str, Tap] = {
        site: _keep(seen, site) for site in TAPPABLE if site != MODULE and subject.anatomy.shows(site)
    }
    with tapped_modules(_projections(subject.model, subject.anatomy, around)):
        logits = subject.run(tokens, taps=taps)
    return Run(tokens.to(logits.device), logits, seen, around["input"], around["output"])


def _keep(seen: Seen, site: str) -> Any:
    def tap(place: Place, tensor: Tensor) -> None:
        seen[site, place] = tensor

    return tap


def _projections(model: nn.Module, anatomy: Anatomy, around: dict[str, dict[Place, Tensor]]) -> list[Wire]:
    """Wires on what queries are made of and on what the output projection gives, in the last loop."""
    said = anatomy.projections
    if said is None:
        return []
    wires = []
    for layer, block in enumerate(anatomy.blocks):
        for spot in (Spot(f"{block}.{said.query}", "input"), Spot(f"{block}.{said.output}")):
            place = anatomy.place(layer, anatomy.loops - 1)
            kept = around[spot.side]

            def tap(place: Place, tensor: Tensor, kept: dict[Place, Tensor] = kept) -> None:
                kept[place] = tensor

            wires.append(
                Wire(model.get_submodule(spot.path), Watch("head", spot.path, (place,), tap), spot.side)
            )
    return wires
