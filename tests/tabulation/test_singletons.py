"""Who is alone in a cell knows its value: whether he computes another cell, judged by all tables of a size."""

import shlex
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from command import run
from hushtable.tabulation.cells import build_system
from hushtable.tabulation.posing import find_singletons
from hushtable.tabulation.reading import TableReading, read_cell_table
from hushtable.tabulation.singletons import find_leaks
from hushtable.tabulation.suppressing import suppress
from hushtable.tabulation.tabulating import read_records
from hushtable.tabulation.witnesses import ProtectionLevels
from twins.cell_tables import all_tables, labels_of, values_by_cell

# In row a both hidden amounts are of one firm each: anyone who knows one subtracts it from the total.
FIRMS = pl.DataFrame(
    [(g, h, pay) for g, h, pays in [
        ("a", "x", [40]), ("a", "y", [70]), ("a", "z", [30, 31, 32]),
        ("b", "x", [50, 51, 52]), ("b", "y", [60, 61, 62]), ("b", "z", [33, 35, 36]),
        ("c", "x", [53, 54, 55]), ("c", "y", [63, 64, 65]), ("c", "z", [37, 38, 39]),
    ] for pay in pays], schema=["g", "h", "pay"], orient="row",
)  # fmt: skip


def leaks_of(made, records, by, **options):
    counted = read_records(records, by, **options).count(by, 2)
    system = made.system.with_hidden(made.pattern.is_hidden)
    return list(find_leaks(system, find_singletons(system, [counted]), made.is_primary, []))


def test_two_firms_alone_in_a_row_do_not_compute_one_another():
    rules = {"threshold": 2, "p": 10.0}
    plain = ht.tabulate(FIRMS, by=["g", "h"], value="pay", rules=ht.CellRules(**rules, singletons=False))
    found = leaks_of(plain, FIRMS, ["g", "h"], value="pay")
    assert [(leak.own.tolist(), leak.cells) for leak in found] == [([0], (1,)), ([1], (0,))]
    made = ht.tabulate(FIRMS, by=["g", "h"], value="pay", rules=ht.CellRules(**rules))
    assert not leaks_of(made, FIRMS, ["g", "h"], value="pay")
    assert made.n_secondary > plain.n_secondary
    assert made.pattern.cost > plain.pattern.cost >= made.pattern.bound
    assert made.verify().passed
    assert ht.check_certificate(made.frame, made.certificate).passed
    assert any("alone in a cell" in fact for fact in made.facts)


@pytest.mark.parametrize("step", [490, pytest.param(20, marks=pytest.mark.slow)])
def test_of_all_small_tables_nobody_alone_computes_another_cell(step):
    tables = all_tables((2, 3), 9)
    labels = labels_of((2, 3))
    n_leaking = n_protected = 0
    for cells in tables[::step]:
        inner = [(row, count) for row, count in zip(labels, cells.tolist(), strict=True) if "Total" not in row]
        records = pl.DataFrame([row for row, count in inner for _ in range(count)], schema=["g", "h"], orient="row")
        for protects in (False, True):
            if len(records) < 5:
                continue
            rules = ht.CellRules(threshold=2, level="exact", singletons=protects)
            try:
                made = ht.tabulate(records, by=["g", "h"], rules=rules)
            except ht.InfeasibleError:
                continue
            place = {row: cell for cell, row in enumerate(labels)}
            names = [tuple(dict(key).get(name, "Total") for name in "gh") for key in made.system.keys]
            own = np.array([place[name] for name in names])
            is_hidden, is_primary = np.zeros(len(cells), dtype=bool), np.zeros(len(cells), dtype=bool)
            is_hidden[own], is_primary[own] = made.pattern.is_hidden, made.is_primary
            leaks = _leaks_by_looking(tables, cells, is_hidden, is_primary, records, labels)
            n_leaking += bool(leaks)
            n_protected += protects and is_primary.any()
            if protects:
                assert not leaks, cells
            else:
                found = leaks_of(made, records, ["g", "h"])
                assert sum(len(leak.cells) for leak in found) == leaks, cells
    assert n_leaking
    assert n_protected


