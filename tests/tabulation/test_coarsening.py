"""Coarser categories where hiding protects too little, or hides too much."""

import polars as pl
import pytest

import hushtable as ht

RULES = ht.CellRules(5, level="exact")


def records_of(counts):
    rows = [(g, h) for (g, h), n in counts.items() for _ in range(n)]
    return pl.DataFrame(rows, schema=["g", "h"], orient="row")


LONELY = records_of({("a", "x"): 1, **{(g, h): 9 for g in "abcd" for h in "yz"}})


def merge(frame, dimension, labels):
    return frame.with_columns(pl.col(dimension).replace({label: " + ".join(labels) for label in labels}))


def test_what_hiding_cannot_protect_is_merged():
    public = ht.ReaderKnowledge(public=((), (("h", "x"),), (("h", "y"),), (("h", "z"),)))
    with pytest.raises(ht.InfeasibleError, match="hiding cannot protect") as caught:
        ht.tabulate(LONELY, by=["g", "h"], rules=RULES, reader=public)
    assert caught.value.hint == "hide zeros too (--zeros hidden), or merge x and y of h: 0 of 15 cells are hidden then."


def test_where_most_is_hidden_a_merge_is_told_with_what_it_hides():
    counts = {(g, h): n for g, row in zip("abcd", ([2, 3, 2], [3, 1, 4], [40, 50, 60], [70, 40, 30]), strict=True)
              for h, n in zip("xyz", row, strict=True)}  # fmt: skip
    people = records_of(counts)
    made = ht.tabulate(people, by=["g", "h"], rules=RULES)
    assert made.proposals or 2 * made.pattern.is_hidden.sum() <= made.n_cells
    for each in made.proposals:
        again = ht.tabulate(merge(people, each.dimension, each.merged), by=["g", "h"], rules=RULES)
        assert again.n_cells == each.n_cells
        assert again.pattern.is_hidden.sum() <= each.n_hidden <= each.n_cells / 2


def test_a_level_of_a_hierarchy_is_left_out():
    people = records_of({(f"g{i}", h): 2 + (i + len(h)) % 3 for i in range(8) for h in ("x", "yy", "zzz")})
    tree = {"g": {"low": [f"g{i}" for i in range(4)], "high": [f"g{i}" for i in range(4, 8)]}}
    made = ht.tabulate(people, by=["g", "h"], rules=RULES, hierarchies=tree)
    told = {each.dimension: each for each in made.proposals}
    assert told["g"].merged == ()
    assert told["g"].n_hidden == 0
    assert any("leave the lowest level of g out" in fact for fact in made.facts)
