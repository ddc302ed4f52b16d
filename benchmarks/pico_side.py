"""The peer's half of `pico_analyze.py`, run in the peer's own environment; not run by hand.

    pico_side.py make TRAIN_CHECKOUT RUN       trains pico-train's decoder; writes its layout to RUN
    pico_side.py analyze CHECKOUT RUN CONFIG   pico-analyze's own command on it, timed

Both answer with one line of JSON on standard output. What only a trainer with a hub and several devices needs
is left out of `make`: the decoder, the names of the files and what is in them are the peer's.
"""

import argparse as text_to_train_on
import importlib.util
import inspect as text_to_measure_on
import json
import os
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

#: The peer's model at width 96; the rest as its own configuration has it for such a width.
MODEL = {
    "model_type": "pico_decoder",
    "d_model": 96,
    "n_layers": 12,
    "vocab_size": 512,
    "batch_size": 16,
    "max_seq_len": 64,
    "attention_n_heads": 12,
    "attention_n_kv_heads": 4,
    "activation_hidden_dim": 384,
    "norm_eps": 1e-6,
    "position_emb_theta": 10000.0,
}
STEPS, EVERY, SAMPLES = 100, 10, 1280
#: What its trainer keeps of each checkpoint.
KEPT = ("attention.v_proj", "attention.o_proj", "swiglu.w_2")


def module_at(path: Path) -> ModuleType:
    found = importlib.util.spec_from_file_location(path.stem, path)
    assert found
    assert found.loader
    module = importlib.util.module_from_spec(found)
    sys.modules[path.stem] = module
    found.loader.exec_module(module)
    return module


def tokens_of(text: str, rows: int, tokenizer: Any) -> Tensor:
    """Evenly spread windows of a text [row, position]."""
    tokens, length = torch.tensor(tokenizer.encode(text).ids), MODEL["max_seq_len"]
    starts = torch.arange(rows) * (len(tokens) - length) // (rows - 1)
    return tokens[starts[:, None] + torch.arange(length)]


def bpe(text: str) -> Any:
    from tokenizers import ByteLevelBPETokenizer

    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator([text], vocab_size=MODEL["vocab_size"], min_frequency=1)
    return tokenizer


def last_tokens(model: nn.Module, tokens: Tensor) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Last-token outputs of the modules its trainer keeps, and their weights, under their names."""
    found, weights, hooks = defaultdict(list), {}, []
    for name, module in model.named_modules():
        if name.endswith(KEPT):
            weights[name] = module.weight.detach()  # type: ignore[union-attr]
            keep: Callable = lambda _, __, out, name=name: found[name].append(out[:, -1].detach())
            hooks.append(module.register_forward_hook(keep))
    with torch.no_grad():
        for batch in tokens.split(64):
            model(batch)
    for hook in hooks:
        hook.remove()
    return {name: torch.cat(parts) for name, parts in found.items()}, weights


def make(train: Path, run: Path) -> dict[str, Any]:
    source = train / "src" / "model" / "pico_decoder.py"
    decoder = module_at(source)
    tokenizer = bpe(Path(text_to_train_on.__file__).read_text())
    known = tokens_of(Path(text_to_train_on.__file__).read_text(), 4096, tokenizer)
    measured = tokens_of(Path(text_to_measure_on.__file__).read_text(), SAMPLES, tokenizer)
    torch.manual_seed(0)
    model = decoder.PicoDecoder(SimpleNamespace(**MODEL))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for step in range(1, STEPS + 1):
        batch = known[torch.randint(len(known), (MODEL["batch_size"],))]
        logits, _ = model(batch[:, :-1])
        loss = nn.functional.cross_entropy(logits.transpose(1, 2), batch[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % EVERY == 0:
            save(run / "checkpoints" / f"step_{step}", model, decoder, tokenizer, measured)
            shutil.copy(source, run / "checkpoints" / f"step_{step}")
    told = {"model": MODEL, "checkpointing": {"run_name": run.name}}
    (run / "training_config.yaml").write_text(json.dumps(told))  # JSON is YAML
    return {"first_loss": losses[0], "last_loss": losses[-1]}


def save(folder: Path, model: nn.Module, decoder: ModuleType, tokenizer: Any, measured: Tensor) -> None:
    hf = decoder.PicoDecoderHF(decoder.PicoDecoderHFConfig.from_dict(MODEL))
    hf.load_state_dict(model.state_dict(prefix="pico_decoder."))
    hf.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    states = folder / "learning_dynamics"
    states.mkdir()
    activations, weights = last_tokens(model, measured)
    torch.save(activations, states / "val_activations.pt")
    torch.save(weights, states / "val_weights.pt")


def analyze(checkout: Path, run: Path, config: Path) -> dict[str, Any]:
    """CPU seconds of its command, whole and by metric, and what it wrote."""
    sys.path.insert(0, str(checkout))
    os.environ["WANDB_MODE"] = "disabled"
    from scripts.analyze import main
    from src.metrics import METRIC_REGISTRY

    seconds: dict[str, float] = defaultdict(float)
    for name, metric in METRIC_REGISTRY.items():
        metric.__call__ = timed(metric.__call__, seconds, name)
    started, begun = time.process_time(), time.perf_counter()
    main.callback(config_path=str(config), repo_id=None, branch=None, run_path=str(run))
    whole, wall = time.process_time() - started, time.perf_counter() - begun
    asked = json.loads(config.read_text())
    folder = Path(asked["monitoring"]["output_dir"]) / asked["analysis_name"]
    values = {
        f"{path.parent.name} {path.stem.removesuffix('_val')}": json.loads(path.read_text())
        for path in sorted(folder.glob("step_*/*.json"))
    }
    return {"seconds": whole, "wall": wall, "by_metric": seconds, "values": values}


def timed(call: Callable, seconds: dict[str, float], name: str) -> Callable:
    def timing(*given: Any) -> Any:
        started = time.process_time()
        try:
            return call(*given)
        finally:
            seconds[name] += time.process_time() - started

    return timing


if __name__ == "__main__":
    torch.set_num_threads(1)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the peer prints must not come into the answer
    task = {"make": make, "analyze": analyze}[sys.argv[1]]
    print(json.dumps(task(*map(Path, sys.argv[2:]))), file=answers, flush=True)
