"""What each module does: the product of experiments, and a function from the tables before a step to those after it."""

from __future__ import annotations

import csv
import hashlib
import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

from hushtable._types import CountArray
from hushtable.columns import ColumnSpec, Kind
from hushtable.errors import InputError, PipelineError, VerificationError, check_columns
from hushtable.io import DELIMITERS, Dialect, Frame, frames, header_line, read_text
from hushtable.perturbation import perturb
from hushtable.pipeline.cleaning import Cleaning, clean_rows
from hushtable.pipeline.constraining import apply_rules, rules_of
from hushtable.pipeline.evaluators import Evaluator
from hushtable.pipeline.modules import (
    Constraining,
    FileReading,
    GivenSplit,
    GivenTable,
    Loading,
    OwnSynthesizer,
    Perturbing,
    Releasing,
    Schema,
    Splitting,
    Synthesis,
)
from hushtable.pipeline.reading import validate_record
from hushtable.pipeline.results import Evaluation, NamedFiles, Tables, measures_path
from hushtable.pipeline.store import Store
from hushtable.policy import Policy, Record, plain_yaml
from hushtable.quality import describe_table
from hushtable.release import codebook_paths, manifest, sha256
from hushtable.synthesizers import METHODS, plugin_synthesizers, synthesize_frame
from hushtable.tables import Table, as_gate, persons_of, split_rows

Branch = tuple[tuple[str, str], ...]
"""A module and its experiment after another."""

_LOOKING_MODULES: Final = ("Evaluator", "Describer")
"""Modules that look at tables and change none: whatever follows them, follows what they look at."""


@dataclass(frozen=True, slots=True)
class Step:
    """One experiment of one module, behind one line of experiments of those before."""

    path: Branch  # what came before, and this one last
    parameters: Record
    sample: int = 0  # of a Splitter: which of its samples, from 0

    @property
    def module(self) -> str:
        """The module's name."""
        return self.path[-1][0]

    @property
    def experiment(self) -> str:
        """The experiment's name; of several samples, with which it is."""
        return self.path[-1][1]

    @property
    def name(self) -> str:
        """The path in words, as reports have it."""
        return full_name(self.path)

    @property
    def line(self) -> str:
        """The step alone, below those before it: lines of steps in their order are a tree."""
        return "  " * len(self.parent) + full_name(self.path[-1:])

    @property
    def parent(self) -> Branch:
        """The path of the step before; empty for the first."""
        return self.path[:-1]

    @property
    def label(self) -> str:
        """The experiment's name as the file has it."""
        return self.experiment.rpartition("_[")[0] if self.module == "Splitter" else self.experiment

    @property
    def is_evaluation(self) -> bool:
        """Whether it looks at tables, and makes none."""
        return self.module in _LOOKING_MODULES


def full_name(path: Branch) -> str:
    """Write a path as PETsARD does: ``Loader[data]_Splitter[demo_[1-1]]``."""
    return "_".join(f"{module}[{experiment}]" for module, experiment in path)


def expand_steps(modules: Mapping[str, Mapping[str, Record]]) -> tuple[Step, ...]:
    """Return every step, depth first, with modules and experiments in the file's order."""
    return tuple(_expand_below((), [*modules.items()]))


def _expand_below(path: Branch, modules: Sequence[tuple[str, Mapping[str, Record]]]) -> Iterator[Step]:
    if not modules:
        return
    (module, experiments), *rest = modules
    for label, parameters in experiments.items():
        n_samples = parameters.num_samples if isinstance(parameters, Splitting) else 1
        for sample in range(n_samples):
            name = f"{label}_[{n_samples}-{sample + 1}]" if module == "Splitter" else label
            step = Step((*path, (module, name)), parameters, sample)
            yield step
            if not step.is_evaluation:
                yield from _expand_below(step.path, rest)
    if module in _LOOKING_MODULES:
        yield from _expand_below(path, rest)


def seed_of(seed: int, step: Step) -> int:
    """Return the seed of a step: it depends on the names on its path, and on nothing beside them.

    All samples of a Splitter are drawn from one.
    """
    return _to_whole_number(_hash_parts([seed, step.parent, step.module, step.label])) >> 1


