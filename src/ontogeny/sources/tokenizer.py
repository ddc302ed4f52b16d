"""Text to tokens and back: bytes, byte-level BPE trained here, or a `transformers` folder's tokenizer."""

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import tokenizers
import xxhash
from numpy.typing import NDArray

from ontogeny.errors import BadSource
from ontogeny.store.documents import write_json
from ontogeny.store.files import write_file

FILE, CONFIG = "tokenizer.json", "tokenizer_config.json"
SPECIAL = ("bos_token", "eos_token", "unk_token", "pad_token")
NUM_BYTES = 256


@dataclass(frozen=True, eq=False)
class Tokenizer:
    """A `tokenizers` pipeline and the special tokens its folder names.

    `encode` applies the pipeline's own template, so a tokenizer that opens texts with a beginning token does
    so at every document. Known: the byte tokenizer maps a text to its UTF-8 bytes.
    """

    pipeline: tokenizers.Tokenizer
    special: Mapping[str, str] = field(default_factory=dict)

    def encode(self, documents: Sequence[str]) -> list[NDArray[np.uint32]]:
        """Token ids of every document."""
        with one_thread():
            encoded = self.pipeline.encode_batch_fast(list(documents))
        return [np.array(document.ids, dtype=np.uint32) for document in encoded]

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens, special ones included; bytes that are no whole character read as �."""
        return self.pipeline.decode(list(tokens), skip_special_tokens=False)

    @cached_property
    def vocabulary(self) -> int:
        """One more than the largest id; ids that no token has count too."""
        return max(self.pipeline.get_vocab(with_added_tokens=True).values()) + 1

    @cached_property
    def bos(self) -> int | None:
        """The token every encoded text begins with: declared as beginning, and really put there."""
        declared = self.special.get("bos_token")
        known = None if declared is None else self.pipeline.token_to_id(declared)
        return known if known is not None and self.pipeline.encode("a").ids[:1] == [known] else None

    @cached_property
    def word_starts(self) -> NDArray[np.bool_]:
        """Which tokens begin with white space where they follow another one [vocabulary]."""
        lead = self.encode(["a"])[0][-1:].tolist()
        before = len(self.decode(lead))
        pairs = [[*lead, token] for token in range(self.vocabulary)]
        with one_thread():
            texts = self.pipeline.decode_batch(pairs, skip_special_tokens=False)
        return np.array([text[before : before + 1].isspace() for text in texts])

    @cached_property
    def hash(self) -> str:
        """xxh3-128 of its whole definition."""
        return xxhash.xxh3_128_hexdigest(self.pipeline.to_str().encode())

    def save(self, folder: Path) -> None:
        """Write what `transformers.AutoTokenizer.from_pretrained(folder)` needs to encode identically."""
        write_file(folder / FILE, self.pipeline.to_str(pretty=True).encode())
        write_json(
            folder / CONFIG,
            {
                "tokenizer_class": "PreTrainedTokenizerFast",
                "clean_up_tokenization_spaces": False,
                **self.special,
            },
        )


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Keep `tokenizers` off its thread pool: a process that has used it warns, and may hang, when forked."""
    name = "TOKENIZERS_PARALLELISM"
    before = os.environ.get(name)
    os.environ[name] = "false"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _byte_level(model: tokenizers.models.Model) -> tokenizers.Tokenizer:
    pipeline = tokenizers.Tokenizer(model)
    pipeline.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    pipeline.decoder = tokenizers.decoders.ByteLevel()
    return pipeline


def byte_letters() -> list[str]:
    """The letter by which byte-level models write each byte 0 … 255.

    Printable Latin-1 characters stand for themselves; the other bytes take the code points from 256 up, in
    order. `tokenizers` gives the 256 letters without saying which is which.
    """
    own = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(NUM_BYTES) if byte not in own]
    return [chr(byte) if byte in own else chr(NUM_BYTES + others.index(byte)) for byte in range(NUM_BYTES)]


def byte_tokenizer() -> Tokenizer:
    """Every byte of UTF-8 is a token, its id the byte."""
    letters = {letter: byte for byte, letter in enumerate(byte_letters())}
    return Tokenizer(_byte_level(tokenizers.models.BPE(vocab=letters, merges=[])))


def trained_bpe(documents: Sequence[str], size: int) -> Tokenizer:
    """Byte-level BPE with `size` tokens, 256 bytes among them; fewer if the text has no more pairs.

    The same documents give the same merges. BadSource for a size that leaves no room for a merge.
    """
    if size <= NUM_BYTES:
        raise BadSource(
            "a BPE vocabulary too small for its bytes",
            received=f"tokenizer.size = {size}",
            allowed=f"{NUM_BYTES + 1} or more",
            remedy='ask for more, or for tokenizer.name = "bytes"',
        )
    pipeline = _byte_level(tokenizers.models.BPE())
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=size,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    with one_thread():
        pipeline.train_from_iterator(documents, trainer, length=len(documents))
    return Tokenizer(pipeline)


def read_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of a `transformers` folder, from its tokenizer.json; truncation and padding are off.

    BadSource if the folder has none, or one that `tokenizers` cannot read.
    """
    file = folder / FILE
    if not file.is_file():
        raise BadSource(
            f"{folder} holds no {FILE}",
            allowed="bytes, bpe, or a folder with a tokenizer.json",
            remedy="save the tokenizer with transformers' fast tokenizer first",
        )
    try:
        pipeline = tokenizers.Tokenizer.from_file(str(file))
    except Exception as error:  # `tokenizers` raises nothing narrower
        raise BadSource(f"{file} cannot be read", received=str(error)) from None
    pipeline.no_truncation()
    pipeline.no_padding()
    return Tokenizer(pipeline, _special_tokens(folder / CONFIG))


def _special_tokens(config: Path) -> dict[str, str]:
    """The special tokens a tokenizer_config.json names, as text; they may be written as objects."""
    if not config.is_file():
        return {}
    try:
        said = json.loads(config.read_bytes())
    except ValueError as error:
        raise BadSource(f"{config} is not JSON", received=str(error)) from None
    written = {name: said[name] for name in SPECIAL if said.get(name) is not None}
    return {name: token["content"] if isinstance(token, dict) else token for name, token in written.items()}
