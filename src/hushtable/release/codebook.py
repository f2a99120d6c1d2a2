"""The codebook beside a release: what every column is, how it was coarsened, and what its labels cover.

It is made to go with the file. Labels of a hierarchy that came with the policy are listed with all that they cover,
whether the data hold it or not. Of a group that was made from the data, only values are listed that at least k people
of the release have; the others are counted. No other value of a person is in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.claims import ClaimOnColumns, Classes, Combinations, Matchings
from hushtable.columns import Column, bound_names, cells, zone_of
from hushtable.hierarchy import Codes, Dates, Dictionary, Hierarchy, Intervals, Prefix, Tails, Times
from hushtable.io import Frame, Variable
from hushtable.release.edition import Edition, Rewritten
from hushtable.release.linking import persons_of
from hushtable.tables import Table, encode_table
from hushtable.wording import translate, use_language

if TYPE_CHECKING:
    from hushtable.release.timelines.facts import Timelines

_MIN_PEOPLE_PER_VALUE: Final = 2
_MAX_VALUES_SHOWN: Final = 12
_MAX_LABELS_SHOWN: Final = 20  # of a column's labels: a codebook that is printed has about two pages

_FORMS: Final = {
    "value": "a value, as it was",
    "interval": "`[17, 25)`: from 17 to below 25; `[17, 24]`: from 17 to 24; `<20`: below 20; `>=90`: 90 or above",
    "range": "`[20*, 45*]`: codes in their order, from those that begin with 20 to those that begin with 45",
    "prefix": "`201*`: all codes that begin with 201",
    "set": '`["a", "b"]`: one of these values or labels; an empty place, `""`, is a missing value',
    "label": "a label: what it covers stands below, or beside its column",
    "any": "`*`: any value, the missing one included",
    "missing": "an empty cell: a missing value",
}
"""What a cell may be, and what it means."""

_STYLES: Final = {
    "cut": "cut wherever it cost least: a cell is, or lists, what lies between two cuts",
    "tight": "cut wherever it cost least: a cell spans, or lists, what the records of its class hold",
    "label": "cut wherever it cost least: a cell spans, or lists, what the records of its class hold",
    "set": "a cell lists what the records of its class hold",
    "central": "a cell is one central value for all records of its class, and not their own",
    "candidates": "a cell is the cheapest text that covers the records of its class",
    "suppressed": "a cell is the value itself, or `*`",
    "nested": "cut wherever it cost least: a cell is one unit of the column's ladder",
    "readable": "a cell is a value, a short list, or a group of values named by its most frequent one",
}
_ROUND_CUTS: Final = "cut at round points: a cell is a round interval"
_ROUND_DATES: Final = "; of dates, `[1958, 1969)`: from the first day of 1958 to the last of 1968"
_RULES: Final = {
    "frequency": "groups of values that are about as frequent",
    "runs": "runs of neighbouring values",
    "suppression": "the value or `*`, nothing between",
}
_UNITS: Final = {
    "day": "a day",
    "month": "a month `2024-05`",
    "quarter": "a quarter `2024-Q2`",
    "half-year": "half a year `[2024-01, 2024-07)`",
    "year": "a year `2024`",
    "5 years": "five years `[2020, 2025)`",
    "decade": "a decade `2020s`",
    "20 years": "twenty years `[2000, 2020)`",
    "40 years": "forty years `[1960, 2000)`",
}


def codebook_paths(release: Path) -> tuple[Path, Path]:
    """Return the paths of a release's codebook, for people and as data: its name with further endings."""
    return release.with_name(f"{release.name}.codebook.md"), release.with_name(f"{release.name}.codebook.json")


def render_copy(data: Path, release: Path) -> dict[Path, str]:
    """Return the texts of both files for a copy of a release under another name.

    Parameters
    ----------
    data : path
        The codebook that there is, as JSON.
    release : path
        The copy.
    """
    return _render_texts({**json.loads(data.read_text(encoding="utf-8")), "file": release.name}, release)


