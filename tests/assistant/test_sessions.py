"""Three sessions end with the same release as the clicks of a person: a steward, an engineer in CI, a researcher."""

import json
import re
import shutil

import polars as pl
import pytest

pytest.importorskip("mcp")

from assistant_client import MODES, release_hash, served, small_people
from command import done
from hushtable.assistant import AssistantOptions, verify_transcript
from hushtable.policy import Policy
from hushtable.release import read_sign_off
from served_page import fault_in, place, served as served_page

PERSON = {"person": "Ada", "date": "2026-01-31", "audience": "recipients under a contract", "comment": "By contract."}


def sign(visitor, name="out.csv"):
    """Look at what is published, then sign it."""
    visitor.settle()
    visitor.get("/look")
    seen = re.search(r'name="seen" value="(\w+)"', visitor.get("/sign"))[1]
    assert visitor.do("write", **PERSON, sign="yes", seen=seen, name=name) == "/sign"
    desk = visitor.settle()
    assert desk.fault == ""
    assert desk.written.signed is not None


def accept_all(visitor):
    """Accept what the assistant suggests."""
    visitor.get("/columns")
    for key in [key for key in visitor.server.desk.suggestions if key not in visitor.server.desk.suggestion_answers]:
        assert visitor.do("suggestion", key=key, answer="accepted", screen="sign") == "/sign"
        visitor.settle()


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    small_people().write_csv(path)
    return path