def key_of(step: Step, seed: int, content: Sequence[Path], granularities: Sequence[str], parent: str) -> str:
    """Return the key of a step: a hash of all that its result depends on; bytes of files count, not names."""
    files = [sha256(path) for path in content]
    own = [
        _hash_package(),
        _hash_foreign_code(step.parameters),
        step.module,
        _to_key_parts(step.parameters),
        step.sample,
        seed_of(seed, step),
    ]
    return str(_hash_parts([*own, files, list(granularities), parent]).hexdigest())


def _to_key_parts(parameters: Record) -> Any:
    # A limit's value changes no result, but having one does: a gate refuses tables whose columns do not meet.
    # The rules are a policy, which pydantic cannot dump.
    rules, is_gate = getattr(parameters, "rules", None), bool(getattr(parameters, "limit", None))
    fields = parameters.model_dump(exclude={"limit", "rules"})
    return fields, is_gate, None if rules is None else rules.to_dict()


def _hash_parts(parts: Any) -> Any:
    # The order of entries counts, and 1 is not "1".
    return hashlib.sha256(repr(parts).encode())


def _to_whole_number(digest: Any) -> int:
    return int.from_bytes(digest.digest()[:8], "big")


def _hash_foreign_code(parameters: Record) -> str:
    """Hash the code of an evaluator or synthesizer from another package."""
    codes = []
    # Asked for every step, and looking up entry points takes milliseconds.
    if isinstance(parameters, (Synthesis, OwnSynthesizer)) and parameters.name not in METHODS:
        codes += [kind.fingerprint() for name, kind in plugin_synthesizers().items() if name == parameters.name]
    home = inspect.getsourcefile(type(parameters))
    if home is not None and not type(parameters).__module__.startswith("hushtable."):
        codes.append(sha256(Path(home)))
    return " ".join(codes)


@cache
def _hash_package() -> str:
    """Hash this package and the versions of its libraries: results of other versions are not used again."""
    digest = hashlib.sha256()
    home = Path(__file__).parents[1]
    for path in sorted(each for each in home.rglob("*") if each.is_file() and "__pycache__" not in each.parts):
        digest.update(path.read_bytes())
    for name in ("numpy", "scipy", "polars", "numba"):
        digest.update(version(name).encode())
    return digest.hexdigest()


_KIND_BY_TYPE: Final[Mapping[str, Kind]] = {
    "int": "integer",
    "integer": "integer",
    "float": "decimal",
    "datetime": "datetime",
    "date": "date",
    **dict.fromkeys(("str", "string", "bool", "boolean", "category"), "category"),
}


def read_table(filepath: str, files: NamedFiles, reading: FileReading, like: Frame | None = None) -> Frame:
    """Read a table; the specs of another table that was read before hold for this one too."""
    of_all = () if isinstance(reading.na_values, Mapping) else reading.na_values
    marks = Dialect() if like is None else like.dialect.marks
    path, dialect = files.find(filepath), replace(marks, missing_values=(*marks.missing_values, *of_all))
    frame = (
        frames.read(path, dialect=dialect)
        if reading.header_names is None
        else _read_without_header(path, reading, dialect)
    )
    if like is not None:
        frame = frame.with_specs({name: spec for name, spec in like.specs.items() if name in frame.columns})
    specs = _read_specs(reading, files)
    check_columns(tuple(specs), frame.columns, f"what is said of the columns of {path.name}")
    return _with_inferred_specs(frame.with_specs(specs))


def _read_specs(reading: FileReading, files: NamedFiles) -> dict[str, ColumnSpec]:
    """Return specs of columns: from a schema, column types, and texts that mean missing."""
    specs = {
        name: ColumnSpec(
            _KIND_BY_TYPE[field.type] if field.type else None,
            format=None if field.datetime_format == "auto" else field.datetime_format,
            missing_values=field.na_values or None,
        )
        for name, field in _read_schema(reading.schema_, files).fields.items()
    }
    for kind, names in reading.column_types.items():
        specs |= {
            name: ColumnSpec(_KIND_BY_TYPE[kind.lower()]).with_defaults_from(specs.get(name, ColumnSpec()))
            for name in names
        }
    if isinstance(reading.na_values, Mapping):
        for name, texts in reading.na_values.items():
            specs[name] = ColumnSpec(missing_values=texts).with_defaults_from(specs.get(name, ColumnSpec()))
    return specs


