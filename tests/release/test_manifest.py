"""The manifest: what it ties together, and what the external one leaves out."""

import hashlib
import json
import re

import polars as pl
import pytest

from hushtable.claims import Verdict
from hushtable.errors import HushError, InputError, VerificationError
from hushtable.models import AlphaKAnonymity, DistinctLDiversity, KAnonymity
from hushtable.policy import Policy
from hushtable.policy.protecting import anonymize
from hushtable.release.manifest import check_hash, compare_with, manifest_path, read, sha256

UNDOING = {
    *("loss", "quality", "trace", "seed", "policy", "n_classes", "smallest_class", "n_suppressed", "removed"),
    *("gap", "bound", "nodes", "discernibility"),
}
"""What helps to undo a release."""

POLICY = Policy.parse(
    """
    columns: {age: quasi-identifier, job: quasi-identifier, pay: sensitive}
    models: [k-anonymity: 2, distinct-l-diversity: {l: 2, sensitive: pay}]
    method: {genetic: {seed: 20260101}}
    """
)


@pytest.fixture
def people():
    return pl.DataFrame(
        {
            "age": [31, 34, 52, 57, 58, 58],
            "job": ["canary-nurse", "canary-cook", "clerk", "clerk", "canary-smith", "clerk"],
            "pay": [10_987, 20_876, 30_765, 40_654, 50_543, 60_432],
        }
    )


@pytest.fixture
def release(people):
    return anonymize(people, quasi_identifiers=["age", "job"], models=[KAnonymity(2), DistinctLDiversity(2, "pay")])


def written(release, path, **options):
    release.write(path, policy=POLICY.to_dict(), **options)
    return path


def names_in(entries):
    """All names at any depth."""
    if isinstance(entries, dict):
        return set(entries) | {name for entry in entries.values() for name in names_in(entry)}
    if isinstance(entries, list):
        return {name for entry in entries for name in names_in(entry)}
    return set()


def test_manifest_is_beside_the_release(tmp_path):
    assert manifest_path(tmp_path / "a.b.csv") == tmp_path / "a.b.csv.manifest.json"


def test_sha256_is_that_of_the_bytes(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"\0abc" * 100_000)
    assert sha256(path) == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "naïve 😀.csv"])
def test_written_release_matches_its_manifest(release, tmp_path, name):
    path = written(release, tmp_path / name)
    entries = read(path)
    check_hash(path, entries)
    assert entries["file"] == name
    assert entries["verified"] is True
    claim = entries["claim"]
    assert claim["models"] == [{"k-anonymity": {"k": 2}}, {"distinct-l-diversity": {"l": 2, "sensitive": "pay"}}]
    assert "k-anonymity (k = 2)" in claim["sentence"]


def test_one_changed_byte_is_found(release, tmp_path):
    path = written(release, tmp_path / "out.csv")
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(VerificationError, match="SHA-256 differs"):
        check_hash(path, read(path))


@pytest.mark.parametrize("claimed", ["", None, 5, "abc"])
def test_hash_that_is_none_does_not_match(tmp_path, claimed):
    path = tmp_path / "out.csv"
    path.write_text("a\n1\n")
    with pytest.raises(VerificationError):
        check_hash(path, {"sha256": claimed})


def test_missing_release_is_our_error(tmp_path):
    with pytest.raises(HushError):
        check_hash(tmp_path / "gone.csv", {"sha256": "0" * 64})


def test_missing_manifest(tmp_path):
    with pytest.raises(InputError, match=r"gone\.csv\.manifest\.json"):
        read(tmp_path / "gone.csv")


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe{}", b"[]", b'"sha256"', b"{}", b'{"sha": "x"}', b"null"])
def test_corrupt_manifest(tmp_path, content):
    manifest_path(tmp_path / "out.csv").write_bytes(content)
    with pytest.raises(InputError, match="manifest"):
        read(tmp_path / "out.csv")


def test_error_quotes_nothing_of_a_corrupt_manifest(tmp_path):
    manifest_path(tmp_path / "out.csv").write_text('{"canary-7391": ')
    with pytest.raises(InputError) as error:
        read(tmp_path / "out.csv")
    assert "canary" not in str(error.value)
    assert error.value.__cause__ is None
    assert error.value.__suppress_context__


def test_internal_manifest_says_how_the_release_came_about(release, tmp_path):
    entries = read(written(release, tmp_path / "out.csv"))
    assert {"loss", "quality", "trace", "n_classes", "smallest_class"} <= set(entries)
    assert entries["policy"]["method"] == {"genetic": {"seed": 20260101}}
    assert entries["n_suppressed"] == 0


def test_external_manifest_leaves_out_what_helps_to_undo(release, tmp_path):
    path = written(release, tmp_path / "out.csv", external=True)
    entries = read(path)
    assert not names_in(entries) & UNDOING
    assert "20260101" not in manifest_path(path).read_text()
    check_hash(path, entries)


