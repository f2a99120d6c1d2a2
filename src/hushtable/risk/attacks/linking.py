"""Attacks with another table: its records are looked up in a release, or two releases are joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.columns import ColumnSpec, check_specs, list_distinct_cells
from hushtable.errors import InputError, check_columns, check_whole, names_in
from hushtable.io import Frame
from hushtable.risk.assessment import format_percent
from hushtable.risk.attacks.fitting import (
    MAX_FEW,
    PlaceAxis,
    PublishedTable,
    axes_of,
    common_axes,
    count_suspects,
    number_by_value,
    open_publication,
    values_of,
    with_spelling_of,
)
from hushtable.risk.attacks.linked_persons import LinkedPersons, link_persons
from hushtable.risk.attacks.scoring import check_eccentricity
from hushtable.risk.intervals import HitRates, clip_interval, excess_risk, wilson_interval
from hushtable.risk.nearness import check_tolerance, classes_of
from hushtable.tables import Mismatch, Table, describe_values, has_too_few, persons_of, warn_of_mismatches
from hushtable.wording import StatesFacts, careful, join_names


@dataclass(frozen=True, slots=True)
class Linked(HitRates):
    """What records of an outside table find.

    Attributes
    ----------
    n_records : int
        Of the outside table.
    n_lost : int
        Of those, so many fit no released record.
    n_one_record : int
        So many fit one released record alone.
    n_one_class : int
        So many fit released records of one class alone; those that fit one record are among them.
    n_few : int
        So many fit fewer than ``few`` released records, but one at least.
    n_right : int or None
        Of those that fit one record alone, so many are the same person's; None where the truth is not known.
    n_right_class : int or None
        Of those that fit one class alone, so many have their record in it.
    few : int
    """

    n_records: int
    n_lost: int
    n_one_record: int
    n_one_class: int
    n_few: int
    n_right: int | None
    n_right_class: int | None
    few: int

    @property
    def hits(self) -> tuple[int, int]:
        """How many records are linked, and of how many."""
        return self.n_one_record, self.n_records


@dataclass(frozen=True, slots=True)
class Linking(StatesFacts):
    """What somebody achieves who has another table.

    Attributes
    ----------
    on : tuple of str
        The released columns that both tables have.
    tolerance : dict of column to amount
    found : Linked
        What records of the outside table find.
    control : Linked, optional
        What people find who are not in the release: their links are wrong, all of them.
    excess : float, optional
        Of the outside records, or persons, the share that is linked beyond what the control is:
        (attack - control) / (1 - control)
    excess_interval : tuple of float, optional
        Its 95 % interval.
    persons, control_persons : LinkedPersons, optional
        What all records of a person find together, and of the control.
    eccentricity : float, optional
        How far a match of persons exceeds the second best, in standard deviations of all scores.
    """

    on: tuple[str, ...]
    tolerance: dict[str, Any]
    found: Linked
    control: Linked | None = None
    excess: float | None = None
    excess_interval: tuple[float, float] | None = None
    persons: LinkedPersons | None = None
    control_persons: LinkedPersons | None = None
    eccentricity: float | None = None

    @property
    def rate(self) -> float:
        """Of the outside records, or persons, the share that is linked with one alone, in [0, 1]. Higher is riskier."""
        return self.found.rate if self.persons is None else self.persons.rate

    @property
    def headline(self) -> str:
        """What matters most, in a sentence."""
        links, persons = self.found, self.persons
        if persons is not None and persons.n_right is None:
            return (
                f"{persons.n_found:,} of {persons.n_persons:,} outside persons ({format_percent(persons.rate)}) are "
                "linked with one released person; nobody can tell how many rightly."
            )
        if persons is not None:
            n_wrong = persons.n_found - (persons.n_right or 0)
            return (
                f"{persons.n_right:,} of {persons.n_persons:,} outside persons are linked with themselves, and "
                f"{n_wrong:,} with another released person."
            )
        right = "" if links.n_right is None else f", {links.n_right:,} of them the right one"
        return (
            f"{links.n_one_record:,} of {links.n_records:,} outside records ({format_percent(links.rate)}) fit one "
            f"released record alone{right}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values; no record is in it."""
        return {
            "on": list(self.on),
            "tolerance": {name: str(amount) for name, amount in self.tolerance.items()},
            "rate": self.rate,
            "found": self.found.to_dict(),
            "control": None if self.control is None else self.control.to_dict(),
            "excess": self.excess,
            "excess_interval": None if self.excess_interval is None else list(self.excess_interval),
            "persons": None if self.persons is None else self.persons.to_dict(),
            "control_persons": None if self.control_persons is None else self.control_persons.to_dict(),
            "eccentricity": self.eccentricity,
        }

    @property
    def facts(self) -> tuple[str, ...]:
        """What was found, in whole sentences, the most dangerous first."""
        links, control, facts = self.found, self.control, [self.headline]
        if self.excess is not None and self.excess_interval is not None:
            low, high = self.excess_interval
            facts.append(f"Beyond the control, {self.excess:.2%} are linked (95 % interval {low:.2%} to {high:.2%}).")
        facts += self._facts_on_persons()
        facts.append(
            f"Of {links.n_records:,} outside records, {links.n_one_class:,} fit one class{_right(links)}, "
            f"{links.n_few:,} fewer than {links.few} records, and {links.n_lost:,} none."
        )
        if control is not None:
            facts.append(
                f"Of {control.n_records:,} control records, {control.n_one_record:,} fit one released record, "
                f"{control.n_one_class:,} one class, {control.n_few:,} fewer than {control.few} records, and "
                f"{control.n_lost:,} none."
            )
        else:
            facts.append(careful("no control was given: nothing says how many links come by chance."))
        return *facts, f"The tables were compared on {join_names(self.on)}."

    def _facts_on_persons(self) -> list[str]:
        persons, control = self.persons, self.control_persons
        if persons is None:
            return []
        facts = [
            f"A person is linked if the records that fit, rare ones weighing more, score {self.eccentricity:g} "
            "standard deviations above the second best.",
            f"Of {persons.n_persons:,} outside persons, {persons.n_best:,} have one best match by whatever margin, "
            f"{persons.n_few:,} fewer than {persons.few} within the limit, and {persons.n_lost:,} none.",
        ]
        if control is not None:
            facts.append(
                f"Of {control.n_persons:,} control persons, {control.n_found:,} are linked, all of them wrongly."
            )
        return facts


