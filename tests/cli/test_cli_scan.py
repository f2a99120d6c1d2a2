"""The first hour: scan reads what people have, writes a policy that explains itself, and what it tells to run runs."""

import json
import random
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import hushtable as ht
from command import done, run
from hushtable.cli import terminal
from hushtable.cli.requests import with_options
from hushtable.cli.summary import format_roles
from hushtable.columns.column import ColumnSpec
from hushtable.discover.recognise import ProposedRole, Roles
from hushtable.io import frames
from hushtable.policy import Policy
from hushtable.policy.proposal import propose_policy

GERMAN = "Fallnummer;Name;Geburtsdatum;Geschlecht;PLZ;Größe;Diagnose;Kosten"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def german_extract(n_rows: int = 300, seed: int = 0) -> bytes:
    """A hospital's extract: semicolons, latin-1, CRLF, dd.mm.yyyy, decimal commas, thousands with points."""
    draw = random.Random(seed)
    rows = [GERMAN]
    for i in range(n_rows):
        born = f"{draw.randint(1, 28):02}.{draw.randint(1, 12):02}.{draw.randint(1930, 2010)}"
        cost = f"{draw.randint(100, 9_999_999) / 100:,.2f}".replace(",", "_").replace(".", ",").replace("_", ".")
        height = f"{draw.randint(150, 199) / 100:.2f}".replace(".", ",")
        town, ill = draw.choice(["01067", "01069", "80331", "80333"]), draw.choice(["J45.0", "I10.9", "E11.2"])
        sex = draw.choice(["männlich", "weiblich"])
        rows.append(f"{100_000 + 7 * i};Müller{i} Jörg{i};{born};{sex};{town};{height};{ill};{cost}")
    return ("\r\n".join(rows) + "\r\n").encode("latin-1")


def test_a_german_extract_goes_from_scan_to_release_without_python(here: Path) -> None:
    Path("fall.csv").write_bytes(german_extract())
    scanned = done("scan", "fall.csv", "-p", "policy.yaml")
    command = shlex.split(scanned.err.strip().splitlines()[-1])
    assert command[0] == "hushtable"
    done(*command[1:])
    policy = Policy.read("policy.yaml")
    assert policy.to_dict()["read"] == {"encoding": "cp1252", "delimiter": ";", "decimal": ",", "thousands": "."}
    assert policy.columns["Geburtsdatum"].format == "%d.%m.%Y"
    release = Path("fall.release.csv")
    published = pl.read_csv(release, separator=";", infer_schema=False)
    original = pl.read_csv(german_extract().decode("latin-1").encode(), separator=";", infer_schema=False)
    # What is not generalized stays byte for byte, in UTF-8.
    assert sorted(published["Diagnose"]) == sorted(original["Diagnose"])
    assert not published["Geburtsdatum"].str.contains(".", literal=True).any()
    assert not published["Kosten"].str.contains(r"[0-9],[0-9]").any()
    claim = json.loads(Path("fall.release.csv.manifest.json").read_text())["claim"]
    assert claim["kinds"]["Geburtsdatum"] == "date"
    assert claim["kinds"]["Größe"] == claim["kinds"]["Kosten"] == "decimal"
    done("verify", str(release))


def test_what_scan_writes_parses_whatever_the_columns_are_called(here: Path) -> None:
    names = [
        "age",
        "x: y",
        "- z",
        "yes",
        "1990",
        "a#b",
        'say "hi"',
        "tab\there",
        "two\nlines",
        "😀",
        "[b]",
        "*",
        "%",
        "~",
    ]
    names += ["null", " led", "{a}", "a'b", "\x7f", "\\", "y" * 1_500, "性别", "columns", "<<", "&a", "!t", "?", "@"]
    data = pl.DataFrame({name: [str(i % 3), "b", "c"] * 20 for i, name in enumerate(names)})
    data.write_parquet("odd.parquet")
    done("scan", "odd.parquet", "-p", "policy.yaml")
    text = Path("policy.yaml").read_text(encoding="utf-8")
    with_quasi_identifier = text.replace("  age: other", "  age: quasi-identifier")
    assert list(Policy.parse(with_quasi_identifier).columns) == names


def roles_of(roles: dict[str, str]) -> Roles:
    columns = [
        ProposedRole(name, role, f"because\nof {name}", "category", 3, 1)  # type: ignore[arg-type]
        for name, role in roles.items()
    ]
    return Roles(tuple(columns))


