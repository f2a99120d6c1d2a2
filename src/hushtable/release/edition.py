"""Edition: what is published of a source in memory, and the one way from it to a frame, a table and a file's cells."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, freeze_array
from hushtable.columns import (
    SUPPRESSED,
    Column,
    ColumnSpec,
    Kind,
    bound_names,
    build_bound_columns,
    cells,
    convert_texts,
    encode,
    format_numbers,
    format_values,
    from_texts,
    gather_labels,
    has_cells_of,
    integer_series,
    map_texts,
    suppress_rows,
    text_series,
    with_comma,
    with_point,
)
from hushtable.errors import ColumnError, InputError, VerificationError, quote_names
from hushtable.io import (
    Formulas,
    Frame,
    Variable,
    Writing,
    csv,
    frames,
    infer_measures,
    program_of,
    publish_variables,
    without_remnants,
)
from hushtable.release import pseudonyms
from hushtable.release.pseudonyms import Pseudonyms
from hushtable.search import check_memory
from hushtable.tables import Table

_DEFAULT_WRITING: Final = Writing()


@dataclass(frozen=True, slots=True, eq=False)
class Rewritten:
    """What a column publishes instead of its own cells.

    Attributes
    ----------
    codes : ndarray of int32, shape (n_rows,)
        Of every row of the source.
    texts : tuple of str or None
        What each code publishes; None is a missing cell.
    kind : Kind
        The kind of the values in ``texts``.
    are_values : bool
        Whether each text is one value, not a range or set of several. A column of values is typed, unless a ``*``
        is among its cells.
    """

    codes: CodeArray = field(repr=False)
    texts: tuple[str | None, ...] = field(repr=False)
    kind: Kind = "category"
    are_values: bool = False

    def __post_init__(self) -> None:
        freeze_array(self.codes)


@dataclass(frozen=True, slots=True, eq=False)
class Edition:
    """What is published of a source.

    Attributes
    ----------
    source : Frame or Table
    columns : tuple of str
        The source's columns that are published, in order.
    rewritten : mapping of column to Rewritten
        All other columns keep their cells.
    starred : mapping of column to ndarray of bool, shape (n_rows,)
        Rows in which a column that keeps its cells publishes ``*`` instead.
    rows : ndarray of int64, optional
        The rows of the source that are published, in order; all when not given.
    added : mapping of column to ndarray of int64, shape (n_published_rows,)
        Columns of whole numbers behind the others.
    pseudonyms : Pseudonyms, optional
        Columns whose cells become keyed pseudonyms.
    as_text : tuple of str
        Columns that are declared text: a file holds the texts of their values, whatever their type.
    labels : mapping of column to str
        What columns are in words, where somebody said so, besides what the source says of its variables.
    bounds : tuple of str
        Rewritten columns of numbers, dates or times, beside each of which stand the bounds of its cells.
    """

    source: Frame | Table = field(repr=False)
    columns: tuple[str, ...]
    rewritten: Mapping[str, Rewritten] = field(default_factory=dict, repr=False)
    starred: Mapping[str, BoolArray] = field(default_factory=dict, repr=False)
    rows: CountArray | None = field(default=None, repr=False)
    added: Mapping[str, CountArray] = field(default_factory=dict, repr=False)
    pseudonyms: Pseudonyms | None = None
    as_text: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    bounds: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.bounds:
            from hushtable.claims import check_bound_names

            check_bound_names(self.bounds, self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """The published columns, those of bounds each behind its own."""
        return tuple(
            each for name in self.columns for each in (name, *(bound_names(name) if name in self.bounds else ()))
        )

    @property
    def _kinds_of_bounds(self) -> dict[str, Kind]:
        """The kinds of the columns that hold bounds."""
        return {each: self.rewritten[name].kind for name in self.bounds for each in bound_names(name)}

    def label(self, name: str) -> str:
        """Return the label of a column; empty if it has none."""
        return self.labels.get(name) or (self.source.label(name) if isinstance(self.source, Frame) else "")

    @property
    def native(self) -> Any:
        """The published table, of the kind that the source is; a dataframe has a row for every record."""
        if isinstance(self.source, Table):
            return self.table(self.source)
        frame = self.frame().without_declared(None)
        if frame.counts is not None:
            check_memory(
                16.0 * frame.n_records * len(frame.columns),
                f"a row for each of {frame.n_records} records",
                "write the release to a file, which holds less of it at a time.",
            )
        return frame.with_row_per_record().native

    def frame(self) -> Frame:
        """Return the published table as a frame, with nothing left of what is not in it.

        Its rows stand for as many records as those of the source do.
        """
        if isinstance(self.source, Table):
            return self.table(self.source).frame()
        frame = self.source.select(self.columns)
        kept: Any = slice(None) if self.rows is None else self.rows
        frame = frame if self.rows is None else frame.take(self.rows)
        columns = {name: _publish_cells(each, kept) for name, each in self.rewritten.items()}
        for name, stars in self.starred.items():
            columns[name] = suppress_rows(frame.column(name), stars[kept], name)
        for name in self.bounds:
            rewritten = self.rewritten[name]
            columns |= build_bound_columns(name, rewritten.texts, rewritten.kind, rewritten.codes[kept])
        added = {name: integer_series(name, numbers) for name, numbers in self.added.items()}
        frame = frame.with_columns({**columns, **added})
        frame = frame.select((*self.names, *added)) if self.bounds else frame
        # Specs of the source's cells do not describe the published ones.
        frame = replace(frame, specs={name: spec for name, spec in frame.specs.items() if name not in self.rewritten})
        # A row of several records would give them one fresh pseudonym, and so link them: one row for each record.
        frame = frame.with_row_per_record() if self.pseudonyms and self.pseudonyms.fresh else frame
        frame = pseudonyms.pseudonymize(frame, self.pseudonyms) if self.pseudonyms else frame
        frame = without_remnants(frame, rows_are_gone=self.rows is not None)
        return replace(frame, variables=self._publish_variables(frame)) if frame.variables or self.labels else frame

    def _publish_variables(self, frame: Frame) -> Mapping[str, Variable]:
        """Return the variables that a file of a statistics program may hold of the published columns."""
        forms = {
            name: {_cell_form(text) for text in each.texts if text is not None} for name, each in self.rewritten.items()
        }
        forms |= {name: {"any"} for name in self.starred}
        forms |= {name: set() for name in (self.pseudonyms.columns if self.pseudonyms else ())}
        labelled = {
            name: replace(frame.variables.get(name, Variable()), label=text) for name, text in self.labels.items()
        }
        known = {name: each for name, each in {**frame.variables, **labelled}.items() if name in frame.columns}
        return publish_variables(known, frame.column, forms)

    def select(self, names: Sequence[str]) -> Edition:
        """Return the edition of some of the published columns."""
        return replace(
            self,
            columns=tuple(names),
            rewritten={name: each for name, each in self.rewritten.items() if name in names},
            starred={name: each for name, each in self.starred.items() if name in names},
            as_text=tuple(name for name in self.as_text if name in names),
            bounds=tuple(name for name in self.bounds if name in names),
        )

    def table(self, source: Table) -> Table:
        """Return the published table, encoded: rewritten columns are categories, or typed if their cells are values."""
        columns, codes = list(source.columns), source.codes.copy()
        for name, each in self.rewritten.items():
            used = np.unique(each.codes if self.rows is None else each.codes[self.rows])
            column, code_of_text = _encode_rewritten(name, each, used)
            columns[source.index(name)], codes[source.index(name)] = column, code_of_text[each.codes]
        for name, rows in self.starred.items():
            j, column = source.index(name), source.column(name)
            columns[j], code_of_text = from_texts(name, [*column.texts(), "", SUPPRESSED], "category")
            missing, star = column.n_values, column.n_values + 1
            codes[j] = code_of_text[np.where(rows, star, np.where(codes[j] < 0, missing, codes[j]))]
        table = self._with_bounds(Table(tuple(columns), codes, source.counts))
        table = table if self.rows is None else table.take(self.rows)
        table = _with_numbers(table, self.added)
        table = table.with_row_per_record() if self.pseudonyms and self.pseudonyms.fresh else table
        table = pseudonyms.pseudonymize_table(table, self.pseudonyms) if self.pseudonyms else table
        return table.without_unused()

    def _with_bounds(self, table: Table) -> Table:
        """Return the published columns of a table with the bounds of their cells, encoded."""
        columns, codes = list(table.columns), [*table.codes]
        for name in self.bounds:
            rewritten = self.rewritten[name]
            bounds = build_bound_columns(name, rewritten.texts, rewritten.kind, rewritten.codes)
            for each, values in bounds.items():
                column, codes_of_rows = encode(values, ColumnSpec(rewritten.kind), is_typed=True, name=each)
                columns.append(column)
                codes.append(codes_of_rows)
        return Table(tuple(columns), np.array(codes, dtype=np.int32), table.counts).select(self.names)

    def check_kept(self, written: Frame, rows: CodeArray, comma_columns: Sequence[str], program: str | None) -> None:
        """Raise VerificationError if a kept column of a draft does not hold the source's cells in the given rows."""
        pseudonymized = self.pseudonyms.columns if self.pseudonyms else ()
        source_rows = self._rows_written()[rows]
        original = self.source if isinstance(self.source, Table) else self.source.without_declared(program)
        # By position: names may have been escaped, and the draft may have further columns behind.
        bounds = self._kinds_of_bounds
        for name, written_name in zip(self.names, written.columns, strict=False):
            if name in self.rewritten or name in pseudonymized or name in bounds:
                continue
            written_cells = written.column(written_name)
            # Text that the file typed is compared by the value that it spells; all else as it is.
            is_typed = original.is_text and written.text(written_name) is None if isinstance(original, Frame) else True
            column = original.column(name) if isinstance(original, Frame) and not is_typed else original.values(name)
            source_cells = column.gather(source_rows)
            if name in comma_columns:
                written_cells = written_cells.str.replace(",", ".", literal=True)
            starred = self.starred[name][source_rows] if name in self.starred else None
            if not has_cells_of(written_cells, source_cells, but=starred):
                raise VerificationError(
                    f"column {name!r} is kept as it is, but the written file would hold other cells; nothing is "
                    "written.",
                    hint="cast it to a type that the file has, such as microseconds, or write Parquet.",
                )

    def _rows_written(self) -> CountArray:
        """Return for each row of `frame` its row in the source."""
        counts = self.source.records
        rows = np.arange(self.source.n_rows) if self.rows is None else self.rows
        # A source with a population has rows of 0 records: they are not written.
        rows = rows[counts[rows] > 0]
        return np.repeat(rows, counts[rows]) if self.pseudonyms and self.pseudonyms.fresh else rows

    def build_file_frame(self, path: Path, writing: Writing = _DEFAULT_WRITING) -> tuple[Frame, tuple[str, ...]]:
        """Return the published table as a file holds it, and the columns whose numbers have decimal commas there.

        Raises
        ------
        InputError
            Labels have commas between digits, or cells are refused that a spreadsheet would run.
        """
        frame = self._type_for_file(path)
        comma_columns = self._find_number_columns(frame) if writing.decimal == "," else ()
        if frames.file_kind(path) != "csv":
            # Other kinds of files hold numbers themselves, without a decimal mark.
            comma_columns = tuple(name for name in comma_columns if frame.text(name) is not None)
        frame = _with_commas(frame, comma_columns) if comma_columns else frame
        if frames.file_kind(path) == "csv" and writing.formulas != "keep":
            frame = _without_formulas(frame, writing.formulas)
        return frame, comma_columns

    def _type_for_file(self, path: Path) -> Frame:
        """Return the published table as a kind of file holds it: as text, or with the source's text typed."""
        program = program_of(path)
        frame, texts = self.frame().without_declared(program), self.as_text
        if frames.file_kind(path) == "csv":
            texts = (
                *texts,
                *(name for name, each in self.rewritten.items() if each.are_values),
                *self._kinds_of_bounds,
            )
        frame = frame.with_columns({name: format_values(frame.column(name), name) for name in texts})
        if frames.file_kind(path) != "csv":
            hidden = self.pseudonyms.columns if self.pseudonyms else ()
            specs = {name: _spec_of(each.kind) for name, each in self.rewritten.items()}
            names = [name for name in frame.columns if name not in (*self.as_text, *hidden, *self._kinds_of_bounds)]
            names = names if frame.is_text else [name for name in names if name in self._columns_with_tags]
            frame = frame.with_types({name: specs.get(name) for name in names})
        return frame if program is None else replace(frame, variables=self._describe_measures(frame))

    @property
    def _columns_with_tags(self) -> tuple[str, ...]:
        """The kept columns of numbers that are text because of tagged missing values."""
        said = self._source_variables
        return tuple(name for name, each in said.items() if each.is_number and name not in self.rewritten)

    def _describe_measures(self, frame: Frame) -> Mapping[str, Variable]:
        """Return the columns' variables for a statistics program: from its own file, else by their kinds."""
        kinds: dict[str, str | None] = {name: spec.kind for name, spec in frame.specs.items()}
        kinds |= dict.fromkeys(self.as_text, "category")
        if isinstance(self.source, Table):
            kinds |= {column.name: column.kind for column in self.source.columns}
        kinds |= {name: each.kind for name, each in self.rewritten.items()} | self._kinds_of_bounds
        columns = {name: frame.column(name) for name in frame.columns}
        by_kind = infer_measures(columns, kinds)
        said = self._source_variables
        return by_kind | {
            name: each if name in said else replace(by_kind[name], label=each.label)
            for name, each in frame.variables.items()
        }

    @property
    def _source_variables(self) -> Mapping[str, Variable]:
        """The source's variables, as its file of a statistics program describes them."""
        return self.source.variables if isinstance(self.source, Frame) else {}

    def _find_number_columns(self, frame: Frame) -> tuple[str, ...]:
        """Return the columns whose numbers are not written as they came: rewritten ones, and floats."""
        text_columns = (*self.as_text, *(self.pseudonyms.columns if self.pseudonyms else ()))
        kinds = {name: each.kind for name, each in self.rewritten.items()} | self._kinds_of_bounds
        numbers = {name for name, kind in kinds.items() if kind in ("integer", "decimal")}
        return tuple(
            name
            for name in frame.columns
            if name in numbers or (name not in (*kinds, *self.added, *text_columns) and self._holds_floats(name))
        )

    def _holds_floats(self, name: str) -> bool:
        if isinstance(self.source, Table):
            return self.source.column(name).kind == "decimal"
        dtype = self.source.column(name).dtype
        return dtype.is_float() or dtype.is_decimal()