def _right(found: Linked) -> str:
    return "" if found.n_right_class is None else f" ({found.n_right_class:,} with their own)"


def link(
    release: Any,
    outside: Any,
    *,
    on: Sequence[str] | Mapping[str, str],
    tolerance: Mapping[str, Any] | None = None,
    person: str | None = None,
    eccentricity: float | None = None,
    truth: str | None = None,
    control: Any = None,
    few: int = 5,
    specs: Mapping[str, ColumnSpec] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
) -> Linking:
    """Look up the records of an outside table in a released one, or all records of a person together.

    Parameters
    ----------
    release : Release, path or dataframe
        Published cells fit whatever they cover.
    outside : path, dataframe or Table
        What somebody holds: values, not published cells.
    on : sequence of str, or mapping of released column to outside column
        The columns that are compared.
    tolerance : mapping of released column to amount, optional
        How far outside values may be from the truth, as in `hushtable.unicity`; exact where it says nothing.
    person : str, optional
        A column that tells which records are one person's, in the outside table and in the released one; the two need
        not call a person the same. The records of an outside person are then looked up together, and some of them may
        be wrong.
    eccentricity : float, optional
        By how many standard deviations of all scores a match of persons must exceed the second highest: 1.5.
    truth : str, optional
        A column that tells whose record a row is, in the outside table and in the released one, or in a release's
        source. Only with it is known how many links are right.
    control : path or dataframe, optional
        As the outside table, of people who are not in the release: whoever of them is linked is linked by chance.
    few : int
        Records that fit fewer than so many released ones are counted too.
    specs : mapping of column to ColumnSpec, optional
        Kinds of the outside columns, by their released names, where the data do not say.
    hierarchies : mapping of column to hierarchy, optional
        Of a released file: what its labels mean. A label of a column that has None fits every value.

    Raises
    ------
    ColumnError
        A column does not exist.
    InputError
        An amount does not fit its column, a table is empty, or cells say nothing of such values.

    Notes
    -----
    Of a class everybody learns what its records have in common. A link with one class that holds its record is right
    for that, even where no link with a record is.

    Persons are scored as in `hushtable.unicity` (Narayanan and Shmatikov 2008); the columns of ``on`` that have no
    tolerance are those whose rare values weigh most.

    Examples
    --------
    >>> import polars as pl
    >>> released = pl.DataFrame({"age": ["[30, 40)", "[30, 40)", "52"], "ill": ["flu", "gout", "mumps"]})
    >>> voters = pl.DataFrame({"name": ["Ann", "Bob", "Eve"], "age": [31, 52, 70]})
    >>> found = link(released, voters, on=["age"]).found
    >>> found.n_one_record, found.n_one_class, found.n_lost
    (1, 2, 1)
    """
    check_specs(specs)
    check_whole("few", few, 1, MAX_FEW)
    pairs, limit = _parse_pairs(on), _parse_limit(person, eccentricity)
    publication = open_publication(release, specs, hierarchies)
    amounts = check_tolerance(tolerance, [name for name, _ in pairs])
    outside_frame = _read_outside(outside, pairs, publication, "outside")
    # The release may mark missing cells in its own way.
    publication = with_spelling_of(publication, PublishedTable(outside_frame), [(other, name) for name, other in pairs])
    owners = None if truth is None else _number_owners(publication, PublishedTable(outside_frame), truth)
    search = _TableLookup(publication, pairs, amounts, few, person, limit)
    links, persons = _link_table(search, outside_frame, owners)
    linking = Linking(tuple(name for name, _ in pairs), amounts, links, persons=persons, eccentricity=limit)
    if control is None:
        return linking
    control_frame = _read_outside(control, pairs, publication, "control")
    by_chance, persons_by_chance = _link_table(search, control_frame, None)
    attack, chance = (wilson_interval(*each.hits) for each in (persons or links, persons_by_chance or by_chance))
    value, error = excess_risk(attack, chance)
    excess, interval = min(max(value, 0.0), 1.0), clip_interval(value - error, value + error)
    return replace(
        linking, control=by_chance, excess=excess, excess_interval=interval, control_persons=persons_by_chance
    )


