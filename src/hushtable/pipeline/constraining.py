"""Rules that the rows of a synthetic table keep to; rows that do not are left out, and others drawn for them.

All rules are conditions (`hushtable.pipeline.conditions`): ``delete`` of ``nan_groups`` asks for a cell that is
there, ``erase`` and ``nan_if_condition`` say where one becomes missing, a field combination asks for something where
something else holds. They go in this order: rows are deleted, cells changed in the order of the file, then all
other rules are asked of what the cells have become.
"""

from __future__ import annotations

import ast
import datetime as dt
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn

import numpy as np

from hushtable._types import BoolArray
from hushtable.columns import ColumnSpec, replaced
from hushtable.errors import ColumnError, InputError, PipelineError, check_columns, listed, with_hint
from hushtable.io import Frame
from hushtable.pipeline.comparisons import HOLDS, Rows, holding
from hushtable.pipeline.conditions import (
    Cell,
    Comparison,
    Condition,
    Day,
    Every,
    Missing,
    Number,
    Some,
    Text,
    Value,
    columns_of,
)
from hushtable.pipeline.expressions import number, read
from hushtable.pipeline.modules import Constraining

__all__ = ["Change", "Demand", "Rules", "check_named", "constrained", "rules_of"]

_ACTIONS: Final = ("delete", "erase", "copy", "nan_if_condition")
_MISSING: Final = "pd.NA"
_LONGEST_TUPLE: Final = 10_000  # characters; Python's own reader takes a while over long ones


