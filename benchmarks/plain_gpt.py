"""A GPT-2-shaped model in plain PyTorch, and one step of training it: what both recorders are put on.

It imports nothing but torch, since it also runs in TrainScope's environment, where there is no ontogeny.
"""

import time
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

VOCABULARY, CONTEXT, WIDTH, LAYERS, HEADS, BATCH = 256, 64, 128, 2, 4, 16


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention_norm, self.mlp_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.output = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, residual: Tensor) -> Tensor:
        query, key, value = (
            part.unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for part in self.qkv(self.attention_norm(residual)).chunk(3, -1)
        )
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        residual = residual + self.output(mixed.transpose(1, 2).flatten(2))
        return residual + self.down(F.gelu(self.up(self.mlp_norm(residual))))


class GPT(nn.Module):
    """Learned positions, LayerNorm, gelu, biases, an unembedding of its own: 0.47 M parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.positions = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.unembedding = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        residual = self.embedding(tokens) + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            residual = block(residual)
        return self.unembedding(self.norm(residual))


def batches(vocabulary: int, context: int, size: int, seed: int = 0) -> Callable[[], Tensor]:
    rng = torch.Generator().manual_seed(seed)
    return lambda: torch.randint(vocabulary, (size, context + 1), generator=rng)


class Arm:
    """A model that is trained in its own way of recording; `step` returns the CPU seconds of one step.

    `before` is called between backward and the optimizer's step with the loss, `after` behind it with the
    loss and the gradient's norm where it is clipped.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        before: Callable[[Tensor], object] = lambda loss: None,
        after: Callable[[Tensor, Tensor | None], object] = lambda loss, norm: None,
        clip: float | None = None,
    ) -> None:
        self.model, self.optimizer, self.before, self.after = model, optimizer, before, after
        self.clip = clip

    def step(self, tokens: Tensor) -> float:
        started = time.process_time()
        self.optimizer.zero_grad(set_to_none=True)
        logits = self.model(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.clip) if self.clip else None
        self.before(loss)
        self.optimizer.step()
        self.after(loss, norm)
        return time.process_time() - started


def interleaved(
    arms: dict[str, Arm], next_batch: Callable[[], Tensor], rounds: int
) -> dict[str, list[float]]:
    """CPU seconds of every step; each round gives all arms the same tokens, and the order turns by one."""
    seconds: dict[str, list[float]] = {name: [] for name in arms}
    for number in range(rounds):
        tokens = next_batch()
        order = list(arms)
        turn = number % len(order)
        for name in order[turn:] + order[:turn]:
            seconds[name].append(arms[name].step(tokens))
    return seconds
