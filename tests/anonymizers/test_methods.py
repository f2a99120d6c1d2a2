"""Every method keeps every law: one table, made from the registry, with its exceptions named.

A method joins by being registered, a law by being a function of this file whose name begins with ``law``.
"""

import itertools
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hushtable as ht
from command import done
from hushtable.anonymizers import METHODS, Found, Offers, Problem, register
from hushtable.recoding.recoding import Nodes, Recoding
from hushtable.tables.partition import Partition
from reading import holds

NAMES = ["age", "sex", "town"]
KINDS = {"age": "integer", "sex": "category", "town": "category"}
SECRET = "Zq7Xcanary"
EXCEPTIONS: dict[tuple[str, str], str] = {}
"""Method and law, and why the one cannot keep the other."""


def people(n_rows: int = 14, seed: int = 3) -> pl.DataFrame:
    """Few people, among them equal ones, some cells missing; few enough for every method to end by itself."""
    rng = np.random.default_rng(seed)
    ages = rng.choice([21, 25, 30, 44, 52], n_rows)
    return pl.DataFrame(
        {
            "row": range(n_rows),
            "age": ages,
            "sex": [None if x == 2 else "fm"[x] for x in rng.choice(3, n_rows, p=[0.45, 0.45, 0.1])],
            "town": rng.choice(["bonn", "graz", "linz, am"], n_rows),
            "ill": [None if x == 3 else ["flu", "gout", "mumps"][x] for x in rng.choice(4, n_rows)],
        }
    )


def release_of(method: str, data: object, *, names: Sequence[str] = NAMES, k: int = 3, **options: Any) -> ht.Release:
    """Protect a table; what is ill is looked at, so that rows which differ in it are not alike to a search."""
    models = [ht.KAnonymity(k), ht.DistinctLDiversity(2, "ill")]
    return ht.anonymize(data, quasi_identifiers=names, models=models, method=method, **options)


def rows_of(frame: pl.DataFrame) -> Counter[Any]:
    return Counter(frame.select(*NAMES, "ill").rows())


def law_permuting_rows_changes_nothing(method, tmp_path):
    frame = people()
    asked = release_of(method, frame)
    for seed in range(3):
        shuffled = release_of(method, frame.sample(fraction=1, shuffle=True, seed=seed))
        assert rows_of(shuffled.frame) == rows_of(asked.frame)
        assert shuffled.loss == asked.loss


def law_counting_duplicates_changes_nothing(method, tmp_path):
    frame = people().drop("row")
    counted, _ = ht.Table.encode(frame).collapse()
    by_count, by_row = release_of(method, counted), release_of(method, frame)
    assert by_count.loss == pytest.approx(by_row.loss)
    assert by_count.frame.n_records == frame.height
    assert rows_of(by_count.frame.expand()) == rows_of(by_row.frame)


def law_order_of_columns_changes_nothing(method, tmp_path):
    frame = people()
    asked = rows_of(release_of(method, frame).frame)
    for names in itertools.permutations(NAMES):
        release = release_of(method, frame.select(*names, "ill", "row"), names=names)
        assert release.frame.columns == [*names, "ill", "row"]
        assert release.quasi_identifiers == names
        assert rows_of(release.frame) == asked


def law_every_library_gives_the_same(method, tmp_path):
    frame = people()
    asked = rows_of(release_of(method, frame).frame)
    pandas = release_of(method, frame.to_pandas()).frame
    arrow = release_of(method, frame.to_arrow()).frame
    assert isinstance(pandas, pd.DataFrame)
    assert isinstance(arrow, pa.Table)
    assert rows_of(pl.from_pandas(pandas)) == asked
    assert rows_of(pl.from_arrow(arrow)) == asked


def law_every_run_gives_the_same(method, tmp_path):
    one, other = (release_of(method, people()) for _ in range(2))
    assert one.frame.equals(other.frame)
    assert one.loss == other.loss


def law_nothing_else_changes(method, tmp_path):
    frame = people()
    release = release_of(method, frame)
    assert release.frame.select("row", "ill").equals(frame.select("row", "ill"))
    assert release.frame.columns == frame.columns


def law_every_cell_is_true_of_its_record(method, tmp_path):
    for seed in range(4):
        frame = people(seed=seed)
        release = release_of(method, frame)
        for name in NAMES:
            cells = zip(release.frame[name], frame[name], strict=True)
            assert all(holds(cell, value, KINDS[name]) for cell, value in cells)


