"""The step that a path or a model's arguments name, and what is left of the text without it."""

import re
from collections import defaultdict
from collections.abc import Sequence

from ontogeny.series.naming import Pattern

#: What stands for the step in a text it was taken out of.
MARK = "#"
_WORDS = re.compile(
    r"(?:global[-_ ]?step|step|checkpoint|ckpt|iteration|iter|update)s?[-_= ]?"
    r"(\d+)(?!\d|\.\d|[kmbt](?![a-z]))",
    re.IGNORECASE,
)
_TIMES = re.compile(r"[-_]?\d{4}-\d{2}-\d{2}[T_ ]?\d{2}[-:]\d{2}[-:]\d{2}(?:\.\d+)?")
_NUMBER = re.compile(r"\d+")
_JOINTS = re.compile(r"([/,=])")


def without_times(text: str) -> str:
    """The text without a date and time of day, such as the harness puts into the names of its files."""
    return _TIMES.sub("", text)


def named_step(text: str, pattern: Pattern | None = None) -> tuple[int, str] | None:
    """The step after a word such as `step`, `checkpoint` or `iter`, and the text with `#` in its place.

    The last such number counts. A pattern is held against the parts of a path or of arguments from the
    last to the first, then against the whole text. None if nothing names a step.
    """
    text = without_times(text)
    if pattern is not None:
        return _by_pattern(text, pattern)
    found = list(_WORDS.finditer(text))
    return (int(found[-1][1]), _marked(text, found[-1].span(1))) if found else None


def varying_steps(texts: Sequence[str]) -> list[tuple[int, str] | None]:
    """The step of texts in which no word announces it: the last number that differs among texts alike.

    Texts are alike when they differ in numbers only. A text without any of its kind has no step.
    """
    texts = [without_times(text) for text in texts]
    alike: dict[str, list[int]] = defaultdict(list)
    for index, text in enumerate(texts):
        alike[_NUMBER.sub(MARK, text)].append(index)
    found: list[tuple[int, str] | None] = [None] * len(texts)
    for members in alike.values():
        numbers = [[int(number) for number in _NUMBER.findall(texts[index])] for index in members]
        varying = [place for place, column in enumerate(zip(*numbers, strict=True)) if len(set(column)) > 1]
        for index, row in zip(members, numbers, strict=True) if varying else ():
            span = list(_NUMBER.finditer(texts[index]))[varying[-1]].span()
            found[index] = (row[varying[-1]], _marked(texts[index], span))
    return found


def _by_pattern(text: str, pattern: Pattern) -> tuple[int, str] | None:
    parts = _JOINTS.split(text)
    for index in range(len(parts) - 1, -1, -1):
        if found := _matched(parts[index], pattern):
            return found[0], "".join((*parts[:index], found[1], *parts[index + 1 :]))
    return _matched(text, pattern)


def _matched(text: str, pattern: Pattern) -> tuple[int, str] | None:
    match, named = pattern.regex.search(text), pattern.read(text)
    if match is None or named is None:
        return None
    return named.step, _marked(text, match.span("tokens" if pattern.counts_tokens else "step"))


def _marked(text: str, span: tuple[int, int]) -> str:
    return text[: span[0]] + MARK + text[span[1] :]
