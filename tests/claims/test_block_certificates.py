"""The certificate of minimal generalization: right where it passes, and no forgery of it does."""

from __future__ import annotations

import copy
import itertools
import math
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import hushtable as ht
from strategies import draws

JOBS = ht.Hierarchy.from_domains("job/up/left: a, b\njob/up: c\njob: d\n")["job"]
LOSSES = {
    "ncp": ht.SetNCP(weights={"age": 2.0}),
    "rank": ht.SetNCP(scale="rank"),
    "certainty": ht.Certainty(),
    "mg-ga": ht.Certainty(weights={"job": 0.5}, variant="mg-ga"),
    "minimal_distortion": ht.MinimalDistortion(),
}
ROW = st.tuples(
    st.sampled_from(["a", "b", "c", "d", None]), st.sampled_from([1, 2, 4, 9, None]), st.sampled_from("xyz")
)


def frame_of(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    schema = {"job": pl.String, "age": pl.Int64, "ill": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def protected(frame: pl.DataFrame, models: list[Any], loss: Any, **options: Any) -> ht.Release:
    specs = {"job": ht.ColumnSpec("category"), "age": ht.ColumnSpec("integer")}
    return ht.anonymize(
        frame,
        quasi_identifiers=["job", "age"],
        models=models,
        method=ht.MinGen(**options),
        loss=loss,
        hierarchies={"job": JOBS},
        specs=specs,
    )


def checked(frame: pl.DataFrame, certificate: Any) -> ht.Verdict:
    specs = {"job": ht.ColumnSpec("category"), "age": ht.ColumnSpec("integer")}
    return ht.check_certificate(frame, certificate, specs=specs)


def partitions(rows: list[int], k: int) -> Any:
    if not rows:
        yield []
        return
    first, *rest = rows
    for size in range(k - 1, len(rest) + 1):
        for mates in itertools.combinations(rest, size):
            for others in partitions([row for row in rest if row not in mates], k):
                yield [[first, *mates], *others]


@pytest.mark.parametrize("loss", sorted(LOSSES))
@given(rows=st.lists(ROW, min_size=2, max_size=9), diverse=st.booleans())
@settings(max_examples=draws(25), deadline=None)
def test_a_release_of_a_few_rows_has_a_proof(loss: str, rows: list[tuple[Any, ...]], diverse: bool) -> None:
    models: list[Any] = [ht.KAnonymity(2), *([ht.DistinctLDiversity(2, "ill")] if diverse else [])]
    try:
        release = protected(frame_of(rows), models, LOSSES[loss])
    except ht.InfeasibleError:
        return
    verdict = checked(frame_of(rows), release.certificate)
    assert verdict.passed, verdict.failures
    assert verdict.complete, verdict.unchecked
    assert verdict.figures["optimal"]
    assert verdict.figures["value"] == pytest.approx(release.loss)
    # In another order of rows and columns it is the same input.
    assert checked(frame_of(rows[::-1]).select("ill", "age", "job"), release.certificate).passed


@given(
    rows=st.lists(ROW, min_size=2, max_size=7),
    changes=st.lists(st.tuples(st.integers(0, 6), st.sampled_from([0.5, -0.3, 1.0])), max_size=4),
    more=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    k=st.integers(1, 3),
)
@settings(max_examples=draws(80), deadline=None)
def test_no_forged_floor_is_above_the_best_partition(
    rows: list[tuple[Any, ...]], changes: list[tuple[int, float]], more: float, k: int
) -> None:
    if len(rows) < k:
        return
    frame = frame_of(rows)
    entries = protected(frame, [ht.KAnonymity(k)], ht.MinimalDistortion()).certificate.to_dict()
    del entries["sha256"]
    for place, change in changes:
        entries["prices"][place % len(rows)] += change
    entries["bound"] += more
    entries["value"] += more
    verdict = checked(frame, ht.Certificate.from_entries(entries))
    best = min(
        sum(len(block) * (len({rows[i][j] for i in block}) > 1) for block in blocks for j in (0, 1))
        for blocks in partitions(list(range(len(rows))), k)
    )
    if verdict.passed and verdict.complete:
        assert verdict.figures["bound"] <= best + 1e-4
    assert verdict.passed or changes or more


PEOPLE = ht.datasets.people(60).select("blood_pressure", "sex", "education")
ASKED = {"quasi_identifiers": PEOPLE.columns, "method": ht.MinGen()}


def test_larger_tables_are_closed_by_an_integer_program() -> None:
    release = ht.anonymize(PEOPLE, models=[ht.KAnonymity(3)], loss="certainty", **ASKED)
    assert release.trace.optimal
    verdict = ht.check_certificate(PEOPLE, release.certificate)
    assert verdict.passed
    assert verdict.complete
    assert verdict.figures["optimal"]
    assert sum(release.certificate.entries["prices"]) < release.loss * 0.999
    # The prices alone do not reach it, so that the classes of a worse table have no certificate of this floor.
    entries = {name: each for name, each in release.certificate.entries.items() if name != "sha256"}
    higher = {**entries, "bound": release.loss + 0.5, "value": release.loss + 0.5}
    assert not ht.check_certificate(PEOPLE, ht.Certificate.from_entries(higher)).passed


def test_without_a_proof_the_floor_is_certified() -> None:
    release = ht.anonymize(
        PEOPLE,
        models=[ht.KAnonymity(5)],
        loss="ncp",
        budget=ht.Budget(nodes=1),
        **(ASKED | {"method": ht.MinGen(proof_rows=0)}),
    )
    verdict = ht.check_certificate(PEOPLE, release.certificate)
    assert verdict.passed
    assert verdict.complete
    assert not verdict.figures["optimal"]
    assert verdict.figures["bound"] == pytest.approx(release.trace.bound)


@pytest.mark.parametrize("loss", ["ncp", "certainty"])
def test_a_changed_number_is_refused(loss: str) -> None:
    people = PEOPLE.head(8)
    asked = ASKED | {"models": [ht.KAnonymity(2)], "loss": loss}
    entries = ht.anonymize(people, **asked).certificate.to_dict()
    for name, change in [("value", 0.1), ("value", -0.1), ("bound", 0.1), ("n_records", 1), ("n_records", -1)]:
        assert not ht.check_certificate(people, {**entries, name: entries[name] + change}).passed
        rest = {each: entry for each, entry in entries.items() if each != "sha256"}
        assert not ht.check_certificate(people, ht.Certificate.from_entries({**rest, name: rest[name] + change})).passed
    parted = copy.deepcopy(rest)
    parted["classes"] = list(range(8))
    assert not ht.check_certificate(people, ht.Certificate.from_entries(parted)).passed
    assert not ht.check_certificate(PEOPLE.head(9), ht.Certificate.from_entries(rest)).passed
    for name, wrong in [("prices", [math.nan] * 8), ("prices", "x"), ("loss", {"precision": {}}), ("person", "sex")]:
        with pytest.raises(ht.InputError):
            ht.check_certificate(people, ht.Certificate.from_entries({**rest, name: wrong}))


def test_what_no_checker_knows_has_no_certificate() -> None:
    people = PEOPLE.head(8)
    asked = ASKED | {"loss": "certainty"}
    assert ht.anonymize(people, models=[ht.Global1K(2)], **asked).certificate is None
    drawn = asked | {"method": ht.MinGen(iterations=20)}
    assert ht.anonymize(people, models=[ht.KAnonymity(2)], **drawn).certificate is None


@pytest.mark.parametrize("name", ["value", "bound"])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_value_or_floor_that_is_no_number_is_refused(name: str, number: float) -> None:
    people = PEOPLE.head(8)
    entries = ht.anonymize(people, models=[ht.KAnonymity(2)], loss="certainty", **ASKED).certificate.to_dict()
    del entries["sha256"]
    with pytest.raises(ht.InputError, match="numbers that are none"):
        ht.check_certificate(people, ht.Certificate.from_entries({**entries, name: number}))


def test_a_floor_that_only_blocks_of_2k_minus_1_records_break_is_refused() -> None:
    frame = frame_of([("a", 1, "x")] * 3 + [("b", 1, "x")] * 3)
    release = protected(frame, [ht.KAnonymity(2)], ht.Certainty())
    assert release.loss == 0
    entries = release.certificate.to_dict()
    del entries["sha256"]
    # In pairs, one of a and b is needed: what it loses is no floor, since threes lose nothing.
    pairs = {**entries, "classes": [0, 0, 1, 1, 2, 2], "prices": [0.0] * 6}
    lost = next(
        float(str(failure).rsplit(maxsplit=1)[-1])
        for failure in checked(frame, ht.Certificate.from_entries(pairs)).failures
        if "they lose" in str(failure)
    )
    forged = checked(frame, ht.Certificate.from_entries({**pairs, "value": lost, "bound": lost}))
    assert lost > 0
    assert [str(failure).partition(":")[2] for failure in forged.failures] == [" a partition costs 0"]


@pytest.mark.parametrize("k", [2, 3])
def test_a_floor_that_only_blocks_of_k_records_break_is_refused(k: int) -> None:
    frame = frame_of([("a" if i < k else "d", i, "x") for i in range(2 * k)])
    entries = protected(frame, [ht.KAnonymity(k)], ht.MinimalDistortion()).certificate.to_dict()
    del entries["sha256"]
    # Each record of one job loses its age, and all others the job too: k of a job pay for 1 each, and 0.1 more.
    prices = [1.5, *[1.0] * (k - 2), 0.6] * 2
    forged = {**entries, "classes": [0] * 2 * k, "prices": prices, "value": 4.0 * k, "bound": sum(prices)}
    failures = [str(failure) for failure in checked(frame, ht.Certificate.from_entries(forged)).failures]
    assert [failure.partition(":")[2] for failure in failures] == [" a block costs 0.1 less"]
