"""What has hurt users of this field before, each with the guard that should hold here.

The numbers are those of the project's list of pitfalls.
"""

import datetime as dt
import hashlib
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import yaml

import hushtable as ht
from command import done, run
from hushtable.io import frames
from hushtable.release import manifest


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_policy(roles: dict[str, object], *models: dict[str, object], **entries: object) -> None:
    Path("policy.yaml").write_text(json.dumps({"columns": roles, "models": list(models), **entries}))


def gaps() -> pl.DataFrame:
    """Eleven people, one of whom gives neither age nor sex."""
    return pl.DataFrame({"age": [30] * 5 + [40] * 5 + [None], "sex": ["f"] * 10 + [None]})


def test_pitfall_01_missing_as_wildcard(here: Path) -> None:
    """Reading a gap as "anything" makes classes look larger than they are: it is never the default, and it is named."""
    rules = {"quasi_identifiers": ["age", "sex"], "models": [ht.KAnonymity(2)]}
    assert not ht.verify(gaps(), **rules).passed
    assert not ht.verify(gaps(), **rules, missing="worst").passed
    assert ht.verify(gaps(), **rules, missing="wildcard").passed
    assert [ht.verify(gaps(), **rules, **reading).figures["missing"] for reading in ({}, {"missing": "wildcard"})] == [
        "category",
        "wildcard",
    ]
    risk = ht.assess(gaps(), quasi_identifiers=["age", "sex"])
    assert risk.smallest_by_missing == {"category": 1, "wildcard": 6, "worst": 1}
    assert risk.smallest_class == 1
    gaps().write_csv("in.csv")
    shown = done("scan", "in.csv").out
    assert "The smallest class holds 1 with missing values as a category, 6 as a wildcard, and 1 at worst." in shown


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_pitfall_02_missing_rows_dropped(kind: str) -> None:
    """A group-by that drops rows with gaps reports a k nobody has: class sizes sum to the number of records."""
    source = {"pandas": gaps().to_pandas(), "polars": gaps(), "pyarrow": gaps().to_arrow()}[kind]
    assert ht.Partition.from_table(ht.Table.encode(source)).sizes.tolist() == [5, 5, 1]
    assert ht.assess(source, quasi_identifiers=["age", "sex"]).n_unique == 1
    verdict = ht.verify(source, quasi_identifiers=["age", "sex"], models=[ht.KAnonymity(2)])
    assert (verdict.n_records, verdict.n_classes, verdict.n_unique, verdict.passed) == (11, 3, 1, False)
    release = ht.anonymize(source, quasi_identifiers=["age", "sex"], models=[ht.KAnonymity(2)])
    assert release.partition.sizes.sum() == len(release.frame) == 11


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"x": pd.Series([1.0, np.nan, None], dtype=object)}),
        pd.DataFrame({"x": [1.0, np.nan, np.nan]}),
        pd.DataFrame({"x": pd.array([1, None, None], dtype="Int64")}),
        pd.DataFrame({"x": pd.Series(["1", None, np.nan], dtype=object)}),
        pd.DataFrame({"x": pd.Series(["1", pd.NA, None], dtype="string")}),
        pd.DataFrame({"x": pd.Series(["1", None, ""], dtype=object)}),
        pd.DataFrame({"x": pd.to_datetime(["2024-01-01", None, pd.NaT])}),
        pd.DataFrame({"x": pd.Categorical(["1", None, None])}),
        pl.DataFrame({"x": [1.0, float("nan"), None]}),
        pl.DataFrame({"x": ["1", "", None]}),
        pl.DataFrame({"x": ["1", " ", None]}),
    ],
)
def test_pitfall_03_one_missing_code(table: pd.DataFrame | pl.DataFrame) -> None:
    """NaN, null, NaT, NA and blank text are one missing value, not several."""
    assert ht.Table.encode(table).codes.tolist() == [[0, -1, -1]]
    release = ht.anonymize(table, quasi_identifiers=["x"], models=[ht.KAnonymity(1)])
    assert [cell is None or cell != cell for cell in list(release.frame["x"])] == [False, True, True]


