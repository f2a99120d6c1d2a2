"""Direct identifiers under every role, at every door: none passes until somebody accepts it with a reason."""

import json
import random
from pathlib import Path

import polars as pl
import pytest

import hushtable as ht
from campaign.roles import IDENTIFIERS, INNOCENT
from command import run
from hushtable.policy import Policy

SIZES = (4, 48, 300)
ROLES = ("sensitive", "other", "quasi-identifier")


def people(kind: str, n: int) -> tuple[pl.DataFrame, str]:
    draw = random.Random(f"{kind} {n}")
    name, cell = (IDENTIFIERS | INNOCENT)[kind]
    ages = [20 + i % 2 for i in range(n)]
    return pl.DataFrame({"age": ages, name: [cell(draw) for _ in range(n)]}), name


def policy(name: str, role: str) -> Policy:
    return Policy.make({"columns": {"age": "quasi-identifier", name: role}, "models": [{"k-anonymity": 2}]})


@pytest.mark.filterwarnings("ignore:.*values and no hierarchy")
@pytest.mark.parametrize("kind", IDENTIFIERS)
@pytest.mark.parametrize("role", ROLES)
def test_no_identifier_passes_under_any_role(kind, role):
    for n in SIZES:
        data, name = people(kind, n)
        release = policy(name, role).protect(data)
        cells = {*data[name].cast(pl.String)}
        published = release.edition.frame().column(name).cast(pl.String).unique()
        if not any(published.str.contains(cell, literal=True).any() for cell in cells):
            assert role == "quasi-identifier"
            continue
        for hand_out in (lambda release=release: release.frame, lambda release=release: release.write("out.csv")):
            with pytest.raises(ht.ExposureError, match=f"nothing is written: .*'{name}'") as refused:
                hand_out()
            assert not any(cell in str(refused.value) for cell in cells)
    accepted = policy(name, role).with_entries({("accept", name): "made up"}).protect(people(kind, 4)[0])
    assert accepted.frame.columns == ["age", name]


@pytest.mark.parametrize("kind", IDENTIFIERS)
def test_no_identifier_passes_in_python_by_any_argument(kind):
    for n in SIZES:
        data, name = people(kind, n)
        asked = {"quasi_identifiers": ["age"], "models": [ht.KAnonymity(2)]}
        with pytest.raises(ht.ColumnError, match=f"'{name}' looks like a direct identifier"):
            ht.anonymize(data, **asked)
        with pytest.raises(ht.ExposureError, match=f"direct identifiers: '{name}'"):
            ht.anonymize(data, **asked, sensitive=[name])
        assert ht.anonymize(data, **asked, accept={name: "made up"}).frame.columns == data.columns
        assert ht.anonymize(data, **asked, identifiers=[name]).frame.columns == ["age"]


@pytest.mark.filterwarnings("ignore:.*values and no hierarchy")
@pytest.mark.parametrize("kind", INNOCENT)
@pytest.mark.parametrize("role", ROLES)
def test_what_identifies_nobody_by_itself_needs_no_leave(kind, role):
    for n in SIZES:
        data, name = people(kind, n)
        release = policy(name, role).protect(data)
        assert release.exposure.identifiers == ()
        assert release.frame.columns == data.columns


@pytest.mark.parametrize("door", ["command", "folder", "lazy", "apply", "pipeline"])
@pytest.mark.parametrize("kind", ["surname by header", "e-mail"])
def test_no_identifier_passes_at_another_door(kind, door, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data, name = people(kind, 48)
    rules = policy(name, "sensitive")
    if door == "command":
        data.write_csv("in.csv")
        Path("policy.yaml").write_text(rules.to_yaml())
        told = run("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv")
        assert told.code == 1
        assert f"published columns look like direct identifiers: '{name}'" in told.err
        assert not Path("out.csv").exists()
        leave = f"accept.{name}=made up"
        assert run("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv", "--set", leave).code == 0
        return
    if door == "pipeline":
        data.write_csv("in.csv")
        steps = {"Loader": {"people": {"filepath": "in.csv"}}, "Anonymizer": {"two": rules.to_dict()}}
        whole = steps | {"Reporter": {"release": {"method": "save_data", "source": "Anonymizer"}}}
        Path("run.yaml").write_text(json.dumps(whole))
        with pytest.raises(ht.ExposureError, match=f"direct identifiers: '{name}'"):
            ht.Pipeline.read("run.yaml").run("out")
        return
    if door == "apply":
        accepted = rules.with_entries({("accept", name): "made up"}).protect(data)
        # What was accepted of one batch is of the next; what was not, is not.
        assert accepted.apply(data).frame.columns == data.columns
        release = rules.protect(data).apply(data)
    elif door == "folder":
        Path("in").mkdir()
        data.write_parquet("in/part.parquet")
        release = rules.protect("in", engine="stream")
    else:
        release = rules.protect(data.lazy())
    with pytest.raises(ht.ExposureError, match=f"direct identifiers: '{name}'"):
        release.frame  # noqa: B018
    with pytest.raises(ht.ExposureError, match=f"direct identifiers: '{name}'"):
        release.write("out")
    assert not Path("out").exists()