def sign_by_clicks(table, folder, *clicks):
    """Make the same release at the page; clicks are actions with their fields, columns by name."""
    folder.mkdir()
    shutil.copy(table, folder)
    for policy in table.parent.glob("policy.yaml"):
        shutil.copy(policy, folder)
    with served_page(folder) as visitor:
        desk = visitor.open("people.csv", role="quasi-identifier")
        for action, name, fields in clicks:
            column = {} if name is None else {"column": place(desk, name)}
            fields = {part.replace("@", str(column.get("column"))): each for part, each in fields.items()}
            visitor.do(action, **column, **fields)
            visitor.settle()
            assert fault_in(visitor.get("/choose")) == ""
        sign(visitor)
    return release_hash(folder / "out.csv")


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_a_steward_has_the_table_made_safe(mode, table, tmp_path):
    state = tmp_path / "state"
    with served(AssistantOptions(table, person="", state=state), mode) as session:
        client = session.client
        roles = {each["id"]: each["role"] for each in client.call("look")["columns"]}
        assert roles["c01"] == "identifier"
        assert len(client.call("values", id="c04")["values"]) == 7
        changes = [{"id": "c04", "ladder": "prefix 3", "importance": 3}, {"id": "c02", "ladder": "intervals 10"}]
        draft = client.call("propose", columns=changes)["draft"]
        told = client.call("judge", draft=draft, ks=[5, 10])["verdicts"]
        assert [each["feasible"] for each in told] == [True, True]
        assert client.call("report")["code"] == "NOT_SIGNED"
        assert client.call("request_signature", draft=draft, k=10) == {"status": "waiting", "signed": False}
        visitor = session.person()
        accept_all(visitor)
        sign(visitor)
        head = read_sign_off(table.with_name("out.csv")).transcript
        assert client.call("request_signature", draft=draft, k=10) == {"status": "accepted", "signed": True}
        assert client.call("judge", draft=draft)["code"] == "POLICY_CHANGED"
        report = client.call("report")
        assert report["signed"]
        assert not re.search("postcode|diagnosis|education|people.csv|Ada|out.csv", json.dumps(report["sections"]))
    assert verify_transcript(session.transcript, table, state).passed
    assert head in session.transcript.read_text()
    clicks = (
        ("hierarchy", "postcode", {"rule": "prefix", "options": "3"}),
        ("columns", "postcode", {"importance-@": "3"}),
        ("hierarchy", "age", {"rule": "intervals", "options": "10, 20, 40"}),
        ("move", None, {"k": 10, "suppression": 0, "method": "mondrian"}),
    )
    assert release_hash(table.with_name("out.csv")) == sign_by_clicks(table, tmp_path / "page", *clicks)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_an_engineer_mends_the_nightly_release(mode, table, tmp_path):
    visits = [f"v{i % 130}" for i in range(240)]
    small_people().with_columns(pl.Series("visit", visits)).write_csv(table)
    policy = Policy.parse(
        "columns: {name: identifier, age: quasi-identifier, sex: quasi-identifier, postcode: quasi-identifier, "
        "education: quasi-identifier, diagnosis: sensitive, visit: other}\nmodels: [k-anonymity: 5]\n"
    )
    table.with_name("policy.yaml").write_text(policy.to_yaml(), encoding="utf-8")
    options = AssistantOptions(table, table.with_name("policy.yaml"), person="", state=tmp_path / "state")
    with served(options, mode, has_page=False) as session:
        client = session.client
        assert client.call("judge", draft="policy", ks=[5])["verdicts"][0]["reason"] == "KEPT_COLUMNS_SINGLE_OUT"
        why = client.call("why_not", draft="policy", k=5)
        assert (why["code"], why["candidates"]) == ("KEPT_COLUMNS_SINGLE_OUT", ["c07"])
        (column,) = [each for each in client.call("look")["columns"] if each["id"] == "c07"]
        assert (column["kind"], column["distinct"]) == ("category", "101 to 500")
        change = [{"id": "c07", "role": "quasi-identifier", "ladder": "prefix 2"}]
        draft = client.call("propose", columns=change, k=5)["draft"]
        (told,) = client.call("judge", draft=draft)["verdicts"]
        assert told["feasible"]
        assert client.call("request_signature", draft=draft)["code"] == "NO_PAGE"
    assert verify_transcript(session.transcript, table, tmp_path / "state").passed
    # The pull request: what was drafted, as policy text.
    changed = policy.with_entries({("columns", "visit"): {"role": "quasi-identifier", "hierarchy": {"prefix": [2]}}})
    table.with_name("changed.yaml").write_text(changed.to_yaml(), encoding="utf-8")
    done("anonymize", table, "-p", table.with_name("changed.yaml"), "-o", table.with_name("out.csv"))
    clicks = (
        ("role", "visit", {"role": "quasi-identifier"}),
        ("hierarchy", "visit", {"rule": "prefix", "options": "2"}),
        ("move", None, {"k": 5, "suppression": 0, "method": "mondrian"}),
    )
    assert release_hash(table.with_name("out.csv")) == sign_by_clicks(table, tmp_path / "page", *clicks)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_a_researcher_compares_methods(mode, table, tmp_path):
    state = tmp_path / "state"
    with served(AssistantOptions(table, person="", state=state), mode) as session:
        client = session.client
        assert "auto" in client.call("ladders", id="c05")["ladders"]
        told = {}
        for method in ("mondrian", "local_recoding"):
            columns = [{"id": "c05", "ladder": "auto"}, {"id": "c02", "ladder": "intervals 10"}]
            columns += [{"id": "c04", "ladder": "prefix 3"}, {"id": "c03", "ladder": "auto"}]
            draft = client.call("propose", columns=columns, method=method)["draft"]
            told[method] = client.call("judge", draft=draft, ks=[5, 10])["verdicts"]
        assert all(each["feasible"] for verdicts in told.values() for each in verdicts), told
        client.call("request_signature", draft=draft, k=10)
        visitor = session.person()
        accept_all(visitor)
        sign(visitor)
        assert client.call("report")["signed"]
    assert verify_transcript(session.transcript, table, state).passed
    ladders = (("education", "auto", ""), ("sex", "auto", ""), ("age", "intervals", "10, 20, 40"))
    clicks = [("hierarchy", name, {"rule": rule, "options": options}) for name, rule, options in ladders]
    clicks += [
        ("hierarchy", "postcode", {"rule": "prefix", "options": "3"}),
        ("move", None, {"k": 10, "suppression": 0, "method": "local_recoding"}),
    ]
    assert release_hash(table.with_name("out.csv")) == sign_by_clicks(table, tmp_path / "page", *clicks)