def test_pitfall_03_words_are_not_missing(here: Path) -> None:
    """In a CSV, "NA", "None" and "nan" are words that someone wrote; only an empty cell is missing."""
    Path("in.csv").write_text("job,n\n" + "NA,1\nNone,2\nnan,3\nNULL,4\n,5\n" * 2)
    done("anonymize", "in.csv", "--qi", "job", "--k", "2", "--other", "n", "-o", "out.csv", "--keep-order")
    assert Path("out.csv").read_bytes() == Path("in.csv").read_bytes()


def test_pitfall_03_suppressed_is_not_a_value(here: Path) -> None:
    """A "*" that came with the input cannot be told from one that we would write, so it is refused."""
    Path("in.csv").write_text("job,n\n*,1\n*,2\n")
    outcome = run("anonymize", "in.csv", "--qi", "job", "--k", "2", "--other", "n", "-o", "out.csv")
    assert outcome.code == 2
    assert "'*'" in outcome.err


def test_pitfall_04_row_order_leaks(here: Path) -> None:
    """An unchanged order joins a release to its source row by row; a seed that is published would undo a shuffle."""
    source = pd.DataFrame({"age": [20 + i % 9 for i in range(90)], "visit": range(90)}, index=range(900, 990))
    release = ht.anonymize(source, quasi_identifiers=["age"], models=[ht.KAnonymity(2)], sensitive=["visit"])
    orders = set()
    for _ in range(3):
        release.write("out.parquet", policy={"seed": 0}, overwrite=True)
        orders.add(tuple(pl.read_parquet("out.parquet")["visit"]))
    assert len({*orders, tuple(range(90))}) == 4
    assert pl.read_parquet("out.parquet").columns == ["age", "visit"]


CELLS = '''\
zip,code,dose,text,empty,flag,number
01234,1E10,34.0,NA,,TRUE,+5
00000,2e05,1.10,None,"",true,-0
12345,0x1F,007,nan,,False,1_000
00001,1e400,.5," padded ",,0,1.0
99999,Infinity,-0.0,"a,b",,1,9223372036854775808
54321,NaN,1e-7,"say ""hi""",,é,٣
10101,inf,100000000000000000000,"two
lines",,😀,½
'''


def test_pitfall_05_type_drift_on_rewrite(here: Path) -> None:
    """Reading and writing changes ZIP codes, ICD codes and decimals elsewhere; here untouched cells keep every byte."""
    Path("in.csv").write_text(CELLS)
    lines = frames.read("in.csv").data.to_polars()
    doubled = pl.concat([lines, lines]).with_columns(age=pl.lit("31"))
    doubled.write_csv("twice.csv")
    kept = ",".join(lines.columns)
    done("anonymize", "twice.csv", "--qi", "age", "--k", "2", "--other", kept, "-o", "out.csv", "--keep-order")
    assert Path("out.csv").read_bytes() == Path("twice.csv").read_bytes()
    assert CELLS.split("\n")[1].encode() in Path("out.csv").read_bytes()


@pytest.mark.parametrize("codes", [("01234", "04321"), ("1E10", "E11"), ("2e05", "3e05"), ("007", "7"), ("1_000", "2")])
def test_pitfall_05_codes_stay_codes(here: Path, codes: tuple[str, str]) -> None:
    """A quasi-identifier that only looks like a number is a code, and is published as it was written."""
    Path("in.csv").write_text("code,n\n" + "".join(f"{code},1\n" * 3 for code in codes))
    done("anonymize", "in.csv", "--qi", "code", "--k", "3", "-o", "out.csv", "--other", "n", "--keep-order")
    assert Path("out.csv").read_bytes() == Path("in.csv").read_bytes()


def test_pitfall_05_one_text_per_published_value(here: Path) -> None:
    """Spellings of one value would single people out inside their class, so a value is published in one text."""
    Path("in.csv").write_text("pay,n\n" + "1,1\n1.0,2\n 1,3\n+1.00,4\n")
    done("anonymize", "in.csv", "--qi", "pay", "--k", "4", "-o", "out.csv", "--other", "n")
    assert set(frames.read("out.csv").column("pay")) == {"1"}


