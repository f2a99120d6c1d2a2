"""Evaluators that learn from the synthetic records and from the people, and compare on people who were kept out."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from pydantic import Field, model_validator

from hushtable._types import FloatArray
from hushtable.errors import InputError, check_columns, with_hint
from hushtable.io import Frame
from hushtable.pipeline.results import Evaluation, Evaluator, NamedFiles, Tables, read_beside
from hushtable.policy import LimitedFigure, MisplacedError, failures
from hushtable.risk import encoded
from hushtable.tables import Joint, JointRows, code_together

__all__ = ["LearningEvaluator"]

_SEED: Final = 42  # PETsARD's, of every model
_OF_ROWS: Final = 10  # a category of as many values as a tenth of the rows is left out
_NUMBERS: Final = frozenset({"integer", "decimal"})
_DATES: Final = frozenset({"date", "datetime"})


class LearningEvaluator(Evaluator):
    """What models learn: PETsARD 1.6.0's mlutility, by the models, scores and names of figures that it has.

    Models are taught by the people and by the synthetic records, and tested on the control: R2 of regressions and the
    micro-averaged F1 of classifications, at least 0; the silhouette of k-means clusters, at least -1. Records with a
    missing cell are left out, and so are categories of many values.
    """

    figures = ("loss",)

    method: Literal["mlutility-classification", "mlutility-regression", "mlutility-cluster"]
    target: str | None = None
    n_clusters: tuple[int, ...] = Field(default=(4, 5, 6), min_length=1)
    control: str | None = None

    @model_validator(mode="after")
    def _has_effect(self) -> LearningEvaluator:
        is_cluster = self.method == "mlutility-cluster"
        if not is_cluster and self.target is None:
            msg = f"{self.method} needs target, the column that is predicted"
            raise MisplacedError(msg, ("target",))
        if any(each < 2 for each in self.n_clusters):
            msg = "n_clusters has numbers of clusters from 2 on"
            raise MisplacedError(msg, ("n_clusters",))
        return self

    def inputs(self, files: NamedFiles) -> tuple[Path, ...]:
        """Return the control's file."""
        return () if self.control is None else (files.find(self.control),)

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Teach each model twice, and test it on the control."""
        tables.check_made()
        control = tables.control if self.control is None else read_beside(files.find(self.control), tables.people)
        if control is None:
            msg = f"{self.method} needs people who were kept out, to test its models on."
            raise InputError(with_hint(msg, "add a Splitter, or name a table: control: FILE."))
        named = {"people": tables.people, "synthetic": tables.current, "control": control.drop(tables.removed)}
        known = _LearningTables.of(named, None if self.method == "mlutility-cluster" else self.target)
        scores = [self._scores(known, taught) for taught in ("people", "synthetic")]
        mean = [float(np.mean(each)) if each else math.nan for each in scores]
        spread = [float(np.std(each)) if each else math.nan for each in scores]
        figures = {"ori_mean": mean[0], "ori_std": spread[0], "syn_mean": mean[1], "syn_std": spread[1]}
        figures |= {"diff": mean[1] - mean[0]}
        return Evaluation.of({"global": {name: [cell] for name, cell in figures.items()}}, {"loss": mean[0] - mean[1]})

    def failures(self, found: Evaluation) -> list[str]:
        """Say which limits do not hold: how much less synthetic records teach; what is not known holds none."""
        loss = found.judged["loss"]
        figure = LimitedFigure(math.nan if loss is None else loss, "how much less the synthetic records teach")
        return [each["because"] for each in failures({"loss": figure}, self.limit)]

    def _scores(self, known: _LearningTables, taught: str) -> list[float]:
        """Return what models that are taught by one table reach on the control; nothing where there is none."""
        cells, target = known.cells[taught], known.targets[taught]
        test, true = known.cells["control"], known.targets["control"]
        if not len(cells) or not len(test):
            return []
        scaler = _library("preprocessing").StandardScaler().fit(cells)
        cells, test = scaler.transform(cells), scaler.transform(test)
        if self.method == "mlutility-cluster":
            return list(_silhouettes(cells, test, self.n_clusters))
        if self.method == "mlutility-regression":
            if known.is_category:
                msg = with_hint(f"{self.target!r} holds no numbers or dates.", "use mlutility-classification.")
                raise InputError(msg)
            middle, width = target.mean(), target.std() or 1.0
            target, true = (target - middle) / width, (true - middle) / width
            return [max(0.0, float(each.fit(cells, target).score(test, true))) for each in _regressors()]
        if len(np.unique(target)) < 2:
            return []
        # With one label a record, the micro-averaged F1 is the share of right ones.
        return [float((each.fit(cells, target).predict(test) == true).mean()) for each in _classifiers()]


class _LearningTables:
    """Three tables as numbers, rows without a missing cell: cells of shape (n_rows, n_features), and the target."""

    def __init__(self, joint: Joint, rows: dict[str, JointRows], scales: list[FloatArray | None], target: int) -> None:
        whole = {name: each.codes[:, (each.codes >= 0).all(axis=0)] for name, each in rows.items()}
        self.is_category = target >= 0 and scales[target] is None
        self.cells: dict[str, FloatArray] = {name: np.empty((codes.shape[1], 0)) for name, codes in whole.items()}
        self.targets: dict[str, FloatArray] = {}
        for j, scale in enumerate(scales):
            if j != target and (scale is not None or _is_small(j, joint, whole)):
                features = np.eye(joint.widths[j])[:, 1:] if scale is None else scale[:, None]
                self.cells = {name: np.hstack([self.cells[name], features[codes[j]]]) for name, codes in whole.items()}
        for name, codes in whole.items():
            values = np.arange(joint.widths[target], dtype=float) if self.is_category else scales[target]
            self.targets[name] = np.empty(0) if target < 0 or values is None else values[codes[target]]

    @classmethod
    def of(cls, named: dict[str, Frame], target: str | None) -> _LearningTables:
        tables = encoded(named, None, None)
        joint = code_together([table.one_by_one() for table in tables])
        if target is not None:
            check_columns([target], joint.names, "target")
        kinds = [{table.column(name).kind for table in tables if table.column(name).n_values} for name in joint.names]
        scales = [
            _numbers(joint.values[j]) if each and (each <= _NUMBERS or each <= _DATES) else None
            for j, each in enumerate(kinds)
        ]
        return cls(
            joint,
            dict(zip(named, joint.tables, strict=True)),
            scales,
            -1 if target is None else joint.names.index(target),
        )


def _numbers(values: Any) -> FloatArray:
    numbers = np.array(values)
    return numbers.astype("datetime64[us]").astype(float) if numbers.dtype.kind == "M" else numbers.astype(float)


def _is_small(j: int, joint: Joint, codes: dict[str, Any]) -> bool:
    """Tell whether a category has fewer values than a tenth of the rows that teach it."""
    return all(
        len(np.unique(codes[name][j])) < round(codes[name].shape[1] / _OF_ROWS) for name in ("people", "synthetic")
    )


def _silhouettes(cells: FloatArray, test: FloatArray, n_clusters: Collection[int]) -> Iterator[float]:
    for n in n_clusters:
        if n > len(cells):
            yield -1.0
            continue
        places = _library("cluster").KMeans(n, random_state=_SEED, n_init="auto").fit(cells).predict(test)
        is_told = 1 < len(np.unique(places)) < len(test)
        yield float(_library("metrics").silhouette_score(test, places)) if is_told else -1.0


def _regressors() -> list[Any]:
    ensemble = _library("ensemble")
    return [
        _library("linear_model").LinearRegression(),
        ensemble.RandomForestRegressor(random_state=_SEED),
        ensemble.GradientBoostingRegressor(random_state=_SEED),
    ]


def _classifiers() -> list[Any]:
    ensemble = _library("ensemble")
    return [
        _library("linear_model").LogisticRegression(random_state=_SEED),
        _library("svm").SVC(random_state=_SEED),
        ensemble.RandomForestClassifier(random_state=_SEED),
        ensemble.GradientBoostingClassifier(random_state=_SEED),
    ]


def _library(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(f"sklearn.{name}")
    except ModuleNotFoundError:
        msg = with_hint("models are learned with scikit-learn.", "pip install 'hushtable[sklearn]'.")
        raise InputError(msg) from None
