"""Reports of attackers: sections for insiders, none for outsiders."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

import hushtable as ht
from twins import naive_attacks


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return ht.datasets.people(n=80, seed=1).select("name", "sex", "postcode", "diagnosis", "income")


@pytest.fixture(scope="module")
def release(people) -> ht.Release:
    return ht.anonymize(
        people, quasi_identifiers=["sex", "income"], models=[ht.KAnonymity(3)], sensitive=["diagnosis"],
        identifiers=["name", "postcode"], roles="trust",
    )  # fmt: skip


def text_of(report: ht.Report) -> str:
    return report.to_html()


def test_results_of_attackers_have_sections(people):
    rated = naive_attacks.ratings(60, 20, 1, mean=6)
    found = ht.unicity(rated, person="person", item="item", known=[1, 2], tolerance={"date": "14D"})
    assert [section.name for section in ht.report(found).sections] == ["summary", "known"]
    misled = ht.unicity(rated, person="person", item="item", known=6, wrong=2)
    assert "highest alone" in text_of(ht.report(misled))
    persons = ht.link(rated, rated, on=["item"], person="person", truth="person", control=rated)
    assert "What all records of a person fit" in text_of(ht.report(persons))
    links = ht.link(people.drop("name"), people, on=["sex", "postcode"])
    assert "nothing says how many links come by chance" in text_of(ht.report(links))
    against = ht.link(people.drop("name"), people, on=["sex", "postcode"], control=people)
    assert "beyond the control" in text_of(ht.report(against))
    joined = ht.join_risk(people[["name", "postcode"]], people[["postcode", "income"]], on=["postcode"])
    assert [section.name for section in ht.report(joined).sections] == ["summary", "join"]
    for result in (found, links, joined):
        with pytest.raises(ht.InputError, match="no external form"):
            ht.report(result, audience="external")


def test_the_internal_report_of_a_release_has_its_attacks(release, people, tmp_path):
    sections = {section.name for section in ht.report(release).sections}
    assert "attacks" in sections
    assert "attacks" not in {section.name for section in ht.report(release, audience="external").sections}
    found = release.attack()
    assert found.fell
    told = text_of(ht.report(found))
    assert all(each.advice.split("(")[0].split('"')[0] in told for each in found.attacks if each.fell)
    assert all(str(each.number) in told for attack in found.attacks for each in attack.witnesses)
    replace(release, exposure=None).write(tmp_path / "out.csv")
    for original in (None, people):
        told = ht.report(tmp_path / "out.csv", original=original)
        assert "attacks" in {section.name for section in told.sections}


def test_attacks_that_fail_are_told_as_such(release, monkeypatch):
    def fails(*_, **__):
        raise ht.InputError("no class")

    monkeypatch.setattr(ht.Release, "attack", fails)
    assert "could not be tried (InputError)" in text_of(ht.report(release))