@pytest.mark.parametrize("bad", ["secret,34,f,x", "secret,34", 'secret,34,"f', "secret,34,*"])
def test_pitfall_06_values_in_errors(here: Path, bad: str) -> None:
    """A message that quotes a cell copies a person's data into logs: messages give names, lines and counts."""
    Path("in.csv").write_text(f"name,age,sex\n{bad}\nsecret,35,f\n")
    outcome = run("anonymize", "in.csv", "--qi", "age,sex", "--k", "2", "--identifier", "name", "-o", "out.csv")
    assert outcome.code == 2
    assert "secret" not in outcome.out + outcome.err


def test_pitfall_07_no_hash_of_cells_or_input(here: Path) -> None:
    """A hash of a few possible values is the value: no class ids, and a manifest for others has no hash but its own."""
    gaps().write_csv("in.csv")
    done("anonymize", "in.csv", "--qi", "age,sex", "--k", "2", "-o", "out.csv", "--external")
    text = Path("out.csv.manifest.json").read_text()
    assert json.loads(text)["sha256"] == hashlib.sha256(Path("out.csv").read_bytes()).hexdigest()
    hashes = {hashlib.new(name, Path("in.csv").read_bytes()).hexdigest() for name in ("sha256", "md5", "sha1")}
    assert not any(each in text for each in hashes)
    assert frames.read("out.csv").columns == ("age", "sex")


def test_pitfall_08_pseudonyms_of_two_releases() -> None:
    """Pseudonyms that are the same everywhere join releases: they come from a key, and a new key gives new ones."""
    people = pl.DataFrame({"email": ["a@b.org", "c@d.org"], "id": ["a@b.org", "7"], "age": [1, 1]})
    found = []
    for key in (b"first key of many bytes", b"other key of many bytes"):
        release = ht.anonymize(
            people,
            quasi_identifiers=["age"],
            models=[ht.KAnonymity(2)],
            pseudonyms=ht.Pseudonyms(("email", "id"), key),
        )
        found += [*release.frame["email"], *release.frame["id"]]
    assert len(set(found)) == 8
    plain = {hashlib.sha256(text.encode()).hexdigest()[:32] for text in ("a@b.org", "c@d.org", "7")}
    assert not plain & set(found)


def test_pitfall_09_homogeneity_is_reported(here: Path) -> None:
    """Where all of a class share a diagnosis, k protects nobody: a policy with k alone is answered with a warning."""
    pl.DataFrame({"age": [30] * 3 + [50] * 3, "illness": ["flu"] * 3 + ["flu", "gout", "flu"]}).write_csv("in.csv")
    write_policy({"age": "quasi-identifier", "illness": "sensitive"}, {"k-anonymity": 3})
    done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv")
    assert "careful: a class agrees on illness" in done("verify", "out.csv", "-p", "policy.yaml").out
    judged = json.loads(done("verify", "out.csv", "-p", "policy.yaml", "--json").out)
    assert judged["distinct_sensitive"] == {"illness": 1}


def test_pitfall_10_the_external_manifest_tells_no_objective(here: Path) -> None:
    """Knowing what was minimised, and how far, undoes generalization: what goes out with a file leaves that away."""
    gaps().write_csv("in.csv")
    done("anonymize", "in.csv", "--qi", "age,sex", "--k", "2", "-o", "out.csv", "--external")
    text = Path("out.csv.manifest.json").read_text()
    for word in ("loss", "trace", "quality", "gap", "bound", "seed", "seconds", "nodes", "n_classes", "smallest"):
        assert word not in text


