"""What is known of the population behind a table: counted, weighed, or left to estimators that a stub stands for."""

import math
from collections import Counter

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from hushtable.errors import ColumnError, InputError
from hushtable.risk.assess import assess
from hushtable.tables.table import Table
from population_stub import estimators  # noqa: F401 - a fixture
from twins import naive

ROWS = st.lists(st.tuples(*[st.integers(-1, 2)] * 2), min_size=1, max_size=14)
QI = ["a", "b"]


stubbed = pytest.mark.usefixtures("estimators")
examples = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)


def frame_of(rows, names=QI):
    cells = {
        name: [None if row[j] is not None and row[j] < 0 else row[j] for row in rows] for j, name in enumerate(names)
    }
    return pl.DataFrame(cells, schema=dict.fromkeys(names, pl.Int64))


@stubbed
@examples
@given(ROWS, ROWS)
def test_population_is_counted_as_the_slow_twin_counts_it(rows, others):
    everyone = [*rows, *others]
    known, found = Counter(rows), Counter(everyone)
    risk = assess(frame_of(rows), quasi_identifiers=QI, population=frame_of(everyone))
    people = [found[row] for row in rows]
    assert risk.journalist_risk.highest == 1 / min(people)
    assert risk.journalist_risk.average == risk.marketer_risk == pytest.approx(sum(1 / n for n in people) / len(rows))
    assert risk.journalist_risk.share_above[5] == sum(n < 5 for n in people) / len(rows)
    assert risk.individual_risk.tolist() == [1 / n for n in people]
    assert risk.global_risk == pytest.approx(risk.marketer_risk)
    assert (risk.population_size, risk.sampling_fraction) == (len(everyone), len(rows) / len(everyone))
    alone = [row for row in rows if known[row] == 1]
    assert risk.n_unique_in_population == sum(found[row] == 1 for row in alone)
    assert risk.population_uniqueness["counted"].value == sum(n == 1 for n in found.values()) / len(everyone)
    assert (risk.theta is None) == (not alone)
    assert not alone or risk.theta.value == len(alone) / sum(found[row] for row in alone)
    assert risk.journalist_risk.highest <= risk.prosecutor_risk.highest


@stubbed
@examples
@given(ROWS, ROWS, st.sampled_from(["wildcard", "worst"]))
def test_population_by_the_other_readings(rows, others, missing):
    everyone = [*rows, *others]
    risk = assess(frame_of(rows), quasi_identifiers=QI, population=frame_of(everyone), missing=missing)
    people = naive.match_counts(everyone, [1] * len(everyone), missing)[: len(rows)]
    assert risk.individual_risk.tolist() == [1 / n for n in people]
    assert risk.to_frame()["class_size"].to_list() == naive.match_counts(rows, [1] * len(rows), missing)


@stubbed
@examples
@given(ROWS, ROWS)
def test_records_outside_the_population_are_refused(rows, others):
    lacking = Counter(rows) - Counter(others)
    if not lacking:
        assert assess(frame_of(rows), quasi_identifiers=QI, population=frame_of(others)).basis == "population"
        return
    n_records = sum(n for row, n in Counter(rows).items() if lacking[row])
    with pytest.raises(InputError, match=f"^{n_records} records are in classes with fewer people"):
        assess(frame_of(rows), quasi_identifiers=QI, population=frame_of(others))


@stubbed
def test_population_may_come_as_a_file_a_table_or_of_other_types(tmp_path):
    people = pl.DataFrame({"age": [30, 30, 40, 41], "sex": ["f", "f", "m", "m"]})
    people.write_csv(tmp_path / "people.csv")
    sample = people[:1]
    expected = assess(sample, quasi_identifiers=["age", "sex"], population=people)
    assert expected.individual_risk.tolist() == [0.5]
    for other in (tmp_path / "people.csv", Table.encode(people), people.to_pandas(), people.cast(pl.String)):
        assert assess(sample, quasi_identifiers=["age", "sex"], population=other) == expected


@stubbed
def test_a_population_without_a_column_is_an_error():
    with pytest.raises(ColumnError, match="quasi-identifiers of the population"):
        assess(frame_of([(1, 1)]), quasi_identifiers=QI, population=frame_of([(1, 1)], ["a", "c"]))


