"""Nights: batches by an earlier release, with limits, earlier nights, outputs that exist and a log; judged by hand."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

from campaign.outcome import Outcome
from command import Outcome as Ended, run
from mutating import mutate, places

_QUASI_IDENTIFIERS = ("age", "plan")
_KINDS = {
    1: ("limit", "exposure", "verification"),
    2: ("exists", "column", "input"),
    3: ("infeasible",),
}


@dataclass(frozen=True)
class Job:
    """The policy of a first night, and where everything lies."""

    folder: Path
    k: int
    suppression: float
    rate: float
    has_persons: bool
    is_keyed: bool

    def write_policy(self, name: str, rate: float) -> Path:
        """Write the policy, with some share of records that may be unique on kept columns."""
        action = "{role: identifier, action: pseudonym}" if self.is_keyed else "identifier"
        path = self.folder / name
        path.write_text(
            f"columns: {{who: {action}, age: quasi-identifier, plan: {{role: quasi-identifier, hierarchy: plans.csv}}, "
            "ill: sensitive, ward: other, bed: other}\n"
            + ("person: who\n" if self.has_persons else "")
            + f"models: [k-anonymity: {self.k}]\nmethod: {{mondrian: {{recoding: readable}}}}\n"
            f"limits: {{suppression: {self.suppression}, exposure: {{rate: {rate}, linked: 1.0}}}}\n",
            encoding="utf-8",
        )
        return path

    @property
    def keys(self) -> tuple[object, ...]:
        """The option for the key, where it needs one."""
        return ("--key-file", self.folder / "job.key") if self.is_keyed else ()


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: a first night, a later one with whatever an operator asks, and what is left of both."""
    outcome = Outcome()
    job = Job(
        folder,
        k=random.randint(2, 4),
        suppression=random.choice((0, 0.05, 0.3)),
        rate=random.choice((0.05, 0.3, 0.6, 1.0)),
        has_persons=random.random() < 0.6,
        is_keyed=random.random() < 0.4,
    )
    n_first, n_night, n_beds = random.randint(60, 150), random.randint(5, 120), random.choice((2, 5, 40))
    first = _draw(random, 0, n_first, n_beds)
    night = _draw(random, n_first - random.choice((0, 0, 10)), n_night, n_beds)
    odd = random.random()
    if odd < 0.2:
        night = pl.concat([night, _draw(random, 9000, random.randint(1, 6), n_beds, plan="new tariff")])
    elif odd < 0.3:
        night = random.choice((night.drop("plan"), night.with_columns(mail=pl.lit("x")), night.head(0)))
    outcome.reproduction = f"{job}; {n_first} and {night.height} people, {n_beds} beds, odd {odd:.2f}"
    first.write_csv(folder / "first.csv")
    night.write_csv(folder / "night.csv")
    (folder / "before").mkdir()
    first.write_parquet(folder / "before" / "part-0.parquet")
    (folder / "plans.csv").write_text("basic;low\nsilver;low\ngold;high\n", encoding="utf-8")
    (folder / "job.key").write_bytes(bytes(range(32)))
    policy, made = job.write_policy("policy.yaml", job.rate), folder / "first.out.csv"
    began = run(
        "anonymize", folder / "first.csv", "-p", policy, "-o", made, "--save-recoding", folder / "c.json", *job.keys
    )
    if began.code:
        outcome.count(f"no first night: {began.code}")
        outcome.expect(began.code in (1, 3), "a first night fails", began.err)
        return outcome
    _look_at_night(random, outcome, job, first, night)
    _mutate(random, outcome, job)
    return outcome


def _draw(random: Random, first: int, n: int, n_beds: int, plan: str = "") -> pl.DataFrame:
    """Draw people with numbers from some one on."""
    numbers = range(first, first + n)
    return pl.DataFrame(
        {
            "who": [f"person-{number}" for number in numbers],
            "age": [random.choice((20, 21, 50, 51, 80)) for _ in numbers],
            "plan": [plan or random.choice(("basic", "gold", "silver")) for _ in numbers],
            "ill": [random.choice(("flu", "gout", "cold")) for _ in numbers],
            "ward": [random.choice("ABC") for _ in numbers],
            "bed": [random.randrange(n_beds) for _ in numbers],
        },
        schema_overrides={"who": pl.String, "age": pl.Int64, "bed": pl.Int64},
    )


