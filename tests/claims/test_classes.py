"""The verifier on hand-made tables, against the slow twin, and on the tables other tools get wrong."""

import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, strategies as st

from command import run
from hushtable.claims import Failure, Verdict, verify
from hushtable.claims.grouping import match_sizes
from hushtable.errors import ColumnError, InputError, VerificationError
from hushtable.io import frames
from hushtable.models import BetaLikeness, DeltaDisclosure, DistinctLDiversity, KAnonymity, KMap, TCloseness
from hushtable.policy.protecting import anonymize
from hushtable.risk.assess import assess
from twins import naive

READINGS = ("category", "wildcard", "worst")
NEVER = KAnonymity(10**6)
"""Fails every class, so that its failure counts all classes and their records."""

ROWS = st.lists(
    st.tuples(*[st.integers(-1, 2)] * 3, st.integers(-1, 2)),
    min_size=1,
    max_size=14,
)
"""Three quasi-identifiers and one sensitive column; -1 is missing."""


def frame_of(rows):
    """Code c of the quasi-identifiers is "vc", of the sensitive column "sc"."""
    names = ("a", "b", "c", "s")
    return pl.DataFrame(
        {
            name: [None if row[j] < 0 else f"{'s' if name == 's' else 'v'}{row[j]}" for row in rows]
            for j, name in enumerate(names)
        },
        schema=dict.fromkeys(names, pl.String),
    )


def judged(table, models, quasi_identifiers=("a",), **options):
    return verify(table, quasi_identifiers=quasi_identifiers, models=models, **options)


def of_sizes(*sizes):
    return pl.DataFrame({"a": [f"v{i}" for i, size in enumerate(sizes) for _ in range(size)]})


@pytest.fixture
def people():
    return pl.DataFrame(
        {
            "age": ["[30, 40)", "[30, 40)", "[30, 40)", ">=40", ">=40"],
            "sex": ["f", "f", "f", "*", "*"],
            "pay": [1, 1, 2, 3, 3],
        }
    )


def test_counts_of_a_hand_made_table(people):
    verdict = judged(people, [KAnonymity(2)], ["age", "sex"])
    assert verdict.passed
    assert verdict.failures == ()
    assert verdict.conditions == ("k-anonymity (k = 2)",)
    assert verdict.quasi_identifiers == ("age", "sex")
    assert (verdict.n_records, verdict.n_classes, verdict.n_suppressed) == (5, 2, 0)
    assert (verdict.smallest_class, verdict.n_unique, verdict.figures["missing"]) == (2, 0, "category")


@pytest.mark.parametrize(("k", "n_classes", "n_records"), [(2, 0, 0), (3, 1, 2), (4, 2, 5)])
def test_k_names_the_classes_that_fail(people, k, n_classes, n_records):
    verdict = judged(people, [KAnonymity(k)], ["age", "sex"])
    assert verdict.passed is (n_classes == 0)
    found = [(failure.n_classes, failure.n_records, failure.worst) for failure in verdict.failures]
    assert found == ([(n_classes, n_records, 2.0)] if n_classes else [])


def test_l_names_the_classes_that_fail(people):
    verdict = judged(people, [KAnonymity(2), DistinctLDiversity(2, "pay")], ["age", "sex"])
    (failure,) = verdict.failures
    assert (failure.n_classes, failure.n_records, failure.worst) == (1, 2, 1.0)
    assert verdict.distinct_sensitive == {"pay": 1}


def test_every_model_that_fails_is_named(people):
    verdict = judged(people, [KAnonymity(3), DistinctLDiversity(2, "pay")], ["age", "sex"])
    assert [failure.condition for failure in verdict.failures] == list(verdict.conditions)


def test_raise_if_failed_counts_what_fails(people):
    verdict = judged(people, [KAnonymity(3)], ["age", "sex"])
    with pytest.raises(VerificationError, match=r"k = 3\): 1 classes with 2 records fail, worst 2"):
        verdict.raise_if_failed()


def test_raise_if_failed_returns_a_verdict_that_passed(people):
    verdict = judged(people, [KAnonymity(2)], ["age", "sex"])
    assert verdict.raise_if_failed() is verdict


