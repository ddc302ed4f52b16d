"""The null of copying: the limit it draws from is that of labels really shuffled."""

import pytest
import torch

from ontogeny.anatomy import HeadGains
from ontogeny.catalogue import part, parts
from ontogeny.numerics.token_ends import TokenEnds

WIDTH, CHANNELS, TOKENS = 24, 6, 500


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def normal(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(*shape, generator=generator(seed), dtype=torch.float64)


def head(seed: int = 0, shared: float = 0.0, gain: torch.Tensor | None = None):
    """A head, its gains and both ends; `shared` is a direction that all tokens have at both ends."""
    value, output = normal(CHANNELS, WIDTH, seed=seed), normal(WIDTH, CHANNELS, seed=seed + 1)
    gains = HeadGains(read=normal(WIDTH, seed=seed + 2).abs(), written=normal(WIDTH, seed=seed + 3).abs())
    common = shared * normal(WIDTH, seed=seed + 4)
    ends = TokenEnds(
        normal(TOKENS, WIDTH, seed=seed + 5) + common, normal(TOKENS, WIDTH, seed=seed + 6) + common, gain
    )
    return value, output, gains, ends


def drawn(*evidence) -> torch.Tensor:
    return part("null", "shuffled_label").make(*evidence)


def score(value, output, gains, ends) -> float:
    return float(part("instrument", "copying").make(value, output, gains, ends).value)


def really_shuffled(value, output, gains, ends, times: int = 200) -> torch.Tensor:
    orders = [torch.randperm(TOKENS, generator=generator(seed)) for seed in range(times)]
    moved = [TokenEnds(ends.embedding, ends.unembedding[order], ends.gain) for order in orders]
    return torch.tensor([score(value, output, gains, one) for one in moved])


@pytest.mark.parametrize("shared", [0.0, 1.0])
def test_draws_are_those_of_labels_that_were_shuffled(shared):
    made = head(shared=shared, gain=normal(WIDTH, seed=9).abs())
    ours, theirs = drawn(*made), really_shuffled(*made)
    assert ours.shape == (100,)
    assert float(ours.mean()) == pytest.approx(float(theirs.mean()), abs=0.05)
    assert float(ours.std()) == pytest.approx(float(theirs.std()), rel=0.25, abs=0.01)


def test_a_head_that_copies_is_beyond_every_draw_and_one_that_does_not_is_not():
    value, _, gains, ends = head()
    copies = (value * gains.read).mT / gains.written[:, None]
    same = TokenEnds(ends.embedding, ends.embedding)
    assert score(value, copies, gains, same) == pytest.approx(1)
    assert float(drawn(value, copies, gains, same).max()) < 0.9
    reached = sum(float(drawn(*head(seed)).max()) > score(*head(seed)) for seed in range(0, 200, 10))
    assert reached >= 18


def test_the_same_at_every_checkpoint_and_whatever_the_scale():
    value, output, gains, ends = head()
    assert torch.equal(drawn(value, output, gains, ends), drawn(value, output, gains, ends))
    assert drawn(7 * value, output, gains, ends) == pytest.approx(drawn(value, output, gains, ends))


def test_a_broken_and_an_empty_head_have_no_draws():
    value, output, gains, ends = head()
    broken = value.clone()
    broken[0, 0] = torch.nan
    assert drawn(broken, output, gains, ends).isnan().all()
    assert drawn(0 * value, output, gains, ends).isnan().all()


def test_one_instrument_names_it():
    assert [one.name for one in parts("instrument").values() if one.null == "shuffled_label"] == ["copying"]
