"""Rank swapping: every place in a sorted column is paired with one that lies not far behind it."""

from __future__ import annotations

from hushtable._types import CountArray
from hushtable.kernels._jit import jit_bare
from hushtable.kernels.park_miller import draw_number

_N_DRAWS = 32  # draws of a free place, before the free places are looked through


@jit_bare
def pair_places(max_distance: int, partners: CountArray, state: CountArray) -> None:
    """Pair places at most so far apart, each with one partner; one that finds none stays its own partner.

    ``partners`` (n_places,) is filled; ``state`` (1,) is the random state.
    """
    n_places = partners.size
    partners[:] = -1
    for place in range(n_places):
        if partners[place] >= 0:
            continue
        n_behind = min(max_distance, n_places - 1 - place)
        partner, step = place, 0
        for turn in range(_N_DRAWS + n_behind if n_behind > 0 else 0):
            # After some draws in vain all places are looked through, from the last draw on.
            step = draw_number(state) % n_behind if turn <= _N_DRAWS else (step + 1) % n_behind
            if partners[place + 1 + step] < 0:
                partner = place + 1 + step
                break
        partners[place], partners[partner] = partner, place