def test_what_fails_is_raised_whatever_else_could_not_be_checked():
    verdict = Verdict(("a", "b"), (Failure("a"),), ("x",), 3, unchecked={"b": "the population"})
    with pytest.raises(VerificationError, match="does not hold what it claims: a"):
        verdict.raise_if_failed()


def test_results_quote_no_cell():
    secret = "canary-7391"
    table = pl.DataFrame({"a": [secret, "x"], "s": [secret + "s", "y"]})
    verdict = judged(table, [KAnonymity(2), DistinctLDiversity(2, "s")])
    with pytest.raises(VerificationError) as error:
        verdict.raise_if_failed()
    shown = (repr(verdict), json.dumps(verdict.to_dict()), verdict._repr_html_(), str(error.value))
    assert not any(secret in text for text in shown)


def test_sensitive_columns_are_reported_without_a_model(people):
    verdict = judged(people, [KAnonymity(2)], ["age", "sex"], sensitive=["pay"])
    assert verdict.passed
    assert verdict.distinct_sensitive == {"pay": 1}


def test_pycanon_drops_rows_with_a_missing_quasi_identifier():
    """Pycanon reports k = 5 here: its group-by leaves the lone row out."""
    table = pd.DataFrame({"age": [30.0] * 5 + [None], "sex": ["f"] * 6})
    verdict = judged(table, [KAnonymity(5)], ["age", "sex"])
    assert not verdict.passed
    assert (verdict.smallest_class, verdict.n_unique, verdict.n_classes) == (1, 1, 2)


def test_pycanon_takes_index_labels_for_positions():
    """After a permutation of the index, labels of rows are not their positions."""
    table = pd.DataFrame({"a": ["x", "x", "y", "y"], "s": [1, 2, 1, 1]})
    expected = judged(table, [DistinctLDiversity(2, "s")])
    for index in ([3, 0, 2, 1], [10, 20, 30, 40], [7, 7, 7, 7], ["d", "c", "b", "a"]):
        assert judged(table.set_axis(index), [DistinctLDiversity(2, "s")]) == expected


def test_arx_counts_suppressed_rows_as_a_class():
    """ARX reads its own ``*`` rows back as one more class (arx#259)."""
    table = pl.DataFrame({"a": ["x"] * 3 + ["*"] * 4, "s": ["1", "2", "3"] + ["*"] * 4})
    verdict = judged(table, [KAnonymity(3), DistinctLDiversity(3, "s")])
    assert verdict.passed
    assert (verdict.n_records, verdict.n_classes, verdict.n_suppressed, verdict.smallest_class) == (7, 1, 4, 3)


def test_sdcmicro_lets_missing_cells_match_anything():
    """By sdcMicro's default (alpha = 1) this table is 2-anonymous; with missing as a category it is not (#225)."""
    table = pl.DataFrame({"a": ["x", None, None], "b": ["u", "u", "v"]})
    assert judged(table, [KAnonymity(2)], ["a", "b"]).n_unique == 3
    assert judged(table, [KAnonymity(2)], ["a", "b"], missing="wildcard").n_unique == 1


@given(ROWS)
@example([(-1, -1, -1, -1)])
@example([(-1, -1, -1, -1)] * 4)
@example([(0, 1, 2, 0)] * 4)
@example([(0, -1, 1, 0), (0, 1, -1, 1), (-1, 1, 1, 2), (0, 1, 1, 0)])
@pytest.mark.parametrize("missing", READINGS)
def test_class_sizes_are_those_of_the_slow_twin(missing, rows):
    known = [row[:3] for row in rows]
    counts = naive.match_counts(known, [1] * len(rows), missing)
    verdict = judged(frame_of(rows), [NEVER], ["a", "b", "c"], missing=missing)
    assert verdict.smallest_class == min(counts)
    assert verdict.n_unique == sum(count == 1 for count in counts)
    assert verdict.n_classes == len(set(known))
    (failure,) = verdict.failures
    assert failure.n_records == len(rows)


