"""A column in few places: every record in one of them, round edges, and nothing that few people have."""

import datetime as dt
from collections import Counter

import polars as pl
import pytest
from hypothesis import given, strategies as st

import hushtable as ht
from hushtable.claims import Classes
from hushtable.io import frames
from hushtable.quality.utility import measure_utility


def of(values, published=None, kind=None):
    """Measure one column, published as it is where nothing else is given."""
    table = pl.DataFrame({"x": values, "other": [0] * len(values)})
    shown = table if published is None else pl.DataFrame({"x": published, "other": [0] * len(published)})
    specs = {"x": ht.ColumnSpec(kind)} if kind else {}
    claim = Classes(("x",), (ht.KAnonymity(1),), specs=specs)
    found = measure_utility(frames.read(table), frames.read(shown), claim)
    return found.column("x").distribution


def bounds(place):
    """Read a bin of numbers as a reader would."""
    plain = place.replace(",", "")
    if plain.startswith("<"):
        return float("-inf"), float(plain[1:])
    if plain.startswith("≥"):
        return float(plain[1:]), float("inf")
    low, high = plain.split("–")
    return float(low), float(high)


@given(st.lists(st.integers(0, 10_000) | st.none(), min_size=1, max_size=120))
def test_numbers_are_counted_bin_by_bin(values):
    if all(value is None for value in values):
        return
    found = of(values)
    known = [value for value in values if value is not None]
    for place, ours, theirs in zip(found.places, found.original, found.release, strict=True):
        if place == "missing":
            n = len(values) - len(known)
        elif place == "all values":
            n = len(known)
        else:
            low, high = bounds(place)
            n = sum(low <= value < high for value in known)
        assert theirs == pytest.approx(n / len(values))
        assert ours == (None if 0 < n < 11 else pytest.approx(n / len(values)))
    assert sum(found.release) == pytest.approx(1)
    assert len(found.places) <= 12


@given(st.lists(st.sampled_from("abcdefghijklmnop"), min_size=1, max_size=200))
def test_only_values_that_eleven_records_share_are_named(values):
    found = of(values)
    counts = Counter(values)
    named = [place for place in found.places if place != "all others"]
    assert all(counts[place] >= 11 for place in named)
    assert len(named) == min(10, sum(n >= 11 for n in counts.values()))
    rest = len(values) - sum(counts[each] for each in named)
    expected = [rest if place == "all others" else counts[place] for place in found.places]
    assert found.release == pytest.approx(tuple(n / len(values) for n in expected))


def test_edges_are_no_ones_values():
    ages = [17.3 + i * 0.7 for i in range(90)] + [104.9]
    found = of(ages)
    assert not any(str(age) in place for age in ages for place in found.places)
    assert found.places[0] == "<30"
    assert found.places[-1] == "≥70"


def test_days_fall_into_calendar_units():
    days = [dt.date(1950 + i % 60, 1 + i % 12, 3) for i in range(400)]
    found = of(days)
    assert found.places[0] == "<1960"
    assert found.places[1] == "1960–1970"
    few = of([dt.date(2024, 1, 1) + dt.timedelta(i % 100) for i in range(400)])
    assert few.places == ("<2024-02", "2024-02–2024-03", "2024-03–2024-04", "≥2024-04")


def test_an_interval_is_spread_over_its_bins():
    values = [5] * 20 + [15] * 20 + [25] * 20
    found = of(values, ["[0, 20)"] * 40 + ["25"] * 20, "integer")
    shares = dict(zip(found.places, found.release, strict=True))
    below = sum(share for place, share in shares.items() if bounds(place)[1] <= 10)
    assert below == pytest.approx(1 / 3)


def test_a_distribution_is_in_no_dictionary_and_no_repr():
    people = ht.datasets.people(200).select("sex", "nationality")
    release = ht.anonymize(people, quasi_identifiers=["sex"], sensitive=["nationality"], models=[ht.KAnonymity(2)])
    found = release.utility()
    assert found.column("nationality").distribution.places
    assert "Germany" not in repr(found)
    assert "Germany" not in str(found.to_dict())
    assert "Germany" not in repr(found.column("nationality").distribution)
