"""Rules that the rows of a synthetic table keep to; rows that do not are left out, and others drawn for them.

All rules are conditions (`hushtable.pipeline.expressions`). Rows are deleted, cells changed in the order of the file,
then all other rules are asked of what the cells have become.

A comparison with a missing cell neither holds nor fails, and what needs it does not hold; ``IS`` and ``IS NOT`` always
have an answer: a missing cell is ``pd.NA`` and nothing else. (PETsARD leaves it to pandas, by which ``!=`` holds of a
missing cell in most columns.)
"""

from __future__ import annotations

import ast
import datetime as dt
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Final, NoReturn

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.columns import ColumnSpec, Kind, replace_cells, text_series, to_canonical_texts
from hushtable.errors import ColumnError, InputError, PipelineError, check_columns, quote_names
from hushtable.io import Frame
from hushtable.pipeline.expressions import (
    BothOrNeither,
    CellOf,
    ComparedOperands,
    Condition,
    Day,
    Every,
    NoCell,
    NumberLiteral,
    Operand,
    Some,
    Sum,
    Text,
    Value,
    columns_of,
    parse_expression,
    parse_number,
)
from hushtable.pipeline.modules import Constraining
from hushtable.tables import Table

_FAMILY_BY_KIND: Final[Mapping[Kind, str]] = {
    "integer": "numbers",
    "decimal": "numbers",
    "date": "dates",
    "datetime": "dates",
    "time": "times",
    "ordered": "texts",
    "category": "texts",
}
"""What may be compared with its like."""

_OPERATORS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "IS": operator.eq,
    "IS NOT": operator.eq,
}
_ORDERING_SIGNS: Final = ("<", "<=", ">", ">=")
_DEFAULT_SPEC: Final = ColumnSpec()
_ULP: Final = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True, eq=False)
class _CodedRows:
    """Coded rows, and how the texts of their columns are spelled."""

    table: Table
    specs: Mapping[str, ColumnSpec]

    @classmethod
    def from_frame(cls, frame: Frame, names: Sequence[str]) -> _CodedRows:
        """Code some columns of a frame."""
        return cls(Table.encode(frame, names), {name: frame.spec(name) for name in names})


def _test_condition(condition: Condition, rows: _CodedRows, name: str) -> BoolArray:
    """Tell for which rows a condition holds; a ColumnError begins with the rule's name."""
    try:
        return _evaluate_condition(condition, rows) > 0
    except ColumnError as error:
        raise ColumnError(f"{name}: {error}") from None


def _evaluate_condition(condition: Condition, rows: _CodedRows) -> CountArray:
    """Return for every row 1 if a condition holds, -1 if it fails, 0 if a missing cell leaves it open.

    In these numbers Kleene's three-valued *and* is the minimum, *or* the maximum, and sameness the product.
    """
    match condition:
        case Every(parts):
            return np.asarray(np.minimum.reduce([_evaluate_condition(part, rows) for part in parts]))
        case Some(parts):
            return np.asarray(np.maximum.reduce([_evaluate_condition(part, rows) for part in parts]))
        case BothOrNeither(left, right, is_same):
            same = _evaluate_condition(left, rows) * _evaluate_condition(right, rows)
            return same if is_same else -same
        case ComparedOperands():
            return _compare_operands(condition, rows)


def _compare_operands(comparison: ComparedOperands, rows: _CodedRows) -> CountArray:
    """Compare distinct values if there is only one column, and rows if there are several."""
    names = columns_of(comparison)
    codes = {name: rows.table.codes[rows.table.index(name)] for name in names}
    if len(names) > 1:
        return _apply_sign(comparison, rows, codes)
    # The last position is that of missing cells: their code -1 indexes it.
    places = np.append(np.arange(rows.table.column(names[0]).n_values), -1)
    return np.asarray(_apply_sign(comparison, rows, {names[0]: places})[codes[names[0]]])


@dataclass(frozen=True, slots=True, eq=False)
class _ComparedSide:
    """One side of a comparison: arrays of shape (n,), or one value."""

    values: Any
    present: Any
    family: str | None  # as `_FAMILY_BY_KIND`; None where there are no values
    name: str  # what messages call it
    spec: ColumnSpec = _DEFAULT_SPEC  # how its texts are spelled
    slack: Any = None  # how far rounding may have moved a sum


