"""The tables of a recipe: which keys there are, what they may hold, and what is said when they do not."""

import dataclasses
import difflib
import inspect
import math
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar

import torch
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveInt,
    ValidationError,
    ValidationInfo,
    create_model,
    model_validator,
)
from torch import nn

from ontogeny import catalogue
from ontogeny.errors import BadRecipe, UnknownName
from ontogeny.models import DecoderConfig
from ontogeny.vocabulary import Scheduled

Checked = TypeVar("Checked", bound=BaseModel)

#: Of torch's optimizers, those that a plain step over dense parameters of any shape can use.
OPTIMIZERS = {
    name.lower(): kind
    for name, kind in vars(torch.optim).items()
    if inspect.isclass(kind) and issubclass(kind, torch.optim.Optimizer) and kind is not torch.optim.Optimizer
    if name not in ("LBFGS", "SparseAdam", "Muon")
}
#: Arguments of torch's optimizers that a recipe gives otherwise, or that only say how to compute the same.
NOT_OPTIONS = {"params", "lr", "weight_decay", "foreach", "capturable", "differentiable", "fused"}


def unknown(noun: str, name: str, known: Iterable[str], also: str = "") -> BadRecipe:
    """The error for a name that nothing answers to, with the nearest one and the list."""
    said = UnknownName(noun, name, known)
    return BadRecipe(said.what, received=name, allowed=said.allowed, remedy=f"{said.remedy}{also}")


def checked(table: type[Checked], values: Any, above: str = "", *, tried: bool = False) -> Checked:
    """Values as a table, or BadRecipe for the first wrong one, its key written as in an override.

    `tried` says that a run was recorded with these values: its optimizer is not tried again.
    """
    try:
        return table.model_validate(values, context={"tried": tried})
    except ValidationError as failed:
        error = failed.errors(include_url=False)[0]
    parents = [name for name in (above, *error["loc"][:-1]) if name]
    key = ".".join(map(str, [*parents, *error["loc"][-1:]])) or "the recipe"
    if error["type"] == "extra_forbidden":
        owner: Any = table
        for name in error["loc"][:-1]:
            owner = owner.model_fields[name].annotation
        raise unknown("key", key, [".".join(map(str, [*parents, name])) for name in owner.model_fields])
    if error["type"] == "missing":
        raise BadRecipe(f"{key} is missing", allowed="it has no default", remedy=f"set {key}")
    wanted = error["msg"].removeprefix("Input should be ")
    near = difflib.get_close_matches(str(error["input"]), re.findall("'(.+?)'", wanted), n=1, cutoff=0.5)
    raise BadRecipe(
        f"{key} has a value it cannot have",
        received=repr(error["input"]),
        allowed=wanted,
        remedy=f"did you mean {near[0]!r}?" if near else f"correct {key}",
    )


def with_tuples(value: Any) -> Any:
    """TOML's and JSON's lists as tuples, so that strict tables take them and nobody can change them."""
    if isinstance(value, Mapping):
        return {name: with_tuples(inner) for name, inner in value.items()}
    return tuple(with_tuples(inner) for inner in value) if isinstance(value, list | tuple) else value


