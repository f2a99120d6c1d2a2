"""Shifted dates and days since the first one, on arrays: beside a slow twin, and beside what is promised of them."""

from datetime import date, datetime

import numpy as np
import pytest
from scipy.stats import chi2

from hushtable.errors import InputError
from hushtable.release import (
    DateShift,
    KnownIntervals,
    Timelines,
    days_since_first,
    find_first_dates,
    measure_curve,
    measure_intervals,
    shift_dates,
)
from hushtable.release.timelines.curves import DateCurve
from twins import naive_timelines as naive

KEY = bytes(range(32))
WINDOW = ("2023-01-01", "2024-12-31")


def shift_of(within="26W", window=WINDOW, key=KEY):
    return DateShift(("day",), within, window, key)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_days", [4, 60])
def test_intervals_find_whom_the_slow_twin_finds(seed, n_days):
    rng = np.random.default_rng(seed)
    persons, days = rng.integers(0, 30, 90), rng.integers(0, n_days, 90)
    events = list(zip(persons.tolist(), days.tolist(), strict=True))
    for measured in measure_intervals(persons.astype(np.int32), days, 5):
        for least, chance in ((2, measured.found), (5, measured.few)):
            n_persons, expected = naive.intervals(events, measured.n_intervals, least)
            assert (measured.n_persons, pytest.approx(expected)) == (n_persons, chance)


def test_nobody_has_an_interval_of_one_date_each():
    assert measure_intervals(np.arange(3, dtype=np.int32), np.array([4, 4, 9]), 5) == ()
    assert measure_intervals(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64), 5) == ()


