"""BigScience's aggregates."""

import pytest

from ontogeny.bridges import aggregate
from ontogeny.errors import Damaged

DOCUMENT = {"checkpoints": [10, 20], "tokens": [100, 200], "results": {"piqa": {"acc": [0.5, 0.6]}}}


def test_one_point_a_checkpoint():
    assert aggregate.is_aggregate(DOCUMENT)
    assert not aggregate.is_aggregate({"results": {}})
    found = list(aggregate.points(DOCUMENT, "file"))
    assert found == [(10, 100, {"piqa": {"acc": 0.5}}), (20, 200, {"piqa": {"acc": 0.6}})]


def test_tokens_may_be_missing():
    assert [tokens for _, tokens, _ in aggregate.points(DOCUMENT | {"tokens": None}, "file")] == [None, None]


def test_lists_of_another_length_are_damage():
    with pytest.raises(Damaged, match=r"piqa\.acc does not have one entry a checkpoint"):
        list(aggregate.points(DOCUMENT | {"results": {"piqa": {"acc": [0.5]}}}, "file"))
