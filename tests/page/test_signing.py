"""A person signs what was seen: what speaks against it first, a record, and what `verify` says of it."""

import json
import re

import polars as pl
import pytest

from command import done, run
from hushtable.errors import InputError, VerificationError
from hushtable.policy import Policy
from hushtable.release import SignOff, read_sign_off
from served_page import fault_in, served

PERSON = {"person": "Dr. Ada Muster", "date": "2026-01-31", "audience": "recipients under a contract"}
POLICY = (
    "columns: {age: quasi-identifier, town: quasi-identifier, illness: sensitive}\nmodels: [k-anonymity: 2]\n"
    "accept: {}\n"
)


def serve_people(folder, illness=lambda i: f"ill{i % 37}"):
    rows = {"age": [30 + i % 4 for i in range(80)], "town": ["Bonn", "Ulm"] * 40}
    pl.DataFrame({**rows, "illness": [illness(i) for i in range(80)]}).write_csv(folder / "people.csv")
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    return served(folder)


def sign(visitor, name="out.csv", **changes):
    seen = re.search(r'name="seen" value="(\w+)"', visitor.get("/sign"))[1]
    fields = {**PERSON, "comment": "The contract forbids linking.", "sign": "yes", "seen": seen, "name": name}
    answer = visitor.do("write", **{**fields, **changes})
    visitor.settle()
    return answer


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("signed")
    with serve_people(folder) as visitor:
        visitor.open("people.csv")
        visitor.get("/look")
        before = visitor.get("/sign")
        assert sign(visitor) == "/sign"
        assert visitor.server.desk.fault == ""
        yield folder, before, visitor.get("/sign")


def test_what_speaks_against_signing_stands_first(signed):
    _, before, after = signed
    main = before.partition("<main")[2]
    assert main.index("What speaks against signing") < main.index('action="/do/write"')
    assert "a reader who also knows illness finds" in main
    # No green where something speaks against it: neither before nor after, nor in what the side says.
    assert 'class="good"' not in re.sub('class="report contested".*', "", before, flags=re.DOTALL)
    assert re.search('class="told"[^>]*id="written"', after)


def test_the_record_lies_beside_the_file_and_in_the_report(signed):
    folder, _, after = signed
    record = json.loads((folder / "out.csv.signed.json").read_text(encoding="utf-8"))
    assert (record["person"], record["audience"]) == (PERSON["person"], PERSON["audience"])
    assert record["objections"]
    page = (folder / "out.csv.report.html").read_text(encoding="utf-8")
    for told in (record["sha256"], record["policy_sha256"], record["record_sha256"], PERSON["person"]):
        assert told in page
    assert "no cryptographic signature" in page
    assert "Signed by Dr. Ada Muster on 2026-01-31" in after


def test_verify_shows_who_signed(signed, monkeypatch):
    folder, _, _ = signed
    monkeypatch.chdir(folder)
    told = run("verify", "out.csv")
    assert told.code == 0
    assert "Signed by Dr. Ada Muster on 2026-01-31 for recipients under a contract: The contract forbids" in told.out
    assert "spoke against signing: " in told.out
    assert "no cryptographic signature" in told.out
    found = json.loads(done("verify", "out.csv", "--json").out)
    assert found["signed"]["person"] == PERSON["person"]
    assert "the policy is the one that was signed" in found["held"]


def alter(folder, what):
    """Change one of the files, and return those that put it back."""
    names = {"record": "out.csv.signed.json", "policy": "policy.yaml", "claim": "out.csv.manifest.json"}
    path = folder / names[what]
    text = path.read_text(encoding="utf-8")
    old, new = {"record": ("Ada", "Eve"), "policy": ("sensitive", "other"), "claim": ('"k": 2', '"k": 1')}[what]
    assert old in text
    # The claim is what a manifest ends with.
    path.write_text(new.join(text.rsplit(old, 1)), encoding="utf-8")
    return path, text


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("record", "was altered after it was signed"),
        ("policy", "the policy is the one that was signed: the SHA-256 differs"),
        ("claim", "the claim is the one that was signed: the SHA-256 differs"),
    ],
)
def test_what_was_altered_is_told_by_every_door(signed, monkeypatch, what, says):
    folder, _, _ = signed
    monkeypatch.chdir(folder)
    path, text = alter(folder, what)
    try:
        told = run("verify", "out.csv")
        assert told.code == 1
        assert says in told.out
        if what == "record":
            assert "Eve" not in told.out
        if what != "claim":
            verdict = Policy.parse(POLICY).verify(folder / "out.csv")
            assert not verdict.passed
    finally:
        path.write_text(text, encoding="utf-8")
    assert run("verify", "out.csv").code == 0


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"person": 3}', "null", '{"record_sha256": "x", "objections": []}', "another name before"]
)
def test_a_record_that_cannot_be_read_is_a_failure(signed, monkeypatch, text):
    folder, _, _ = signed
    monkeypatch.chdir(folder)
    path = folder / "out.csv.signed.json"
    kept = path.read_text(encoding="utf-8")
    # Who reads the file sees the first name, and its digest is that of the last.
    twice = kept.replace('"person":', '"person": "Eve", "person":', 1)
    path.write_text(twice if text == "another name before" else text, encoding="utf-8")
    try:
        with pytest.raises(VerificationError, match="no signed record"):
            read_sign_off(folder / "out.csv")
        assert run("verify", "out.csv").code == 1
    finally:
        path.write_text(kept, encoding="utf-8")


