"""A new batch with persons: its classes climb until enough persons share them; who is in both batches is counted."""

import datetime as dt
import json
import re
from collections import Counter

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from command import done, run

POLICY = """
columns:
  patient: identifier
  admitted: {role: quasi-identifier, format: "%d.%m.%Y" DATES}
  born: {role: quasi-identifier, format: "%d.%m.%Y"}
  ward: quasi-identifier
  days: quasi-identifier
  ill: sensitive
person: patient
models: [k-anonymity: 5]
"""
QUASI = ["admitted", "born", "ward", "days"]


def stays(n, persons, first, n_days, seed):
    """Stays in a hospital: each of the persons has one, and some have more; births and persons go together."""
    rng = np.random.default_rng(seed)
    whose = np.concatenate([persons, rng.choice(persons, n - len(persons))])
    births = {
        p: dt.date(1935, 1, 1) + dt.timedelta(days=int(np.random.default_rng(p).integers(80 * 365))) for p in persons
    }
    days = [first + dt.timedelta(days=int(day)) for day in rng.integers(0, n_days, n)]
    return pl.DataFrame(
        {
            "patient": [str(p) for p in whose],
            "admitted": [f"{day:%d.%m.%Y}" for day in days],
            "born": [f"{births[int(p)]:%d.%m.%Y}" for p in whose],
            "ward": rng.choice(["surgery", "medicine", "neurology"], n, p=[0.5, 0.4, 0.1]),
            "days": rng.exponential(6, n).astype(int),
            "ill": rng.choice(["I10", "E11", "J45", "F32", "M54", "K21"], n),
        }
    ).sample(fraction=1, shuffle=True, seed=seed)


BASE = np.arange(1000, 2400)
MONTHS = {
    "first": (2000, BASE, dt.date(2026, 7, 1), 123),
    "november": (600, np.concatenate([np.arange(3000, 3380), BASE[:80]]), dt.date(2026, 11, 1), 30),
    "december": (600, np.concatenate([np.arange(4000, 4400), BASE[60:120]]), dt.date(2026, 12, 1), 31),
    "january": (600, np.concatenate([np.arange(5000, 5400), np.arange(3000, 3040)]), dt.date(2027, 1, 1), 31),
}


@pytest.fixture(scope="module", params=["", ", hierarchy: {dates: [month, quarter, year]}"], ids=["round", "units"])
def hospital(request, tmp_path_factory):
    """A folder with four batches, and the release and recoding of the first."""
    folder = tmp_path_factory.mktemp("hospital")
    for seed, (name, asked) in enumerate(MONTHS.items()):
        stays(*asked, seed).write_csv(folder / f"{name}.csv")
    (folder / "policy.yaml").write_text(POLICY.replace(" DATES", request.param))
    asked = ("anonymize", folder / "first.csv", "-p", folder / "policy.yaml", "-o", folder / "first.out.csv")
    done(*asked, "--save-recoding", folder / "cells.json")
    return folder


def fits(cell, value, name):
    """Read a cell slowly: whether it holds a value of the input."""
    if cell == "*" or cell == value:
        return True
    if cell.startswith('["'):
        return any(fits(each, value, name) for each in json.loads(cell))
    if name == "ward":
        return False
    known = int(value) if name == "days" else dt.datetime.strptime(value, "%d.%m.%Y").date()
    low, high = ends(cell, int if name == "days" else first_day)
    return (low is None or low <= known) and (high is None or known < high)


def first_day(text):
    year, month, day = [*map(int, text.split("-")), 1, 1][:3]
    return dt.date(year, month, day)