@dataclass(frozen=True, slots=True)
class Demand:
    """What a rule asks of rows.

    Attributes
    ----------
    name : str
        What messages call the rule: ``"field_constraints 2"``.
    condition : Condition
        A row stays if it holds.
    premise : Condition, optional
        Or if this does not.
    """

    name: str
    condition: Condition
    premise: Condition | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it names."""
        premise = () if self.premise is None else columns_of(self.premise)
        return tuple(dict.fromkeys((*premise, *columns_of(self.condition))))


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of cells.

    Attributes
    ----------
    name : str
    target : str
        The column whose cells change.
    where : Condition
    source : str, optional
        The column whose cells they take; else they become missing.
    """

    name: str
    target: str
    where: Condition
    source: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it names."""
        return tuple(dict.fromkeys((self.target, *columns_of(self.where))))


@dataclass(frozen=True, slots=True)
class Rules:
    """What a Constrainer asks.

    Attributes
    ----------
    deletions : tuple of Demand
        Asked before any cell changes.
    changes : tuple of Change
        In their order.
    demands : tuple of Demand
        Asked of what the cells have become.
    target_rows : int, optional
        How many rows there shall be.
    sampling_ratio : float
        How many rows are drawn for each that is lacking.
    max_trials : int
        How often.
    """

    deletions: tuple[Demand, ...] = ()
    changes: tuple[Change, ...] = ()
    demands: tuple[Demand, ...] = ()
    target_rows: int | None = None
    sampling_ratio: float = 10.0
    max_trials: int = 300

    @property
    def all(self) -> tuple[Demand | Change, ...]:
        """The rules, in the order in which they are followed."""
        return *self.deletions, *self.changes, *self.demands


def rules_of(asked: Constraining) -> Rules:
    """Read the rules of a Constrainer; no table is needed for that.

    Raises
    ------
    PipelineError
        One does not say what it must: which, where, and what was expected.
    """
    groups = [each for column, given in asked.nan_groups.items() for each in _read_group(column, given)]
    texts = {f"field_constraints {place}": text for place, text in enumerate(asked.field_constraints, 1)}
    constraints = [Demand(name, read(text, name)) for name, text in texts.items()]
    combinations = [
        demand for place, given in enumerate(asked.field_combinations, 1) for demand in _read_combination(given, place)
    ]
    return Rules(
        tuple(each for each in groups if isinstance(each, Demand)),
        tuple(each for each in groups if isinstance(each, Change)),
        (*constraints, *combinations),
        asked.target_rows,
        asked.sampling_ratio,
        asked.max_trials,
    )


def check_named(rules: Rules, columns: Sequence[str]) -> None:
    """Raise ColumnError where a rule names a column that is not among those of a table."""
    for rule in rules.all:
        check_columns(rule.columns, columns, rule.name)


def constrained(frame: Frame, rules: Rules, redraw: Callable[[int, int], Frame] | None) -> tuple[Frame, dict[str, int]]:
    """Return the rows that keep to rules, after the changes that these ask for.

    Parameters
    ----------
    frame : Frame
    rules : Rules
    redraw : callable, optional
        Draws another table like this one, by the number of its rows and that of the trial, from 1.

    Returns
    -------
    frame : Frame
        Of ``target_rows`` rows, the first that were found, where that is asked; cells that did not change are
        as they were.
    counts : dict
        ``rows_left_out``: rows that do not keep to the rules, of all that were drawn; ``n_trials``.

    Raises
    ------
    ColumnError
        A rule names a column that does not exist, or compares or copies what cannot be.
    InputError
        Fewer rows than ``target_rows`` keep to the rules.

    Notes
    -----
    PETsARD draws ``sampling_ratio`` times all rows that are asked for in every trial, drops rows that it has already,
    returns a random choice, and fewer rows than asked with a warning.
    """
    check_named(rules, frame.columns)
    known = _settled(frame, rules)
    kept, n_drawn, n_trials = [_keeping(known, rules)], frame.n_rows, 0
    while (lacking := (rules.target_rows or 0) - sum(each.n_rows for each in kept)) > 0:
        if redraw is None or n_trials == rules.max_trials:
            raise _lacking(rules, lacking, None if redraw is None else n_trials)
        n_trials += 1
        new = redraw(math.ceil(rules.sampling_ratio * lacking), n_trials)
        n_drawn += new.n_rows
        kept.append(_keeping(replace(new, dialect=known.dialect, specs=known.specs), rules))
    found = kept[0].with_rows(kept[1:]) if len(kept) > 1 else kept[0]
    counts = {"rows_left_out": n_drawn - found.n_rows, "n_trials": n_trials}
    if rules.target_rows is not None:
        found = found.take(np.arange(rules.target_rows))
    return replace(frame, data=found.data), counts


def _lacking(rules: Rules, lacking: int, n_trials: int | None) -> InputError:
    n_rows = rules.target_rows or 0
    found = f"{n_rows - lacking} of {n_rows} rows keep to the rules"
    if n_trials is None:
        hint = "leave target_rows out: this table cannot be drawn again."
        return InputError(with_hint(f"{found}.", hint))
    hint = (
        "raise max_trials or sampling_ratio, ask for fewer rows (target_rows), or look at rules that few rows keep to."
    )
    return InputError(with_hint(f"{found} after {n_trials} trials.", hint))


def _settled(frame: Frame, rules: Rules) -> Frame:
    """Return a frame of which all is said that its cells leave no doubt of, texts among it.

    Rows that are drawn later are read by that: in a few of them texts may look like numbers, and dates may be of any
    format.
    """
    known = frame.learned()
    names = dict.fromkeys(name for rule in rules.all for name in rule.columns)
    columns = Rows.of(known, tuple(names)).table.columns
    texts = [column.name for column in columns if column.kind == "category" and column.n_values]
    return known.told({name: ColumnSpec("category") for name in texts})


def _keeping(frame: Frame, rules: Rules) -> Frame:
    frame = _left(frame, rules.deletions)
    for change in rules.changes:
        frame = _changed(frame, change)
    return _left(frame, rules.demands)


def _left(frame: Frame, demands: Sequence[Demand]) -> Frame:
    """Return the rows that are as all demands have them."""
    rows = Rows.of(frame, tuple(dict.fromkeys(name for demand in demands for name in demand.columns)))
    stays = np.ones(frame.n_rows, dtype=np.bool_)
    for demand in demands:
        held = holding(demand.condition, rows, demand.name)
        stays &= held if demand.premise is None else held | ~holding(demand.premise, rows, demand.name)
    return frame if stays.all() else frame.take(np.flatnonzero(stays))


def _changed(frame: Frame, change: Change) -> Frame:
    rows = Rows.of(frame, change.columns)
    where = holding(change.where, rows, change.name)
    if not where.any():
        return frame
    if change.source is None:
        return frame.with_columns({change.target: replaced(frame.column(change.target), where)})
    return _copied(frame, change, rows, where)


def _copied(frame: Frame, change: Change, rows: Rows, where: BoolArray) -> Frame:
    assert change.source is not None, "only a copy has one"
    source, target = (rows.table.column(name) for name in (change.source, change.target))
    given, taking = frame.column(source.name), frame.column(target.name)
    is_alike = HOLDS[source.kind] == HOLDS[target.kind] and _spelling(rows, source.name) == _spelling(rows, target.name)
    if (target.n_values and not is_alike) or taking.dtype != given.dtype:
        msg = (
            f"{change.name}: cells of column {source.name!r} cannot be copied into {target.name!r}: their types differ."
        )
        raise ColumnError(with_hint(msg, "copy between columns that hold the same, written in the same way."))
    return frame.with_columns({target.name: replaced(taking, where, given)})


def _spelling(rows: Rows, name: str) -> tuple[str | None, str, str | None]:
    spec = rows.specs[name]
    return spec.format, spec.decimal or ".", spec.thousands


def _read_group(column: str, given: Any) -> Iterator[Demand | Change]:
    """Read what becomes of a column's missing cells: ``delete``, or actions with their targets."""
    name = f"nan_groups of {column!r}"
    actions = _actions(given, name)
    if "delete" in actions and len(actions) > 1:
        _fail(name, "delete stands beside other actions", "a row that is deleted needs no other")
    for action, related in actions.items():
        if action == "delete":
            yield Demand(name, Comparison(Cell(column), "IS NOT", Missing()))
        elif action == "nan_if_condition":
            yield from _read_conditions(column, related, name)
        else:
            yield from _read_targets(column, action, related, name)


