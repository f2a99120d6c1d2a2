"""A hospital publishes the stays of its patients: the first file, whoever receives it, and three months after it."""

import re
import shutil

import pytest
from counting_persons import Covered, Spelling, count_persons_in_both, read
from made_up_people import Hospital, write_export
from shell import Shell

K = 5
MONTHS = ("november", "dezember", "januar")
KNOWN = ["Geburtsdatum", "Geschlecht", "PLZ", "Aufnahmedatum", "Verweildauer", "Fachabteilung"]
GROUPS = {
    "konservativ": ["Innere Medizin", "Pneumologie", "Neurologie", "Psychiatrie", "Onkologie"],
    "operativ": ["Chirurgie", "Orthopädie", "Unfallchirurgie", "Urologie"],
}
SPELLING = Spelling(
    kinds=dict(zip(KNOWN, ["date", "category", "category", "date", "integer", "category"], strict=True)),
    person="Patientennummer",
    formats={"Geburtsdatum": "%d.%m.%Y", "Aufnahmedatum": "%d.%m.%Y"},
    missing={"PLZ": "99999", "Verweildauer": "999"},
    labels={"Fachabteilung": GROUPS},
)
UNITS = {
    "november": {"2024-11", "2024-Q4", "2024", "2020s"},
    "dezember": {"2024-12", "2024-Q4", "2024", "2020s"},
    "januar": {"2025-01", "2025-Q1", "2025", "2020s"},
}


@pytest.fixture(scope="module", params=[(4_000, 2_800), pytest.param((20_000, 14_000), marks=pytest.mark.slow)])
def clinic(request, tmp_path_factory):
    """The data office on its first day: exports lie there, `scan` has proposed a policy, and a person has read it."""
    shell, hospital = Shell(tmp_path_factory.mktemp("klinik"), "de"), Hospital(*request.param)
    write_export(hospital.first(), shell.folder / "aufnahmen.csv")
    for number, month in enumerate(MONTHS, 1):
        write_export(hospital.month(number), shell.folder / f"{month}.csv")
    seen = shell.type("hushtable scan aufnahmen.csv -p policy.yaml")
    # What only a person can answer is asked: who has several records, which codes are missing values, what money is.
    assert "`person: Patientennummer`" in seen.out
    assert "999" in seen.err
    assert "99999" in seen.err
    policy = shell.read("policy.yaml")
    assert "\nperson: Patientennummer\n" in policy
    assert 'encoding: "cp1252"' in policy
    asked = shell.type("hushtable anonymize aufnahmen.csv -p policy.yaml -o nichts.csv", code=2)
    assert "Kosten" in asked.err
    assert not (shell.folder / "nichts.csv").exists()
    shell.edit("policy.yaml", Kosten="sensitive")
    return shell


def original(shell, name):
    return read(shell.folder / f"{name}.csv", "cp1252")


def read_covered(shell, name, of):
    return Covered.from_files(read(shell.folder / name), original(shell, of), SPELLING)


@pytest.fixture(scope="module")
def released(clinic):
    """The clinic after its first release, which its publisher has judged beside the original."""
    clinic.type("hushtable compare aufnahmen.csv -p policy.yaml --k 3,5 --suppression 0")
    told = clinic.type(
        "hushtable anonymize aufnahmen.csv -p policy.yaml -o freigabe.csv --external --report bericht.html"
    )
    assert "k-anonymity (k = 5), nach Personen" in told.out
    assert "Person" in clinic.text_of_page("bericht.html")
    clinic.type("hushtable verify freigabe.csv --original aufnahmen.csv -p policy.yaml")
    return clinic


@pytest.fixture
def receiver(released, tmp_path):
    """Somebody who has the release, its manifest and its codebook, and nothing else."""
    for path in released.folder.glob("freigabe.csv*"):
        shutil.copy(path, tmp_path)
    return Shell(tmp_path, "de")


def test_the_first_release_hides_every_person_among_k(released):
    rows, before = read(released.folder / "freigabe.csv"), original(released, "aufnahmen")
    assert len(rows) == len(before)
    assert [*rows[0]] == [*KNOWN, "Hauptdiagnose", "Kosten"]
    assert not any(row["PLZ"] == "99999" or row["Verweildauer"] == "999" for row in rows)
    read_covered(released, "freigabe.csv", "aufnahmen").check(K)
    numbers = {row["Patientennummer"] for row in before}
    for name in ("freigabe.csv", "freigabe.csv.manifest.json", "freigabe.csv.codebook.md", "bericht.html"):
        assert not numbers & set(re.findall(r"P\d{7}", released.read(name)))


def test_whoever_receives_it_can_verify_it(receiver):
    checked = receiver.type("hushtable verify freigabe.csv")
    assert "Person" in checked.out
    n_records = len(read(receiver.folder / "freigabe.csv"))
    assert f"{n_records:,} Datensätze".replace(",", ".") in checked.out
    # Who wants all of it judged has to ask the publisher.
    strict = receiver.type("hushtable verify freigabe.csv --strict", code=1)
    assert "Patientennummer" in strict.out


def test_whoever_receives_it_can_make_a_report(receiver):
    receiver.type("hushtable report freigabe.csv --external -o aussen.html")
    assert "Person" in receiver.text_of_page("aussen.html")
    assert "Geburtsdatum" in receiver.text_of_page("aussen.html")


