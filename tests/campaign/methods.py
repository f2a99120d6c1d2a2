"""Odd tables through every registered method: a release that verifies, or a refusal of our own; nothing else.

Columns that are all missing, constant, of few values or of many; hierarchies of one level; models of all kinds. Under
NUMBA_BOUNDSCHECK=1 a kernel that reads beyond an array is a failure too, where it may else go unseen.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import hushtable as ht
from campaign.ladders import ladder
from campaign.outcome import Outcome
from campaign.requests import OfSizes, method as drawn_method, models, without_rule
from campaign.tables import FORMS, NAMES, Made, build, column
from hushtable.anonymizers import METHODS
from hushtable.quality import LOSSES

_SIZES = ((0, 3), (2, 6), (4, 12), (4, 12), (8, 30), (8, 30), (31, 90))
_FEW_NODES = (1, 3, 20, 100)
_SCORES = (("distinction", ""), ("k_anonymity", ""), ("gini", "target"), ("gini", ""), ("t_closeness", "sensitive"))
_OPTIMIZERS = ("exhaustive", "pareto", "branch_and_bound", "greedy", "tabu", "annealing", "evolutionary")


@dataclass(frozen=True)
class _Table:
    """What is asked about: the columns, the table that they were put into, and the names that are at hand."""

    columns: dict[str, Made]
    data: Any
    form: str
    names: list[str]


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: a table, all methods, and whatever else looks at tables with kernels."""
    outcome = Outcome()
    n = random.randint(*random.choice(_SIZES))
    names = random.sample([name for name in NAMES if name != "*"], random.randint(1, 5))
    columns = {name: _odd_column(random, n) for name in names}
    columns["who"] = Made([random.choice([None, *range(max(1, n // 2))]) for _ in range(n)], "int64", "integer")
    form = random.choice(FORMS)
    with outcome.guarded("build"):
        table = _Table(columns, build(columns, form, random, folder), form, names)
        _anonymize(outcome, table, random, folder)
        for look in (_mpuccs, _minimal_uniques, _mask, _assess, _select):
            look(outcome, table, random)
    return outcome


def _odd_column(random: Random, n: int) -> Made:
    """Draw a column, more often than not one that hardly tells anybody apart."""
    made = column(random, max(n, 1))
    known = [value for value in made.values if value is not None]
    style = random.choice(("missing", "constant", "constant or missing", "two", "any", "any", "all different"))
    if style == "missing" or not known:
        values: list[Any] = [None] * n
    elif style == "all different" and made.kind == "integer":
        values = random.sample(range(100), n)
    else:
        some = {"constant": known[:1], "constant or missing": [known[0], None], "two": [known[0], known[-1]]}
        values = [random.choice(some[style]) for _ in range(n)] if style in some else made.values[:n]
    return replace(made, values=values)


def _anonymize(outcome: Outcome, table: _Table, random: Random, folder: Path) -> None:
    qi = table.names[: random.randint(1, min(3, len(table.names)))]
    sensitive = [name for name in table.names if name not in qi]
    ladders = {name: _ladder(random, table.columns[name], folder, name) for name in qi if random.random() < 0.6}
    known: dict[str, Any] = {}
    asked = models(random, sensitive, table.columns, False, known, folder)
    ladders |= {name: found.given for name, found in known.items()}
    call: dict[str, Any] = {"quasi_identifiers": qi, "models": asked, "roles": "trust"}
    if ladders:
        call |= {"hierarchies": ladders, "unknown": random.choice(("error", "suppress"))}
    if random.random() < 0.4:
        call["suppression_limit"] = random.choice((0.05, 0.3, 0.9, 1.0))
    if random.random() < 0.15:
        call["person"] = "who"
    if random.random() < 0.15:
        call["population"] = table.data
        call["models"] = [*asked, random.choice((ht.KMap(2), ht.DeltaPresence(0.0, 0.5), ht.DeltaPresence(0.2, 1.0)))]
    elif random.random() < 0.1:
        call["models"] = [random.choice((ht.Match1K, ht.MatchK1, ht.MatchKK, ht.Global1K, ht.GlobalK1))(2)]
    if random.random() < 0.1:
        call[random.choice(("highest_risk", "average_risk"))] = random.choice((0.2, 0.5, 1.0))
    if random.random() < 0.15:
        # As models of somebody else are: kernels have to ask them.
        call["models"] = [without_rule(model) for model in call["models"]]
    for name in METHODS:
        _one(outcome, table, random, {**call, "method": _options(random, name, table, qi, asked)}, folder)


def _one(outcome: Outcome, table: _Table, random: Random, call: dict[str, Any], folder: Path) -> None:
    """Ask one method."""
    method = call["method"]
    offered = [name for name in LOSSES if name in method.offers.losses]
    loss = LOSSES[random.choice(offered)]
    weighs = "weights" in loss.__dataclass_fields__ and random.random() < 0.3
    call["loss"] = loss(weights={call["quasi_identifiers"][0]: random.choice((0, 0.5, 7))}) if weighs else loss()  # type: ignore[call-arg]
    call["budget"] = ht.Budget(nodes=random.choice(_FEW_NODES))
    if random.random() < 0.1 and not any(model.needs.original for model in call["models"]):
        call["loss"] = OfSizes()
    name = method.name
    outcome.reproduction = _reproduction(table, f"ht.anonymize(table, **{call!r})")
    release = None
    with outcome.guarded(f"anonymize by {name}"):
        release = ht.anonymize(table.data, **call)
    if release is None:
        return
    outcome.count(f"release by {name}")
    if isinstance(call["loss"], OfSizes):
        told, held = release.loss, sum(size**2 for size in release.partition.sizes.tolist())
        cells = release.recoding.number_combinations()[:-1]
        outcome.expect(told == held, f"{name} misreports a loss of somebody else", (told, held))
        is_merged = not method.offers.merges_classes or len(set(cells.tolist())) == len(cells)
        outcome.expect(is_merged, f"{name} tells apart classes that publish the same cells")
    with outcome.guarded(f"verify what {name} made", ()):
        verdict = release.verify()
        outcome.expect(verdict.passed, f"verify refuses a release by {name}", verdict.failures)
    if random.random() < 0.1:
        with outcome.guarded(f"write what {name} made"):
            verdict = release.write(folder / f"{name}.{random.choice(('csv', 'parquet'))}", codebook=False)
            outcome.expect(verdict.passed, f"a written release by {name} fails", verdict.failures)


def _options(random: Random, name: str, table: _Table, qi: list[str], asked: list[Any]) -> Any:
    """Draw a method's options; one that nobody knows here is taken as it comes."""
    n = len(next(iter(table.columns.values())).values)
    make: dict[str, Callable[[], Any]] = {
        "mondrian": lambda: drawn_method(random, 99, qi, table.columns, list(asked)),
        "mingen": lambda: ht.MinGen(
            n_best=random.choice((1, 1, 3)),
            iterations=random.choice((None, None, 5)),
            proof_rows=random.choice((0, 40)),
        ),
        "genetic": lambda: ht.Genetic(random.choice((None, "mg-ga")), individuals=random.choice((4, 9)), generations=3),
        "full_domain": lambda: ht.FullDomain(alternatives=random.choice((0, 0, 2))),
    }
    while n and name in make:
        # Options that do not go together are refused when the method is made.
        with contextlib.suppress(ht.InputError):
            return make[name]()
    return METHODS[name]()


def _ladder(random: Random, made: Made, folder: Path, name: str) -> Any:
    """Draw a hierarchy, often one of a single level."""
    return (
        ht.Hierarchy.suppression()
        if random.random() < 0.3
        else ladder(random, made, folder, f"m{NAMES.index(name)}").given
    )


def _mpuccs(outcome: Outcome, table: _Table, random: Random) -> None:
    options: dict[str, Any] = {
        "columns": table.names,
        "n_cols": random.choice((None, 1, [1, 2], [2])),
        "all_minimal": random.random() < 0.3,
        "missing": random.choice(("category", "never")),
        "n_draws": 2,
        "n_permutations": 20,
    }
    outcome.reproduction = _reproduction(table, f"ht.mpuccs(table, table, **{options!r})")
    with outcome.guarded("mpuccs"):
        options["control"] = table.data if random.random() < 0.3 else None
        ht.mpuccs(table.data, table.data, **options)


def _minimal_uniques(outcome: Outcome, table: _Table, random: Random) -> None:
    options: dict[str, Any] = {"max_size": random.choice((None, 1, 2)), "missing": random.choice(("category", "never"))}
    outcome.reproduction = _reproduction(table, f"ht.minimal_uniques(table, **{options!r})")
    with outcome.guarded("minimal_uniques"):
        ht.minimal_uniques(table.data, columns=table.names, **options)


def _mask(outcome: Outcome, table: _Table, random: Random) -> None:
    options: dict[str, Any] = {
        "a": table.names[:1],
        "b": table.names[1:3] or ["who"],
        "clusters": random.choice((2, 3)),
        "method": random.choice(("auto", "exact", "greedy", "pivot")),
        "missing": random.choice(("category", "worst")),
        "publish": random.choice(("tuples", "columns", "bins")),
    }
    outcome.reproduction = _reproduction(table, f"ht.mask_dependence(table, **{options!r})")
    masked = None
    with outcome.guarded("mask_dependence"):
        masked = ht.mask_dependence(table.data, **options)
    if masked is not None:
        with outcome.guarded("verify what masking made", ()):
            outcome.expect(masked.verify().passed, "verify refuses a masked table")


def _assess(outcome: Outcome, table: _Table, random: Random) -> None:
    options: dict[str, Any] = {
        "quasi_identifiers": table.names[:2],
        "sensitive": table.names[2:],
        "missing": random.choice(("category", "wildcard", "worst")),
    }
    if random.random() < 0.3:
        options["population_size"] = 10 * len(table.columns["who"].values)
    if random.random() < 0.2:
        options["person"] = "who"
    outcome.reproduction = _reproduction(table, f"ht.assess(table, **{options!r})")
    with outcome.guarded("assess"):
        ht.assess(table.data, **options).to_dict()


def _select(outcome: Outcome, table: _Table, random: Random) -> None:
    score, option = random.choice(_SCORES)
    objective = ht.Objective((ht.Term(score, options={option: "who"} if option else {}),))
    options = {"objective": objective, "columns": table.names, "method": random.choice(_OPTIMIZERS)}
    outcome.reproduction = _reproduction(table, f"ht.select_columns(table, **{options!r})")
    with outcome.guarded("select_columns"):
        ht.select_columns(table.data, **options)


def _reproduction(table: _Table, call: str) -> str:
    columns = {name: (made.dtype, made.values) for name, made in table.columns.items()}
    return f"table = {columns!r}  # as {table.form}\n{call}"
