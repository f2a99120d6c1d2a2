"""Evaluators that attack: who knows roughly, who has another table, who has an earlier release.

Attacks on a synthetic table have the names that PETsARD has for them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from pydantic import Field, model_validator

from hushtable.claims import Classes
from hushtable.errors import InputError
from hushtable.io import Frame, frames
from hushtable.pipeline.modules import Names
from hushtable.pipeline.results import (
    Columns,
    ComparingEvaluator,
    Evaluation,
    Evaluator,
    NamedFiles,
    Tables,
    broken_limits,
    entries_of,
    measures_path,
    read_beside,
)
from hushtable.policy import LimitedFigure, MisplacedError, attack_file, find_failures
from hushtable.release import manifest
from hushtable.risk import (
    Attack,
    PrivacyFigure,
    count_copies,
    dcr,
    inference,
    join_risk,
    link,
    linkability,
    membership,
    nndr,
    rapid,
    singling_out,
    tcap,
    unicity,
)
from hushtable.tabulation import ReaderKnowledge, check_tables

ToleranceEntry = str | float


class _Attacker(Evaluator):
    """What evaluators that attack share: limits on figures of their global report."""

    what: ClassVar[str]
    """What is found, in words."""

    def failures(self, found: Evaluation) -> list[str]:
        """Say which limits do not hold."""
        return broken_limits(self.limit, {**found.figures, **found.judged}, self.what)


def _columns_of(rows: Sequence[Mapping[str, Any]]) -> Columns:
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def _specs_and_hierarchies(tables: Tables) -> dict[str, Any]:
    """Return the specs and hierarchies of a protected table, from its claim; empty if nothing was protected."""
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
    wrong: int = Field(default=0, ge=0, strict=True)
    eccentricity: float | None = Field(default=None, ge=0)
    tolerance: dict[str, ToleranceEntry] = Field(default_factory=dict)
    n_trials: int = Field(default=1000, ge=1, strict=True)
    few: int = Field(default=5, ge=1, strict=True)

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Look for persons; of a table that was made, those of its originals."""
        original = tables.protected or (tables.people if tables.is_derived else None)
        result = unicity(
            tables.current,
            original=original,
            seed=seed,
            **entries_of(self, "person", "item", "known", "wrong", "eccentricity", "tolerance", "n_trials", "few"),
            **_specs_and_hierarchies(tables),
        )
        rows = [each.to_dict() for each in result.known]
        worst = max(rows, key=lambda row: row["rate"])
        totals = {"n_records": result.n_records, "n_persons": result.n_persons, **worst}
        # Few persons have many records: the largest share may be a smaller number.
        most = {"n_found": max(row["n_found"] for row in rows)}
        return Evaluation.from_figures(totals, {"details": _columns_of(rows)}, judged=most)


class LinkEvaluator(_Attacker):
    """Who is found by another table: `hushtable.link`. Without one, the originals themselves are looked up.

    What `link` calls ``on`` are its ``columns``: YAML reads the bare word ``on`` as true.
    """

    figures = ("rate", "excess", "n_one_record", "n_found")
    what = "of the outside records, or persons, those that are linked with one alone"

    method: Literal["link"]
    columns: Names | dict[str, str]
    outside: str | None = None
    tolerance: dict[str, ToleranceEntry] = Field(default_factory=dict)
    person: str | None = None
    eccentricity: float | None = Field(default=None, ge=0)
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
        result = link(
            tables.current,
            outside,
            on=self.columns,
            control=control,
            **entries_of(self, "tolerance", "person", "eccentricity", "truth", "few"),
            **_specs_and_hierarchies(tables),
        )
        found = result.persons or result.found
        sides = {"outside": found, "control": result.control_persons or result.control}
        rows = [{"table": what, **each.to_dict()} for what, each in sides.items() if each is not None]
        totals = {**found.to_dict(), "excess": result.excess, "excess_interval": result.excess_interval}
        return Evaluation.from_figures(totals, {"details": _columns_of(rows)})


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
        found = join_risk(tables.current, other, on=self.columns, truth=self.truth, **_specs_and_hierarchies(tables))
        return Evaluation.from_figures(found.to_dict())


