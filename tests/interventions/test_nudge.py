"""One weight by one representable number, or noise of a known norm."""

import pytest
import torch

from ontogeny.errors import BadContract
from ontogeny.interventions import nudge
from ontogeny.testing import tiny_training


def nudged(made, weights, step=0):
    training = tiny_training()
    before = weights(training)
    made.edit_state(training.state, step)
    return before, weights(training)


@pytest.mark.parametrize("ulps", [1, -1, 3])
def test_one_entry_moves_by_units_in_the_last_place(ulps, weights):
    made = nudge(patterns="blocks.1.mlp.up.weight", index=21, ulps=ulps)
    before, after = nudged(made, weights)
    name = "blocks.1.mlp.up.weight"
    assert [key for key in before if not torch.equal(before[key], after[key])] == [name]
    different = (before[name] != after[name]).flatten()
    assert different.nonzero().flatten().tolist() == [21]
    bits = [tensor.flatten()[21].view(torch.int32) for tensor in (before[name], after[name])]
    assert abs(int(bits[1] - bits[0])) == abs(ulps)
    assert bool((after[name] > before[name]).any()) == (ulps > 0)


def test_noise_has_the_asked_norm_over_all_that_fit_and_hangs_on_seed_and_step(weights):
    patterns = ("blocks.0.*", "embedding.weight")
    before, after = nudged(nudge(patterns=patterns, norm=0.5), weights)
    changes = {name: (after[name] - before[name]).double() for name in before}
    touched = {name for name, change in changes.items() if change.any()}
    assert touched == {name for name in before if name.startswith(("blocks.0.", "embedding"))}
    assert sum(float(c.square().sum()) for c in changes.values()) ** 0.5 == pytest.approx(0.5, rel=1e-4)
    again = nudged(nudge(patterns=patterns, norm=0.5), weights)[1]
    seeded = nudged(nudge(patterns=patterns, norm=0.5, seed=1), weights)[1]
    later = nudged(nudge(patterns=patterns, norm=0.5), weights, step=1)[1]
    assert torch.equal(again["embedding.weight"], after["embedding.weight"])
    assert not torch.equal(seeded["embedding.weight"], after["embedding.weight"])
    assert not torch.equal(later["embedding.weight"], after["embedding.weight"])


def test_an_index_outside_the_tensor_is_refused(weights):
    with pytest.raises(BadContract, match=r"below 16, the entries of final_norm\.weight"):
        nudged(nudge(patterns="final_norm.weight", index=16), weights)
