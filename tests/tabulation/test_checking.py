"""What a reader can compute of hidden cells, judged by all tables of a size and by faults of other programs."""

import json
import subprocess
import sys
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest

import hushtable as ht
from hushtable.tabulation.auditing import ask_of_hidden, audit
from hushtable.tabulation.cells import HIDDEN, SHOWN, CellTable, Dimension, build_system
from twins.cell_tables import all_tables, labels_of, values_by_cell, without_symmetries

ZEROS_HIDDEN = ht.ReaderKnowledge(zeros="hidden")


def table_of(cells, is_hidden, shape):
    """Return the grid of a small table with margins, in code."""
    axes = tuple(
        Dimension(name, (*(f"{name}{place}" for place in range(size)), "Total"), ((size, tuple(range(size))),), size)
        for name, size in zip("ghi", shape, strict=False)
    )
    nothing = np.full(len(cells), np.inf)
    return CellTable("t", axes, np.where(is_hidden, 0, cells), np.where(is_hidden, HIDDEN, SHOWN), -nothing, nothing)


def long_frame(rows):
    return pl.DataFrame(rows, schema=["g", "h", "n"], orient="row")


FOUR_ONES = long_frame(
    [
        ("a", "x", "x"), ("a", "y", "x"), ("a", "z", "20"), ("a", "Total", "22"),
        ("b", "x", "x"), ("b", "y", "x"), ("b", "z", "20"), ("b", "Total", "22"),
        ("c", "x", "30"), ("c", "y", "30"), ("c", "z", "30"), ("c", "Total", "90"),
        ("Total", "x", "32"), ("Total", "y", "32"), ("Total", "z", "70"), ("Total", "Total", "134"),
    ]
)  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "most", "step"),
    [((3, 3), 5, 4), ((2, 2, 3), 3, 5), pytest.param((3, 3), 6, 1, marks=pytest.mark.slow),
     pytest.param((2, 2, 3), 4, 1, marks=pytest.mark.slow)],
)  # fmt: skip
@pytest.mark.parametrize("zeros", ["shown", "hidden"])
def test_a_reader_finds_out_what_all_tables_of_that_size_tell(shape, most, step, zeros):
    tables = all_tables(shape, most)
    knowledge = ht.ReaderKnowledge(zeros=zeros)
    n_exposed = n_protected = 0
    chosen = without_symmetries(tables, shape)[:: step * (2 if zeros == "hidden" else 1)]
    for table in chosen:
        is_hidden = (table < 3) if zeros == "hidden" else (table > 0) & (table < 3)
        is_hidden[-1] = False  # the total bounds all tables that there are to look at
        if not is_hidden.any():
            continue
        values = values_by_cell(tables, table, is_hidden, 1 if zeros == "shown" else 0)
        everything = (table > 0) | (zeros == "hidden")
        everything[-1] = False
        beyond = values_by_cell(tables, table, everything, 1 if zeros == "shown" else 0)
        system = build_system([table_of(table, is_hidden, shape)], knowledge)
        for judged in audit(system, ask_of_hidden(system)).cells:
            possible = values[judged.cell]
            if judged.outcome == "protected":
                assert judged.low < judged.high
                assert {judged.low, judged.high} <= set(possible)
                n_protected += 1
            else:
                assert [judged.low, judged.high] == [possible[0]] * 2
                assert len(possible) == 1
                is_beyond = len(beyond[judged.cell]) == 1
                assert judged.outcome == ("cannot be protected by hiding" if is_beyond else "exposed")
                n_exposed += 1
    assert n_exposed
    assert n_protected or shape != (3, 3)


def test_four_ones_that_others_pass_are_exposed_because_zeros_are_shown():
    found = ht.check_tables(FOUR_ONES)
    assert not found.passed
    assert found.outcomes == {"exposed": 4}
    assert {(cell.low, cell.high) for cell in found.exposed} == {(1.0, 1.0)}
    assert ht.check_tables(FOUR_ONES, reader=ZEROS_HIDDEN).passed
    told = found.to_dict()["cells"][0]
    assert told["because"] == "the sum over g at h=x, where g=b, h=x is at least 1"


