"""Synthesizing: the methods by name, what a method has to be, and those of other packages."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Final, NoReturn, Protocol, TypeVar, get_args, runtime_checkable

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.errors import InputError, check_columns, check_whole, names_in, quote_names
from hushtable.io import Frame, frames, without_remnants
from hushtable.models import entries
from hushtable.search import check_memory
from hushtable.synthesizers import copula, trees
from hushtable.synthesizers.margins import MIN_PEOPLE, Original, build_original
from hushtable.synthesizers.writing import ValueSource, frame_at, frame_like, table_at, table_like, to_positions
from hushtable.tables import Table, open_table, persons_of


@runtime_checkable
class Method(Protocol):
    """A way to draw new records; a frozen dataclass whose fields are its options."""

    name: ClassVar[str]
    """As it is written: ``"copula"``."""

    @property
    def values(self) -> ValueSource:
        """Whether numbers and times may lie between those of two records."""
        ...

    def draw_positions(self, original: Original, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw new records: for each a position in the line of every column, shape (n_columns, n)."""
        ...


METHODS: Final[entries.Registry[type[Method]]] = entries.Registry({}, "synthesizer")
"""Every synthesizer by the name that it is asked for by."""

register = METHODS.register


@register
@dataclass(frozen=True, slots=True)
class Copula:
    """Columns as they are, and of each pair of them how their orders go together: a Gaussian copula.

    Attributes
    ----------
    values : {"interpolated", "observed"}
        Whether numbers, dates and moments may lie between those of two records next to one another, rounded
        and written as the column's own. ``"observed"`` publishes values that people have: the greatest income too.

    Notes
    -----
    A normal variable behind each column, of which a cell tells the range. The correlations are estimated
    from the means of the variables within cells (a first-order correction for what cells do not tell); see
    `hushtable.synthesizers.copula`. Categories get an order by optimal scaling. What three columns do together, and
    what is not monotone in two, is lost.
    """

    name: ClassVar[str] = "copula"
    values: ValueSource = "interpolated"

    def __post_init__(self) -> None:
        _check_values(self.values)

    def draw_positions(self, original: Original, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw positions that depend on one another as the columns do."""
        table = original.table
        codes = table.codes + np.int32(1)
        lines = copula.build_lines(codes, table.counts, [column.kind == "category" for column in table.columns])
        correlation = copula.nearest_correlations(copula.estimate_correlations(codes, table.counts, lines))
        all_positions = np.empty((len(lines), n))
        for rows, positions in copula.draw_positions(correlation, lines, n, rng):
            all_positions[:, rows] = positions
        return all_positions


@register
@dataclass(frozen=True, slots=True)
class Independent:
    """Columns as they are, and nothing of what they say of one another.

    Attributes
    ----------
    values : {"interpolated", "observed"}
        As for `Copula`.
    """

    name: ClassVar[str] = "independent"
    values: ValueSource = "interpolated"

    def __post_init__(self) -> None:
        _check_values(self.values)

    def draw_positions(self, original: Original, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw every cell for itself."""
        table = original.table
        return np.array([to_positions(rng.random(n), table.n_records) for _ in table.columns])


@register
@dataclass(frozen=True, slots=True)
class Trees:
    """Columns one after another, each from a tree on those before it: what several columns do together is kept.

    Attributes
    ----------
    min_leaf : int, default 20
        How many records each leaf holds at least; of persons, as many persons. At least 10.
    order : sequence of str, optional
        Columns that are drawn first, in this order; all others follow as they stand in the table.
    values : {"interpolated"}
        No option: a tree learns from bins of numbers, and draws within these.

    Notes
    -----
    Needs ``hushtable[sklearn]``. Reiter, "Using CART to generate partially synthetic public use microdata", 2005; how
    this departs from it: `hushtable.synthesizers.trees`. It keeps more than the copula, also of people: measure it.
    """

    name: ClassVar[str] = "trees"
    min_leaf: int = 20
    order: Sequence[str] = ()

    def __post_init__(self) -> None:
        check_whole("min_leaf", self.min_leaf, MIN_PEOPLE)
        object.__setattr__(self, "order", names_in(self.order, "order"))

    @property
    def values(self) -> ValueSource:
        """Numbers are drawn within bins."""
        return "interpolated"

    def draw_positions(self, original: Original, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw positions column by column."""
        names = original.table.names
        check_columns(self.order, names, "order")
        order = [*self.order, *(name for name in names if name not in self.order)]
        return trees.draw_positions(original, [names.index(name) for name in order], self.min_leaf, n, rng)


@register
@dataclass(frozen=True, slots=True)
class Bootstrap:
    """Whole records, drawn with replacement: it gives everything away, so that others can be compared to it.

    Attributes
    ----------
    values : {"observed"}
        No option: records are copied.
    """

    name: ClassVar[str] = "bootstrap"

    @property
    def values(self) -> ValueSource:
        """Whole records are drawn: their values are those of people."""
        return "observed"

    def draw_positions(self, original: Original, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw records, and return where each stands in the line of every column."""
        table = original.table
        records = rng.integers(table.n_records, size=n)
        return np.array([_positions_in_line(table, j)[records] + 0.5 for j in range(len(table.columns))])


def _positions_in_line(table: Table, j: int) -> CountArray:
    """Return where each record stands in the line of a column; equal ones as they follow one another."""
    codes = np.repeat(table.codes[j], table.counts)
    stands = np.empty(len(codes), dtype=np.int64)
    stands[np.argsort(codes, kind="stable")] = np.arange(len(codes))
    return stands


def _check_values(values: str) -> None:
    if values not in get_args(ValueSource):
        raise InputError(f"values = {values!r}.", hint="choose 'interpolated' or 'observed'.")


ENTRY_POINT_GROUP: Final = "hushtable.synthesizers"

WrittenT = TypeVar("WrittenT")


@dataclass(frozen=True, slots=True)
class Installed:
    """A synthesizer of another package; a subclass for each knows its entry point.

    What the entry point loads is a class, made without arguments, with ``fit(table, seed)``, which gets a polars
    frame of typed values, and ``sample(n, seed)``, which returns an eager dataframe of the same columns.
    """

    name: ClassVar[str] = ""
    entry: ClassVar[importlib.metadata.EntryPoint]

    def sample(self, table: Any, n: int, seed: int) -> Frame:
        """Return n new records, the columns in the order of the table's."""
        synthesizer = self._make_synthesizer()
        try:
            synthesizer.fit(table, seed)
            result = synthesizer.sample(n, seed)
        except Exception as error:
            # Its message may hold what it was given.
            self._refuse(f"failed: {type(error).__name__}.")
        frame = self.convert_result(frames.read, result)
        lacking, more = {*table.columns} - {*frame.columns}, {*frame.columns} - {*table.columns}
        if lacking or more:
            self._refuse(f"lacks {len(lacking)} columns ({quote_names(sorted(lacking))}) and adds {len(more)}.")
        if frame.n_rows != n:
            self._refuse(f"returned {frame.n_rows} rows instead of {n}.")
        return frame.select(table.columns)

    @classmethod
    def fingerprint(cls) -> str:
        """Identify the version of its code: the package's version, and a hash of the module's file."""
        package = "" if cls.entry.dist is None else f"{cls.entry.dist.name} {cls.entry.dist.version}"
        spec = importlib.util.find_spec(cls.entry.module)
        path = None if spec is None or spec.origin is None else Path(spec.origin)
        code = hashlib.sha256(path.read_bytes()).hexdigest() if path is not None and path.is_file() else ""
        return f"{package} {code}"

    def convert_result(self, write: Callable[[Any], WrittenT], result: Any) -> WrittenT:
        """Convert a table that the synthesizer returned; if that fails, the error names the synthesizer."""
        try:
            return write(result)
        except InputError as error:
            self._refuse(f"returned a table that cannot be used: {str(error).splitlines()[0]}")

    def _make_synthesizer(self) -> Any:
        try:
            synthesizer = self.entry.load()()
        except (ImportError, AttributeError, TypeError) as error:
            self._refuse(f"cannot be made: {error}.")
        if not all(callable(getattr(synthesizer, verb, None)) for verb in ("fit", "sample")):
            self._refuse("cannot fit and sample.")
        return synthesizer

    def _refuse(self, problem: str) -> NoReturn:
        message = f"the synthesizer {self.name!r} of the entry point {self.entry.value!r} {problem}"
        hint = "it is a class made without arguments, with fit(table, seed) and sample(n, seed), which returns n rows."
        raise InputError(message, hint=hint) from None


def plugin_synthesizers() -> dict[str, type[Installed]]:
    """Return the synthesizers of other packages by their names."""
    return {
        entry.name: type("Installed", (Installed,), {"name": entry.name, "entry": entry})
        for entry in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)
    }


_MAX_RECORDS: Final = 10**15


def synthesize(
    data: Any,
    *,
    method: str | Mapping[str, Any] | Method = "copula",
    n: int | None = None,
    seed: int = 0,
    person: str | None = None,
) -> Any:
    """Draw a table of new records that is like a table in its columns, and in how they go together.

    Parameters
    ----------
    data : path, dataframe or Table
    method : str, mapping or Method, default "copula"
        ``"copula"``, ``"trees"``, ``"independent"`` or ``"bootstrap"``, with options
        ``{"copula": {"values": "observed"}}`` or as an object, ``Copula(values="observed")``; or the name of a
        synthesizer of another package: an installed entry point of the group ``hushtable.synthesizers``.
    n : int, optional
        How many records; as many as `data` has when not given.
    seed : int, default 0
        The same data, method, n and seed give the same table.
    person : str, optional
        A column that tells whose record a row is: a value is rare if few persons share it, however many their
        records. The result has no such column. A row without a person is a person of its own.

    Returns
    -------
    the same kind of table
        Cells in the spelling and of the types of the original; of a path, a polars frame.

    Raises
    ------
    InputError
        There is no record, no such method, or what a synthesizer of another package returns is not what was asked.
    ColumnError
        A column has a type that cannot be coded.

    Notes
    -----
    A synthetic table is not a protected one, and is never called so here: whoever has a rare value may find it,
    and what a method learned of the columns together it learned from people. Split before (`hushtable.split`),
    draw from the one part, and measure what that gave away: ``mpuccs(train, synthetic, control=control)``.

    By default (``"interpolated"``) no value that fewer than ten people share is kept. Numbers, dates and moments are
    spread over bins of at least ten people, and of a 64th of all, as finely as the column has them: rounding meets
    some values by chance. Rare categories become one of the others; if they hold more than half of a column, their
    cells stay empty, as names do. So do dates whose way of writing is not found (`writing`). A value that fills a
    bin, a number three times as frequent as those around it, and a category stay if ten people share them.
    With ``values="observed"`` every cell is one of the original's, as it stands there: so is the greatest income, and
    every number that one person has.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 34, 52, 57] * 5, "job": ["clerk", "cook", "clerk", None] * 5})
    >>> made_up = synthesize(people, n=1000)
    >>> made_up.shape, made_up["age"].is_between(31, 57).all(), made_up["job"].null_count() in range(200, 300)
    ((1000, 2), True, True)
    """
    synthesizer = _choose_method(method)
    source = open_table(data)
    n = source.n_records if n is None else n
    if isinstance(source, Table):
        return _synthesize_table(source, synthesizer, n, seed, person)
    frame = synthesize_frame(source.with_row_per_record(), synthesizer, n, seed, person)
    return frame.with_types_by_looks().native


def synthesize_frame(
    frame: Frame, method: str | Mapping[str, Any] | Method | Installed, n: int, seed: int, person: str | None = None
) -> Frame:
    """Draw a frame of new records, spelled and typed as the given one.

    If you have a `numpy.random.SeedSequence`, pass a number of it: ``int(sequence.generate_state(1)[0])``.
    """
    synthesizer = method if isinstance(method, Installed) else _choose_method(method)
    frame, persons = _part_from_persons(frame, person, synthesizer)
    _check_arguments(frame, n, seed)
    typed_frame = frame.with_learned_specs()
    table = Table.encode(typed_frame)
    if isinstance(synthesizer, Installed):
        new = synthesizer.convert_result(
            lambda found: frame_like(typed_frame, table, found), synthesizer.sample(table.decode(), n, seed)
        )
    else:
        original = build_original(table, persons, pools=synthesizer.values == "interpolated")
        positions = synthesizer.draw_positions(original, n, np.random.default_rng(seed))
        new = without_remnants(frame_at(typed_frame, original, synthesizer.values, positions), rows_are_gone=True)
    return replace(frame, data=new.data)


def _choose_method(method: Any) -> Method | Installed:
    registry: entries.Registry[Any] = entries.Registry({**plugin_synthesizers(), **METHODS}, "synthesizer")
    return registry.take(method, Method)  # type: ignore[no-any-return]


SourceT = TypeVar("SourceT", Frame, Table)


def _part_from_persons(
    source: SourceT, person: str | None, method: Method | Installed
) -> tuple[SourceT, CodeArray | None]:
    """Part the column of persons from the others: no new record is one of theirs."""
    if person is None:
        return source, None
    if isinstance(method, Installed):
        hint = f"leave person out; {method.name!r} gets rows only."
        raise InputError(f"person = {person!r} has no effect with the synthesizer {method.name!r}.", hint=hint)
    persons = persons_of(source, person)
    others = [name for name in source.names if name != person]
    if not others:
        raise InputError(f"the table has no columns beside {person!r}.", hint="a synthesizer needs some to learn from.")
    return source.select(others), persons


def _check_arguments(source: Frame | Table, n: int, seed: int) -> None:
    check_whole("seed", seed, 0)
    if not source.n_records:
        raise InputError("the table has no records.", hint="a synthesizer needs some to learn from.")
    check_whole("n", n, 1, _MAX_RECORDS)
    n_columns = len(source.names)
    if not n_columns:
        raise InputError("the table has no columns.", hint="a synthesizer needs some to learn from.")
    # For each cell its position, its record, and a text.
    check_memory(40.0 * n * n_columns, f"{n} records of {n_columns} columns", "ask for fewer records, or in parts.")


def _synthesize_table(table: Table, method: Method | Installed, n: int, seed: int, person: str | None) -> Table:
    """Draw a table of new records, each a row."""
    table, persons = _part_from_persons(table, person, method)
    _check_arguments(table, n, seed)
    if isinstance(method, Installed):
        return method.convert_result(lambda found: table_like(table, found), method.sample(table.expand(), n, seed))
    original = build_original(table, persons, pools=method.values == "interpolated")
    positions = method.draw_positions(original, n, np.random.default_rng(seed))
    return table_at(original, method.values, positions)
