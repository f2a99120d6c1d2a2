"""The floor under the set-NCP: against a slow twin, and under every release."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hushtable as ht
from hushtable.quality.bound import ncp_lower_bound

ROWS = st.lists(st.tuples(st.integers(0, 6) | st.none(), st.sampled_from("abc") | st.none()), min_size=4, max_size=20)


def slow_bound(rows, k):
    """For every record, what it and its k-th nearest record (itself the first) publish together; the mean."""
    ages = [age for age, _ in rows if age is not None]
    width = max(ages, default=0) - min(ages, default=0)
    domain = len({job for _, job in rows})

    def together(one, other):
        age = 0.0
        if one[0] != other[0]:
            age = 1.0 if None in (one[0], other[0]) else abs(one[0] - other[0]) / width
        return age + (2 / domain if one[1] != other[1] else 0.0)

    return sum(sorted(together(row, other) for other in rows)[k - 1] for row in rows) / len(rows) / 2


@given(ROWS, st.integers(1, 4))
def test_the_slow_twin(rows, k):
    frame = pl.DataFrame(rows, schema={"age": pl.Int64, "job": pl.String}, orient="row")
    assert ncp_lower_bound(frame, ["age", "job"], k) == pytest.approx(slow_bound(rows, k), abs=1e-12)


@given(ROWS, st.integers(1, 4), st.booleans())
def test_no_release_goes_below(rows, k, exchange):
    frame = pl.DataFrame(rows, schema={"age": pl.Int64, "job": pl.String}, orient="row")
    release = ht.anonymize(
        frame,
        quasi_identifiers=["age", "job"],
        models=[ht.KAnonymity(k)],
        method=ht.Mondrian(exchange=exchange),
    )
    assert ncp_lower_bound(frame, ["age", "job"], k) <= release.loss + 1e-12


def test_fewer_records_than_k():
    with pytest.raises(ht.InputError, match="k = 3"):
        ncp_lower_bound(pl.DataFrame({"a": [1, 2]}), ["a"], 3)
