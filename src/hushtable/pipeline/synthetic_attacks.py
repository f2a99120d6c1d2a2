"""Evaluators that attack a synthetic table, under the names that PETsARD has for them."""

from __future__ import annotations

import math
from collections.abc import Collection
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from hushtable.io import Frame
from hushtable.pipeline.evaluating import Evaluator, read_beside
from hushtable.pipeline.modules import Names
from hushtable.pipeline.results import Evaluation, NamedFiles, Tables
from hushtable.policy import LimitedFigure, MisplacedError, failures
from hushtable.risk import (
    Attack,
    PrivacyFigure,
    dcr,
    inference,
    linkability,
    nndr,
    rapid,
    singling_out,
    tcap,
)

__all__ = [
    "FigureEvaluator",
    "InferenceEvaluator",
    "LinkabilityEvaluator",
    "SinglingOutEvaluator",
    "SyntheticAttackEvaluator",
]


class SyntheticAttackEvaluator(Evaluator):
    """An attack against its control: `hushtable.singling_out`, `hushtable.linkability`, `hushtable.inference`.

    Its global report has the names of PETsARD 1.6.0.
    """

    figures = ("risk", "risk_CI_top", "attack_rate")

    n_attacks: int = Field(default=2000, ge=1, strict=True)
    control: str | None = None
    n_jobs: Any = None

    def inputs(self, files: NamedFiles) -> tuple[Path, ...]:
        """Return the control's file."""
        return () if self.control is None else (files.find(self.control),)

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Attack the people, and those who were kept out."""
        tables.check_made()
        control = tables.control if self.control is None else read_beside(files.find(self.control), tables.people)
        found = self.attack(
            tables.people,
            tables.current,
            control=None if control is None else control.drop(tables.removed),
            n_attacks=self.n_attacks,
            seed=seed,
        )
        figures: dict[str, list[Any]] = {"risk": [found.risk.value]}
        figures |= {"risk_CI_btm": [found.risk.low], "risk_CI_top": [found.risk.high]}
        for name in ("attack", "baseline", "control"):
            rate = found.rates.get(name)
            figures[f"{name}_rate"] = [None if rate is None else rate.value]
            figures[f"{name}_rate_err"] = [None if rate is None else (rate.high - rate.low) / 2]
        return Evaluation.of({"global": figures}, {"most": found.most})

    def failures(self, found: Evaluation) -> list[str]:
        """Say which limits do not hold; a figure that is not known holds none."""
        known = {name: found.figures[name] for name in self.limit}
        most = found.judged["most"]
        doubts = {
            name: "the control is too small" if most <= limit and name != "attack_rate" else ""
            for name, limit in self.limit.items()
        }
        figures = {
            name: LimitedFigure(math.nan if each is None else each, "of an attack", doubts[name])
            for name, each in known.items()
        }
        return [each["because"] for each in failures(figures, self.limit)]

    def attack(self, original: Frame, made: Frame, **options: Any) -> Attack:
        """Make the attack."""
        raise NotImplementedError


class FigureEvaluator(Evaluator):
    """A figure of distance or attribution: `hushtable.dcr`, `nndr`, `tcap`, `rapid`."""

    figures = ("value", "high")

    method: Literal["dcr", "nndr", "tcap", "rapid"]
    target: str | None = None
    keys: Names | None = None
    n_records: int = Field(default=2000, ge=1, strict=True)
    threshold: float = Field(default=0.3, ge=0, lt=1)
    control: str | None = None

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

    def inputs(self, files: NamedFiles) -> tuple[Path, ...]:
        """Return the control's file."""
        return () if self.control is None else (files.find(self.control),)

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Measure it on the people, and on those who were kept out."""
        tables.check_made()
        control = tables.control if self.control is None else read_beside(files.find(self.control), tables.people)
        control = None if control is None else control.drop(tables.removed)
        found = self._measured(tables.people, tables.current, control, seed)
        shown = {"value": found.value, "low": found.low, "high": found.high, "n_records": found.n_records}
        return Evaluation.of({"global": {name: [cell] for name, cell in (shown | dict(found.figures)).items()}})

    def failures(self, found: Evaluation) -> list[str]:
        """Say which limits do not hold; a figure that is not known holds none."""
        known = {name: found.figures[name] for name in self.limit}
        figures = {
            name: LimitedFigure(math.nan if each is None else each, f"of {self.method}") for name, each in known.items()
        }
        return [each["because"] for each in failures(figures, self.limit)]

    def _measured(self, people: Frame, made: Frame, control: Frame | None, seed: int) -> PrivacyFigure:
        if self.method in ("dcr", "nndr"):
            measure = dcr if self.method == "dcr" else nndr
            return measure(people, made, control=control, n_records=self.n_records, seed=seed)
        target = str(self.target)
        if self.method == "tcap":
            return tcap(people, made, target=target, keys=self.keys, control=control)
        return rapid(people, made, target=target, keys=self.keys, control=control, threshold=self.threshold, seed=seed)


class SinglingOutEvaluator(SyntheticAttackEvaluator):
    """Queries that select one synthetic record and one person: `hushtable.singling_out`."""

    method: Literal["anonymeter-singlingout"]
    n_cols: int = 3
    mode: Literal["multivariate", "univariate"] = "multivariate"
    max_attempts: int = Field(default=500_000, ge=1, strict=True)

    def attack(self, original: Frame, made: Frame, **options: Any) -> Attack:
        """Make the attack."""
        return singling_out(
            original, made, n_cols=self.n_cols, mode=self.mode, max_attempts=self.max_attempts, **options
        )


class LinkabilityEvaluator(SyntheticAttackEvaluator):
    """Two halves of what is known that lead to one record: `hushtable.linkability`."""

    method: Literal["anonymeter-linkability"]
    aux_cols: tuple[Names, Names]
    n_neighbors: int = Field(default=1, ge=1, strict=True)

    def attack(self, original: Frame, made: Frame, **options: Any) -> Attack:
        """Make the attack."""
        return linkability(original, made, aux_columns=self.aux_cols, n_neighbors=self.n_neighbors, **options)


class InferenceEvaluator(SyntheticAttackEvaluator):
    """A secret that is guessed from the synthetic records: `hushtable.inference`."""

    method: Literal["anonymeter-inference"]
    secret: str
    aux_cols: Names | None = None
    regression: bool | None = None

    def attack(self, original: Frame, made: Frame, **options: Any) -> Attack:
        """Make the attack."""
        asked: dict[str, Any] = {"secret": self.secret, "aux_columns": self.aux_cols, "regression": self.regression}
        return inference(original, made, **asked, **options)
