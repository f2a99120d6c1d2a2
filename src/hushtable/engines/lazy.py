"""Lazy frames: collapsed by their own engine, and published by it."""

from __future__ import annotations

import contextlib
import functools
import operator
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import narwhals as nw
import numpy as np
import polars as pl

from hushtable._types import CodeArray, CountArray
from hushtable.columns import Column, ColumnSpec, without_categories
from hushtable.engines.backends import MARK, UNSEEN_MESSAGE, Duckdb, Engine, Polars, RecordCells
from hushtable.errors import (
    ColumnError,
    HushError,
    InputError,
    TooManyRowsError,
    check_columns,
    names_in,
    quote_names,
)
from hushtable.io import Dialect, Frame, frames
from hushtable.release import PublishedCells, declare_odd_cells_missing, pseudonymize
from hushtable.search import budget
from hushtable.tables import Table, count_by_value, encode_table

if TYPE_CHECKING:
    from hushtable.columns import KeptRounding
    from hushtable.engines.spark import Executors
    from hushtable.release import Origin

LOOKED_AT: Final = 100_000
"""Rows in which roles and direct identifiers are looked for, where not all are in memory."""

_MOST_ROWS: Final = 20_000_000
_BYTES_PER_ROW: Final = 250  # of a distinct row, in the search for classes
_COUNT_COLUMN: Final = "n"

_TYPES_WITHOUT_GROUPS: Final = (nw.List, nw.Struct, nw.Array, nw.Object, nw.Binary, nw.Duration)
_LAZY_CHECKS: Final = (
    nw.dependencies.is_polars_lazyframe,
    nw.dependencies.is_duckdb_relation,
    nw.dependencies.is_pyspark_dataframe,
    nw.dependencies.is_pyspark_connect_dataframe,
)
_CATEGORIES: Final = (nw.Categorical, nw.Enum)

_CHANGE_HINT: Final = (
    "write it to a file or a table first and pass that. Limits, samples and random numbers in a query \
give other rows each time it runs, and a table may change."
)
_COARSEN_HINT: Final = (
    "coarsen columns first (a grid for numbers, months for days, a level of a hierarchy), leave columns \
out, or use a machine with more memory. Or write the query as Parquet files and pass their folder: its records are \
cut one by one."
)


def _drop_missing_texts(name: str, dtype: Any, texts: Sequence[str]) -> nw.Expr:
    """Return a column with declared texts as missing cells, as `columns.without_declared` does."""
    column = nw.col(name)
    if dtype.is_numeric():
        numbers = pl.Series(texts, dtype=pl.String).str.strip_chars().cast(pl.Float64, strict=False).drop_nulls()
        is_missing = column.cast(nw.Float64).is_in(numbers.to_list())
    elif isinstance(dtype, (nw.Date, nw.Datetime)):
        days = pl.Series(texts, dtype=pl.String).str.strip_chars().str.to_date("%Y-%m-%d", strict=False).drop_nulls()
        is_missing = column.is_in(days.to_list())
    elif isinstance(dtype, (nw.String, nw.Categorical, nw.Enum)):
        is_missing = column.cast(nw.String).str.strip_chars().is_in([text.strip() for text in texts])
    else:
        return column
    return nw.when(~is_missing).then(column).alias(name)


