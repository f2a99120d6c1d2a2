"""The order of rows links the records of a person, and tells persons apart: it is not kept where persons hide."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from command import done, run
from hushtable.errors import InputError


def stays(n_persons: int = 30) -> pl.DataFrame:
    """Three stays of each patient, sorted by patient, as any export is."""
    rng = np.random.default_rng(4)
    n = 3 * n_persons
    patients = [f"P{i // 3:03}" for i in range(n)]
    return pl.DataFrame({"patient": patients, "ward": rng.choice(["a", "b"], n), "age": rng.integers(20, 80, n)})


def asked(**options: Any) -> dict[str, Any]:
    return {"quasi_identifiers": ["ward", "age"], "person": "patient", "roles": "trust", **options}


LEFT_OUT = asked(models=[ht.KAnonymity(3)], identifiers=["patient"])
FRESH = asked(models=[ht.KAnonymity(3)], pseudonyms=ht.Pseudonyms(fresh=("patient",)))


LINKED = asked(
    models=[ht.LinkedKAnonymity(3)],
    pseudonyms=ht.Pseudonyms(("patient",), key=bytes(range(32))),
    method="histories",
)
HOUSEHOLDS = {**LINKED, "person": None, "household": "patient"}


@pytest.mark.parametrize(
    "request_", [LEFT_OUT, FRESH, LINKED, HOUSEHOLDS], ids=["left out", "fresh", "linked", "households"]
)
def test_rows_of_persons_do_not_keep_their_order(tmp_path: Path, request_: dict[str, Any]) -> None:
    release = ht.anonymize(stays(), **request_)
    with pytest.raises(InputError, match="order of the input"):
        release.write(tmp_path / "out.csv", keep_order=True)
    assert not list(tmp_path.iterdir())
    assert release.write(tmp_path / "out.csv").passed


def test_the_command_refuses_before_it_searches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    stays().write_csv("in.csv")
    roles = "columns: {patient: {role: identifier, action: remove}, ward: quasi-identifier, age: quasi-identifier}\n"
    Path("policy.yaml").write_text(f"{roles}models: [k-anonymity: 3]\nperson: patient\n")
    refused = run("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv", "--keep-order")
    assert refused.code == 2
    assert "order of the input" in refused.err
    assert "searching" not in refused.err
    done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv")
