"""The codebook: what it says of columns and labels, and that it tells no rare value."""

import json
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import Any

import polars as pl
import pytest
from hypothesis import given, strategies as st

import hushtable as ht
from command import done, run
from hushtable.claims import Classes
from hushtable.columns.column import from_texts
from hushtable.io import frames
from hushtable.release import codebook
from hushtable.release.codebook import Codebook, codebook_paths
from hushtable.release.edition import Edition, Rewritten

JOBS = ["cook", "clerk", "nurse", "baker"]


def people(n: int = 24) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": [20 + i % 7 for i in range(n)],
            "job": [JOBS[i % 4] for i in range(n)],
            "zip": [f"0{i % 3}{i % 5}" for i in range(n)],
            "ill": ["flu", "gout"] * (n // 2),
            "note": ["x"] * n,
        }
    )


def released(data: Any = None, **options: Any) -> ht.Release:
    asked: dict[str, Any] = {
        "quasi_identifiers": ["age", "job", "zip"],
        "models": [ht.KAnonymity(4)],
        "sensitive": ["ill"],
        "identifiers": ["name"],
        "hierarchies": {"zip": {"prefix": [2, 1]}},
        "method": ht.Mondrian(recoding="cut"),
        **options,
    }
    return ht.anonymize(people() if data is None else data, **asked)


def book_of(release: ht.Release, *, external: bool = False) -> dict[str, Any]:
    book = Codebook(release.edition, release.claim, release.recoding.columns, release.recoding.style, release.removed)
    return book.to_dict("out.csv", external=external)


def column_of(release: ht.Release, name: str) -> dict[str, Any]:
    return next(each for each in book_of(release)["columns"] if each["name"] == name)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("external", [True, False])
def test_both_files_say_the_same_of_every_column(tmp_path: Path, ending: str, external: bool) -> None:
    path = tmp_path / f"out.{ending}"
    released().write(path, external=external)
    to_read, data = codebook_paths(path)
    assert (to_read.name, data.name) == (f"out.{ending}.codebook.md", f"out.{ending}.codebook.json")
    told, text = json.loads(data.read_text()), to_read.read_text()
    assert [each["name"] for each in told["columns"]] == ["age", "job", "zip", "ill", "note"]
    assert [each["role"] for each in told["columns"]] == [*["quasi-identifier"] * 3, "sensitive", "other"]
    assert told["n_records"] == 24
    assert told["holds"] == ["k-anonymity (k = 4)"]
    for each in told["columns"]:
        assert f"| `{each['name']}` |" in text
        assert each["how"] in text
        assert sum(each.get("cells", {"": 24}).values()) == 24
    assert ("left_out" in told) is ("Left out: `name`" in text) is not external
    assert "person 1" not in text


def test_cells_are_counted_by_their_form() -> None:
    release = released()
    frame = release.frame
    for name in ("age", "job", "zip"):
        told = column_of(release, name)["cells"]
        assert told.get("any", 0) == (frame[name] == "*").sum()
        assert told.get("interval", 0) == frame[name].str.contains(r"^(<|>=|\[.*\)$)").sum()
        assert told.get("set", 0) == frame[name].str.contains(r'^\["').sum()
    assert column_of(release, "zip")["cells"].get("label", 0) == frame["zip"].str.contains(r"^0.*\*$").sum()


def test_a_hierarchy_that_was_given_is_listed_whole() -> None:
    tree = {"tree": {"hot": {"food": ["cook", "baker"], "care": ["nurse"]}, "cold": {"desk": ["clerk", "judge"]}}}
    told = column_of(released(hierarchies={"job": tree}), "job")
    # Nobody is a judge: whether a value is in the data, its being listed does not say.
    assert told["labels"] == {
        "food": {"covers": ["cook", "baker"]},
        "care": {"covers": ["nurse"]},
        "desk": {"covers": ["clerk", "judge"]},
        "hot": {"covers": ["food", "care"]},
        "cold": {"covers": ["desk"]},
    }
    assert told["how"] == "labels of its hierarchy"


def test_a_branch_that_begins_late_is_listed_once() -> None:
    path = {"tree": {"cook": ["cook"], "other jobs": ["clerk", "nurse", "baker"]}}
    assert set(column_of(released(hierarchies={"job": path}), "job")["labels"]) == {"other jobs"}