@dataclass(frozen=True, slots=True, eq=False)
class Lazy:
    """A lazy frame of an engine that is asked for little: some rows, distinct rows with counts, what is published.

    Inside, columns are named by their places: no name means anything to an engine.

    Attributes
    ----------
    data : narwhals.LazyFrame
        Its columns are ``c0``, ``c1`` and so on.
    names : tuple of str
        The names that they have outside.
    engine : Engine
    session : object, optional
        A DuckDB connection.
    passes : list of int
        How many records each pass over the input saw.
    dialect : Dialect
        What was said of all cells.
    specs : mapping of column to ColumnSpec
        What was said of how columns are read.
    record_cells : RecordCells, optional
        What publishes every record by its own cells, where the distinct rows are too many to be joined.
    files : tuple of path
        What it was made from, where an engine was given files to read.
    """

    data: nw.LazyFrame[Any] = field(repr=False)
    names: tuple[str, ...]
    engine: Engine = field(repr=False)
    session: Any = field(default=None, repr=False)
    passes: list[int] = field(default_factory=list, repr=False)
    dialect: Dialect = field(default_factory=Dialect, repr=False)
    specs: Mapping[str, ColumnSpec] = field(default_factory=dict, repr=False)
    record_cells: RecordCells | None = field(default=None, repr=False)
    files: tuple[Path, ...] = field(default=(), repr=False)

    groups_by_itself: ClassVar[bool] = True
    draws_pseudonyms: ClassVar[bool] = False  # an engine has no randomness that tells nothing

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that no output may replace; unknown for a frame that the caller made."""
        return self.files

    @property
    def engine_name(self) -> str:
        """The engine's name: "polars", "duckdb" or "spark"."""
        return self.engine.name.lower()

    @property
    def writes_by_itself(self) -> bool:
        """Spark does, whose executors hold the records."""
        return self.engine.writes

    @property
    def is_row_by_row(self) -> bool:
        """Whether every record is published by its own cells."""
        return self.record_cells is not None

    @property
    def margins(self) -> Frame | None:
        """How frequent the cells of the judged columns are, if records are published one by one."""
        return None if self.record_cells is None else self.record_cells.margins

    @property
    def n_records(self) -> int:
        """How many records the passes so far saw."""
        return self.passes[0] if self.passes else 0

    def head(self, n_rows: int = LOOKED_AT) -> Frame:
        """Return some rows; the first ones if the engine has an order."""
        with _translate_errors(self.engine):
            rows = self.engine.pull_rows(self.data.head(n_rows).to_native())
        return self._to_frame(_rename_columns(rows, self.names))

    def with_specs(self, specs: Mapping[str, ColumnSpec]) -> Lazy:
        """Return the frame with further specs; declared missing values become missing cells."""
        named = declare_odd_cells_missing(self, specs)
        said = {name: named.get(name, ColumnSpec()).with_defaults_from(self.dialect.spec) for name in self.names}
        missing = {self.names.index(name): spec.missing_values for name, spec in said.items() if spec.missing_values}
        data = self.data
        if missing:
            dtypes = data.collect_schema()
            data = data.with_columns(
                *(_drop_missing_texts(f"c{i}", dtypes[f"c{i}"], texts) for i, texts in missing.items())
            )
        return replace(self, data=data, specs={**self.specs, **specs})

    def with_rounding(self, roundings: Mapping[str, KeptRounding]) -> Lazy:
        """Return the frame with rounded columns; their engine rounds them, in every query."""
        if not roundings:
            return self
        from hushtable.columns import check_rounding, round_expression

        dtypes, new = self.data.collect_schema(), []
        for name, rounding in roundings.items():
            place = f"c{self.names.index(name)}"
            dtype = dtypes[place]
            if not dtype.is_numeric():
                raise ColumnError(
                    f"column {name!r} is rounded, and the lazy frame holds no numbers in it.",
                    hint="cast it to numbers in the query.",
                )
            check_rounding(name, rounding, self.specs.get(name, ColumnSpec()).with_defaults_from(self.dialect.spec))
            rounded = round_expression(nw.col(place).cast(nw.Float64), rounding)
            new.append((rounded.cast(dtype) if dtype.is_integer() else rounded).alias(place))
        return replace(self, data=self.data.with_columns(*new))

    def collapse(
        self,
        names: Sequence[str],
        cells: PublishedCells | None = None,
        *,
        most_rows: int | None = None,
        as_written: Collection[str] = (),
    ) -> Frame:
        """Return the distinct rows of some columns, sorted, with how many records each stands for.

        Parameters
        ----------
        names : sequence of str
        cells : PublishedCells, optional
            Then of what is published, without the records that are left out.
        most_rows : int, optional
            How many distinct rows are too many, 20,000,000 when not given.
        as_written : collection of str
            Columns whose floats become text, because a reader of the file tells 0 from -0, and NaN from a missing cell.

        Raises
        ------
        InputError
            There are too many distinct rows to hold; the input changed since an earlier pass; the engine failed.
        ColumnError
            A column does not exist, or its type cannot be grouped.

        Notes
        -----
        Two passes over the data: the first estimates how many distinct rows there are, the second groups.
        """
        names = names_in(names, "columns")
        check_columns(names, self.names if cells is None else cells.columns, "columns")
        if not names:
            raise InputError("no column to collapse to was named.", hint="name those that are judged.")
        with _translate_errors(self.engine):
            return self._collapse_rows(names, cells, _MOST_ROWS if most_rows is None else most_rows, as_written)

    def publish_lazily(self, cells: PublishedCells) -> Any:
        """Return what is published, as a lazy frame of the same engine; a record that meets no row is left out.

        Kept columns travel as they are; of categories, where records are left out, only the text.
        """
        with _translate_errors(self.engine):
            data = self._publish_records(cells, cells.columns).filter(nw.col(MARK))
            if not cells.is_published.all():
                # As text: a categorical type would hold all categories, also unpublished ones.
                told = {name: (dtype, _type_without_categories(dtype)) for name, dtype in data.collect_schema().items()}
                data = data.with_columns(nw.col(name).cast(new) for name, (old, new) in told.items() if old != new)
            return self.engine.rename_columns(data.drop(MARK).to_native(), cells.columns)

    def publish_batches(self, cells: PublishedCells) -> Iterator[Any]:
        """Return what is published as tables of pyarrow, some records at a time, in no order that means anything.

        Raises
        ------
        InputError
            A record meets no row, the input changed since an earlier pass, or the engine failed.
        """
        n_records = 0
        with _translate_errors(self.engine):
            data = self._publish_records(cells, cells.columns)
            for batch in self.engine.pull_batches(data.to_native()):
                n_records += batch.height
                _check_marks(batch[MARK].null_count())
                rows = pl.DataFrame([_cells_without_categories(each) for each in batch.filter(batch[MARK]).drop(MARK)])
                yield _rename_columns(rows, cells.columns).to_arrow()
        self._note_pass(n_records)

    def raw_batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Return some columns of all records, as `publish_batches` does."""
        n_records = 0
        with _translate_errors(self.engine):
            data = self.data.select(*(f"c{self.names.index(name)}" for name in names))
            for batch in self.engine.pull_batches(data.to_native()):
                n_records += batch.height
                yield _rename_columns(
                    pl.DataFrame([_cells_without_categories(each) for each in batch]), names
                ).to_arrow()
        self._note_pass(n_records)

    def open_draft(self, path: Path, dialect: Dialect | None) -> Origin:
        """Open what was written of it."""
        from hushtable.engines.files import Files

        return Files.open(path, dialect)

    def check_unchanged(self) -> None:
        """Do nothing: every pass counts the records instead."""

    def count_by_record(
        self, column: Column, group_of_row: CodeArray, n_groups: int, *, specs: Mapping[str, ColumnSpec]
    ) -> CountArray:
        """Count the records that have every value of a column, where that is known here.

        The records are not here: of a single group their margins tell, of several nothing is counted, so that no value
        is listed.
        """
        found = np.zeros((n_groups, column.n_values), dtype=np.int64)
        if n_groups == 1 and self.margins is not None:
            table = encode_table(self.margins.with_specs(specs), [column.name], specs)
            found[0] = count_by_value(table, column.name)[1:]
        return found

    def write(self, cells: PublishedCells, folder: Path, n_parts: int | None = None) -> int:
        """Let Spark write what is published; see `hushtable.engines.spark.write`. Return how many records that is.

        Raises
        ------
        InputError
            A record meets no row, the input changed since an earlier pass, or Spark failed; or it is another engine.
        """
        if not self.engine.writes:
            raise InputError(f"{self.engine.name} does not write by itself.", hint="take its batches.")
        n_expected = self.passes[0] if self.passes else 0
        spark = import_module("hushtable.engines.spark")
        with _translate_errors(self.engine):
            data = self._publish_records(cells, cells.columns)
            n_written: int = spark.write(data.to_native(), cells.columns, folder, n_parts, n_expected)
            gone = data.filter(~nw.col(MARK)).select(nw.len())
            n_left_out = 0 if cells.is_published.all() else self.engine.pull_rows(gone.to_native()).item()
        self._note_pass(n_written + n_left_out)
        return n_written

    @contextlib.contextmanager
    def spill(self, names: Sequence[str]) -> Iterator[tuple[list[Path], Executors]]:
        """Let Spark write some columns to files for the time being; return them, and who works on them.

        The folder lies where temporary files do, which has to be a place that all executors see.

        Raises
        ------
        InputError
            Spark failed, whatever was asked of it in the meantime; or it is another engine.
        """
        spark = import_module("hushtable.engines.spark")
        data = self.data.select(*(nw.col(f"c{self.names.index(name)}") for name in names))
        with tempfile.TemporaryDirectory() as folder, _translate_errors(self.engine):
            native = self.engine.rename_columns(data.to_native(), names)
            spark.spill_rows(native, Path(folder))
            yield sorted(Path(folder).iterdir()), spark.Executors(native.sparkSession)

    def with_record_cells(self, cells: RecordCells) -> Lazy:
        """Return the frame with ``record_cells``, which publish each record by its own cells."""
        self._note_pass(cells.n_records)
        return replace(self, record_cells=cells)

    def _walk_records(self, walked: RecordCells, cells: PublishedCells, names: Sequence[str]) -> nw.LazyFrame[Any]:
        """Return what all records publish in some columns, found by their own cells, and `MARK` for all."""
        engine_names = {name: f"c{self.names.index(name)}" for name in (*walked.names, *names) if name in self.names}
        published = [name for name in names if name in cells.published.columns]
        if not published:
            kept = (nw.col(engine_names[name]).alias(f"p{i}") for i, name in enumerate(names))
            return self.data.select(*kept, nw.lit(True).alias(MARK))
        spark = import_module("hushtable.engines.spark")
        # Bounds of cells are published, and are no columns of the frame.
        outputs = [
            (f"p{i}", name if name in published else None, engine_names.get(name, "")) for i, name in enumerate(names)
        ]
        rows = pl.DataFrame([each for each in cells.published if each.name in published])
        publishing = walked.with_cells_of(rows)
        judged = [engine_names[name] for name in walked.names]
        data = self.data.select(*dict.fromkeys((*judged, *engine_names.values())))
        frame: nw.LazyFrame[Any] = nw.from_native(spark.walk_rows(data.to_native(), publishing, judged, outputs))
        return frame

    def _collapse_rows(
        self, names: Sequence[str], cells: PublishedCells | None, most_rows: int, as_written: Collection[str]
    ) -> Frame:
        if cells is None:
            data = self.data.select(*(f"c{self.names.index(name)}" for name in names))
        else:
            data = self._publish_records(cells, names)
        typed = zip(names, _groupable_types(data, names).items(), strict=True)
        keys = [
            nw.col(place).cast(nw.String) if dtype.is_float() and name in as_written else _grouping_key(place, dtype)
            for name, (place, dtype) in typed
        ]
        if cells is None or not {*names} <= {*cells.published.columns}:
            self._check_rows(data.select(*keys).to_native(), names, most_rows)
        data = data.select(*keys, *([MARK] if cells else []))
        grouped = data.group_by(*data.collect_schema().names()).agg(nw.len().alias(_COUNT_COLUMN))
        rows = self.engine.pull_rows(grouped.to_native()).cast({_COUNT_COLUMN: pl.Int64})
        self._note_pass(int(rows[_COUNT_COLUMN].sum()))
        if cells is not None:
            _check_marks(int(rows.filter(rows[MARK].is_null())[_COUNT_COLUMN].sum()))
            rows = rows.filter(rows[MARK]).drop(MARK)
        rows = rows.sort(rows.columns)
        return replace(
            self._to_frame(_rename_columns(rows.drop(_COUNT_COLUMN), names)), counts=rows[_COUNT_COLUMN].to_numpy()
        )

    def _to_frame(self, rows: pl.DataFrame) -> Frame:
        return frames.read(rows, dialect=self.dialect).with_specs(self.specs)

    def _publish_records(self, cells: PublishedCells, names: Sequence[str]) -> nw.LazyFrame[Any]:
        """Return the published columns of all records as ``p0``, ``p1``, ..., and `MARK`: whether each is published."""
        if self.record_cells is not None:
            return self._walk_records(self.record_cells, cells, names)
        judged, others = _map_pseudonyms(self, cells, names)
        maps = [(cells.keys, judged, pl.Series(cells.is_published)), *others]
        source = {name: f"c{self.names.index(name)}" for name in names if name in self.names}
        marks = []
        data = self.data
        for number, (keys, rows, is_published) in enumerate(maps):
            new = rows[:, [place for place, name in enumerate(rows.columns) if name in names]]
            data = self._join_map(data, number, keys, new, is_published)
            source |= {name: f"v{number}_{place}" for place, name in enumerate(new.columns)}
            marks.append(nw.col(f"m{number}"))
        mark = functools.reduce(operator.and_, marks).alias(MARK)
        return data.select(*(nw.col(source[name]).alias(f"p{i}") for i, name in enumerate(names)), mark)

    def _join_map(
        self, data: nw.LazyFrame[Any], number: int, keys: pl.DataFrame, new: pl.DataFrame, is_published: pl.Series
    ) -> nw.LazyFrame[Any]:
        """Join all records to the row of a map that has their keys."""
        schema = data.collect_schema()
        key_columns = {f"k{number}_{place}": f"c{self.names.index(name)}" for place, name in enumerate(keys.columns)}
        left = data.with_columns(*(_join_key(name, schema[name]).alias(key) for key, name in key_columns.items()))
        map_keys = [f"r{number}_{place}" for place in range(keys.width)]
        values = [f"v{number}_{place}" for place in range(new.width)]
        table = pl.DataFrame(
            [
                *(_cells_without_categories(each).alias(name) for each, name in zip(keys, map_keys, strict=True)),
                *(_cells_without_categories(each).alias(name) for each, name in zip(new, values, strict=True)),
                is_published.alias(f"m{number}"),
            ]
        )
        right = self.engine.bring_rows(self.data.to_native(), table, self.session)
        joined = self.engine.join_rows(left.to_native(), right, list(zip(key_columns, map_keys, strict=True)))
        frame: nw.LazyFrame[Any] = nw.from_native(joined)
        return frame

    def _check_rows(self, frame: Any, names: Sequence[str], most_rows: int) -> None:
        """Raise InputError if there are too many distinct rows for memory, before any are pulled."""
        n_rows, n_records = self.engine.estimate_rows(frame)
        self._note_pass(n_records)
        needed, free = float(n_rows) * _BYTES_PER_ROW, budget.free_memory()
        if n_rows <= most_rows and (free is None or needed <= free):
            return
        order = sorted(zip(self.engine.estimate_widths(frame), names, strict=True), reverse=True)[:3]
        widest = ", ".join(f"{name!r} (about {n_values:,} values)" for n_values, name in order)
        what = f"about {n_rows:,} distinct rows of {len(names)} columns, the widest {widest},"
        if n_rows > most_rows:
            raise TooManyRowsError(f"{what} are more than the {most_rows:,} that are collapsed to.", hint=_COARSEN_HINT)
        budget.check_memory(needed, what, _COARSEN_HINT)

    def _note_pass(self, n_records: int) -> None:
        """Record how many records a pass saw; raise InputError if an earlier pass saw another number."""
        if self.passes and self.passes[0] != n_records:
            raise InputError(
                f"the input changed while it was read: {self.passes[0]:,} records, then {n_records:,}.",
                hint=_CHANGE_HINT,
            )
        self.passes.append(n_records)


def is_lazy(data: Any) -> bool:
    """Tell whether an object is a lazy frame, without importing a library."""
    # By its class: narwhals refuses to open some dataframes, such as those with doubled columns.
    return isinstance(data, nw.LazyFrame) or any(is_one(data) for is_one in _LAZY_CHECKS)


def orders_of(schema: pl.Schema) -> dict[str, ColumnSpec]:
    """Return the order of each enumeration in Parquet files, which Spark would read as text."""
    kept = {name: dtype.categories.to_list() for name, dtype in schema.items() if isinstance(dtype, pl.Enum)}
    return {name: ColumnSpec("ordered", tuple(order)) for name, order in kept.items() if order}


def open_lazy(data: Any, session: Any = None, *, dialect: Dialect | None = None) -> Lazy:
    """Open a lazy frame as an origin of rows.

    Parameters
    ----------
    data : polars.LazyFrame, duckdb.DuckDBPyRelation or pyspark.sql.DataFrame
    session : duckdb.DuckDBPyConnection, optional
        The connection that made a relation, if it was not the default one.
    dialect : Dialect, optional
        What is said of all cells, such as the texts that mean a missing one.

    Raises
    ------
    InputError
        It is no such frame, or a relation of another connection.
    ColumnError
        Column names are empty or doubled.
    """
    try:
        frame = nw.from_native(data, pass_through=True)
    except nw.exceptions.DuplicateError:
        raise ColumnError("the frame has columns of the same name.", hint="rename them.") from None
    engine = _find_engine(frame.implementation) if isinstance(frame, nw.LazyFrame) else None
    if engine is None:
        raise InputError(
            f"cannot ask an object of type {type(data).__name__} for its distinct rows.",
            hint="pass a polars LazyFrame, a DuckDB relation or a PySpark DataFrame (not of Spark Connect).",
        )
    native = frame.to_native()
    with _translate_errors(engine):
        names = tuple(native.collect_schema().names() if isinstance(engine, Polars) else native.columns)
        doubled = sorted({name for name in names if names.count(name) > 1})
        if doubled:
            raise ColumnError(f"the frame has several columns {quote_names(doubled)}.", hint="rename them.")
        renamed = engine.rename_columns(native, [f"c{place}" for place in range(len(names))])
        # Otherwise a relation of another connection would fail only after the search.
        engine.bring_rows(renamed, pl.DataFrame({"r": [0]}), session)
    return Lazy(nw.from_native(renamed), names, engine, session, dialect=dialect or Dialect())


def collapse(data: Any, columns: Sequence[str], *, session: Any = None) -> Table:
    """Collapse a lazy frame to the distinct rows of some columns, by its own engine.

    Parameters
    ----------
    data : polars.LazyFrame, duckdb.DuckDBPyRelation or pyspark.sql.DataFrame
    columns : sequence of str
        Those that will be judged: quasi-identifiers, sensitive columns, a person's.
    session : duckdb.DuckDBPyConnection, optional
        The connection that made a relation, if it was not the default one.

    Returns
    -------
    Table
        A row for each combination of cells that occurs, counts of records with it.

    Raises
    ------
    InputError
        There are too many distinct rows to hold, the input changed while it was read, or the engine failed.
    ColumnError
        A column does not exist, or its type cannot be coded.

    Notes
    -----
    The engine runs the query twice: the first pass estimates how many distinct rows there are, and nothing is pulled
    where they are too many; the second groups and counts. Memory follows the distinct rows.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.LazyFrame({"age": [34, 7, 34], "sex": ["f", None, "f"], "note": ["a", "b", "c"]})
    >>> table = collapse(people, ["age", "sex"])
    >>> table, table.counts.tolist()
    (Table(3 records in 2 rows, columns 'age', 'sex'), [1, 2])
    """
    return Table.encode(open_lazy(data, session).collapse(columns))


def _find_engine(implementation: nw.Implementation) -> Engine | None:
    if implementation.is_polars():
        return Polars()
    if implementation.is_duckdb():
        return Duckdb()
    if implementation.is_pyspark():
        spark: Engine = import_module("hushtable.engines.spark").Spark()
        return spark
    return None


@contextlib.contextmanager
def _translate_errors(engine: Engine) -> Iterator[None]:
    """Turn an engine's errors, which may quote cells, into InputError that names only their type."""
    try:
        yield
    except HushError:
        raise
    except Exception as error:
        if UNSEEN_MESSAGE in str(error):
            raise _unseen_record_error() from None
        hint = "run the query on its own: what it says is not repeated here, because it may quote cells."
        raise InputError(f"{engine.name} failed: {type(error).__name__}.", hint=hint) from None