def _render_texts(entries: Mapping[str, Any], release: Path) -> dict[Path, str]:
    to_read, data = codebook_paths(release)
    return {to_read: _render_markdown(entries), data: json.dumps(entries, indent=2, ensure_ascii=False) + "\n"}


@dataclass(frozen=True, eq=False)
class Codebook:
    """What a release's readers need to know of its columns.

    Attributes
    ----------
    edition : Edition
        What is published.
    claim : Classes or Matchings
    columns : tuple of Column
        The quasi-identifiers, before they were coarsened.
    style : str
        The recoding.
    removed : tuple of str
        Columns that the release leaves out.
    grouped : collection of str
        Columns with labels of groups that were made from the data.
    count : callable, optional
        Counts who has every value of a quasi-identifier among the rows of each of some groups, shape (n_groups,
        n_values), where the source's own cells do not tell.
    timelines : Timelines, optional
        How dates of persons were changed.
    """

    edition: Edition
    claim: Classes | Combinations | Matchings
    columns: tuple[Column, ...]
    style: str
    removed: tuple[str, ...] = ()
    grouped: Collection[str] = ()
    count: Callable[[Column, CodeArray, int], CountArray] | None = None
    timelines: Timelines | None = None

    def texts(self, path: Path, *, external: bool, language: str = "en") -> dict[Path, str]:
        """Return the texts of both files; the one for people in a language.

        Parameters
        ----------
        path : path
            Of the release.
        external : bool
            Leave out which columns are not there.
        language : str
            One of `hushtable.wording.LANGUAGES`, else English.
        """
        with use_language(language):
            return _render_texts(self.to_dict(path.name, external=external), path)

    def to_dict(self, file: str, *, external: bool) -> dict[str, Any]:
        """Return all of it as plain values."""
        left_out = {} if external or not self.removed else {"left_out": list(self.removed)}
        return {
            "hushtable": version("hushtable"),
            "file": file,
            "n_records": int(self._weights.sum()),
            "holds": list(self.claim.conditions),
            **left_out,
            "columns": [
                self._describe_column(name) | self._list_missing(name) | self._label_and_values(name)
                for name in self.edition.names
            ],
        }

    def _list_missing(self, name: str) -> dict[str, Any]:
        """Return the texts that were declared missing in the source, and whether odd cells were."""
        source, hidden = self.edition.source, self.edition.pseudonyms
        if isinstance(source, Table) or name not in self.edition.columns or (hidden and name in hidden.columns):
            return {}
        spec = source.spec(name)
        odd_cells = {"odd_cells": "missing"} if spec.odd_cells == "missing" else {}
        return ({"missing_values": list(spec.missing_values)} if spec.missing_values else {}) | odd_cells

    def _label_and_values(self, name: str) -> dict[str, Any]:
        """Return a column's label and value labels, as far as the release may show them."""
        variable, label = self._variables.get(name), self.edition.label(name)
        values = {} if variable is None else {str(code): text for code, text in variable.values.items()}
        return ({"label": label} if label else {}) | ({"values": values} if values else {})

    @cached_property
    def _variables(self) -> Mapping[str, Variable]:
        source = self.edition.source
        return self.edition.frame().variables if isinstance(source, Frame) and source.variables else {}

    def _describe_column(self, name: str) -> dict[str, Any]:
        bounded = next((each for each in self.edition.bounds if name in bound_names(each)), None)
        if bounded is not None:
            return {"name": name, **self._describe_bound(name, bounded)}
        column = next((each for each in self.columns if each.name == name), None)
        if column is None:
            return {"name": name, **self._describe_kept_column(name)}
        told, rewritten = self.claim.hierarchies.get(name), self.edition.rewritten[name]
        ladder = None if name in self.grouped else told
        # Named sets overlap, and are no tree.
        if isinstance(told, Hierarchy) and (told.rule is None if ladder is None else isinstance(told.rule, Dictionary)):
            labels = self._members_of_nodes(column, rewritten, told)
        else:
            labels = self._members_of_groups(column, rewritten) if ladder is None else _members_of_labels(ladder)
        return {
            "name": name,
            "kind": column.kind,
            "role": "quasi-identifier",
            "how": self._describe_coarsening(name, ladder)
            + self._describe_time_zone(name)
            + _describe_separator(column.separator)
            + self._describe_changed_dates(name),
            "cells": self._count_cell_forms(column, rewritten),
            **({"labels": labels} if labels else {}),
        }

    def _describe_kept_column(self, name: str) -> dict[str, Any]:
        """Describe a column that is not a quasi-identifier."""
        if self.edition.pseudonyms and name in self.edition.pseudonyms.columns:
            how = "a new pseudonym for every record" if name in self.edition.pseudonyms.fresh else "keyed pseudonyms"
            return {"kind": "text", "role": "identifier", "how": f"{how} instead of its cells"}
        spec = self.claim.specs.get(name)
        kind = {"kind": spec.kind} if spec is not None and spec.kind else {}
        starred = (
            "; `*` where a record was suppressed" + self._describe_time_zone(name)
            if name in self.edition.starred
            else ""
        )
        role = "sensitive" if name in self.claim.sensitive else "other"
        separator = self._find_separator(name)
        rounding = self.claim.rounded.get(name)
        how = "kept as it is" if separator is None else "kept"
        how = how if rounding is None else f"rounded: {rounding.describe()}"
        entries = {} if rounding is None else {"rounding": rounding.to_dict()}
        return {**kind, "role": role, "how": f"{how}{starred}{_describe_separator(separator)}", **entries}

    def _describe_bound(self, name: str, bounded: str) -> dict[str, str]:
        """Describe a column that holds the bounds of the cells of another."""
        kind = self.edition.rewritten[bounded].kind
        if name == bound_names(bounded)[0]:
            how = f"the smallest value that the cell of {bounded} admits; empty if the cell names none"
        elif kind in ("integer", "date"):
            how = f"the largest value that the cell of {bounded} admits; empty if the cell names none"
        else:
            how = (
                f"the largest value that the cell of {bounded} admits, or the limit that its values stay below; empty "
                "if the cell names none"
            )
        return {"kind": kind, "role": "bound", "how": how}

    def _find_separator(self, name: str) -> str | None:
        """Return the separator of the items of a kept column; None if its cells are not sets."""
        source = self.edition.source
        return source.column(name).separator if isinstance(source, Table) else source.spec(name).separator

    def _describe_time_zone(self, name: str) -> str:
        """Describe that moments with a time zone are published in UTC."""
        source = self.edition.source
        if isinstance(source, Table):
            return ""
        zone = zone_of(source.column(name))
        if "%z" in (source.spelling(name).format or ""):
            return "; moments are in UTC (the column's own cells give their offset)"
        return f"; moments are in UTC (the column's own time zone is {zone})" if zone not in (None, "UTC") else ""

    def _describe_changed_dates(self, name: str) -> str:
        """Describe how the dates of a column were changed before they were coarsened."""
        timelines = self.timelines
        return f"; {timelines.of_cells}" if timelines is not None and name in timelines.columns else ""

    @property
    def _weights(self) -> CountArray:
        """The records of each row of the source, 0 where it is not published."""
        source = self.edition.source
        counts = source.records
        if self.edition.rows is None:
            return counts
        published = np.zeros_like(counts)
        published[self.edition.rows] = counts[self.edition.rows]
        return published

    def _count_cell_forms(self, column: Column, rewritten: Rewritten) -> dict[str, int]:
        """Count the records by the form of their cell."""
        counted = np.bincount(rewritten.codes, weights=self._weights, minlength=len(rewritten.texts)).astype(np.int64)
        own, form_counts = set(map(cells.format_value, column.texts())), dict.fromkeys(_FORMS, 0)
        form_of = {"interval": "range", "label": "prefix"} if self._are_codes(column.name) else {}
        for text, n in zip(rewritten.texts, counted.tolist(), strict=True):
            form: str = "missing" if text is None else "value" if text in own else cells.parse_cell(text).form
            form = "label" if form == "value" and text not in own else form
            form_counts[form_of.get(form, form)] += n
        return {form: n for form, n in form_counts.items() if n}

    def _describe_coarsening(self, name: str, ladder: Any) -> str:
        if self._are_codes(name):
            return "codes, cut in their order: a cell is one of them, their first characters, or a range"
        if isinstance(ladder, Hierarchy):
            return _describe_hierarchy(ladder)
        is_round = self.style == "readable" and next(each for each in self.columns if each.name == name).is_measured
        return _ROUND_CUTS if is_round else _STYLES.get(self.style, self.style)

    def _are_codes(self, name: str) -> bool:
        ladder = self.claim.hierarchies.get(name)
        return isinstance(ladder.rule if isinstance(ladder, Hierarchy) else ladder, Codes)

    def _members_of_groups(self, column: Column, rewritten: Rewritten) -> dict[str, dict[str, Any]]:
        """Return the values covered by labels of groups made from the data, if k records of the group have them."""
        own = set(column.texts())
        label_codes = [
            code
            for code, text in enumerate(rewritten.texts)
            if text is not None and text not in own and cells.parse_cell(text).form == "value"
        ]
        if column.is_measured or not label_codes:
            return {}
        texts, groups = column.texts(), {}
        of_group = (
            None
            if self.count is None
            else self.count(column, _positions_in(rewritten.codes, label_codes), 1 + len(label_codes))
        )
        for position, code in enumerate(label_codes):
            n_by_value = (
                self._count_values(column, rewritten.codes == code) if of_group is None else of_group[position + 1]
            )
            is_common = n_by_value >= self._min_people
            groups[str(rewritten.texts[code])] = {
                "covers": [texts[i] for i in np.flatnonzero(is_common)],
                "n_rare": int(((n_by_value > 0) & ~is_common).sum()),
            }
        return groups

    def _members_of_nodes(self, column: Column, rewritten: Rewritten, ladder: Hierarchy) -> dict[str, dict[str, Any]]:
        """Return the values covered by the published labels of a tree, as far as k people have them."""
        published = [cells.parse_cell(text) for text in rewritten.texts if text is not None]
        in_use = {*rewritten.texts, *(member for cell in published for member in cell.members)}
        # A batch that is published by the cells of an earlier release may lack some of its values.
        counts = dict(zip(column.texts(), self._count_values(column).tolist(), strict=True))
        n_by_value = np.array([counts.get(value, 0) for value in ladder.values])
        is_common, entries = n_by_value >= self._min_people, {}
        for level in range(1, ladder.n_levels - 1):
            for node, label in enumerate(ladder.labels[level]):
                under = (ladder.level_codes[level] == node) & (n_by_value > 0)
                # A label that is a value of the column covers itself.
                if label in in_use and label not in entries and label not in ladder.values and under.any():
                    covers = [ladder.values[code] for code in np.flatnonzero(under & is_common)]
                    entries[label] = {"covers": covers, "n_rare": int((under & ~is_common).sum())}
        return entries

    def _count_values(self, column: Column, at: BoolArray | None = None) -> CountArray:
        """Count the published records, or their persons, that have each value of a quasi-identifier."""
        if self.count is not None:
            return np.asarray(self.count(column, np.zeros(self.edition.source.n_rows, dtype=np.int32), 1)[0])
        source, weights = self.edition.source, self._weights
        table = encode_table(source, [column.name], self.claim.specs)
        codes = table.codes[table.index(column.name)]
        is_here = (codes >= 0) & (weights > 0) & (True if at is None else at)
        person = self.claim.person
        if person is None:
            counted = np.bincount(codes[is_here], weights=weights[is_here], minlength=column.n_values)
            return np.asarray(counted.astype(np.int64))
        persons = persons_of(source, person)
        is_here &= persons >= 0
        pairs = np.unique(np.stack((codes[is_here], persons[is_here])), axis=1)
        return np.bincount(pairs[0], minlength=column.n_values)

    @property
    def _min_people(self) -> int:
        """How many people must share a value that is listed."""
        return least_of(self.claim)


