"""Mondrian on tables, against the slow twin: the same classes, with the same rows, in the same order."""

import datetime as dt
from dataclasses import replace
from itertools import pairwise
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings, strategies as st

import hushtable as ht
from hushtable import DistinctLDiversity, KAnonymity, Mondrian, Table
from hushtable.anonymizers import parallel
from hushtable.errors import ColumnError, InputError
from hushtable.recoding.recoding import PublishedIntervals
from searching import search
from strategies import draws
from twins import naive

GRADES = ["low", "middle", "high", "top"]
COLUMNS = {
    "age": (pl.Int64, [-3, 0, 1, 2, 40, 41]),
    "dose": (pl.Float64, [-0.75, 0.1, 0.2, 0.30000000000000004, 7.5]),
    "born": (pl.Date, [dt.date(1970, 1, 1), dt.date(1970, 1, 2), dt.date(1999, 12, 31), dt.date(2000, 2, 29)]),
    "grade": (pl.Enum(GRADES), GRADES),
    "city": (pl.String, ["bonn", "graz", "linz", "ulm"]),
    "sex": (pl.String, ["f", "m"]),
    "same": (pl.String, ["x"]),
}
SICKNESS, PAY = ["flu", "gout", "mumps"], ["-", "+", "++"]

METHODS = pytest.mark.parametrize(
    "method",
    [Mondrian(n_rescored=1), Mondrian(), Mondrian(cut="median")],
    ids=["gain rescoring 1", "gain rescoring 4", "median"],
)


@st.composite
def tables(draw, max_rows=12):
    """Tables of one to four quasi-identifiers, then `sickness` and `pay`, every cell missing now and then."""
    names = draw(st.lists(st.sampled_from(list(COLUMNS)), min_size=1, max_size=4, unique=True))
    n_rows = draw(st.integers(1, max_rows) | st.just(max_rows))
    schema = {name: COLUMNS[name] for name in names}
    schema |= {"sickness": (pl.String, SICKNESS), "pay": (pl.String, PAY)}
    series = []
    for name, (dtype, values) in schema.items():
        cell = st.sampled_from([*values, *values, None] if draw(st.booleans()) else values)
        series.append(pl.Series(name, draw(st.lists(cell, min_size=n_rows, max_size=n_rows)), dtype=dtype))
    encoded = Table.encode(pl.DataFrame(series))
    counts = draw(st.lists(st.sampled_from([1, 1, 2, 3]), min_size=n_rows, max_size=n_rows))
    return Table(encoded.columns, encoded.codes, np.array(counts, dtype=np.int64))


@st.composite
def model_lists(draw):
    size = KAnonymity(draw(st.sampled_from([1, 2, 2, 3, 5])))
    names = draw(st.sampled_from([(), ("sickness",), ("sickness", "pay"), ("pay", "sickness")]))
    return [size, *(DistinctLDiversity(draw(st.sampled_from([1, 2, 2, 3])), name) for name in names)]


def one_column(name, values, dtype=None):
    frame = pl.DataFrame({name: pl.Series(values, dtype=dtype), "sickness": "flu", "pay": "+"})
    return Table.encode(frame)


def quasi_identifiers(table):
    """By name: in this order Mondrian looks at them, and takes the first of equal cuts."""
    return sorted(name for name in table.names if name not in ("sickness", "pay"))


def rows_of(table):
    return list(zip(*(table.codes[table.index(name)].tolist() for name in quasi_identifiers(table)), strict=True))


def naive_columns(table):
    made = []
    for name in quasi_identifiers(table):
        column = table.column(name)
        domain = column.n_values + bool((table.codes[table.index(name)] < 0).any())
        kind = "ordered" if column.is_ordered else "category"
        made.append(naive.NaiveColumn(kind, column.positions().tolist() if column.is_ordered else None, domain))
    return made


