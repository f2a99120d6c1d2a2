"""The whole path in German: what the command prints, writes for people and refuses holds no English word."""

import html
import re

import pytest

from command import done, run

# No "was", which is a German word too.
ENGLISH = re.compile(r"\b(?:the|of|records?|and|is|are|were|which|column|with)\b", re.IGNORECASE)
NAMED = re.compile(r"""`[^`\n]*`|'[^'\n]*'|"[^"\n]*"|--[\w-]+|\{[^{}\n]*\}""")
"""Names, values and code that stand in a text."""
NAMES = re.compile(r"CSV on the Web|SHA-256 of \S+", re.IGNORECASE)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A hospital's extract as it comes: cp1252, semicolons, a decimal comma, one odd cell, codes of what is missing."""
    lines = ["Nachname;Geburtsdatum;PLZ;Geschlecht;Station;Diagnose;Kosten"]
    lines += [
        f"Müller {number};{1 + number % 28:02}.{1 + number % 12:02}.{1940 + number % 50};{80331 + number % 3};"
        f"{'mw'[number % 2]};{('Innere Medizin', 'Chirurgie', '999')[number % 3]};"
        f"{('I10', 'J18', 'k. A.')[number % 3]};{1000 + 7 * number},50"
        for number in range(120)
    ]
    lines[7] = lines[7].rpartition(";")[0] + ";ca. 1000"
    path = tmp_path_factory.mktemp("klinik") / "klinik.csv"
    path.write_bytes("\r\n".join([*lines, ""]).encode("cp1252"))
    return path


@pytest.fixture(autouse=True)
def german(monkeypatch, table):
    monkeypatch.setenv("HUSHTABLE_LANGUAGE", "de")
    monkeypatch.chdir(table.parent)


def english(text):
    """Return the lines that hold an English word outside names and code."""
    return [line for line in text.split("\n") if ENGLISH.search(NAMED.sub("", NAMES.sub("", line)))]


def words_of(page):
    """Return what a page shows, without its code."""
    shown = re.sub(r"<(style|code|svg).*?</\1>", "", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", "\n", shown))


def comments_of(policy):
    """Return the comments of a policy that are no entries of one."""
    found = re.findall(r"(?:^| )# ?(.*)", policy, flags=re.MULTILINE)
    return "\n".join(each for each in found if not re.match(r" *[\w]+:", each))


def test_the_path_is_german_from_the_table_to_the_report(table):
    scanned = done("scan", "klinik.csv", "-p", "vorgaben.yaml")
    policy = (table.parent / "vorgaben.yaml").read_text(encoding="utf-8")
    asked = run("anonymize", "klinik.csv", "-p", "vorgaben.yaml", "-o", "frei.csv")
    assert asked.code == 2
    decided = policy.replace("odd_cells: refuse", "odd_cells: missing").replace("role: ask", "role: sensitive")
    (table.parent / "entschieden.yaml").write_text(decided, encoding="utf-8")
    released = done("anonymize", "klinik.csv", "-p", "entschieden.yaml", "-o", "frei.csv", "--verbose")
    verified = done("verify", "frei.csv")
    reported = done("report", "frei.csv", "--original", "klinik.csv", "-p", "entschieden.yaml", "-o", "bericht.html")
    page = (table.parent / "bericht.html").read_text(encoding="utf-8")
    codebook = (table.parent / "frei.csv.codebook.md").read_text(encoding="utf-8")
    for each in (scanned, asked, released, verified, reported):
        assert english(f"{each.out}\n{each.err}") == []
    assert english(comments_of(policy)) == english(words_of(page)) == english(codebook) == []
    # Keys and values of a policy are code, in its comments too.
    assert "# missing: category\n" in policy
    assert "#   highest_risk: 0.2\n" in policy
    assert "role: quasi-identifier" in page


@pytest.mark.parametrize(
    "arguments",
    [
        ("scan", "keine.csv"),
        ("scan", "ungleich.csv"),
        ("scan", "klinik.csv", "--encoding", "latin99"),
        ("anonymize", "klinik.csv", "--qi", "Plz", "--identifier", "Nachname", "--k", "5", "-o", "neu.csv"),
        ("anonymize", "klinik.csv", "-p", "falsch.yaml", "-o", "neu.csv"),
    ],
)
def test_an_error_is_german(table, arguments):
    (table.parent / "ungleich.csv").write_text("a;b;c\n1;2;3\n1;2\n", encoding="utf-8")
    (table.parent / "falsch.yaml").write_text("version: 1\ncolumns: {PLZ: quasi}\nmodelle: []\n", encoding="utf-8")
    outcome = run(*arguments)
    assert outcome.code == 2
    assert english(f"{outcome.out}\n{outcome.err}") == []
