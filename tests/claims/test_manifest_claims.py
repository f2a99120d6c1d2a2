"""What a written release claims is judged from its file and its manifest, and the manifest tells nothing besides."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import hushtable as ht
from command import done, run
from hushtable.claims import Classes, Independence, Limits, Matchings, Stated, claim_from_dict
from hushtable.columns.column import ColumnSpec
from hushtable.release import manifest

POLICY = """\
columns:
  name: {role: identifier, action: pseudonym}
  age: quasi-identifier
  zip: {role: quasi-identifier, kind: category, hierarchy: {prefix: [2, 1]}}
  seen: {role: quasi-identifier, hierarchy: {dates: [month, year]}}
  illness: sensitive
  visit: other
models:
  - k-anonymity: 3
  - distinct-l-diversity: {l: 2, sensitive: illness}
  - t-closeness: {t: 0.6, sensitive: illness}
person: name
accept: {name: a test}
limits: {highest_risk: 0.25, average_risk: 0.25}
"""
N = 48


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(
        {
            "name": [f"person {i % 32}" for i in range(N)],
            "age": [20 + (i * 7) % 40 for i in range(N)],
            "zip": [f"{100 + i % 7 * 111}" for i in range(N)],
            "seen": [f"2024-0{1 + i % 9}-1{i % 10}" for i in range(N)],
            "illness": [("flu", "gout", "asthma")[i % 3] for i in range(N)],
            "visit": [f"visit-{i}" for i in range(N)],
        }
    ).write_csv("in.csv")
    Path("policy.yaml").write_text(POLICY)
    Path("key.bin").write_bytes(bytes(range(32)))
    return tmp_path


def released(*options: object, output: str = "out.csv") -> None:
    done("anonymize", "in.csv", "-p", "policy.yaml", "--key-file", "key.bin", "-o", output, *options)


def matched(*options: object) -> None:
    arguments = ["--qi", "age,zip", "--kind", "zip=category", "--k", "2", "--identifier", "name", "--other", "visit"]
    pl.read_csv("in.csv").head(12).write_csv("few.csv")
    method = ["--notion", "global-k1", "--method", "mingen", "--loss", "certainty"]
    done("anonymize", "few.csv", "-o", "out.csv", *arguments, *method, *options)


def masked(*options: object) -> None:
    done(
        "mask-dependence",
        "in.csv",
        "--a",
        "illness",
        "--b",
        "age",
        "--clusters",
        "5",
        "--c",
        "",
        "-o",
        "out.csv",
        *options,
    )


def spoil(path: Path, column: str) -> None:
    """Give the first row's column another cell, and the manifest the hash of the result."""
    frame = pl.read_csv(path, infer_schema=False)
    frame.with_columns(pl.Series(column, ["other", *frame[column][1:]])).write_csv(path)
    entries = manifest.read(path)
    manifest.manifest_path(path).write_text(json.dumps({**entries, "sha256": manifest.sha256(path)}))


# The file, judged by its manifest alone.


@pytest.mark.parametrize("external", [[], ["--external"]], ids=["internal", "external"])
@pytest.mark.parametrize("output", ["out.csv", "out.parquet"])
@pytest.mark.parametrize("recoding", ["cut", "tight", "label", "set"])
def test_classes_are_verified_by_the_manifest_alone(
    here: Path, external: list[str], output: str, recoding: str
) -> None:
    released(*external, "--recoding", recoding, output=output)
    for name in ("in.csv", "policy.yaml", "key.bin"):
        Path(name).unlink()
    outcome = done("verify", output)
    for held in (
        "k-anonymity (k = 3), by persons",
        "distinct-l-diversity (l = 2, sensitive = 'illness')",
        "t-closeness (t = 0.6, sensitive = 'illness', ground = 'auto')",
        "highest risk <= 0.25",
        "average risk <= 0.25",
    ):
        assert f"  holds: {held}\n" in outcome.out
    assert "not checked" not in outcome.out
    judged = json.loads(done("verify", output, "--json").out)
    assert judged["passed"] is judged["complete"] is True
    assert judged["smallest_class"] >= 4


