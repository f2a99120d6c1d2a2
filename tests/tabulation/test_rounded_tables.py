"""Controlled rounding: tables of multiples that add up, judged from the file alone."""

from itertools import product

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from command import run


def records_of(counts):
    rows = [(g, h) for (g, h), n in counts.items() for _ in range(n)]
    return pl.DataFrame(rows, schema=["g", "h"], orient="row")


def counts_in(frame):
    return {tuple(row[:-1]): int(row[-1]) for row in frame.rows()}


@pytest.mark.parametrize("seed", range(5))
def test_counts_are_neighbouring_multiples_and_add_up(seed):
    draw = np.random.default_rng(seed)
    counts = {(f"g{i}", f"h{j}"): int(draw.integers(0, 13)) for i, j in product(range(3), range(4))}
    made = ht.round_tables(records_of(counts), by=["g", "h"], base=5, seed=seed)
    shown = counts_in(made.frame)
    labels = {n for n, _ in shown} - {"Total"}, {n for _, n in shown} - {"Total"}
    for (g, h), n in shown.items():
        true = sum(m for (a, b), m in counts.items() if g in (a, "Total") and h in (b, "Total"))
        assert n % 5 == 0
        assert abs(n - true) < 5
    for g in (*labels[0], "Total"):
        assert shown[g, "Total"] == sum(shown[g, h] for h in labels[1])
    for h in labels[1]:
        assert shown["Total", h] == sum(shown[g, h] for g in labels[0])
    assert made.verify().passed


def test_a_rounded_file_is_judged_from_itself(tmp_path):
    people = ht.datasets.people(n=800, seed=1)
    made = ht.round_tables(people, by=[["education", "sex"], ["marital_status", "sex"]], base=3, seed=2)
    assert made.write(tmp_path / "t.csv").passed
    frame = made.frame
    for row, text in ((0, "4"), (0, str(int(frame["n"][0]) + 3)), (3, "x")):
        cells = frame["n"].to_list()
        cells[row] = text
        assert not made.claim.verify(frame.with_columns(n=pl.Series(cells))).passed


def test_the_draw_is_that_of_the_seed_and_unbiased():
    counts = {("a", "x"): 7, ("a", "y"): 12, ("b", "x"): 3, ("b", "y"): 21}
    frames = [ht.round_tables(records_of(counts), by=["g", "h"], base=5, seed=seed).frame for seed in range(60)]
    assert ht.round_tables(records_of(counts), by=["g", "h"], base=5, seed=3).frame.equals(frames[3])
    cells = np.array([counts_in(frame)["a", "x"] for frame in frames])
    assert set(cells) == {5, 10}
    assert 5.8 < cells.mean() < 8.2


def test_what_rounds_nothing_is_refused():
    counts = {("a", "x"): 7, ("b", "y"): 12}
    with pytest.raises(ht.InputError, match="base"):
        ht.round_tables(records_of(counts), by=["g", "h"], base=1)
    with pytest.raises(ht.InputError, match="hierarchies"):
        ht.round_tables(records_of(counts), by=["g", "h"], hierarchies={"k": {"a": ["b"]}})


def test_rounded_tables_are_checked_by_what_their_readers_know(tmp_path):
    people = ht.datasets.people(n=600, seed=1)
    paths = [tmp_path / f"{seed}.csv" for seed in range(6)]
    for seed, path in enumerate(paths):
        ht.round_tables(people, by=["education", "sex"], base=2, seed=seed).write(path)
    alone, together = ht.check_tables(paths[0]), ht.check_tables(paths)
    assert alone.passed
    assert len(alone.audit.cells) == alone.audit.cells[-1].cell + 1 == len(pl.read_csv(paths[0]))
    assert len(together.exposed) > 0
    ht.tabulate(people, by=["education", "sex"]).write(tmp_path / "hidden.csv")
    with pytest.raises(ht.InputError, match="some tables are rounded"):
        ht.check_tables([paths[0], tmp_path / "hidden.csv"])
    # With options its counts would be judged as true ones.
    with pytest.raises(ht.InputError, match="was given with options that say what is what"):
        ht.check_tables(paths[0], by=["education", "sex"], value="n")
    for options in (("--by", "education,sex", "--value", "n"), ("--encoding", "utf-8")):
        refused = run("check", paths[0], *options)
        assert refused.code == 2
        assert "leave them out" in refused.err


def test_a_file_with_a_further_column_or_row_is_none(tmp_path):
    made = ht.round_tables(ht.datasets.people(n=300, seed=1), by=["education", "sex"], base=5, seed=1)
    frame = made.frame
    assert "columns are not those" in str(made.claim.verify(frame.with_columns(true=pl.lit("3"))).failures[0])
    row = frame.head(1).with_columns(education=pl.lit("more"))
    assert not made.claim.verify(pl.concat([frame, row])).passed


def test_persons_in_several_cells_are_not_rounded():
    visits = pl.DataFrame({"id": [1, 1, 2, 3], "g": ["a", "b", "a", "b"]})
    with pytest.raises(ht.InputError, match="persons of 'id' are in several cells"):
        ht.round_tables(visits, by=["g"], person="id")
    once = ht.round_tables(visits.with_columns(g=pl.lit("a")), by=["g"], person="id", base=2, seed=1)
    assert once.system.values.tolist() == [3, 3]


def test_rounded_tables_have_a_report(tmp_path):
    made = ht.round_tables(ht.datasets.people(n=300, seed=1), by=["education", "sex"], base=5, seed=1)
    ht.report(made).write(tmp_path / "r.html")
    assert "How counts were rounded" in (tmp_path / "r.html").read_text(encoding="utf-8")
