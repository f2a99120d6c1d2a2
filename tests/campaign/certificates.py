"""Forged certificates: a checker never states a floor above what the best release of a small table loses."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import hushtable as ht
from campaign.outcome import Outcome
from hushtable.quality.bound import ncp_bound

LADDERS = {"zip": [3, 1], "sex": []}
LOSSES = ("precision", "ncp", "discernibility", "average_class_size")


def case(random: Random, folder: Path) -> Outcome:
    """Run one case."""
    outcome = Outcome()
    random.choice((_prices, _prices, _lattice, _blocks))(outcome, random, folder)
    return outcome


def _prices(outcome: Outcome, random: Random, folder: Path) -> None:
    n, k = random.randint(3, 8), random.choice((2, 2, 3))
    ages = random.choice(([0, 1, 2, 3, 9], [20, 21, 40, 41, 80], [None, 5, 6, 30]))
    columns = {"age": [random.choice(ages) for _ in range(n)], "job": [random.choice("abcd") for _ in range(n)]}
    names = random.choice((["age"], ["job"], ["age", "job"], ["job", "age"]))
    frame = pl.DataFrame(columns, schema={"age": pl.Int64, "job": pl.String})
    entries = ncp_bound(frame, names, k, suppresses=random.random() < 0.5).certificate.to_dict()
    for _ in range(random.randint(1, 3)):
        random.choice(PRICE_FORGERIES)(entries, random)
    verdict = _checked(outcome, random, folder, frame, entries)
    if verdict is not None and verdict.passed and verdict.complete:
        outcome.count("accepted")
        rows = [tuple(columns[name][i] for name in verdict.columns) for i in range(n)]
        figures = verdict.figures
        best = least_loss(rows, verdict.columns, figures["k"], suppresses=figures["covers_suppression"])
        outcome.expect(figures["bound"] <= best + 1e-6, "a floor above the best release", (figures["bound"], best))


def _lattice(outcome: Outcome, random: Random, folder: Path) -> None:
    n = random.randint(3, 10)
    zips = random.choice((["10115", "10117", "10295", "30159"], ["10115", "20115", "20117"], ["10115", "10116"]))
    columns = {"zip": [random.choice(zips) for _ in range(n)], "sex": [random.choice("fm") for _ in range(n)]}
    frame = pl.DataFrame(columns)
    hierarchies = {
        name: ht.Hierarchy.prefix(kept) if kept else ht.Hierarchy.suppression() for name, kept in LADDERS.items()
    }
    names, certificate = random.choice((["zip"], ["zip", "sex"])), None
    with outcome.guarded("anonymize"):
        certificate = ht.anonymize(
            frame,
            quasi_identifiers=names,
            models=[ht.KAnonymity(random.choice((2, 3)))],
            method="full_domain",
            hierarchies={name: hierarchies[name] for name in names},
            loss=random.choice(LOSSES),
            suppression_limit=random.choice((0.0, 0.3, 1.0)),
        ).certificate
    if certificate is None:
        return
    entries = certificate.to_dict()
    for _ in range(random.randint(1, 3)):
        random.choice(LATTICE_FORGERIES)(entries, random)
    own = {name: hierarchies[name] for name in entries["columns"] if name in hierarchies}
    verdict = _checked(outcome, random, folder, frame, entries, own)
    if verdict is not None and verdict.passed:
        outcome.count("accepted")
        best = least_of_nodes(columns, verdict.columns, verdict.figures)
        value = verdict.figures["value"]
        outcome.expect(value <= best + 1e-6 * max(1.0, best), "a loss above that of the best node", (value, best))


def _blocks(outcome: Outcome, random: Random, folder: Path) -> None:
    n, k = random.randint(3, 8), random.choice((1, 2, 2, 3))
    columns = {
        "age": [random.choice([None, 5, 6, 30]) for _ in range(n)],
        "job": [random.choice("abc") for _ in range(n)],
    }
    frame = pl.DataFrame(columns, schema={"age": pl.Int64, "job": pl.String})
    names = random.choice((["age"], ["job"], ["age", "job"]))
    entries: dict[str, Any] = {}
    with outcome.guarded("anonymize"):
        asked: dict[str, Any] = {"models": [ht.KAnonymity(k)], "method": "mingen", "loss": "minimal_distortion"}
        certificate = ht.anonymize(frame, quasi_identifiers=names, **asked).certificate
        entries = {} if certificate is None else certificate.to_dict()
    for _ in range(random.randint(1, 3) if entries else 0):
        random.choice(BLOCK_FORGERIES)(entries, random)
    verdict = _checked(outcome, random, folder, frame, entries) if entries else None
    if verdict is not None and verdict.passed and verdict.complete:
        outcome.count("accepted")
        asked_k = max(options["k"] for model in verdict.figures["models"] for options in model.values())
        rows = [tuple(columns[name][i] for name in verdict.columns) for i in range(n)]
        best, bound = fewest_changed(rows, asked_k), verdict.figures["bound"]
        outcome.expect(bound <= best + 1e-4, "a floor above the best partition", (bound, best))


def fewest_changed(rows: Sequence[tuple[Any, ...]], k: int) -> int:
    """Return how many cells have to change until every class holds k rows, from every partition."""
    best = {0: 0}
    for mask in range(1, 1 << len(rows)):
        first, part, found = mask & -mask, mask, 99 * len(rows)
        while part:
            members = [row for i, row in enumerate(rows) if part >> i & 1]
            if part & first and len(members) >= k:
                changed = sum(len(set(column)) > 1 for column in zip(*members, strict=True))
                found = min(found, len(members) * changed + best[mask ^ part])
            part = (part - 1) & mask
        best[mask] = found
    return best[(1 << len(rows)) - 1]


def _checked(
    outcome: Outcome, random: Random, folder: Path, frame: pl.DataFrame, entries: dict[str, Any], *hierarchies: Any
) -> Any:
    """Check a forged certificate against the table in some form, as nobody was told how to read it."""
    entries = {name: entry for name, entry in entries.items() if name != "sha256"}
    outcome.reproduction = (
        f"table = pl.DataFrame({frame.to_dict(as_series=False)!r})\n"
        f"ht.check_certificate(table, ht.Certificate.from_entries({entries!r}){', hierarchies' if hierarchies else ''})"
    )
    data: Any = frame
    form = random.choice(("polars", "pandas", "arrow", "csv"))
    if form == "pandas":
        data = frame.to_pandas()
    elif form == "arrow":
        data = frame.to_arrow()
    elif form == "csv" and not hierarchies:
        data = folder / "in.csv"
        frame.write_csv(data)
    with outcome.guarded("check"):
        return ht.check_certificate(data, ht.Certificate.from_entries(entries), *hierarchies)


def least_loss(rows: Sequence[tuple[Any, ...]], names: Sequence[str], k: int, *, suppresses: bool) -> float:
    """Return the set-NCP of the best release, from the definition: every partition, by its first record's class."""
    n = len(rows)
    domains = [[row[j] for row in rows] for j in range(len(names))]

    def share(members: Sequence[int]) -> float:
        total = 0.0
        for name, domain in zip(names, domains, strict=True):
            held = {domain[i] for i in members}
            if len(held) < 2:
                continue
            if name == "job":
                total += len(held) / len(set(domain))
            elif None in held:
                total += 1.0
            else:
                ages = [age for age in domain if age is not None]
                total += (max(held) - min(held)) / (max(ages) - min(ages))
        return total

    costs = {
        sum(1 << i for i in members): len(members) * share(members)
        for size in range(k, n + 1)
        for members in itertools.combinations(range(n), size)
    }
    best = {0: 0.0}
    for mask in range(1, 1 << n):
        first = mask & -mask
        found = best[mask ^ first] + len(names) if suppresses else math.inf
        part = mask
        while part:
            if part & first and part in costs:
                found = min(found, costs[part] + best[mask ^ part])
            part = (part - 1) & mask
        best[mask] = found
    return best[(1 << n) - 1] / n / len(names)