def test_a_changed_class_fails_by_the_manifest_alone(here: Path) -> None:
    released()
    spoil(Path("out.csv"), "zip")
    outcome = run("verify", "out.csv")
    assert outcome.code == 1
    assert "failed: k-anonymity (k = 3), by persons: 1 classes with 1 records fail, worst 1" in outcome.out
    assert "failed: highest risk <= 0.25" in outcome.out


def test_matchings_are_verified_beside_the_original_and_not_checked_without_it(here: Path) -> None:
    matched()
    alone = run("verify", "out.csv")
    assert alone.code == 1
    assert "was judged in part" in alone.out
    assert "not checked: global-(k,1)-matching (k = 2): it compares published rows with the original ones" in alone.out
    assert "holds: global-(k,1)-matching (k = 2)" in done("verify", "out.csv", "--original", "few.csv").out
    spoil(Path("out.csv"), "zip")
    outcome = run("verify", "out.csv", "--original", "few.csv")
    assert outcome.code == 1
    assert "failed: global-(k,1)-matching" in outcome.out


def test_labels_that_a_manifest_does_not_tell_are_not_read(here: Path) -> None:
    """A hierarchy that lists values is not in a manifest: what depends on it is neither held nor failed without it."""
    zips = [f"{100 + i * 111}" for i in range(7)]
    Path("domains.txt").write_text(f"zip/low: {', '.join(zips[:3])}\n\nzip/high: {', '.join(zips[3:])}\n")
    matched("--domains", "domains.txt", "--set", "loss.certainty.weights={age: 0}")
    assert {"low", "high"} & set(pl.read_csv("out.csv")["zip"])
    outcome = run("verify", "out.csv", "--original", "few.csv")
    assert outcome.code == 1
    assert "not checked: global-(k,1)-matching (k = 2): labels of 'zip' mean what a hierarchy says" in outcome.out
    assert "failed" not in outcome.out
    assert not any(value in json.dumps(manifest.read(Path("out.csv"))["claim"]) for value in zips)
    Path("policy.yaml").write_text(
        "columns: {name: identifier, age: quasi-identifier, zip: {role: quasi-identifier, kind: category}, "
        "seen: other, illness: other, visit: other}\n"
        "models: ['global-(k,1)-matching': 2]\nmethod: mingen\ndomains: domains.txt\n"
    )
    done("verify", "out.csv", "-p", "policy.yaml", "--original", "few.csv")


def test_a_masked_table_is_verified_by_the_manifest_alone(here: Path) -> None:
    masked()
    outcome = done("verify", "out.csv")
    assert "holds: 5 clusters of equal size" in outcome.out
    assert "holds: 'illness' independent of 'cluster'" in outcome.out
    spoil(Path("out.csv"), "illness")
    outcome = run("verify", "out.csv")
    assert outcome.code == 1
    assert "failed: " in outcome.out


def test_a_population_is_not_in_a_manifest_and_what_counts_it_is_not_checked_without(here: Path) -> None:
    people = pl.read_csv("in.csv").select("age", "zip").vstack(pl.DataFrame({"age": [25, 30], "zip": [100, 211]}))
    people.write_csv("people.csv")
    Path("policy.yaml").write_text(
        "columns: {name: identifier, age: quasi-identifier, zip: {role: quasi-identifier, kind: category}, "
        "seen: other, illness: other, visit: other}\nmodels: [k-anonymity: 2, k-map: 5]\npopulation: people.csv\n"
    )
    done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv")
    assert "people" not in json.dumps(manifest.read(Path("out.csv"))["claim"])
    outcome = run("verify", "out.csv")
    assert outcome.code == 1
    assert "holds: k-anonymity (k = 2)\n" in outcome.out
    assert "not checked: k-map (k = 5): it counts a population" in outcome.out
    for arguments in (["--population", "people.csv"], ["-p", "policy.yaml"]):
        assert "holds: k-map (k = 5)\n" in done("verify", "out.csv", *arguments).out


