"""The certificate of witnesses: other tables that agree with all that is shown, checked in fractions, without a solver.

A hidden cell is protected if two of them differ in it as far as asked. The checker reads the published tables anew, and
builds their sums from the labels alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from graphlib import TopologicalSorter
from itertools import product
from typing import Any, Final

from hushtable.claims.certificates.record import Reading
from hushtable.claims.verdict import Failure, Verdict
from hushtable.errors import InputError, check_choice, check_columns
from hushtable.io import Frame, frames
from hushtable.wording import join_names

KIND: Final = "witnesses"

_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")
_THOUSANDS: Final = re.compile(r"-?\d{1,3}(?:[,'’\u00a0\u202f ]\d{3})+(?:\.\d+)?")
_BELOW: Final = re.compile(r"(<|≤|<=|under\s|below\s|unter\s)\s*(\d+)", re.IGNORECASE)
_BETWEEN: Final = re.compile(r"(\d+)\s*(?:-|–|to|bis)\s*(\d+)", re.IGNORECASE)
_SHOWN_STATUSES: Final = frozenset({"v", "s", "z", "p", "e", ""})
_AGREES: Final = "every witness agrees with what the tables show"
_COVERS: Final = "the witnesses differ as far as asked in every cell that is asked about"
CONDITIONS: Final = (_AGREES, _COVERS)

_READER_KNOWS: Final = {"content": ("counts", "sums"), "zeros": ("shown", "hidden"), "absent": ("zero", "hidden")}

WitnessEntries = Mapping[str, Any]
LabelKey = tuple[tuple[str, str], ...]
ValueLimits = tuple[Fraction | None, Fraction | None]


@dataclass(slots=True)
class _TableCells:
    """What tables show: values, what marks allow, and the sums that hold."""

    shown: dict[LabelKey, Fraction]
    hidden: dict[LabelKey, ValueLimits]
    sums: list[tuple[LabelKey, tuple[LabelKey, ...]]]
    marked: set[LabelKey]  # hidden by a mark, and not because there is no row


def check(data: Any, entries: WitnessEntries, reading: Reading) -> Verdict:
    """Check witnesses from the published tables; what the certificate says of them itself, its condition names."""
    del reading  # cells of tables are texts and numbers
    tables = list(data) if isinstance(data, (list, tuple)) else [data]
    with refuse_unreadable():
        verdict, _ = judge(tables, entries)
        agrees = f"{_AGREES}, {_describe_assumptions(entries)}"
    failures = tuple(replace(each, condition=each.condition.replace(_AGREES, agrees)) for each in verdict.failures)
    return replace(verdict, conditions=(agrees, _COVERS), failures=failures)


def _describe_assumptions(entries: WitnessEntries) -> str:
    """Say what the certificate takes for true of its tables and their reader: tables do not tell it."""
    reader = entries["reader"]
    totals = dict.fromkeys(
        f"{name}={label}" for table in entries["tables"] for name, label in sorted(table["total"].items()) if name
    )
    trees = tuple(dict.fromkeys(name for table in entries["tables"] for name in table["hierarchies"]))
    sums = f" and the sums in {join_names(trees)} are those that the certificate lists" if trees else ""
    least, absent = _least(reader), "0" if reader["absent"] == "zero" else "unknown"
    values = "any numbers" if least is None else f"numbers of at least {least}"
    if reader["content"] == "counts":
        values = f"whole numbers of at least {least}"
    return (
        f"if totals are {', '.join(totals) or 'nowhere'}{sums}, hidden values are {values}, "
        f"and a cell without a row is {absent}"
    )


@contextmanager
def refuse_unreadable() -> Iterator[None]:
    """Raise InputError where entries are missing or of another type."""
    try:
        yield
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ZeroDivisionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"the certificate of witnesses is not readable: {type(error).__name__}.", hint="write it anew."
        ) from None


def judge(tables: Sequence[object], entries: WitnessEntries) -> tuple[Verdict, tuple[Fraction, ...]]:
    """Judge the witnesses of published tables; return the verdict and the values that the tables show."""
    if len(tables) != len(entries["tables"]):
        raise InputError(
            f"the certificate is about {len(entries['tables'])} tables, and {len(tables)} were given.",
            hint="pass all of them, in their order.",
        )
    cells = _TableCells({}, {}, [], set())
    failures: list[Failure] = []
    for table, told in zip(tables, entries["tables"], strict=True):
        failures += _read(table, told, entries["reader"], cells)
    for key in cells.shown:
        cells.hidden.pop(key, None)
    keys = [tuple((str(name), str(label)) for name, label in key) for key in entries["cells"]]
    if set(keys) != set(cells.hidden):
        failures.append(Failure(f"{_AGREES}: it is about other cells than those that the tables hide"))
        unchecked = {_COVERS: "witnesses of the cells that the tables hide"}
        return replace(_build_verdict(failures, cells, keys), unchecked=unchecked), tuple(cells.shown.values())
    ranges, wrong = _find_ranges(entries, keys, cells)
    failures += wrong
    unit = 10 ** int(entries["decimals"])
    n_missed = sum(not _is_covered(ranges.get(keys[ask["cell"]]), ask, unit) for ask in entries["asked"])
    if n_missed:
        failures.append(Failure(f"{_COVERS}: {n_missed} cells are not shown to be protected"))
    silent = (cells.marked & set(keys)) - {keys[ask["cell"]] for ask in entries["asked"]}
    n_silent = len(silent)
    if silent and entries["asks_all"]:
        failures.append(Failure(f"{_COVERS}: of {n_silent} hidden cells nothing is asked"))
    return _build_verdict(failures, cells, keys, n_asked=len(entries["asked"])), tuple(cells.shown.values())


def _find_ranges(
    entries: WitnessEntries, keys: Sequence[LabelKey], cells: _TableCells
) -> tuple[dict[LabelKey, tuple[Fraction, Fraction]], list[Failure]]:
    """Return the lowest and highest value of each cell in the witnesses that agree, and which ones do not."""
    ranges: dict[LabelKey, tuple[Fraction, Fraction]] = {}
    failures: list[Failure] = []
    sums_of: dict[LabelKey, list[int]] = {key: [] for key in keys}
    for number, (total, parts) in enumerate(cells.sums):
        for key in {total, *parts} & cells.hidden.keys():
            sums_of[key].append(number)
    for number, (changed, witness) in enumerate(_expand(entries, len(keys))):
        values = dict(zip(keys, witness, strict=True))
        # Where a later witness is like the first, it agrees if that one does.
        changes = {keys[cell]: values[keys[cell]] for cell in changed}
        touched = sorted({place for key in changes for place in sums_of[key]}) if number else range(len(cells.sums))
        wrong = _find_disagreement(values, changes, touched, cells, entries["reader"])
        if wrong:
            failures.append(Failure(f"{_AGREES}: witness {number + 1}: {wrong}"))
            continue
        for key, value in changes.items():
            low, high = ranges.get(key, (value, value))
            ranges[key] = min(low, value), max(high, value)
    return ranges, failures


def _build_verdict(
    failures: Sequence[Failure], cells: _TableCells, keys: Sequence[LabelKey], n_asked: int = 0
) -> Verdict:
    figures = {"n_shown": len(cells.shown), "n_hidden": len(keys), "n_asked": n_asked, "n_sums": len(cells.sums)}
    names = tuple(sorted({name for key in [*cells.shown, *keys] for name, _ in key}))
    return Verdict(CONDITIONS, tuple(failures), names, len(cells.shown) + len(keys), figures=figures)


def _expand(entries: WitnessEntries, n_cells: int) -> Iterator[tuple[Sequence[int], list[Fraction]]]:
    """Yield every witness: the cells in which it differs from the first one, all of that itself, and its values."""
    unit = 10 ** int(entries["decimals"])
    base = [Fraction(int(value), int(entries["base"]["denominator"]) * unit) for value in entries["base"]["values"]]
    if len(base) != n_cells:
        raise ValueError
    yield range(n_cells), base
    for change in entries["changes"]:
        values = list(base)
        changed = [int(cell) for cell in change["cells"]]
        for cell, value in zip(changed, change["values"], strict=True):
            values[cell] = Fraction(int(value), int(change["denominator"]) * unit)
        yield changed, values


def _is_covered(reached: tuple[Fraction, Fraction] | None, ask: WitnessEntries, unit: int) -> bool:
    if reached is None:
        return False
    low, high = reached[0] * unit, reached[1] * unit
    return (
        high - low >= Fraction(ask["spread"])
        and (ask["reach_down"] is None or low <= Fraction(ask["reach_down"]))
        and (ask["reach_up"] is None or high >= Fraction(ask["reach_up"]))
    )


def _find_disagreement(
    values: Mapping[LabelKey, Fraction],
    changes: Mapping[LabelKey, Fraction],
    touched: Iterable[int],
    cells: _TableCells,
    reader: WitnessEntries,
) -> str:
    """Return what the values that a witness changes contradict, and the sums that they touch; empty if nothing."""
    if reader["content"] == "counts" and any(value.denominator != 1 for value in changes.values()):
        return "a count is no whole number"
    for key, value in changes.items():
        least, most = cells.hidden[key]
        if (least is not None and value < least) or (most is not None and value > most):
            return "a cell is beyond what a reader knows of it"
    for number in touched:
        total, parts = cells.sums[number]
        whole = cells.shown[total] if total in cells.shown else values[total]
        if whole != sum(cells.shown[part] if part in cells.shown else values[part] for part in parts):
            return f"sum {number + 1} of {len(cells.sums)} does not hold"
    return ""


def _read(data: Any, told: WitnessEntries, reader: WitnessEntries, cells: _TableCells) -> list[Failure]:
    """Read a table into the cells; return what contradicts an earlier one."""
    for what, allowed in _READER_KNOWS.items():
        check_choice(what, reader[what], allowed)
    if reader["negative"] and reader["content"] == "counts":
        raise InputError("negative counts.", hint="write it anew.")
    rows, names = _list_rows(data, told)
    labels = {name: list(dict.fromkeys(row[position] for row, _ in rows)) for position, name in enumerate(names)}
    totals = {name: told["total"].get(name, told["total"].get("")) for name in names}
    found = dict(rows)
    if len(found) != len(rows):
        raise InputError("a table has two rows for one cell.", hint="name all columns of labels.")
    failures = []
    least = _least(reader)
    for combination in product(*labels.values()):
        key = _key(names, combination, totals)
        text = found.get(combination)
        if text is None and reader["absent"] == "zero":
            text = "0"
        number = None if text is None else parse_number(text)
        if number is not None:
            if cells.shown.setdefault(key, number) != number:
                failures.append(Failure(f"{_AGREES}: two tables show different values of one cell"))
            continue
        bounds = _limits(text or "")
        is_mark = bounds != (None, None) or text in told.get("hidden", ())
        if not is_mark and any(character.isdigit() for character in text or ""):
            raise InputError(
                "a cell holds digits, and is neither a number nor a known mark.",
                hint="name its mark: hidden=['1)'].",
            )
        if text is not None:
            cells.marked.add(key)
        low = min(least, Fraction(0)) if text is None and least is not None else least
        low = bounds[0] if low is None or (bounds[0] is not None and bounds[0] > low) else low
        before = cells.hidden.get(key)
        if before is not None:
            low = before[0] if low is None or (before[0] is not None and before[0] > low) else low
            bounds = None, min((top for top in (before[1], bounds[1]) if top is not None), default=None)
        cells.hidden[key] = low, bounds[1]
    cells.sums += _list_sums(names, labels, totals, told["hierarchies"])
    return failures


def _list_sums(
    names: Sequence[str],
    labels: Mapping[str, Sequence[str]],
    totals: Mapping[str, str | None],
    hierarchies: Mapping[str, Mapping[str, Sequence[str]]],
) -> Iterator[tuple[LabelKey, tuple[LabelKey, ...]]]:
    """Yield each total of a table with its parts; what has no parent in the table is part of the whole."""
    for position, name in enumerate(names):
        children, whole = hierarchies.get(name, {}), totals[name]
        TopologicalSorter(children).prepare()  # a label above itself would be part of no total
        tree = {
            parent: list(_find_present(parts, children, labels[name]))
            for parent, parts in children.items()
            if parent in labels[name] and parent != whole
        }
        if whole in labels[name]:
            below = {part for parts in tree.values() for part in parts}
            tree[str(whole)] = [label for label in labels[name] if label not in below and label != whole]
        others = [labels[each] for each in names if each != name]
        for parent, present in tree.items():
            if not present:
                continue
            for rest in product(*others):
                left, right = rest[:position], rest[position:]
                total, *line = [_key(names, (*left, label, *right), totals) for label in (parent, *present)]
                yield total, tuple(line)


def _find_present(parts: Sequence[str], children: Mapping[str, Sequence[str]], labels: Sequence[str]) -> Iterator[str]:
    """Yield parts that are labels of the table; in place of another one, what it is the sum of."""
    for part in parts:
        if part in labels:
            yield part
        else:
            yield from _find_present(children.get(part, ()), children, labels)


def _list_rows(data: Any, told: WitnessEntries) -> tuple[list[tuple[tuple[str, ...], str]], list[str]]:
    """Return the labels and the text of every cell, and the names of the dimensions."""
    if hasattr(data, "reset_index") and data.index.names[0] is not None:
        data = data.reset_index()
    if hasattr(data, "reset_index"):
        data = data.rename(columns=str).apply(lambda column: column.map(_format_cell))
    frame = frames.read(data)
    check_columns([*told["by"], *([] if told["value"] is None else [told["value"]])], frame.columns, "the certificate")
    texts = format_cells(frame)
    if frame.has_decimal_commas:
        texts |= {name: list(map(_with_point, cells)) for name, cells in texts.items() if name not in told["by"]}
    fixed = told.get("fixed", {})
    rows = [row for row in range(frame.n_rows) if all(texts[name][row] == label for name, label in fixed.items())]
    if told["value"] is not None:
        by, values = [texts[name] for name in told["by"]], texts[told["value"]]
        if told.get("status") is not None:
            values = _hide_by_status(values, texts[told["status"]], told)
        return [(tuple(cells[row] for cells in by), values[row]) for row in rows], list(told["by"])
    across = [name for name in frame.columns if name not in told["by"]]
    return [((*(texts[by][row] for by in told["by"]), name), texts[name][row]) for row in rows for name in across], [
        *told["by"],
        told["across"],
    ]


def _hide_by_status(values: Sequence[str], statuses: Sequence[str], told: WitnessEntries) -> list[str]:
    """Return the values that their status shows, and a mark for the others."""
    mark = (*told["hidden"], "x")[0]
    return [
        value if status.casefold() in _SHOWN_STATUSES else mark for value, status in zip(values, statuses, strict=True)
    ]


def _with_point(text: str) -> str:
    """Return a number that has a decimal comma with a point, and without points between thousands."""
    text = re.sub(r"^-?\d{1,3}(?:\.\d{3})+(?!\d)", lambda whole: whole[0].replace(".", ""), text)
    return re.sub(r"(?<=\d),(?=\d)", ".", text)


def format_cells(frame: Frame) -> dict[str, list[str]]:
    """Return the cells of every column as text."""
    return {name: [_format_cell(cell) for cell in frame.column(name).to_list()] for name in frame.columns}


def _format_cell(cell: object) -> str:
    """Return a cell as text: no value is blank, and whole numbers have no point."""
    if cell is None or cell != cell:
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()


def _key(names: Sequence[str], labels: Sequence[str], totals: Mapping[str, str | None]) -> LabelKey:
    return tuple(sorted((name, label) for name, label in zip(names, labels, strict=True) if label != totals[name]))


def _least(reader: WitnessEntries) -> Fraction | None:
    if reader["negative"]:
        return None
    return Fraction(1 if reader["content"] == "counts" and reader["zeros"] == "shown" else 0)


def parse_number(text: str) -> Fraction | None:
    """Return the value that a cell shows; None if it shows none."""
    text = text.partition("(")[0].strip() if text.endswith("%)") else text
    if _THOUSANDS.fullmatch(text):
        text = re.sub(r"[,'’\u00a0\u202f ]", "", text)
    return Fraction(text) if _NUMBER.fullmatch(text) else None


def _limits(text: str) -> ValueLimits:
    """Return what a mark says of the value that it hides."""
    below, between = _BELOW.fullmatch(text), _BETWEEN.fullmatch(text)
    if below:
        return None, Fraction(int(below[2]) - (below[1] not in ("≤", "<=")))
    if between:
        return Fraction(int(between[1])), Fraction(int(between[2]))
    return None, None
