"""Re-identification risk, against the slow twin."""

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, strategies as st

from hushtable.claims import verify
from hushtable.errors import ColumnError, InputError
from hushtable.models import KAnonymity
from hushtable.risk.assess import assess
from hushtable.tables.table import ColumnSpec, Table
from twins import naive

NAMES = ("a", "b", "s")
READINGS = ("category", "wildcard", "worst")
ROWS = st.lists(st.tuples(*[st.integers(-1, 2)] * 3), min_size=1, max_size=14)
COUNTED = st.dictionaries(st.tuples(*[st.integers(-1, 2)] * 3), st.integers(1, 4), min_size=1, max_size=10)


def frame_of(rows):
    cells = {name: [None if row[j] < 0 else row[j] for row in rows] for j, name in enumerate(NAMES)}
    return pl.DataFrame(cells, schema=dict.fromkeys(NAMES, pl.Int64))


def test_hand_made_table():
    table = pl.DataFrame({"age": [31, 31, 31, 52], "sex": ["f", "f", "f", "m"], "pay": [1, 2, 1, 3]})
    risk = assess(table, quasi_identifiers=["age", "sex"], sensitive=["pay"])
    assert (risk.n_records, risk.n_classes, risk.n_unique, risk.smallest_class) == (4, 2, 1, 1)
    assert (risk.highest_risk, risk.average_risk) == (1.0, 0.5)
    assert risk.smallest_by_missing == {"category": 1, "wildcard": 1, "worst": 1}
    assert risk.distinct_sensitive == {"pay": 1}


@given(ROWS)
@example([(-1, -1, -1)])
@example([(-1, -1, 0)] * 3)
@example([(0, -1, 0), (-1, 0, 1), (0, 0, 2)])
def test_figures_are_those_of_the_slow_twin(rows):
    known = [row[:2] for row in rows]
    ones = [1] * len(rows)
    groups = naive.classes(known)
    sizes = naive.class_sizes(groups, ones)
    risk = assess(frame_of(rows), quasi_identifiers=["a", "b"], sensitive=["s"])
    assert (risk.n_records, risk.n_classes) == (len(rows), len(groups))
    assert risk.n_unique == naive.unique_count(known, ones)
    assert risk.smallest_class == min(sizes)
    assert risk.highest_risk == 1 / min(sizes)
    assert risk.average_risk == pytest.approx(sum(1 / sizes[i] for i, g in enumerate(groups) for _ in g) / len(rows))
    sensitive = [row[2] for row in rows]
    distinct = [len(naive.known_counts(naive.histogram(group, ones, sensitive))) for group in groups]
    assert risk.distinct_sensitive == {"s": min(distinct)}


@given(ROWS)
@example([(0, -1, 0), (0, 1, 0), (-1, 1, 0)])
def test_three_readings_of_missing_are_those_of_the_slow_twin(rows):
    known = [row[:2] for row in rows]
    risk = assess(frame_of(rows), quasi_identifiers=["a", "b"])
    expected = {
        missing: min(naive.match_counts(known, [1] * len(rows), missing))
        for missing in ("category", "wildcard", "worst")
    }
    assert risk.smallest_by_missing == expected
    assert expected["worst"] <= expected["category"] <= expected["wildcard"]


@given(COUNTED)
def test_counts_are_records(counted):
    records = [row for row, count in counted.items() for _ in range(count)]
    table = Table.encode(frame_of(records))
    expected = assess(table, quasi_identifiers=["a", "b"], sensitive=["s"])
    collapsed, _ = table.collapse()
    assert assess(collapsed, quasi_identifiers=["a", "b"], sensitive=["s"]) == expected
    assert assess(frame_of(records), quasi_identifiers=["a", "b"], sensitive=["s"]) == expected


@given(ROWS, st.randoms(use_true_random=False))
def test_order_of_rows_and_columns_changes_nothing(rows, random):
    first = assess(frame_of(rows), quasi_identifiers=["a", "b"], sensitive=["s"]).to_dict()
    shuffled = frame_of(random.sample(rows, len(rows))).select("s", "b", "a")
    second = assess(shuffled, quasi_identifiers=["b", "a"], sensitive=["s"]).to_dict()
    assert first | {"quasi_identifiers": None} == second | {"quasi_identifiers": None}


@given(rows=ROWS)
def test_dataframe_library_and_file_change_nothing(rows, tmp_path_factory):
    table = frame_of(rows)
    folder = tmp_path_factory.mktemp("files")
    table.write_csv(folder / "t.csv")
    table.write_parquet(folder / "t.parquet")
    expected = assess(table, quasi_identifiers=["a", "b"], sensitive=["s"])
    nullable = pd.DataFrame(table.to_dict(as_series=False)).astype("Int64")
    for data in (table.to_pandas(), nullable, table.to_arrow(), folder / "t.csv", folder / "t.parquet"):
        assert assess(data, quasi_identifiers=["a", "b"], sensitive=["s"]) == expected


