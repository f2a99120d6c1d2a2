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
    asked = ht.Policy.read(policy).with_entries(
        {
            "columns.Verweildauer": "sensitive",
            **dict.fromkeys(("columns.Hauptdiagnose", "columns.Aufnahmezeit"), "quasi-identifier"),
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


def test_times_of_a_day_end_at_round_ones(published):
    times = cells(published, "Aufnahmezeit")
    assert all(re.fullmatch(r"\*|\d\d:\d\d|(<|>=)\d\d:\d[05]|\[\d\d:\d[05], \d\d:\d[05]\)", cell) for cell in times)
    assert any(re.fullmatch(r"\[\d\d:00, \d\d:00\)", cell) for cell in times)


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
    names = (*names, "Aufnahmezeit")
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


def test_an_extract_with_codes_of_missing_values_and_words_among_postcodes_is_read_as_its_policy_stands(tmp_path):
    table = visits(300, seed=5)
    words = [("unbekannt", "Ausland", "99999")[i // 20 % 3] if i % 20 == 0 else None for i in range(table.height)]
    stays = ["999" if i % 30 == 1 else None for i in range(table.height)]
    marks = ["k. A." if i % 40 == 3 else None for i in range(table.height)]
    table = table.with_columns(
        PLZ=pl.coalesce(pl.Series(words), "PLZ"),
        Verweildauer=pl.coalesce(pl.Series(stays), "Verweildauer"),
        CRP=pl.coalesce(pl.Series(marks), "CRP"),
    )
    source, policy, out = tmp_path / "besuche.csv", tmp_path / "policy.yaml", tmp_path / "frei.csv"
    text = table.write_csv(separator=";", line_terminator="\r\n")
    source.write_bytes(text.encode("cp1252", errors="replace"))
    scanned = done("scan", source, "--write-policy", policy)
    assert "hold several codes each" not in scanned.out
    asked = ht.Policy.read(policy)
    assert asked.read_as.encoding == "cp1252"
    assert asked.columns["PLZ"].odd_cells == "text"
    assert {*asked.columns["PLZ"].missing_values} == {"unbekannt", "99999"}
    assert asked.columns["Verweildauer"].missing_values == ("999",)
    assert asked.columns["CRP"].missing_values == ("k. A.",)
    done("anonymize", source, "-p", policy, "-o", out)
    released = pl.read_csv(out, separator=";", infer_schema=False)
    assert not {"999", "k. A.", "unbekannt", "99999"} & {cell for name in released.columns for cell in released[name]}
    assert {*released["CRP"].drop_nulls()} <= {*table["CRP"]}