def least_of(claim: ClaimOnColumns) -> int:
    """Return how many people must share a reported value, also if no model bounds class sizes."""
    return max(_MIN_PEOPLE_PER_VALUE, *(max(model.min_size, getattr(model, "k", 1)) for model in claim.models))


def _positions_in(codes: CodeArray, named: Sequence[int]) -> CodeArray:
    """Return the position (from 1) of each code among some; 0 if it is not among them."""
    places = np.zeros(max(int(codes.max(initial=0)), *named) + 1, dtype=np.int32)
    places[named] = np.arange(1, len(named) + 1)
    return np.asarray(places[codes])


def _members_of_labels(ladder: Any) -> dict[str, dict[str, Any]]:
    """Return the values covered by each label of a hierarchy that was not made from the data."""
    if not isinstance(ladder, Hierarchy):
        return {}
    if ladder.rule is not None:
        return {}
    full_ladder = ladder.whole or ladder
    # A label covers the labels below it. Members are keys of a dict, because each is met many times.
    members_by_label: dict[str, dict[str, None]] = {}
    for level in range(1, full_ladder.n_levels - 1):
        below = full_ladder.values if level == 1 else full_ladder.labels[level - 1]
        for node, parent in enumerate(full_ladder.parent(level - 1).tolist()):
            members_by_label.setdefault(full_ladder.labels[level][parent], {})[below[node]] = None
    covers = {label: [each for each in members if each != label] for label, members in members_by_label.items()}
    return {label: {"covers": each} for label, each in covers.items() if each and label != cells.SUPPRESSED}


