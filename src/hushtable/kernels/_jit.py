"""The one place that says how kernels are compiled: lazily, without signatures, and cached on disk.

No fast math: a result may not depend on how the compiler orders a sum.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import numba
import numpy as np

from hushtable.kernels._cache import cache_on_disk, ignore_literals

# The option has an underscore, and numba's own kernels use it; its authors name it for this purpose (issue 2345).
_BARE: Final = {"nogil": True, "_nrt": False, "error_model": "numpy"}
config: Any = numba.config
_njit: Any = numba.njit  # its type stubs lack some of its options

KernelT = TypeVar("KernelT", bound=Callable[..., Any])


def jit(kernel: KernelT) -> KernelT:
    """Compile a kernel on first use."""
    return cast("KernelT", cache_on_disk(ignore_literals(_njit(nogil=True)(kernel))))


def jit_bare(kernel: KernelT) -> KernelT:
    """Compile a kernel that allocates no array: without reference counts, where no division by zero raises.

    Counting all arrays of a call's records up and down, atomically, is most of the time of small kernels.
    """
    return cast("KernelT", cache_on_disk(ignore_literals(_njit(**_BARE)(kernel))))


def jit_inner(kernel: KernelT) -> KernelT:
    """Compile a kernel as `jit_bare` does, for other kernels only: Python cannot call it, and compiling is faster."""
    return cast("KernelT", ignore_literals(_njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_BARE)(kernel)))


def jit_inline(kernel: KernelT) -> KernelT:
    """Inline a kernel wherever it is called: passing every array of a record may take longer than the kernel."""
    return cast("KernelT", _njit(inline="always", **_BARE)(kernel))


_COUNTS: Final = ctypes.POINTER(ctypes.c_int64)
QUESTION: Final = ctypes.CFUNCTYPE(ctypes.c_bool, *[ctypes.c_int64] * 4, _COUNTS)
"""A Python function that judges a class for a kernel. In: the model's number; the class's size and population; the
number of counts per column, and the counts, contiguous. Out: whether the class passes."""

if config.DISABLE_JIT:

    def call_own_model(address: int, model: int, size: int, population: int, value_counts: Any) -> bool:
        """Call the Python function at an address; ``value_counts`` has a row per column, and is contiguous."""
        question = QUESTION(int(address))
        return bool(question(model, size, population, value_counts.shape[1], value_counts.ctypes.data_as(_COUNTS)))

else:

    @numba.extending.intrinsic
    def call_own_model(_context: Any, address: Any, model: Any, size: Any, population: Any, value_counts: Any) -> Any:
        """Call the Python function at an address; ``value_counts`` has a row per column, and is contiguous."""
        number = numba.types.int64

        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            from llvmlite import ir

            array = context.make_array(signature.args[4])(context, builder, values[4])
            word, flag = ir.IntType(64), ir.IntType(8)
            kind = ir.FunctionType(flag, [word] * 4 + [word.as_pointer()])
            function = builder.inttoptr(values[0], kind.as_pointer())
            width = builder.extract_value(array.shape, 1)
            data = builder.bitcast(array.data, word.as_pointer())
            return builder.trunc(builder.call(function, [*values[1:4], width, data]), ir.IntType(1))

        return numba.types.boolean(number, number, number, number, value_counts), code


def record_dtype(*fields: tuple[str, type]) -> np.dtype[Any]:
    """Return a type of records, aligned; their fields are attributes, without compilation too."""
    return np.dtype((np.record, np.dtype(list(fields), align=True)))