@dataclass(frozen=True, slots=True, eq=False)
class _TableLookup:
    """What records are looked up in, and how."""

    publication: PublishedTable
    pairs: Sequence[tuple[str, str]]
    amounts: Mapping[str, Any]
    few: int
    person: str | None
    eccentricity: float | None


def _parse_limit(person: str | None, eccentricity: float | None) -> float | None:
    if person is not None:
        return check_eccentricity(eccentricity)
    if eccentricity is not None:
        raise InputError(
            f"eccentricity = {eccentricity!r} has no effect without person.",
            hint="name the column of the person, or leave it out: single records fit or do not.",
        )
    return None


def _parse_pairs(on: Any) -> list[tuple[str, str]]:
    pairs = list(on.items()) if isinstance(on, Mapping) else [(name, name) for name in names_in(on, "on")]
    if not pairs:
        raise InputError("on names no column.", hint="name the columns that both tables have.")
    return pairs


def _read_outside(data: Any, pairs: Sequence[tuple[str, str]], publication: PublishedTable, what: str) -> Frame:
    """Read a table of values, of the kinds that the released columns had before they were published."""
    frame = open_publication(data).frame
    check_columns([theirs for _, theirs in pairs], frame.columns, f"columns of the {what} table")
    if not frame.n_rows:
        raise InputError(f"the {what} table is empty.", hint="a rate of nothing would say nothing.")
    kinds = {theirs: publication.specs[name] for name, theirs in pairs if name in publication.specs}
    # A spelling of the released file says nothing of how another one is spelled.
    frame = frame.with_specs({name: ColumnSpec(spec.kind, spec.order) for name, spec in kinds.items()})
    return with_spelling_of(PublishedTable(frame), publication, pairs).frame


