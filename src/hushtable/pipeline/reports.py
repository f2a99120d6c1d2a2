"""What reporters write: tables, reports of every granularity, timings; and the names of the files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hushtable.pipeline.experiments import Branch, Step, full_name
from hushtable.pipeline.modules import SaveData, SaveReport, SaveTiming
from hushtable.pipeline.results import Columns, Evaluation, Tables

__all__ = ["ReportNaming", "Timing", "data_files", "report", "report_name", "timing", "timing_name"]

_INDEX: Final[Mapping[str, tuple[str, ...]]] = {
    "columnwise": ("column",),
    "pairwise": ("column1", "column2"),
    "details": ("index",),
    "tree": ("index",),
}
"""What tells the rows of one experiment apart, by granularity."""
_PER_UNIT: Final = {"seconds": 1.0, "minutes": 60.0, "hours": 3600.0, "days": 86400.0}


@dataclass(frozen=True, slots=True)
class ReportNaming:
    """How files are named where a reporter does not say.

    Attributes
    ----------
    strategy : {"traditional", "plain"}
    varied : collection of str
        Modules with several experiments: a plain name tells those only.
    """

    strategy: str
    varied: frozenset[str]

    def of(self, reporter: SaveData | SaveReport | SaveTiming) -> str:
        """Return how a reporter's files are named."""
        return reporter.naming_strategy or self.strategy


@dataclass(frozen=True, slots=True)
class Timing:
    """When a step was carried out.

    Attributes
    ----------
    step : Step
    start, end : str
        ISO 8601.
    seconds : float
    status : {"completed", "reused"}
    """

    step: Step
    start: str
    end: str
    seconds: float
    status: str


def data_files(reporter: SaveData, steps: Sequence[Step], naming: ReportNaming) -> Iterator[tuple[str, Step, str]]:
    """Yield the name of each file of tables, the step whose table it is, and which of its tables."""
    for step in steps:
        if step.looks or not {step.module, step.label} & set(reporter.source):
            continue
        yield _data_name(reporter, step.path, naming, ""), step, "current"
        if step.module == "Splitter":
            yield _data_name(reporter, step.path, naming, "control"), step, "control"


def _data_name(reporter: SaveData, path: Branch, naming: ReportNaming, what: str) -> str:
    if naming.of(reporter) == "plain":
        told = [each for each in path[:-1] if each[0] in naming.varied] + [path[-1]]
        parts = [_plain(part) for module, experiment in told for part in (module, experiment)]
        return ".".join([reporter.output, "data", *parts, *([what] if what else []), "csv"])
    return f"{reporter.output}_{full_name(path)}{f'_[{what}]' if what else ''}.csv"


def _plain(name: str) -> str:
    return name.replace("_[", ".").replace("[", "").replace("]", "").replace(" ", "_")


def report_name(reporter: SaveReport, granularity: str, naming: ReportNaming) -> str:
    """Return the name of a report's file."""
    strategy, evals = naming.of(reporter), "-".join(reporter.eval or ())
    if strategy == "plain":
        return ".".join([reporter.output, "report", *([_plain(evals)] if evals else []), granularity, "csv"])
    if strategy == "compact":
        return f"{reporter.output}.report.Rp.{_evaluated(reporter, granularity)}.{granularity[0].upper()}.csv"
    return f"{reporter.output}[Report]_{_evaluated(reporter, granularity)}.csv"


def _evaluated(reporter: SaveReport, granularity: str) -> str:
    """Return what stands in a report for the experiments whose figures are in it."""
    return f"{'-'.join(reporter.eval)}_[{granularity}]" if reporter.eval else f"[{granularity}]"


def report(
    reporter: SaveReport,
    granularity: str,
    found: Sequence[tuple[Step, Evaluation]],
    tables: Mapping[Branch, Tables],
) -> Columns | None:
    """Put together what was found, in the product's order; None where nothing has this granularity.

    A row for each line of experiments, and for each column or pair of one; its figures stand behind the name of the
    experiment that found them, those of several evaluators of the same tables in one row. In details and trees rows
    of several evaluators have nothing in common, and stand below one another.
    """
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    named: dict[str, None] = {"full_expt_name": None}
    figures: dict[str, None] = {}
    for step, evaluation in found:
        if reporter.eval is not None and step.experiment not in reporter.eval:
            continue
        columns = evaluation.tables.get(granularity)
        if columns is None:
            continue
        place = _place(step, _evaluated(reporter, granularity))
        counts = tables[step.parent].counts if granularity == "global" else {}
        index = _INDEX.get(granularity, ())
        named |= dict.fromkeys((*place, *index))
        prefixed = {name: f"{step.experiment}_{name}" for name in columns if name not in index}
        figures |= dict.fromkeys((*counts, *prefixed.values()))
        n_rows = len(next(iter(columns.values()), ()))
        for i in range(n_rows):
            where = {name: columns[name][i] if name in columns else i for name in index}
            owner = step.experiment if "index" in index else ""
            row = rows.setdefault((*place.values(), *where.values(), owner), {**place, **where, **counts})
            row.update({prefixed[name]: cells[i] for name, cells in columns.items() if name not in index})
    if not rows:
        return None
    return {name: _of_one_type([row.get(name) for row in rows.values()]) for name in (*named, *figures)}


def _of_one_type(cells: list[Any]) -> list[Any]:
    """Return cells of one type, as a column has them: whole numbers beside decimals, and anything beside text."""
    types = {type(cell) for cell in cells if cell is not None}
    if len(types) < 2:
        return cells
    kind = float if types == {int, float} else str
    return [None if cell is None else kind(cell) for cell in cells]


def _place(step: Step, evaluated: str) -> dict[str, str]:
    """Return the experiments on a path, by module, and all of them as one name."""
    modules = {module: experiment for module, experiment in step.path if module not in ("Evaluator", "Describer")}
    modules[step.module] = evaluated
    # The last bracket is that of the granularity, as in PETsARD.
    name = "_".join(filter(None, [full_name(step.parent), f"{step.module}{evaluated}"]))
    return {"full_expt_name": name, **modules}


def timing(reporter: SaveTiming, timings: Sequence[Timing]) -> Columns:
    """Return how long each step took."""
    told = [each for each in timings if not reporter.module or each.step.module in reporter.module]
    return {
        "record_id": [f"timing_{place:06d}" for place, _ in enumerate(told, 1)],
        "module_name": [each.step.module for each in told],
        "experiment_name": [each.step.experiment for each in told],
        "step_name": ["run"] * len(told),
        "start_time": [each.start for each in told],
        "end_time": [each.end for each in told],
        f"duration_{reporter.time_unit}": [round(each.seconds / _PER_UNIT[reporter.time_unit], 6) for each in told],
        "source": [each.step.name for each in told],
        "status": [each.status for each in told],
    }


def timing_name(reporter: SaveTiming, naming: ReportNaming) -> str:
    """Return the name of the file of timings."""
    return f"{reporter.output}.timing.csv" if naming.of(reporter) == "plain" else f"{reporter.output}[Timing].csv"
