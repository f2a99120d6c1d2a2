"""Tables that are published after others of the same people."""

import polars as pl
import pytest

import hushtable as ht

RULES = ht.CellRules(10, level="exact")


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    people = ht.datasets.people(n=1500, seed=1)
    path = tmp_path_factory.mktemp("first") / "first.csv"
    made = ht.tabulate(people, by=["education", "sex"], rules=RULES)
    made.write(path)
    return people, path, made


def published(made):
    return {tuple(sorted(pair for pair in row.items() if pair[1] != "Total" and pair[0] != made.value)): row[made.value]
            for row in made.frame.rows(named=True)}  # fmt: skip


def test_both_tables_are_one_file_that_hides_and_shows_what_the_first_did(first, tmp_path):
    people, path, before = first
    made = ht.tabulate(people, by=["education", "marital_status"], rules=RULES, earlier=path)
    old, new = published(before), published(made)
    assert {key: new[key] for key in old} == old
    assert made.by == (("education", "marital_status"), ("education", "sex"))
    assert made.kept.n_changed == 0
    assert made.write(tmp_path / "second.csv").passed
    assert any("stay hidden" in fact for fact in made.facts)
    again = ht.tabulate(people, by=["education", "sex"], rules=RULES, earlier=path)
    assert published(again) == old


def test_what_was_published_protects_nothing_any_more(first):
    people, path, before = first
    apart = ht.tabulate(people, by=["education", "marital_status"], rules=RULES)
    together = ht.tabulate(people, by=["education", "marital_status"], rules=RULES, earlier=path)
    shown = {key for key, text in published(before).items() if text != "x"}
    assert not shown & {key for key, text in published(together).items() if text == "x"}
    assert together.n_secondary >= apart.n_secondary


def test_revised_cells_are_told(first):
    people, path, before = first
    revised = pl.concat([people, people.head(30)])
    made = ht.tabulate(revised, by=["education", "sex"], rules=RULES, earlier=path)
    assert made.kept.n_changed > 0
    assert any("other values now" in fact for fact in made.facts)
    assert {key for key, text in published(before).items() if text == "x"} <= {
        key for key, text in published(made).items() if text == "x"}  # fmt: skip


def test_what_was_published_cannot_be_hidden_again(first, tmp_path):
    people, path, _ = first
    with pytest.raises(ht.InfeasibleError, match=r"that first.csv published"):
        ht.tabulate(people, by=["education", "sex"], rules=ht.CellRules(60), earlier=path)
    (tmp_path / "plain.csv").write_text("g,n\na,3\n")
    with pytest.raises(ht.InputError, match="manifest"):
        ht.tabulate(people, by=["education", "sex"], earlier=tmp_path / "plain.csv")


def test_zeros_that_were_hidden_stay_hidden(tmp_path):
    counts = {("a", "x"): 30, ("a", "y"): 40, ("a", "z"): 50, ("b", "x"): 30, ("b", "y"): 40, ("b", "z"): 0}
    rows = [(g, h, "m" if place % 2 else "f") for (g, h), n in counts.items() for place in range(n)]
    people = pl.DataFrame(rows, schema=["g", "h", "s"], orient="row")
    path = tmp_path / "first.csv"
    ht.tabulate(people, by=["g", "h"], reader=ht.ReaderKnowledge(zeros="hidden")).write(path)
    made = ht.tabulate(people, by=["g", "s"], earlier=path)
    old = {tuple(row[:-1]): row[-1] for row in pl.read_csv(path, infer_schema=False).rows()}
    new = {row[:-1]: row[-1] for row in made.frame.select("g", "h", "n", "s").filter(s="Total").drop("s").rows()}
    assert old["b", "z"] == "x"
    assert new == old
    assert made.kept.n_changed == 0
    with pytest.raises(ht.InputError, match=r"zeros are shown, and first.csv has them hidden"):
        ht.tabulate(people, by=["g", "s"], earlier=path, reader=ht.ReaderKnowledge())


def test_cells_that_were_hidden_above_zero_do_not_become_zeros(first):
    people, path, _ = first
    with pytest.raises(ht.InputError, match=r"zeros are hidden, and first.csv has them shown"):
        ht.tabulate(people, by=["education", "sex"], earlier=path, reader=ht.ReaderKnowledge(zeros="hidden"))


def test_where_nothing_is_left_to_hide_nothing_is_hidden(tmp_path):
    people = pl.DataFrame({"g": ["a"] * 30 + ["b"] * 40})
    ht.tabulate(people, by=["g"]).write(tmp_path / "first.csv")
    made = ht.tabulate(people, by=["g"], earlier=tmp_path / "first.csv")
    assert made.pattern.is_optimal
    assert not made.pattern.is_hidden.any()
    assert made.write(tmp_path / "again.csv").passed
