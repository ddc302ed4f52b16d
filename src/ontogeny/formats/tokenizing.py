"""The tokenizer that lies with a checkpoint, and how its length compares with the embedding's rows."""

from dataclasses import dataclass
from pathlib import Path

from ontogeny.formats import gguf_file
from ontogeny.formats.llama2c_tokenizer import read_llama2c_tokenizer
from ontogeny.formats.sentencepiece_model import read_sentencepiece
from ontogeny.formats.weights import Weights
from ontogeny.sources import Tokenizer, read_tokenizer

_EMBEDDINGS = (
    "embed_tokens.weight",
    "wte.weight",
    "embed_in.weight",
    "word_embeddings.weight",
    "embedding.weight",
)


def open_tokenizer(path: Path) -> Tokenizer:
    """The tokenizer at `Weights.tokenizer`: a folder with tokenizer.json, or a file that is or holds one.

    Errors: BadSource; MissingExtra for a GGUF file.
    """
    if path.is_dir():
        return read_tokenizer(path)
    if gguf_file.claims(path):
        return gguf_file.read_gguf_tokenizer(path)
    return read_sentencepiece(path) if path.suffix == ".model" else read_llama2c_tokenizer(path)


def tokenizer_in(place: Path) -> Tokenizer | None:
    """The tokenizer in a folder, or in or beside a checkpoint that is a file; None if there is none.

    A tokenizer.json; else what a GGUF file holds; else the one `tok*.bin` of llama2.c, or beside a file the
    one `tok*.model` that it was made from. BadSource if it cannot be read.
    """
    folder = place if place.is_dir() else place.parent
    if (folder / "tokenizer.json").is_file():
        return read_tokenizer(folder)
    if gguf_file.claims(place):
        return open_tokenizer(place)
    found = [path for path in folder.glob("tok*.bin") if path.is_file()]
    if not found and place.is_file():
        found = [path for path in folder.glob("tok*.model") if path.is_file()]
    return open_tokenizer(found[0]) if len(found) == 1 else None


@dataclass(frozen=True)
class Lengths:
    """Rows of the embedding, and tokens that the tokenizer has; None where there is nothing to count.

    Rows beyond the tokenizer's length are there for alignment, or for tokens added later: no text reaches
    them. Nothing is ever resized to make the two equal.
    """

    rows: int | None
    tokens: int | None

    @property
    def unused(self) -> int:
        """Rows that no token of the tokenizer reaches; 0 where either number is unknown."""
        return max(0, self.rows - self.tokens) if self.rows and self.tokens else 0

    @property
    def unreachable(self) -> int:
        """Tokens of the tokenizer that have no row; 0 where either number is unknown."""
        return max(0, self.tokens - self.rows) if self.rows and self.tokens else 0


def lengths_of(weights: Weights) -> Lengths:
    """How many rows the embedding has and how many tokens the tokenizer, both as they are."""
    named = {n: shape for n, shape in weights.shapes.items() if n.endswith(_EMBEDDINGS) and len(shape) == 2}
    stated = weights.config.get("vocab_size")
    rows = next((shape[0] for shape in named.values() if shape[0] == stated), None)
    if rows is None and named:
        rows = max(shape[0] for shape in named.values())
    tokens = open_tokenizer(weights.tokenizer).vocabulary if weights.tokenizer else None
    return Lengths(rows, tokens)