def _leaks_by_looking(tables, cells, is_hidden, is_primary, records, labels):
    """Count the pairs of a person and a primary cell that has one value in all tables where his cells have theirs."""
    found = 0
    for row, count in records.group_by("g", "h").len().select(pl.struct("g", "h"), "len").iter_rows():
        if count > 1:
            continue
        inside = [place for place, label in enumerate(labels)
                  if all(part in ("Total", row[name]) for part, name in zip(label, "gh", strict=True))
                  and cells[place] == 1]  # fmt: skip
        still_hidden = is_hidden.copy()
        still_hidden[inside] = False
        values = values_by_cell(tables, cells, still_hidden, 1)
        found += sum(len(each) == 1 and bool(is_primary[cell]) for cell, each in values.items())
    return found


def test_a_sum_of_hidden_cells_that_one_enterprise_dominates_is_seen():
    # As in UserSupport #160: B05 to B07 are hidden by (2, 80), one enterprise has most of their sum, and B09, the
    # cheapest cell besides, is too small to change that.
    amounts = {"B05": [900, 20, 10], "B06": [30, 1, 1], "B07": [20, 1, 1], "B08": [150, 150, 150, 150],
               "B09": [10, 10, 10, 10]}  # fmt: skip
    records = pl.DataFrame([(nace, pay) for nace, pays in amounts.items() for pay in pays], schema=["nace", "pay"],
                           orient="row")  # fmt: skip
    rules = ht.CellRules(threshold=2, dominance=(2, 80.0), safety=1.0)
    read = read_records(records, ["nace"], value="pay")
    table = read.count(["nace"], 2).table
    for hidden, n_unions in (("B05 B06 B07", 1), ("B05 B06 B07 B09", 1), ("B05 B06 B07 B08", 0), ("B05", 0)):
        is_hidden = np.isin(table.axes[0].labels, hidden.split())
        unions = [union.tolist() for union in read.find_sensitive_unions(table, is_hidden, rules, 2)]
        assert unions == [np.flatnonzero(is_hidden).tolist()] * n_unions
        inside = records.filter(pl.col("nace").is_in(hidden.split()))["pay"].sort(descending=True)
        assert (inside[:2].sum() > 0.8 * inside.sum()) == (n_unions == 1 or hidden == "B05")
    # What the rule asks of each cell makes the search take B08.
    made = ht.tabulate(records, by=["nace"], value="pay", rules=rules)
    assert [made.system.describe(cell) for cell in np.flatnonzero(made.pattern.is_hidden & ~made.is_primary)] == [
        "nace=B08"
    ]
    assert not made.unions
    told = replace(made, unions=((0, 1, 2),))
    assert "the first is that of nace=B05; nace=B06; nace=B07" in told.facts[0]
    assert told.to_dict()["n_sensitive_unions"] == 1


