"""What perturbing returns: a table with other numbers and categories, its claim, its loss and its risk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hushtable.claims import Certificate, Claim, Stated, Verdict
from hushtable.columns import to_json_values
from hushtable.io import Frame, Writing
from hushtable.models import entries
from hushtable.perturbation.measures import ColumnLoss, PairLoss
from hushtable.perturbation.method import PerturbationMethod
from hushtable.release import Destination, Edition, Rewritten, TableContent, write
from hushtable.search import Trace
from hushtable.tables import Table
from hushtable.wording import StatesFacts, careful, join_names


@dataclass(frozen=True, slots=True, eq=False)
class PerturbedRelease(StatesFacts):
    """A table in which some columns hold other cells than the original, and how they came about.

    Attributes
    ----------
    source : Frame or Table
        The input, untouched.
    columns, by, kept : tuple of str
        What was perturbed; within which strata; and the other columns that are published, as they are.
    method : PerturbationMethod
    rewritten : mapping of column to Rewritten
    losses : tuple of ColumnLoss
    pairs : tuple of PairLoss
    linkage, linkage_before : float or None
        Share of released records, and of original ones, whose nearest original record on the perturbed columns is
        their own, ties shared: see `hushtable.perturbation.measures.measure_linkage`.
    mdav : mapping of str to float
        For comparison: the ``sse_share`` and ``linkage`` of MDAV with k = 3 on these columns, or on 5,000 of the
        records. Empty where it cannot be run.
    loss : float or None
        Of groups: the sum of squares within groups over that of the table, before rounding, in [0, 1].
    trace : Trace
        With the bound and the gap of that loss.
    figures : mapping
        What a method tells besides, such as matrices. Internal.
    notes : tuple of str
    warnings : tuple of str
        What undoes the perturbation, or weakens it.
    accepted : mapping of column to str
        Published columns that look like direct identifiers, or may, and why.
    certificate : Certificate or None
        Why no groups lose less than the bound that prices of records prove, for `hushtable.check_certificate`: a
        document about the input, for its owner alone. Of microaggregation with ``prove``, of two or more columns
        without missing cells.
    inputs : tuple of path
        The files it was made from, none of which `write` touches.
    """

    source: Frame | Table = field(repr=False)
    columns: tuple[str, ...]
    by: tuple[str, ...]
    kept: tuple[str, ...]
    method: PerturbationMethod
    rewritten: Mapping[str, Rewritten] = field(repr=False)
    losses: tuple[ColumnLoss, ...] = field(repr=False)
    pairs: tuple[PairLoss, ...] = field(repr=False)
    linkage: float | None
    linkage_before: float | None
    mdav: Mapping[str, float] = field(repr=False)
    loss: float | None
    trace: Trace
    figures: Mapping[str, object] = field(default_factory=dict, repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)
    warnings: tuple[str, ...] = field(default=(), repr=False)
    accepted: Mapping[str, str] = field(default_factory=dict, repr=False)
    certificate: Certificate | None = field(default=None, repr=False)
    inputs: tuple[Path, ...] = field(default=(), repr=False)

    @property
    def n_records(self) -> int:
        """How many records are published: all."""
        return self.source.n_records

    @property
    def claim(self) -> Claim:
        """What the table promises: k-anonymity of groups, else only what was done."""
        return self.method.claim(self.columns, self.by)

    @property
    def edition(self) -> Edition:
        """What is published of the source."""
        names = {*self.columns, *self.by, *self.kept}
        columns = tuple(name for name in self.source.names if name in names)
        return Edition(self.source, columns=columns, rewritten=self.rewritten)

    @property
    def frame(self) -> Any:
        """The perturbed table, of the kind that went in, rows in order."""
        return self.edition.native

    def verify(self) -> Verdict:
        """Judge the perturbed table anew, from its published cells alone."""
        return self.claim.verify(self.edition.frame())

    def write(
        self,
        path: str | Path,
        *,
        keep_order: bool = False,
        external: bool = False,
        encoding: str = "utf-8",
        decimal: str = ".",
        overwrite: bool = False,
    ) -> Verdict:
        """Write the perturbed table with its manifest, whole and verified, or nothing.

        Parameters
        ----------
        path : path
            ``.csv``, ``.tsv``, ``.parquet`` or another kind of file that releases are written to.
        keep_order : bool
            Keep the order of the rows. Else they are shuffled with the operating system's randomness.
        external : bool
            Write the manifest that goes with a published file: without the seed, which would undo the perturbation.
        encoding, decimal : str
            Of a CSV.
        overwrite : bool
            Replace files of these names. An input is never replaced, nor a link.

        Raises
        ------
        VerificationError
            The written table does not hold what it claims; nothing is left behind.
        InputError
            The file cannot be written, or must not be.
        """
        to = Destination(
            Path(path),
            writing=Writing(encoding, decimal),
            keep_order=keep_order,
            external=external,
            overwrite=overwrite,
            inputs=self.inputs,
        )
        return write(TableContent(self.edition, self.claim), to, self.to_dict())

    def to_dict(self) -> dict[str, object]:
        """Return what is known of the release as plain values, none of them a person's: without matrices."""
        plain = {
            "n_records": self.n_records,
            "columns": list(self.columns),
            "by": list(self.by),
            "kept": list(self.kept),
            "method": entries.to_entry(self.method, sparse=False),
            "losses": [asdict(each) for each in self.losses],
            "pairs": [asdict(each) for each in self.pairs],
            "linkage": self.linkage,
            "linkage_before": self.linkage_before,
            "mdav": dict(self.mdav),
            "loss": self.loss,
            "bound": self.trace.bound,
            "gap": self.trace.gap,
            "figures": {name: each for name, each in self.figures.items() if name != "matrices"},
            "notes": list(self.notes),
            "warnings": list(self.warnings),
            "accepted": list(self.accepted),  # what goes with a published file; the reasons do not
            "acceptances": dict(self.accepted),
            "trace": self.trace.to_dict(),
        }
        return dict(to_json_values(plain))

    @property
    def facts(self) -> tuple[str, ...]:
        """What was done, what it lost and what can still be linked, the most dangerous first."""
        return tuple(self._facts())

    def _facts(self) -> Iterator[str]:
        if isinstance(self.claim, Stated):
            yield careful("this is no k-anonymity: no file can show what perturbation hides, and nobody can verify it.")
        yield from (careful(f"{warning}.") for warning in self.warnings)
        if self.kept:
            yield careful(
                f"published as they are: {join_names(self.kept)}. Anyone who knows that of a person can find the "
                "record."
            )
        if not isinstance(self.claim, Stated):
            yield "k counts records: who has several may be alone in a group; make one record of each person before."
        if self.linkage is not None:
            beside = f"; after MDAV with k = 3: {self.mdav['linkage']:.1%}" if self.mdav else ""
            yield (
                f"Linked to their own record by {join_names(self.columns)}: {self.linkage:.1%} of the records{beside}; "
                f"before: {self.linkage_before:.1%}."
            )
        yield from (f"{note}" for note in self.notes)
        yield from (f"Accepted: {name} ({reason})." for name, reason in self.accepted.items())
        shares = [each.sse_share for each in self.losses if each.sse_share is not None]
        if shares:
            mean = sum(shares) / len(shares)
            beside = f"; after MDAV with k = 3: {self.mdav['sse_share']:.2%}" if self.mdav else ""
            yield f"Lost of the sum of squares of the numbers: {mean:.2%}{beside}."
        changed = sum(each.changed_rate for each in self.losses) / len(self.losses)
        yield f"Changed: {changed:.1%} of the cells of {join_names(self.columns)}."
        if self.loss is not None and self.trace.bound is not None:
            if self.trace.optimal:
                yield "No grouping loses less: this is proven."
            else:
                yield (
                    f"Groups lose {self.loss:.3%} of the sum of squares; "
                    f"none can lose less than {self.trace.bound:.3%}."
                )
