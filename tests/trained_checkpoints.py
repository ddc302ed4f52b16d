"""Small language models trained for real, with a checkpoint wherever a series wants one."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

WIDTH, WORDS, LENGTH = 32, 64, 16
Weights = dict[str, Tensor]


class Small(nn.Module):
    """Two blocks over 64 words."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.position = nn.Embedding(LENGTH, WIDTH)
        block = lambda: nn.TransformerEncoderLayer(WIDTH, 4, 64, 0.0, batch_first=True, norm_first=True)
        self.blocks = nn.ModuleList(block() for _ in range(2))
        self.readout = nn.Linear(WIDTH, WORDS)

    def forward(self, words: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(words.shape[1])
        stream = self.embedding(words) + self.position.weight[: words.shape[1]]
        for block in self.blocks:
            stream = block(stream, src_mask=mask, is_causal=True)
        return self.readout(stream)


OPTIMIZERS: dict[str, Callable] = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.3),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9),
    "adamw": lambda p: torch.optim.AdamW(p, lr=2e-3, weight_decay=0.1),
    "hot": lambda p: torch.optim.AdamW(p, lr=1e-2, betas=(0.9, 0.95), weight_decay=0.1),
}


def schedule(name: str, steps: int) -> Callable[[int], float]:
    """Learning-rate factors by step."""
    warm = max(1, steps // 10)
    rise = lambda step: min(1.0, step / warm)
    return {
        "constant": lambda step: 1.0,
        "warm": rise,
        "cosine": lambda s: rise(s) * (0.5 + 0.5 * torch.cos(torch.tensor(torch.pi * s / steps)).item()),
        "stable-decay": lambda s: rise(s) * min(1.0, max(0.0, (steps - s) / (0.2 * steps))),
        "restarts": lambda s: 0.05 + 0.95 * (1 - (s % (steps // 3)) / (steps // 3)),
    }[name]


SPACINGS: dict[str, Callable[[int], list[int]]] = {
    "even": lambda steps: list(range(0, steps + 1, steps // 19)),
    "logarithmic": lambda steps: [0, *(2**k for k in range(20) if 2**k <= steps)],
    "pythia": lambda steps: [0, 1, 2, 4, 8, 16, 32, *range(60, steps + 1, 40)],
}


def train(
    seed: int, optimizer: str = "adamw", plan: str = "cosine", at: Sequence[int] = (), steps: int = 0
) -> dict[int, Weights]:
    """Checkpoints of one training by step."""
    steps = steps or max(at)
    torch.manual_seed(seed)
    model = Small()
    data = _sentences(32 * (steps + 1), torch.Generator().manual_seed(1000 + seed)).split(32)
    optim = OPTIMIZERS[optimizer](model.parameters())
    factors = torch.optim.lr_scheduler.LambdaLR(optim, schedule(plan, steps))
    found: dict[int, Weights] = {}
    for step, batch in enumerate(data):
        if step in at:
            found[step] = {name: value.clone() for name, value in model.state_dict().items()}
        loss = nn.functional.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optim.zero_grad()
        loss.backward()
        optim.step()
        factors.step()
    return found


def _sentences(count: int, generator: torch.Generator) -> Tensor:
    """Walks of a fixed Markov chain over the words."""
    language = torch.softmax(2 * torch.randn(WORDS, WORDS, generator=torch.Generator().manual_seed(7)), -1)
    words = [torch.randint(WORDS, (count,), generator=generator)]
    for _ in range(LENGTH):
        words.append(torch.multinomial(language[words[-1]], 1, generator=generator)[:, 0])
    return torch.stack(words, 1)
