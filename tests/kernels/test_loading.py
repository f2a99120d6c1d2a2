"""Kernels are loaded from the disk without what only a compiler needs, and compiled where there is nothing to load."""

import os
import subprocess
import sys

import pytest

from hushtable.kernels import _jit, group

SCRIPT = """
import sys
import numpy as np
from hushtable.kernels import group
offsets, rows = group.rows_by_class(np.array([1, 0, 1], dtype=np.int32), 2)
print(offsets.tolist(), rows.tolist())
print(sum(group.rows_by_class.stats.cache_hits.values()), "scipy.linalg" in sys.modules)
"""


@pytest.mark.skipif(not hasattr(group.rows_by_class, "_cache"), reason="nothing is compiled")
def test_a_kernel_is_compiled_once_and_loaded_then(tmp_path):
    assert type(group.rows_by_class._cache) is _jit._KernelCache
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, env=environment)
        for _ in range(2)
    )
    rows, told = first.stdout.splitlines()
    assert told.startswith("0 ")
    assert second.stdout.splitlines() == [rows, "1 False"]