def _look_at_night(random: Random, outcome: Outcome, job: Job, first: pl.DataFrame, night: pl.DataFrame) -> None:
    folder, release = job.folder, job.folder / "night.out.csv"
    asked: list[object] = ["apply", folder / "c.json", folder / "night.csv", "-o", release, *job.keys]
    is_beside = job.has_persons and random.random() < 0.6
    if is_beside:
        asked += ["--previous", random.choice((folder / "first.csv", folder / "before"))]
    free = run(*asked[:4], folder / "free.csv", *asked[5:], "--json")
    _check_end(outcome, free)
    limits = _draw_limits(random)
    how = random.choice(("", "fail", "skip", "replace"))
    was = random.choice(("", "", "whole", "changed"))
    outcome.reproduction += f"; {limits}, --previous {is_beside}, --if-exists {how or None}, output {was or None}"
    if was and not free.code:
        for name in ("", ".manifest.json"):
            (folder / f"night.out.csv{name}").write_bytes((folder / f"free.csv{name}").read_bytes())
        if was == "changed":
            release.write_bytes(release.read_bytes() + b"\n")
    before = release.read_bytes() if release.exists() else None
    if limits:
        asked += ["--fail-above", ",".join(f"{name}={limit}" for name, limit in limits.items())]
    ended = run(*asked, *(["--if-exists", how] if how else []), "--log", folder / "job.log", "--json")
    told = _check_end(outcome, ended)
    _check_log(outcome, folder / "job.log", ended)
    after = release.read_bytes() if release.exists() else None
    is_written = ended.code == 0 and not told.get("skipped")
    outcome.count("written" if is_written else f"ended {ended.code} {told.get('kind', 'skipped')}")
    if not is_written:
        outcome.expect(after == before, "a night that ends without a release changes what was there")
    if before is not None and how != "replace":
        expected = {"changed": 1, "whole": 0}[was] if how == "skip" else 2
        outcome.expect(ended.code == expected, f"--if-exists {how} ends {ended.code} where the output is {was}", ended)
        return
    if free.code:
        outcome.expect(ended.code == free.code, "a limit changes why a night ends", (free, ended))
        return
    figures = _measure(folder / "free.csv", night, first if is_beside else None)
    above = [name for name, limit in limits.items() if name not in figures or figures[name] > limit]
    if not {"alike", "few-values"} & set(limits) or not is_beside:
        outcome.expect(bool(above) == (ended.code == 1), "a limit is judged otherwise than by hand", (figures, ended))
    if is_written:
        _look_at_release(random, outcome, job, release)


def _draw_limits(random: Random) -> dict[str, float]:
    shares = {name: random.choice((0, 0.05, 0.2, 1)) for name in ("suppressed", "exposed", "highest")}
    counts = {name: random.choice((0, 3, 100)) for name in ("shared", "alike", "few-values")}
    limits: dict[str, float] = {**shares, **counts}
    return {name: limits[name] for name in random.sample(sorted(limits), random.choice((0, 1, 1, 2)))}


def _check_end(outcome: Outcome, ended: Ended) -> dict[str, Any]:
    """Check that a job ended with a documented code, and printed one document that agrees with it."""
    told: dict[str, Any] = json.loads(ended.out)
    outcome.expect(ended.code in (0, *_KINDS), "a code that no page lists", ended)
    outcome.expect("form" in told, "JSON without the number of its form", ended.out)
    if ended.code:
        outcome.expect(told["kind"] in _KINDS.get(ended.code, ()), "a kind that does not go with the code", ended.out)
        outcome.expect(told["exit_code"] == ended.code, "JSON says another code", ended.out)
    return told


def _check_log(outcome: Outcome, path: Path, ended: Ended) -> None:
    text = path.read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    outcome.expect(lines[-1]["event"] == "end", "a log does not end", lines[-1])
    outcome.expect(lines[-1]["exit_code"] == ended.code, "the log says another code", lines[-1])
    outcome.expect(any(line["event"] == "error" for line in lines) == bool(ended.code), "the log has no error", text)
    outcome.expect("person-" not in text, "the log tells a cell", text)


def _measure(path: Path, night: pl.DataFrame, first: pl.DataFrame | None) -> dict[str, float]:
    """Measure by definition, from the written file and both inputs, what `apply` can limit."""
    rows = _read(path)
    n_blank = sum(all(row[name] == "*" for name in _QUASI_IDENTIFIERS) for row in rows) + night.height - len(rows)
    in_classes = [row for row in rows if {*map(row.get, (*_QUASI_IDENTIFIERS, "ill"))} != {"*"}]
    sizes = Counter(tuple(row[name] for name in _QUASI_IDENTIFIERS) for row in in_classes)
    figures = {
        "suppressed": n_blank / night.height,
        "exposed": _count_unique(rows) / len(rows),
        "highest": 1 / min(sizes.values()),
    }
    if first is not None:
        figures["shared"] = len({*night["who"]} & {*first["who"]})
    return figures


