"""How alike two tables are, against a slow twin that counts records one by one."""

import datetime as dt
import math
from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from hushtable.columns.column import Column, value_text
from hushtable.quality.similarity import diagnosis, similarity
from hushtable.tables.table import Table
from strategies import PALETTES, counted_tables, tables

NUMBERS, DAYS = {"integer", "decimal"}, {"date", "datetime"}


@st.composite
def halves(draw, **options):
    """Draw a table and take it apart: two tables of the same columns and kinds, either of which may be empty."""
    table = draw(counted_tables(max_rows=16, **options))
    cut = draw(st.integers(0, table.n_rows))
    return table.take(np.arange(cut)), table.take(np.arange(cut, table.n_rows))


pairs_of_tables = halves() | halves(kinds=("integer", "decimal")) | st.tuples(counted_tables(), counted_tables())


def naive_cells(original, synthetic, name):
    """Return the cells of both tables, a record each, and whether they are measured."""
    columns = [table.column(name) for table in (original, synthetic)]
    kinds = {column.kind for column in columns if column.n_values} or {column.kind for column in columns}
    is_measured = kinds <= NUMBERS or kinds <= DAYS
    cells = []
    for table, column in zip((original, synthetic), columns, strict=True):
        values = list(column.values)
        if kinds <= DAYS:
            values = [int(value.astype("datetime64[us]").astype(int)) for value in values]
        elif not is_measured:
            values = [value_text(column.kind, value) for value in values]
        codes = np.repeat(table.codes[table.index(name)], table.counts)
        cells.append([None if code < 0 else values[code] for code in codes])
    return cells[0], cells[1], is_measured


def known(cells):
    return [cell for cell in cells if cell is not None]


def naive_tv_complement(ours, theirs):
    if not ours or not theirs:
        return None
    f, g = Counter(ours), Counter(theirs)
    return 1 - sum(abs(f[value] / len(ours) - g[value] / len(theirs)) for value in f | g) / 2


def naive_ks_complement(ours, theirs):
    if not ours or not theirs:
        return None
    return 1 - max(
        abs(sum(value <= x for value in ours) / len(ours) - sum(value <= x for value in theirs) / len(theirs))
        for x in [*ours, *theirs]
    )


def naive_correlation(first, second):
    both = [(float(x), float(y)) for x, y in zip(first, second, strict=True) if x is not None and y is not None]
    if len({x for x, _ in both}) < 2 or len({y for _, y in both}) < 2:
        return None
    x_mean, y_mean = (sum(values) / len(both) for values in zip(*both, strict=True))
    together = sum((x - x_mean) * (y - y_mean) for x, y in both)
    return together / math.sqrt(sum((x - x_mean) ** 2 for x, _ in both) * sum((y - y_mean) ** 2 for _, y in both))


def naive_binned(ours, theirs):
    """Cut as sdmetrics' ContingencySimilarity does, but where numpy would refuse to; a missing cell stays missing."""
    low, high = (end(known(ours), default=0.0) for end in (min, max))
    edges = np.linspace(low, high, 11) if low < high else np.linspace(low - 0.5, high + 0.5, 11)
    edges[0], edges[-1] = -np.inf, np.inf
    if not known(ours):
        edges = [-np.inf, np.inf]
    return [[None if cell is None else int(np.digitize(cell, edges)) for cell in cells] for cells in (ours, theirs)]


def naive_shape(original, synthetic, name):
    ours, theirs, is_measured = naive_cells(original, synthetic, name)
    if is_measured:
        return "KSComplement", naive_ks_complement(known(ours), known(theirs))
    return "TVComplement", naive_tv_complement(known(ours), known(theirs))


def naive_trend(original, synthetic, first, second):
    cells = [naive_cells(original, synthetic, name) for name in (first, second)]
    if all(is_measured for _, _, is_measured in cells):
        correlations = [naive_correlation(cells[0][side], cells[1][side]) for side in (0, 1)]
        is_defined = None not in correlations
        return "CorrelationSimilarity", 1 - abs(correlations[0] - correlations[1]) / 2 if is_defined else None
    if any(not known([*ours, *theirs]) for ours, theirs, _ in cells):
        return "ContingencySimilarity", None
    shown = [naive_binned(ours, theirs) if is_measured else (ours, theirs) for ours, theirs, is_measured in cells]
    ours, theirs = (list(zip(shown[0][side], shown[1][side], strict=True)) for side in (0, 1))
    return "ContingencySimilarity", naive_tv_complement(ours, theirs)


