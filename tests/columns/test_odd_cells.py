"""The rule of odd cells beside its slow twin, on columns that are drawn."""

import datetime as dt
import random

import numpy as np
import polars as pl
import pytest

from hushtable.columns import ColumnSpec, find_odd_cells
from hushtable.errors import InputError
from twins import naive_odd_cells

ODD = (
    *("31.02.1950", "00.00.0000", "1950-02-31", "24:00", "24:15", "D-01067", "030", "1.75", "1,75", "1943", "Mai 1943"),
    *("ca. 40", "4o", "x", "1067", "A1", "B10", "--", "7 Mo", "1.234.5", "05.10.43", "2020-01-01", "12:30", "1e5", "K"),
    *("NA", "N/A", "NULL", "unbekannt", "90+", "", "*", "#DIV/0!", "ä b", "2020-01-01T08:15:00", "10-Xyz-1950"),
)


def drawn_cells(rng: random.Random, n: int) -> list[str]:
    """Draw the cells of one kind."""
    days = [dt.datetime(1940, 1, 1) + dt.timedelta(rng.randrange(25_000), rng.randrange(86_400)) for _ in range(n)]
    numbers = [rng.randrange(10 ** rng.choice([2, 5])) for _ in range(n)]
    kinds = [
        lambda: [f"{day:{rng_format}}" for day in days],
        lambda: [*map(str, numbers)],
        lambda: [f"{x / 100:.2f}" for x in numbers],
        lambda: [f"{x / 100:,.2f}".translate(str.maketrans(",.", ".,")) for x in numbers],
        lambda: [f"{day:%H:%M}" for day in days],
        lambda: [f"{x % 100_000:05d}" for x in numbers],
        lambda: [f"{'ABC'[x % 3]}{x % 90 + 10}.{x % 7}" for x in numbers],
        lambda: [f"K{x}" for x in numbers],
        lambda: [rng.choice(["cook", "clerk 7", "C3PO"]) for _ in days],
        lambda: [rng.choice(["1", "2"]) for _ in days],
    ]
    rng_format = rng.choice(
        ["%d.%m.%Y", "%m/%d/%Y", "%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%d-%b-%Y", "%d.%m.%Y %H:%M"]
    )
    return rng.choice(kinds)()


@pytest.mark.parametrize("seed", range(150))
def test_odd_cells_are_those_that_the_rule_names(seed):
    rng = random.Random(seed)
    n = rng.randrange(20, 400)
    cells = drawn_cells(rng, n)
    for place in rng.sample(range(n), rng.choice([0, 1, 2, 3, max(1, n // 20), max(1, n // 15)])):
        cells[place] = rng.choice(ODD) if rng.random() < 0.9 else rng.choice(drawn_cells(rng, 1))
    expected = naive_odd_cells.odd_cells(cells)
    odd = find_odd_cells(pl.Series(cells), ColumnSpec())
    assert ({} if odd is None else {*odd.texts}) == ({*expected} or {})
    if odd is not None:
        forms = dict.fromkeys(map(naive_odd_cells.form, expected), 0)
        for text, count in expected.items():
            forms[naive_odd_cells.form(text)] += count
        assert odd.forms == forms
        assert not [text for text in odd.texts if text in odd.describe() and text not in odd.forms]


@pytest.mark.parametrize("seed", range(20))
def test_counted_rows_are_judged_as_their_records(seed):
    rng = random.Random(seed)
    cells = drawn_cells(rng, 300)
    cells[7] = cells[9] = rng.choice(ODD)
    distinct = sorted(set(cells))
    counts = np.array([cells.count(cell) for cell in distinct], dtype=np.int64)
    counted = find_odd_cells(pl.Series(distinct), ColumnSpec(), counts)
    one_by_one = find_odd_cells(pl.Series(cells), ColumnSpec())
    if len(distinct) >= 200:
        assert counted == one_by_one


def test_no_form_tells_a_cell():
    cells = [*map(str, range(100)), "Zoë Müller, +49 30 ☠", "x" * 400]
    odd = find_odd_cells(pl.Series(cells), ColumnSpec())
    assert odd is not None
    assert odd.forms == {"Aaa Aaaaaa, +99 99 ?": 1, "a" * 24 + "...": 1}
    assert "Zo" not in repr(odd)


@pytest.mark.parametrize(
    ("cells", "spec"),
    [
        ([*map(str, range(40)), "x"], ColumnSpec(odd_cells="text")),
        ([*map(str, range(40)), "x"], ColumnSpec("category")),
        ([*map(str, range(40)), "x"], ColumnSpec(separator=";")),
        ([*map(str, range(40)), "x"], ColumnSpec(missing_values=("x",))),
        (["1", "2"] * 20 + ["x"], ColumnSpec()),
        ([*map(str, range(300)), *map("a{}".format, range(9)), *"!?&%$#"], ColumnSpec()),
        ([*map(str, range(100)), "[3, 5)"], ColumnSpec()),
        ([], ColumnSpec()),
    ],
)
def test_none_is_odd_where_text_was_declared_or_nothing_is_nearly_all(cells, spec):
    assert find_odd_cells(pl.Series(cells, dtype=pl.String), spec) is None


def test_an_answer_is_one_of_three():
    with pytest.raises(InputError, match="odd_cells = 'drop'"):
        ColumnSpec(odd_cells="drop")  # type: ignore[arg-type]