def _with_inferred_specs(frame: Frame) -> Frame:
    """Infer the specs of a table, so that all its parts are read alike: a column of texts stays one in each part."""
    if not frame.is_text:
        return frame
    known = frame.with_learned_specs()
    kinds = {column.name: column.kind for column in Table.encode(known).columns}
    return known.with_specs({name: ColumnSpec(kind) for name, kind in kinds.items() if kind == "category"})


def _read_schema(schema: str | Schema | None, files: NamedFiles) -> Schema:
    if not isinstance(schema, str):
        return schema or Schema()
    text = plain_yaml.read_file(files.find(schema), "schema", "it is YAML in UTF-8.", PipelineError)
    given, tree = plain_yaml.parse(text, schema, PipelineError)
    known = validate_record(Schema, given, schema, tree)
    return known if isinstance(known, Schema) else Schema()


def _read_without_header(path: Path, said: FileReading, dialect: Dialect) -> Frame:
    """Read a CSV without a header; the delimiter splits its first line into as many cells as names."""
    names = list(said.header_names or ())
    try:
        text = read_text(path, dialect.encoding)
    except OSError:
        raise InputError(f"cannot read {path.name} as a CSV without a header.", hint="check the name.") from None
    first = text.partition("\n")[0].rstrip("\r")
    n_cells = {each: _n_cells(first, each) for each in DELIMITERS}
    fitting = [each for each in DELIMITERS if n_cells[each] == len(names) == max(n_cells.values())]
    if not fitting:
        raise InputError(
            f"header_names has {len(names)} names, and the first line of {path.name} does not split into as many.",
            hint="name every column once, in their order.",
        )
    headed = header_line(names, fitting[0]) + text
    return frames.read_stream(headed.encode(), path.name, replace(dialect, encoding="utf-8", delimiter=fitting[0]))


def _n_cells(line: str, delimiter: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=delimiter), []))
    except csv.Error:
        return 0


_TABLE_FILE: Final = "table.parquet"
_RELEASE_FILE: Final = "release.csv"
"""The names of what is kept; what is saved gets others."""


@dataclass(frozen=True, slots=True)
class Doing:
    """What a step is given besides the tables."""

    files: NamedFiles
    store: Store
    seed: int  # the step's own
    key: str  # under which its result is kept


def make_tables(step: Step, before: Tables | None, doing: Doing) -> Tables:
    """Carry out a step that makes tables."""
    parameters = step.parameters
    if isinstance(parameters, Loading):
        assert parameters.filepath is not None, "a download is refused before"
        frame = read_table(parameters.filepath, doing.files, parameters)
        return Tables(frame, frame)
    if isinstance(parameters, GivenSplit):
        return _read_given_split(parameters, before, doing.files)
    if isinstance(parameters, GivenTable):
        return _read_given_table(parameters, before, doing.files)
    assert before is not None, "a pipeline begins with a table"
    if isinstance(parameters, Splitting):
        return _split_table(parameters, before, step.sample, doing.seed)
    if isinstance(parameters, Cleaning):
        if (draw := before.redraw) is not None:
            before = replace(before, redraw=lambda n, trial: clean_rows(draw(n, trial), parameters)[0])
        return _with_counts(before, step, *clean_rows(before.current, parameters))
    if isinstance(parameters, Constraining):
        return _with_counts(before, step, *apply_rules(before.current, rules_of(parameters), before.redraw))
    if isinstance(parameters, Releasing):
        return _protect_table(parameters, before, doing)
    if isinstance(parameters, Perturbing):
        return _perturb_table(parameters, before, doing)
    return _synthesize_table(parameters, before, doing)


def evaluate_tables(step: Step, tables: Tables, doing: Doing, wanted: Sequence[str]) -> Evaluation:
    """Carry out a step that looks at tables."""
    if isinstance(step.parameters, Evaluator):
        with as_gate(bool(step.parameters.limit)):
            return step.parameters.evaluate(tables, doing.files, doing.seed, wanted)
    return _describe_table(tables.current)


