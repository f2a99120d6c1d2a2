"""Evaluators: what is asked of a table that was synthesized or protected. An open registry: see `EVALUATORS`.

Some learn from the synthetic records and from the people, and are compared on people who were kept out.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from pydantic import Field, field_validator, model_validator

from hushtable._types import FloatArray
from hushtable.claims import Classes, Matchings, Verdict
from hushtable.discover import DEFAULT_SCORES, compare_sets
from hushtable.errors import InputError, check_columns
from hushtable.io import Frame, frames, read_alike
from hushtable.pipeline.attackers import (
    AttackEvaluator,
    CheckTablesEvaluator,
    CopiesEvaluator,
    FigureEvaluator,
    InferenceEvaluator,
    JoinRiskEvaluator,
    LinkabilityEvaluator,
    LinkEvaluator,
    MembershipEvaluator,
    PerturbationEvaluator,
    SinglingOutEvaluator,
    UnicityEvaluator,
)
from hushtable.pipeline.modules import Names
from hushtable.pipeline.results import (
    Columns,
    ComparingEvaluator,
    Evaluation,
    Evaluator as Evaluator,
    NamedFiles,
    Tables,
    broken_limits,
    entries_of,
)
from hushtable.policy import (
    MisplacedError,
    Policy,
    describe_exposure_limit,
    find_failures,
    keys_figures,
    mpuccs_figures,
)
from hushtable.quality import diagnosis
from hushtable.quality.similarity import similarity
from hushtable.release import manifest
from hushtable.risk import PETSARD_UNITS, encode_same_columns, minimal_keys, petsard_mpuccs
from hushtable.risk.mpuccs import mpuccs
from hushtable.tables import Joint, JointRows, Table, encode_jointly

_PETSARD_SEED: Final = 42  # PETsARD gives it to every model
_MIN_ROWS_PER_VALUE: Final = 10  # a category needs more rows per value than this to be a feature
_NUMBER_KINDS: Final = frozenset({"integer", "decimal"})
_DATE_KINDS: Final = frozenset({"date", "datetime"})


class LearningEvaluator(ComparingEvaluator):
    """What models learn: PETsARD 1.6.0's mlutility, by the models, scores and names of figures that it has.

    Models are taught by the people and by the synthetic records, and tested on the control: R2 of regressions and the
    micro-averaged F1 of classifications, at least 0; the silhouette of k-means clusters, at least -1. Records with a
    missing cell are left out, and so are categories of many values.
    """

    figures = ("loss",)

    method: Literal["mlutility-classification", "mlutility-regression", "mlutility-cluster"]
    target: str | None = None
    n_clusters: tuple[int, ...] = Field(default=(4, 5, 6), min_length=1)

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

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Teach each model twice, and test it on the control."""
        tables.check_made()
        control = self.find_control(tables, files)
        if control is None:
            raise InputError(
                f"{self.method} needs people who were kept out, to test its models on.",
                hint="add a Splitter, or name a table: control: FILE.",
            )
        named = {"people": tables.people, "synthetic": tables.current, "control": control}
        known = _LearningTables.from_frames(named, None if self.method == "mlutility-cluster" else self.target)
        scores = [self._score_models(known, taught) for taught in ("people", "synthetic")]
        mean = [float(np.mean(each)) if each else math.nan for each in scores]
        spread = [float(np.std(each)) if each else math.nan for each in scores]
        figures = {"ori_mean": mean[0], "ori_std": spread[0], "syn_mean": mean[1], "syn_std": spread[1]}
        figures |= {"diff": mean[1] - mean[0]}
        return Evaluation.from_figures(figures, judged={"loss": mean[0] - mean[1]})

    def failures(self, found: Evaluation) -> list[str]:
        """Say which limits do not hold: how much less synthetic records teach."""
        return broken_limits(self.limit, found.judged, "how much less the synthetic records teach")

    def _score_models(self, tables: _LearningTables, trained_on: str) -> list[float]:
        """Return the scores on the control of models trained on one table; empty if a table has no rows."""
        cells, target = tables.cells[trained_on], tables.targets[trained_on]
        test, true = tables.cells["control"], tables.targets["control"]
        if not len(cells) or not len(test):
            return []
        scaler = _import_sklearn("preprocessing").StandardScaler().fit(cells)
        cells, test = scaler.transform(cells), scaler.transform(test)
        if self.method == "mlutility-cluster":
            return list(_measure_silhouettes(cells, test, self.n_clusters))
        if self.method == "mlutility-regression":
            if tables.is_category:
                raise InputError(f"{self.target!r} holds no numbers or dates.", hint="use mlutility-classification.")
            middle, width = target.mean(), target.std() or 1.0
            target, true = (target - middle) / width, (true - middle) / width
            return [max(0.0, float(each.fit(cells, target).score(test, true))) for each in _build_regressors()]
        if len(np.unique(target)) < 2:
            return []
        # With one label a record, the micro-averaged F1 is the accuracy.
        return [float((each.fit(cells, target).predict(test) == true).mean()) for each in _build_classifiers()]


