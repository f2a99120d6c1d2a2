"""Canaries: texts that few have, in cells, names, labels, files and errors; none reaches an assistant."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from random import Random
from unittest import mock

import polars as pl

from assistant_client import MODES, Client, served
from campaign.outcome import Outcome
from hushtable.assistant import AssistantOptions, session as sessions, verify_transcript
from hushtable.assistant.menu import KS, LADDERS

_FAULTS = ("find_answer", "claim_place", "judge_policy", "describe_release", "apply_draft", "parse_proposal")


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: a table full of canaries, and an assistant that asks whatever there is."""
    outcome = Outcome()
    secrets = _Secrets(random)
    home = folder / secrets.new()
    home.mkdir()
    table = _draw_table(random, secrets)
    kind = random.choice(["csv", "parquet", "xlsx"])
    path = home / f"{secrets.new()}.{kind}"
    _write(table, path, secrets)
    policy = None
    if random.random() < 0.4:
        policy = _write_policy(random, table, home, secrets)
    names = random.choice(["known", "known", "none"])
    options = AssistantOptions(path, policy, None if policy else random.choice([None, ""]), names, folder / "state")
    mode = random.choice(MODES)
    fault = random.choice([None, None, *_FAULTS])
    outcome.reproduction = f"a {kind}, names {names}, policy {policy is not None}, fault {fault}, {mode}"
    outcome.count(f"{kind}, fault {fault}")

    def fail(*_: object, **__: object) -> object:
        raise ValueError(secrets.texts[0])

    home_of_fault = sessions.AnswerMemory if fault in ("find_answer", "claim_place") else sessions
    with served(options, mode, has_page=False) as session, contextlib.ExitStack() as stack:
        if fault is not None:
            stack.enter_context(mock.patch.object(home_of_fault, fault, fail))
        _ask_everything(random, session.client)
    raw = session.transcript.read_bytes() + b"".join(session.client.got)
    leaked = [text for text in secrets.texts if any(form.encode() in raw for form in _escape(text))]
    outcome.expect(not leaked, "a canary reached the assistant", (leaked[:3], outcome.reproduction))
    longest = max(map(len, session.client.got))
    outcome.expect(longest < 45_000, "a message is too long", longest)
    if fault is None:
        found = verify_transcript(session.transcript, path, folder / "state")
        outcome.expect(found.passed, "a transcript does not follow", found.differences)
    return outcome


def _escape(text: str) -> list[str]:
    """Return a text as it stands in JSON, and in JSON within JSON."""
    forms = [text]
    for _ in range(3):
        forms.append(json.dumps(forms[-1])[1:-1])
    return forms


class _Secrets:
    """Draws unique texts of several looks, and keeps them."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.texts: list[str] = []

    def new(self) -> str:
        """Return a new one."""
        text = (
            f"Zq{self._random.choice(['7X', 'canary', 'Müll', 'x-'])}{len(self.texts)}k{self._random.getrandbits(30):x}"
        )
        self.texts.append(text)
        return text


def _draw_table(random: Random, secrets: _Secrets) -> pl.DataFrame:
    n = random.choice([40, 130, 260])
    columns: dict[str, list[object]] = {"name": [f"{secrets.new()} Meyer" for _ in range(n)]}
    columns["age"] = [str(20 + (7 * i) % 40) for i in range(n)]
    columns["postcode"] = [f"{80331 + i % 3}" for i in range(n)]
    columns[f"note {secrets.new()}"] = [random.choice(["yes", "no"]) for _ in range(n)]
    for name, cells in columns.items():
        # Formulas, odd cells, codes and rare values, each of a few rows.
        for _ in range(random.randint(0, 6) if name != "name" else 0):
            cells[random.randrange(n)] = random.choice(["", "=", "@", "-"]) + secrets.new()
    if random.random() < 0.5:
        columns["ill"] = [secrets.new() if random.random() < 0.1 else "flu" for _ in range(n)]
    return pl.DataFrame(columns)


def _write(table: pl.DataFrame, path: Path, secrets: _Secrets) -> None:
    if path.suffix == ".csv":
        table.write_csv(path)
    elif path.suffix == ".parquet":
        table.write_parquet(path)
    else:
        table.write_excel(path, worksheet=secrets.new()[:30])


def _write_policy(random: Random, table: pl.DataFrame, home: Path, secrets: _Secrets) -> Path:
    """Write a policy with canaries in comments, labels, reasons, missing values and a hierarchy."""
    roles = dict.fromkeys(table.columns, "other") | {"name": "identifier", "age": "quasi-identifier"}
    entries = {name: {"role": role} for name, role in roles.items()}
    entries["age"] |= {"label": secrets.new(), "missing_values": [secrets.new()], "kind": "category"}
    lines = [f"{value};{secrets.new()};*" for value in table["age"].unique()]
    (home / "ages.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    if random.random() < 0.7:
        entries["age"]["hierarchy"] = "ages.csv"
    told = {"columns": entries, "models": [{"k-anonymity": 5}], "accept": {"postcode": f"public, says {secrets.new()}"}}
    path = home / "policy.yaml"
    path.write_text(f"# {secrets.new()}\n{json.dumps(told)}\n", encoding="utf-8")
    return path


def _ask_everything(random: Random, client: Client) -> None:
    """Ask every tool, with arguments that fit and some that do not."""
    ids = [column["id"] for column in client.call("look")["columns"]]
    drafts = ["policy", "d0"]
    client.call("propose", columns=[{"id": ids[0], "role": "leave out"}])
    client.call("judge", draft="policy")
    for _ in range(random.randint(4, 10)):
        columns = [
            {
                "id": each,
                **random.choice([{"role": "leave out"}, {"ladder": random.choice(list(LADDERS))}, {"role": "other"}]),
            }
            for each in random.sample(ids, 2)
        ]
        tool, arguments = random.choice(
            [
                ("values", {"id": random.choice(ids)}),
                ("ladders", {"id": random.choice(ids)}),
                ("propose", {"columns": columns}),
                ("judge", {"draft": random.choice(drafts), "ks": [random.choice(KS)]}),
                ("why_not", {"draft": random.choice(drafts), "k": random.choice(KS)}),
                ("report", {}),
                ("request_signature", {"draft": "policy"}),
                ("judge", {"draft": 5}),
                ("look", {"start": 0}),
            ]
        )
        told = client.call(tool, **arguments)
        if "draft" in told and tool == "propose":
            drafts.append(told["draft"])
