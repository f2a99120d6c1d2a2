"""One table has one t: assess, anonymize and verify agree on how far apart the values of a sensitive column lie."""

from typing import Any

import polars as pl
import pytest

import hushtable as ht
from hushtable.claims import verify
from hushtable.errors import InfeasibleError

WHOLE = ["3", "4", "5", "6", "11", "8", "7", "9", "10"]
COLUMNS: dict[str, list[str]] = {
    "integers": WHOLE,
    "decimals": [f"{value}.5" for value in WHOLE],
    "dates": [f"2024-03-{int(value):02}" for value in WHOLE],
    "codes": ["0500", *WHOLE[1:]],
    "words": [f"w{value}" for value in WHOLE],
}


def holds(table: pl.DataFrame, t: float) -> tuple[bool, bool]:
    """Whether verify and anonymize accept the classes of three as they are."""
    asked: dict[str, Any] = {"quasi_identifiers": ["c"], "models": [ht.TCloseness(t, "s")]}
    try:
        # One class for each value or fewer: a cut that is not made would break the model.
        found = ht.anonymize(table, **asked, roles="trust", method="full_domain", hierarchies={"c": "auto"})
        is_kept = found.partition.n_classes == 3
    except InfeasibleError:
        is_kept = False
    return verify(table, **asked).passed, is_kept


@pytest.mark.parametrize("kind", COLUMNS)
def test_assess_anonymize_and_verify_have_one_ground(kind: str) -> None:
    table = pl.DataFrame({"c": [i // 3 for i in range(9)], "s": COLUMNS[kind]})
    measured = ht.assess(table, quasi_identifiers=["c"], sensitive=["s"]).homogeneity["s"]
    assert measured.ground == ("ordered" if kind in ("integers", "decimals", "dates") else "equal")
    assert measured.t == pytest.approx(2 / 3 if measured.ground == "equal" else 0.375, abs=0.002)
    assert holds(table, measured.t + 0.001) == (True, True)
    assert holds(table, measured.t - 0.001) == (False, False)
