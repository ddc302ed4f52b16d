"""The run-time type checker of the tests: beartype, where it can."""

import random

from beartype import beartype
from beartype.roar import BeartypeDecorHintPep673Exception

#: What beartype picks the items with that it looks at. By itself it takes Python's global generator, which
#: what is tested may draw from, or record.
_own = random.Random(0)
_PICKS = "__beartype_getrandbits"


def checked(function):
    """Check a function's types and shapes; methods that return `Self` are left as they are.

    beartype resolves `Self` only when it decorates a whole class, and the import hook decorates methods.
    """
    try:
        found = beartype(function)
    except BeartypeDecorHintPep673Exception:
        return function
    given = getattr(found, "__kwdefaults__", None) or {}
    if _PICKS in given:
        found.__kwdefaults__ = {**given, _PICKS: _own.getrandbits}
    return found