@given(ROWS, st.integers(1, 5))
@pytest.mark.parametrize("missing", READINGS)
def test_records_that_fail_k_are_those_of_the_slow_twin(missing, rows, k):
    counts = naive.match_counts([row[:3] for row in rows], [1] * len(rows), missing)
    verdict = judged(frame_of(rows), [KAnonymity(k)], ["a", "b", "c"], missing=missing)
    assert sum(failure.n_records for failure in verdict.failures) == sum(count < k for count in counts)


@given(ROWS)
@pytest.mark.parametrize("missing", READINGS)
def test_diversity_is_that_of_the_records_matched(missing, rows):
    """A record that matches only itself has its own value; the verifier may count it as none, if that is missing."""

    def diversity(row):
        if missing == "worst" and -1 in row[:3]:
            return {1} if all(other[3] >= 0 for other in rows if other[:3] == row[:3]) else {0, 1}
        return {len({other[3] for other in rows if naive.rows_match(row[:3], other[:3], missing)} - {-1})}

    verdict = judged(frame_of(rows), [DistinctLDiversity(2, "s")], ["a", "b", "c"], missing=missing)
    each = [diversity(row) for row in rows]
    assert min(map(min, each)) <= verdict.distinct_sensitive["s"] <= min(map(max, each))
    failed = sum(failure.n_records for failure in verdict.failures)
    assert failed == sum(max(diverse) < 2 for diverse in each)


@given(ROWS, st.sampled_from(READINGS))
def test_average_risk_is_that_of_the_slow_twin(rows, missing):
    counts = naive.match_counts([row[:3] for row in rows], [1] * len(rows), missing)
    reached = sum(1 / count for count in counts) / len(rows)
    for limit in (0.2, 0.35, 0.6, 0.99):
        if abs(limit - reached) > 1e-9:
            verdict = judged(frame_of(rows), [KAnonymity(1)], ["a", "b", "c"], missing=missing, average_risk=limit)
            assert verdict.passed is (reached <= limit)


@given(
    st.dictionaries(st.tuples(*[st.integers(-1, 1)] * 3), st.integers(1, 4), min_size=1, max_size=10),
    st.sampled_from(READINGS),
)
def test_match_sizes_of_counted_rows_are_those_of_the_slow_twin(rows, missing):
    codes = pl.DataFrame(list(rows), schema=["a", "b", "c"], orient="row").to_numpy().T
    found = match_sizes(codes, pl.Series(list(rows.values())).to_numpy(), missing)
    expected = naive.match_counts(list(rows), list(rows.values()), missing)
    assert found.tolist() == expected


@given(ROWS, st.randoms(use_true_random=False))
def test_order_of_rows_and_columns_changes_nothing(rows, random):
    models = [KAnonymity(2), DistinctLDiversity(2, "s")]
    shuffled = random.sample(rows, len(rows))
    names = random.sample(["a", "b", "c"], 3)
    for missing in READINGS:
        first = judged(frame_of(rows), models, ["a", "b", "c"], missing=missing).to_dict()
        second = judged(frame_of(shuffled).select("s", *names), models, names, missing=missing).to_dict()
        assert first | {"columns": None} == second | {"columns": None}


@given(rows=ROWS)
def test_dataframe_library_and_file_change_nothing(rows, tmp_path_factory):
    table = frame_of(rows)
    folder = tmp_path_factory.mktemp("files")
    table.write_csv(folder / "t.csv")
    table.write_parquet(folder / "t.parquet")
    models = [KAnonymity(2), DistinctLDiversity(2, "s")]
    inputs = [
        table.to_pandas(),
        table.to_arrow(),
        pd.DataFrame(table.to_dict(as_series=False), dtype=object),
        table.cast(pl.Categorical),
        folder / "t.csv",
        str(folder / "t.parquet"),
    ]
    expected = judged(table, models, ["a", "b", "c"])
    for data in inputs:
        assert judged(data, models, ["a", "b", "c"]) == expected


def test_libraries_agree_on_typed_columns():
    cells = {"a": [1.5, None, 1.5, None], "b": [True, False, True, False], "s": [7, 8, 7, 7]}
    models = [KAnonymity(2), DistinctLDiversity(2, "s")]
    tables = (pl.DataFrame(cells), pd.DataFrame(cells), pa.table(cells))
    first, *others = (judged(table, models, ["a", "b"]) for table in tables)
    assert all(other == first for other in others)
    assert (first.n_classes, first.smallest_class, first.distinct_sensitive) == (2, 2, {"s": 1})