def _describe_separator(separator: str | None) -> str:
    """Describe how sets are written."""
    return "" if separator is None else f"; values are sets: their items in order, {separator!r} between them"


def _describe_hierarchy(ladder: Hierarchy) -> str:
    """Describe the labels of a hierarchy."""
    rule = ladder.rule
    if isinstance(rule, Prefix):
        return f"the first {_join_with_or(rule.lengths)} characters; what follows is one `*`"
    if isinstance(rule, Dates):
        return "; ".join(_UNITS[level] for level in rule.levels)
    if isinstance(rule, Times):
        return f"intervals of {_join_with_or(rule.minutes)} minutes"
    if isinstance(rule, Intervals):
        return f"intervals {_join_with_or(rule.width)} wide"
    if isinstance(rule, Tails):
        ends = [f"below {rule.low}"] * (rule.low is not None) + [f"from {rule.high} on"] * (rule.high is not None)
        return f"one group {' and one '.join(ends)}; elsewhere values, round intervals or calendar units"
    if isinstance(rule, Dictionary):
        return f"{_join_with_or(rule.titles(0))}, as hushtable's dictionary of {rule.of} has them"
    return "labels of its hierarchy" if rule is None else _RULES.get(rule.name, rule.name)


def _join_with_or(words: Sequence[Any]) -> str:
    *first, last = map(str, words)
    return f"{', '.join(first)} or {last}" if first else last


