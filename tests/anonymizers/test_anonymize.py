"""The front door: what `anonymize` refuses, and what holds for all that it returns."""

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import hushtable as ht

PEOPLE = pl.DataFrame(
    {
        "age": [31, 34, 38, 39, 52, 57, 58, None],
        "sex": [*"fmffmfm", None],
        "pay": [1, 2, 1, 2, 1, 2, 1, 2],
        "note": list("abcdefgh"),
    }
)
QUASI = ["age", "sex"]
METHODS = [ht.Mondrian(cut=cut, recoding=style) for cut in ("gain", "median") for style in ("tight", "cut")]

cells = {
    "age": st.none() | st.integers(-3, 3),
    "sex": st.none() | st.sampled_from(["f", "m", "x", ""]),
    "pay": st.none() | st.sampled_from([1, 2, 3]),
}
records = st.lists(st.fixed_dictionaries(cells), min_size=1, max_size=24)
SCHEMA = {"age": pl.Int64, "sex": pl.String, "pay": pl.Int64}


def protect(data: Any = PEOPLE, **options: Any) -> ht.Release:
    return ht.anonymize(data, **{"quasi_identifiers": QUASI, "models": [ht.KAnonymity(2)], **options})


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"models": []}, ht.InputError, "no privacy model"),
        ({"quasi_identifiers": []}, ht.InputError, "no quasi-identifier"),
        ({"quasi_identifiers": ["agee"]}, ht.ColumnError, "'agee'.*\n\n.*did you mean 'age'"),
        ({"quasi_identifiers": ["age", "age"]}, ht.ColumnError, "'age' more than once"),
        ({"identifiers": ["nme"]}, ht.ColumnError, "'nme'"),
        ({"identifiers": ["age"]}, ht.ColumnError, "'age' have more than one role"),
        ({"models": [ht.DistinctLDiversity(2, "wage")]}, ht.ColumnError, "'wage'"),
        ({"models": [ht.DistinctLDiversity(2, "age")]}, ht.ColumnError, "'age' have more than one role"),
        ({"pseudonyms": ht.Pseudonyms(("sex",), bytes(range(16)))}, ht.ColumnError, "'sex' have more than one role"),
        ({"pseudonyms": ht.Pseudonyms(("nix",), bytes(range(16)))}, ht.ColumnError, "'nix'"),
        ({"method": "mondriaan"}, ht.InputError, "'mondriaan'.*\n\n.*'mondrian'"),
        ({"loss": "entropy"}, ht.InputError, "'entropy'"),
        ({"missing": "wildcard"}, ht.InputError, "no partition"),
        ({"specs": {"sex": ht.ColumnSpec("integer")}}, ht.ColumnError, "'sex' is declared integer"),
        ({"specs": {"sex": ht.ColumnSpec(order=("f",))}}, ht.ColumnError, "'sex' holds 1 distinct values"),
        ({"models": [ht.KAnonymity(9)]}, ht.InfeasibleError, "8 records.*reaches 8"),
        ({"models": [ht.DistinctLDiversity(3, "pay")]}, ht.InfeasibleError, "reaches 2"),
    ],
)
def test_refused(options: dict[str, Any], error: type[ht.HushError], message: str) -> None:
    with pytest.raises(error, match=f"(?s){message}") as caught:
        protect(**options)
    assert "\n\nHint: " in str(caught.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (PEOPLE.head(0), "the table is empty"),
        (PEOPLE.with_columns(sex=pl.lit("*")), r"'sex' holds a literal '\*'"),
        (PEOPLE.with_columns(age=pl.lit(float("inf"))), "'age' holds infinite numbers"),
        (PEOPLE.with_columns(age=pl.lit(b"x")), "'age' has the type Binary"),
        ([1, 2], "type list"),
        (None, "type NoneType"),
        ("none.csv", "No such file"),
    ],
    ids=["empty", "star", "infinite", "bytes", "list", "none", "no file"],
)
def test_unusable_tables(data: Any, message: str) -> None:
    with pytest.raises(ht.InputError, match=message):
        protect(data)


def test_doubled_columns_of_pandas() -> None:
    table = PEOPLE.to_pandas()
    table.columns = ["age", "age", "sex", "sex"]
    with pytest.raises(ht.ColumnError):
        protect(table)


def test_column_names_of_pandas_that_are_no_text() -> None:
    table = PEOPLE.to_pandas()
    table.columns = [0, 1, 2, 3]
    with pytest.raises(ht.InputError):
        protect(table, quasi_identifiers=[0, 1])


def test_a_star_elsewhere_is_nobody_s_business() -> None:
    source = PEOPLE.with_columns(note=pl.lit("*"))
    assert protect(source).frame["note"].to_list() == ["*"] * 8


def test_a_method_by_name_is_the_method_by_default() -> None:
    assert protect(method="mondrian").frame.equals(protect(method=ht.Mondrian()).frame)


@pytest.mark.parametrize("models", [[ht.KAnonymity(1)], [ht.KAnonymity(1), ht.DistinctLDiversity(1, "pay")]])
def test_a_k_that_asks_nothing_is_warned_of(models: list[Any]) -> None:
    with pytest.warns(UserWarning, match="k = 1"):
        protect(models=models)


def test_a_spec_orders_a_column() -> None:
    ordered = protect(
        pl.DataFrame({"pain": ["mild", "none", "severe", "mild"] * 2}),
        quasi_identifiers=["pain"],
        models=[ht.KAnonymity(4)],
        specs={"pain": ht.ColumnSpec("ordered", ("none", "mild", "severe"))},
    )
    assert ordered.recoding.columns[0].values.tolist() == ["none", "mild", "severe"]
    assert ordered.verify().passed