def test_intervals_of_the_handbook():
    table = pl.DataFrame({"row": ["1", "2", "Total"], "a": ["x", "x", "6"], "b": ["x", "x", "4"], "Total": [7, 3, 10]})
    found = ht.check_tables(table.cast(pl.String), reader=ZEROS_HIDDEN)
    assert [(cell.low, cell.high) for cell in found.audit.cells] == [(3, 6), (1, 4), (0, 3), (0, 3)]
    assert found.passed


def test_margins_give_away_a_cell_alone_in_its_row():
    rows = [("5th", "w", "300"), ("5th", "b", "20"), ("5th", "o", "x"), ("6th", "w", "200"), ("6th", "b", "30"),
            ("6th", "o", "15"), ("5th", "All", "322"), ("6th", "All", "245")]  # fmt: skip
    found = ht.check_tables(long_frame(rows))
    assert found.to_dict()["cells"] == [
        {"cell": {"g": "5th", "h": "o"}, "outcome": "exposed", "low": 2.0, "high": 2.0, "proven": True,
         "because": "the sum over h at g=5th"}
    ]  # fmt: skip


def test_two_tables_that_are_safe_alone_are_one_problem():
    first = [("a", "x", "*"), ("a", "y", "*"), ("b", "x", "*"), ("b", "y", "*"), ("a", "Total", "30"),
             ("b", "Total", "40"), ("Total", "x", "25"), ("Total", "y", "45"), ("Total", "Total", "70")]  # fmt: skip
    second = [("p", "a", "*"), ("p", "b", "*"), ("q", "a", "*"), ("q", "b", "*"), ("Total", "a", "30"),
              ("Total", "b", "40"), ("p", "Total", "9"), ("q", "Total", "61"), ("Total", "Total", "70")]  # fmt: skip
    one, other = long_frame(first), pl.DataFrame(second, schema=["i", "g", "n"], orient="row")
    assert ht.check_tables([one, other]).passed
    told = pl.DataFrame([("a", "x", "3"), ("b", "x", "22")], schema=["g", "h", "n"], orient="row")
    assert ht.check_tables([one, told]).outcomes == {"exposed": 2}
    with pytest.raises(ht.InputError, match="shows another value of the total"):
        ht.check_tables([one, other.with_columns(n=pl.col("n").replace("70", "71").replace("61", "62"))])


def test_a_table_of_all_and_one_of_all_but_one_person_tell_of_him():
    # acro accepts both (facts, T4): the difference is a cell that nobody shows.
    whole = [("a", "x", 30), ("a", "y", 21), ("b", "x", 40), ("b", "y", 25)]
    rows = []
    for kept, left_out in (("Total", 0), ("yes", 1)):
        counts = {(g, h): n - (left_out if (g, h) == ("a", "y") else 0) for g, h, n in whole}
        for g, h in product(["a", "b", "Total"], ["x", "y", "Total"]):
            inside = [n for (a, b), n in counts.items() if g in (a, "Total") and h in (b, "Total")]
            rows.append((g, h, kept, str(sum(inside))))
    rows += [(g, h, "no", "*") for g, h in product(["a", "b", "Total"], ["x", "y", "Total"])]
    table = pl.DataFrame(rows, schema=["g", "h", "kept", "n"], orient="row")
    found = ht.check_tables(table, reader=ZEROS_HIDDEN)
    told = {found.system.describe(cell.cell): cell.low for cell in found.exposed}
    assert told["g=a, h=y, kept=no"] == 1
    assert len(told) == 9
    assert not ht.check_tables(table, threshold=10, reader=ZEROS_HIDDEN).passed


def test_marks_are_bounds():
    rows = [
        ("a", "x", "<5"),
        ("a", "y", "1-9"),
        ("a", "Total", "13"),
        ("b", "x", "20"),
        ("b", "y", "30"),
        ("b", "Total", "50"),
    ]
    found = ht.check_tables(long_frame(rows))
    assert found.outcomes == {"exposed": 2}  # 4 and 9: no others make 13
    assert [cell.low for cell in found.audit.cells] == [4, 9]
    assert all("what the mark of" in cell["because"] for cell in found.to_dict()["cells"])