class _LearningTables:
    """Three tables as numbers, without incomplete rows: cells of shape (n_rows, n_features), and the target.

    ``target_index`` is -1 without a target. A scale has the number of each code, and is None for a category.
    """

    def __init__(
        self, joint: Joint, rows: dict[str, JointRows], scales: list[FloatArray | None], target_index: int
    ) -> None:
        complete = {name: each.codes[:, (each.codes >= 0).all(axis=0)] for name, each in rows.items()}
        self.is_category = target_index >= 0 and scales[target_index] is None
        self.cells: dict[str, FloatArray] = {name: np.empty((codes.shape[1], 0)) for name, codes in complete.items()}
        self.targets: dict[str, FloatArray] = {}
        for j, scale in enumerate(scales):
            if j != target_index and (scale is not None or _is_small(j, joint, complete)):
                # Code 0 of a category is the base, which needs no feature of its own.
                features = np.eye(joint.widths[j])[:, 1:] if scale is None else scale[:, None]
                self.cells = {
                    name: np.hstack([self.cells[name], features[codes[j]]]) for name, codes in complete.items()
                }
        for name, codes in complete.items():
            values = np.arange(joint.widths[target_index], dtype=float) if self.is_category else scales[target_index]
            self.targets[name] = np.empty(0) if target_index < 0 or values is None else values[codes[target_index]]

    @classmethod
    def from_frames(cls, frame_by_name: dict[str, Frame], target: str | None) -> _LearningTables:
        tables = encode_same_columns(frame_by_name, None, None)
        joint = encode_jointly([table.with_row_per_record() for table in tables])
        if target is not None:
            check_columns([target], joint.names, "target")
        kinds = [{table.column(name).kind for table in tables if table.column(name).n_values} for name in joint.names]
        scales = [
            _to_floats(joint.values[j]) if each and (each <= _NUMBER_KINDS or each <= _DATE_KINDS) else None
            for j, each in enumerate(kinds)
        ]
        return cls(
            joint,
            dict(zip(frame_by_name, joint.tables, strict=True)),
            scales,
            -1 if target is None else joint.names.index(target),
        )


def _to_floats(values: Any) -> FloatArray:
    numbers = np.array(values)
    return numbers.astype("datetime64[us]").astype(float) if numbers.dtype.kind == "M" else numbers.astype(float)


def _is_small(j: int, joint: Joint, codes: dict[str, Any]) -> bool:
    """Tell whether a category has fewer values than a tenth of the rows of each training table."""
    return all(
        len(np.unique(codes[name][j])) < round(codes[name].shape[1] / _MIN_ROWS_PER_VALUE)
        for name in ("people", "synthetic")
    )


def _measure_silhouettes(cells: FloatArray, test: FloatArray, n_clusters: Collection[int]) -> Iterator[float]:
    for n in n_clusters:
        if n > len(cells):
            yield -1.0
            continue
        places = (
            _import_sklearn("cluster").KMeans(n, random_state=_PETSARD_SEED, n_init="auto").fit(cells).predict(test)
        )
        is_told = 1 < len(np.unique(places)) < len(test)
        yield float(_import_sklearn("metrics").silhouette_score(test, places)) if is_told else -1.0


