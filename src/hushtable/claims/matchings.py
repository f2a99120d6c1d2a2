"""The claim that published rows may have come from several original ones, or the other way round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from hushtable.claims.classes import ClaimOnColumns, read_item_columns
from hushtable.claims.column_entries import describe_missing_hierarchies, describe_missing_order
from hushtable.claims.grouping import (
    Grouped,
    class_figures,
    count_values,
    find_coverage,
    group_rows,
    read_sensitive_columns,
    rows_of,
    spelling_failures,
)
from hushtable.claims.verdict import Claim, Failure, Verdict
from hushtable.columns import SUPPRESSED
from hushtable.errors import check_columns
from hushtable.io import frames
from hushtable.models import ClassStats, Matching, MatchingNotion, describe


@dataclass(frozen=True, slots=True, eq=False)
class Matchings(ClaimOnColumns):
    """Rows of one table have k matches in the other; diversity is reported in classes of equal cells."""

    models: tuple[MatchingNotion, ...] = field()

    kind: ClassVar[str] = "matchings"

    suppressed = SUPPRESSED  # such a row matches as others do

    @property
    def conditions(self) -> tuple[str, ...]:
        """The notions and rounded columns, in words."""
        return (*map(describe, self.models), *self._rounding_conditions)

    @property
    def sentence(self) -> str:
        """What is claimed, and that it is not k-anonymity."""
        return (
            f"{' and '.join(map(describe, self.models))} on {', '.join(self.columns)}, of rows beside the original "
            "table; this is not k-anonymity: a published row may be unique"
        )

    def with_knowledge_of(self, asked: Claim) -> Matchings:
        """Return the claim with what another of its kind knows besides: orders and hierarchies."""
        if not isinstance(asked, Matchings):
            return self
        return replace(self, **self._merge_knowledge(asked))

    def needs_original(self, columns: Sequence[str]) -> bool:
        """Tell whether a table that publishes these columns is judged beside the input: always."""
        del columns
        return True

    def verify(self, data: Any, *, original: Any = None) -> Verdict:
        """Judge a published table beside the original one, whose order plays no part."""
        # A notion judges rows, of which each is a record.
        frame = frames.read(data).with_row_per_record()
        check_columns(self.columns, frame.columns, "quasi_identifiers")
        check_columns(self.sensitive, frame.columns, "sensitive columns")
        grouped = group_rows(frame, self.columns, (), None)
        parted = self.parted
        held = read_sensitive_columns(
            frame, None, [name for name in self.sensitive if name not in parted], SUPPRESSED, self.specs
        )
        sets = read_item_columns(frame, None, parted, SUPPRESSED, self.specs)
        histograms = {name: count_values(grouped.labels, each.codes, grouped.n_classes) for name, each in held.items()}
        stats = ClassStats(grouped.records, histograms)
        failures = [*([Failure("no records")] if frame.n_rows == 0 else []), *spelling_failures(frame, self.columns)]
        failures += [failure for each in sets for failure, _ in each.find_misordered_sets()]
        failures += [failure for failure, _ in self._find_rounding_failures(frame)]
        lack: str | None = (
            "it compares published rows with the original ones: give the original table "
            "(--original, in Python original=)"
        )
        if original is not None:
            lack = describe_missing_hierarchies(self.columns, self.hierarchies) or describe_missing_order(
                self.columns, self.specs
            )
        if lack is None:
            failures += self._match_failures(grouped, self._read_original(original).with_row_per_record())
        unchecked = {} if lack is None else dict.fromkeys(map(describe, self.models), lack)
        figures = {
            **class_figures(
                stats, grouped, {each.name: each.count_by_class(grouped, None).diversity() for each in sets}
            ),
            "missing": "category",
        }
        verdict = Verdict(self.conditions, tuple(failures), self.columns, frame.n_rows, unchecked, figures)
        return self._judge_bounds(frame, verdict)

    def to_dict(self) -> dict[str, Any]:
        """Return the notions, columns and kinds, and the hierarchies as far as they may be told."""
        return {"kind": self.kind, "sentence": self.sentence, **self._to_entries()}

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> Matchings:
        """Read what `to_dict` wrote."""
        return cls(**cls._from_entries(entries))

    def _match_failures(self, grouped: Grouped, source: frames.Frame) -> list[Failure]:
        check_columns(self.columns, source.columns, "quasi_identifiers of the original")
        classes, originals = find_coverage(grouped, source, self.columns, self.specs, self.hierarchies)
        originals, published_rows = rows_of(classes, grouped.labels, originals)
        matching = Matching(grouped.frame.n_rows, source.n_rows, published_rows, originals)
        stats = ClassStats(grouped.records, matching=matching)
        failures = []
        for model in self.models:
            failed = ~model.passes(stats)
            if failed.any():
                n_failed = int(failed.sum())
                failures.append(Failure(describe(model), n_failed, n_failed, float(model.measure(stats)[failed].min())))
        return failures
