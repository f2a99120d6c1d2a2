"""Sums of floats without rounding, so that neither their order nor the parts they come in show."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CountArray
from hushtable.kernels._jit import bare

__all__ = ["HALF", "N_EXPONENTS", "add_up"]

N_EXPONENTS = 2**11
HALF = 26  # bits of the lower part of a mantissa of 53, so that 2^36 of either part add up without overflow


@bare
def add_up(bits: NDArray[np.uint64], sums: CountArray) -> None:
    """Add the mantissas of finite floats, given as bits, to the sums of their exponents.

    sums : int64 (N_EXPONENTS, 2), of the lower and upper part of the mantissas
    """
    for i in range(bits.size):
        exponent = np.int64(bits[i] >> np.uint64(52)) & (N_EXPONENTS - 1)
        mantissa = np.int64(bits[i] & np.uint64(2**52 - 1))
        if exponent > 0:
            mantissa += 2**52
        sign = -1 if bits[i] >> np.uint64(63) else 1
        sums[exponent, 0] += sign * (mantissa & (2**HALF - 1))
        sums[exponent, 1] += sign * (mantissa >> HALF)