def test_the_linked_tables_of_sdctable_need_exactly_one_more_cell():
    # sdcTable's own test: each table is safe alone, and county-1 and small differ by K and N only.
    counts = dict(zip("ABIJKLMN", [2, 2, 8, 8, 3, 3, 3, 7], strict=True))
    trees = ({"county-1": tuple("ABIJ"), "county-2": tuple("KLMN")}, {"big": tuple("LM"), "small": tuple("ABIJKN")})
    tables = []
    for name, tree in zip(("one", "two"), trees, strict=True):
        rows = [*counts.items(), *((label, sum(counts[part] for part in parts)) for label, parts in tree.items()),
                ("Total", sum(counts.values()))]  # fmt: skip
        frame = pl.DataFrame([(label, str(n)) for label, n in rows], schema=["region", "n"], orient="row")
        tables.append(
            (frame, read_cell_table(frame, TableReading(("region",), "n", hierarchies={"region": tree}), name))
        )
    system = build_system([table for _, (table, _) in tables])
    values = system.values.astype(float)
    is_primary = values < 4
    assert is_primary.sum() == 5
    levels = ProtectionLevels(
        np.where(is_primary, np.maximum(values - 1, 1), np.inf), np.where(is_primary, values + 1, -np.inf), 0 * values
    )
    found = suppress(system, is_primary, levels, np.ones(system.n_cells))
    assert [system.describe(cell) for cell in np.flatnonzero(found.is_hidden & ~is_primary)] == ["region=N"]
    assert found.is_optimal
    marked = [
        (frame.with_columns(n=pl.when(pl.col("n").cast(int) < 4).then(pl.lit("x")).otherwise("n")), reading)
        for frame, (_, reading) in tables
    ]
    alone = [ht.check_tables(frame, hierarchies=reading.hierarchies).passed for frame, reading in marked]
    assert alone == [True, True]
    hierarchies = {"region": {**trees[0], **trees[1]}}
    both = ht.check_tables([frame for frame, _ in marked], hierarchies=hierarchies)
    assert {both.system.describe(cell.cell): cell.low for cell in both.exposed} == {"region=K": 3.0}


def test_tables_of_one_dimension_share_who_is_alone():
    records = pl.DataFrame({"g": list("abbbccccc"), "h": list("xxyyyyyyy")})
    counted = [read_records(records, by).count(by, 2) for by in (["g", "h"], ["g"])]
    system = build_system([each.table for each in counted])
    cells = [sorted(system.describe(cell) for cell in own.tolist()) for own in find_singletons(system, counted)]
    assert ["g=a", "g=a, h=x"] in cells
    assert ["g=b, h=x"] in cells


ROWS = [("a", "x", "*"), ("a", "y", "*"), ("a", "z", "20"), ("a", "Total", "24"),
        ("b", "x", "*"), ("b", "y", "*"), ("b", "z", "*"), ("b", "Total", "40"),
        ("c", "x", "30"), ("c", "y", "30"), ("c", "z", "*"), ("c", "Total", "90"),
        ("Total", "x", "42"), ("Total", "y", "43"), ("Total", "z", "69"), ("Total", "Total", "154")]  # fmt: skip


def test_a_check_tells_which_cells_are_bound_and_what_those_compute_who_are_alone(tmp_path):
    table = pl.DataFrame(ROWS[:-5] + ROWS[-4:], schema=["g", "h", "n"], orient="row")
    table = pl.concat([table, pl.DataFrame([("c", "Total", "90")], schema=["g", "h", "n"], orient="row")])
    found = ht.check_tables(table)
    groups = [[found.system.describe(cell) for cell in group.tolist()] for group in found.bound_cells]
    assert groups == [["g=a, h=x", "g=a, h=y", "g=b, h=x", "g=b, h=y"]]
    assert any("4 of 6 hidden cells can be computed from the value of one other" in fact for fact in found.facts)
    alone = ht.check_tables(table, reader=ht.ReaderKnowledge(alone=((("g", "a"), ("h", "x")),)))
    assert not alone.passed
    assert alone.to_dict()["leaks"][0]["alone"] == {"g": "a", "h": "x"}
    assert {"g": "a", "h": "y"} in alone.to_dict()["leaks"][0]["computes"]
    table.write_csv(tmp_path / "t.csv")
    (hint,) = [fact for fact in found.facts if "--alone" in fact]
    told = run("check", tmp_path / "t.csv", *shlex.split(hint.rstrip(".").partition("as in ")[2]))
    assert told.code == 1
    assert "alone in" in told.out
    with pytest.raises(ht.InputError, match="g=c, h=x, which is no hidden cell"):
        ht.check_tables(table, reader=ht.ReaderKnowledge(alone=((("g", "c"), ("h", "x")),)))
