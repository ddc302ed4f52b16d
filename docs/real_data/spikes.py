"""The gradient norm of an llm.c run of GPT-2 124M: its spikes after warm-up."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ontogeny.detect import locate
from ontogeny.vocabulary import Located, Verdict

#: The learning rate is highest at step 699.
WARM = 700
#: What a spike adds to a norm of some 0.3.
LEAST = 1.0
_LINE = re.compile(r"^s:(\d+) trl:[\d.]+ lr:[\d.]+ norm:([\d.]+)", re.MULTILINE)


def gradient_norms(data: Path) -> tuple[NDArray, NDArray]:
    """Steps after warm-up, and the gradient's norm at each."""
    text = (data / "nanogpt-logs/llmc_gpt2_124M/main.log").read_text()
    found = np.array([(int(step), float(norm)) for step, norm in _LINE.findall(text)])
    warm = found[found[:, 0] >= WARM]
    return warm[:, 0].astype(np.int64), warm[:, 1]


def spikes(data: Path, least: float = LEAST) -> list[Located]:
    """What `jump` claims, one value long, against noise with the memory the series has."""
    steps, norms = gradient_norms(data)
    found = locate(steps, norms, detector="jump(hold=1)", null="autoregressive", least=least)
    return [one for one in found if one.verdict is Verdict.TRANSITION]


def spikes_told(data: Path) -> Iterator[str]:
    """The spikes that are told, and what a lower bound would tell, line by line."""
    for least in (LEAST, 0.6, 0.0):
        found = spikes(data, least)
        said = ", ".join(f"{one.high:,.0f} (+{one.size:.2f}, p {one.p:.3f})" for one in found)
        yield f"gradient norm after warm-up, jumps of at least {least:g}: {len(found)}: {said}"
