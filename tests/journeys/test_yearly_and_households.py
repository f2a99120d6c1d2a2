"""Two jobs in which records belong together: a registry that publishes each year with shifted dates, and a survey of
households with weights. Both are attacked by code that knows definitions only."""

import csv
import hashlib
import hmac
import json
import random
import re
from collections import Counter, defaultdict
from datetime import date, timedelta

import pytest
from shell import Shell

pytestmark = pytest.mark.slow

K, KEY, FIRST, N_OFFSETS = 5, bytes(range(3, 35)), date(2023, 1, 1), 91
MOST_ATTACKED = 60


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path, names, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *rows])


def fits(cell, value):
    """Whether a published cell admits a value: itself, `*`, a list, or an interval."""
    if cell in ("*", value):
        return True
    if cell.startswith('["'):
        return value in json.loads(cell)
    ends = re.fullmatch(r"\[(.*), (.*)\]", cell)
    if ends is None:
        return False
    kind = date.fromisoformat if "-" in value else float
    return kind(ends[1]) <= kind(value) <= kind(ends[2])


def n_matched(facts, rows):
    """How many facts find a published row of their own, at most (augmenting paths)."""
    taken = {}

    def place(fact, tried):
        for i, row in enumerate(rows):
            if i not in tried and all(fits(cell, value) for cell, value in zip(row, fact, strict=True)):
                tried.add(i)
                if i not in taken or place(taken[i], tried):
                    taken[i] = fact
                    return True
        return False

    return sum(place(fact, set()) for fact in facts)


def best_fitting(published, known):
    """The units that fit one of several readings of what is known best, most facts first."""
    scores = {unit: max(n_matched(facts, rows) for facts in known) for unit, rows in published.items()}
    most = max(scores.values())
    return [unit for unit, score in scores.items() if score == most]


def attack(published, known, true):
    """How many units are found alone, and among fewer than k; `known` has each unit's facts, in several readings."""
    n_found = n_few = 0
    for unit in random.Random(1).sample(sorted(known), MOST_ATTACKED):
        candidates = best_fitting(published, known[unit])
        is_right = true[unit] in candidates
        n_found += is_right and len(candidates) == 1
        n_few += is_right and len(candidates) < K
    return n_found, n_few


def by_unit(rows, unit, names):
    published = defaultdict(list)
    for row in rows:
        published[row[unit]].append([row[name] for name in names])
    return published


def pseudonym(key, column, cell):
    return hmac.new(key, f"{len(column)}:{column}{cell}".encode(), hashlib.sha256).hexdigest()[:32]


REGISTRY = """
columns:
  case: {role: identifier, action: pseudonym}
  seen: {role: quasi-identifier, action: shift}
  ward: quasi-identifier
person: case
dates: {within: 91D, window: [2023-01-01, 2023-12-31]}
release: 2023
models: [linked-k-anonymity: 5]
method: histories
limits: {suppression: 0.2}
"""


def test_a_registry_publishes_two_years_under_one_key(tmp_path):
    draw, shell = random.Random(0), Shell(tmp_path)
    events = [
        (f"C{case:03}", FIRST + timedelta(draw.randrange(731)), draw.choice("ABC"))
        for case in range(300)
        for _ in range(draw.randint(1, 5))
    ]
    years = {"2023": date(2023, 12, 31), "2024": date(2024, 12, 31)}
    offset_of = {
        case: int.from_bytes(hmac.new(KEY, b"hushtable: offset of dates\0" + case.encode(), hashlib.sha256).digest())
        % N_OFFSETS
        for case, _, _ in events
    }
    (tmp_path / "key.bin").write_bytes(KEY)
    (tmp_path / "policy.yaml").write_text(REGISTRY)
    names, pseudonyms = ["case", "seen", "ward"], []
    for year, last in years.items():
        known = [event for event in events if event[1] <= last]
        write(tmp_path / f"{year}.csv", names, known)
        if year == "2024":
            shell.edit("policy.yaml", release="2024", dates="{within: 91D, window: [2023-01-01, 2024-12-31]}")
        told = shell.type(
            f"hushtable anonymize {year}.csv -p policy.yaml --key-file key.bin -o out{year}.csv --verbose"
        )
        assert "Dates are shifted by 0 to 90 days" in told.err
        assert "a shift alone protects nobody" in told.out
        shell.type(f"hushtable verify out{year}.csv")
        rows = rows_of(tmp_path / f"out{year}.csv")
        label = f"hushtable: pseudonyms of a release\0{year}".encode()
        key = hmac.new(KEY, label, hashlib.sha256).digest()
        true = {case: pseudonym(key, "case", case) for case in offset_of}
        published = by_unit(rows, "case", names[1:])
        pseudonyms.append({*published})
        assert pseudonyms[-1] <= {*true.values()}
        # Every published row holds a date of its person, shifted by the offset of the key in both years.
        for case in true:
            shifted = [(str(day + timedelta(offset_of[case])), ward) for who, day, ward in known if who == case]
            assert n_matched(shifted, published.get(true[case], [])) == len(published.get(true[case], []))

        # Who knows all true dates and wards of a person tries offsets, the right one among them.
        def shift(case, n, known=known):
            return [(str(day + timedelta(n)), ward) for who, day, ward in known if who == case]

        tried = range(0, N_OFFSETS, 15)
        readings = {
            case: [shift(case, n) for n in {offset_of[case], *tried}] for case in true if true[case] in published
        }
        # The same attack finds most of them where dates are shifted and nothing else is done.
        shifted_only = {true[case]: shift(case, offset_of[case]) for case in readings}
        assert attack(shifted_only, readings, true)[0] > MOST_ATTACKED / 2
        assert attack(published, readings, true) == (0, 0)
    assert not pseudonyms[0] & pseudonyms[1]


