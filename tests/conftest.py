"""What all tests share: hypothesis settings, what a test costs, and the real tables that the project does not carry."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numba
import pytest
from hypothesis import HealthCheck, settings

from strategies import EXAMPLES

ROOT = Path(__file__).parents[1]
SHARED = (ROOT / os.environ.get("HUSHTABLE_SHARED", "../shared")).resolve()

# The first example of a test may compile kernels, which takes seconds.
settings.register_profile(
    "house",
    deadline=None,
    max_examples=min(EXAMPLES, 5) if numba.config.DISABLE_JIT else EXAMPLES,
    # The same tables in every run: a test depends on no luck. `scripts/test --slow` and the campaign draw others.
    derandomize=EXAMPLES < 200,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("house")

DEAR = Path(__file__).with_name("dear_tests.txt")
"""What costs most: ``slow`` and a case, of which a cheaper one of its test is not, or ``dear`` and a case or a test."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record-cpu", type=Path, help="append the CPU seconds of every test, also of its processes")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    lines = DEAR.read_text(encoding="utf-8").splitlines()
    marks = {case: mark for mark, _, case in (line.partition(" ") for line in lines)}
    for item in items:
        for case in {item.nodeid, item.nodeid.partition("[")[0]} & marks.keys():
            item.add_marker(marks[case])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    before = sum(os.times()[:4])
    result = yield
    path = item.config.getoption("record_cpu")
    if path is not None:
        with path.open("a", encoding="utf-8") as record:
            record.write(json.dumps([item.nodeid, round(sum(os.times()[:4]) - before, 3)]) + "\n")
    return result


@pytest.fixture(autouse=True)
def _figures_are_closed() -> Iterator[None]:
    """Close what a test drew: pyplot, where a test imported it, keeps every figure of the process."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")


@pytest.fixture(scope="session")
def shared_file() -> Callable[[str], Path]:
    """Return where a shared file is; skip the test where there is none."""

    def find(name: str) -> Path:
        path = SHARED / name
        if not path.is_file():
            pytest.skip(f"no {name} in {SHARED}; set HUSHTABLE_SHARED to the folder that holds it")
        return path

    return find
