"""Plots: axes come back, nothing opens, the back end is not touched, and what is drawn is the data."""

import io
import subprocess
import sys
import warnings

import numpy as np
import polars as pl
import pytest
import scipy.stats
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hushtable import figures
from hushtable.discover import scores
from hushtable.errors import InputError

VALUES = np.array([3.0, 1.0, 2.0, 2.0, 7.5])
MATRIX = np.array([[1.0, -0.25, np.nan], [-0.25, 1.0, 0.5], [np.nan, 0.5, 1.0]])
STEPS = np.array([1, 3, 6])
DRAWN = {
    "histogram": lambda ax=None: figures.histogram(VALUES, label="size (records)", ax=ax),
    "ecdf": lambda ax=None: figures.ecdf(VALUES, label="size (records)", ax=ax),
    "qq": lambda ax=None: figures.qq(VALUES, label="size (records)", ax=ax),
    "evolution": lambda ax=None: figures.evolution(
        STEPS, np.array([1.0, 2.0, 2.0]), np.array([1.0, 2.0, 1.5]), np.array([0.5, 1.0, 1.2]), label="f", ax=ax
    ),
    "convergence": lambda ax=None: figures.convergence(
        np.array([0.0, 0.5, 2.0]), np.array([1.0, 1.5, 2.0]), np.array([4.0, 3.0, 2.0]), label="seconds", ax=ax
    ),
    "heat_map": lambda ax=None: figures.heat_map(MATRIX, ["a", "b", "c"], label="Spearman", ax=ax),
    "risk_against_loss": lambda ax=None: figures.risk_against_loss(
        {"cut": np.array([[0.1, 0.5], [0.2, 0.2], [0.4, 0.1]]), "set": np.array([[0.3, 0.3]])},
        np.array([0.2, 0.2]),
        label="loss",
        mark="here",
        ax=ax,
    ),
    "tradeoff": lambda ax=None: figures.tradeoff(
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
    assert sorted(DRAWN) == sorted(figures.__all__)


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
        assert getattr(figures, name)(np.array(values), label="x").has_data()
    assert written(figures.histogram(np.array(values), label="x"))


def test_a_histogram_counts_every_part_in_a_bounded_number_of_bins():
    for values in (VALUES, np.array([5.0]), np.array([0.0] * 99 + [1e9])):
        axes = figures.histogram(values, label="x")
        assert sum(bar.get_height() for bar in axes.patches) == len(values)
        assert 1 <= len(axes.patches) <= 100


def test_the_ecdf_steps_to_1_beside_a_normal_of_the_same_mean_and_sd():
    axes = figures.ecdf(VALUES, label="x")
    steps, normal = axes.get_lines()
    assert steps.get_xdata().tolist() == sorted(VALUES)
    assert steps.get_ydata().tolist() == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    expected = scipy.stats.norm(VALUES.mean(), VALUES.std()).cdf(normal.get_xdata())
    assert normal.get_ydata().tolist() == pytest.approx(expected.tolist())
    constant = figures.ecdf(np.array([2.0, 2.0]), label="x")
    assert len(constant.get_lines()) == 1


def test_the_qq_plot_sets_sorted_values_against_normal_quantiles():
    axes = figures.qq(VALUES, label="x")
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
    plain = figures.risk_against_loss({"cut": np.array([[0.1, 0.5]])}, None, label="loss", mark="here")
    assert [line.get_label() for line in plain.get_lines()] == ["cut"]


def test_the_arrays_are_not_changed():
    values, matrix = VALUES.copy(), MATRIX.copy()
    values.setflags(write=False)
    for name in KINDS:
        getattr(figures, name)(values, label="x")
    figures.heat_map(matrix, ["a", "b", "c"], label="x")
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


def test_drawing_leaves_pyplot_s_current_figure_alone():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import matplotlib.pyplot as plt
    assert not plt.get_fignums()
    for draw in DRAWN.values():
        draw()
    assert not plt.get_fignums()