class Section(BaseModel):
    """A table of a recipe: no unknown keys, no value of a similar type, no change afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def _mirrored(config: type) -> type[Section]:
    """The fields of a config dataclass as a table, but for the two that the objective decides."""
    chosen = [field for field in dataclasses.fields(config) if field.name not in ("vocabulary", "context")]
    mirrored: Any = {field.name: (field.type, field.default) for field in chosen}
    return create_model("Model", __base__=Section, **mirrored)


if TYPE_CHECKING:
    Model = Section
else:
    Model = _mirrored(DecoderConfig)


class Objective(Section):
    """An objective's name and parameters, checked against the part's signature, defaults filled in."""

    model_config = ConfigDict(extra="allow")
    name: str

    @model_validator(mode="before")
    @classmethod
    def _against_the_part(cls, values: Any) -> Any:
        if not isinstance(values, dict) or not isinstance(values.get("name"), str):
            return values
        known = catalogue.parts("objective")
        if values["name"] not in known:
            raise unknown("objective", values["name"], known)
        part = known[values["name"]]
        kept = inspect.signature(part.make).parameters
        fields: Any = {name: (kept[name].annotation, default) for name, default in part.parameters.items()}
        table = create_model("Parameters", __base__=Section, **fields)
        given = {name: value for name, value in values.items() if name != "name"}
        return {"name": part.name, **checked(table, given, "objective").model_dump()}

    @property
    def parameters(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class Corpus(Section):
    """What text: python-stdlib or a path; `field` of JSONL or Parquet; `vocabulary` of token files."""

    name: str = "python-stdlib"
    field: str = "text"
    vocabulary: PositiveInt | None = None


class MixedCorpus(Corpus):
    """One of several corpora; each row comes from it with chance `weight` over the sum of all weights."""

    weight: NonNegativeFloat = 1.0


def corpora(values: Any) -> Any:
    """One table as a Corpus, a list of tables as MixedCorpus each; BadRecipe names the key that is wrong."""
    if not isinstance(values, tuple):
        return values if isinstance(values, Section) else checked(Corpus, values, "corpus")
    found = tuple(
        one if isinstance(one, MixedCorpus) else checked(MixedCorpus, one, f"corpus.{number}")
        for number, one in enumerate(values)
    )
    if len(found) < 2:
        raise BadRecipe("a mixture of fewer than two corpora", received=len(found), remedy="write [corpus]")
    if not any(one.weight for one in found):
        raise BadRecipe("no corpus has a weight", received="0 throughout", allowed="at least one above 0")
    return found


class Tokenizer(Section):
    """bytes, bpe with `size` tokens, or a folder with a tokenizer.json. Of several corpora, bpe is trained on
    the training parts of all, in their order and whatever their weights, or on `corpus` alone."""

    name: str = "bpe"
    size: PositiveInt = 512
    corpus: str | None = None


class Optimizer(Section):
    """One of torch.optim by its name in small letters, with that class's own options.

    Weight decay applies to matrices; to embeddings (token and position, also where the token embedding is
    the unembedding) only with `decay_embeddings`; to gains and biases never.
    """

    model_config = ConfigDict(extra="allow")
    name: str = "adamw"
    lr: NonNegativeFloat = 1e-3
    weight_decay: NonNegativeFloat = 0.0
    decay_embeddings: bool = False

    @model_validator(mode="after")
    def _against_torch(self, info: ValidationInfo) -> Self:
        if self.name not in OPTIMIZERS:
            raise unknown("optimizer", self.name, OPTIMIZERS)
        taken = inspect.signature(OPTIMIZERS[self.name]).parameters
        for option in self.model_extra or {}:
            if option not in set(taken) - NOT_OPTIONS:
                known = (set(taken) - NOT_OPTIONS) | set(type(self).model_fields)
                also = f", or replace the table: optimizer={{name = '{self.name}', lr = …}}"
                raise unknown("key", f"optimizer.{option}", [f"optimizer.{name}" for name in known], also)
        if self.weight_decay and "weight_decay" not in taken:
            raise BadRecipe(
                "optimizer.weight_decay", received=self.weight_decay, allowed=f"0: {self.name} has none"
            )
        if self.model_extra and not (info.context and info.context["tried"]):
            self._try()
        return self

    def _try(self) -> None:
        """Take a step: torch knows which values its options may have. Its first optimizer takes a second."""
        tried = nn.ParameterList([nn.Parameter(torch.zeros(1, 1))])
        tried[0].grad = torch.zeros(1, 1)
        try:
            self.over(tried).step()
        except Exception as error:  # torch checks its options at both calls, each class in its own way
            options = ", ".join(f"{name} = {value}" for name, value in self if name != "name")
            what = f"torch.optim.{OPTIMIZERS[self.name].__name__} refuses its options: {error}"
            raise BadRecipe(what, received=options, remedy="correct the option under optimizer") from None

    def over(self, model: nn.Module) -> torch.optim.Optimizer:
        """The optimizer of a model's parameters, those that decay in the first group."""
        embeddings = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
        decayed, others = [], []
        for parameter in model.parameters():
            decays = parameter.ndim >= 2 and (self.decay_embeddings or id(parameter) not in embeddings)
            (decayed if decays else others).append(parameter)
        groups = [
            {"params": decayed, "weight_decay": self.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ]
        kind: Any = OPTIMIZERS[self.name]
        return kind([group for group in groups if group["params"]], lr=self.lr, **(self.model_extra or {}))


class Schedule(Section):
    """How the learning rate goes: up over `warmup` steps, then constant, or down to `final` of its peak."""

    name: Literal["constant", "linear", "cosine"] = "constant"
    warmup: NonNegativeInt = 0
    final: Annotated[float, Field(ge=0, le=1)] = 0.0

    def factor(self, step: int, steps: int) -> float:
        """What the rate of the update that ends step + 1 of `steps` is multiplied by.

        (step + 1) / warmup during warm-up; then from 1 to `final`, reached at the last step.
        """
        if step < self.warmup:
            return (step + 1) / self.warmup
        if self.name == "constant":
            return 1.0
        done = min(1.0, (step - self.warmup + 1) / max(1, steps - self.warmup))
        fallen = done if self.name == "linear" else (1 - math.cos(math.pi * done)) / 2
        return 1 - (1 - self.final) * fallen


class Training(Section):
    """How long, from which seed, and what a step is; `clip` 0 is off, `autocast` "" is full precision."""

    steps: PositiveInt
    seed: NonNegativeInt = 0
    accumulation: PositiveInt = 1
    clip: NonNegativeFloat = 0.0
    autocast: Literal["", "bfloat16"] = ""
    on_nonfinite: Literal["continue", "stop"] = "continue"


class Recording(Section):
    """When checkpoints are taken (see Scheduled), how many held-out rows and samples go with each."""

    every: PositiveInt = 100
    dense_until: NonNegativeInt = 512
    explicit: tuple[NonNegativeInt, ...] | None = None
    evaluate: NonNegativeInt = 64
    samples: NonNegativeInt = 0
    sample_length: PositiveInt = 64
    keep_optimizer: bool = True

    def scheduled(self, last: int) -> Scheduled:
        """The steps at which checkpoints are taken in a run of `last` steps."""
        return Scheduled(last, every=self.every, dense_until=self.dense_until, explicit=self.explicit)


class Measure(Section):
    """Which parts are measured at the checkpoints; None is all of them."""

    parts: tuple[str, ...] | None = None

    @model_validator(mode="after")
    def _known(self) -> Self:
        known = {name for kind in catalogue.MEASURING for name in catalogue.parts(kind)}
        for name in self.parts or ():
            if name not in known:
                raise unknown("measuring part", name, known)
        return self
