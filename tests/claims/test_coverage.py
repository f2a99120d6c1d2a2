"""Whom published cells cover: against a slow twin that reads every cell for every person."""

import json
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from hushtable.claims import coverage
from hushtable.claims.coverage import count_coverage, coverage_matrix
from hushtable.columns.column import ColumnSpec
from hushtable.hierarchy import Hierarchy

AGES = [None, "5", "17", "20", "24", "25", "90"]
COVERED = {
    "17": {"17"},
    "[17, 24]": {"17", "20", "24"},
    "[17, 24)": {"17", "20"},
    "<20": {"5", "17"},
    ">=25": {"25", "90"},
    "*": set(AGES),
    '["5", "90"]': {"5", "90"},
    '[null, "[20, 25)"]': {None, "20", "24"},
    None: {None},
    "18": set(),
}


@pytest.mark.parametrize("cell", COVERED)
def test_every_form_of_a_cell(cell):
    rows = np.arange(len(AGES))[None]
    counts = np.arange(1, len(AGES) + 1)
    covered, left = count_coverage([[cell]], np.array([[0]]), [AGES], rows, counts, [ColumnSpec("integer")], [None])
    wanted = sum(count for age, count in zip(AGES, counts.tolist(), strict=True) if age in COVERED[cell])
    assert covered.tolist() == [wanted]
    assert left == counts.sum() - wanted


@pytest.mark.parametrize(
    ("cell", "covered"), [("[2020-01-01, 2021-01-01)", 1), (">=2021-01-01", 1), ("<2020-01-01", 0)]
)
def test_dates(cell, covered):
    days = [["2020-06-01", "2021-01-01"]]
    found, _ = count_coverage(
        [[cell]], np.array([[0]]), days, np.array([[0, 1]]), np.ones(2, int), [ColumnSpec()], [None]
    )
    assert found.tolist() == [covered]


def test_labels_of_a_hierarchy():
    jobs = Hierarchy.from_dict({"tree": {"blue": ["welder", "plumber"], "white": ["clerk"]}}, "job")
    people = [["clerk", "plumber", "welder"]]
    found, left = count_coverage(
        [["blue", "clerk"]], np.array([[0, 1]]), people, np.arange(3)[None], np.array([1, 2, 4]), [ColumnSpec()], [jobs]
    )
    assert (found.tolist(), left) == ([6, 1], 0)


def test_only_combinations_that_occur_cover():
    published = [["a", "b"], ["x", "y"]]
    classes = np.array([[0, 1], [0, 1]])
    rows = np.array([[0, 0, 1], [0, 1, 1]])
    found, left = count_coverage(
        published, classes, published, rows, np.array([5, 7, 9]), [ColumnSpec()] * 2, [None] * 2
    )
    assert (found.tolist(), left) == ([5, 9], 7)


@pytest.fixture(scope="module")
def everyone():
    rng = np.random.default_rng(3)
    return pl.DataFrame({"age": rng.integers(18, 90, 600), "zip": rng.choice(list("abcdefgh"), 600)})


@pytest.mark.parametrize("recoding", ["tight", "cut"])
@pytest.mark.parametrize("model", [ht.KMap(8), ht.DeltaPresence(0.1, 0.75)])
def test_a_release_verifies_against_its_population(everyone, model, recoding, tmp_path):
    data = everyone.filter(pl.col("age") % 2 == 0)
    release = ht.anonymize(
        data,
        quasi_identifiers=["age", "zip"],
        models=[model],
        population=everyone,
        method=ht.Mondrian(recoding=recoding),
    )
    assert release.partition.n_classes > 5
    assert release.verify().passed
    assert release.write(tmp_path / "out.csv").passed


def test_people_whom_no_class_covers_are_a_class_without_records():
    published = pl.DataFrame({"age": ["[20, 29]"] * 2})
    population = pl.DataFrame({"age": [20, 25, 29, 60]})
    presence = ht.verify(
        published, quasi_identifiers=["age"], models=[ht.DeltaPresence(0.1, 0.9)], population=population
    )
    assert [failure.n_records for failure in presence.failures] == [0]
    assert ht.verify(published, quasi_identifiers=["age"], models=[ht.KMap(3)], population=population).passed