SURVEY = """
columns:
  home: {role: identifier, action: pseudonym}
  person: identifier
  region: quasi-identifier
  age: quasi-identifier
  sex: quasi-identifier
  n_members: quasi-identifier
  weight: {role: other, round: 25}
household: home
person: person
models: [linked-k-anonymity: 5]
method: histories
limits: {suppression: 0.05}
accept: {weight: "design weights, rounded; nobody outside knows them"}
"""


def test_a_survey_of_households_with_weights(tmp_path):
    draw, shell = random.Random(0), Shell(tmp_path)
    rows = []
    for home in range(400):
        n, region = draw.choices([1, 2, 3, 4, 6], [40, 30, 15, 14, 1])[0], draw.choice(["n", "s", "w"])
        for _ in range(n):
            person = (f"P{len(rows)}", region, draw.randint(0, 90), draw.choice("fm"), n, draw.randint(50, 300))
            rows.append((f"H{home:03}", *person))
    names = ["home", "person", "region", "age", "sex", "n_members", "weight"]
    write(tmp_path / "survey.csv", names, rows)
    seen = shell.type("hushtable scan survey.csv -p scanned.yaml")
    assert "n_members" in seen.out
    assessed = shell.type("hushtable assess survey.csv --qi region,age,sex --household home")
    assert "1 / equal households" in assessed.out
    (tmp_path / "key.bin").write_bytes(KEY)
    (tmp_path / "policy.yaml").write_text(SURVEY)
    shell.type("hushtable anonymize survey.csv -p policy.yaml --key-file key.bin -o out.csv --report report.html")
    assert "by households" in shell.type("hushtable verify out.csv").out
    assert "1 / equal households" in shell.text_of_page("report.html")
    published = rows_of(tmp_path / "out.csv")
    homes = by_unit(published, "home", names[2:6])
    # Whole households of true sizes, each equal to four others at least.
    assert min(Counter(tuple(sorted(map(tuple, own))) for own in homes.values()).values()) >= K
    assert all(str(len(own)) == row[3] for own in homes.values() for row in own)
    sizes = Counter(row[0] for row in rows)
    true = {home: pseudonym(KEY, "home", home) for home in sizes}
    assert all(len(homes[true[home]]) == n for home, n in sizes.items() if true[home] in homes)
    assert all(int(row["weight"]) % 25 == 0 for row in published)
    known = {
        home: [[tuple(map(str, row[2:6])) for row in rows if row[0] == home]] for home in sizes if true[home] in homes
    }
    assert attack(homes, known, true) == (0, 0)
    assert attack({true[home]: own[0] for home, own in known.items()}, known, true)[0] > MOST_ATTACKED / 3
    kept = shell.replace("policy.yaml", "n_members: quasi-identifier", "n_members: other")
    assert kept is None
    refused = shell.type("hushtable anonymize survey.csv -p policy.yaml --key-file key.bin -o o.csv", code=2)
    assert "reveal the size of a household" in refused.err
