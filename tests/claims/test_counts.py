"""Rows that count records are judged as those records: the same verdict as of the rows repeated."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import hushtable as ht
from hushtable.claims import Claim, Classes, Independence, Limits, Matchings, Stated
from hushtable.columns.column import ColumnSpec
from hushtable.io import frames
from hushtable.io.frames import Frame
from hushtable.models import MODELS

AGES = [None, "", "*", "[30, 40)", "[40, 50)", "35"]
JOBS = [None, "*", "cook", "clerk"]
ILLS = [None, "*", "flu", "gout", "mumps"]
PERSONS = [None, "p", "q", "r", "t"]
# What a published cell of another column may stand for; someone's cell may be covered by none.
SPECS = {
    "age": ColumnSpec("integer"),
    "job": ColumnSpec("category"),
    "ill": ColumnSpec("ordered", ("flu", "gout", "mumps", "*")),
    "who": ColumnSpec("category"),
}
OF_CLASSES = {
    "k": ht.KAnonymity(3),
    "alpha-k": ht.AlphaKAnonymity(0.5, 2, "ill"),
    "l": ht.DistinctLDiversity(2, "ill"),
    "entropy": ht.EntropyLDiversity(1.7, "ill"),
    "recursive": ht.RecursiveCLDiversity(1.5, 2, "ill"),
    "t-equal": ht.TCloseness(0.3, "ill", "equal"),
    "t-ordered": ht.TCloseness(0.2, "ill", "ordered"),
    "beta": ht.BetaLikeness(0.5, "ill"),
    "delta": ht.DeltaDisclosure(0.5, "ill"),
    "k-map": ht.KMap(4),
    "presence": ht.DeltaPresence(0.1, 0.6),
}
NOTIONS = (ht.Match1K(2), ht.MatchK1(2), ht.MatchKK(2), ht.Global1K(2), ht.GlobalK1(2))


def test_every_model_is_tested_here() -> None:
    # Rows that stand for several records have no person whose history they could be of.
    of_histories = {ht.KMAnonymity, ht.LinkedKAnonymity}
    assert {type(each) for each in (*OF_CLASSES.values(), *NOTIONS)} == set(MODELS.values()) - of_histories


@st.composite
def counted(draw: st.DrawFn, columns: dict[str, list[Any]]) -> Frame:
    """Draw rows of texts that stand for 1 to 4 records each; rows may be equal."""
    row = st.tuples(st.integers(1, 4), *(st.sampled_from(cells) for cells in columns.values()))
    rows = draw(st.lists(row, min_size=1, max_size=9))
    data = {name: pl.Series([row[j] for row in rows], dtype=pl.String) for j, name in enumerate(columns, 1)}
    counts = np.array([row[0] for row in rows], dtype=np.int64)
    return replace(frames.read(pl.DataFrame(data)), counts=counts)


PUBLISHED = counted({"age": AGES, "job": JOBS, "ill": ILLS, "who": PERSONS})
INPUT = counted({"age": ["31", "35", "44", None], "job": ["cook", "clerk", None], "ill": ILLS[2:], "who": PERSONS})
PEOPLE = counted({"age": ["31", "35", "44"], "job": ["cook", "clerk", None]})


def repeated(frame: Frame | None) -> Frame | None:
    """The slow twin, by a library of its own."""
    if frame is None:
        return None
    assert frame.counts is not None
    rows = [row for row, n in zip(frame.native.rows(), frame.counts.tolist(), strict=True) for _ in range(n)]
    return frames.read(pl.DataFrame(rows, schema=frame.native.schema, orient="row"))


def judged(claim: Claim, data: Frame | None, original: Frame | None) -> str:
    """All that a verdict says, as text: a measure may be nan, which does not equal itself; or what it complains of."""
    try:
        return json.dumps(claim.verify(data, original=original).to_dict(), default=int)
    except ht.InputError as error:
        return str(error)


def coded(frame: Frame, columns: tuple[str, ...]) -> Frame:
    """The quasi-identifiers as an enumeration, as they are read from folders."""
    texts = {name: frame.column(name) for name in columns}
    return frame.with_columns(
        {name: each.cast(pl.Enum(each.drop_nulls().unique().sort())) for name, each in texts.items()}
    )


def same(claim: Claim, data: Frame, original: Frame | None = None, twin: Claim | None = None) -> None:
    verdict = judged(claim, data, original)
    assert verdict == judged(twin or claim, repeated(data), repeated(original))
    assert verdict == judged(claim, coded(data, claim.columns), original)


@pytest.mark.parametrize("name", OF_CLASSES)
@given(
    data=PUBLISHED,
    original=st.none() | INPUT,
    people=PEOPLE,
    missing=st.sampled_from(["category", "wildcard", "worst"]),
    suppressed=st.sampled_from(["*", None]),
    is_whole=st.booleans(),
    limits=st.builds(Limits, *[st.none() | st.sampled_from([0.25, 0.5])] * 2),
    sensitive=st.sampled_from([(), ("ill",)]),
)
def test_every_model_counts_records(
    name: str, data: Frame, original: Frame | None, people: Frame, sensitive: tuple[str, ...], **options: Any
) -> None:
    model = OF_CLASSES[name]
    claim = Classes(("age", "job"), (model,), sensitive=sensitive, specs=SPECS, population=people, **options)
    same(claim, data, original, replace(claim, population=repeated(people)))


@given(data=PUBLISHED, original=INPUT, is_published=st.booleans(), suppressed=st.sampled_from(["*", None]))
def test_persons_are_counted_once_and_records_as_often_as_they_count(
    data: Frame, original: Frame, is_published: bool, suppressed: str | None
) -> None:
    claim = Classes(
        ("age", "job"), (ht.KAnonymity(2),), sensitive=("ill",), specs=SPECS, person="who", suppressed=suppressed
    )
    same(claim, data if is_published else data.drop(["who"]), original)


@given(data=PUBLISHED, original=st.none() | INPUT)
def test_notions_match_records(data: Frame, original: Frame | None) -> None:
    same(Matchings(("age", "job"), NOTIONS, sensitive=("ill",), specs=SPECS), data, original)


@given(data=PUBLISHED, n_clusters=st.none() | st.integers(1, 3))
def test_independence_counts_records(data: Frame, n_clusters: int | None) -> None:
    same(Independence(("age", "job"), "ill", n_clusters), data)


@given(data=PUBLISHED)
def test_what_is_stated_is_stated_of_records(data: Frame) -> None:
    same(Stated(("age",), "PRAM (alpha = 0.8)"), data)


@pytest.mark.parametrize("library", [pl.DataFrame, pd.DataFrame, pa.table])
def test_a_column_of_counts_is_no_column_of_the_table(library: Any) -> None:
    table = library({"age": ["30-39", "<30"], "n": [5, 2]})
    verdict = ht.verify(table, quasi_identifiers=["age"], models=[ht.KAnonymity(3)], counts="n")
    (failure,) = verdict.failures
    assert (verdict.n_records, verdict.smallest_class, failure.n_records) == (7, 2, 2)
    with pytest.raises(ht.ColumnError, match="no column 'n'"):
        ht.verify(table, quasi_identifiers=["age", "n"], models=[ht.KAnonymity(3)], counts="n")


def test_suppressed_rows_count_their_records() -> None:
    table = pl.DataFrame({"age": ["*", "31"], "n": [4, 9]})
    given = {"quasi_identifiers": ["age"], "counts": "n"}
    assert ht.verify(table, models=[ht.KAnonymity(4)], **given).passed
    verdict = ht.verify(table, models=[ht.KAnonymity(5)], **given)
    assert (verdict.n_suppressed, verdict.n_classes, verdict.failures[0].n_records) == (4, 1, 4)


def test_suppressed_persons_are_the_fewest_whose_records_there_are() -> None:
    """Four suppressed records may be those of one person, who has them all in one row of the original."""
    original = frames.with_counts(
        frames.read(pl.DataFrame({"age": ["31", "35", "44"], "who": ["p", "q", "r"], "n": [4, 4, 4]})), "n"
    )
    data = frames.with_counts(frames.read(pl.DataFrame({"age": ["*", "[31, 36)"], "n": [4, 8]})), "n")
    claim = Classes(("age",), (ht.KAnonymity(2),), specs={"age": ColumnSpec("integer")}, person="who")
    same(claim, data, original)
    (failure,) = claim.verify(data, original=original).failures
    assert (failure.n_records, failure.worst) == (4, 1.0)
