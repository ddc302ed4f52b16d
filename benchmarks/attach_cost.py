"""What looking at a model of `transformers` costs beside running it.

Claims, on random models of three families (8 layers, width 256, vocabulary 1,000; 4 × 128 tokens, float32):
  - one forward pass of which only the residual streams are read costs at most 1.1 times the plain pass,
    torch's fused attention kept in place;
  - attaching and detaching every tap there is 1,000 times leaves no handle and at most 5 MB.

Beside it: the same at 1 × 16 tokens, where attaching weighs most; all sites read; patterns read (eager
attention); attaching every tap; the self-check of a map when a model is loaded. CPU time (`process_time`),
one thread, ways interleaved, medians of ratios.

OMP_NUM_THREADS=1 python benchmarks/attach_cost.py [--quick]
"""

import gc
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from claims import Claim, conclude
from ontogeny.anatomy import TAPPABLE
from ontogeny.subject import Subject

SIZES = {"num_hidden_layers": 8, "hidden_size": 256, "num_attention_heads": 8, "vocab_size": 1000}
LLAMA = {**SIZES, "intermediate_size": 704, "num_key_value_heads": 2}
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("LlamaConfig", LLAMA),
    "gpt_neox": ("GPTNeoXConfig", {**SIZES, "intermediate_size": 1024}),
    "gpt2": ("GPT2Config", {"n_layer": 8, "n_embd": 256, "n_head": 8, "vocab_size": 1000}),
}
SHAPES = ((4, 128), (1, 16))
ATTACHED = 1000


def model_of(family: str) -> nn.Module:
    import transformers  # slow to import

    name, said = FAMILIES[family]
    config = getattr(transformers, name)(**said, bos_token_id=None, eos_token_id=None)
    torch.manual_seed(0)
    return transformers.AutoModelForCausalLM.from_config(config, attn_implementation="sdpa").eval()


def look(_place: Any, _tensor: Any) -> None:
    """A tap that only looks."""


def timed(call: Callable[[], Any]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


def ratios(subject: Subject, shape: tuple[int, int], rounds: int) -> dict[str, float]:
    """Medians of each way's time over the plain pass of the same round."""
    tokens = torch.randint(1000, shape, generator=torch.Generator().manual_seed(1))
    model: Any = subject.model
    everything = {site: look for site in TAPPABLE if site != "module" and subject.observable(site)}

    def plain() -> None:
        with torch.no_grad():
            model(input_ids=tokens, use_cache=False)

    ways: dict[str, Callable[[], Any]] = {
        "plain": plain,
        "run": lambda: subject.run(tokens),
        "residuals": lambda: subject.run(tokens, taps={"residual": look}),
        "patterns": lambda: subject.run(tokens, taps={"attention": look}),
        "all sites": lambda: subject.run(tokens, taps=everything),
    }
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(rounds + 3):
        for way in sorted(ways, reverse=bool(number % 2)):
            found = timed(ways[way])
            if number > 2:  # the first rounds warm up
                seconds[way].append(found)
    return {
        way: statistics.median(a / b for a, b in zip(seconds[way], seconds["plain"], strict=True))
        for way in ways
        if way != "plain"
    }


def resident() -> int:
    """Bytes of this process in memory."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def attaching(subject: Subject) -> list[Claim]:
    """Attach every tap there is, again and again: what stays, and what one time costs."""
    everything = {site: look for site in TAPPABLE if subject.observable(site)}

    def attach(times: int) -> None:
        for _ in range(times):
            with subject.watching(everything):
                pass

    attach(100)
    before = resident()
    seconds = timed(lambda: attach(ATTACHED))
    grown = (resident() - before) / 1e6
    handles = sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in subject.model.modules())
    return [
        Claim(f"handles left by {ATTACHED} attachments", handles, "handles", 0),
        Claim(f"memory left by {ATTACHED} attachments", grown, "MB", 5),
        Claim("attaching every tap there is", seconds / ATTACHED * 1e3, "ms"),
    ]


def measure(quick: bool) -> list[Claim]:
    torch.set_num_threads(1)
    claims: list[Claim] = []
    for family in FAMILIES:
        model = model_of(family)
        checking = timed(lambda model=model: Subject(model))
        subject = Subject(model)
        for shape in SHAPES:
            rounds = (5 if quick else 30) * (1 if shape == SHAPES[0] else 4)
            found = ratios(subject, shape, rounds)
            name = f"{family}, {shape[0]} × {shape[1]}"
            bound = 1.1 if shape == SHAPES[0] else None
            claims.append(Claim(f"{name}: residuals / plain", found["residuals"], "ratio", bound))
            claims += [
                Claim(f"{name}: {way} / plain", ratio, "ratio")
                for way, ratio in found.items()
                if way != "residuals"
            ]
        claims.append(Claim(f"{family}: self-check of the map", checking * 1e3, "ms"))
    return claims + attaching(Subject(model_of("llama")))


if __name__ == "__main__":
    conclude(__doc__, measure)