def test_persons_who_are_not_published_are_counted_in_the_original(here: Path) -> None:
    hidden = POLICY.replace("{role: identifier, action: pseudonym}", "identifier")
    Path("policy.yaml").write_text(hidden.replace("accept: {name: a test}\n", ""))
    done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv")
    outcome = done("verify", "out.csv")
    assert "only its publisher could judge: k-anonymity (k = 3), by persons: its manifest says" in outcome.out
    assert run("verify", "out.csv", "--strict").code == 1
    assert "holds: k-anonymity (k = 3), by persons" in done("verify", "out.csv", "--original", "in.csv").out


def test_what_compares_with_dropped_records_is_not_judged_without_them(tmp_path: Path) -> None:
    ills = ["flu"] * 130 + ["hiv"] * 40 + ["cold"] * 30
    data = pl.DataFrame({"age": [20 + i % 40 for i in range(200)], "ill": ills})
    models = [ht.KAnonymity(5), ht.AlphaKAnonymity(0.6, 5, "ill"), ht.TCloseness(0.3, "ill")]
    release = ht.anonymize(data, quasi_identifiers=["age"], models=models, suppression_limit=0.2)
    assert release.drops_suppressed
    release.write(tmp_path / "out.csv")
    data.write_csv(tmp_path / "in.csv")
    outcome = done("verify", tmp_path / "out.csv")
    assert "only its publisher could judge: t-closeness (t = 0.3" in outcome.out
    assert "failed" not in outcome.out
    assert run("verify", tmp_path / "out.csv", "--strict").code == 1
    done("verify", tmp_path / "out.csv", "--strict", "--original", tmp_path / "in.csv")


def test_orders_are_not_in_a_manifest_and_what_asks_for_them_is_not_checked_without(here: Path) -> None:
    Path("policy.yaml").write_text(
        "columns: {name: identifier, age: quasi-identifier, zip: other, seen: other, visit: other,\n"
        "  illness: {role: sensitive, order: [flu, gout, asthma]}}\n"
        "models: [k-anonymity: 3, t-closeness: {t: 0.5, sensitive: illness, ground: ordered}]\n"
    )
    done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv")
    assert "gout" not in json.dumps(manifest.read(Path("out.csv"))["claim"])
    outcome = run("verify", "out.csv")
    assert outcome.code == 1
    assert "holds: k-anonymity (k = 3)\n" in outcome.out
    assert "not checked: t-closeness" in outcome.out
    done("verify", "out.csv", "-p", "policy.yaml")


# A policy beside the manifest.


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("k-anonymity: 3", "k-anonymity: 5", "'k-anonymity (k = 5), by persons'"),
        ("k-anonymity: 3", "k-anonymity: 2", "'k-anonymity (k = 2), by persons'"),
        ("t: 0.6", "t: 0.5", '"t-closeness (t = 0.5, '),
        ("highest_risk: 0.25", "highest_risk: 0.2", "'highest risk <= 0.2'"),
        ("average_risk: 0.25", "average_risk: 0.1", "'average risk <= 0.1'"),
        ("person: name\naccept: {name: a test}\n", "", "'k-anonymity (k = 3)'"),
        ("visit: other", "visit: quasi-identifier", "quasi-identifiers 'age', 'zip', 'seen', 'visit'"),
        ("age: quasi-identifier", "age: other", "quasi-identifiers 'zip', 'seen'"),
    ],
)
def test_a_policy_that_asks_for_something_else_is_an_error_that_names_it(
    here: Path, old: str, new: str, named: str
) -> None:
    released()
    done("verify", "out.csv", "-p", "policy.yaml")
    assert POLICY.count(old) == 1
    Path("policy.yaml").write_text(POLICY.replace(old, new))
    outcome = run("verify", "out.csv", "-p", "policy.yaml")
    assert outcome.code == 1
    assert f"the policy asks for {named}" in outcome.err
    assert "which the manifest of the release does not claim" in outcome.err
    with pytest.raises(ht.PolicyError, match="does not claim"):
        ht.Policy.read("policy.yaml").verify("out.csv")