def least_of_nodes(columns: Mapping[str, Sequence[str]], names: Sequence[str], asked: Mapping[str, Any]) -> float:
    """Return what the best node of the lattice loses, from the definitions."""
    n = len(columns[names[0]])
    k = max(options["k"] for model in asked["models"] for options in model.values())
    ((loss, options),) = asked["loss"].items()
    weights = [options.get("weights", {}).get(name, 1.0) for name in names]
    persons = range(n) if asked["person"] is None else columns[asked["person"]]
    best = math.inf
    for levels in itertools.product(*(range(len(LADDERS[name]) + 2) for name in names)):
        texts = [
            [_general(name, text, level) for text in columns[name]] for name, level in zip(names, levels, strict=True)
        ]
        classes = defaultdict(list)
        for i in range(n):
            classes[tuple(column[i] for column in texts)].append(i)
        kept = [each for each in classes.values() if len({persons[i] for i in each}) >= k]
        n_kept = sum(map(len, kept))
        if n - n_kept > int(asked["suppression_limit"] * n) or not kept:
            continue
        if loss == "discernibility":
            best = min(best, sum(len(each) ** 2 for each in kept) + (n - n_kept) * n)
        elif loss == "average_class_size":
            best = min(best, n_kept / len(kept))
        else:
            lost = []
            for name, level in zip(names, levels, strict=True):
                cells = [_cost(loss, columns[name], name, level, columns[name][i]) for each in kept for i in each]
                lost.append((sum(cells) + n - n_kept) / n)
            total = sum(weights)
            best = min(best, sum(w * each for w, each in zip(weights, lost, strict=True)) / total if total else 0.0)
    return best


def _general(name: str, text: str, level: int) -> str:
    kept = LADDERS[name]
    return text if level == 0 else "*" if level > len(kept) else text[: kept[level - 1]]