def test_progress_rises_to_one() -> None:
    seen: list[float] = []
    people = ht.datasets.people(500).select("birth_date", "sex")
    protect(people, quasi_identifiers=people.columns, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


@pytest.mark.parametrize("method", ["mondrian", "mingen", "genetic"])
@pytest.mark.parametrize("n", [12, 60])
def test_progress_ends_at_one_whatever_ended_the_search(method: str, n: int) -> None:
    seen: list[float] = []
    budget = ht.Budget(nodes=20)
    people = ht.datasets.people(n).select("birth_date", "sex")
    protect(people, quasi_identifiers=people.columns, method=method, budget=budget, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


@pytest.mark.parametrize("budget", [ht.Budget(nodes=1), ht.Budget(nodes=7), ht.Budget(seconds=1e-9)])
def test_a_budget_gives_a_safe_release(budget: ht.Budget) -> None:
    people = ht.datasets.people(500).select("birth_date", "sex")
    release = protect(people, quasi_identifiers=["birth_date", "sex"], models=[ht.KAnonymity(5)], budget=budget)
    assert release.verify().passed
    assert not release.trace.complete
    assert release.loss >= protect(people, quasi_identifiers=["birth_date", "sex"], models=[ht.KAnonymity(5)]).loss


@pytest.mark.parametrize("method", METHODS, ids=repr)
@given(rows=records, k=st.integers(1, 6), l=st.integers(1, 3))
def test_every_release_verifies(method: ht.Mondrian, rows: list[dict[str, Any]], k: int, l: int) -> None:  # noqa: E741
    source = pl.DataFrame(rows, schema=SCHEMA)
    models = [ht.KAnonymity(k), ht.DistinctLDiversity(l, "pay")]
    feasible = len(rows) >= k and source["pay"].drop_nulls().n_unique() >= l
    if not feasible:
        with pytest.raises(ht.InfeasibleError):
            protect(source, models=models, method=method)
        return
    release = protect(source, models=models, method=method)
    assert release.verify().passed
    assert release.frame["pay"].equals(source["pay"])
    classes: dict[Any, Counter[Any]] = {}
    for *cell, pay in release.frame.select("age", "sex", "pay").iter_rows():
        classes.setdefault(tuple(cell), Counter())[pay] += 1
    assert min(each.total() for each in classes.values()) >= k
    assert min(len(set(each) - {None}) for each in classes.values()) >= l
    assert release.partition.sizes.sum() == len(rows)
    assert 0.0 <= release.loss <= 1.0


@given(rows=records, seed=st.integers(0, 99))
def test_the_order_of_rows_changes_nothing(rows: list[dict[str, Any]], seed: int) -> None:
    source = pl.DataFrame(rows, schema=SCHEMA)
    order = np.random.default_rng(seed).permutation(len(rows))
    models = [ht.KAnonymity(min(2, len(rows)))]
    assert protect(source[order], models=models).frame.equals(protect(source, models=models).frame[order])


@given(rows=records)
def test_collapsing_to_counts_changes_nothing(rows: list[dict[str, Any]]) -> None:
    source = pl.DataFrame(rows, schema=SCHEMA)
    models = [ht.KAnonymity(min(3, len(rows)))]
    table = ht.Table.encode(source)
    counted, inverse = table.collapse()
    by_row, by_count = protect(table, models=models), protect(counted, models=models)
    assert by_row.loss == pytest.approx(by_count.loss, abs=1e-12)
    assert by_count.frame.decode()[inverse].equals(by_row.frame.decode())


@given(rows=records)
def test_tight_cells_hold_the_value_they_replace(rows: list[dict[str, Any]]) -> None:
    source = pl.DataFrame(rows, schema=SCHEMA)
    release = protect(source, models=[ht.KAnonymity(min(2, len(rows)))])
    for value, cell in zip(source["age"], release.frame["age"], strict=True):
        if cell is None or value is None:
            assert value is None
            assert cell in (None, "*")
        elif cell.startswith("["):
            low, high = map(int, cell[1:-1].split(", "))
            assert low <= value <= high
        else:
            assert cell in ("*", str(value))


def test_an_ordered_sensitive_column_without_a_value_is_released():
    pain = pl.Series([None] * 4, dtype=pl.Enum(["none", "mild"]))
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "pain": pain})
    release = ht.anonymize(frame, quasi_identifiers=["age"], sensitive=["pain"], models=[ht.KAnonymity(2)])
    assert release.verify().passed


def test_codes_of_missing_values_are_named_before_the_search():
    data = pl.DataFrame({"age": [*range(20, 69), *[999] * 5], "sex": ["f", "m"] * 27})
    asked = {"quasi_identifiers": QUASI, "models": [ht.KAnonymity(60)]}
    told = r"'age' holds 999 in 5 records.*missing_values: \[\"999\"\] if it is one"
    # No class of 60 can be found: what was told was told before.
    with pytest.warns(UserWarning, match=told), pytest.raises(ht.InfeasibleError):
        ht.anonymize(data, **asked)
    said = {"age": ht.ColumnSpec(missing_values=("999",))}
    release = ht.anonymize(data, **{**asked, "models": [ht.KAnonymity(2)]}, specs=said)
    assert not any("999" in str(cell) for cell in release.frame["age"])
