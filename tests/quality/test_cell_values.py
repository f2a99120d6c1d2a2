"""What cells stand for, form by form."""

import polars as pl
import pytest

from hushtable.claims import Classes
from hushtable.columns.column import ColumnSpec
from hushtable.errors import InputError
from hushtable.hierarchy import Hierarchy
from hushtable.io import frames
from hushtable.models import KAnonymity
from hushtable.quality.cell_values import read_alike, read_column, with_claim_spelling

AGES = [17, 20, 24, 31, 40]
JOBS = ["clerk", "cook", "nurse", None]


def read(cells, original, *, kind=None, order=None, ladder=None, sensitive=False, name="x"):
    """Read one column."""
    claim = Classes(
        ("other",) if sensitive else (name,),
        (KAnonymity(2),),
        sensitive=(name,) if sensitive else (),
        specs={name: ColumnSpec(kind, order)} if kind else {},
        hierarchies={} if ladder is None else {name: ladder},
    )
    published = frames.read(pl.DataFrame({name: pl.Series(cells, dtype=pl.String)}))
    return read_column(with_claim_spelling(frames.read(pl.DataFrame({name: original})), claim), published, claim, name)


def runs_of(standing):
    """Return what the cell of every row stands for: its runs as (low, width, share), as values where they are coded."""
    spread = standing.released
    found = []
    for cell in spread.rows.tolist():
        of_cell = spread.cell == cell
        runs = zip(spread.low[of_cell], spread.width[of_cell], spread.share[of_cell], strict=True)
        found.append([(float(low), float(width), round(float(share), 6)) for low, width, share in runs])
    return found


@pytest.mark.parametrize(
    ("cell", "run"),
    [
        ("24", (7, 1, 1)),
        ("[17, 25)", (0, 8, 1)),
        ("[17, 24]", (0, 8, 1)),
        ("[16.5, 20.5)", (0, 4, 1)),
        ("[15, 20)", (-2, 5, 1)),
    ],
)
def test_intervals_of_whole_numbers_are_their_whole_numbers(cell, run):
    assert runs_of(read([cell], AGES, kind="integer")) == [[run]]


def test_a_set_of_numbers_is_its_values_equally():
    assert runs_of(read(['["17", "31"]', "[17, 31]"], AGES, kind="integer")) == [
        [(0, 1, 0.5), (14, 1, 0.5)],
        [(0, 15, 1)],
    ]


def test_sets_and_missing_values():
    standing = read(['["clerk", "cook", null]', None, "*", "nurse"], JOBS, kind="category")
    spread = standing.released
    assert runs_of(standing) == [[(0, 1, 0.333333), (1, 1, 0.333333)], [], [], [(2, 1, 1)]]
    assert spread.missing[spread.rows].round(6).tolist() == [0.333333, 1, 0, 0]
    assert spread.is_informative[spread.rows].tolist() == [True, True, False, True]
    assert spread.untold_rate == 0.25


def test_a_label_is_the_values_of_the_original_under_it():
    tree = Hierarchy.from_dict({"tree": {"white": ["clerk", "nurse", "judge"], "blue": ["cook"]}}, "x")
    assert runs_of(read(["white", "blue"], JOBS, kind="category", ladder=tree)) == [
        [(0, 1, 0.5), (2, 1, 0.5)],
        [(1, 1, 1)],
    ]


def test_calendar_units_are_the_dates_in_them():
    days = ["2024-01-05", "2024-02-01", "2024-03-31", "2025-01-01"]
    found = runs_of(read(["2024-Q1", "2025"], days, kind="date", ladder=Hierarchy.dates(["quarter", "year"])))
    assert found == [[(0, 1, 0.333333), (27, 1, 0.333333), (86, 1, 0.333333)], [(362, 1, 1)]]


