"""From folders to subjects: ours, other people's, and what is no whole checkpoint."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from foreign_folders import GPT2, nanogpt_file
from ontogeny.errors import Damaged, ForeignCheckpoint, Untrusted
from ontogeny.formats import Trust
from ontogeny.models import Decoder, DecoderConfig
from ontogeny.models.shapes import export_state
from ontogeny.store.checkpoint import write_checkpoint
from ontogeny.subject import Subject, load_subject, subject_of
from ontogeny.vocabulary import Streams

LLAMA = DecoderConfig(vocabulary=61, context=64, width=32, layers=2, heads=4, kv_heads=2)


def decoder(config: DecoderConfig = LLAMA, seed: int = 0) -> Decoder:
    model = Decoder(config, Streams(seed).generator("init")).eval()
    for parameter in model.parameters():
        parameter.data.mul_(8)
    return model


def export(folder, model: Decoder) -> None:
    config, tensors = export_state(model.config, dict(model.state_dict()))
    write_checkpoint(folder, tensors={"model": tensors}, documents={"config": config}, step=0, metadata={})


def test_ours_and_theirs_load_as_what_they_are(folders, tokens, built, tmp_path):
    model = decoder()
    export(tmp_path / "ours", model)
    with torch.no_grad():
        assert torch.equal(load_subject(tmp_path / "ours").run(tokens), model(tokens))
    for family, folder in folders.items():
        theirs = built(family)
        with torch.no_grad():
            expected = theirs(input_ids=tokens, use_cache=False).logits
        torch.testing.assert_close(load_subject(folder).run(tokens), expected, atol=0, rtol=0)


def test_the_next_checkpoint_goes_into_the_same_subject(tmp_path, tokens):
    for seed in (0, 1):
        export(tmp_path / str(seed), decoder(seed=seed))
    first = load_subject(tmp_path / "0")
    before = first.run(tokens)
    second = load_subject(tmp_path / "1", first)
    assert second is first
    assert not torch.equal(second.run(tokens), before)
    assert torch.equal(load_subject(tmp_path / "0", second).run(tokens), before)


def test_another_architecture_is_another_subject(tmp_path):
    export(tmp_path / "wide", decoder())
    export(
        tmp_path / "narrow", decoder(DecoderConfig(vocabulary=61, context=64, width=16, layers=2, heads=4))
    )
    wide = load_subject(tmp_path / "wide")
    assert load_subject(tmp_path / "narrow", wide) is not wide


def test_a_changed_bit_of_ours_is_damage(tmp_path):
    export(tmp_path / "ours", decoder())
    path = tmp_path / "ours" / "model.safetensors"
    raw = bytearray(path.read_bytes())
    raw[-5] ^= 1
    path.write_bytes(raw)
    with pytest.raises(Damaged):
        load_subject(tmp_path / "ours")


@pytest.fixture
def broken(folders, tmp_path):
    """A copy of a saved Llama, to be spoilt."""
    shutil.copytree(folders["llama"], tmp_path / "step1000")
    return tmp_path / "step1000"


def test_a_checkpoint_that_lacks_a_tensor_names_it(broken):
    tensors = load_file(broken / "model.safetensors")
    del tensors["model.layers.1.mlp.up_proj.weight"]
    save_file(tensors, broken / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ForeignCheckpoint, match=r"missing_keys: model\.layers\.1\.mlp\.up_proj\.weight"):
        load_subject(broken)


def test_a_checkpoint_with_a_tensor_of_another_shape_names_it(broken):
    tensors = load_file(broken / "model.safetensors")
    tensors["model.norm.weight"] = torch.ones(7)
    save_file(tensors, broken / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ForeignCheckpoint, match=r"model\.norm\.weight"):
        load_subject(broken)


def test_a_folder_without_weights_says_so(broken):
    (broken / "model.safetensors").unlink()
    with pytest.raises(ForeignCheckpoint, match="step1000"):
        load_subject(broken)


def test_weights_cut_short_say_so(broken):
    path = broken / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(Damaged, match="step1000"):
        load_subject(broken)


@pytest.mark.parametrize("text", ["{", "[]", '{"model_type": "no such family"}', "{}"])
def test_a_config_that_says_nothing_says_so(broken, text):
    (broken / "config.json").write_text(text)
    with pytest.raises((ForeignCheckpoint, Damaged), match="step1000"):
        load_subject(broken)


def test_half_precision_is_read_as_float32(broken, tokens):
    tensors = {name: tensor.bfloat16() for name, tensor in load_file(broken / "model.safetensors").items()}
    save_file(tensors, broken / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((broken / "config.json").read_text())
    (broken / "config.json").write_text(json.dumps({**config, "dtype": "bfloat16"}))
    assert load_subject(broken).run(tokens).dtype is torch.float32


def test_tensors_without_a_config_go_into_a_given_model_only(tmp_path):
    source, target = decoder(seed=0), Subject(decoder(seed=1))
    save_file(dict(source.state_dict()), tmp_path / "bare.safetensors")
    with pytest.raises(ForeignCheckpoint, match="nothing says which architecture"):
        load_subject(tmp_path / "bare.safetensors")
    assert load_subject(tmp_path / "bare.safetensors", target) is target
    assert all(torch.equal(t, source.state_dict()[n]) for n, t in target.model.state_dict().items())


def test_a_pickle_is_opened_with_leave_only(tmp_path, tokens):
    model = decoder(DecoderConfig(vocabulary=61, context=64, width=32, layers=2, heads=4, **GPT2))
    nanogpt_file(tmp_path / "ckpt.pt", model)
    with pytest.raises(Untrusted):
        load_subject(tmp_path / "ckpt.pt")
    with torch.no_grad():
        assert torch.equal(
            load_subject(tmp_path / "ckpt.pt", trust=Trust(pickles=True)).run(tokens), model(tokens)
        )


def test_a_model_of_the_callers_is_taken_when_all_of_it_is_there():
    model = decoder()
    assert subject_of(model).model is model
    with (
        torch.device("meta"),
        pytest.raises(ForeignCheckpoint, match=r"meta device.*blocks\.0\.att"),
    ):
        subject_of(Decoder(LLAMA))
