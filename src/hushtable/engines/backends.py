"""What each engine does its own way: renaming, estimates, joins, and handing out rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

import polars as pl

from hushtable._types import CodeArray
from hushtable.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from hushtable.io import Frame

MARK: Final = "m"
"""The column that says of a joined record whether it is published; missing where it met no row."""

UNSEEN_MESSAGE: Final = "hushtable: a record met no row"
"""What an engine fails with where it has to say so by itself."""

_ROWS_PER_BATCH: Final = 100_000


class Engine(Protocol):
    """The operations of an engine that narwhals lacks; frames are native ones."""

    name: str
    writes: bool

    def rename_columns(self, frame: Any, names: Sequence[str]) -> Any:
        """Rename columns, even if the old names hold dots, quotes or patterns."""

    def estimate_rows(self, frame: Any) -> tuple[int, int]:
        """Return about how many distinct rows there are, and exactly how many rows."""

    def estimate_widths(self, frame: Any) -> list[int]:
        """Return about how many distinct values each column has."""

    def bring_rows(self, frame: Any, rows: pl.DataFrame, session: Any) -> Any:
        """Return rows as a frame that can be joined with another one."""

    def join_rows(self, left: Any, right: Any, on: Sequence[tuple[str, str]]) -> Any:
        """Join all left rows to their equal right row; missing cells are equal to one another."""

    def pull_rows(self, frame: Any) -> pl.DataFrame:
        """Return all rows."""

    def pull_batches(self, frame: Any) -> Iterator[pl.DataFrame]:
        """Return all rows, some at a time."""


class RecordCells(Protocol):
    """Publishes each record by its own cells, without a join; can be pickled."""

    @property
    def names(self) -> tuple[str, ...]:
        """The judged columns."""

    @property
    def n_records(self) -> int:
        """How many there were when they were coded."""

    @property
    def margins(self) -> Frame:
        """Rows with counts; each column has every cell as often as all records have it."""

    @property
    def cells(self) -> Mapping[str, tuple[CodeArray, pa.Array]]:
        """The cells published in each column, once they are known."""

    def with_cells_of(self, rows: pl.DataFrame) -> RecordCells:
        """Return the same with what each row of the release publishes."""

    def publish_batch(self, judged: Sequence[pa.Array], names: Sequence[str]) -> dict[str, pa.Array]:
        """Return what records publish in some columns."""


class Polars:
    """The engine of a polars LazyFrame, which streams where it can."""

    name = "polars"
    writes = False

    def rename_columns(self, frame: Any, names: Sequence[str]) -> Any:
        """Return a frame with other names."""
        return frame.rename(dict(zip(frame.collect_schema().names(), names, strict=True)))

    def estimate_rows(self, frame: Any) -> tuple[int, int]:
        """Return about how many distinct rows there are, and exactly how many rows."""
        key = pl.struct(frame.collect_schema().names())
        figures = frame.select(key.hash().approx_n_unique().alias("rows"), pl.len().alias("records"))
        n_rows, n_records = figures.collect(engine="streaming").row(0)
        return n_rows, n_records

    def estimate_widths(self, frame: Any) -> list[int]:
        """Return about how many distinct values each column has."""
        return list(frame.select(pl.all().hash().approx_n_unique()).collect(engine="streaming").row(0))

    def bring_rows(self, frame: Any, rows: pl.DataFrame, session: Any) -> Any:
        """Return rows as a frame that can be joined with another one."""
        return rows.lazy()

    def join_rows(self, left: Any, right: Any, on: Sequence[tuple[str, str]]) -> Any:
        """Return all rows of the left with the row of the right that they equal."""
        ours, theirs = zip(*on, strict=True)
        return left.join(right, left_on=ours, right_on=theirs, how="left", nulls_equal=True)

    def pull_rows(self, frame: Any) -> pl.DataFrame:
        """Return all rows."""
        rows: pl.DataFrame = frame.collect(engine="streaming")
        return rows

    def pull_batches(self, frame: Any) -> Iterator[pl.DataFrame]:
        """Return all rows, some at a time."""
        yield from frame.collect_batches(chunk_size=_ROWS_PER_BATCH, maintain_order=False, engine="streaming")


class Duckdb:
    """The engine of a DuckDB relation, which runs anew whenever it is asked for rows."""

    name = "DuckDB"
    writes = False

    def rename_columns(self, frame: Any, names: Sequence[str]) -> Any:
        """Return a frame with other names."""
        pairs = zip(frame.columns, names, strict=True)
        return frame.project(", ".join(f"{_quote_name(old)} AS {_quote_name(new)}" for old, new in pairs))

    def estimate_rows(self, frame: Any) -> tuple[int, int]:
        """Return about how many distinct rows there are, and exactly how many rows."""
        figures = frame.aggregate(f"approx_count_distinct(row({', '.join(frame.columns)})), count(*)")
        ((n_rows, n_records),) = figures.fetchall()
        return n_rows, n_records

    def estimate_widths(self, frame: Any) -> list[int]:
        """Return about how many distinct values each column has."""
        figures = frame.aggregate(", ".join(f"approx_count_distinct({name})" for name in frame.columns))
        return list(figures.fetchall()[0])

    def bring_rows(self, frame: Any, rows: pl.DataFrame, session: Any) -> Any:
        """Return rows as a frame that can be joined with another one.

        Raises
        ------
        InputError
            The session is not the frame's own connection: a relation does not tell which that is.
        """
        import duckdb

        try:
            relation = (duckdb if session is None else session).from_arrow(rows.to_arrow())
            frame.cross(relation)
        except Exception:
            hint = "pass session=, the connection that made it, not a cursor of it; without one the default is taken."
            raise InputError("the DuckDB relation belongs to another connection than the session.", hint=hint) from None
        return relation

    def join_rows(self, left: Any, right: Any, on: Sequence[tuple[str, str]]) -> Any:
        """Return all rows of the left with the row of the right that they equal."""
        condition = " AND ".join(f"{ours} IS NOT DISTINCT FROM {theirs}" for ours, theirs in on)
        return left.join(right, condition=condition, how="left")

    def pull_rows(self, frame: Any) -> pl.DataFrame:
        """Return all rows."""
        return to_polars(frame.to_arrow_table())

    def pull_batches(self, frame: Any) -> Iterator[pl.DataFrame]:
        """Return all rows, some at a time."""
        # While the reader is open, the connection answers no other query.
        with frame.to_arrow_reader(_ROWS_PER_BATCH) as reader:
            for batch in reader:
                yield to_polars(batch)


def to_polars(rows: Any) -> pl.DataFrame:
    """Convert a table or batch of Arrow to a polars frame."""
    frame = pl.from_arrow(rows)
    return frame if isinstance(frame, pl.DataFrame) else frame.struct.unnest()


def _quote_name(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