def test_nan_and_null_are_both_missing():
    table = pl.DataFrame({"a": [float("nan"), None, 1.0, 1.0]})
    assert judged(table, [KAnonymity(2)]).passed
    assert judged(table, [KAnonymity(2)], missing="worst").n_unique == 2


@pytest.mark.parametrize("cells", [["34", " 34"], ["F", "f"], ["Ｆ", "F"], ["1", "1.0"], ["034", "34"]])
def test_spellings_of_a_quasi_identifier_are_classes_of_their_own(cells):
    verdict = judged(pl.DataFrame({"a": cells}), [KAnonymity(2)])
    assert (verdict.n_classes, verdict.n_unique) == (2, 2)


@pytest.mark.parametrize("cells", [["1", "1.0"], ["1", " 1"], ["2.50", "2.5"], ["-0.0", "0"]])
def test_spellings_of_a_sensitive_value_are_one_value(cells):
    verdict = judged(pl.DataFrame({"a": ["x", "x"], "s": cells}), [DistinctLDiversity(2, "s")])
    assert verdict.distinct_sensitive == {"s": 1}
    assert not verdict.passed


@pytest.mark.parametrize(
    ("cells", "distinct"),
    [(["flu", None], 1), ([None, None], 0), (["flu", ""], 1), (["flu", "  "], 1), (["flu", "cold"], 2)],
)
def test_l_never_counts_a_missing_value(cells, distinct):
    table = pl.DataFrame({"a": ["x", "x"], "s": cells}, schema={"a": pl.String, "s": pl.String})
    verdict = judged(table, [DistinctLDiversity(2, "s")])
    assert verdict.distinct_sensitive == {"s": distinct}
    assert verdict.passed is (distinct == 2)


def test_l_never_counts_a_suppressed_value():
    """A sensitive ``*`` in a class that is not suppressed says nothing, so the class agrees on flu."""
    table = pl.DataFrame({"a": ["x"] * 3, "s": ["flu", "flu", "*"]})
    verdict = judged(table, [DistinctLDiversity(2, "s")])
    assert verdict.distinct_sensitive == {"s": 1}
    assert not verdict.passed


@pytest.mark.parametrize(("n_suppressed", "passed"), [(0, True), (1, False), (2, False), (3, True), (9, True)])
def test_suppressed_records_are_none_or_at_least_k(n_suppressed, passed):
    table = pl.DataFrame({"a": ["x"] * 3 + ["*"] * n_suppressed, "b": ["u"] * 3 + ["*"] * n_suppressed})
    verdict = judged(table, [KAnonymity(3)], ["a", "b"])
    assert verdict.passed is passed
    assert (verdict.n_suppressed, verdict.n_classes, verdict.smallest_class) == (n_suppressed, 1, 3)
    assert [failure.n_records for failure in verdict.failures] == ([] if passed else [n_suppressed])


def test_suppressed_records_are_at_least_the_largest_number_asked_for():
    table = pl.DataFrame({"a": ["x"] * 4 + ["*"] * 3, "s": list("1234") + ["*"] * 3})
    assert not judged(table, [KAnonymity(2), DistinctLDiversity(4, "s")]).passed


@pytest.mark.parametrize("cells", [["*", "u", "1"], ["*", "*", "1"], ["x", "*", "*"], ["*", None, "*"]])
def test_records_with_a_cell_left_are_not_suppressed(cells):
    table = pl.DataFrame([cells], schema={"a": pl.String, "b": pl.String, "s": pl.String}, orient="row")
    verdict = judged(table, [KAnonymity(1), DistinctLDiversity(1, "s")], ["a", "b"])
    assert (verdict.n_suppressed, verdict.n_classes) == (0, 1)


