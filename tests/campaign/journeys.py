"""Persons with up to 20 records, from the first file to the next batch: every door opens, and says what is counted.

A column of row numbers travels with the release, so that whose records a class holds is counted from files alone.
"""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path
from random import Random
from typing import Any

from campaign.outcome import Outcome
from command import run

KNOWN = ["age", "sex", "ward", "day"]
WARDS = {"surgery": ["eyes", "bones"], "medicine": ["heart", "lungs"]}
FAILS = 1
REFUSED = 2
INFEASIBLE = 3


def case(random: Random, folder: Path) -> Outcome:
    """Run one case."""
    outcome = Outcome()
    persons = [f"P{number}" for number in range(random.randint(8, 60))]
    new = [f"N{number}" for number in range(random.randint(0, 60))]
    both = random.sample(persons, random.randint(0, len(persons)))
    first, second = _rows(random, persons, 2024, 1), _rows(random, [*both, *new], 2024, 13)
    k = random.randint(2, 4)
    policy = _policy(random, k)
    _write(folder / "first.csv", first)
    _write(folder / "second.csv", second)
    (folder / "policy.yaml").write_text(json.dumps(policy), encoding="utf-8")
    lines = [f"{ward};{group};*\n" for group, wards in WARDS.items() for ward in wards]
    (folder / "wards.csv").write_text("".join(lines), encoding="utf-8")
    (folder / "sexes.csv").write_text("f;*\nm;*\n", encoding="utf-8")
    outcome.reproduction = f"{json.dumps(policy)}\n{first}\n{second}"
    asked = ["anonymize", folder / "first.csv", "-p", folder / "policy.yaml", "-o", folder / "out.csv"]
    has_cells = random.random() < 0.7
    made = run(*asked, *(["--save-recoding", folder / "cells.json"] if has_cells else []))
    if has_cells and made.code == REFUSED and "cannot be saved" in made.err:
        outcome.count("refused: the recoding cannot be saved")
        outcome.expect(not (folder / "out.csv").exists(), "a release was written before a refusal", made.err)
        (folder / "out.csv").unlink(missing_ok=True)
        has_cells, made = False, run(*asked, "--force")
    if made.code == INFEASIBLE:
        outcome.count("infeasible")
        return outcome
    if made.code == REFUSED and "overlap" in made.err and "local_recoding" in policy["method"]:
        outcome.count("refused: cells of local recoding overlap")
        return outcome
    outcome.expect(made.code == 0, f"anonymize ends with {made.code}", made.err)
    if made.code != 0:
        return outcome
    outcome.count("written")
    _judge(outcome, folder, "out.csv", "first.csv", first, k)
    if has_cells:
        _apply(random, outcome, folder, first, second, k)
    return outcome


def _apply(
    random: Random, outcome: Outcome, folder: Path, first: list[dict[str, Any]], second: list[dict[str, Any]], k: int
) -> None:
    """Publish the next batch beside the first, with or without the persons who are in both."""
    asked = ["apply", folder / "cells.json", folder / "second.csv", "-o", folder / "next.csv", "--json"]
    is_distinct = random.random() < 0.3
    asked += ["--previous", folder / "first.csv", *(["--distinct-persons"] if is_distinct else [])]
    applied = run(*asked)
    if applied.code == INFEASIBLE:
        outcome.count("infeasible: the next batch")
        return
    if applied.code == FAILS and "above the limit" in applied.err:
        outcome.count("above the limit: the next batch")
        outcome.expect(not (folder / "next.csv").exists(), "a batch above its limit was written", applied.err)
        return
    outcome.expect(applied.code == 0, f"apply ends with {applied.code}", applied.err)
    if applied.code != 0:
        return
    outcome.count("applied")
    _judge(outcome, folder, "next.csv", "second.csv", second, k)
    batch = json.loads(applied.out)["batch"]
    both = ({row["who"] for row in first} & {row["who"] for row in second}) - {""}
    if is_distinct:
        numbers = {row["number"] for row in second if row["who"] in both}
        published = {row["number"] for row in _read(folder / "next.csv")}
        outcome.expect(not numbers & published, "persons of both batches are published twice")
        outcome.expect(batch["n_left_out"] == len(numbers), "records left out are miscounted", batch)
        return
    histories = defaultdict(list)
    for name, rows in (("out.csv", first), ("next.csv", second)):
        cells_of = {row["number"]: tuple(row[column] for column in KNOWN) for row in _read(folder / name)}
        for row in rows:
            # A record that is not there is known to anyone who knows that its person is: as one of `*` is.
            histories[row["who"]].append((name, cells_of.get(row["number"], ("*",) * len(KNOWN))))
    alike = Counter(tuple(sorted(histories[person])) for person in both)
    n_few = sum(count for count in alike.values() if count < k)
    told = batch["n_shared_persons"], batch["n_few_alike"]
    # The rows of the first batch do not tell which of them it left out: what is told may be more, and is never less.
    is_told = told[0] == len(both) and n_few <= told[1] <= len(both)
    outcome.expect(is_told, "persons of both batches are miscounted", f"{told}: {len(both)}, {n_few}")


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _rows(random: Random, persons: list[str], year: int, month: int) -> list[dict[str, Any]]:
    """Draw the records of persons, 1 to 20 each, with gaps in the cells and records of nobody."""
    rows = []
    wards = [ward for among in WARDS.values() for ward in among]
    for person in persons:
        age, sex = random.randint(18, 90), random.choice("fm")
        for _ in range(1 if random.random() < 0.6 else random.randint(2, 20)):
            at = month + random.randrange(3) - 1
            day = f"{year + at // 12}-{at % 12 + 1:02}-{random.randint(1, 28):02}"
            rows.append({"who": person, "age": age, "sex": sex, "ward": random.choice(wards), "day": day})
    random.shuffle(rows)
    share = random.choice((0.0, 0.05))
    for row in rows:
        for name in row:
            if random.random() < share:
                row[name] = ""
    return [{"number": f"r{place}", **row, "ill": random.choice("abcd")} for place, row in enumerate(rows)]


