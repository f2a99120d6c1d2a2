"""Re-identification risk of a table as it stands: how many records share a person's quasi-identifiers."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hushtable._types import Missing
from hushtable.claims.readings import match_sizes
from hushtable.column import ColumnSpec, check_specs
from hushtable.errors import names_in
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
        Records alone in their class, or of its only person.
    smallest_class : int
    highest_risk : float
        In [0, 1]; 1 / smallest_class. Lower is safer.
    average_risk : float
        In [0, 1]; the mean over records of 1 / the size of their class: classes / records, unless persons are counted.
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
    person: str | None = None,
    specs: Mapping[str, ColumnSpec] | None = None,
) -> RiskAssessment:
    """Measure the re-identification risk of a table as it stands.

    Parameters
    ----------
    data : path, dataframe or Table
    quasi_identifiers : sequence of str
        What someone may know of a person.
    sensitive : sequence of str
        Columns whose diversity within classes is reported.
    person : str, optional
        The column that says whose record a row is, where a person may have several: classes then
        count distinct persons, and a record without one counts nobody.
    specs : mapping of column to ColumnSpec, optional
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
    check_specs(specs)
    columns, sensitive = names_in(quasi_identifiers, "quasi_identifiers"), names_in(sensitive, "sensitive")
    persons = () if person is None else (person,)
    others = [name for name in (*sensitive, *persons) if name not in columns]
    table = Table.encode(data, (*columns, *others), specs)
    partition = Partition.of(table, columns)
    crowd = partition.sizes if person is None else partition.histogram(table, person).n_distinct()
    first = partition.rows[partition.offsets[:-1]]
    codes = table.codes[[table.index(name) for name in columns]][:, first]
    smallest: dict[str, int] = {
        missing: int(match_sizes(codes, crowd, missing).min(initial=table.n_records)) for missing in _READINGS
    }
    # A class of nobody's records is no safer than that of one person.
    risks = 1 / np.maximum(crowd, 1)
    return RiskAssessment(
        quasi_identifiers=columns,
        n_records=table.n_records,
        n_classes=partition.n_classes,
        n_unique=int(partition.sizes[crowd <= 1].sum()),
        smallest_class=smallest["category"],
        highest_risk=1 / max(1, smallest["category"]),
        average_risk=float(risks @ partition.sizes) / table.n_records if table.n_records else 1.0,
        smallest_by_missing=smallest,
        distinct_sensitive={
            name: int(partition.histogram(table, name).n_distinct().min(initial=table.n_records)) for name in sensitive
        },
    )
