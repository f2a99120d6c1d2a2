"""Releases: every outcome is a refusal of our own, or a release that the slow judge accepts."""

from __future__ import annotations

import pickle
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import hushtable as ht
from campaign.outcome import Outcome
from campaign.requests import Request, request
from campaign.tables import COUNTED, FORMS, build, delimiter_of, records
from hushtable.hierarchy import Hierarchy, NamedSets
from judging_slow import Terms, failing_classes, is_suppressed, least_records, matches, untrue_cells
from reading import holds, measure, text_of


def case(random: Random, folder: Path) -> Outcome:
    """Run one case."""
    outcome = Outcome()
    asked = request(random, folder)
    outcome.reproduction, outcome.secrets = asked.reproduction(), asked.secrets
    release = None
    with outcome.guarded("anonymize"):
        release = keeping_suppressed(ht.anonymize(asked.data, **asked.call), random)
    if release is None:
        return outcome
    outcome.count(f"release by {type(asked.call['method']).__name__.lower()} of {asked.form}")
    judge(outcome, asked, release)
    with outcome.guarded("verify", ()):
        verdict = release.verify()
        outcome.expect(verdict.passed, "verify refuses a release", verdict.failures)
    told = repr(release) + release._repr_html_() + repr(release.trace)
    outcome.expect(asked.secrets[0] not in told, "a repr tells a person's value", told)
    write(outcome, asked, release, folder, random)
    is_mondrian = isinstance(asked.call["method"], ht.Mondrian) and asked.form != COUNTED
    is_mondrian &= release.drops_suppressed or not release.n_suppressed
    # In a CSV that is spelled otherwise, what is declared text is another text.
    is_mondrian &= asked.form != "csv" or "specs" not in asked.call
    if is_mondrian and len(asked.original) <= 40 and random.random() < 0.3:
        repeat(outcome, asked, release, folder, random)
    return outcome


def keeping_suppressed(release: ht.Release, random: Random) -> ht.Release:
    """Return a release that publishes now and then as ``*`` the records which it drops, where there are enough.

    `hushtable.anonymize` drops them always: what fails for the whole and holds for the rest fails for them.
    """
    is_enough = release.n_suppressed >= max(map(least_records, release.models))
    keeps = release.drops_suppressed and is_enough and random.random() < 0.5
    if not keeps:
        return release
    return replace(release, drops_suppressed=False, claim=replace(release.claim, suppressed="*"))


def repeat(outcome: Outcome, asked: Request, release: ht.Release, folder: Path, random: Random) -> None:
    """Another library, another order of rows or columns: the same release."""
    # A Table has its kinds.
    others = [form for form in FORMS if form != "csv"]
    is_text = any(asked.columns[name].dtype in ("text", "factor") for name in asked.sensitive)
    if "specs" in asked.call or is_text:
        # Elsewhere kinds may be declared, and sensitive texts are typed.
        others = [asked.form] if asked.form == "Table" else [form for form in others if form != "Table"]
    form = asked.form if asked.form == "csv" else random.choice(others)
    order = list(range(len(asked.original)))
    names = list(asked.columns)
    # Without strictness equal records part, which ones their order says.
    change = random.choice(("library", "rows", "columns") if asked.call["method"].strict else ("library", "columns"))
    if change == "rows":
        random.shuffle(order)
    elif change == "columns":
        random.shuffle(names)
    columns = {
        name: replace(asked.columns[name], values=[asked.columns[name].values[i] for i in order]) for name in names
    }
    (folder / "again").mkdir()
    call = dict(asked.call)
    if change == "columns":
        call["quasi_identifiers"] = [name for name in names if name in call["quasi_identifiers"]]
    again = None
    # A CSV may be spelled otherwise, and its kinds with it.
    with outcome.guarded("anonymize again", ht.ColumnError if form == "csv" else ()):
        again = ht.anonymize(build(columns, form, random, folder / "again"), **call)
    if again is None:
        return
    outcome.count(f"again, other {change}")
    back = [asked.original[i] for i in order]
    found, expected = _pairs(asked, again, back), _pairs(asked, release, asked.original)
    if found != expected:
        outcome.fail(
            f"the release depends on the {change}",
            f"{form}: {list(found - expected)[:3]}, {list(expected - found)[:3]}",
        )


