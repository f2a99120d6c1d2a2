"""A year of nights, and jobs that race for one name: long, and run when something of a job changes."""

import hashlib
import json
import multiprocessing
import random
from collections import Counter
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from pathlib import Path

import polars as pl
import pytest

from command import done, run
from hushtable.release import manifest
from night_rows import POLICY_WITH_PSEUDONYMS, make_night, write_policy

pytestmark = pytest.mark.slow


def plain(rows: pl.DataFrame, path: Path) -> None:
    rows.write_csv(path)


def with_new_tariff(rows: pl.DataFrame, path: Path) -> None:
    pl.concat([rows, make_night(90_000, 4, "new tariff")]).write_csv(path)


def with_new_column(rows: pl.DataFrame, path: Path) -> None:
    rows.with_columns(mail=pl.lit("x")).write_csv(path)


def without_column(rows: pl.DataFrame, path: Path) -> None:
    rows.drop("plan").write_csv(path)


def with_other_kind(rows: pl.DataFrame, path: Path) -> None:
    rows.with_columns(age=pl.lit("adult")).write_csv(path)


def empty(rows: pl.DataFrame, path: Path) -> None:
    rows.head(0).write_csv(path)


def broken(rows: pl.DataFrame, path: Path) -> None:
    rows.write_csv(path)
    path.write_bytes(b"\x1f\x8b" + path.read_bytes()[:100])


def absent(rows: pl.DataFrame, path: Path) -> None:
    del rows, path


# What arrives, how often, what the job exits with, and the kind of its error.
NIGHTS: tuple[tuple[Callable[[pl.DataFrame, Path], None], int, int, str], ...] = (
    (plain, 30, 0, ""),
    (with_new_tariff, 2, 1, "limit"),
    (with_new_column, 2, 2, "column"),
    (without_column, 1, 2, "column"),
    (with_other_kind, 1, 2, "column"),
    (empty, 1, 2, "input"),
    (broken, 1, 2, "input or column"),  # whether what is left of it can be read as a table
    (absent, 1, 2, "input"),
)


def test_a_year_of_nights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_policy(POLICY_WITH_PSEUDONYMS)
    for name in ("right", "wrong"):
        Path(f"{name}.key").write_bytes(hashlib.sha256(name.encode()).digest())
    for name, rows in (("old", make_night(0, 16)), ("new", make_night(0, 90))):
        rows.write_csv(f"{name}.csv")
        asked = ("anonymize", f"{name}.csv", "-p", "policy.yaml", "-o", f"{name}.out.csv", "--key-file", "right.key")
        done(*asked, "--save-recoding", f"{name}.json")
    random_ = random.Random(69)
    kinds = [each for each in NIGHTS for _ in range(each[1])]
    seen, mistakes = Counter[str](), dict[str, str]()
    for day in range(365):
        fill, _, code, kind = random_.choice(kinds)
        source, release, log = Path(f"{day}.csv"), Path(f"{day}.out.csv"), Path(f"{day}.log")
        fill(make_night(1000 + 60 * day), source)
        key, recoding, limits = "right.key", "new.json", []
        if not code and random_.random() < 0.03:
            key = "wrong.key"
            mistakes[release.name] = "key"
        elif not code and random_.random() < 0.03:
            recoding = "old.json"
            mistakes[release.name] = "recoding"
        elif not code and random_.random() < 0.05:
            # Two people of the night before are in this one, too.
            make_night(999, 60).write_csv(source)
            make_night(985, 16).write_csv("before.csv")
            limits, code, kind = ["--previous", "before.csv", "--fail-above", "alike=0"], 1, "limit"
        asked = ("apply", recoding, source, "-o", release, "--key-file", key, "--log", log, *limits)
        outcome = run(*asked, "--json")
        assert outcome.code == code, (day, fill, outcome)
        told = json.loads(outcome.out)
        assert told.get("kind", "") in kind.split(" or "), (day, fill, told)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        # The log alone tells why.
        assert lines[-1]["event"] == "end"
        assert lines[-1]["exit_code"] == code
        assert [each["kind"] for each in lines if each["event"] == "error"] == ([told["kind"]] if kind else [])
        assert release.exists() is (code == 0)
        if not code:
            assert run("verify", release).code == 0
            assert run(*asked, "--if-exists", "skip").code == 0
            assert run(*asked).code == 2
        seen[f"{fill.__name__} {code} {kind}"] += 1
    record_property("nights", str(dict(seen)))
    assert len(seen) > len(NIGHTS)
    # An auditor, with the manifests alone.
    right = manifest.read(Path("new.out.csv"))["provenance"]["key_fingerprint"]
    current = json.loads(Path("new.json").read_text())["sha256"]
    found = {}
    for path in sorted(tmp_path.glob("[0-9]*.out.csv")):
        told = manifest.read(path)["provenance"]
        if told["key_fingerprint"] != right:
            found[path.name] = "key"
        if told["recoding_sha256"] != current:
            found[path.name] = "recoding"
    assert found == mistakes
    assert set(mistakes.values()) == {"key", "recoding"}


