"""nanoGPT's files are used as they lie there, and a pickle in their company cannot run anything."""

import json
import pickle

import numpy as np
import pytest

from ontogeny.errors import BadSource
from ontogeny.sources.token_files import holds_token_files, read_token_files


class Runs:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was executed",))


@pytest.fixture
def folder(tmp_path):
    np.arange(90, dtype=np.uint16).tofile(tmp_path / "train.bin")
    np.arange(10, dtype=np.uint16).tofile(tmp_path / "val.bin")
    return tmp_path


def test_streams_are_mapped_and_the_given_vocabulary_counts_first(folder):
    (folder / "meta.json").write_text(json.dumps({"vocab_size": 100}))
    assert holds_token_files(folder)
    files = read_token_files(folder, 200)
    assert isinstance(files.train, np.memmap)
    assert files.train.tolist() == list(range(90))
    assert files.heldout.tolist() == list(range(10))
    assert files.vocabulary == 200
    assert read_token_files(folder).vocabulary == 100


def test_meta_pkl_gives_vocabulary_and_pieces(folder):
    meta = {"vocab_size": 90, "itos": {0: "a", 1: "b"}, "stoi": {"a": 0, "b": 1}}
    (folder / "meta.pkl").write_bytes(pickle.dumps(meta))
    files = read_token_files(folder)
    assert files.vocabulary == 90
    assert files.pieces == {0: "a", 1: "b"}


def test_a_pickle_that_would_run_code_is_refused(folder):
    (folder / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": Runs()}))
    with pytest.raises(BadSource, match="meta file"):
        read_token_files(folder)


def test_an_unknown_vocabulary_and_cut_files_are_refused(folder):
    with pytest.raises(BadSource, match="vocabulary"):
        read_token_files(folder)
    (folder / "val.bin").write_bytes(b"\x01")
    with pytest.raises(BadSource, match=r"val\.bin"):
        read_token_files(folder, 100)
    (folder / "val.bin").unlink()
    assert not holds_token_files(folder)
