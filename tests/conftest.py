"""What all tests share: hypothesis settings, and the real tables that the project does not carry."""

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
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("house")


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