def judge_of(table, models):
    counts = table.counts.tolist()

    def passes(members):
        for model in models:
            if isinstance(model, KAnonymity):
                holds = naive.k_anonymous(naive.records(members, counts), model.k)
            else:
                codes = table.codes[table.index(model.sensitive)].tolist()
                holds = naive.distinct_l(naive.histogram(members, counts, codes), model.l)
            if not holds:
                return False
        return True

    return passes


def members_of(partition):
    return [partition.rows[begin:end].tolist() for begin, end in pairwise(partition.offsets)]


def searched(method, table, models, **options):
    return search(method, table, quasi_identifiers(table), models, **options)


@METHODS
@settings(max_examples=draws(200))
@given(tables(), model_lists())
@example(one_column("age", [1]), [KAnonymity(1)])
@example(one_column("same", ["x"] * 5), [KAnonymity(2)])
@example(one_column("age", [None] * 4, pl.Int64), [KAnonymity(2)])
@example(one_column("city", [None, "ulm", None, "ulm"]), [KAnonymity(2)])
@example(one_column("age", [0, 1, 2]), [KAnonymity(5)])
@example(one_column("age", [0, 1, 2]), [KAnonymity(1), DistinctLDiversity(2, "pay")])
def test_it_cuts_as_its_slow_twin(method, table, models):
    found = searched(method, table, models)
    judge = judge_of(table, models)
    expected = naive.mondrian(
        rows_of(table),
        table.counts.tolist(),
        naive_columns(table),
        judge,
        cut=method.cut,
        rescored=method.n_rescored,
    )
    assert members_of(found.partition) == expected
    assert (found.trace.complete, found.trace.nodes) == (True, 2 * len(expected) - 1)


@pytest.mark.parametrize("seed", range(3))
def test_classes_of_several_blocks_are_cut_alike_in_any_order(seed):
    """Rows of a large class are looked at block by block until nothing can change: no matter which come first."""
    rng = np.random.default_rng(seed)
    codes = (rng.random((6, 5_000)) ** rng.integers(1, 6, (6, 1)) * rng.integers(3, 30, (6, 1))).astype(int)
    ages = {f"age {j}": pl.Series([None if code == 1 else code for code in codes[j].tolist()]) for j in range(2)}
    places = {f"place {j}": [f"p{code:02}" for code in codes[j].tolist()] for j in range(2, 5)}
    frame = pl.DataFrame({**ages, **places, "visits": codes[5], "sickness": "flu", "pay": "+"})
    expected = searched(Mondrian(), Table.encode(frame), [KAnonymity(40)]).partition.labels
    for order in (np.lexsort(codes[[j]]) for j in range(6)):
        for turned in (order, order[::-1]):
            found = searched(Mondrian(), Table.encode(frame[turned]), [KAnonymity(40)])
            assert found.partition.labels.tolist() == expected[turned].tolist()


@METHODS
@settings(max_examples=draws(50))
@given(tables(), model_lists())
def test_the_loss_of_tight_cells_is_the_set_ncp(method, table, models):
    found = searched(method, table, models)
    shares = found.recoding.shares()
    lost = float((shares @ found.partition.sizes).mean() / table.n_records)
    counts = table.counts.tolist()
    expected = naive.set_ncp(rows_of(table), counts, naive_columns(table), members_of(found.partition))
    assert lost == pytest.approx(expected, abs=1e-12)


@METHODS
@settings(max_examples=draws(50))
@given(tables(), model_lists(), st.integers(1, 9))
def test_small_chunks_and_little_room_change_nothing(method, table, models, pause):
    whole = searched(method, table, models)

    def cramped(*asked):
        return new_tree(*asked)._replace(members=np.empty(1, dtype=np.int32))

    new_tree = parallel._new_tree
    with mock.patch.multiple(parallel, _CLASSES_BETWEEN_LOOKS=pause, _FIRST_STACK_ROOM=1, _new_tree=cramped):
        same = searched(method, table, models)
    assert same.partition.labels.tolist() == whole.partition.labels.tolist()
    for name in ("columns", "starts", "members"):
        assert getattr(same.placing, name).tolist() == getattr(whole.placing, name).tolist()
    assert (same.trace.nodes, same.trace.complete) == (whole.trace.nodes, True)


