"""Cells that a spreadsheet would run: which they are, and that hiding them loses nothing."""

import io
import re
from pathlib import Path
from typing import Any
from unicodedata import category

import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, strategies as st

import hushtable as ht
from command import done, run
from hushtable.io import csv, frames
from hushtable.io.csv import Dialect, Writing
from hushtable.policy import Policy
from hushtable.release import manifest

# Python and Rust need not know the same Unicode: what is unassigned in one may be a sign in the other.
ASSIGNED = st.characters(exclude_categories=["Cs", "Cn"])
TEXTS = st.text("=+-@'1a. ,", max_size=6) | st.text(ASSIGNED, max_size=6)


def is_blank(sign: str) -> bool:
    return sign.isspace() or sign < " "


def is_formula(text: str) -> bool:
    """The slow twin: signed, no number, and something behind the sign that is neither a sign nor a blank."""
    core = list(text)
    while core and is_blank(core[0]):
        del core[0]
    has_something = any(not is_blank(each) and (each == "_" or category(each)[0] not in "PS") for each in core)
    if not has_something or core[0] not in "=+-@＝＋－＠":
        return False
    plain = "".join(" " if is_blank(each) else each for each in core)
    return not re.fullmatch(r"[+\-＋－]?([0-9][0-9.,' ]*|[.,][0-9]+)([eE][+\-]?[0-9]+)? *%?", plain)


@given(st.lists(TEXTS, max_size=8))
@example(["\x1f=0", "\x00=0", "-1\x1f", "\x1e-1"])
def test_formulas_are_those_of_the_slow_twin(texts: list[str]) -> None:
    series = pl.Series(texts, dtype=pl.String)
    assert csv.are_formulas(series).to_list() == [is_formula(text) for text in texts]


@given(st.lists(st.none() | TEXTS, max_size=8))
def test_hiding_is_undone_and_leaves_no_formula(texts: list[str | None]) -> None:
    series = pl.Series(texts, dtype=pl.String)
    hidden = csv.escape_formulas(series)
    assert not csv.are_formulas(hidden).any()
    assert csv.unescape_formulas(hidden).to_list() == texts
    assert hidden.drop_nulls().n_unique() == series.drop_nulls().n_unique()


@pytest.mark.parametrize(
    "text", ["-5", "+1.5", "-1,5", "-1.234,56", "-.5", "+49 30 1234", "1E-5", "-", "--", "-3 %", "", "a=b"]
)
def test_numbers_and_marks_are_none(text: str) -> None:
    assert not csv.are_formulas(pl.Series([text])).any()


@pytest.mark.parametrize("text", ["=cmd|' /C calc'!A0", "@SUM(A1)", "+1+1", "-A1", " =1+1", "\t=1", "＝1+1", "-1+2"])
def test_what_a_spreadsheet_runs(text: str) -> None:
    assert csv.are_formulas(pl.Series([text])).all()


def odd() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [1, 2, 3, 4],
            "=job": ["=a", "=a", "'=b", "'=b"],
            "note": ["=cmd|' /C calc'!A0", "-5", "x", "'=y"],
            "@n": [-1, -2, 3, 4],
            "'=b": ["p", "q", "r", "s"],
        }
    )


def protected(data: Any) -> ht.Release:
    return ht.anonymize(
        data, quasi_identifiers=["age", "=job"], models=[ht.KAnonymity(2)], method=ht.Mondrian(recoding="cut")
    )