def naive_adherence(original, synthetic, name):
    ours, theirs, is_measured = naive_cells(original, synthetic, name)
    metric = "BoundaryAdherence" if is_measured else "CategoryAdherence"
    if is_measured and None in ours:
        theirs = known(theirs)
    if not ours or not theirs or not known(ours + theirs):
        return metric, None
    if not is_measured:
        return metric, sum(cell in ours for cell in theirs) / len(theirs)
    low, high = (end(known(ours)) if known(ours) else math.nan for end in (min, max))
    return metric, sum(cell is not None and low <= cell <= high for cell in theirs) / len(theirs)


def naive_mean(values):
    defined = known(values)
    return sum(defined) / len(defined) if defined else None


def check_figures(found, expected):
    assert list(found) == list(expected)
    for name, (metric, value) in expected.items():
        assert found[name].metric == metric
        assert is_close(found[name].value, value), (name, metric)


def is_close(found, expected):
    return found is None if expected is None else found == pytest.approx(expected, abs=1e-12)


@given(pairs_of_tables)
def test_similarity_is_the_slow_twin(pair):
    names = [name for name in pair[0].names if name in pair[1].names]
    alike = similarity(*pair)
    check_figures(alike.columns, {name: naive_shape(*pair, name) for name in names})
    check_figures(alike.pairs, {each: naive_trend(*pair, *each) for each in combinations(names, 2)})
    assert is_close(alike.column_shapes, naive_mean(value for _, value in alike.columns.values()))
    assert is_close(alike.column_pair_trends, naive_mean(value for _, value in alike.pairs.values()))
    assert is_close(alike.score, naive_mean([alike.column_shapes, alike.column_pair_trends]))


@given(pairs_of_tables)
def test_diagnosis_is_the_slow_twin(pair):
    names = [name for name in pair[0].names if name in pair[1].names]
    found = diagnosis(*pair)
    check_figures(found.columns, {name: naive_adherence(*pair, name) for name in names})
    assert found.data_structure == len(names) / max(len(pair[0].names), len(pair[1].names))
    assert is_close(found.data_validity, naive_mean(value for _, value in found.columns.values()))
    assert is_close(found.score, naive_mean([found.data_structure, found.data_validity]))


def figures(alike):
    """Return every figure by a name of its own."""
    return {name: value for name, (_, value) in (alike.columns | alike.pairs).items()}


@given(counted_tables())
def test_a_table_is_like_itself(table):
    assert all(value in (1.0, None) for value in figures(similarity(table, table)).values())
    assert all(value in (1.0, None) for _, value in diagnosis(table, table).columns.values())


@given(halves(min_rows=1))
def test_neither_the_order_of_rows_nor_their_collapse_matters(pair):
    expected = figures(similarity(*pair))
    reversed_ = [table.take(np.arange(table.n_rows)[::-1]) for table in pair]
    collapsed = [table.collapse()[0] for table in pair]
    one_by_one = [table.with_row_per_record() for table in pair]
    for tables_ in (reversed_, collapsed, one_by_one):
        found = figures(similarity(*tables_))
        assert all(is_close(found[name], value) for name, value in expected.items())
        assert diagnosis(*tables_).to_dict() == diagnosis(*pair).to_dict()


@given(halves(min_rows=1))
def test_rows_that_count_nothing_are_nobody(pair):
    """Nor do their values widen a range."""
    original, synthetic = pair
    with_ghosts = original.with_population(synthetic)
    assert similarity(with_ghosts, synthetic).to_dict() == similarity(original, synthetic).to_dict()
    assert diagnosis(with_ghosts, synthetic).to_dict() == diagnosis(original, synthetic).to_dict()


@given(tables(), tables())
def test_every_figure_is_none_or_a_rate(one, other):
    pair = Table.encode(one), Table.encode(other)
    alike, found = similarity(*pair), diagnosis(*pair)
    values = [*figures(alike).values(), *(value for _, value in found.columns.values())]
    values += [alike.score, alike.column_shapes, alike.column_pair_trends, found.score, found.data_validity]
    assert all(value is None or 0 <= value <= 1 for value in values)


def encoded(cells, **types):
    return Table.encode(pl.DataFrame(cells, schema_overrides=types))


def column_of(ours, theirs, **types):
    """Return shape and adherence of one column."""
    pair = encoded({"a": ours}, **types), encoded({"a": theirs}, **types)
    return tuple(similarity(*pair).columns["a"]), tuple(diagnosis(*pair).columns["a"])


