"""Minimal generalization: what pruning buys, proofs on samples of Adult, and the genetic search beside Mondrian."""

from __future__ import annotations

import argparse
import itertools
import os
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import hushtable as ht
from hushtable.anonymizers import cell_candidates
from hushtable.tables.table import Table

SHARED = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
ADULT = SHARED / "data" / "arx_adult"
EXAMPLES = SHARED / "data" / "mg_ga"
COLUMNS = ["age", "sex", "race", "marital-status", "education"]
PROOFS = ((200, 2, 30.0), (100, 3, 60.0), (100, 5, 60.0))
GENETIC = ((1_000, 5, 30.0), (10_000, 5, 120.0))


@dataclass(slots=True)
class Counted:
    """How a search by trying tables went."""

    n_prefixes: int = 0
    n_costs: int = 0
    best: float = float("inf")
    seconds: float = 0.0
    costs: dict[Any, float] = field(default_factory=dict)


def try_tables(space: cell_candidates.CandidateSpace, k: int, *, by_loss: bool, by_k: bool, cached: bool) -> Counted:
    """Try tables column by column; leave out what is dearer than the best, or tells rows apart already."""
    counted, began = Counted(), time.perf_counter()
    listed = [space.list_candidates(j) for j in range(len(space.columns))]
    choices = [
        list(itertools.product(*(each.list_covering(place).tolist() for place in space.places[:, j].tolist())))
        for j, each in enumerate(listed)
    ]

    def cost_of(j: int, picks: tuple[int, ...]) -> float:
        if cached and (j, picks) in counted.costs:
            return counted.costs[j, picks]
        counted.n_costs += 1
        counted.costs[j, picks] = float(listed[j].costs[list(picks)].sum())
        return counted.costs[j, picks]

    def extend(j: int, spent: float, rows: tuple[tuple[int, ...], ...]) -> None:
        if j == len(choices):
            if min(map(rows.count, rows)) >= k:
                counted.best = min(counted.best, spent)
            return
        for picks in choices[j]:
            counted.n_prefixes += 1
            total = spent + cost_of(j, picks)
            if by_loss and total > counted.best + 1e-9:
                continue
            longer = tuple((*row, pick) for row, pick in zip(rows, picks, strict=True))
            if by_k and min(map(longer.count, longer)) < k:
                continue
            extend(j + 1, total, longer)

    extend(0, 0.0, ((),) * space.n_rows)
    counted.seconds = time.perf_counter() - began
    return counted


def explosion() -> Iterator[Sequence[str]]:
    """Compare ways of trying the tables of the smallest example with the shortest path over subsets."""
    data = pl.read_csv(EXAMPLES / "test.csv")
    names, ladders = data.columns[:-1], ht.Hierarchy.from_domains(EXAMPLES / "domains.txt")
    table = Table.encode(data, names)
    given = {name: ladders[name].align(table.column(name)) for name in names if name in ladders}
    space = cell_candidates.lay_out(table, names, given, ht.Certainty(variant="mg-ga"))
    yield "all tables", f"{10 ** space.log10_size():,.0f}", "-", "not tried", "-"
    for title, options in (
        ("pruned by k", {"by_loss": False, "by_k": True, "cached": False}),
        ("pruned by k and loss", {"by_loss": True, "by_k": True, "cached": False}),
        ("the same, costs cached", {"by_loss": True, "by_k": True, "cached": True}),
    ):
        found = min((try_tables(space, 2, **options) for _ in range(5)), key=lambda each: each.seconds)
        yield (
            title,
            f"{found.n_prefixes:,}",
            f"{found.n_costs:,}",
            f"{found.seconds * 1e3:,.1f} ms",
            f"{found.best:.4f}",
        )
    releases = [
        _released(data, names, 2, "mingen", ht.Certainty(variant="mg-ga"), EXAMPLES / "domains.txt") for _ in range(5)
    ]
    release = min(releases, key=lambda each: each.trace.seconds)
    effort = release.trace.effort
    assert effort is not None
    settled, seconds = f"{effort.states:,} subsets", f"{release.trace.seconds * 1e3:,.1f} ms"
    yield "shortest path over subsets", settled, "-", seconds, f"{release.loss:.4f}"


