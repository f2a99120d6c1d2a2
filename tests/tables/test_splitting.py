"""Splitting: every record on one side, persons whole, and nothing depends on the library."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import hushtable as ht
from hushtable.io import frames
from hushtable.tables.splitting import persons_of, split, split_rows
from strategies import counted_tables

VISITS = pl.DataFrame({"who": ["a", "b", None, "a", "c", None, "b"], "day": [1, 2, 3, 4, 5, 6, 7]})
PEOPLE = ht.datasets.people(120)
LIBRARIES = {"pandas": pl.DataFrame.to_pandas, "polars": pl.DataFrame.clone, "pyarrow": pl.DataFrame.to_arrow}


def rows(data):
    return frames.read(data).data.rows()


def people_of(persons):
    """Name the persons of rows one by one: a missing one is the row's own."""
    return [("row", place) if person < 0 else person for place, person in enumerate(persons)]


@given(
    st.lists(st.integers(-1, 4), min_size=2, max_size=12),
    st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20),
    st.booleans(),
    st.integers(0, 3),
)
def test_rows_are_parted_as_asked(persons, ratio, by_person, seed):
    names = people_of(persons) if by_person else list(range(len(persons)))
    n_units = len(set(names))
    n_train = int(Fraction(str(float(ratio))) * n_units)
    codes = np.array(persons, np.int32) if by_person else None
    if not 0 < n_train < n_units:
        with pytest.raises(ht.InputError, match="nearer to"):
            split_rows(len(persons), float(ratio), np.random.default_rng(seed), codes)
        return
    train, control = split_rows(len(persons), float(ratio), np.random.default_rng(seed), codes)
    assert sorted([*train, *control]) == list(range(len(persons)))
    assert list(train) == sorted(train)
    assert list(control) == sorted(control)
    assert len({names[row] for row in train}) == n_train
    assert not {names[row] for row in train} & {names[row] for row in control}


def test_the_share_is_that_which_is_written():
    train, control = split(pl.DataFrame({"a": range(100)}), ratio=0.29)
    assert (len(train), len(control)) == (29, 71)


def test_every_row_can_fall_on_both_sides():
    sides = [split(PEOPLE, ratio=0.5, seed=seed)[0]["email"].to_list() for seed in range(12)]
    assert set(itertools.chain(*sides)) == set(PEOPLE["email"])


def test_seeds():
    first, again, other = (rows(split(PEOPLE, seed=seed)[1]) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize("person", [None, "sex"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_libraries_give_equal_parts_of_their_own_kind(library, person):
    data = LIBRARIES[library](PEOPLE.drop("education"))
    expected = split(PEOPLE.drop("education"), seed=3, person=person, ratio=0.6)
    for part, of_polars in zip(split(data, seed=3, person=person, ratio=0.6), expected, strict=True):
        assert type(part) is type(data)
        assert ht.Table.encode(part).decode().equals(ht.Table.encode(of_polars).decode())


def test_a_pandas_frame_keeps_its_index_and_types():
    data = pd.DataFrame({"a": pd.array([1, None, 3], "Int64"), "b": pd.Categorical(["x", "y", "x"])}, index=[7, 8, 9])
    train, control = split(data, ratio=0.67)
    assert sorted([*train.index, *control.index]) == [7, 8, 9]
    assert (train.dtypes == data.dtypes).all()


def test_a_path_gives_the_cells_of_the_file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("zip;born;pay\n01234;01.02.2020;1,50\n;;\n99999;31.12.1999;2,00\n", encoding="utf-8")
    train, control = split(path, ratio=0.5)
    cells = {tuple(row) for row in (*train.rows(), *control.rows())}
    assert cells == {("01234", "01.02.2020", "1,50"), (None, None, None), ("99999", "31.12.1999", "2,00")}


def test_the_parts_of_a_file_are_typed_where_no_cell_changes_by_it(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,zip,price\n31,01234,1.50\n44,20001,2.25\n,30001,3.00\n", encoding="utf-8")
    train, _ = split(path, 0.5)
    assert [str(dtype) for dtype in train.dtypes] == ["Int64", "String", "String"]


def test_rows_without_a_person_fall_for_themselves():
    together = Counter()
    for seed in range(40):
        train, control = split(VISITS, ratio=0.5, seed=seed, person="who")
        assert not {*train["who"].drop_nulls()} & {*control["who"].drop_nulls()}
        together[{3, 6} <= {*train["day"]} or {3, 6} <= {*control["day"]}] += 1
    assert set(together) == {True, False}


def test_persons_are_told_apart_by_their_cells(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("who,day\n1,a\n01,b\n1.0,c\n,d\n1,e\n", encoding="utf-8")
    codes = persons_of(frames.read(path), "who").tolist()
    assert codes[0] == codes[4]
    assert len({*codes[:3]}) == 3
    assert codes[3] == -1


def test_a_constant_person_cannot_be_parted():
    with pytest.raises(ht.InputError, match="1 persons into 0 and 1"):
        split(pl.DataFrame({"who": ["a", "a"]}), person="who")


@given(counted_tables(min_rows=2, max_count=4), st.integers(0, 3))
def test_the_records_of_a_table_are_drawn_one_by_one(table, seed):
    train, control = split(table, ratio=0.5, seed=seed)
    assert train.n_records == table.n_records // 2
    both = Counter(train.expand().rows()) + Counter(control.expand().rows())
    assert both == Counter(table.expand().rows())
    for part in (train, control):
        assert (part.counts > 0).all()
        assert all(
            set(codes[codes >= 0]) == set(range(column.n_values))
            for column, codes in zip(part.columns, part.codes, strict=True)
        )


def test_the_persons_of_a_table_stay_whole():
    table = ht.Table.encode(VISITS)
    train, control = split(table, ratio=0.5, person="who")
    of_train, of_control = ({*part.decode()["who"].drop_nulls()} for part in (train, control))
    assert not of_train & of_control
    expected = split(VISITS, ratio=0.5, person="who")[0]
    assert train.decode().equals(expected)


@pytest.mark.parametrize(
    ("slip", "expected"),
    [
        ({"ratio": 0}, "between 0 and 1"),
        ({"ratio": 1.0}, "between 0 and 1"),
        ({"ratio": float("nan")}, "between 0 and 1"),
        ({"ratio": True}, "between 0 and 1"),
        ({"ratio": "0.8"}, "between 0 and 1"),
        ({"ratio": 0.001}, "into 0 and 120"),
        ({"seed": -1}, "whole number"),
        ({"seed": 1.5}, "whole number"),
        ({"person": "sexx"}, "did you mean 'sex'"),
    ],
    ids=str,
)
def test_slips(slip, expected):
    with pytest.raises(ht.InputError, match=expected):
        split(PEOPLE, **slip)


@pytest.mark.parametrize(
    "data", [pl.DataFrame({"a": [1]}), pl.DataFrame({"a": []}), pa.table({"a": [1]})], ids=["1", "0", "pa"]
)
def test_too_few_rows(data):
    with pytest.raises(ht.InputError, match="both parts need"):
        split(data)