def _publish_cells(rewritten: Rewritten, rows: Any) -> Any:
    """Return the cells that a column publishes in some rows."""
    texts = gather_labels(rewritten.texts, rewritten.codes[rows])
    return convert_texts(texts, _spec_of(rewritten.kind)) if rewritten.are_values else texts


def _spec_of(kind: Kind) -> ColumnSpec:
    """Return the spec of published values: a decimal point, ISO dates."""
    return ColumnSpec(kind, decimal="." if kind in ("integer", "decimal") else None)


def _encode_rewritten(name: str, rewritten: Rewritten, used: CodeArray) -> tuple[Column, CodeArray]:
    """Encode what a column publishes; it is typed if no text in use is a star. Return also each text's code."""
    # A missing cell becomes the empty text, which is encoded as missing.
    texts = [text or "" for text in rewritten.texts]
    if rewritten.are_values and SUPPRESSED not in [texts[code] for code in used]:
        # Text without a value of the kind, such as a year after 9999, stays text.
        with contextlib.suppress(ColumnError):
            return from_texts(name, ["" if text == SUPPRESSED else text for text in texts], rewritten.kind)
    return from_texts(name, texts, "category")


def _with_commas(frame: Frame, names: tuple[str, ...]) -> Frame:
    """Return a frame with decimal commas in some columns of numbers."""

    def to_comma(cell: str) -> str:
        if with_point(with_comma(cell)) != cell:
            raise InputError(
                "a column of numbers has labels in which a comma stands between two digits.",
                hint="with decimal commas nobody could tell the two: rename the labels, or keep the decimal point.",
            )
        return with_comma(cell)

    texts = {name: format_numbers(frame.column(name), name) for name in names}
    return frame.with_columns({name: map_texts(each, to_comma, name) for name, each in texts.items()})