@stubbed
def test_persons_of_the_population_count_once():
    sample = pl.DataFrame({"who": ["x", "x", "y"], "age": [30, 30, 40]})
    people = pl.DataFrame({"who": ["x", "x", "x", "z", "y", None], "age": [30, 30, 30, 30, 40, 40]})
    risk = assess(sample, quasi_identifiers=["age"], person="who", population=people)
    assert risk.individual_risk.tolist() == [0.5, 0.5, 1.0]
    assert (risk.n_unique, risk.n_unique_in_population, risk.population_size) == (3, 1, 3)
    by_row = assess(sample, quasi_identifiers=["age"], person="who", population=people.drop("who"))
    assert by_row.individual_risk.tolist() == [0.25, 0.25, 0.5]


@stubbed
@examples
@given(ROWS, st.integers(14, 100))
def test_a_size_makes_a_sample(rows, size):
    counts = Counter(rows)
    risk = assess(frame_of(rows), quasi_identifiers=QI, population_size=size)
    n_unique = sum(n == 1 for n in counts.values())
    assert risk.sampling_fraction == len(rows) / size
    assert risk.individual_risk == pytest.approx([len(rows) / size] * len(rows))
    assert (risk.theta is None) == (n_unique == 0)
    others = sum(2 * size / len(rows) - 2 for n in counts.values() if n == 2)
    assert not n_unique or risk.theta.value == pytest.approx(n_unique / (n_unique + others))


@stubbed
@examples
@given(st.lists(st.tuples(*[st.integers(-1, 2)] * 2, st.floats(1, 50)), min_size=1, max_size=14))
def test_weights_are_summed_over_classes(rows):
    frame = frame_of([row[:2] for row in rows]).with_columns(w=pl.Series([row[2] for row in rows]))
    risk = assess(frame, quasi_identifiers=QI, weights="w")
    assert risk.population_size == pytest.approx(sum(row[2] for row in rows))
    assert risk.global_risk == pytest.approx(risk.individual_risk.mean())
    groups = {row[:2]: [other[2] for other in rows if other[:2] == row[:2]] for row in rows}
    assert risk.individual_risk == pytest.approx([len(groups[row[:2]]) / sum(groups[row[:2]]) for row in rows])
    n_unique = sum(len(group) == 1 for group in groups.values())
    others = sum(sum(group) - 2 for group in groups.values() if len(group) == 2)
    assert not n_unique or risk.theta.value == pytest.approx(n_unique / (n_unique + others))


@stubbed
def test_weights_of_persons_count_once():
    frame = pl.DataFrame({"who": ["x", "x", "y", None], "age": [30, 30, 30, 40], "w": [10, 10, 30, 7]})
    risk = assess(frame, quasi_identifiers=["age"], person="who", weights="w")
    assert risk.population_size == 40
    assert risk.individual_risk.tolist() == [0.05, 0.05, 0.05, 1.0]
    with pytest.raises(InputError, match="1 records have another weight than the first record of their person"):
        assess(frame.with_columns(w=pl.Series([10, 11, 30, 7])), quasi_identifiers=["age"], person="who", weights="w")


@stubbed
@pytest.mark.parametrize("weights", [[1.0, None], [1.0, 0.0], [1.0, -2.0], [None, 3]])
def test_weights_are_positive_numbers(weights):
    frame = pl.DataFrame({"age": [1, 2], "w": weights})
    with pytest.raises(InputError, match="1 records have no weight, or one that is not above 0"):
        assess(frame, quasi_identifiers=["age"], weights="w")


@stubbed
def test_weights_are_no_texts_and_stand_for_all_records():
    frame = pl.DataFrame({"age": [1, 2], "w": ["canary", "b"], "small": [0.5, 0.5]})
    with pytest.raises(InputError, match="of kind category") as caught:
        assess(frame, quasi_identifiers=["age"], weights="w")
    assert "canary" not in str(caught.value)
    with pytest.raises(InputError, match="the weights sum to 1"):
        assess(frame, quasi_identifiers=["age"], weights="small")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"population_size": 1}, "the table holds 2"),
        ({"population_size": math.nan}, "the table holds 2"),
        ({"population_size": math.inf}, "the table holds 2"),
        ({"population_size": -5}, "the table holds 2"),
        ({"population_size": True}, "given as bool"),
        ({"population_size": "many"}, "given as str"),
        ({"population_size": 9, "weights": "age"}, "population_size and weights were given"),
        ({"weights": 3}, "weights was given as int"),
        ({"weights": "wieght"}, "no column 'wieght'"),
        ({"person": "age", "missing": "wildcard"}, "given with persons"),
        ({"person": "age", "household": "age"}, "a row for every person"),
        ({"missing": "none"}, "choose 'category'"),
    ],
)
@stubbed
def test_what_contradicts_itself_is_an_error(options, expected):
    with pytest.raises(InputError, match=expected):
        assess(pl.DataFrame({"age": [1, 2]}), quasi_identifiers=["age"], **options)


