"""A whole experiment in one file: tables in, split, synthesized or protected, evaluated, reported.

Modules, parameters, products of experiments, names and columns of files are those of PETsARD 1.6.0, whose files are
read as they are; docs/run.md says where we depart.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from hushtable.columns import escape_html
from hushtable.errors import HushError, InputError, PipelineError, find_nearest, names_in, quote_names
from hushtable.io import drafts, frames
from hushtable.pipeline import reports, steps, store
from hushtable.pipeline.cleaning import Cleaning
from hushtable.pipeline.evaluators import Evaluator, LeftOut
from hushtable.pipeline.modules import GRANULARITIES, Executor, Perturbing, Releasing, SaveData, SaveReport, SaveTiming
from hushtable.pipeline.reading import STEPS, experiments_of
from hushtable.pipeline.reports import ReportNaming, Timing
from hushtable.pipeline.results import Columns, Evaluation, Tables
from hushtable.pipeline.steps import Branch, Doing, Step, evaluate_tables, expand_steps, key_of, make_tables, seed_of
from hushtable.policy import Record, plain_yaml


@dataclass(frozen=True, slots=True, eq=False)
class PipelineRun:
    """What a run left behind.

    Attributes
    ----------
    files : tuple of path
        What was written.
    failures : tuple of str
        Limits that do not hold, and releases that do not hold what they claim.
    missing : tuple of str
        Evaluators that the file asks for and that were left out, because they are not built; but those that were
        allowed by name.
    timings : tuple of Timing
        Of every step, in order.
    columns : mapping of str to mapping of str to sequence
        The reports, by the names of their files, as plain columns.
    """

    files: tuple[Path, ...]
    failures: tuple[str, ...]
    timings: tuple[Timing, ...] = field(repr=False)
    columns: Mapping[str, Columns] = field(default_factory=dict, repr=False)
    missing: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every limit holds, and all was done that was asked for."""
        return not self.failures and not self.missing

    @property
    def reports(self) -> dict[str, Any]:
        """The reports as polars frames, by the names of their files."""
        return {name: frames.assemble(columns) for name, columns in self.columns.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return what was written, what failed and how long it took as plain values."""
        return {
            "files": [str(path) for path in self.files],
            "failures": list(self.failures),
            "missing": list(self.missing),
            "steps": [
                {"name": each.step.name, "seconds": each.seconds, "status": each.status} for each in self.timings
            ],
        }

    def _repr_html_(self) -> str:
        lines = [f"{len(self.timings)} steps, {len(self.files)} files", *(f"failed: {each}" for each in self.failures)]
        lines += [f"left out: {each}" for each in self.missing]
        return f"<b>Pipeline</b>: {'<br>'.join(map(escape_html, lines))}"


_MAX_NAME_BYTES: Final = 230
"""Bytes of a file's name: file systems take 255, and a draft's name is longer."""


@dataclass(frozen=True, slots=True, eq=False)
class _Done:
    """Results of the steps so far: collected during a run, and read at its end."""

    tables: dict[Branch, Tables] = field(default_factory=dict)
    evaluations: list[tuple[Step, Evaluation]] = field(default_factory=list)
    by_key: dict[str, Evaluation] = field(default_factory=dict)
    timings: list[Timing] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


def run_pipeline(
    pipeline: Pipeline,
    folder: Path,
    results: store.Store,
    tell: Callable[[str], None],
    *,
    overwrite: bool,
    missing: tuple[str, ...],
) -> PipelineRun:
    """Carry out a pipeline; see `hushtable.Pipeline.run`."""
    plan, keys, done = pipeline.steps, pipeline.keys(), _Done()
    naming = _choose_naming(pipeline)
    inputs = pipeline.inputs
    # Called once: the name may hold the time, and the file checked here must be the one that is written.
    log = _log_path(pipeline, folder)
    _check_outputs(pipeline, folder, log, inputs, naming, overwrite=overwrite)

    def say(line: str) -> None:
        done.lines.append(line)
        tell(line)

    if results.is_new:
        say(f"Results are kept in {results.folder}, which holds people's data from now on; --clean removes it.")
    for line in pipeline.left_out:
        say(line)
    for number, step in enumerate(plan, 1):
        doing = Doing(pipeline, results, seed_of(pipeline.seed, step), keys[step.path])
        try:
            _run_step(step, pipeline.granularities_of(step), doing, done)
            if pipeline.key_of(step, keys[step.parent]) != doing.key:
                # The result was kept under the key of the earlier file contents: it is wrong.
                doing.store.drop(doing.key)
                changed = "a file that it reads was changed meanwhile."
                raise InputError(changed, hint="run again when nobody writes to it.")
        except HushError as error:
            raise type(error)(f"step {number} of {len(plan)}, {step.name}, failed: {error}") from None
        for line in _describe_step(done, step):
            say(line)
    columns_by_name, files = _build_reports(pipeline, folder, log, naming, done)
    written = reports.write(files, inputs, folder, overwrite=overwrite)
    return PipelineRun(written, _list_failures(done), tuple(done.timings), columns_by_name, missing)


def _run_step(step: Step, granularities: Sequence[str], doing: Doing, done: _Done) -> None:
    is_kept = doing.store.find(doing.key) is not None or doing.key in done.by_key
    start, began = dt.datetime.now().astimezone(), perf_counter()
    before = done.tables.get(step.parent)
    if not step.is_evaluation:
        done.tables[step.path] = make_tables(step, before, doing)
    else:
        assert before is not None, "a pipeline begins with a table"
        evaluation = done.by_key.get(doing.key) or _load_or_evaluate(step, before, granularities, doing)
        done.by_key[doing.key] = evaluation
        done.evaluations.append((step, evaluation))
    seconds = perf_counter() - began
    end = start + dt.timedelta(seconds=seconds)
    status = "reused" if is_kept else "completed"
    done.timings.append(
        Timing(step, start.isoformat(timespec="milliseconds"), end.isoformat(timespec="milliseconds"), seconds, status)
    )


def _load_or_evaluate(step: Step, tables: Tables, granularities: Sequence[str], doing: Doing) -> Evaluation:
    """Load a kept evaluation, or evaluate tables."""
    folder = doing.store.find(doing.key)
    if folder is not None:
        # A damaged result is computed again.
        with contextlib.suppress(OSError, ValueError, TypeError):
            return Evaluation.from_json((folder / _EVALUATION_FILE).read_text(encoding="utf-8"))
    evaluation = evaluate_tables(step, tables, doing, granularities)
    if doing.store.lasts:
        with doing.store.create_result(doing.key) as folder:
            (folder / _EVALUATION_FILE).write_text(evaluation.to_json(), encoding="utf-8")
    return evaluation


_EVALUATION_FILE: Final = "evaluation.json"


def _describe_step(done: _Done, step: Step) -> list[str]:
    """Describe how long a step took, and how many rows it left out."""
    last = done.timings[-1]
    took = "kept from before" if last.status == "reused" else f"{last.seconds:.2f} s"
    lines = [f"{step.line}: {took}"]
    if isinstance(step.parameters, Cleaning):
        frame, indent = done.tables[step.path].current, "  " * len(step.path)
        own = f"{step.module}_{step.experiment}_"
        counts = done.tables[step.path].counts
        lines += [
            f"{indent}{name.removeprefix(own)}: {count:,}" for name, count in counts.items() if name.startswith(own)
        ]
        lines += [
            f"{indent}there is no column {name!r}{f' (did you mean {near!r}?)' if near else ''}; what was said of it "
            "has no effect"
            for name in step.parameters.columns
            if name not in frame.columns
            for near in [find_nearest(name, frame.columns)]
        ]
    return lines


def _choose_naming(pipeline: Pipeline) -> ReportNaming:
    modules: dict[str, set[str]] = {}
    for step in pipeline.steps:
        modules.setdefault(step.module, set()).add(step.experiment)
    varied = frozenset(module for module, experiments in modules.items() if len(experiments) > 1)
    return ReportNaming("traditional" if pipeline.version is None else "plain", varied)


def _log_path(pipeline: Pipeline, folder: Path) -> Path | None:
    """Return the path of the log file; None if none was requested."""
    log = pipeline.log
    if log is None or log.log_output_type == "stdout":
        return None
    return folder / log.log_dir / log.log_filename.replace("{timestamp}", dt.datetime.now().strftime("%Y%m%d-%H%M%S"))


def _check_outputs(
    pipeline: Pipeline, folder: Path, log: Path | None, inputs: Sequence[Path], naming: ReportNaming, *, overwrite: bool
) -> None:
    """Raise InputError before the run if a file could not be written at its end."""
    if log is not None:
        # Before any folder is created.
        drafts.check_inside(log.parent, folder, "log_dir")
    _make_folder(folder, "name another with --out.")
    names = [name for reporter in pipeline.reporters.values() for name in _names_of(reporter, pipeline, naming)]
    long = [name for name in names if len(os.fsencode(name)) > _MAX_NAME_BYTES]
    if long:
        raise InputError(
            f"the name of a file would have {len(os.fsencode(long[0]))} bytes: {long[0]!r}.",
            hint="take naming_strategy: plain, or shorter names of experiments.",
        )
    if not os.access(folder, os.W_OK):
        raise InputError(f"nothing can be written to {str(folder)!r}.", hint="name another folder with --out.")
    files = [folder / name for name in names]
    if log is not None:
        _make_folder(log.parent, "name another as log_dir.")
        files.append(log)
    reports.check_paths(files, inputs, folder, overwrite=overwrite)


def _make_folder(folder: Path, hint: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot make the folder {str(folder)!r}: {getattr(error, 'strerror', None) or type(error).__name__}.",
            hint=hint,
        ) from None


def _names_of(reporter: Record, pipeline: Pipeline, naming: ReportNaming) -> list[str]:
    """Return the names that a reporter's files may have."""
    if isinstance(reporter, SaveData):
        return [name for name, _, _ in reports.data_files(reporter, pipeline.steps, naming)]
    if isinstance(reporter, SaveReport):
        return [reports.report_name(reporter, granularity, naming) for granularity in reporter.granularity]
    assert isinstance(reporter, SaveTiming), "there are three kinds of reporters"
    return [reports.timing_name(reporter, naming)]


def _build_reports(
    pipeline: Pipeline, folder: Path, log: Path | None, naming: ReportNaming, done: _Done
) -> tuple[dict[str, Columns], reports.WrittenFiles]:
    """Return the reports, by the names of their files, and all files."""
    files: dict[Path, reports.File] = {}
    columns_by_name: dict[str, Columns] = {}
    for reporter in pipeline.reporters.values():
        if isinstance(reporter, SaveData):
            for name, step, what in reports.data_files(reporter, pipeline.steps, naming):
                files |= _table_files(folder / name, done.tables[step.path], step, what)
        else:
            for name, columns, is_internal in _columns_of(reporter, naming, done):
                columns_by_name[name] = columns
                files |= reports.file_of_columns(folder / name, columns, is_internal=is_internal)
    if log is not None:
        files |= reports.file_of_text(log, "\n".join(done.lines) + "\n")
    return columns_by_name, files


def _list_failures(done: _Done) -> tuple[str, ...]:
    """Describe which limits fail."""
    return tuple(
        f"{step.name}: {failure}"
        for step, evaluation in done.evaluations
        if isinstance(step.parameters, Evaluator)
        for failure in step.parameters.failures(evaluation)
    )


def _columns_of(reporter: Record, naming: ReportNaming, done: _Done) -> Iterator[tuple[str, Columns, bool]]:
    """Yield the name of each report of a reporter, its columns, and whether it is internal."""
    if isinstance(reporter, SaveTiming):
        yield reports.timing_name(reporter, naming), reports.timing_columns(reporter, done.timings), False
        return
    assert isinstance(reporter, SaveReport), "there are three kinds of reporters"
    for granularity in reporter.granularity:
        columns = reports.build_report(reporter, granularity, done.evaluations, done.tables)
        if columns is not None:
            # Reports on single columns and records hold people's values, or say who is singled out.
            yield reports.report_name(reporter, granularity, naming), columns, granularity != "global"


def _table_files(path: Path, tables: Tables, step: Step, what: str) -> reports.WrittenFiles:
    """Return the files of a step's table; a release is copied as it was verified."""
    if what == "control":
        assert tables.control is not None, "a Splitter makes one"
        return reports.file_of_frame(path, tables.control, is_internal=True)
    if isinstance(step.parameters, (Perturbing, Releasing)) and tables.release is not None:
        return reports.files_of_release(path, tables.release, is_external=step.parameters.external)
    return reports.file_of_frame(path, tables.current, is_internal=not tables.is_derived)


Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Pipeline:
    r"""A pipeline's file as a record.

    Attributes
    ----------
    modules : mapping of module to experiments
        In the file's order; an experiment's name to its parameters.
    reporters : mapping of name to parameters
    seed : int
        Every step draws from it and from the names on its own path, so that an experiment more changes no other.
    version : 1, optional
        Where the file says so, files get plain names.
    log : Executor, optional
    folder : path
        Where the file is: what it names is looked for there, and then in the working folder.
    file : path, optional
        The file itself.

    Examples
    --------
    >>> pipeline = Pipeline.parse("Loader: {a: {filepath: a.csv}, b: {filepath: b.csv}}\nDescriber: {all: {}}")
    >>> [step.name for step in pipeline.steps]
    ['Loader[a]', 'Loader[a]_Describer[all]', 'Loader[b]', 'Loader[b]_Describer[all]']
    """

    modules: Mapping[str, Mapping[str, Record]]
    reporters: Mapping[str, Record] = field(default_factory=dict)
    seed: int = 0
    version: int | None = None
    log: Executor | None = None
    folder: Path = Path()
    file: Path | None = None

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Pipeline:
        """Read a file.

        Raises
        ------
        PipelineError
            Every fault, with its line and the words that are allowed.
        """
        text = plain_yaml.read_file(path, "pipeline", "it is YAML in UTF-8; see docs/run.md.", PipelineError)
        return replace(cls.parse(text, str(path), Path(path).parent), file=Path(path))

    @classmethod
    def parse(cls, text: str, name: str = "pipeline", folder: str | os.PathLike[str] = ".") -> Pipeline:
        """Read a pipeline from YAML; files are looked for in ``folder``."""
        given, tree = plain_yaml.parse(text, name, PipelineError)
        return cls._from_entries(experiments_of(given, name, tree, Path(folder)), Path(folder))

    @classmethod
    def make(cls, entries: Mapping[str, Any], folder: str | os.PathLike[str] = ".") -> Pipeline:
        """Make a pipeline of plain values, as YAML would hold them."""
        return cls._from_entries(experiments_of(entries, "pipeline", None, Path(folder)), Path(folder))

    @classmethod
    def _from_entries(cls, read: Mapping[str, Any], folder: Path) -> Pipeline:
        modules = {name: experiments for name, experiments in read.items() if name in STEPS}
        reporters, seed = read.get("Reporter", {}), read.get("seed", 0)
        return cls(modules, reporters, seed, read.get("version"), read.get("Executor"), folder)

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every step that is carried out, depth first."""
        built = {
            module: {name: each for name, each in experiments.items() if not isinstance(each, LeftOut)}
            for module, experiments in self.modules.items()
        }
        return expand_steps({module: experiments for module, experiments in built.items() if experiments})

    @property
    def left_out(self) -> tuple[str, ...]:
        """What is named and not carried out, and makes no difference to the rest."""
        lines = [f"{experiment} is left out: {method} is not built" for experiment, _, method in self._not_built()]
        for module, experiments in self.modules.items():
            for name, each in experiments.items():
                if isinstance(each, Cleaning) and each.without_effect:
                    what = ", ".join(each.without_effect)
                    lines.append(f"{module}[{name}]: {what} has no effect: synthesizers take columns as they are here")
        return tuple(lines)

    def missing_evaluators(self, allowed: Collection[str] = ()) -> tuple[str, ...]:
        """Return the evaluators that are not built, but those that are allowed.

        Parameters
        ----------
        allowed : collection of str
            Names of experiments or of methods that may be left out.

        Raises
        ------
        PipelineError
            Nothing of such a name is left out.
        """
        not_built = self._not_built()
        names = {each for _, *names in not_built for each in names}
        for name in allowed:
            if name not in names:
                near = quote_names(sorted(names)) if names else "nothing"
                raise PipelineError(
                    f"{name!r} is allowed to be left out, and is not.", hint=f"what is left out of this file: {near}."
                )
        return tuple(
            f"{experiment}: {method}" for experiment, name, method in not_built if not {name, method} & {*allowed}
        )

    def _not_built(self) -> list[tuple[str, str, str]]:
        """Return what is left out: the experiment, its name and its method."""
        return [
            (f"{module}[{name}]", name, each.method)
            for module, experiments in self.modules.items()
            for name, each in experiments.items()
            if isinstance(each, LeftOut)
        ]

    def find(self, path: str) -> Path:
        """Return where a file is that the pipeline names.

        Raises
        ------
        PipelineError
            It is neither beside the pipeline's file nor in the working folder.
        """
        candidates = tuple(dict.fromkeys((self.folder / path, Path(path))))
        # A path may be too long, or hold characters that no path can.
        with contextlib.suppress(OSError, ValueError):
            for place in candidates:
                if place.is_file():
                    return place
        told = " or ".join(dict.fromkeys(os.path.abspath(each.parent) for each in candidates if "\0" not in path))
        raise PipelineError(f"there is no file {path[:200]!r}.", hint=f"put it into {told or 'a folder'}.")

    @property
    def inputs(self) -> tuple[Path, ...]:
        """All files that it reads, and its own."""
        named = [path for step in self.steps for path in steps.files_of(step.parameters, self)]
        return (*([] if self.file is None else [self.file]), *named)

    def obstacles(self) -> tuple[str, ...]:
        """Say what stands in the way of a run: what is not built, not installed, or not there."""
        obstacles = [
            (f"{module}[{name}]", self._obstacle_of(parameters))
            for module, experiments in self.modules.items()
            for name, parameters in experiments.items()
        ]
        return tuple(f"{where}: {what}" for where, what in obstacles if what is not None)

    def _obstacle_of(self, parameters: Record) -> str | None:
        own: str | None = getattr(parameters, "obstacle", None)
        if own is not None:
            return own
        try:
            steps.files_of(parameters, self)
        except HushError as error:
            return f"{error.message} {error.hint}"
        return None

    def plan(self, *, cache: bool = True) -> list[tuple[Step, bool]]:
        """Return every step, and whether a result is kept that a run would use again."""
        self._check_obstacles()
        kept = store.Store(self._store if cache else None)
        found = self.keys()
        return [(step, kept.find(found[step.path]) is not None) for step in self.steps]

    def clean(self) -> bool:
        """Remove what is kept between runs; say whether there was anything."""
        return store.clean(self._store)

    def run(
        self,
        out: str | os.PathLike[str] = ".",
        *,
        fresh: bool = False,
        cache: bool = True,
        tell: Tell | None = None,
        overwrite: bool = False,
        allow_missing: Collection[str] = (),
    ) -> PipelineRun:
        """Carry out every step, and write what the reporters ask for.

        Parameters
        ----------
        out : path
            The folder of the files, made where it is not there; nothing is written outside it. Files of the same
            names are replaced where an earlier run wrote them.
        fresh : bool
            Make anew what was kept.
        cache : bool
            Keep results of steps that take long in ``.hushtable`` beside the pipeline's file, for its owner alone,
            and use those that are there. They hold people's data; `clean` removes them.
        tell : callable, optional
            Called with a line for each step.
        overwrite : bool
            Replace files of the same names whoever wrote them. An input is never replaced, nor a link.
        allow_missing : collection of str
            Evaluators that are not built and may be left out, by the name of the experiment or method. Without them
            the run has not passed.

        Raises
        ------
        PipelineError
            Something stands in the way; see `obstacles`.
        HushError
            A step failed: which. What was done before is kept, and a rerun goes on from there.
        """
        self._check_obstacles()
        missing = self.missing_evaluators(names_in(allow_missing, "allow_missing"))
        with store.Store(self._store if cache else None, fresh=fresh) as kept:
            say = tell or (lambda line: None)
            return run_pipeline(self, Path(out), kept, say, overwrite=overwrite, missing=missing)

    def _check_obstacles(self) -> None:
        found = self.obstacles()
        if found:
            raise PipelineError("\n".join(found), hint="what a pipeline can do is in docs/run.md.")

    @property
    def _store(self) -> Path:
        return self.folder / store.FOLDER

    def granularities_of(self, step: Step) -> list[str]:
        """Return the granularities that reporters ask of a step."""
        if not step.is_evaluation:
            return []
        requested = {
            granularity
            for reporter in self.reporters.values()
            if isinstance(reporter, SaveReport) and (reporter.eval is None or step.experiment in reporter.eval)
            for granularity in reporter.granularity
        }
        return [each for each in GRANULARITIES if each in requested]

    def keys(self) -> dict[Branch, str]:
        """Return the keys under which the steps' results are kept."""
        found: dict[Branch, str] = {(): ""}
        for step in self.steps:
            found[step.path] = self.key_of(step, found[step.parent])
        return found

    def key_of(self, step: Step, parent: str) -> str:
        """Return the key of a step, given the key of the step before."""
        return key_of(step, self.seed, steps.files_of(step.parameters, self), self.granularities_of(step), parent)