def test_a_record_whose_cell_in_a_reported_sensitive_column_is_readable_is_not_suppressed():
    """Nobody who can read what the record says takes it for suppressed, whichever columns the models judge."""
    table = pl.DataFrame({"a": ["x"] * 5 + ["*"] * 5, "s": ["1", "2"] * 5, "t": list("12345") + ["*"] * 5})
    models = [KAnonymity(5), DistinctLDiversity(2, "t")]
    assert judged(table, models).passed
    verdict = judged(table, models, sensitive=["s"])
    assert (verdict.n_suppressed, verdict.n_classes, verdict.passed) == (0, 2, False)
    hidden = table.with_columns(s=pl.Series(["1", "2", "1", "2", "1"] + ["*"] * 5))
    assert judged(hidden, models, sensitive=["s"]).n_suppressed == 5


def test_starred_quasi_identifiers_beside_readable_sensitive_cells_are_a_class():
    table = pl.DataFrame({"a": ["x", "x", "y", "y", "*"], "s": list("12121")})
    assert judged(table, [KAnonymity(2)]).n_suppressed == 1
    verdict = judged(table, [KAnonymity(2)], sensitive=["s"])
    assert (verdict.n_suppressed, verdict.n_classes, verdict.smallest_class, verdict.passed) == (0, 3, 1, False)


def test_suppressed_records_alone_have_no_sensitive_value():
    table = pl.DataFrame({"a": ["*"] * 3, "s": ["*"] * 3})
    assert judged(table, [KAnonymity(2)], sensitive=["s"]).distinct_sensitive == {"s": 0}
    assert not judged(table, [DistinctLDiversity(1, "s")]).passed


def test_neither_a_star_nor_a_missing_cell_adds_a_value():
    table = pl.DataFrame({"a": ["x"] * 3, "s": ["flu", "*", None]})
    verdict = judged(table, [DistinctLDiversity(2, "s")])
    assert (verdict.distinct_sensitive, verdict.passed) == ({"s": 1}, False)


def test_suppressed_records_are_held_to_the_highest_risk():
    """Three records that publish nothing are still three: whoever is among them is found one time in three."""
    assert not judged(pl.DataFrame({"a": ["*"] * 3}), [KAnonymity(2)], highest_risk=0.09).passed


def test_the_mark_of_suppressed_records_can_be_another():
    table = pl.DataFrame({"a": ["x", "x", "GONE", "GONE"]})
    assert judged(table, [KAnonymity(2)], suppressed="GONE").n_suppressed == 2
    assert judged(table, [KAnonymity(2)]).n_suppressed == 0


@pytest.mark.parametrize(("size", "passed"), [(10, False), (11, False), (12, True)])
def test_highest_risk_of_nine_percent_takes_twelve_records(size, passed):
    verdict = judged(of_sizes(size, 20), [KAnonymity(1)], highest_risk=0.09)
    assert verdict.passed is passed
    assert "highest risk <= 0.09" in verdict.conditions
    if not passed:
        (failure,) = verdict.failures
        assert (failure.n_classes, failure.n_records, failure.worst) == (1, size, 1 / size)


@pytest.mark.parametrize(
    ("size", "limit", "passed"),
    [(5, 0.2, True), (10, 0.1, True), (1000, 0.001, True), (3, 0.34, True), (3, 0.333, False), (3, 1 / 3, False)],
)
def test_highest_risk_is_compared_as_a_fraction(size, limit, passed):
    """As floats 0.1 * 10 and 1 / 3 * 3 are 1; the decimal 0.3333333333333333 is below one third."""
    assert judged(of_sizes(size), [KAnonymity(1)], highest_risk=limit).passed is passed


@pytest.mark.parametrize(
    ("sizes", "limit", "passed"),
    [((1, 9), 0.2, True), ((1, 8), 0.2, False), ((10,), 0.1, True), ((1, 1, 1), 0.999, False), ((3, 7), 0.2, True)],
)
def test_average_risk_is_classes_over_records(sizes, limit, passed):
    verdict = judged(of_sizes(*sizes), [KAnonymity(1)], average_risk=limit)
    assert verdict.passed is passed
    if not passed:
        (failure,) = verdict.failures
        assert failure.worst == pytest.approx(len(sizes) / sum(sizes))


