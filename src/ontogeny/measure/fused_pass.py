"""One execution of a model over a stimulus, serving all streamed evidence that anybody needs of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from ontogeny.catalogue import DataFacts
from ontogeny.evidence import Streamed, View
from ontogeny.subject import Subject
from ontogeny.vocabulary import Place, Stimulus

#: Sequences run at once. Fixed, since a row of a larger matrix product is not bit-equal to the row alone.
BATCH = 16


@dataclass(frozen=True)
class Watcher:
    """Something to be reduced during a pass: its name, where it looks, how it is made."""

    name: str
    at: str
    make: Callable[[], Streamed]


class _Collector:
    """Feeds every batch of every site to the watchers of its kind, and keeps their states."""

    def __init__(self, stimulus: Stimulus, watchers: list[Watcher], facts: DataFacts | None) -> None:
        self.stimulus, self.facts = stimulus, facts
        self.rows = slice(0, 0)
        self.reducers: dict[str, dict[str, Streamed]] = {}
        for watcher in watchers:
            self.reducers.setdefault(watcher.at, {})[watcher.name] = watcher.make()
        self.states: dict[tuple[str, Place], dict[str, Any]] = {}

    def tap(self, at: str) -> Callable[[Place, Tensor], None]:
        return lambda place, tensor: self.see(at, place, tensor)

    def see(self, at: str, place: Place, tensor: Tensor) -> None:
        view = View(tensor, self.stimulus, self.rows, place, self.facts)
        reducers, states = self.reducers[at], self.states.get((at, place))
        if states is None:
            states = {name: reducer.init(view) for name, reducer in reducers.items()}
            self.states[at, place] = states
        for name, reducer in reducers.items():
            states[name] = reducer.update(states[name], view)

    def finish(self) -> dict[tuple[str, str, Place], Any]:
        """Each state is let go when finished: pieces and what they are joined to never lie side by side."""
        found = {}
        for at, place in list(self.states):
            states = self.states.pop((at, place))
            for name in list(states):
                found[name, at, place] = self.reducers[at][name].finish(states.pop(name))
        return found


def fused_pass(
    subject: Subject,
    stimulus: Stimulus,
    watchers: list[Watcher],
    batch: int = BATCH,
    facts: DataFacts | None = None,
) -> Mapping[tuple[str, str, Place], Any]:
    """Evidence by (name, kind of site, place). Patterns live for one layer of one batch only.

    Kinds of site that this subject cannot show are left out; whoever needs them gets `not-observable`.
    """
    collector = _Collector(stimulus, [w for w in watchers if subject.observable(w.at)], facts)
    taps = {at: collector.tap(at) for at in collector.reducers if at != "logits"}
    sequences = stimulus.shape[0]
    for start in range(0, sequences, batch):
        collector.rows = slice(start, min(start + batch, sequences))
        logits = subject.run(stimulus.tokens[collector.rows], taps=taps)
        if "logits" in collector.reducers:
            collector.see("logits", Place(), logits)
    return collector.finish()
