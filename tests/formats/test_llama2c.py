"""llama2.c's binary files: real models that others trained, against a forward pass that is not ours."""

import math
import struct

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from ontogeny import formats
from ontogeny.formats import llama2c
from ontogeny.subject import load_subject

MODELS = ("stories260k/stories260K.bin", "babyllama-tok105/model5000.bin")
#: doc/stories260K.md of karpathy/llama2.c (MIT): greedy, from the beginning token.
PUBLISHED = """Once upon a time, there was a little girl named Lily. She loved to play outside in the park. \
One day, she saw a big, red ball. She wanted to play with it, but it was too high.
Lily's mom said, "Lily, let's go to the park." Lily was sad and didn't know what to do. She said, "I want to \
play with your ball, but I can't find it."
Lily was sad and didn't know what to do. She said, "I'm sorry, Lily. I didn't know what to do."
Lily didn't want to help her mom, so she said, "I'm sorry, mom. I didn't know what to do." Her mom said, \
"Don't worry, Lily. We can help you."""


def plain_forward(path, tokens):
    """llama2.c's own order of rotation and storage, read from the file by itself, in float64."""
    raw = path.read_bytes()
    width, hidden, layers, heads, keys, vocabulary, _ = struct.unpack("<7i", raw[:28])
    values, at, size = (
        torch.from_numpy(np.frombuffer(raw[28:], dtype="<f4").copy()).double(),
        0,
        width // heads,
    )

    def take(*shape):
        nonlocal at
        at += math.prod(shape)
        return values[at - math.prod(shape) : at].view(shape)

    embedding = take(vocabulary, width)
    n1, wq, wk = take(layers, width), take(layers, width, width), take(layers, keys * size, width)
    wv, wo, n2 = take(layers, keys * size, width), take(layers, width, width), take(layers, width)
    w1, w2, w3 = take(layers, hidden, width), take(layers, width, hidden), take(layers, hidden, width)
    last = take(width)
    norm = lambda x, gain: x * (x.square().mean(-1, keepdim=True) + 1e-5).rsqrt() * gain
    turns = 10000.0 ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
    angle = torch.polar(torch.ones((), dtype=torch.float64), torch.arange(tokens.shape[1])[:, None] * turns)[
        :, None
    ]
    turned = lambda x: torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2))) * angle).flatten(-2)
    x, future = embedding[tokens], torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool).triu(1)
    for i in range(layers):
        q, k, v = ((norm(x, n1[i]) @ w[i].T).unflatten(-1, (-1, size)) for w in (wq, wk, wv))
        q, k = turned(q).transpose(1, 2), turned(k).transpose(1, 2).repeat_interleave(heads // keys, 1)
        scores = (q @ k.transpose(-1, -2) / math.sqrt(size)).masked_fill(future, -math.inf).softmax(-1)
        v = v.transpose(1, 2).repeat_interleave(heads // keys, 1)
        x = x + (scores @ v).transpose(1, 2).flatten(2) @ wo[i].T
        x = x + (F.silu(norm(x, n2[i]) @ w1[i].T) * (norm(x, n2[i]) @ w3[i].T)) @ w2[i].T
    return norm(x, last) @ embedding.T


@pytest.mark.parametrize("file", MODELS)
def test_ours_transformers_and_a_plain_pass_agree(shared_data, file):
    transformers = pytest.importorskip("transformers")
    weights = formats.read(shared_data / file)
    tokens = torch.randint(100, (2, 48), generator=torch.Generator().manual_seed(0))
    config = transformers.LlamaConfig.from_dict(dict(weights.config))
    theirs, report = transformers.LlamaForCausalLM.from_pretrained(
        None, config=config, state_dict=dict(weights.tensors), output_loading_info=True
    )
    assert not any(report[kind] for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    with torch.no_grad():
        expected, plain = theirs.eval()(input_ids=tokens).logits, plain_forward(shared_data / file, tokens)
    ours = load_subject(weights).run(tokens)
    torch.testing.assert_close(ours, expected, atol=2e-5, rtol=0)
    torch.testing.assert_close(ours.double(), plain, atol=2e-5, rtol=0)


def test_the_published_text_comes_out_word_for_word(shared_data):
    weights = formats.read(shared_data / MODELS[0])
    tokenizer, subject = formats.open_tokenizer(weights.tokenizer), load_subject(weights)
    ids = [1]
    while len(ids) < 257:
        ids.append(int(subject.run(torch.tensor([ids]))[0, -1].argmax()))
    assert tokenizer.decode(ids[1:]).removeprefix(" ") == PUBLISHED


def test_the_published_stories_have_the_loss_that_was_measured(shared_data):
    """The data's README: 1.2664 nats a token over the 1,804 tokens of its five stories."""
    weights = formats.read(shared_data / MODELS[0])
    tokenizer, subject = formats.open_tokenizer(weights.tokenizer), load_subject(weights)
    text = (shared_data / "stories260k" / "tinystories_sample.txt").read_text()
    total, count = 0.0, 0
    for story in text.split("<|endoftext|>"):
        if story.strip():
            (ids,) = tokenizer.encode([story.strip()])
            tokens = torch.from_numpy(ids.astype("int64"))[None]
            losses = F.cross_entropy(subject.run(tokens)[0, :-1], tokens[0, 1:], reduction="sum")
            total, count = total + float(losses), count + tokens.shape[1] - 1
    assert count == 1804
    assert total / count == pytest.approx(1.2664, abs=2e-4)


def test_only_a_file_of_the_right_length_is_claimed(shared_data, tmp_path):
    raw = (shared_data / MODELS[0]).read_bytes()
    for name, content in {"a.bin": raw, "b.bin": raw + b"\0", "c.bin": raw[:-4], "d.bin": raw[:20]}.items():
        (tmp_path / name).write_bytes(content)
    assert [name for name in "abcd" if llama2c.claims(tmp_path / f"{name}.bin")] == ["a"]


def test_an_untied_file_is_read_to_its_end(shared_data, tmp_path):
    raw = (shared_data / MODELS[0]).read_bytes()
    sizes = struct.unpack("<7i", raw[:28])
    untied = struct.pack("<7i", *sizes[:5], -sizes[5], sizes[6])
    table = np.arange(sizes[5] * sizes[0], dtype="<f4")
    (tmp_path / "a.bin").write_bytes(untied + raw[28:] + table.tobytes())
    weights = formats.read(tmp_path / "a.bin")
    assert weights.config["tie_word_embeddings"] is False
    assert torch.equal(weights.tensors["lm_head.weight"].flatten(), torch.from_numpy(table))