def test_a_population_is_asked_for():
    with pytest.raises(ht.InputError, match="population"):
        ht.verify(pl.DataFrame({"age": ["1"]}), quasi_identifiers=["age"], models=[ht.KMap(1)])


def test_the_reference_is_the_original_where_it_is_given():
    original = pl.DataFrame({"ill": ["flu"] * 5 + ["hiv"] * 5})
    published = pl.DataFrame({"age": ["*"] * 5, "ill": ["flu"] * 4 + ["hiv"]})
    models = [ht.TCloseness(0.2, "ill")]
    assert ht.verify(published, quasi_identifiers=["age"], models=models).passed
    assert not ht.verify(published, quasi_identifiers=["age"], models=models, original=original).passed


def test_a_label_at_several_levels_covers_what_any_of_its_nodes_holds():
    """The text 01* is a value, and the first two characters of all three."""
    codes = Hierarchy.prefix([3, 2])
    people = [["01*", "010", "0123"]]
    found, left = count_coverage(
        [["01*"]], np.array([[0]]), people, np.arange(3)[None], np.ones(3, int), [ColumnSpec("category")], [codes]
    )
    assert (found.tolist(), left) == ([3], 0)


def test_a_label_that_covers_no_one_is_still_a_label():
    ages = Hierarchy.from_dict({"tree": {"<50": ["10", "20"], ">=50": ["60"]}}, "age")
    found, left = count_coverage(
        [["<50"]], np.array([[0]]), [["60"]], np.array([[0]]), np.ones(1, int), [ColumnSpec("category")], [ages]
    )
    assert (found.tolist(), left) == ([0], 1)


@pytest.mark.parametrize(
    ("kind", "texts", "odd"), [("integer", "12345678", "of no age"), ("category", "abcdefgh", "[1, 2]")]
)
def test_what_many_lists_name_is_read_once(kind, texts, odd, monkeypatch):
    lists = [json.dumps([*pair, odd]) for pair in combinations(texts, 2)]
    alone = {
        cell: coverage_matrix([cell], texts, ColumnSpec(kind), None, "c")[0].tolist() for cell in (*lists, texts[0])
    }
    n_calls = []
    read = coverage.from_texts
    monkeypatch.setattr(coverage, "from_texts", lambda *given: (n_calls.append(1), read(*given))[1])
    found = coverage_matrix([*alone], texts, ColumnSpec(kind), None, "c")
    assert found.tolist() == [*alone.values()]
    assert [row.sum() for row in found] == [2] * len(lists) + [1]
    # The column itself, and nine texts: one that is no value is found by halving.
    assert len(n_calls) <= 10


def test_a_list_in_a_list_is_of_numbers_only():
    cell = json.dumps(['["1", "3"]', "2"])
    assert coverage_matrix([cell], "123", ColumnSpec("integer"), None, "c").tolist() == [[True, True, True]]
    assert coverage_matrix([cell], "123", ColumnSpec("category"), None, "c").tolist() == [[False, True, False]]


def test_no_more_persons_than_fill_a_class_are_counted():
    """Three rows of one person fill the class, whoever else it covers."""
    pairs = np.array([0, 0]), np.array([0, 1], np.int32)
    assert coverage.count_fewest_persons(*pairs, np.array([3]), np.array([3, 1])).tolist() == [1]


@pytest.mark.parametrize("texts", [["01", "011", "02"], ["01", "02"]])
def test_a_prefix_covers_the_code_that_is_the_prefix_whatever_other_codes_a_table_has(texts):
    (covered,) = coverage_matrix(["01*"], texts, ColumnSpec("category"), Hierarchy.prefix([2]), "place")
    assert [text for text, is_covered in zip(texts, covered, strict=True) if is_covered] == [
        text for text in texts if text.startswith("01")
    ]


def test_a_code_and_what_begins_with_it_share_a_class():
    places = pl.DataFrame({"place": ["01", "01", "011", "012", "02", "02", "021", "022"]})
    release = ht.anonymize(
        places, quasi_identifiers=["place"], models=[ht.KAnonymity(4)], hierarchies={"place": ht.Hierarchy.prefix([2])}
    )
    assert sorted({*release.frame["place"]}) == ["01*", "02*"]
    assert release.claim.verify(release.frame, original=places).passed
