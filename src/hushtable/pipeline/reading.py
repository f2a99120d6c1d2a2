"""A pipeline's file as records; every fault with its line and the words that would be allowed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from hushtable.errors import HushError, InputError, PipelineError
from hushtable.models import plugins
from hushtable.pipeline.cleaning import Cleaning
from hushtable.pipeline.constraining import rules_of
from hushtable.pipeline.evaluators import EVALUATORS
from hushtable.pipeline.modules import (
    Constraining,
    Deep,
    Describing,
    Executor,
    GivenSplit,
    GivenTable,
    Loading,
    OwnSynthesizer,
    Perturbing,
    Releasing,
    SaveData,
    SaveReport,
    SaveTiming,
    Splitting,
    Synthesis,
)
from hushtable.policy import Place, Policy, Record, fault_line, faults_of, no_such, plain_yaml
from hushtable.synthesizers import METHODS, plugin_synthesizers

_DEEP_METHODS: Final = ("sdv-single_table-ctgan", "sdv-single_table-copulagan", "sdv-single_table-tvae")
STEPS: Final = (
    "Loader",
    "Splitter",
    "Preprocessor",
    "Synthesizer",
    "Postprocessor",
    "Constrainer",
    "Perturber",
    "Anonymizer",
    "Evaluator",
    "Describer",
)
"""Modules whose experiments are the steps of a pipeline."""

REPORTERS: Final[Mapping[str, type[Record]]] = {
    "save_data": SaveData,
    "save_report": SaveReport,
    "save_timing": SaveTiming,
}
_TOP_ENTRIES: Final = ("version", "seed", "Executor", *STEPS, "Reporter")
_MODULE_RANKS: Final = {"Loader": 0, "Splitter": 1, "Synthesizer": 2, "Constrainer": 2, "Perturber": 2, "Anonymizer": 2}
"""Which modules come before others: people are loaded, then split, then others are made of them."""

_NAME_PATTERN: Final = re.compile(r"(?!.*_\[[^\]]*\]$)[^/\\\x00-\x1f]+")


def experiments_of(entries: Any, name: str, tree: plain_yaml.YamlNode | None, folder: Path) -> dict[str, Any]:
    """Read plain values as the entries of a pipeline: modules with experiments; PipelineError lists every fault."""
    if not isinstance(entries, Mapping) or not entries:
        raise PipelineError(f"{name}: expected modules, such as Loader, each with experiments.", hint=_EXAMPLE)
    faults = _Faults(name, tree)
    read: dict[str, Any] = {}
    for module, experiments in entries.items():
        if module in ("version", "seed"):
            read[module] = _read_whole_number(faults, module, experiments)
        elif module == "Executor":
            read[module] = faults.read_record(Executor, experiments or {}, (module,))
        elif module in _TOP_ENTRIES:
            read[module] = _read_experiments(faults, str(module), experiments, folder)
        else:
            faults.add((module,), no_such("no such module", module, _TOP_ENTRIES))
    if not faults.found:
        _check_order(faults, read)
    if faults.found:
        raise PipelineError("\n".join(dict.fromkeys(faults.found)), hint="docs/run.md lists what each module takes.")
    return read


_EXAMPLE: Final = (
    "for instance:\nLoader:\n  people: {filepath: people.csv}\nDescriber:\n  all: {method: default}\n"
    "Reporter:\n  out: {method: save_report, granularity: columnwise}"
)


class _Faults:
    """The faults of a file, with their lines."""

    def __init__(self, name: str, tree: plain_yaml.YamlNode | None) -> None:
        self.name, self.tree = name, tree
        self.found: list[str] = []

    def add(self, location: Place, told: str) -> None:
        """Add a fault."""
        self.found.append(fault_line(self.name, self.tree, location, told))

    def read_record(self, kind: type[Record], entries: Any, location: Place) -> Record | None:
        """Read a record; if it is invalid, add its faults and return None."""
        try:
            return kind.model_validate(entries)
        except ValidationError as error:
            self.found += faults_of(error, kind, entries, self.name, self.tree, location)
        return None


def validate_record(kind: type[Record], given: Any, name: str, tree: plain_yaml.YamlNode | None) -> Record:
    """Read a record from a file of its own."""
    faults = _Faults(name, tree)
    record = faults.read_record(kind, given, ())
    if record is None:
        raise PipelineError("\n".join(faults.found), hint="docs/run.md lists what there is.")
    return record


def _read_whole_number(faults: _Faults, entry: str, given: Any) -> int | None:
    fits = type(given) is int and (given == 1 if entry == "version" else given >= 0)
    if not fits:
        faults.add((entry,), "expected 1." if entry == "version" else "expected a whole number, 0 or more.")
    return given if fits else None


def _read_experiments(faults: _Faults, module: str, entries: Any, folder: Path) -> dict[str, Record]:
    if not isinstance(entries, Mapping) or not entries:
        faults.add((module,), "expected experiments, each a name and its parameters: `demo: {method: default}`.")
        return {}
    read = {}
    for label, parameters in entries.items():
        location = (module, label)
        if not isinstance(label, str) or not _NAME_PATTERN.fullmatch(label):
            faults.add(location, "a name is text without / or \\ that does not end in _[...].")
        elif not isinstance(parameters, Mapping):
            faults.add(location, "expected parameters: `method: default`, for instance.")
        else:
            record = _read_parameters(faults, module, parameters, location, folder)
            if record is not None:
                read[label] = record
    return read


def _read_parameters(
    faults: _Faults, module: str, entries: Mapping[str, Any], location: Place, folder: Path
) -> Record | None:
    if module == "Anonymizer":
        return _read_anonymizer(faults, entries, location, folder)
    by_method = _records_by_method(module)
    if isinstance(by_method, type):
        return _check_rules(faults, faults.read_record(by_method, entries, location), location)
    method = entries.get("method")
    kind = by_method.get("" if method is None else str(method))
    if kind is None and module == "Evaluator" and str(method) in plugins.entry_points_of("evaluators"):
        try:
            kind = EVALUATORS[str(method)] = plugins.load("evaluators", str(method), ("model_fields", "evaluate"))
        except InputError as error:
            faults.add((*location, "method"), _join_hint(error))
            return None
    if kind is None:
        words = [word for word in by_method if word]
        what = "method is not given" if method is None else "no such method"
        faults.add((*location, "method"), no_such(what, method or "", words))
        return None
    return faults.read_record(kind, entries, location)


def _join_hint(error: InputError) -> str:
    return f"{error.message.rstrip('.')}; {error.hint}" if error.hint else error.message


def _check_rules(faults: _Faults, record: Record | None, location: Place) -> Record | None:
    """Check the rules of a Constrainer, as far as that needs no table."""
    if isinstance(record, Constraining):
        try:
            rules_of(record)
        except PipelineError as error:
            faults.add(location, _join_hint(error))
            return None
    return record


def _records_by_method(module: str) -> type[Record] | Mapping[str, type[Record]]:
    """Return the record of a module's parameters, by method if it has several."""
    if module == "Splitter":
        return {"": Splitting, "custom_data": GivenSplit}
    if module == "Synthesizer":
        own = ("default", "sdv-single_table-gaussiancopula", *METHODS, *plugin_synthesizers())
        return {
            "": Synthesis,
            **dict.fromkeys(own, Synthesis),
            "custom_data": GivenTable,
            "custom_method": OwnSynthesizer,
            **{name: Deep for name in _DEEP_METHODS if name not in own},
        }
    if module == "Evaluator":
        return EVALUATORS
    if module == "Reporter":
        return REPORTERS
    single: Mapping[str, type[Record]] = {
        "Loader": Loading,
        "Preprocessor": Cleaning,
        "Postprocessor": Cleaning,
        "Constrainer": Constraining,
        "Perturber": Perturbing,
        "Describer": Describing,
    }
    return single[module]


