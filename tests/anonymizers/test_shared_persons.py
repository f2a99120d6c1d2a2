"""Persons in several batches: how many are alike in all of them, and with how many values, against a slow twin."""

from collections import Counter
from pathlib import Path
from time import process_time

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from hushtable.anonymizers.shared_persons import Appearance, EarlierBatch, find_alike
from hushtable.columns import spell_names_as

# A row of a batch: person, class, value of a sensitive column (None is missing).
Rows = list[tuple[str, int, str | None]]
VALUES = ("cold", "flu", "gout")


def slow_alike(new: Rows, earlier: list[Rows]) -> tuple[list[int], list[int]]:
    """Count by definition, for each person in both: those with its cells in every batch, and their known values."""
    both = sorted({who for who, *_ in new} & {who for rows in earlier for who, *_ in rows})

    def history(who: str) -> list[Counter[int]]:
        return [Counter(label for person, label, _ in rows if person == who) for rows in (new, *earlier)]

    n_persons, n_values = [], []
    for who in both:
        alike = [other for other in both if history(other) == history(who)]
        n_persons.append(len(alike))
        n_values.append(len({value for person, _, value in new if person in alike and value is not None}))
    return n_persons, n_values


def appearance(rows: Rows) -> Appearance:
    names = sorted({who for who, *_ in rows})
    codes = [-1 if value is None else VALUES.index(value) for *_, value in rows]
    return Appearance(
        np.array([names.index(who) for who, *_ in rows], dtype=np.int32),
        names,
        np.array([label for _, label, _ in rows], dtype=np.int64),
        np.ones(len(rows), dtype=np.int64),
        {"ill": np.array(codes, dtype=np.int32)},
    )


@pytest.mark.parametrize("seed", range(20))
def test_persons_in_both_are_counted_as_defined(seed: int) -> None:
    rng = np.random.default_rng(seed)
    batches: list[Rows] = [
        [
            (f"p{rng.integers(12)}", int(rng.integers(2)), (*VALUES, None)[rng.integers(4)])
            for _ in range(rng.integers(1, 20))
        ]
        for _ in range(rng.integers(2, 4))
    ]
    new, *earlier = batches
    found = find_alike(appearance(new), [EarlierBatch((appearance(rows),)) for rows in earlier])
    n_persons, n_values = slow_alike(new, earlier)
    assert found.n_persons.tolist() == n_persons
    assert found.n_values["ill"].tolist() == n_values
    for fewest in (1, 2, 3):
        # One value tells it, whatever l is.
        assert found.count_few_values({"ill": fewest}) == sum(n < max(2, fewest) for n in n_values)


def make_persons(spelling: str, first: int = 101) -> pl.DataFrame:
    """Return thirty persons, ten of each age, with their numbers as a program has written them."""
    numbers = range(first, first + 30)
    return pl.DataFrame({"who": [spelling.format(i) for i in numbers], "age": [20 + i // 10 for i in range(30)]})


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> ht.Recoding:
    first = tmp_path_factory.mktemp("nights") / "first.csv"
    make_persons("{}").write_csv(first)
    release = ht.anonymize(
        first, quasi_identifiers=["age"], models=[ht.KAnonymity(5)], person="who", identifiers=["who"]
    )
    recoding = release.learned
    assert isinstance(recoding, ht.Recoding)
    return recoding


@pytest.mark.parametrize("now", ["{}", "{}.0", "000{}"])
@pytest.mark.parametrize("before", ["{}", "{}.0", "000{}"])
def test_persons_are_the_same_however_a_program_writes_their_numbers(
    learned: ht.Recoding, tmp_path: Path, before: str, now: str
) -> None:
    make_persons(before).write_csv(tmp_path / "before.csv")
    make_persons(now, 111).write_csv(tmp_path / "now.csv")
    batch = learned.apply(tmp_path / "now.csv", previous=[tmp_path / "before.csv"]).batch
    assert batch is not None
    assert batch.n_shared_persons == 20
    rest = learned.apply(tmp_path / "now.csv", previous=[tmp_path / "before.csv"], distinct_persons=True)
    assert rest.batch is not None
    assert rest.batch.n_left_out == 20
    make_persons(now).write_csv(tmp_path / "again.csv")
    both = learned.apply(tmp_path / "again.csv", earlier=tmp_path / "before.csv")
    assert both.verify().smallest_class == 10


def test_a_number_as_a_decimal_and_as_text_is_one_person(learned: ht.Recoding, tmp_path: Path) -> None:
    make_persons("{}").write_csv(tmp_path / "before.csv")
    decimals = make_persons("{}").with_columns(pl.col("who").cast(pl.Float64))
    assert learned.apply(decimals, earlier=tmp_path / "before.csv").verify().smallest_class == 10


def test_other_names_stay_other_persons(learned: ht.Recoding) -> None:
    batch = learned.apply(make_persons("b{}"), previous=[make_persons("a{}"), make_persons("{}")]).batch
    assert batch is not None
    assert batch.n_shared_persons == 0


def test_cells_that_the_earlier_type_cannot_hold_are_a_change_of_schema(learned: ht.Recoding) -> None:
    earlier = make_persons("{}").with_columns(pl.col("who").cast(pl.Int64))
    with pytest.raises(ht.ColumnError, match="'who' of the new rows"):
        learned.apply(make_persons("secret{}"), earlier=earlier)


def test_a_previous_batch_that_names_nobody_is_an_error(learned: ht.Recoding, tmp_path: Path) -> None:
    nobody = make_persons("{}").with_columns(who=pl.lit(None, dtype=pl.String))
    with pytest.raises(ht.InputError, match="column 'who' is empty"):
        learned.apply(make_persons("{}"), previous=[nobody])
    make_persons("{}").write_csv(tmp_path / "before.csv")
    path, table = tmp_path / "before.csv", make_persons("{}")
    release = ht.anonymize(
        table, quasi_identifiers=["age"], models=[ht.KAnonymity(5)], person="who", identifiers=["who"]
    )
    for one in (str(path), path, table, table.to_pandas(), table.lazy()):
        for door in (learned, release):
            with pytest.raises(ht.InputError, match="previous was given as"):
                door.apply(make_persons("{}"), previous=one)


def test_the_case_of_a_name_makes_no_other_person_and_many_names_take_little_time(learned: ht.Recoding) -> None:
    batch = learned.apply(make_persons("n{}"), previous=[make_persons("N{}")]).batch
    assert batch is not None
    assert batch.n_shared_persons == 30
    # Read as dates, for want of numbers, 300,000 names of text took 72 seconds.
    many = [[f"P{i}" for i in range(first, first + 5_000)] for first in (10_000, 13_000)]
    begun = process_time()
    assert len({*many[0]} & {*spell_names_as(*many)}) == 2_000
    assert process_time() - begun < 0.5