@given(ROWS)
def test_verifier_agrees(rows):
    risk = assess(frame_of(rows), quasi_identifiers=["a", "b"], sensitive=["s"])
    for missing, smallest in risk.smallest_by_missing.items():
        verdict = verify(
            frame_of(rows), quasi_identifiers=["a", "b"], models=[KAnonymity(2)], sensitive=["s"], missing=missing
        )
        assert verdict.smallest_class == smallest
        if missing == "category":
            assert (verdict.n_unique, verdict.distinct_sensitive) == (risk.n_unique, risk.distinct_sensitive)


def test_more_columns_never_lower_the_risk():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({name: rng.integers(0, 4, 200) for name in "abcd"})
    highest = [assess(table, quasi_identifiers=list("abcd")[:n]).average_risk for n in range(1, 5)]
    assert highest == sorted(highest)


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_empty_table_has_the_highest_risk(make):
    risk = assess(make({"a": [], "s": []}), quasi_identifiers=["a"], sensitive=["s"])
    assert (risk.highest_risk, risk.average_risk) == (1.0, 1.0)
    assert (risk.n_records, risk.n_classes, risk.n_unique, risk.smallest_class) == (0, 0, 0, 0)
    assert risk.smallest_by_missing == {"category": 0, "wildcard": 0, "worst": 0}
    assert risk.distinct_sensitive == {"s": 0}
    assert risk.headline == "The table has no records: nothing was measured, and every risk is given as 1, the worst."


def test_suppressed_records_of_a_release_are_told_of():
    release = pl.DataFrame({"age": ["*", "*", "[30, 40]", "[30, 40]", "*"], "sex": ["*", "*", "f", "f", "m"]})
    risk = assess(release, quasi_identifiers=["age", "sex"])
    assert (risk.n_suppressed, risk.smallest_class, risk.n_classes) == (2, 1, 3)
    assert "2 records are * in every quasi-identifier" in risk.notes[0]
    assert assess(release[2:], quasi_identifiers=["age", "sex"]).n_suppressed == 0


def test_one_row():
    risk = assess(pl.DataFrame({"a": [1]}), quasi_identifiers=["a"])
    assert (risk.n_unique, risk.highest_risk, risk.average_risk) == (1, 1.0, 1.0)


def test_no_quasi_identifier_tells_nobody_apart():
    risk = assess(pl.DataFrame({"a": [1, 2, 3, 4]}), quasi_identifiers=[])
    assert (risk.n_classes, risk.smallest_class, risk.highest_risk) == (1, 4, 0.25)


def test_specs_change_what_is_one_value():
    table = pl.DataFrame({"a": ["1", "1.0"]})
    assert assess(table, quasi_identifiers=["a"]).n_unique == 2
    assert assess(table, quasi_identifiers=["a"], specs={"a": ColumnSpec("decimal")}).n_unique == 0


@pytest.mark.parametrize("names", [["x"], ["a", "a"]])
def test_columns_are_checked(names):
    with pytest.raises(ColumnError):
        assess(pl.DataFrame({"a": [1]}), quasi_identifiers=names)


def test_results_quote_no_cell():
    risk = assess(pl.DataFrame({"a": ["canary"], "s": ["canary"]}), quasi_identifiers=["a"], sensitive=["s"])
    assert "canary" not in repr(risk) + json.dumps(risk.to_dict()) + risk._repr_html_()


def test_html_escapes_column_names():
    shown = assess(pl.DataFrame({"<script>": [1]}), quasi_identifiers=["<script>"])._repr_html_()
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown


@given(ROWS)
@example([(-1, -1, -1)])
@example([(0, 0, 0), (0, 0, -1), (1, -1, 2)])
def test_sizes_and_shares_are_those_of_the_slow_twin(rows):
    groups = naive.classes([row[:2] for row in rows])
    size_of = [len(group) for i in range(len(rows)) for group in groups if i in group]
    risk = assess(frame_of(rows), quasi_identifiers=["a", "b"], thresholds=[3, 2, 3], tolerance=2)
    sizes = [len(group) for group in groups]
    assert risk.class_sizes == {size: sizes.count(size) for size in sorted(set(sizes))}
    assert risk.records_below == {each: sum(size < each for size in size_of) for each in (2, 3)}
    assert risk.prosecutor_risk.share_above == {each: n / len(rows) for each, n in risk.records_below.items()}
    assert (risk.prosecutor_risk.highest, risk.prosecutor_risk.average) == (risk.highest_risk, risk.average_risk)
    assert risk.marketer_risk == risk.average_risk
    assert (risk.within_tolerance, risk.n_above_tolerance) == (min(sizes) >= 2, risk.records_below[2])
    assert risk.n_incomplete == sum(-1 in row[:2] for row in rows)
    assert risk.to_frame()["class_size"].to_list() == size_of
    assert risk.individual_risk.tolist() == [1 / size for size in size_of]
    assert (risk.journalist_risk, risk.theta, risk.population_size, risk.basis) == (None, None, None, "table")


