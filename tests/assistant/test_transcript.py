"""A transcript holds every byte, and a replay tells whatever was changed."""

import json

import pytest

pytest.importorskip("mcp")

from assistant_client import MODES, served, small_people
from command import run
from hushtable.assistant import AssistantOptions, verify_transcript
from hushtable.assistant.memory import make_private_folder
from hushtable.assistant.transcript import chain_hash
from hushtable.errors import VerificationError


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "people.csv"
    small_people().write_csv(path)
    return path


@pytest.fixture(scope="module")
def session(table, tmp_path_factory):
    """One session with every kind of message, in the stateless era; its state folder and transcript."""
    options = AssistantOptions(table, person="", state=tmp_path_factory.mktemp("state"))
    with served(options, has_page=False) as each:
        client = each.client
        client.ask("tools/list", {})
        client.call("look")
        client.call("values", id="c04")
        draft = client.call("propose", columns=[{"id": "c04", "ladder": "prefix 3"}], k=5)["draft"]
        client.call("judge", draft=draft, ks=[5, 10])
        client.call("judge", draft=draft, ks=[5])
        client.send_bytes(b"\xff no message {")
        client.send_bytes(b"")
        client.call("look", start=0)
        client.ask("no/such", {})
    return each


def test_the_transcript_holds_every_byte_of_both_ways(session):
    lines = [json.loads(text) for text in session.transcript.read_bytes().splitlines()]
    told = {
        kind: [line["content"].encode("utf-8", "surrogateescape") for line in lines if line["kind"] == kind]
        for kind in ("in", "out")
    }
    assert told["in"] == session.client.sent
    assert told["out"] == session.client.got
    assert oct(session.transcript.stat().st_mode)[-3:] == "600"


def test_no_folder_of_the_state_is_open_to_others(tmp_path):
    state = tmp_path / "state"
    state.mkdir(mode=0o755)
    make_private_folder(state / "tables" / "one" / "policies")
    assert oct(state.stat().st_mode)[-3:] == "755"
    assert {oct(each.stat().st_mode)[-3:] for each in state.rglob("*")} == {"700"}


def test_a_replay_gives_the_same_bytes(session, table):
    verdict = verify_transcript(session.transcript, table)
    assert verdict.passed, verdict.differences
    assert verdict.n_verdicts == 2
    assert verdict.facts[0].startswith(f"All {len(session.client.got)} messages")


def _write_chained(path, lines):
    """Write lines with hashes that fit, as somebody does who forges a transcript."""
    before, texts = "0" * 64, []
    for line in lines:
        before = chain_hash(before, line["kind"], line["content"])
        texts.append(json.dumps({**line, "chain": before}))
    path.write_text("\n".join([*texts, ""]), encoding="ascii")


def test_a_changed_line_breaks_the_chain(session, table, tmp_path):
    raw = session.transcript.read_bytes()
    lines = raw.splitlines(keepends=True)
    middle = len(lines) // 2
    changed = {
        "flipped": [raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :] for place in range(0, len(raw), 499)],
        "removed": [b"".join(lines[:n] + lines[n + 1 :]) for n in range(len(lines))],
        "swapped": [b"".join([*lines[:n], lines[n + 1], lines[n], *lines[n + 2 :]]) for n in range(len(lines) - 1)],
        "cut": [raw[:-1], b"".join(lines[:middle]), b""],
    }
    path = tmp_path / "changed.jsonl"
    for how, texts in changed.items():
        for text in texts:
            path.write_bytes(text)
            with pytest.raises(VerificationError):
                verify_transcript(path, table)
        assert texts, how


@pytest.mark.parametrize("what", ["answer", "added", "removed", "bits", "sheet"])
def test_a_forged_line_does_not_follow(what, session, table):
    lines = [json.loads(text) for text in session.transcript.read_text().splitlines()]
    answers = [place for place, line in enumerate(lines) if line["kind"] == "out"]
    if what == "answer":
        forged = next(lines[place] for place in answers if "feasible" in lines[place]["content"])
        forged["content"] = forged["content"].replace("true", "false")
    elif what == "added":
        lines.insert(-1, {"kind": "out", "content": '{"jsonrpc":"2.0","method":"notifications/message","params":{}}'})
    elif what == "removed":
        del lines[answers[-1]]
    elif what == "bits":
        lines[-1]["content"]["bits"] = 0.0
    else:
        lines[0]["content"]["sheet"]["columns"][1]["role"] = "other"
    path = session.transcript.with_name(f"{what}.jsonl")
    _write_chained(path, lines)
    verdict = verify_transcript(path, table)
    assert not verdict.passed
    assert verdict.differences


def test_other_limits_are_refused(session, table):
    for change in ({"least": 20}, {"menu": 2}):
        lines = [json.loads(text) for text in session.transcript.read_text().splitlines()]
        lines[0]["content"]["terms"] |= change
        path = session.transcript.with_name("limits.jsonl")
        _write_chained(path, lines)
        with pytest.raises(VerificationError):
            verify_transcript(path, table)


def test_another_table_or_version_is_refused_by_the_command(session, table, tmp_path):
    other = tmp_path / "people.csv"
    small_people(239).write_csv(other)
    told = run("verify", "--transcript", session.transcript, "--original", other)
    assert (told.code, "its SHA-256 differs" in told.err) == (1, True)
    lines = [json.loads(text) for text in session.transcript.read_text().splitlines()]
    lines[0]["content"]["hushtable"] = "0.0.1"
    _write_chained(session.transcript.with_name("old.jsonl"), lines)
    told = run("verify", "--transcript", session.transcript.with_name("old.jsonl"), "--original", table)
    assert (told.code, "written by hushtable 0.0.1" in told.err) == (1, True)
    told = run("verify", "--transcript", session.transcript)
    assert (told.code, "--original" in told.err) == (2, True)


def test_the_command_says_what_holds(session, table):
    told = run("verify", "--transcript", session.transcript, "--original", table, "--json")
    assert told.code == 0
    assert json.loads(told.out)["passed"]


def test_the_handshake_era_is_replayed_too(table, tmp_path):
    with served(AssistantOptions(table, person="", state=tmp_path), MODES[0], has_page=False) as each:
        each.client.call("look")
        each.client.call("judge", draft="policy", ks=[20])
    assert verify_transcript(each.transcript, table).passed