def law_releases_verify(method, tmp_path):
    for seed in range(4):
        release = release_of(method, people(seed=seed))
        assert release.verify().passed
        path = tmp_path / f"{seed}.{'parquet' if isinstance(release, Remote) else 'csv'}"
        assert release.write(path).passed
        assert "hold" in done("verify", path).out


def law_the_loss_is_that_of_the_published_cells(method, tmp_path):
    frame = people()
    release = release_of(method, frame)
    lost = [share(cell, frame[name]) for name in NAMES for cell in release.frame[name]]
    assert release.loss == pytest.approx(sum(lost) / len(lost))
    assert release.loss > 0


def share(cell: str | None, column: pl.Series) -> float:
    """Return what a cell publishes of its column: read by the grammar, without its reader."""
    n_values = column.n_unique()
    if cell == "*":
        return 1.0
    if cell is not None and column.dtype.is_integer():
        ends = [int(end) for end in re.findall(r"\d+", cell)]
        low = column.min() if cell.startswith("<") else ends[0]
        high = column.max() if cell.startswith(">") else ends[-1] - (cell.startswith("<") or cell.endswith(")"))
        return (high - low) / (column.max() - column.min())
    return len(json.loads(cell)) / n_values if cell is not None and cell.startswith("[") else 0.0


def law_secrets_stay_where_they_are(method, tmp_path):
    # An identifier is left out, and the value of one record is under everyone's cell.
    frame = people().with_columns(
        name=pl.Series([SECRET, *map(str, range(13))]), town=pl.Series([SECRET, *"ab" * 6, "a"])
    )
    release = release_of(method, frame, k=14, identifiers=["name"])
    path = tmp_path / "release.parquet"
    release.write(path)
    verdict = release.verify()
    told = [repr(release), release._repr_html_(), repr(verdict), verdict._repr_html_()]
    told += [json.dumps(release.to_dict()), json.dumps(verdict.to_dict()), *map(str, tmp_path.iterdir())]
    assert not any(SECRET in text for text in told)
    assert not any(SECRET.encode() in file.read_bytes() for file in tmp_path.iterdir())


def law_a_budget_gives_a_release(method, tmp_path):
    for n_nodes in (1, 5, 50):
        release = release_of(method, people(40), budget=ht.Budget(nodes=n_nodes))
        assert release.verify().passed
        assert release.trace.nodes <= n_nodes


def law_progress_never_runs_backwards(method, tmp_path):
    told: list[float] = []
    release_of(method, people(40), progress=told.append, budget=ht.Budget(nodes=200))
    assert told == sorted(told)
    assert told[0] >= 0
    assert told[-1] == 1


LAWS = {name.removeprefix("law_"): law for name, law in list(globals().items()) if name.startswith("law_")}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", METHODS)
def test_a_method_keeps_the_law(method, law, tmp_path):
    if (method, law) in EXCEPTIONS:
        with pytest.raises(AssertionError):
            LAWS[law](method, tmp_path)
    else:
        LAWS[law](method, tmp_path)


def test_exceptions_are_of_methods_and_laws_that_exist():
    assert all(method in METHODS and law in LAWS and reason for (method, law), reason in EXCEPTIONS.items())


PARTING = sorted(name for name, method in METHODS.items() if method().offers.parts_equal_records)
"""Methods that part equal records, for which every record needs its own row."""


class Remote:
    """A release of rows that are not in memory, with its frame collected in the order of the input's rows."""

    def __init__(self, release: ht.RemoteRelease[pl.LazyFrame]) -> None:
        self.release = release

    def __getattr__(self, name: str) -> Any:
        return getattr(self.release, name)

    def __repr__(self) -> str:
        return repr(self.release)

    @property
    def frame(self) -> pl.DataFrame:
        rows = self.release.frame.collect()
        return rows.sort("row") if "row" in rows.columns else rows


def as_lazy(frame: pl.DataFrame, folder: Any) -> pl.LazyFrame:
    return frame.lazy()


def as_files(frame: pl.DataFrame, folder: Any) -> Any:
    parts = folder / f"in-{len(list(folder.iterdir()))}"
    parts.mkdir()
    for begin in range(0, frame.height, 9):
        frame[begin : begin + 9].write_parquet(parts / f"{begin}.parquet")
    return parts


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", sorted({*METHODS} - {*PARTING}))
@pytest.mark.parametrize("door", [as_lazy, as_files])
def test_a_method_keeps_the_law_where_rows_are_not_in_memory(door, method, law, tmp_path, monkeypatch):
    def remote(method, data, **options):
        if not isinstance(data, pl.DataFrame):
            return in_memory(method, data, **options)
        return Remote(in_memory(method, door(data, inputs), **options))

    in_memory, inputs, outputs = release_of, tmp_path / "inputs", tmp_path / "outputs"
    inputs.mkdir()
    outputs.mkdir()
    monkeypatch.setitem(globals(), "release_of", remote)
    LAWS[law](method, outputs)