def _render_markdown(entries: Mapping[str, Any]) -> str:
    columns = entries["columns"]
    forms = [form for form in _FORMS if any(form in column.get("cells", {}) for column in columns)]
    dated = _ROUND_DATES if any(column.get("kind") in ("date", "datetime") for column in columns) else ""
    parts = [
        translate(f"# Codebook of {_escape_markdown(entries['file'])}"),
        translate(
            f"{entries['n_records']:,} records, {len(columns)} columns; written by hushtable {entries['hushtable']}. "
            f"Verified from the file: {'; '.join(entries['holds'])}."
        ),
        _render_table(
            ("column", "kind", "role", "how it was coarsened", "cells"), [_column_row(column) for column in columns]
        ),
        translate("Quasi-identifiers have cells of these forms:"),
        "\n".join(translate(f"- {_FORMS[form]}{dated if form == 'interval' else ''}") for form in forms),
        *(part for column in columns if "labels" in column for part in _render_label_table(column, entries["file"])),
        *(part for column in columns if "values" in column for part in _render_value_table(column, entries["file"])),
    ]
    if "left_out" in entries:
        parts.append(translate(f"Left out: {', '.join(map(_escape_markdown, entries['left_out']))}."))
    return "\n\n".join(parts) + "\n"


def _column_row(column: Mapping[str, Any]) -> tuple[str, ...]:
    counted = column.get("cells", {})
    total = sum(counted.values())
    shares = ", ".join(
        f"{'`*`' if form == 'any' else translate(form)} {translate(_format_rate(n / total))}"
        for form, n in counted.items()
    )
    label = f": {_escape_markdown(column['label'])}" if column.get("label") else ""
    missing = ", ".join(map(_escape_markdown, column.get("missing_values", ())))
    hows = [column["how"], *([f"declared missing: {missing}"] if missing else [])]
    hows += ["cells that were not of its kind are missing"] if "odd_cells" in column else []
    kind, how = translate(column.get("kind", "as it came")), "; ".join(map(translate, hows))
    return f"{_escape_markdown(column['name'])}{label}", kind, translate(column["role"]), how, shares


