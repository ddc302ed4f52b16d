"""SentencePiece's `.model` of byte-pair encoding, as llama2.c trains it beside its checkpoints.

A protocol buffer: field 1 repeats a piece (1 text, 2 float score, 3 kind), field 2 is how it was trained
(3 model type, 35 byte fallback), field 3 how text is normalised (2 character map, 3 space in front, 4 extra
spaces removed; both are on unless they say not).
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import Regex, decoders, models, normalizers, processors

from ontogeny.errors import BadSource
from ontogeny.formats.llama2c_tokenizer import merges_of
from ontogeny.sources import Tokenizer

BPE = 2
NORMAL, UNKNOWN, CONTROL = 1, 2, 3
SPACE = "▁"


def read_sentencepiece(path: Path) -> Tokenizer:
    """The tokenizer of a `.model` file, as a pipeline of `tokenizers`; BadSource for one of another kind.

    Texts begin with the beginning token, as llama2.c puts one before every text it trains on.
    Misleads: of two tokens with one score SentencePiece merges the first in the text, this the lower id.
    """
    pieces, trained, normal = _parsed(path)
    texts = [piece.get(1, b"").decode() for piece in pieces]
    kinds = [piece.get(3, NORMAL) for piece in pieces]
    scores = [struct.unpack("<f", piece.get(2, b"\0" * 4))[0] for piece in pieces]
    control = [text for text, kind in zip(texts, kinds, strict=True) if kind in (UNKNOWN, CONTROL)]
    unknown = next((text for text, kind in zip(texts, kinds, strict=True) if kind == UNKNOWN), None)
    own = {text: i for i, (text, kind) in enumerate(zip(texts, kinds, strict=True)) if kind == NORMAL}
    pipeline = tokenizers.Tokenizer(
        models.BPE(
            vocab={text: i for i, text in enumerate(texts)},
            merges=merges_of(own, scores),
            unk_token=unknown,
            byte_fallback=bool(trained.get(35, 0)),
            fuse_unk=True,
        )
    )
    pipeline.normalizer = _normalizer(normal)
    pipeline.decoder = decoders.Sequence(
        [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    pipeline.add_special_tokens(control)
    special = {"unk_token": unknown} if unknown else {}
    if "<s>" in control:
        pipeline.post_processor = processors.TemplateProcessing(
            single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", texts.index("<s>"))]
        )
        special["bos_token"] = "<s>"
    return Tokenizer(pipeline, special)


def _normalizer(said: dict[int, Any]) -> Any:
    steps: list[Any] = [normalizers.Precompiled(said[2])] if said.get(2) else []
    if said.get(4, 1):
        steps += [normalizers.Replace(Regex(" {2,}"), " "), normalizers.Replace(Regex("^ | $"), "")]
    if said.get(3, 1):
        steps.append(normalizers.Prepend(SPACE))
    return normalizers.Sequence([*steps, normalizers.Replace(" ", SPACE)])


def _parsed(path: Path) -> tuple[list[dict[int, Any]], dict[int, Any], dict[int, Any]]:
    """The pieces, how it was trained, how text is normalised: by the numbers of their fields."""
    pieces: list[dict[int, Any]] = []
    others: dict[int, dict[int, Any]] = {2: {}, 3: {}}
    try:
        for number, value in _fields(path.read_bytes()):
            if number == 1:
                pieces.append(dict(_fields(value)))
            elif number in others:
                others[number] = dict(_fields(value))
    except (ValueError, IndexError, TypeError) as error:
        raise BadSource(f"{path} is no model of SentencePiece", received=str(error)) from None
    if not pieces or others[2].get(3, 1) != BPE:
        raise BadSource(
            f"{path} is no byte-pair model of SentencePiece",
            received=f"{len(pieces)} pieces, model type {others[2].get(3, 1)}",
            allowed=f"model type {BPE}",
            remedy="save the tokenizer as tokenizer.json with transformers' fast tokenizer",
        )
    return pieces, others[2], others[3]


def _fields(raw: bytes) -> Iterator[tuple[int, Any]]:
    """Numbers and values of a message's fields: an int, or the bytes as they lie there."""
    at = 0
    while at < len(raw):
        key, at = _varint(raw, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _varint(raw, at)
            yield number, value
            continue
        size, at = _varint(raw, at) if wire == 2 else ({1: 8, 5: 4}.get(wire, -1), at)
        if not 0 <= size <= len(raw) - at:
            raise ValueError(f"field {number} of wire type {wire} at byte {at} of {len(raw)}")
        yield number, raw[at : at + size]
        at += size


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = raw[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise ValueError(f"a number without an end at byte {at}")