def _apply_sign(comparison: ComparedOperands, rows: _CodedRows, codes: Mapping[str, CodeArray]) -> CountArray:
    first, sign, second = comparison.left, comparison.sign, comparison.right
    if isinstance(first, Value):
        right = _evaluate_operand(second, rows, codes)
        left = _parse_like(first, right, sign)
    else:
        left = _evaluate_operand(first, rows, codes)
        right = _parse_like(second, left, sign) if isinstance(second, Value) else _evaluate_operand(second, rows, codes)
    both = np.asarray(left.present & right.present)
    is_so = both & _compare_values(left, sign, right)
    if not sign.startswith("IS"):
        return np.where(both, np.where(is_so, 1, -1), 0)
    same = is_so | ~(left.present | right.present)
    return np.where(same == (sign == "IS"), 1, -1)


def _compare_values(left: _ComparedSide, sign: str, right: _ComparedSide) -> Any:
    """Compare values; the result is meaningless where one of them is missing."""
    if left.family is None or right.family is None:
        return False
    if left.family != right.family:
        raise ColumnError(
            f"{left.name} holds {left.family}, {right.name} {right.family}.", hint="compare what is alike."
        )
    if left.family == "texts" and sign in _ORDERING_SIGNS:
        raise ColumnError(
            f"{left.name} holds texts, which have no order.",
            hint="compare it by == or !=; or say what the column is, in a schema or by na_values.",
        )
    if left.slack is None and right.slack is None:
        return _OPERATORS[sign](left.values, right.values)
    gap = np.subtract(left.values, right.values, dtype=np.float64)
    # 0.1 + 0.2 is to equal 0.3: differences within the rounding errors of a sum count as 0.
    return _OPERATORS[sign](np.where(np.abs(gap) <= _total_slack((left, right)), 0.0, gap), 0.0)


def _total_slack(sides: Sequence[_ComparedSide]) -> Any:
    return sum(side.slack for side in sides if side.slack is not None)


def _evaluate_operand(operand: Operand, rows: _CodedRows, codes: Mapping[str, CodeArray]) -> _ComparedSide:
    match operand:
        case CellOf(name):
            column = rows.table.column(name)
            present, called = codes[name] >= 0, f"column {name!r}"
            if not column.n_values:
                return _ComparedSide(np.zeros(len(present)), present, None, called)
            return _ComparedSide(
                column.values[codes[name]], present, _FAMILY_BY_KIND[column.kind], called, rows.specs[name]
            )
        case Sum(added, taken):
            return _add_terms(
                [_evaluate_operand(each, rows, codes) for each in added],
                [_evaluate_operand(each, rows, codes) for each in taken],
            )
        case NumberLiteral(value):
            return _ComparedSide(value, np.True_, "numbers", "a number")
    raise AssertionError(f"{type(operand).__name__} stands alone")


def _add_terms(added: Sequence[_ComparedSide], taken: Sequence[_ComparedSide]) -> _ComparedSide:
    terms = (*added, *taken)
    for term in terms:
        if term.family not in ("numbers", None):
            raise ColumnError(f"{term.name} holds {term.family}, which cannot be added.", hint="add numbers only.")
    numbers: list[Any] = [np.float64(term.values) for term in terms]
    values = sum(numbers[: len(added)]) - sum(numbers[len(added) :])
    size = sum(map(np.abs, numbers))
    present = reduce(operator.and_, (each.present for each in terms))
    return _ComparedSide(values, present, "numbers", "a sum", slack=_total_slack(terms) + len(terms) * _ULP * size)


def _parse_like(value: Value, side: _ComparedSide, sign: str) -> _ComparedSide:
    """Parse a value the way that the cells it is compared with are read."""
    match value:
        case NoCell():
            return _ComparedSide(0, np.False_, None, "pd.NA")
        case NumberLiteral(number):
            return _literal_side(number, "numbers", "a number", side)
        case Day(day):
            return _literal_side(np.datetime64(day, "us"), "dates", "a date", side)
        case Text(text):
            return _ComparedSide(_parse_text(text, side, sign), np.True_, side.family, "a text")


def _literal_side(value: Any, holds: str, name: str, side: _ComparedSide) -> _ComparedSide:
    if side.family not in (holds, None):
        raise ColumnError(
            f"{side.name} holds {side.family}, and is compared with {name}.", hint=_LITERAL_HINTS[str(side.family)]
        )
    return _ComparedSide(value, np.True_, holds, name)


def _parse_text(text: str, side: _ComparedSide, sign: str) -> Any:
    """Parse a text as a value of the other side: spelled as in the file, or as hushtable writes values."""
    if side.family not in ("numbers", "dates"):
        return text
    written = to_canonical_texts(text_series("", [text]), side.spec)[0]
    reader = parse_number if side.family == "numbers" else _parse_moment
    parsed = None if written is None else reader(written.strip().removeprefix("+"))
    if parsed is not None:
        return parsed
    if side.family == "numbers" and sign not in _ORDERING_SIGNS:
        # The column may hold such texts elsewhere: no number equals this one.
        return np.nan
    raise ColumnError(
        f"{side.name} holds {side.family}, and is compared with a text that is none.",
        hint=_LITERAL_HINTS[side.family],
    )