@given(ROWS, st.sampled_from(READINGS))
@example([(0, -1, 0), (0, 1, 0), (-1, 1, 0)], "wildcard")
def test_a_reading_of_missing_holds_for_all_figures(rows, missing):
    known = [row[:2] for row in rows]
    sizes = naive.match_counts(known, [1] * len(rows), missing)
    risk = assess(frame_of(rows), quasi_identifiers=["a", "b"], missing=missing, tolerance=3)
    assert risk.smallest_class == risk.smallest_by_missing[missing] == min(sizes)
    assert (risk.n_unique, risk.n_above_tolerance) == (sizes.count(1), sum(size < 3 for size in sizes))
    assert risk.average_risk == pytest.approx(sum(1 / size for size in sizes) / len(rows))
    assert risk.to_frame()["class_size"].to_list() == sizes


@given(ROWS)
@example([(0, 0, -1)])
@example([(0, 0, 0), (0, 0, 2), (1, 1, -1)])
def test_homogeneity_is_that_of_the_slow_twin(rows):
    sensitive = [row[2] for row in rows]
    ones = [1] * len(rows)
    held = [naive.histogram(group, ones, sensitive) for group in naive.classes([row[:2] for row in rows])]
    whole = naive.histogram(list(range(len(rows))), ones, sensitive)
    by_number = assess(frame_of(rows), quasi_identifiers=["a", "b"], sensitive=["s"]).homogeneity["s"]
    texts = frame_of(rows).with_columns(("v" + pl.col("s").cast(pl.String)).alias("s"))
    by_text = assess(texts, quasi_identifiers=["a", "b"], sensitive=["s"]).homogeneity["s"]
    distinct = [len(naive.known_counts(each)) for each in held]
    assert by_number.distinct_l == by_text.distinct_l == min(distinct)
    assert by_number.n_homogeneous == sum(sum(each.values()) for each, n in zip(held, distinct, strict=True) if n < 2)
    entropies = []
    for each in held:
        known = naive.known_counts(each)
        shares = [n / sum(known) for n in known]
        entropies.append(math.exp(-sum(p * math.log(p) for p in shares)) if known else 0.0)
    assert by_number.entropy_l == pytest.approx(min(entropies))
    assert by_number.t == pytest.approx(max(naive.distance_ordered(each, whole) for each in held))
    assert by_text.t == pytest.approx(max(naive.distance_equal(each, whole) for each in held))
    assert by_text.ground == "equal"


def test_homogeneity_follows_the_reading_of_missing():
    frame = pl.DataFrame({"a": [1, 1, None], "s": ["x", "x", "y"]})
    fewest = [
        assess(frame, quasi_identifiers=["a"], sensitive=["s"], missing=each).distinct_sensitive["s"]
        for each in READINGS
    ]
    assert fewest == [1, 2, 1]


@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 3)), min_size=1, max_size=14))
def test_persons_are_counted_as_the_slow_twin_counts_them(rows):
    frame = pl.DataFrame(
        {"a": [row[0] for row in rows], "who": [None if row[1] < 0 else row[1] for row in rows]},
        schema={"a": pl.Int64, "who": pl.Int64},
    )
    risk = assess(frame, quasi_identifiers=["a"], person="who", tolerance=2)
    persons = [len({other[1] for other in rows if other[0] == row[0] and other[1] >= 0}) for row in rows]
    assert risk.n_unique == sum(n <= 1 for n in persons)
    assert risk.n_above_tolerance == sum(n < 2 for n in persons)
    assert risk.average_risk == pytest.approx(sum(1 / max(1, n) for n in persons) / len(rows))
    assert sum(risk.class_sizes.values()) == risk.n_classes
    assert risk.to_frame()["class_size"].to_list() == persons


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_frames_come_as_the_data_came(make):
    frame = assess(make({"a": [1, 1, 2]}), quasi_identifiers=["a"]).to_frame()
    assert type(frame) is type(make({"a": [1]}))
    assert list(pl.DataFrame(frame if make is not pa.table else pl.from_arrow(frame))["class_size"]) == [2, 2, 1]