def _format_rate(share: float) -> str:
    return "under 1 %" if share < 0.01 else f"{100 * share:.0f} %"


def _render_label_table(column: Mapping[str, Any], file: str) -> tuple[str, ...]:
    rows = [(_escape_markdown(label), _describe_coverage(each)) for label, each in column["labels"].items()]
    shown = f"## {_escape_markdown(column['name'])}", _render_table(("label", "covers"), rows[:_MAX_LABELS_SHOWN])
    if len(rows) <= _MAX_LABELS_SHOWN:
        return shown
    more, data = len(rows) - _MAX_LABELS_SHOWN, codebook_paths(Path(file))[1].name
    return *shown, translate(
        f"{more:,} more label{'s' * (more > 1)} of this column: {_escape_markdown(data)} lists all."
    )


def _render_value_table(column: Mapping[str, Any], file: str) -> tuple[str, ...]:
    rows = [(_escape_markdown(code), _escape_markdown(text)) for code, text in column["values"].items()]
    more, data = len(rows) - _MAX_LABELS_SHOWN, codebook_paths(Path(file))[1].name
    told = (translate(f"{more:,} more: {_escape_markdown(data)} lists all."),) if more > 0 else ()
    title = translate(f"## What the codes of {_escape_markdown(column['name'])} mean")
    return title, _render_table(("code", "meaning"), rows[:_MAX_LABELS_SHOWN]), *told


def _describe_coverage(entry: Mapping[str, Any]) -> str:
    covers, n_rare = entry["covers"], entry.get("n_rare", 0)
    parts = [*map(_escape_markdown, covers[:_MAX_VALUES_SHOWN])]
    if len(covers) > _MAX_VALUES_SHOWN:
        parts.append(translate(f"{len(covers) - _MAX_VALUES_SHOWN:,} more"))
    if n_rare:
        parts.append(translate(f"{n_rare:,} rare value{'s' * (n_rare > 1)}"))
    *first, last = parts or [translate(entry.get("words", "nothing"))]
    return f"{', '.join(first)} {translate('and')} {last}" if first else last


def _render_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [[*map(translate, titles)], ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _escape_markdown(text: str) -> str:
    """Escape a name or value, so that nothing in it is read as Markdown or HTML."""
    plain = "".join(sign if sign.isprintable() else " " for sign in text).replace("|", "\\|")
    if "`" not in plain:
        return f"`{plain or ' '}`"
    ticks = "`" * (max(map(len, re.findall("`+", plain))) + 1)
    return f"{ticks} {plain} {ticks}"
