"""Plots: axes come back, nothing opens, the back end is not touched, and what is drawn is the data."""

import importlib.util
import inspect
import io
import re
import subprocess
import sys
import warnings
import xml.dom.minidom
from pathlib import Path
from types import SimpleNamespace

import matplotlib
import numpy as np
import polars as pl
import pytest
import scipy.stats
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import hushtable as ht
from hushtable.discover import scores
from hushtable.errors import InputError
from hushtable.plots import charts, style

ROOT = Path(__file__).parents[2]
VALUES = np.array([3.0, 1.0, 2.0, 2.0, 7.5])
MATRIX = np.array([[1.0, -0.25, np.nan], [-0.25, 1.0, 0.5], [np.nan, 0.5, 1.0]])
STEPS = np.array([1, 3, 6])
SHARES = {"before": [0.5, None, 0.5], "after": [0.0, 0.25, 0.75]}
BANDS = ["1", "2", "3 to 4"]
POINTS = np.array([[0.0, 3.0], [2.0, 2.0], [1.0, 1.0], [3.0, 0.0]])
DRAWN = {
    "class_sizes": lambda ax=None: charts.class_sizes(BANDS, SHARES, title="half are alone", ax=ax),
    "risk_by_k": lambda ax=None: charts.risk_by_k([1, 2, 5], SHARES, title="half are alone", ax=ax),
    "bars": lambda ax=None: charts.bars(["age", "sex", "job"], [0.5, None, 0.25], label="loss", ax=ax),
    "by_size": lambda ax=None: charts.by_size([1, 2, 4], [3, 1200, None], label="uniques", ax=ax),
    "distributions": lambda ax=None: charts.distributions(BANDS, SHARES, label="age", ax=ax),
    "terms": lambda ax=None: charts.terms(STEPS, SHARES, title="the best set", ax=ax),
    "pareto": lambda ax=None: charts.pareto(POINTS, [3, 0, 1], labels=("gain", "use"), ax=ax),
    "histogram": lambda ax=None: charts.histogram(VALUES, label="size (records)", ax=ax),
    "ecdf": lambda ax=None: charts.ecdf(VALUES, label="size (records)", ax=ax),
    "qq": lambda ax=None: charts.qq(VALUES, label="size (records)", ax=ax),
    "evolution": lambda ax=None: charts.evolution(
        STEPS, np.array([1.0, 2.0, 2.0]), np.array([1.0, 2.0, 1.5]), np.array([0.5, 1.0, 1.2]), label="f", ax=ax
    ),
    "convergence": lambda ax=None: charts.convergence(
        np.array([0.0, 0.5, 2.0]), np.array([1.0, 1.5, 2.0]), np.array([4.0, 3.0, 2.0]), label="seconds", ax=ax
    ),
    "heat_map": lambda ax=None: charts.heat_map(MATRIX, ["a", "b", "c"], label="Spearman", ax=ax),
    "risk_against_loss": lambda ax=None: charts.risk_against_loss(
        {"cut": np.array([[0.1, 0.5], [0.2, 0.2], [0.4, 0.1]]), "set": np.array([[0.3, 0.3]])},
        np.array([0.2, 0.2]),
        label="loss",
        mark="here",
        ax=ax,
    ),
    "tradeoff": lambda ax=None: charts.tradeoff(
        np.array([2, 4, 8]), np.array([90, 40, 10]), np.array([0.1, 0.5, 0.9]), label="information kept", ax=ax
    ),
}
KINDS = ("histogram", "ecdf", "qq")
PEOPLE = pl.DataFrame({"age": [31, 31, 31, 52, 52, 60], "ill": ["flu", "flu", "hiv", "flu", "flu", "hiv"]})


def written(axes):
    """The figure as PNG bytes."""
    file = io.BytesIO()
    axes.figure.savefig(file, format="png")
    return file.getvalue()


def test_every_function_is_drawn_here():
    assert sorted([*DRAWN, "PALETTE"]) == sorted(charts.__all__)


@pytest.mark.parametrize("name", DRAWN)
def test_axes_come_back_on_a_figure_that_can_be_written(name):
    axes = DRAWN[name]()
    assert isinstance(axes, Axes)
    assert written(axes).startswith(b"\x89PNG")
    svg = io.BytesIO()
    axes.figure.savefig(svg, format="svg")
    assert b"</svg>" in svg.getvalue()


@pytest.mark.parametrize("name", DRAWN)
def test_given_axes_are_drawn_on(name):
    left, right = Figure().subplots(1, 2)
    assert DRAWN[name](right) is right
    assert right.has_data()
    assert not left.has_data()
    assert written(right)


@pytest.mark.parametrize("name", DRAWN)
def test_two_plots_share_nothing(name):
    assert DRAWN[name]().figure is not DRAWN[name]().figure