def _count_unique(rows: list[dict[str, str]]) -> int:
    """Count the records that are unique on the kept columns, alone or together."""
    found: set[int] = set()
    for names in [*combinations(("ward", "bed"), 1), ("ward", "bed")]:
        cells = [tuple(row[name] for name in names) for row in rows]
        counts = Counter(cells)
        found |= {place for place, each in enumerate(cells) if counts[each] == 1}
    return len(found)


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _look_at_release(random: Random, outcome: Outcome, job: Job, release: Path) -> None:
    """Judge a written night as an auditor: with the policy and without, and by where it says it comes from."""
    for options in ((), ("-p", job.folder / "policy.yaml")):
        verdict = run("verify", release, *options)
        outcome.expect(verdict.code == 0, "a night that was written does not hold", verdict)
    rows = _read(release)
    rate = random.choice((0.0, 0.02, 0.1, 0.5))
    share = _count_unique(rows) / len(rows)
    verdict = run("verify", release, "-p", job.write_policy("other.yaml", rate), "--json")
    # Fewer than 50 records have no limit. Whose records they are, the file tells where it has pseudonyms.
    is_seen = not job.has_persons or job.is_keyed or rate == job.rate
    expected = 0 if len(rows) < 50 else int(share > rate or not is_seen)
    outcome.expect(verdict.code == expected, f"{share:.3f} are unique, and {rate} may be", verdict)
    manifests = [
        json.loads(Path(f"{job.folder}/{name}.manifest.json").read_bytes()) for name in ("first.out.csv", release.name)
    ]
    origins = [each["provenance"] for each in manifests]
    outcome.expect(origins[0]["policy_sha256"] == origins[1]["policy_sha256"], "a batch names another policy", origins)
    outcome.expect((origins[1]["key_fingerprint"] is not None) == job.is_keyed, "no fingerprint of a key", origins)
    recoding = json.loads((job.folder / "c.json").read_bytes())["sha256"]
    outcome.expect(origins[1]["recoding_sha256"] == recoding, "a batch names another recoding", origins)
    for each in origins[1]["inputs"]:
        path = job.folder / each["name"]
        if path.is_file():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            outcome.expect(digest == each["sha256"], "an input has another digest", each)


def _mutate(random: Random, outcome: Outcome, job: Job) -> None:
    """Mutate an entry of a manifest and of a recoding, as another version or somebody's hand would."""
    release = job.folder / "first.out.csv"
    sidecar = Path(f"{release}.manifest.json")
    whole = json.loads(run("verify", release, "--json").out)["held"]
    what, changed = _draw_mutation(random, json.loads(sidecar.read_bytes()))
    sidecar.write_text(json.dumps(changed), encoding="utf-8")
    outcome.reproduction += f"; manifest {what}"
    verdict = run("verify", release, "--json")
    outcome.expect(verdict.code in (0, 1, 2), "a mutated manifest ends verify", verdict)
    if verdict.code == 0:
        outcome.expect({*json.loads(verdict.out)["held"]} <= {*whole}, "a mutated manifest promises more", verdict)
    door = random.choice((("report", release, "--json"), ("report", release, "--json", "--external"),
                          ("attack-release", release), ("codebook", release, "--as", "ddi"),
                          ("utility", job.folder / "first.csv", release)))  # fmt: skip
    ended = run(*door)
    outcome.expect(ended.code in (0, 1, 2), f"a mutated manifest ends {door[0]}", ended)
    what, changed = _draw_mutation(random, json.loads((job.folder / "c.json").read_bytes()))
    (job.folder / "c.json").write_text(json.dumps(changed), encoding="utf-8")
    outcome.reproduction += f"; recoding {what}"
    ended = run("apply", job.folder / "c.json", job.folder / "first.csv", "-o", job.folder / "m.csv", *job.keys)
    is_digest = what.startswith("('sha256',)")
    outcome.expect(ended.code == 2 or is_digest, "a recoding that somebody edited is taken", ended)


def _draw_mutation(random: Random, entries: dict[str, Any]) -> tuple[str, Any]:
    path = random.choice(list(places(entries)))
    what, changed = random.choice(list(mutate(entries, path)))
    return f"{path} {what}", changed
