"""Tables and queries of PostgreSQL, SQLite and DuckDB: read only, as of one moment, in pieces.

A query is a part of another one, and can change nothing. What a database says may quote a cell: its code is told.
"""

from __future__ import annotations

import contextlib
import re
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import polars as pl

from hushtable.errors import ColumnError, HushError, InputError, quote_names
from hushtable.io.sources import Source, quote_name
from hushtable.search import check_memory

_ROWS_PER_FETCH: Final = 100_000  # that are fetched at once
_MAX_EXACT_INTEGER: Final = 2**53  # whole numbers up to here are exact as decimals
_MAX_DIGITS: Final = 38  # of a decimal number
_MAX_COLUMNS_PER_QUERY: Final = 100  # columns that SQLite is asked of in one query

_POSTGRESQL_TYPES: Final = {
    *("bool", "int2", "int4", "int8", "float4", "float8", "text", "varchar", "name", "bytea"),
    *("date", "time", "timestamp", "timestamptz", "_bool", "_int2", "_int4", "_int8", "_float4", "_float8", "_text"),
}
_DUCKDB_TYPES: Final = re.compile(
    r"(BOOLEAN|U?TINYINT|U?SMALLINT|U?INTEGER|U?BIGINT|FLOAT|DOUBLE|DECIMAL\(\d+,\s*\d+\)|VARCHAR|BLOB|DATE|TIME"
    r"|TIMESTAMP(_S|_MS|_NS)?|TIMESTAMP WITH TIME ZONE)(\[\])*"
)
_TYPES_WITH_INFINITY: Final = re.compile(r"date|timestamp", re.IGNORECASE)  # types of days that may be infinite

_REASON_BY_SQLSTATE: Final = {
    "42P01": "there is no such table",
    "3F000": "there is no such schema",
    "42703": "the query names a column that is not there",
    "42601": "the query is not SQL that this database knows; it must be one SELECT",
    "42501": "this user may not read it",
    "25006": "the query would write",
    "57014": "the server stopped the query",
}

Connection = Any  # of one of three libraries, none of which is imported before it is needed
Fetch = Callable[[Sequence[str], int | None], Iterator[pl.DataFrame]]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Database:
    """A table or query of a database, as of the moment when it was opened."""

    source: Source
    schema: pl.Schema = field(repr=False)
    n_rows: int
    fetch: Fetch = field(repr=False)  # from names and the most rows, to pieces of these columns; one at a time

    @property
    def n_bytes(self) -> float:
        """How many bytes the cells take in memory at the least."""
        return float(self.n_rows * sum(map(_bytes_per_cell, self.schema.values())))

    def read_pieces(self, names: Sequence[str], max_rows: int | None = None) -> Iterator[pl.DataFrame]:
        """Yield some columns in the order of the names, piece by piece; the first piece may have no rows."""
        schema = {name: self.schema[name] for name in names}
        yield pl.DataFrame(schema=schema)
        with _translate_errors(self.source):
            for piece in self.fetch(names, max_rows):
                yield pl.DataFrame([_cast_cells(name, piece[name], dtype) for name, dtype in schema.items()])


def connect(source: Source) -> Database:
    """Open a table or query, and count its rows; it is closed when it is no longer referenced."""
    source.check()
    query = source.query
    assert source.program is not None
    if source.file is not None and not source.file.is_file():
        raise InputError(f"{source}: there is no such file.", hint="check the name; nothing was made.")
    with _translate_errors(source), contextlib.ExitStack() as unfinished:
        _check_mark(source)
        connection = _connect(source)
        unfinished.callback(_close_quietly, connection)
        database = Database(source, *_LOOK_BY_PROGRAM[source.program](connection, source, query))
        unfinished.pop_all()
    weakref.finalize(database, _close_quietly, connection)
    return database


def _connect(source: Source) -> Connection:
    if source.program == "PostgreSQL":
        from adbc_driver_postgresql import dbapi

        return dbapi.connect(source.connection)
    if source.program == "DuckDB":
        import duckdb

        return duckdb.connect(str(source.file), read_only=True)
    import sqlite3

    assert source.file is not None
    # Another thread fetches the next piece meanwhile; the two take turns.
    file = f"file:{quote(str(source.file.absolute()))}?mode=ro"
    return sqlite3.connect(file, uri=True, isolation_level=None, check_same_thread=False)


