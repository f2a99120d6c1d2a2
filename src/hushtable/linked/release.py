"""The release of linked tables: a release of each, one claim on all of them, one manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from hushtable.claims import LinkedTables, Verdict, measure_joint_linkage
from hushtable.io import Frame, frames, program_of
from hushtable.linked import writing
from hushtable.linked.policy import LinkedPolicy
from hushtable.linked.tables import LinkedRows
from hushtable.release import Destination, Release, TableContent, external_facts, manifest
from hushtable.wording import StatesFacts, careful, count_of, join_names


@dataclass(frozen=True, eq=False)
class LinkedRelease(StatesFacts):
    """Protected tables of the same persons.

    Attributes
    ----------
    policy : LinkedPolicy
    releases : mapping of str to Release
        Of every table by itself.
    rows : LinkedRows
        The input, with the old keys.
    others : tuple of str
        Tables that were there, and that the policy does not name: not published.
    inputs : tuple of path
        None of them is written to.
    """

    policy: LinkedPolicy
    releases: Mapping[str, Release] = field(repr=False)
    rows: LinkedRows = field(repr=False)
    others: tuple[str, ...] = ()
    inputs: tuple[Path, ...] = field(default=(), repr=False)

    @property
    def claim(self) -> LinkedTables:
        """What the tables promise together."""
        return self.policy.claim({name: release.claim for name, release in self.releases.items()})  # type: ignore[misc]

    @property
    def frames(self) -> dict[str, Any]:
        """The protected tables, of the kind that went in, in the order that went in: `write` shuffles them."""
        return {name: release.frame for name, release in self.releases.items()}

    @property
    def loss(self) -> dict[str, float]:
        """The loss of every table."""
        return {name: release.loss for name, release in self.releases.items()}

    @property
    def n_suppressed(self) -> dict[str, int]:
        """How many records of every table were left out."""
        return {name: release.n_suppressed for name, release in self.releases.items()}

    def verify(self) -> Verdict:
        """Judge the published tables."""
        return self.claim.verify(self._published)

    @cached_property
    def _published(self) -> dict[str, Frame]:
        return {name: release.edition.frame() for name, release in self.releases.items()}

    @property
    def facts(self) -> tuple[str, ...]:
        """What is published, what endangers it, what holds, what each table lost, and whom readers find."""
        return self.describe(self.verify())

    def describe(self, verdict: Verdict) -> tuple[str, ...]:
        """Return the facts with a verdict that is known, such as that of `write`."""
        names = [*self.releases]
        return (
            f"The release publishes {count_of(len(names), 'table')} of {count_of(self.rows.n_persons, 'person')}: "
            f"{join_names(names)}.",
            *self.rows.facts,
            *(careful(f"the tables do NOT hold what they claim: {each}.") for each in verdict.failures),
            *(line for name in names for line in self._describe_dangers(name)),
            *verdict.cautions,
            *(f"Verified: {condition}." for condition in verdict.held),
            *(self._describe_loss(name) for name in names),
            *self._describe_joint_readers(),
            *(line for name in names for line in self._describe_removed_columns(name)),
            *self._describe_link(),
            *([f"Not in the policy, and not published: {join_names(self.others)}."] if self.others else []),
        )

    def _describe_joint_readers(self) -> list[str]:
        """Say who is found by how many records of all tables."""
        if not self.policy.is_joined:
            return ["No key is in two tables: who knows records of several tables joins none of them."]
        linkage = measure_joint_linkage(self.claim, self._published)
        assert linkage is not None, "joined tables link"
        if self.policy.unit.table is None:
            return [
                f"Who knows {count_of(each.n_records, 'record')} of all tables finds {each.n_found:,} of "
                f"{each.n_persons:,} persons; {each.n_few:,} are among fewer than {linkage.k}."
                for each in linkage.known
            ]
        return [
            f"Who knows the person's row and {count_of(each.n_records, 'record')} of all tables finds "
            f"{each.n_found:,} of {each.n_persons:,} persons; {each.n_few:,} are among fewer than {linkage.k}."
            for each in linkage.known
        ]

    def _describe_dangers(self, name: str) -> list[str]:
        exposure = self.releases[name].exposure
        return [] if exposure is None else [careful(f"{name}: {danger}.") for danger in exposure.describe_dangers()]

    def _describe_removed_columns(self, name: str) -> list[str]:
        removed = [column for column in self.releases[name].removed if column != self.policy.unit.key]
        return [f"{name}: left out: {join_names(removed)}."] if removed else []

    def _describe_loss(self, name: str) -> str:
        release = self.releases[name]
        n_records, lost = release.source.n_records, release.quality.by_column
        share = f"{100 * release.n_suppressed / max(1, n_records):.1f}"
        most = max(lost, key=lambda column: lost[column])
        return (
            f"{name}: a typical cell spans {100 * release.loss:.1f} % of its column (set-NCP {release.loss:.4f}), most "
            f"in {most} ({lost[most]:.4f}); {release.n_suppressed:,} of {n_records:,} records were left out "
            f"({share} %)."
        )

    def _describe_link(self) -> list[str]:
        if not self.policy.is_joined:
            return []
        return [
            "The tables can be joined by fresh keys. Without a link between them less would be lost (`link: none`). "
            "Then nobody may need to join them, and no column but the key may stand in two of them."
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return what a manifest holds of it besides the claim: names, parameters, counts, and no value of a person."""
        return {
            "n_dropped": dict(self.rows.n_dropped),
            "tables": {name: _facts_of(release) for name, release in self.releases.items()},
        }

    def write(self, path: str | PathLike[str], *, external: bool = False, overwrite: bool = False) -> Verdict:
        """Write the tables into a folder with one manifest, whole and verified or not at all.

        Rows of every table are shuffled by themselves: their order would link what no key links.

        Parameters
        ----------
        path : path
            A folder: CSV for tables of text, Parquet for others. ``.xlsx`` makes a workbook with a sheet for each
            table, ``.duckdb`` a database.
        external : bool
            Write the manifest that goes with published files.
        overwrite : bool
            Replace an earlier release of this name.

        Raises
        ------
        VerificationError
            The written tables do not hold the claim; nothing is left behind.
        InputError
            Something cannot be written, or must not be.
        ExposureError
            A kept column finds persons.
        """
        for release in self.releases.values():
            if release.exposure is not None:
                release.exposure.raise_if_unpublishable()
        target = Path(path)
        writing.check_target(target, self.inputs, overwrite=overwrite)
        with writing.open_draft(target, external=external, overwrite=overwrite) as draft:
            filled = {
                name: self._fill(release, draft.place_of(name, release)) for name, release in self.releases.items()
            }
            claims = {name: claim for name, (claim, _) in filled.items()}
            tables = draft.join({name: written for name, (_, written) in filled.items()})
            claim = replace(self.claim, tables=claims)
            verdict = claim.verify({name: table.frame for name, table in tables.items()}).raise_if_failed()
            draft.write_manifest(self._build_manifest(target, draft.digest(), claim, tables, external=external))
        return verdict

    def _fill(self, release: Release, path: Path) -> tuple[Any, writing.WrittenTable]:
        """Write a table of a draft, read it back, and compare kept cells with the input's."""
        to = Destination(path, writing=release.writing)
        content = TableContent(release.edition, release.claim)
        filled = content.fill(path, path, to)
        assert filled.rows is not None
        written = frames.read(path, dialect=filled.dialect)
        release.edition.check_kept(written, filled.rows, filled.comma_columns, program_of(path))
        return filled.claim, writing.WrittenTable(written, path, filled.dialect)

    def _build_manifest(
        self,
        target: Path,
        digest: str,
        claim: LinkedTables,
        tables: Mapping[str, writing.WrittenTable],
        *,
        external: bool,
    ) -> dict[str, Any]:
        facts = self.to_dict()
        of_tables = facts.pop("tables")
        if external:
            facts, of_tables = {}, {name: external_facts(each) for name, each in of_tables.items()}
        else:
            facts["policy"] = self.policy.to_dict()
        facts["tables"] = {name: {**of_tables[name], **table.to_dict()} for name, table in tables.items()}
        n_records = sum(table.frame.n_records for table in tables.values())
        return manifest.build(target, digest, n_records, claim, facts, external=False)  # they are external ones by now


def _facts_of(release: Release) -> dict[str, Any]:
    """Return what is told of a table, without its claim, which is part of the joint one."""
    return {name: fact for name, fact in release.to_dict().items() if name != "claim"}
