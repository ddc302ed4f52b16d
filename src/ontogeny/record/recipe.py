"""Recipes: what is trained, how, from which seed, and what is recorded of it; TOML in, checked values out."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Self

import xxhash
from pydantic import BeforeValidator, model_validator

from ontogeny import catalogue
from ontogeny.errors import BadRecipe
from ontogeny.models import DecoderConfig
from ontogeny.recipes import shipped
from ontogeny.recipes.tables import (
    Corpus,
    Measure,
    MixedCorpus,
    Model,
    Objective,
    Optimizer,
    Recording,
    Schedule,
    Section,
    Tokenizer,
    Training,
    checked,
    corpora,
    unknown,
    with_tuples,
)
from ontogeny.sources import Named, resolve, resolve_mixture

#: What a recipe says to its reader; it changes nothing that is trained.
PROSE = {"title", "expected"}
#: The tables that only an objective with a corpus has.
TEXT = {"corpus", "tokenizer"}
#: What an override may give without quotes: text that TOML would not read as anything else.
BARE_WORD = re.compile(r"(?!(true|false|inf|nan)$)([A-Za-z_/~]|\.\.?/)[\w./~-]*")


class Recipe(Section):
    """Everything that decides a run; `expected` says what a reader should see.

    `corpus` and `tokenizer` mean something only where the objective learns from a text; elsewhere they are
    refused. `[[corpus]]` tables are several corpora, each with its `weight`.
    """

    title: str = ""
    expected: str = ""
    model: Model = Model()
    objective: Objective
    corpus: Annotated[Corpus | tuple[MixedCorpus, ...], BeforeValidator(corpora)] = Corpus()
    tokenizer: Tokenizer = Tokenizer()
    optimizer: Optimizer = Optimizer()
    schedule: Schedule = Schedule()
    training: Training
    recording: Recording = Recording()
    measure: Measure = Measure()

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        self.decoder(vocabulary=1, context=1)
        unread = TEXT & self.model_fields_set if not self.reads_text else ()
        for table in sorted(unread):
            raise BadRecipe(
                f"[{table}] is there, but objective {self.objective.name!r} reads no text",
                remedy=f"remove [{table}], or choose an objective that learns from a corpus",
            )
        if isinstance(self.corpus, tuple) and not getattr(self._objective_class, "mixes", False):
            raise BadRecipe(
                f"objective {self.objective.name!r} learns from one corpus",
                received=f"{len(self.corpus)} [[corpus]] tables",
                remedy="write one [corpus], or choose next_token",
            )
        self._require_tokenizer_corpus()
        return self

    def _require_tokenizer_corpus(self) -> None:
        """BadRecipe for a tokenizer that is to be trained on a corpus which is not there."""
        wanted = self.tokenizer.corpus
        names = [one.name for one in self.corpus] if isinstance(self.corpus, tuple) else [self.corpus.name]
        if wanted is not None and (wanted not in names or self.tokenizer.name != "bpe"):
            raise BadRecipe(
                "tokenizer.corpus is no corpus that this tokenizer is trained on",
                received=f"{wanted!r}, tokenizer {self.tokenizer.name}",
                allowed=f"with bpe, one of {', '.join(names)}",
                remedy="leave it out to train bpe on all of them",
            )

    @property
    def _objective_class(self) -> Any:
        return catalogue.part("objective", self.objective.name).make

    @property
    def reads_text(self) -> bool:
        """Whether the objective learns from a corpus."""
        return "corpus" in catalogue.part("objective", self.objective.name).needs

    def decoder(self, vocabulary: int, context: int) -> DecoderConfig:
        """The architecture, with the two sizes that the objective decides."""
        return DecoderConfig.from_dict(
            {**self.model.model_dump(), "vocabulary": vocabulary, "context": context}
        )

    def task(self, cache: Path) -> catalogue.Objective:
        """The objective, its corpus resolved and kept in `cache` (see `sources.resolve`)."""
        make, tokenizer = self._objective_class, self.tokenizer
        if not self.reads_text:
            return make(**self.objective.parameters)
        if isinstance(self.corpus, tuple):
            named = [Named(one.name, one.weight, one.field, one.vocabulary) for one in self.corpus]
            source: Any = resolve_mixture(
                named,
                tokenizer=tokenizer.name,
                size=tokenizer.size,
                trained_on=tokenizer.corpus,
                cache=cache,
            )
        else:
            source = resolve(
                corpus=self.corpus.name,
                field=self.corpus.field,
                vocabulary=self.corpus.vocabulary,
                tokenizer=tokenizer.name,
                size=tokenizer.size,
                cache=cache,
            )
        return make(source, **self.objective.parameters)

    def document(self) -> dict[str, Any]:
        """Every value as plain tables, defaults included; `from_document` gives the recipe back."""
        document = self.model_dump(mode="json", exclude_none=True)
        return {name: table for name, table in document.items() if self.reads_text or name not in TEXT}

    @classmethod
    def from_document(cls, document: Mapping[str, Any], *, tried: bool = False) -> Self:
        """A recipe from plain tables; BadRecipe names the dotted key that is wrong.

        `tried` says that a run was recorded with it: torch is not asked again about its optimizer.
        """
        return checked(cls, with_tuples(document), tried=tried)

    @cached_property
    def hash(self) -> str:
        """xxh3-128 of every value that decides the run: all but `title` and `expected`."""
        document = {name: value for name, value in self.document().items() if name not in PROSE}
        return xxhash.xxh3_128_hexdigest(json.dumps(document, sort_keys=True).encode())


def load_recipe(name_or_path: str | Path, overrides: Sequence[str] = ()) -> Recipe:
    """A shipped recipe by name, or any by its path, with overrides such as "optimizer.lr=3e-4".

    What stands after = is a TOML value; a word or path without spaces may do without quotes, and a whole
    table is written {key = value, …}. BadRecipe says what is wrong.
    """
    path = Path(name_or_path)
    if path.suffix != ".toml" and str(name_or_path) in shipped():
        path = shipped()[str(name_or_path)]
    if not path.is_file():
        raise unknown("recipe", str(name_or_path), shipped(), " or give the path of a .toml file")
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadRecipe(f"{path} is not TOML", received=str(error), remedy="correct that line") from None
    for override in overrides:
        _apply(override, document)
    return Recipe.from_document(document)


def _apply(override: str, document: dict[str, Any]) -> None:
    """Put the value of one override where its key points, making tables on the way."""
    key, separator, text = (part.strip() for part in override.partition("="))
    allowed = "key=TOML value, for example optimizer.lr=3e-4"
    if not separator or not all(key.split(".")):
        raise BadRecipe("an override without key or value", received=override, allowed=allowed)
    try:
        value = text if BARE_WORD.fullmatch(text) else tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError as error:
        remedy = f"write the value as TOML: {error}"
        raise BadRecipe(
            f"the value of {key} cannot be read", received=text, allowed=allowed, remedy=remedy
        ) from None
    *tables, last = key.split(".")
    holder: Any = document
    for depth, table in enumerate(tables, start=1):
        place = _place(holder, table, key)
        holder = holder[place] if isinstance(holder, list) else holder.setdefault(place, {})
        if not isinstance(holder, dict | list):
            above = ".".join(tables[:depth])
            raise BadRecipe(f"{key} is below a value", received=f"{above} = {holder}", remedy=f"set {above}")
    holder[_place(holder, last, key)] = value


def _place(holder: Any, name: str, key: str) -> Any:
    """A name's place in a table; in a list (`[[corpus]]`), its number there."""
    if not isinstance(holder, list):
        return name
    if not name.isdigit() or int(name) >= len(holder):
        raise BadRecipe(
            f"{key} is below a list",
            received=name,
            allowed=f"numbers from 0 to {len(holder) - 1}, as in corpus.0.weight=2",
        )
    return int(name)
