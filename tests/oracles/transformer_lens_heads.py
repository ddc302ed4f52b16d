"""What TransformerLens sees of the heads of random models, under our definitions; tests hold ours against it.

Models are built from configs and filled from a seed; nothing is downloaded. In an environment of its own
(versions are in the output):

    pip install "torch==2.13.0" "transformer-lens==4.3.*"
    PYTHONPATH=tests python tests/oracles/transformer_lens_heads.py \
        > tests/oracles/transformer_lens_heads.json
"""

import json
import tempfile
from importlib.metadata import version
from typing import Any

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, models
from transformer_lens import head_detector
from transformer_lens.model_bridge import TransformerBridge

from drawn_models import FAMILIES, VOCABULARY, filled, repeated


def bridged(model: Any) -> TransformerBridge:
    with tempfile.TemporaryDirectory() as folder:
        words = Tokenizer(models.WordLevel({str(i): i for i in range(VOCABULARY)}, unk_token="0"))
        special = dict.fromkeys(("bos_token", "eos_token", "pad_token", "unk_token"), "0")
        transformers.PreTrainedTokenizerFast(tokenizer_object=words, **special).save_pretrained(folder)
        model.save_pretrained(folder)
        return TransformerBridge.boot_transformers(folder, device="cpu")


def aimed(pattern: np.ndarray, tokens: np.ndarray, lags: list[int], detect: Any, within: bool) -> list[float]:
    """Weight on the keys that TransformerLens' detector names, a mean over the queries that have one.

    Within: queries of the second copy alone. Key 0 is no target of those.
    """
    total, queries = np.zeros(pattern.shape[1]), 0
    for row, lag in enumerate(lags):
        wanted = np.array(detect(torch.from_numpy(tokens[row : row + 1])))
        if within:
            wanted[:, 0] = wanted[:lag] = wanted[2 * lag :] = 0
        total += (pattern[row] * wanted).sum((1, 2))
        queries += int(wanted.sum())
    return (total / queries).tolist()


def dimension(outputs: np.ndarray) -> float:
    values = np.linalg.eigvalsh(np.cov(outputs.T))
    return float(values.sum() ** 2 / (values**2).sum())


def pairs(vectors: np.ndarray) -> float:
    """[occasion vector entry] -> the mean cosine over every two vectors, and over occasions."""
    unit = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    products = np.einsum("nhx,ngx->hg", unit, unit) / len(unit)
    return float(products[~np.eye(len(products), dtype=bool)].mean())


def seen(bridge: TransformerBridge, tokens: np.ndarray, lags: list[int]) -> dict[str, list]:
    found: dict[str, list] = {}
    with torch.no_grad():
        _, cache = bridge.run_with_cache(torch.from_numpy(tokens))
    detectors = {
        "previous_token": (head_detector.get_previous_token_head_detection_pattern, False),
        "induction": (head_detector.get_induction_head_detection_pattern, True),
        "duplicate_token": (head_detector.get_duplicate_token_head_detection_pattern, True),
    }
    length = tokens.shape[1]
    even = np.tril(np.ones((length, length))) / np.arange(1, length + 1)[:, None]
    for layer in range(2):
        pattern = cache["pattern", layer].double().numpy()
        outputs = cache["z", layer].double().numpy()[:, 1:].reshape(-1, 4, 8)
        written = np.einsum("nhc,hcw->nhw", outputs, bridge.W_O[layer].detach().double().numpy())
        logarithm = np.log(np.where(pattern > 0, pattern, 1))
        flat = pattern.reshape(len(tokens), 4, -1)
        of_layer = {
            **{name: aimed(pattern, tokens, lags, *how) for name, how in detectors.items()},
            "sink_mass": pattern[..., 0].mean((0, 2)).tolist(),
            "attention_entropy": (-(pattern * logarithm).sum(-1)).mean((0, 2)).tolist(),
            "head_dimension": [dimension(outputs[:, head]) for head in range(4)],
            "redundancy": pairs(flat),
            "redundancy centred": pairs(flat - even.reshape(-1)),
            "redundancy output": pairs(written),
            "last query": pattern[0, :, -1].round(7).tolist(),
        }
        for name, value in of_layer.items():
            found.setdefault(name, []).append(value)
    return found


def copying(bridge: TransformerBridge) -> list[list[float]]:
    """From the eigenvalues of its own factored map W_E W_V W_O W_U, norms' gains folded in by it.

    For LayerNorm it also takes the mean out of W_V, which is no gain: such models are left out.
    """
    bridge.enable_compatibility_mode(
        disable_warnings=True, center_writing_weights=False, center_unembed=False, fold_value_biases=False
    )
    values = (bridge.W_E @ bridge.OV @ bridge.W_U).eigenvalues
    return (values.real.sum(-1) / values.abs().sum(-1)).tolist()


def main() -> None:
    torch.set_num_threads(1)
    tokens, lags = repeated()
    found: dict[str, Any] = {
        "versions": {name: version(name) for name in ("transformer-lens", "transformers", "torch")},
        "tokens": [" ".join(map(str, row)) for row in tokens],
        "lags": lags,
    }
    for family in FAMILIES:
        bridge = bridged(filled(family))
        found[family] = seen(bridge, tokens, lags)
        if family == "llama":
            found[family]["copying"] = copying(bridge)
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items()]
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()
