"""The run-time type checker of the tests: beartype, where it can."""

from beartype import beartype
from beartype.roar import BeartypeDecorHintPep673Exception


def checked(function):
    """Check a function's types and shapes; methods that return `Self` are left as they are.

    beartype resolves `Self` only when it decorates a whole class, and the import hook decorates methods.
    """
    try:
        return beartype(function)
    except BeartypeDecorHintPep673Exception:
        return function
