"""A job that runs every night: limits that a batch keeps, what it is told, what is written beside it."""

import hashlib
import json
from pathlib import Path

import polars as pl
import pytest

import hushtable as ht
from command import done, run
from hushtable.claims import Classes, Limits
from hushtable.cli import batches
from hushtable.release import manifest
from night_rows import POLICY, POLICY_WITH_PSEUDONYMS, make_night, write_policy


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_policy(POLICY)
    make_night(0, 90).write_csv("first.csv")
    done("anonymize", "first.csv", "-p", "policy.yaml", "-o", "first.out.csv", "--save-recoding", "cells.json")
    return tmp_path


@pytest.mark.usefixtures("here")
def test_a_batch_keeps_to_the_limit_of_suppression_of_its_release() -> None:
    pl.concat([make_night(100), make_night(200, 4, "new tariff")]).write_csv("night.csv")
    outcome = run("apply", "cells.json", "night.csv", "-o", "night.out.csv", "--json")
    assert outcome.code == 1
    assert json.loads(outcome.out)["error"] == "LimitError"
    assert "4 of 64 new records would publish no cell but *, 6.25%" in outcome.err
    assert not Path("night.out.csv").exists()
    with pytest.raises(ht.LimitError):
        ht.Recoding.read("cells.json").apply("night.csv")


@pytest.mark.usefixtures("here")
def test_verify_judges_the_limit_of_suppression_with_the_policy_and_without() -> None:
    pl.concat([make_night(100, 80), make_night(200, 4, "new tariff")]).write_csv("night.csv")
    done("apply", "cells.json", "night.csv", "-o", "night.out.csv")
    limit = "records with * in every quasi-identifier <= 0.05 of all"
    assert limit in json.loads(done("verify", "night.out.csv", "--json").out)["held"]
    Path("strict.yaml").write_text(POLICY.replace("0.05", "0.01"))
    for policy, code in (("policy.yaml", 0), ("strict.yaml", 1)):
        outcome = run("verify", "night.out.csv", "-p", policy, "--original", "night.csv", "--json")
        assert (outcome.code, json.loads(outcome.out)["passed"]) == (code, not code), outcome


def test_a_policy_does_not_soften_what_a_batch_counts_as_suppressed() -> None:
    models = (ht.KAnonymity(2),)
    batch, policy = (
        Classes(("age",), models, limits=Limits(suppression=0.1, counts_blank=counts_blank), suppressed=None)
        for counts_blank in (True, False)
    )
    half_blank = pl.DataFrame({"age": ["30"] * 4 + ["*"] * 4})
    assert policy.verify(half_blank).passed
    for claim in (batch, batch.with_knowledge_of(policy), policy.with_knowledge_of(batch)):
        assert not claim.verify(half_blank).passed


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("limit", "code"),
    [
        ("suppressed=0", 1),
        ("suppressed=0.04", 1),
        ("suppressed=0.05", 0),
        ("highest=0.2", 1),
        ("highest=0.25", 0),
        ("exposed=0", 0),
        ("shared=3", 1),  # nobody has looked
        ("tariff=1", 2),
    ],
)
def test_a_batch_has_limits_of_its_own(limit: str, code: int) -> None:
    pl.concat([make_night(100, 80), make_night(200, 4, "new tariff")]).write_csv("night.csv")
    outcome = run("apply", "cells.json", "night.csv", "-o", "night.out.csv", "--fail-above", limit)
    assert outcome.code == code, outcome
    assert Path("night.out.csv").exists() is (code == 0)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("limit", "code"), [("highest=0.2", 1), ("highest=0.34", 0)])
def test_the_highest_risk_of_a_batch_counts_persons_and_not_their_records(limit: str, code: int) -> None:
    pl.concat([make_night(100, 18)] * 3).write_csv("night.csv")
    assert run("apply", "cells.json", "night.csv", "-o", "night.out.csv", "--fail-above", limit).code == code