def files_of(parameters: Record, files: NamedFiles) -> list[Path]:
    """Return the files that a step with these parameters reads."""
    if isinstance(parameters, Evaluator):
        return [*parameters.inputs(files)]
    entries: list[str | Schema | None] = []
    if isinstance(parameters, GivenSplit):
        path, schema = parameters.filepath, parameters.schema_
        entries += [path.ori, path.control, schema.ori, schema.control]
    elif isinstance(parameters, (Loading, GivenTable)):
        entries += [parameters.filepath, parameters.schema_]
    elif isinstance(parameters, Releasing):
        entries += [parameters.policy, parameters.key_file]
    # A schema may stand in the pipeline's file itself.
    found = [files.find(each) for each in entries if isinstance(each, str)]
    if isinstance(parameters, Releasing):
        found += policy_of(parameters, files).inputs
    return found


def policy_of(parameters: Releasing, files: NamedFiles) -> Policy:
    """Return the policy of an Anonymizer."""
    if parameters.policy is not None:
        return Policy.read(files.find(parameters.policy))
    rules: Policy = parameters.rules
    return rules


def _with_counts(before: Tables, step: Step, current: Frame, counts: Mapping[str, int]) -> Tables:
    told = {f"{step.module}_{step.experiment}_{name}": count for name, count in counts.items()}
    # A release with rows left out is another table, of which nothing was verified.
    release = before.release if current is before.current else None
    return replace(before, current=current, release=release, counts={**before.counts, **told})


def _read_given_split(parameters: GivenSplit, before: Tables | None, files: NamedFiles) -> Tables:
    like = None if before is None else before.original
    original = read_table(parameters.filepath.ori, files, parameters.reading, like)
    control = read_table(parameters.filepath.control, files, FileReading(schema=parameters.schema_.control), original)
    return Tables(original, original, control)


def _read_given_table(parameters: GivenTable, before: Tables | None, files: NamedFiles) -> Tables:
    frame = read_table(parameters.filepath, files, parameters, None if before is None else before.original)
    if parameters.sample_num_rows is not None:
        frame = frame.take(np.arange(min(parameters.sample_num_rows, frame.n_rows)))
    if before is None:
        return Tables(frame, is_derived=True)
    return replace(before, current=frame, is_derived=True, protected=None, release=None, redraw=None)


def _split_table(parameters: Splitting, before: Tables, sample: int, seed: int) -> Tables:
    frame = before.current
    persons = None if parameters.person is None else persons_of(frame, parameters.person)
    given = parameters.random_state
    if given is not None:
        seed = given if type(given) is int and given >= 0 else _to_whole_number(_hash_parts(given))
    rng = np.random.default_rng(seed)
    train, control = _draw_samples(parameters, frame.n_rows, rng, persons)[sample]
    original, kept_out = frame.take(train), frame.take(control)
    return replace(before, current=original, original=original, control=kept_out, redraw=None)


def _draw_samples(
    parameters: Splitting, n_rows: int, rng: np.random.Generator, persons: Any
) -> list[tuple[CountArray, CountArray]]:
    """Draw all samples; each shares at most the allowed share of rows with an earlier one."""
    samples: list[tuple[CountArray, CountArray]] = []
    while len(samples) < parameters.num_samples:
        for _ in range(parameters.max_attempts):
            rows = split_rows(n_rows, parameters.train_split_ratio, rng, persons)
            max_overlap = parameters.max_overlap_ratio * len(rows[0])
            if all(len(np.intersect1d(rows[0], train)) <= max_overlap for train, _ in samples):
                break
        else:
            raise InputError(
                f"no sample {len(samples) + 1} shares at most {parameters.max_overlap_ratio} of its "
                "rows with the others.",
                hint="raise max_overlap_ratio, or lower num_samples or train_split_ratio.",
            )
        samples.append(rows)
    return samples


