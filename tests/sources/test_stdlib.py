"""The embedded corpus is a fixed list of ordinary modules, all there and of the size it is said to have."""

from ontogeny.sources import read_corpus
from ontogeny.sources.stdlib import MODULES, NAME, stdlib_documents


def test_the_list_holds_plain_modules_once_each_in_order():
    assert len(set(MODULES)) == len(MODULES) > 100
    assert list(MODULES) == sorted(MODULES)
    assert all(module.endswith(".py") for module in MODULES)
    assert not {"test", "tests", "idlelib"} & {part for module in MODULES for part in module.split("/")}


def test_every_listed_module_is_in_this_python():
    documents, missing = stdlib_documents()
    assert missing == []
    assert len(documents) == len(MODULES)
    assert 2_000_000 < sum(map(len, documents)) < 3_200_000


def test_a_module_that_is_missing_is_left_out_and_said(monkeypatch):
    monkeypatch.setattr("ontogeny.sources.stdlib.MODULES", ("abc.py", "no_such_module.py", "bisect.py"))
    corpus = read_corpus(NAME)
    assert len(corpus.documents) == 2
    assert corpus.notes == ("not in this Python: no_such_module.py",)


def test_its_split_holds_out_whole_modules():
    corpus = read_corpus(NAME)
    assert set(corpus.split.train) | set(corpus.split.heldout) == set(corpus.documents)
    assert not set(corpus.split.train) & set(corpus.split.heldout)
    share = sum(map(len, corpus.split.heldout)) / sum(map(len, corpus.documents))
    assert 0.04 < share <= 0.05
