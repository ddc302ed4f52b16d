"""Corpora and tokenizers, resolved by content hash before any part runs."""

from ontogeny.sources.corpus import Corpus, Split, read_corpus
from ontogeny.sources.corpus_statistics import CorpusStatistics
from ontogeny.sources.mixture import Mixture, Named, resolve_mixture
from ontogeny.sources.tokenizer import Tokenizer, byte_tokenizer, read_tokenizer, trained_bpe
from ontogeny.sources.tokens import TokenSource, open_tokens, resolve

__all__ = [
    "Corpus",
    "CorpusStatistics",
    "Mixture",
    "Named",
    "Split",
    "TokenSource",
    "Tokenizer",
    "byte_tokenizer",
    "open_tokens",
    "read_corpus",
    "read_tokenizer",
    "resolve",
    "resolve_mixture",
    "trained_bpe",
]
