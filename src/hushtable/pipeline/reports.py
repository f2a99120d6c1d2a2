"""What reporters write: tables, reports of every granularity, timings; and the names of the files.

The files of a run are written together at its end, or not at all, and inside its output folder.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hushtable.errors import InputError, quote_names
from hushtable.io import Frame, drafts, frames
from hushtable.pipeline.modules import SaveData, SaveReport, SaveTiming
from hushtable.pipeline.results import Columns, Evaluation, Tables
from hushtable.pipeline.steps import Branch, Step, full_name
from hushtable.release import codebook_paths, manifest, render_copy

RECORD_FILE: Final = ".hushtable_files.json"
"""In an output folder: what runs wrote there, by name, with its SHA-256."""


@dataclass(frozen=True, slots=True)
class File:
    """A function that fills the draft of a file, and whether the file is internal (for the data's holders)."""

    fill: Callable[[Path], object]
    is_internal: bool


WrittenFiles = Mapping[Path, File]


def file_of_columns(path: Path, columns: Columns, *, is_internal: bool) -> WrittenFiles:
    """Return the file of a table of results."""
    return {path: File(lambda draft: frames.write(frames.read(frames.assemble(columns)), draft), is_internal)}


def file_of_frame(path: Path, frame: Frame, *, is_internal: bool) -> WrittenFiles:
    """Return the file of a table."""
    return {path: File(lambda draft: frames.write(frame, draft), is_internal)}


def file_of_text(path: Path, text: str, *, is_internal: bool = False) -> WrittenFiles:
    """Return the file of a text."""
    return {path: File(lambda draft: draft.write_text(text, encoding="utf-8", newline="\n"), is_internal)}


def files_of_release(path: Path, release: Path, *, is_external: bool) -> WrittenFiles:
    """Return the files of a kept, verified release under another name, with its manifest and, of classes, codebook."""
    entries = manifest.read(release)
    manifest.check_hash(release, entries)
    told = json.dumps({**entries, "file": path.name}, indent=2, ensure_ascii=False) + "\n"
    files = {path: File(lambda draft: shutil.copyfile(release, draft), is_internal=False)}
    files |= file_of_text(manifest.manifest_path(path), told, is_internal=not is_external)
    codebook = codebook_paths(release)[1]
    for each, text in render_copy(codebook, path).items() if codebook.is_file() else ():
        files |= file_of_text(each, text)
    return files


def check_paths(paths: Sequence[Path], inputs: Sequence[Path], folder: Path, *, overwrite: bool) -> None:
    """Raise InputError if a file of a run must not be written.

    It is an input, a link or a folder, lies outside the output folder, or is there and no run wrote it.
    """
    for path in paths:
        drafts.check_inside(path, folder, "the file")
    drafts.check_outputs((*paths, folder / RECORD_FILE), inputs, overwrite=True)
    if overwrite:
        return
    hash_by_name = _read_record(folder)
    strange = [
        path
        for path in paths
        if path.exists() and hash_by_name.get(_relative_name(path, folder)) != manifest.sha256(path)
    ]
    if not hash_by_name and (folder / RECORD_FILE).exists():
        strange.append(folder / RECORD_FILE)
    if strange:
        raise InputError(
            f"{quote_names(map(str, strange))} exists, and is not what an earlier run wrote there.",
            hint="name another folder, or overwrite it: --force on the command line, overwrite=True in Python.",
        )


def write(files: WrittenFiles, inputs: Sequence[Path], folder: Path, *, overwrite: bool) -> tuple[Path, ...]:
    """Write all files, with a record of them for the next run."""
    paths = tuple(files)
    if not paths:
        return ()
    check_paths(paths, inputs, folder, overwrite=overwrite)
    record = folder / RECORD_FILE
    internal = [path for path, file in files.items() if file.is_internal]
    with drafts.replace_files(*paths, record, internal=(*internal, record)) as (*made, sidecar):
        for draft, file in zip(made, files.values(), strict=True):
            file.fill(draft)
        wrote = {_relative_name(path, folder): manifest.sha256(draft) for path, draft in zip(paths, made, strict=True)}
        sidecar.write_text(json.dumps({**_read_record(folder), **wrote}, indent=2) + "\n", encoding="utf-8")
    return paths


def _relative_name(path: Path, out: Path) -> str:
    return os.path.relpath(os.path.realpath(path), os.path.realpath(out))


def _read_record(out: Path) -> dict[str, str]:
    """Read the record of what runs wrote into a folder; empty if there is none, or it is another file."""
    try:
        found = json.loads((out / RECORD_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


_INDEX_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "columnwise": ("column",),
    "pairwise": ("column1", "column2"),
    "details": ("index",),
    "tree": ("index",),
}
"""What tells the rows of one experiment apart, by granularity."""
_SECONDS_PER_UNIT: Final = {"seconds": 1.0, "minutes": 60.0, "hours": 3600.0, "days": 86400.0}


@dataclass(frozen=True, slots=True)
class ReportNaming:
    """How files are named where a reporter does not say."""

    strategy: str  # "traditional" or "plain"
    varied: frozenset[str]  # modules with several experiments: only these are in a plain name

    def strategy_of(self, reporter: SaveData | SaveReport | SaveTiming) -> str:
        """Return how a reporter's files are named."""
        return reporter.naming_strategy or self.strategy


@dataclass(frozen=True, slots=True)
class Timing:
    """When a step was carried out."""

    step: Step
    start: str  # ISO 8601, as `end`
    end: str
    seconds: float
    status: str  # "completed" or "reused"


def data_files(reporter: SaveData, steps: Sequence[Step], naming: ReportNaming) -> Iterator[tuple[str, Step, str]]:
    """Yield the name of each file of tables, the step whose table it is, and which of its tables."""
    for step in steps:
        if step.is_evaluation or not {step.module, step.label} & set(reporter.source):
            continue
        yield _data_name(reporter, step.path, naming, ""), step, "current"
        if step.module == "Splitter":
            yield _data_name(reporter, step.path, naming, "control"), step, "control"


def _data_name(reporter: SaveData, path: Branch, naming: ReportNaming, what: str) -> str:
    if naming.strategy_of(reporter) == "plain":
        told = [each for each in path[:-1] if each[0] in naming.varied] + [path[-1]]
        parts = [_simplify_name(part) for module, experiment in told for part in (module, experiment)]
        return ".".join([reporter.output, "data", *parts, *([what] if what else []), "csv"])
    return f"{reporter.output}_{full_name(path)}{f'_[{what}]' if what else ''}.csv"


def _simplify_name(name: str) -> str:
    return name.replace("_[", ".").replace("[", "").replace("]", "").replace(" ", "_")


def report_name(reporter: SaveReport, granularity: str, naming: ReportNaming) -> str:
    """Return the name of a report's file."""
    strategy, evals = naming.strategy_of(reporter), "-".join(reporter.eval or ())
    if strategy == "plain":
        return ".".join([reporter.output, "report", *([_simplify_name(evals)] if evals else []), granularity, "csv"])
    if strategy == "compact":
        return f"{reporter.output}.report.Rp.{_evaluation_name(reporter, granularity)}.{granularity[0].upper()}.csv"
    return f"{reporter.output}[Report]_{_evaluation_name(reporter, granularity)}.csv"


def _evaluation_name(reporter: SaveReport, granularity: str) -> str:
    """Return the name in a report of the experiments whose figures are in it."""
    return f"{'-'.join(reporter.eval)}_[{granularity}]" if reporter.eval else f"[{granularity}]"


def build_report(
    reporter: SaveReport,
    granularity: str,
    evaluations: Sequence[tuple[Step, Evaluation]],
    tables: Mapping[Branch, Tables],
) -> Columns | None:
    """Build a report from evaluations, in the order of steps; None if none has this granularity.

    A row for each line of experiments, and for each column or pair of one; its figures stand behind the name of the
    experiment that found them, those of several evaluators of the same tables in one row. In details and trees rows
    of several evaluators have nothing in common, and stand below one another.
    """
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    label_columns: dict[str, None] = {"full_expt_name": None}
    figures: dict[str, None] = {}
    for step, evaluation in evaluations:
        if reporter.eval is not None and step.experiment not in reporter.eval:
            continue
        columns = evaluation.tables.get(granularity)
        if columns is None:
            continue
        labels = _path_columns(step, _evaluation_name(reporter, granularity))
        counts = tables[step.parent].counts if granularity == "global" else {}
        index = _INDEX_COLUMNS.get(granularity, ())
        label_columns |= dict.fromkeys((*labels, *index))
        prefixed = {name: f"{step.experiment}_{name}" for name in columns if name not in index}
        figures |= dict.fromkeys((*counts, *prefixed.values()))
        n_rows = len(next(iter(columns.values()), ()))
        for i in range(n_rows):
            where = {name: columns[name][i] if name in columns else i for name in index}
            owner = step.experiment if "index" in index else ""
            row = rows.setdefault((*labels.values(), *where.values(), owner), {**labels, **where, **counts})
            row.update({prefixed[name]: cells[i] for name, cells in columns.items() if name not in index})
    if not rows:
        return None
    return {name: _unify_types([row.get(name) for row in rows.values()]) for name in (*label_columns, *figures)}


def _unify_types(cells: list[Any]) -> list[Any]:
    """Return cells of one type, as a column needs: decimals if some are, and text if some are."""
    types = {type(cell) for cell in cells if cell is not None}
    if len(types) < 2:
        return cells
    kind = float if types == {int, float} else str
    return [None if cell is None else kind(cell) for cell in cells]


def _path_columns(step: Step, evaluated: str) -> dict[str, str]:
    """Return the experiments on a path by module, and the name of the whole path."""
    modules = {module: experiment for module, experiment in step.path if module not in ("Evaluator", "Describer")}
    modules[step.module] = evaluated
    # The last bracket is that of the granularity, as in PETsARD.
    name = "_".join(filter(None, [full_name(step.parent), f"{step.module}{evaluated}"]))
    return {"full_expt_name": name, **modules}


def timing_columns(reporter: SaveTiming, timings: Sequence[Timing]) -> Columns:
    """Return how long each step took."""
    selected = [each for each in timings if not reporter.module or each.step.module in reporter.module]
    return {
        "record_id": [f"timing_{place:06d}" for place, _ in enumerate(selected, 1)],
        "module_name": [each.step.module for each in selected],
        "experiment_name": [each.step.experiment for each in selected],
        "step_name": ["run"] * len(selected),
        "start_time": [each.start for each in selected],
        "end_time": [each.end for each in selected],
        f"duration_{reporter.time_unit}": [
            round(each.seconds / _SECONDS_PER_UNIT[reporter.time_unit], 6) for each in selected
        ],
        "source": [each.step.name for each in selected],
        "status": [each.status for each in selected],
    }


def timing_name(reporter: SaveTiming, naming: ReportNaming) -> str:
    """Return the name of the file of timings."""
    return (
        f"{reporter.output}.timing.csv" if naming.strategy_of(reporter) == "plain" else f"{reporter.output}[Timing].csv"
    )
