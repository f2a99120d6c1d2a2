"""Choose the cases of tests that cost most: rewrites tests/dear_tests.txt from what ``pytest --record-cpu FILE`` wrote.

Usage: python scripts/choose_dear_tests.py [--keep CASES.json] RECORD...

Of every test one case stays that is neither: its cheapest. A test of one case is slow by its own marker only.
No case is slow where each judges another method, door or kind (`_EACH_JUDGES_ANOTHER`), nor one that is to be kept
because it alone covers a line or a branch.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

LIST = Path(__file__).parent.parent / "tests" / "dear_tests.txt"
SHARES = {"slow": 0.03, "dear": 0.1}
"""Of the cases, the dearest: not run by CI; not run by ``make test-fast``."""
_EACH_JUDGES_ANOTHER = (
    "tests/anonymizers/test_methods.py",
    "tests/anonymizers/test_km_by_every_method.py",
    "tests/anonymizers/test_clocks.py",
    "tests/test_campaign.py",
    "tests/test_canary.py",
    "tests/test_examples.py",
    "tests/test_odd_inputs.py",
    "tests/test_pitfalls.py",
)


def choose(costs: dict[str, float], to_keep: set[str]) -> dict[str, str]:
    """Return the mark of each case that gets one."""
    cases_of = defaultdict(list)
    for case in costs:
        cases_of[case.partition("[")[0]].append(case)
    kept = {min(cases, key=lambda case: (costs[case], case)) for cases in cases_of.values()}
    ranked = sorted(costs, key=lambda case: (-costs[case], case))
    n_slow, n_dear = (int(share * len(ranked)) for share in SHARES.values())
    marks = dict.fromkeys(ranked[:n_dear], "dear")
    for case in ranked[:n_slow]:
        if case not in to_keep and not case.startswith(_EACH_JUDGES_ANOTHER):
            marks[case] = "slow"
    return {case: mark for case, mark in marks.items() if case not in kept}


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
    marks = choose(costs, to_keep)
    LIST.write_text("".join(f"{mark} {case}\n" for case, mark in sorted(marks.items())), encoding="utf-8")
    for mark in SHARES:
        spent = sum(costs[case] for case, given in marks.items() if given == mark)
        print(
            f"{mark}: {sum(given == mark for given in marks.values())} of {len(costs)} cases, {spent:.0f} of "
            f"{sum(costs.values()):.0f} CPU s"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