def _link_table(
    search: _TableLookup, outside: Frame, owners: tuple[CountArray, CountArray] | None
) -> tuple[Linked, LinkedPersons | None]:
    """Look up the records of a table, and where they are known, its persons."""
    known_table = Table.encode(outside, [theirs for _, theirs in search.pairs])
    axes, cells = axes_of(search.publication, known_table, search.pairs, search.amounts)
    tables = search.publication, PublishedTable(outside)
    _warn_where_nothing_fits(tables, search.pairs, axes, cells, known_table.codes)
    links = _link_records(axes, cells, known_table.codes, search.few, owners)
    if search.person is None or search.eccentricity is None:
        return links, None
    released_persons, outside_persons = (persons_of(table.frame, search.person) for table in tables)
    persons, seekers, found_persons = link_persons(
        axes,
        cells,
        known_table.codes,
        (released_persons, outside_persons),
        exact=[j for j, (name, _) in enumerate(search.pairs) if name not in search.amounts],
        eccentricity=search.eccentricity,
        few=search.few,
    )
    if owners is None:
        return links, persons
    # Not every record of a person need have the truth.
    true_owners = np.full(int(outside_persons.max()) + 1, -1, dtype=np.int64)
    is_owned = outside_persons >= 0
    np.maximum.at(true_owners, outside_persons[is_owned], owners[1][is_owned])
    n_right = _n_owned(owners[0], released_persons, found_persons, true_owners[outside_persons[seekers]])
    return links, replace(persons, n_right=n_right)


def _link_records(
    axes: Sequence[PlaceAxis],
    cells: CodeArray,
    known_codes: CodeArray,
    few: int,
    owners: tuple[CountArray, CountArray] | None,
) -> Linked:
    starts = np.arange(known_codes.shape[1] + 1, dtype=np.int64)
    rows = np.arange(cells.shape[1], dtype=np.int32)
    classes = classes_of(cells).astype(np.int32)
    by_record = count_suspects(axes, cells, rows, known_codes, starts, max(few, 2))
    by_class = count_suspects(axes, cells, classes, known_codes, starts, 2)
    one_record, one_class = by_record.counts == 1, by_class.counts == 1
    n_right = n_right_class = None
    if owners is not None:
        published_owners, known_owners = owners
        n_right = _n_owned(published_owners, rows, by_record.first[one_record], known_owners[one_record])
        n_right_class = _n_owned(published_owners, classes, by_class.first[one_class], known_owners[one_class])
    return Linked(
        known_codes.shape[1],
        int((by_record.counts == 0).sum()),
        int(one_record.sum()),
        int(one_class.sum()),
        int(((by_record.counts > 0) & (by_record.counts < max(few, 2))).sum()),
        n_right,
        n_right_class,
        few,
    )


def _warn_where_nothing_fits(
    tables: tuple[PublishedTable, PublishedTable],
    pairs: Sequence[tuple[str, str]],
    axes: Sequence[PlaceAxis],
    cells: CodeArray,
    known_codes: CodeArray,
) -> None:
    """Warn of columns in which most known records have a value that no cell of the first table may stand for."""
    rows = np.arange(cells.shape[1], dtype=np.int32)
    mismatches = []
    for j, names in enumerate(pairs):
        counts = np.bincount(known_codes[j][known_codes[j] >= 0], minlength=len(axes[j].known_runs))
        values = np.arange(len(counts), dtype=np.int32)[None]
        fits = count_suspects(axes[j : j + 1], cells[j : j + 1], rows, values, np.arange(len(counts) + 1), 1).counts > 0
        n_records = int(counts.sum())
        share = float(counts[fits].sum() / max(1, n_records))
        if has_too_few(share, 1.0, n_records):
            columns = [values_of(table, name) for table, name in zip(tables, names, strict=True)]
            first_values, second_values = (
                describe_values(column, column.texts(), np.ones(column.n_values, dtype=np.int64)) for column in columns
            )
            mismatches.append(Mismatch(names[0], 1.0, share, (first_values, second_values)))
    warn_of_mismatches(mismatches, ("first", "second"))


