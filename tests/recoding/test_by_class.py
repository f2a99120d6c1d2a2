"""What classes publish, taken apart, put together and pickled: cell by cell the same, whatever kind of cells it is."""

import copy
import pickle
from dataclasses import fields, replace
from itertools import chain
from typing import get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from hushtable.anonymizers import Mondrian, publish
from hushtable.errors import InputError
from hushtable.hierarchy import Hierarchy
from hushtable.models import KAnonymity
from hushtable.recoding.layout import Lists, lay_out
from hushtable.recoding.readable import are_alike, distinct_numbers, distinct_pairs, number_rows, number_runs
from hushtable.recoding.recoding import Cells, Nodes, Recoding, Sets, Written
from hushtable.tables.partition import Partition
from hushtable.tables.table import Table
from searching import search
from strategies import draws
from tight_recoding import tight

WORDS = [f"word {i}" for i in range(14)]
SCHEMA = {
    "age": pl.Int64,
    "pay": pl.Float64,
    "word": pl.String,
    "grade": pl.Enum(["low", "mid", "high"]),
    "zip": pl.String,
}
ROW = st.tuples(
    st.none() | st.integers(-30, 400),
    st.none() | st.integers(0, 30).map(lambda tenths: tenths / 10),
    st.none() | st.sampled_from(WORDS),
    st.none() | st.sampled_from(["low", "mid", "high"]),
    st.none() | st.sampled_from(["110", "111", "123", "200", "210"]),
)

ROWS = st.lists(ROW, min_size=2, max_size=25)
SOME = [
    (i * 7 % 40, i % 9 / 10, WORDS[i * 5 % 14], ["low", "mid", "high"][i % 3], ["110", "111", "210"][i % 3])
    for i in range(24)
]
SOME += [(None, None, None, None, None), (3, 0.4, None, "low", "123")]


def table_of(rows):
    return Table.encode(pl.DataFrame(rows, schema=SCHEMA, orient="row"))


def recoding_of(table, style, labels):
    """Publish classes in a style, with a hierarchy and a grid; the cells of cuts are those of a search."""
    ladders = {"zip": Hierarchy.build(Hierarchy.prefix([2, 1]), table.column("zip"))}
    if style == "cut":
        method = Mondrian(recoding="cut", grid={"pay": 0.5})
        return search(method, table, table.names, [KAnonymity(2)], hierarchies=ladders).recoding
    labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    partition = Partition.from_labels(labels, int(labels.max()) + 1, table.counts)
    readable = Lists(3, 30) if style == "readable" else None
    axes = lay_out(table, table.names, ladders, {} if readable else {"pay": 0.5}, readable)
    return publish.from_classes(table, partition, axes, style)


def n_classes_of(recoding):
    return len(recoding.format_labels("age")[0])


def texts(recoding):
    """Return the cells of every class, class by class."""
    columns = [recoding.format_labels(column.name) for column in recoding.columns]
    return list(zip(*([labels[i] for i in of_class] for of_class, labels in columns), strict=True))


def arrays_of(record):
    """Return all arrays of a record and of the records in it."""
    if isinstance(record, np.ndarray):
        return [record]
    if isinstance(record, tuple):
        return [array for each in record for array in arrays_of(each)]
    inner = fields(record) if hasattr(record, "__dataclass_fields__") else ()
    return [array for each in inner for array in arrays_of(getattr(record, each.name))]


def assert_same(one, other):
    assert are_alike(one, other)
    assert texts(one) == texts(other)
    assert one.shares().tolist() == other.shares().tolist()
    assert are_alike(tuple(one.meanings().items()), tuple(other.meanings().items()))
    for column in one.columns:
        assert one.format_labels(column.name)[0].tolist() == other.format_labels(column.name)[0].tolist()


