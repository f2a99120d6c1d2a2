"""What a process has used: the seconds of a whole job, whenever the room that measures them is loaded."""

from importlib import reload

from hushtable.search import measure_usage, usage


def test_seconds_count_from_when_the_package_was_loaded() -> None:
    before = measure_usage().wall_seconds
    assert before > 0
    # The command loads it at its end: a search of 34 seconds had 0.014 in its manifest.
    assert reload(usage).measure_usage().wall_seconds >= before
