"""How far open cells may reach: as dense as what is inside, and a guess that the user is told of."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from hushtable.quality.cell_values import OPEN_ABOVE, OPEN_BELOW, Spread
from hushtable.quality.open_ends import Tail, extend_open_cells, open_rate


def spread(cells: list[tuple[float, float, int, int]]) -> Spread:
    """Return cells from (first place, places, bits of open ends, records)."""
    low, width, opened, counts = (np.array(each) for each in zip(*cells, strict=True))
    n = len(cells)
    rows = np.repeat(np.arange(n, dtype=np.int32), counts)
    told = np.ones(n, dtype=bool)
    low, width = low.astype(float), width.astype(float)
    return Spread(rows, told, np.zeros(n), np.arange(n), low, width, np.ones(n), True, open_ends=opened)


def test_a_tail_is_as_dense_at_its_bound_as_what_is_inside() -> None:
    # 10 records a place from 20 to 59; 150 beyond.
    inside = [(20.0, 20.0, 0, 200), (40.0, 20.0, 0, 200)]
    column = spread([(19.0, 1.0, OPEN_BELOW, 50), *inside, (60.0, 5.0, OPEN_ABOVE, 150)])
    found = extend_open_cells(column, None)
    assert found is not None
    reached, (below, above) = found
    assert (below.cut, above.cut) == (20, 60)
    assert (below.scale, above.scale) == pytest.approx((5, 15), rel=1e-6)
    assert (reached.low[0], reached.width[0], reached.low[3], reached.width[3]) == (5, 15, 60, 45)
    assert (reached.low[1:3] == column.low[1:3]).all()
    assert open_rate(column) == pytest.approx(1 / 3)


def test_a_column_without_numbers_below_0_does_not_go_there() -> None:
    column = spread([(0.0, 4.0, OPEN_BELOW, 90), (4.0, 10.0, 0, 100)])
    found = extend_open_cells(column, 2.0)
    assert found is not None
    assert (found[0].low[0], found[0].width[0]) == (2, 2)


def test_a_single_bound_tells_no_scale() -> None:
    assert extend_open_cells(spread([(49.0, 1.0, OPEN_BELOW, 10), (50.0, 1.0, OPEN_ABOVE, 10)]), None) is None
    column = spread([(3.0, 4.0, 0, 10)])
    assert extend_open_cells(column, None) == (column, ())


@pytest.mark.parametrize(("shape", "length"), [(-0.8, 12.5), (-0.5, 20.0)])
def test_a_tail_holds_as_many_records_whatever_its_shape(shape: float, length: float) -> None:
    tail = Tail(0.0, 10.0, 1)
    places = np.linspace(0, 40, 40_001)
    densities = tail.densities(places, shape, is_whole=False)
    assert densities.mean() * 40 == pytest.approx(10, rel=1e-3)
    assert (densities[places > length + 1e-9] == 0).all()
    assert Tail(0.0, 10.0, -1).densities(-places, shape, is_whole=False) == pytest.approx(densities)


def test_who_reads_intervals_of_open_columns_is_warned() -> None:
    pytest.importorskip("statsmodels", reason="needs hushtable[regression]")
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, 120)
    frame = pl.DataFrame({"age": age, "job": rng.choice(list("ab"), 120), "pay": age * 2.0 + rng.normal(0, 9, 120)})
    method: Any = ht.Mondrian(recoding="readable")
    asked: dict[str, Any] = {"quasi_identifiers": ["age", "job"], "method": method, "roles": "trust"}
    wide = ht.anonymize(frame, models=[ht.KAnonymity(25)], **asked).utility(model="pay ~ age + job").regression
    assert wide is not None
    assert wide.doubtful == ("age",)
    assert "age:" in wide.to_dict()["warnings"][0]
    assert "open cells" in wide._repr_html_()
    # A single bound: no scale, and no slope.
    split = frame.with_columns(job=pl.lit("a"))
    one = ht.anonymize(split, models=[ht.KAnonymity(50)], **asked)
    assert one.frame["age"].n_unique() == 2
    found = one.utility(model="pay ~ age").regression
    assert found is not None
    assert {each.name: each.drawn is None for each in found.coefficients} == {"Intercept": False, "age": True}
    fine = ht.anonymize(frame, models=[ht.KAnonymity(1)], **asked).utility(model="pay ~ age + job").regression
    assert fine is not None
    assert (fine.doubtful, fine.warnings) == ((), ())
