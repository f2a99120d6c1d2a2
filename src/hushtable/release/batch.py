"""The next batch of a release: what publishes new rows, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol


class NextBatch(Protocol):
    """The cells of a release, by which new rows are published."""

    def apply(
        self,
        rows: Any,
        *,
        earlier: Any = None,
        key: bytes | None = None,
        engine: Literal["auto", "memory", "stream", "spark"] = "auto",
        session: object = None,
    ) -> Any:
        """Publish new rows."""
        ...

    def recode(self, rows: Any) -> Any:
        """Return rows with these cells, without judging them."""
        ...

    def check_saveable(self) -> None:
        """Raise InputError if the cells hold values from the data."""
        ...

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write them to a file."""
        ...


class Learns(Protocol):
    """Learns from a release the cells by which new rows can be published."""

    def learn_from(self, release: Any) -> NextBatch:
        """Learn the cells of a release."""
        ...


@dataclass(frozen=True, slots=True)
class Batch:
    """How new rows were published by the cells of an earlier release.

    Attributes
    ----------
    replaces_earlier : bool
        Whether they were judged together with the earlier rows, in a release that replaces the earlier one; else by
        themselves.
    n_unfit : int
        Records that no cell covers.
    n_failed : int
        Records of classes that fail a model.
    unfit_by_column : mapping of quasi-identifier to int
        Records whose value in this column the cell does not cover; a record may count in several columns. Where a row
        has no place of its own, those that no cell of the column covers.
    """

    replaces_earlier: bool
    n_unfit: int
    n_failed: int
    unfit_by_column: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values; of the two, only the first may go with a published file."""
        return {
            "replaces_earlier": self.replaces_earlier,
            "batch": {
                "n_unfit": self.n_unfit,
                "n_failed": self.n_failed,
                "unfit_by_column": dict(self.unfit_by_column),
            },
        }