def test_totals_that_do_not_add_up_are_told():
    wrong = FOUR_ONES.with_columns(
        n=pl.when((pl.col("g") == "c") & (pl.col("h") == "Total")).then(pl.lit("91")).otherwise("n")
    )
    with pytest.raises(ht.InputError, match=r"2 totals are not the sum.*sum over h at g=c: 1 too much"):
        ht.check_tables(wrong)


def test_no_table_agrees():
    rows = [
        ("a", "x", "x"),
        ("a", "y", "x"),
        ("a", "Total", "1"),
        ("b", "x", "5"),
        ("b", "y", "5"),
        ("b", "Total", "10"),
    ]
    with pytest.raises(ht.InputError, match="no table agrees") as caught:
        ht.check_tables(long_frame(rows))
    assert "--zeros hidden" in caught.value.hint
    assert ht.check_tables(long_frame(rows), reader=ZEROS_HIDDEN).passed


def test_an_absent_row_is_a_zero_or_hidden():
    rows = [("a", "x", "x"), ("a", "y", "5"), ("a", "Total", "9"), ("b", "y", "6"), ("b", "Total", "9"),
            ("Total", "x", "7"), ("Total", "y", "11"), ("Total", "Total", "18")]  # fmt: skip
    with pytest.raises(ht.InputError, match="not the sum") as caught:
        ht.check_tables(long_frame(rows))
    assert "--absent hidden" in caught.value.hint
    assert ht.check_tables(long_frame(rows), reader=ht.ReaderKnowledge(absent="hidden")).outcomes == {"exposed": 2}


def test_a_hidden_cell_must_be_able_to_be_large():
    rows = [
        ("a", "x", "x"),
        ("a", "y", "x"),
        ("a", "Total", "6"),
        ("b", "x", "50"),
        ("b", "y", "60"),
        ("b", "Total", "110"),
    ]
    assert ht.check_tables(long_frame(rows)).passed
    found = ht.check_tables(long_frame(rows), threshold=10)
    assert (found.outcomes, found.n_shown_small) == ({"too narrow": 2}, 1)
    assert ht.check_tables(long_frame(rows), threshold=5).outcomes == {"protected": 2}


def test_sums_have_no_least_value_of_one():
    found = ht.check_tables(FOUR_ONES, reader=ht.ReaderKnowledge("sums"))
    assert found.passed
    assert ht.check_tables(FOUR_ONES, reader=ht.ReaderKnowledge("sums", negative=True)).passed
    rows = [("a", "x", "x"), ("a", "y", "1.25"), ("a", "Total", "3.5")]
    assert ht.check_tables(long_frame(rows)).exposed[0].low == 225


def test_a_pivot_of_pandas():
    people = pd.DataFrame({"g": list("aabbbcc"), "h": list("xyxyyxy")})
    pivot = pd.crosstab(people["g"], people["h"], margins=True)
    assert ht.check_tables(pivot).facts == ("The tables hide no cell.",)
    found = ht.check_tables(pivot.where(pivot > 1), threshold=3)
    assert found.audit.cells
    assert not found.passed
    marked = pivot.astype(object).where(pivot > 2, "x")
    verdict = ht.check_certificate(marked, ht.check_tables(marked).certificate)
    assert verdict.figures["n_hidden"] == len(ht.check_tables(marked).audit.cells)


