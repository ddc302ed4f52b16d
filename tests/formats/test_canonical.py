"""Names without wrappers, ties as aliases, and state dicts whose values are elsewhere."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from ontogeny.errors import ForeignCheckpoint
from ontogeny.formats.canonical import (
    WRAPPERS,
    canonical_name,
    canonical_names,
    canonical_state,
    require_values,
)

NAME = "model.layers.3.self_attn.q_proj.weight"


@given(st.lists(st.tuples(st.sampled_from(WRAPPERS), st.integers(0, 5)), max_size=6))
def test_wrappers_go_wherever_and_however_often_they_are(inserted):
    parts = NAME.split(".")
    for wrapper, position in inserted:
        parts.insert(position, wrapper)
    assert canonical_name(".".join(parts)) == NAME


def test_a_name_that_merely_contains_a_wrappers_stays():
    for name in ("module_list.0.weight", "submodule.weight", "modules.0.bias", "_orig_model.weight"):
        assert canonical_name(name) == name


def test_what_was_stripped_is_told():
    names, notes = canonical_names(["module._orig_mod.a.weight", "module.b.module.weight"])
    assert list(names.values()) == ["a.weight", "b.weight"]
    assert notes == ("stripped _orig_mod. from 1 names", "stripped module. from 2 names")


def test_two_names_that_become_one_are_refused():
    with pytest.raises(ForeignCheckpoint, match=r"a\.weight, module\.a\.weight"):
        canonical_names(["a.weight", "module.a.weight"])


def test_real_wrappers_of_torch_are_known():
    from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper

    bare = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    expected = list(bare.state_dict())
    compiled = torch.compile(nn.DataParallel(bare), backend="eager")
    assert list(canonical_state(dict(compiled.state_dict())).tensors) == expected
    bare[0] = checkpoint_wrapper(bare[0])
    named = [canonical_name(name) for name, _ in bare.named_modules() if name]
    assert "_checkpoint_wrapped_module" not in ".".join(named)


def test_tied_tensors_are_one_with_an_alias():
    model = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False))
    model[1].weight = model[0].weight
    found = canonical_state(dict(nn.DataParallel(model).state_dict()))
    assert list(found.tensors) == ["0.weight"]
    assert found.aliases == {"1.weight": "0.weight"}


def test_views_of_one_storage_are_not_ties():
    whole = torch.arange(12.0)
    found = canonical_state(
        {"a": whole[:6], "b": whole[6:], "c": whole.view(3, 4), "d": whole[0], "e": whole[0]}
    )
    assert set(found.tensors) == {"a", "b", "c", "d"}
    assert found.aliases == {"e": "d"}


def _meta() -> dict[str, torch.Tensor]:
    with torch.device("meta"):
        return dict(nn.Linear(3, 4).state_dict())


@pytest.mark.parametrize(
    ("state", "cause", "name"),
    [
        (_meta(), "meta", "weight"),
        (dict(nn.LazyLinear(3).state_dict(keep_vars=True)), "lazy", "bias"),
        ({"_fsdp_wrapped_module._flat_param": torch.ones(9)}, "flat", "_flat_param"),
        ({f"l.{i}.weight": torch.empty(0) for i in range(3)}, "partitioned", r"l\.0\.weight"),
    ],
)
def test_values_that_are_elsewhere_are_refused_by_cause(state, cause, name):
    with pytest.raises(ForeignCheckpoint, match=rf"{cause}.*{name}"):
        require_values(state)


def test_what_is_no_tensor_is_left_out():
    assert set(canonical_state({"a": torch.ones(1), "b._extra_state": {"x": 1}}).tensors) == {"a"}


def test_only_fsdps_own_names_are_flat_buffers():
    require_values({"flat_parameters.weight": torch.ones(2), "head.flat_params": torch.ones(2)})
    for name in ("flat_param", "layers.0._flat_param", "x._flat_param_3"):
        with pytest.raises(ForeignCheckpoint, match="flat"):
            require_values({name: torch.ones(2)})


def test_an_empty_tensor_among_many_is_data():
    found = {"a": torch.ones(3), "b": torch.ones(2), "c": torch.empty(0)}
    require_values(found)
    assert list(canonical_state(found).tensors) == ["a", "b", "c"]


def test_canonical_state_keeps_every_bit_and_dtype():
    state = {
        "module.half": torch.randn(3).bfloat16(),
        "module.turn": torch.randn(2, dtype=torch.complex64),
        "module.scale": torch.tensor(1.5),
    }
    found = canonical_state(state).tensors
    for (name, tensor), kept in itertools.zip_longest(state.items(), found.values()):
        assert kept.dtype is tensor.dtype, name
        assert torch.equal(kept, tensor)