def proofs() -> Iterator[Sequence[str]]:
    """Prove the optimum of samples of Adult, or come near it."""
    for n_rows, k, seconds in PROOFS:
        traces = [
            _released(*adult(n_rows, seed), k, "mingen", "certainty", None, ht.Budget(seconds=seconds)).trace
            for seed in range(3)
        ]
        spent = [each.seconds for each in traces]
        gaps = ", ".join(f"{each.gap or 0.0:.2%}" for each in traces if not each.optimal)
        proven = f"{sum(each.optimal for each in traces)} of {len(traces)}"
        yield f"{n_rows}", f"{k}", proven, gaps, f"{min(spent):.1f} - {max(spent):.1f} s"


def evolution() -> Iterator[Sequence[str]]:
    """Compare the genetic search and MinGen's large mode with Mondrian, by certainty in one candidate space."""
    for n_rows, k, seconds in GENETIC:
        data, names = adult(n_rows, 0)
        loss = ht.Certainty()
        cut = _mondrian(data, names, k, loss)
        for method in ("genetic", "mingen"):
            release = _released(data, names, k, method, loss, None, ht.Budget(seconds=seconds))
            spent, gap = release.trace.seconds, release.trace.gap or 0.0
            yield (
                f"{n_rows:,}", f"{k}", method, f"{cut:,.1f}", f"{release.loss:,.1f}",
                f"{1 - release.loss / cut:.1%}", f"{gap:.1%}", f"{spent:.1f} s",
            )  # fmt: skip


@cache
def _adult() -> pl.DataFrame:
    return pl.read_csv(ADULT / "adult.csv", separator=";")


def adult(n_rows: int, seed: int) -> tuple[pl.DataFrame, list[str]]:
    """Return a sample of Adult and its quasi-identifiers."""
    rows = np.random.default_rng(seed).permutation(_adult().height)[:n_rows]
    return _adult()[rows], COLUMNS


def _ladders() -> dict[str, str]:
    return {name: str(ADULT / f"adult_hierarchy_{name}.csv") for name in COLUMNS if name != "age"}


def _released(
    data: pl.DataFrame,
    names: Sequence[str],
    k: int,
    method: str,
    loss: Any,
    domains: Path | None,
    budget: ht.Budget | None = None,
) -> ht.Release:
    given: Any = _ladders() if domains is None else domains
    release = ht.anonymize(
        data,
        quasi_identifiers=names,
        models=[ht.KAnonymity(k)],
        method=method,
        loss=loss,
        hierarchies=given,
        budget=budget,
    )
    release.verify().raise_if_failed()
    return release


def _mondrian(data: pl.DataFrame, names: Sequence[str], k: int, loss: Any) -> float:
    """Cost Mondrian's classes in the candidate space: what each can publish most cheaply."""
    release = ht.anonymize(data, quasi_identifiers=names, models=[ht.KAnonymity(k)], hierarchies=_ladders())
    space = cell_candidates.lay_out(Table.encode(data, names), names, release.hierarchies, loss)
    recoding = space.recode_classes(release.partition.labels, release.partition.n_classes)
    return float(loss.measure(recoding, release.partition.sizes))


def show(head: Sequence[str], rows: Iterator[Sequence[str]]) -> None:
    """Print a table as its rows come in."""
    print(f"\n| {' | '.join(head)} |\n|---{'|---:' * (len(head) - 1)}|")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["explosion", "proofs", "evolution"])
    parts = parser.parse_args().parts
    warnings.simplefilter("ignore")  # of columns that are kept as they are
    # Compiles the kernels, which is no part of what is measured.
    _released(*adult(40, 9), 3, "mingen", "certainty", None)
    if "explosion" in parts:
        show(("search of `test.csv`, k = 2", "looked at", "costs computed", "time", "loss"), explosion())
    if "proofs" in parts:
        show(("rows of Adult", "k", "proven", "gaps of the others", "time"), proofs())
    if "evolution" in parts:
        show(("rows of Adult", "k", "method", "Mondrian", "certainty", "less", "gap", "time"), evolution())


if __name__ == "__main__":
    main()
