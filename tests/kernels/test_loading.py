"""Kernels are loaded from the disk without what only a compiler needs, and compiled where there is nothing to load."""

import os
import subprocess
import sys

import numba
import pytest

from hushtable.kernels import _cache, group

pytestmark = pytest.mark.skipif(not hasattr(group.rows_by_class, "_cache"), reason="nothing is compiled")

KERNEL = """
import numba
from hushtable.kernels._cache import cache_on_disk

@cache_on_disk
@numba.njit
def twice(number):
    return 2 * number
"""
CALL = """
import sys
import kernel
print(kernel.twice(21), sum(kernel.twice.stats.cache_hits.values()), "scipy.linalg" in sys.modules)
"""
NOTHING_CAN_BE_WRITTEN = """
import tempfile
def refused(*_, **__):
    raise PermissionError
tempfile.TemporaryFile = refused
"""
ANOTHER_NUMBA = """
import numba.core.caching
del numba.core.caching.InTreeCacheLocator
"""
ANOTHER_KERNEL_CHANGED = """
from hushtable.kernels import _cache
_cache._hash_kernels = lambda: "another"
"""


@pytest.fixture
def call(tmp_path):
    """Return a function that calls a kernel in a process of its own, and tells what it printed."""
    (tmp_path / "kernel.py").write_text(KERNEL)

    def called(before="", **settings):
        settings = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]), **settings}
        given = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
        done = subprocess.run(
            [sys.executable, "-c", before + CALL], capture_output=True, text=True, check=True, env=given | settings
        )
        return done.stdout.split()

    return called


def test_a_kernel_is_compiled_once_and_loaded_then(call, tmp_path):
    assert call()[:2] == ["42", "0"]
    assert call() == ["42", "1", "False"]
    elsewhere = str(tmp_path / "elsewhere")
    assert call(NUMBA_CACHE_DIR=elsewhere) == ["42", "1", "False"], "what lies beside the source is read too"
    assert call(NOTHING_CAN_BE_WRITTEN) == ["42", "1", "False"]
    assert call(ANOTHER_KERNEL_CHANGED)[:2] == ["42", "0"]


def test_where_nothing_can_be_written_kernels_are_compiled(call):
    for _ in range(2):
        assert call(NOTHING_CAN_BE_WRITTEN)[:2] == ["42", "0"]


def test_a_numba_of_other_private_names_loads_its_own_way(call):
    assert call(ANOTHER_NUMBA)[:2] == ["42", "0"]
    assert call(ANOTHER_NUMBA)[:2] == ["42", "1"]


def test_kernels_of_the_package_are_kept_so():
    assert type(group.rows_by_class._cache) is _cache.KernelCache


def test_constants_share_the_form_of_their_type():
    add = _cache.ignore_literals(numba.njit(lambda pair, number: pair[0] + number))
    add_thrice = numba.njit(lambda number: add((number, number), number) + add((number, 1), 2) + add((number, 3), 4))
    assert add_thrice(10) == 20 + 12 + 14
    assert len(add.signatures) == 1
