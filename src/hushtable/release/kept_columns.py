"""Whether a published table keeps to its limit of records that are unique on columns kept as they are.

The count starts again from the published cells, and shares no walk with the one before writing (`exposure`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from hushtable._types import FEWEST_RECORDS, BoolArray, CodeArray, CountArray
from hushtable.claims import Claim, ClaimOnColumns, Failure, Verdict, holds_cells, label_rows
from hushtable.columns import series, text_codes
from hushtable.errors import ColumnError, InputError, TooManyRowsError, quote_names
from hushtable.io import Frame
from hushtable.release.manifest import EXPOSURE_LIMIT

if TYPE_CHECKING:
    from hushtable.io import Scan

_MAX_ROWS_LABELLED: Final = 10**9  # rows times sets of columns: minutes
_MAX_ROWS_HELD: Final = 2**20  # distinct rows; above this, they are counted on the disk
_EXEMPT: Final = ("accepted", "pseudonymized", "fresh")
_VOUCHES: Final = "its manifest says that it was judged before the file was written"


@dataclass(frozen=True, slots=True)
class KeptLimit:
    """Which share of the records may be unique on a few of the columns kept as they are."""

    columns: int  # the most that somebody is taken to know
    rate: float  # in [0, 1]
    exempt: frozenset[str]  # columns that are not counted: pseudonyms, and those that somebody accepted

    @classmethod
    def from_entries(cls, entries: Mapping[str, object]) -> KeptLimit | None:
        """Read what the entries of a manifest limit; None if they limit nothing. InputError if they cannot be read."""
        if entries.get(EXPOSURE_LIMIT) is None:
            return None
        limit, lists = entries[EXPOSURE_LIMIT], [entries.get(name, []) for name in _EXEMPT]
        given = limit if isinstance(limit, Mapping) else {}
        columns, rate = given.get("columns", 0), given.get("rate", 0)
        names = [name for each in lists if isinstance(each, list) for name in each]
        if (
            {*given} != {"columns", "rate"}
            or type(columns) is not int
            or type(rate) not in (int, float)
            or not (columns >= 1 and 0 <= rate <= 1)
            or not all(isinstance(each, list) for each in lists)
            or not all(isinstance(name, str) for name in names)
        ):
            raise InputError(
                f"this version does not read one of {quote_names((EXPOSURE_LIMIT, *_EXEMPT))} so.",
                hint="verify it with the version that wrote it.",
            )
        return cls(columns, rate, frozenset(names))

    def describe(self, exempt: Sequence[str]) -> str:
        """Return the condition in words; what of the table is exempt, a reader must see."""
        left_out = f", without {quote_names(exempt)}" if exempt else ""
        known = "1 column" if self.columns == 1 else f"at most {self.columns} columns"
        return f"records unique on {known} kept as they are{left_out} <= {self.rate:.6g} of all"


def judge_kept_columns(
    verdict: Verdict,
    table: Frame | Scan,
    claim: Claim,
    claimed: Mapping[str, object],
    asked: Mapping[str, object],
    prefix: str = "",
    original: Frame | None = None,
) -> Verdict:
    """Return a verdict that also judges the limit of kept columns: of the manifest beside a file, and of a policy.

    If a record's person cannot be seen, records of equal cells may be one person's: then more are unique than the file
    shows. They are counted in the original, if that has exactly these cells. Else the manifest vouches for its limit.
    Like before writing, fewer than 50 records have no limit.

    Parameters
    ----------
    verdict : Verdict
    table : Frame or Scan
        The published table.
    claim : Claim
    claimed, asked : mapping
        The entries of a manifest, and those that a release by a policy would have; empty without one.
    prefix : str
        Of the condition: the name of one of several tables.
    original : Frame, optional
        What the table was made from.
    """
    if holds_cells(claim) or _count_records(table, verdict) < FEWEST_RECORDS:
        return verdict
    try:
        own, other = KeptLimit.from_entries(claimed), KeptLimit.from_entries(asked)
    except InputError as error:
        condition = f"what {EXPOSURE_LIMIT} of the manifest says"
        return _with_lack(verdict, f"{prefix}{condition}", error.message.rstrip("."))
    for limit in dict.fromkeys(each for each in (own, other) if each is not None):
        is_vouched = limit == own and claimed.get("verified") is True and bool(verdict.held)
        verdict = _judge(verdict, table, claim, limit, prefix, original, is_vouched=is_vouched)
    return verdict


def _judge(
    verdict: Verdict,
    table: Frame | Scan,
    claim: Claim,
    limit: KeptLimit,
    prefix: str,
    original: Frame | None,
    *,
    is_vouched: bool,
) -> Verdict:
    bounds = claim.bound_columns if isinstance(claim, ClaimOnColumns) else ()
    kept = [name for name in table.columns if name not in (*claim.columns, *claim.sensitive, *bounds)]
    tested = [name for name in kept if name not in limit.exempt]
    if not tested or limit.rate >= 1:
        return verdict
    condition = f"{prefix}{limit.describe([name for name in kept if name in limit.exempt])}"
    is_told = claim.person in table.columns and not claim.is_fresh
    if not is_told and original is not None and _tells_persons(original, table, tested, claim.person):
        table, is_told = original, True
    n_unique, is_complete = _count_unique_records(table, tested, claim.person if is_told else None, limit)
    share = n_unique / _count_records(table, verdict)
    if share > limit.rate:
        least = "" if is_complete else "at least "
        failure = Failure(f"{condition}: {least}{n_unique:,} are, {share:.4g} of all")
        return replace(verdict, conditions=(*verdict.conditions, condition), failures=(*verdict.failures, failure))
    if not is_complete:
        return _with_lack(verdict, condition, "there are too many sets of columns", is_vouched=is_vouched)
    if claim.person is not None and not is_told:
        lack = "the table does not say whose record a row is"
        return _with_lack(verdict, condition, lack, is_vouched=is_vouched)
    return replace(verdict, conditions=(*verdict.conditions, condition))


def _count_records(table: Frame | Scan, verdict: Verdict) -> int:
    """Count the records of a table: a verdict may be on several, whose rows are in memory."""
    return table.n_records if isinstance(table, Frame) else verdict.n_records


def _with_lack(verdict: Verdict, condition: str, lack: str, *, is_vouched: bool = False) -> Verdict:
    return replace(
        verdict,
        conditions=(*verdict.conditions, condition),
        unchecked={**verdict.unchecked, condition: lack},
        needs_publisher=(*verdict.needs_publisher, *([condition] if is_vouched else [])),
        vouched={**verdict.vouched, **({condition: _VOUCHES} if is_vouched else {})},
    )


def _count_unique_records(
    table: Frame | Scan, names: Sequence[str], person: str | None, limit: KeptLimit
) -> tuple[int, bool]:
    """Count the records that are unique on few columns, or whose cells one person has; return whether all are known."""
    if isinstance(table, Frame):
        rows = table
    else:
        # Files that are not read whole need a reader, which few verdicts do.
        from hushtable.io import collapse

        try:
            columns = [*names, *([person] if person and person not in names else [])]
            # The disk tells no persons apart: where these are counted, more rows are held.
            read = partial(collapse, table, columns, as_written=[name for name in names if name != person])
            rows = read() if person else read(most_rows=_MAX_ROWS_HELD)
        except (TooManyRowsError, ColumnError):
            return (0, False) if person else _count_on_disk(table, names, limit)
    counts = rows.records
    persons = None if person is None else text_codes(rows.values(person), person)
    codes = [_encode_cells(rows, name) for name in names]
    is_unique = np.zeros(len(counts), dtype=bool)
    n_left = _MAX_ROWS_LABELLED // max(1, len(counts))
    for size in range(1, min(limit.columns, len(names)) + 1):
        for chosen in combinations(codes, size):
            if n_left == 0:
                return int(counts[is_unique].sum()), False
            n_left -= 1
            labels, first_rows = label_rows(np.stack(chosen))
            is_unique |= _find_lone_labels(labels, len(first_rows), counts, persons)[labels]
    return int(counts[is_unique].sum()), True


def _tells_persons(original: Frame, table: Frame | Scan, names: Sequence[str], person: str | None) -> bool:
    """Tell whether the original says whose records these are: it has exactly these cells, and the person's column.

    Where records were left out, nobody sees which.
    """
    if not isinstance(table, Frame) or table.n_records != original.n_records:
        return False
    if not {*names, person} <= {*original.columns}:
        return False
    codes = []
    for name in names:
        try:
            here, there = table.column(name), original.column(name)
        except ColumnError:
            return False
        if here.dtype != there.dtype:
            return False
        codes.append(series.cell_codes(here.clone().append(there)))
    labels, first_rows = label_rows(np.stack(codes))
    parts = labels[: table.n_rows], labels[table.n_rows :]
    counted = [
        np.bincount(part, weights=frame.records, minlength=len(first_rows))
        for part, frame in zip(parts, (table, original), strict=True)
    ]
    return bool((counted[0] == counted[1]).all())


def _encode_cells(table: Frame, name: str) -> CodeArray:
    """Encode a column by its cells; if they cannot be read, no two are equal."""
    try:
        return series.cell_codes(table.column(name))
    except ColumnError:
        return np.arange(table.n_rows, dtype=np.int32)


def _find_lone_labels(labels: CountArray, n: int, counts: CountArray, persons: CodeArray | None) -> BoolArray:
    """Tell which labels one record has, or the records of at most one known person."""
    if persons is None:
        return np.asarray(np.bincount(labels, weights=counts, minlength=n) == 1)
    is_known = persons >= 0
    lowest, highest = np.full(n, np.iinfo(np.int64).max), np.full(n, -1)
    np.minimum.at(lowest, labels[is_known], persons[is_known])
    np.maximum.at(highest, labels[is_known], persons[is_known])
    return np.asarray(lowest >= highest)


def _count_on_disk(table: Scan, names: Sequence[str], limit: KeptLimit) -> tuple[int, bool]:
    from hushtable.release.hashed_counts import count_unique_records

    _, n_unique, _, complete_to = count_unique_records(table.batches(names), names, limit.columns, limit.rate)
    return n_unique, complete_to >= min(limit.columns, len(names))
