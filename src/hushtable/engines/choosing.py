"""Tables that are not in memory: in files, or in an engine that works on lazy frames."""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from hushtable import anonymizers
from hushtable.anonymizers import LearnedRecoding, Request, check_roles, doubt_of_persons
from hushtable.claims import Classes
from hushtable.columns import ColumnSpec
from hushtable.engines.lazy import Lazy, is_lazy, opened as of_engine, orders_of
from hushtable.errors import InputError, TooManyRowsError, listed
from hushtable.io import (
    FILE_KINDS,
    Dialect,
    Frame,
    Source,
    connect,
    is_many,
    lazy_objects,
    located,
    unpacked_size,
)
from hushtable.release import NextBatch, Pseudonyms, Release
from hushtable.search import free_memory

if TYPE_CHECKING:
    from hushtable.engines.files import Files

__all__ = ["LOOKED_AT", "EngineChoice", "opened", "protect", "publish_next", "session_of_spark"]

EngineChoice = Literal["auto", "memory", "stream", "spark"]

LOOKED_AT: Final = 100_000
"""Rows in which roles and direct identifiers are looked for, where not all are in memory."""

MOST_COUNTED: Final = 5_000_000
"""Distinct rows past which the records of files are cut one by one, where what is asked allows it."""

_MOST_CODED: Final = 250_000_000  # records that are cut one by one

_SHARE: Final = 0.5  # of the free memory, past which a file is not read into it
# How many times its size a file takes in memory, until it is released; rows are as they are in memory.
_GROWTH: Final = {"csv": 8, "parquet": 20, "database": 20, "rows": 4}


