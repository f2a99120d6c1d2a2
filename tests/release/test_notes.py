"""What the summary says of cells beside the claim: missing codes, near duplicates, spellings that stay."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import hushtable as ht
from command import done
from hushtable.columns.column import ColumnSpec
from hushtable.policy import Policy
from hushtable.release import notes

SECRET = "canary-7319"
LINES = ["größe;born;sex;pay;seen;job;name"] + [
    f"1,{i}5;2{i}.02.1990;{'Ff'[i % 2]};{i},5;1{i}.01.2020;{['NA', '?', SECRET][i % 3]};-9" for i in range(8)
]


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("\n".join(LINES), encoding="utf-8")
    return tmp_path / "in.csv"


def released(data, columns=("größe", "born", "sex"), **options):
    return ht.anonymize(data, quasi_identifiers=columns, models=[ht.KAnonymity(2)], identifiers=["name"], **options)


def test_codes_are_counted_until_somebody_says_what_they_mean(source):
    assert notes.missing_codes(released(source)) == {"job": {"NA": 3, "?": 3}}
    for answer in (("NA",), ()):
        said = {"job": ColumnSpec("category", missing_values=answer)}
        assert notes.missing_codes(released(source, specs=said)) == {}


def test_near_duplicates_of_quasi_identifiers_are_counted(source):
    assert notes.count_lookalike_values(released(source)) == {"sex": 1}
    assert notes.count_lookalike_values(released(source, ["größe"])) == {}


@pytest.mark.parametrize(
    ("columns", "decimal", "kept"),
    [
        (["größe", "born"], ".", ("pay", "seen")),
        (["größe", "born"], ",", ("seen",)),
        (["größe"], ".", ("pay",)),
        (["born"], ".", ("seen",)),
        (["sex"], ".", ()),
    ],
)
def test_columns_that_stay_beside_others_that_do_not(source, columns, decimal, kept):
    release = released(source, columns)
    assert (
        tuple(
            name for name in notes.find_unconverted_columns(release, decimal=decimal) if name not in ("größe", "born")
        )
        == kept
    )


def test_a_table_and_a_dataframe_have_no_spellings(source):
    people = pl.DataFrame({"age": [1, 1], "name": ["x", "y"]})
    for data in (people, ht.Table.encode(people)):
        release = released(data, ["age"])
        assert notes.find_unconverted_columns(release, decimal=".") == ()
        assert notes.missing_codes(release) == {}


PLAIN = ["in.csv", "--qi", "größe,born,sex", "--k", "2", "--identifier", "name", "-o", "out.csv"]


def test_the_command_says_so(source):
    made = done("anonymize", *PLAIN, "--verbose")
    assert "(missing_values): job (NA 3, ? 3)\n" in made.out
    assert "careful: 1 values of sex differ from another only in case, spaces or width" in made.out
    assert "with a decimal point and ISO dates, other columns as they came: pay, seen\n" in made.out
    assert SECRET not in made.out
    assert "written as" not in made.out
    made = done(
        "anonymize", *PLAIN, "--force", "--verbose", "--set", "write.encoding=cp1252", "--set", "write.decimal=','"
    )
    assert "written as cp1252\nquasi-identifiers are written with decimal commas\n" in made.out
    assert "other columns as they came: seen\n" in made.out
    told = json.loads(done("anonymize", *PLAIN, "--force", "--json").out)
    assert told["missing_codes"] == {"job": {"NA": 3, "?": 3}}
    assert told["near_duplicates"] == {"sex": 1}


def dated(n: int = 60) -> pl.DataFrame:
    days = [dt.date(1950, 1, 1) + dt.timedelta(days=37 * i) for i in range(n)]
    return pl.DataFrame({"born": days, "sex": ["f", "m"] * (n // 2)})


@pytest.mark.parametrize(("recoding", "listed"), [("set", {"born": 60}), ("cut", {}), ("tight", {})])
def test_sets_that_list_nearly_unique_values(recoding, listed):
    release = ht.anonymize(
        dated(),
        quasi_identifiers=["born", "sex"],
        models=[ht.KAnonymity(3)],
        method=ht.Mondrian(recoding=recoding),
        roles="trust",
    )
    assert notes.count_values_in_lists(release) == listed


def test_sets_of_common_values_are_no_concern():
    table = pl.DataFrame({"job": ["cook", "clerk", "nurse", "baker"] * 10})
    release = ht.anonymize(
        table, quasi_identifiers=["job"], models=[ht.KAnonymity(15)], method=ht.Mondrian(recoding="set")
    )
    assert notes.count_values_in_lists(release) == {}


def test_the_command_warns_of_lists_and_says_what_the_loss_means(source):
    dated().write_csv("dated.csv")
    asked = ["dated.csv", "--qi", "born,sex", "--k", "3", "-o", "dated.release.csv", "--recoding", "set"]
    made = done("anonymize", *asked, "--verbose")
    assert "careful: the sets of born list 60 values that are nearly unique" in made.out
    quality = json.loads(done("anonymize", *asked, "--force", "--json").out)["quality"]
    loss, by_rank = quality["set_ncp"], quality["set_ncp_by_rank"]
    assert (
        f"A typical cell spans {100 * loss:.1f} % of its column (set-NCP {loss:.4f}); most is lost in born ("
        in made.out
    )
    told = f"recoding set; loss {loss:.4f} (set-NCP, 0 none to 1 all); set-NCP by rank {by_rank:.4f}\n"
    assert told in made.out
    assert "careful: the sets" not in done("anonymize", *asked[:-2], "--force").out


def test_hundreds_of_values_without_a_hierarchy_are_named_before_the_search() -> None:
    people = pl.DataFrame(
        {"code": [f"{i % 150:03}{'xY'[i % 2]}" for i in range(600)], "job": [f"job {i % 120}" for i in range(600)]}
    )
    method = ht.Mondrian(recoding="readable")
    asked = {"quasi_identifiers": ["code", "job"], "models": [ht.KAnonymity(2)], "method": method}
    with pytest.warns(UserWarning, match="no hierarchy") as told:
        ht.anonymize(people, **asked)
    messages = [str(warning.message) for warning in told]
    assert [message.split()[1] for message in messages] == ["'code'", "'job'"]
    assert "150 values and no hierarchy" in messages[0]
    assert "`hierarchy: {prefix: [3, 2, 1]}`" in messages[0]
    assert "value;group;..." in messages[1]
    jobs = people.select("job").with_columns(job=pl.col("job").str.slice(0, 5))
    assert notes.lacking_values(ht.anonymize(jobs, **{**asked, "quasi_identifiers": ["job"]})) == ()
    few = pl.DataFrame({"job": ["cook", "nurse", "pilot", "judge"] * 2 + ["vicar"]})
    both = {"quasi_identifiers": ["job"], "models": [ht.KAnonymity(3)]}
    assert notes.lacking_values(ht.anonymize(few, **both, method=method)) == ("job",)
    assert notes.lacking_values(ht.anonymize(few, **both, method=ht.Mondrian(recoding="cut"))) == ()
    ht.anonymize(
        people.select("code"),
        quasi_identifiers=["code"],
        models=[ht.KAnonymity(2)],
        hierarchies={"code": ht.Hierarchy.prefix([3, 2, 1])},
        method=method,
    )


def test_a_tight_release_says_what_its_intervals_tell(tmp_path: Path) -> None:
    people = pl.DataFrame({"age": [21, 25, 30, 41]})
    tight = ht.anonymize(people, quasi_identifiers=["age"], models=[ht.KAnonymity(2)])
    with pytest.warns(UserWarning, match="values that somebody has"):
        tight.write(tmp_path / "out.csv")
    ht.anonymize(
        people, quasi_identifiers=["age"], models=[ht.KAnonymity(2)], method=ht.Mondrian(recoding="readable")
    ).write(tmp_path / "readable.csv")


@pytest.mark.parametrize("door", ["anonymize", "assess", "policy", "lazy"])
def test_a_code_of_a_missing_number_is_warned_of_at_every_door(door: str) -> None:
    table = pl.DataFrame({"educ": [99 if i % 40 == 0 else i % 17 for i in range(200)]})
    rules = Policy.parse("columns: {educ: quasi-identifier}\nmodels: [k-anonymity: 3]")
    asked: Any = {"quasi_identifiers": ["educ"]}
    doors: Any = {
        "anonymize": lambda: ht.anonymize(table, models=[ht.KAnonymity(3)], **asked),
        "assess": lambda: ht.assess(table, **asked),
        "policy": lambda: rules.protect(table),
        "lazy": lambda: rules.protect(table.lazy()),
    }
    with pytest.warns(UserWarning, match="column 'educ' holds 99 in 5 records, far from its other values"):
        doors[door]()
