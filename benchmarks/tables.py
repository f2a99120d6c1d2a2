"""Tables of counts: what readers can compute, the cheapest pattern that protects, and rtauargus' four linked tables.

Arguments: seconds for each pattern (default 60). Figures of peers were recorded on 2026-11-23 (facts of issue 64):
pytauargus 0.6.0 OPT in its own model, in which a hidden count may be 0, and Modular as rtauargus' vignette shows it.
"""

import os
import sys
from collections import Counter
from pathlib import Path
from time import process_time

import numpy as np
import polars as pl

import hushtable as ht
from hushtable.search import Budget, Clock
from hushtable.tabulation.auditing import ask_of_hidden, audit
from hushtable.tabulation.cells import build_system
from hushtable.tabulation.deducing import deduce
from hushtable.tabulation.reading import TableReading, read_cell_table, read_hierarchy
from hushtable.tabulation.suppressing import suppress
from hushtable.tabulation.tabulating import CellRules, find_primary, read_records
from hushtable.tabulation.witnesses import ProtectionLevels

SHARED = Path(os.environ.get("HUSHTABLE_SHARED", "../shared")) / "data"
# Dimensions, and what pytauargus hides besides: its value, and how many primary cells a reader computes all the same.
ADULT = [
    (["race", "type_employer"], 132, 0),
    (["education", "race"], 64, 0),
    (["education", "occupation"], 269, 0),
    (["race", "relationship", "marital"], 27_280, 8),
    (["country", "marital"], 34, 2),
    (["education", "occupation", "race"], 1_393, 25),
    (["age", "country"], None, None),
]
LARGE = [["education", "occupation", "race", "relationship"], ["country", "education", "occupation", "marital"]]
LINKED = {"act_size": "ACTIVITY SIZE", "act_cj": "ACTIVITY CJ", "nuts_size": "NUTS SIZE", "nuts_cj": "NUTS CJ"}
MODULAR = 354  # secondary cells, those in two tables counted twice


def adult(seconds: float) -> None:
    """Print the optimum of each table of adults, and what readers compute where only small cells are hidden."""
    people = pl.read_csv(SHARED / "adult" / "adult_ori.csv")
    print(f"{'table':42}{'cells':>8}{'primary':>8}{'more':>6}{'cost':>8}{'bound':>8}{'CPU s':>7}  pytauargus, exposed")
    for by, peer, exposed in ADULT:
        began = process_time()
        made = ht.tabulate(people, by=by, rules=ht.CellRules(level="exact"), budget=ht.Budget(seconds=seconds))
        spent, cost = process_time() - began, f"{made.pattern.cost:,.0f}"
        print(
            f"{' x '.join(by):42}{made.n_cells:8,}{made.n_primary:8}{made.n_secondary:6}{cost:>8}"
            f"{made.pattern.bound:8,.0f}{spent:7.2f}  {peer}, {exposed}"
        )
    for by in LARGE:
        counted = read_records(people, by).count(by, 2)
        system = build_system([counted.table])
        is_small = find_primary(counted, CellRules(), is_sum=False)
        system = system.with_hidden(is_small)
        began = process_time()
        found = deduce(system)
        spent = process_time() - began
        print(f"{' x '.join(by)}: {system.n_cells:,} cells, {is_small.sum():,} small ones hidden: ", end="")
        print(f"{int((found.is_determined & is_small).sum()):,} exposed in {spent:.2f} s, proven: {found.is_proven}")
        if system.n_cells < 20_000:
            began = process_time()
            outcomes = Counter(cell.outcome for cell in audit(system, ask_of_hidden(system)).cells)
            print(f"  all judged in {process_time() - began:.2f} s: {dict(outcomes)}")


def linked(seconds: float) -> None:
    """Print the joint pattern of rtauargus' four tables: frequency below 3, (1, 85) dominance, safety 10 percent."""
    folder = SHARED / "tables" / "rtauargus"
    trees = {
        name: read_hierarchy(pl.read_csv(folder / file, infer_schema=False), name)
        for name, file in (("ACTIVITY", "activity_corr_table.csv"), ("NUTS", "nuts23_fr_corr_table.csv"))
    }
    tables, rows = [], {}
    for name, dimensions in LINKED.items():
        by = dimensions.split()
        frame = pl.read_csv(folder / f"turnover_{name}.csv", infer_schema=False)
        own = {each: tree for each, tree in trees.items() if each in by}
        reading = TableReading(tuple(by), "TOT", total=dict.fromkeys(by, "Total"), hierarchies=own)
        tables.append(read_cell_table(frame, reading, name)[0])
        rows[name] = [
            (tuple(sorted((each, row[each]) for each in by if row[each] != "Total")), int(row["N_OBS"]),
             float(row["TOT"]), float(row["MAX"]))
            for row in frame.rows(named=True)
        ]  # fmt: skip
    system = build_system(tables, ht.ReaderKnowledge("sums"))
    place = {key: cell for cell, key in enumerate(system.keys)}
    in_tables = Counter(key for each in rows.values() for key, *_ in each)
    is_primary = np.zeros(system.n_cells, dtype=bool)
    down, up = np.full(system.n_cells, np.inf), np.full(system.n_cells, -np.inf)
    for name, each in rows.items():
        rare = [0 < n < 3 for _, n, _, _ in each]
        dominated = [not few and largest > 0.85 * total for few, (_, _, total, largest) in zip(rare, each, strict=True)]
        print(f"{name}: {len(each)} cells, {sum(rare)} by frequency, {sum(dominated)} by dominance")
        for is_unsafe, (key, _, total, largest) in zip(np.add(rare, dominated), each, strict=True):
            if is_unsafe:
                cell, value = place[key], float(system.values[place[key]])
                move = max(1.0, np.ceil(value / 10), np.ceil((largest / 0.85 - total) * system.unit))
                is_primary[cell], up[cell], down[cell] = True, value + move, max(0.0, value - move)
    weights = np.array([max(1.0, in_tables[key]) for key in system.keys])
    began = process_time()
    levels = ProtectionLevels(down, up, np.zeros(system.n_cells))
    found = suppress(system, is_primary, levels, weights, Clock(Budget(seconds=seconds)))
    print(
        f"{int(is_primary.sum())} primary cells, {Counter(cell.outcome for cell in found.audit.cells)}; "
        f"{found.cost:.0f} secondary ones as rtauargus counts them (Modular: {MODULAR}), at least {found.bound:.0f}, "
        f"gap {found.gap:.1%}, in {process_time() - began:.0f} s"
    )


if __name__ == "__main__":
    limit = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    adult(limit)
    linked(limit)