@stubbed
def test_rarer_values_rank_first():
    frame = pl.DataFrame({"a": [1] * 6 + [2, 3], "b": [1, 2, 3, 4, 4, 4, 4, 5]})
    ranks = assess(frame, quasi_identifiers=QI, population_size=1_000).to_frame()["rarity_rank"].to_list()
    # Uniques are (1, 1), (1, 2), (1, 3), (2, 4) and (3, 5), whose values are expected least often together.
    assert ranks == [3, 3, 3, 0, 0, 0, 2, 1]


@stubbed
@examples
@given(st.lists(st.tuples(*[st.integers(-1, 2)] * 3), min_size=1, max_size=12))
def test_households_are_those_of_the_slow_twin(rows):
    frame = frame_of(rows, ["a", "b", "home"])
    risk = assess(frame, quasi_identifiers=QI, household="home")
    homes = [("alone", i) if row[2] < 0 else ("home", row[2]) for i, row in enumerate(rows)]
    members = {home: sorted(row[:2] for row, other in zip(rows, homes, strict=True) if other == home) for home in homes}
    alike = [sum(other == each for other in members.values()) for each in members.values()]
    assert (risk.household.n_households, risk.household.smallest_class) == (len(members), min(alike))
    assert risk.household.n_unique == alike.count(1)
    sizes = Counter(row[:2] for row in rows)
    expected = [1 - math.prod(1 - 1 / sizes[row] for row in members[home]) for home in homes]
    assert risk.to_frame()["household_risk"].to_list() == pytest.approx(expected)
    assert (risk.household.highest, risk.household.average) == pytest.approx((max(expected), sum(expected) / len(rows)))


@stubbed
@pytest.mark.parametrize("options", [{"population_size": 5}, {"weights": "w"}, {"population": frame_of([])}, {}])
def test_an_empty_table_is_at_the_highest_risk(options):
    empty = frame_of([], ["a", "b", "w"])
    risk = assess(empty, quasi_identifiers=QI, tolerance=1, household="w", sensitive=["w"], **options)
    assert (risk.marketer_risk, risk.prosecutor_risk.average, risk.household.average, risk.global_risk) == (1.0,) * 4
    assert risk.prosecutor_risk.share_above == dict.fromkeys((2, 5, 11, 20), 1.0)
    assert not risk.within_tolerance
    assert (risk.homogeneity["w"].entropy_l, risk.homogeneity["w"].t) == (0.0, 1.0)
    assert len(risk.to_frame()) == 0


@pytest.mark.parametrize("missing", ["category", "wildcard", "worst"])
@pytest.mark.parametrize("names", [["a", "b"], []])
def test_nobody_among_nobody_is_no_risk_that_was_measured(names, missing):
    empty = frame_of([], ["a", "b"])
    risk = assess(empty, quasi_identifiers=names, population=empty, missing=missing)
    assert (risk.n_classes, risk.population_size, risk.theta, risk.population_uniqueness) == (0, 0.0, None, {})
    assert risk.journalist_risk.average == 1.0


@stubbed
@examples
@given(ROWS, st.randoms(use_true_random=False))
def test_order_of_rows_changes_nothing(rows, random):
    places = random.sample(range(len(rows)), len(rows))
    frame = frame_of(rows).with_columns(w=pl.Series([2 + row[0] for row in rows]))
    for options in ({"population_size": 99}, {"weights": "w"}, {"population": frame}):
        first = assess(frame, quasi_identifiers=QI, **options)
        second = assess(frame[places], quasi_identifiers=QI, **options)
        assert first == second
        assert first.to_frame()[places].equals(second.to_frame())


@stubbed
def test_counts_are_records_of_the_population_too():
    table, _ = Table.encode(frame_of([(0, 0)] * 3 + [(1, 1)])).collapse()
    risk = assess(table, quasi_identifiers=QI, population=table)
    assert risk.individual_risk.tolist() == pytest.approx([1 / 3] * 3 + [1])
    assert assess(table, quasi_identifiers=QI, household="a").household.n_households == 2
