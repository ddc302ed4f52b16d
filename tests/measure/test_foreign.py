"""Other people's folders, from `save_pretrained` to rows."""

import json
import shutil

import pytest
import torch

from ontogeny.errors import ForeignCheckpoint
from ontogeny.measure import measure
from ontogeny.models import Decoder, DecoderConfig
from ontogeny.models.shapes import export_state
from ontogeny.sources.tokenizer import byte_tokenizer
from ontogeny.store.checkpoint import write_checkpoint
from ontogeny.store.rows import read_rows
from ontogeny.vocabulary import Status, Streams

transformers = pytest.importorskip("transformers")
TEXT = " ".join(f"{number} is not {number + 1}." for number in range(400))
#: Parts that need nothing but a checkpoint; others want a longer series.
PLAIN = ["heldout_loss", "induction", "sink_mass", "stable_rank", "effective_rank", "residual_norm"]
HEADS = ["induction", "previous_token", "sink_mass", "attention_entropy"]


def llama(seed: int):
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=256, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=24, max_position_embeddings=64, initializer_range=0.2, bos_token_id=None,
        eos_token_id=None,
    )  # fmt: skip
    return transformers.AutoModelForCausalLM.from_config(config)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Three checkpoints as a trainer leaves them, each with a byte tokenizer; the last saved again on top."""
    home = tmp_path_factory.mktemp("trainer")
    for seed, name in enumerate(("checkpoint-200", "checkpoint-10", "step1000")):
        llama(seed).save_pretrained(home / name)
        byte_tokenizer().save(home / name)
    (home / "checkpoint-10" / "optimizer.pt").write_bytes(b"not ours to read")
    (home / "logs").mkdir()
    llama(2).save_pretrained(home)
    return home


@pytest.fixture
def series(saved, tmp_path):
    shutil.copytree(saved, tmp_path / "trainer")
    (tmp_path / "text.txt").write_text(TEXT)
    return tmp_path / "trainer"


def table(home, **only):
    frame = read_rows(home / "ontogeny")
    for name, value in only.items():
        frame = frame[frame[name] == value]
    return frame


def test_with_a_text_everything_is_measured(series, tmp_path):
    assert measure(series, text=tmp_path / "text.txt") == 3
    frame = table(series)
    assert set(frame["step"]) == {10, 200, 1000}
    assert set(frame[frame["part"].isin(PLAIN)]["status"]) == {Status.OK}
    loss = table(series, part="heldout_loss")
    assert len(loss) == 3
    assert (loss["value"] > 4).all()
    assert loss["value"].nunique() == 3
    assert len(table(series, part="induction", component="", step=10)) == 8
    assert measure(series, text=tmp_path / "text.txt") == 0


def test_the_loss_is_that_of_transformers(series, tmp_path):
    measure(series, ["heldout_loss"], text=tmp_path / "text.txt")
    tokens = torch.tensor([list(TEXT.encode())])
    count = tokens.shape[1] // 64
    starts = [k * (tokens.shape[1] - 64) // (count - 1) for k in range(count)]
    rows = torch.cat([tokens[:, start : start + 64] for start in starts])
    with torch.no_grad():
        model = transformers.AutoModelForCausalLM.from_pretrained(series / "checkpoint-10").eval()
        expected = model(input_ids=rows, labels=rows).loss
    (found,) = table(series, part="heldout_loss", step=10)["value"]
    assert found == pytest.approx(float(expected), rel=1e-5)


def test_without_a_text_what_needs_none_is_measured(series, tmp_path):
    assert measure(series, PLAIN) == 3
    frame = table(series)
    assert set(frame[frame["stimulus_name"] == "heldout"]["status"]) == {Status.NO_TARGET}
    assert all("--text" in reason for reason in frame[frame["status"] == "no-target"]["reason"])
    assert set(frame[frame["stimulus_name"] != "heldout"]["status"]) == {Status.OK}
    assert frame[frame["status"] != "ok"]["value"].isna().all()
    assert measure(series, PLAIN) == 0
    assert measure(series, PLAIN, text=tmp_path / "text.txt") == 3, "a text given later is what was missing"
    assert set(table(series, part="heldout_loss")["status"]) == {Status.NO_TARGET, Status.OK}


@pytest.mark.parametrize("content", [b"too short", b"\xff\xfe\xff" * 2000, None])
def test_a_text_that_cannot_serve_is_a_status(series, tmp_path, content):
    path = tmp_path / "other.txt"
    if content is not None:
        path.write_bytes(content)
    measure(series, ["heldout_loss", "stable_rank"], text=path)
    loss = table(series, part="heldout_loss")
    assert set(loss["status"]) == {Status.NO_TARGET}
    assert all("other.txt" in reason for reason in loss["reason"])
    assert set(table(series, part="stable_rank", stimulus_name="")["status"]) == {Status.OK}


def test_a_checkpoint_that_is_not_whole_is_named_and_the_others_are_measured(series):
    from safetensors.torch import load_file, save_file

    path = series / "checkpoint-200" / "model.safetensors"
    tensors = load_file(path)
    del tensors["model.layers.0.self_attn.k_proj.weight"]
    save_file(tensors, path, metadata={"format": "pt"})
    with pytest.raises(ForeignCheckpoint, match=r"checkpoint-200[\s\S]*k_proj"):
        measure(series, HEADS)
    assert set(table(series)["step"]) == {10, 1000}
    llama(0).save_pretrained(series / "checkpoint-200")
    assert measure(series, HEADS) == 1, "mended, it is all that was missing"


def test_a_model_whose_patterns_cannot_be_seen_says_so(tmp_path):
    torch.manual_seed(0)
    config = transformers.MambaConfig(
        vocab_size=64,
        hidden_size=16,
        num_hidden_layers=2,
        state_size=4,
        num_attention_heads=1,
        max_position_embeddings=64,
    )
    transformers.AutoModelForCausalLM.from_config(config).save_pretrained(tmp_path / "step5")
    measure(tmp_path, ["induction", "residual_norm", "stable_rank"])
    assert set(table(tmp_path, part="induction")["status"]) == {Status.NOT_OBSERVABLE}
    assert set(table(tmp_path, part="stable_rank", stimulus_name="")["status"]) == {Status.OK}


@pytest.mark.parametrize("kv_heads", [2, 4])
def test_our_own_folder_reads_the_same_through_transformers(tmp_path, kv_heads):
    config = DecoderConfig(vocabulary=64, context=64, width=32, layers=2, heads=4, kv_heads=kv_heads)
    model = Decoder(config, Streams(3).generator("init"))
    for parameter in model.parameters():
        parameter.data.mul_(6)
    described, tensors = export_state(config, dict(model.state_dict()))
    (tmp_path / "ours").mkdir()
    write_checkpoint(
        tmp_path / "ours" / "step3",
        tensors={"model": tensors},
        documents={"config": described},
        step=3,
        metadata={},
    )
    shutil.copytree(tmp_path / "ours", tmp_path / "theirs")
    foreign = tmp_path / "theirs" / "step3"
    (foreign / "manifest.json").unlink()
    described.pop("ontogeny")
    (foreign / "config.json").write_text(json.dumps(described))
    found = {}
    for name in ("ours", "theirs"):
        measure(tmp_path / name, HEADS)
        frame = table(tmp_path / name, stimulus_name="repeated_tokens", status="ok")
        found[name] = frame.set_index(["part", "component", "layer", "head"])["value"]
    assert len(found["ours"]) > 20
    assert found["ours"].index.equals(found["theirs"].index)
    assert (found["ours"] - found["theirs"]).abs().max() < 1e-5
    assert found["ours"].std() > 0.01