def test_thousands_shares_and_decimal_commas(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("Gruppe;Anzahl\na;1.200\nb;*\nc;300\nGesamt;1.507\n", encoding="utf-8")
    assert [cell.low for cell in ht.check_tables(path).exposed] == [7]
    path.write_text('g,n\na,"1,200 (79.6%)"\nb,suppressed\nc,300 (19.9%)\nTotal,"1,507 (100%)"\n', encoding="utf-8")
    assert [cell.low for cell in ht.check_tables(path).exposed] == [7]


def test_a_checker_reads_decimal_commas_too(tmp_path):
    path = tmp_path / "table.csv"
    for cells in (["1.200,5", "*", "1.300,5", "*", "*", "400", "*", "*", "1.700,5"],
                  ["1.200 (70,6 %)", "*", "1.300", "*", "*", "400", "*", "*", "1.700"]):  # fmt: skip
        labels = product(["a", "b", "Gesamt"], ["m", "w", "Gesamt"])
        rows = [f"{g};{h};{cell}" for (g, h), cell in zip(labels, cells, strict=True)]
        path.write_text("\n".join(["g;h;n", *rows]), encoding="utf-8")
        found = ht.check_tables(path)
        assert found.outcomes == {"exposed": 1, "protected": 4}
        verdict = ht.check_certificate(path, found.certificate)
        assert [str(failure) for failure in verdict.failures] == [
            "the witnesses differ as far as asked in every cell that is asked about: of 1 hidden cells nothing is asked"
        ]


def test_a_cell_that_is_no_number_is_not_quoted():
    with pytest.raises(ht.InputError, match="the cell of row 2 is neither") as caught:
        ht.check_tables(pl.DataFrame({"g": ["a", "b"], "n": ["1", "Miller"]}), by=["g"], value="n")
    assert "Miller" not in str(caught.value)


def test_hierarchies_are_sums_too():
    rows = [("S1", "*"), ("S2", "8"), ("N1", "30"), ("N2", "40"), ("South", "11"), ("North", "70"), ("Total", "81")]
    table = pl.DataFrame(rows, schema=["region", "n"], orient="row")
    tree = {"region": {"South": ["S1", "S2"], "North": ["N1", "N2"]}}
    assert [cell.low for cell in ht.check_tables(table, hierarchies=tree).exposed] == [3]
    levels = pl.DataFrame({"part": ["S1", "S2", "N1", "N2"], "half": ["South", "South", "North", "North"]})
    assert ht.check_tables(table, hierarchies={"region": levels}).outcomes == {"exposed": 1}


def test_a_hierarchy_of_tau_argus(tmp_path):
    path = tmp_path / "region.hrc"
    path.write_text("North\n@N1\n@N2\n@@N2a\n@@N2b\nSouth\n@S1\n")
    rows = [("N1", "30"), ("N2", "40"), ("N2a", "*"), ("N2b", "35"), ("North", "70"), ("South", "11"), ("S1", "11"),
            ("Total", "81")]  # fmt: skip
    table = pl.DataFrame(rows, schema=["region", "n"], orient="row")
    assert [cell.low for cell in ht.check_tables(table, hierarchies={"region": path}).exposed] == [5]
    path.write_text("North\n@@N1\n")
    with pytest.raises(ht.InputError, match="skips a level"):
        ht.check_tables(table, hierarchies={"region": path})


@pytest.mark.parametrize(
    "tree",
    [
        {"South": ["S1", "S2"], "North": ["N1", "N2"]},
        {"Land": ["South", "North"], "South": ["S1", "S2"], "North": ["N1", "N2"]},
        {"Total": ["S1", "S2", "N1", "N2"]},
        {"Total": ["South", "N1", "N2"], "South": ["S1", "S2"]},
    ],
)
def test_a_parent_without_a_row_hides_no_sum(tree):
    table = pl.DataFrame({"region": ["S1", "S2", "N1", "N2", "Total"], "n": ["x", "8", "30", "40", "81"]})
    found = ht.check_tables(table, hierarchies={"region": tree})
    assert [cell.low for cell in found.exposed] == [3]
    forged = found.certificate.to_dict()
    del forged["sha256"]
    forged |= {"asked": [{"cell": 0, "spread": 1, "reach_down": None, "reach_up": None}]}
    forged |= {"changes": [{"denominator": 1, "cells": [0], "values": [9]}]}
    assert not ht.check_certificate(table, ht.Certificate.from_entries(forged)).passed


def test_a_label_below_itself_is_refused():
    with pytest.raises(ht.InputError, match="puts a label below itself"):
        ht.check_tables(FOUR_ONES, hierarchies={"g": {"a": ["b"], "b": ["a"]}})


def test_without_a_sum_every_hidden_cell_may_be_anything():
    table = pl.DataFrame({"g": ["a", "b"], "n": ["x", "8"]})
    assert ht.check_tables(table).outcomes == {"protected": 1}


def draw_tables(draw):
    """Draw one or two tables with hidden cells, as code, and the true values."""
    shape = [(4, 5), (3, 3, 3), (2, 3, 4), (2, 2, 2, 3)][draw.integers(4)]
    inner = draw.poisson(draw.choice([0.5, 2.0, 6.0]), shape)
    table = inner
    for axis in range(len(shape)):
        table = np.concatenate([table, table.sum(axis=axis, keepdims=True)], axis=axis)
    cells = table.ravel()
    is_hidden = ((cells > 0) & (cells < 4)) | ((draw.random(len(cells)) < 0.15) & (cells > 0))
    return cells, is_hidden, shape


@pytest.mark.parametrize("n_tables", [60, pytest.param(3000, marks=pytest.mark.slow)])
def test_of_drawn_tables_no_protected_cell_is_without_witnesses(n_tables):
    draw = np.random.default_rng(64)
    n_protected = 0
    for _ in range(n_tables):
        cells, is_hidden, shape = draw_tables(draw)
        rows = [(*labels, "x" if hides else str(value)) for labels, value, hides in
                zip(labels_of(shape), cells.tolist(), is_hidden.tolist(), strict=True)]  # fmt: skip
        frame = pl.DataFrame(rows, schema=[*"ghij"[: len(shape)], "n"], orient="row")
        if not is_hidden.any():
            continue
        found = ht.check_tables(frame)
        protected = found.outcomes.get("protected", 0)
        n_protected += protected
        for judged in found.audit.cells:
            true = cells[_place_of(found.system.keys[judged.cell], shape)]
            if judged.outcome != "protected":
                assert judged.low <= true <= judged.high
        verdict = ht.check_certificate(frame, found.certificate)
        assert verdict.figures["n_asked"] == protected
        assert verdict.passed == (protected == len(found.audit.cells)), verdict.failures
    assert n_protected > n_tables


def _place_of(key, shape):
    labels = dict(key)
    codes = [int(labels[name][1:]) if name in labels else size for name, size in zip("ghij", shape, strict=False)]
    return int(np.ravel_multi_index(codes, [size + 1 for size in shape]))


def test_a_forged_witness_is_refused():
    found = ht.check_tables(FOUR_ONES, reader=ZEROS_HIDDEN)
    entries = found.certificate.to_dict()
    verdict = ht.check_certificate(FOUR_ONES, entries)
    assert verdict.passed
    assert verdict.held[0] == (
        "every witness agrees with what the tables show, if totals are g=Total, h=Total, hidden values are whole "
        "numbers of at least 0, and a cell without a row is 0"
    )
    for change in ("value", "later value", "cell", "cells twice", "least", "spread"):
        forged = json.loads(json.dumps(entries))
        del forged["sha256"]
        if change == "value":
            forged["base"]["values"][0] += 1
        elif change == "later value":
            forged["changes"][0]["values"][0] += 1
        elif change == "cells twice":
            # The second of each is like the first witness, and adds up.
            values = forged["base"]["values"]
            forged["changes"] = [
                {"denominator": 1, "cells": [*range(len(values))], "values": [each + move for each in values]}
                for move in (1, -1)
            ]
            forged["cells"] *= 2
            forged["base"]["values"] = values * 2
        elif change == "cell":
            forged["cells"][0] = [["g", "c"], ["h", "x"]]
        elif change == "least":
            forged["reader"]["zeros"] = "shown"
        else:
            forged["changes"] = []
        verdict = ht.check_certificate(FOUR_ONES, ht.Certificate.from_entries(forged))
        assert not verdict.passed, change
    other = FOUR_ONES.with_columns(n=pl.when(pl.col("n") == "x").then(pl.lit("1")).otherwise("n"))
    assert not ht.check_certificate(other, entries).passed


def test_the_checker_needs_no_solver(tmp_path):
    FOUR_ONES.write_csv(tmp_path / "t.csv")
    ht.check_tables(FOUR_ONES, reader=ZEROS_HIDDEN).certificate.write(tmp_path / "c.json")
    script = """
import sys, hushtable as ht
print(ht.check_certificate("t.csv", ht.Certificate.read("c.json")).passed)
print(sorted(name for name in sys.modules if name.startswith(("scipy", "hushtable.tabulation", "hushtable.tables"))))
"""
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert shown.stdout.splitlines() == ["True", "[]"]
