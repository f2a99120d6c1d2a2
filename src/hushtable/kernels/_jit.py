"""The one place that says how kernels are compiled.

Compilation is lazy, without explicit signatures, and cached on disk beside the
source (or in the user's cache folder where that is not writable), so that only
the first run of a machine pays for it. No fast math: a result may not depend
on how the compiler orders a sum.

Arrays of records: one argument of a kernel instead of many, and what is looked at together lies side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import numba
import numpy as np
from numba.core.caching import FunctionCache
from numba.core.runtime.nrt import rtsys

__all__ = ["bare", "inlined", "inner", "jit", "record"]

# The option has an underscore, and numba's own kernels use it; its authors name it for this purpose (issue 2345).
_BARE: Final = {"nogil": True, "_nrt": False, "error_model": "numpy"}
_njit: Any = numba.njit  # whose types do not know all of its options

KernelT = TypeVar("KernelT", bound=Callable[..., Any])


class _KernelCache(FunctionCache):
    """Loads a kernel without what only a compiler needs.

    numba looks up every type and function that it could compile before it loads the first kernel, SciPy's BLAS too: a
    third of a second in each process. Here it does so where there is nothing to load.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if found is None:
            target_context.refresh()
        return found


def _cached(compiled: Any) -> Any:
    """Keep what a kernel is compiled to beside its source."""
    if hasattr(compiled, "enable_caching"):  # else plain Python, where nothing is compiled
        compiled.enable_caching()
        # Where numba keeps it otherwise, that is as good, and slower.
        if type(getattr(compiled, "_cache", None)) is FunctionCache:
            compiled._cache.__class__ = _KernelCache
    return compiled


def jit(kernel: KernelT) -> KernelT:
    """Compile a kernel on first use."""
    return cast("KernelT", _cached(_njit(nogil=True)(kernel)))


def bare(kernel: KernelT) -> KernelT:
    """Compile a kernel that allocates no array: without reference counts on those that it is given.

    Every call of a kernel by another one counts all arrays of its records up and down, atomically: of small kernels
    that take many records this is most of the time, and much of the compiler's. A division by zero raises nothing.
    """
    return cast("KernelT", _cached(_njit(**_BARE)(kernel)))


def inner(kernel: KernelT) -> KernelT:
    """Compile a kernel as `bare` does, for other kernels only: Python cannot call it, and compiling takes less long."""
    return cast("KernelT", _njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_BARE)(kernel))


def inlined(kernel: KernelT) -> KernelT:
    """Write a kernel out wherever it is called: a call hands over all arrays of a record, which may take longer."""
    return cast("KernelT", _njit(inline="always", **_BARE)(kernel))


def record(*fields: tuple[str, type]) -> np.dtype[Any]:
    """Return a type of records, aligned; their fields are attributes, without compilation too."""
    return np.dtype((np.record, np.dtype(list(fields), align=True)))