def test_every_column_is_explained_and_every_option_has_a_line() -> None:
    frame = frames.read(pl.DataFrame({"a": ["x", "y"], "b": ["1", "2"], "c": ["u", "v"]}))
    text = propose_policy(
        frame, roles_of({"a": "quasi-identifier", "b": "ask", "c": "sensitive"}), k=3, source="t", run="r"
    )
    for name in "abc":
        (line,) = [line for line in text.splitlines() if line.startswith(f"  {name}:")]
        assert "because of" in line
        assert "3 distinct; 1 missing" in line
    policy = Policy.parse(text)
    assert policy.with_role("ask") == ("b",)
    assert {model.name for model in policy.models} == {"k-anonymity", "distinct-l-diversity"}
    told = {field.alias or name for name, field in Policy.model_fields.items()}
    assert [name for name in told if f"{name}:" not in text] == []


POLICY = "columns: {age: quasi-identifier, job: ask, pay: ask, note: other}\nmodels: [k-anonymity: 2]\n"
ROWS = "age,job,pay,note\n31,a,1,x\n34,a,2,x\n52,b,3,y\n57,b,4,y\n"


def write_asking() -> None:
    Path("in.csv").write_text(ROWS)
    Path("policy.yaml").write_text(POLICY)


def test_a_role_that_is_asked_is_decided_before_anything_is_written(here: Path) -> None:
    write_asking()
    refused = run("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv")
    assert refused.code == 2
    assert "'job', 'pay'" in refused.err
    for role in ("quasi-identifier", "sensitive", "identifier", "other"):
        assert f"{role} (" in refused.err
    assert not Path("out.csv").exists()
    done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv", "--ask", "quasi-identifier")
    assert Policy.read("policy.yaml").with_role("ask") == ("job", "pay")
    assert json.loads(Path("out.csv.manifest.json").read_text())["claim"]["columns"] == ["age", "job", "pay"]


@pytest.mark.parametrize("role", ["ask", "nobody", ""])
def test_what_is_asked_is_decided_for_a_role(here: Path, role: str) -> None:
    write_asking()
    assert run("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv", "--ask", role).code == 2


def test_deciding_where_nothing_is_asked_is_an_error(here: Path) -> None:
    write_asking()
    Path("policy.yaml").write_text(POLICY.replace("ask", "sensitive"))
    refused = run("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv", "--ask", "other")
    assert refused.code == 2
    assert "no effect" in refused.err


def test_python_is_asked_too(here: Path) -> None:
    write_asking()
    for protect in (
        lambda: ht.anonymize("in.csv", policy="policy.yaml"),
        lambda: Policy.parse(POLICY).protect("in.csv"),
    ):
        with pytest.raises(ht.PolicyError, match="'job', 'pay'"):
            protect()


AMBIGUOUS = "born,town\n" + "".join(f"0{i % 9 + 1}.0{i % 7 + 1}.199{i % 10},{'ab'[i % 2]}\n" for i in range(80))


def doors(specs: dict[str, Any], options: Sequence[str], entry: str) -> list[Any]:
    """Every way to protect a file by its dates, with what is said of them."""
    policy = f"columns: {{born: {{role: quasi-identifier{entry}}}, town: other}}\nmodels: [k-anonymity: 4]\n"
    Path("policy.yaml").write_text(policy)
    by_policy, by_options = ["-p", "policy.yaml"], ["--qi", "born", "--other", "town", "--k", "4", *options]
    return [
        lambda: run("anonymize", "in.csv", *by_policy, "-o", "one.csv", "--force"),
        lambda: run("anonymize", "in.csv", *by_options, "-o", "two.csv", "--force"),
        lambda: ht.anonymize("in.csv", quasi_identifiers=["born"], models=[ht.KAnonymity(4)], specs=specs),
        lambda: Policy.parse(policy).protect("in.csv"),
    ]


def test_dates_of_two_readings_are_refused_at_every_door(here: Path) -> None:
    Path("in.csv").write_text(AMBIGUOUS)
    scanned = done("scan", "in.csv", "-p", "found.yaml")
    text = Path("found.yaml").read_text()
    if "format: ask" in text:
        assert "'%d.%m.%Y', '%m.%d.%Y'" in text
        assert run(*shlex.split(scanned.err.strip().splitlines()[-1])[1:]).code == 2
    for outcome in [door() for door in doors({}, [], "")[:2]]:
        assert outcome.code == 2
        assert "%d.%m.%Y, %m.%d.%Y" in outcome.err
    for door in doors({}, [], "")[2:]:
        with pytest.raises(ht.ColumnError, match="fit several formats"):
            door()
    with pytest.raises(ht.PolicyError, match="format of the dates of 'born'"):
        doors({}, [], ", format: ask")[3]()


def test_dates_that_were_settled_are_read_alike_at_every_door(here: Path) -> None:
    Path("in.csv").write_text(AMBIGUOUS)
    said = {"born": ColumnSpec(format="%m.%d.%Y")}
    by_command = doors(said, ["--set", 'columns.born.format="%m.%d.%Y"'], ', format: "%m.%d.%Y"')
    for door in by_command[:2]:
        assert door().code == 0
    for door in by_command[2:]:
        assert door().claim.specs["born"].kind == "date"
        assert door().verify().passed