def _check_marks(n_missing: int) -> None:
    if n_missing:
        raise _unseen_record_error(n_missing)


def _unseen_record_error(n_records: int | None = None) -> InputError:
    some = "some records hold" if n_records is None else f"{n_records:,} records or more hold"
    return InputError(f"the input changed while it was read: {some} what no earlier pass saw.", hint=_CHANGE_HINT)


def _groupable_types(data: nw.LazyFrame[Any], names: Sequence[str]) -> dict[str, nw.dtypes.DType]:
    """Return the types of columns; raise an error if one cannot be grouped."""
    schema = {name: dtype for name, dtype in data.collect_schema().items() if name != MARK}
    odd = [name for name, dtype in zip(names, schema.values(), strict=True) if isinstance(dtype, _TYPES_WITHOUT_GROUPS)]
    if odd:
        hint = "turn them into text, numbers, dates, times or datetimes, or leave them out."
        raise ColumnError(f"columns {quote_names(odd)} have types that cannot be grouped.", hint=hint)
    return schema


def _grouping_key(name: str, dtype: Any) -> nw.Expr:
    """Return a column to group by: NaN becomes missing, and -0 becomes 0."""
    column = nw.col(name)
    if dtype.is_float():
        return nw.when(~column.is_nan()).then((column + 0.0).cast(dtype)).alias(name)
    # Arrow has no 128-bit integers; larger ones than 64 bits are refused anyway.
    return column.cast(nw.Int64) if isinstance(dtype, (nw.Int128, nw.UInt128)) else column


