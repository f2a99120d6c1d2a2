"""Synthesizing: cells of the original or between them, margins and ranks kept, every library alike."""

import datetime as dt
import importlib.metadata
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from scipy.stats import spearmanr

import hushtable as ht
from hushtable.io import frames
from hushtable.synthesizers import METHODS, register, synthesize_frame
from hushtable.synthesizers.margins import build_original
from hushtable.synthesizers.synthesizing import ENTRY_POINT_GROUP
from hushtable.synthesizers.writing import cells_at, ends_of, table_at
from strategies import counted_tables, tables

PEOPLE = ht.datasets.people(2_000)
EVERY = ["copula", "trees", "independent", "bootstrap", {"copula": {"values": "observed"}}, ht.Independent("observed")]
LIBRARIES = {"pandas": pl.DataFrame.to_pandas, "polars": pl.DataFrame.clone, "pyarrow": pl.DataFrame.to_arrow}
CSV = """zip;born;seen;pay;n;note
01234;01.02.1980;01.02.2020 10:30;1,50;1;NA
01234;31.12.1999;22.02.2020 08:15;1234,25;200;
99999;15.06.1970;03.02.2020 23:59;7,00;30;"a;b"
10115;28.02.2001;04.02.2020 00:00;;4;NA
;;05.02.2020 12:00;12,75;5000;x
"""


@given(tables(min_rows=1), st.data())
def test_observed_cells_are_those_that_stand_there(table, data):
    coded = ht.Table.encode(table)
    n = table.height
    found = data.draw(st.lists(st.floats(0, n, exclude_max=True), min_size=1, max_size=5))
    for j, column in enumerate(coded.columns):
        drawn = cells_at(column, ends_of(coded.codes[j], coded.counts, column.n_values), np.array(found))
        in_line = sorted(coded.codes[j].tolist())
        cells = table_at(build_original(coded.select([column.name]), None, pools=False), "observed", np.array([found]))
        expected = [None if in_line[int(place)] < 0 else column.text(in_line[int(place)]) for place in found]
        codes = cells.codes[0].tolist()
        assert [None if code < 0 else cells.columns[0].text(code) for code in codes] == expected
        assert not len(drawn.spread_rows)
        assert not len(drawn.empty_rows)


@given(tables(min_rows=1), st.sampled_from(EVERY), st.integers(1, 20), st.integers(0, 2))
def test_small_tables(table, method, n, seed):
    made = ht.synthesize(table, method=method, n=n, seed=seed)
    assert made.shape == (n, table.width)
    assert made.equals(ht.synthesize(table, method=method, n=n, seed=seed))
    for name, dtype in table.schema.items():
        assert made[name].dtype == dtype or (isinstance(dtype, pl.Enum) and isinstance(made[name].dtype, pl.Enum))
        column, cells = table[name].drop_nulls(), made[name].drop_nulls()
        if method not in ("copula", "trees", "independent"):  # which leave cells of rare values empty
            assert (made[name].null_count() == 0) or table[name].null_count()
        if dtype.is_numeric() or dtype.is_temporal():
            assert cells.is_empty() or (column.min() <= cells.min() and cells.max() <= column.max())
        else:
            assert set(cells.to_list()) <= set(column.to_list())


@given(counted_tables(min_rows=1), st.sampled_from(EVERY))
def test_a_table_with_counts_is_its_records(table, method):
    made = ht.synthesize(table, method=method, n=9)
    assert isinstance(made, ht.Table)
    assert made.n_records == made.n_rows == 9
    assert made.names == table.names
    # Equal records stand in one line in another order.
    if method != "bootstrap":
        assert made.decode().equals(ht.synthesize(table.with_row_per_record(), method=method, n=9).decode())
    for column, codes in zip(made.columns, made.codes, strict=True):
        assert set(codes[codes >= 0]) == set(range(column.n_values))


