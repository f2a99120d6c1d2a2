"""Records that are near one another: counts, assessments and minimal uniques against brute force."""

from __future__ import annotations

import datetime as dt
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import hushtable as ht
from strategies import draws

DAY = dt.date(2024, 1, 1)
rows = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(0, 12)),
        st.sampled_from(["f", "m", None]),
        st.one_of(st.none(), st.integers(0, 40)),
    ),
    min_size=1,
    max_size=16,
)


def table_of(cells):
    return pl.DataFrame(
        {"age": [row[0] for row in cells], "sex": [row[1] for row in cells],
         "day": [None if row[2] is None else DAY + dt.timedelta(row[2]) for row in cells]},
        schema={"age": pl.Int64, "sex": pl.String, "day": pl.Date},
    )  # fmt: skip


def near(one, other, reach, columns):
    return all(
        one[j] == other[j]
        if one[j] is None or other[j] is None or isinstance(one[j], str)
        else abs(one[j] - other[j]) <= reach[j]
        for j in columns
    )


@settings(max_examples=draws(60), deadline=None)
@given(rows, st.integers(0, 4), st.integers(0, 20))
def test_equal_brute_force(cells, years, days):
    reach, tolerance = (years, 0, days), {"age": years, "day": dt.timedelta(days)}
    data = table_of(cells)
    risk = ht.assess(data, quasi_identifiers=["age", "sex", "day"], known_within=tolerance)
    sizes = [sum(near(one, other, reach, range(3)) for other in cells) for one in cells]
    assert risk.records.expand_to_records(risk.records.sizes).tolist() == sizes
    assert risk.n_unique == sizes.count(1)
    assert risk.average_risk == pytest.approx(np.mean([1 / size for size in sizes]))
    found = ht.minimal_uniques(data, tolerance=tolerance)
    alone = {
        (i, path)
        for i, one in enumerate(cells)
        for size in (1, 2, 3)
        for path in combinations(range(3), size)
        if sum(near(one, other, reach, path) for other in cells) == 1
    }
    minimal = {
        (i, path)
        for i, path in alone
        if not any((i, rest) in alone for size in range(1, len(path)) for rest in combinations(path, size))
    }
    names = ["age", "sex", "day"]
    told = {(i, tuple(columns)) for i, _, columns in found.sets.rows()}
    assert told == {(i, tuple(names[j] for j in path)) for i, path in minimal}
    assert (found.dis_suda > 0).sum() == len({i for i, _ in minimal})


def test_no_tolerance_is_what_equality_finds():
    people = ht.datasets.people(n=150, seed=1)
    columns = ["birth_date", "sex", "postcode", "income"]
    exact = ht.minimal_uniques(people, columns=columns)
    zero = ht.minimal_uniques(people, columns=columns, tolerance={"birth_date": 0, "income": 0})
    assert zero.sets.rows() == exact.sets.rows()
    assert zero.suda.tolist() == exact.suda.tolist()
    assert zero.dis == exact.dis
    equal = ht.assess(people, quasi_identifiers=columns[:3])
    rough = ht.assess(people, quasi_identifiers=columns[:3], known_within={"birth_date": "0D"})
    assert rough.class_sizes == equal.class_sizes
    assert any("within" in note for note in rough.notes)


def test_decimals_are_as_near_as_they_are_written():
    data = pl.DataFrame({"x": [1.0, 1.3, 1.6000001, 5.0]})
    assert ht.assess(data, quasi_identifiers=["x"], known_within={"x": 0.3}).n_unique == 2
    assert ht.assess(data, quasi_identifiers=["x"], known_within={"x": "0.31"}).n_unique == 1


def test_a_budget_ends_a_search_by_size():
    people = ht.datasets.people(n=60, seed=1)
    columns = ["birth_date", "sex", "postcode"]
    found = ht.minimal_uniques(people, columns=columns, tolerance={"birth_date": "30D"}, budget=ht.Budget(nodes=4))
    assert not found.trace.complete
    assert found.summary()["complete_to_size"] == 1
    assert found.coverage[2].not_reached == 2


def test_what_goes_by_equal_values_is_refused():
    people = ht.datasets.people(n=30, seed=1)
    with pytest.raises(ht.InputError, match="population_size"):
        ht.assess(people, quasi_identifiers=["income"], known_within={"income": 5}, population_size=100)
    with pytest.raises(ht.InputError, match="missing='worst'"):
        ht.assess(people, quasi_identifiers=["income"], known_within={"income": 5}, missing="worst")
    with pytest.raises(ht.ColumnError, match="known_within"):
        ht.assess(people, quasi_identifiers=["sex"], known_within={"income": 5})