def _without_formulas(frame: Frame, given: Formulas) -> Frame:
    """Escape, or refuse, cells and names of a table that a spreadsheet would run."""
    columns = {name: frame.column(name) for name in frame.columns}
    if given == "refuse":
        found = csv.count_formulas(columns, frame.counts)
        if found:
            raise InputError(
                f"columns {quote_names(found)} hold {sum(found.values()):,} cells or names that a spreadsheet would "
                "run: they begin with =, +, - or @ and are no numbers.",
                hint="write with formulas='escape' (`write: {formulas: escape}` in a policy), or change them.",
            )
        return frame
    frame = frame.with_columns({name: csv.escape_formulas(each) for name, each in columns.items()})
    names = csv.escape_formulas(text_series("", frame.columns)).to_list()
    return replace(frame, data=frame.data.rename(dict(zip(frame.columns, names, strict=True))))


def _cell_form(text: str) -> str:
    """Return the form of a published cell; a number with its last digits starred counts as a range."""
    cell = cells.parse_cell(text)
    return "range" if cell.ends is not None and str(cell.ends.low).endswith(SUPPRESSED) else cell.form


def _with_numbers(table: Table, added: Mapping[str, CountArray]) -> Table:
    columns, codes = list(table.columns), [*table.codes]
    for name, numbers in added.items():
        values, positions = np.unique(numbers, return_inverse=True)
        columns.append(Column(name, "integer", values))
        codes.append(positions.astype(np.int32))
    return Table(tuple(columns), np.array(codes, dtype=np.int32), table.counts) if added else table
