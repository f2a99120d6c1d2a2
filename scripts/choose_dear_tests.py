"""Choose the cases of tests that cost most: rewrites tests/dear_tests.txt from what ``pytest --record-cpu FILE`` wrote.

Usage: python scripts/choose_dear_tests.py [--keep CASES.json] RECORD...

Record a second run: in the first one, a case pays for every kernel that it is the first to need.

``slow`` are the dearest cases. Of every test one case stays that is not: its cheapest. A test of one case is slow by
its own marker only. No case is slow where each judges another method, door or kind (`_EACH_JUDGES_ANOTHER`), nor one
that is to be kept because it alone covers a line or a branch. What is listed as slow and was not recorded stays.

``dear`` is what ``make test-fast`` has no time for: it takes the cheapest cases, whatever their tests.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

LIST = Path(__file__).parent.parent / "tests" / "dear_tests.txt"
SLOW_SHARE = 0.03
"""Of the cases, the dearest: not run by CI."""
FAST_SECONDS = 70
"""CPU seconds of the cases of ``make test-fast``: two minutes on two cores, one of them for compiling."""
_EACH_JUDGES_ANOTHER = (
    "tests/anonymizers/test_methods.py",
    "tests/anonymizers/test_km_by_every_method.py",
    "tests/anonymizers/test_clocks.py",
    "tests/test_campaign.py",
    "tests/test_canary.py",
    "tests/test_doors.py",
    "tests/test_examples.py",
    "tests/test_odd_inputs.py",
    "tests/test_pitfalls.py",
)


def choose(costs: dict[str, float], to_keep: set[str]) -> dict[str, str]:
    """Return the mark of each case that gets one."""
    ranked = sorted(costs, key=lambda case: (-costs[case], case))
    marks, left = {}, sum(costs.values())
    for case in ranked:
        if left <= FAST_SECONDS:
            break
        marks[case], left = "dear", left - costs[case]
    kept = {min(cases, key=lambda case: (costs[case], case)) for cases in by_test(costs).values()} | to_keep
    for case in ranked[: int(SLOW_SHARE * len(ranked))]:
        if case not in kept and not case.startswith(_EACH_JUDGES_ANOTHER):
            marks[case] = "slow"
    return marks


def by_test(cases: dict[str, float]) -> dict[str, list[str]]:
    """Return the cases of each test."""
    found = defaultdict(list)
    for case in cases:
        found[case.partition("[")[0]].append(case)
    return found


def to_lines(marks: dict[str, str], costs: dict[str, float]) -> list[str]:
    """Return the lines of the list: a test where all of its cases are dear, else each case."""
    whole = {
        test
        for test, cases in by_test(costs).items()
        if all(marks.get(case) == "dear" for case in cases)
        and not any(case.startswith(f"{test}[") and case not in costs for case in marks)
    }
    shown = {test if (test := case.partition("[")[0]) in whole else case: mark for case, mark in marks.items()}
    return [f"{mark} {case}" for case, mark in sorted(shown.items())]


def main(records: list[str]) -> int:
    """Read the records, the lowest cost of a case counting, and write the list."""
    to_keep: set[str] = set()
    if records[:1] == ["--keep"]:
        to_keep, records = set(json.loads(Path(records[1]).read_text(encoding="utf-8"))), records[2:]
    costs: dict[str, float] = {}
    for record in records:
        for line in Path(record).read_text(encoding="utf-8").splitlines():
            case, seconds = json.loads(line)
            costs[case] = min(seconds, costs.get(case, seconds))
    listed = [line.partition(" ") for line in LIST.read_text(encoding="utf-8").splitlines()]
    marks = {case: "slow" for mark, _, case in listed if mark == "slow" and case not in costs} | choose(costs, to_keep)
    LIST.write_text("".join(f"{line}\n" for line in to_lines(marks, costs)), encoding="utf-8")
    for mark in ("slow", "dear"):
        spent = sum(costs.get(case, 0) for case, given in marks.items() if given == mark)
        print(f"{mark}: {sum(given == mark for given in marks.values())} cases, {spent:.0f} CPU s")
    print(f"of {len(costs)} cases, {sum(costs.values()):.0f} CPU s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
