"""Corpora and tokenizers, resolved by content hash before any part runs."""

from ontogeny.sources.corpus import Corpus, Split, read_corpus
from ontogeny.sources.tokenizer import Tokenizer, byte_tokenizer, read_tokenizer, trained_bpe
from ontogeny.sources.tokens import TokenSource, open_tokens, resolve

__all__ = [
    "Corpus",
    "Split",
    "TokenSource",
    "Tokenizer",
    "byte_tokenizer",
    "open_tokens",
    "read_corpus",
    "read_tokenizer",
    "resolve",
    "trained_bpe",
]