@pytest.mark.usefixtures("here")
def test_an_input_that_changes_while_it_is_read_is_not_stated_in_a_manifest(monkeypatch: pytest.MonkeyPatch) -> None:
    make_night(100).write_csv("night.csv")
    monkeypatch.setattr(batches, "_check_limits", lambda *_: make_night(200, 90).write_csv("night.csv"))
    outcome = run("apply", "cells.json", "night.csv", "-o", "night.out.csv")
    assert outcome.code == 2
    assert "changed while it was read" in outcome.err
    assert not Path("night.out.csv").exists()


@pytest.mark.usefixtures("here")
def test_nights_are_judged_together() -> None:
    # Of two ages that only these have, one person is in both nights: nobody shares the cells of both with them.
    make_night(85, 60).write_csv("night.csv")
    Path("before").mkdir()
    make_night(0, 90).write_parquet("before/part-1.parquet")
    for earlier in ("first.csv", "before"):
        outcome = run(
            "apply", "cells.json", "night.csv", "-o", "night.out.csv", "--previous", earlier, "--fail-above", "shared=4"
        )
        assert outcome.code == 1, outcome
        assert "shared is 5.0, above the limit of 4" in outcome.err
    told = json.loads(
        done("apply", "cells.json", "night.csv", "-o", "night.out.csv", "--previous", "first.csv", "--json").out
    )["batch"]
    assert told["n_shared_persons"] == 5
    assert run(
        "apply", "cells.json", "night.csv", "-o", "o.csv", "--previous", "first.csv",
        "--fail-above", f"alike={told['n_few_alike'] - 1}",
    ).code == 1  # fmt: skip
    assert run(
        "apply", "cells.json", "night.csv", "-o", "o.csv", "--previous", "first.csv",
        "--fail-above", f"few-values={told['n_few_values']}",
    ).code == 0  # fmt: skip


@pytest.mark.usefixtures("here")
def test_the_internal_manifest_says_where_a_release_comes_from_and_the_external_one_does_not() -> None:
    Path("keyed.yaml").write_text(POLICY_WITH_PSEUDONYMS)
    for name, byte in (("one", 1), ("two", 1), ("three", 101)):
        Path(f"{name}.key").write_bytes(bytes(range(byte, byte + 32)))
    done(
        "anonymize",
        "first.csv",
        "-p",
        "keyed.yaml",
        "-o",
        "f.csv",
        "--key-file",
        "one.key",
        "--save-recoding",
        "k.json",
    )
    make_night(100).write_csv("night.csv")
    told = {}
    for name in ("one", "two", "three"):
        done("apply", "k.json", "night.csv", "-o", f"{name}.csv", "--key-file", f"{name}.key")
        told[name] = manifest.read(Path(f"{name}.csv"))["provenance"]
        done("verify", f"{name}.csv")
    first = manifest.read(Path("f.csv"))["provenance"]
    # A wrong key and an old recoding are seen from the manifests alone.
    assert told["one"]["key_fingerprint"] == told["two"]["key_fingerprint"] == first["key_fingerprint"]
    assert len({told["three"]["key_fingerprint"], first["key_fingerprint"]}) == 2
    recoding = json.loads(Path("k.json").read_text())
    assert {each["recoding_sha256"] for each in told.values()} == {recoding["sha256"]}
    assert first["recoding_sha256"] is None
    assert sorted(each["name"] for each in first["inputs"]) == ["first.csv", "keyed.yaml", "plans.csv"]
    digests = {each["name"]: each["sha256"] for each in told["one"]["inputs"]}
    assert digests["night.csv"] == hashlib.sha256(Path("night.csv").read_bytes()).hexdigest()
    assert "one.key" not in digests
    # The policy behind a batch is that of the first night.
    assert {each["policy_sha256"] for each in told.values()} == {first["policy_sha256"]} != {None}
    assert first["process"]["peak_memory_bytes"] > 10**7
    done("apply", "k.json", "night.csv", "-o", "outside.csv", "--key-file", "one.key", "--external")
    outside = Path("outside.csv.manifest.json").read_text()
    for secret in (digests["night.csv"], first["key_fingerprint"], recoding["sha256"], "night.csv", "provenance"):
        assert secret not in outside
