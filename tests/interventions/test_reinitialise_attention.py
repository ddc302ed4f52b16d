"""Right after it the output is that of zero-ablating the heads; with the rest frozen only they learn."""

import pytest
import torch

from ontogeny.errors import BadContract
from ontogeny.interventions import reinitialise_attention
from ontogeny.testing import tiny_training
from ontogeny.vocabulary import Window

HEADS = ((0, 1), (1, 0))
#: Rows of query and key, or columns of output, of these heads; a head has eight features.
PLACES = {0: slice(8, 16), 1: slice(0, 8)}


def trained(run, **tables):
    training = tiny_training(**tables)
    run(training, 4)
    return training


@pytest.mark.parametrize("init", ["model", "xavier"])
@pytest.mark.parametrize("tables", [{}, {"model": {"bias": True, "kv_heads": 1, "qk_norm": True}}])
def test_right_after_it_the_output_is_that_of_zero_ablation(init, tables, run):
    training = trained(run, **tables)
    tokens = torch.arange(24).reshape(2, 12)
    model = training.model.eval()
    former = [block.attention.attend for block in model.blocks]

    def without(query, key, value, *, layer, loop):
        mixed = former[layer](query, key, value, layer=layer, loop=loop).clone()
        mixed[:, HEADS[layer][1]] = 0
        return mixed

    for block in model.blocks:
        block.attention.attend = without
    ablated = model(tokens)
    for block, attend in zip(model.blocks, former, strict=True):
        block.attention.attend = attend
    intact = model(tokens)
    reinitialise_attention(heads=HEADS, init=init).edit_state(training.state, 4)
    assert torch.equal(model(tokens), ablated)
    assert not torch.equal(intact, ablated)


def test_slices_of_the_heads_are_redrawn_and_no_others_moments_too(run, weights):
    training = trained(run)
    before = weights(training)
    moments = {p: e["exp_avg"].clone() for p, e in training.optimizer.state.items()}
    reinitialise_attention(heads=HEADS, value=True).edit_state(training.state, 4)
    for name, parameter in training.model.named_parameters():
        changed = parameter.detach() != before[name]
        expected = torch.zeros_like(changed)
        if ".attention." in name:
            layer, kind = int(name.split(".")[1]), name.split(".")[3]
            place = (slice(None), PLACES[layer]) if kind == "output" else (PLACES[layer],)
            expected[place] = True
            assert kind != "output" or not parameter.detach()[place].any()
        assert torch.equal(changed, expected), name
        entry = training.optimizer.state[parameter]
        assert not entry["exp_avg"][expected].any()
        assert not entry["exp_avg_sq"][expected].any()
        assert torch.equal(entry["exp_avg"][~expected], moments[parameter][~expected])
        assert float(entry["step"]) == 4


@pytest.mark.parametrize(
    ("init", "scale"), [("model", 0.02), ("xavier", (2 / 128) ** 0.5)], ids=["model", "xavier"]
)
def test_fresh_weights_have_the_spread_they_should(init, scale):
    training = tiny_training(model={"width": 64})
    reinitialise_attention(init=init).edit_state(training.state, 0)
    fresh = training.model.blocks[0].attention.query.weight.detach()[:32]
    assert float(fresh.std()) == pytest.approx(scale, rel=0.1)
    assert float(fresh.mean()) == pytest.approx(0, abs=0.1 * scale)


def test_what_one_head_gets_does_not_hang_on_the_others():
    one, both = tiny_training(), tiny_training()
    reinitialise_attention(heads=((1, 0),)).edit_state(one.state, 0)
    reinitialise_attention(heads=HEADS).edit_state(both.state, 0)
    rows = [training.model.blocks[1].attention.key.weight[:8] for training in (one, both)]
    assert torch.equal(*rows)


def test_with_the_rest_frozen_only_the_heads_learn_despite_momentum_and_decay(run, weights):
    made = reinitialise_attention(heads=HEADS, freeze_rest=True)
    made.window = Window(4, 8)
    training = tiny_training([made])
    run(training, 4)
    before = weights(training)
    run(training, 4)
    for name, after in weights(training).items():
        may = torch.zeros_like(after, dtype=torch.bool)
        if ".attention." in name and "value" not in name:
            layer, kind = int(name.split(".")[1]), name.split(".")[3]
            may[(slice(None), PLACES[layer]) if kind == "output" else (PLACES[layer],)] = True
        assert torch.equal(after[~may], before[name][~may]), name
        assert not may.any() or bool((after[may] != before[name][may]).all()), name
    run(training)
    after = weights(training)
    assert not any(torch.equal(after[name], before[name]) for name in after)


def test_shared_keys_are_redrawn_only_with_all_who_share_them():
    for heads, redrawn in (([(0, 3)], [False] * 8), ([(0, 3), (0, 2)], [False] * 4 + [True] * 4)):
        training = tiny_training(model={"heads": 4, "kv_heads": 2})
        before = training.model.blocks[0].attention.key.weight.detach().clone()
        reinitialise_attention(heads=heads).edit_state(training.state, 0)
        changed = (training.model.blocks[0].attention.key.weight != before).all(1)
        assert changed.tolist() == redrawn


def test_heads_that_are_not_there_are_refused():
    with pytest.raises(BadContract, match=r"below \(2, 2\)"):
        reinitialise_attention(heads=((0, 2),)).edit_state(tiny_training().state, 0)