def test_pitfall_11_the_command_does_not_recode_tightly(here: Path) -> None:
    """A minimal local recoding can be undone from its own endpoints: files get round intervals by default."""
    pl.DataFrame({"age": [17, 23, 29, 31, 47, 58, 63, 94]}).write_csv("in.csv")
    made = json.loads(done("anonymize", "in.csv", "--qi", "age", "--k", "2", "-o", "out.csv", "--json").out)
    assert made["recoding"] == "readable"
    tight = json.loads(
        done("anonymize", "in.csv", "--qi", "age", "--k", "2", "-o", "tight.csv", "--recoding", "tight", "--json").out
    )
    assert tight["recoding"] == json.loads(Path("tight.csv.manifest.json").read_text())["recoding"] == "tight"


def test_pitfall_12_no_exact_ends_in_ranges(here: Path) -> None:
    """The least and greatest value of a column belong to somebody: the outer cells of a file are open."""
    ages = [17, 23, 29, 31, 47, 58, 63, 94]
    born = [dt.date(2020 - age, 3, age % 28 + 1) for age in ages]
    pl.DataFrame({"age": ages, "born": born, "pay": [age * 10.37 for age in ages]}).write_csv("in.csv")
    done("anonymize", "in.csv", "--qi", "age,born,pay", "--k", "2", "-o", "out.csv")
    text = Path("out.csv").read_text()
    cells = {cell for name in ("age", "born", "pay") for cell in frames.read("out.csv").column(name)}
    assert not [cell for cell in cells if cell[0] not in "<>[*"]
    for value in [17, 94, min(born), max(born), 17 * 10.37, 94 * 10.37]:
        assert str(value) not in text


def test_pitfall_14_a_column_with_two_roles(here: Path) -> None:
    """A sensitive column that others know is a quasi-identifier too: nothing settles that silently."""
    people = pl.DataFrame({"age": [30, 30], "course": ["a", "b"]})
    with pytest.raises(ht.ColumnError, match="'course' have more than one role"):
        ht.anonymize(
            people, quasi_identifiers=["age", "course"], models=[ht.KAnonymity(2), ht.DistinctLDiversity(2, "course")]
        )
    people.write_csv("in.csv")
    outcome = run("anonymize", "in.csv", "--qi", "age,course", "--k", "2", "--l", "2:course", "-o", "out.csv")
    assert outcome.code == 2
    assert "'course'" in outcome.err


def test_pitfall_14_a_column_without_a_role(here: Path) -> None:
    """What nobody classified is not quietly taken for harmless: a policy must name it, options say that it is kept."""
    pl.DataFrame({"age": [30, 30], "course": ["a", "a"]}).write_csv("in.csv")
    write_policy({"age": "quasi-identifier"}, {"k-anonymity": 2})
    outcome = run("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv")
    assert outcome.code == 2
    assert "gives no role to 'course'" in outcome.err
    made = done("anonymize", "in.csv", "--qi", "age", "--k", "2", "-o", "out.csv")
    assert "taken for unknown to anyone: course" in made.err
    assert "taken for unknown to anyone: course" in made.out


def test_pitfall_14_every_column_is_scanned() -> None:
    """Columns that nobody thinks of identify people: the scan proposes a role and a reason for each."""
    people = ht.datasets.people(200)
    proposed = ht.find_quasi_identifiers(people)
    assert [column.name for column in proposed.columns] == people.columns
    assert all(column.reason for column in proposed.columns)
    assert proposed.roles["visit_date"] == "quasi-identifier"


@pytest.mark.parametrize("edit", ["filter rows", "sample", "add a column", "join"])
def test_pitfall_15_edited_after_the_release(here: Path, edit: str) -> None:
    """Filtering, sampling or joining a release breaks its k: the file is what is verified, not the memory of it."""
    ht.datasets.people(60).select("sex", "marital_status", "diagnosis").write_csv("in.csv")
    write_policy(
        {"sex": "quasi-identifier", "marital_status": "quasi-identifier", "diagnosis": "sensitive"}, {"k-anonymity": 5}
    )
    done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv")
    table = pl.read_csv("out.csv", infer_schema=False)
    edited = {
        "filter rows": table.filter(pl.col("diagnosis") == "I10"),
        "sample": table.sample(12, seed=0),
        "add a column": table.with_columns(row=pl.int_range(pl.len())),
        "join": table.with_row_index("id").with_columns(sex=pl.col("sex") + pl.col("id").cast(pl.String)).drop("id"),
    }[edit]
    edited.write_csv("out.csv")
    assert run("verify", "out.csv", "-p", "policy.yaml").code == 1
    anew = run("verify", "out.csv", "-p", "policy.yaml", "--no-manifest")
    # A column that the policy does not release is wrong input; the others are a verdict.
    assert anew.code == (2 if edit == "add a column" else 1)


