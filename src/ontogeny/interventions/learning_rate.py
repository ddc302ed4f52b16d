"""Another learning rate for a while, everywhere or for some modules."""

from torch import nn

from ontogeny.catalogue import intervention
from ontogeny.interventions._acting import Acting, Patterns, check, chosen
from ontogeny.interventions._groups import cut_groups, mend_groups
from ontogeny.models import Decoder
from ontogeny.vocabulary import TrainingState

#: Share of the window over which the named recipe goes back to the schedule.
RETURN = 0.2


@intervention(source="ours; upper_query_key: Zhu et al. 2605.10504, from the abstract")
class learning_rate(Acting):
    """The scheduled rate times `factor`, or `rate` in its place, for the parameters that fit `patterns`.

    η ← w·(factor·η or rate) + (1 − w)·η; w = 1, but over the last share `back` of the window (open: up to the
    recipe's last step) it falls linearly to 0, which is reached at the window's end. It is the true rate of
    these parameters, decay included; the gradient is not scaled, as Adam would cancel that. No pattern means
    all parameters. `upper_query_key` takes W_Q, W_K, their biases and norms of layers >= layers / 2 in
    place of `patterns`, with `back` 0.2 unless said otherwise: over the first quarter of training that is
    20 % at factor 0.1 and 5 % of return (multiplier, depth, window are ours). Optimizer state: untouched.
    Known: with SGD, or on Adam's first step, the update's norm is `factor` times what it was.
    Misleads: a slower module also decays more slowly, and its moments are those of a path it did not go.
    """

    extent = frozenset({"optimizer"})

    def __init__(
        self,
        *,
        factor: float = 0.1,
        rate: float | None = None,
        patterns: Patterns = (),
        upper_query_key: bool = False,
        back: float | None = None,
    ) -> None:
        super().__init__()
        back = (RETURN if upper_query_key else 0.0) if back is None else back
        fine = factor >= 0 and (rate is None or rate >= 0) and 0 <= back <= 1
        fine = fine and not (upper_query_key and patterns)
        allowed = "factor and rate from 0, back from 0 to 1, upper_query_key without patterns"
        check("learning_rate", fine, allowed, factor=factor, rate=rate, back=back, patterns=patterns)
        self.factor, self.rate, self.patterns = factor, rate, patterns
        self.upper_query_key, self.back = upper_query_key, back

    def on_gradients(self, state: TrainingState, step: int) -> None:
        weight = self._weight(step, self.end(state))
        for piece in cut_groups(state["optimizer"], self._slowed(state["model"])):
            scheduled = piece["lr"]
            changed = scheduled * self.factor if self.rate is None else self.rate
            piece["lr"] = scheduled if self.inert else weight * changed + (1 - weight) * scheduled

    def on_update(self, state: TrainingState, step: int) -> None:
        mend_groups(state["optimizer"])

    def _weight(self, step: int, end: int) -> float:
        """How much of the change is left: 1, then down to 0 at the window's end."""
        span = self.back * (end - self.window.start)
        return min(1.0, max(0.0, (end - step) / span)) if span else 1.0

    def _slowed(self, model: nn.Module) -> list[nn.Parameter]:
        if not self.upper_query_key:
            return list(chosen(model, self.patterns).values())
        layers = model.config.layers if isinstance(model, Decoder) else 0
        upper = [layer for layer in range(layers) if 2 * layer >= layers]
        check("learning_rate", layers > 1, "a Decoder of two layers or more", upper_query_key=True)
        kinds = ("query", "key")
        patterns = [f"blocks.{layer}.attention.{kind}*" for layer in upper for kind in kinds]
        return list(chosen(model, patterns).values())
