"""Re-identification risk of a table as it stands: how many records share a person's quasi-identifiers."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hushtable._types import Missing
from hushtable.claims.readings import match_sizes
from hushtable.column import ColumnSpec
from hushtable.partition import Partition
from hushtable.table import Table

__all__ = ["RiskAssessment", "assess"]

_READINGS: tuple[Missing, ...] = ("category", "wildcard", "worst")


@dataclass(frozen=True, slots=True)
class RiskAssessment:
    """How easily people can be found again.

    The risk of a record is 1 / the records of its class: the chance of a right
    guess by someone who knows that the person is in the table (the prosecutor).

    Attributes
    ----------
    quasi_identifiers : tuple of str
    n_records, n_classes : int
    n_unique : int
        Records alone in their class.
    smallest_class : int
    highest_risk : float
        In [0, 1]; 1 / smallest_class. Lower is safer.
    average_risk : float
        In [0, 1]; classes / records.
    smallest_by_missing : dict of reading to int
        The smallest class when missing values are a category of their own, match
        anything (wildcard), or match nothing (worst).
    distinct_sensitive : dict of column to int
        The fewest distinct known values of a sensitive column in any class.
    """

    quasi_identifiers: tuple[str, ...]
    n_records: int
    n_classes: int
    n_unique: int
    smallest_class: int
    highest_risk: float
    average_risk: float
    smallest_by_missing: dict[str, int]
    distinct_sensitive: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return the assessment as plain values."""
        return asdict(self)

    def _repr_html_(self) -> str:
        return (
            f"<b>Risk</b> by {html.escape(', '.join(self.quasi_identifiers))}: {self.n_records} records in "
            f"{self.n_classes} classes, {self.n_unique} alone in theirs; highest risk {self.highest_risk:.3g}, "
            f"average {self.average_risk:.3g}"
        )


def assess(
    data: Any,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    specs: dict[str, ColumnSpec] | None = None,
) -> RiskAssessment:
    """Measure the re-identification risk of a table as it stands.

    Parameters
    ----------
    data : path, dataframe or Table
    quasi_identifiers : sequence of str
        What someone may know of a person.
    sensitive : sequence of str
        Columns whose diversity within classes is reported.
    specs : dict of column to ColumnSpec, optional
        Kinds of columns where the data do not say.

    Notes
    -----
    O(n) per column. An empty table has no classes and reports a risk of 1: no
    figure is better than the worst where there is nothing to measure.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 31, 52], "sex": ["f", "f", "m"]})
    >>> risk = assess(people, quasi_identifiers=["age", "sex"])
    >>> risk.n_unique, risk.highest_risk, round(risk.average_risk, 3)
    (1, 1.0, 0.667)
    """
    table = Table.encode(data, (*quasi_identifiers, *sensitive), specs)
    distinct, _ = table.select(quasi_identifiers).collapse()
    sizes = distinct.counts
    smallest: dict[str, int] = {
        missing: int(match_sizes(distinct.codes, sizes, missing).min(initial=table.n_records)) for missing in _READINGS
    }
    partition = Partition.of(table, quasi_identifiers)
    return RiskAssessment(
        quasi_identifiers=tuple(quasi_identifiers),
        n_records=table.n_records,
        n_classes=distinct.n_rows,
        n_unique=int((sizes == 1).sum()),
        smallest_class=smallest["category"],
        highest_risk=1 / max(1, smallest["category"]),
        average_risk=distinct.n_rows / table.n_records if table.n_records else 1.0,
        smallest_by_missing=smallest,
        distinct_sensitive={
            name: int(partition.histogram(table, name).n_distinct().min(initial=table.n_records)) for name in sensitive
        },
    )