@METHODS
@settings(max_examples=draws(50))
@given(tables(), model_lists(), st.integers(1, 12), st.integers(1, 5))
def test_a_budget_in_nodes_leaves_unions_that_satisfy_the_models(method, table, models, n_nodes, pause):
    method = replace(method, recoding="cut")
    whole = searched(method, table, models)
    with mock.patch.object(parallel, "_CLASSES_BETWEEN_LOOKS", pause):
        early = searched(method, table, models, budget=ht.Budget(nodes=n_nodes))
    assert early.trace.complete == (n_nodes >= whole.trace.nodes)
    unions = members_of(early.partition)
    assert sorted(row for members in unions for row in members) == list(range(table.n_rows))
    for members in members_of(whole.partition):
        assert sum(set(members) <= set(union) for union in unions) == 1
    judge = judge_of(table, models)
    if judge(list(range(table.n_rows))):
        assert all(map(judge, unions))
    assert_inside(table, early)


def test_a_budget_of_no_time_leaves_one_class():
    table = one_column("age", [0, 1, 2, 3])
    found = searched(Mondrian(), table, [KAnonymity(1)], budget=ht.Budget(seconds=1e-9))
    assert (found.partition.sizes.tolist(), found.trace.complete) == ([4], False)


@given(tables(), st.integers(1, 3))
def test_progress_rises_to_one(table, pause):
    told = []
    with mock.patch.object(parallel, "_CLASSES_BETWEEN_LOOKS", pause):
        searched(Mondrian(), table, [KAnonymity(1)], progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert told[0] >= 0.0


@METHODS
@pytest.mark.parametrize("style", ["tight", "cut"])
@settings(max_examples=draws(50))
@given(tables(), model_lists())
def test_every_record_is_inside_its_cell(method, style, table, models):
    method = Mondrian(cut=method.cut, recoding=style, n_rescored=method.n_rescored)
    assert_inside(table, searched(method, table, models))


@settings(max_examples=draws(50))
@given(tables(), model_lists())
def test_tight_cells_lie_inside_the_cells_of_the_cuts(table, models):
    tight, cells = (searched(Mondrian(recoding=style), table, models).recoding for style in ("tight", "cut"))
    for column, inner, outer in zip(cells.columns, tight.cells, cells.cells, strict=True):
        if isinstance(outer, PublishedIntervals):
            assert (outer.low <= inner.low).all()
            assert (inner.high <= outer.high).all()
        else:
            pairs = zip(codes_of(inner), codes_of(outer), strict=True)
            assert all(set(codes) <= set(cell) for codes, cell in pairs)
        assert (outer.shares(column) >= 0).all()
        assert (outer.shares(column) <= 1).all()


@pytest.mark.parametrize("name", ["age", "dose", "born", "grade", "city"])
@settings(max_examples=draws(50))
@given(st.data())
def test_cells_of_a_single_column_do_not_overlap(name, data):
    dtype, values = COLUMNS[name]
    table = one_column(name, data.draw(st.lists(st.sampled_from([*values, None]), min_size=1, max_size=14)), dtype)
    (cells,) = searched(Mondrian(recoding="cut"), table, [KAnonymity(2)]).recoding.cells
    if isinstance(cells, PublishedIntervals):
        # Missing beside known values is published as "*", and counted here as code -1.
        published = [
            [*([-1] if gap else []), *(range(low, high + 1) if high >= 0 else [])]
            for low, high, gap in zip(cells.low, cells.high, cells.has_missing, strict=True)
        ]
    else:
        published = codes_of(cells)
    everything = [code for codes in published for code in codes]
    assert sorted(everything) == np.unique(table.codes[0]).tolist()


def test_ends_of_cut_cells_are_round_and_belong_to_no_one():
    table = one_column("age", [-23, -19, 14, 18, 31, 34])
    labels, texts = searched(Mondrian(recoding="cut"), table, [KAnonymity(2)]).recoding.format_labels("age")
    # 0 is the roundest number above -19 and not above 14; 30 above 18 and not above 31.
    assert [texts[label] for label in labels] == ["<0", "[0, 30)", ">=30"]


@pytest.mark.parametrize("recoding", ["tight", "cut"])
@pytest.mark.parametrize(
    "values",
    [
        pytest.param([2**53, 2**53, 2**53 + 1, 2**53 + 1], id="equal as floats"),
        pytest.param([10**18, 10**18, 10**18 + 1, 10**18 + 1, 10**18 + 2, 10**18 + 2], id="ids"),
        pytest.param([-(2**63), -(2**63), 2**63 - 1, 2**63 - 1], id="all of int64"),
        pytest.param([1e-5, 1e-5, 1e30, 1e30], id="thirty digits"),
        pytest.param([-1.7e308, -1.7e308, 0.0, 0.0, 1.7e308, 1.7e308], id="all of float64"),
        pytest.param([0.0, 0.0, 5e-324, 5e-324], id="smallest float"),
    ],
)
def test_extreme_numbers(values, recoding):
    frame = pl.DataFrame({"number": values})
    method = Mondrian(recoding=recoding)
    release = ht.anonymize(frame, quasi_identifiers=["number"], models=[KAnonymity(2)], method=method)
    assert release.partition.sizes.tolist() == [2] * (len(values) // 2)
    assert 0 <= release.loss <= 1
    assert release.verify().passed


@pytest.mark.parametrize(
    "options",
    [{"cut": "mean"}, {"recoding": "loose"}, {"n_rescored": 0}, {"n_rescored": -1}],
    ids=["cut", "recoding", "n_rescored 0", "n_rescored -1"],
)
def test_options_outside_their_range_are_named(options):
    ((name, given_value),) = options.items()
    with pytest.raises(InputError, match=rf"{name} = {given_value!r}") as caught:
        Mondrian(**options)
    assert "Hint:" in str(caught.value)


def test_the_trace_names_the_method_with_its_options():
    found = searched(Mondrian(cut="median"), one_column("age", [0, 1]), [KAnonymity(1)])
    assert found.trace.method == repr(Mondrian(cut="median"))
    assert found.trace.method.startswith("Mondrian(cut='median', recoding='tight', n_rescored=4, ")
    assert (found.trace.optimal, found.trace.seed) == (False, None)
    assert found.trace.seconds > 0


def test_a_name_or_its_object_choose_the_method():
    frame = pl.DataFrame({"age": [1, 2, 30, 31]})
    by_name = ht.anonymize(frame, quasi_identifiers=["age"], models=[KAnonymity(2)], method="mondrian")
    by_object = ht.anonymize(frame, quasi_identifiers=["age"], models=[KAnonymity(2)], method=Mondrian())
    assert by_name.frame.equals(by_object.frame)
    with pytest.raises(InputError, match="unknown method 'mondrain'"):
        ht.anonymize(frame, quasi_identifiers=["age"], models=[KAnonymity(2)], method="mondrain")


def test_a_literal_star_is_refused():
    frame = pl.DataFrame({"city": ["*", "ulm", "ulm"]})
    with pytest.raises(ColumnError, match="literal '\\*'"):
        ht.anonymize(frame, quasi_identifiers=["city"], models=[KAnonymity(2)])


def codes_of(cells):
    return [cells.codes[begin:end].tolist() for begin, end in pairwise(cells.offsets)]


def assert_inside(table, found):
    partition = found.partition
    for name, cells in zip(quasi_identifiers(table), found.recoding.cells, strict=True):
        codes = table.codes[table.index(name)]
        if isinstance(cells, PublishedIntervals):
            known = codes >= 0
            labels = partition.labels[known]
            assert (cells.low[labels] <= codes[known]).all()
            assert (codes[known] <= cells.high[labels]).all()
            assert cells.has_missing[partition.labels[~known]].all()
        else:
            sets = codes_of(cells)
            assert all(code in sets[label] for code, label in zip(codes, partition.labels, strict=True))