def _policy(random: Random, k: int) -> dict[str, Any]:
    method = random.choice(("mondrian", "mondrian", "mondrian", "full_domain", "local_recoding"))
    options = {"mondrian": {"recoding": random.choice(("readable", "cut")), "margin": random.choice((0, 2))}}
    known = {"role": "quasi-identifier"}
    models: list[Any] = [{"k-anonymity": k}]
    if random.random() < 0.3:
        models.append({"distinct-l-diversity": {"l": 2, "sensitive": "ill"}})
    return {
        "columns": {
            "number": "other",
            "who": "identifier",
            "age": {
                **known,
                "kind": "integer",
                "hierarchy": {"intervals": {"width": [5, 10, 20], "low": 0, "high": 100}},
            },
            "sex": {**known, "hierarchy": "sexes.csv"},
            "ward": {**known, "hierarchy": "wards.csv"},
            "day": {**known, "kind": "date", "hierarchy": {"dates": ["month", "quarter", "year"]}},
            "ill": "sensitive",
        },
        "person": "who",
        "models": models,
        "method": {method: options.get(method, {})},
        "limits": {"suppression": random.choice((0.0, 0.1, 0.4))},
        "accept": {"number": "drawn for this test, known to nobody"},
        "budget": {"nodes": 60},
    }


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _judge(outcome: Outcome, folder: Path, name: str, original: str, rows: list[dict[str, Any]], k: int) -> None:
    """Count persons by the row numbers, and compare with the verdicts of publisher, receiver and report."""
    person_of = {row["number"]: row["who"] for row in rows}
    released = _read(folder / name)
    classes = defaultdict(set)
    for row in released:
        classes[tuple(row[column] for column in KNOWN)].add(person_of[row["number"]])
    counts = {cells: len(persons - {""}) for cells, persons in classes.items()}
    few = {cells: count for cells, count in counts.items() if count < k}
    outcome.expect(not few, "a class holds fewer than k persons", few)
    publisher = run("verify", folder / name, "--original", folder / original, "-p", folder / "policy.yaml")
    outcome.expect(publisher.code == 0, f"verify --original ends with {publisher.code}", publisher.out + publisher.err)
    receiver = run("verify", folder / name)
    outcome.expect(receiver.code == 0, f"verify ends with {receiver.code}", receiver.out + receiver.err)
    report = run("report", folder / name, "--external", "-o", folder / f"{name}.html")
    outcome.expect(report.code == 0, f"report --external ends with {report.code}", report.out + report.err)
    # One person fewer in a class of k, and whoever has the original hears of it.
    smallest = min(counts, key=lambda cells: counts[cells])
    lost = next(iter(classes[smallest] - {""}), "")
    _move_apart(outcome, folder, (name, original), released, smallest, lost, person_of)


def _move_apart(
    outcome: Outcome,
    folder: Path,
    names: tuple[str, str],
    released: list[dict[str, str]],
    smallest: tuple[str, ...],
    lost: str,
    person_of: dict[str, str],
) -> None:
    """Leave the records of one person alone in a class: the file must not hold any more, whoever looks."""
    kept = [
        row
        for row in released
        if tuple(row[column] for column in KNOWN) != smallest or person_of[row["number"]] == lost
    ]
    path = folder / f"alone_{names[0]}"
    _write(path, kept)
    judged = run("verify", path, "--no-manifest", "-p", folder / "policy.yaml", "--original", folder / names[1])
    outcome.count(f"alone: exit {judged.code}")
    outcome.expect(judged.code != 0, "a class of one person holds", judged.out)
