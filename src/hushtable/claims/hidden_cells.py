"""Judge from a published table of cells alone that it shows no small count, and that no hidden cell can be computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Final

from hushtable.claims.certificates import witnesses
from hushtable.claims.certificates.witnesses import WitnessEntries, format_cells, parse_number
from hushtable.claims.verdict import Claim, Failure, SpeaksOfNobody, Verdict
from hushtable.errors import InputError, check_choice, check_whole
from hushtable.io import Frame, frames
from hushtable.wording import join_names

_MAX_DECIMALS: Final = 15
_RING: Final = "; that all tables are sums of one finer table is not used, and who uses it may know more"


def are_decomposable(tables: Sequence[Sequence[str]]) -> bool:
    """Whether tables that agree in what they share are always sums of one finer table (Graham, 1979)."""
    left = [set(names) for names in tables]
    while True:
        uses = Counter(name for names in left for name in names)
        shared = [{name for name in names if uses[name] > 1} for names in left]
        kept = [
            names
            for place, names in enumerate(shared)
            if not any(names < other or (names == other and place > first) for first, other in enumerate(shared))
        ]
        if kept == left:
            return len(kept) <= 1
        left = kept


@dataclass(frozen=True, slots=True)
class HiddenCells(SpeaksOfNobody):
    """No cell that a table hides follows from what it shows.

    The claim brings witnesses: other tables that agree with all that is shown. Whoever has the table can compute such
    tables: they are made from the published file alone, and tell nothing besides it. It says which columns each table
    has, what its values are and which labels are below which others. Totals, marks and all else are looked for in the
    file: a claim does not choose what its reader knows.
    """

    threshold: int | None  # counts below are not shown, and the witnesses reach it; None for sums
    witnesses: WitnessEntries = field(repr=False)  # the entries of a certificate of witnesses

    kind: ClassVar[str] = "hidden cells"
    mark: ClassVar[str] = "x"  # in place of a hidden value
    total: ClassVar[str] = "Total"  # the label that sums all others of a dimension

    def __post_init__(self) -> None:
        if self.threshold is not None:
            check_whole("threshold", self.threshold, 1)
        if not isinstance(self.witnesses, Mapping) or not self.witnesses.get("tables"):
            raise InputError("no witnesses were given.", hint="they are made by hushtable tables, or check.")
        with witnesses.refuse_unreadable():
            # A manifest may hold anything: what the claim reads itself is read now.
            reader = self.witnesses["reader"]
            check_choice("content", reader["content"], ("counts", "sums"))
            check_choice("zeros", reader["zeros"], ("shown", "hidden"))
            check_whole("decimals", self.witnesses["decimals"], 0, _MAX_DECIMALS)
            if len({(table["value"], table["across"]) for table in self.witnesses["tables"]}) > 1:
                raise InputError("tables of one file have several columns of values.", hint="write it anew.")
            self._list_demands(1)
            if not all(isinstance(name, str) for name in (*self.columns, *self.trees)):
                raise TypeError

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of labels, and that of values."""
        return (*self._dimensions, self._value)

    @property
    def tables(self) -> tuple[tuple[str, ...], ...]:
        """The dimensions of each table."""
        return tuple(tuple(table["by"]) for table in self.witnesses["tables"])

    @property
    def _dimensions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for by in self.tables for name in by))

    @property
    def _value(self) -> str:
        return str(self.witnesses["tables"][0]["value"])

    @property
    def trees(self) -> dict[str, Mapping[str, Sequence[str]]]:
        """Which labels are below which others: the same in every table."""
        return {name: tree for table in self.witnesses["tables"] for name, tree in table["hierarchies"].items()}

    @property
    def conditions(self) -> tuple[str, ...]:
        """What is shown, and what cannot be computed."""
        shown = () if self.threshold is None else (self._nothing_small,)
        return (self._shows_tables, *shown, *witnesses.CONDITIONS)

    @property
    def _shows_tables(self) -> str:
        """How the file is read, as far as it does not say it itself."""
        trees = tuple(self.trees)
        sums = f" and the sums in {join_names(trees)} that the manifest lists" if trees else ""
        zeros = ", zeros hidden" if self._hides_zeros else ""
        tables = "tables of counts" if self.witnesses["reader"]["content"] == "counts" else "tables of sums"
        return f"the file shows {tables} with their totals{sums}{zeros}, and nothing else"

    @property
    def _hides_zeros(self) -> bool:
        return bool(self.witnesses["reader"]["zeros"] == "hidden")

    @property
    def _nothing_small(self) -> str:
        return f"no count from 1 to {(self.threshold or 1) - 1} is shown"

    @property
    def sentence(self) -> str:
        """What is protected, and against whom."""
        far = "" if self.threshold is None else f", and each may be {self.threshold} or more"
        return (
            f"no hidden cell can be computed from the cells that are shown{far}. "
            f"A reader who knows further tables of the same people, or is alone in a cell, may know more{self._ring}"
        )

    @property
    def _ring(self) -> str:
        """What is said of tables that a finer one binds more than their sums do."""
        return "" if are_decomposable(self.tables) else _RING

    def with_knowledge_of(self, asked: Claim) -> HiddenCells:
        """Return the claim: another knows nothing besides."""
        del asked
        return self

    def verify(self, data: Any, *, original: Any = None) -> Verdict:
        """Judge a published table from the table alone; ``original`` plays no part."""
        del original
        frame = frames.read(data)
        with witnesses.refuse_unreadable():
            cells = format_cells(frame)
            strange = tuple(self._find_strange_rows(cells))
            if strange:
                what, *others = self.conditions
                unchecked = dict.fromkeys(others, f"a file of which this holds: {what}")
                return Verdict(self.conditions, strange, self._dimensions, frame.n_rows, unchecked)
            verdict = self._judge_witnesses(frame, self._complete_witnesses(cells))
        return replace(verdict, conditions=self.conditions)

    def _judge_witnesses(self, frame: Frame, entries: WitnessEntries) -> Verdict:
        """Judge the witnesses, and what the cells themselves show."""
        verdict, shown = witnesses.judge([frame] * len(self.tables), entries)
        n_small = sum(0 < value < (self.threshold or 0) for value in shown)
        small = (Failure(f"{self._nothing_small}: {n_small} are"),) if n_small else ()
        return replace(verdict, failures=(*small, *verdict.failures))

    def _find_strange_rows(self, cells: Mapping[str, list[str]]) -> Iterator[Failure]:
        """Yield what of the file no table reads, or reads otherwise than people do."""
        if set(cells) != set(self.columns):
            yield Failure(f"{self._shows_tables}: its columns are not those of the tables")
            return
        labels = list(zip(*(cells[name] for name in self._dimensions), strict=True))
        inside = [
            {name for name, label in zip(self._dimensions, row, strict=True) if label != self.total} for row in labels
        ]
        n_strange = sum(not any(names <= set(by) for by in self.tables) for names in inside)
        if n_strange:
            yield Failure(f"{self._shows_tables}: {n_strange} rows are in none of them")
        for by in self.tables:
            own = [names for names in inside if names <= set(by)]
            without = [name for name in by if all(name in names for names in own)]
            if without:
                yield Failure(f"{self._shows_tables}: there are no totals of {join_names(without)}")
        yield from self._find_strange_values(cells[self._value])

    def _find_strange_values(self, texts: Sequence[str]) -> Iterator[Failure]:
        """Yield what of the values is neither a number nor the mark, or against what is said of zeros."""
        values = [parse_number(text) for text in texts]
        n_unknown = sum(value is None and text != self.mark for text, value in zip(texts, values, strict=True))
        if n_unknown:
            yield Failure(f"{self._shows_tables}: {n_unknown} cells are neither a number nor {self.mark}")
        if self._hides_zeros and 0 in values:
            yield Failure(f"{self._shows_tables}: zeros are said to be hidden, and one is shown")

    def _complete_witnesses(self, cells: Mapping[str, list[str]]) -> WitnessEntries:
        """Return the entries of the witnesses with what the claim does not choose."""
        given, names = self.witnesses, self._dimensions
        tables = [
            {
                "by": by,
                "value": self._value,
                "total": dict.fromkeys(by, self.total),
                "fixed": {name: self.total for name in names if name not in by},
                "hierarchies": self.trees,
            }
            for by in self.tables
        ]
        unit = 10 ** int(given["decimals"])
        # A step of the last decimal that the file shows, however fine the witnesses are.
        shown_decimals = max((len(text.partition(".")[2]) for text in cells[self._value]), default=0)
        step = Fraction(unit, 10**shown_decimals)
        reader = {**given["reader"], "absent": "zero", "negative": False}
        asked = self._list_demands(step)
        return {**given, "tables": tables, "reader": reader, "asks_all": True, "asked": asked}

    def _list_demands(self, step: Fraction | int) -> list[WitnessEntries]:
        """Return what the witnesses must reach in each cell: the claim says it, and not they."""
        up = None if self.threshold is None else self.threshold * 10 ** int(self.witnesses["decimals"])
        return [
            {"cell": ask["cell"], "spread": step, "reach_down": None, "reach_up": up} for ask in self.witnesses["asked"]
        ]

    def to_dict(self) -> dict[str, object]:
        """Return the threshold and the witnesses."""
        return {"kind": self.kind, "threshold": self.threshold, "witnesses": dict(self.witnesses)}

    @classmethod
    def from_dict(cls, entries: WitnessEntries) -> HiddenCells:
        """Read what `to_dict` wrote."""
        return cls(entries["threshold"], entries["witnesses"])