@pytest.mark.parametrize(
    ("within", "n", "unit", "n_persons"),
    [("26W", 26, 7, 4_000), ("182D", 182, 1, 4_000), pytest.param("182D", 182, 1, 100_000, marks=pytest.mark.slow)],
)
def test_offsets_are_uniform_those_of_the_twin_and_of_the_key(within, n, unit, n_persons):
    persons = [f"P{i}" for i in range(n_persons)]
    shift, second = shift_of(within), shift_of(within, key=bytes(32 - i for i in range(32)))
    offsets, other = (np.array([each.offset_of(person) for person in persons]) for each in (shift, second))
    assert offsets[:50].tolist() == [naive.offset(KEY, person, n, unit) for person in persons[:50]]
    counts = np.bincount(offsets // unit, minlength=n)
    assert len(counts) == n
    statistic = ((counts - len(persons) / n) ** 2).sum() / (len(persons) / n)
    assert chi2.sf(statistic, n - 1) > 1e-3
    assert (other == offsets).mean() == pytest.approx(1 / n, abs=4 * (1 / n / n_persons) ** 0.5)


def test_published_rows_are_those_of_the_twin_and_every_offset_is_possible():
    rng, shift = np.random.default_rng(1), shift_of("182D")
    persons = np.sort(rng.integers(0, 200, 900))
    days = np.datetime64(WINDOW[0]) + rng.integers(0, 731, 900)
    offsets = np.array([shift.offset_of(f"P{i}") for i in range(200)])
    shifted = shift_dates(days, persons, offsets)
    is_kept = shift.is_published(shifted)
    for person in range(200):
        own = days[persons == person].tolist()
        expected = naive.published(own, int(offsets[person]), *map(date.fromisoformat, WINDOW), 181)
        assert shifted[is_kept & (persons == person)].tolist() == expected
    for offset in range(182):
        before = shifted[is_kept] - offset
        assert before.min() >= np.datetime64(WINDOW[0])
        assert before.max() <= np.datetime64(WINDOW[1])
    # Intervals stay, to the day.
    same = np.flatnonzero(persons[1:] == persons[:-1])
    assert (np.diff(shifted)[same] == np.diff(days)[same]).all()


def test_updates_of_ten_days_leave_every_offset_possible():
    # The window grows day by day, and each release is truncated by its own: what is possible stays all of it.
    person, offset, reach = "P1", shift_of("182D").offset_of("P1"), 181
    for extra in range(10):
        window = (WINDOW[0], str(np.datetime64("2024-12-21") + extra))
        shift = shift_of("182D", window)
        assert shift.offset_of(person) == offset
        days = np.arange(np.datetime64(window[0]), np.datetime64(window[1]) + 1)
        shifted = days + offset
        shown = shifted[shift.is_published(shifted)]
        possible = [n for n in range(182) if shown[0] - n >= days[0] and shown[-1] - n <= days[-1]]
        assert len(possible) == reach + 1


def test_days_are_calendar_days():
    # Over a leap day, in the night when clocks change, before 1900, and where a date is missing.
    moments = [
        (datetime(2024, 2, 28, 23, 59), 2, datetime(2024, 3, 1, 23, 59)),
        (datetime(2024, 3, 30, 2, 30), 1, datetime(2024, 3, 31, 2, 30)),
        (datetime(1899, 12, 31), 1, datetime(1900, 1, 1)),
        (datetime(1582, 10, 4), 365, datetime(1583, 10, 4)),
    ]
    before = np.array([each[0] for each in moments] + ["NaT"], dtype="datetime64[us]")
    offsets = np.array([each[1] for each in moments] + [5])
    shifted = shift_dates(before, np.arange(5), offsets)
    assert shifted[:4].tolist() == [each[2] for each in moments]
    assert np.isnat(shifted[4])
    assert shift_of().is_published(shifted[4:]).all()


def test_days_since_the_first_event_over_two_tables():
    stays, drugs = np.array(["2023-05-01", "2023-01-10", "NaT"], "M8[D]"), np.array(["2023-01-03T08:00"], "M8[us]")
    first = find_first_dates([(np.array([0, 0, 1]), stays), (np.array([0]), drugs)], 2)
    assert days_since_first(stays, np.array([0, 0, 1]), first)[:2].astype(int).tolist() == [118, 7]
    assert days_since_first(drugs, np.array([0]), first).astype(int).tolist() == [0]
    assert np.isnat(first[1])


def curve_of(within, weekend):
    rng, shift = np.random.default_rng(0), shift_of(within)
    window = np.arange(np.datetime64(WINDOW[0]), np.datetime64(WINDOW[1]) + 1)
    # 1970-01-01 was a Thursday.
    rates = np.where((window.astype(int) + 3) % 7 > 4, weekend, 1.0)
    days = rng.choice(window, 6_000, p=rates / rates.sum())
    persons = rng.integers(0, 1_500, 6_000)
    offsets = np.array([shift.offset_of(f"P{i}") for i in range(1_500)])
    shifted = shift_dates(days, persons, offsets)
    kept = shift.is_published(shifted)
    return measure_curve(days, shifted[kept], persons[kept], shift)


def test_a_shift_by_days_shows_in_the_weekdays_and_whole_weeks_keep_them():
    by_days, by_weeks = curve_of("182D", 0.35), curve_of("26W", 0.35)
    assert by_days.shows_shift
    assert not by_weeks.shows_shift
    assert by_weeks.weekday_p < 1e-3
    # Weekdays tell something of an offset in days, and nothing of one in weeks.
    assert by_days.fewest_offsets < by_days.mean_offsets < 170
    assert by_weeks.mean_offsets > 24


def test_even_weekdays_tell_nothing():
    curve = curve_of("28D", 1.0)
    assert not curve.shows_shift
    assert curve.mean_offsets > 27
    assert curve.input_month_peak < 1.2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"within": "26 weeks"}, "within = '26 weeks'"),
        ({"within": "1W"}, "2 or more"),
        ({"within": "0D"}, "within = '0D'"),
        ({"within": "365D", "window": ("2023-01-01", "2024-12-29")}, None),
        ({"within": "368D", "window": ("2023-01-01", "2024-12-31")}, "more than half of the window of 731 days"),
        ({"window": ("2024-01-01", "2023-01-01")}, "window = "),
        ({"window": ("soon", "later")}, "window = "),
        ({"window": ("2024-01-01",)}, "window = "),
        ({"key": b"short"}, "5 bytes"),
        ({"key": bytes(32)}, "different bytes"),
        ({"key": "text"}, "type str"),
    ],
)
def test_a_shift_that_would_hide_little_or_cost_most_is_refused(options, words):
    if words is None:
        assert shift_of(**options).reach == 364
        return
    with pytest.raises(InputError, match=words):
        shift_of(**options)


def test_the_cost_is_said_before_and_neither_key_nor_offset_is_shown():
    shift = shift_of("182D")
    assert "2023-07-01 to 2024-12-31" in shift.cost
    assert "about 25 % of the records" in shift.cost
    assert str(KEY) not in repr(shift)


def test_facts_are_read_back_as_they_were_written():
    known = KnownIntervals(1, 9, 0.5, 1.0)
    curve = DateCurve(9.0, 0.0001, 1.3, 1.0, 0.5, 1.0, 26, 20.0, 3.5, 10, True)
    made = Timelines("shift", ("day",), "26W", "0 to 25 whole weeks", WINDOW, {"day": (known,)}, 9, 4, 2, 1, curve)
    assert Timelines.from_dict(made.to_dict()) == made
    sentences = " ".join(made.describe())
    assert "a shift alone protects nobody" in sentences
    assert "finds 50.0 %" in sentences
    public = Timelines.from_dict(Timelines.public_part(made.to_dict()))
    assert "Left out" not in " ".join(public.describe())
    assert public.curve is public.n_records is None
    counted = Timelines("since-first", ("day",), intervals={"day": ()}, n_records=9, n_persons=4)
    assert Timelines.from_dict(counted.to_dict()) == counted
    for word in ("protected", "anonymous", "anonymity"):
        assert word not in sentences
