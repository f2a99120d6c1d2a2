"""The product of experiments: every step with its path, its seed, and the key under which its result is kept."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from hushtable.pipeline.modules import OwnSynthesizer, Splitting, Synthesis
from hushtable.policy import Record
from hushtable.release import sha256
from hushtable.synthesizers import METHODS, installed

__all__ = ["Branch", "Step", "full_name", "key_of", "product", "seed_of"]

Branch = tuple[tuple[str, str], ...]
"""A module and its experiment after another."""

_LOOKS: Final = ("Evaluator", "Describer")
"""Modules that look at tables and change none: whatever follows them, follows what they look at."""


@dataclass(frozen=True, slots=True)
class Step:
    """One experiment of one module, behind one line of experiments of those before.

    Attributes
    ----------
    path : tuple of (module, experiment)
        What came before, and this one last.
    parameters : Record
    sample : int
        Of a Splitter: which of its samples, from 0.
    """

    path: Branch
    parameters: Record
    sample: int = 0

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
    def looks(self) -> bool:
        """Whether it looks at tables, and makes none."""
        return self.module in _LOOKS


def full_name(path: Branch) -> str:
    """Write a path as PETsARD does: ``Loader[data]_Splitter[demo_[1-1]]``."""
    return "_".join(f"{module}[{experiment}]" for module, experiment in path)


def product(modules: Mapping[str, Mapping[str, Record]]) -> tuple[Step, ...]:
    """Return every step, depth first: modules and experiments in the file's order."""
    return tuple(_below((), [*modules.items()]))


def _below(path: Branch, modules: Sequence[tuple[str, Mapping[str, Record]]]) -> Iterator[Step]:
    if not modules:
        return
    (module, experiments), *rest = modules
    for label, parameters in experiments.items():
        n_samples = parameters.num_samples if isinstance(parameters, Splitting) else 1
        for sample in range(n_samples):
            name = f"{label}_[{n_samples}-{sample + 1}]" if module == "Splitter" else label
            step = Step((*path, (module, name)), parameters, sample)
            yield step
            if not step.looks:
                yield from _below(step.path, rest)
    if module in _LOOKS:
        yield from _below(path, rest)


def seed_of(seed: int, step: Step) -> int:
    """Return the seed of a step: it depends on the names on its path, and on nothing beside them.

    All samples of a Splitter are drawn from one.
    """
    return int.from_bytes(_digest([seed, step.parent, step.module, step.label]).digest()[:8], "big") >> 1


def key_of(step: Step, seed: int, content: Sequence[Path], wanted: Sequence[str], parent: str) -> str:
    """Return the key of a step: a hash of all that its result depends on.

    Parameters
    ----------
    step : Step
    seed : int
    content : sequence of path
        The files that it reads; their bytes count, not their names.
    wanted : sequence of str
        The granularities that are asked of it.
    parent : str
        The key of the step before; empty for the first.
    """
    files = [sha256(path) for path in content]
    own = [_code(), _code_of(step.parameters), step.module, _plain(step.parameters), step.sample, seed_of(seed, step)]
    return str(_digest([*own, files, list(wanted), parent]).hexdigest())


def _plain(parameters: Record) -> Any:
    # Of limits, results do not depend; a policy is no field that pydantic can write.
    rules = getattr(parameters, "rules", None)
    return parameters.model_dump(exclude={"limit", "rules"}), None if rules is None else rules.to_dict()


def _digest(parts: Any) -> Any:
    # The order of entries counts, and 1 is not "1".
    return hashlib.sha256(repr(parts).encode())


def _code_of(parameters: Record) -> str:
    """Hash the code of an evaluator or synthesizer that is not this package's."""
    codes = []
    # Every step is asked, and entry points take milliseconds.
    if isinstance(parameters, (Synthesis, OwnSynthesizer)) and parameters.name not in METHODS:
        codes += [kind.fingerprint() for name, kind in installed().items() if name == parameters.name]
    home = inspect.getsourcefile(type(parameters))
    if home is not None and not type(parameters).__module__.startswith("hushtable."):
        codes.append(sha256(Path(home)))
    return " ".join(codes)


@cache
def _code() -> str:
    """Hash this package and the versions of those it computes with: what others made is not used again."""
    digest = hashlib.sha256()
    home = Path(__file__).parents[1]
    for path in sorted(each for each in home.rglob("*") if each.is_file() and "__pycache__" not in each.parts):
        digest.update(path.read_bytes())
    for name in ("numpy", "scipy", "polars", "numba"):
        digest.update(version(name).encode())
    return digest.hexdigest()