def _read_anonymizer(faults: _Faults, given: Mapping[str, Any], location: Place, folder: Path) -> Record | None:
    """Read an Anonymizer: the entries of a policy, or the policy's file; and two entries of its own."""
    own = {name: entry for name, entry in given.items() if name in Releasing.model_fields and name != "rules"}
    entries = {name: entry for name, entry in given.items() if name not in own}
    if entries and own.get("policy") is not None:
        faults.add((*location, next(iter(entries))), "stands beside policy: put everything into the policy.")
        return None
    if own.get("policy") is None:
        try:
            own["rules"] = Policy.make(entries, faults.name, plain_yaml.part_of(faults.tree, location), folder)
        except HushError as error:
            told = error.message.splitlines()
            faults.found += [f"{each} ({location[0]}[{location[1]}])" for each in told]
            return None
    return faults.read_record(Releasing, own, location)


def _check_order(faults: _Faults, read: Mapping[str, Any]) -> None:
    """Add faults of the order of steps, and names that reporters do not find."""
    modules = [module for module in read if module in STEPS]
    if not modules:
        faults.add((), "there is no step: name a Loader, for instance.")
        return
    first = modules[0]
    makes_tables = {"Loader": Loading, "Splitter": GivenSplit, "Synthesizer": GivenTable}
    if first not in makes_tables or not all(isinstance(each, makes_tables[first]) for each in read[first].values()):
        faults.add((first,), "there is no table yet: begin with a Loader, or with tables that are given (custom_data).")
    ranks = {module: _MODULE_RANKS[module] for module in modules if module in _MODULE_RANKS}
    for (module, rank), most in zip(ranks.items(), accumulate(ranks.values(), max), strict=True):
        if rank < most:
            faults.add((module,), "stands too late: people are loaded, then split, then tables are made of them.")
    for label, reporter in read.get("Reporter", {}).items():
        names = {"source": [*modules, *(each for module in modules for each in read[module])]}
        names["eval"] = [each for module in ("Evaluator", "Describer") for each in read.get(module, {})]
        names["module"] = modules
        for entry, known in names.items():
            for name in getattr(reporter, entry, None) or ():
                if name not in known:
                    faults.add(("Reporter", label, entry), no_such(f"there is no {name!r}", name, known))
