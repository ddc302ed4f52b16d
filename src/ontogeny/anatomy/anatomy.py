"""Where things are in a model: its blocks, its attention layers, its weight matrices."""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor, nn

from ontogeny.vocabulary import Place


@dataclass(frozen=True)
class Anatomy:
    """A map from places to module paths. `attention` is empty where patterns cannot be seen."""

    family: str
    layers: int
    heads: int
    width: int
    vocabulary: int
    context: int
    blocks: tuple[str, ...]
    attention: tuple[str, ...]
    loops: int = 1

    def place(self, layer: int, loop: int = 0) -> Place:
        """The place of a layer; `loop` is part of it only where the stack is applied more than once."""
        return Place(layer=layer, loop=loop) if self.loops > 1 else Place(layer=layer)

    def matrices(self, model: nn.Module) -> Mapping[Place, Tensor]:
        """Every two-dimensional parameter by place, tied ones once."""
        found = {}
        for path, parameter in model.named_parameters():
            if parameter.ndim == 2:
                found[self._matrix_place(path)] = parameter.detach()
        return found

    def _matrix_place(self, path: str) -> Place:
        name = path.removesuffix(".weight")
        for layer, block in enumerate(self.blocks):
            if name.startswith(block + "."):
                return Place(layer=layer, matrix=name[len(block) + 1 :])
        return Place(matrix=name)
