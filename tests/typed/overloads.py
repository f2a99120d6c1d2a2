"""What `anonymize` returns follows from what comes in: read by mypy strict and pyright, run by nobody."""

from pathlib import Path
from typing import assert_type

import pandas as pd
import polars as pl

import hushtable as ht


def of_frames(of_polars: pl.DataFrame, of_pandas: pd.DataFrame, lazy: pl.LazyFrame, coded: ht.Table) -> None:
    known, models = ["age"], [ht.KAnonymity(5)]
    of_one = ht.anonymize(of_polars, quasi_identifiers=known, models=models)
    assert_type(of_one, ht.Release[pl.DataFrame])
    assert_type(of_one.frame, pl.DataFrame)
    assert_type(of_one.apply(of_pandas).frame, pd.DataFrame)
    assert_type(of_one.with_bound(), ht.Release[pl.DataFrame])
    assert_type(ht.anonymize(of_pandas, quasi_identifiers=known, models=models).frame, pd.DataFrame)
    assert_type(ht.anonymize(coded, quasi_identifiers=known, models=models).frame, ht.Table)
    remote = ht.anonymize(lazy, quasi_identifiers=known, models=models)
    assert_type(remote, ht.RemoteRelease[pl.LazyFrame])
    assert_type(remote.frame, pl.LazyFrame)


def of_files(path: Path) -> None:
    asked = ht.Policy.read("policy.yaml")
    assert_type(asked.protect(path, engine="memory").frame, pl.DataFrame)
    assert_type(ht.anonymize(path, policy=asked, engine="stream").frame, pl.LazyFrame)
    # A file or a folder: a name of either may be asked for.
    either = ht.anonymize("people.csv", policy="policy.yaml")
    if isinstance(either, ht.Release):
        assert_type(either.loss, float)
