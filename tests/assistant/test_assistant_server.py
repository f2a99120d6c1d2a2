"""The server as a process and over pipes: what else could leave it, what stops it, and what it costs others."""

import json
import os
import random
import subprocess
import sys
import threading

import polars as pl
import pytest

pytest.importorskip("mcp")

from assistant_client import MODES, served, small_people
from campaign import canaries
from hushtable.assistant import AssistantOptions, session as sessions, verify_transcript
from hushtable.assistant.verdicts import AssistantVerdict


def test_a_cancelled_call_stops_its_work(tmp_path, monkeypatch):
    begun, left = threading.Event(), threading.Event()

    def work(_source, _policy, progress):
        try:
            while True:
                begun.set()
                progress(0.5)
        finally:
            left.set()

    small_people(120).write_csv(tmp_path / "t.csv")
    with served(AssistantOptions(tmp_path / "t.csv", person="", state=tmp_path / "s"), has_page=False) as each:
        client = each.client
        with monkeypatch.context() as patched:
            patched.setattr(sessions, "judge_policy", work)
            about = {"protocolVersion": MODES[1], "clientInfo": {"name": "x", "version": "1"}, "clientCapabilities": {}}
            meta = {f"io.modelcontextprotocol/{name}": value for name, value in about.items()}
            params = {"name": "judge", "arguments": {"draft": "policy", "ks": [5]}, "_meta": meta}
            client.send({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": params})
            assert begun.wait(60)
            cancel = {"requestId": 77, "reason": "x", "_meta": meta}
            client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel})
            assert left.wait(60)
        assert client.call("look")["n_columns"] == 6
        # The place is taken, and the question can be asked again.
        assert client.call("judge", draft="policy", ks=[5])["verdicts"][0]["feasible"]
        assert len(list((tmp_path / "s" / "verdicts").rglob("01.json"))) == 1
    verdict = verify_transcript(each.transcript, tmp_path / "t.csv")
    assert verdict.passed, verdict.differences


def test_a_planted_leak_is_found(tmp_path, monkeypatch):
    """The canaries are worth something: with the text of an error in the answer they are seen."""

    def leak(code):
        return {"data": {"code": code, "means": str(sys.exc_info()[1])}}

    monkeypatch.setattr(canaries, "_FAULTS", ("parse_proposal", "judge_policy"))
    monkeypatch.setattr(sessions, "_code", leak)
    found = []
    for seed in range(3):
        folder = tmp_path / str(seed)
        folder.mkdir()
        found += [failure.what for failure in canaries.case(random.Random(seed), folder).failures]
    assert "a canary reached the assistant" in found


@pytest.mark.parametrize("mode", MODES)
def test_no_text_of_an_error_is_sent_when_decisions_cannot_be_read(mode, tmp_path, monkeypatch):
    """The SDK sends the text of an error in the handshake era."""

    def fail(*_):
        raise OSError("/home/Zq7X/state")

    small_people(120).write_csv(tmp_path / "t.csv")
    with served(AssistantOptions(tmp_path / "t.csv", person="", state=tmp_path / "s"), mode, has_page=False) as each:
        monkeypatch.setattr(type(each.opened.door), "read_state", fail)
        assert each.client.call("look")["code"] == "FAULT"
    assert b"Zq7X" not in b"".join(each.client.got)


def test_nobody_else_imports_the_sdk():
    script = (
        "import sys, hushtable, hushtable.cli, hushtable.assistant\n"
        "hushtable.cli.build_app('assist', 'verify')\n"
        "print(sorted({'mcp', 'anyio', 'starlette'} & sys.modules.keys()))"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def planted_table(path, n=2_500):
    """A table with 10,000 unique strings."""
    cells = {name: [f"Zq7X{name}{i}k" for i in range(n)] for name in ("name", "mail", "note", "street")}
    ages = {"age": [str(20 + i % 50) for i in range(n - 1)] + ["=Zq7Xodd"], "sex": ["f", "m"] * (n // 2)}
    pl.DataFrame({**cells, **ages}).write_csv(path)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_real_process_leaks_nothing_to_its_log_either(mode, tmp_path):
    import anyio
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    home = tmp_path / "Zq7Xfolder"
    home.mkdir()
    planted_table(home / "Zq7Xfile.csv")
    state = tmp_path / "state"
    arguments = ["-m", "hushtable", "assist", str(home / "Zq7Xfile.csv"), "--one-record", "--state", str(state)]
    environment = {**os.environ, "BROWSER": "true"}
    parameters = StdioServerParameters(command=sys.executable, args=arguments, env=environment)

    async def run(log):
        async with Client(stdio_client(parameters, errlog=log), mode=mode) as client:

            async def call(tool, **given):
                result = await client.call_tool(tool, given)
                return json.loads(result.content[0].text)["data"]

            columns = (await call("look"))["columns"]
            asked = [each["id"] for each in columns if each["role"] == "ask"]
            changes = [{"id": each, "role": "leave out"} for each in asked]
            draft = (await call("propose", columns=changes))["draft"]
            await call("judge", draft=draft, ks=[5, 10])
            await call("why_not", draft=draft, k=5)
            await call("values", id="c06")
            await call("judge", draft="no")
            await call("request_signature", draft=draft)
            await call("request_signature", draft=draft)
            await call("report")
            lines = [path.read_bytes() for path in (tmp_path / "state" / "transcripts").iterdir()]
            running = [path.read_bytes() for path in pathlib_proc()]
            return lines, running

    with (tmp_path / "log").open("w") as log:
        lines, running = anyio.run(run, log)
    (transcript,) = (state / "transcripts").iterdir()
    raw = transcript.read_bytes()
    assert b"Zq7X" not in raw
    assert "Zq7X" not in (tmp_path / "log").read_text()
    assert b"token=" not in raw
    assert not any(b"token=" in each for each in running if b"hushtable" in each and b"assist" in each)
    assert lines
    assert verify_transcript(transcript, home / "Zq7Xfile.csv").passed


def pathlib_proc():
    """The command lines of running processes, where the system shows them."""
    from pathlib import Path

    return [path for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]


@pytest.mark.slow
def test_fifty_verdicts_on_many_records_are_replayed(tmp_path):
    from hushtable import datasets

    datasets.people(30_000, seed=3).write_csv(tmp_path / "people.csv")
    with served(AssistantOptions(tmp_path / "people.csv", person="", state=tmp_path / "s"), has_page=False) as each:
        client, told = each.client, []
        for ladder in ("own cuts", "prefix 1", "prefix 2", "prefix 3", "prefix 4"):
            for importance in (1, 3):
                change = [{"id": "c05", "ladder": ladder, "importance": importance}]
                draft = client.call("propose", columns=change)["draft"]
                told += client.call("judge", draft=draft, ks=[5, 10, 15, 20, 50])["verdicts"]
        assert len(told) == 50
    verdict = verify_transcript(each.transcript, tmp_path / "people.csv")
    assert verdict.passed
    assert verdict.n_verdicts == 50


def test_a_verdict_is_plain_data():
    assert AssistantVerdict(False, "NOT_FEASIBLE").to_dict()["reason"] == "NOT_FEASIBLE"