@pytest.mark.parametrize(("n_hidden", "passed"), [(0, True), (1, False), (2, True), (3, True)])
def test_pitfall_16_suppressed_rows_are_no_class(n_hidden: int, passed: bool) -> None:
    """Suppressed rows are no class that reaches k; they count as records, and a few of them are people pointed at."""
    table = pl.DataFrame({"age": ["30", "30", "40", "40"] + ["*"] * n_hidden})
    verdict = ht.verify(table, quasi_identifiers=["age"], models=[ht.KAnonymity(2)])
    assert (verdict.n_records, verdict.n_suppressed, verdict.smallest_class) == (4 + n_hidden, n_hidden, 2)
    assert verdict.n_classes == 2
    assert verdict.passed is passed


def test_pitfall_16_partly_hidden_rows_are_a_class() -> None:
    """Only rows hidden in every quasi-identifier are suppressed; the others are judged like all."""
    table = pl.DataFrame({"age": ["30", "30", "*"], "sex": ["f", "f", "m"]})
    verdict = ht.verify(table, quasi_identifiers=["age", "sex"], models=[ht.KAnonymity(2)])
    assert (verdict.n_suppressed, verdict.smallest_class, verdict.passed) == (0, 1, False)


def test_pitfall_18_whose_risk_is_meant(here: Path) -> None:
    """A risk within the table is not one within the population: the figure says whose knowledge it assumes."""
    gaps().write_csv("in.csv")
    assert "who knows that a person is in the table, has a highest risk" in done("scan", "in.csv").out
    done("anonymize", "in.csv", "--qi", "age,sex", "--k", "2", "-o", "out.csv")
    assert "for a reader who knows no other column" in manifest.read(Path("out.csv"))["claim"]["sentence"]


@pytest.mark.parametrize(("size", "passed"), [(11, False), (12, True)])
def test_pitfall_21_thresholds_are_not_rounded(here: Path, size: int, passed: bool) -> None:
    """0.09 is less than 1/11 = 0.0909..., whatever two decimals say: it takes classes of 12."""
    table = pl.DataFrame({"age": ["30"] * size + ["40"] * size})
    for limit in ({"highest_risk": 0.09}, {"average_risk": 0.09}):
        verdict = ht.verify(table, quasi_identifiers=["age"], models=[ht.KAnonymity(2)], **limit)
        assert verdict.passed is passed
    table.write_csv("out.csv")
    write_policy({"age": "quasi-identifier"}, {"k-anonymity": 2}, limits={"highest_risk": 0.09})
    assert run("verify", "out.csv", "-p", "policy.yaml", "--no-manifest").code == (not passed)


@pytest.mark.parametrize("size", [3, 7, 11, 49, 93, 107])
def test_pitfall_21_a_limit_of_one_over_k_is_met_by_k(size: int) -> None:
    """The nearest float of 1/k may lie below it; a class of k still meets a limit written with enough digits."""
    table = pl.DataFrame({"age": ["30"] * size})
    limit = float(np.nextafter(1 / size, 1))
    verdict = ht.verify(table, quasi_identifiers=["age"], models=[ht.KAnonymity(1)], highest_risk=limit)
    assert verdict.passed


