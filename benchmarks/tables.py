"""Tables of counts: what readers can compute, the cheapest pattern that protects, and rtauargus' four linked tables.

Arguments: seconds for each pattern (default 20), `large` to search the pattern of 11,424 cells too (minutes: its proof
and its verdict have no budget), and `peers` to run pytauargus and acro beside it: the variable HUSHTABLE_PEERS names
the site-packages that hold them. Without, figures of peers are those recorded on 2026-11-23
(facts of issue 64): pytauargus 0.6.0 OPT in its own model, in which a hidden count may be 0, and Modular as rtauargus'
vignette shows it.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterator
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


def adult(seconds: float, *, with_large: bool) -> None:
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
        if with_large and system.n_cells < 20_000:
            began = process_time()
            rules = ht.CellRules(level="exact", singletons=False)
            made = ht.tabulate(people, by=by, rules=rules, budget=ht.Budget(seconds=seconds))
            pattern, spent, began = made.pattern, process_time() - began, process_time()
            print(
                f"  {made.n_secondary:,} more hidden: cost {pattern.cost:,.0f}, bound {pattern.bound:,.0f}, gap "
                f"{pattern.gap:.1%}, {dict(Counter(cell.outcome for cell in pattern.audit.cells))}, {spent:.0f} CPU s; "
                f"the file's own claim holds: {made.verify().passed}, {process_time() - began:.0f} CPU s"
            )


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


def draw_tables(n_tables: int) -> Iterator[pl.DataFrame]:
    """Draw records of tables of two or three dimensions, log-normal means, seed 1."""
    draw = np.random.default_rng(1)
    for _ in range(n_tables):
        shape = draw.integers(4, 12, 2) if draw.random() < 0.5 else draw.integers(3, 7, 3)
        counts = draw.poisson(np.exp(draw.normal(1.5, 1.5, shape)))
        rows = [
            [f"{name}{code}" for name, code in zip("ghi", place, strict=False)]
            for place in np.ndindex(*shape)
            for _ in range(int(counts[place]))
        ]
        yield pl.DataFrame(rows, schema=list("ghi"[: len(shape)]), orient="row")


def peers(seconds: float) -> None:
    """Print what pytauargus hides on the same tables beside us, and what readers compute of what it shows."""
    sys.path.append(os.environ["HUSHTABLE_PEERS"])
    people = pl.read_csv(SHARED / "adult" / "adult_ori.csv")
    named = [(" x ".join(by), people.select(by), 10) for by, *_ in ADULT[:6]]
    named += [(f"random {place}", records, 5) for place, records in enumerate(draw_tables(50))]
    print(f"{'':42}{'pytauargus: cost, CPU s, exposed':>36}{'in its model: cost, s':>24}{'ours: cost, s, exposed':>26}")
    totals = np.zeros(9)
    for name, records, threshold in named:
        row = (*_protect_with_pytauargus(records, threshold), *_protect_in_its_model(records, threshold, seconds))
        began = process_time()
        rules = ht.CellRules(threshold=threshold, level="exact", singletons=False)
        try:
            made = ht.tabulate(records, by=records.columns, rules=rules, budget=ht.Budget(seconds=seconds))
            own = made.pattern.cost, process_time() - began, _count_exposed(made.frame, records.columns, "n", made)
        except ht.InfeasibleError:
            own = np.nan, process_time() - began, np.nan  # hiding cannot protect a cell, and we say so
        figures = np.array([*row, *own])
        print(f"{name:42}" + "".join(f"{figure:12,.2f}" for figure in figures))
        if name.startswith("random"):
            totals[: len(figures)] += np.nan_to_num(figures)
            totals[8] += np.isnan(own[0])
    print(f"{'random, together':42}" + "".join(f"{figure:12,.2f}" for figure in totals[:8]))
    print(f"{totals[8]:.0f} random tables have cells that hiding cannot protect, which we refuse and pytauargus shows")


def _protect_with_pytauargus(records: pl.DataFrame, threshold: int) -> tuple[float, float, float]:
    """Return the counts that pytauargus hides besides, its CPU seconds, and primary cells that readers compute."""
    import pytauargus

    by, data = records.columns, records.with_columns(one=pl.lit(1.0)).to_pandas()
    began = process_time()
    made = pytauargus.protect(data, [by], "one", safety_rules=f"FREQ({threshold},10)", suppress="OPT(1,2)")
    spent = process_time() - began
    cells = pl.from_pandas(made.tables[0].dataframe()).with_columns(pl.col(by).str.strip_chars())
    is_hidden = pl.col("status").is_in(["U", "M"])
    value = pl.when(is_hidden).then(pl.lit("x")).otherwise(pl.col("one").cast(pl.Int64).cast(pl.String))
    found = ht.check_tables(cells.select(*by, n=value), by=by, value="n", total="Total")
    small = {_key(row, by) for row in cells.filter(pl.col("status") == "U").rows(named=True)}
    n_exposed = sum(found.system.keys[cell.cell] in small for cell in found.exposed)
    return float(cells.filter(pl.col("status") == "M")["one"].sum()), spent, float(n_exposed)


def _key(row: dict[str, str], by: list[str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, row[name]) for name in by if row[name] != "Total"))


def _protect_in_its_model(records: pl.DataFrame, threshold: int, seconds: float) -> tuple[float, float]:
    """Return the cost of our pattern, and CPU seconds, where a hidden count may be 0 although zeros are shown."""
    began = process_time()
    counted = read_records(records, records.columns).count(records.columns, 2)
    system = build_system([counted.table], ht.ReaderKnowledge("counts", "hidden"))
    is_primary = find_primary(counted, CellRules(threshold=threshold), is_sum=False)
    values = system.values.astype(float)
    levels = ProtectionLevels(
        np.where(is_primary, values - 1, np.inf), np.where(is_primary, values + 1, -np.inf), np.zeros(system.n_cells)
    )
    weights = np.where(values == 0, 1e7, values)  # nobody hides a zero at this price
    found = suppress(system, is_primary, levels, weights, Clock(Budget(seconds=seconds)))
    return found.cost, process_time() - began


def _count_exposed(frame: pl.DataFrame, by: list[str], value: str, made: ht.Tabulation) -> float:
    """Return how many primary cells readers compute."""
    found = ht.check_tables(frame, by=by, value=value, total="Total")
    small = {key for key, is_primary in zip(made.system.keys, made.is_primary, strict=True) if is_primary}
    return float(sum(found.system.keys[cell.cell] in small for cell in found.exposed))


def margins() -> None:
    """Print what acro's margins give away: the sum of hidden counts, by subtraction, and cells alone in their row."""
    sys.path.append(os.environ["HUSHTABLE_PEERS"])
    import acro

    data = pl.read_csv(SHARED / "adult" / "adult_ori.csv").to_pandas()
    session = acro.ACRO(suppress=True)
    shown = session.crosstab(data.education, data.race)
    whole = data.education.value_counts()
    shown["Total"] = whole.reindex(shown.index)
    found = ht.check_tables(shown.reset_index(), across="race", by=["education"], total={"race": "Total"})
    print(f"acro, education x race beside the one-way table of education: {found.outcomes}")
    print([found.system.describe(cell.cell) for cell in found.exposed])


if __name__ == "__main__":
    limit = next((float(each) for each in sys.argv[1:] if each not in ("large", "peers")), 20.0)
    if "peers" in sys.argv:
        peers(limit)
        margins()
    else:
        adult(limit, with_large="large" in sys.argv)
        linked(limit)