@pytest.mark.parametrize("method", PARTING)
def test_a_method_that_parts_equal_records_is_refused_by_name_where_rows_are_not_in_memory(method):
    with pytest.raises(ht.InputError, match=rf"'{method}' parts equal records[^H]*Hint: .*engine='memory'"):
        release_of(method, people().lazy())


@pytest.fixture
def readable():
    """Mondrian as policies and the command have it."""

    @register
    @dataclass(frozen=True)
    class Readable:
        name: ClassVar[str] = "readable"
        offers: ClassVar[Offers] = ht.Mondrian(recoding="readable").offers

        def search(self, problem: Problem) -> Found:
            return ht.Mondrian(recoding="readable", max_listed=2).search(problem)

    yield "readable"
    del METHODS["readable"]


@pytest.mark.parametrize("law", LAWS)
def test_readable_recoding_keeps_every_law(readable, law, tmp_path):
    LAWS[law](readable, tmp_path)


@pytest.fixture
def everything():
    """A method of a dozen lines: everything is one class."""

    @register
    @dataclass(frozen=True)
    class Everything:
        name: ClassVar[str] = "everything"
        offers: ClassVar[Offers] = Offers(losses=("ncp",))

        def search(self, problem: Problem) -> Found:
            partition = Partition.from_table(problem.table, ())
            columns = tuple(problem.table.column(name) for name in problem.columns)
            stars = tuple(_star(column) for column in columns)
            return Found(partition, Recoding(columns, stars, "everything"), problem.clock.build_trace("everything", 1))

    yield "everything"
    del METHODS["everything"]


def _star(column):
    ladder = ht.Hierarchy.build(ht.Hierarchy.suppression(), column)
    return Nodes(np.array([1], np.int32), np.array([0], np.int32), np.array([True]), ladder)


def test_a_new_method_goes_through_every_door(everything, tmp_path):
    frame = people()
    for law in LAWS:
        (tmp_path / law).mkdir()
        LAWS[law](everything, tmp_path / law)
    release = release_of(everything, frame)
    assert set(release.frame["age"]) == {"*"}
    assert release.loss == 1
    policy = ht.Policy.make(
        {
            "columns": {"row": "identifier", "ill": "other", **dict.fromkeys(NAMES, "quasi-identifier")},
            "models": [{"k-anonymity": 3}],
            "method": everything,
        }
    )
    assert set(policy.protect(frame).frame["sex"]) == {"*"}
    (tmp_path / "policy.yaml").write_text(policy.to_yaml(), encoding="utf-8")
    frame.write_csv(tmp_path / "in.csv")
    done("anonymize", tmp_path / "in.csv", "-p", tmp_path / "policy.yaml", "-o", tmp_path / "out.csv")
    written = pl.read_csv(tmp_path / "out.csv")
    assert written.columns == ["age", "sex", "town", "ill"]
    assert set(written["town"]) == {"*"}
    assert done("verify", tmp_path / "out.csv").out
    assert done("verify", tmp_path / "out.csv", "-p", tmp_path / "policy.yaml").out


def test_a_loss_that_a_method_does_not_search_by_is_refused_with_those_that_do():
    with pytest.raises(ht.InputError, match=r"search by loss='precision'\.\s*Hint: methods that do: 'full_domain'"):
        release_of("mondrian", people(), loss="precision")


def test_a_method_whose_classes_fail_is_told_that_it_is_its_fault(everything, monkeypatch):
    def search(self, problem):
        partition = Partition.from_table(problem.table, problem.columns)
        columns = tuple(problem.table.column(name) for name in problem.columns)
        return Found(partition, Recoding(columns, (), "everything"), problem.clock.build_trace("everything", 1))

    monkeypatch.setattr(METHODS["everything"], "search", search)
    with pytest.raises(ht.InputError, match=r"k-anonymity .*; this is a fault of the method 'every.*not of hush"):
        release_of("everything", people())


def test_the_help_names_every_method():
    told = done("anonymize", "--help").out
    assert all(name in told for name in METHODS)
