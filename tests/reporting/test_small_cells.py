"""Bands of fewer than eleven records are joined, and nothing can be worked out from what is left."""

from hypothesis import given, strategies as st

from hushtable.reporting.document import Quantity
from hushtable.reporting.outside import merge_bands

BANDS = ["1", "2", "3 to 4", "5 to 9", "10 to 19", "20 to 49"]


@given(st.lists(st.integers(0, 40), min_size=6, max_size=6))
def test_no_band_is_small_and_none_is_lost(records):
    found = merge_bands(BANDS, records)
    if sum(records) < 11:
        assert found == ()
        return
    assert all(n >= 11 for _, n in found)
    assert sum(n for _, n in found) == sum(records)
    # Each joins bands that stand side by side, from its first word to its last.
    place = 0
    for label, n in found:
        first, last = label.split(" to ")[0], label.split(" to ")[-1]
        start = next(i for i, band in enumerate(BANDS) if band.split(" to ")[0] == first)
        end = next(i for i, band in enumerate(BANDS) if band.split(" to ")[-1] == last)
        assert start >= place
        assert n == sum(records[start : end + 1])
        place = end + 1


def test_what_is_large_enough_stays():
    assert merge_bands(BANDS, [0, 11, 0, 12, 13, 0]) == (("2", 11), ("5 to 9", 12), ("10 to 19", 13))
    assert merge_bands(BANDS, [1, 0, 0, 0, 0, 11]) == (("1 to 49", 12),)


def test_numbers_as_people_read_them():
    shown = [Quantity(share, "share").shown for share in (0, 1, 0.5, 0.0123, 0.00123, 0.0000001, None, float("nan"))]
    assert shown == ["0 %", "100 %", "50 %", "1.2 %", "0.12 %", "under 0.01 %", "", ""]
    assert Quantity(float("inf")).value is None
    assert Quantity(1234567.0, "count").shown == "1,234,567"


def test_too_few_records_in_all_show_no_band():
    assert merge_bands(BANDS, [3, *[0] * (len(BANDS) - 1)]) == ()
