"""The architecture of a decoder: every switch, its default, and what no decoder can have."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, Self, get_args

from ontogeny.errors import BadRecipe

Nonlinearity = Literal["gelu", "relu", "relu2", "swiglu", "none"]
Norm = Literal["rmsnorm", "layernorm"]
NormPlace = Literal["pre", "post"]
Positions = Literal["rotary", "learned", "none"]
Initialisation = Literal["pytorch", "normal"]
CHOICES = {
    "mlp": get_args(Nonlinearity),
    "norm": get_args(Norm),
    "norm_place": get_args(NormPlace),
    "positions": get_args(Positions),
    "init": get_args(Initialisation),
}


@dataclass(frozen=True)
class DecoderConfig:
    """The whole architecture. `BadRecipe` on a value that no decoder can have.

    kv_heads    None: as many as `heads`; fewer: each serves heads / kv_heads query heads
    mlp         "gelu" is the exact one (erf); "relu2" is relu(x)²; "none": attention-only blocks
    mlp_width   None: 4 width, or for swiglu 8/3 width rounded up to a multiple of 8
    norm_place  "pre": before each sublayer and once at the end; "post": after each residual addition
    qk_norm     RMSNorm with a learned gain over each head's query and key, before the rotation
    tied        the embedding is the unembedding
    bias        biases in all linear maps but the unembedding, and in LayerNorm
    loops       how many times the stack of blocks is applied
    dropout     chance that a feature of the embedding, attention or MLP output is dropped (no patterns)
    init        "normal": N(0, init_scale²), what writes to the residual further divided by sqrt(2 layers),
                biases 0; "pytorch": torch's own, uniform linear maps and N(0, 1) embeddings

    Misleads: the number of parameters does not grow with `loops`, the compute does.
    """

    vocabulary: int
    context: int
    width: int = 128
    layers: int = 4
    heads: int = 4
    kv_heads: int | None = None
    mlp: Nonlinearity = "swiglu"
    mlp_width: int | None = None
    norm: Norm = "rmsnorm"
    norm_place: NormPlace = "pre"
    norm_eps: float = 1e-5
    positions: Positions = "rotary"
    rotary_base: float = 10000.0
    qk_norm: bool = False
    tied: bool = True
    bias: bool = False
    loops: int = 1
    dropout: float = 0.0
    init: Initialisation = "normal"
    init_scale: float = 0.02

    def __post_init__(self) -> None:
        for name in ("vocabulary", "context", "width", "layers", "heads", "loops", "kv_heads", "mlp_width"):
            count = getattr(self, name)
            optional = name in ("kv_heads", "mlp_width") and count is None
            if not optional and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
                raise BadRecipe(f"model.{name} is not a count", received=count, allowed="integers from 1")
        for name in ("qk_norm", "tied", "bias"):
            if not isinstance(getattr(self, name), bool):
                raise BadRecipe(
                    f"model.{name} is a switch", received=getattr(self, name), allowed="true, false"
                )
        for name in ("norm_eps", "rotary_base", "init_scale", "dropout"):
            self._check_number(name, getattr(self, name))
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise BadRecipe(f"model.{name}", received=getattr(self, name), allowed=", ".join(allowed))
        self._check_fit()

    def _check_number(self, name: str, value: Any) -> None:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        inside = number and (0 <= value < 1 if name == "dropout" else 0 < value < math.inf)
        if not inside:
            allowed = "numbers from 0, below 1" if name == "dropout" else "finite numbers above 0"
            raise BadRecipe(f"model.{name}", received=value, allowed=allowed)
        object.__setattr__(self, name, float(value))  # a recipe may say 10000; transformers takes no integer

    def _check_fit(self) -> None:
        """What single values allow but their combination does not."""
        if self.width % self.heads:
            raise BadRecipe(
                "the width cannot be cut into heads",
                received=f"width {self.width}, heads {self.heads}",
                allowed="a width that is a multiple of heads",
            )
        if self.heads % self.key_heads:
            raise BadRecipe(
                "the heads cannot share the key heads evenly",
                received=f"heads {self.heads}, kv_heads {self.kv_heads}",
                allowed="kv_heads that divides heads",
            )
        if self.positions == "rotary" and self.head_size % 2:
            raise BadRecipe(
                "rotary positions turn pairs of features",
                received=f"head size {self.head_size} (width {self.width} / heads {self.heads})",
                allowed="an even head size",
            )
        if self.mlp == "none" and self.mlp_width is not None:
            raise BadRecipe("an MLP width without an MLP", received=self.mlp_width, remedy="drop mlp_width")

    @property
    def head_size(self) -> int:
        """Features of one head."""
        return self.width // self.heads

    @property
    def key_heads(self) -> int:
        """Heads that have their own keys and values; `kv_heads` with its default filled in."""
        return self.heads if self.kv_heads is None else self.kv_heads

    @property
    def neurons(self) -> int:
        """Hidden features of one MLP; `mlp_width` with its default filled in, 0 without MLP."""
        if self.mlp == "none":
            return 0
        if self.mlp_width is not None:
            return self.mlp_width
        return -(-self.width // 3) * 8 if self.mlp == "swiglu" else 4 * self.width

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of `dataclasses.asdict`; `BadRecipe` names unknown and missing keys."""
        known = {field.name for field in fields(cls)}
        wrong = sorted(set(values) - known) or sorted({"vocabulary", "context"} - set(values))
        if wrong:
            raise BadRecipe(
                "unknown or missing keys of a decoder",
                received=", ".join(wrong),
                allowed=", ".join(sorted(known)),
                remedy="vocabulary and context are required",
            )
        return cls(**values)
