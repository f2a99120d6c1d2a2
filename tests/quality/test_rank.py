"""The loss on ranks: what values far out hide from the loss by value."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import hushtable as ht
from hushtable.quality import LOSSES, loss
from hushtable.quality.loss import SetNCP
from hushtable.release import notes

FAR = pl.DataFrame({"income": [i * 37 % 299 for i in range(299)] + [10**6], "age": [i * 7 % 90 for i in range(300)]})


def protected(frame, scale="value", **options):
    method = ht.Mondrian(**options)
    return ht.anonymize(
        frame,
        quasi_identifiers=list(frame.columns),
        models=[ht.KAnonymity(2)],
        loss=SetNCP(scale=scale),
        method=method,
        roles="trust",
    )


def naive(release, frame, ranked):
    """Return the mean over cells of the width of their class, in values or in ranks."""
    total = 0.0
    for name in frame.columns:
        values = sorted(set(frame[name].drop_nulls()))
        place = {value: values.index(value) if name in ranked else value for value in values}
        whole = max(place.values(), default=0) - min(place.values(), default=0)
        for label in release.partition.labels.tolist():
            held = frame[name].filter(pl.Series(release.partition.labels == label)).to_list()
            places = [place[value] for value in held if value is not None]
            if places and len(places) < len(held):
                total += 1.0
            elif places and whole:
                total += (max(places) - min(places)) / whole
    return total / frame.height / len(frame.columns)


@given(st.data(), st.sampled_from(["value", "rank", {"x": "rank"}]))
def test_the_loss_is_that_of_the_definition_on_both_scales(data, scale):
    n = data.draw(st.integers(2, 16))
    cells = st.lists(st.one_of(st.none(), st.integers(0, 5), st.just(1_000)), min_size=n, max_size=n)
    frame = pl.DataFrame({"x": data.draw(cells), "y": data.draw(cells)}, schema={"x": pl.Int64, "y": pl.Int64})
    if frame["x"].null_count() == n or frame["y"].null_count() == n:
        return
    release = protected(frame, scale)
    ranked = {"value": [], "rank": ["x", "y"]}.get(scale, ["x"]) if isinstance(scale, str) else ["x"]
    assert release.loss == pytest.approx(naive(release, frame, ranked), abs=1e-12)
    assert release.quality.set_ncp == pytest.approx(naive(release, frame, []), abs=1e-12)
    assert release.quality.set_ncp_by_rank == pytest.approx(naive(release, frame, ["x", "y"]), abs=1e-12)
    assert release.verify().passed


def test_on_ranks_the_many_are_cut_too():
    by_value, by_rank = protected(FAR), protected(FAR, {"income": "rank"})
    assert by_rank.quality.set_ncp_by_rank < 0.7 * by_value.quality.set_ncp_by_rank
    assert by_rank.to_dict()["quality"]["set_ncp_by_rank"] == by_rank.quality.set_ncp_by_rank


def test_readable_intervals_are_told_on_ranks():
    """All values of an interval count, those of other classes too."""
    frame = pl.DataFrame({"age": [20, 21, 22, 23, 60, 61, 62, 63]})
    release = protected(frame, recoding="readable")
    assert release.quality.set_ncp_by_rank == pytest.approx(1 / 7)


def test_what_is_cut_on_a_grid_is_not_searched_on_ranks():
    with pytest.raises(ht.InputError, match=r"'income'.*ranks"):
        protected(FAR, {"income": "rank"}, grid={"income": 10})


def test_readable_intervals_are_searched_on_ranks_too():
    """The grid stays that of the range, which values far out make wide."""
    options = {"recoding": "readable", "grid": {"income": 2}}
    by_value, by_rank = (protected(FAR, {"income": scale}, **options) for scale in ("value", "rank"))
    assert by_rank.quality.set_ncp_by_rank < 0.8 * by_value.quality.set_ncp_by_rank
    assert by_rank.verify().passed


def test_options():
    text = "version: 1\ncolumns: {age: quasi-identifier}\nmodels: [k-anonymity: 2]\nloss: {ncp: {scale: {age: rank}}}"
    assert ht.Policy.parse(text).loss == SetNCP(scale={"age": "rank"})
    with pytest.raises(ht.InputError, match="scale"):
        SetNCP(scale="ranks")
    with pytest.raises(ht.ColumnError, match="scale"):
        protected(FAR, {"wage": "rank"})
    assert LOSSES["ncp"] is loss.SetNCP


def test_columns_with_values_far_out_are_named():
    assert set(notes.find_outlier_columns(protected(FAR))) == {"income"}
    low = FAR.with_columns(income=-pl.col("income"))
    assert set(notes.find_outlier_columns(protected(low))) == {"income"}
    assert notes.find_outlier_columns(protected(FAR.head(299))) == {}
    assert notes.find_outlier_columns(protected(FAR.tail(50))) == {}
    both = pl.DataFrame({"x": [-(10**6), 10**6, *np.arange(298).tolist()]})
    assert notes.find_outlier_columns(protected(both))["x"].share == pytest.approx(1, abs=1e-3)
    assert notes.find_outlier_columns(protected(pl.DataFrame({"x": [1] * 200}))) == {}