class CheckTablesEvaluator(_Attacker):
    """What a reader computes of the hidden cells of the table: `hushtable.check_tables`."""

    figures = ("n_exposed", "n_failing", "n_shown_small")
    what = "cells of the table that its readers compute, know too closely, or are shown"

    method: Literal["check_tables"]
    by: Names = ()
    value: str | None = None
    total: str = ""
    threshold: int | None = Field(default=None, ge=2, strict=True)
    zeros: Literal["shown", "hidden"] = "shown"

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Judge every hidden cell."""
        asked = entries_of(self, "by", "value", "total", "threshold")
        found = check_tables(tables.current, **asked, reader=ReaderKnowledge(zeros=self.zeros))
        told = {"n_exposed": len(found.exposed), "n_failing": len(found.failing), "n_shown_small": found.n_shown_small}
        return Evaluation.from_figures({"n_hidden": len(found.audit.cells), **told})


class PerturbationEvaluator(_Attacker):
    """What a Perturber lost and left, as `hushtable.PerturbedRelease` tells it, of records in their order."""

    figures = ("linkage", "sse_share")
    what = "of a perturbed table: the share of records linked to their own, or lost of the sum of squares"

    method: Literal["perturbation"]

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Read what was measured when the table was perturbed."""
        path = None if tables.release is None else measures_path(tables.release)
        if path is None or not path.is_file():
            raise InputError("no Perturber made this table.", hint="put a Perturber right before the evaluator.")
        measured = json.loads(path.read_text(encoding="utf-8"))
        shares = [each["sse_share"] for each in measured["losses"] if each["sse_share"] is not None]
        totals = {
            "linkage": measured["linkage"],
            "linkage_before": measured["linkage_before"],
            "sse_share": sum(shares) / len(shares) if shares else None,
            "bound": measured["bound"],
            **{f"mdav_{name}": measured["mdav"].get(name) for name in ("linkage", "sse_share")},
        }
        pairs = [
            {"column1": each["columns"][0], "column2": each["columns"][1]}
            | {name: figure for name, figure in each.items() if name != "columns"}
            for each in measured["pairs"]
        ]
        by_column = {"columnwise": _columns_of(measured["losses"])}
        return Evaluation.from_figures(totals, by_column | ({"pairwise": _columns_of(pairs)} if pairs else {}))


class AttackEvaluator(_Attacker):
    """Attacks on a protected table by what its publisher knows: `hushtable.Release.attack`."""

    figures = ("n_fell",)
    what = "the number of attacks to which the table falls"

    method: Literal["attack"]
    earlier: str | None = None

    def inputs(self, files: NamedFiles) -> tuple[Path, ...]:
        """Return the earlier release's file, and its manifest where it has one."""
        if self.earlier is None:
            return ()
        beside = manifest.manifest_path(path := files.find(self.earlier))
        return (path, beside) if beside.is_file() else (path,)

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Try every attack. The details name those that could not be tried, with the reason."""
        claim = None if tables.release is None else manifest.claim_of(tables.release)
        if tables.release is None or not isinstance(claim, Classes):
            raise InputError("nothing was claimed of classes of this table.", hint="attack what an Anonymizer made.")
        earlier, unread = _read_earlier(None if self.earlier is None else files.find(self.earlier))
        facts = manifest.read(tables.release)
        result = attack_file(tables.current, claim, facts, earlier, original=tables.protected, seed=seed)
        rows = [each.to_dict() for each in result.attacks]
        for row in rows:
            del row["witnesses"]
        totals = {
            "n_attacks": len({row["name"] for row in rows}),
            "n_fell": len(result.fell),
            "fell": ", ".join(result.fell),
            "n_untried": len(result.untried),
            "n_unjudged": len(result.unjudged),
        }
        untried: Columns = {"attack": list(result.untried), "why": list(result.untried.values())}
        # What was not read may mean anything.
        doubts = {"doubt": unread or result.doubt, "max_fell": None if unread else result.max_fell}
        return Evaluation.from_figures(totals, {"details": _columns_of(rows) or untried}, doubts)

    def failures(self, found: Evaluation) -> list[str]:
        """Say whether the table falls to too many attacks, or may."""
        doubt, most = found.judged["doubt"], found.judged["max_fell"]
        figure = LimitedFigure(found.figures["n_fell"], self.what, doubt, math.inf if most is None else most)
        return [each["because"] for each in find_failures({"n_fell": figure}, self.limit)]


def _read_earlier(path: Path | None) -> tuple[Frame | None, str]:
    """Read an earlier release, and what its manifest says that is not read; VerificationError if it was changed."""
    if path is None:
        return None, ""
    claimed = manifest.claim_of(path)
    unread = "" if claimed is None else manifest.describe_unread(manifest.read(path), claimed)
    return frames.read(path, dialect=manifest.dialect_of(path)), unread


_BEYOND_REACH: Final = "beside this control a copy shows no more"


def _limits_in_doubt(limits: Mapping[str, float], most: float | None) -> dict[str, str]:
    """Describe the limits that even a copy of the table would not exceed, or for which that is unknown."""
    return {name: _BEYOND_REACH for name, limit in limits.items() if most is None or most <= limit}


class SyntheticAttackEvaluator(ComparingEvaluator):
    """An attack against its control: `hushtable.singling_out`, `hushtable.linkability`, `hushtable.inference`.

    Its global report has the names of PETsARD 1.6.0.
    """

    figures = ("risk", "risk_CI_top", "attack_rate")

    n_attacks: int = Field(default=2000, ge=1, strict=True)
    n_jobs: Any = None

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Attack the people, and those who were kept out."""
        tables.check_made()
        control = self.find_control(tables, files)
        result = self.run_attack(tables.people, tables.current, control=control, n_attacks=self.n_attacks, seed=seed)
        risk = result.risk
        figures: dict[str, Any] = {"risk": risk.value, "risk_CI_btm": risk.low, "risk_CI_top": risk.high}
        for name in ("attack", "baseline", "control"):
            rate = result.rates.get(name)
            figures[f"{name}_rate"] = None if rate is None else rate.value
            figures[f"{name}_rate_err"] = None if rate is None else (rate.high - rate.low) / 2
        return Evaluation.from_figures(figures, judged={"most": result.most})

    def failures(self, found: Evaluation) -> list[str]:
        """Say which limits do not hold."""
        doubts = {**_limits_in_doubt(self.limit, found.judged["most"]), "attack_rate": ""}
        return broken_limits(self.limit, found.figures, "of an attack", doubts)

    def run_attack(self, original: Frame, made: Frame, **options: Any) -> Attack:
        """Make the attack."""
        raise NotImplementedError


