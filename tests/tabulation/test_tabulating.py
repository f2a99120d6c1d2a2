"""Tables from records: which cells a rule hides, the cheapest further ones, and the release that comes of it."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from command import run
from hushtable.claims import HiddenCells, open_release, select_for_claim
from hushtable.search import Budget, Clock
from hushtable.tabulation.cells import SHOWN, CellTable, Dimension, build_system
from hushtable.tabulation.suppressing import suppress
from hushtable.tabulation.tabulating import read_records
from hushtable.tabulation.witnesses import ProtectionLevels
from twins.cell_tables import all_tables, values_by_cell

SHARED = Path(__file__).parents[3] / "shared"


def records_of(cells, shape):
    """Return records that make a table."""
    rows = [
        [f"{letter}{place}" for letter, place in zip("ghi", labels, strict=False)]
        for labels in np.ndindex(*shape)
        for _ in range(int(np.asarray(cells).reshape(shape)[labels]))
    ]
    return pl.DataFrame(rows, schema=list("ghi"[: len(shape)]), orient="row")


def system_of(cells, shape, knowledge=None):
    axes = tuple(
        Dimension(name, (*(f"{name}{place}" for place in range(size)), "Total"), ((size, tuple(range(size))),), size)
        for name, size in zip("ghi", shape, strict=False)
    )
    nothing = np.full(len(cells), np.inf)
    table = CellTable("t", axes, cells, np.full(len(cells), SHOWN), -nothing, nothing)
    return build_system([table], knowledge)


def exact_levels(cells, is_primary):
    """Ask for one more, and for one less where a reader knows of no least value above it."""
    up = np.where(is_primary, cells + 1.0, -np.inf)
    down = np.where(is_primary, np.maximum(cells - 1.0, 1), np.inf)
    return ProtectionLevels(down, up, np.zeros(len(cells)))


def cheapest_by_trying(tables, cells, is_primary):
    """Return what the cheapest pattern costs that protects: all patterns, all tables."""
    free = np.flatnonzero((cells > 0) & ~is_primary)[:-1].tolist()
    best = np.inf
    for size in range(len(free) + 1):
        for more in combinations(free, size):
            cost = cells[list(more)].sum()
            if cost >= best:
                continue
            is_hidden = is_primary.copy()
            is_hidden[list(more)] = True
            values = values_by_cell(tables, cells, is_hidden, 1)
            if all(
                cells[cell] + 1 in values[cell] and max(cells[cell] - 1, 1) in values[cell]
                for cell in np.flatnonzero(is_primary).tolist()
            ):
                best = cost
    return best


def test_the_pattern_is_the_cheapest_of_all():
    tables = all_tables((2, 3), 9)
    draw = np.random.default_rng(5)
    n_found = 0
    for cells in tables[draw.permutation(len(tables))][:400]:
        is_primary = (cells > 0) & (cells < 2)
        if is_primary[-1] or not 0 < is_primary.sum() < 4 or cells[-1] < 7:
            continue
        best = cheapest_by_trying(tables, cells, is_primary)
        try:
            found = suppress(system_of(cells, (2, 3)), is_primary, exact_levels(cells, is_primary), cells.astype(float))
        except ht.InfeasibleError:
            assert best == np.inf
            continue
        if best < np.inf:
            assert (found.is_optimal, found.cost) == (True, best)
            n_found += 1
        if n_found == 12:
            return
    raise AssertionError(n_found)


def test_four_ones_need_five_more_cells():
    cells = [1, 1, 20, 1, 1, 20, 30, 30, 30]
    inner = np.array(cells).reshape(3, 3)
    table = np.block([[inner, inner.sum(axis=1, keepdims=True)], [inner.sum(axis=0), inner.sum()]]).ravel()
    is_primary = (table > 0) & (table < 5)
    found = suppress(system_of(table, (3, 3)), is_primary, exact_levels(table, is_primary), table.astype(float))
    assert (found.cost, found.is_optimal, int(found.is_hidden.sum())) == (130, True, 9)


def test_without_time_a_pattern_still_protects():
    draw = np.random.default_rng(7)
    for _ in range(5):
        inner = draw.poisson(4, (5, 6)) + 1
        table = np.block([[inner, inner.sum(axis=1, keepdims=True)], [inner.sum(axis=0), inner.sum()]]).ravel()
        is_primary = table < 4
        args = (system_of(table, (5, 6)), is_primary, exact_levels(table, is_primary), table.astype(float))
        best, quick = suppress(*args), suppress(*args, Clock(Budget(seconds=1e-9)))
        assert {cell.outcome for cell in quick.audit.cells} == {"protected"}
        assert best.bound <= best.cost <= quick.cost
        assert quick.bound <= best.cost


def slow_contributions(people, labels, person, value):
    """Return the contributions to a cell, the largest first."""
    inside = people.filter(pl.lit(True), *(pl.col(name) == label for name, label in labels.items()))
    return sorted(inside.group_by(person).agg(pl.col(value).sum())[value].to_list(), reverse=True)


@pytest.mark.parametrize("rule", ["threshold", "dominance", "p"])
def test_primary_cells_are_those_of_the_definitions(rule):
    draw = np.random.default_rng(3)
    n = 150
    people = pl.DataFrame(
        {"g": draw.choice(list("abc"), n), "h": draw.choice(list("xyz"), n),
         "firm": draw.integers(0, 90, n).astype(str),
         "turnover": (draw.pareto(1.2, n) * 100).astype(int) + 1}
    )  # fmt: skip
    rules = {
        "threshold": ht.CellRules(15),
        "dominance": ht.CellRules(1, dominance=(2, 40)),
        "p": ht.CellRules(1, p=60),
    }[rule]
    made = ht.tabulate(people, by=["g", "h"], value="turnover", person="firm", rules=rules)
    hit = 0
    for cell, key in enumerate(made.system.keys):
        given = slow_contributions(people, dict(key), "firm", "turnover")
        total = sum(given)
        assert made.system.values[cell] == total
        is_unsafe = {
            "threshold": len(given) < 15,
            "dominance": sum(given[:2]) > 0.4 * total,
            "p": total - sum(given[:2]) < 0.6 * given[0],
        }[rule]
        assert made.is_primary[cell] == is_unsafe
        hit += is_unsafe
    assert hit
    assert made.verify().passed


def test_one_large_contributor_and_a_second_one_are_seen_by_p_and_not_by_dominance():
    firms = pl.DataFrame({"g": ["a"] * 12 + ["b"] * 12 + ["c"] * 12, "firm": list(range(36)),
                          "n": [50_000, 49_000, *[100] * 10, *[10_000] * 24]})  # fmt: skip
    by_dominance = ht.tabulate(firms, by=["g"], value="n", rules=ht.CellRules(2, dominance=(1, 90)))
    by_p = ht.tabulate(firms, by=["g"], value="n", rules=ht.CellRules(2, p=10))
    assert (by_dominance.n_primary, by_p.n_primary) == (0, 1)


def test_persons_are_counted_once():
    people = pl.DataFrame({"g": ["a"] * 55 + ["b"] * 40 + ["c"] * 40, "who": [*list(range(5)) * 11, *range(5, 85)]})
    made = ht.tabulate(people, by=["g"], person="who")
    assert made.frame.rows() == [("a", "x"), ("b", "40"), ("c", "x"), ("Total", "85")]
    twice = pl.concat([people, pl.DataFrame({"g": ["b"], "who": [0]})])
    assert "a person may be in several cells" in ht.tabulate(twice, by=["g"], person="who").facts[0]


def test_several_tables_are_one_problem_and_one_file(tmp_path):
    people = ht.datasets.people(n=900, seed=2)
    made = ht.tabulate(people, by=[["sex", "education"], ["sex", "marital_status"]], rules=ht.CellRules(30))
    verdict = made.write(tmp_path / "tables.csv")
    assert verdict.passed
    judged = run("verify", str(tmp_path / "tables.csv"))
    assert judged.code == 0
    # Rows of tables are cells, and no records.
    assert "holds: as many cells as the manifest says" in judged.out
    assert judged.out.endswith(f"  {made.frame.height} cells\n")
    assert "record" not in judged.out
    assert run("check", str(tmp_path / "tables.csv"), "--absent", "hidden", "--threshold", "30").code == 0
    manifest = json.loads((tmp_path / "tables.csv.manifest.json").read_text())
    assert manifest["optimal"]
    made.write(tmp_path / "out.csv", external=True)
    told = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert not {"rules", "cost", "bound", "n_primary"} & set(told)


@pytest.mark.parametrize("change", [{"asked": None}, {"asked": [3]}, {"tables": ["x"]}, {"tables": [{"by": ["g"]}]}])
def test_a_damaged_manifest_is_said_to_be_not_readable(tmp_path, change):
    people = ht.datasets.people(n=400, seed=3)
    ht.tabulate(people, by=["sex", "education"], rules=ht.CellRules(40)).write(tmp_path / "t.csv")
    path = tmp_path / "t.csv.manifest.json"
    manifest = json.loads(path.read_text())
    manifest["claim"]["witnesses"] |= change
    path.write_text(json.dumps(manifest))
    told = run("verify", str(tmp_path / "t.csv"))
    assert told.code == 2
    assert "the certificate of witnesses is not readable" in told.err


def test_a_release_that_shows_a_cell_more_is_refused():
    people = ht.datasets.people(n=400, seed=3)
    made = ht.tabulate(people, by=["sex", "education"], rules=ht.CellRules(40))
    claim, frame = made.claim, made.frame
    assert claim.verify(frame).passed
    hidden = [row for row, text in enumerate(frame["n"]) if text == "x"]
    true = [str(value) for value in made.system.values.tolist()]
    for row in hidden:
        cells = frame["n"].to_list()
        cells[row] = true[row]
        assert not claim.verify(frame.with_columns(n=pl.Series(cells))).passed
    forged = type(claim).from_dict({**claim.to_dict(), "threshold": 2000})
    assert not forged.verify(frame).passed
    assert claim.from_dict(json.loads(json.dumps(claim.to_dict()))).verify(frame).passed


def forge_claim(*, table=(), reader=(), threshold=10, **entries):
    """Return a claim of a table of g that was written by hand: a and b can be 3 and 15."""
    told = {"by": ["g"], "value": "n", "across": None, "hidden": ["x", "3e0"], "total": {"g": "Total"}, "fixed": {},
            "hierarchies": {}} | dict(table)  # fmt: skip
    knows = {"content": "counts", "zeros": "shown", "absent": "zero", "negative": False} | dict(reader)
    witnesses = {"kind": "witnesses", "tables": [told], "reader": knows, "decimals": 0, "asks_all": False, "asked": [],
                 "cells": [[["g", "a"]]], "base": {"denominator": 1, "values": [3]},
                 "changes": [{"denominator": 1, "cells": [0], "values": [15]}]}  # fmt: skip
    return HiddenCells.from_dict({"kind": "hidden cells", "threshold": threshold, "witnesses": witnesses | entries})


ALONE = {"a": "x", "b": "20", "c": "30", "Total": "53"}
ASKED = {"asked": [{"cell": 0, "spread": 0, "reach_down": None, "reach_up": None}]}
PAIR = {"cells": [[["g", "a"]], [["g", "b"]]], "asked": [{"cell": 0}, {"cell": 1}]}


def pair_of(one, other):
    return PAIR | {
        "base": {"denominator": 1, "values": [one, other]},
        "changes": [{"denominator": 1, "cells": [0, 1], "values": [other, one]}],
    }


@pytest.mark.parametrize(
    ("cells", "forged"),
    [
        (ALONE, ASKED),
        (ALONE, {}),
        (ALONE, ASKED | {"table": {"total": {"g": "Sum"}}}),
        (ALONE, ASKED | {"table": {"total": {}}}),
        (ALONE, ASKED | {"table": {"total": {"g": "b"}}}),
        (ALONE, ASKED | {"table": {"fixed": {"g": "a"}}}),
        (ALONE, ASKED | {"table": {"hierarchies": {"g": {"Nowhere": ["a"]}}}}),
        (ALONE, ASKED | {"table": {"hierarchies": {"g": {"Total": ["a", "b", "c"]}}}}),
        (ALONE, ASKED | {"table": {"by": []}}),
        (ALONE, ASKED | {"reader": {"absent": "hidden", "negative": True}}),
        ({"a": "x", "b": "20"}, ASKED),  # the row of the total was taken out
        ({"a": "x", "b": "x", "c": "30", "Total": "33"}, pair_of(10, 20) | {"decimals": 1}),
        ({"a": "x", "b": "x", "c": "0", "Total": "2"}, pair_of(0, 2) | {"reader": {"zeros": "hidden"}, "threshold": 2}),
        ({"a": "x", "b": "x", "c": "30", "Total": "32"}, pair_of(-8, 10) | {"reader": {"negative": True}}),
        ({"a": "3e0", "b": "x", "c": "30", "Total": "48"}, pair_of(3, 15)),
        ({"a": "three", "b": "x", "c": "30", "Total": "48"}, pair_of(3, 15)),
    ],
)
def test_a_claim_does_not_choose_what_its_reader_knows(cells, forged):
    verdict = forge_claim(**forged).verify(pl.DataFrame({"g": list(cells), "n": list(cells.values())}))
    assert not verdict.passed
    assert all(
        condition not in verdict.held for condition in {str(each).partition(":")[0] for each in verdict.failures}
    )


def test_what_a_file_shows_besides_its_tables_is_told(tmp_path):
    cells = {"a": "x", "b": "x", "c": "30", "Total": "48"}
    frame = pl.DataFrame({"g": list(cells), "n": list(cells.values())})
    claim = forge_claim(**pair_of(3, 15))
    assert claim.verify(frame).passed
    (tmp_path / "parts").mkdir()
    for column in ("h", "true"):
        wider = frame.with_columns(pl.lit("3").alias(column))
        wider.write_parquet(tmp_path / "parts" / "part.parquet")
        for judged in (wider, select_for_claim(claim, open_release(tmp_path / "parts"))):
            verdict = claim.verify(judged)
            assert not verdict.passed
            assert not verdict.held
            assert "15" not in str(verdict)
    for entries in ({"decimals": -1}, {"decimals": "one"}, {"reader": {"content": "anything"}}):
        with pytest.raises(ht.InputError):
            forge_claim(**entries)
    with pytest.raises(ht.InputError, match="not readable: CycleError"):
        forge_claim(**pair_of(3, 15), table={"hierarchies": {"g": {"a": ["b"], "b": ["a"]}}}).verify(frame)


def test_what_hiding_cannot_protect_is_refused_with_a_way_out():
    people = records_of([3, 0, 0, 3, 3, 0], (3, 2))
    with pytest.raises(ht.InfeasibleError, match="hiding cannot protect") as caught:
        ht.tabulate(people, by=["g", "h"], rules=ht.CellRules(4, level="exact"),
                    reader=ht.ReaderKnowledge(public=((), (("g", "g0"),), (("g", "g1"),), (("g", "g2"),))))  # fmt: skip
    assert "--zeros hidden" in caught.value.hint


def test_lines_of_a_sensitive_dimension_tell_nothing_of_all_or_none():
    people = records_of([6, 0, 12, 9, 20, 15], (3, 2))
    rules = ht.CellRules(1, sensitive="h")
    made = ht.tabulate(people, by=["g", "h"], rules=rules)
    cells = {tuple(row[:2]): row[2] for row in made.frame.rows()}
    assert cells["g0", "h0"] == cells["g0", "h1"] == "x"
    with pytest.raises(ht.InputError, match="zeros are shown"):
        ht.tabulate(people, by=["g", "h"], rules=rules, reader=ht.ReaderKnowledge())


@pytest.mark.parametrize("level", ["upper", "exact"])
@pytest.mark.parametrize("seed", range(3))
def test_hidden_zeros_may_be_as_much_as_small_counts(seed, level, tmp_path):
    people = ht.datasets.people(n=1500, seed=seed)
    made = ht.tabulate(
        people, by=["education", "sex"], rules=ht.CellRules(level=level), reader=ht.ReaderKnowledge(zeros="hidden")
    )
    assert (made.is_primary & (made.system.values == 0)).any()
    assert made.write(tmp_path / "t.csv").passed


def test_hierarchies_are_levels_of_the_table():
    people = records_of([3, 12, 30, 20, 14, 25, 40, 11], (8, 1)).drop("h")
    tree = {"g": {"low": ["g0", "g1", "g2", "g3"], "high": ["g4", "g5", "g6", "g7"]}}
    made = ht.tabulate(people, by=["g"], hierarchies=tree)
    cells = dict(made.frame.rows())
    assert (cells["g0"], cells["low"], cells["high"], cells["Total"]) == ("x", "65", "90", "155")
    assert cells["g1"] == "x"
    assert made.verify().passed


def test_amounts_that_cannot_be_summed_are_refused():
    rows = pl.DataFrame({"g": ["a", "b"], "v": [1.5, -2.0]})
    with pytest.raises(ht.InputError, match="below 0"):
        ht.tabulate(rows, by=["g"], value="v")
    with pytest.raises(ht.InputError, match="holds no numbers"):
        ht.tabulate(rows, by=["v"], value="g")
    with pytest.raises(ht.InputError, match="missing values"):
        ht.tabulate(rows.with_columns(v=pl.Series([None, 2.0])), by=["g"], value="v")
    with pytest.raises(ht.InputError, match="label 'Total' itself"):
        ht.tabulate(pl.DataFrame({"g": ["Total", "b"]}), by=["g"])


@pytest.mark.parametrize(
    "asked",
    [
        {"rules": ht.CellRules(sensitive="hh"), "reader": ht.ReaderKnowledge(zeros="hidden")},
        {"hierarchies": {"gg": {"a": ["b"]}}},
        {"rules": ht.CellRules(dominance=(2, 85))},
        {"rules": ht.CellRules(p=10)},
    ],
)
def test_what_would_have_no_effect_is_refused(asked):
    with pytest.raises(ht.InputError):
        ht.tabulate(records_of([6, 1, 12, 9], (2, 2)), by=["g", "h"], **asked)
    table = pl.DataFrame({"g": ["a", "b", "Total"], "n": ["x", "8", "9"]})
    for option in ({"total": {"gg": "Total"}}, {"hierarchies": {"gg": {"a": ["b"]}}}):
        with pytest.raises(ht.InputError, match="no column 'gg'"):
            ht.check_tables(table, **option)


ADULT = SHARED / "data" / "adult" / "adult_ori.csv"


@pytest.mark.parametrize(
    ("by", "n_secondary", "cost"),
    [(["race", "type_employer"], 7, 853), (["education", "race"], 4, 64), (["education", "occupation"], 11, 370),
     (["country", "marital"], 8, 132),
     pytest.param(["race", "relationship", "marital"], 29, 27_800, marks=pytest.mark.slow),
     pytest.param(["education", "occupation", "race"], 104, 3_217, marks=pytest.mark.slow)],
)  # fmt: skip
def test_optima_of_adult_are_proven(by, n_secondary, cost):
    if not ADULT.exists():
        pytest.skip("the table of adults is not here")
    made = ht.tabulate(pl.read_csv(ADULT), by=by, rules=ht.CellRules(10, level="exact"))
    assert (made.n_secondary, made.pattern.cost, made.pattern.is_optimal) == (n_secondary, cost, True)
    assert made.verify().passed
    assert ht.check_certificate(made.frame, made.certificate).passed


@pytest.mark.parametrize("person", [None, "firm"])
def test_lazy_frames_and_folders_are_counted_where_they_are(tmp_path, person):
    draw = np.random.default_rng(3)
    rows = pl.DataFrame(
        {"g": draw.choice(list("abc"), 300), "h": draw.choice(list("xy"), 300), "firm": draw.integers(0, 40, 300),
         "pay": draw.integers(0, 4, 300)}
    )  # fmt: skip
    (tmp_path / "rows").mkdir()
    for place in range(3):
        rows[place::3].write_parquet(tmp_path / "rows" / f"{place}.parquet")
    rules = ht.CellRules(threshold=3, p=20.0)
    options = {"by": ["g", "h"], "value": "pay", "person": person, "rules": rules}
    made = ht.tabulate(rows, **options)
    for other in (rows.lazy(), tmp_path / "rows", str(tmp_path / "rows")):
        again = ht.tabulate(other, **options)
        assert again.frame.equals(made.frame)
        assert np.array_equal(again.is_primary, made.is_primary)
    counted = read_records(rows.lazy(), ["g", "h"], value="pay", person=person).count(["g", "h"], 3)
    told = read_records(rows, ["g", "h"], value="pay", person=person).count(["g", "h"], 3)
    assert np.array_equal(counted.largest, told.largest)
    assert np.array_equal(counted.n_persons, told.n_persons)
    run("tables", tmp_path / "rows", "--by", "g,h", "-o", tmp_path / "t.csv")
    lines = (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()
    assert "Total,Total,300" in lines
    with pytest.raises(ht.InputError, match="no column 'k'"):
        ht.tabulate(rows.lazy(), by=["g", "k"])
