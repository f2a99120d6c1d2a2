"""What needs PySpark itself: estimates, rows that are brought to the cluster, and writing in random order."""

from __future__ import annotations

import contextlib
import functools
import operator
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from hushtable.engines.backends import MARK, UNSEEN_MESSAGE, RecordCells, to_polars
from hushtable.errors import ColumnError, InputError, quote_names
from hushtable.io import Parts, Scan

_MAX_BROADCAST_ROWS: Final = 2_000_000  # rows that are broadcast to every executor at most: some hundred MB
_RECORDS_PER_PART: Final = 1_000_000


class Spark:
    """The engine of a PySpark DataFrame."""

    name = "Spark"
    writes = True

    def rename_columns(self, frame: Any, names: Sequence[str]) -> Any:
        """Return a frame with other names."""
        return frame.toDF(*names)

    def estimate_rows(self, frame: Any) -> tuple[int, int]:
        """Return about how many distinct rows there are, and exactly how many rows."""
        from pyspark.sql import functions

        key = functions.struct(*frame.columns)
        figures = frame.agg(functions.approx_count_distinct(key), functions.count(functions.lit(1)))
        n_rows, n_records = figures.first()
        return n_rows, n_records

    def estimate_widths(self, frame: Any) -> list[int]:
        """Return about how many distinct values each column has."""
        from pyspark.sql import functions

        return list(frame.agg(*map(functions.approx_count_distinct, frame.columns)).first())

    def bring_rows(self, frame: Any, rows: pl.DataFrame, session: Any) -> Any:
        """Return rows as a frame that can be joined with another one."""
        from pyspark.sql.pandas.types import from_arrow_schema

        table = rows.to_arrow()
        # By default, Spark takes a moment without a zone for one in the session's zone.
        schema = from_arrow_schema(table.schema, prefer_timestamp_ntz=True)
        brought = frame.sparkSession.createDataFrame(table, schema=schema)
        return brought.hint("broadcast") if rows.height <= _MAX_BROADCAST_ROWS else brought

    def join_rows(self, left: Any, right: Any, on: Sequence[tuple[str, str]]) -> Any:
        """Return all rows of the left with the row of the right that they equal."""
        pairs = [left[ours].eqNullSafe(right[theirs]) for ours, theirs in on]
        return left.join(right, functools.reduce(operator.and_, pairs), "left")

    def pull_rows(self, frame: Any) -> pl.DataFrame:
        """Return all rows."""
        return to_polars(frame.toArrow())

    def pull_batches(self, frame: Any) -> Iterator[pl.DataFrame]:
        """Raise InputError: Spark's rows do not pass through one process."""
        raise InputError("Spark writes by itself.", hint="call write(cells, folder).")


def start_session(master: str | None = None) -> Any:
    """Return the session of this process, or start one; see `hushtable.engines.session_of_spark`."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("hushtable").config("spark.ui.showConsoleProgress", "false")
    try:
        session = (builder.master(master) if master else builder).getOrCreate()
    except Exception as error:
        msg = f"Spark did not start: {type(error).__name__}."
        hint = "it needs Java 17, and a cluster that answers; start a session on its own to see what it says."
        raise InputError(msg, hint=hint) from None
    session.sparkContext.setLogLevel("ERROR")
    return session


def read_files(source: Scan, session: Any) -> Any:
    """Return Parquet files, those of a Hive data set too, as a DataFrame; all executors see them.

    Raises
    ------
    InputError
        They are no Parquet files, or Spark cannot read them.
    """
    if not isinstance(source, Parts):
        raise InputError("engine = 'spark' reads Parquet files.", hint="name a file, a folder or a pattern of them.")
    reader = session.read
    if source.folder is not None and not source.keys.is_empty():
        # Not escaped: this option is no pattern, unlike the paths below.
        reader = reader.option("basePath", f"file://{source.folder.absolute()}")
    try:
        return reader.parquet(*map(_escape_path, source.inputs))
    except Exception as error:
        # The message may quote a folder's name, which is a cell of a Hive data set.
        raise InputError(
            f"Spark could not read the files: {type(error).__name__}.",
            hint="all executors have to see them, at the same path.",
        ) from None


def _escape_path(path: Path) -> str:
    """Escape the characters of a path that Hadoop takes for patterns."""
    return "file://" + re.sub(r"([{}\[\]*?\\])", r"\\\1", str(path.absolute()))


class Executors:
    """Executors of a session as workers of `hushtable.anonymizers.in_parts.protect_in_parts`: a task for every item."""

    def __init__(self, session: Any) -> None:
        self._context = session.sparkContext

    def map(self, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Apply a function to every item; results are in the order of items."""
        return self._context.parallelize(items, len(items)).map(work).collect() if items else []

    def sum(self, work: Callable[[Any], NDArray[Any]], items: Sequence[Any]) -> NDArray[Any]:
        """Sum a function's results over the items; the executors add them up among themselves."""
        total: NDArray[Any] = self._context.parallelize(items, len(items)).map(work).treeReduce(operator.add)
        return total


def spill_rows(frame: Any, folder: Path) -> None:
    """Write all rows as Parquet for encoding, into an empty folder that all executors see."""
    draft = folder / "rows"
    with _write_parquet_moments(frame.sparkSession):
        frame.write.parquet(f"file://{draft.absolute()}")
    _name_parts(draft, folder)
    shutil.rmtree(draft)