class FigureEvaluator(ComparingEvaluator):
    """A figure of distance or attribution: `hushtable.dcr`, `nndr`, `tcap`, `rapid`."""

    figures = ("value", "high")

    method: Literal["dcr", "nndr", "tcap", "rapid"]
    target: str | None = None
    keys: Names | None = None
    n_records: int = Field(default=2000, ge=1, strict=True)
    threshold: float = Field(default=0.3, ge=0, lt=1)

    @model_validator(mode="after")
    def _has_effect(self) -> FigureEvaluator:
        attributes = self.method in ("tcap", "rapid")
        if attributes and self.target is None:
            msg = f"{self.method} needs target, the column that is attributed"
            raise MisplacedError(msg, ("target",))
        if self.method == "nndr" and self.limit:
            msg = "nndr has no limit: a low ratio is the risk"
            raise MisplacedError(msg, ("limit",))
        idle = {"n_records"} if attributes else {"target", "keys", "threshold"}
        idle |= {"threshold"} if self.method == "tcap" else set()
        if named := idle & self.model_fields_set:
            msg = f"{min(named)} has no effect on {self.method}"
            raise MisplacedError(msg, (min(named),))
        return self

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Measure it on the people, and on those who were kept out."""
        tables.check_made()
        found = self._measure_figure(tables.people, tables.current, self.find_control(tables, files), seed)
        shown = {"value": found.value, "low": found.low, "high": found.high, "n_records": found.n_records}
        most = 1.0 if found.reach is None else found.reach.most
        return Evaluation.from_figures(shown | dict(found.figures), judged={"most": most})

    def failures(self, found: Evaluation) -> list[str]:
        """Say which limits do not hold."""
        doubts = _limits_in_doubt(self.limit, found.judged["most"])
        return broken_limits(self.limit, found.figures, f"of {self.method}", doubts)

    def _measure_figure(self, people: Frame, synthetic: Frame, control: Frame | None, seed: int) -> PrivacyFigure:
        if self.method in ("dcr", "nndr"):
            measure = dcr if self.method == "dcr" else nndr
            return measure(people, synthetic, control=control, n_records=self.n_records, seed=seed)
        target = str(self.target)
        if self.method == "tcap":
            return tcap(people, synthetic, target=target, keys=self.keys, control=control)
        return rapid(
            people, synthetic, target=target, keys=self.keys, control=control, threshold=self.threshold, seed=seed
        )


class CopiesEvaluator(_Attacker, ComparingEvaluator):
    """People who stand in the synthetic table as they are: `hushtable.count_copies`."""

    figures = ("n_copied", "n_unique_copied", "share")
    what = "of people who are copied"

    method: Literal["copies"]

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Count them, and those of the control."""
        tables.check_made()
        found = count_copies(tables.people, tables.current, control=self.find_control(tables, files))
        return Evaluation.from_figures(found.to_dict())


