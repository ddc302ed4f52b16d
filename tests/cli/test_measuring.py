"""What the words of `ontogeny measure` ask for."""

import pytest

from ontogeny.cli.measuring import How
from ontogeny.errors import BadContract


def test_words_become_parts_and_seconds():
    how = How.of("heads.*, cka(variant='biased', k=(1, 2))", False, "15min", 2, "ray", None)
    assert how.parts == ["heads.*", "cka(variant='biased', k=(1, 2))"]
    assert (how.budget, how.workers, how.engine) == (900.0, 2, "ray")
    assert How.of("", True, "", 1, "local", None).parts == ["*"]
    assert How.of("", False, "", 1, "local", None) == How([], None, 1, "local", None)


def test_a_budget_that_is_none_is_refused():
    with pytest.raises(BadContract, match="a budget that cannot be read"):
        How.of("", False, "a while", 1, "local", None)
