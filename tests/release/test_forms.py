"""Forms have numbers: what is of another one, or holds other entries, is never taken for judged."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import hushtable as ht
from command import done, run
from hushtable.anonymizers.recoding_files import hash_contents
from hushtable.io import FORMS, describe_other_form
from hushtable.release import manifest
from mutating import mutate, places

PLANS = "basic;low\nsilver;low\ngold;high\n"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forms")
    rows = range(60)
    pl.DataFrame(
        {
            "who": [f"p{i}" for i in rows],
            "age": [20 + i % 2 * 30 for i in rows],
            "plan": [("basic", "gold", "silver")[i % 3] for i in rows],
            "ill": [("flu", "gout", "cold")[i % 5 % 3] for i in rows],
            "pay": [1000 + i for i in rows],
        }
    ).write_csv(folder / "people.csv")
    (folder / "plans.csv").write_text(PLANS)
    (folder / "policy.yaml").write_text(
        "columns: {who: identifier, age: quasi-identifier, plan: {role: quasi-identifier, hierarchy: plans.csv}, "
        "ill: sensitive, pay: {role: other, round: 100}}\n"
        "models: [k-anonymity: 3, t-closeness: {t: 0.9, sensitive: ill}]\n"
        "method: {mondrian: {recoding: readable}}\nlimits: {highest_risk: 0.3, suppression: 0.05}\n"
    )
    asked = ("anonymize", folder / "people.csv", "-p", folder / "policy.yaml", "-o", folder / "out.csv")
    done(*asked, "--save-recoding", folder / "cells.json")
    return folder


@pytest.fixture
def copied(written: Path, tmp_path: Path) -> Path:
    """Return a copy of the release, whose manifest may be changed."""
    path = tmp_path / "out.csv"
    for original in (written / "out.csv", manifest.manifest_path(written / "out.csv")):
        (tmp_path / original.name).write_bytes(original.read_bytes())
    return path


def draw(entries: Any, only: str | None = None, share: int = 1) -> Iterator[tuple[str, Any]]:
    found = [
        (path, *each)
        for path in places(entries)
        if only is None or path[0] == only != path[-1]
        for each in mutate(entries, path)
    ]
    for number, (path, what, changed) in enumerate(found):
        if number % share == 0:
            yield f"{path} {what}", changed


def judge(path: Path) -> tuple[int, Mapping[str, Any]]:
    outcome = run("verify", path, "--json")
    assert outcome.code in (0, 1, 2), (outcome, manifest.read(path)["claim"])
    assert "fault of hushtable" not in outcome.err, outcome.err
    return outcome.code, json.loads(outcome.out) if outcome.out else {}


@pytest.mark.parametrize("share", [17, pytest.param(1, marks=pytest.mark.slow)])
def test_no_mutated_claim_holds_beyond_what_was_judged(copied: Path, share: int) -> None:
    entries = manifest.read(copied)
    whole = set(judge(copied)[1]["held"])
    passed = []
    for what, changed in draw(entries, "claim", share):
        manifest.manifest_path(copied).write_text(json.dumps(changed))
        code, verdict = judge(copied)
        if code == 0:
            # Of a weaker claim, less holds; what is said to hold was judged.
            assert set(verdict["held"]) <= whole, (what, set(verdict["held"]) - whole)
            passed.append(what)
        assert code or "newer" not in what.partition(") ")[2]
        is_by_column = any(each in what for each in ("hierarchies", "origins", "kinds", "spellings"))
        assert code or is_by_column or not what.endswith(("joined", "renamed")), what
    assert len(passed) < 0.2 * sum(1 for _ in draw(entries, "claim", share)), passed


@pytest.mark.parametrize("share", [29, pytest.param(2, marks=pytest.mark.slow)])
def test_no_mutated_manifest_is_a_traceback(copied: Path, share: int) -> None:
    entries = manifest.read(copied)
    claim = entries.pop("claim")
    for what, changed in draw(entries, share=share):
        manifest.manifest_path(copied).write_text(json.dumps({**changed, "claim": claim}))
        code, _ = judge(copied)
        assert (
            code
            or what.endswith("joined")
            or not what.startswith(("('n_records',)", "('sha256',)", "('form',) 7", "('form',) other"))
        ), what


@pytest.mark.parametrize("share", [37, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("knows_digest", [False, True])
def test_a_mutated_recoding_is_refused_or_as_good(
    written: Path, tmp_path: Path, share: int, *, knows_digest: bool
) -> None:
    entries = json.loads((written / "cells.json").read_text())
    people = pl.read_csv(written / "people.csv")
    for what, changed in draw(entries, share=share):
        if knows_digest:
            changed["sha256"] = hash_contents(changed)
        (tmp_path / "cells.json").write_text(json.dumps(changed))
        try:
            release = ht.Recoding.read(tmp_path / "cells.json").apply(people)
        except ht.HushError:
            continue
        assert knows_digest or what.startswith("('sha256',)"), what
        assert release.verify().passed, what


@pytest.mark.parametrize("number", [2, "1", None, 0, True, 1.5])
def test_what_a_newer_version_claims_is_judged_as_far_as_it_is_known(copied: Path, number: object) -> None:
    entries = manifest.read(copied)
    entries["hushtable"] = "9.9"
    entries["claim"]["form"] = number
    manifest.manifest_path(copied).write_text(json.dumps(entries))
    code, verdict = judge(copied)
    assert "k-anonymity (k = 3)" in verdict["held"]
    # Before forms had numbers, there was none.
    assert code == (0 if number is None else 1)
    if number == 2:
        (left,) = verdict["unchecked"][-1:]
        assert left["needs"] == "the claim is of form 2, written by hushtable 9.9; this version reads up to 1"


def test_an_error_names_both_numbers_and_the_version_that_wrote(written: Path, tmp_path: Path) -> None:
    entries = json.loads((written / "cells.json").read_text())
    (tmp_path / "cells.json").write_text(json.dumps({**entries, "recoding": 5, "hushtable": "9.9"}))
    with pytest.raises(ht.InputError, match=r"of form 5, written by hushtable 9\.9; this version reads up to 2"):
        ht.Recoding.read(tmp_path / "cells.json")
    (tmp_path / "policy.yaml").write_text(f"version: 9\n{(written / 'policy.yaml').read_text()}")
    with pytest.raises(ht.PolicyError, match="the policy is of form 9; this version reads up to 1"):
        ht.Policy.read(tmp_path / "policy.yaml")
    with pytest.raises(ht.InputError, match="the certificate is of form 4"):
        ht.check_certificate(pl.DataFrame({"a": [1]}), {"kind": "lattice", "form": 4})


def test_the_page_lists_every_form() -> None:
    page = (Path(__file__).parents[2] / "docs" / "forms.md").read_text()
    for what, number in FORMS.items():
        assert f"| {what} | {number} |" in page
        assert describe_other_form(what, number) is None


@pytest.mark.parametrize(
    ("path", "entry"), [(("quality", "by_column"), ["other"]), (("exposure", "n_records"), []), (("models",), 7)]
)
def test_a_report_of_a_mutated_manifest_is_no_traceback(copied: Path, path: tuple[str, ...], entry: object) -> None:
    entries = manifest.read(copied)
    inside = entries
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = entry
    manifest.manifest_path(copied).write_text(json.dumps(entries))
    assert run("report", copied).code in (0, 2)


def test_an_attack_on_a_newer_claim_is_in_doubt(copied: Path) -> None:
    entries = manifest.read(copied)
    for name, code in (("columns", 0), ("a newer entry", 1)):
        entries["claim"].setdefault(name, 1)
        manifest.manifest_path(copied).write_text(json.dumps(entries))
        outcome = run("attack-release", copied, "--fail-above", "count=9")
        assert outcome.code == code, outcome
    assert "careful: what a newer entry of the claim says was not read" in outcome.err


def test_an_entry_that_stands_twice_is_an_error(written: Path, copied: Path, tmp_path: Path) -> None:
    # One reader takes the first k, and another one the last.
    cells, certificate = tmp_path / "cells.json", tmp_path / "proof.json"
    whole = manifest.manifest_path(copied).read_text()
    twice = [
        whole.replace('"k": 3', '"k": 3, "k": 2'),
        whole.replace('"form": 1', '"form": 99, "form": 1', 1),
        whole.replace('"claim": {', '"claim": {}, "claim": {', 1),
    ]
    for text in twice:
        assert text != whole
        manifest.manifest_path(copied).write_text(text)
        outcome = run("verify", copied, "--json")
        assert outcome.code == 2, outcome
        assert "names an entry twice" in outcome.err
    cells.write_text((written / "cells.json").read_text().replace('"recoding": 2', '"recoding": 3, "recoding": 2', 1))
    with pytest.raises(ht.InputError, match="twice"):
        ht.Recoding.read(cells)
    certificate.write_text('{"form": 2, "form": 1}')
    with pytest.raises(ht.InputError, match="twice"):
        ht.Certificate.read(certificate)


@pytest.mark.parametrize("counts_blank", [1, -1, "0.5", [True], None])
def test_a_switch_of_the_limits_of_another_type_is_not_judged(copied: Path, counts_blank: object) -> None:
    entries = manifest.read(copied)
    entries["claim"]["limits"] |= {"suppression": 0.05, "counts_blank": counts_blank}
    manifest.manifest_path(copied).write_text(json.dumps(entries))
    code, verdict = judge(copied)
    assert code == 1
    assert "counts_blank" in json.dumps(verdict["unchecked"])


@pytest.mark.parametrize("batch", ["SECRET", [1], 7, True])
def test_a_batch_that_is_none_is_no_fault_of_ours(written: Path, copied: Path, batch: object) -> None:
    manifest.manifest_path(copied).write_text(json.dumps({**manifest.read(copied), "batch": batch}))
    known = ("--original", written / "people.csv", "--earlier-original", written / "people.csv")
    outcome = run("attack-release", copied, "--earlier", written / "out.csv", *known)
    assert outcome.code == 2, outcome
    assert "leaves out persons of previous batches" in outcome.err


def test_persons_in_both_are_not_asked_for_where_nobody_says_whose_a_record_is(written: Path) -> None:
    # They were not counted, and a gate passed.
    known = ("--original", written / "people.csv", "--earlier-original", written / "people.csv")
    outcome = run("attack-release", written / "out.csv", "--earlier", written / "out.csv", *known)
    assert outcome.code == 2, outcome
    assert "does not say whose record a row is" in outcome.err


@pytest.mark.parametrize(("what", "told"), [("file", "is not the file its manifest describes"), ("form", "of form 99")])
def test_an_earlier_release_is_judged_by_its_manifest_too(written: Path, copied: Path, what: str, told: str) -> None:
    copied.write_bytes(copied.read_bytes() + (b"20,low,flu,1000\n" if what == "file" else b""))
    entries = manifest.read(copied)
    manifest.manifest_path(copied).write_text(json.dumps({**entries, "form": 99 if what == "form" else 1}))
    asked = ("attack-release", written / "out.csv", "--earlier", copied, "--fail-above", "count=1000")
    outcome = run(*asked)
    assert outcome.code == 1, outcome
    assert told in outcome.err
    # Without a manifest nothing is claimed of it, and any table of cells will do.
    manifest.manifest_path(copied).unlink()
    assert run(*asked).code == 0