class MembershipEvaluator(ComparingEvaluator):
    """Whether the synthetic table tells who was in the data: `hushtable.membership`."""

    figures = ("auc_high", "excess_high")

    method: Literal["membership"]
    attacks: Literal["all"] | Names = "all"
    reference: str | None = None
    person: str | None = None
    n_records: int = Field(default=5_000, ge=1, strict=True)

    def inputs(self, files: NamedFiles) -> tuple[Path, ...]:
        """Return the files of the control and of the reference."""
        return *super().inputs(files), *(() if self.reference is None else (files.find(self.reference),))

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Attack the people, and those who were kept out."""
        tables.check_made()
        reference = None if self.reference is None else read_beside(files.find(self.reference), tables.people)
        result = membership(
            tables.people,
            tables.current,
            control=self.find_control(tables, files),
            reference=reference,
            **entries_of(self, "attacks", "person", "n_records"),
            seed=seed,
        )
        figures = {
            "verdict": result.verdict,
            "auc": result.best.auc.value,
            "p_value": result.p_value,
            "auc_high": result.auc_high,
            "excess_high": result.excess_high,
            "n_people": result.sizes.n_people,
            "n_others": result.sizes.n_others,
            "n_reference": result.sizes.n_reference,
        }
        rows = [
            {"attack": each.name, "auc": each.auc.value, "auc_low": each.auc.low, "auc_high": each.auc.high,
             "rate_at_1_in_100": each.recognitions[0].rate, "rate_at_1_in_1000": each.recognitions[1].rate,
             "p_value": each.p_value}
            for each in result.attacks
        ]  # fmt: skip
        most = {"auc_high": result.most.auc, "excess_high": max(result.most.shares)}
        doubts = {"auc_high": "; ".join(result.doubts), "excess_high": "; ".join(result.excess_doubts)}
        return Evaluation.from_figures(figures, {"details": _columns_of(rows)}, judged={"most": most, "doubts": doubts})

    def failures(self, found: Evaluation) -> list[str]:
        """Say which limits do not hold."""
        most, doubts = found.judged["most"], found.judged["doubts"]
        reach = {name: "" if (most[name] or 0.0) > limit else _BEYOND_REACH for name, limit in self.limit.items()}
        why = {name: doubts[name] or reach[name] for name in self.limit}
        return broken_limits(self.limit, found.figures, "of membership", why)


class SinglingOutEvaluator(SyntheticAttackEvaluator):
    """Queries that select one synthetic record and one person: `hushtable.singling_out`."""

    method: Literal["anonymeter-singlingout"]
    n_cols: int = 3
    mode: Literal["multivariate", "univariate"] = "multivariate"
    max_attempts: int = Field(default=500_000, ge=1, strict=True)

    def run_attack(self, original: Frame, made: Frame, **options: Any) -> Attack:
        """Make the attack."""
        return singling_out(original, made, **entries_of(self, "n_cols", "mode", "max_attempts"), **options)


class LinkabilityEvaluator(SyntheticAttackEvaluator):
    """Two halves of what is known that lead to one record: `hushtable.linkability`."""

    method: Literal["anonymeter-linkability"]
    aux_cols: tuple[Names, Names]
    n_neighbors: int = Field(default=1, ge=1, strict=True)

    def run_attack(self, original: Frame, made: Frame, **options: Any) -> Attack:
        """Make the attack."""
        return linkability(original, made, aux_columns=self.aux_cols, n_neighbors=self.n_neighbors, **options)


class InferenceEvaluator(SyntheticAttackEvaluator):
    """A secret that is guessed from the synthetic records: `hushtable.inference`."""

    method: Literal["anonymeter-inference"]
    secret: str
    aux_cols: Names | None = None
    regression: bool | None = None

    def run_attack(self, original: Frame, made: Frame, **options: Any) -> Attack:
        """Make the attack."""
        asked: dict[str, Any] = {"secret": self.secret, "aux_columns": self.aux_cols, "regression": self.regression}
        return inference(original, made, **asked, **options)