@given(tables(min_rows=1), st.integers(0, 2))
def test_bootstrap_draws_whole_rows(table, seed):
    made = ht.synthesize(table, method="bootstrap", n=7, seed=seed)
    enums = {name: dtype for name, dtype in table.schema.items() if isinstance(dtype, pl.Enum)}
    assert set(made.with_columns(pl.col(enums).cast(pl.String) if enums else []).rows()) <= set(table.rows())


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("method", EVERY, ids=str)
def test_libraries_give_equal_tables(library, method):
    data = LIBRARIES[library](PEOPLE.drop("education"))
    made = ht.synthesize(data, method=method, n=300, seed=5)
    assert type(made) is type(data)
    expected = ht.synthesize(PEOPLE.drop("education"), method=method, n=300, seed=5)
    # pandas has dates as moments.
    assert ht.Table.encode(made).decode().cast(expected.schema).equals(expected)
    if library == "pandas":
        assert made.index.tolist() == list(range(300))
        assert (made.dtypes == data.dtypes).all()
    elif library == "pyarrow":
        assert made.schema == data.schema


def test_pandas_types_are_kept():
    data = pd.DataFrame(
        {
            "whole": pd.array([1, None, 300, 40, 7], "Int64"),
            "float": [1.5, None, 3, 4, 99],
            "short": np.array([0.1, 0.25, 3, 4, 5], "float32"),
            "moment": pd.to_datetime(["2020-01-01", None, "2021-06-01", "2022-01-01", "2023-01-01"]).astype(
                "datetime64[ns]"
            ),
            "zone": pd.to_datetime(
                ["2020-01-01 10:00", "2020-06-01", "2021-01-01", "2022-01-01", "2023-01-01"], format="mixed"
            ).tz_localize("Europe/Berlin"),
            "kind": pd.Categorical(["x", "y", "x", None, "z"]),
            "date": [dt.date(2020, 1, 1), dt.date(2021, 1, 1), None, dt.date(2022, 1, 1), dt.date(2023, 1, 1)],
        },
        index=[3, 3, 1, 0, 9],
    )
    made = ht.synthesize(data, n=40, seed=1)
    assert made.dtypes.drop("kind").equals(data.dtypes.drop("kind"))
    assert set(made["kind"].cat.categories) <= {"x", "y", "z"}
    assert (made["short"] == made["short"].round(2)).all()
    assert made["whole"].dropna().between(1, 300).all()


def test_pandas_columns_that_cannot_be_empty():
    made = ht.synthesize(pd.DataFrame({"a": [1, 1], "b": [True, False]}), n=3)
    assert made.isna().all(axis=None)
    assert made.dtypes.astype(str).tolist() == ["Int64", "boolean"]


def test_margins_and_ranks_are_kept():
    made = ht.synthesize(PEOPLE.drop("name", "email"), n=20_000, seed=2)
    for name in ("income", "blood_pressure", "birth_date", "visit_date"):
        one, other = (np.sort(each[name].drop_nulls().to_physical().to_numpy()) for each in (PEOPLE, made))
        at = np.concatenate([one, other])
        gap = np.abs(
            np.searchsorted(one, at, "right") / len(one) - np.searchsorted(other, at, "right") / len(other)
        ).max()
        assert gap < 0.03
    for name in ("sex", "education", "marital_status", "occupation", "nationality", "diagnosis", "income"):
        if name != "income":
            one, other = (
                dict(each[name].cast(pl.String).value_counts(normalize=True).iter_rows()) for each in (PEOPLE, made)
            )
            assert sum(abs(one[key] - other.get(key, 0)) for key in one) / 2 < 0.03
        assert made[name].null_count() / 20_000 == pytest.approx(PEOPLE[name].null_count() / 2_000, abs=0.01)


@pytest.mark.parametrize("rho", [-0.9, -0.3, 0.5, 0.95])
def test_rank_correlations_are_kept(rho):
    rng = np.random.default_rng(4)
    one = rng.standard_normal(5_000)
    other = np.exp(rho * one + np.sqrt(1 - rho**2) * rng.standard_normal(5_000))
    data = pl.DataFrame({"one": one.round(3), "other": other.round(3), "level": np.digitize(one, [-1, 0, 1])})
    made = ht.synthesize(data, seed=6)
    for pair in (["one", "other"], ["one", "level"], ["other", "level"]):
        before, after = (spearmanr(*each.select(pair).to_numpy().T).statistic for each in (data, made))
        assert before == pytest.approx(after, abs=0.03)


