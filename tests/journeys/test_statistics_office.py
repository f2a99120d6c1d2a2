"""A statistics office publishes jobs by person: three records of two people are two, at every step."""

import pytest
from counting_persons import Covered, Spelling, read
from made_up_people import REGION_LIST, jobs
from shell import Shell

K = 3
KNOWN = ["region", "sector", "age_group", "sex", "hours"]
AGES = ["15-24", "25-39", "40-54", "55-64", "65+"]
SPELLING = Spelling(
    kinds={**dict.fromkeys(KNOWN, "category"), "age_group": "ordered"},
    person="employee",
    labels={"region": {"1": ["11", "12", "13"], "2": ["21", "22"]}},
    orders={"age_group": AGES},
)


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    """The office with its policy: regions as tau-Argus lists them, groups of age in their order."""
    shell = Shell(tmp_path_factory.mktemp("office"))
    jobs(1_200).write_csv(shell.folder / "jobs.csv")
    jobs(300).write_csv(shell.folder / "few.csv")
    (shell.folder / "region.hrc").write_text(REGION_LIST, encoding="utf-8")
    shell.type("hushtable convert region.hrc")
    shell.type(f"hushtable scan jobs.csv -p policy.yaml --k {K}")
    assert "\nperson: employee" in shell.read("policy.yaml")
    order = ", ".join(f'"{age}"' for age in AGES)
    shell.edit(
        "policy.yaml",
        region="{role: quasi-identifier, hierarchy: region.csv}",
        age_group=f"{{role: quasi-identifier, order: [{order}]}}",
        hours="quasi-identifier",
    )
    return shell


def test_a_cell_of_three_records_of_two_persons_is_small(office):
    known = f"--qi {','.join(KNOWN)} --tolerance {K}"
    by_records = office.type(f"hushtable assess jobs.csv {known}", code=1)
    by_persons = office.type(f"hushtable assess jobs.csv {known} --person employee", code=1)
    assert by_records.err != by_persons.err
    assert count_in_small_cells(by_persons.err) >= count_in_small_cells(by_records.err) + 3
    # scan, which proposes to count persons, counts them itself.
    assert lines_of_sizes(office.type("hushtable scan jobs.csv")) == lines_of_sizes(by_persons)
    assert lines_of_sizes(by_persons) != lines_of_sizes(by_records)


def lines_of_sizes(printed):
    return [line for line in printed.out.splitlines() if line.startswith("Classes smaller than")]


def count_in_small_cells(printed):
    return int(next(word for word in printed.replace(",", "").split() if word.isdigit()))


@pytest.mark.parametrize("method", ["mondrian", "full_domain"])
def test_no_published_cell_is_of_fewer_than_three_persons(office, method):
    out = f"{method}.csv"
    told = office.type(
        f"hushtable anonymize jobs.csv -p policy.yaml -o {out} --method {method} --external "
        "--set limits.suppression=0.05"
    )
    assert "by persons" in told.out
    office.type(f"hushtable verify {out} --original jobs.csv -p policy.yaml")
    rows, before = (read(office.folder / name, delimiter=",") for name in (out, "jobs.csv"))
    Covered.from_files(rows, before, SPELLING).check(K)
    office.type(f"hushtable verify {out}")


def test_a_file_made_without_persons_fails_by_the_policy(office):
    text = office.read("policy.yaml")
    person = next(line for line in text.splitlines() if line.startswith("person:"))
    (office.folder / "records.yaml").write_text(text.replace(person, ""), encoding="utf-8")
    told = office.type("hushtable anonymize jobs.csv -p records.yaml -o records.csv")
    assert "'employee'" in told.err  # whoever leaves persons out is told
    judged = office.type("hushtable verify records.csv --no-manifest -p policy.yaml --original jobs.csv", code=1)
    assert "by persons" in judged.out


def test_linked_records_of_two_years_need_two_keys(office):
    (office.folder / "key1").write_text("a first secret that nobody may know", encoding="utf-8")
    (office.folder / "key2").write_text("a second secret that nobody may know", encoding="utf-8")
    linked = (
        "hushtable anonymize few.csv -p policy.yaml --set columns.employee.action=pseudonym --method histories "
        f"--set 'models=[{{linked-k-anonymity: {K}}}]' --set limits.suppression=0.3"
    )
    refused = office.type(
        "hushtable anonymize jobs.csv -p policy.yaml -o no.csv --set columns.employee.action=pseudonym --key-file key1",
        code=1,
    )
    assert "links the records of a person" in refused.err
    office.type(f"{linked} -o year1.csv --key-file key1")
    office.type(f"{linked} -o year2_same.csv --key-file key1 --seed 5")
    office.type(f"{linked} -o year2.csv --key-file key2 --seed 5")
    office.type("hushtable verify year2.csv")
    joined = office.type("hushtable attack-release year2_same.csv --earlier year1.csv --fail-above count=0", code=1)
    assert "linked releases" in joined.out
    apart = office.type("hushtable attack-release year2.csv --earlier year1.csv")
    assert "falls to" not in apart.out
