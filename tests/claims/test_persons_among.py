"""How few persons can have so many records: beside all ways to choose them."""

from itertools import combinations

import numpy as np
import polars as pl
from hypothesis import given, settings, strategies as st

import hushtable as ht
from hushtable.claims.coverage import fewest_persons_among


def fewest_by_hand(persons: list[int], n_records: int, certain: list[bool]) -> int:
    """Look at every choice of so many rows, those that are certain among them; -1 is nobody."""
    sure = {row for row, is_certain in enumerate(certain) if is_certain}
    chosen = (set(rows) for rows in combinations(range(len(persons)), n_records))
    return min(len({persons[row] for row in rows} - {-1}) for rows in chosen if sure <= rows)


ROWS = st.lists(st.tuples(st.integers(-1, 4), st.booleans()), min_size=1, max_size=9)


@given(rows=ROWS, share=st.floats(0, 1))
@settings(max_examples=300, deadline=None)
def test_no_choice_of_records_has_fewer_persons(rows: list[tuple[int, bool]], share: float) -> None:
    persons, certain = [person for person, _ in rows], [is_certain for _, is_certain in rows]
    n_records = sum(certain) + round(share * (len(rows) - sum(certain)))
    found = fewest_persons_among(
        np.array(persons, dtype=np.int32), n_records, np.ones(len(rows), dtype=np.int64), np.array(certain)
    )
    assert found == fewest_by_hand(persons, n_records, certain)


@given(rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=4, max_size=12), data=st.data())
@settings(max_examples=100, deadline=None)
def test_suppressed_records_are_never_taken_for_more_persons_than_they_are(
    rows: list[tuple[int, int]], data: st.DataObject
) -> None:
    """Stars, and records that were dropped: what a verdict counts is at most what is true."""
    fates = data.draw(st.lists(st.sampled_from(["shown", "shown", "star", "gone"]), min_size=len(rows), max_size=12))
    fates = [*fates, *["shown"] * len(rows)][: len(rows)]
    original = {"who": [f"P{who}" for who, _ in rows], "age": [str(age) for _, age in rows]}
    cells = [
        ("<2" if age < 2 else ">=2") if fate == "shown" else "*" for (_, age), fate in zip(rows, fates, strict=True)
    ]
    kept = [place for place, fate in enumerate(fates) if fate != "gone"]
    if not any(fates[place] == "shown" for place in kept):
        return
    published = {"age": [cells[place] for place in kept]}
    verdict = ht.verify(
        pl.DataFrame(published),
        quasi_identifiers=["age"],
        models=[ht.KAnonymity(2)],
        person="who",
        original=pl.DataFrame(original),
        specs={"age": ht.ColumnSpec("integer")},
    )
    assert verdict.complete
    assert verdict.figures["n_persons"] <= len({rows[place][0] for place in kept})
    stars = {rows[place][0] for place in kept if fates[place] == "star"}
    fails = [each for each in verdict.failures if each.condition.startswith("suppressed")]
    assert fails or not stars or len(stars) >= 2