def test_interpolated_numbers_are_not_those_of_people():
    data = pl.DataFrame({"pay": [float(1000 * i**2) + 0.25 for i in range(200)]})
    made = ht.synthesize(data, n=2_000)["pay"]
    assert made.max() < data["pay"].max()
    assert len(set(made) & set(data["pay"])) < 20
    assert (made.round(2) == made).all()
    observed = ht.synthesize(data, n=2_000, method=ht.Copula("observed"))["pay"]
    assert set(observed) <= set(data["pay"])


def test_numbers_are_as_coarse_as_the_columns():
    data = pl.DataFrame(
        {
            "hundreds": [100, 2_300, 70_000, 12_300],
            "days": [dt.datetime(2020, month, 1) for month in (1, 3, 8, 12)],
            "minutes": [dt.datetime(2020, month, 1, 10, month) for month in (1, 3, 8, 12)],
        }
    )
    made = ht.synthesize(data, n=100)
    assert (made["hundreds"] % 100 == 0).all()
    assert (made["days"].dt.truncate("1d") == made["days"]).all()
    assert (made["minutes"].dt.truncate("1m") == made["minutes"]).all()
    assert not (made["minutes"].dt.truncate("1h") == made["minutes"]).all()


@pytest.mark.parametrize(
    "values",
    [[-(2**63), 2**63 - 1], [2**53 + 1, 2**53 + 3], [-1.7e308, 1.7e308], [5e-324, 1e300], [0.0, -0.0]],
    ids=str,
)
def test_extreme_numbers(values):
    data = pl.DataFrame({"a": values})
    made = ht.synthesize(data, n=200)["a"]
    assert made.is_between(min(values), max(values)).all()


