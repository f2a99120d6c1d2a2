"""Random policies as YAML text: a PolicyError, or a policy that the command can work with."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import yaml

import hushtable as ht
from campaign.outcome import Outcome
from command import run

_ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 1e20, 10**30, float("nan"), float("inf"), 0.5, "", "auto", "x", [], {}, [1, 2],
    {"a": 1}, ["a", "a"], "2024-01-01", [None], {"": 0},
)  # fmt: skip
_TEXTS = (
    "a: &a [*a]", "a: &a [1]\nb: *a", "!!timestamp x", "!!python/object:os.system x", "? [1, 2]\n: 3",
    "<<: {columns: {}}", "- - - - -", "columns: 2024-13-45", "\x00", "%YAML 9.9\n---\n", "{" * 300, "[" * 3000,
    "---\n---\n", "\t", "a: b: c", "!!binary '='", "!!int x", "!!float x", "!!set {a, b}", "!!omap [a: 1]",
    "0o9: 1", "1_0: 1", "~: ~", "=: 1", "!!bool x", "!!null x",
)  # fmt: skip
_BOMB = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x]", *(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12))]
)


class _LateError(Exception):
    pass


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: several policies."""
    outcome = Outcome()
    for _ in range(8):
        text = random.choice((_structured, _structured, _structured, _damaged, _hostile))(random)
        outcome.reproduction = f"Policy.parse({text!r})"
        policy: list[Any] = []
        with outcome.guarded("parse", ht.PolicyError):
            in_time(lambda text=text, policy=policy: policy.append(ht.Policy.parse(text)))
        if policy:
            outcome.count("policy")
            with outcome.guarded("write and parse", ()):
                again = ht.Policy.parse(policy[0].to_yaml())
                outcome.expect(again == policy[0], "a policy reads back differently", policy[0].to_yaml())
            _work_with(outcome, policy[0], text, folder)
    return outcome


def in_time(call: Callable[[], object], seconds: int = 30) -> None:
    """Call, and raise where that takes long."""

    def late(*_: object) -> None:
        msg = f"no end after {seconds} s"
        raise _LateError(msg)

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        call()
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _work_with(outcome: Outcome, policy: ht.Policy, text: str, folder: Path) -> None:
    """The command ends with one of its exit codes; what it has written, it verifies."""
    (folder / "policy.yaml").write_text(text, encoding="utf-8")
    (folder / "key").write_bytes(bytes(range(32)))
    columns = list(policy.columns)
    rows = [",".join(f'"{(i * (j % 4 + 1)) % 5}"' for j in range(len(columns))) for i in range(12)]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in columns)
    (folder / "in.csv").write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    (folder / "all.csv").write_text("\n".join([header, *rows, *rows[::2], ""]), encoding="utf-8")
    population = ("--population", folder / "all.csv") if any(model.needs.population for model in policy.models) else ()
    outcome.reproduction += f", then anonymize {header!r}, {rows!r}"
    key = ["--key-file", folder / "key"] if policy.pseudonymized else []
    output = folder / "out.csv"
    for path in folder.glob("out.csv*"):
        path.unlink()
    with outcome.guarded("anonymize", ()):
        ended = []
        command = ("anonymize", folder / "in.csv", "-p", folder / "policy.yaml", "-o", output, *population, *key)
        in_time(lambda: ended.append(run(*command, "--seconds", 5)), 60)
        outcome.count(f"anonymize: exit {ended[0].code}")
        # A published column may link the records of a person: then nothing is written.
        can_link = bool(policy.pseudonymized) or policy.person is not None
        is_linked = can_link and "links the records of a person" in ended[0].err
        outcome.expect(ended[0].code in ((1,) if is_linked else (0, 2, 3)), "an odd exit code", ended[0])
        outcome.expect(output.exists() == (ended[0].code == 0), "output and exit code do not fit", ended[0])
        if ended[0].code == 0:
            again = run("verify", output, "-p", folder / "policy.yaml", "--original", folder / "in.csv", *population)
            outcome.expect(again.code == 0, "verify refuses what the command has written", again)


def _structured(random: Random) -> str:
    entries = _policy(random)
    for _ in range(random.choice((0, 0, 0, 1, 1, 2))):
        _spoil(random, entries)
    text = yaml.safe_dump(entries, sort_keys=False, allow_unicode=True)
    return str(text)


