"""The limit of kept columns, judged from the published file by every door."""

import json
import random
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import hushtable as ht
from command import done, run
from hushtable.io import frames, scan
from hushtable.linked import verify_by_policy
from hushtable.release import kept_columns, manifest
from hushtable.release.kept_columns import KeptLimit

CONDITION = "records unique on at most 2 columns kept as they are <= 0.5 of all"
# 12 of 60 beds are one record's, and nobody is alone on ward.
PEOPLE = pl.DataFrame(
    {
        "who": [f"p{i}" for i in range(60)],
        "age": [20 + i % 2 * 30 for i in range(60)],
        "ward": ["AB"[i % 2] for i in range(60)],
        "bed": [*range(12), *[99] * 48],
    }
)


def make_policy(rate: float, more: str = "", who: str = "identifier") -> str:
    return (
        f"columns: {{who: {who}, age: quasi-identifier, ward: other, bed: other}}\nmodels: [k-anonymity: 3]\n"
        f"limits: {{exposure: {{rate: {rate}, linked: 1.0}}}}\n{more}"
    )


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    PEOPLE.write_csv("people.csv")
    Path("policy.yaml").write_text(make_policy(0.5))
    Path("strict.yaml").write_text(make_policy(0.1))
    done("anonymize", "people.csv", "-p", "policy.yaml", "-o", "out.csv")
    done("anonymize", "people.csv", "-p", "policy.yaml", "-o", "outside.csv", "--external")
    return tmp_path


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("release", ["out.csv", "outside.csv"])
def test_verify_judges_the_limit_with_a_policy_and_without(release: str) -> None:
    assert CONDITION in json.loads(done("verify", release, "--json").out)["held"]
    assert json.loads(done("verify", release, "-p", "policy.yaml", "--json").out)["held"].count(CONDITION) == 1
    failure = "records unique on at most 2 columns kept as they are <= 0.1 of all: 12 are, 0.2 of all"
    for options in ([], ["--no-manifest"]):
        outcome = run("verify", release, "-p", "strict.yaml", "--json", *options)
        assert outcome.code == 1
        assert [each["condition"] for each in json.loads(outcome.out)["failures"]] == [failure]
    assert not ht.Policy.read("strict.yaml").verify(release).passed
    assert failure in str(ht.report(release, policy="strict.yaml").to_dict())


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("limit", [{"columns": 2}, {"columns": "2", "rate": 1}, {"columns": 2, "rate": 1, "new": 0}, 7])
def test_a_limit_that_is_not_read_is_not_judged(limit: object) -> None:
    path = manifest.manifest_path(Path("out.csv"))
    path.write_text(json.dumps({**manifest.read(Path("out.csv")), "exposure_limit": limit}))
    outcome = run("verify", "out.csv", "--json")
    assert outcome.code == 1
    assert "exposure_limit" in str(json.loads(outcome.out)["unchecked"])


@pytest.mark.usefixtures("here")
def test_what_is_accepted_is_named() -> None:
    Path("policy.yaml").write_text(make_policy(0.1, "accept: {bed: 'known to the ward alone'}\n"))
    done("anonymize", "people.csv", "-p", "policy.yaml", "-o", "out.csv", "--force")
    words = "records unique on at most 2 columns kept as they are, without 'bed' <= 0.1 of all"
    assert words in json.loads(done("verify", "out.csv", "--json").out)["held"]


@pytest.mark.usefixtures("here")
def test_where_the_file_tells_no_persons_the_manifest_vouches() -> None:
    # Each person has two equal records: no record is unique, and 24 are of a person who is.
    pl.concat([PEOPLE] * 2).write_csv("people.csv")
    Path("policy.yaml").write_text(make_policy(0.5, "person: who\n"))
    done("anonymize", "people.csv", "-p", "policy.yaml", "-o", "out.csv", "--force")
    verdict = json.loads(done("verify", "out.csv", "--json").out)
    vouched = {each["condition"]: str(each) for each in verdict["vouched"]}
    assert "judged before the file was written" in vouched[CONDITION]
    assert "counted beside the original" in vouched["k-anonymity (k = 3), by persons"]
    assert run("verify", "out.csv", "--strict").code == 1
    # It vouches for its own limit alone.
    Path("strict.yaml").write_text(make_policy(0.1, "person: who\n"))
    assert run("verify", "out.csv", "-p", "strict.yaml").code == 1
    Path("key").write_bytes(bytes(range(32)))
    keyed = "{role: identifier, action: pseudonym}"
    for name, rate, code in (("policy.yaml", 0.5, 0), ("strict.yaml", 0.1, 1)):
        Path(name).write_text(make_policy(rate, "person: who\n", keyed))
        if not code:
            done("anonymize", "people.csv", "-p", name, "-o", "out.csv", "--force", "--key-file", "key")
        outcome = run("verify", "out.csv", "-p", name)
        assert outcome.code == code, name
    assert "24 are, 0.2 of all" in outcome.out


