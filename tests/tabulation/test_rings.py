"""Tables that a finer one binds more than their own sums do."""

import pytest

import hushtable as ht
from hushtable.claims import are_decomposable


@pytest.mark.parametrize(
    ("tables", "is_so"),
    [(["gh"], True), (["gh", "hj"], True), (["gh", "hj", "gj"], False), (["gh", "hj", "jk"], True),
     (["gh", "hj", "jk", "kg"], False), (["ghj", "gh", "hj", "gj"], True), (["g", "h", "j"], True)],
)  # fmt: skip
def test_rings_of_tables_are_told(tables, is_so):
    assert are_decomposable(tables) is is_so


def test_a_ring_is_said_in_facts_and_claim():
    people = ht.datasets.people(n=600, seed=1)
    names = ["sex", "education", "marital_status"]
    ring = [list(pair) for pair in ((names[0], names[1]), (names[1], names[2]), (names[0], names[2]))]
    rules = ht.CellRules(3, level="exact")
    made = ht.tabulate(people, by=ring, rules=rules)
    assert "one finer table is not used" in made.claim.sentence
    assert any("one finer table" in fact for fact in made.facts)
    assert "finer table" not in ht.tabulate(people, by=ring[:2], rules=rules).claim.sentence
