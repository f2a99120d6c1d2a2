"""Files that R's haven writes and reads: the other program of files of SPSS, Stata and SAS."""

from __future__ import annotations

import datetime as dt
import os
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import polars as pl
import pytest

import hushtable as ht
from hushtable.io import frames

pytest.importorskip("pyreadstat", reason="needs hushtable[stats]")

Facts = dict[str, dict[tuple[str, str], str]]
"""What haven tells of files: the text of each fact of each column."""

SCRIPT = Path(__file__).with_name("haven.R")
FILES = (
    *("bytes.sav", "plain.sav", "small.zsav"),
    *("v8.dta", "v10.dta", "v11.dta", "v12.dta", "v13.dta", "v14.dta", "v15.dta"),
    *("v5.xpt", "v8.xpt", "plain.sas7bdat"),
)
# Nobody has these labels of values.
GONE = ("CANARY of Kleinhausen", "CANARY level", "CANARY who moved away", "CANARY shop", "CANARY")


def haven(*asked: str) -> str:
    done = subprocess.run(
        ["Rscript", "--vanilla", str(SCRIPT), *asked],
        check=False,
        capture_output=True,
        env=os.environ | {"LC_ALL": "C.UTF-8"},
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def told(files: list[Path]) -> Facts:
    facts: Facts = defaultdict(dict)
    for line in haven("tell", *map(str, files)).splitlines():
        file, column, fact, text = line.split("\t")
        facts[Path(file).name][column, fact] = text
    return facts


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    is_here = shutil.which("Rscript") and not subprocess.call(
        ["Rscript", "-e", "library(haven)"], stderr=subprocess.DEVNULL
    )
    if not is_here:
        pytest.skip("needs R with its package haven (Debian: r-cran-haven)")
    made = tmp_path_factory.mktemp("haven")
    haven("make", str(made))
    return made


def written(source: Path) -> Path:
    """Write a release of a file as the same kind; files of SAS, which nobody else writes, as transport files."""
    out = source.parent / "out" / source.name.replace(".sas7bdat", "_sas7bdat.xpt")
    out.parent.mkdir(exist_ok=True)
    release = ht.anonymize(str(source), quasi_identifiers=["qi"], models=[ht.KAnonymity(3)], roles="trust")
    assert release.write(out, codebook=False).passed
    assert b"CANARY" not in out.read_bytes()
    return out


@pytest.fixture(scope="module")
def both(folder: Path) -> tuple[Facts, Facts]:
    outs = [written(folder / name) for name in FILES]
    return told([folder / name for name in FILES]), told(outs)


@pytest.mark.parametrize("name", FILES)
def test_haven_reads_the_same_of_a_release(both: tuple[Facts, Facts], name: str) -> None:
    before, after = both[0][name], both[1][name.replace(".sas7bdat", "_sas7bdat.xpt")]
    assert {column for column, _ in before} == {column for column, _ in after}
    for column, fact in sorted({*before, *after}):
        was, is_ = before.get((column, fact)), after.get((column, fact))
        if fact == "labels" and was is not None:
            was = "|".join(each for each in was.split("|") if each.split("=")[1] not in GONE)
        # The column that was rewritten; and a text that is missing everywhere has no width.
        if column != "qi" and (was, is_) != ("A2", "A1"):
            assert was == is_, (column, fact)


def test_what_haven_says_of_codes_and_missing_values_is_read(folder: Path) -> None:
    frame = frames.read(str(folder / "plain.sav"))
    # haven says `scale` of every number, also of one with a label for each.
    kinds = {
        name: ht.Table.encode(frame, [name]).column(name).kind for name in ("sex", "level", "grade", "trust", "id")
    }
    assert kinds == {"sex": "category", "level": "category", "grade": "integer", "trust": "integer", "id": "integer"}
    missing = {name: frame.spec(name).missing_values for name in ("trust", "three", "below", "shop")}
    assert missing == {"trust": ("-3", "99"), "three": ("-3", "99"), "below": ("-3",), "shop": ("zz",)}
    assert frame.label("sex") == "Geschlecht (ä)"
    types = {name: frame.column(name).dtype for name in ("day", "moment", "time", "lasts", "größe")}
    assert types == {"day": pl.Date, "moment": pl.Datetime("us"), "time": pl.Time, "lasts": pl.Int64, "größe": pl.Date}


@pytest.mark.parametrize("name", ["tags.sas7bdat", "dates.dta", "dates.sav", "tags.xpt"])
def test_dates_that_are_declared_missing_are_missing(folder: Path, name: str) -> None:
    frame = frames.read(str(folder / name))
    absent = [0] if name == "dates.sav" else [i for i in range(40) if i % 5 == 0 or i % 7 == 0]
    for column in {"day", "moment"} & {*frame.columns}:
        assert frame.column(column).dtype.is_temporal()
        assert frame.column(column).is_null().arg_true().to_list() == absent
    out = written(folder / name)
    for column in {"day", "moment"} & {*frame.columns}:
        assert frames.read(str(out)).column(column).sort().equals(frame.column(column).sort())


@pytest.mark.parametrize(("ending", "time"), [(".sav", "45296.25"), (".dta", "-315573903.75"), (".xpt", "45296.25")])
def test_haven_reads_what_a_dataframe_holds(folder: Path, ending: str, time: str) -> None:
    table = pl.DataFrame(
        {
            "qi": [1, 1, 1],
            "id": [1, 2, 3],
            "day": [dt.date(2001, 2, 3), None, dt.date(1900, 1, 1)],
            "moment": [dt.datetime(2001, 2, 3, 4, 5, 6), None, dt.datetime(1970, 1, 1)],
            "time": [dt.time(12, 34, 56, 250_000), None, dt.time(12, 34, 56, 250_000)],
            "text": ["ä", None, "日本"],
            "is_so": [True, None, False],
            "share": [0.1, None, -2.5],
        }
    )
    out = folder / f"made{ending}"
    release = ht.anonymize(table, quasi_identifiers=["qi"], models=[ht.KAnonymity(3)], roles="trust")
    assert release.write(out, codebook=False, overwrite=True).passed
    facts = told([out])[out.name]
    cells = {name: facts[name, "cells"] for name in table.columns[2:]}
    # haven counts the days and seconds from 1970; Stata's times of a day lie on the first of January 1960.
    assert cells == {
        "day": "11356|NA|-25567",
        "moment": "981173106|NA|0",
        "time": f"{time}|NA|{time}",
        "text": "ä||日本",
        "is_so": "1|NA|0",
        "share": "0.1|NA|-2.5",
    }