def _build_regressors() -> list[Any]:
    ensemble = _import_sklearn("ensemble")
    return [
        _import_sklearn("linear_model").LinearRegression(),
        ensemble.RandomForestRegressor(random_state=_PETSARD_SEED),
        ensemble.GradientBoostingRegressor(random_state=_PETSARD_SEED),
    ]


def _build_classifiers() -> list[Any]:
    ensemble = _import_sklearn("ensemble")
    return [
        _import_sklearn("linear_model").LogisticRegression(random_state=_PETSARD_SEED),
        _import_sklearn("svm").SVC(random_state=_PETSARD_SEED),
        ensemble.RandomForestClassifier(random_state=_PETSARD_SEED),
        ensemble.GradientBoostingClassifier(random_state=_PETSARD_SEED),
    ]


def _import_sklearn(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(f"sklearn.{name}")
    except ModuleNotFoundError:
        raise InputError("models are learned with scikit-learn.", hint="pip install 'hushtable[sklearn]'.") from None


_CONTROL_FIGURES: Final = ("control_rate", "excess_risk", "interval_low", "interval_high", "p_value")
_TOTAL_FIGURES: Final = (
    "total_syn_records",
    "total_ori_records",
    "total_identified",
    "identification_rate",
    "weighted_identification_rate",
    "total_combinations_checked",
    "total_combinations_pruned",
)
_SETTING_FIGURES: Final = (
    "config_n_cols",
    "config_min_entropy_delta",
    "config_field_decay_factor",
    "config_renyi_alpha",
    "config_numeric_precision",
    "config_datetime_precision",
)

_SHARED_OPTIONS: Final = ("field_decay_factor", "renyi_alpha", "values")
"""Options of `hushtable.mpuccs` and `hushtable.petsard_mpuccs`."""

_LIMIT_NAMES: Final = {
    "identification_rate": "rate",
    "weighted_identification_rate": "weighted",
    "total_identified": "count",
    "excess_risk": "excess",
}
"""Figures that can be limited, and what --fail-above calls them."""

_JUDGED_FIGURES: Final = (*_TOTAL_FIGURES, "complete", "control", "config_deduplicate")


class MpuccsEvaluator(ComparingEvaluator):
    """Who is singled out on which columns: `hushtable.mpuccs`, or what PETsARD 1.6.0 would report."""

    figures = tuple(_LIMIT_NAMES)

    method: Literal["mpuccs"]
    n_cols: int | tuple[int, ...] | None = None
    min_entropy_delta: float | None = None
    field_decay_factor: float = 0.5
    renyi_alpha: float = 2.0
    numeric_precision: int | dict[str, int] | Literal["auto", "exact"] | None = None
    datetime_precision: str | dict[str, str] | None = None
    compat: Literal["petsard-1.6"] | None = None
    columns: Names | None = None
    deduplicate: bool = Field(default=False, strict=True)
    missing: Literal["category", "never"] = "category"
    values: bool = Field(default=False, strict=True)
    n_draws: int = Field(default=5, ge=1, strict=True)
    n_permutations: int = Field(default=199, ge=20, strict=True)

    @field_validator("datetime_precision")
    @classmethod
    def _names_units(cls, unit: str | dict[str, str] | None) -> str | dict[str, str] | None:
        units = unit.values() if isinstance(unit, dict) else [] if unit in (None, "auto", "exact") else [unit]
        odd = [each for each in units if str(each).lower() not in PETSARD_UNITS]
        if odd:
            raise ValueError(f"{odd[0]!r} is no unit of time; give one of {', '.join(PETSARD_UNITS)}, auto or exact")
        return unit

    @model_validator(mode="after")
    def _has_effect(self) -> MpuccsEvaluator:
        idle = self.model_fields_set & {"control", "deduplicate", "missing", "n_draws", "n_permutations"}
        if self.compat is not None and idle:
            msg = f"{min(idle)} has no effect with compat"
            raise MisplacedError(msg, (min(idle),))
        if self.deduplicate and self.columns is not None:
            msg = "deduplicate has no effect with columns: records that are equal on some columns are not equal"
            raise MisplacedError(msg, ("deduplicate",))
        return self

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Count the records that are unique on few columns and equal one original there."""
        found = self._run_petsard(tables) if self.compat else self._run_mpuccs(tables, files, seed)
        reports = {name: _to_columns(getattr(found, name)) for name in ("details", "tree") if name in wanted}
        judged = {name: found.summary[name] for name in _JUDGED_FIGURES if name in found.summary}
        return Evaluation.from_figures(self._select_figures(found.summary), reports, judged)

    def failures(self, found: Evaluation) -> list[str]:
        """Say which limits do not hold, as the command's --fail-above does."""
        limits = {_LIMIT_NAMES[name]: limit for name, limit in self.limit.items()}
        return [each["because"] for each in find_failures(mpuccs_figures(found.judged, limits), limits)]

    def _run_mpuccs(self, tables: Tables, files: NamedFiles, seed: int) -> Any:
        made = tables.current if tables.is_derived else None
        return mpuccs(
            tables.people,
            made,
            control=None if made is None else self.find_control(tables, files),
            numeric_precision=_to_precision(self.numeric_precision),
            datetime_precision=_to_time_units(self.datetime_precision),
            seed=seed,
            **entries_of(self, "n_cols", "columns", "deduplicate", "missing", "min_entropy_delta", *_SHARED_OPTIONS),
            **entries_of(self, "n_draws", "n_permutations"),
        )

    def _run_petsard(self, tables: Tables) -> Any:
        for name in ("numeric_precision", "datetime_precision"):
            if isinstance(getattr(self, name), dict):
                raise InputError(
                    f"{name} with compat is one precision for all columns.", hint="give one, or leave it out."
                )
        tables.check_made()
        original, synthetic = tables.people, tables.current
        if self.columns is not None:
            original, synthetic = original.select(self.columns), synthetic.select(self.columns)
        return petsard_mpuccs(
            original,
            synthetic,
            n_cols=list(self.n_cols) if isinstance(self.n_cols, tuple) else self.n_cols,
            min_entropy_delta=self.min_entropy_delta or 0.0,
            **entries_of(self, "numeric_precision", "datetime_precision", *_SHARED_OPTIONS),
        )

    def _select_figures(self, summary: Mapping[str, Any]) -> dict[str, Any]:
        """Return the figures in PETsARD's order, followed by those of the control."""
        figures = {name: summary[name] for name in (*_TOTAL_FIGURES, *_SETTING_FIGURES)}
        figures["config_n_cols"] = str(list(self.n_cols) if isinstance(self.n_cols, tuple) else self.n_cols)
        compared = summary.get("control")
        if compared:
            low, high = compared["interval"]
            told = {**compared, "interval_low": low, "interval_high": high}
            figures |= {name: told[name] for name in _CONTROL_FIGURES}
        return figures


class ScoresEvaluator(Evaluator):
    """Scores of column sets of the table as it is: `hushtable.discover.compare_sets`."""

    method: Literal["scores"]
    columns: tuple[Names, ...] = ()
    scores: Names = ()

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Score each set; of one set, the global report has the scores too."""
        sets = [list(names) for names in self.columns] or [list(tables.current.columns)]
        compared = compare_sets(tables.current, sets, scores=list(self.scores) or DEFAULT_SCORES)
        values: Columns = {score.label: [row.values[score.label] for row in compared.rows] for score in compared.scores}
        details: Columns = {"field_combo": [row.columns for row in compared.rows], **values}
        reports: dict[str, Columns] = {"details": details}
        return Evaluation.from_tables({"global": values, **reports} if len(sets) == 1 else reports)


class KeysEvaluator(Evaluator):
    """Which columns of the table as it is tell all rows apart: `hushtable.minimal_keys`."""

    figures = ("n_keys",)

    method: Literal["keys"]
    columns: Names | None = None
    max_size: int | None = Field(default=None, ge=1, strict=True)
    error: float = Field(default=0.0, ge=0, lt=1, strict=True)
    measure: Literal["g1", "unique_rate"] = "g1"
    rows: Literal["distinct", "all"] = "distinct"
    missing: Literal["category", "never"] = "category"

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Find all minimal keys of at most so many columns."""
        asked = entries_of(self, "max_size", "error", "measure", "rows", "missing")
        found = minimal_keys(tables.current, self.columns, **asked)
        summary = found.summary()
        totals = {name: summary[name] for name in ("n_records", "n_rows", "max_size", "n_keys", "complete")}
        totals["fewest_columns"] = min(found.n_by_size, default=None)
        reports = {"details": _to_columns(found.to_frame())} if "details" in wanted else {}
        return Evaluation.from_figures(totals, reports, summary)

    def failures(self, found: Evaluation) -> list[str]:
        """Say whether too many keys were found."""
        limits = {} if not self.limit else {"count": self.limit["n_keys"]}
        return [each["because"] for each in find_failures(keys_figures(found.judged), limits)]


class VerifyEvaluator(Evaluator):
    """Whether a released table holds what it claims: its own manifest, or a policy. What fails makes the run fail."""

    method: Literal["verify"]
    policy: str | None = None

    def inputs(self, files: NamedFiles) -> tuple[Path, ...]:
        """Return the policy's file, and those that it names."""
        if self.policy is None:
            return ()
        path = files.find(self.policy)
        return path, *Policy.read(path).inputs

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Judge the published cells anew."""
        verdict = self._judge_table(tables, files)
        failed = {failure.condition: failure for failure in verdict.failures}
        states = {
            name: "fails" if name in failed else "not judged" if name in verdict.unchecked else "holds"
            for name in dict.fromkeys((*verdict.conditions, *failed))
        }
        totals = {
            "passed": verdict.passed and verdict.complete_for_receiver,
            "n_conditions": len(states),
            "n_failures": len(failed),
            "n_unchecked": len(verdict.unchecked),
            "n_records": verdict.n_records,
            **verdict.figures,
        }
        details: Columns = {
            "condition": list(states),
            "state": list(states.values()),
            "n_classes": [failed[name].n_classes if name in failed else 0 for name in states],
            "n_records": [failed[name].n_records if name in failed else 0 for name in states],
        }
        return Evaluation.from_figures(totals, {"details": details})

    def _judge_table(self, tables: Tables, files: NamedFiles) -> Verdict:
        """Judge a table by a policy, its manifest, or both; compare with the original if the claim needs it."""
        rules = None if self.policy is None else Policy.read(files.find(self.policy))
        claim = None if tables.release is None else manifest.claim_of(tables.release)
        entries = {} if tables.release is None else manifest.read(tables.release)
        if rules is not None:
            asked = rules.claim(tables.current.columns)
            if claim is not None:
                rules.check_agrees(claim)
            claim = asked if claim is None else claim.with_knowledge_of(asked)
            rules.check_release(tables.current.columns, claim)
        if claim is None:
            raise InputError(
                "nothing was claimed of this table.", hint="name a policy, or verify what an Anonymizer made."
            )
        compares = isinstance(claim, (Classes, Matchings)) and claim.needs_original(tables.current.columns)
        verdict = claim.verify(tables.current, original=tables.protected if compares else None)
        limit = describe_exposure_limit(rules)
        return manifest.judge_exposure(verdict, entries, tables.current, claim, limit, original=tables.protected)

    def failures(self, found: Evaluation) -> list[str]:
        """Say how much does not hold, or could not be judged."""
        n_failures, n_unchecked = found.figures["n_failures"], found.figures["n_unchecked"]
        if found.figures["passed"]:
            return []
        return [f"of {found.figures['n_conditions']} conditions {n_failures} fail, and {n_unchecked} were not judged"]


class SimilarityEvaluator(Evaluator):
    """How alike two tables are: the four formulas of sdmetrics' quality report."""

    method: Literal["default", "quality", "sdmetrics-qualityreport"]

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Compare columns and pairs of columns."""
        tables.check_made()
        result = similarity(*encode_same_columns({"original": tables.people, "synthetic": tables.current}))
        totals = {
            "Score": result.score,
            "Column Shapes": result.column_shapes,
            "Column Pair Trends": result.column_pair_trends,
        }
        pairs = {"column1": [first for first, _ in result.pairs], "column2": [second for _, second in result.pairs]}
        return Evaluation.from_figures(
            totals,
            {
                "columnwise": {
                    "column": list(result.columns),
                    **_metric_columns("Column Shapes", result.columns.values()),
                },
                "pairwise": {**pairs, **_metric_columns("Column Pair Trends", result.pairs.values())},
            },
        )


class DiagnosisEvaluator(Evaluator):
    """Whether a synthetic table could be one of the original's: sdmetrics' diagnostic report."""

    method: Literal["diagnosis", "sdmetrics-diagnosticreport"]

    def evaluate(self, tables: Tables, files: NamedFiles, seed: int, wanted: Collection[str]) -> Evaluation:
        """Compare ranges, categories and columns."""
        tables.check_made()
        read = read_alike([tables.people, tables.current])
        result = diagnosis(*(Table.encode(frame) for frame in read))
        columns = {"column": list(result.columns), **_metric_columns("Data Validity", result.columns.values())}
        totals = {
            "Score": result.score,
            "Data Validity": result.data_validity,
            "Data Structure": result.data_structure,
        }
        return Evaluation.from_figures(totals, {"columnwise": columns})


class LeftOut(Evaluator):
    """An evaluator of PETsARD's that is not built: its parameters are read, and a run says that it was left out."""

    target: Any = None
    n_clusters: Any = None
    stats_method: Any = None
    compare_method: Any = None
    aggregated_method: Any = None
    summary_method: Any = None
    eval_method: Any = None
    custom_method: Any = None
    module_path: Any = None
    class_name: Any = None


EVALUATORS: Final[dict[str, type[Evaluator]]] = {
    "mpuccs": MpuccsEvaluator,
    "scores": ScoresEvaluator,
    "keys": KeysEvaluator,
    "verify": VerifyEvaluator,
    "unicity": UnicityEvaluator,
    "link": LinkEvaluator,
    "join_risk": JoinRiskEvaluator,
    "check_tables": CheckTablesEvaluator,
    "perturbation": PerturbationEvaluator,
    "attack": AttackEvaluator,
    "copies": CopiesEvaluator,
    "membership": MembershipEvaluator,
    **dict.fromkeys(("default", "quality", "sdmetrics-qualityreport"), SimilarityEvaluator),
    **dict.fromkeys(("diagnosis", "sdmetrics-diagnosticreport"), DiagnosisEvaluator),
    "anonymeter-singlingout": SinglingOutEvaluator,
    "anonymeter-linkability": LinkabilityEvaluator,
    "anonymeter-inference": InferenceEvaluator,
    **dict.fromkeys(("dcr", "nndr", "tcap", "rapid"), FigureEvaluator),
    **dict.fromkeys(("mlutility-classification", "mlutility-regression", "mlutility-cluster"), LearningEvaluator),
    **dict.fromkeys(("stats", "custom_method"), LeftOut),
}
"""What evaluates, by the word for it. What is put in here may stand in a file."""


def _metric_columns(what: str, metrics: Collection[tuple[str, float | None]]) -> Columns:
    """Return metrics and their values as that report names them."""
    return {
        "Property": [what] * len(metrics),
        "Metric": [metric for metric, _ in metrics],
        "Score": [score for _, score in metrics],
    }


def _to_precision(given: Any) -> Any:
    """Return a precision for `hushtable.mpuccs`: None becomes "auto" (from the tables), "exact" becomes None."""
    return "auto" if given is None else None if given == "exact" else given


def _to_time_units(given: str | dict[str, str] | None) -> Any:
    """Return units of time for `hushtable.mpuccs`, in numpy's spelling."""
    if isinstance(given, dict):
        return {name: PETSARD_UNITS[each.lower()] for name, each in given.items()}
    return PETSARD_UNITS.get(str(given).lower(), _to_precision(given))


def _to_columns(table: Any) -> Columns:
    frame = frames.read(table)
    return {name: frame.column(name).to_list() for name in frame.columns}