def ends(cell, read):
    if unit := re.fullmatch(r"(\d{4})-Q(\d)", cell):
        year, month = int(unit[1]), 3 * int(unit[2])
        return dt.date(year, month - 2, 1), dt.date(year + month // 12, month % 12 + 1, 1)
    if unit := re.fullmatch(r"(\d{4})-(\d\d)", cell):
        year, month = int(unit[1]), int(unit[2])
        return dt.date(year, month, 1), dt.date(year + month // 12, month % 12 + 1, 1)
    if unit := re.fullmatch(r"(\d{3})0s", cell):
        return dt.date(int(unit[1]) * 10, 1, 1), dt.date(int(unit[1]) * 10 + 10, 1, 1)
    if read is first_day and re.fullmatch(r"\d{4}", cell):
        return dt.date(int(cell), 1, 1), dt.date(int(cell) + 1, 1, 1)
    if between := re.fullmatch(r"\[(.+), (.+)\)", cell):
        return read(between[1]), read(between[2])
    if cell.startswith("<"):
        return None, read(cell[1:])
    if cell.startswith(">="):
        return read(cell[2:]), None
    if read is int:
        return int(cell), int(cell) + 1
    day = first_day(cell)
    return day, day + dt.timedelta(days=1)


def publish_batch(source, out):
    """The rows of a source with the cells that are published of each, in order; without a class: None."""
    rows, cells = (pl.read_csv(path, infer_schema=False) for path in (source, out))
    assert rows.height == cells.height
    found = []
    for row, cell in zip(rows.iter_rows(named=True), cells.iter_rows(named=True), strict=True):
        texts = tuple(cell[name] for name in QUASI)
        is_star = set(texts) == {"*"} and cell["ill"] == "*"
        assert is_star or all(fits(cell[name], row[name], name) for name in QUASI)
        found.append((row["patient"], None if is_star else texts))
    return found


def persons_of(rows):
    held = {}
    for person, texts in rows:
        held.setdefault(texts, set()).add(person)
    return held


def test_three_more_months_keep_their_cells_and_count_persons(hospital):
    for month in ("november", "december", "january"):
        out = hospital / f"{month}.out.csv"
        release = ht.Recoding.read(hospital / "cells.json").apply(hospital / f"{month}.csv")
        told = json.loads(done("apply", hospital / "cells.json", hospital / f"{month}.csv", "-o", out, "--json").out)
        assert told["batch"] == release.to_dict()["batch"]
        assert told["verified"]["passed"]
        # In memory the rows stay in order, so that a slow reader knows whose they are.
        whole = pl.read_csv(hospital / f"{month}.csv", infer_schema=False)
        if release.drops_suppressed:
            whole = whole.filter(~pl.Series(release.suppressed))
        whole.write_csv(hospital / "kept.csv")
        release.frame.write_csv(hospital / "ordered.csv")
        rows = publish_batch(hospital / "kept.csv", hospital / "ordered.csv")
        held = persons_of(rows)
        assert all(len(persons) >= 5 for persons in held.values())
        n_with_cells = sum(texts is not None and set(texts) != {"*"} for _, texts in rows)
        assert n_with_cells >= 0.85 * 600
        assert not any(texts[0] < "2026-11" for texts in held if texts and re.fullmatch("[0-9]{4}-[0-9]{2}", texts[0]))


def test_a_policy_in_python_publishes_the_same(hospital):
    release = ht.anonymize(hospital / "first.csv", policy=hospital / "policy.yaml")
    later = release.apply(hospital / "november.csv")
    read = ht.Recoding.read(hospital / "cells.json").apply(hospital / "november.csv")
    assert later.frame.equals(read.frame)
    assert later.batch.n_shared_persons == 80


def slow_alike(*batches):
    """Persons in the first batch and another one, by how many of them share all their cells."""
    seen = [{person for person, _ in rows} for rows in batches]
    both = seen[0] & set().union(*seen[1:])
    histories = {
        person: tuple(tuple(sorted(str(texts) for whose, texts in rows if whose == person)) for rows in batches)
        for person in both
    }
    alike = Counter(histories.values())
    return len(both), sum(n for n in alike.values() if n < 5)


def test_who_is_in_both_is_counted_told_and_left_out(hospital):
    cells, sources = hospital / "cells.json", {name: hospital / f"{name}.csv" for name in MONTHS}
    learned, out = ht.Recoding.read(cells), hospital / "both.csv"
    rows = []
    for name in ("january", "november", "first"):
        release = learned.apply(sources[name])
        whole = pl.read_csv(sources[name], infer_schema=False)
        rows.append([])
        classes = release.partition.labels.tolist()
        for person, label in zip(whole["patient"], classes, strict=True):
            rows[-1].append((person, None if label < 0 else (name, label)))
    n_both, n_few = slow_alike(*rows)
    asked = ("apply", cells, sources["january"], "-o", out, "--force", "--previous", sources["november"])
    asked = (*asked, "--previous", sources["first"])
    told = json.loads(done(*asked, "--json").out)["batch"]
    assert (told["n_shared_persons"], told["n_few_alike"]) == (n_both, n_few)
    assert n_both == 40
    said = " ".join(done(*asked).out.split())
    assert f"40 persons are in previous batches, too. {n_few} of them share" in said
    said = " ".join(done(*asked, "--distinct-persons").out.split())
    n_gone = sum(1000 <= int(p) < 2400 or 3000 <= int(p) < 3380 for p, _ in rows[0])
    assert f"Left out are {n_gone} records of persons" in said
    left = Counter(pl.read_csv(sources["january"], infer_schema=False)["ill"].to_list())
    assert pl.read_csv(out).height <= sum(left.values()) - n_gone
    said = " ".join(done("apply", cells, sources["january"], "-o", out, "--force").out.split())
    assert "whether its persons are in earlier batches, too, was not looked at" in said


def test_a_folder_and_a_lazy_frame_count_the_same_persons(hospital, tmp_path):
    learned, first = ht.Recoding.read(hospital / "cells.json"), hospital / "first.csv"
    november = pl.read_csv(hospital / "november.csv", infer_schema=False)
    for part in range(3):
        november[200 * part : 200 * part + 200].write_parquet(tmp_path / f"part{part}.parquet")
    for distinct in (False, True):
        asked = {"previous": [first], "distinct_persons": distinct}
        known = learned.apply(november, **asked)
        in_parts = learned.apply(tmp_path / "*.parquet", **asked)
        assert known.batch == in_parts.batch == learned.apply(november.lazy(), **asked).batch
        assert in_parts.write(tmp_path / f"out{distinct}").passed


def test_the_attack_on_both_releases_names_the_persons_in_both(hospital):
    out = hospital / "november.out.csv"
    done("apply", hospital / "cells.json", hospital / "november.csv", "-o", out, "--force")
    asked = ("attack-release", out, "--earlier", hospital / "first.out.csv", "--original", hospital / "november.csv")
    found = json.loads(run(*asked, "--earlier-original", hospital / "first.csv", "--json").out)
    (shared,) = [each for each in found["attacks"] if each["name"] == "shared persons"]
    assert (shared["n_targets"], shared["fell"]) == (80, True)
    assert "--distinct-persons" in shared["advice"]
    assert "not known" in json.loads(run(*asked, "--json").out)["untried"]["shared persons"]
    assert run(*asked[:4], "--earlier-original", hospital / "first.csv").code == 2


def test_previous_batches_are_refused_where_they_have_no_meaning(hospital):
    learned, november = ht.Recoding.read(hospital / "cells.json"), hospital / "november.csv"
    with pytest.raises(ht.InputError, match="no such batch was given"):
        learned.apply(november, distinct_persons=True)
    with pytest.raises(ht.InfeasibleError, match="all 600 records are of persons"):
        learned.apply(november, previous=[november], distinct_persons=True)
    with pytest.raises(ht.InputError, match="published again"):
        learned.apply(november, earlier=hospital / "first.csv", previous=[hospital / "first.csv"])
    people = pl.DataFrame({"age": [31, 34, 52, 57]})
    release = ht.anonymize(people, quasi_identifiers=["age"], models=[ht.KAnonymity(2)])
    with pytest.raises(ht.InputError, match="nobody said whose record"):
        release.apply(people, previous=[people])


def test_groups_that_only_wide_cells_name_are_published_and_explained(tmp_path):
    rng = np.random.default_rng(0)

    def rows(n, n_jobs):
        jobs = rng.choice([f"job {i}" for i in range(n_jobs)], n)
        return pl.DataFrame({"job": jobs, "age": rng.integers(18, 90, n)})

    # The batch has fewer values, and far fewer rows: most climb to groups by frequency.
    first, second = rows(600, 60), rows(60, 55)
    release = ht.anonymize(first, quasi_identifiers=["job", "age"], models=[ht.KAnonymity(5)], roles="trust",
                           method=ht.Mondrian(recoding="readable"))  # fmt: skip
    later = release.apply(second)
    named = [job for job in later.frame["job"] if job.endswith(" more")]
    assert len(named) > 20
    assert later.write(tmp_path / "second.csv").passed
    told = json.loads((tmp_path / "second.csv.codebook.json").read_text())
    (column,) = [each for each in told["columns"] if each["name"] == "job"]
    assert all(name in json.dumps(column) for name in named)