@pytest.mark.parametrize("limit", [0, -0.1, 1.5, float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["highest_risk", "average_risk"])
def test_limits_are_risks(name, limit):
    with pytest.raises(InputError, match=name):
        judged(of_sizes(3), [KAnonymity(1)], **{name: limit})


@pytest.mark.parametrize("missing", READINGS)
def test_empty_table(missing):
    table = pl.DataFrame({"a": [], "s": []}, schema={"a": pl.String, "s": pl.Int64})
    verdict = judged(
        table, [KAnonymity(2), DistinctLDiversity(2, "s")], missing=missing, highest_risk=0.5, average_risk=0.5
    )
    assert (verdict.n_records, verdict.n_classes, verdict.smallest_class, verdict.n_unique) == (0, 0, 0, 0)
    assert verdict.distinct_sensitive == {"s": 0}
    assert not verdict.passed
    assert str(verdict.failures[0]) == "no records"


@pytest.mark.parametrize("missing", READINGS)
def test_one_row(missing):
    verdict = judged(pl.DataFrame({"a": [1], "s": [2]}), [KAnonymity(2), DistinctLDiversity(2, "s")], missing=missing)
    assert [failure.worst for failure in verdict.failures] == [1.0, 1.0]
    assert (verdict.smallest_class, verdict.n_unique) == (1, 1)


def test_column_of_missing_cells_alone():
    assert judged(pl.DataFrame({"a": [None, None]}), [KAnonymity(2)]).passed
    assert judged(pl.DataFrame({"a": [None, None]}), [KAnonymity(2)], missing="worst").n_unique == 2


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("blank", ["", "  "])
def test_blank_text_is_as_missing_as_in_assess(blank, reading):
    """A table reads blank text as missing, so every reading of missing must hold for it here too."""
    table = pl.DataFrame({"a": ["x", "x", blank, blank]})
    found = judged(table, [KAnonymity(1)], missing=reading).smallest_class
    assert found == assess(table, quasi_identifiers=["a"]).smallest_by_missing[reading]


@pytest.mark.parametrize("name", ['a "quoted" one', "two words", "naïve, 😀", "tab\tin it", "<script>", "index", "*"])
def test_odd_column_names(name, tmp_path):
    table = pl.DataFrame({name: ["x", "x", "y", "y"], f"{name}?": [1, 2, 1, 2]})
    table.write_csv(tmp_path / "t.csv")
    models = [KAnonymity(2), DistinctLDiversity(2, f"{name}?")]
    for data in (table, table.to_pandas(), table.to_arrow(), tmp_path / "t.csv"):
        assert judged(data, models, [name]).passed


def test_many_columns_do_not_overflow_the_keys():
    width = 300
    table = pl.DataFrame({f"c{j}": [f"{(i * (j + 1)) % width}" for i in range(width)] * 2 for j in range(12)})
    verdict = judged(table, [KAnonymity(2)], table.columns)
    assert (verdict.n_classes, verdict.smallest_class) == (width, 2)


def test_unknown_column_gets_a_suggestion(people):
    with pytest.raises(ColumnError, match="did you mean 'age'"):
        judged(people, [KAnonymity(2)], ["agee"])


@pytest.mark.parametrize("options", [{"sensitive": ["wage"]}, {"models": [DistinctLDiversity(2, "wage")]}])
def test_unknown_sensitive_column(people, options):
    with pytest.raises(ColumnError, match="'wage'"):
        verify(people, **{"quasi_identifiers": ["age"], "models": [KAnonymity(2)], **options})


def test_doubled_quasi_identifier(people):
    with pytest.raises(ColumnError, match="more than once"):
        judged(people, [KAnonymity(2)], ["age", "age"])


def test_no_models(people):
    with pytest.raises(InputError, match="no privacy model"):
        judged(people, [], ["age"])


def test_no_quasi_identifiers(people):
    with pytest.raises(InputError, match="quasi-identifier"):
        judged(people, [KAnonymity(2)], [])


def test_unknown_reading_of_missing(people):
    with pytest.raises(InputError, match="'wild'"):
        judged(people, [KAnonymity(2)], ["age"], missing="wild")


@pytest.mark.parametrize("cells", [[[1], [2]], [b"\xff", b"\xfe"]], ids=["lists", "bytes"])
@pytest.mark.parametrize("role", ["a", "s"])
def test_cells_that_are_no_values_are_refused(role, cells):
    table = pl.DataFrame({"a": ["x", "x"], "s": ["1", "2"]} | {role: cells})
    with pytest.raises(ColumnError, match=f"'{role}'"):
        judged(table, [DistinctLDiversity(2, "s")])


def test_arguments_may_be_iterators(people):
    verdict = judged(people, iter([KAnonymity(2), DistinctLDiversity(1, "pay")]), iter(["age", "sex"]))
    assert verdict.passed
    assert len(verdict.conditions) == 2


def test_html_escapes_what_it_shows():
    name = "<script>alert(1)</script>"
    table = pl.DataFrame({name: ["x", "x"], "s": [1, 1]}).rename({"s": name + "s"})
    for distinct in (1, 2):
        shown = judged(table, [DistinctLDiversity(distinct, name + "s")], [name])._repr_html_()
        assert "<script" not in shown
        assert "&lt;script" in shown


def test_verdict_is_plain_values(people):
    verdict = judged(people, [KAnonymity(3), DistinctLDiversity(2, "pay")], ["age", "sex"])
    entries = json.loads(json.dumps(verdict.to_dict()))
    assert entries["passed"] is False
    assert [failure["n_records"] for failure in entries["failures"]] == [2, 2]


@pytest.mark.parametrize(
    ("cells", "distinct"),
    [
        ([0.0, -0.0, 1e16, 1e16], 1),
        (["0.0", "-0.0", "1e16", "1E16"], 1),
        (["1", "1.0", "1E10", "1E10"], 1),
        (["1", "1E0", "2", "3"], 1),
        (["1E1", "10E0", "2E1", "3E1"], 2),
    ],
)
def test_one_number_is_one_sensitive_value_beside_exponents(cells, distinct):
    verdict = judged(pl.DataFrame({"a": ["v", "v", "w", "w"], "s": cells}), [KAnonymity(2)], sensitive=["s"])
    assert verdict.distinct_sensitive == {"s": distinct}


@pytest.mark.parametrize("library", [pl.DataFrame, pd.DataFrame, pa.table])
def test_floats_are_sensitive_numbers_by_their_type(library):
    """Huge floats, which look like codes when they are written, still have an order: t-closeness differs by it."""
    floats = [1e16, 2e16, 3e16, 4e16]
    table = library({"a": ["v", "v", "w", "w"], "s": floats})
    whole = library({"a": ["v", "v", "w", "w"], "s": [each / 1e16 for each in floats]})
    verdicts = [judged(each, [TCloseness(0.1, "s")]) for each in (table, whole)]
    assert [verdict.failures[0].worst for verdict in verdicts] == [pytest.approx(1 / 3)] * 2


def test_the_original_says_how_a_sensitive_column_is_typed():
    """Suppression makes text of numbers; that of huge floats would look like codes."""
    original = pl.DataFrame({"a": ["v", "v", "w", "w", "x", "x"], "s": [1e16, 2e16, 3e16, 4e16, 5e16, 6e16]})
    published = pl.DataFrame({"a": ["v", "v", "w", "w", "*", "*"], "s": ["1e16", "2e16", "3e16", "4e16", "*", "*"]})
    verdicts = [judged(each, [TCloseness(0.1, "s")], original=original) for each in (published, original[:4])]
    assert [verdict.failures[0].worst for verdict in verdicts] == [pytest.approx(0.4)] * 2


@pytest.mark.parametrize(
    "cells",
    [["", None], [" ", ""], ["\t", " "], ["\u00a0", ""], ["\u00a0", None], ["", " ", "\t", "\u00a0", None]],
    ids=repr,
)
def test_missing_cells_that_can_be_told_apart_are_no_class(cells, tmp_path):
    table = pl.DataFrame({"a": ["x", "x", *cells], "b": ["u"] * (2 + len(cells))})
    table.write_parquet(tmp_path / "t.parquet")
    table.write_csv(tmp_path / "t.csv")
    ways = "two" if len(cells) == 2 else str(len(cells))
    for data in (table, table.to_pandas(), table.to_arrow(), tmp_path / "t.parquet", tmp_path / "t.csv"):
        for missing in READINGS:
            verdict = judged(data, [KAnonymity(1)], ["b", "a"], missing=missing)
            assert not verdict.passed
            assert [str(failure) for failure in verdict.failures] == [
                f"column 'a' writes its missing value in {ways} ways: {len(cells)} cells"
            ]


@pytest.mark.parametrize("cells", [["", ""], [" ", " "], [None, None], ["\t"] * 3])
def test_missing_cells_written_in_one_way_are_a_class(cells, tmp_path):
    table = pl.DataFrame({"a": ["x", "x", *cells], "b": 1}, schema={"a": pl.String, "b": pl.Int64})
    table.write_csv(tmp_path / "t.csv")
    for data in (table, table.to_pandas(), tmp_path / "t.csv"):
        assert judged(data, [KAnonymity(2)]).passed


def test_a_release_writes_missing_cells_in_one_way(tmp_path):
    """Blank in the input in any way, missing in the release in one."""
    table = pl.DataFrame({"a": ["x", "x", "", " ", None, "\t", "\u00a0"], "b": [1, 2, 3, 4, 5, 6, 7]})
    table.write_csv(tmp_path / "t.csv")
    for data in (table, table.to_pandas(), table.to_arrow(), tmp_path / "t.csv"):
        release = anonymize(data, quasi_identifiers=["a"], models=[KAnonymity(2)])
        assert release.verify().passed
        assert (release.verify().n_classes, release.partition.n_classes) == (2, 2)
        for name in ("out.csv", "out.parquet"):
            assert release.write(tmp_path / name, overwrite=True).passed
            assert frames.read(tmp_path / name).column("a").null_count() == 5


def test_an_empty_file_holds_nothing(tmp_path):
    (tmp_path / "out.csv").write_text("age,ill\n")
    (tmp_path / "p.yaml").write_text("columns: {age: quasi-identifier, ill: sensitive}\nmodels: [k-anonymity: 2]\n")
    outcome = run("verify", tmp_path / "out.csv", "-p", tmp_path / "p.yaml", "--no-manifest")
    assert outcome.code == 1
    assert "failed: no records" in outcome.out


def test_hierarchies_may_be_a_file_of_domains(tmp_path):
    """As `anonymize` takes them; columns that are not judged may be in it."""
    domains = tmp_path / "domains.txt"
    domains.write_text("job/blue: welder, plumber\njob/white: clerk\nother/x: y\n")
    table = pl.DataFrame({"job": ["blue", "blue", "clerk"]})
    people = pl.DataFrame({"job": ["welder", "plumber", "plumber", "clerk"]})
    for path in (domains, str(domains)):
        for k, passed in ((1, True), (2, False)):
            verdict = judged(table, [KMap(k)], ["job"], population=people, hierarchies=path)
            assert verdict.passed is passed


def test_blanked_cells_fail_an_ordered_closeness_where_the_original_has_none():
    original = pl.DataFrame({"a": ["x"] * 4, "s": [1, 2, 3, 4]})
    published = original.with_columns(s=pl.Series([None, 2, 3, 4]))
    model = TCloseness(0.5, "s")
    assert judged(original, [model], original=original).passed
    assert not judged(published, [model], original=original).passed


def test_an_ordered_sensitive_column_without_a_value():
    nothing = pl.Series([None] * 4, dtype=pl.Enum(["low", "high"]))
    original = pl.DataFrame({"a": ["x"] * 4, "s": nothing})
    assert judged(original, [KAnonymity(2)], sensitive=["s"], original=original).passed


@pytest.mark.parametrize("model", [TCloseness(0.9, "s", "equal"), BetaLikeness(3, "s"), DeltaDisclosure(3, "s")])
def test_a_value_that_the_original_lacks_is_judged(model):
    original = pl.DataFrame({"a": ["x"] * 4, "s": ["a", "a", "b", "b"]})
    published = original.with_columns(s=pl.Series(["z"] * 4))
    assert not judged(published, [model], original=original).passed