DEGENERATE = {
    "one row": pl.DataFrame({"a": [1], "b": ["x"]}),
    "constant": pl.DataFrame({"a": [1] * 4, "b": ["x"] * 4}),
    "all missing": pl.DataFrame({"a": [None] * 4, "b": [None] * 4}, schema={"a": pl.Int64, "b": pl.String}),
    "no type": pl.DataFrame({"a": [None] * 4, "b": ["x"] * 4}),
    "all NaN": pl.DataFrame({"a": [float("nan")] * 4, "b": ["x"] * 4}),
    "all different": pl.DataFrame({"a": [1, 2, 3, 4], "b": list("wxyz")}),
    "wide range": pl.DataFrame({"a": [-1.7e308, 1.7e308, 0.0, 5e-324], "b": ["x"] * 4}),
    "large integers": pl.DataFrame({"a": [-(2**63), 2**63 - 1, 0, 1], "b": ["x"] * 4}),
    "old dates": pl.DataFrame({"a": [dt.date(1, 1, 1), dt.date(9999, 12, 31)] * 2, "b": ["x"] * 4}),
    "booleans": pl.DataFrame({"a": [True, False, None, True], "b": ["x"] * 4}),
    "odd text": pl.DataFrame({"a": [1, 2, 3, 4], "b": ['["x"]', "<5", "[1, 2)", "null"]}),
}


@pytest.mark.filterwarnings("ignore:column 'a' has 1 dates before the year 1000")
@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("recoding", ["tight", "cut"])
@pytest.mark.parametrize("table", DEGENERATE.values(), ids=DEGENERATE)
def test_pitfall_22_degenerate_tables(here: Path, table: pl.DataFrame, recoding: str, k: int) -> None:
    """A figure that fails on the worst case reads as "no risk": extreme tables work, or fail aloud."""
    k = min(k, len(table))
    for names in (["a"], ["b"], ["b", "a"]):
        release = ht.anonymize(
            table, quasi_identifiers=names, models=[ht.KAnonymity(k)], method=ht.Mondrian(recoding=recoding)
        )
        assert release.verify().passed
        assert 0.0 <= release.loss <= 1.0
        assert min(Counter(release.frame.select(names).rows()).values()) >= k
        for ending in ("csv", "parquet"):
            assert release.write(f"out.{ending}", overwrite=True).n_records == len(table)


def test_pitfall_22_nothing_to_measure_is_the_worst() -> None:
    """No figure of an empty table is better than the worst."""
    empty = pl.DataFrame({"age": []}, schema={"age": pl.Int64})
    risk = ht.assess(empty, quasi_identifiers=["age"])
    assert (risk.highest_risk, risk.average_risk, risk.smallest_class) == (1.0, 1.0, 0)
    with pytest.raises(ht.InputError, match="empty"):
        ht.anonymize(empty, quasi_identifiers=["age"], models=[ht.KAnonymity(2)])


@pytest.mark.parametrize("values", [[None] * 4, ["x"] * 4])
def test_pitfall_22_no_diversity_fails(values: list[str | None]) -> None:
    """A sensitive column without diversity fails its model, and is not skipped."""
    table = pl.DataFrame({"age": [1] * 4, "pay": pl.Series(values, dtype=pl.String)})
    models = [ht.DistinctLDiversity(2, "pay")]
    assert not ht.verify(table, quasi_identifiers=["age"], models=models).passed
    with pytest.raises(ht.InfeasibleError):
        ht.anonymize(table, quasi_identifiers=["age"], models=models)


@pytest.mark.parametrize("cut", ["gain", "median"])
def test_pitfall_23_runs_are_repeated_exactly(cut: str) -> None:
    """A method whose figure changes from run to run cannot be checked: the same table gives the same release."""
    names = ["birth_date", "sex", "postcode", "education"]
    people = ht.datasets.people(400).select(*names, "nationality")
    releases = [
        ht.anonymize(people, quasi_identifiers=names, models=[ht.KAnonymity(5)], method=ht.Mondrian(cut=cut))
        for _ in range(3)
    ]
    assert len({release.loss for release in releases}) == 1
    assert all(release.frame.equals(releases[0].frame) for release in releases)