def _pairs(asked: Request, release: ht.Release, original: list[Any]) -> Counter[Any]:
    """Count what is published for whom."""
    _, published = records(release.frame)
    kept = [
        row
        for row, flag in zip(original, suppressed_records(release), strict=True)
        if not (flag and release.drops_suppressed)
    ]
    qi = asked.call["quasi_identifiers"]
    return Counter(
        (tuple(text_of(person[name]) for name in [*qi, *asked.sensitive]), tuple(text_of(row[name]) for name in qi))
        for person, row in zip(kept, published, strict=True)
    )


def suppressed_records(release: ht.Release) -> list[bool]:
    """Tell of every record whether it was suppressed; a row of a Table stands for several."""
    counts = release.source.counts.tolist() if isinstance(release.source, ht.Table) else [1] * len(release.suppressed)
    return [bool(flag) for flag, count in zip(release.suppressed, counts, strict=True) for _ in range(count)]


def judge(outcome: Outcome, asked: Request, release: ht.Release) -> None:
    """Let the slow judge look at a release."""
    terms = _with_names(outcome, asked, release)
    names, published = records(release.frame)
    suppressed = suppressed_records(release)
    outcome.expect(
        len(suppressed) == len(asked.original), "flags of suppression are too few or too many", len(suppressed)
    )
    if outcome.failures:
        return
    kept = [i for i in range(len(asked.original)) if not (suppressed[i] and release.drops_suppressed)]
    expected = [name for name in asked.columns if asked.roles[name] != "identifier"]
    outcome.expect(names == expected, "the release has other columns", (names, expected))
    outcome.expect(len(published) == len(kept), "the release has lost rows", (len(published), len(kept)))
    if outcome.failures:
        return
    original = [asked.original[i] for i in kept]
    left_out = [suppressed[i] for i in kept]
    if getattr(asked.call["method"], "recoding", None) == "central":
        _judge_central(outcome, asked, published, original, left_out)
    else:
        outcome.complain("a published cell is not true", untrue_cells(terms, original, published))
    outcome.complain(
        "a suppressed row publishes more than *",
        [f"row {i}" for i, row in enumerate(published) if left_out[i] and not is_suppressed(terms, row)],
    )
    # Sensitive cells of the classes are the original's, which `_judge_untouched` makes sure of.
    complaints = failing_classes(terms, published, asked.original, left_out, asked.people)
    outcome.complain(f"a class fails {_names(complaints)}", complaints)
    for model in asked.call["models"]:
        if model.needs.original:
            outcome.expect(matches(terms, model, published, original), f"{type(model).__name__} does not hold")
    _judge_suppressed(outcome, asked, suppressed, release)
    _judge_untouched(outcome, asked, published, original, left_out)
    _judge_leaks(outcome, asked, release, suppressed)


def _with_names(outcome: Outcome, asked: Request, release: ht.Release) -> Terms:
    """Return what the judge is told, with what the names of long sets hold: the release itself says it."""
    terms = asked.terms()
    labels = dict(terms.labels)
    for name, tree in release.hierarchies.items():
        if name in asked.ladders or not isinstance(tree, Hierarchy):
            continue
        held: dict[str, set[str | None]] = {}
        if isinstance(tree.rule, NamedSets):
            held = {label: {*members} for label, members in tree.rule.labels.items()}
        for texts, codes in zip(tree.labels[1:-1], tree.level_codes[1:-1], strict=True):
            for value, code in zip(tree.values, codes.tolist(), strict=True):
                held.setdefault(texts[code], set()).add(value)
        for label, values in held.items():
            if told := re.fullmatch(r"other (?:\d+ )?\((\d+) values\)(?: \(\d+\))?", label):
                outcome.expect(len(values) == int(told[1]), "a group has another number of values", (label, values))
        labels[name] = {**held, **labels.get(name, {})}
    return replace(terms, labels=labels)


