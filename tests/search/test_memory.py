"""What memory cannot hold is an error before it is tried: what it would need, what is free, and what to do."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from anonymizers.test_mingen import adult_like
from command import run
from hushtable.engines import choosing
from hushtable.engines.files import Files
from hushtable.io import csv, files, frames
from hushtable.io.csv import Dialect
from hushtable.search import budget
from hushtable.tables.table import Table

NAMES = ["age", "sex", "job"]


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: Any) -> None:
    monkeypatch.setattr("hushtable.anonymizers.protecting._COMPILER_BYTES", 0)


def anonymize(method: Any, n_rows: int = 60, **options: Any) -> ht.Release:
    given: dict[str, Any] = {"quasi_identifiers": NAMES, "models": [ht.KAnonymity(3)], "method": method}
    return ht.anonymize(adult_like(n_rows), **(given | options))


def wildcards() -> Any:
    frame = adult_like(60).with_columns(pl.when(pl.col("age") > 40).then("age"))
    return ht.verify(frame, quasi_identifiers=NAMES, models=[ht.DistinctLDiversity(2, "ill")], missing="wildcard")


def counted() -> Table:
    table = Table.encode(adult_like(60), NAMES)
    return Table(table.columns, table.codes, np.full(table.n_rows, 10**9))


def masked() -> Any:
    return ht.mask_dependence(adult_like(60), a=["sex", "job"], b=["age"], clusters=3, method="exact")


def by_means() -> Any:
    return ht.mask_dependence(adult_like(60), a=["sex"], b=["age", "job"], clusters=3, clustering="kmeans")


CASES: dict[str, tuple[Callable[[], Any], str]] = {
    "nearest rows": (lambda: anonymize("mingen"), "finding the 16 nearest of 60 rows"),
    "nearest rows of a genetic search": (lambda: anonymize("genetic"), "finding the 16 nearest of 60 rows"),
    "programme of a matching notion": (
        lambda: anonymize("mingen", 12, models=[ht.GlobalK1(2)]),
        "the programme of 12 rows",
    ),
    "exchange": (lambda: anonymize(ht.Mondrian(exchange=True)), "exchange=True with"),
    "cells of cuts": (lambda: anonymize(ht.Mondrian(recoding="cut")), "writing the cells of"),
    "a row for every record": (lambda: anonymize_table(counted()), "a row for each of 60000000000 records"),
    "wildcards": (wildcards, "reading the missing cells of"),
    "population": (lambda: anonymize_with_population(), "comparing .* with .* cells"),
    "programme of masking": (masked, "the programme of 8 types and 2 columns"),
    "means of clusters": (by_means, "clustering 60 records by 6 values"),
    "column sets": (lambda: ht.select_columns(adult_like(60), objective={"distinction": 1.0}), "sets of 4 columns"),
}


def anonymize_table(table: Table) -> Any:
    return ht.anonymize(table, quasi_identifiers=NAMES, models=[ht.KAnonymity(3)], method="mingen")


def anonymize_with_population() -> Any:
    frame = adult_like(60)
    release = ht.anonymize(frame, quasi_identifiers=NAMES, models=[ht.KMap(3)], population=frame)
    return release.verify()


@pytest.mark.parametrize("case", sorted(CASES))
def test_what_memory_cannot_hold_is_refused_with_figures_and_a_way_out(case: str, monkeypatch: Any) -> None:
    attempt, what = CASES[case]
    monkeypatch.setattr(budget, "free_memory", lambda: 100)
    with pytest.raises(ht.InputError, match=rf"{what}.* would need .* GB of memory, and 1e-07 GB is free") as caught:
        attempt()
    assert "Hint: " in str(caught.value)


def test_kernels_that_cannot_be_compiled_are_an_error_not_an_abort(monkeypatch: Any) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(budget, "free_memory", lambda: 10**8)
    with pytest.raises(ht.InputError, match=r"compiling the kernels would need 0\.3 GB of memory, and 0\.1 GB is free"):
        anonymize("mondrian")


def test_intervals_of_many_values_are_not_listed_where_memory_ends(monkeypatch: Any) -> None:
    frame = pl.DataFrame({"age": np.arange(3_000)})
    given: dict[str, Any] = {"quasi_identifiers": ["age"], "models": [ht.KAnonymity(100)]}
    monkeypatch.setattr(budget, "free_memory", lambda: 10**9)
    with pytest.raises(ht.InputError, match="listing what the cells of 3000 rows may publish would need 28 GB"):
        ht.anonymize(frame, method=ht.Genetic("mg-ga"), **given)


def test_the_proof_of_large_blocks_is_not_begun_where_memory_ends(monkeypatch: Any) -> None:
    monkeypatch.setattr(budget, "free_memory", lambda: 2_000_000)
    with pytest.raises(ht.InputError, match="the proof for 60 rows in blocks of 20 would need"):
        anonymize("mingen", models=[ht.KAnonymity(20)])
    assert anonymize(ht.MinGen(proof_rows=0), models=[ht.KAnonymity(20)], budget=ht.Budget(nodes=300)).verify().passed


def test_what_fits_is_not_refused(monkeypatch: Any) -> None:
    monkeypatch.setattr(budget, "free_memory", lambda: 50_000_000)
    assert anonymize("mingen", budget=ht.Budget(nodes=300)).verify().passed
    assert anonymize(ht.Mondrian(exchange=True)).verify().passed
    assert masked().verify().passed


def test_a_packed_file_is_unpacked_only_as_far_as_it_fits(tmp_path: Path, monkeypatch: Any) -> None:
    packed = tmp_path / "in.csv.gz"
    packed.write_bytes(gzip.compress(b"age,sex\n" + b"34,f\n" * 2**19))
    monkeypatch.setattr(files, "_PIECE_BYTES", 2**16)
    monkeypatch.setattr(budget, "free_memory", lambda: 2**21)
    monkeypatch.setattr(choosing, "free_memory", lambda: 2**21)
    told = r"in.csv.gz', which unpacks to 327,680 bytes or more, would need 0.0025 GB of memory, and 0.0021 GB is free"
    with pytest.raises(ht.InputError, match=told):
        frames.read(packed)
    with pytest.raises(ht.InputError, match="stdin', which unpacks to"):
        frames.read_stream(packed.read_bytes(), "stdin", Dialect())
    outcome = run("assess", packed, "--qi", "age")
    assert (outcome.code, "unpacks to" in outcome.err) == (2, True)
    # What would fill memory is read batch by batch where that can be done.
    monkeypatch.setattr(budget, "free_memory", lambda: 2**31)
    assert isinstance(choosing.open_origin(packed), Files)
    monkeypatch.setattr(choosing, "free_memory", lambda: 2**31)
    assert choosing.open_origin(packed) is None


@pytest.mark.parametrize(
    ("text", "least"),
    [("age,name\n" + "34,a longer cell of text\n" * 900, 3), ("a,b,c\n" + "1,2,3\n" * 3_000, 9)],
)
def test_a_text_is_refused_by_its_lines_and_cells_before_they_are_read(
    tmp_path: Path, monkeypatch: Any, text: str, least: int
) -> None:
    (tmp_path / "in.csv").write_text(text)
    monkeypatch.setattr(files, "_TABLE_BYTES_PER_BYTE", 1)
    monkeypatch.setattr(csv, "_parse", lambda *_: pytest.fail("read"))
    monkeypatch.setattr(budget, "free_memory", lambda: least * len(text))
    with pytest.raises(ht.InputError, match=r"reading the [0-9,]+ lines of '.*in.csv' would need"):
        frames.read(tmp_path / "in.csv")


def test_a_text_of_two_bytes_a_letter_takes_less_for_each_of_its_bytes(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "in.csv").write_text("age,sex\n" + "34,f\n" * 20, encoding="utf-16")
    monkeypatch.setattr(csv, "_check_room", lambda *_: None)
    monkeypatch.setattr(budget, "free_memory", lambda: 4 * (tmp_path / "in.csv").stat().st_size)
    assert frames.read(tmp_path / "in.csv").n_rows == 20


def test_a_parquet_file_is_refused_by_its_rows_and_types(tmp_path: Path, monkeypatch: Any) -> None:
    pl.DataFrame({"a": [1] * 10_000, "b": ["x"] * 10_000}).write_parquet(tmp_path / "in.parquet")
    monkeypatch.setattr(budget, "free_memory", lambda: 200_000)
    with pytest.raises(ht.InputError, match=r"reading the 10,000 rows of .* would need 0.0002"):
        frames.read(tmp_path / "in.parquet")
    monkeypatch.setattr(budget, "free_memory", lambda: 300_000)
    assert frames.read(tmp_path / "in.parquet").n_rows == 10_000


@pytest.mark.slow
@pytest.mark.parametrize("free", [100_000_000, 500_000_000, 1_400_000_000, 1_700_000_000])
def test_a_limit_of_addresses_ends_no_process_that_reads_a_text(tmp_path: Path, free: int) -> None:
    pytest.importorskip("resource")
    (tmp_path / "in.csv").write_text("age,sex,income\n" + "34,f,123456.78\n" * 2_000_000)
    program = f"""
import resource
from pathlib import Path
from hushtable import errors
from hushtable.io import frames
import hushtable as ht, numpy, polars
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + {free}, resource.RLIM_INFINITY))
try:
    print(frames.read({str(tmp_path / "in.csv")!r}).n_rows)
except (errors.InputError, MemoryError) as error:
    print(type(error).__name__)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) in [(0, "2000000"), (0, "InputError"), (0, "MemoryError")]