def _check_mark(source: Source) -> None:
    """Raise InputError if a file is not a database of its program, before DuckDB looks for an extension to read it."""
    if source.file is None:
        return
    with source.file.open("rb") as file:
        head = file.read(16)
    if not (head[8:12] == b"DUCK" if source.program == "DuckDB" else head.startswith(b"SQLite format 3")):
        raise InputError(
            f"{source}: the file is no database of {source.program}.", hint="check the name and the scheme."
        )


def list_duckdb_tables(path: Path) -> dict[str, Source]:
    """Return the tables of a file of DuckDB by their names."""
    try:
        import duckdb
    except ModuleNotFoundError:
        raise InputError(f"{str(path)!r} is a file of DuckDB.", hint="pip install duckdb.") from None
    with duckdb.connect(str(path), read_only=True) as connection:
        names = [name for (name,) in connection.execute("select table_name from duckdb_tables()").fetchall()]
    return {name: Source(f"duckdb:///{path.resolve()}?table={quote_name(name)}") for name in names}


def write_duckdb_tables(tables: Mapping[str, pl.DataFrame], path: Path) -> None:
    """Write tables into a new file of DuckDB."""
    import duckdb

    with duckdb.connect(str(path)) as connection:
        for name, cells in tables.items():
            connection.from_arrow(cells.to_arrow()).create(quote_name(name))


def read_database(source: Source, room: str) -> pl.DataFrame:
    """Read all rows into memory; ``room`` says what to do if they do not fit."""
    database = connect(source)
    check_memory(database.n_bytes, f"reading the {database.n_rows:,} rows of {source}", room)
    return pl.concat(list(database.read_pieces(list(database.schema)))).rechunk()


def _close_quietly(connection: Connection) -> None:
    with contextlib.suppress(Exception):
        connection.close()


def _bytes_per_cell(dtype: pl.DataType) -> float:
    return 16.0 if dtype.is_nested() or isinstance(dtype, (pl.String, pl.Binary)) else 8.0