def _names(complaints: list[str]) -> str:
    return ", ".join(sorted({complaint.partition("(")[0] for complaint in complaints}))


def _judge_central(
    outcome: Outcome, asked: Request, published: list[Any], original: list[Any], left_out: list[bool]
) -> None:
    """A median or mode is true of some record that publishes it."""
    terms = asked.terms()
    for name in terms.quasi_identifiers:
        by_cell: dict[Any, list[Any]] = {}
        for row, person, is_out in zip(published, original, left_out, strict=True):
            if not is_out:
                by_cell.setdefault(text_of(row[name]), []).append(person[name])
        for cell, values in by_cell.items():
            is_true = [
                holds(cell, value, terms.kinds[name], terms.labels.get(name), terms.orders[name]) for value in values
            ]
            outcome.expect(any(is_true), "a central value is nobody's", f"column {name!r}: {cell!r} of {values!r}")


def _judge_suppressed(outcome: Outcome, asked: Request, suppressed: list[bool], release: ht.Release) -> None:
    terms, n = asked.terms(), sum(suppressed)
    if not n:
        return
    outcome.count("release with suppressed records" + (", dropped" if release.drops_suppressed else ""))
    limit = asked.call.get("suppression_limit", 0.0) * len(suppressed)
    outcome.expect(n <= limit + 1e-9, "more records are suppressed than allowed", f"{n} of {len(suppressed)}")
    if not release.drops_suppressed:
        # Their sensitive cells are gone, so that they are judged by their number alone.
        least = max(map(least_records, terms.models))
        outcome.expect(n >= least, "the suppressed records are fewer than a class", f"{n} records, not {least}")


def _judge_untouched(
    outcome: Outcome, asked: Request, published: list[Any], original: list[Any], left_out: list[bool]
) -> None:
    pseudonyms = [name for name, role in asked.roles.items() if role == "pseudonym"]
    for i, (row, person) in enumerate(zip(published, original, strict=True)):
        for name in [*asked.other, *asked.sensitive]:
            is_masked = left_out[i] and name in asked.sensitive
            is_same = text_of(row[name]) == ("*" if is_masked else text_of(person[name]))
            outcome.expect(
                is_same,
                "a cell that is none of our business has changed",
                f"row {i}, {name!r}: {person[name]!r} is {row[name]!r}",
            )
    for name in pseudonyms:
        pairs = {(person[name], row[name]) for row, person in zip(published, original, strict=True)}
        one_to_one = len(pairs) == len({new for _, new in pairs}) == len({old for old, _ in pairs})
        outcome.expect(one_to_one, "pseudonyms are not one to one", name)
        outcome.expect(all(asked.secrets[0] not in str(new) for _, new in pairs), "a pseudonym holds the identifier")


def _judge_leaks(outcome: Outcome, asked: Request, release: ht.Release, suppressed: list[bool]) -> None:
    """Identifiers, and whatever dropped people had, are in no byte of the returned frame."""
    # What polars filters keeps its old buffers, and an Enum's values are declared: its cells alone are looked at.
    frame = release.frame
    data = repr(frame.rows()).encode() if isinstance(frame, pl.DataFrame) else pickle.dumps(frame)
    gone = [made.values for name, made in asked.columns.items() if name in asked.identifiers]
    outcome.expect(
        not any(value.encode() in data for values in gone for value in values), "an identifier is in the returned frame"
    )
    if release.drops_suppressed and "note" in asked.columns:
        notes = [person["note"] for person, flag in zip(asked.original, suppressed, strict=True) if flag]
        found = [note for note in notes if _whole(note, data)]
        outcome.expect(not found, f"a value of a dropped person is in the returned frame ({asked.form})", found)


def _whole(note: str, data: bytes) -> bool:
    """Tell whether a text occurs, and not only as the beginning of a longer number."""
    at = data.find(note.encode())
    while at >= 0:
        following = data[at + len(note) : at + len(note) + 1]
        if not following.isdigit():
            return True
        at = data.find(note.encode(), at + 1)
    return False


