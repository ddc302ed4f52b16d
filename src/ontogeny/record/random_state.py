"""The global random generators of Python, NumPy and torch: taken, told as plain values, put back exactly."""

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

#: Devices beside the CPU that have generators of their own.
DEVICES = ("cuda", "xpu")


@dataclass(frozen=True)
class RandomState:
    """Where each global generator stands; None: it is not told, and is left alone when the others are put
    back. `devices` holds one state for each device of a kind, by kind."""

    python: tuple[Any, ...] | None = None
    numpy: dict[str, Any] | None = None
    torch: Tensor | None = None
    devices: Mapping[str, list[Tensor]] | None = None

    @classmethod
    def now(cls) -> Self:
        """Take all of them. Devices that this process has not used yet have no state, and are not woken."""
        found = {name: getattr(torch, name).get_rng_state_all() for name in DEVICES if _awake(name)}
        return cls(random.getstate(), dict(np.random.get_state(legacy=False)), torch.get_rng_state(), found)

    def changes_since(self, before: Self) -> Self:
        """Only the generators that stand elsewhere than they did."""
        mine = {one.name: getattr(self, one.name) for one in fields(self)}
        return type(self)(**{name: v for name, v in mine.items() if not _same(v, getattr(before, name))})

    def put_back(self) -> None:
        """Set the global generators; of devices, those that are here."""
        if self.python is not None:
            random.setstate(self.python)
        if self.numpy is not None:
            np.random.set_state(self.numpy)
        if self.torch is not None:
            torch.set_rng_state(self.torch)
        for name, states in (self.devices or {}).items():
            module = getattr(torch, name)
            for index, state in enumerate(states[: module.device_count()] if module.is_available() else []):
                module.set_rng_state(state, index)

    def document(self) -> dict[str, Any]:
        """Plain values; generators that are not told are absent."""
        document: dict[str, Any] = {}
        if self.python is not None:
            version, inner, normal = self.python
            document["python"] = [version, _packed(inner), normal]
        if self.numpy is not None:
            document["numpy"] = _plain(self.numpy)
        if self.torch is not None:
            document["torch"] = _hex(self.torch)
        for name, states in (self.devices or {}).items():
            document[name] = [_hex(state) for state in states]
        return document

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """The inverse of `document`."""
        python, torch_state = document.get("python"), document.get("torch")
        devices = {name: [_tensor(one) for one in document[name]] for name in DEVICES if name in document}
        return cls(
            None if python is None else (python[0], _unpacked(python[1]), python[2]),
            _arrays(document["numpy"]) if "numpy" in document else None,
            None if torch_state is None else _tensor(torch_state),
            devices or None,
        )


def random_state() -> dict[str, Any]:
    """Where the global generators stand now, as plain values for a checkpoint."""
    return RandomState.now().document()


def restore_random_state(document: Mapping[str, Any]) -> None:
    """Put the global generators back where `random_state` found them; what it does not tell is left alone."""
    RandomState.of(document).put_back()


@contextmanager
def undisturbed() -> Iterator[None]:
    """After the block the global generators stand where they stood before it."""
    before = RandomState.now()
    try:
        yield
    finally:
        before.put_back()


def _awake(name: str) -> bool:
    module = getattr(torch, name, None)
    return module is not None and module.is_available() and module.is_initialized()


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Tensor | np.ndarray):
        return type(one) is type(other) and bool((one == other).all())
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return one == other


def _packed(words: tuple[int, ...]) -> str:
    """Python's generator is 624 words and a place, all of 32 bits."""
    return np.array(words, "<u4").tobytes().hex()


def _unpacked(text: str) -> tuple[int, ...]:
    return tuple(np.frombuffer(bytes.fromhex(text), "<u4").tolist())


def _plain(state: Mapping[str, Any]) -> dict[str, Any]:
    """NumPy's state, whatever its generator: arrays as their dtype and bytes, numbers as they are."""
    plain: dict[str, Any] = {}
    for name, value in state.items():
        if isinstance(value, Mapping):
            plain[name] = _plain(value)
        elif isinstance(value, np.ndarray):
            little = value.astype(value.dtype.newbyteorder("<"))
            plain[name] = {"array": [little.dtype.str, little.tobytes().hex()]}
        else:
            plain[name] = value.item() if isinstance(value, np.generic) else value
    return plain


def _arrays(plain: Mapping[str, Any]) -> dict[str, Any]:
    state: dict[str, Any] = {}
    for name, value in plain.items():
        if isinstance(value, Mapping) and set(value) == {"array"}:
            dtype, text = value["array"]
            state[name] = np.frombuffer(bytes.fromhex(text), dtype).astype(np.dtype(dtype).newbyteorder("="))
        else:
            state[name] = _arrays(value) if isinstance(value, Mapping) else value
    return state


def _hex(state: Tensor) -> str:
    return state.cpu().numpy().tobytes().hex()


def _tensor(text: str) -> Tensor:
    return torch.frombuffer(bytearray.fromhex(text), dtype=torch.uint8)