def walk_rows(
    frame: Any, cuts: RecordCells, judged_columns: Sequence[str], outputs: Sequence[tuple[str, str | None, str]]
) -> Any:
    """Return what all rows publish, and `MARK`; each executor walks its rows down the tree of cuts.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
    cuts : RecordCells
        With what its classes publish; it is broadcast.
    judged_columns : sequence of str
        The frame's columns that are judged, in the order of the cuts.
    outputs : sequence of (str, str or None, str)
        How each published column is called, which of the cells it is, and else which column of the frame.
    """
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import BooleanType, StructField, StructType

    schema = pa.schema([(name, cells.type) for name, (_, cells) in cuts.cells.items()])
    types = {field.name: field.dataType for field in from_arrow_schema(schema, prefer_timestamp_ntz=True)}
    types |= {field.name: field.dataType for field in frame.schema if field.name not in types}
    fields = [StructField(name, types[published or kept]) for name, published, kept in outputs]
    shared_cuts = frame.sparkSession.sparkContext.broadcast(cuts)
    published_names = [published for _, published, _ in outputs if published is not None]
    batch_columns, names = [*judged_columns], [*(name for name, _, _ in outputs), MARK]
    ways = [(published, kept) for _, published, kept in outputs]

    def publish_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from hushtable.errors import InputError

        for batch in batches:
            try:
                cells = shared_cuts.value.publish_batch([batch.column(name) for name in batch_columns], published_names)
            except InputError:
                raise RuntimeError(UNSEEN_MESSAGE) from None
            columns = [batch.column(kept) if published is None else cells[published] for published, kept in ways]
            yield pa.RecordBatch.from_arrays([*columns, pa.array(np.ones(batch.num_rows, dtype=bool))], names=names)

    return frame.mapInArrow(publish_batches, StructType([*fields, StructField(MARK, BooleanType())]))


def write(frame: Any, names: Sequence[str], folder: Path, n_parts: int | None, n_records: int) -> int:
    """Write the records of a joined frame that are published, as parts of Parquet; return how many there are.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The published columns, and `MARK`.
    names : sequence of str
        Of the published columns.
    folder : path
        An empty folder that all executors see.
    n_parts : int, optional
        About one for each million records when not given.
    n_records : int
        How many there are about.

    Raises
    ------
    ColumnError
        A column has a type that Spark cannot hash.
    Exception
        Of Spark; its text holds `UNSEEN_MESSAGE` where a record met no row.

    Notes
    -----
    Records go to parts, and are sorted in them, by a hash of what is published of them: nothing of their order in the
    input is left, and a task that runs once more for a lost one makes the same rows again, which it would not by
    numbers drawn at random.
    """
    from pyspark.sql import functions

    odd = [name for name, (_, kind) in zip(names, frame.dtypes, strict=False) if "map<" in kind or "variant" in kind]
    if odd:
        raise ColumnError(
            f"columns {quote_names(odd)} have types that Spark cannot hash: maps or variants.",
            hint="turn them into lists of pairs or text, or leave them out.",
        )
    seen = functions.when(functions.col(MARK).isNull(), functions.raise_error(functions.lit(UNSEEN_MESSAGE)))
    records = frame.where(seen.otherwise(functions.col(MARK)))
    # Without metadata, which may hold unpublished cells, such as categories.
    bare_columns = [
        functions.col(f"p{place}")
        .cast(_type_without_metadata(records.schema[f"p{place}"].dataType))
        .alias(f"p{place}", metadata={})
        for place in range(len(names))
    ]
    records = records.select(*bare_columns)
    flags = [functions.col(each).isNull() for each in records.columns]
    content = functions.xxhash64(*records.columns, *flags)
    n_parts = n_parts or max(1, -(-n_records // _RECORDS_PER_PART))
    shuffled = records.withColumn("h", content).repartition(n_parts, "h").sortWithinPartitions("h")
    draft = folder / f".{secrets.token_hex(4)}"
    try:
        with _write_parquet_moments(frame.sparkSession):
            # Not as_uri: Hadoop does not decode percent signs in a path.
            shuffled.drop("h").toDF(*names).write.parquet(f"file://{draft.absolute()}")
        return _name_parts(draft, folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _type_without_metadata(dtype: Any) -> Any:
    """Return a type without the metadata of nested fields."""
    from pyspark.sql.types import ArrayType, StructField, StructType

    if isinstance(dtype, ArrayType):
        return ArrayType(_type_without_metadata(dtype.elementType), dtype.containsNull)
    if isinstance(dtype, StructType):
        return StructType(
            [StructField(each.name, _type_without_metadata(each.dataType), each.nullable) for each in dtype.fields]
        )
    return dtype


@contextlib.contextmanager
def _write_parquet_moments(session: Any) -> Iterator[None]:
    """Write moments as Parquet has them; Spark's default is an older way, without their zone."""
    key = "spark.sql.parquet.outputTimestampType"
    before = session.conf.get(key)
    session.conf.set(key, "TIMESTAMP_MICROS")
    try:
        yield
    finally:
        session.conf.set(key, before)


def _name_parts(draft: Path, folder: Path) -> int:
    """Rename the parts with records to plain numbers; return the number of records."""
    n_records = n_parts = 0
    parts = sorted(draft.glob("part-*.parquet"))
    for part in parts:
        n_rows = pl.scan_parquet(part, glob=False).select(pl.len()).collect().item()
        # If there are no records, one part remains for the columns.
        if n_rows or (part == parts[-1] and not n_parts):
            part.rename(folder / f"part-{n_parts:05}.parquet")
            n_records, n_parts = n_records + n_rows, n_parts + 1
    return n_records
