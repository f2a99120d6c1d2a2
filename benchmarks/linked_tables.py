"""Linked tables of one hospital: whom an attacker finds by what all of them tell, and what hiding that costs.

    python benchmarks/linked_tables.py              # 400 patients; everybody is looked for
    python benchmarks/linked_tables.py 200000       # so many; nobody is looked for

The attacker is the slow one of the tests (`tests/twins/naive_linked_tables.py`), which shares nothing with the package.
"""

from __future__ import annotations

import resource
import sys
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

import hushtable as ht
from hushtable.datasets import hospital

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from twins import naive_linked_tables as naive

K = 5
SUPPRESSION = 0.1
KEY = bytes(range(32))
COLUMNS = {"patients": ("sex", "birth_year", "region"), "stays": ("date", "ward", "icd"), "drugs": ("atc",)}
WHO = "patient_id"
Frames = Mapping[str, pl.DataFrame]


def policy() -> ht.LinkedPolicy:
    """Return what is asked of the three tables together."""
    tables: dict[str, Any] = {
        name: {"columns": dict.fromkeys(each, "quasi-identifier")} for name, each in COLUMNS.items()
    }
    tables["stays"]["time"] = "date"
    unit = {"table": "patients", "key": WHO}
    return ht.LinkedPolicy.make(
        {"unit": unit, "tables": tables, "models": [{"linked-k-anonymity": K}], "limits": {"suppression": SUPPRESSION}}
    )


def protect_alone(tables: Frames) -> dict[str, pl.DataFrame]:
    """Return the tables, each of which holds linked k-anonymity by itself, under the same pseudonyms."""
    return {
        name: ht.anonymize(
            table, quasi_identifiers=COLUMNS[name], models=[ht.LinkedKAnonymity(K)], person=WHO, method="histories",
            pseudonyms=ht.Pseudonyms((WHO,), KEY), suppression_limit=SUPPRESSION, roles="trust",
        ).frame
        for name, table in tables.items()
    }  # fmt: skip


def as_rows(tables: Frames) -> naive.Tables:
    """Return whose row each is, and its cells."""
    return {
        name: [(person, tuple(map(str, cells))) for person, *cells in table.select(WHO, *COLUMNS[name]).iter_rows()]
        for name, table in tables.items()
    }


def print_attack(tables: Frames, published: Frames) -> None:
    """Print whom the person's row and some further rows find."""
    pseudonyms = dict(zip(tables["patients"][WHO], published["patients"][WHO], strict=True))
    print(f"  the rarest bundle is that of {naive.smallest_bundle(as_rows(published))}")
    for n_known in (1, 2, None):
        found = naive.attack(as_rows(tables), as_rows(published), pseudonyms, "patients", n_known, K)
        print(
            f"  the person's row and {'all' if n_known is None else n_known} further: {found.n_found:,} of "
            f"{found.n_persons:,} found, {found.n_few:,} among fewer than {K}"
        )


def protect(tables: Frames) -> ht.LinkedRelease:
    """Protect and verify, and print what it took and lost."""
    began = time.process_time()
    release = ht.anonymize_tables(tables, policy())
    took, began = time.process_time() - began, time.process_time()
    verdict = release.verify()
    print(f"  {took:.1f} CPU s; verified ({verdict.passed and verdict.complete}) in {time.process_time() - began:.1f}")
    for name, loss in release.loss.items():
        print(f"  {name}: set-NCP {loss:.2f}, {release.n_suppressed[name]:,} of {tables[name].height:,} rows left out")
    return release


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    n_patients = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    data = {name: table.drop("stay_id", strict=False) for name, table in hospital(n_patients, seed=1).items()}
    print(", ".join(f"{table.height:,} {name}" for name, table in data.items()))
    is_large = len(sys.argv) > 1
    if not is_large:
        print("linked k-anonymity of each table, one pseudonym")
        print_attack(data, protect_alone(data))
    print("linked k-anonymity over all tables")
    release = protect(data)
    print(f"  {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB at most")
    if not is_large:
        print_attack(data, release.frames)