def verified(asked: Request, release: ht.Release, data: Any) -> ht.Verdict:
    """Verify a frame or file as one that was published by a release."""
    return ht.verify(
        data,
        quasi_identifiers=asked.call["quasi_identifiers"],
        models=asked.call["models"],
        sensitive=asked.sensitive,
        specs=release.specs,
        hierarchies=release.hierarchies,
        population=_frame(asked.call.get("population")),
        original=_frame(asked.data),
    )


def _frame(data: Any) -> Any:
    if not isinstance(data, ht.Table):
        return data
    return data.decode()[[i for i, count in enumerate(data.counts.tolist()) for _ in range(count)]]


def write(outcome: Outcome, asked: Request, release: ht.Release, folder: Path, random: Random) -> None:
    """A written file reads back to what was released, verifies, and tells nothing that is gone."""
    path = folder / random.choice(("out.csv", "out.parquet", "out.tsv"))
    verdict = None
    with outcome.guarded("write", ht.InputError):
        verdict = release.write(path, keep_order=True, external=random.random() < 0.5)
    if verdict is None:
        return
    outcome.count(f"written as {path.suffix[1:]}")
    trees = [
        ladder.whole or ladder for ladder in release.hierarchies.values() if getattr(ladder, "rule", ladder) is None
    ]
    # What a hierarchy lists that somebody gave, a codebook tells: it is taken for a list that anyone may see.
    is_listed = any(asked.secrets[0] in text for tree in trees for text in (*tree.values, *sum(tree.labels, ())))
    for name in ("manifest.json", *(() if is_listed else ("codebook.md", "codebook.json"))):
        told = Path(f"{path}.{name}").read_bytes()
        outcome.expect(asked.secrets[0].encode() not in told, f"{name} tells a person's value")
    data = path.read_bytes()
    gone = [value for name, made in asked.columns.items() if name in asked.identifiers for value in made.values]
    outcome.expect(not any(value.encode() in data for value in gone), "an identifier is in the written file")
    with outcome.guarded("verify the file", ()):
        again = verified(asked, release, path)
        outcome.expect(again.passed, "verify refuses a written file", again.failures)
    is_text = path.suffix != ".parquet"
    with outcome.guarded("read back", ()):
        again = path.rename(path.with_suffix(".csv")) if is_text else path
        names, read = records(again, "\t" if path.suffix == ".tsv" else _delimiter(asked))
        expected_names, expected = records(release.frame)
        outcome.expect(names == expected_names, "a written file has other columns", (names, expected_names))
        cells = [[text_of(row[name]) for name in expected_names] for row in expected]
        found = [[text_of(row[name]) for name in names] for row in read]
        if is_text:
            found = [["" if cell is None else cell for cell in row] for row in found]
            cells = [["" if cell is None else cell for cell in row] for row in cells]
        differing = [(a, b) for a, b in zip(cells, found, strict=False) if not _alike(a, b)]
        outcome.expect(len(cells) == len(found), "a written file has another number of rows", (len(cells), len(found)))
        outcome.expect(not differing, "a written file reads back differently", differing[:2])


def _delimiter(asked: Request) -> str:
    """Return the delimiter that a written CSV has: that of the CSV it was made from."""
    if asked.form != "csv":
        return ","
    return delimiter_of(asked.data.read_text(encoding="utf-8").splitlines()[0])


def _alike(cells: list[Any], found: list[Any]) -> bool:
    return all(a == b or _equal(a, b) for a, b in zip(cells, found, strict=True))


def _equal(one: str | None, other: str | None) -> bool:
    """Tell whether two texts are one number or moment; those of a float32 may be written with the digits it has."""
    if not one or not other:
        return False
    if measure(one, "datetime") is not None:
        return bool(measure(one, "datetime") == measure(other, "datetime"))
    a, b = measure(one, "decimal"), measure(other, "decimal")
    return a is not None and b is not None and abs(a - b) <= abs(a) / 10**6