def test_a_policy_asks_nothing_of_a_masked_table(here: Path) -> None:
    masked()
    policy = "columns: {name: other, age: identifier, zip: other, seen: other, illness: quasi-identifier, "
    Path("policy.yaml").write_text(f"{policy}visit: other, cluster: other}}\nmodels: [k-anonymity: 2]\n")
    outcome = run("verify", "out.csv", "-p", "policy.yaml")
    assert outcome.code == 1
    assert "the policy asks for 'k-anonymity (k = 2)'" in outcome.err


def test_a_policy_judges_as_the_command_does(here: Path) -> None:
    released()
    verdict = ht.Policy.read("policy.yaml").verify("out.csv")
    assert json.loads(done("verify", "out.csv", "-p", "policy.yaml", "--json").out) == {"form": 1, **verdict.to_dict()}
    Path("out.csv").write_text(Path("out.csv").read_text() + "\n")
    with pytest.raises(ht.VerificationError, match="SHA-256"):
        ht.Policy.read("policy.yaml").verify("out.csv")


# Claims as plain values.


CLAIMS = [
    Classes(("age", "zip"), (ht.KAnonymity(5),)),
    Classes(
        ("age",),
        (ht.KMap(3), ht.TCloseness(0.2, "ill", "ordered")),
        sensitive=("pay",),
        specs={"age": ColumnSpec("integer"), "ill": ColumnSpec("category")},
        hierarchies={"age": ht.Hierarchy.intervals(5, 10)},
        person="id",
        limits=Limits(0.2, 0.05),
        suppressed=None,
        is_whole=False,
    ),
    Matchings(("age", "zip"), (ht.GlobalK1(2), ht.Match1K(3)), ("pay",), {"zip": ColumnSpec("category")}),
    Independence(("a", "b"), "group", 5),
    Stated(("pay",), "PRAM (alpha = 0.8)"),
]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.kind)
def test_a_claim_goes_to_plain_values_and_back(claim: Any) -> None:
    entries = claim.to_dict()
    again = claim_from_dict(json.loads(json.dumps(entries)))
    assert type(again) is type(claim)
    assert again.to_dict() == entries
    assert again.conditions == claim.conditions
    assert again.sentence == claim.sentence
    assert again.columns == claim.columns


def test_the_claim_of_a_release_goes_to_its_manifest_and_back(here: Path) -> None:
    release = ht.anonymize("in.csv", policy="policy.yaml", key=bytes(range(32)))
    release.write("out.csv")
    again = manifest.claim_of("out.csv")
    assert again is not None
    assert again.to_dict() == release.claim.to_dict()
    assert again.verify("out.csv") == release.claim.verify("out.csv")


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.kind)
def test_a_claim_without_one_of_its_entries_or_with_another_type_is_our_error(claim: Any) -> None:
    entries = claim.to_dict()
    optional = {"sentence", "statement", "label", "n_clusters", "suppressed", "person", "is_fresh", "is_whole"}
    for name in entries.keys() - optional:
        for spoilt in ({key: value for key, value in entries.items() if key != name}, {**entries, name: 7}):
            with pytest.raises(ht.InputError):
                claim_from_dict(spoilt)


@pytest.mark.parametrize("given", [None, [], "classes", {}, {"kind": "perfect"}, {"kind": ["classes"]}])
def test_what_is_no_claim_is_our_error(given: Any) -> None:
    with pytest.raises(ht.InputError, match="kind"):
        claim_from_dict(given)


