"""What is kept of a checkpoint."""

import numpy as np
import torch

from ontogeny.audit.imprint import SAMPLE, imprint, outline, places, state_hash, thinned
from ontogeny.series import Series

from .conftest import imprints_of


def test_small_tensors_are_kept_whole_and_large_ones_at_fixed_places():
    assert places("a", 10).tolist() == list(range(10))
    assert len(places("a", 10**6)) == SAMPLE
    assert np.array_equal(places("a", 10**6), places("a", 10**6))
    assert not np.array_equal(places("a", 10**6), places("b", 10**6))


def test_the_content_depends_on_names_values_dtype_and_shape():
    def content(name, tensor):
        return imprints_of({0: {name: tensor}})[0].content

    tensor = torch.arange(6.0)
    others = [("b", tensor), ("a", tensor + 1), ("a", tensor.double()), ("a", tensor.view(2, 3))]
    assert content("a", tensor) == content("a", tensor.clone())
    assert len({content("a", tensor), *(content(*other) for other in others)}) == 5


def test_the_files_a_trainer_keeps_for_itself(tmp_path):
    assert state_hash(tmp_path) is None
    (tmp_path / "model.safetensors").write_bytes(b"1")
    assert state_hash(tmp_path) is None
    (tmp_path / "optimizer.pt").write_bytes(b"1")
    one = state_hash(tmp_path)
    (tmp_path / "optimizer.pt").write_bytes(b"2")
    assert one not in (None, state_hash(tmp_path))


def test_an_outline_has_a_hash_and_no_tensors(clean, saved):
    (checkpoint,) = Series.open(saved({10: clean[10]}, "one")).checkpoints
    assert outline(checkpoint).hash == imprint(checkpoint).hash
    assert not outline(checkpoint).tensors
    assert imprint(checkpoint).tensors["readout.weight"].file == "model-00001-of-00002.safetensors"


def test_only_what_series_are_compared_by_is_kept():
    points = imprints_of({s: {"a": torch.tensor([float(max(s, 1))])} for s in range(5)})
    assert [one.step for one in thinned(points) if one.tensors] == [0, 2]
