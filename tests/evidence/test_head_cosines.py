"""How alike heads are, against maps and writes that are made in full."""

import pytest
import torch

from ontogeny.anatomy import HeadWeights
from ontogeny.evidence import head_cosines
from ontogeny.evidence.kinds import evidence_of


def weights(seed: int = 0, heads: int = 3, channels: int = 4, width: int = 10) -> HeadWeights:
    generator = torch.Generator().manual_seed(seed)
    query, key, value, output = torch.randn(4, heads, channels, width, generator=generator)
    return HeadWeights(query, key, value, output.mT)


def cosines(vectors: torch.Tensor) -> torch.Tensor:
    """[… vector entry] -> the mean cosine of every two [vector vector]."""
    found = torch.nn.functional.cosine_similarity(vectors[..., :, None, :], vectors[..., None, :, :], dim=-1)
    return found.flatten(0, -3).mean(0)


def test_patterns_are_handed_on(reduced, shown):
    seen = reduced("pattern_cosines", "attention", shown("attention"))
    assert evidence_of("head_cosines", "attention", {"pattern_cosines": seen}) == {
        "": seen.raw,
        "centred": seen.centred,
    }


@pytest.mark.parametrize("tokens", [7, 128])
def test_writes_and_maps(monkeypatch, tokens):
    monkeypatch.setattr(head_cosines, "TOKENS", tokens)
    heads = weights()
    sample = torch.randn(50, 3, 4, generator=torch.Generator().manual_seed(1))
    found = evidence_of("head_cosines", "head_output", {"head_sample": sample, "layer_heads": heads})
    off = ~torch.eye(3, dtype=torch.bool)
    written = torch.einsum("nhc,hwc->nhw", sample.double(), heads.output.double())
    each = found["output"].total / found["output"].occasions
    torch.testing.assert_close(each[off], cosines(written)[off])
    maps = torch.stack([(o @ v).flatten() for o, v in zip(heads.output, heads.value, strict=True)])
    torch.testing.assert_close(found["weights"].total[off], cosines(maps.double()[None])[off])
    assert found["output"].occasions[off].tolist() == [50] * 6
    assert found["weights"].occasions[off].tolist() == [1] * 6


def test_a_rotation_of_channels_changes_nothing():
    """A head's channels may be mixed by any matrix, and what it writes stays the same."""
    heads = weights()
    turn = torch.linalg.qr(torch.randn(4, 4, generator=torch.Generator().manual_seed(2))).Q
    turned = heads._replace(value=turn.mT @ heads.value, output=heads.output @ turn)
    sample = torch.randn(20, 3, 4, generator=torch.Generator().manual_seed(1))
    plain = evidence_of("head_cosines", "head_output", {"head_sample": sample, "layer_heads": heads})
    other = evidence_of("head_cosines", "head_output", {"head_sample": sample @ turn, "layer_heads": turned})
    for name in ("output", "weights"):
        torch.testing.assert_close(plain[name].total, other[name].total, rtol=1e-4, atol=1e-5)