def test_pitfall_25_html_of_names() -> None:
    """A column's name is shown in notebooks: it must not run there."""
    name = "<img src=x onerror=alert(1)>"
    table = pl.DataFrame({name: [1, 1], "email": ["a@b.org", "c@d.org"]})
    release = ht.anonymize(table, quasi_identifiers=[name], models=[ht.KAnonymity(2)], identifiers=["email"])
    risk = ht.assess(table, quasi_identifiers=[name])
    for shown in (release, release.verify(), risk, ht.find_quasi_identifiers(table)):
        assert "<img" not in shown._repr_html_()


@pytest.mark.parametrize(
    ("values", "n_alike"),
    [(["F", "f ", "Ｆ", "M"], 2), (["Köln", "Ko\u0308ln", "Bonn"], 1), (["new  york", "New York"], 1), (["a", "b"], 0)],
)
def test_pitfall_26_spellings_of_one_value(here: Path, values: list[str], n_alike: int) -> None:
    """Case, spaces and Unicode forms split a class without anyone seeing why: the scan counts such values."""
    pl.DataFrame({"sex": values * 2}).write_csv("in.csv")
    (column,) = ht.find_quasi_identifiers("in.csv").columns
    assert column.warning == (f"{n_alike} values differ from another only in case, spaces or width" if n_alike else "")
    assert column.warning in done("scan", "in.csv").out
    assert json.loads(done("scan", "in.csv", "--json").out)["columns"][0]["warning"] == column.warning


def test_pitfall_27_two_sources_of_rules_are_refused(here: Path) -> None:
    """When two settings disagree, nobody knows which one was used: a policy and roles by option do not mix."""
    gaps().write_csv("in.csv")
    write_policy({"age": "quasi-identifier", "sex": "quasi-identifier"}, {"k-anonymity": 2})
    for options in (["--qi", "age"], ["--k", "3"], ["--l", "2:sex"], ["--identifier", "sex"], ["--other", "sex"]):
        outcome = run("anonymize", "in.csv", "-p", "policy.yaml", *options, "-o", "out.csv")
        assert outcome.code == 2
        assert "both a policy" in outcome.err


def test_pitfall_27_a_doubled_entry_is_refused(here: Path) -> None:
    """YAML lets a later key silently win over an earlier one; a policy that says two things says nothing."""
    gaps().write_csv("in.csv")
    Path("policy.yaml").write_text(
        "columns:\n  age: quasi-identifier\n  sex: quasi-identifier\n  age: other\nmodels: [k-anonymity: 2]\n"
    )
    outcome = run("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv")
    assert outcome.code == 2
    assert "line 4" in outcome.err
    assert "age" in outcome.err


def test_pitfall_27_unknown_entries_are_refused(here: Path) -> None:
    """A misspelt entry that is passed over leaves a default in its place."""
    gaps().write_csv("in.csv")
    write_policy({"age": "quasi-identifier", "sex": "quasi-identifier"}, {"k-anonymity": 2}, limit={"highest_risk": 1})
    outcome = run("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv")
    assert outcome.code == 2
    assert "limit" in outcome.err


def test_pitfall_27_the_manifest_tells_the_rules_that_held(here: Path) -> None:
    """What was asked for, defaults and overrides resolved, goes with the release and can be run again."""
    gaps().write_csv("in.csv")
    write_policy({"age": "quasi-identifier", "sex": "quasi-identifier"}, {"k-anonymity": 2})
    done(
        "anonymize",
        "in.csv",
        "-p",
        "policy.yaml",
        "-o",
        "out.csv",
        "--set",
        "method.mondrian.cut=median",
        "--recoding",
        "tight",
    )
    resolved = manifest.read(Path("out.csv"))["policy"]
    assert resolved["method"] == {"mondrian": {"cut": "median", "recoding": "tight"}}
    assert resolved["missing"] == "category"
    Path("again.yaml").write_text(yaml.safe_dump(resolved))
    done("anonymize", "in.csv", "-p", "again.yaml", "-o", "again.csv")
    assert manifest.read(Path("again.csv"))["policy"] == resolved
    assert Counter(Path("again.csv").read_text().split()) == Counter(Path("out.csv").read_text().split())
