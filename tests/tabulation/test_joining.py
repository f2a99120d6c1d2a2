"""Tables and a release of the same records: what both tell together, judged by all ways to spread the classes."""

from itertools import product

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from command import run
from hushtable.claims import Classes
from hushtable.columns.cells import format_set
from hushtable.io import frames
from hushtable.tabulation import attack_with_tables

TABLE = [("a", "x", "x"), ("a", "y", "x"), ("a", "Total", "9"), ("b", "x", "x"), ("b", "y", "x"), ("b", "Total", "11"),
         ("Total", "x", "10"), ("Total", "y", "10"), ("Total", "Total", "20")]  # fmt: skip


def release_of(rows):
    """Return released rows of g and h, each as often as it says."""
    return frames.read(pl.DataFrame([row for *row, n in rows for _ in range(n)], schema=["g", "h"], orient="row"))


def attacks_of(rows, k=2, threshold=None):
    tables = ht.check_tables(pl.DataFrame(TABLE, schema=["g", "h", "n"], orient="row"), threshold=threshold)
    assert tables.passed
    claim = Classes(("g", "h"), (ht.KAnonymity(k),))
    return {each.name: each for each in attack_with_tables(release_of(rows), claim, tables)}


def spreads(rows):
    """Return all tables of a and b by x and y that agree with the totals and with what was released."""
    cells = list(product("ab", "xy"))
    free = [(n, [cell for cell in cells if g in (cell[0], "*") and h in (cell[1], "*")]) for g, h, n in rows]
    ways = [list(_compositions(n, len(inside))) for n, inside in free]
    found = set()
    for chosen in product(*ways):
        counts = dict.fromkeys(cells, 0)
        for (_, inside), split in zip(free, chosen, strict=True):
            for cell, n in zip(inside, split, strict=True):
                counts[cell] += n
        if (counts["a", "x"] + counts["a", "y"], counts["a", "x"] + counts["b", "x"]) == (9, 10) and all(
            counts.values()
        ):
            found.add(tuple(counts.values()))
    return found


def _compositions(n, parts):
    if parts == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in _compositions(n - first, parts - 1):
            yield (first, *rest)


@pytest.mark.parametrize(
    "rows",
    [[("a", "x", 2), ("a", "*", 7), ("b", "*", 11)], [("a", "x", 2), ("a", "y", 7), ("b", "*", 11)],
     [("*", "*", 20)], [("*", "x", 10), ("a", "*", 4), ("b", "y", 6)], [("*", "x", 10), ("a", "*", 8), ("b", "*", 2)],
     [("a", "x", 8), ("*", "*", 12)]],
)  # fmt: skip
def test_cells_are_computed_if_all_ways_to_spread_the_classes_say_so(rows):
    possible = spreads(rows)
    values = [{each[cell] for each in possible} for cell in range(4)]
    found = attacks_of(rows)["hidden cells"]
    assert found.n_found == sum(len(each) == 1 for each in values)
    assert found.fell == (found.n_found > 0)


def test_classes_are_narrowed_where_a_table_tells_of_few():
    shown = pl.DataFrame([("a", "9"), ("b", "11"), ("Total", "20")], schema=["g", "n"], orient="row")
    claim = Classes(("g",), (ht.KAnonymity(5),))
    release = frames.read(pl.DataFrame({"g": ["a"] * 7 + [format_set(["a", "b"])] * 13}))
    found = {each.name: each for each in attack_with_tables(release, claim, ht.check_tables(shown))}
    assert found["narrowed classes"].n_found == 2  # of the 13, 2 are of a: fewer than 5
    assert found["narrowed classes"].n_targets == 13
    assert found["hidden cells"].n_found == 0


def test_what_is_not_of_the_same_records_is_refused():
    with pytest.raises(ht.InputError, match="has 1 records more"):
        attacks_of([("*", "*", 21)])
    with pytest.raises(ht.InputError, match="2 released rows fit no cell"):
        attacks_of([("*", "*", 18), ("c", "*", 2)])
    left = attacks_of([("*", "*", 15)])
    assert not any(each.fell for each in left.values())


def test_the_command_attacks_what_anonymize_and_tables_wrote(tmp_path):
    draw = np.random.default_rng(2)
    people = pl.DataFrame({"age": draw.integers(30, 34, 400), "job": draw.choice(["cook", "clerk", "smith"], 400,
                                                                                 p=[0.6, 0.38, 0.02])})  # fmt: skip
    people.write_csv(tmp_path / "p.csv")
    told = run("anonymize", tmp_path / "p.csv", "--qi", "age,job", "--k", "3", "-o", tmp_path / "r.csv")
    assert told.code == 0, told.err
    told = run(
        "tables", tmp_path / "p.csv", "--by", "age,job", "--by", "job", "--threshold", "5", "-o", tmp_path / "t.csv"
    )
    assert told.code == 0, told.err
    checked = ht.check_tables(tmp_path / "t.csv")
    assert [reading.by for reading in checked.readings] == [("age", "job"), ("job",)]
    assert checked.passed
    attacks = checked.attack_with(tmp_path / "r.csv")
    people = ht.anonymize(tmp_path / "p.csv", quasi_identifiers=["age", "job"], models=[ht.KAnonymity(3)])
    assert [each.name for each in attacks] == ["hidden cells", "narrowed classes"]
    assert [each.n_found for each in checked.attack_with(people)] == [each.n_found for each in attacks]
    with pytest.raises(ht.InputError, match="no release of classes"):
        checked.attack_with(tmp_path / "t.csv")
    told = run("attack-release", tmp_path / "r.csv", "--tables", tmp_path / "t.csv", "--fail-above", "count=0")
    assert "hidden cells" in told.out
    assert told.code == (1 if "careful" in told.out else 0)
