"""The next batch of a release: what publishes new rows, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from hushtable.release.release import Release
    from hushtable.risk import OwnAttacks


class NextBatch(Protocol):
    """The cells of a release, by which new rows are published."""

    def apply(
        self,
        rows: Any,
        *,
        earlier: Any = None,
        previous: Sequence[object] = (),
        distinct_persons: bool = False,
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

    def attack_cuts(self, release: Release, attacks: OwnAttacks, *, seed: int) -> OwnAttacks:
        """Add to attacks on the release the one by cuts that were not made, or why it cannot be tried."""
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
    n_wider : int
        Records that are published by the wider cells of a cut of the earlier release, because its narrow ones do not
        cover them, or too few new records share those.
    n_left_out : int
        Records of persons who are in previous batches, and are not published again.
    n_shared_persons : int or None
        Persons who are in previous batches, too; None where nobody has looked.
    n_few_alike : int
        Those of them with whom fewer persons than a class must hold share the cells of all their records in all
        batches; at most, where a previous batch is given by its rows.
    n_few_values : int
        Those of them who, with all who share these cells, have fewer values of a sensitive column than its l, or one:
        anyone who knows that such a person is in both learns it.
    recoding_sha256 : str or None
        Of the recoding's file, as it says itself; None where it came from no file.
    """

    replaces_earlier: bool
    n_unfit: int
    n_failed: int
    unfit_by_column: Mapping[str, int] = field(default_factory=dict)
    n_wider: int = 0
    n_left_out: int = 0
    n_shared_persons: int | None = None
    n_few_alike: int = 0
    n_few_values: int = 0
    recoding_sha256: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values; of the two, only the first may go with a published file."""
        return {
            "replaces_earlier": self.replaces_earlier,
            "batch": {
                "n_unfit": self.n_unfit,
                "n_failed": self.n_failed,
                "unfit_by_column": dict(self.unfit_by_column),
                "n_wider": self.n_wider,
                "n_left_out": self.n_left_out,
                "n_shared_persons": self.n_shared_persons,
                "n_few_alike": self.n_few_alike,
                "n_few_values": self.n_few_values,
            },
        }