def _policy(random: Random) -> dict[str, Any]:
    kind = random.choice(("integer", "decimal", "category"))
    rules = (
        "auto", {"prefix": [1]}, {"frequency": 2}, {"runs": 2}, {"suppression": None}, {"dates": ["month", "year"]},
        {"intervals": {"width": [5, 10]}}, {"intervals": {"width": [1, 2], "low": 0, "high": 4}},
        {"tree": {"low": ["0", "1"], "high": {"mid": ["2", "3"], "top": ["4"]}}},
    )  # fmt: skip
    roundings: tuple[dict[str, Any], ...] = ({"round": 2}, {"digits": 1, "top": 3}, {"round": 0.5, "bottom": 1})
    columns: dict[str, Any] = {
        "age": random.choice(("quasi-identifier", {"role": "quasi-identifier", "kind": kind})),
        "zip": {"role": "quasi-identifier", "hierarchy": random.choice(rules)},
        "level": {"role": "quasi-identifier", "order": ["0", "1", "2", "3", "4"]},
        "name": random.choice(("identifier", {"role": "identifier", "action": "pseudonym"})),
        "ill": "sensitive",
        "more": random.choice(("other", "leave out", *({"role": "other", **each} for each in roundings))),
    }
    columns = {name: given for name, given in columns.items() if name in ("age", "ill") or random.random() < 0.5}
    kinds = (
        {"k-anonymity": 3},
        {"distinct-l-diversity": {"l": 2, "sensitive": "ill"}},
        {"t-closeness": {"t": 0.5, "sensitive": "ill"}},
        {"entropy-l-diversity": {"l": 1.5, "sensitive": "ill"}},
        {"recursive-c-l-diversity": {"c": 2, "l": 2, "sensitive": "ill"}},
        {"beta-likeness": {"beta": 2, "sensitive": "ill"}},
        {"delta-disclosure": {"delta": 2, "sensitive": "ill"}},
        {"alpha-k-anonymity": {"alpha": 0.9, "k": 2, "sensitive": "ill"}},
        {"k-map": 2},
        {"delta-presence": {"low": 0.1, "high": 0.9}},
    )
    entries: dict[str, Any] = {"version": 1, "columns": columns, "models": random.sample(kinds, random.randint(1, 2))}
    method = _method(random)
    losses = ("ncp",) if "mondrian" in method else ("ncp", "certainty", "minimal_distortion")
    more = {
        "method": method,
        "loss": random.choice(losses + tuple({loss: {"weights": {"age": 2.0}}} for loss in losses)),
        "limits": {"suppression": random.choice((0.0, 0.3)), "highest_risk": 0.5},
        "budget": {"nodes": random.choice((1, 100))},
        "unknown": random.choice(("error", "suppress")),
        "person": random.choice(("name", "more")),
    }
    return entries | {
        name: given for name, given in more.items() if random.random() < 0.4 and (name != "person" or given in columns)
    }


def _method(random: Random) -> dict[str, Any]:
    """Draw an entry of a method with some of its options."""
    options: dict[str, dict[str, Any]] = {
        "mondrian": {
            "recoding": random.choice(("cut", "tight", "label", "set", "central")),
            "cut": random.choice(("gain", "median")),
            "margin": random.choice((0, 1, 2)),
            "grid": {"age": random.choice((1, 5))},
            "exchange": random.random() < 0.5,
            "strict": random.random() < 0.7,
        },
        "mingen": {
            "n_best": random.choice((1, 3)),
            "tie_break": random.choice(("certainty", {"minimal_distortion": {"weights": {"age": 2}}})),
            "iterations": 20,
            "seed": random.randrange(5),
        },
        "genetic": {
            "variant": random.choice(("partitions", "mg-ga")),
            "individuals": 4,
            "generations": 4,
            "seed": random.randrange(5),
        },
    }
    name = random.choice(("mondrian", "mondrian", "mondrian", "mingen", "genetic"))
    return {name: {option: given for option, given in options[name].items() if random.random() < 0.3}}


def _spoil(random: Random, entries: dict[str, Any]) -> None:
    """Put something odd somewhere."""
    place: Any = entries
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = random.choice(keys)
        if isinstance(place[key], (dict, list)) and place[key] and random.random() < 0.7:
            place = place[key]
            continue
        roll = random.random()
        if roll < 0.7:
            place[key] = random.choice(_ODD)
        elif roll < 0.85:
            del place[key]
        elif isinstance(place, dict):
            odd = ("x", "kind", "order", "role", "grid", "seed", "margin", "mondrian", "weights", "k", "low", 1, None)
            place[random.choice(odd)] = random.choice(_ODD)
        return


def _damaged(random: Random) -> str:
    text = list(_structured(random))
    for _ in range(random.choice((1, 2, 5))):
        i = random.randrange(len(text) + 1)
        if random.random() < 0.5:
            text[i:i] = random.choice(
                (":", "-", "\n", " ", "&a ", "*a", "!!", "{", "[", "\t", "'", '"', "#", "?", "|", ">", "%", "@")
            )
        else:
            del text[i : i + random.choice((1, 3))]
    return "".join(text)


def _hostile(random: Random) -> str:
    if random.random() < 0.05:
        return random.choice((_BOMB, f"{_BOMB}\ncolumns: {{age: *a11}}"))
    hostile = random.choice(_TEXTS)
    return random.choice(
        (hostile, f"{_structured(random)}\n{hostile}", f"columns: {{age: {hostile}}}\nmodels: [k-anonymity: 2]")
    )
