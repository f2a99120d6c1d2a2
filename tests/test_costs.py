"""What is left out of a run is named and exists; what is slow has a cheaper case that is run."""

import re
from pathlib import Path

TESTS = Path(__file__).parent


def test_every_dear_case_is_one_of_a_test_that_exists() -> None:
    lines = (TESTS / "dear_tests.txt").read_text(encoding="utf-8").splitlines()
    assert lines == sorted(lines, key=lambda line: line.partition(" ")[2])
    functions = set()
    for line in lines:
        mark, _, case = line.partition(" ")
        test, bracket, _ = case.partition("[")
        assert mark in ("slow", "dear")
        assert bracket or mark == "dear", f"{case} is the only case of its test: mark it in its file"
        functions.add(test)
    for test in functions:
        path, _, name = test.partition("::")
        source = (TESTS.parent / path).read_text(encoding="utf-8")
        assert re.search(rf"def {name.rpartition('::')[2]}\(", source), f"{test} is gone: choose anew"
