"""A German extract is published as its readers write: ranges of codes, decimal commas, German words."""

import json
import re

import polars as pl
import pytest

import hushtable as ht
from command import done
from hushtable.datasets import visits

RANGE = re.compile(r"\[\d+\*?, \d+\*?\]|\d{1,4}\*|\d{5}")
ICD = re.compile(r"\[[A-Z][0-9.]*\*?, [A-Z][0-9.]*\*?\]|[A-Z][0-9.]*\*|[A-Z]\d\d(\.\d+)?")
ENGLISH = re.compile(r"\b(and|more|other|values|Europe|Asia|Western|Eastern|Southern|degree)\b")


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """What the command makes of the policy that scan writes, with the diagnosis known to others."""
    folder = tmp_path_factory.mktemp("extract")
    visits(1_500, seed=3).write_csv(folder / "besuche.csv", separator=";")
    policy, out = folder / "policy.yaml", folder / "frei.csv"
    done("scan", folder / "besuche.csv", "--write-policy", policy)
    assert 'write: {language: de, decimal: ","}' in policy.read_text(encoding="utf-8")
    asked = ht.Policy.read(policy).changed(
        {
            **dict.fromkeys(("columns.Aufnahmezeit", "columns.Verweildauer"), "sensitive"),
            "columns.Hauptdiagnose": "quasi-identifier",
            "models": [{"k-anonymity": 5}],
        }
    )
    policy.write_text(asked.to_yaml(), encoding="utf-8")
    done("anonymize", folder / "besuche.csv", "-p", policy, "-o", out)
    done("verify", out, "--original", folder / "besuche.csv", "-p", policy)
    return out


def cells(path, name):
    return set(pl.read_csv(path, separator=";", infer_schema=False)[name].drop_nulls())


def test_codes_are_ranges_and_no_list_is_left(published):
    plz, icd = cells(published, "PLZ"), cells(published, "Hauptdiagnose")
    assert all(RANGE.fullmatch(cell) for cell in plz - {"*"})
    assert all(ICD.fullmatch(cell) for cell in icd - {"*"})
    assert any("," in cell for cell in plz)
    assert any(re.fullmatch(r"\[[A-Z]\d\d, [A-Z]\d\d\]", cell) for cell in icd)


def test_decimal_commas_are_kept_and_dates_are_as_short_as_they_can_be(published):
    heights, crp = cells(published, "Größe"), cells(published, "CRP")
    assert not any("." in cell for cell in heights | crp)
    assert any(re.fullmatch(r"\[1,\d+, 1,\d+\)", cell) for cell in heights)
    assert any(re.fullmatch(r"\[\d{4}, \d{4}\)", cell) for cell in cells(published, "Geburtsdatum"))


def test_all_words_are_german(published):
    said = {cell for name in ("Nationalität", "Beruf", "Abteilung") for cell in cells(published, name)}
    assert {"Europa", "Osteuropa", "Asien"} & said
    assert not [cell for cell in said if ENGLISH.search(cell)]


def test_no_cell_is_long_and_none_tells_a_rank(published):
    names = ("Geburtsdatum", "PLZ", "Nationalität", "Beruf", "Größe", "Aufnahmedatum", "Abteilung", "Hauptdiagnose")
    said = {cell for name in names for cell in cells(published, name)}
    assert max(map(len, said)) <= 40
    assert not [cell for cell in said if re.search(r"n[or]\. \d", cell)]


def test_the_codebook_has_two_pages_and_the_files_own_countries(published):
    printed = (published.parent / "frei.csv.codebook.md").read_text(encoding="utf-8")
    assert sum(-(-len(line) // 90) or 1 for line in printed.splitlines()) <= 120
    told = json.loads((published.parent / "frei.csv.codebook.json").read_text(encoding="utf-8"))["columns"]
    labels = next(column["labels"] for column in told if column["name"] == "Nationalität")
    # The file counts persons, and k of them have each of these.
    assert {"Polen", "Ukraine"} <= set(labels["Osteuropa"]["covers"])
    assert "Korea" not in printed