def test_external_manifest_still_says_what_it_claims(release, tmp_path):
    entries = read(written(release, tmp_path / "out.csv", external=True))
    assert {"claim", "recoding", "sha256", "n_records", "verified"} <= set(entries)
    assert {"models", "columns", "kinds", "sensitive"} <= set(entries["claim"])
    assert entries["recoding"] == "tight"


def test_an_external_manifest_holds_these_entries_and_no_others(release, dropping, tmp_path):
    known = {"claim", "hushtable", "file", "sha256", "n_records", "verified", "dialect", "recoding", "pseudonymized"}
    known |= {"accepted", "fresh", "form"}
    claimed = {"columns", "form", "hierarchies", "is_fresh", "is_whole", "kind", "kinds", "limits", "models", "origins"}
    claimed |= {"person", "sensitive", "sentence", "spellings", "suppressed"}
    for each in (release, dropping):
        path = written(each, tmp_path / "out.csv", external=True, overwrite=True)
        entries = read(path)
        assert set(entries) == known
        # Nothing in it says how the search went: not in the claim either.
        assert set(entries["claim"]) <= claimed


@pytest.fixture
def dropping():
    """A release that drops 25 of 200 records."""
    ills = ["flu"] * 130 + ["hiv"] * 40 + ["cold"] * 30
    frame = pl.DataFrame({"age": [20 + i % 40 for i in range(200)], "ill": ills})
    models = [KAnonymity(5), AlphaKAnonymity(0.6, 5, "ill")]
    return anonymize(frame, quasi_identifiers=["age"], models=models, suppression_limit=0.2)


def numbers_in(entries):
    """All whole numbers at any depth, those inside texts too."""
    return {int(number) for number in re.findall(r"\d+", json.dumps({**entries, "sha256": ""}))}


def test_external_counts_published_records(dropping, tmp_path):
    """The difference of the two counts would be the exact number of suppressed records."""
    assert (dropping.n_suppressed, dropping.drops_suppressed) == (25, True)
    entries = read(written(dropping, tmp_path / "out.csv", external=True))
    assert entries["n_records"] == 175 == pl.read_csv(tmp_path / "out.csv").height
    assert not numbers_in(entries) & {25, 200}


def test_internal_counts_the_records_of_the_file_and_those_dropped(dropping, tmp_path):
    entries = read(written(dropping, tmp_path / "out.csv"))
    assert (entries["n_records"], entries["n_suppressed"]) == (175, 25)


@pytest.mark.parametrize("is_external", [False, True])
def test_manifest_holds_no_cell(release, tmp_path, is_external):
    text = manifest_path(written(release, tmp_path / "out.csv", external=is_external)).read_text()
    assert "canary" not in text
    assert not any(str(pay) in text for pay in (10_987, 20_876, 30_765, 40_654, 50_543, 60_432))


@pytest.mark.parametrize("is_external", [False, True])
def test_only_the_internal_manifest_holds_a_hash_of_the_input(people, tmp_path, is_external):
    source = tmp_path / "in.csv"
    people.write_csv(source)
    release = anonymize(source, quasi_identifiers=["age"], models=[KAnonymity(2)])
    path = written(release, tmp_path / "out.csv", external=is_external)
    text = manifest_path(path).read_text()
    digests = {hashlib.new(name, source.read_bytes()).hexdigest() for name in ("md5", "sha1", "sha256", "sha512")}
    assert any(digest in text for digest in digests) is not is_external
    hashes = {entry for entry in read(path).values() if isinstance(entry, str) and len(entry) == 64}
    assert hashes == {sha256(path)}


def test_manifest_is_json_that_others_can_read(release, tmp_path):
    path = written(release, tmp_path / "out.csv")
    raw = manifest_path(path).read_bytes()
    assert raw.endswith(b"\n")
    assert json.loads(raw.decode("utf-8")) == read(path)


@pytest.mark.parametrize("removed", [["name"], []])
def test_a_file_with_a_column_that_the_manifest_says_was_removed_does_not_hold(tmp_path, removed):
    path, stated = tmp_path / "out.csv", "no column that the manifest says was removed"
    path.write_text("age,name\n1,x\n")
    manifest_path(path).write_text(json.dumps({"sha256": sha256(path), "n_records": 1, "removed": removed}))
    judged = compare_with(Verdict((), (), ("age",), 1), path, ("age", "name"))
    assert (stated in judged.conditions, judged.passed) == (bool(removed), not removed)
    assert [str(failure.condition) for failure in judged.failures] == [f"{stated}: the file has 'name'"] * bool(removed)
    assert compare_with(judged, path, ("age",)).failures == judged.failures