def test_a_scan_at_eighty_columns_never_cuts_off_a_role(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "_line_width", lambda: 80)
    pl.DataFrame({"a very long name of a column that has a quasi-identifier in it": ["x"] * 9}).write_csv("in.csv")
    names = {"quasi-identifier": "a" * 70, "sensitive": "b" * 70, "ask": "c"}
    table = "\n".join(format_roles(roles_of({name: role for role, name in names.items()})))
    for role in names:
        assert role in table
    assert max(map(len, table.splitlines())) <= 80


def test_past_two_hundred_columns_the_first_fifty_are_shown(here: Path) -> None:
    table = "\n".join(format_roles(roles_of({f"column{i}": "other" if i % 2 else "sensitive" for i in range(250)})))
    assert "column49" in table
    assert "column50" not in table
    assert "125 sensitive" in table


def generated(draw: random.Random) -> pl.DataFrame:
    """A table of persons with a few columns of each kind, some of them all but unique."""
    n = draw.choice((60, 150, 400))
    columns: dict[str, list[Any]] = {
        "name": [f"Person {i} Nr{draw.randint(0, 10**6)}" for i in range(n)],
        "age": [draw.randint(18, 80) for _ in range(n)],
        "sex": [draw.choice("fm") for _ in range(n)],
        "salary": [draw.randint(10**6, 10**7) / 100 for _ in range(n)],
        "glucose": [draw.randint(60, 200) for _ in range(n)],
        "cholesterol": [draw.randint(600, 2000) / 10 for _ in range(n)],
        "diagnosis": [draw.choice(("flu", "gout", "mumps", "none")) for _ in range(n)],
        "hire_date": [f"20{draw.randint(10, 23)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}" for _ in range(n)],
        "note": [f"seen {i} times since {i + 3} days, with no pain in the knee" for i in range(n)],
    }
    kept = ["age", "sex", *draw.sample([name for name in columns if name not in ("age", "sex")], draw.randint(2, 6))]
    return pl.DataFrame({name: columns[name] for name in columns if name in kept})


@pytest.mark.parametrize("seed", range(8))
def test_what_a_scan_proposes_runs(here: Path, seed: int) -> None:
    draw = random.Random(seed)
    table = generated(draw)
    ending = draw.choice(("csv", "parquet"))
    getattr(table, f"write_{ending}")(f"in.{ending}")
    scanned = done("scan", f"in.{ending}", "-p", "policy.yaml")
    policy = Policy.read("policy.yaml")
    asked = [*policy.with_role("ask"), *policy.with_role("other")]
    # Whether others know a column, and what is unique of those that are kept, is for people to say.
    decided = [part for name in asked for part in ("--set", f"columns.{name}=identifier")]
    assert done("anonymize", f"in.{ending}", "-p", "policy.yaml", "-o", "out.parquet", *decided).code == 0
    assert ("First decide about the free text in 'note'" in scanned.err) == ("note" in table.columns)
    sensitive = {model.sensitive for model in policy.models if model.name != "k-anonymity"}
    assert sensitive.isdisjoint({"salary", "cholesterol"})


def test_near_unique_numbers_get_no_model_alone_or_together() -> None:
    n = 400
    pay = {
        "salary": [1000.5 + i for i in range(n)],
        "debt": [i % 40 for i in range(n)],
        "pension": [i // 20 for i in range(n)],
    }
    people = frames.read(pl.DataFrame({"age": [20 + i % 50 for i in range(n)], **pay}))
    text = propose_policy(people, ht.find_quasi_identifiers(people), k=5, source="x.csv", run=None)
    assert [model.name for model in Policy.parse(text).models] == ["k-anonymity", "distinct-l-diversity"]
    assert "sensitive: pension}" in text.partition("# Whatever")[0].splitlines()[-2]
    assert text.count("hardly two records have the same values") == 2


def test_the_policy_that_a_scan_writes_for_a_workbook_is_read(here: Path) -> None:
    table = pl.DataFrame({"age": [20 + i % 5 for i in range(60)], "sex": ["f", "m"] * 30})
    table.write_excel("in.xlsx")
    done("scan", "in.xlsx", "-p", "policy.yaml")
    assert Policy.read("policy.yaml").read_as.dialect == frames.Dialect()
    assert done("anonymize", "in.xlsx", "-p", "policy.yaml", "-o", "out.csv").code == 0


@pytest.mark.parametrize(("place", "mark"), [("write.decimal", ","), ("read.delimiter", "|"), ("read.thousands", "'")])
def test_a_mark_is_set_as_it_is_typed(place: str, mark: str) -> None:
    rules = Policy.parse("columns: {age: quasi-identifier}\nmodels: [k-anonymity: 5]")
    entry, name = place.split(".")
    assert with_options(rules, {}, [], [f"{place}={mark}"]).to_dict()[entry][name] == mark
