"""A fixed part of the hostile campaign (`scripts/campaign`): about a minute of one core."""

import itertools

import pytest

from campaign import running
from strategies import draws

SEED = 11
PARTS = {
    "releases": 3,
    "mutations": 3,
    "masks": 1,
    "perturbations": 1,
    "files": 1,
    "policies": 2,
    "kills": 2,
    "methods": 1,
    "prose": 1,
    "certificates": 1,
    "formats": 1,
    "sources": 1,
    "headers": 1,
    "pipelines": 1,
    "persons": 1,
    "histories": 1,
    "streams": 1,
    "remotes": 1,
    "columns": 1,
    "attackers": 1,
    "attacks": 1,
    "keys": 1,
    "pages": 1,
    "item_sets": 1,
    "pairs": 1,
    "gates": 1,
    "roles": 1,
    "dates": 1,
    "odd_cells": 1,
    "bounds": 1,
    "journeys": 1,
    "advice": 1,
    "cell_tables": 1,
    "timelines": 1,
    "canaries": 1,
    "trackers": 1,
    "neighbours": 1,
    "linked_tables": 1,
    "nights": 1,
}
CASES = {
    "releases": 80,
    "mutations": 30,
    "masks": 100,
    "perturbations": 100,
    "files": 200,
    "policies": 20,
    "kills": 2,
    "methods": 40,
    "prose": 60,
    "certificates": 150,
    "formats": 40,
    "sources": 30,
    "headers": 8,
    "pipelines": 60,
    "persons": 40,
    "histories": 25,
    "streams": 20,
    "remotes": 25,
    "columns": 30,
    "attackers": 40,
    "attacks": 20,
    "keys": 60,
    "pages": 3,
    "item_sets": 40,
    "pairs": 40,
    "gates": 4,
    "roles": 40,
    "dates": 60,
    "odd_cells": 15,
    "bounds": 10,
    "journeys": 40,
    "advice": 40,
    "cell_tables": 25,
    "timelines": 20,
    "canaries": 4,
    "trackers": 2,
    "neighbours": 1,
    "linked_tables": 20,
    "nights": 4,
}


@pytest.mark.parametrize(("kind", "part"), [(kind, part) for kind, parts in PARTS.items() for part in range(parts)])
def test_nothing_but_refusals_and_releases_that_hold(kind, part):
    n_cases = draws(CASES[kind])
    first = part * n_cases
    failures = [
        f"scripts/campaign --only {number} {SEED}: {what}\n{detail}\n{reproduction}"
        for number in itertools.islice(running.numbers([kind]), first, first + n_cases)
        for what, detail, reproduction in running.told(number, SEED)[1]
    ]
    assert not failures, "\n\n".join(failures[:5])
