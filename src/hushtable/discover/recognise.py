"""Propose a role for every column, each with its reason: a starting point for someone who knows the data.

First, whether the rows are about persons; then who can know a column of a person, and what it tells apart. Where the
rules are in doubt they ask.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np

from hushtable._types import FEWEST_RECORDS, CodeArray
from hushtable.columns import Column, count_near_duplicates, escape_controls
from hushtable.discover.determined import enough_rows, find_determined
from hushtable.discover.prose import look_for_names
from hushtable.discover.roles.decision import ProposedRole, Roles, decide_roles
from hushtable.discover.roles.evidence import PROSE, Finding, are_about_persons, find_topic, with_answers
from hushtable.discover.roles.names import Lexicon, build_lexicon
from hushtable.discover.roles.patterns import cells_of
from hushtable.errors import ColumnError, check_type
from hushtable.io import frames
from hushtable.tables import Table, open_table

_PERSON_NUMBER_TOPICS: Final = ("person", "number of a person")  # topics of columns that say whose a record is
_NO_PERSONS_REASON: Final = "the rows are not taken to be about persons"

_MIN_COUNTED_RECORDS: Final = 10  # records: among fewer, nearly anything occurs once
_MIN_VALUES_FOR_LISTS: Final = 10  # distinct values that a column of lists of codes has at least
_MIN_SHARE_OF_LISTS: Final = 0.2  # of the values
_MAX_CODE_CHARACTERS: Final = 12


def find_quasi_identifiers(
    data: Any, *, words: str | os.PathLike[str] | Mapping[str, str] | None = None, of_persons: bool | None = None
) -> Roles:
    """Propose roles by who can know a column and by what it tells apart.

    Parameters
    ----------
    data : path, dataframe or Table
    words : path or mapping, optional
        Words of column names and what they say, before the built-in ones: ``{"wiek": "age"}``. A file has lines of
        words with commas between them, a tab, and a topic or a role; see docs/roles.md.
    of_persons : bool, optional
        Whether the rows are about persons, where you know; else columns tell.

    Raises
    ------
    InputError
        The data or the words cannot be read, or a word has no known topic.

    Notes
    -----
    Whatever the order of rows and columns the proposals are the same. Texts are judged on up to 1,000 distinct ones of
    a column, numbers on all. O(n) per column, and O(n) per column and order of columns for the power;
    see `hushtable.discover.roles.decision`. Nothing leaves the machine, and no cell is shown.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"e-mail": ["a@b.org", "c@d.org"], "age": [31, 52], "note": ["x", "x"]})
    >>> find_quasi_identifiers(people).roles
    {'e-mail': 'identifier', 'age': 'quasi-identifier', 'note': 'other'}
    """
    check_type(of_persons, bool, "of_persons", "True or False")
    source = open_table(data)
    if isinstance(source, frames.Frame):
        source, undecided = source.without_odd_cells()
        if undecided:
            from hushtable.io import warn_of_odd_cells

            warn_of_odd_cells(undecided)
    words_known = build_lexicon(words)
    names = source.names
    read = [_read_column(source, name, words_known) for name in names]
    findings = with_answers([each.finding for each in read if each.finding is not None])
    answered = {each.name: each for each in findings}
    read = [each if each.finding is None else each.with_finding(answered[each.finding.name]) for each in read]
    about_persons, reason = are_about_persons(findings)
    if of_persons is not None:
        about_persons, reason = of_persons, f"declared as {'' if of_persons else 'not '}about persons"
    n_records = source.n_records
    columns = _propose_roles(read, source) if about_persons else tuple(each.proposed for each in read)
    columns = _with_names_seen(columns, source)
    columns = _with_determined(columns, read, source)
    person = _find_person(columns, n_records)
    columns = tuple(_with_person_warning(column, n_records) if column.name == person else column for column in columns)
    library = frames.library_of(source)
    return Roles(columns, about_persons, reason, library, person)


def find_identifiers(data: Any, names: Sequence[str], *, by_count: bool = True) -> tuple[tuple[str, str], ...]:
    """Return which of some columns of a table of persons look like direct identifiers, each with the reason.

    Cheaper than all roles: what columns tell apart is not looked at. With ``by_count=False``, and of fewer than ten
    records, names of columns and looks of cells decide; that hardly any cell occurs twice does not.
    """
    source = open_table(data)
    if isinstance(source, frames.Frame):
        # The code that publishes warns of odd cells.
        source, _ = source.without_odd_cells(names)
    is_counted = by_count and source.n_rows >= _MIN_COUNTED_RECORDS
    findings = [
        each.finding
        for each in (_read_column(source, name, build_lexicon(None)) for name in names)
        if each.proposed.n_distinct
    ]
    return tuple(
        (each.name, each.reason)
        for each in findings
        if each is not None
        and each.topic is not None
        and each.topic.role == "identifier"
        and (is_counted or not each.is_counted)
    )


@dataclass(frozen=True, slots=True, eq=False)
class _ReadColumn:
    """A column as it was read: a role without a decision, its codes, and what it is about."""

    proposed: ProposedRole
    codes: CodeArray
    finding: Finding | None

    def with_finding(self, finding: Finding) -> _ReadColumn:
        """Return the column with another finding, which takes its neighbours into account."""
        topic = "" if finding.topic is None else finding.topic.name
        return replace(self, finding=finding, proposed=replace(self.proposed, topic=topic))


def _read_column(source: Table | frames.Frame, name: str, words: Lexicon) -> _ReadColumn:
    try:
        table = Table.encode(source, [name])
    except ColumnError as error:
        warning = str(error).partition("\n")[0]
        proposed = ProposedRole(name, "other", "its cells cannot be compared", "none", 0, 0, warning)
        return _ReadColumn(proposed, np.empty(0, dtype=np.int32), None)
    (column,), (codes,) = table.columns, table.codes
    by_code = np.bincount(codes + 1, weights=table.counts, minlength=column.n_values + 1).astype(np.int64)
    label = source.label(name) if isinstance(source, frames.Frame) else ""
    finding = find_topic(cells_of(column, by_code[1:], int(by_code[0])), words, label)
    about = "it holds no value" if not column.n_values else _NO_PERSONS_REASON
    topic = "" if finding.topic is None else finding.topic.name
    proposed = ProposedRole(
        name,
        "other",
        about,
        column.kind,
        column.n_values,
        int(by_code[0]),
        _warning_text(column),
        topic=topic,
        label=label,
    )
    return _ReadColumn(proposed, codes, finding)


def _propose_roles(read: Sequence[_ReadColumn], source: Table | frames.Frame) -> tuple[ProposedRole, ...]:
    """Propose roles in a table of persons."""
    open_ones = [each for each in read if each.finding is not None and each.proposed.n_distinct]
    findings = {each.proposed.name: each.finding for each in open_ones if each.finding is not None}
    counts = source.records
    codes = np.array([each.codes for each in open_ones], dtype=np.int32).reshape(len(open_ones), len(counts))
    decisions = decide_roles(
        findings, Table(tuple(each.cells.column for each in findings.values()), codes, counts), len(read)
    )
    decided = []
    for proposed in (each.proposed for each in read):
        if proposed.name in decisions:
            proposed = replace(proposed, **asdict(decisions[proposed.name]))
        # Of an identifier no value is published, and so none is warned of.
        decided.append(replace(proposed, warning="") if proposed.role == "identifier" else proposed)
    return tuple(decided)


def _with_names_seen(columns: tuple[ProposedRole, ...], source: Table | frames.Frame) -> tuple[ProposedRole, ...]:
    """Add to each free text how many of its records name people: counts, no cell."""
    prose = [column.name for column in columns if column.role == "ask" and column.topic == PROSE]
    if not prose:
        return columns
    identifiers = [column.name for column in columns if column.role == "identifier"]
    seen = {
        each.column: f"; of {source.n_records:,} records {each.what}"
        for each in look_for_names(source, prose, identifiers)
    }
    return tuple(replace(column, reason=column.reason + seen.get(column.name, "")) for column in columns)


def _with_determined(
    columns: tuple[ProposedRole, ...], read: Sequence[_ReadColumn], source: Table | frames.Frame
) -> tuple[ProposedRole, ...]:
    """Ask about columns that repeat proposed quasi-identifiers, by up to 20,000 rows evenly from all."""
    quasi = [column.name for column in columns if column.role == "quasi-identifier"]
    # What a word says of a column stands, even if it says that nobody knows it.
    said = {each.proposed.name for each in read if each.finding is not None and each.finding.topic is not None}
    open_ones = [column for column in columns if column.role in ("other", "ask") and column.name not in said]
    open_names = [column.name for column in open_ones if column.n_distinct]
    if not quasi or not open_names or source.n_rows < FEWEST_RECORDS:
        return columns
    rows = enough_rows(source.n_rows)
    involved = [each for each in read if each.finding is not None and each.proposed.name in {*quasi, *open_names}]
    sample = Table(
        tuple(each.finding.cells.column for each in involved if each.finding is not None),
        np.array([each.codes[rows] for each in involved], dtype=np.int32),
        np.ones(len(rows), dtype=np.int64),
    )
    undoing = find_determined(sample, open_names, quasi)
    sentences = {each.column: f"{each.sentence}, and undoes what is hidden there" for each in undoing}
    reasons = {
        column.name: sentences[column.name] if column.role == "other" else f"{column.reason}; {sentences[column.name]}"
        for column in open_ones
        if column.name in sentences
    }
    return tuple(
        replace(column, role="ask", reason=reasons[column.name]) if column.name in reasons else column
        for column in columns
    )


def _warning_text(column: Column) -> str:
    """Describe near-duplicate values, and cells that hold several codes each."""
    alike = count_near_duplicates(column)
    remarks = [f"{alike} values differ from another only in case, spaces or width"] if alike else []
    separator = _find_separator(column)
    if separator:
        remarks.append(
            f"cells hold several codes each ({separator!r} between them). A combination counts as one value, so few "
            f"people share one. `separator: {separator!r}` at the column in a policy makes sets, of which models judge "
            "every item. Or keep the first code, or make a column of each"
        )
    return "; ".join(remarks)


def _find_separator(column: Column) -> str:
    """Return the separator of cells that list codes, such as ``A10;B20``; empty for other cells."""
    if column.kind != "category" or column.n_values < _MIN_VALUES_FOR_LISTS:
        return ""
    texts = column.texts()
    for separator in ";|,":
        several = [text.split(separator) for text in texts if separator in text]
        if separator == "," and all(len(parts) == 2 and all(map(str.isdigit, parts)) for parts in several):
            # Numbers with a decimal comma, beside words for a missing one.
            continue
        codes = [code.strip() for each in several for code in each]
        # Words of a sentence are longer, or stand in no other cell.
        are_codes = bool(codes) and max(map(len, codes)) <= _MAX_CODE_CHARACTERS and all(codes)
        if len(several) >= _MIN_SHARE_OF_LISTS * len(texts) and are_codes and len({*codes}) < len(several):
            return separator
    return ""


def _find_person(columns: Sequence[ProposedRole], n_records: int) -> str | None:
    """Return the repeating identifier with the most values: there, rows are not people.

    Beside an identifier that tells the records apart, such as the number of a visit, only one that numbers persons.
    """
    identifiers = [column for column in columns if column.role == "identifier" and column.n_distinct]
    repeating = [column for column in identifiers if column.n_distinct < n_records - column.n_missing]
    if len(repeating) < len(identifiers):
        repeating = [column for column in repeating if column.topic in _PERSON_NUMBER_TOPICS]
    return max(repeating, key=lambda column: column.n_distinct).name if repeating else None


def find_repeating_person(data: Any, names: Sequence[str]) -> str | None:
    """Return which of some columns numbers persons of whom some have several records; cheaper than all roles."""
    source = open_table(data)
    read = [_read_column(source, name, build_lexicon(None)) for name in names]
    numbering = [
        replace(each.proposed, role="identifier")
        for each in read
        if each.finding is not None
        and each.finding.topic is not None
        and each.finding.topic.name in _PERSON_NUMBER_TOPICS
    ]
    return _find_person(numbering, source.n_records) if numbering else None


def _with_person_warning(column: ProposedRole, n_records: int) -> ProposedRole:
    """Add a warning to the column that says whose record a row may be."""
    remark = f"it repeats ({column.n_distinct:,} values in {n_records:,} records)"
    return replace(
        column, warning=f"{remark}: `person: {escape_controls(column.name)}` in a policy counts persons, not records"
    )