@pytest.mark.parametrize("kind", KINDS)
def test_a_score_draws_itself(kind):
    score = scores.k_anonymity(PEOPLE, ["age"])
    axes = score.plot(kind)
    assert written(axes)
    assert "k-anonymity (records)" in (axes.get_xlabel(), axes.get_ylabel())
    given_axes = Figure().add_subplot()
    assert score.plot(kind, ax=given_axes) is given_axes
    assert score.plot().patches


@pytest.mark.parametrize("kind", KINDS)
def test_a_score_leaves_infinite_values_out_of_its_plots(kind):
    score = scores.l_diversity(PEOPLE, ["age"], sensitive="ill", kind="recursive")
    assert np.isinf(score.values).any()
    assert written(score.plot(kind))
    nothing = scores.l_diversity(PEOPLE, ["age"], sensitive="ill", kind="recursive", l=3)
    with pytest.raises(InputError, match="finite"):
        nothing.plot(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_of_columns_and_of_the_whole_are_drawn(kind):
    people = PEOPLE.with_columns(pl.Series("arm", list("ABABAB")))
    assert written(scores.covariate_shift(people, ["age", "ill"], treatment="arm").plot(kind))
    assert written(scores.attribute_length_penalty(people, ["age"]).plot(kind))


def test_a_kind_that_is_not_known_is_refused():
    with pytest.raises(InputError, match="'pie'"):
        scores.k_anonymity(PEOPLE, ["age"]).plot("pie")


@pytest.mark.parametrize(
    "values", [[0.0], [-2.5, -2.5], [1.0, 1.0 + 1e-12], [-1e6, 0.0, 1e6], [0.0, 1e100], [0.1] * 50], ids=str
)
def test_any_finite_values_are_drawn(values):
    for name in KINDS:
        assert getattr(charts, name)(np.array(values), label="x").has_data()
    assert written(charts.histogram(np.array(values), label="x"))


def test_a_histogram_counts_every_part_in_a_bounded_number_of_bins():
    for values in (VALUES, np.array([5.0]), np.array([0.0] * 99 + [1e9])):
        axes = charts.histogram(values, label="x")
        assert sum(bar.get_height() for bar in axes.patches) == len(values)
        assert 1 <= len(axes.patches) <= 100


def test_the_ecdf_steps_to_1_beside_a_normal_of_the_same_mean_and_sd():
    axes = charts.ecdf(VALUES, label="x")
    steps, normal = axes.get_lines()
    assert steps.get_xdata().tolist() == sorted(VALUES)
    assert steps.get_ydata().tolist() == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    expected = scipy.stats.norm(VALUES.mean(), VALUES.std()).cdf(normal.get_xdata())
    assert normal.get_ydata().tolist() == pytest.approx(expected.tolist())
    constant = charts.ecdf(np.array([2.0, 2.0]), label="x")
    assert len(constant.get_lines()) == 1


def test_the_qq_plot_sets_sorted_values_against_normal_quantiles():
    axes = charts.qq(VALUES, label="x")
    points = np.asarray(axes.collections[0].get_offsets())
    assert points[:, 1].tolist() == sorted(VALUES)
    assert points[:, 0].tolist() == pytest.approx(scipy.stats.norm.ppf([0.1, 0.3, 0.5, 0.7, 0.9]).tolist())
    (line,) = axes.get_lines()
    assert line.get_slope() == pytest.approx(VALUES.std())
    assert line.get_xy1() == (0.0, pytest.approx(VALUES.mean()))


def test_a_heat_map_names_its_rows_and_leaves_undefined_cells_blank():
    axes = DRAWN["heat_map"]()
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["a", "b", "c"]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["a", "b", "c"]
    assert sorted(text.get_text() for text in axes.texts) == sorted(["1.00"] * 3 + ["-0.25"] * 2 + ["0.50"] * 2)
    assert axes.get_images()[0].get_clim() == (-1, 1)


def test_evolution_draws_the_best_each_step_and_the_mean():
    axes = DRAWN["evolution"]()
    drawn = {line.get_label(): line.get_ydata().tolist() for line in axes.get_lines()}
    assert drawn == {"best so far": [1.0, 2.0, 2.0], "step": [1.0, 2.0, 1.5], "mean of step": [0.5, 1.0, 1.2]}
    assert all(line.get_xdata().tolist() == STEPS.tolist() for line in axes.get_lines())


def test_a_tradeoff_has_its_cost_on_the_left_and_what_it_keeps_on_the_right():
    axes = DRAWN["tradeoff"]()
    left, right = axes.figure.axes
    assert left is axes
    assert [line.get_ydata().tolist() for line in (*left.lines, *right.lines)] == [[90, 40, 10], [0.1, 0.5, 0.9]]
    assert (left.get_ylabel(), right.get_ylabel()) == ("stars", "information kept")


def test_risk_against_loss_has_a_line_for_each_and_marks_a_point_where_there_is_one():
    drawn = {line.get_label(): line.get_xydata().tolist() for line in DRAWN["risk_against_loss"]().get_lines()}
    assert drawn == {"cut": [[0.1, 0.5], [0.2, 0.2], [0.4, 0.1]], "set": [[0.3, 0.3]], "here": [[0.2, 0.2]]}
    plain = charts.risk_against_loss({"cut": np.array([[0.1, 0.5]])}, None, label="loss", mark="here")
    assert [line.get_label() for line in plain.get_lines()] == ["cut"]


def test_the_arrays_are_not_changed():
    values, matrix = VALUES.copy(), MATRIX.copy()
    values.setflags(write=False)
    for name in KINDS:
        getattr(charts, name)(values, label="x")
    charts.heat_map(matrix, ["a", "b", "c"], label="x")
    np.testing.assert_array_equal(values, VALUES)
    np.testing.assert_array_equal(matrix, MATRIX)


HEADLESS = """
import io, sys, warnings
warnings.simplefilter("error")
import polars as pl
from hushtable.discover import scores
assert "matplotlib" not in sys.modules, "matplotlib is imported before anything is drawn"
score = scores.k_anonymity(pl.DataFrame({"age": [1, 1, 2, 3, 3, 3]}), ["age"])
import matplotlib
before = dict.__getitem__(matplotlib.rcParams, "backend")
for kind in ("histogram", "ecdf", "qq"):
    score.plot(kind).figure.savefig(io.BytesIO())
assert dict.__getitem__(matplotlib.rcParams, "backend") is before, "the back end was chosen"
assert "matplotlib.pyplot" not in sys.modules, "pyplot was imported"
assert "tkinter" not in sys.modules
"""


def test_plots_work_without_a_display_and_leave_the_back_end_alone(monkeypatch):
    # A back end that needs a display, and cannot be loaded without one.
    monkeypatch.setenv("MPLBACKEND", "TkAgg")
    monkeypatch.delenv("DISPLAY", raising=False)
    done = subprocess.run([sys.executable, "-c", HEADLESS], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.fixture
def pyplot():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import matplotlib.pyplot as plt
    plt.switch_backend("agg")
    return plt


def shown_and_closed(plt):
    """Return the pictures of all figures that pyplot holds and close them, as a notebook does behind every cell."""
    pictures = []
    for number in plt.get_fignums():
        page = io.BytesIO()
        plt.figure(number).savefig(page, format="png")
        pictures.append(page.getvalue())
    plt.close("all")
    return pictures


def test_every_cell_of_a_notebook_shows_its_picture(pyplot):
    cells = {
        "assess": lambda: ht.assess(MADE_UP, quasi_identifiers=FEW).plot(),
        "by k": lambda: ht.assess(MADE_UP, quasi_identifiers=FEW).plot("risk_by_k"),
        "uniques": lambda: ht.minimal_uniques(MADE_UP.head(50), columns=FEW).plot(),
        "roles": lambda: ht.find_quasi_identifiers(MADE_UP).plot(),
        **DRAWN,
    }
    for name, cell in cells.items():
        axes = cell()
        (picture,) = shown_and_closed(pyplot)
        assert picture.startswith(b"\x89PNG"), name
        assert len(picture) > 2_000, name
        # What is closed can still be written.
        axes.figure.savefig(io.BytesIO(), format="svg")


def test_given_axes_and_reports_leave_pyplot_alone(pyplot):
    with style.hide_figures():
        for draw in DRAWN.values():
            draw()
    risk = ht.assess(MADE_UP, quasi_identifiers=FEW)
    risk.plot(ax=Figure().add_subplot())
    ht.report(risk, audience="internal").to_html()
    assert not pyplot.get_fignums()


@pytest.mark.parametrize("shell", [None, "a shell"])
def test_ipython_alone_brings_pyplot_in(shell, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("matplotlib.pyplot")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert style._is_looked_at() is (shell is not None)


def heights(axes):
    """Return the heights of the bars of each series, in its order."""
    return {each.get_label(): [bar.get_height() for bar in each] for each in axes.containers}


def legend_names(axes):
    return [] if axes.get_legend() is None else [text.get_text() for text in axes.get_legend().get_texts()]


def x_names(axes):
    return [tick.get_text() for tick in axes.get_xticklabels()]


@pytest.mark.parametrize("name", ["class_sizes", "distributions"])
def test_bars_stand_beside_one_another_at_their_place_and_none_has_none(name):
    axes = DRAWN[name]()
    assert heights(axes) == {"before": [0.5, 0.5], "after": [0.0, 0.25, 0.75]}
    before, after = axes.containers
    assert [round(bar.get_x() + bar.get_width(), 9) for bar in before] == [0, 2]
    assert [round(bar.get_x(), 9) for bar in after] == [0, 1, 2]
    assert x_names(axes) == BANDS
    assert legend_names(axes) == ["before", "after"]
    assert axes.get_ylabel() == "share of records"
    written(axes)
    assert axes.get_yticklabels()[-1].get_text().endswith(" %")


def test_class_sizes_say_what_they_count():
    assert DRAWN["class_sizes"]().get_xlabel() == "records in the class"
    assert charts.class_sizes(["1"], {"x": [1.0]}, people="persons").get_xlabel() == "persons in the class"
    assert DRAWN["distributions"]().get_xlabel() == "age"


def test_risk_by_k_is_a_stair_that_ends_where_the_data_do():
    axes = DRAWN["risk_by_k"]()
    drawn = {line.get_label(): line.get_ydata().tolist() for line in axes.get_lines()}
    assert drawn == {"before": [0.5, pytest.approx(np.nan, nan_ok=True), 0.5], "after": [0.0, 0.25, 0.75]}
    assert {tuple(line.get_xdata()) for line in axes.get_lines()} == {(1, 2, 5)}
    assert {line.get_drawstyle() for line in axes.get_lines()} == {"steps-post"}
    assert axes.get_xscale() == "log"
    assert x_names(axes) == ["1", "2", "5"]
    many = charts.risk_by_k([1, 30, 20_000], {"all": [0, 0.5, 1]})
    assert x_names(many) == ["1", "10", "100", "1,000", "10,000"]


def test_bars_carry_their_numbers_and_the_first_is_on_top():
    axes = DRAWN["bars"]()
    (bars,) = axes.containers
    assert [(bar.get_width(), bar.get_y() + bar.get_height() / 2) for bar in bars] == [(0.5, 0), (0.25, 2)]
    assert [(text.get_text(), *text.xy) for text in axes.texts] == [("0.5", 0.5, 0), ("0.25", 0.25, 2)]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["age", "sex", "job"]
    bottom, top = axes.get_ylim()
    assert bottom > top
    assert axes.get_xlim()[1] > 0.5
    below = charts.bars(["a", "b"], [-1.0, 2.0], label="change")
    assert [text.get_ha() for text in below.texts] == ["right", "left"]
    tall = charts.bars([f"c{i}" for i in range(40)], range(40), label="loss")
    assert tall.figure.get_figheight() > 2 * axes.figure.get_figheight()


def test_sizes_carry_their_counts():
    axes = DRAWN["by_size"]()
    assert [bar.get_height() for bar in axes.patches] == [3, 1200]
    assert [text.get_text() for text in axes.texts] == ["3", "1,200"]
    assert x_names(axes) == ["1", "2", "4"]
    assert {text.get_rotation() for text in axes.texts} == {0}
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("columns in the set", "uniques")
    crowded = charts.by_size(range(1, 16), [12345] * 15, label="uniques")
    assert {text.get_rotation() for text in crowded.texts} == {90}


def test_terms_are_drawn_at_their_steps_and_share_a_scale_where_they_can():
    axes = DRAWN["terms"]()
    assert {line.get_label(): line.get_xdata().tolist() for line in axes.get_lines()} == dict.fromkeys(
        SHARES, STEPS.tolist()
    )
    assert axes.get_lines()[1].get_ydata().tolist() == SHARES["after"]
    assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "linear")
    apart = charts.terms([1, 2], {"distinction": [0.2, 0.9], "k": [800, 2]})
    assert apart.get_yscale() == "symlog"
    assert apart.get_ylim()[0] == 0
    assert charts.terms([1, 2], {"a": [-0.2, 0.9], "k": [800, 2]}).get_ylim()[0] < 0
    assert charts.terms([1, 2], {"a": [0, None], "b": [None, None]}).get_yscale() == "linear"


def test_where_a_search_rose_at_once_its_axis_is_logarithmic():
    steps = np.array([1, 2, 5, 20, 2047])
    for axes in (
        charts.terms(steps, {"a": [1, 2, 3, 4, 4]}),
        charts.evolution(steps, np.array([1.0, 2, 3, 4, 4]), label="f"),
    ):
        assert axes.get_xscale() == "log"
        assert x_names(axes) == ["1", "10", "100", "1,000"]


def test_a_front_is_marked_and_joined_from_left_to_right():
    axes = DRAWN["pareto"]()
    dots, front = axes.get_lines()
    assert dots.get_xydata().tolist() == POINTS.tolist()
    assert front.get_xydata().tolist() == [[0, 3], [2, 2], [3, 0]]
    assert (dots.get_linestyle(), dots.get_rasterized()) == ("None", False)
    assert front.get_marker() not in (dots.get_marker(), "None")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("gain", "use")
    many = charts.pareto(np.zeros((3000, 2)), [0], labels=("a", "b"))
    assert many.get_lines()[0].get_rasterized()


def test_a_best_value_alone_is_one_stair():
    axes = charts.evolution(STEPS, np.array([1.0, 2.0, 2.0]), label="f")
    (line,) = axes.get_lines()
    assert line.get_drawstyle() == "steps-post"
    assert line.get_marker() == ""
    assert axes.get_legend() is None


def test_a_mean_that_is_the_step_is_not_drawn_twice_and_a_gap_is_left_out():
    best, step = np.array([1.0, 2.0, 2.0]), np.array([1.0, np.nan, 1.5])
    lines = charts.evolution(STEPS, best, step, step.copy(), label="f").get_lines()
    assert [line.get_label() for line in lines] == ["best so far", "step"]
    assert lines[1].get_xydata().tolist() == [[1, 1], [6, 1.5]]


@pytest.mark.parametrize("n", [1, 3, 25])
def test_the_numbers_of_a_heat_map_stand_out_and_have_room(n):
    matrix = np.linspace(-1, 1, n * n).reshape(n, n)
    axes = charts.heat_map(matrix, [f"score number {i}" for i in range(n)], label="r")
    written(axes)
    image = axes.get_images()[0]
    cell = axes.get_window_extent().width / n
    for text in axes.texts:
        column, row = text.get_position()
        color = image.cmap(image.norm(matrix[row, column]))
        assert contrast(color, text.get_color()) >= 4.5
        assert text.get_window_extent().width < cell
        assert text.get_fontsize() >= 6
    assert not any(text.get_text() == "-0.00" for text in axes.texts)


def test_the_numbers_of_a_heat_map_fit_on_axes_that_were_given():
    for n in (3, 9, 15):
        axes = Figure(figsize=(11, 7), layout="constrained").subplots(2, 2)[1, 0]
        charts.heat_map(np.full((n, n), -0.25), [f"score {i}" for i in range(n)], label="r", ax=axes)
        written(axes)
        cell = axes.get_window_extent().width / n
        assert all(text.get_window_extent().width < cell for text in axes.texts)


def contrast(first, second):
    """Return the contrast of two colours, by the Web Content Accessibility Guidelines 2.1."""
    lit = []
    for color in (first, second):
        rgb = np.array(matplotlib.colors.to_rgb(color))
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        lit.append(float(linear @ [0.2126, 0.7152, 0.0722]) + 0.05)
    return max(lit) / min(lit)


def test_there_is_no_normal_curve_where_none_is_asked_for():
    axes = charts.ecdf(VALUES, label="x", normal=False)
    assert len(axes.get_lines()) == 1
    assert axes.get_legend() is None
    for of_sizes in (scores.k_anonymity, scores.distinction, scores.separation, scores.group_entropy):
        score = of_sizes(PEOPLE, ["age"])
        assert score.of_sizes
        assert len(score.plot("ecdf").get_lines()) == 1
        assert score.plot("qq").get_lines()
    shares = scores.completeness(PEOPLE, ["age"], target="ill")
    assert not shares.of_sizes
    ordered = scores.value_range(PEOPLE.with_columns(pay=pl.Series([1, 5, 2, 9, 3, 3])), ["age"], target="pay")
    assert len(ordered.plot("ecdf").get_lines()) == 2


ODD = "cost in $ or $x^2$ _\\frac{ of everything that was ever bought"


@pytest.mark.parametrize("name", ["class_sizes", "risk_by_k", "distributions", "terms", "risk_against_loss"])
def test_names_of_series_are_drawn_as_they_are(name):
    series = {"_hidden": [0.5, 0.5], "a $b$ c": [0.25, 0.75]}
    axes = {
        "class_sizes": lambda: charts.class_sizes(["$1$", "2"], series, title="$t"),
        "risk_by_k": lambda: charts.risk_by_k([1, 2], series, title="$t"),
        "distributions": lambda: charts.distributions(["$1$", "$"], series, label="$pay$", title="$t"),
        "terms": lambda: charts.terms([1, 2], series, title="$t"),
        "risk_against_loss": lambda: charts.risk_against_loss(
            {name: np.array([each]) for name, each in series.items()}, None, label="$x$", mark="m", title="$t"
        ),
    }[name]()
    assert legend_names(axes) == list(series)
    assert axes.get_title(loc="left") == "$t"
    assert_plain(axes)


@pytest.mark.parametrize("name", ["bars", "heat_map", "pareto"])
def test_names_of_columns_are_drawn_as_they_are_and_cut_where_they_are_long(name):
    axes = {
        "bars": lambda: charts.bars([ODD, "a\nb\x00"], [1, 2], label=ODD, title=ODD),
        "heat_map": lambda: charts.heat_map(np.eye(2), [ODD, "a\nb\x00"], label=ODD, title=ODD),
        "pareto": lambda: charts.pareto([[1, 2]], [0], labels=(ODD, ODD), title=ODD),
    }[name]()
    if name != "pareto":
        cut, two = (tick.get_text() for tick in axes.get_yticklabels())
        assert ODD.startswith(cut.removesuffix("…"))
        assert len(cut) <= 24
        assert two == "a b"
    assert axes.get_title(loc="left").replace("\n", " ") == ODD
    assert_plain(axes)


def assert_plain(axes):
    """No text with a dollar is mathematics, and the figure can be written."""
    texts = axes.figure.findobj(matplotlib.text.Text)
    marked = [text for text in texts if "$" in text.get_text() and text.get_visible()]
    assert marked
    assert not any(text.get_parse_math() for text in marked)
    assert written(axes)
    axes.figure.savefig(io.BytesIO(), format="svg")


def test_a_name_without_a_glyph_is_a_warning_of_matplotlib_s_own():
    with pytest.warns(UserWarning, match="Glyph"):
        written(charts.bars(["年齢"], [1.0], label="x"))


@pytest.mark.parametrize(
    "draw",
    [
        lambda: charts.class_sizes([], {}),
        lambda: charts.class_sizes([], {"before": []}),
        lambda: charts.class_sizes(["1"], {"before": [None], "after": [None]}),
        lambda: charts.risk_by_k([], {}),
        lambda: charts.risk_by_k([1, 2], {"all": [None, None]}),
        lambda: charts.bars([], [], label="x"),
        lambda: charts.bars(["a"], [None], label="x"),
        lambda: charts.by_size([], [], label="x"),
        lambda: charts.by_size([1], [float("nan")], label="x"),
        lambda: charts.distributions([], {}, label="x"),
        lambda: charts.terms([], {}),
        lambda: charts.terms([1], {"a": [float("inf")]}),
        lambda: charts.pareto([], [], labels=("a", "b")),
        lambda: charts.pareto([[1, 2]], [], labels=("a", "b")),
        lambda: charts.risk_against_loss({}, None, label="x", mark="y"),
    ],
)
def test_nothing_is_drawn_without_a_fault(draw):
    assert written(draw())


def test_many_places_are_named_in_part():
    axes = charts.distributions([f"a value of a long list {i}" for i in range(100)], {"x": [0.01] * 100}, label="y")
    assert len(axes.patches) == 100
    assert len(x_names(axes)) <= 24
    assert x_names(axes)[0].startswith("a value of a")
    written(axes)
    # The names leave most of the height to the data.
    assert axes.get_window_extent().height > 0.4 * axes.figure.bbox.height


@pytest.mark.parametrize("n", [2, 6, 12])
def test_series_differ_without_colour(n):
    series = {f"series {i}": [0.5, 0.25] for i in range(n)}
    bars = charts.class_sizes(["1", "2"], series)
    assert len({each[0].get_hatch() for each in bars.containers}) == n
    assert [each.get_hatch() for each in bars.get_legend().get_patches()] == [
        each[0].get_hatch() for each in bars.containers
    ]
    for axes in (charts.risk_by_k([1, 2], series), charts.terms([1, 2], series)):
        looks = {(str(line._dash_pattern), line.get_marker()) for line in axes.get_lines()}
        assert len(looks) == n
    long = charts.risk_by_k(range(1, 200), {name: [0.5] * 199 for name in series})
    assert len({(str(line._dash_pattern), line.get_marker()) for line in long.get_lines()}) == n
    written(long)


@pytest.mark.parametrize("name", ["evolution", "convergence", "tradeoff", "pareto", "ecdf"])
def test_lines_of_other_figures_differ_without_colour(name):
    axes = DRAWN[name]()
    lines = [line for each in axes.figure.axes for line in each.get_lines()]
    assert len({(line.get_linestyle(), line.get_marker(), line.get_drawstyle()) for line in lines}) == len(lines)


def test_colours_are_those_of_the_palette(monkeypatch):
    assert charts.PALETTE == style.PALETTE
    allowed = {*charts.PALETTE, "#000000", "#b0b0b0", "#ffffff"}
    for name, draw in DRAWN.items():
        if name == "heat_map":
            continue
        svg = io.BytesIO()
        draw().figure.savefig(svg, format="svg")
        assert set(re.findall(r"#[0-9a-f]{6}\b", svg.getvalue().decode())) <= allowed, name


@pytest.mark.parametrize("name", DRAWN)
def test_a_figure_of_its_own_is_small_with_text_that_fits(name):
    axes = DRAWN[name]()
    width, height = axes.figure.get_size_inches()
    assert 4.2 <= width < 5
    assert 3 <= height < 3.5
    written(axes)
    page = axes.figure.bbox
    for text in axes.figure.findobj(matplotlib.text.Text):
        if text.get_visible() and text.get_text():
            assert text.get_fontsize() <= 10
            box = text.get_window_extent()
            if box.width and axes.figure.axes and text in (axes.title, axes._left_title, axes.xaxis.label):
                assert page.x0 - 1 <= box.x0
                assert box.x1 <= page.x1 + 1


def test_drawing_changes_nothing_global():
    before = dict.copy(matplotlib.rcParams)
    for draw in DRAWN.values():
        written(draw())
        draw(Figure().add_subplot())
    assert dict.copy(matplotlib.rcParams) == before


@pytest.mark.parametrize("name", DRAWN)
def test_every_figure_takes_a_title(name):
    assert inspect.signature(getattr(charts, name)).parameters["title"].default == ""


def test_lists_do_as_well_as_arrays():
    axes = charts.pareto([[0, 1], [1, 0]], np.array([0, 1]), labels=("a", "b"))
    assert axes.get_lines()[1].get_xydata().tolist() == [[0, 1], [1, 0]]
    assert charts.terms([1, 2], {"a": np.array([1.0, 2.0])}).get_lines()[0].get_ydata().tolist() == [1, 2]


MADE_UP = ht.datasets.people(400, seed=2)
FEW = ["sex", "education", "marital_status"]


def test_an_assessment_draws_its_class_sizes():
    found = ht.assess(MADE_UP, quasi_identifiers=FEW)
    axes = found.plot()
    sizes = [size for size, n in found.class_sizes.items() for _ in range(n)]
    drawn = dict(zip(x_names(axes), heights(axes)["records"], strict=True))
    assert drawn["1"] == found.n_unique / 400
    assert drawn["5 to 9"] == pytest.approx(sum(size for size in sizes if 5 <= size <= 9) / 400)
    assert sum(drawn.values()) == pytest.approx(1)
    assert axes.get_title(loc="left").endswith("% of records are alone in their class")
    whole = ht.assess(MADE_UP, quasi_identifiers=["sex"])
    assert whole.plot().get_title(loc="left") == f"no record is alone; the smallest class holds {whole.smallest_class}"


def test_an_assessment_draws_its_risk_by_k():
    found = ht.assess(MADE_UP, quasi_identifiers=FEW)
    axes = found.plot("risk_by_k")
    (line,) = axes.get_lines()
    k, shares = line.get_xdata(), line.get_ydata()
    for threshold, n in found.records_below.items():
        assert shares[np.searchsorted(k, threshold, side="right") - 1] == pytest.approx(n / 400)
    assert shares[-1] == 1
    assert "smaller than 5" in axes.get_title(loc="left")
    stricter = ht.assess(MADE_UP, quasi_identifiers=FEW, tolerance=11).plot("risk_by_k")
    assert "smaller than 11" in stricter.get_title(loc="left")


@pytest.mark.parametrize("kind", ["class_sizes", "risk_by_k"])
@pytest.mark.parametrize("how", [{"person": "id"}, {"missing": "wildcard"}, {"missing": "worst"}], ids=str)
def test_an_assessment_draws_every_record_whatever_sizes_count(kind, how):
    ids = pl.DataFrame({"id": [1, 1, 2, 3, 4, None], "sex": ["f", "f", "f", "m", "m", None]})
    axes = ht.assess(ids, quasi_identifiers=["sex"], **how).plot(kind)
    assert ("persons" if "person" in how else "records") in axes.get_xlabel()
    if kind == "class_sizes":
        assert sum(heights(axes)["records"]) == pytest.approx(1)
    else:
        assert axes.get_lines()[0].get_ydata()[-1] == 1
    assert written(axes)


def test_an_assessment_says_what_it_cannot_draw():
    with pytest.raises(InputError, match="'pie'"):
        ht.assess(MADE_UP, quasi_identifiers=FEW).plot("pie")
    with pytest.raises(InputError, match="no records"):
        ht.assess(MADE_UP[:0], quasi_identifiers=FEW).plot()


def test_mpuccs_draw_on_how_few_columns_records_are_singled_out():
    found = ht.mpuccs(MADE_UP[:200], MADE_UP[200:], columns=[*FEW, "postcode"])
    axes = found.plot()
    assert [bar.get_height() for bar in axes.patches] == list(found.summary["identified_by_size"].values())
    assert axes.get_title(loc="left").endswith("% of records single out an original")
    alone = ht.mpuccs(MADE_UP, columns=FEW).plot()
    assert alone.get_title(loc="left").endswith("% of records are unique on some columns")


def test_what_a_budget_did_not_get_to_has_no_bar():
    columns = [*FEW, "postcode", "nationality", "occupation"]
    for found in (
        ht.mpuccs(MADE_UP, columns=columns, budget=ht.Budget(nodes=30)),
        ht.minimal_uniques(MADE_UP, columns=columns, budget=ht.Budget(nodes=30)),
    ):
        told = found.to_dict()
        assert not found.trace.complete
        axes = found.plot()
        assert len(axes.patches) == told["complete_to_size"] < len(columns)
        assert len(x_names(axes)) == len(columns)


def test_minimal_uniques_draw_their_sizes():
    found = ht.minimal_uniques(MADE_UP, columns=FEW)
    axes = found.plot()
    assert [bar.get_height() for bar in axes.patches] == list(found.n_by_size.values())
    assert axes.get_title(loc="left").endswith("of records are unique on 3 columns or fewer")


def test_roles_draw_the_power_of_columns_that_have_any():
    found = ht.find_quasi_identifiers(MADE_UP)
    axes = found.plot()
    powers = {column.name: 100 * column.power for column in found.columns if column.power > 0}
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    assert {name: bar.get_width() for name, bar in zip(names, axes.patches, strict=True)} == powers
    assert [powers[name] for name in names] == sorted(powers.values(), reverse=True)
    assert axes.get_title(loc="left") == f"{names[0]} distinguishes most: {powers[names[0]]:.0f} %"
    with pytest.raises(InputError, match="nothing to draw"):
        ht.find_quasi_identifiers(pl.DataFrame({"x": [0.5, 0.25]})).plot()


TWO = {"distinction": 1.0, "attribute_length_penalty": -0.5}


@pytest.mark.parametrize("method", ["exhaustive", "evolutionary", "annealing", "tabu", "greedy", "pareto"])
def test_a_selection_draws_its_search(method):
    found = ht.select_columns(MADE_UP, columns=[*FEW, "postcode"], objective=TWO, method=method)
    history, best = found.history, found.history.best_so_far()
    first, *others = found.plot().get_lines()
    assert bool(others) == bool(len(history.steps))
    x, y = first.get_xdata(), first.get_ydata()
    # The stair is the best value so far after every set.
    places = np.searchsorted(x, np.arange(1, len(best) + 1), side="right") - 1
    assert y[places].tolist() == best.tolist()
    terms = found.plot("terms").get_lines()
    assert [line.get_label() for line in terms] == list(TWO)
    kept = [int(np.argmax(history.values[:n])) for n in range(1, len(best) + 1)]
    for j, line in enumerate(terms):
        places = np.searchsorted(line.get_xdata(), np.arange(1, len(best) + 1), side="right") - 1
        assert line.get_ydata()[places].tolist() == history.terms[kept, j].tolist()
    dots, front = found.plot("pareto").get_lines()
    assert {tuple(point) for point in dots.get_xydata()} == {tuple(point) for point in history.terms}
    assert {tuple(point) for point in front.get_xydata()} == naive_front(history.terms, (1, -1))


def naive_front(points, signs):
    """Return the points that no other equals or betters in both coordinates and betters in one."""
    signed = {tuple(point): point * signs for point in points}
    return {
        point
        for point, mine in signed.items()
        if not any((other >= mine).all() and (other > mine).any() for other in signed.values())
    }


def test_an_exhaustive_search_is_a_stair_of_few_steps():
    found = ht.select_columns(MADE_UP.drop("name", "email"), objective=TWO)
    assert len(found.history) == 2047
    (line,) = found.plot().get_lines()
    assert len(line.get_xdata()) < 100
    assert line.get_xdata()[-1] == 2047
    axes = found.plot()
    svg = io.BytesIO()
    axes.figure.savefig(svg, format="svg")
    assert len(svg.getvalue()) < 60_000


def test_a_front_is_of_the_first_two_terms_that_differ():
    same = ht.Objective((ht.Term("distinction"), ht.Term("distinction", bounds=(0, 1)), ht.Term("separation", -1.0)))
    found = ht.select_columns(MADE_UP, columns=FEW, objective=same)
    axes = found.plot("pareto")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("distinction", "separation")
    assert "more distinction and less separation" in axes.get_title(loc="left").replace("\n", " ")
    for objective in ({"distinction": 1.0}, ht.Objective(same.terms[:2])):
        with pytest.raises(InputError, match="no two terms"):
            ht.select_columns(MADE_UP, columns=FEW, objective=objective).plot("pareto")
    with pytest.raises(InputError, match="'pie'"):
        found.plot("pie")


def test_a_divisor_is_a_term_of_the_evolution():
    found = ht.select_columns(MADE_UP, columns=FEW, objective=ht.Objective.paper())
    assert [line.get_label() for line in found.plot("terms").get_lines()] == list(found.objective.labels)


def test_the_page_of_figures_runs_and_its_pictures_are_there(tmp_path):
    spec = importlib.util.spec_from_file_location("page_of_figures", ROOT / "scripts" / "figures.py")
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    drawn = page.draw(tmp_path)
    kept = {path.name for path in (ROOT / "docs" / "figures").iterdir()}
    assert {path.name for path in drawn} == kept
    for path in drawn:
        for each in (path, ROOT / "docs" / "figures" / path.name):
            assert each.stat().st_size < 60_000
            xml.dom.minidom.parse(str(each))
    # What figures make does not hold the time, nor names drawn at random.
    first = (tmp_path / "loss.svg").read_bytes()
    text = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
    assert b"<dc:date>" not in first
    assert text.count("```python") == len(drawn) + 1
