"""Parts with parameters, as text."""

import pytest

from ontogeny.catalogue.calls import read_call, split_calls
from ontogeny.errors import BadContract


def test_a_bare_name_has_no_parameters():
    assert read_call("cka") == ("cka", {})


def test_plain_values_are_read():
    name, values = read_call("x(a=1, b='two', c=(3, -4.5), d=None, e=[True])")
    assert name == "x"
    assert values == {"a": 1, "b": "two", "c": (3, -4.5), "d": None, "e": [True]}


@pytest.mark.parametrize(
    "text", ["x(1)", "x(a=f())", "x(a=", "x(a=b)", "x(**{})", "a b", "x()()", "x(a=1); y"]
)
def test_nothing_else_is(text):
    with pytest.raises(BadContract, match="cannot be read"):
        read_call(text)


def test_commas_within_brackets_do_not_separate():
    assert split_calls("a, b(x=1, y=(2, 3)) ,c,") == ["a", "b(x=1, y=(2, 3))", "c"]
    assert split_calls("") == []
