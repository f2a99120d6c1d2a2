"""A whole experiment in one file: tables in, split, synthesized or protected, evaluated, reported.

.. code-block:: yaml

    Loader:
      people: {filepath: people.csv}
    Splitter:
      fifth: {train_split_ratio: 0.8}
    Synthesizer:
      copula: {method: default}
    Evaluator:
      singling-out: {method: mpuccs, n_cols: [1, 2, 3], limit: {excess_risk: 0.05}}
    Reporter:
      tables: {method: save_data, source: Synthesizer}
      figures: {method: save_report, granularity: [global, details]}

Modules, parameters, products of experiments, names and columns of files are those of PETsARD 1.6.0, whose
files are read as they are; docs/run.md says where we depart.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hushtable.errors import HushError, PipelineError, listed, names_in, with_hint
from hushtable.pipeline import steps, store
from hushtable.pipeline.cleaning import Cleaning
from hushtable.pipeline.evaluators import LeftOut
from hushtable.pipeline.modules import GRANULARITIES, Executor, SaveReport
from hushtable.pipeline.product import Branch, Step, key_of, product
from hushtable.pipeline.reading import STEPS, experiments_of
from hushtable.pipeline.run import PipelineRun, carried_out
from hushtable.policy import Record, plain_yaml

__all__ = ["Pipeline"]

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
        text = plain_yaml.text_of(path, "pipeline", "it is YAML in UTF-8; see docs/run.md.", PipelineError)
        return replace(cls.parse(text, str(path), Path(path).parent), file=Path(path))

    @classmethod
    def parse(cls, text: str, name: str = "pipeline", folder: str | os.PathLike[str] = ".") -> Pipeline:
        """Read a pipeline from YAML; files are looked for in ``folder``."""
        given, tree = plain_yaml.read(text, name, PipelineError)
        return cls._of(experiments_of(given, name, tree, Path(folder)), Path(folder))

    @classmethod
    def make(cls, entries: Mapping[str, Any], folder: str | os.PathLike[str] = ".") -> Pipeline:
        """Make a pipeline of plain values, as YAML would hold them."""
        return cls._of(experiments_of(entries, "pipeline", None, Path(folder)), Path(folder))

    @classmethod
    def _of(cls, read: Mapping[str, Any], folder: Path) -> Pipeline:
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
        return product({module: experiments for module, experiments in built.items() if experiments})

    @property
    def left_out(self) -> tuple[str, ...]:
        """What is named and not carried out, and makes no difference to the rest."""
        told = [f"{experiment} is left out: {method} is not built" for experiment, _, method in self._not_built()]
        for module, experiments in self.modules.items():
            for name, each in experiments.items():
                if isinstance(each, Cleaning) and each.idle:
                    what = ", ".join(each.idle)
                    told.append(f"{module}[{name}]: {what} has no effect: synthesizers take columns as they are here")
        return tuple(told)

    def missing(self, allowed: Collection[str] = ()) -> tuple[str, ...]:
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
        found = self._not_built()
        names = {each for _, *names in found for each in names}
        for name in allowed:
            if name not in names:
                near = listed(sorted(names)) if names else "nothing"
                msg = f"{name!r} is allowed to be left out, and is not."
                raise PipelineError(with_hint(msg, f"what is left out of this file: {near}."))
        return tuple(f"{experiment}: {method}" for experiment, name, method in found if not {name, method} & {*allowed})

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
        places = tuple(dict.fromkeys((self.folder / path, Path(path))))
        # A name may be too long, or hold what no name can.
        with contextlib.suppress(OSError, ValueError):
            for place in places:
                if place.is_file():
                    return place
        told = " or ".join(dict.fromkeys(os.path.abspath(each.parent) for each in places if "\0" not in path))
        raise PipelineError(with_hint(f"there is no file {path[:200]!r}.", f"put it into {told or 'a folder'}."))

    @property
    def inputs(self) -> tuple[Path, ...]:
        """All files that it reads, and its own."""
        named = [path for step in self.steps for path in steps.files_of(step.parameters, self)]
        return (*([] if self.file is None else [self.file]), *named)

    def obstacles(self) -> tuple[str, ...]:
        """Say what stands in the way of a run: what is not built, not installed, or not there."""
        found = [
            (f"{module}[{name}]", self._obstacle(parameters))
            for module, experiments in self.modules.items()
            for name, parameters in experiments.items()
        ]
        return tuple(f"{where}: {what}" for where, what in found if what is not None)

    def _obstacle(self, parameters: Record) -> str | None:
        own: str | None = getattr(parameters, "obstacle", None)
        if own is not None:
            return own
        try:
            steps.files_of(parameters, self)
        except HushError as error:
            return str(error).replace("\n\nHint: ", " ")
        return None

    def plan(self, *, cache: bool = True) -> list[tuple[Step, bool]]:
        """Return every step, and whether a result is kept that a run would use again."""
        self._check()
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
        self._check()
        missing = self.missing(names_in(allow_missing, "allow_missing"))
        with store.Store(self._store if cache else None, fresh=fresh) as kept:
            say = tell or (lambda line: None)
            return carried_out(self, Path(out), kept, say, overwrite=overwrite, missing=missing)

    def _check(self) -> None:
        found = self.obstacles()
        if found:
            msg = with_hint("\n".join(found), "what a pipeline can do is in docs/run.md.")
            raise PipelineError(msg)

    @property
    def _store(self) -> Path:
        return self.folder / store.FOLDER

    def wanted(self, step: Step) -> list[str]:
        """Return the granularities that reporters ask of a step."""
        if not step.looks:
            return []
        asked = {
            granularity
            for reporter in self.reporters.values()
            if isinstance(reporter, SaveReport) and (reporter.eval is None or step.experiment in reporter.eval)
            for granularity in reporter.granularity
        }
        return [each for each in GRANULARITIES if each in asked]

    def keys(self) -> dict[Branch, str]:
        """Return under which key the result of every step is kept."""
        found: dict[Branch, str] = {(): ""}
        for step in self.steps:
            found[step.path] = self.key_of(step, found[step.parent])
        return found

    def key_of(self, step: Step, parent: str) -> str:
        """Return the key of one step, behind a step of a key."""
        return key_of(step, self.seed, steps.files_of(step.parameters, self), self.wanted(step), parent)