def test_tolerance_by_class_size_says_that_values_are_shared():
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "s": ["x", "x", "x", "y"]})
    risk = assess(frame, quasi_identifiers=["a"], sensitive=["s"], tolerance=2)
    assert risk.within_tolerance
    assert risk.notes == (
        "2 records lie in classes that agree on s although every class is large enough: "
        "anyone who finds a person's class knows it",
    )


@pytest.mark.parametrize(
    ("cells", "headline"),
    [
        ([1, 1], "None of 2 records is unique in the table; the smallest class holds 2."),
        (
            [1, 1, 2],
            "1 of 3 records is unique in the table. How many people outside the table share their values is not known.",
        ),
        ([1, 2], "2 of 2 records are unique in the table. How many people outside"),
        ([], "The table has no records: nothing was measured"),
    ],
)
def test_headline_does_not_take_records_for_people(cells, headline):
    risk = assess(pl.DataFrame({"a": cells}, schema={"a": pl.Int64}), quasi_identifiers=["a"])
    assert risk.headline.startswith(headline)
    assert risk.to_dict()["headline"] == risk.headline


ADULT = [
    *("sex", "age", "race", "marital-status"),
    *("education", "native-country", "workclass", "occupation"),
]


def test_raw_adult_has_the_figures_of_arx(shared_file):
    risk = assess(
        shared_file("data/arx_adult/adult.csv"), quasi_identifiers=ADULT, sensitive=["salary-class"], thresholds=[5, 20]
    )
    assert (risk.n_records, risk.n_classes, risk.n_unique) == (30_162, 18_109, 14_021)
    assert risk.marketer_risk == pytest.approx(0.6003912207, abs=1e-10)
    assert max(risk.class_sizes) == 45
    assert [round(share, 6) for share in risk.prosecutor_risk.share_above.values()] == [0.728632, 0.955242]


def test_raw_adult_as_a_sample_of_the_usa(shared_file):
    pytest.importorskip("hushtable.risk.population")
    risk = assess(
        shared_file("data/arx_adult/adult.csv"), quasi_identifiers=ADULT, population_size=317_238_626, tolerance="cms"
    )
    uniqueness = risk.population_uniqueness
    assert uniqueness["zayatz"].value == pytest.approx(0.21616482, abs=1e-6)
    assert uniqueness["pitman"].value == pytest.approx(0.02966387, abs=1e-6)
    assert not uniqueness["zayatz"].reliable
    assert not uniqueness["pitman"].reliable
    assert (uniqueness["dankar"].low, uniqueness["dankar"].high) == pytest.approx((0.0, 0.384), abs=1e-3)
    assert risk.theta.value == pytest.approx(0.000329, abs=1e-6)
    assert risk.headline == (
        "14,021 of 30,162 records are unique in the sample (f = 0.0095 % of the population); a match with one of them "
        "is right in about 0.033 % of cases (interval 0.031 to 0.035 %)."
    )
    assert risk.individual_risk.max() == pytest.approx(0.000881, abs=1e-6)


def test_odd_names_of_columns():
    frame = pl.DataFrame({"*": [1, 1, 2], "^a.*$": [1, 1, 1], 'it"s 🙂': ["x", "y", "y"], "": [1, 2, 3]}).drop("")
    risk = assess(frame, quasi_identifiers=["*", "^a.*$"], sensitive=['it"s 🙂'], population_size=None)
    assert (risk.n_unique, risk.distinct_sensitive) == (1, {'it"s 🙂': 1})


def test_weights_that_could_mean_two_numbers_say_what_to_do():
    frame = pl.DataFrame({"age": [1, 1, 2], "w": ["1,500", "2,000", "3,100"]})
    with pytest.raises(InputError, match=r"ColumnSpec\(decimal=','\)"):
        assess(frame, quasi_identifiers=["age"], weights="w")
    spec = {"w": ColumnSpec(decimal=",")}
    assert assess(frame, quasi_identifiers=["age"], weights="w", specs=spec).basis == "weights"


def test_counts_may_be_of_any_size():
    table = Table.encode(pl.DataFrame({"a": [1, 2, 3]}))
    counted = Table(table.columns, table.codes, np.array([1, 2**40, 2**40]))
    risk = assess(counted, quasi_identifiers=["a"])
    assert risk.class_sizes == {1: 1, 2**40: 2}
    assert (risk.n_unique, risk.average_risk) == (1, 3 / (2**41 + 1))
