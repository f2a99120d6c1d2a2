"""Evaluators that attack: who knows roughly, who has another table, who has an earlier release."""

from __future__ import annotations

import math
from collections.abc import Collection
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from hushtable.claims import Classes
from hushtable.errors import InputError, with_hint
from hushtable.io import Frame, frames
from hushtable.pipeline.evaluating import Evaluator, read_beside
from hushtable.pipeline.modules import Names
from hushtable.pipeline.results import Columns, Evaluation, NamedFiles, Tables
from hushtable.policy import LimitedFigure, failures
from hushtable.release import manifest
from hushtable.risk import attack_written, join_risk, link, unicity

__all__ = ["AttackEvaluator", "JoinRiskEvaluator", "LinkEvaluator", "UnicityEvaluator"]

ToleranceEntry = str | float


class _Attacker(Evaluator):
    """What evaluators that attack share: limits on figures of their global report."""

    what: ClassVar[str]
    """What is found, in words."""

    def failures(self, found: Evaluation) -> list[str]:
        """Say which limits do not hold. An unknown figure fails its limit."""
        known = {name: found.figures.get(name) for name in self.limit}
        told = {name: LimitedFigure(math.nan if value is None else value, self.what) for name, value in known.items()}
        return [each["because"] for each in failures(told, self.limit)]


def _specs_and_hierarchies(tables: Tables) -> dict[str, Any]:
    """Return how the cells of a protected table are read, as its claim says; empty if nothing was protected."""
    claim = None if tables.release is None else manifest.claim_of(tables.release)
    return {name: dict(getattr(claim, name, {})) for name in ("specs", "hierarchies")}


class UnicityEvaluator(_Attacker):
    """Who is found by a few of their records: `hushtable.unicity`."""

    figures = ("rate", "n_found")
    what = "of the persons looked for, by the number of records that finds most"

    method: Literal["unicity"]
    person: str
    item: str | Names
    known: int | tuple[int, ...] = (2, 4, 8)
    tolerance: dict[str, ToleranceEntry] = Field(default_factory=dict)
    n_trials: int = Field(default=1000, ge=1, strict=True)
    few: int = Field(default=5, ge=1, strict=True)

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Look for persons; of a table that was made, those of its originals."""
        original = tables.protected or (tables.people if tables.is_made else None)
        found = unicity(
            tables.current,
            person=self.person,
            item=self.item if isinstance(self.item, str) else list(self.item),
            known=self.known,
            tolerance=self.tolerance,
            original=original,
            n_trials=self.n_trials,
            few=self.few,
            seed=seed,
            **_specs_and_hierarchies(tables),
        )
        rows = [each.to_dict() for each in found.known]
        details: Columns = {name: [row[name] for row in rows] for name in rows[0]}
        most = max(rows, key=lambda row: row["rate"])
        totals = {"n_records": found.n_records, "n_persons": found.n_persons, **most}
        return Evaluation.of({"global": {name: [each] for name, each in totals.items()}, "details": details})


class LinkEvaluator(_Attacker):
    """Who is found by another table: `hushtable.link`. Without one, the originals themselves are looked up.

    What `link` calls ``on`` are its ``columns``: YAML reads the bare word ``on`` as true.
    """

    figures = ("rate", "excess", "n_one_record")
    what = "of the outside records, those that fit one released record alone"

    method: Literal["link"]
    columns: Names | dict[str, str]
    outside: str | None = None
    tolerance: dict[str, ToleranceEntry] = Field(default_factory=dict)
    truth: str | None = None
    control: str | None = None
    few: int = Field(default=5, ge=1, strict=True)

    def inputs(self, files: NamedFiles) -> tuple[Path, ...]:
        """Return the files of the outside table and of the control."""
        return tuple(files.find(path) for path in (self.outside, self.control) if path is not None)

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Look up outside records."""
        tables.check_made()
        outside = tables.protected or tables.people
        if self.outside is not None:
            outside = read_beside(files.find(self.outside), outside)
        control = tables.control if self.control is None else read_beside(files.find(self.control), outside)
        found = link(
            tables.current,
            outside,
            on=self.columns if isinstance(self.columns, dict) else list(self.columns),
            tolerance=self.tolerance,
            truth=self.truth,
            control=control,
            few=self.few,
            **_specs_and_hierarchies(tables),
        )
        sides = {"outside": found.found, **({"control": found.control} if found.control else {})}
        rows = {what: each.to_dict() for what, each in sides.items()}
        details: Columns = {
            "table": list(rows),
            **{name: [row[name] for row in rows.values()] for name in rows["outside"]},
        }
        totals = {**rows["outside"], "excess": found.excess, "excess_interval": found.excess_interval}
        return Evaluation.of({"global": {name: [each] for name, each in totals.items()}, "details": details})


class JoinRiskEvaluator(_Attacker):
    """What the table tells together with another published one: `hushtable.join_risk`."""

    figures = ("rate", "alone_rate", "n_rebuilt", "n_alone")
    what = "of the records, those that a join with the other table tells"

    method: Literal["join_risk"]
    columns: Names
    other: str
    truth: str | None = None

    def inputs(self, files: NamedFiles) -> tuple[Path, ...]:
        """Return the other table's file."""
        return (files.find(self.other),)

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Join both."""
        other = frames.read(files.find(self.other))
        told = join_risk(
            tables.current, other, on=list(self.columns), truth=self.truth, **_specs_and_hierarchies(tables)
        ).to_dict()
        return Evaluation.of({"global": {name: [each] for name, each in told.items()}})


class AttackEvaluator(_Attacker):
    """Attacks on a protected table by what its publisher knows: `hushtable.Release.attack`."""

    figures = ("n_fell",)
    what = "the number of attacks to which the table falls"

    method: Literal["attack"]
    earlier: str | None = None

    def inputs(self, files: NamedFiles) -> tuple[Path, ...]:
        """Return the earlier release's file."""
        return () if self.earlier is None else (files.find(self.earlier),)

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Try every attack. The details name those that could not be tried, with the reason."""
        claim = None if tables.release is None else manifest.claim_of(tables.release)
        if not isinstance(claim, Classes):
            msg = "nothing was claimed of classes of this table."
            raise InputError(with_hint(msg, "attack what an Anonymizer made."))
        earlier: Frame | None = None if self.earlier is None else frames.read(files.find(self.earlier))
        found = attack_written(tables.current, claim, earlier, original=tables.protected, seed=seed)
        rows = [each.to_dict() for each in found.attacks]
        names = [name for name in rows[0] if name != "witnesses"] if rows else []
        untried: Columns = {"attack": list(found.untried), "why": list(found.untried.values())}
        return Evaluation.of(
            {
                "global": {
                    "n_attacks": [len({row["name"] for row in rows})],
                    "n_fell": [len(found.fell)],
                    "fell": [", ".join(found.fell)],
                    "n_untried": [len(found.untried)],
                },
                "details": {name: [row[name] for row in rows] for name in names} or untried,
            }
        )