@pytest.mark.parametrize("hierarchy", ["/etc/passwd", "auto", ["a"]])
def test_a_manifest_names_no_file_to_read(hierarchy: Any) -> None:
    entries = {**CLAIMS[0].to_dict(), "hierarchies": {"age": hierarchy}}
    with pytest.raises(ht.InputError, match="hierarchies"):
        claim_from_dict(entries)


# What goes with the file.


def leaves(entries: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """All plain values at any depth, each with where it stands."""
    inner = entries.items() if isinstance(entries, dict) else enumerate(entries) if isinstance(entries, list) else None
    if inner is None:
        yield place, entries
        return
    for key, entry in inner:
        yield from leaves(entry, f"{place}.{key}" if place else str(key))


ASKED = {
    *("form", "claim.form"),
    *("claim.models.0.k-anonymity.k", "claim.models.1.distinct-l-diversity.l", "claim.models.2.t-closeness.t"),
    *("claim.limits.highest_risk", "claim.limits.average_risk", "exposure_limit.columns", "exposure_limit.rate"),
    *("claim.hierarchies.zip.codes.lengths.0", "claim.hierarchies.zip.codes.lengths.1"),
    *("claim.models.0.global-(k,1)-matching.k", "claim.n_clusters"),
}
"""Where numbers stand that were asked for, and are in no way counted."""


@pytest.mark.parametrize("write", [released, matched, masked], ids=["classes", "matchings", "masked"])
def test_an_external_manifest_tells_no_path_no_hash_no_count_and_no_distribution_but_the_files(
    here: Path, write: Any
) -> None:
    if write is masked:
        accept = dict.fromkeys(["name", "visit"], "made up")
        ht.mask_dependence("in.csv", a=["illness"], b=["age"], clusters=5, accept=accept).write(
            "out.csv", "clusters.csv", external=True
        )
    else:
        write("--external")
    rows = pl.read_csv("out.csv", infer_schema=False)
    source = pl.read_csv("in.csv", infer_schema=False)
    entries = manifest.read(Path("out.csv"))
    told = dict(leaves(entries))
    numbers = {place: value for place, value in told.items() if type(value) in (int, float)}
    assert numbers.pop("n_records") == rows.height
    # A round number: how many persons there are at least, the table does not tell.
    assert str(numbers.pop("persons.in_all", 10)).rstrip("0") in map(str, range(1, 100))
    assert set(numbers) <= ASKED
    texts = {place: value for place, value in told.items() if isinstance(value, str)}
    assert texts.pop("sha256") == manifest.sha256(Path("out.csv"))
    assert texts.pop("file") == "out.csv"
    texts.pop("hushtable")
    assert not any("/" in text or "\\" in text or ".csv" in text or ".yaml" in text for text in texts.values())
    assert not any(len(text) >= 32 and set(text) <= set("0123456789abcdef") for text in texts.values())
    cells = {cell for name in source.columns for cell in source[name].unique() if not cell.isdigit()}
    assert not any(cell in text for cell in cells for text in texts.values())
    lists = [value for value in _lists(entries) if value and not isinstance(value[0], (str, dict))]
    assert lists in ([], [[2, 1]])


def _lists(entries: Any) -> Iterator[list[Any]]:
    if isinstance(entries, list):
        yield entries
    for entry in entries.values() if isinstance(entries, dict) else entries if isinstance(entries, list) else ():
        yield from _lists(entry)


@pytest.mark.parametrize(("claim", "model"), [(Classes, ht.KAnonymity(2)), (Matchings, ht.GlobalK1(2))])
def test_a_policy_never_replaces_ranges_of_codes_that_a_claim_tells(claim: Any, model: Any) -> None:
    told = {"dictionary": {"file": "europe"}}
    made, asked = (
        claim(("zip", "land"), (model,), hierarchies=given)
        for given in ({"land": told, "zip": None}, dict.fromkeys(("land", "zip"), "auto"))
    )
    assert made.with_knowledge_of(asked).hierarchies == {"land": told, "zip": "auto"}