def _n_owned(owners: CountArray, groups: CodeArray, found_groups: CodeArray, seekers: CountArray) -> int:
    """Count the seekers with a record of their own in the group found for them; -1 is nobody."""
    width = int(max(owners.max(initial=-1), seekers.max(initial=-1))) + 1
    is_owned = owners >= 0
    own_groups = np.unique(groups[is_owned].astype(np.int64) * width + owners[is_owned])
    return int(np.isin(found_groups.astype(np.int64) * width + seekers, own_groups)[seekers >= 0].sum())


@dataclass(frozen=True, slots=True)
class JoinRisk(StatesFacts):
    """What two published tables of one source tell together.

    Attributes
    ----------
    on : tuple of str
        The columns that both publish.
    n_records : int
        Of the first table.
    n_lost : int
        Of those, so many fit no record of the second.
    n_rebuilt : int
        All records of the second that fit have one content: the join tells what the second holds of the record.
    n_alone : int
        They fit one record of the second alone, and that one fits no other of the first.
    n_rebuilt_right, n_alone_right : int or None
        Of those, so many have their own record among what fits; None where the truth is not known.
    n_persons_alone : int or None
        Persons of whom a record is left alone, with their own.
    """

    on: tuple[str, ...]
    n_records: int
    n_lost: int
    n_rebuilt: int
    n_alone: int
    n_rebuilt_right: int | None = None
    n_alone_right: int | None = None
    n_persons_alone: int | None = None

    @property
    def rate(self) -> float:
        """The share of the records of the first table that the join rebuilds, in [0, 1]. Higher is riskier."""
        return self.n_rebuilt / self.n_records

    @property
    def alone_rate(self) -> float:
        """The share of the records of the first table that is left alone with one of the second, in [0, 1]."""
        return self.n_alone / self.n_records

    @property
    def headline(self) -> str:
        """What matters most, in a sentence."""
        return (
            f"The join rebuilds {self.n_rebuilt:,} of {self.n_records:,} records ({format_percent(self.rate)}), and "
            f"leaves {self.n_alone:,} alone with one record."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values; no record is in it."""
        counts = {name: getattr(self, name) for name in self.__slots__}
        return {**counts, "on": list(self.on), "rate": self.rate, "alone_rate": self.alone_rate}

    @property
    def facts(self) -> tuple[str, ...]:
        """What was found, in whole sentences, the most dangerous first."""
        facts = [self.headline]
        if self.n_rebuilt_right is not None:
            facts.append(
                f"The join is right of {self.n_rebuilt_right:,} of the rebuilt records, and of {self.n_alone_right:,} "
                f"of those alone, which are of {self.n_persons_alone:,} persons."
            )
        lost = f"Of the first table, {self.n_lost:,} records fit none of the second."
        return *facts, lost, f"The tables were joined on {join_names(self.on)}."


def join_risk(
    first: Any,
    second: Any,
    *,
    on: Sequence[str] | Mapping[str, str],
    truth: str | None = None,
    specs: Mapping[str, ColumnSpec] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
) -> JoinRisk:
    """Tell what two published tables of one source give away together.

    Parameters
    ----------
    first, second : Release, path or dataframe
        Records of one source, or of people of whom many are in both.
    on : sequence of str, or mapping of column to column
        Columns that both publish. Two records fit if their cells may stand for one value, in each of these columns.
    truth : str, optional
        A column that tells whose record a row is, in both tables or in their sources.
    specs : mapping of column to ColumnSpec, optional
        The kinds that columns had before they were published, where releases do not say.
    hierarchies : mapping of column to hierarchy, optional
        What labels mean, where releases do not say.

    Raises
    ------
    ColumnError
        A column does not exist in one of the tables.
    InputError
        A table is empty, or what its cells stand for cannot be told.

    Notes
    -----
    A table of A and C and another one of B and C do not hide how A and B hang together: where nobody shares a value of
    C, their join is the source again. The content of a record is its cells in the columns that are not in ``on``.

    Examples
    --------
    >>> import polars as pl
    >>> jobs = pl.DataFrame({"job": ["cook", "clerk", "nurse"], "zip": ["01", "02", "02"]})
    >>> illnesses = pl.DataFrame({"zip": ["01", "02", "02"], "ill": ["flu", "gout", "mumps"]})
    >>> join_risk(jobs, illnesses, on=["zip"]).headline
    'The join rebuilds 1 of 3 records (33 %), and leaves 1 alone with one record.'
    """
    check_specs(specs)
    pairs = _parse_pairs(on)
    columns = tuple(name for name, _ in pairs)
    first_table, second_table = (open_publication(each, specs, hierarchies) for each in (first, second))
    for what, table in (("first", first_table), ("second", second_table)):
        if not table.frame.n_rows:
            raise InputError(f"the {what} table is empty.", hint="nothing is rebuilt from nothing.")
    content = classes_of(_encode_contents(second_table.frame, [name for _, name in pairs])).astype(np.int32)
    rows, second_rows = (np.arange(table.frame.n_rows, dtype=np.int32) for table in (first_table, second_table))
    backwards = [(other, name) for name, other in pairs]
    axes, cells, known_cells = common_axes(second_table, first_table, backwards)
    _warn_where_nothing_fits((second_table, first_table), backwards, axes, cells, known_cells)
    single = np.arange(len(rows) + 1, dtype=np.int64)
    by_content = count_suspects(axes, cells, content, known_cells, single, 2)
    by_row = count_suspects(axes, cells, second_rows, known_cells, single, 2)
    axes, cells, known_cells = common_axes(first_table, second_table, pairs)
    back_by_row = count_suspects(axes, cells, rows, known_cells, np.arange(len(second_rows) + 1, dtype=np.int64), 2)
    is_rebuilt = by_content.counts == 1
    is_alone = by_row.counts == 1
    is_alone[is_alone] = back_by_row.counts[by_row.first[is_alone]] == 1
    risk = JoinRisk(columns, len(rows), int((by_content.counts == 0).sum()), int(is_rebuilt.sum()), int(is_alone.sum()))
    if truth is None:
        return risk
    first_owners, second_owners = _number_owners(first_table, second_table, truth)
    is_right = first_owners[is_alone] == second_owners[by_row.first[is_alone]]
    return replace(
        risk,
        n_rebuilt_right=_n_owned(second_owners, content, by_content.first[is_rebuilt], first_owners[is_rebuilt]),
        n_alone_right=int((is_right & (first_owners[is_alone] >= 0)).sum()),
        n_persons_alone=len(np.unique(first_owners[is_alone][is_right & (first_owners[is_alone] >= 0)])),
    )


def _encode_contents(frame: Frame, on: Sequence[str]) -> CodeArray:
    """Code the columns that are not joined on, by the texts of their cells."""
    names = [name for name in frame.columns if name not in on]
    codes = [list_distinct_cells(frame.column(name), name)[1] for name in names]
    return np.array(codes, dtype=np.int32).reshape(len(names), frame.n_rows)


def _number_owners(first: PublishedTable, second: PublishedTable, truth: str) -> tuple[CountArray, CountArray]:
    """Return whose record each row of two tables is: one number for one text, -1 for none."""
    frames = [
        table.source if table.source is not None and truth in table.source.columns else table.frame
        for table in (first, second)
    ]
    for frame in frames:
        check_columns([truth], frame.columns, "truth, in both tables")
    first_owners, second_owners = (
        numbers if frame is table.frame or table.rows is None else numbers[table.rows]
        for numbers, frame, table in zip(number_by_value(frames, truth), frames, (first, second), strict=True)
    )
    return first_owners, second_owners