@pytest.mark.usefixtures("here")
def test_the_original_says_whose_records_are_unique() -> None:
    pl.concat([PEOPLE] * 2).write_csv("people.csv")
    Path("policy.yaml").write_text(make_policy(0.5, "person: who\n"))
    Path("strict.yaml").write_text(make_policy(0.1, "person: who\n"))
    done("anonymize", "people.csv", "-p", "policy.yaml", "-o", "out.csv", "--force")
    whole = ("--strict", "--original", "people.csv")
    for options in ((), ("-p", "policy.yaml"), ("-p", "policy.yaml", "--no-manifest")):
        assert f"holds: {CONDITION}" in done("verify", "out.csv", *whole, *options).out
    assert ht.Policy.read("policy.yaml").verify("out.csv", original="people.csv").complete
    # By persons, 24 records are unique of which the file shows two of each.
    refused = run("verify", "out.csv", *whole, "-p", "strict.yaml")
    assert (refused.code, "<= 0.1 of all: 24 are, 0.2 of all" in refused.out) == (1, True)
    assert not ht.Policy.read("strict.yaml").verify("out.csv", original="people.csv").passed
    # Another table, or one of which records were left out, says of nobody whose record is published.
    data = pl.read_csv("people.csv")
    for other in (data.with_columns(bed=pl.lit(99)), pl.concat([data, data[-1:]]), data.drop("bed")):
        other.write_csv("other.csv")
        left = json.loads(run("verify", "out.csv", "--original", "other.csv", "--json").out)
        assert CONDITION in {each["condition"] for each in left["vouched"]}


def test_an_original_whose_kept_cells_cannot_be_read_says_of_nobody_whose_record_is_published() -> None:
    mixed = pd.DataFrame({**PEOPLE.to_dict(as_series=False), "bed": pd.Series([1, "a"] * 30, dtype=object)})
    policy = ht.Policy.parse(make_policy(1.0, "person: who\n"))
    released = policy.protect(mixed).frame
    assert policy.verify(released, original=mixed).failures == policy.verify(released).failures
    strict = ht.Policy.parse(make_policy(0.1, "person: who\n"))
    assert not strict.verify(released, original=mixed).passed


@pytest.mark.parametrize("has_persons", [False, True])
def test_counts_are_those_of_the_definition_wherever_rows_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_persons: bool
) -> None:
    drawn = random.Random(69)
    for case in range(12):
        n, names = drawn.randint(1, 25), ["a", "b", "c", "d"][: drawn.randint(1, 4)]
        cells = {name: [drawn.choice(["x", "y", "z", None, "v"]) for _ in range(n)] for name in names}
        persons = [drawn.choice(["p", "q", "r", None]) for _ in range(n)]
        table = pl.DataFrame({**cells, "who": persons}, schema_overrides=dict.fromkeys([*names, "who"], pl.String))
        size, person = drawn.randint(1, 3), "who" if has_persons else None
        expected = count_by_definition(cells, persons if has_persons else [*range(n)], size)
        (tmp_path / str(case)).mkdir()
        table.write_parquet(tmp_path / str(case) / "part-0.parquet")
        folder = scan(tmp_path / str(case))
        limit = KeptLimit(size, 1.0, frozenset())
        for data in (frames.read(table), folder):
            assert kept_columns._count_unique_records(data, names, person, limit) == (expected, True)
        if not has_persons:
            assert kept_columns._count_on_disk(folder, names, limit) == (expected, True)
        monkeypatch.setattr(kept_columns, "_MAX_ROWS_LABELLED", 0)
        assert kept_columns._count_unique_records(frames.read(table), names, person, limit) == (0, False)
        monkeypatch.undo()


def count_by_definition(cells: dict[str, list[str | None]], persons: list[object], max_size: int) -> int:
    found = set()
    for size in range(1, max_size + 1):
        for names in combinations(cells, size):
            having = defaultdict(set)
            rows = list(zip(*(cells[name] for name in names), strict=True))
            for row, person in zip(rows, persons, strict=True):
                having[row] |= {person} - {None}
            found |= {place for place, row in enumerate(rows) if len(having[row]) <= 1}
    return len(found)


@pytest.mark.usefixtures("here")
def test_a_report_of_a_newer_claim_does_not_say_that_all_of_it_holds() -> None:
    entries = manifest.read(Path("out.csv"))
    entries["claim"]["a newer entry"] = 5
    manifest.manifest_path(Path("out.csv")).write_text(json.dumps(entries))
    assert "a newer entry" in str(ht.report("out.csv").to_dict())


def test_each_of_linked_tables_is_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    persons = PEOPLE.select(pid="who", sex="ward")
    stays = pl.concat([PEOPLE.select(pid="who", ward="ward", bed="bed")] * 2)

    def read_policy(rate: float, accept: str = "") -> ht.LinkedPolicy:
        return ht.LinkedPolicy.parse(
            "unit: {table: persons, key: pid}\ntables:\n  persons: {columns: {sex: quasi-identifier}}\n"
            f"  stays: {{columns: {{ward: quasi-identifier, bed: other}}{accept}}}\n"
            f"models: [linked-k-anonymity: 3]\nlimits: {{exposure: {{rate: {rate}}}}}\n"
        )

    condition = "stays: records unique on at most 2 columns kept as they are, without 'pid' <= {} of all"
    asked, strict = read_policy(0.5), read_policy(0.1)
    ht.anonymize_tables({"persons": persons, "stays": stays}, asked).write(tmp_path / "out", external=True)
    for policy in (None, asked):
        verdict = ht.verify_tables(tmp_path / "out", policy)
        assert verdict.complete
        assert condition.format(0.5) in verdict.held
    # Both records of 12 persons have a bed of their own.
    failed = condition.format(0.1) + ": 24 are, 0.2 of all"
    for verdict in (ht.verify_tables(tmp_path / "out", strict), verify_by_policy(tmp_path / "out", strict)):
        assert [str(each) for each in verdict.failures] == [failed]
    assert ht.verify_tables(tmp_path / "out", read_policy(0.1, ", accept: {bed: 'known to the ward alone'}")).passed
    # The manifest vouches for what takes too long.
    monkeypatch.setattr(kept_columns, "_MAX_ROWS_LABELLED", 0)
    verdict = ht.verify_tables(tmp_path / "out")
    assert not verdict.complete
    assert verdict.complete_for_receiver