def test_whoever_has_no_policy_hears_that_it_was_not_compared(signed, monkeypatch, tmp_path):
    folder, _, _ = signed
    for name in ("out.csv", "out.csv.manifest.json", "out.csv.signed.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    told = run("verify", "out.csv")
    assert told.code == 0
    assert "its signed record holds the policy's SHA-256" in told.out
    assert run("verify", "out.csv", "--strict").code == 1


def test_a_changed_file_is_told(signed, monkeypatch):
    folder, _, _ = signed
    monkeypatch.chdir(folder)
    path, kept = folder / "out.csv", (folder / "out.csv").read_bytes()
    path.write_bytes(kept.replace(b"ill1", b"ill2", 1))
    try:
        assert run("verify", "out.csv").code != 0
    finally:
        path.write_bytes(kept)


def test_nobody_signs_what_was_not_seen_or_answered(tmp_path):
    with serve_people(tmp_path) as visitor:
        desk = visitor.open("people.csv")
        shown = visitor.get("/sign")
        assert re.search(r'<button[^>]*id="sign"[^>]* disabled', shown)
        assert "Look at what is published first" in shown
        assert "cannot be signed yet" in fault_in(sign(visitor))
        visitor.get("/look")
        assert not re.search(r'<button[^>]*id="sign"[^>]* disabled', visitor.get("/sign"))
        refused = sign(visitor, comment=" ")
        assert "say in the comment why you sign all the same" in fault_in(refused)
        # What was typed is still there.
        assert "Dr. Ada Muster" in refused
        for field, entry, says in (
            ("person", "", "nobody signs"),
            ("date", "31.1.2026", "is no date"),
            ("date", "9999-01-01", "in the future"),
            ("audience", "Eve", "is no audience"),
            ("seen", "0" * 32, "in another tab or by hand"),
        ):
            assert says in fault_in(sign(visitor, **{field: entry})), field
        assert not [*tmp_path.glob("out.csv*")]
        assert desk.written is None


def test_a_new_file_has_no_old_signature(tmp_path):
    with serve_people(tmp_path) as visitor:
        desk = visitor.open("people.csv")
        visitor.get("/look")
        sign(visitor)
        assert (tmp_path / "out.csv.signed.json").is_file()
        visitor.do("write", name="out.csv", overwrite="yes")
        assert visitor.settle().written.signed is None
        assert not (tmp_path / "out.csv.signed.json").exists()
        assert "Nobody has signed it" in visitor.get("/sign")
        assert desk.fault == ""


def test_other_roles_and_earlier_releases_speak_against_signing(tmp_path):
    with serve_people(tmp_path) as visitor:
        visitor.open("people.csv")
        visitor.do("write", name="first.csv")
        visitor.settle()
        visitor.do("write", name="second.csv")
        visitor.settle()
        assert "first.csv was released before" in visitor.get("/sign")


def test_a_clean_release_is_green(tmp_path):
    pl.DataFrame({"age": [30 + i % 2 for i in range(80)], "town": ["Bonn", "Ulm"] * 40}).write_csv(tmp_path / "p.csv")
    text = "columns: {age: quasi-identifier, town: quasi-identifier}\nmodels: [k-anonymity: 2]\n"
    (tmp_path / "policy.yaml").write_text(text, encoding="utf-8")
    with served(tmp_path) as visitor:
        visitor.open("p.csv")
        visitor.get("/look")
        assert "Nothing that hushtable looks for speaks against signing" in visitor.get("/sign")
        assert sign(visitor, comment="") == "/sign"
        shown = visitor.get("/sign")
        assert re.search('class="good"[^>]*id="written"', shown)
        visitor.do("move", k=3, suppression="0", method="mondrian", recoding="readable")
        visitor.settle()
        # Older good news goes.
        assert not re.search('class="good"[^>]*id="written"', visitor.get("/sign"))


def test_a_sign_off_holds_one_line_of_text():
    entries = {**PERSON, "comment": "", "objections": (), "file": "a.csv", "sha256": "", "claim_sha256": ""}
    entries |= {"policy": "policy.yaml", "policy_sha256": ""}
    assert SignOff(**entries).sentence == "Signed by Dr. Ada Muster on 2026-01-31 for recipients under a contract"
    for change in ({"person": "a\nb"}, {"comment": 3}, {"policy": "../x"}, {"comment": "a" * 2001}):
        with pytest.raises(InputError):
            SignOff(**{**entries, **change})
