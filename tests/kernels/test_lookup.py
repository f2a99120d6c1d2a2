"""Keys in a table with open addressing, beside a dictionary."""

import numpy as np
from hypothesis import given, strategies as st

from hushtable.kernels import group

KEYS = st.integers(0, 2**63 - 1) | st.integers(0, 40) | st.integers(0, 30).map(lambda i: i << 58)


@given(st.lists(KEYS, unique=True, max_size=40), st.lists(KEYS, max_size=40))
def test_keys_are_found_where_they_are(known, others):
    keys = np.array(known, dtype=np.int64)
    slots = np.full(1 << len(known).bit_length() + 1, -1, dtype=np.int32)
    group.fill_slots(keys, slots)
    wanted = np.array([*known, *others], dtype=np.int64)
    out = np.empty(len(wanted), dtype=np.int32)
    n_missing = group.find_keys(keys, slots, wanted, out)
    place_of = {key: place for place, key in enumerate(known)}
    assert out.tolist() == [place_of.get(key, -1) for key in wanted.tolist()]
    assert n_missing == (out < 0).sum()