def _join_key(name: str, dtype: Any) -> nw.Expr:
    """Return a column to join by: categories and unknown types as text."""
    key = _grouping_key(name, dtype)
    return key.cast(nw.String) if isinstance(dtype, (*_CATEGORIES, nw.Unknown)) else key


def _type_without_categories(dtype: Any) -> Any:
    """Replace categories by text in a type, also inside lists and structs."""
    if isinstance(dtype, _CATEGORIES):
        return nw.String()
    if isinstance(dtype, nw.List):
        return nw.List(_type_without_categories(dtype.inner))
    if isinstance(dtype, nw.Array):
        return nw.Array(_type_without_categories(dtype.inner), dtype.size)
    if isinstance(dtype, nw.Struct):
        return nw.Struct({each.name: _type_without_categories(each.dtype) for each in dtype.fields})
    return dtype


def _cells_without_categories(column: pl.Series) -> pl.Series:
    """Return a column with text instead of categories, and instead of the null type, which files lack."""
    dtype = column.dtype
    return column.cast(pl.String if isinstance(dtype, pl.Null) else without_categories(dtype))


def _rename_columns(rows: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    return rows.rename(dict(zip(rows.columns, names, strict=True)))


def _map_pseudonyms(
    lazy: Lazy, cells: PublishedCells, names: Sequence[str]
) -> tuple[pl.DataFrame, list[tuple[pl.DataFrame, pl.DataFrame, pl.Series]]]:
    """Return the published rows with pseudonyms, and for each other keyed column a map from cells to pseudonyms.

    An engine has no keyed hash, so that distinct cells come here.
    """
    if cells.pseudonyms is None:
        return cells.published, []
    fresh = [name for name in cells.pseudonyms.fresh if name in names]
    if fresh:
        raise InputError(
            f"columns {quote_names(fresh)} get a new pseudonym for every record, which a lazy frame cannot draw.",
            hint="write the release instead: what is read batch by batch has them.",
        )
    published_names = tuple(name for name in cells.pseudonyms.keyed if name in cells.published.columns)
    keyed = cells.pseudonyms.select(published_names)
    rows = cells.published if keyed is None else pseudonymize(lazy._to_frame(cells.published), keyed).native
    maps = []
    for name in cells.pseudonyms.keyed:
        keyed = cells.pseudonyms.select([name])
        if name in names and name not in published_names and keyed is not None:
            keys = lazy.collapse([name])
            new = pseudonymize(keys, keyed)
            maps.append((keys.native, new.native, pl.Series([True] * keys.n_rows, dtype=pl.Boolean)))
    return rows, maps
