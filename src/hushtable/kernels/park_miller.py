"""Random numbers that kernels draw one at a time: Park and Miller's generator, one number of state."""

from __future__ import annotations

from typing import Final

from hushtable._types import CountArray
from hushtable.kernels._jit import jit_inner

MODULUS: Final = 2_147_483_647
_FACTOR: Final = 48_271


@jit_inner
def draw_number(state: CountArray) -> int:
    """Return a random number from 1 to 2^31 - 2, which is the next state.

    The factor of Park, Miller, Stockmeyer, "Technical correspondence", CACM 36 (7), 1993, and not that of 1988.
    """
    state[0] = state[0] * _FACTOR % MODULUS
    return int(state[0])