def _cast_cells(name: str, cells: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Cast cells to the type of their column."""
    if isinstance(dtype, pl.Decimal) and isinstance(cells.dtype, pl.String):
        # What is no number is no cell either.
        cells = cells.set(cells == "NaN", None)
    if isinstance(dtype, pl.Datetime) and isinstance(cells.dtype, pl.String):
        cast = cells.str.replace("T", " ").str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
    elif isinstance(dtype, (pl.Date, pl.Time)) and isinstance(cells.dtype, pl.String):
        is_day, text = isinstance(dtype, pl.Date), cells.str
        cast = text.to_date("%Y-%m-%d", strict=False) if is_day else text.to_time("%H:%M:%S", strict=False)
    else:
        cast = cells.cast(dtype, strict=False)
    if cast.null_count() != cells.null_count():
        raise ColumnError(f"column {name!r} has cells that are no {dtype}.", hint="turn it into text in a query.")
    return cast.alias(name)


@contextlib.contextmanager
def _translate_errors(source: Source) -> Iterator[None]:
    """Turn errors of a database or its library into InputError, without a text that may hold cells."""
    try:
        yield
    except HushError:
        raise
    except ModuleNotFoundError:
        raise InputError(f"{source.program} needs a library.", hint="pip install 'hushtable[database]'.") from None
    except MemoryError:
        raise
    except Exception as error:
        raise InputError(
            f"{source} cannot be read: {_explain_error(error)}.",
            hint="ask the database itself: what it says is not repeated here, because it may quote cells.",
        ) from None


def _explain_error(error: Exception) -> str:
    code, text = getattr(error, "sqlstate", None), str(error)
    if code:
        return _REASON_BY_SQLSTATE.get(code, f"the query failed (SQLSTATE {code})")
    reasons = {
        "password": "the server refused the password, or was given none",
        "Failed to connect": "no connection to the server, or no such database or user",
        "no such table": "there is no such table",
        "does not exist": "there is no such table or column",
        "locked": "another program has it locked",
        "lock on file": "another program has it locked",
        "different configuration": "this process has it open for writing; close that",
    }
    return next((reason for sign, reason in reasons.items() if sign in text), type(error).__name__)


def _check_names(source: Source, names: Sequence[str]) -> None:
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled or "" in names:
        what = f"has several columns {quote_names(doubled)}" if doubled else "has a column without a name"
        raise ColumnError(f"{source} {what}.", hint="name them in the query: SELECT a.id AS first, ...")


def _select_columns(names: Sequence[str], told: Mapping[str, str], query: str, most: int | None) -> str:
    """Return a query of some columns of another."""
    columns = ", ".join(f"{told[name]} AS {quote_name(name)}" for name in names)
    # On a new line: the query may end in a comment.
    return f"SELECT {columns} FROM (\n{query}\n) AS q{'' if most is None else f' LIMIT {most}'}"


Made = tuple[pl.Schema, int, Fetch]


def _look_postgresql(connection: Connection, source: Source, query: str) -> Made:
    def fetch_batches(text: str) -> Iterator[pl.DataFrame]:
        with connection.cursor() as cursor:
            cursor.execute(text)
            reader = cursor.fetch_record_batch()
            yield pl.DataFrame(pl.from_arrow(reader.schema.empty_table()))
            for batch in reader:
                yield pl.DataFrame(pl.from_arrow(batch))

    with connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        fields = list(cursor.adbc_execute_schema(query))
        cursor.execute("SET LOCAL TimeZone = 'UTC'")
    names = [each.name for each in fields]
    _check_names(source, names)
    types = {each.name: (each.metadata or {}).get(b"POSTGRESQL:type", b"").decode() for each in fields}
    expressions = {
        name: quote_name(name) if types[name] in _POSTGRESQL_TYPES else f"{quote_name(name)}::text" for name in names
    }
    numerics = {name: _decimal_type(each) for name, each in zip(names, fields, strict=True) if types[name] == "numeric"}
    loose = [name for name, known in numerics.items() if known is None]
    figures = [
        figure
        for name in loose
        for figure in (f"max(scale({quote_name(name)}))", f"max(length(trunc(abs({quote_name(name)}))::text))")
    ]
    dated = [name for name in names if _TYPES_WITH_INFINITY.match(types[name])]
    figures += [f"count(*) FILTER (WHERE NOT isfinite({quote_name(name)}))" for name in dated]
    selected = ", ".join(f"{figure} AS f{place}" for place, figure in enumerate(["count(*)", *figures]))
    (row,) = pl.concat(fetch_batches(f"SELECT {selected} FROM (\n{query}\n) AS q")).rows()
    _check_finite(dated, row[1 + 2 * len(loose) :])
    for name, scale, digits in zip(loose, row[1::2], row[2::2], strict=False):
        fits = (scale or 0) + (digits or 0) <= _MAX_DIGITS
        numerics[name] = pl.Decimal(_MAX_DIGITS, scale or 0) if fits else pl.String()
    empty = pl.concat(fetch_batches(_select_columns(names, expressions, query, 0))) if names else pl.DataFrame()
    schema = pl.Schema({name: numerics.get(name) or dtype for name, dtype in empty.schema.items()})
    return schema, row[0], lambda chosen, most: fetch_batches(_select_columns(chosen, expressions, query, most))


def _decimal_type(column: Any) -> pl.DataType | None:
    """Return the declared decimal type of a PostgreSQL column."""
    modifier = int((column.metadata or {}).get(b"POSTGRESQL:typmod", b"-1")) - 4
    precision, scale = modifier >> 16, modifier & 0x7FF
    return pl.Decimal(precision, scale) if 0 <= scale <= precision <= _MAX_DIGITS and modifier > 0 else None


def _check_finite(names: Sequence[str], counts: Sequence[int]) -> None:
    for name, n_endless in zip(names, counts, strict=True):
        if n_endless:
            raise ColumnError(
                f"column {name!r} has {n_endless:,} infinite days or moments.", hint="turn it into text in a query."
            )


def _look_duckdb(connection: Connection, source: Source, query: str) -> Made:
    import duckdb

    def fetch_batches(text: str) -> Iterator[pl.DataFrame]:
        with connection.sql(text).to_arrow_reader(_ROWS_PER_FETCH) as reader:
            for batch in reader:
                frame = pl.DataFrame(pl.from_arrow(batch))
                zoned = [name for name, dtype in frame.schema.items() if getattr(dtype, "time_zone", None)]
                yield frame.with_columns(frame[name].dt.convert_time_zone("UTC") for name in zoned)

    if [each.type for each in connection.extract_statements(query)] != [duckdb.StatementType.SELECT]:
        raise InputError(f"{source} is not one SELECT.", hint="ask for one table or query; nothing was run.")
    relation = connection.sql(query)
    names, types = list(relation.columns), dict(zip(relation.columns, map(str, relation.types), strict=True))
    _check_names(source, names)
    expressions = {name: _duckdb_expression(name, types[name]) for name in names}
    dated = [name for name in names if _TYPES_WITH_INFINITY.match(types[name]) and "[" not in types[name]]
    figures = ["count(*)", *(f"count(*) FILTER (WHERE NOT isfinite({quote_name(name)}))" for name in dated)]
    (row,) = connection.execute(f"SELECT {', '.join(figures)} FROM (\n{query}\n) AS q").fetchall()
    _check_finite(dated, row[1:])
    empty = pl.DataFrame(connection.sql(_select_columns(names, expressions, query, 0)).pl())
    zoned = {name: pl.Datetime("us", "UTC") for name, type_ in types.items() if type_ == "TIMESTAMP WITH TIME ZONE"}
    schema = pl.Schema({name: zoned.get(name, dtype) for name, dtype in empty.schema.items()})
    return schema, row[0], lambda chosen, most: fetch_batches(_select_columns(chosen, expressions, query, most))


def _duckdb_expression(name: str, type_: str) -> str:
    if type_ in ("HUGEINT", "UHUGEINT"):
        return f"CAST({quote_name(name)} AS DECIMAL({_MAX_DIGITS}, 0))"
    # Nested types stay; an enumeration becomes text, because it would bring unused categories.
    return (
        quote_name(name)
        if _DUCKDB_TYPES.fullmatch(type_) or type_.startswith("STRUCT")
        else f"CAST({quote_name(name)} AS VARCHAR)"
    )


def _look_sqlite(connection: Connection, source: Source, query: str) -> Made:
    def fetch_batches(text: str, schema: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        with contextlib.closing(connection.execute(text)) as cursor:
            while rows := cursor.fetchmany(_ROWS_PER_FETCH):
                columns = zip(schema.items(), zip(*rows, strict=True), strict=True)
                yield pl.DataFrame([pl.Series(name, cells, dtype=dtype) for (name, dtype), cells in columns])

    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("BEGIN")
    # As a view, the text must be a single SELECT, and its columns keep their declared types.
    connection.execute(f"CREATE TEMP VIEW q AS {query}\n")
    declared = {
        row[1]: row[2].upper().partition("(")[0].strip() for row in connection.execute("PRAGMA temp.table_xinfo(q)")
    }
    names = list(declared)
    _check_names(source, names)
    ((n_rows,),) = connection.execute("SELECT count(*) FROM temp.q")
    schema = {}
    for begin in range(0, len(names), _MAX_COLUMNS_PER_QUERY):
        chunk = names[begin : begin + _MAX_COLUMNS_PER_QUERY]
        text = f"SELECT {', '.join(_counts_of(name, declared[name]) for name in chunk)} FROM temp.q"
        figures = connection.execute(text).fetchone()
        for position, name in enumerate(chunk):
            of_column = [each or 0 for each in figures[position * _N_COUNTS : (position + 1) * _N_COUNTS]]
            schema[name] = _sqlite_type(name, declared[name], of_column)
    expressions = {name: _sqlite_expression(name, dtype) for name, dtype in schema.items()}
    # Storage types of SQLite: `read_pieces` casts texts to dates, and numbers to booleans.
    fetched = {name: _sqlite_storage_type(dtype) for name, dtype in schema.items()}

    def fetch(chosen: Sequence[str], most: int | None) -> Iterator[pl.DataFrame]:
        text = _select_columns(chosen, expressions, "SELECT * FROM temp.q", most)
        return fetch_batches(text, {name: fetched[name] for name in chosen})

    return pl.Schema(schema), n_rows, fetch


_TYPE_COUNTS: Final = (
    "sum(typeof({0}) = 'integer')",
    "sum(typeof({0}) = 'real')",
    "sum(typeof({0}) = 'text')",
    "sum(typeof({0}) = 'blob')",
    f"sum(typeof({{0}}) = 'integer' AND abs({{0}} / 2) > {_MAX_EXACT_INTEGER // 2})",
)
# Tests whether cells are of their declared type. Adding 0 days normalizes a day: no 31 February equals itself.
_IS_DAY: Final = "{0} = date({0}, '+0 days')"
_IS_MOMENT: Final = (
    "replace(substr({0}, 1, 19), 'T', ' ') = datetime(substr({0}, 1, 19), '+0 days')"
    " AND (length({0}) = 19 OR substr({0}, 20) GLOB '.[0-9]*') AND substr({0}, 21) NOT GLOB '*[^0-9]*'"
)
_TEST_AND_TYPE: Final[Mapping[str, tuple[str, pl.DataType]]] = {
    **dict.fromkeys(("BOOL", "BOOLEAN"), ("{0} IN (0, 1)", pl.Boolean())),
    **dict.fromkeys(("DATETIME", "TIMESTAMP"), (_IS_MOMENT, pl.Datetime("us"))),
    "DATE": (_IS_DAY, pl.Date()),
    "TIME": ("{0} = time({0})", pl.Time()),
}
_N_COUNTS: Final = len(_TYPE_COUNTS) + 1


def _counts_of(name: str, base: str) -> str:
    """Return the SQL that counts a column's cells by storage type, and those of its declared type."""
    fitting = f"sum({_TEST_AND_TYPE[base][0]})" if base in _TEST_AND_TYPE else "0"
    return ", ".join(each.format(quote_name(name)) for each in (*_TYPE_COUNTS, fitting))


def _sqlite_type(name: str, base: str, figures: Sequence[int]) -> pl.DataType:
    """Return a column's type: as declared if all cells fit (SQLite allows any cell anywhere), else by its cells."""
    n_whole, n_broken, n_texts, n_bytes, n_huge, n_fitting = figures
    n_cells = n_whole + n_broken + n_texts + n_bytes
    if n_bytes and n_bytes < n_cells:
        raise ColumnError(f"column {name!r} has bytes beside other cells.", hint="turn it into text in a query.")
    if not n_cells:
        return _TYPES_WITHOUT_CELLS.get(base, pl.String())
    if base in _TEST_AND_TYPE and n_fitting == n_cells and (n_whole if base.startswith("BOOL") else n_texts) == n_cells:
        return _TEST_AND_TYPE[base][1]
    if n_bytes:
        return pl.Binary()
    if n_texts or (n_broken and n_huge):
        return pl.String()
    return pl.Float64() if n_broken else pl.Int64()


_TYPES_WITHOUT_CELLS: Final[Mapping[str, pl.DataType]] = {
    **dict.fromkeys(("INT", "INTEGER", "BIGINT", "SMALLINT"), pl.Int64()),
    **dict.fromkeys(("REAL", "DOUBLE", "FLOAT", "NUMERIC", "DECIMAL"), pl.Float64()),
    **{base: dtype for base, (_, dtype) in _TEST_AND_TYPE.items()},
}


def _sqlite_expression(name: str, dtype: pl.DataType) -> str:
    if isinstance(dtype, pl.String):
        return f"CAST({quote_name(name)} AS TEXT)"
    return f"CAST({quote_name(name)} AS REAL)" if isinstance(dtype, pl.Float64) else quote_name(name)


def _sqlite_storage_type(dtype: pl.DataType) -> pl.DataType:
    if isinstance(dtype, pl.Boolean):
        return pl.Int64()
    return pl.String() if isinstance(dtype, (pl.Date, pl.Datetime, pl.Time)) else dtype


_LOOK_BY_PROGRAM: Final[Mapping[str, Callable[[Connection, Source, str], Made]]] = {
    "PostgreSQL": _look_postgresql,
    "DuckDB": _look_duckdb,
    "SQLite": _look_sqlite,
}