@pytest.mark.parametrize(
    ("ours", "theirs", "shape", "adherence"),
    [
        # Up to 2 are 2/3 of the original and none of the others.
        ([1, 2, 4], [4, 4, 5, 0.5], 1 - 5 / 12, 2 / 4),
        ([1, 2, 4], [1, 2, 4, 1, 2, 4], 1.0, 1.0),
        ([1, 2], [3, 4], 0.0, 0.0),
        # A missing value is left out where the original misses some, else it is outside.
        ([1, 2, None], [None, 1, 2, 9], 1 - 1 / 3, 2 / 3),
        ([1, 2], [None, 1, 2, 9], 1 - 1 / 3, 2 / 4),
        ([1, 2, None], [None, None], None, None),
        ([1, 2], [None, None], None, 0.0),
        ([None, None], [1, None], None, 0.0),
        ([None], [None], None, None),
        ([7], [7], 1.0, 1.0),
    ],
)
def test_measured_columns_by_hand(ours, theirs, shape, adherence):
    found = column_of(ours, theirs, a=pl.Float64)
    assert found == (("KSComplement", pytest.approx(shape)), ("BoundaryAdherence", pytest.approx(adherence)))


@pytest.mark.parametrize(
    ("ours", "theirs", "shape", "adherence"),
    [
        (["x", "x", "y", "z"], ["x", "y", "y", "w"], 1 - (1 / 4 + 1 / 4 + 1 / 4 + 1 / 4) / 2, 3 / 4),
        (["x", "y"], ["u", "v"], 0.0, 0.0),
        # A missing cell is no value of the shape, and a value of the adherence.
        (["x", None], ["x", None, None, None], 1.0, 1.0),
        (["x", "x"], ["x", None], 1.0, 1 / 2),
        (["x", "y"], [None, None], None, 0.0),
        ([None, "x"], [None, None], None, 1.0),
        ([None], [None], None, None),
        (["x"], [], None, None),
        ([], ["x"], None, None),
    ],
)
def test_categories_by_hand(ours, theirs, shape, adherence):
    found = column_of(ours, theirs, a=pl.String)
    assert found == (("TVComplement", pytest.approx(shape)), ("CategoryAdherence", pytest.approx(adherence)))


def trend(ours, theirs, **types):
    return tuple(similarity(encoded(ours, **types), encoded(theirs, **types)).pairs["a", "b"])


