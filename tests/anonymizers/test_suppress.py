"""Suppression: as few records as it takes, none where it takes none, and never a small group of them."""

import polars as pl
import pytest

import hushtable as ht
from hushtable.anonymizers.suppress import offending_rows


@pytest.fixture
def people():
    ills = ["flu"] * 130 + ["hiv"] * 40 + ["cold"] * 30
    return pl.DataFrame({"age": [20 + i % 40 for i in range(200)], "ill": ills, "id": range(200)})


ALPHA = [ht.KAnonymity(5), ht.AlphaKAnonymity(0.6, 5, "ill")]


def protected(people, models, limit):
    return ht.anonymize(people, quasi_identifiers=["age"], models=models, suppression_limit=limit)


def test_as_few_as_it_takes(people):
    """105 of 175 is the highest count of flu that is at most 60 %."""
    release = protected(people, ALPHA, 0.2)
    assert release.n_suppressed == 25
    assert release.suppressed.nonzero()[0].tolist() == list(range(105, 130))
    assert release.verify().passed


def test_they_are_dropped_where_they_fail_as_a_class(people, tmp_path):
    release = protected(people, ALPHA, 0.2)
    assert release.drops_suppressed
    assert release.frame["id"].to_list() == [i for i in range(200) if not 105 <= i < 130]
    release.write(tmp_path / "out.csv")
    assert pl.read_csv(tmp_path / "out.csv").height == 175
    assert release.to_dict()["n_records"] == 200


def test_they_count_in_the_loss(people):
    release = protected(people, ALPHA, 0.2)
    kept = release.recoding.shares()[0] @ release.partition.sizes
    assert release.loss == pytest.approx((kept + 25) / 200)


def test_none_where_none_has_to_go(people):
    release = protected(people, [ht.KAnonymity(5)], 0.2)
    assert release.n_suppressed == 0
    assert not release.drops_suppressed


def test_too_low_a_limit_is_infeasible(people):
    with pytest.raises(ht.InfeasibleError, match="alpha"):
        protected(people, ALPHA, 0.1)


def test_two_sensitive_columns():
    frame = pl.DataFrame({"age": [1] * 20, "a": ["x"] * 15 + ["y"] * 5, "b": ["u", "v"] * 5 + ["u"] * 10})
    models = [ht.AlphaKAnonymity(0.7, 2, "a"), ht.AlphaKAnonymity(0.6, 2, "b")]
    table = ht.Table.encode(frame)
    offending = offending_rows(table, models, 20)
    assert protected(frame, models, 0.9).verify().passed
    assert 0 < offending.sum() < 20


def test_suppressed_cells_of_a_table_that_counts():
    people = pl.DataFrame({"age": [20] * 8 + [30] * 4, "ill": ["flu"] * 8 + ["hiv"] * 4})
    table, _ = ht.Table.encode(people).collapse()
    with pytest.raises(ht.InfeasibleError):
        ht.anonymize(
            table, quasi_identifiers=["age"], models=[ht.AlphaKAnonymity(0.5, 2, "ill")], suppression_limit=0.4
        )


@pytest.mark.parametrize("limit", [-0.1, 1, float("nan")])
def test_the_limit_is_a_share(people, limit):
    with pytest.raises(ht.InputError, match="suppression_limit"):
        protected(people, ALPHA, limit)
