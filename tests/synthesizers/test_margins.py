"""What synthetic columns show of values that few people share: the rule against its twin, and what it promises."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import hushtable as ht
from hushtable.synthesizers import margins
from hushtable.synthesizers.margins import build_original
from hushtable.synthesizers.writing import table_at
from twins.naive_margins import naive_number, naive_shares, people_of

METHODS = ["copula", "independent", pytest.param("trees", marks=pytest.mark.slow)]
COUNTED = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(-30, 30)), st.integers(1, 25)), min_size=1, max_size=9
).map(lambda pairs: [value for value, count in pairs for _ in range(count)])


def persons_of(n, per_person):
    """Everybody has so many records, one after the other; 0: nobody is told of."""
    return None if not per_person else np.arange(n, dtype=np.int32) // per_person


def original_of(values, per_person):
    table = ht.Table.encode(pl.DataFrame({"a": values}))
    persons = persons_of(len(values), per_person)
    records = list(zip(values, [None] * len(values) if persons is None else persons.tolist(), strict=True))
    return build_original(table, persons), records


@settings(max_examples=60)
@given(COUNTED, st.sampled_from([0, 1, 3]), st.sampled_from([64, 5]), st.data())
def test_numbers_are_those_of_the_twin(values, per_person, most_bins, data):
    original, records = original_of(pl.Series(values, dtype=pl.Int64), per_person)
    places = data.draw(st.lists(st.floats(0, len(values), exclude_max=True), min_size=1, max_size=8))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(margins, "_MAX_BINS", most_bins)
        found = table_at(original, "interpolated", np.array([places])).decode()["a"].to_list()
    # Whole numbers may be counted in tens.
    unit = 10 if all(value % 10 == 0 for value in values if value is not None) else 1
    for cell, place in zip(found, places, strict=True):
        expected = naive_number(records, place, most_bins=most_bins)
        assert (cell is None) == (expected is None)
        # Rounded to the column's unit; at a half it may go either way.
        assert cell is None or abs(cell - expected) <= unit / 2 + 1e-6


@settings(max_examples=40)
@given(COUNTED, st.sampled_from([0, 1, 3]))
def test_categories_are_those_of_the_twin(values, per_person):
    values = [None if value is None else f"c{value % 7}" for value in values]
    original, records = original_of(pl.Series(values, dtype=pl.String), per_person)
    places = np.arange(0, len(values), 0.05)
    found = table_at(original, "interpolated", places[None]).decode()["a"]
    shares = dict(zip(*found.value_counts(normalize=True), strict=True))
    expected = naive_shares(records)
    assert {value for value, share in expected.items() if share} == set(shares)
    for value, share in shares.items():
        assert share == pytest.approx(expected[value], abs=0.1 / len(values) * 2)


@pytest.mark.parametrize("method", METHODS)
def test_no_value_of_few_people_is_kept(method):
    """Names of 9 people never appear, names of 10 do; numbers of few lie where they did not."""
    rng = np.random.default_rng(5)
    names = ["nine"] * 9 + ["ten"] * 10 + ["many"] * 981
    pay = np.append(np.full(40, 5_000.0), np.round(np.exp(rng.normal(8, 1, 960)), 2))
    data = pl.DataFrame({"name": names, "pay": pay, "id": [f"p{i}" for i in range(1000)]})
    made = ht.synthesize(data.sample(fraction=1, shuffle=True, seed=0), method=method, n=20_000)
    assert set(made["name"]) == {"ten", "many"}
    assert made["id"].null_count() == 20_000
    share = (made["pay"] == 5_000).mean()
    assert share == pytest.approx(0.04, abs=0.008)
    met = made.filter(pl.col("pay") != 5_000)["pay"].is_in(data["pay"].implode()).mean()
    # Numbers of two decimals lie some cents apart: chance alone meets about one in a thousand.
    assert met < 0.01
    assert made["pay"].max() < data["pay"].max()
    assert made["pay"].mean() == pytest.approx(data["pay"].mean(), rel=0.05)


def test_ordered_values_of_few_become_the_nearest_that_many_share():
    cells = ["low"] * 30 + ["middle"] * 3 + ["high"] * 30 + ["top"] * 4
    data = pl.DataFrame({"a": pl.Series(cells, dtype=pl.Enum(["low", "middle", "high", "top"]))})
    made = ht.synthesize(data, n=6_700)["a"].cast(pl.String)
    assert set(made) == {"low", "high"}
    assert (made == "low").mean() == pytest.approx(31.5 / 67, abs=0.02)
    few = ht.synthesize(data[28:35], n=50)["a"]
    assert few.null_count() == 50


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", ["frame", "table"])
def test_values_of_few_persons_are_rare(method, form):
    """Twenty records of four persons are few, twenty of twenty are many."""
    persons = [f"p{i % 4}" for i in range(20)] + [f"q{i}" for i in range(20)] + [f"r{i}" for i in range(60)]
    data = pl.DataFrame(
        {"who": persons, "ill": ["rare"] * 20 + ["known"] * 20 + ["flu"] * 60, "n": [7] * 20 + [50] * 20 + [51] * 60}
    )
    source = ht.Table.encode(data) if form == "table" else data
    made = ht.synthesize(source, method=method, n=2_000, person="who")
    made = made.decode() if form == "table" else made
    assert made.columns == ["ill", "n"]
    assert set(made["ill"]) == {"known", "flu"}
    assert (made["n"] == 7).mean() < 0.02
    without = ht.synthesize(data, method=method, n=2_000)
    assert "rare" in set(without["ill"])
    assert (without["n"] == 7).mean() > 0.1


def test_persons_are_counted_in_counted_rows():
    data = pl.DataFrame({"who": ["a", "b", "a", None], "x": ["u", "u", "u", "v"]})
    table = ht.Table.encode(data)
    counted = ht.Table(table.columns, table.codes, np.array([2, 1, 1, 5]))
    original = build_original(counted.select(["x"]), counted.codes[0])
    assert original.sharing[0].people.tolist() == [2, 5]
    assert original.sharing[0].weights.tolist() == pytest.approx([2, 5])
    owners = people_of([("u", "a"), ("u", "a"), ("u", "b"), ("u", "a"), *[("v", None)] * 5])
    assert {value: len(each) for value, each in owners.items()} == {"u": 2, "v": 5}


def test_person_is_a_column():
    with pytest.raises(ht.ColumnError, match="'whom'"):
        ht.synthesize(pl.DataFrame({"who": ["a"]}), person="whom")
    with pytest.raises(ht.InputError, match="no columns beside 'who'"):
        ht.synthesize(pl.DataFrame({"who": ["a"]}), person="who")