def _cost(loss: str, column: Sequence[str], name: str, level: int, text: str) -> float:
    if loss == "precision" or level == 0:
        return level / (len(LADDERS[name]) + 1)
    domain = set(column)
    return sum(_general(name, each, level) == _general(name, text, level) for each in domain) / len(domain)


Forgery = Callable[[dict[str, Any], Random], None]


def _other_kind(entries: dict[str, Any], random: Random) -> None:
    name = random.choice(entries["columns"])
    held = random.choice(
        (
            {"kind": random.choice(("category", "integer", "decimal", "ordered", "date"))},
            {"kind": "ordered", "order": list("abcd")},
            {"missing_values": random.choice((["a"], ["20"], ["10115"]))},
        )
    )
    entries["specs"] = {**entries["specs"], name: held}


def _by_rank(entries: dict[str, Any], random: Random) -> None:
    entries["by_rank"] = random.choice(([], entries["columns"][:1], entries["columns"]))


def _prices_changed(entries: dict[str, Any], random: Random) -> None:
    factor, more = random.choice(((1.0, 0.01), (1.2, 0.0), (2.0, 0.0), (0.0, random.choice((0.1, 0.25, 0.5, 1.0)))))
    entries["prices"] = [price * factor + more * random.choice((0, 1, 1)) for price in entries["prices"]]
    by_count = len(entries["prices"]) == entries["n_records"]
    entries["sum"] = math.fsum(entries["prices"]) if by_count else entries["sum"] * factor + more


def _prices_dealt(entries: dict[str, Any], random: Random) -> None:
    random.shuffle(entries["prices"])


def _sum(entries: dict[str, Any], random: Random) -> None:
    entries["sum"] += random.choice((-0.5, 0.001, 0.5))


def _records(entries: dict[str, Any], random: Random) -> None:
    entries["n_records"] += random.choice((-1, 1))


def _k(entries: dict[str, Any], random: Random) -> None:
    entries["k"] = random.choice((1, 2, 3, 4, 50))


def _columns(entries: dict[str, Any], random: Random) -> None:
    entries["columns"] = random.choice((entries["columns"][:1], entries["columns"][::-1], entries["columns"] * 2))
    entries["specs"] = {name: entries["specs"].get(name, {}) for name in entries["columns"]}


PRICE_FORGERIES: tuple[Forgery, ...] = (
    *(_other_kind, _other_kind, _by_rank, _by_rank, _prices_changed, _prices_changed, _prices_changed),
    *(_prices_dealt, _sum, _records, _k, _columns),
)


def _of_blocks(entries: dict[str, Any], random: Random) -> None:
    name = random.choice(("prices", "bound", "classes", "value"))
    if name == "prices":
        entries[name] = [price + random.choice((0, 0, 0.5, -0.5, 1)) for price in entries[name]]
    elif name == "classes":
        entries[name] = [random.randrange(3) for _ in entries[name]]
    else:
        more = random.choice((-1, 0.001, 1, 2))
        entries[name] += more
        entries["value"] += more if name == "bound" and random.random() < 0.5 else 0


def _model(entries: dict[str, Any], random: Random) -> None:
    entries["models"] = [{"k-anonymity": {"k": random.choice((1, 2, 3, 4))}}]


def _loss(entries: dict[str, Any], random: Random) -> None:
    weights = {name: random.choice((0.0, 1.0, 3.0, -1.0)) for name in entries["columns"]}
    name = random.choice(LOSSES)
    entries["loss"] = {name: {"weights": weights} if name in LOSSES[:2] else {}}


def _limit(entries: dict[str, Any], random: Random) -> None:
    entries["suppression_limit"] = random.choice((0.0, 0.1, 0.3, 1.0))
    entries["most_suppressed"] = int(entries["suppression_limit"] * entries["n_records"])


def _value(entries: dict[str, Any], random: Random) -> None:
    entries["value"] = random.choice((entries["value"] * 1.1, entries["value"] + 0.1, 1.0, 0.0))


def _person(entries: dict[str, Any], random: Random) -> None:
    entries["person"] = random.choice((None, "sex", "zip"))


def _levels(entries: dict[str, Any], random: Random) -> None:
    entries["levels"] = [random.randrange(n) for n in entries["n_levels"]]


def _hierarchies(entries: dict[str, Any], random: Random) -> None:
    name = random.choice(entries["columns"])
    entries["hierarchies"] = {**entries["hierarchies"], name: {"prefix": random.choice(([1], [4, 2], [2]))}}


BLOCK_FORGERIES: tuple[Forgery, ...] = (*(_of_blocks,) * 6, _other_kind, _records, _columns, _prices_dealt, _model)
LATTICE_FORGERIES: tuple[Forgery, ...] = (
    *(_other_kind, _model, _loss, _limit, _value, _person, _levels, _hierarchies, _columns),
)