KINDS: dict[str, Any] = {
    "polars": lambda table: table,
    "categorical": lambda table: table.with_columns(pl.col("note").cast(pl.Categorical)),
    "pandas": lambda table: table.to_pandas(),
    "pandas category": lambda table: table.to_pandas().astype({"note": "category"}),
    "pyarrow": lambda table: table.to_arrow(),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_escaped_cells_are_hidden_verified_and_read_back(tmp_path: Path, kind: Any) -> None:
    release = protected(kind(odd()))
    path = tmp_path / "out.csv"
    assert release.write(path, formulas="escape", keep_order=True).passed
    raw = pl.read_csv(io.BytesIO(path.read_bytes()), infer_schema=False)
    assert raw.columns == ["age", "'=job", "note", "'@n", "''=b"]
    assert raw["note"].to_list() == ["'=cmd|' /C calc'!A0", "-5", "x", "''=y"]
    assert not any(csv.count_formulas({name: raw[name] for name in raw.columns}).values())
    dialect = manifest.dialect_of(path)
    assert dialect.formulas == "escape"
    back = frames.read(path, dialect=dialect)
    assert back.columns == tuple(odd().columns)
    assert back.column("note").to_list() == odd()["note"].to_list()
    assert done("verify", path).code == 0


def test_labels_of_a_hierarchy_are_read_back(tmp_path: Path) -> None:
    rows = "".join(f"{'abcd'[i % 4]},x\n" for i in range(16))
    (tmp_path / "in.csv").write_text("code,note\n" + rows)
    (tmp_path / "policy.yaml").write_text(
        "columns:\n  code: {role: quasi-identifier, hierarchy: {tree: {=low: [a, b], '@high': [c, d]}}}\n"
        "  note: other\n"
        "models: [k-anonymity: 8]\nwrite: {formulas: escape}\n"
    )
    paths = ("-p", tmp_path / "policy.yaml")
    shown = done("anonymize", tmp_path / "in.csv", *paths, "-o", tmp_path / "out.csv")
    assert "cells that a spreadsheet would run" in shown.out
    assert "got an apostrophe: code 16" in shown.out
    assert set((tmp_path / "out.csv").read_text().splitlines()[1:]) == {"'=low,x", "'@high,x"}
    done("verify", tmp_path / "out.csv", *paths)
    assert Policy.read(tmp_path / "policy.yaml").verify(tmp_path / "out.csv").passed


def test_by_default_they_are_kept_and_counted(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("age,note\n1,=1+1\n1,-5\n2,@x\n2,n\n")
    shown = done(
        "anonymize",
        tmp_path / "in.csv",
        "--qi",
        "age",
        "--other",
        "note",
        "--k",
        "2",
        "-o",
        tmp_path / "out.csv",
        "--keep-order",
    )
    assert "stay as they are (write: {formulas: escape}): note 2" in shown.out
    assert (tmp_path / "out.csv").read_text().splitlines()[1:] == ["1,=1+1", "1,-5", "2,@x", "2,n"]
    as_json = done(
        "anonymize",
        tmp_path / "in.csv",
        "--qi",
        "age",
        "--other",
        "note",
        "--k",
        "2",
        "-o",
        tmp_path / "out.csv",
        "--force",
        "--json",
    )
    assert '"formulas": {\n    "note": 2\n  }' in as_json.out


@pytest.mark.parametrize("made", [odd(), odd().rename({"=job": "job"})], ids=["cells and names", "cells"])
def test_refused_before_anything_is_written(tmp_path: Path, made: pl.DataFrame) -> None:
    release = ht.anonymize(made, quasi_identifiers=["age"], models=[ht.KAnonymity(2)])
    with pytest.raises(ht.InputError, match=r"'note'.* a spreadsheet would run") as caught:
        release.write(tmp_path / "out.csv", formulas="refuse")
    assert "cmd" not in str(caught.value)
    assert not list(tmp_path.iterdir())
    plain = ht.anonymize(made.select("age"), quasi_identifiers=["age"], models=[ht.KAnonymity(2)])
    plain.write(tmp_path / "out.csv", formulas="refuse")


def test_parquet_has_no_formulas(tmp_path: Path) -> None:
    with pytest.raises(ht.InputError, match="Parquet"):
        protected(odd()).write(tmp_path / "out.parquet", formulas="escape")
    protected(odd()).write(tmp_path / "out.parquet")
    assert pl.read_parquet(tmp_path / "out.parquet").columns == odd().columns


@pytest.mark.parametrize("given", ["hide", "", 1, None])
def test_other_ways_are_errors(given: Any) -> None:
    with pytest.raises(ht.InputError, match="keep, escape, refuse"):
        Writing(formulas=given)


def test_a_policy_asks_whether_escape_was_meant() -> None:
    text = "columns: {age: quasi-identifier}\nmodels: [k-anonymity: 2]\nwrite: {formulas: escpe}\n"
    with pytest.raises(ht.PolicyError, match=r"line 3: write\.formulas.*Did you mean 'escape'"):
        Policy.parse(text)
    written = Policy.parse(text.replace("escpe", "escape"))
    assert written.to_dict()["write"] == {"formulas": "escape"}
    assert Policy.parse(written.to_yaml()) == written


def test_without_being_told_an_apostrophe_is_part_of_a_cell(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a\n'=x\n")
    assert frames.read(tmp_path / "in.csv").column("a").to_list() == ["'=x"]
    assert frames.read(tmp_path / "in.csv", dialect=Dialect(formulas="escape")).column("a").to_list() == ["=x"]


def test_a_manifest_that_lies_is_refused(tmp_path: Path) -> None:
    protected(odd()).write(tmp_path / "out.csv", formulas="escape")
    path = manifest.manifest_path(tmp_path / "out.csv")
    path.write_text(path.read_text().replace('"formulas": "escape"', '"forms": "escape"'))
    assert run("verify", tmp_path / "out.csv").code == 2


def test_pandas_index_is_left_alone(tmp_path: Path) -> None:
    table = pd.DataFrame({"age": [1, 1, 2, 2], "note": ["=1", "b", "c", "d"]}, index=[7, 7, 8, 8])
    release = ht.anonymize(table, quasi_identifiers=["age"], models=[ht.KAnonymity(2)])
    release.write(tmp_path / "out.csv", formulas="escape", keep_order=True)
    assert (tmp_path / "out.csv").read_text() == "age,note\n1,'=1\n1,b\n2,c\n2,d\n"
