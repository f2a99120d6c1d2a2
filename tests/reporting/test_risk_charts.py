"""What the charts of risk say is what is counted, for every k and in the right unit."""

from bisect import bisect_right
from collections import Counter, defaultdict

import polars as pl
import pytest

import hushtable as ht
from hushtable.reporting.document import Chart

# Classes of 1, 6, 7 and 9 records; every person has two records.
TOWNS = ["a", *["b"] * 6, *["c"] * 7, *["d"] * 9, "e"]
PEOPLE = pl.DataFrame({"town": TOWNS, "id": [i // 2 for i in range(len(TOWNS))]})


def naive_share_below(k, person):
    held = defaultdict(set)
    for i, row in enumerate(PEOPLE.iter_rows(named=True)):
        held[row["town"]].add(row["id"] if person else i)
    records = Counter(TOWNS)
    return sum(n for town, n in records.items() if len(held[town]) < k) / len(TOWNS)


def chart_of(report, draws):
    (chart,) = [
        block
        for section in report.sections
        for block in section.blocks
        if isinstance(block, Chart) and block.draws == draws
    ]
    return chart


@pytest.mark.parametrize("person", [None, "id"])
def test_the_stair_is_exact_for_every_k(person):
    risk = ht.assess(PEOPLE, quasi_identifiers=["town"], person=person)
    chart = chart_of(ht.report(risk, audience="internal"), "risk_by_k")
    steps, shares = chart.data["k"], chart.data["shares"]["records"]
    for k in range(1, 12):
        assert shares[bisect_right(steps, k) - 1] == pytest.approx(naive_share_below(k, person))
    assert chart.data["people"] == ("records" if person is None else "persons")
    axes = risk.plot("risk_by_k")
    drawn = dict(zip(*axes.get_lines()[0].get_data(), strict=True))
    assert drawn == pytest.approx(dict(zip(steps, shares, strict=True)))
    assert ("persons" in axes.get_ylabel()) is (person is not None)
    assert ("persons" in chart.title) is (person is not None)


@pytest.mark.parametrize("person", [None, "id"])
def test_the_stair_of_a_release_is_exact_before_and_after(person):
    release = ht.anonymize(
        PEOPLE,
        quasi_identifiers=["town"],
        models=[ht.KAnonymity(2)],
        person=person,
        roles="trust",
        method="mondrian",
    )
    chart = chart_of(ht.report(release, audience="internal"), "risk_by_k")
    steps, before = chart.data["k"], chart.data["shares"]["before"]
    for k in range(1, 12):
        assert before[bisect_right(steps, k) - 1] == pytest.approx(naive_share_below(k, person))
    assert chart.data["shares"]["after"][0] == 0
    assert chart.data["shares"]["after"][-1] == pytest.approx(1)
    assert chart.data["people"] == ("records" if person is None else "persons")
