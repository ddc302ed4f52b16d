"""Numbers of activations on small Llamas of other people, against plain numpy on transformers' own model."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from ontogeny import formats
from ontogeny.catalogue import part
from ontogeny.measure.checkpoint import Unit, measure_checkpoint
from ontogeny.subject import load_subject
from ontogeny.vocabulary import Stimulus

PARTS = (
    "massive_activation",
    "exact_sparsity",
    "dead_units",
    "dormant_units",
    "token_similarity",
    "rank_residual",
    "residual_norm",
    "inverse_participation",
    "spectral_entropy",
)
SEQUENCES, LENGTH, LAYER = 20, 50, 2


@pytest.fixture(
    scope="module",
    params=["stories260k/stories260K.bin", "babyllama-tok105/model5000.bin"],
    ids=lambda p: p[:5],
)
def seen(request, shared_data):
    """Rows of one layer by part and component, and what transformers shows of the same tokens there."""
    weights = formats.read(shared_data / request.param)
    subject = load_subject(weights)
    rng = torch.Generator().manual_seed(0)
    tokens = torch.randint(3, subject.anatomy.vocabulary, (SEQUENCES, LENGTH), generator=rng)
    stimulus = Stimulus("heldout", tokens, torch.ones(tokens.shape))
    units = [
        Unit(made, at, stimulus, "heldout")
        for made in (part("instrument", name) for name in PARTS)
        for at in made.at
    ]
    rows = measure_checkpoint(subject, units, lambda compared: {}).rows
    assert {row["status"] for row in rows} == {"ok"}, [row for row in rows if row["status"] != "ok"]
    found = {(row["part"], row["component"]): row for row in rows if row["layer"] == LAYER}
    return found, plainly(weights, tokens)


def plainly(weights, tokens):
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig.from_dict(dict(weights.config))
    model = transformers.LlamaForCausalLM.from_pretrained(
        None, config=config, state_dict=dict(weights.tensors)
    ).eval()
    shown = {}
    block = model.model.layers[LAYER]
    hooks = [
        block.register_forward_hook(lambda m, i, o: shown.update(stream=o[0] if isinstance(o, tuple) else o)),
        block.mlp.gate_proj.register_forward_hook(lambda m, i, o: shown.update(before=o)),
        block.mlp.down_proj.register_forward_pre_hook(lambda m, i: shown.update(after=i[0])),
    ]
    with torch.no_grad():
        model(input_ids=tokens, use_cache=False)
    for hook in hooks:
        hook.remove()
    return SimpleNamespace(**{name: one.double().numpy() for name, one in shown.items()})


def close(value):
    return pytest.approx(float(value), rel=1e-3, abs=1e-6)


def test_streams(seen):
    found, plain = seen
    stream, sizes = plain.stream[:, 1:], np.abs(plain.stream[:10]).reshape(10, -1)
    ratio = sizes.max(1) / np.sort(sizes, 1)[:, (sizes.shape[1] - 1) // 2]
    assert found["massive_activation", ""]["value"] == close(ratio.mean())
    assert found["residual_norm", ""]["value"] == close(np.linalg.norm(stream, axis=-1).mean())
    apart = stream - stream.mean(1, keepdims=True)
    share = np.sqrt((apart**2).sum((1, 2)) / (stream**2).sum((1, 2)))
    assert found["rank_residual", ""]["value"] == close(share.mean())
    unit = stream / np.linalg.norm(stream, axis=-1, keepdims=True)
    pairs = unit @ unit.transpose(0, 2, 1)
    others = ~np.eye(LENGTH - 1, dtype=bool)
    assert found["token_similarity", ""]["value"] == close(pairs[:, others].mean())


def test_neurons(seen):
    found, plain = seen
    neurons = plain.after[:, 1:].reshape(-1, plain.after.shape[-1])
    assert found["exact_sparsity", ""]["value"] == close((neurons == 0).mean())
    rms = np.sqrt((neurons**2).mean(0))
    assert found["dead_units", "rectified"]["value"] == 0, "these are gated by SiLU"
    assert found["dead_units", ""]["value"] == close((rms < 1e-3 * np.median(rms)).mean())
    score = np.abs(neurons).mean(0) / np.abs(neurons).mean()
    for tau in (0.025, 0.1):
        assert found["dormant_units", f"tau_{tau}"]["value"] == close((score <= tau).mean())


@pytest.mark.parametrize(
    ("component", "name"), [("", "stream"), ("preactivation", "before"), ("activation", "after")]
)
def test_shapes(seen, component, name):
    found, plain = seen
    vectors = getattr(plain, name)[:, 1:].reshape(SEQUENCES * (LENGTH - 1), -1)
    share = (vectors**4).sum(1) / (vectors**2).sum(1) ** 2
    assert found["inverse_participation", component]["value"] == close(share.mean())
    values = np.linalg.eigvalsh(np.cov(vectors.T))[::-1].clip(1e-300)
    p = values / values.sum()
    entropy, d = -(p * np.log(p)).sum(), len(p)
    joint = f"{component}_" if component else ""
    assert found["spectral_entropy", component]["value"] == close(entropy)
    assert found["spectral_entropy", f"{joint}dispersion"]["value"] == close(entropy / np.log(d))
    enrichment = 2 / d * (np.cumsum(p) - np.arange(1, d + 1) / d).sum()
    assert found["spectral_entropy", f"{joint}early_enrichment"]["value"] == close(enrichment)
