"""The tape: every bit comes back, once a tensor, and damage is found and named."""

import errno
import os

import pytest
import torch

from ontogeny.errors import Damaged, DiskFull, OntogenyError
from ontogeny.store import tape as tape_module
from ontogeny.store.tape import Tape, TapeWriter

TENSORS = {
    "plain": torch.randn(3, 5),
    "scalar": torch.tensor(2.5, dtype=torch.float64),
    "empty": torch.zeros(0, 4),
    "complex": torch.randn(2, 2, dtype=torch.complex64),
    "bool": torch.tensor([True, False]),
    "half": torch.randn(7).bfloat16(),
    "strided": torch.arange(12).view(3, 4).t(),
    "nan": torch.tensor([float("nan"), -0.0, float("inf")]),
}


def same(one, other) -> bool:
    bits = lambda tensor: tensor.contiguous().view(-1).view(torch.uint8)
    return one.dtype == other.dtype and one.shape == other.shape and torch.equal(bits(one), bits(other))


def written(folder, steps, tensors_of=lambda step: {"x": torch.full((100,), step)}):
    writer = TapeWriter(folder, 0)
    for step in steps:
        writer.append(step, {"step is": step}, tensors_of(step))
    writer.close()
    return Tape(folder)


def test_every_kind_of_tensor_comes_back_in_every_bit(tmp_path):
    tape = written(tmp_path / "tape", [1], lambda step: TENSORS)
    document, tensors = tape.read(1)
    assert document == {"step is": 1}
    assert list(tensors) == list(TENSORS)
    assert all(same(tensors[name], tensor) for name, tensor in TENSORS.items())
    assert tape.verify() == []
    assert tape.read(2) is None
    assert Tape(tmp_path / "none").read(1) is None


def test_a_tensor_is_stored_once_a_file_and_files_are_bounded(tmp_path, monkeypatch):
    noise = torch.randn(5, 1000)
    written(tmp_path / "tape", range(1, 101), lambda step: {"x": noise[step % 5]})
    (file,) = (tmp_path / "tape").iterdir()
    assert file.stat().st_size < noise.nbytes + 100 * 300
    monkeypatch.setattr(tape_module, "LONGEST_FILE", 10_000)
    monkeypatch.setattr(tape_module, "CHUNK", 777)
    tape = written(tmp_path / "many", range(1, 41), lambda step: {"x": noise[step % 5]})
    assert 10 < len(tape.files) <= 20 + 1
    assert all(path.stat().st_size < 10_000 + noise[0].nbytes + 1500 for _, path in tape.files)
    for step in range(1, 41):
        assert torch.equal(tape.read(step)[1]["x"], noise[step % 5])
    assert tape.verify() == []


def test_the_newest_attempt_owns_what_follows_its_first_step(tmp_path):
    for attempt, steps in enumerate([range(1, 8), range(5, 7), range(6, 9)]):
        writer = TapeWriter(tmp_path, attempt)
        for step in steps:
            writer.append(step, {"attempt": attempt}, {})
        writer.close()
    tape = Tape(tmp_path)
    owners = {step: tape.read(step)[0]["attempt"] for step in range(1, 9)}
    assert owners == {1: 0, 2: 0, 3: 0, 4: 0, 5: 1, 6: 2, 7: 2, 8: 2}


def test_a_step_given_twice_is_the_later_one(tmp_path):
    writer = TapeWriter(tmp_path, 0)
    writer.append(1, {"try": 1}, {})
    writer.append(1, {"try": 2}, {})
    writer.close()
    assert Tape(tmp_path).read(1)[0] == {"try": 2}


def test_no_flipped_bit_stays_silent(tmp_path, flips):
    noise = torch.randn(20, 50)
    written(tmp_path, range(20), lambda step: {"x": noise[step]})
    (file,) = tmp_path.iterdir()
    for _ in flips(file, 300):
        assert Tape(tmp_path).verify(), "damage is listed"
        tape = Tape(tmp_path)
        for step in range(20):
            try:
                found = tape.read(step)
            except Damaged:
                continue
            assert torch.equal(found[1]["x"], noise[step])


def test_a_tape_cut_short_holds_the_steps_before(tmp_path, cuts):
    noise = torch.randn(20, 50)
    written(tmp_path, range(20), lambda step: {"x": noise[step]})
    (file,) = tmp_path.iterdir()
    last = 20
    for _ in cuts(file, 13):
        tape = Tape(tmp_path)
        assert tape.verify() == [], "a record that is still being written is no damage"
        held = sum(tape.read(step) is not None for step in range(20))
        assert held <= last
        last = held
    assert last < 20


@pytest.mark.parametrize("at", range(1, 12))
def test_a_failed_write_leaves_the_tape_as_it_was(tmp_path, disk, code, at):
    noise = torch.randn(8, 50)
    writer = TapeWriter(tmp_path / "tape", 0)
    disk.arm(at, code)
    failed = []
    for step in range(8):
        try:
            writer.append(step, {}, {"x": noise[step]})
        except OntogenyError as error:
            failed.append(type(error))
            writer.append(step, {}, {"x": noise[step]})
    writer.close()
    assert failed == [OntogenyError if code == errno.EIO else DiskFull]
    tape = Tape(tmp_path / "tape")
    assert tape.verify() == []
    assert all(torch.equal(tape.read(step)[1]["x"], noise[step]) for step in range(8))


def test_a_forked_process_writes_nothing(tmp_path):
    writer = TapeWriter(tmp_path, 0)
    writer.append(1, {}, {})
    size = next(tmp_path.iterdir()).stat().st_size
    child = os.fork()
    if child == 0:
        writer.append(2, {}, {})
        writer.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert next(tmp_path.iterdir()).stat().st_size == size
    writer.append(2, {}, {})
    writer.close()
    assert Tape(tmp_path).verify() == []