def test_a_csv_is_written_as_it_was(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(CSV, encoding="utf-8")
    made = ht.synthesize(path, n=300, seed=3)
    assert made.columns == ["zip", "born", "seen", "pay", "n", "note"]
    # Typed where no cell changes by it.
    assert {name: dtype for name, dtype in made.schema.items() if dtype != pl.String} == {"n": pl.Int64}
    # Of five records every category is rare.
    assert set(made["zip"]) == set(made["note"]) == {None}
    for name, pattern in {
        "born": r"^\d{2}\.\d{2}\.\d{4}$",
        "seen": r"^\d{2}\.02\.2020 \d{2}:\d{2}$",
        "pay": r"^\d+,\d{2}$",
        "n": r"^\d+$",
    }.items():
        cells = made[name].drop_nulls().cast(pl.String)
        assert cells.str.contains(pattern).all(), name
        assert cells.n_unique() > 10
    assert made["born"].null_count() > 0


def test_a_csv_of_many_has_its_categories(tmp_path):
    header, *rows = CSV.splitlines(keepends=True)
    path = tmp_path / "people.csv"
    path.write_text(header + "".join(rows * 12), encoding="utf-8")
    made = ht.synthesize(path, n=300, seed=3)
    assert set(made["zip"]) == {"01234", "99999", "10115", None}
    assert set(made["note"]) == {"NA", None, "a;b", "x"}


def test_a_frame_for_a_pipeline_keeps_what_was_said_of_it(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(CSV, encoding="utf-8")
    frame = frames.read(path).with_specs({"note": ht.ColumnSpec("category", missing_values=("NA",))})
    made = synthesize_frame(frame, "copula", 8, 0)
    assert (made.is_text, made.dialect, made.specs) == (frame.is_text, frame.dialect, frame.specs)
    assert made.n_rows == 8


def test_a_column_without_a_style_is_written_plainly(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("a,b\n1e-7,31-JAN-2020\n2.5e3,28-FEB-2020\n1e300,01-MAR-2020\n", encoding="utf-8")
    made = ht.synthesize(path, n=50)
    numbers = made["a"].cast(pl.Float64)
    assert numbers.is_between(1e-7, 1e300).all()
    assert numbers.n_unique() == 50
    assert made["b"].null_count() == 50
    assert set(ht.synthesize(path, n=50, method=ht.Copula("observed"))["a"]) == {"1e-7", "2.5e3", "1e300"}


def test_seeds():
    first, again, other = (ht.synthesize(PEOPLE, n=50, seed=seed) for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)
    assert ht.synthesize(PEOPLE).height == 2_000


@pytest.mark.parametrize("method", EVERY, ids=str)
@pytest.mark.parametrize(
    "data",
    [
        pl.DataFrame({"a": [1]}),
        pl.DataFrame({"a": [None, None], "b": ["x", "x"], "c": [1, 1]}),
        pl.DataFrame({"a": [None, None, 5]}),
        pl.DataFrame({"a": [f"n{i}" for i in range(10_000)], "b": range(10_000)}),
        pl.DataFrame({"a": [1.5] * 50, "b": ["x", "y"] * 25}),
        pl.DataFrame({"^a.*$": [1, 2], "*": ["x", None], "": [1.0, 2.5], "ü 🏔": [True, False]}).rename({"": "_"}),
    ],
    ids=["one row", "constant", "one value", "many", "duplicates", "names"],
)
def test_edges(data, method):
    made = ht.synthesize(data, method=method, n=30)
    assert made.columns == data.columns
    assert made.height == 30


@pytest.mark.parametrize(
    "data", [pl.DataFrame({"a": []}), ht.Table.encode(PEOPLE[:0]), pa.table({"a": []})], ids=["pl", "Table", "pa"]
)
def test_no_records(data):
    with pytest.raises(ht.InputError, match="no records"):
        ht.synthesize(data)


@pytest.mark.parametrize(
    ("slip", "expected"),
    [
        ({"method": "copla"}, "did you mean 'copula'"),
        ({"method": "gan"}, "known: copula, independent, trees, bootstrap"),
        ({"method": {"copula": {"value": "observed"}}}, "did you mean 'values'"),
        ({"method": {"copula": {"values": "real"}}}, "'interpolated' or 'observed'"),
        ({"method": {"bootstrap": {"values": "observed"}}}, "no option"),
        ({"method": {"trees": {"min_leaf": 9}}}, "min_leaf"),
        ({"method": {"trees": {"order": ["pay"]}}}, "no column 'pay'"),
        ({"method": {"trees": {"order": "sex"}}}, "list of column names"),
        ({"method": ht.Copula}, r"call it: Copula\(\.\.\.\)"),
        ({"method": 3}, "given as int"),
        ({"n": 0}, "a whole number from 1"),
        ({"n": 2.5}, "whole number"),
        ({"n": 10**15}, "memory"),
        ({"seed": -1}, "0 or more"),
        ({"seed": None}, "whole number"),
    ],
    ids=str,
)
def test_slips(slip, expected):
    with pytest.raises(ht.InputError, match=expected):
        ht.synthesize(PEOPLE, **slip)


def test_a_column_that_cannot_be_coded_is_named_without_its_cells():
    with pytest.raises(ht.ColumnError, match="'a'") as caught:
        ht.synthesize(pl.DataFrame({"a": [["canary"]]}))
    assert "canary" not in str(caught.value)


def test_a_synthesizer_can_join(monkeypatch):
    @dataclass(frozen=True)
    class First:
        name: ClassVar[str] = "first"
        values: ClassVar[str] = "observed"

        def draw_positions(self, original, n, rng):
            return np.zeros((len(original.table.columns), n))

    monkeypatch.delitem(METHODS, register(First).name)
    monkeypatch.setitem(METHODS, "first", First)
    assert ht.synthesize(pl.DataFrame({"a": [3, 1, 2]}), method="first", n=2)["a"].to_list() == [1, 1]
    with pytest.raises(ht.InputError, match="already"):
        register(dataclass(frozen=True)(type("Copula", (), {"name": "copula"})))


class Constant:
    """A synthesizer of another package: everybody is the first record."""

    columns: ClassVar[list[str] | None] = None
    rows = 0

    def fit(self, table, seed):
        assert isinstance(table, pl.DataFrame)
        assert isinstance(seed, int)
        self.table = table

    def sample(self, n, seed):
        first = self.table[:1].select(self.columns or self.table.columns[::-1])
        return pl.concat([first] * (n + self.rows)).to_pandas()


class Wider(Constant):
    columns: ClassVar[list[str] | None] = ["pay"]


class Longer(Constant):
    rows = 2


class Numbers(Constant):
    def sample(self, n, seed):
        return 7


class Odd(Constant):
    def sample(self, n, seed):
        return self.table.clear(n).with_columns(level=pl.lit("canary"))


class Unfit:
    pass


class Asking:
    def __init__(self, size):
        pass


@pytest.fixture
def plugin(monkeypatch):
    """Install a synthesizer named "theirs"."""

    def install(kind, name="theirs"):
        monkeypatch.setattr(Constant, kind.__name__, kind, raising=False)
        entry = importlib.metadata.EntryPoint(name, f"{__name__}:{kind.__name__}", ENTRY_POINT_GROUP)
        monkeypatch.setattr(
            importlib.metadata, "entry_points", lambda group: [entry] if group == ENTRY_POINT_GROUP else []
        )

    return install


DATA = pl.DataFrame(
    {"pay": [1.5, 2.25], "level": ["low", "high"]}, schema_overrides={"level": pl.Enum(["low", "high"])}
)


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_installed_synthesizer(plugin, library):
    plugin(Constant)
    data = LIBRARIES[library](DATA)
    made = ht.synthesize(data, method="theirs", n=3)
    assert type(made) is type(data)
    assert frames.read(made).data.rows() == [(1.5, "low")] * 3


def test_an_installed_synthesizer_writes_a_file_as_it_was(plugin, tmp_path):
    plugin(Constant)
    path = tmp_path / "people.csv"
    path.write_text(CSV, encoding="utf-8")
    made = ht.synthesize(path, method="theirs", n=2)
    assert made.rows() == [("01234", "01.02.1980", "01.02.2020 10:30", "1,50", 1, "NA")] * 2


def test_an_installed_synthesizer_of_a_table(plugin):
    plugin(Constant)
    made = ht.synthesize(ht.Table.encode(DATA), method="theirs", n=3)
    assert isinstance(made, ht.Table)
    assert made.decode().rows() == [(1.5, "low")] * 3


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Wider, r"lacks 1 columns \('level'\) and adds 0"),
        (Longer, "5 rows instead of 3"),
        (Numbers, "type int"),
        (Odd, "column 'level' is not of the type"),
        (Unfit, "cannot fit and sample"),
        (Asking, "cannot be made"),
    ],
)
def test_an_installed_synthesizer_that_fails(plugin, kind, expected):
    plugin(kind)
    with pytest.raises(ht.InputError, match=expected) as caught:
        ht.synthesize(DATA, method="theirs", n=3)
    assert "'theirs'" in str(caught.value)
    assert f"{__name__}:{kind.__name__}" in str(caught.value)
    assert "canary" not in str(caught.value)


def test_an_installed_synthesizer_is_known_by_its_name(plugin):
    plugin(Constant)
    with pytest.raises(ht.InputError, match="did you mean 'theirs'"):
        ht.synthesize(DATA, method="their")
    with pytest.raises(ht.InputError, match="no option"):
        ht.synthesize(DATA, method={"theirs": {"size": 3}})
    plugin(Longer, "copula")
    assert ht.synthesize(DATA, n=3).height == 3


def test_adult_is_alike(shared_file):
    frame = frames.read(shared_file("data/adult/adult_ori.csv"))
    numbers = ["age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hr_per_week"]
    made = synthesize_frame(frame, "copula", frame.n_rows, 0)
    before, after = (np.corrcoef(ht.Table.encode(each, numbers).decode().to_numpy().T) for each in (frame, made))
    assert np.abs(before - after)[np.triu_indices(6, 1)].mean() < 0.02