def _synthesize_table(parameters: Any, before: Tables, doing: Doing) -> Tables:
    source, method = before.current, parameters.name
    if isinstance(parameters, Synthesis) and parameters.options:
        method = {method: parameters.options}

    def draw(n: int, trial: int) -> Frame:
        return synthesize_frame(source, method, n, doing.seed + trial)

    table = _load_kept_table(source, doing)
    if table is None:
        table = draw(parameters.sample_num_rows or source.n_rows, 0)
        if doing.store.lasts:
            with doing.store.create_result(doing.key) as folder:
                frames.write(table, folder / _TABLE_FILE)
    # A table synthesized from a release has no claim.
    return replace(before, current=table, is_derived=True, protected=None, release=None, redraw=draw)


def _load_kept_table(source: Frame, doing: Doing) -> Frame | None:
    """Read a synthetic table that was kept; None if there is none, or it is damaged."""
    kept = doing.store.find(doing.key)
    if kept is None:
        return None
    try:
        return replace(source, data=frames.read(kept / _TABLE_FILE).data)
    except InputError:
        return None


def _protect_table(parameters: Releasing, before: Tables, doing: Doing) -> Tables:
    """Protect a table."""
    path = doing.store.folder / doing.key / _RELEASE_FILE
    if not _is_whole(path, doing):
        rules = policy_of(parameters, doing.files)
        key = None if parameters.key_file is None else doing.files.find(parameters.key_file).read_bytes()
        release = rules.protect(before.current, key=key)
        with doing.store.create_result(doing.key) as folder:
            release.write(folder / _RELEASE_FILE, external=parameters.external, policy=rules.to_dict())
    return _publish_table(path, before)


def _perturb_table(parameters: Perturbing, before: Tables, doing: Doing) -> Tables:
    """Perturb a table; what its publisher alone may know of it is kept beside the file."""
    path = doing.store.folder / doing.key / _RELEASE_FILE
    if not _is_whole(path, doing):
        asked = parameters.model_dump(exclude={"external"})
        release = perturb(before.current, **asked, seed=doing.seed)
        with doing.store.create_result(doing.key) as folder:
            release.write(folder / _RELEASE_FILE, external=parameters.external)
            measures_path(folder / _RELEASE_FILE).write_text(json.dumps(release.to_dict()), encoding="utf-8")
    return _publish_table(path, before)


def _publish_table(path: Path, before: Tables) -> Tables:
    """Return the tables after a release was written: what is published is read from its file."""
    current = frames.read(path, dialect=manifest.dialect_of(path))
    removed = tuple(name for name in before.current.columns if name not in current.columns)
    return replace(
        before,
        current=current,
        is_derived=True,
        protected=before.current,
        release=path,
        removed=(*before.removed, *removed),
        # Rows drawn again would not be protected: no redraw.
        redraw=None,
    )


def _is_whole(release: Path, doing: Doing) -> bool:
    """Tell whether a release is kept and is the file that was verified."""
    if doing.store.find(doing.key) is None:
        return False
    try:
        manifest.check_hash(release, manifest.read(release))
    except (InputError, VerificationError):
        return False
    return codebook_paths(release)[1].is_file() or measures_path(release).is_file()


def _describe_table(frame: Frame) -> Evaluation:
    description = describe_table(Table.encode(frame))
    names = list(description.columns)
    return Evaluation.from_figures(
        {"row_count": description.n_rows, "col_count": description.n_columns, "na_count": description.n_incomplete},
        {
            "columnwise": {
                "column": names,
                **{
                    word: [getattr(description.columns[name], figure) for name in names]
                    for figure, word in _NAME_BY_FIGURE.items()
                },
            },
            "pairwise": {
                "column1": [first for first, _ in description.correlations],
                "column2": [second for _, second in description.correlations],
                "corr": list(description.correlations.values()),
            },
        },
    )


_NAME_BY_FIGURE: Final[Mapping[str, str]] = {
    "mean": "mean",
    "median": "median",
    "std": "std",
    "minimum": "min",
    "maximum": "max",
    "kurtosis": "kurtosis",
    "skewness": "skew",
    "q1": "q1",
    "q3": "q3",
    "n_missing": "na_count",
    "n_distinct": "nunique",
}
"""Figures of a column, and what PETsARD calls them."""