def test_a_dictionary_is_listed_by_the_files_own_common_values() -> None:
    jobs = ["France", "Autriche", "Atlantis", "Togo"] * 12
    jobs[3::16] = ["Peru", "Lemuria", "Peru"]
    data = people(48).with_columns(job=pl.Series(jobs))
    found = released(data, hierarchies={"job": {"dictionary": "countries"}}, models=[ht.KAnonymity(8)])
    told = column_of(found, "job")["labels"]
    assert told["Western Europe"]["covers"] == ["Autriche", "France"]
    assert {label for label, each in told.items() if each["n_rare"]} <= {"other", "Americas", "South America"}
    assert not [word for word in ("Lemuria", "Peru", "Austria", "Korea") if word in json.dumps(told)]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"prefix": [2, 1]}, "the first 2 or 1 characters"),
        ({"frequency": 2}, "about as frequent"),
        ({"runs": 2}, "runs of neighbouring values"),
        ("suppression", "nothing between"),
        ({"intervals": [10, 20]}, "intervals 10 or 20 wide"),
        ({"dates": ["month", "year"]}, "a month `2024-05`; a year `2024`"),
    ],
)
def test_rules_are_told_in_words_and_list_nothing(rule: Any, words: str) -> None:
    rule = rule if isinstance(rule, dict) else {rule: None}
    days = pl.Series([f"2020-0{i % 9 + 1}-11" for i in range(24)]).str.to_date()
    data = people().with_columns(job=days) if "dates" in rule else people()
    name = "age" if "intervals" in rule else "job"
    told = column_of(released(data, hierarchies={name: rule}), name)
    assert words in told["how"]
    assert "labels" not in told


def grouped(
    values: list[str], labels: list[str], k: int, whose: list[str] | None = None, **claimed: Any
) -> dict[str, Any]:
    """What is told of a column whose labels were made from the data."""
    frame = pl.DataFrame({"x": values, "person": whose or [str(i) for i in range(len(values))]})
    distinct = sorted(set(labels))
    codes = pl.Series([distinct.index(label) for label in labels], dtype=pl.Int32).to_numpy()
    edition = Edition(frames.read(frame), ("x",), {"x": Rewritten(codes.copy(), tuple(distinct))})
    column, _ = from_texts("x", values, "category")
    claim = Classes(("x",), (ht.KAnonymity(k),), **claimed)
    (told,) = Codebook(edition, claim, (column,), "readable").to_dict("out.csv", external=True)["columns"]
    return told


@given(
    st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from(["low", "high", "a"])), min_size=1), st.integers(1, 4)
)
def test_a_value_of_a_group_is_listed_where_k_records_hold_it(rows: list[tuple[str, str]], k: int) -> None:
    values, labels = [value for value, _ in rows], [label for _, label in rows]
    told = grouped(values, labels, k)
    for label in {label for label in labels if label not in values}:
        counts = {value: rows.count((value, label)) for value in values if (value, label) in rows}
        listed = sorted(value for value, n in counts.items() if n >= max(2, k))
        assert told["labels"][label] == {"covers": listed, "n_rare": len(counts) - len(listed)}


def test_where_persons_are_counted_a_value_of_a_group_is_listed_that_k_persons_have() -> None:
    values, labels = ["a"] * 6 + ["b"], ["low"] * 7
    assert grouped(values, labels, 2)["labels"] == {"low": {"covers": ["a"], "n_rare": 1}}
    assert grouped(values, labels, 2, person="person")["labels"] == {"low": {"covers": ["a"], "n_rare": 1}}
    one = grouped(values, labels, 2, person="person", whose=["p"] * 6 + ["q"])
    assert one["labels"] == {"low": {"covers": [], "n_rare": 2}}