def test_the_publisher_makes_a_report_for_others_beside_the_original(released):
    released.type(
        "hushtable report freigabe.csv --external --original aufnahmen.csv -p policy.yaml -o fuer_andere.html"
    )
    assert "Person" in released.text_of_page("fuer_andere.html")


def test_records_of_persons_may_be_suppressed(clinic):
    clinic.type("hushtable anonymize aufnahmen.csv -p policy.yaml -o ohne.csv --set limits.suppression=0.02")
    rows = read(clinic.folder / "ohne.csv")
    n_before = len(original(clinic, "aufnahmen"))
    n_lost = n_before - len(rows) + sum(all(row[name] == "*" for name in KNOWN) for row in rows)
    assert n_lost <= 0.02 * n_before
    read_covered(clinic, "ohne.csv", "aufnahmen").check(K)
    clinic.type("hushtable verify ohne.csv --original aufnahmen.csv")
    clinic.type("hushtable verify ohne.csv")


@pytest.mark.slow
def test_compare_has_no_impossible_row(clinic):
    seen = clinic.type("hushtable compare aufnahmen.csv -p policy.yaml --k 3,5,11 --suppression 0,0.02")
    assert "Nicht erfüllbar" not in seen.out


def test_the_release_is_a_file_of_spss(clinic):
    pyreadstat = pytest.importorskip("pyreadstat")
    clinic.type("hushtable anonymize aufnahmen.csv -p policy.yaml -o freigabe.sav")
    clinic.type("hushtable verify freigabe.sav --original aufnahmen.csv")
    frame, meta = pyreadstat.read_sav(str(clinic.folder / "freigabe.sav"), output_format="polars")
    assert frame["Kosten"].dtype.is_float()
    assert meta.variable_measure["Kosten"] == "scale"
    before = original(clinic, "aufnahmen")
    assert sum(frame["Kosten"]) == pytest.approx(sum(float(row["Kosten"].replace(",", ".")) for row in before))
    wards = {row["Fachabteilung"] for row in before}
    assert wards & set(frame["Fachabteilung"])  # umlauts of cp1252 arrived


@pytest.mark.slow
def test_three_months(clinic):
    shutil.copy(clinic.folder / "policy.yaml", clinic.folder / "monatlich.yaml")
    # The line that scan offers behind a #: calendar units, so that the cells of a month have a successor.
    clinic.replace("monatlich.yaml", "# hierarchy: {dates:", "hierarchy: {dates:")
    save = "hushtable anonymize aufnahmen.csv -p monatlich.yaml --set method.mondrian.margin=15"
    # Ends that are somebody's values cannot be saved: said before anything is written, with what would help.
    refused = clinic.type(f"{save} -o oktober.csv --save-recoding zellen.json --recoding tight", code=2)
    assert "readable" in refused.err
    assert not (clinic.folder / "oktober.csv").exists()
    # Groups of wards are written down, so that every month has the same.
    lines = [f"{ward};{group};*\n" for group, wards in GROUPS.items() for ward in wards]
    (clinic.folder / "fachabteilungen.csv").write_text("".join(lines), encoding="cp1252")
    clinic.edit("monatlich.yaml", Fachabteilung="{role: quasi-identifier, hierarchy: fachabteilungen.csv}")
    clinic.type(f"{save} -o oktober.csv --save-recoding zellen.json")
    earlier = read_covered(clinic, "oktober.csv", "aufnahmen")
    earlier.check(K)
    for place, month in enumerate(MONTHS):
        check_month(clinic, month, earlier, ["aufnahmen", *MONTHS[:place]])


def check_month(clinic, month, earlier, previous):
    """Publish a month by the cells of October, and look at what a person would look at."""
    out = f"{month}_frei.csv"
    before = original(clinic, month)
    beside = " ".join(f"--previous {name}.csv" for name in previous)
    told = clinic.type(f"hushtable apply zellen.json {month}.csv -o {out} {beside} -v")
    assert "nach Personen" in told.out
    rows = read(clinic.folder / out)
    n_kept = sum(any(row[name] != "*" for name in KNOWN) for row in rows)
    assert n_kept >= 0.85 * len(before), f"{month}: {n_kept} of {len(before)}"
    later = read_covered(clinic, out, month)
    later.check(K)
    # The days of the month lie in units of the calendar that hold them, not in October's.
    days = {row["Aufnahmedatum"] for row in rows} - {"*"}
    assert days <= UNITS[month], days
    clinic.type(f"hushtable verify {out} --original {month}.csv")
    clinic.type(f"hushtable verify {out}")
    # Who is in October and in this month is counted, and so is who stands out by that.
    attacked = clinic.type(
        f"hushtable attack-release {out} --earlier oktober.csv --original {month}.csv "
        "--earlier-original aufnahmen.csv -p monatlich.yaml"
    )
    counted = [f"{number:,}".replace(",", ".") for number in count_persons_in_both(earlier, later, K)]
    assert re.search(" " + " +".join(map(re.escape, counted)) + " ", attacked.out), (counted, attacked.out)
    # The answer to that is to publish nobody twice.
    clinic.type(f"hushtable apply zellen.json {month}.csv -o neue_{out} {beside} --distinct-persons -v")
    known = {row["Patientennummer"] for name in previous for row in original(clinic, name)}
    new = [row for row in before if row["Patientennummer"] not in known]
    assert len(read(clinic.folder / f"neue_{out}")) <= len(new)
    assert len(read(clinic.folder / f"neue_{out}")) >= 0.85 * len(new)
    clinic.type(f"hushtable verify neue_{out}")
