"""A part with parameters, as text: `name(parameter=value, …)`; names and plain values, nothing evaluated."""

import ast
from typing import Any

from ontogeny.errors import BadContract


def read_call(text: str, noun: str = "a part") -> tuple[str, dict[str, Any]]:
    """Name and parameters of a call such as `cka(variant='biased')`; a bare name has no parameters.

    BadContract for text of another form.
    """
    try:
        call = ast.parse(text.strip() if "(" in text else f"{text}()", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise ValueError("not a call with named values")
        if any(keyword.arg is None for keyword in call.keywords):
            raise ValueError("values without names")
        values = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError) as error:
        raise BadContract(
            f"{noun} that cannot be read: {error}",
            received=text,
            allowed="name(parameter=value, …) with plain values, e.g. weight_decay(value=0)",
        ) from None
    return call.func.id, values


def split_calls(text: str) -> list[str]:
    """The parts of a list separated by commas, which calls may hold within their brackets."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return [one.strip() for one in found if one.strip()]