def _race(folder: str, number: int, n_rounds: int, barrier: Barrier, results: "multiprocessing.Queue[object]") -> None:
    for each in range(n_rounds):
        release = f"{folder}/{each}{('.csv', '')[each % 2]}"
        how = ((), ("--if-exists", "skip"), ("--if-exists", "replace"))[each // 2 % 3]
        source = f"{folder}/in{number}{('.csv', '.parquet')[each % 2]}"
        engine = () if each % 2 == 0 else ("--engine", "stream")
        barrier.wait()
        outcome = run("anonymize", source, "-p", f"{folder}/policy.yaml", "-o", release, "--json", *how, *engine)
        told = json.loads(outcome.out) if outcome.out else {}
        results.put((each, outcome.code, bool(told.get("skipped")), told.get("kind", ""), outcome.err[-300:]))


def test_two_jobs_to_one_name(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    (tmp_path / "policy.yaml").write_text(
        "columns: {age: quasi-identifier, pay: other}\nmodels: [k-anonymity: 3]\nlimits: {exposure: {rate: 1.0}}\n"
    )
    for number in range(2):
        people = pl.DataFrame({"age": [30 + i % 7 for i in range(40)], "pay": [i % 3 + 10 * number for i in range(40)]})
        people.write_csv(tmp_path / f"in{number}.csv")
        people.write_parquet(tmp_path / f"in{number}.parquet")
    n_rounds = 200
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(2), context.Queue()
    jobs = [
        context.Process(target=_race, args=(str(tmp_path), number, n_rounds, barrier, results)) for number in range(2)
    ]
    for job in jobs:
        job.start()
    by_round: dict[int, list[tuple[object, ...]]] = {}
    for _ in range(2 * n_rounds):
        each, *what = results.get(timeout=120)
        by_round.setdefault(each, []).append(tuple(what))
    for job in jobs:
        job.join()
    counts = Counter[str]()
    for each, outcomes in by_round.items():
        written = [code == 0 and not skipped for code, skipped, *_ in outcomes]
        path = tmp_path / f"{each}{('.csv', '')[each % 2]}"
        how = ("fail", "skip", "replace")[each // 2 % 3]
        counts[
            f"{'folder' if each % 2 else 'file'} {how}: {sorted((code, kind) for code, _, kind, _ in outcomes)}"
        ] += 1
        if how == "replace":
            assert any(written), outcomes
        else:
            assert sum(written) == 1, (how, outcomes)
        assert all(code in (0, 2) and (code == 0 or kind == "exists") for code, _, kind, _ in outcomes), outcomes
        # A release and its manifest belong together, and nothing else is left.
        assert run("verify", path).code == 0, (how, outcomes)
    record_property("pairs", str(dict(counts)))
    assert not list(tmp_path.rglob(".*"))
