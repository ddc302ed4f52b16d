"""llama2.c's tokenizer `.bin`: int32 longest length, then for each token float32 score, int32 length, bytes.

Ids 0, 1 and 2 are unknown, beginning and end; 3 to 258 stand for the bytes. A text is given a space in front
and cut into characters (bytes where there is no such token); then the adjacent pair whose union is the token
of the best score is merged, until there is none.
"""

import itertools
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import tokenizers
from tokenizers import decoders, models, normalizers, processors

from ontogeny.errors import BadSource
from ontogeny.sources import Tokenizer

UNKNOWN, BEGINNING, END = "<unk>", "<s>", "</s>"
BYTES = 3
_ENTRY = struct.Struct("<fi")


def read_tokens(path: Path) -> list[tuple[float, bytes]]:
    """Score and bytes of every token. BadSource if the file is not of this format."""
    raw = path.read_bytes()
    tokens: list[tuple[float, bytes]] = []
    position = 4
    while position + _ENTRY.size <= len(raw):
        score, length = _ENTRY.unpack_from(raw, position)
        position += _ENTRY.size
        if not 0 <= length <= len(raw) - position:
            break
        tokens.append((score, raw[position : position + length]))
        position += length
    if position != len(raw) or len(tokens) <= BYTES + 256:
        raise BadSource(
            f"{path} is no tokenizer of llama2.c",
            received=f"{len(tokens)} tokens in {position:,} of {len(raw):,} bytes",
            allowed="int32 length, then float32, int32 and bytes for each token, with 256 byte tokens",
        )
    return tokens


def read_llama2c_tokenizer(path: Path) -> Tokenizer:
    """The tokenizer of a `.bin` file, as a pipeline of `tokenizers`; BadSource if it is none.

    Misleads: of two tokens with one score llama2.c merges the first in the text, this the one of lower id.
    """
    scored = read_tokens(path)
    special = {0: UNKNOWN, 1: BEGINNING, 2: END}
    texts = [
        special.get(i) or (f"<0x{i - BYTES:02X}>" if i < BYTES + 256 else t.decode())
        for i, (_, t) in enumerate(scored)
    ]
    vocabulary = {text: i for i, text in reversed(list(enumerate(texts)))}
    own = {text: i for i, text in enumerate(texts) if i >= BYTES + 256}
    merges = merges_of(own, [score for score, _ in scored])
    pipeline = tokenizers.Tokenizer(
        models.BPE(vocab=vocabulary, merges=merges, unk_token=UNKNOWN, byte_fallback=True, fuse_unk=False)
    )
    pipeline.normalizer = normalizers.Prepend(" ")
    pipeline.post_processor = processors.TemplateProcessing(
        single=f"{BEGINNING} $A", pair=f"{BEGINNING} $A $B", special_tokens=[(BEGINNING, 1)]
    )
    pipeline.decoder = decoders.Sequence(
        [decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    pipeline.add_special_tokens([UNKNOWN, BEGINNING, END])
    return Tokenizer(pipeline, {"bos_token": BEGINNING, "eos_token": END, "unk_token": UNKNOWN})


def merges_of(ids: Mapping[str, int], scores: Sequence[float]) -> list[tuple[str, str]]:
    """Every way to make a token of two others, best score first."""
    found = []
    for text, i in ids.items():
        for cut in range(1, len(text)):
            left, right = text[:cut], text[cut:]
            if left in ids and right in ids:
                found.append((-scores[i], i, ids[left], (left, right)))
    return [pair for *_, pair in sorted(found)]


def tokenizer_beside(model: Path, vocabulary: int) -> Path | None:
    """The one `tok*.bin` in the model's folder with that many tokens; None if there is none, or several."""
    found = []
    for path in itertools.islice(sorted(model.parent.glob("tok*.bin")), 100):
        try:
            found += [path] if path != model and len(read_tokens(path)) == vocabulary else []
        except BadSource:
            continue
    return found[0] if len(found) == 1 else None