def drawn(rows, style, random):
    table = table_of(rows)
    return recoding_of(table, style, [random.randrange(1 + len(rows) // 2) for _ in rows])


def test_the_styles_make_every_kind_of_cells():
    rng = np.random.default_rng(0)
    made = [recoding_of(table_of(SOME), style, rng.integers(0, 8, len(SOME))) for style in publish.STYLES]
    # Cells that are written out are those of new rows, which no search makes.
    assert {type(cell) for recoding in made for cell in recoding.cells} == set(get_args(Cells)) - {Written}


@pytest.mark.parametrize("style", publish.STYLES)
@settings(max_examples=draws(60), deadline=None)
@given(ROWS, st.randoms(use_true_random=False))
def test_parts_put_together_are_the_whole(style, rows, random):
    whole = drawn(rows, style, random)
    ends = sorted(random.choices(range(n_classes_of(whole) + 1), k=random.randrange(4)))
    runs = np.split(np.arange(n_classes_of(whole)), ends)
    # A part may come from another machine.
    parts = [pickle.loads(pickle.dumps(whole.take(run))) for run in runs]
    assert_same(Recoding.concatenate(parts), whole)
    assert [cell for part in parts for cell in texts(part)] == texts(whole)
    shares = np.concatenate([part.shares() for part in parts], axis=1)
    assert shares == pytest.approx(whole.shares(), abs=1e-12)


@pytest.mark.parametrize("style", publish.STYLES)
@settings(max_examples=draws(30), deadline=None)
@given(ROWS, st.randoms(use_true_random=False))
def test_classes_are_taken_in_any_order_or_where_they_are_marked(style, rows, random):
    whole = drawn(rows, style, random)
    order = np.array([random.randrange(n_classes_of(whole)) for _ in range(5)])
    assert texts(whole.take(order)) == [texts(whole)[label] for label in order]
    is_taken = np.array([random.random() < 0.5 for _ in range(n_classes_of(whole))])
    assert_same(whole.take(is_taken), whole.take(np.flatnonzero(is_taken)))


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("style", publish.STYLES)
def test_a_recoding_pickles(style, protocol):
    whole = recoding_of(table_of(SOME), style, np.arange(len(SOME)) // 3)
    again = pickle.loads(pickle.dumps(whole, protocol))
    assert_same(again, whole)
    flags = [array.flags.writeable for array in arrays_of(again)]
    assert flags.count(False) >= [array.flags.writeable for array in arrays_of(whole)].count(False) > 0
    for cell, column in zip(again.cells, again.columns, strict=True):
        own = [getattr(cell, each.name) for each in fields(cell)]
        assert not any(array.flags.writeable for array in own if isinstance(array, np.ndarray))
        assert not column.values.flags.writeable


def test_what_is_copied_stays_read_only():
    column = table_of(SOME).column("zip")
    ladder = Hierarchy.build(Hierarchy.prefix([2, 1]), column)
    for again in (copy.deepcopy(ladder), copy.copy(ladder)):
        assert not any(array.flags.writeable for array in arrays_of(again))
        assert are_alike(again, ladder)
    assert not copy.deepcopy(column).values.flags.writeable


PARTS = table_of(SOME)
WHOLE = recoding_of(PARTS, "tight", np.arange(len(SOME)) // 3)


def with_cell(j, cell):
    return replace(WHOLE, cells=(*WHOLE.cells[:j], cell, *WHOLE.cells[j + 1 :]))


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (replace(WHOLE, style="set"), "in its style: 'set' and not 'tight'"),
        (WHOLE.select(["pay", "age"]), "in its columns: 'pay', 'age' and not 'age', 'pay', 'word'"),
        (
            tight(table_of(SOME[:9]), Partition.from_table(table_of(SOME[:9])), PARTS.names),
            "the values of column 'age'",
        ),
        (with_cell(2, replace(WHOLE.cells[2], domain=99)), "the domain of what column 'word' publishes"),
        (with_cell(1, WHOLE.cells[0]), "the kind of what column 'pay' publishes"),
        (with_cell(1, replace(WHOLE.cells[1], edges=("0", "1"))), "the edges of what column 'pay' publishes"),
    ],
    ids=["style", "columns", "values", "domain", "kind", "edges"],
)
def test_parts_of_different_tables_are_refused(other, difference):
    with pytest.raises(InputError, match="position 2 differs") as told:
        Recoding.concatenate([WHOLE, WHOLE, other])
    assert difference in str(told.value)


def test_no_parts_are_refused():
    with pytest.raises(InputError, match="no recodings"):
        Recoding.concatenate([])


def test_hierarchies_are_compared_by_content():
    one, other = (Hierarchy.build(Hierarchy.prefix(lengths), PARTS.column("zip")) for lengths in ([2, 1], [1]))
    cell = Nodes(np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1, np.bool_), one)
    again = pickle.loads(pickle.dumps(cell))
    assert cell.find_difference(again) is None
    assert cell.find_difference(replace(again, hierarchy=other)) == "hierarchy"


def test_one_part_and_parts_without_classes():
    assert_same(Recoding.concatenate([WHOLE]), WHOLE)
    none = WHOLE.take(np.empty(0, dtype=np.int64))
    assert texts(none) == []
    assert_same(Recoding.concatenate([none, WHOLE, none]), WHOLE)


def test_runs_of_sets_follow_one_another():
    sets = Sets(np.array([0, 2, 3, 6]), np.array([0, 1, 2, 0, 1, 2], np.int32), 3)
    taken = sets.take(np.array([2, 0]))
    assert (taken.offsets.tolist(), taken.codes.tolist()) == ([0, 3, 5], [0, 1, 2, 0, 1])
    joined = taken.concatenate_with([sets.take(np.array([1]))])
    assert (joined.offsets.tolist(), joined.codes.tolist(), joined.domain) == ([0, 3, 5, 6], [0, 1, 2, 0, 1, 2], 3)


def test_values_of_different_types_are_not_alike():
    ladder = Hierarchy.build(Hierarchy.prefix([2, 1]), PARTS.column("zip"))
    for one in (ladder, None, (1, 2), np.array([1, 2]), 1, True):
        assert [are_alike(one, other) for other in (ladder, None, (1, 2), np.array([1, 2]), 1, True)].count(True) == 1


def test_labels_are_made_once_and_do_not_pickle(monkeypatch):
    recoding = recoding_of(table_of(SOME), "readable", np.arange(len(SOME)) % 5)
    of_class, labels = recoding.format_labels("word")
    n_bytes = len(pickle.dumps(replace(recoding)))
    monkeypatch.setattr(type(recoding.cells[2]), "format_labels", lambda *_: pytest.fail("made again"))
    again = recoding.format_labels("word")
    assert again[0] is of_class
    assert again[1] is labels
    assert not of_class.flags.writeable
    assert isinstance(labels, tuple)
    assert len(pickle.dumps(recoding)) == n_bytes
    with pytest.raises(KeyError):
        recoding.format_labels("no such column")


def test_labels_of_many_classes_are_made_anew(monkeypatch):
    kept, anew = (recoding_of(table_of(SOME), "readable", np.arange(len(SOME)) % 5) for _ in range(2))
    for name in [column.name for column in kept.columns]:
        of_class, texts = kept.format_labels(name)
        with monkeypatch.context() as patched:
            patched.setattr("hushtable.recoding.recoding._MAX_CLASSES_CACHED", 4)
            again = anew.format_labels(name)
            assert anew.format_labels(name)[0] is not again[0]
        assert (again[0].tolist(), again[1]) == (of_class.tolist(), texts)
        assert not again[0].flags.writeable


@settings(max_examples=draws(60), deadline=None)
@given(st.lists(st.tuples(st.integers(-(2**62), 2**62) | st.integers(-2, 2), st.integers(-2, 2)), min_size=1))
def test_distinct_pairs_are_those_of_numpy(pairs):
    whole = np.array(pairs)
    distinct, place = np.unique(whole, axis=0, return_inverse=True)
    found, number = distinct_pairs(*whole.T)
    assert found == [tuple(pair) for pair in distinct.tolist()]
    assert number.tolist() == place.reshape(-1).tolist()


@given(st.lists(st.integers(0, 30)), st.sampled_from([31, 2**40]))
def test_distinct_numbers_are_those_of_numpy(numbers, n_numbers):
    whole = np.array(numbers, dtype=np.int64)
    distinct, place = np.unique(whole, return_inverse=True)
    found, number = distinct_numbers(whole, n_numbers)
    assert (found.tolist(), number.tolist(), number.dtype) == (distinct.tolist(), place.tolist(), np.int32)


@given(st.lists(st.lists(st.integers(-1, 2), max_size=3) | st.lists(st.integers(0, 1), min_size=9, max_size=10)))
def test_runs_are_numbered_by_first_appearance(runs):
    lengths = np.array([len(run) for run in runs], dtype=np.int64)
    codes = np.array([*chain(*runs)], dtype=np.int32)
    numbers, first = number_rows(number_runs(codes, np.cumsum(lengths) - lengths, lengths))
    distinct = list(dict.fromkeys(map(tuple, runs)))
    assert numbers.tolist() == [distinct.index(tuple(run)) for run in runs]
    assert [tuple(runs[place]) for place in first.tolist()] == distinct