def test_opposite_correlations_have_nothing_in_common():
    up, down = {"a": [1, 2, 3], "b": [2, 4, 6]}, {"a": [1, 2, 3], "b": [6, 4, 2]}
    assert trend(up, down) == ("CorrelationSimilarity", pytest.approx(0.0))
    assert trend(up, {"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]}) == ("CorrelationSimilarity", pytest.approx(0.5))


@pytest.mark.parametrize("flat", [[5, 5, 5], [None, None, None], [None, None, 1]])
def test_a_constant_has_no_correlation(flat):
    """Whichever table has it, and it is in no mean."""
    varied, constant = {"a": [1, 2, 3], "b": [2, 4, 6]}, {"a": [1, 2, 3], "b": flat}
    for ours, theirs in ((varied, constant), (constant, varied)):
        assert trend(ours, theirs, b=pl.Int64) == ("CorrelationSimilarity", None)
        alike = similarity(encoded(ours, b=pl.Int64), encoded(theirs, b=pl.Int64))
        assert (alike.column_pair_trends, alike.score) == (None, alike.column_shapes)


def test_bins_are_those_of_the_original():
    """Tens from 0 to 100; what is below or above is in the first or last bin, missing cells in one of their own."""
    ours = {"a": [0, 9, 10, 55, 100, None], "b": ["x"] * 6}
    theirs = {"a": [-50, 9, 19, 59, 1000, None], "b": ["x"] * 6}
    assert trend(ours, theirs) == ("ContingencySimilarity", 1.0)
    assert trend(ours, theirs | {"a": [-50, 9, 9, 49, 1000, 100]}) == ("ContingencySimilarity", pytest.approx(1 / 2))


def test_bins_of_the_synthetic_range_would_be_of_another_unit():
    years, months = {"a": [30, 40, 50, 60], "b": ["x"] * 4}, {"a": [360, 480, 600, 720], "b": ["x"] * 4}
    assert trend(years, months) == ("ContingencySimilarity", 1 / 4)


def test_a_range_of_one_value_is_one_wide():
    """As numpy has it: beside 5, 5.05 is in the same bin, 4 and 5.15 are not."""
    ours = {"a": [5.0, 5.0, 5.0], "b": ["x"] * 3}
    assert trend(ours, {"a": [5.05, 4.0, 5.15], "b": ["x"] * 3}) == ("ContingencySimilarity", pytest.approx(1 / 3))


def test_a_number_that_only_the_synthetic_table_has_is_no_missing_cell():
    ours, theirs = {"a": [None, None], "b": ["x", "x"]}, {"a": [1, None], "b": ["x", "x"]}
    assert trend(ours, theirs, a=pl.Int64) == ("ContingencySimilarity", 1 / 2)
    assert trend(ours, ours, a=pl.Int64) == ("ContingencySimilarity", None)


def test_numbers_and_days_of_two_kinds_are_measured():
    whole, broken = encoded({"a": [1, 2]}), encoded({"a": [1.0, 2.5]})
    days = encoded({"a": [dt.date(2020, 1, 1), dt.date(2020, 1, 2)]})
    moments = encoded({"a": [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 12)]})
    assert tuple(similarity(whole, broken).columns["a"]) == ("KSComplement", 1 / 2)
    assert tuple(similarity(days, moments).columns["a"]) == ("KSComplement", 1 / 2)
    assert tuple(diagnosis(days, moments).columns["a"]) == ("BoundaryAdherence", 1.0)


def test_text_beside_numbers_is_compared_as_text():
    whole, text = encoded({"a": [1, 2], "b": [1, 2]}), encoded({"a": ["1", "one"], "b": [2, 1]})
    alike = similarity(whole, text)
    assert tuple(alike.columns["a"]) == ("TVComplement", 1 / 2)
    assert alike.pairs["a", "b"].metric == "ContingencySimilarity"
    assert tuple(diagnosis(whole, text).columns["a"]) == ("CategoryAdherence", 1 / 2)


def test_a_column_without_values_is_of_the_other_tables_kind():
    empty, numbers = encoded({"a": [None, None]}, a=pl.String), encoded({"a": [1, 2]})
    assert tuple(similarity(numbers, empty).columns["a"]) == ("KSComplement", None)


def test_tables_without_a_common_column():
    one, other = encoded({"a": [1]}), encoded({"b": [1]})
    alike, found = similarity(one, other), diagnosis(one, other)
    assert (alike.score, alike.columns, alike.pairs) == (None, {}, {})
    assert (found.score, found.data_structure, found.data_validity) == (0.0, 0.0, None)


def test_tables_without_columns():
    nothing = Table((), np.empty((0, 1), dtype=np.int32), np.ones(1, dtype=np.int64))
    assert similarity(nothing, nothing).score is None
    assert diagnosis(nothing, nothing).score is None


def test_odd_names_and_another_order_of_columns():
    ours = encoded({"": ["x", "y"], "a, b": [1, 2], "λ": [True, False]})
    alike = similarity(ours, ours.select(["λ", "a, b", ""]))
    assert list(alike.pairs) == [("", "a, b"), ("", "λ"), ("a, b", "λ")]
    assert alike.score == 1.0
    assert alike.to_dict()["pairs"][0] == {
        "first": "", "second": "a, b", "metric": "ContingencySimilarity", "value": 1.0
    }  # fmt: skip


@pytest.mark.parametrize("largest", [1.7e308, 5e-324, 1e17])
def test_the_largest_and_smallest_floats_are_measured(largest):
    ours = {"a": [-largest, 0.0, largest], "b": [1.0, 2.0, 4.0], "c": ["x", "y", "z"]}
    alike = similarity(encoded(ours), encoded(ours))
    assert set(figures(alike).values()) == {1.0}


def test_a_contingency_of_more_pairs_than_memory_holds():
    """Of 300,000 values each, nine of ten million million pairs are nobody's."""
    n_values, n_rows = 300_000, 1000
    values = np.array([f"{code:06}" for code in range(n_values)], dtype=object)
    columns = tuple(Column(name, "category", values) for name in "ab")
    codes = np.random.default_rng(0).integers(0, n_values, (2, n_rows)).astype(np.int32)
    table = Table(columns, codes, np.ones(n_rows, dtype=np.int64))
    assert similarity(table, table).pairs["a", "b"].value == 1.0


def test_no_value_is_in_the_repr():
    secret = encoded({"salary": [48151623], "job": ["spy"]})
    for found in (similarity(secret, secret), diagnosis(secret, secret)):
        shown = f"{found!r} {found.columns!r} {found.to_dict()!r}"
        assert "48151623" not in shown
        assert "spy" not in shown


@pytest.mark.parametrize("kind", PALETTES)
def test_one_row_of_any_kind(kind):
    dtype, values = PALETTES[kind]
    row = Table.encode(pl.DataFrame({"a": pl.Series(values[:1], dtype=dtype), "b": ["x"]}))
    assert set(figures(similarity(row, row)).values()) == {1.0}