@pytest.mark.filterwarnings("ignore:column 'town' has 400 values")
def test_a_codebook_of_many_labels_is_cut_and_says_where_all_are(tmp_path: Path) -> None:
    towns = [f"{a}{b}ville" for a in ascii_uppercase[:20] for b in ascii_lowercase[:20]]
    data = pl.DataFrame({"town": towns * 5})
    release = ht.anonymize(
        data,
        quasi_identifiers=["town"],
        models=[ht.KAnonymity(25)],
        method=ht.Mondrian(recoding="readable", max_listed=1),
    )
    release.write(tmp_path / "out.csv")
    to_read, told = codebook_paths(tmp_path / "out.csv")
    labels = json.loads(told.read_text(encoding="utf-8"))["columns"][0]["labels"]
    printed = to_read.read_text(encoding="utf-8")
    assert f"{len(labels) - 20} more labels of this column: `out.csv.codebook.json` lists all." in printed
    assert printed.count("(5 values)` | 5 rare values |") == 20
    assert sum(-(-len(line) // 90) or 1 for line in printed.splitlines()) <= 120


def test_rare_values_are_counted_in_words() -> None:
    said = codebook._describe_coverage({"covers": ["a", "b"], "n_rare": 12})
    assert said == "`a`, `b` and 12 rare values"
    assert codebook._describe_coverage({"covers": [f"v{i}" for i in range(20)]}).endswith("`v11` and 8 more")


@pytest.mark.parametrize("data", [lambda table: table, ht.Table.encode, lambda table: table.to_pandas()])
def test_any_kind_of_table(data: Any) -> None:
    told = book_of(released(data(people())))
    assert told == {**book_of(released()), "columns": told["columns"]}
    assert [each.get("cells") for each in told["columns"]] == [
        each.get("cells") for each in book_of(released())["columns"]
    ]


def test_dropped_records_are_not_counted() -> None:
    # Nobody else has fever: a class with it is never diverse enough, so that the one record goes.
    data = people(8).with_columns(ill=pl.Series(["flu"] * 7 + ["gout"]), age=pl.Series([1] * 8))
    release = released(data, suppression_limit=0.5, models=[ht.AlphaKAnonymity(0.8, 2, "ill")])
    assert release.drops_suppressed
    told = book_of(release)
    assert told["n_records"] == frames.read(release.frame).n_rows < 8
    assert all(sum(each["cells"].values()) == told["n_records"] for each in told["columns"] if "cells" in each)


ODD = ["a|b", "`x`", "``", "<b>bold</b>", "two\nlines", "*", "# head", "^a.*$", "😀", " "]


def test_odd_names_and_labels_stay_in_their_cells(tmp_path: Path) -> None:
    tree = {"tree": {name.strip() or "blank": [JOBS[i]] for i, name in enumerate(ODD[:4])}}
    data = people().rename({"note": ODD[0], "zip": ODD[1], "age": ODD[3], "ill": ODD[4]})
    release = ht.anonymize(
        data,
        quasi_identifiers=["job", ODD[1], ODD[3]],
        models=[ht.KAnonymity(4)],
        identifiers=["name"],
        hierarchies={"job": tree},
        roles="trust",
    )
    release.write(tmp_path / "out.csv")
    text = (tmp_path / "out.csv.codebook.md").read_text()
    assert "| `a\\|b` | " in text
    assert "| `` `x` `` |" in text
    assert "two lines" in text
    table = [line for line in text.splitlines() if line.startswith("| ")]
    assert {line.replace("\\|", "").count("|") for line in table} == {3, 6}


def test_the_command_writes_one_and_leaves_it_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    people().write_csv("in.csv")
    asked = ("anonymize", "in.csv", "--qi", "age,job,zip", "--k", "4", "--identifier", "name", "-o", "out.csv")
    shown = done(*asked, "--no-codebook")
    assert "Wrote out.csv and its manifest." in shown.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "out.csv", "out.csv.manifest.json"]
    shown = done(*asked, "--force")
    assert "Wrote out.csv, its codebook and its manifest." in shown.out
    assert all(path.exists() for path in codebook_paths(Path("out.csv")))


def test_a_codebook_replaces_no_file_unasked_and_no_input_at_all(tmp_path: Path) -> None:
    to_read, _ = codebook_paths(tmp_path / "out.csv")
    to_read.write_text("mine")
    with pytest.raises(ht.InputError, match=r"codebook\.md' exists"):
        released().write(tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == [to_read.name]
    released().write(tmp_path / "out.csv", codebook=False)
    assert to_read.read_text() == "mine"
    source = tmp_path / "in.csv.codebook.json"
    people().write_csv(tmp_path / "table.csv")
    (tmp_path / "table.csv").rename(source)
    policy = tmp_path / "policy.yaml"
    policy.write_text("columns: {age: quasi-identifier}\nmodels: [k-anonymity: 2]\n")
    policy.rename(tmp_path / "new.csv.codebook.md")
    refused = run("anonymize", source, "-p", tmp_path / "new.csv.codebook.md", "-o", tmp_path / "new.csv", "--force")
    assert refused.code == 2
    assert "the output is the input" in refused.err


def test_a_release_that_fails_leaves_no_codebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hushtable.release.manifest.sha256", fail)
    with pytest.raises(ht.InputError):
        released().write(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_what_a_frequency_group_holds_is_told_but_for_rare_values(tmp_path: Path) -> None:
    rare = [f"hamlet {i}" for i in range(20)]
    data = pl.DataFrame({"town": [f"town {i % 15}" for i in range(600)] + rare, "age": [i % 40 for i in range(620)]})
    method = ht.Mondrian(recoding="readable")
    asked = {"quasi_identifiers": ["town", "age"], "models": [ht.KAnonymity(5)], "method": method, "roles": "trust"}
    for external in (False, True):
        out = tmp_path / f"out{external}.csv"
        ht.anonymize(data, **asked).write(out, external=external)
        assert "other D (5 values)" in out.read_text(encoding="utf-8")
        for path in codebook_paths(out):
            told = path.read_text(encoding="utf-8")
            assert "other D (5 values)" in told
            assert not [town for town in rare if town in told]
        assert "rare values" in codebook_paths(out)[0].read_text(encoding="utf-8")
