"""Names of columns that steer a terminal or turn the reading order: shown, never obeyed."""

import json
from pathlib import Path

import polars as pl
import pytest

import hushtable as ht
from command import run
from hushtable.cli.terminal import format_table, print_lines
from hushtable.columns.escaping import escape_controls, escape_html, escape_json_controls

ODD = "age\x1b[2J\x07\u202e\u2066\x9b\u200b"
FORGED = "job\nout.csv holds, on everything"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Größe 身長 \u3000", "Größe 身長 \u3000"),
        ("a\x1b]0;x\x07", r"a\x1b]0;x\x07"),
        ("\u202e\u2028\ud800\U000e0001", r"\u202e\u2028\ud800\U000e0001"),
        ("a\nb\tc", r"a\nb\tc"),
    ],
)
def test_every_sign_is_seen(text, shown):
    assert escape_controls(text) == shown
    assert json.loads(escape_json_controls(json.dumps(text, ensure_ascii=False))) == text
    assert escape_controls(escape_json_controls(json.dumps(text, ensure_ascii=False))).isprintable() or "\u3000" in text


def test_a_page_keeps_lines_and_acts_on_nothing():
    assert escape_html("<b>\n\x1b") == "&lt;b&gt;\n\\x1b"


def test_a_name_ends_no_line(capsys):
    print_lines(FORGED, format_table((FORGED,), [(ODD,)]))
    assert capsys.readouterr().out.split("\n")[0] == FORGED.replace("\n", r"\n")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [ODD, FORGED]
    people = pl.DataFrame({name: [f"v{(i * 7 + j) % 3}" for i in range(24)] for j, name in enumerate(names)})
    people.write_csv("in.csv")
    policy = {"columns": dict.fromkeys(names, "quasi-identifier"), "models": [{"k-anonymity": 2}]}
    Path("policy.yaml").write_text(json.dumps(policy))
    return people


def test_no_command_obeys_a_header(here):
    commands = [
        ("scan", "in.csv"),
        ("scan", "in.csv", "--json"),
        ("assess", "in.csv", "-p", "policy.yaml"),
        ("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv", "--report", "out.html"),
        ("verify", "out.csv"),
        ("verify", "out.csv", "--json"),
        ("report", "out.csv", "--original", "in.csv", "-p", "policy.yaml"),
        ("utility", "in.csv", "out.csv"),
        ("compare", "in.csv", "-p", "policy.yaml", "--k", "2,3"),
        ("mpuccs", "in.csv", "in.csv"),
        ("uniques", "in.csv"),
        ("assess", "in.csv", "--qi", "agee"),
    ]
    for command in commands:
        outcome = run(*command)
        assert outcome.code in (0, 1, 2), outcome
        for line in (outcome.out + outcome.err).split("\n"):
            assert line.isprintable(), (command, line)
            assert not line.startswith("out.csv holds, on everything"), command
    page = Path("out.html").read_text()
    assert all(sign.isprintable() or sign in "\n\xa0" for sign in page)


def test_no_notebook_obeys_a_header(here):
    release = ht.anonymize(here, quasi_identifiers=here.columns, models=[ht.KAnonymity(2)])
    results = [
        release,
        release.verify(),
        ht.assess(here, quasi_identifiers=here.columns),
        ht.minimal_uniques(here),
        ht.mpuccs(here, here),
        ht.find_quasi_identifiers(here),
        release.utility(),
        ht.select_columns(here, objective={"distinction": 1.0}),
        ht.report(release),
    ]
    for each in results:
        html = each._repr_html_()
        assert all(sign.isprintable() or sign == "\n" for sign in html), type(each)
        assert "\x1b" not in repr(each)