_LITERAL_HINTS: Final = {
    "numbers": "compare it with a number.",
    "dates": "compare it with a day, DATE(2020-01-31).",
    "texts": "compare it with a text in quotes; or say what the column is, in a schema or by na_values.",
}


def _parse_moment(text: str) -> Any:
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if moment.tzinfo else np.datetime64(moment, "us")


_ACTIONS: Final = ("delete", "erase", "copy", "nan_if_condition")
_MISSING_WORD: Final = "pd.NA"
_MAX_TUPLE_CHARACTERS: Final = 10_000  # characters; Python's own reader takes a while over long ones


@dataclass(frozen=True, slots=True)
class Demand:
    """What a rule asks of rows: one stays if the condition holds, or the premise does not."""

    name: str  # what messages call the rule: "field_constraints 2"
    condition: Condition
    premise: Condition | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it names."""
        premise = () if self.premise is None else columns_of(self.premise)
        return tuple(dict.fromkeys((*premise, *columns_of(self.condition))))


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of the cells of a target: those of a source, or missing."""

    name: str
    target: str
    where: Condition
    source: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it names."""
        return tuple(dict.fromkeys((self.target, *columns_of(self.where))))


@dataclass(frozen=True, slots=True)
class Constraints:
    """What a Constrainer asks."""

    deletions: tuple[Demand, ...] = ()  # asked before any cell changes
    changes: tuple[Change, ...] = ()
    demands: tuple[Demand, ...] = ()  # asked of what the cells have become
    target_rows: int | None = None  # how many rows there shall be
    sampling_ratio: float = 10.0  # rows drawn for each that is lacking
    max_trials: int = 300

    @property
    def all(self) -> tuple[Demand | Change, ...]:
        """The rules, in the order in which they are followed."""
        return *self.deletions, *self.changes, *self.demands


def rules_of(settings: Constraining) -> Constraints:
    """Read the rules of a Constrainer, which needs no table; PipelineError says which is wrong, and how."""
    groups = [each for column, given in settings.nan_groups.items() for each in _read_group(column, given)]
    texts = {f"field_constraints {place}": text for place, text in enumerate(settings.field_constraints, 1)}
    constraints = [Demand(name, parse_expression(text, name)) for name, text in texts.items()]
    combinations = [
        demand
        for place, given in enumerate(settings.field_combinations, 1)
        for demand in _read_combination(given, place)
    ]
    return Constraints(
        tuple(each for each in groups if isinstance(each, Demand)),
        tuple(each for each in groups if isinstance(each, Change)),
        (*constraints, *combinations),
        settings.target_rows,
        settings.sampling_ratio,
        settings.max_trials,
    )


def apply_rules(
    frame: Frame, rules: Constraints, redraw: Callable[[int, int], Frame] | None
) -> tuple[Frame, dict[str, int]]:
    """Apply the changes that rules demand, and return the rows that meet all rules, with counts of those left out.

    ``redraw`` draws another table like this one, by the number of its rows and that of the trial, from 1. PETsARD draws
    ``sampling_ratio`` times all rows that are asked for in every trial, drops rows that it has already, returns a
    random choice, and fewer rows than asked with a warning.
    """
    for rule in rules.all:
        check_columns(rule.columns, frame.columns, rule.name)
    inferred = _with_inferred_specs(frame, rules)
    parts, n_drawn, n_trials = [_follow_rules(inferred, rules)], frame.n_rows, 0
    while (lacking := (rules.target_rows or 0) - sum(each.n_rows for each in parts)) > 0:
        if redraw is None or n_trials == rules.max_trials:
            raise _lacking_rows_error(rules, lacking, None if redraw is None else n_trials)
        n_trials += 1
        new = redraw(math.ceil(rules.sampling_ratio * lacking), n_trials)
        n_drawn += new.n_rows
        parts.append(_follow_rules(replace(new, dialect=inferred.dialect, specs=inferred.specs), rules))
    result = parts[0].with_rows(parts[1:]) if len(parts) > 1 else parts[0]
    counts = {"rows_left_out": n_drawn - result.n_rows, "n_trials": n_trials}
    if rules.target_rows is not None:
        result = result.take(np.arange(rules.target_rows))
    return replace(frame, data=result.data), counts


def _lacking_rows_error(rules: Constraints, lacking: int, n_trials: int | None) -> InputError:
    n_rows = rules.target_rows or 0
    found = f"{n_rows - lacking} of {n_rows} rows keep to the rules"
    if n_trials is None:
        return InputError(f"{found}.", hint="leave target_rows out: this table cannot be drawn again.")
    return InputError(
        f"{found} after {n_trials} trials.",
        hint="raise max_trials or sampling_ratio, ask for fewer rows (target_rows), or look at rules that few rows "
        "keep to.",
    )


def _with_inferred_specs(frame: Frame, rules: Constraints) -> Frame:
    """Return the frame with the specs that its cells leave no doubt about, also for columns of texts.

    Rows that are drawn later are read by that: in a few of them texts may look like numbers, and dates may be of any
    format.
    """
    known = frame.with_learned_specs()
    names = dict.fromkeys(name for rule in rules.all for name in rule.columns)
    columns = _CodedRows.from_frame(known, tuple(names)).table.columns
    texts = [column.name for column in columns if column.kind == "category" and column.n_values]
    return known.with_specs({name: ColumnSpec("category") for name in texts})


def _follow_rules(frame: Frame, rules: Constraints) -> Frame:
    frame = _filter_rows(frame, rules.deletions)
    for change in rules.changes:
        frame = _apply_change(frame, change)
    return _filter_rows(frame, rules.demands)


def _filter_rows(frame: Frame, demands: Sequence[Demand]) -> Frame:
    """Return the rows that meet all demands."""
    rows = _CodedRows.from_frame(frame, tuple(dict.fromkeys(name for demand in demands for name in demand.columns)))
    stays = np.ones(frame.n_rows, dtype=np.bool_)
    for demand in demands:
        held = _test_condition(demand.condition, rows, demand.name)
        stays &= held if demand.premise is None else held | ~_test_condition(demand.premise, rows, demand.name)
    return frame if stays.all() else frame.take(np.flatnonzero(stays))


def _apply_change(frame: Frame, change: Change) -> Frame:
    rows = _CodedRows.from_frame(frame, change.columns)
    where = _test_condition(change.where, rows, change.name)
    if not where.any():
        return frame
    if change.source is None:
        return frame.with_columns({change.target: replace_cells(frame.column(change.target), where)})
    source, target = (rows.table.column(name) for name in (change.source, change.target))
    source_cells, target_cells = frame.column(source.name), frame.column(target.name)
    is_alike = _FAMILY_BY_KIND[source.kind] == _FAMILY_BY_KIND[target.kind] and _spelling_of(
        rows, source.name
    ) == _spelling_of(rows, target.name)
    if (target.n_values and not is_alike) or target_cells.dtype != source_cells.dtype:
        raise ColumnError(
            f"{change.name}: cells of column {source.name!r} cannot be copied into {target.name!r}: "
            "their types differ.",
            hint="copy between columns that hold the same, written in the same way.",
        )
    return frame.with_columns({target.name: replace_cells(target_cells, where, source_cells)})


def _spelling_of(rows: _CodedRows, name: str) -> tuple[str | None, int | None, str, str | None]:
    spec = rows.specs[name]
    return spec.format, spec.latest_year, spec.decimal or ".", spec.thousands


def _read_group(column: str, given: Any) -> Iterator[Demand | Change]:
    """Parse what happens to rows where a column is missing: ``delete``, or actions with their targets."""
    name = f"nan_groups of {column!r}"
    actions = _parse_actions(given, name)
    if "delete" in actions and len(actions) > 1:
        _fail(name, "delete stands beside other actions", "a row that is deleted needs no other")
    for action, related in actions.items():
        if action == "delete":
            yield Demand(name, ComparedOperands(CellOf(column), "IS NOT", NoCell()))
        elif action == "nan_if_condition":
            yield from _read_conditions(column, related, name)
        else:
            yield from _read_targets(column, action, related, name)


def _parse_actions(entry: Any, name: str) -> dict[str, Any]:
    """Return targets by action; older files write an action as ``('erase', ['income'])``."""
    entry = _read_tuple(entry, name)
    if isinstance(entry, (list, tuple)) and 1 <= len(entry) <= 2 and isinstance(entry[0], str):
        entry = {entry[0]: entry[1] if len(entry) > 1 else None}
    if isinstance(entry, str):
        entry = {entry: None}
    if not isinstance(entry, Mapping) or not entry:
        _fail(name, "expected an action", "delete, or an action with columns: {erase: [income]}")
    for action in entry:
        if action not in _ACTIONS:
            _fail(name, f"no action {quote_names([action])}", f"known: {', '.join(_ACTIONS)}")
    return dict(entry)


def _read_targets(column: str, action: str, related: Any, name: str) -> Iterator[Change]:
    targets = [related] if isinstance(related, str) else related
    if not isinstance(targets, (list, tuple)) or not targets or not all(isinstance(each, str) for each in targets):
        _fail(name, f"{action} needs a column, or a list of columns", f"for instance: {{{action}: [income]}}")
    if column in targets:
        _fail(name, f"{action} names the column itself", "name another one")
    is_missing = ComparedOperands(CellOf(column), "IS", NoCell())
    for target in targets:
        if action == "erase":
            yield Change(name, target, is_missing)
        else:
            is_there = ComparedOperands(CellOf(column), "IS NOT", NoCell())
            yield Change(name, target, Every((is_there, ComparedOperands(CellOf(target), "IS", NoCell()))), column)


def _read_conditions(column: str, related: Any, name: str) -> Iterator[Change]:
    if not isinstance(related, Mapping) or not related or not all(isinstance(each, str) for each in related):
        example = "for instance: {nan_if_condition: {workclass: [Never-worked]}}"
        _fail(name, "nan_if_condition needs a column and its values", example)
    for other, values in related.items():
        yield Change(name, column, _condition_on_values(other, values, name))


def _read_combination(entry: Any, number: int) -> Iterator[Demand]:
    """Parse which values go together: for each source value, those that the target may have."""
    name = f"field_combinations {number}"
    example = "for instance: [{education: income}, {Doctorate: ['>50K']}]"
    is_pair = isinstance(entry, (list, tuple)) and len(entry) == 2 and all(isinstance(each, Mapping) for each in entry)
    if not is_pair or len(entry[0]) != 1:
        _fail(name, "expected a source with its target, and the values of both", example)
    ((source, target),) = entry[0].items()
    several = _read_tuple(source, name)
    sources = several if isinstance(several, tuple) else (several,)
    if not all(isinstance(each, str) for each in (*sources, target)) or len({*sources}) < len(sources) or not sources:
        _fail(name, "the source and the target are names of columns, each once", example)
    for values, allowed in entry[1].items():
        wanted = _source_values(values, len(sources), isinstance(several, tuple), name)
        premise = tuple(_condition_on_values(each, [value], name) for each, value in zip(sources, wanted, strict=True))
        yield Demand(name, _condition_on_values(target, allowed, name), Every(premise))


def _source_values(given: Any, n_sources: int, are_several: bool, name: str) -> tuple[Any, ...]:
    if not are_several:
        return (given,)
    values = _read_tuple(given, name)
    if not isinstance(values, tuple) or len(values) != n_sources:
        _fail(name, f"expected {n_sources} values, one of each source", "for instance: ('Doctorate', 'France')")
    return values


def _read_tuple(entry: Any, name: str) -> Any:
    """Parse a tuple from its text, because YAML has no tuples; anything else stays as it is."""
    if not isinstance(entry, str) or not entry.lstrip().startswith("("):
        return entry
    try:
        parsed = ast.literal_eval(entry.strip()) if len(entry) <= _MAX_TUPLE_CHARACTERS else None
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        parsed = None
    if not isinstance(parsed, tuple):
        _fail(name, "expected texts and numbers in parentheses", "for instance: ('Doctorate', 'France')")
    return parsed


def _condition_on_values(column: str, values: Any, name: str) -> Some:
    """Return the condition that a cell is one of some values."""
    given = list(values) if isinstance(values, (list, tuple)) else [values]
    if not given:
        _fail(name, "a list of values is empty", "name one at least; pd.NA stands for a missing cell")
    return Some(tuple(ComparedOperands(CellOf(column), "IS", _parse_value(each, name)) for each in given))


def _parse_value(literal: Any, name: str) -> Value:
    if isinstance(literal, str):
        return NoCell() if literal == _MISSING_WORD else Text(literal)
    if isinstance(literal, dt.datetime):
        return Text(literal.isoformat(sep=" "))
    if isinstance(literal, dt.date):
        return Day(literal)
    number = parse_number(str(literal)) if type(literal) in (int, float) else None
    if number is None:
        what = "empty" if literal is None else f"of the type {type(literal).__name__}, or too large"
        _fail(name, f"a value is {what}", "write a number, a text in quotes, or pd.NA for a missing cell")
    return NumberLiteral(number)


def _fail(name: str, what: str, hint: str) -> NoReturn:
    raise PipelineError(f"{name}: {what}.", hint=f"{hint}.")