def _actions(given: Any, name: str) -> dict[str, Any]:
    """Return targets by action; older files write one as ``('erase', ['income'])``."""
    if _is_tuple(given):
        given = _tuple(given, name)
    if isinstance(given, (list, tuple)) and 1 <= len(given) <= 2 and isinstance(given[0], str):
        given = {given[0]: given[1] if len(given) > 1 else None}
    if isinstance(given, str):
        given = {given: None}
    if not isinstance(given, Mapping) or not given:
        _fail(name, "expected an action", "delete, or an action with columns: {erase: [income]}")
    for action in given:
        if action not in _ACTIONS:
            _fail(name, f"no action {listed([action])}", f"known: {', '.join(_ACTIONS)}")
    return dict(given)


def _read_targets(column: str, action: str, related: Any, name: str) -> Iterator[Change]:
    targets = [related] if isinstance(related, str) else related
    if not isinstance(targets, (list, tuple)) or not targets or not all(isinstance(each, str) for each in targets):
        _fail(name, f"{action} needs a column, or a list of columns", f"for instance: {{{action}: [income]}}")
    if column in targets:
        _fail(name, f"{action} names the column itself", "name another one")
    is_missing = Comparison(Cell(column), "IS", Missing())
    for target in targets:
        if action == "erase":
            yield Change(name, target, is_missing)
        else:
            is_lacking = Comparison(Cell(target), "IS", Missing())
            yield Change(name, target, Every((Comparison(Cell(column), "IS NOT", Missing()), is_lacking)), column)


def _read_conditions(column: str, related: Any, name: str) -> Iterator[Change]:
    if not isinstance(related, Mapping) or not related or not all(isinstance(each, str) for each in related):
        example = "for instance: {nan_if_condition: {workclass: [Never-worked]}}"
        _fail(name, "nan_if_condition needs a column and its values", example)
    for other, values in related.items():
        yield Change(name, column, _one_of(other, values, name))


def _read_combination(given: Any, place: int) -> Iterator[Demand]:
    """Read which values go together: of each source value, those that the target may have."""
    name = f"field_combinations {place}"
    example = "for instance: [{education: income}, {Doctorate: ['>50K']}]"
    is_pair = isinstance(given, (list, tuple)) and len(given) == 2 and all(isinstance(each, Mapping) for each in given)
    if not is_pair or len(given[0]) != 1:
        _fail(name, "expected a source with its target, and the values of both", example)
    ((source, target),) = given[0].items()
    several = _tuple(source, name) if _is_tuple(source) else source
    sources = several if isinstance(several, tuple) else (several,)
    if not all(isinstance(each, str) for each in (*sources, target)) or len({*sources}) < len(sources) or not sources:
        _fail(name, "the source and the target are names of columns, each once", example)
    for values, allowed in given[1].items():
        wanted = _source_values(values, len(sources), isinstance(several, tuple), name)
        premise = tuple(_one_of(each, [value], name) for each, value in zip(sources, wanted, strict=True))
        yield Demand(name, _one_of(target, allowed, name), Every(premise))


def _source_values(given: Any, n_sources: int, are_several: bool, name: str) -> tuple[Any, ...]:
    if not are_several:
        return (given,)
    values = _tuple(given, name) if _is_tuple(given) else given
    if not isinstance(values, tuple) or len(values) != n_sources:
        _fail(name, f"expected {n_sources} values, one of each source", "for instance: ('Doctorate', 'France')")
    return values


def _is_tuple(given: Any) -> bool:
    return isinstance(given, tuple) or (isinstance(given, str) and given.lstrip().startswith("("))


def _tuple(given: Any, name: str) -> tuple[Any, ...]:
    """Read a tuple, which YAML has no way to write, from the text of one."""
    if isinstance(given, tuple):
        return given
    try:
        found = ast.literal_eval(given.strip()) if len(given) <= _LONGEST_TUPLE else None
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        found = None
    if not isinstance(found, tuple):
        _fail(name, "expected texts and numbers in parentheses", "for instance: ('Doctorate', 'France')")
    return found


def _one_of(column: str, values: Any, name: str) -> Some:
    """Say that a cell is one of some values."""
    given = list(values) if isinstance(values, (list, tuple)) else [values]
    if not given:
        _fail(name, "a list of values is empty", "name one at least; pd.NA stands for a missing cell")
    return Some(tuple(Comparison(Cell(column), "IS", _value(each, name)) for each in given))


def _value(given: Any, name: str) -> Value:
    if isinstance(given, str):
        return Missing() if given == _MISSING else Text(given)
    if isinstance(given, dt.datetime):
        return Text(given.isoformat(sep=" "))
    if isinstance(given, dt.date):
        return Day(given)
    known = number(str(given)) if type(given) in (int, float) else None
    if known is None:
        what = "empty" if given is None else f"of the type {type(given).__name__}, or too large"
        _fail(name, f"a value is {what}", "write a number, a text in quotes, or pd.NA for a missing cell")
    return Number(known)


def _fail(name: str, what: str, hint: str) -> NoReturn:
    raise PipelineError(with_hint(f"{name}: {what}.", f"{hint}."))
