"""HEA-04, on a model whose weights are set."""

import pytest
import torch

from ontogeny.catalogue import measuring_part
from ontogeny.subject import Subject
from ontogeny.testing import measured_on, tiny_subject
from tiny_families import tiny


def own_rows(subject: Subject) -> list[dict]:
    """The score's rows, without those of its null."""
    return [row for row in measured_on(subject, measuring_part("copying")).rows if row["component"] == ""]


def scores(subject: Subject) -> list[float]:
    rows = own_rows(subject)
    assert {row["status"] for row in rows} == {"ok"}
    return [row["value"] for row in rows]


def written_as_read(subject: Subject, sign: float = 1.0) -> Subject:
    """W_O = ± W_Vᵀ in every head, all gains equal."""
    for block in subject.model.blocks:
        block.attention.output.weight.data = sign * block.attention.value.weight.data.mT.clone()
    return subject


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_writing_what_it_reads_is_one(sign):
    assert scores(written_as_read(tiny_subject(init_scale=0.2), sign)) == pytest.approx([sign] * 8, abs=1e-9)


def test_random_heads_are_near_zero():
    """0 ± 1.5 / d_head: 0.05 at 32."""
    subject = tiny_subject(vocabulary=2000, width=256, heads=8, layers=4, mlp="none", tied=False)
    found = torch.tensor(scores(subject))
    assert len(found) == 32
    assert float(found.square().mean().sqrt()) == pytest.approx(1.5 / 32, rel=0.35)
    assert abs(float(found.mean())) < 3 * 0.05 / 32**0.5


def test_it_is_the_spectrum_of_the_map_from_tokens_to_logits():
    subject = tiny_subject(init_scale=0.2, tied=False, kv_heads=2)
    generator = torch.Generator().manual_seed(3)
    for name, parameter in subject.model.named_parameters():
        if "norm" in name:
            parameter.data.uniform_(0.2, 3, generator=generator)
    heads, model = subject.head_weights(1), subject.model.requires_grad_(False)
    read = model.blocks[1].attention_norm.weight.double() * model.embedding.weight.double()
    for head, score in enumerate(scores(subject)[4:]):
        written = heads.output[head].double() @ heads.value[head].double() @ read.mT
        logits = model.unembedding.weight.double() @ (model.final_norm.weight.double()[:, None] * written)
        values = torch.linalg.eigvals(logits)
        assert score == pytest.approx(float(values.real.sum() / values.abs().sum()), abs=1e-6)


def test_gains_are_folded_in():
    subject = written_as_read(tiny_subject(init_scale=0.2))
    plain = scores(subject)
    subject.model.final_norm.weight.data.neg_()
    assert scores(subject) == pytest.approx([-score for score in plain])
    subject.model.blocks[1].attention_norm.weight.data.neg_()
    assert scores(subject) == pytest.approx([-1] * 4 + [1] * 4)


def test_neither_scale_nor_a_mixing_of_channels_changes_it():
    subject = tiny_subject(init_scale=0.2)
    plain = scores(subject)
    turn = torch.linalg.qr(torch.randn(12, 12, generator=torch.Generator().manual_seed(0))).Q
    for block in subject.model.blocks:
        value, output = block.attention.value.weight.data, block.attention.output.weight.data
        value.copy_(7 * torch.einsum("cd,hdw->hcw", turn, value.view(4, 12, -1)).reshape(48, -1))
        output.copy_(torch.einsum("whd,cd->whc", output.view(-1, 4, 12), turn).reshape(-1, 48))
    assert scores(subject) == pytest.approx(plain, abs=1e-5)


def test_a_head_without_weights_and_a_broken_one_say_why():
    subject = tiny_subject(init_scale=0.2)
    subject.model.blocks[0].attention.value.weight.data[:12] = 0
    subject.model.blocks[1].attention.output.weight.data[0, 12] = torch.nan
    rows = own_rows(subject)
    assert [row["status"] for row in rows] == ["zero-weight"] + ["ok"] * 4 + ["nonfinite"] + ["ok"] * 2


def test_a_model_that_is_read_out_by_more_than_a_matrix_has_no_such_path():
    pytest.importorskip("transformers")
    (row, *others) = measured_on(Subject(tiny("bert")), measuring_part("copying")).rows
    assert {one["status"] for one in (row, *others)} == {"not-observable"}