@pytest.mark.parametrize(
    ("cells", "runs"),
    [
        # Bounds 20, 25 and 35: a step is 5 below, and 10 above; no value lies further out.
        (["<20", "[20, 25)", ">=35"], [(-2, 5), (3, 5), (18, 10)]),
        # Values further out are reached, themselves included.
        (["<20", "17", "10", "[20, 25)", ">=25", "40"], None),
        # A single bound tells no step.
        (["<20", ">=20"], [(2, 1), (3, 1)]),
    ],
)
def test_open_cells_end_where_the_column_does(cells, runs):
    standing = read(cells, [*AGES, 10] if runs is None else AGES, kind="integer")
    if runs is None:
        # The first value is 10: from it to below 20, and from 25 to 40.
        assert runs_of(standing)[0] == [(0, 10, 1)]
        assert runs_of(standing)[4] == [(15, 16, 1)]
    else:
        assert runs_of(standing) == [[(*run, 1)] for run in runs]


def test_intervals_of_decimals_have_no_gaps():
    standing = read(["[0.5, 1.5)", "2", "<0.5"], [0.25, 0.5, 2.0], kind="decimal")
    axis = standing.axis
    ends = [(axis.number_at(low), axis.number_at(low + width)) for ((low, width, _),) in runs_of(standing)]
    assert ends == [pytest.approx((0.5, 1.5)), (2, 2), pytest.approx((-0.5, 0.5))]


def test_a_file_with_decimal_commas():
    claim = Classes(("x",), (KAnonymity(2),), specs={"x": ColumnSpec("decimal", decimal=",")})
    published = frames.read(pl.DataFrame({"x": ["[0,5, 1,5)"]}))
    standing = read_column(
        with_claim_spelling(frames.read(pl.DataFrame({"x": [0.5, 1.5]})), claim), published, claim, "x"
    )
    assert [standing.axis.number_at(x) for x in standing.released.low] == pytest.approx([0.5])


@pytest.mark.parametrize("cell", ["[1, 2)", "<20", "*", '["a"]', "^a.*$"])
def test_a_column_that_is_kept_is_no_grammar(cell):
    claim = Classes(("y",), (KAnonymity(2),))
    table = frames.read(pl.DataFrame({"x": [cell, "b"], "y": ["1", "2"]}))
    standing = read_column(table, table, claim, "x")
    assert runs_of(standing) == [[(each, 1, 1)] for each in standing.original.rows.tolist()]
    assert standing.released.untold_rate == 0


def test_a_star_of_a_suppressed_record_says_nothing():
    standing = read(["*", "40", None], AGES, kind="integer", sensitive=True)
    assert standing.released.untold_rate == pytest.approx(1 / 3)
    assert runs_of(standing) == [[], [(23, 1, 1)], []]


def test_what_only_the_release_has_lies_behind_the_known():
    standing = read(["judge", "cook"], JOBS, kind="category", sensitive=True)
    assert runs_of(standing) == [[(3, 1, 1)], [(1, 1, 1)]]
    assert read_alike(standing, frames.read(pl.DataFrame({"x": ["cook", "thief"]}))).low.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("cells", "original", "options", "match"),
    [
        (["south"], JOBS, {"kind": "category"}, "1 of its cells cover no value of the original"),
        (["[1, 2)"], JOBS, {"kind": "category"}, "published in a form that says nothing"),
        (["forty"], AGES, {"kind": "integer", "sensitive": True}, "declared integer"),
    ],
)
def test_what_cannot_be_read_is_an_error(cells, original, options, match):
    with pytest.raises(InputError, match=match):
        read(cells, original, **options)


def test_labels_that_a_manifest_does_not_tell_are_never_guessed():
    """Even a label that is a value of the original: what it covers besides, nobody knows."""
    claim = Classes(("x",), (KAnonymity(2),), hierarchies={"x": None})
    table = frames.read(pl.DataFrame({"x": ["cook", "cook"]}))
    with pytest.raises(InputError, match="its labels mean"):
        read_column(table, table, claim, "x")


def test_numbers_far_apart_are_as_far_apart_as_they_are():
    standing = read(["[-9223372036854775808, 9223372036854775807]"], [-(2**63), 2**63 - 1], kind="integer")
    assert standing.axis.length == 2.0**64
    assert runs_of(standing) == [[(0, 2.0**64, 1)]]
    huge = read(["[-1e308, 1e308]".replace("e308", "0" * 308)], [-1e308, 1e308], kind="decimal")
    assert [huge.axis.number_at(x) for x in huge.released.low] == pytest.approx([-1e308])
