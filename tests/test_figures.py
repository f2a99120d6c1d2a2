"""Figures: axes come back, nothing is shown, no back end is chosen."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hushtable import figures

VALUES = np.array([1.0, 2.0, 2.0, 5.0])


@pytest.mark.parametrize("draw", [figures.histogram, figures.ecdf, figures.qq])
@pytest.mark.parametrize("values", [VALUES, VALUES[:1], np.ones(5)], ids=["some", "one", "constant"])
def test_values_are_drawn_on_the_given_axes_or_new_ones(draw, values, tmp_path):
    axes = draw(values, label="k (records)")
    assert isinstance(axes, Axes)
    assert "k (records)" in (axes.get_xlabel(), axes.get_ylabel())
    axes.figure.savefig(tmp_path / "drawn.png")
    given = Figure().add_subplot()
    assert draw(values, label="k", ax=given) is given


def test_a_histogram_counts_every_value():
    axes = figures.histogram(VALUES, label="k")
    assert sum(patch.get_height() for patch in axes.patches) == len(VALUES)


def test_an_ecdf_ends_at_one_beside_its_normal():
    step, normal = figures.ecdf(VALUES, label="k").lines
    assert step.get_ydata().tolist() == [0.25, 0.5, 0.75, 1.0]
    assert np.all(np.diff(normal.get_ydata()) > 0)


def test_an_evolution_has_best_step_and_mean():
    steps, values = np.array([1, 3, 6]), np.array([0.1, 0.4, 0.3])
    axes = figures.evolution(steps, np.maximum.accumulate(values), values, values / 2, label="objective")
    assert [line.get_label() for line in axes.lines] == ["best so far", "step", "mean of step"]
    assert axes.lines[0].get_ydata().tolist() == [0.1, 0.4, 0.4]


def test_a_heat_map_writes_its_finite_numbers(tmp_path):
    matrix = np.array([[1.0, -0.5], [-0.5, np.nan]])
    axes = figures.heat_map(matrix, ["a", "b"], label="correlation")
    assert [text.get_text() for text in axes.texts] == ["1.00", "-0.50", "-0.50"]
    axes.figure.savefig(tmp_path / "drawn.png")


def test_drawing_touches_neither_pyplot_nor_the_back_end():
    script = """
import sys
import numpy as np
from hushtable import figures
assert "matplotlib" not in sys.modules
figures.ecdf(np.array([1.0, 2.0]), label="k").figure.canvas
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)