def opened(
    data: Any, *, engine: EngineChoice = "auto", session: Any = None, dialect: Dialect | None = None
) -> Files | Lazy | None:
    """Return where the rows are, if they are not to be read into memory; else None.

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
    if _is_opened(data):
        known: Files | Lazy = data
        return known
    if not isinstance(data, (str, os.PathLike)):
        if engine != "auto" and is_lazy(data):
            raise InputError(
                f"engine = {engine!r} for a lazy frame.", hint="leave it out: it stays with its own engine."
            )
        if engine in ("stream", "spark"):
            raise InputError(
                f"engine = {engine!r} for a table in memory.", hint="pass the path of its file, or leave it out."
            )
        return of_engine(data, session, dialect=dialect) if is_lazy(data) else None
    path = located(data)
    if engine == "spark":
        return _of_spark(path, session, dialect)
    if isinstance(path, Source):
        return _of_source(path, engine, dialect)
    if engine == "memory" or (engine == "auto" and not is_many(path) and not _is_large(path)):
        return None
    return _files(path, dialect)


def _is_opened(data: Any) -> bool:
    """Tell whether something is where rows are; nothing is loaded to find out."""
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
    # hushtable hands no frame of pandas to Spark.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    return _spark().started(master)


def _spark() -> Any:
    """Return the module that needs PySpark."""
    if find_spec("pyspark") is None or find_spec("pyarrow") is None:
        raise InputError("engine = 'spark' needs PySpark.", hint="pip install 'hushtable[spark]'.")
    return import_module("hushtable.engines.spark")


def _of_spark(path: Path | Source, session: Any, dialect: Dialect | None) -> Lazy:
    """Return files that Spark reads."""
    if isinstance(path, Source):
        raise InputError(
            "engine = 'spark' reads Parquet files that all executors see, and no URL.",
            hint="read it in Spark by yourself, and pass the DataFrame in Python.",
        )
    spark = _spark()
    from hushtable.io import scan

    source = scan(path, dialect)
    frame = spark.of_files(source, session or spark.started())
    return replace(of_engine(frame, dialect=dialect), files=source.inputs, specs=orders_of(source.schema))


def _add_orders(asked: Request, orders: Mapping[str, ColumnSpec]) -> Request:
    """Return the request with the orders that files have, unless it declares another kind or order itself."""
    specs = dict(asked.specs)
    for name in {*asked.quasi_identifiers, *asked.judged} & set(orders):
        spec = specs.get(name, ColumnSpec())
        if spec.order is None and spec.kind in (None, "ordered"):
            specs[name] = spec.completed(orders[name])
    return replace(asked, specs=specs)


def _of_source(source: Source, engine: EngineChoice, dialect: Dialect | None) -> Files | Lazy | None:
    """Return where the rows of a URL are, if they are not to be read into memory."""
    if engine == "memory":
        return None
    if engine == "auto" and source.file is not None and not _is_large(source.file, is_database=True):
        # Counting its rows takes a pass.
        return None
    free = free_memory()
    most = math.inf if free is None else _SHARE * free / _GROWTH["rows"]
    if source.program is None:
        frame, n_bytes = lazy_objects(source)
        is_kept_out = engine == "stream" or source.is_many or n_bytes > most
        return of_engine(frame, dialect=dialect) if is_kept_out else None
    return _files(source, dialect) if engine == "stream" or connect(source).n_bytes > most else None


def _files(path: Path | Source, dialect: Dialect | None) -> Files:
    try:
        from hushtable.engines.files import Files
    except ModuleNotFoundError:
        raise InputError(
            f"reading {str(path)!r} batch by batch needs a reader.", hint="pip install 'hushtable[stream]'."
        ) from None
    return Files.open(path, dialect)


def _is_large(path: Path, *, is_database: bool = False) -> bool:
    """Tell whether a file is one that had better not be read into memory."""
    free, is_packed = free_memory(), path.suffix.lower() == ".gz"
    kind = "database" if is_database else FILE_KINDS.get((path.with_suffix("") if is_packed else path).suffix.lower())
    if free is None or kind not in _GROWTH or not path.is_file():
        return False
    most = _SHARE * free / _GROWTH[kind]
    if not is_packed:
        return path.stat().st_size > most
    # Whoever reads it says why it cannot be read.
    with suppress(OSError), path.open("rb") as file:
        return unpacked_size(path, file, most) > most
    return False


def protect(origin: Files | Lazy, asked: Request) -> Release:
    """Carry out a request for rows that are not in memory: for the distinct ones, with counts.

    Parameters
    ----------
    origin : Files or Lazy
    asked : Request

    Raises
    ------
    ColumnError, InputError, InfeasibleError
        As `hushtable.anonymize` says.
    """
    check_roles(origin.columns, asked)
    if asked.parted and origin.groups_by_itself:
        raise InputError(
            f"columns {listed(asked.parted)} have a separator, and a lazy frame has its own cells.",
            hint="pass the path of its files, or collect it.",
        )
    asked = _add_orders(asked, origin.specs)
    origin = origin.told(asked.specs)
    linked = [model.name for model in asked.models if model.needs.histories]
    if linked:
        raise InputError(
            f"{listed(linked)} judges all records of a person together, which takes the rows in memory.",
            hint="take engine='memory' and one file or a frame; or unlink the records (`action: fresh`) and ask for "
            "k-anonymity.",
        )
    if asked.method.offers.parts_equal_records:
        raise InputError(
            f"method {asked.method.name!r} parts equal records, which takes a row for each of them.",
            hint="take another one, such as 'mondrian', or engine='memory'.",
        )
    if not asked.writing.spells_as_usual:
        raise InputError(
            "rows that are not in memory are published as they are: an encoding, a decimal mark or a way to hide "
            "formulas has no effect.",
            hint="leave it out of the policy's `write:`, or take engine='memory'.",
        )
    persons = () if asked.person is None else (asked.person,)
    names = tuple(dict.fromkeys((*asked.quasi_identifiers, *asked.judged, *persons)))
    first = origin.head(LOOKED_AT)
    _refuse_odd_cells(first, (*asked.identifiers, *(asked.pseudonyms.columns if asked.pseudonyms else ())))
    counted = _counted(origin, asked, names)
    # Records that are not told apart among the first are not told apart among all.
    doubt = doubt_of_persons(first, asked)
    if doubt is not None:
        warnings.warn(doubt, stacklevel=3)
    fresh = asked.pseudonyms.fresh if asked.pseudonyms else ()
    if fresh and not origin.draws_pseudonyms:
        raise InputError(
            f"columns {listed(fresh)} get a new pseudonym for every record, which a lazy frame cannot draw.",
            hint="leave them out, or write the lazy frame as files and pass their path.",
        )
    # A pseudonym that is no one's says as little as a column that is left out.
    hidden = tuple(name for name in (*asked.identifiers, *fresh) if name in names)
    of_distinct = replace(asked, identifiers=hidden, pseudonyms=None, inputs=(*asked.inputs, *origin.inputs))
    if counted is None:
        made, origin = _row_by_row(origin, of_distinct, names)
    else:
        made = anonymizers.protect(counted, of_distinct)
    if isinstance(made.claim, Classes):
        made = replace(made, claim=replace(made.claim, is_fresh=asked.person in fresh))
    return _extend_to_all_rows(made, origin, asked.identifiers, asked.pseudonyms)


def _extend_to_all_rows(
    of_distinct: Release, origin: Files | Lazy, removed: tuple[str, ...], pseudonyms: Pseudonyms | None
) -> Release:
    """Return the release of all rows that are somewhere, from that of the distinct ones."""
    others = tuple(_extend_to_all_rows(each, origin, removed, pseudonyms) for each in of_distinct.alternatives)
    return replace(of_distinct, origin=origin, removed=removed, pseudonyms=pseudonyms, alternatives=others)


def _refuse_odd_cells(first: Frame, hidden: Sequence[str]) -> None:
    """Refuse undecided odd cells of the first rows: columns that are kept as they are nobody counts."""
    _, undecided = first.without_odd_cells([name for name in first.names if name not in hidden])
    if undecided:
        from hushtable.io import refuse_odd_cells

        refuse_odd_cells(undecided)


def _counted(origin: Files | Lazy, asked: Request, names: tuple[str, ...]) -> Frame | None:
    """Return the distinct rows with counts; None where they are too many, and the records are cut one by one."""
    if isinstance(origin, Lazy):
        can_be_cut = origin.engine.writes and asked.pseudonyms is None and anonymizers.why_not_in_parts(asked) is None
    else:
        # Where a database gives rows in another order each time, no record is told by its place.
        can_be_cut = origin.source.has_order and anonymizers.why_not_row_by_row(asked) is None
    if not can_be_cut:
        return origin.collapse(names)
    try:
        return origin.collapse(names, most_rows=MOST_COUNTED)
    except TooManyRowsError:
        # Of far more records than there are distinct rows, the rows take less memory here.
        is_cut_here = not isinstance(origin, Lazy)
        return origin.collapse(names) if is_cut_here and origin.n_records > _MOST_CODED else None


def _row_by_row(origin: Files | Lazy, asked: Request, names: tuple[str, ...]) -> tuple[Release, Files | Lazy]:
    """Protect every record by itself; return the release of the classes, and where the records are."""
    if isinstance(origin, Lazy):
        from hushtable.engines.walked_cells import WalkedCells

        in_parts = origin.protected_in_parts(asked, names)
        return in_parts.release, replace(origin, walked=WalkedCells.of(in_parts))
    from hushtable.engines.files import NumberedRecords
    from hushtable.io import RowCodes

    records = RowCodes.of(origin.source, names)
    made = anonymizers.protect_row_by_row(records, asked)
    return made.release, replace(origin, numbered=NumberedRecords(records, made.row_of_record))


def publish_rows(learned: NextBatch, rows: object, *, key: bytes | None, session: object) -> Release:
    """Publish rows that are not in memory, and not opened yet, by the cells of an earlier release."""
    engine: EngineChoice = "stream" if isinstance(rows, (str, Path)) else "auto"
    origin = opened(rows, engine=engine, session=session)
    if origin is None:
        raise InputError(
            "the new rows are in memory.", hint="write them as files, or save the recoding and read it there."
        )
    assert isinstance(learned, LearnedRecoding)
    return publish_next(learned, origin, key=key)


def publish_next(learned: LearnedRecoding, origin: Files | Lazy, *, key: bytes | None = None) -> Release:
    """Publish rows that are not in memory by the cells of an earlier release; see `LearnedRecoding.apply`.

    The distinct rows are placed, with their counts, and judged by themselves; all records are published by them.

    Parameters
    ----------
    learned : LearnedRecoding
    origin : Files or Lazy
    key : bytes, optional
        The secret of pseudonyms.

    Raises
    ------
    ColumnError, InputError, InfeasibleError
        As `LearnedRecoding.apply`; or records get fresh pseudonyms, which a lazy frame cannot draw.
    """
    asked = learned.asked
    learned.check_columns(origin.columns)
    pseudonyms = learned.pseudonyms(key)
    if learned.fresh and not origin.draws_pseudonyms:
        raise InputError(
            f"columns {listed(learned.fresh)} get a new pseudonym for every record, which a lazy frame cannot draw.",
            hint="write the lazy frame as files and pass their path.",
        )
    origin = origin.told(asked.specs)
    _refuse_odd_cells(origin.head(LOOKED_AT), (*asked.identifiers, *(pseudonyms.columns if pseudonyms else ())))
    persons = () if asked.person is None else (asked.person,)
    names = tuple(dict.fromkeys((*learned.cells, *asked.judged, *persons)))
    # A pseudonym that is no one's says as little as a column that is left out.
    hidden = tuple(name for name in (*asked.identifiers, *learned.fresh) if name in names)
    of_distinct = replace(asked, identifiers=hidden, pseudonyms=None, inputs=(*asked.inputs, *origin.inputs))
    narrow = replace(learned, asked=of_distinct, columns=names, hidden=(), fresh=(), limit=None)
    release = _extend_to_all_rows(narrow.apply(origin.collapse(names)), origin, asked.identifiers, pseudonyms)
    if learned.limit is None:
        return release
    return release.with_exposure(learned.limit, accepted=learned.accepted, is_enforced=learned.is_enforced)
