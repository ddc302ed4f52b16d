"""What trainers count beside their checkpoints."""

import pytest
import torch

from ontogeny.series.recorded import recorded_step, recorded_tokens
from ontogeny.store.checkpoint import write_checkpoint


@pytest.mark.parametrize(
    ("written", "step", "tokens"),
    [
        ('{"global_step": 12, "num_input_tokens_seen": 480}', 12, 480),
        ('{"global_step": 12, "num_input_tokens_seen": 0}', 12, None),
        ('{"epoch": 1.5}', None, None),
        ("[1]", None, None),
        ("{torn", None, None),
        (None, None, None),
    ],
)
def test_the_trainer_of_transformers(tmp_path, written, step, tokens):
    if written is not None:
        (tmp_path / "trainer_state.json").write_text(written)
    assert (recorded_step(tmp_path), recorded_tokens(tmp_path)) == (step, tokens)


@pytest.mark.parametrize(
    ("step", "state", "tokens"),
    [
        (3, {"counters": {"tokens": 96}}, 96),
        (3, {"counters": {"tokens": 0}}, None),
        (0, {"counters": {"tokens": 0}}, 0),
        (3, {"optimizer": []}, None),
        (3, None, None),
    ],
)
def test_our_own(tmp_path, step, state, tokens):
    write_checkpoint(
        tmp_path / "x",
        tensors={"model": {"w": torch.ones(1)}},
        documents={} if state is None else {"state": state},
        step=step,
        metadata={},
    )
    assert (recorded_step(tmp_path / "x"), recorded_tokens(tmp_path / "x")) == (step, tokens)


def test_a_file_has_nothing_beside_it(tmp_path):
    torch.save({}, tmp_path / "ckpt_5.pt")
    assert (recorded_step(tmp_path / "ckpt_5.pt"), recorded_tokens(tmp_path / "ckpt_5.pt")) == (None, None)
