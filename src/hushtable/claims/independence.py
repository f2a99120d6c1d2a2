"""Judge from a published table alone whether A is independent of a cluster label: in whole numbers, no tolerance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.claims.grouping import count_records, label_rows
from hushtable.claims.verdict import Claim, Failure, SpeaksOfNobody, Verdict
from hushtable.columns import text_codes
from hushtable.errors import InputError, check_columns, names_in, quote_names
from hushtable.io import frames

_MAX_COLUMNS_FOR_SUBSETS = 12  # columns of which every subset is looked at; independence of all implies theirs


@dataclass(frozen=True, slots=True)
class Independence(SpeaksOfNobody):
    """What columns publish says nothing about a cluster label.

    Every label is equally frequent, and n times the records of a vector and label are the product of their own records.
    Of more than 12 columns only all together, which implies the other subsets, and each by itself are looked at.
    """

    columns: tuple[str, ...]  # A: together, and every subset of them
    label: str = "cluster"
    n_clusters: int | None = None  # how many labels there should be; as many as there are, when not given

    kind: ClassVar[str] = "independence"

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", names_in(self.columns, "columns"))
        if not self.columns:
            raise InputError("no column to judge.", hint="name the columns that should say nothing about the label.")

    @property
    def conditions(self) -> tuple[str, ...]:
        """Equal clusters, and independence."""
        n_clusters = "" if self.n_clusters is None else f"{self.n_clusters} "
        return (f"{n_clusters}clusters of equal size", f"{quote_names(self.columns)} independent of {self.label!r}")

    @property
    def sentence(self) -> str:
        """What is hidden, and what is not."""
        return (
            f"{', '.join(self.columns)} say exactly nothing about {self.label}; "
            "this hides a correlation, not people: anyone who knows a record's other cells can find it"
        )

    def with_knowledge_of(self, asked: Claim) -> Independence:
        """Return the claim: another knows nothing besides."""
        del asked
        return self

    def verify(self, data: Any, *, original: Any = None) -> Verdict:
        """Judge a published table from the table alone; ``original`` plays no part."""
        frame = frames.read(data)
        check_columns((*self.columns, self.label), frame.columns, "columns of a masked table")
        codes: CodeArray = np.array([text_codes(frame.column(name), name) for name in self.columns])
        labels, _ = label_rows(text_codes(frame.column(self.label), self.label)[None, :])
        vectors, first = label_rows(codes)
        n_labels = int(labels.max(initial=-1)) + 1
        counts = count_records(vectors * n_labels + labels, len(first) * n_labels, frame.counts).reshape(-1, n_labels)
        failures = self._size_failures(counts.sum(axis=0))
        sets = _list_subsets(len(self.columns))
        for subset in sets:
            n_wrong = _count_dependent(codes[list(subset)][:, first], counts)
            if n_wrong:
                names = quote_names(self.columns[place] for place in subset)
                failures.append(Failure(f"{n_wrong} vectors of {names} depend on {self.label!r}"))
        figures = {"label": self.label, "n_clusters": n_labels, "n_vectors": len(first), "n_subsets": len(sets)}
        return Verdict(self.conditions, tuple(failures), self.columns, frame.n_records, figures=figures)

    def to_dict(self) -> dict[str, Any]:
        """Return the columns, the label, and how many clusters there are."""
        return {"kind": self.kind, "columns": list(self.columns), "label": self.label, "n_clusters": self.n_clusters}

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> Independence:
        """Read what `to_dict` wrote."""
        return cls(tuple(entries["columns"]), str(entries["label"]), entries["n_clusters"])

    def _size_failures(self, sizes: CountArray) -> list[Failure]:
        failures = []
        if not len(sizes):
            failures.append(Failure("no records"))
        elif sizes.max() != sizes.min():
            failures.append(Failure(f"clusters of {sizes.min()} to {sizes.max()} records"))
        if self.n_clusters not in (None, len(sizes)):
            failures.append(Failure(f"{len(sizes)} clusters instead of {self.n_clusters}"))
        return failures


def _list_subsets(n_columns: int) -> list[tuple[int, ...]]:
    sizes = range(1, n_columns + 1) if n_columns <= _MAX_COLUMNS_FOR_SUBSETS else (1, n_columns)
    return [chosen for size in sizes for chosen in combinations(range(n_columns), size)]


def _count_dependent(codes: CodeArray, counts: CountArray) -> int:
    """Count the vectors of some columns that are not as frequent under every label as independence asks."""
    of_vector, first = label_rows(codes)
    vector_counts = np.zeros((len(first), counts.shape[1]), dtype=np.int64)
    np.add.at(vector_counts, of_vector, counts)
    n_records = int(counts.sum())
    expected = vector_counts.sum(axis=1)[:, None] * counts.sum(axis=0)[None, :]
    return int((vector_counts * n_records != expected).any(axis=1).sum())
