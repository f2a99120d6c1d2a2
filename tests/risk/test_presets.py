"""Thresholds by name, as class sizes and as risks."""

import pytest

from hushtable.errors import InputError
from hushtable.risk.presets import PRESETS, smallest_class_of, thresholds_in


@pytest.mark.parametrize(
    ("tolerance", "size"),
    [
        *((name, size) for name, size in [("survey-internal", 3), ("internal", 5), ("cms", 11), ("public-use", 20)]),
        ("ema-0070", 11),
        ("hipaa-safe-harbor", None),
        (1, 1),
        (11, 11),
        (0.09, 12),
        (0.05, 20),
        (0.2, 5),
        (1 / 3, 4),
    ],
)
def test_a_tolerance_is_a_class_size(tolerance, size):
    assert smallest_class_of(tolerance) == size


@pytest.mark.parametrize("tolerance", [0, -1, 1.5, 11.0, 1.0, 0.0, True, float("nan"), "ema0070", "none", [5]])
def test_what_is_no_tolerance_is_an_error(tolerance):
    with pytest.raises(InputError, match="Hint"):
        smallest_class_of(tolerance)


def test_a_misspelt_preset_is_guessed():
    with pytest.raises(InputError, match="did you mean 'ema-0070'"):
        smallest_class_of("ema-70")


def test_every_preset_has_a_source():
    assert all(len(preset.source) > 20 for preset in PRESETS.values())


def test_thresholds_are_class_sizes():
    assert thresholds_in([20, 2, 2, 5]) == (2, 5, 20)
    assert thresholds_in([]) == ()


@pytest.mark.parametrize("thresholds", [5, "2,5", [0], [2.5], [True], [None]])
def test_what_is_no_threshold_is_an_error(thresholds):
    with pytest.raises(InputError, match="Hint"):
        thresholds_in(thresholds)
