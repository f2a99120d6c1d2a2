"""The one place that says how kernels are compiled.

Compilation is lazy, without explicit signatures, and cached on disk beside the
source (or in the user's cache folder where that is not writable), so that only
the first run of a machine pays for it. No fast math: a result may not depend
on how the compiler orders a sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

__all__ = ["inlined", "jit"]

KernelT = TypeVar("KernelT", bound=Callable[..., Any])


def jit(kernel: KernelT) -> KernelT:
    """Compile a kernel on first use."""
    return cast("KernelT", numba.njit(cache=True, nogil=True)(kernel))


def inlined(kernel: KernelT) -> KernelT:
    """Write a kernel out wherever it is called: a call hands over all arrays of a record, which may take longer."""
    return cast("KernelT", numba.njit(inline="always", nogil=True)(kernel))
