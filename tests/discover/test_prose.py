"""Names in kept cells: what is looked for, what is not, and every door that refuses them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from command import run
from hushtable.discover import prose
from hushtable.io import frames
from hushtable.policy import Policy
from prose_cases import Extract, hospital_extract

QI = ["Alter", "Geschlecht", "Station"]
Holds = Callable[[pl.Series], pl.Series]

POLICY = """\
columns:
  Patient: identifier
  Alter: quasi-identifier
  Geschlecht: quasi-identifier
  Station: quasi-identifier
  Befund: {role}
models: [k-anonymity: 3]
limits: {{exposure: {{rate: 1}}}}
"""


@pytest.fixture(scope="module")
def extract() -> Extract:
    return hospital_extract(300)


TITLES = (
    *("Frau Ahrens klagt", "FRAU AHRENS", "Herr und Frau Kurz", "Frau Dr. von der Heide", "bei Hr. Özil"),
    *("Fr. Meier", "Dr. med. Lang", "Mr. J. Smith", "ask Ms O'Brien", "Miss Jones", "Mme Curie"),
    *("M. Dupont dit", "Mlle Ève", "El Sr. García", "Sra. Núñez", "Sig.ra Rossi", "Dott. Bianchi", "王先生说"),
    "张医生",
)
NO_TITLES = (
    *("Frau", "Mrs", "Mr/Mrs", "die Frau mit Schmerzen", "Herr Doktor", "Never married", "Prof-specialty"),
    *("Prof school", "Sr. Manager", "Sr Engineer", "M. Crohn", "M. Parkinson", "Fr. 20.50", "Fr. Vormittag"),
    *("MS Schub", "主任医生", "先生", "Some college", "Married-civ-spouse", "Dr", "12 Maple Dr"),
    *("Machine-op-inspct", "Trinidad and Tobago"),
)
PHONES = (
    *("+49 30 1234567", "(212) 555-1234", "ask 555-123-4567", "unter 0171 2345678 rufen", "Tel: 12345"),
    *("Tél. 01 23 45 67", "appeler 01 23 45 67 89 svp", "0049 30 123456 mobil", "手机13912345678"),
    *("Fax-Nr. (030) 123456", "Tfno. 612 345 678"),
)
NO_PHONES = (
    *("0171-2345678", "01 23 45 67 89", "am 01.02.2023 10:30", "2023-01-15", "+12345678.9", "-0123 456"),
    *("1 234 567,89", "Fall 0123/2023", "ICD 5-820.00", "DE89 3704 0044 0532 0130 00"),
    *("IBAN CH93 0076 2011 6238 5295 7", "1.2.3.4", "Kosten 1 234 567 EUR", "ISBN 978-3-16-148410-0"),
    *("range 100-200", "012-34-5678", "lat 52.123456 13.123456"),
)
MAILS = ("an a.b@c.org schreiben", "jörg@bücher.example")
NO_MAILS = ("a @ b", "@handle", "3@4", "x@y")


@pytest.mark.parametrize(
    ("holds", "yes", "no"),
    [
        (prose.holds_title, TITLES, NO_TITLES),
        (prose.holds_phone, PHONES, NO_PHONES),
        (prose.holds_mail, MAILS, NO_MAILS),
    ],
)
def test_what_names_somebody_is_told_from_what_does_not(
    holds: Callable[[pl.Series], pl.Series], yes: Any, no: Any
) -> None:
    cells = pl.Series([*yes, *no, None])
    found = dict(zip(cells.to_list(), holds(cells).to_list(), strict=True))
    assert [cell for cell in yes if not found[cell]] == []
    assert [cell for cell in (*no, None) if found[cell]] == []


def test_counts_are_those_of_what_was_planted(extract: Extract) -> None:
    (found,) = prose.look_for_names(frames.read(extract.visits), ["Station", "Befund"], ["Patient"])
    assert found == prose.Named(
        "Befund", len(extract.named), len(extract.identified), 0, len(extract.phones), len(extract.titles)
    )


def test_a_slow_twin_counts_the_same_of_rows_that_are_hidden_starred_and_counted(extract: Extract) -> None:
    random = np.random.default_rng(0)
    n = extract.visits.height
    hidden, starred, counts = random.random(n) < 0.2, random.random(n) < 0.3, random.integers(1, 4, n)
    source = frames.read(extract.visits.with_columns(n=counts))
    (found,) = prose.look_for_names(
        frames.with_counts(source, "n"), ["Befund"], ["Patient"], suppressed=hidden, starred={"Befund": starred}
    )
    kept = [row for row in range(n) if not hidden[row] and not starred[row]]
    assert found.n_records == sum(int(counts[row]) for row in kept if row in extract.named)
    assert found.n_titles == sum(int(counts[row]) for row in kept if row in extract.titles)
    assert found.n_identified == sum(int(counts[row]) for row in kept if row in extract.identified)


def test_cells_that_hardly_repeat_are_looked_at_without_a_code(
    extract: Extract, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = pl.when(pl.int_range(pl.len()) > 9).then(pl.col("Befund") + pl.int_range(pl.len()).cast(pl.String))
    visits = frames.read(extract.visits.with_columns(said.alias("Befund")))
    coded = prose.look_for_names(visits, ["Befund"])
    monkeypatch.setattr(prose, "_CELLS_IN_SAMPLE", visits.n_rows)
    monkeypatch.setattr(prose, "cell_codes", lambda _: pytest.fail("coded"))
    assert prose.look_for_names(visits, ["Befund"]) == coded
    assert coded[0].n_titles


@pytest.mark.parametrize("of", ["pandas", "pyarrow", "table", "list", "object"])
def test_every_kind_of_table_and_of_cell_is_looked_at(extract: Extract, of: str) -> None:
    visits = extract.visits
    if of == "list":
        visits = visits.with_columns(pl.concat_list("Befund"))
    given: Any = {"pandas": visits.to_pandas, "pyarrow": visits.to_arrow}.get(of, lambda: visits)()
    if of == "object":
        given = visits.to_pandas()
        given["Befund"] = [cell if row else 7 for row, cell in enumerate(given["Befund"])]
    source: Any = frames.read(given)
    if of == "table":
        source = ht.Table.encode(given)
    (found,) = prose.look_for_names(source, ["Befund"], ["Patient"])
    assert found.n_titles == len(extract.titles - ({0} if of == "object" else set()))


def test_the_scan_asks_about_prose_and_says_what_it_saw(extract: Extract) -> None:
    roles = ht.find_quasi_identifiers(extract.visits)
    assert roles.ask == roles.prose == ("Befund",)
    (column,) = [each for each in roles.columns if each.name == "Befund"]
    assert column.reason == (
        f"free text: may name people; leave it out; of 300 records {len(extract.identified)} hold a value of an "
        f"identifier column, {len(extract.titles)} hold a title and a name, "
        f"{len(extract.phones)} hold a telephone number"
    )


@pytest.mark.parametrize("language", range(5))
def test_prose_is_told_from_categories_in_five_languages(language: int) -> None:
    said = (
        "The patient has had pain in the knee since day {}, no fever",
        "Der Patient klagt seit {} Tagen über Schmerzen im Knie, kein Fieber",
        "Le patient se plaint de douleurs au genou depuis {} jours, sans fièvre",
        "El paciente refiere dolor en la rodilla desde hace {} días, sin fiebre",
        "患者诉膝关节疼痛{}天，无发热，建议休息两周后复查。",
    )[language]
    cells = [said.format(number) for number in range(60)]
    people = pl.DataFrame({"age": [20 + i % 40 for i in range(60)], "remark": cells})
    assert ht.find_quasi_identifiers(people, of_persons=True).prose == ("remark",)


@pytest.mark.parametrize(
    "cells",
    [
        [f"University of Springfield, Campus {i}" for i in range(60)],
        [f"Senior Vice President Operations {i}" for i in range(60)],
        ["I strongly agree with what was said about it", "I do not agree with it at all"] * 30,
        [f"AB-{i:05d}-XY" for i in range(60)],
        [f"2023-01-{i % 28 + 1:02d} 10:{i:02d}:00" for i in range(60)],
    ],
)
def test_categories_codes_and_moments_are_no_prose(cells: list[str]) -> None:
    people = pl.DataFrame({"age": [20 + i % 40 for i in range(60)], "remark": cells})
    assert ht.find_quasi_identifiers(people, of_persons=True).prose == ()


def test_made_up_people_name_nobody_outside_of_identifiers() -> None:
    people = ht.datasets.people(500)
    roles = ht.find_quasi_identifiers(people)
    kept = [name for name, role in roles.roles.items() if role != "identifier"]
    assert prose.look_for_names(frames.read(people), kept, roles.identifiers) == ()


@pytest.mark.parametrize("name", ["adult/adult_ori.csv", "uci/heart_disease.csv", "uci/mushroom.csv"])
def test_real_tables_name_nobody(name: str, shared_file: Callable[[str], Path]) -> None:
    source = frames.read(shared_file(f"data/{name}"))
    assert prose.look_for_names(source, source.columns) == ()
    assert ht.find_quasi_identifiers(source).prose == ()


DOORS = ("python", "policy", "stream", "lazy", "command")


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("role", ["other", "sensitive"])
def test_nothing_that_names_people_is_written_unless_accepted(
    extract: Extract, door: str, role: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    extract.visits.write_parquet("in.parquet")
    text = POLICY.format(role=role)
    told = rf"'Befund' in {len(extract.named)} of 300"
    if door == "command":
        Path("p.yaml").write_text(text)
        refused = run("anonymize", "in.parquet", "-p", "p.yaml", "-o", "out.csv")
        assert refused.code != 0
        assert re.search(told, refused.err)
        assert "accept: {'Befund': \"a reason\"}" in refused.err
        assert not list(Path().glob("out*"))
        Path("p.yaml").write_text(f"{text}accept: {{Befund: agreed}}\n")
        assert run("anonymize", "in.parquet", "-p", "p.yaml", "-o", "out.csv").code == 0
        return

    def protected(*, accepted: bool) -> Any:
        reason = {"Befund": "agreed"} if accepted else {}
        if door == "python":
            sensitive = ["Befund"] if role == "sensitive" else []
            return ht.anonymize(
                extract.visits, quasi_identifiers=QI, models=[ht.KAnonymity(3)], identifiers=["Patient"],
                sensitive=sensitive, accept=reason, method=ht.Mondrian(recoding="readable"),
            )  # fmt: skip
        rules = Policy.parse(text + (f"accept: {reason}\n" if reason else ""))
        if door == "lazy":
            return rules.protect(extract.visits.lazy())
        return rules.protect("in.parquet", engine="stream" if door == "stream" else "auto")

    if door == "python":
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            release = protected(accepted=False)
        assert any(re.search(told, str(each.message)) for each in warned)
    else:
        release = protected(accepted=False)
    with pytest.raises(ht.ExposureError, match=told):
        release.write("out.parquet")
    assert not list(Path().glob("out*"))
    accepted = protected(accepted=True)
    assert accepted.write("out.parquet").passed
    told = str(ht.report("out.parquet", audience="internal").to_dict())
    assert "Befund names people in" in told
    named = accepted.to_dict()["exposure"]["named"]
    assert named == release.to_dict()["exposure"]["named"]
    assert (named[0]["n_records"], named[0]["n_titles"]) == (len(extract.named), len(extract.titles))


def test_a_limit_allows_so_many_records(extract: Extract) -> None:
    n = len(extract.named)
    allowed, refused = (
        Policy.parse(POLICY.format(role="other").replace("rate: 1", f"rate: 1, named: {limit}")).protect(extract.visits)
        for limit in (n, n - 1)
    )
    assert not allowed.exposure.refused_names
    assert refused.exposure.refused_names
