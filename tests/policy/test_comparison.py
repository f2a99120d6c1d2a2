"""Runs side by side: the knee by hand, and what is told of a comparison."""

import json

import polars as pl
import pytest
from hypothesis import given, strategies as st
from matplotlib.figure import Figure

import hushtable as ht
from hushtable.policy import Policy
from hushtable.policy.comparing import INTERNAL, KNEE, ComparedRun, Comparison, compare

PEOPLE = pl.DataFrame({"age": [31, 34, 38, 52, 57, 59], "<b>": ["f", "f", "m", "m", "f", "m"]})
RULES = Policy.make({"columns": dict.fromkeys(PEOPLE.columns, "quasi-identifier"), "models": [{"k-anonymity": 2}]})


def run(risk, loss, *, verified=True):
    return ComparedRun(2, 0.0, "cut", "mondrian", highest_risk=risk, loss=loss, verified=verified)


def knee_of(*points):
    knee = Comparison(tuple(run(*point) for point in points), ("age",), 6, "ncp").knee
    return None if knee is None else (knee.highest_risk, knee.loss)


def naive_knee(points):
    """Look at every point of the frontier by itself."""
    frontier = sorted({p for p in points if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points)})
    if len(frontier) < 3:
        return None
    (low, most), (high, least) = frontier[0], frontier[-1]
    below = {p: 1 - (p[0] - low) / (high - low) - (p[1] - least) / (most - least) for p in frontier}
    best = max(below.values())
    return next(p for p in frontier if below[p] == best) if best > 1e-9 else None


def test_the_knee_by_hand():
    # Scaled: (0, 1), (1/4, 1/4), (1, 0): a half below the line.
    assert knee_of((0.1, 0.9), (0.2, 0.3), (0.5, 0.1)) == (0.2, 0.3)
    # Whoever has more of both is on no frontier; the order plays no part.
    assert knee_of((0.5, 0.1), (0.3, 0.4), (0.2, 0.3), (0.1, 0.9)) == (0.2, 0.3)
    # Of two as far below the line, the safer.
    assert knee_of((0.0, 1.0), (0.25, 0.5), (0.5, 0.25), (1.0, 0.0)) == (0.25, 0.5)


@pytest.mark.parametrize(
    "points",
    [
        [],
        [(0.5, 0.1)],
        [(0.5, 0.1), (0.2, 0.3)],
        [(0.5, 0.1), (0.2, 0.3), (0.2, 0.3), (0.2, 0.4), (0.6, 0.1)],
        [(0.1, 0.9), (0.3, 0.8), (0.5, 0.1)],  # bends the other way
        [(0.1, 0.3), (0.2, 0.2), (0.3, 0.1)],  # does not bend
    ],
)
def test_no_knee(points):
    assert knee_of(*points) is None


def test_what_is_not_verified_is_no_knee():
    rows = (run(0.1, 0.9), run(0.2, 0.3, verified=False), run(0.5, 0.1), ComparedRun(9, 0.0, None, "x", reason="no"))
    assert Comparison(rows, ("age",), 6, "ncp").knee is None


@given(st.lists(st.tuples(*[st.integers(0, 8).map(lambda n: n / 8)] * 2), max_size=8))
def test_the_knee_is_that_of_the_definition(points):
    assert knee_of(*points) == naive_knee(points)


def compared():
    return compare(PEOPLE, RULES, k=[1, 2, 3, 7], suppression=[0])


@pytest.mark.filterwarnings("ignore:k-anonymity")
def test_the_dict_says_that_it_is_internal_and_holds_no_cell():
    made = compared()
    told = json.loads(json.dumps(made.to_dict()))
    assert told["internal"] == INTERNAL
    assert [row["k"] for row in told["rows"]] == [1, 2, 3, 7]
    assert set(told["rows"][0]["loss_by_column"]) == set(PEOPLE.columns)
    assert "k-anonymity (k = 7)" in told["rows"][3]["reason"]
    knee = made.knee
    assert told["knee"] == (None if knee is None else {"row": made.rows.index(knee), "what": KNEE})


def test_a_frame_of_the_kind_that_went_in_has_a_row_for_every_run():
    for data in (PEOPLE, PEOPLE.to_pandas(), PEOPLE.to_arrow()):
        found = compare(data, RULES, k=[2, 7], suppression=[0]).to_frame()
        assert type(found) is type(data)
        frame = pl.DataFrame(found)
        assert frame["k"].to_list() == [2, 7]
        assert frame["loss of <b>"].is_null().to_list() == [False, True]
    assert isinstance(compare(ht.Table.encode(PEOPLE), RULES, k=[2], suppression=[0]).to_frame(), pl.DataFrame)


def test_html_is_a_table_that_escapes_names_and_says_what_it_is():
    page = compared()._repr_html_()
    assert "<table>" in page
    assert "<b>" not in page.removeprefix("<b>Comparison</b>")
    assert "internal: do not pass this on" in page
    assert "k-anonymity (k = 7)" in page


def test_the_knee_is_marked_in_words():
    rows = (run(0.1, 0.9), run(0.2, 0.3), run(0.5, 0.1))
    rows = tuple(
        ComparedRun(
            k, 0.0, "cut", "mondrian", row.highest_risk, 0.1, 2, 3, row.loss, {"age": 0.1}, 5, None, 0, 0.1, True
        )
        for k, row in zip((10, 5, 2), rows, strict=True)
    )
    page = Comparison(rows, ("age",), 6, "ncp")._repr_html_()
    assert page.count("<td>bend</td>") == 1
    assert "the choice is yours" in page


def test_runs_that_are_alike_are_one_line():
    rows = tuple(
        ComparedRun(k, share, "cut", "mondrian", highest_risk=1 / k, loss=k / 10 + (share > 0.01))
        for share in (0.0, 0.01, 0.05)
        for k in (2, 5)
    )
    made = Comparison(rows, ("age",), 6, "ncp")
    assert made.lines() == {
        "suppression 0 = 0.01": [(0.2, 0.5), (0.5, 0.2)],
        "suppression 0.05": [(1.2, 0.5), (1.5, 0.2)],
    }
    axes = made.plot()
    drawn = [line.get_label() for line in axes.get_lines()]
    assert drawn[:2] == list(made.lines())
    # The legend leaves the room to the data.
    box, whole = axes.get_legend().get_window_extent(), axes.figure.bbox
    assert box.height < whole.height / 5


def test_the_plot_draws_a_line_for_what_differs_in_k_alone():
    rows = (
        run(0.1, 0.9),
        run(0.2, 0.3),
        run(0.5, 0.1),
        ComparedRun(2, None, None, "mingen", highest_risk=1.0, loss=0.0),
    )
    made = Comparison(rows, ("age",), 6, "ncp")
    axes = made.plot()
    first, second, mark = axes.get_lines()
    assert (first.get_label(), second.get_label()) == ("mondrian, cut, suppression 0", "mingen")
    assert first.get_xdata().tolist() == [0.9, 0.3, 0.1]
    assert first.get_ydata().tolist() == [0.1, 0.2, 0.5]
    assert mark.get_label() == "bend"
    assert (mark.get_xdata().tolist(), mark.get_ydata().tolist()) == ([0.3], [0.2])
    given_axes = Figure().add_subplot()
    assert made.plot(ax=given_axes) is given_axes
    straight = Comparison(rows[:2], ("age",), 6, "ncp").plot()
    assert len(straight.get_lines()) == 1
