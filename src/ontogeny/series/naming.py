"""The step in a checkpoint's name: by a pattern that the user gives, or by the words that trainers use."""

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from ontogeny.errors import NotARun

#: What a letter after a number stands for, where a pattern says that it stands for anything.
UNITS = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
#: Names of checkpoints from before the first step.
STARTS = frozenset({"init", "initial", "start"})

_NUMBER = r"\d+(?:\.\d+)?"
_GROUPS = {
    "step": rf"(?P<step>{_NUMBER})",
    "tokens": rf"(?P<tokens>{_NUMBER})",
    "step_unit": r"(?P<step_unit>[kKmMbBtT]?)",
    "tokens_unit": r"(?P<tokens_unit>[kKmMbBtT]?)",
}
_FIELD = re.compile(r"\{(step|tokens)(_unit)?\}")
_UNIT_AFTER = re.compile(r"\{(step|tokens)\}([kKMBT])(?![A-Za-z])")
#: Before a step, best first: `epoch3-checkpoint2-step50` is step 50.
_WORDS = (r"steps?", r"iter(?:ation)?s?", r"updates?", r"(?:checkpoint|ckpt)s?")
#: A number that stands alone: not the 2 of `2.31`, nor that of `v2.1`, nor the 15 of `15M`.
_WHOLE = r"(\d+)(?![\d]|\.\d|[kKmMbBtTgG](?![A-Za-z]))"
_PLAIN = re.compile(r"(?<!\d)(?<!\d\.)" + _WHOLE)


@dataclass(frozen=True)
class Named:
    """What a name says."""

    step: int
    tokens: float | None = None


@dataclass(frozen=True)
class Pattern:
    """How checkpoints are named: `stage1-step{step}-tokens{tokens}B`, or a regular expression.

    A template must match the whole name; `*` stands for anything. A letter k, M, B or T right after a field
    multiplies it, as does whatever `{step_unit}` or `{tokens_unit}` finds there (`step{step}{step_unit}`
    reads step500 and step1k). A regular expression names its groups `step`, `tokens`, `step_unit`,
    `tokens_unit`, and may match anywhere. Where there is no step, the tokens are the axis.
    """

    text: str
    regex: re.Pattern[str]
    factors: tuple[tuple[str, int], ...] = ()

    @property
    def counts_tokens(self) -> bool:
        """Whether the axis counts tokens, for want of a step."""
        return "step" not in self.regex.groupindex

    @classmethod
    def of(cls, text: str) -> Self:
        """NotARun for a pattern that finds neither step nor tokens, or is no regular expression."""
        template = bool(_FIELD.search(text))
        factors = (
            {field: UNITS[unit.lower()] for field, unit in _UNIT_AFTER.findall(text)} if template else {}
        )
        try:
            regex = re.compile(_template(text) if template else text)
        except re.error as error:
            raise _bad_pattern(text, str(error)) from error
        if not {"step", "tokens"} & regex.groupindex.keys():
            raise _bad_pattern(text, "nothing in it finds a step")
        return cls(text, regex, tuple(factors.items()))

    def read(self, name: str) -> Named | None:
        """What a name says; None if it does not match. NotARun for a step that is no whole number."""
        found = self.regex.search(name)
        if found is None:
            return None
        said = found.groupdict()
        step, tokens = (self._number(field, said) for field in ("step", "tokens"))
        axis = tokens if step is None else step
        if axis is None:
            return None
        if axis.denominator != 1:
            raise NotARun(
                f"{name} gives a step that is no whole number",
                received=str(float(axis)),
                remedy=f"correct the unit in the pattern {self.text!r}",
            )
        return Named(int(axis), None if tokens is None else float(tokens))

    def _number(self, field: str, said: dict[str, str | None]) -> Fraction | None:
        written = said.get(field)
        if written is None:
            return None
        unit = said.get(f"{field}_unit")
        return Fraction(written) * (UNITS[unit.lower()] if unit else dict(self.factors).get(field, 1))


def _template(text: str) -> str:
    pieces, end = [], 0
    for field in _FIELD.finditer(text):
        pieces += [_literal(text[end : field.start()]), _GROUPS[field[0][1:-1]]]
        end = field.end()
    return f"^{''.join(pieces)}{_literal(text[end:])}$"


def _literal(text: str) -> str:
    return ".*".join(re.escape(piece) for piece in text.split("*"))


def _bad_pattern(text: str, why: str) -> NotARun:
    return NotARun(
        f"the pattern {text!r} cannot be used",
        received=why,
        allowed="a template such as step{step} or stage1-step{step}-tokens{tokens}B, or a regular expression "
        "with a group called step: run-(?P<step>[0-9]+)",
    )


def plain_step(name: str) -> int | None:
    """The step in a name, without a pattern; None if the name holds no number.

    The number after the word step, else iter(ation), update, checkpoint or ckpt; else the only number. A
    number with a unit (`1k`, `15M`) is never a step. NotARun for a name that can be read in several ways.
    """
    for word in _WORDS:
        found = re.findall(rf"(?i:{word})[-_=. ]*{_WHOLE}", name)
        if found:
            return _only(found, name)
    if name.lower() in STARTS:
        return 0
    if not re.search(r"\d", name):
        return None
    return _only(_PLAIN.findall(name), name)


def worded_step(name: str) -> int | None:
    """The step in the name of a single checkpoint, where a lone number may be its size or version.

    None unless a word says so, or there is nothing but the number.
    """
    if name.isascii() and name.isdigit():
        return int(name)
    for word in (*(rf"{word}[-_=. ]*" for word in _WORDS), "model"):
        found = re.findall(rf"(?i:{word}){_WHOLE}", name)
        if len(found) == 1:
            return int(found[0])
    return None


def _only(numbers: list[str], name: str) -> int:
    if len(numbers) == 1:
        return int(numbers[0])
    raise NotARun(
        f"{name} can be read as several steps" if numbers else f"{name} gives no step as a whole number",
        received=", ".join(numbers) or "a number with a unit, or with a point",
        allowed="one number, or one after the word step, iter, update, checkpoint or ckpt",
        remedy="say which it is with a pattern: --pattern 'run2-{step}' or --pattern 'step{step}k'",
    )
