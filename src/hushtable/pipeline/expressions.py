"""Expressions that rows keep to, ``age >= 18 & age <= 65``: read into nodes, never run as code.

===========  ========================================================================
part         what it is
===========  ========================================================================
expression   all-of ``|`` all-of ...
all-of       comparison ``&`` comparison ...
comparison   sum sign sum; or ``(expression) == (expression)``, ``!=``
sign         ``==  !=  <  <=  >  >=  IS  IS NOT``; ``pd.NA`` goes with the last two
sum          operand ``+`` operand ``-`` operand ...; a minus has spaces around it
operand      column, number, text, ``DATE(2020-01-31)``, ``pd.NA``; or in parentheses
column       letters of any script, digits, ``_ - .``; anything in backticks
text         in single or double quotes; a quote inside is doubled
===========  ========================================================================

Where a comparison names no column, its first text is one: ``'hours per week' >= 20``. Line breaks are spaces.

What may be asked of a row, as nodes: operands that are compared, and conditions that go together.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, NoReturn

from hushtable.errors import PipelineError, quote_names


@dataclass(frozen=True, slots=True)
class CellOf:
    """The cell of a column."""

    name: str


@dataclass(frozen=True, slots=True)
class NumberLiteral:
    """A finite number."""

    value: int | float


@dataclass(frozen=True, slots=True)
class Text:
    """A text; beside a column of numbers or dates it is read as its cells are."""

    value: str


@dataclass(frozen=True, slots=True)
class Day:
    """A day; beside moments it is its midnight."""

    value: dt.date


@dataclass(frozen=True, slots=True)
class NoCell:
    """No cell."""


@dataclass(frozen=True, slots=True)
class Sum:
    """Numbers that are added, minus numbers that are subtracted."""

    added: tuple[Operand, ...]
    subtracted: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparedOperands:
    """Two operands and a sign; one of them holds a column."""

    left: Operand
    sign: str
    right: Operand


@dataclass(frozen=True, slots=True)
class BothOrNeither:
    """Two conditions of which both hold or neither; if ``is_same`` is False, exactly one."""

    left: Condition
    right: Condition
    is_same: bool


@dataclass(frozen=True, slots=True)
class Every:
    """Conditions that must all hold."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """Conditions of which at least one must hold."""

    parts: tuple[Condition, ...]


Value = NumberLiteral | Text | Day | NoCell
Operand = CellOf | Value | Sum
Condition = ComparedOperands | BothOrNeither | Every | Some


def columns_of(node: Condition | Operand) -> tuple[str, ...]:
    """Return the columns that a node names, each once."""
    return tuple(dict.fromkeys(_walk_columns(node)))


def _walk_columns(node: Condition | Operand) -> Iterator[str]:
    parts: tuple[Condition | Operand, ...] = ()
    match node:
        case CellOf(name):
            yield name
        case Sum(added, taken):
            parts = (*added, *taken)
        case ComparedOperands(left, _, right):
            parts = (left, right)
        case BothOrNeither(one, other):
            parts = (one, other)
        case Every(parts) | Some(parts):
            pass
    for part in parts:
        yield from _walk_columns(part)


_MAX_PARENTHESES_DEPTH: Final = 64  # nested parentheses; each takes a few calls on Python's stack
_MAX_WHOLE: Final = 2**63
_JOINING_SIGNS: Final = ("&", "|")
_COMPARISON_SIGNS: Final = ("==", "!=", "<", "<=", ">", ">=")
_SIGN_BY_FOREIGN_WORD: Final = {
    "and": "&",
    "or": "|",
    "&&": "&",
    "||": "|",
    "is": "IS",
    "=": "==",
    "<>": "!=",
    "=>": ">=",
    "=<": "<=",
}
"""What other languages write, and what it is here."""
_MISSING_WORDS: Final = ("na", "nan", "none", "null")

_TOKEN: Final = re.compile(
    r"""(?P<space>\s+)
    | (?P<column>`(?:[^`]|``)+`)
    | (?P<text>'(?:[^']|'')*' | "(?:[^"]|"")*")
    | (?P<number>-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.-]))
    | (?P<word>[\w.][\w.-]*)
    | (?P<sign>[<>=!&|]+ | [()+] | -(?=\s))
    """,
    re.VERBOSE,
)
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_WHOLE: Final = re.compile(r"-?[0-9]{1,30}", re.ASCII)  # Python refuses to parse integers of thousands of digits


def parse_expression(text: str, name: str) -> Condition:
    """Parse an expression; a PipelineError has its name and the character where it is wrong."""
    return _ExpressionReader(text, name).parse_whole()


def parse_number(text: str) -> int | float | None:
    """Parse a number; None if the text is not a number, or one that is too large."""
    found = _TOKEN.fullmatch(text)
    if found is None or found.lastgroup != "number" or not math.isfinite(float(text)):
        return None
    is_whole = _WHOLE.fullmatch(text) is not None and abs(int(text)) < _MAX_WHOLE
    return int(text) if is_whole else float(text)


class _Token(NamedTuple):
    """A piece of the text: its kind is a group of ``_TOKEN``, ``end``, or ``keyword``."""

    kind: str
    value: str
    offset: int

    @property
    def description(self) -> str:
        """What messages call the token; numbers and texts are not quoted: they may be a person's."""
        if self.kind in ("word", "column"):
            return f"the name {quote_names([self.value])}"
        return {"number": "a number", "text": "a text", "end": "the end"}.get(self.kind, repr(self.value))


class _Part(NamedTuple):
    """What was read of the text, and where it begins."""

    node: Condition | Operand
    offset: int

    @property
    def is_condition(self) -> bool:
        return isinstance(self.node, Condition)


class _ExpressionReader:
    """Reads one text from left to right: a method for each part of the grammar."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name
        self.tokens = list(self.split_tokens())
        self.place = 0
        self.depth = 0

    def split_tokens(self) -> Iterator[_Token]:
        at = 0
        while at < len(self.text):
            matched = _TOKEN.match(self.text, at)
            if matched is None:
                self.fail_at_sign(at)
            kind, value = str(matched.lastgroup), matched.group()
            if kind in ("text", "column"):
                value = value[1:-1].replace(value[0] * 2, value[0])
            elif kind == "sign" and value not in (*_COMPARISON_SIGNS, *_JOINING_SIGNS, *"()+-"):
                self.fail(at, f"no sign {value!r} is known", _hint_for(value))
            elif kind == "word" and value in ("IS", "NOT", "pd.NA"):
                kind = "keyword"
            if kind != "space":
                yield _Token(kind, value, at)
            at = matched.end()
        yield _Token("end", "", len(self.text))

    @property
    def token(self) -> _Token:
        return self.tokens[self.place]

    def take_sign(self, *values: str) -> bool:
        """Move past a sign or keyword if it is one of these, and tell whether it was."""
        is_one = self.token.kind in ("sign", "keyword") and self.token.value in values
        self.place += is_one
        return is_one

    def parse_whole(self) -> Condition:
        if self.token.kind == "end":
            self.fail(0, "it is empty", "for instance: age >= 18 & age <= 65")
        part = self.parse_some()
        if self.token.kind != "end":
            self.fail_after(part, "the end" if part.is_condition else "")
        return self.to_condition(part)

    def parse_some(self) -> _Part:
        return self.parse_chain("|", self.parse_every, Some)

    def parse_every(self) -> _Part:
        return self.parse_chain("&", self.parse_comparison, Every)

    def parse_chain(self, sign: str, next_: Callable[[], _Part], kind: type[Every | Some]) -> _Part:
        first = next_()
        if self.token.value != sign or self.token.kind != "sign":
            return first
        parts = [self.to_condition(first)]
        while self.take_sign(sign):
            parts.append(self.to_condition(next_()))
        return _Part(kind(tuple(parts)), first.offset)

    def to_condition(self, part: _Part) -> Condition:
        """Return a part as a condition; an error if it is not one."""
        if not isinstance(part.node, Condition):
            if self.token.kind not in ("end", "sign"):
                self.fail_after(part, "")
            self.fail(part.offset, "expected a comparison", "for instance: age >= 18")
        return part.node

    def parse_comparison(self) -> _Part:
        left = self.parse_sum()
        sign = self.parse_sign()
        if sign is None:
            return left
        right = self.parse_sum()
        at = self.token.offset
        if self.parse_sign() is not None:
            self.fail(at, "a second comparison in a row", "join two by &: 18 <= age & age <= 65")
        if isinstance(left.node, Condition) or isinstance(right.node, Condition):
            return self.build_agreement(left, sign, right)
        return self.build_comparison(left.node, sign, right.node, (left.offset, right.offset))

    def parse_sign(self) -> str | None:
        """Move past a sign of comparison, and return it; None if there is none."""
        found = self.token.value
        if self.take_sign(*_COMPARISON_SIGNS):
            return found
        if not self.take_sign("IS"):
            return None
        sign = "IS NOT" if self.take_sign("NOT") else "IS"
        if self.token.kind == "word" and self.token.value.lower() in _MISSING_WORDS:
            self.fail(
                self.token.offset,
                f"expected pd.NA, found {self.token.description}",
                "a column of that name is in backticks",
            )
        return sign

    def build_agreement(self, left: _Part, sign: str, right: _Part) -> _Part:
        if sign not in ("==", "!="):
            self.fail(
                right.offset,
                f"comparisons go with == and !=, not with {sign}",
                "write one comparison for each, joined by &",
            )
        for part in (left, right):
            if not part.is_condition:
                self.fail(
                    part.offset, "expected a comparison in parentheses", "for instance: (age < 18) == (job IS pd.NA)"
                )
        return _Part(BothOrNeither(self.to_condition(left), self.to_condition(right), sign == "=="), left.offset)

    def build_comparison(self, left: Operand, sign: str, right: Operand, offsets: tuple[int, int]) -> _Part:
        sides = [left, right]
        for side, at in zip(sides, offsets, strict=True):
            if isinstance(side, NoCell) and not sign.startswith("IS"):
                self.fail(at, f"pd.NA goes with IS and IS NOT, not with {sign}", "for instance: job IS NOT pd.NA")
        if not any(map(columns_of, sides)):
            text = next((place for place, side in enumerate(sides) if isinstance(side, Text)), None)
            if text is None:
                hint = "names that look like numbers are in backticks: `2020`"
                self.fail(offsets[0], "expected a column on one side", hint)
            sides[text] = _as_cell(sides[text])
        return _Part(ComparedOperands(sides[0], sign, sides[1]), offsets[0])

    def parse_sum(self) -> _Part:
        first = self.parse_operand()
        added, subtracted = [first], list[_Part]()
        while self.token.kind == "sign" and self.token.value in ("+", "-"):
            terms = added if self.token.value == "+" else subtracted
            self.place += 1
            terms.append(self.parse_operand())
        if len(added) + len(subtracted) == 1:
            return first
        return _Part(Sum(tuple(map(self.to_term, added)), tuple(map(self.to_term, subtracted))), first.offset)

    def to_term(self, part: _Part) -> Operand:
        if isinstance(part.node, (Condition, Day, NoCell)):
            self.fail(part.offset, "expected a column or number to add", "for instance: net + tax <= gross")
        return _as_cell(part.node)

    def parse_operand(self) -> _Part:
        token = self.token
        if self.take_sign("("):
            return _Part(self.parse_parentheses(token.offset).node, token.offset)
        if self.take_sign("pd.NA"):
            return _Part(NoCell(), token.offset)
        if token.kind not in ("word", "column", "number", "text"):
            what = "expected a column, number, text in quotes, DATE(2020-01-31), pd.NA or ("
            self.fail(
                token.offset, f"{what}, found {token.description}", "names that hold spaces or signs are in backticks"
            )
        self.place += 1
        if token.kind == "word" and token.value == "DATE" and self.take_sign("("):
            return _Part(self.parse_day(), token.offset)
        if token.kind == "number":
            return _Part(NumberLiteral(self.number_of(token)), token.offset)
        return _Part(Text(token.value) if token.kind == "text" else CellOf(token.value), token.offset)

    def parse_parentheses(self, at: int) -> _Part:
        """Parse the rest of an expression in parentheses, after the first parenthesis."""
        self.depth += 1
        if self.depth > _MAX_PARENTHESES_DEPTH:
            self.fail(at, f"parentheses more than {_MAX_PARENTHESES_DEPTH} deep", "split the rule: all rules must hold")
        part = self.parse_some()
        if not self.take_sign(")"):
            self.fail_after(part, f") for the ( at character {at + 1}")
        self.depth -= 1
        return part

    def parse_day(self) -> Day:
        """Parse the rest of a day, after ``DATE(``."""
        token = self.token
        self.place += 1
        try:
            if not _DAY.fullmatch(token.value):
                raise ValueError
            day = dt.date.fromisoformat(token.value)
        except ValueError:
            self.fail(token.offset, "expected a day that exists", "year, month and day: DATE(2020-01-31)")
        if not self.take_sign(")"):
            self.fail(
                self.token.offset, f"expected ) after the day, found {self.token.description}", "write DATE(2020-01-31)"
            )
        return Day(day)

    def number_of(self, token: _Token) -> int | float:
        value = parse_number(token.value)
        if value is None:
            self.fail(token.offset, "a number that is too large", "at most 1.8e308")
        return value

    def fail_after(self, part: _Part, closing: str) -> NoReturn:
        """Raise PipelineError that says what could stand here instead."""
        signs = _JOINING_SIGNS if part.is_condition else (*_COMPARISON_SIGNS, "IS", "IS NOT")
        known = ", ".join(signs) + (f" or {closing}" if closing else "")
        self.fail(self.token.offset, f"expected {known}, found {self.token.description}", _hint_for(self.token.value))

    def fail_at_sign(self, at: int) -> NoReturn:
        sign = self.text[at]
        if sign in "'\"`":
            self.fail(at, "a quote that is not closed", f"end what is quoted by the sign it begins with, {sign}")
        # Chinese keyboards also write signs of full width.
        narrow = unicodedata.normalize("NFKC", sign)
        self.fail(at, f"no sign {sign!r} is known", _hint_for(sign) if narrow == sign else f"did you mean {narrow}?")

    def fail(self, at: int, what: str, hint: str) -> NoReturn:
        line, before = self.text.count("\n", 0, at) + 1, self.text.rfind("\n", 0, at)
        place = f"line {line}, character {at - before}" if "\n" in self.text.rstrip() else f"character {at + 1}"
        raise PipelineError(f"{self.name}, {place}: {what}.", hint=hint if hint.endswith("?") else f"{hint}.")


def _as_cell(operand: Operand) -> Operand:
    return CellOf(operand.value) if isinstance(operand, Text) else operand


def _hint_for(unexpected: str) -> str:
    """Return the hint for an unexpected piece of text."""
    meant = _SIGN_BY_FOREIGN_WORD.get(unexpected.lower())
    if meant is not None:
        return f"did you mean {meant}? Known: {', '.join((*_COMPARISON_SIGNS, 'IS', 'IS NOT', *_JOINING_SIGNS))}"
    if unexpected in ("", ")"):
        return "every ( has its ), and every sign something on both sides"
    return "names that hold spaces or signs are in backticks, texts in quotes; + and - have spaces around them"
