"""Tables that are not in memory: in files, or in an engine that works on lazy frames."""

from __future__ import annotations

import math
import os
import sys
import warnings
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from hushtable.engines.lazy import Lazy, is_lazy, open_lazy as of_engine, orders_of
from hushtable.errors import InputError
from hushtable.io import (
    FILE_KINDS,
    Dialect,
    Frame,
    Source,
    connect,
    count_gzip_bytes,
    frames,
    is_many,
    lazy_objects,
    parse_location,
)
from hushtable.search import free_memory
from hushtable.tables import Table

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from hushtable.engines.files import Files

EngineChoice = Literal["auto", "memory", "stream", "spark"]
Rows: TypeAlias = "Frame | Table | Files | Lazy"

_MAX_MEMORY_SHARE: Final = 0.5  # share of the free memory; a file that needs more is not read into memory
# How many times its size a file takes in memory, until it is released; rows are as they are in memory.
_GROWTH_IN_MEMORY: Final = {"csv": 8, "parquet": 20, "database": 20, "rows": 4}


def open_origin(
    data: object, *, engine: EngineChoice = "auto", session: object = None, dialect: Dialect | None = None
) -> Files | Lazy | None:
    """Return the origin of rows that should not be read into memory; else None.

    Parameters
    ----------
    data : path, URL, dataframe, lazy frame, Lazy or Table
    engine : {"auto", "memory", "stream", "spark"}
        ``"auto"`` reads files into memory unless they are a folder or a pattern, or would take more than half of what
        is free. ``"spark"`` has Spark read them.
    session : optional
        Of DuckDB (a connection) or Spark, where the frame does not tell.
    dialect : Dialect, optional
        How a CSV spells its table, and which texts mean a missing cell.

    Raises
    ------
    InputError
        There is no such engine, or it cannot take these data.
    """
    if engine not in ("auto", "memory", "stream", "spark"):
        raise InputError(f"engine = {engine!r}.", hint="choose 'auto', 'memory', 'stream' or 'spark'.")
    if is_origin(data):
        return data
    if not isinstance(data, (str, os.PathLike)):
        if engine != "auto" and is_lazy(data):
            raise InputError(
                f"engine = {engine!r} for a lazy frame.", hint="leave it out: a lazy frame stays with its own engine."
            )
        if engine in ("stream", "spark"):
            raise InputError(
                f"engine = {engine!r} for a table in memory.", hint="pass the path of its file, or leave it out."
            )
        return of_engine(data, session, dialect=dialect) if is_lazy(data) else None
    path = parse_location(data)
    if engine == "spark":
        return _open_with_spark(path, session, dialect)
    if isinstance(path, Source):
        return _open_source(path, engine, dialect)
    if engine == "memory" or (engine == "auto" and not is_many(path) and not _is_large(path)):
        return None
    return _open_files(path, dialect)


def open_rows(
    data: object, *, engine: EngineChoice = "auto", session: object = None, dialect: Dialect | None = None
) -> Rows:
    """Return the rows of any data: in memory, or where they are; parameters and errors as of `open_origin`."""
    origin = open_origin(data, engine=engine, session=session, dialect=dialect)
    if origin is not None:
        return origin
    return data if isinstance(data, Table) else frames.read(data, dialect=dialect)


def first_rows(rows: Rows) -> Frame | Table:
    """Return all rows if they are in memory, else as many as scans look at."""
    return rows if isinstance(rows, (Frame, Table)) else rows.head()


def is_origin(data: object) -> TypeIs[Files | Lazy]:
    """Tell whether an object is an origin of rows, without importing engines."""
    files = sys.modules.get("hushtable.engines.files")
    return isinstance(data, Lazy) or (files is not None and isinstance(data, files.Files))


def session_of_spark(master: str | None = None) -> Any:
    """Return the Spark session of this process, or start one.

    Parameters
    ----------
    master : str, optional
        The cluster, such as ``spark://host:7077`` or ``local[4]``; what Spark's own settings say when not given.

    Raises
    ------
    InputError
        PySpark or Java is missing, or there is no such cluster.
    """
    # hushtable gives Spark no pandas frames: the warning does not apply.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    return _load_spark().start_session(master)


def _load_spark() -> Any:
    """Import the module that needs PySpark."""
    if find_spec("pyspark") is None or find_spec("pyarrow") is None:
        raise InputError("engine = 'spark' needs PySpark.", hint="pip install 'hushtable[spark]'.")
    return import_module("hushtable.engines.spark")


def _open_with_spark(path: Path | Source, session: Any, dialect: Dialect | None) -> Lazy:
    """Open files with Spark."""
    if isinstance(path, Source):
        raise InputError(
            "engine = 'spark' reads Parquet files that all executors see, and no URL.",
            hint="read it in Spark by yourself, and pass the DataFrame in Python.",
        )
    spark = _load_spark()
    from hushtable.io import scan

    source = scan(path, dialect)
    frame = spark.read_files(source, session or spark.start_session())
    return replace(of_engine(frame, dialect=dialect), files=source.inputs, specs=orders_of(source.schema))


def _open_source(source: Source, engine: EngineChoice, dialect: Dialect | None) -> Files | Lazy | None:
    """Return the origin of a URL's rows, if they should not be read into memory."""
    if engine == "memory":
        return None
    if engine == "auto" and source.file is not None and not _is_large(source.file, is_database=True):
        # The file is small: counting its rows would take a pass.
        return None
    free = free_memory()
    max_bytes = math.inf if free is None else _MAX_MEMORY_SHARE * free / _GROWTH_IN_MEMORY["rows"]
    if source.program is None:
        frame, n_bytes = lazy_objects(source)
        is_kept_out = engine == "stream" or source.is_many or n_bytes > max_bytes
        return of_engine(frame, dialect=dialect) if is_kept_out else None
    return _open_files(source, dialect) if engine == "stream" or connect(source).n_bytes > max_bytes else None


def _open_files(path: Path | Source, dialect: Dialect | None) -> Files:
    try:
        from hushtable.engines.files import Files
    except ModuleNotFoundError:
        raise InputError(
            f"reading {str(path)!r} batch by batch needs a reader.", hint="pip install 'hushtable[stream]'."
        ) from None
    return Files.open(path, dialect)


def _is_large(path: Path, *, is_database: bool = False) -> bool:
    """Tell whether a file is too large to be read into memory."""
    free, is_packed = free_memory(), path.suffix.lower() == ".gz"
    kind = "database" if is_database else FILE_KINDS.get((path.with_suffix("") if is_packed else path).suffix.lower())
    if free is None or kind not in _GROWTH_IN_MEMORY or not path.is_file():
        return False
    max_bytes = _MAX_MEMORY_SHARE * free / _GROWTH_IN_MEMORY[kind]
    if not is_packed:
        return path.stat().st_size > max_bytes
    # An unreadable file is reported later, when it is read.
    with suppress(OSError), path.open("rb") as file:
        return count_gzip_bytes(path, file, max_bytes) > max_bytes
    return False
