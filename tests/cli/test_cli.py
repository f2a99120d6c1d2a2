"""The command: the whole job, exit codes, messages, and files that are whole or not there."""

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
import yaml

from command import Outcome, done, run, tree
from hushtable import cli, datasets
from hushtable.io import frames
from hushtable.release import manifest

ODD_NAMES = ["first value", 'say "hi"', "x,y", "naïve 😀", "a: b # c", "yes", "1990", "[bold]", "two\nlines"]
POLICY = """\
columns:
  name: identifier
  age: quasi-identifier
  sex: quasi-identifier
  illness: sensitive
  visit: other
models:
  - k-anonymity: 2
  - distinct-l-diversity: {l: 2, sensitive: illness}
"""
ROWS = [
    "name,age,sex,illness,visit",
    "Ann,31,f,flu,1.0",
    "Bob,34,m,gout,2.0",
    "Cyd,38,f,flu,3.0",
    "Dan,52,m,flu,4.0",
    "Eve,57,f,gout,5.0",
    "Fay,59,f,flu,6.0",
]
PLAIN = ["--qi", "age,sex", "--k", "2", "--identifier", "name"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in with a small table and its policy."""
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("\n".join(ROWS) + "\n")
    Path("policy.yaml").write_text(POLICY)
    return tmp_path


def assert_one_message(outcome: Outcome) -> None:
    """One message and its hint on stderr; notes on what is kept may come before it."""
    lines = [line for line in outcome.err.splitlines() if not line.startswith("Kept as they are")]
    assert lines[0].startswith("hushtable: "), outcome
    assert outcome.err.count("hushtable: ") == 1
    assert outcome.err.count("Hint: ") == 1, outcome.err
    assert ".." not in lines[0]
    assert "Traceback" not in outcome.err
    assert outcome.out == ""


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_whole_job(tmp_path: Path, ending: str) -> None:
    people = datasets.people(300)
    source, rules, output = tmp_path / f"in.{ending}", tmp_path / "policy.yaml", tmp_path / f"out.{ending}"
    people.write_parquet(source) if ending == "parquet" else people.write_csv(source)
    assert "birth_date" in done("scan", source, "-p", rules).out
    made = done("anonymize", source, "-p", rules, "-o", output)
    assert "k-anonymity (k = 5)" in made.out
    assert made.err == ""
    assert "holds" in done("verify", output, "-p", rules).out
    columns = [name for name in people.columns if name not in ("name", "email")]
    assert list(frames.read(output).columns) == columns
    assert frames.read(output).n_rows == 300
    assert json.loads(manifest.manifest_path(output).read_text())["smallest_class"] >= 5


def test_plain_options(here: Path) -> None:
    made = done("anonymize", "in.csv", *PLAIN, "--l", "2:illness", "-o", "out.csv")
    assert made.err == "Kept as they are, taken for unknown to anyone: visit.\n"
    assert "distinct-l-diversity (l = 2, sensitive = 'illness')" in made.out
    assert "holds" in done("verify", "out.csv", "-p", "policy.yaml").out


def test_json_is_all_there_is_on_stdout(here: Path) -> None:
    scanned = json.loads(done("scan", "in.csv", "--json").out)
    made = json.loads(done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv", "--json").out)
    judged = json.loads(done("verify", "out.csv", "-p", "policy.yaml", "--json").out)
    assert [column["name"] for column in scanned["columns"]] == ROWS[0].split(",")
    assert made["verified"]["passed"] is judged["passed"] is True
    assert made["n_records"] == judged["n_records"] == 6


def test_a_refusal_is_json_too_where_the_answer_is_no(here: Path) -> None:
    pl.DataFrame({"age": [30 + i % 3 for i in range(60)], "note": [f"n{i}" for i in range(60)]}).write_csv("kept.csv")
    Path("kept.yaml").write_text("columns: {age: quasi-identifier, note: other}\nmodels: [k-anonymity: 5]\n")
    outcome = run("anonymize", "kept.csv", "-p", "kept.yaml", "-o", "out.csv", "--json")
    assert outcome.code == 1
    told = json.loads(outcome.out)
    assert (told["passed"], told["error"]) == (False, "ExposureError")
    assert f"{told['message']}\n\nHint: {told['hint']}" in outcome.err
    done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv")
    with Path("out.csv").open("a") as file:
        file.write("\n")
    assert json.loads(run("verify", "out.csv", "--json").out)["error"] == "VerificationError"


def test_scan_with_a_policy_keeps_stdout_json(here: Path) -> None:
    scanned = done("scan", "in.csv", "--json", "-p", "new.yaml")
    json.loads(scanned.out)
    assert "new.yaml" in scanned.err
    yaml.safe_load(Path("new.yaml").read_text())


def test_a_tampered_release_fails(here: Path) -> None:
    done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv")
    with Path("out.csv").open("a") as file:
        file.write("\n")
    outcome = run("verify", "out.csv", "-p", "policy.yaml")
    assert outcome.code == 1
    assert "SHA-256" in outcome.err
    assert_one_message(outcome)


def test_a_raised_k_is_not_what_the_manifest_claims_and_fails(here: Path) -> None:
    done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv")
    Path("policy.yaml").write_text(POLICY.replace("k-anonymity: 2", "k-anonymity: 5"))
    outcome = run("verify", "out.csv", "-p", "policy.yaml")
    assert outcome.code == 1
    assert "'k-anonymity (k = 5)', which the manifest of the release does not claim" in outcome.err
    assert_one_message(outcome)
    outcome = run("verify", "out.csv", "-p", "policy.yaml", "--no-manifest")
    assert outcome.code == 1
    assert "does NOT hold" in outcome.out
    as_json = run("verify", "out.csv", "-p", "policy.yaml", "--no-manifest", "--json")
    assert as_json.code == 1
    assert json.loads(as_json.out)["passed"] is False


def test_verify_refuses_a_file_with_identifiers(here: Path) -> None:
    outcome = run("verify", "in.csv", "-p", "policy.yaml", "--no-manifest")
    assert outcome.code == 2
    assert "'name'" in outcome.err
    assert_one_message(outcome)


def test_verify_asks_for_a_manifest(here: Path) -> None:
    done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv")
    manifest.manifest_path(Path("out.csv")).unlink()
    outcome = run("verify", "out.csv", "-p", "policy.yaml")
    assert outcome.code == 2
    assert_one_message(outcome)
    done("verify", "out.csv", "-p", "policy.yaml", "--no-manifest")


def write(name: str, content: str | bytes) -> None:
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)


def with_row(row: str) -> str:
    return "\n".join([*ROWS, row]) + "\n"


# What goes wrong: (how to bring it about, arguments, exit code, words of the message).
Trouble = tuple[Callable[[], object], list[str], int, list[str]]
BY_POLICY = ["in.csv", "-p", "policy.yaml"]
TROUBLES: dict[str, Trouble] = {
    "missing column": (
        lambda: write("policy.yaml", POLICY.replace("age:", "agee:")),
        BY_POLICY,
        2,
        ["'agee'", "did you mean 'age'"],
    ),
    "missing column in options": (
        lambda: None,
        ["in.csv", "--qi", "agee", "--k", "2", "--identifier", "name"],
        2,
        ["'agee'"],
    ),
    "column without a role": (
        lambda: write("policy.yaml", POLICY.replace("  visit: other\n", "")),
        BY_POLICY,
        2,
        ["no role to 'visit'"],
    ),
    "k larger than n": (
        lambda: write("policy.yaml", POLICY.replace("k-anonymity: 2", "k-anonymity: 7")),
        BY_POLICY,
        3,
        ["k = 7", "6"],
    ),
    "l not to be reached": (
        lambda: write("policy.yaml", POLICY.replace("l: 2", "l: 3")),
        BY_POLICY,
        3,
        ["l = 3", "reaches 2"],
    ),
    "empty table": (lambda: write("in.csv", ROWS[0] + "\n"), BY_POLICY, 2, ["the table is empty"]),
    "empty file": (lambda: write("in.csv", ""), BY_POLICY, 2, ["'in.csv' is empty"]),
    "no such file": (lambda: None, ["none.csv", "-p", "policy.yaml"], 2, ["'none.csv'", "No such file"]),
    "no such policy": (lambda: None, ["in.csv", "-p", "none.yaml"], 2, ["'none.yaml'"]),
    "unknown role": (
        lambda: write("policy.yaml", POLICY.replace("sex: quasi-identifier", "sex: quasi")),
        BY_POLICY,
        2,
        ["policy.yaml line 4", "sex", "'quasi-identifier'"],
    ),
    "unknown model": (
        lambda: write("policy.yaml", POLICY.replace("k-anonymity", "k-anonimity")),
        BY_POLICY,
        2,
        ["policy.yaml line 8", "k-anonimity"],
    ),
    "k of zero": (
        lambda: write("policy.yaml", POLICY.replace("k-anonymity: 2", "k-anonymity: 0")),
        BY_POLICY,
        2,
        ["policy.yaml line 8", "k = 0"],
    ),
    "policy is not YAML": (lambda: write("policy.yaml", "columns: [a\nb: c"), BY_POLICY, 2, ["line 2", "not YAML"]),
    "policy is empty": (lambda: write("policy.yaml", ""), BY_POLICY, 2, ["policy.yaml", "columns:"]),
    "bad bytes": (
        lambda: write("in.csv", with_row("Köl,60,m,flu,7.0").encode("latin-1")),
        [*BY_POLICY, "--encoding", "utf-8"],
        2,
        [f"byte {len(with_row('')) - 1 + 1}", "line 8", "not utf-8"],
    ),
    "short record": (
        lambda: write("in.csv", with_row("Gus,60,m")),
        BY_POLICY,
        2,
        ["line 8", "3 fields", "expected 5"],
    ),
    "long record": (lambda: write("in.csv", with_row("Gus,60,m,flu,7.0,x")), BY_POLICY, 2, ["line 8", "6 fields"]),
    "open quote": (lambda: write("in.csv", with_row('Gus,60,m,"flu,7.0')), BY_POLICY, 2, ["line 8", "quotes"]),
    "open quote before much text": (
        lambda: write("in.csv", with_row('Gus,60,m,"flu,7.0\n' + "Hal,61,m,flu,8.0\n" * 20_000)),
        BY_POLICY,
        2,
        ["'in.csv'"],
    ),
    "long delimiter": (lambda: None, [*BY_POLICY, "--delimiter", ";;"], 2, ["delimiter"]),
    "doubled column": (
        lambda: write("in.csv", "age,age\n1,2\n"),
        ["in.csv", "--qi", "age", "--k", "1"],
        2,
        ["more than one column 'age'"],
    ),
    "unnamed column": (
        lambda: write("in.csv", "age,\n1,2\n"),
        ["in.csv", "--qi", "age", "--k", "1"],
        2,
        ["no name for column 2"],
    ),
    "star in a quasi-identifier": (
        lambda: write("in.csv", with_row("Gus,60,*,flu,7.0")),
        BY_POLICY,
        2,
        ["'sex'", "literal '*'"],
    ),
    "policy and options": (lambda: None, [*BY_POLICY, "--qi", "age", "--k", "2"], 2, ["both a policy"]),
    "no roles": (lambda: None, ["in.csv"], 2, ["neither a policy nor"]),
    "k alone": (lambda: None, ["in.csv", "--k", "2"], 2, ["neither a policy nor"]),
    "an --l without a column": (lambda: None, ["in.csv", *PLAIN, "--l", "2"], 2, ["'2'", "L:COLUMN"]),
    "looks like an identifier": (
        lambda: None,
        ["in.csv", "--qi", "age,sex", "--k", "2"],
        2,
        ["'name'", "looks like a direct identifier", "--identifier name"],
    ),
    "no key": (
        lambda: write("policy.yaml", POLICY.replace("name: identifier", "name: {role: identifier, action: pseudonym}")),
        BY_POLICY,
        2,
        ["'name'", "there is no key"],
    ),
    "no key file": (
        lambda: write("policy.yaml", POLICY.replace("name: identifier", "name: {role: identifier, action: pseudonym}")),
        [*BY_POLICY, "--key-file", "none.bin"],
        2,
        ["key file 'none.bin'"],
    ),
    "short key": (
        lambda: (
            write("policy.yaml", POLICY.replace("name: identifier", "name: {role: identifier, action: pseudonym}")),
            write("key.bin", b"short"),
        ),
        [*BY_POLICY, "--key-file", "key.bin"],
        2,
        ["5 bytes"],
    ),
    "declared kind does not fit": (
        lambda: write("policy.yaml", POLICY.replace("sex: quasi", "sex: {kind: integer, role: quasi", 1).replace(
            "role: quasi-identifier", "role: quasi-identifier}", 1
        )),
        BY_POLICY,
        2,
        ["'sex'", "integer"],
    ),
    "unknown cut": (lambda: None, [*BY_POLICY, "--set", "method.mondrian.cut=deep"], 2, ["cut", "'gain'"]),
    "unknown encoding": (lambda: None, [*BY_POLICY, "--encoding", "utf-99"], 2, ["'utf-99'"]),
    "not a Parquet file": (
        lambda: write("in.parquet", "age\n1\n"),
        ["in.parquet", "-p", "policy.yaml"],
        2,
        ["not a Parquet file"],
    ),
    "unknown ending of the input": (
        lambda: write("in.xls", ""),
        ["in.xls", "-p", "policy.yaml"],
        2,
        ["'in.xls'", ".parquet", ".xlsx"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("older", [True, False], ids=["older output", "no output"])
@pytest.mark.parametrize("trouble", TROUBLES.values(), ids=TROUBLES)
def test_trouble_leaves_everything_as_it_was(here: Path, trouble: Trouble, older: bool) -> None:
    prepare, arguments, code, words = trouble
    prepare()
    if older:
        write("out.csv", "older\n")
        write("out.csv.manifest.json", "{}\n")
    before = tree(here)
    outcome = run("anonymize", *arguments, "-o", "out.csv", *(["--force"] if older else []))
    assert outcome.code == code, outcome
    assert_one_message(outcome)
    for word in words:
        assert word in outcome.err
    assert tree(here) == before


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("none/out.csv", ["no folder 'none'"]),
        ("folder.csv", ["'folder.csv'", "directory"]),
        ("in.csv", ["the output is the input"]),
        ("./folder.csv/../in.csv", ["the output is the input"]),
        ("link.csv", ["the output is the input"]),
        ("out.ods", ["'out.ods'", ".parquet"]),
        ("out", ["'out'", ".parquet"]),
    ],
)
def test_unusable_output(here: Path, output: str, words: list[str]) -> None:
    Path("folder.csv").mkdir()
    Path("link.csv").symlink_to("in.csv")
    before = tree(here)
    outcome = run("anonymize", "in.csv", "-p", "policy.yaml", "-o", output)
    assert outcome.code == 2
    assert_one_message(outcome)
    for word in words:
        assert word in outcome.err
    assert tree(here) == before


def test_scan_overwrites_no_policy(here: Path) -> None:
    before = tree(here)
    outcome = run("scan", "in.csv", "-p", "policy.yaml")
    assert outcome.code == 2
    assert "never overwritten" in outcome.err
    assert tree(here) == before


def test_scan_without_quasi_identifiers_says_so(here: Path) -> None:
    write("flat.csv", "x,y\n" + "1.5,2\n" * 9)
    outcome = done("scan", "flat.csv")
    assert "By :" not in outcome.out


def test_a_list_column_is_kept_in_parquet(here: Path) -> None:
    pl.DataFrame({"age": [1, 1], "visits": [[1], [2, 3]]}).write_parquet("in.parquet")
    done("anonymize", "in.parquet", "--qi", "age", "--k", "2", "-o", "out.parquet", "--keep-order")
    assert pl.read_parquet("out.parquet")["visits"].to_list() == [[1], [2, 3]]


def test_usage_errors_exit_with_2(here: Path) -> None:
    for arguments in (["anonymize"], ["nonsense"], ["anonymize", "in.csv", "--k", "two", "-o", "out.csv"]):
        outcome = run(*arguments)
        assert outcome.code == 2
        assert "Traceback" not in outcome.err


def test_module_and_version() -> None:
    shown = subprocess.run([sys.executable, "-m", "hushtable", "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == done("--version").out.strip() == metadata.version("hushtable")


def test_help_imports_nothing_heavy() -> None:
    script = """
import sys
import hushtable
from hushtable import cli
sys.argv = ["hushtable", "--help"]
try:
    cli.main()
except SystemExit:
    pass
print([name for name in ("numba", "polars", "numpy", "scipy", "pandas", "yaml") if name in sys.modules])
"""
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout.splitlines()[-1] == "[]"


def numbered(n: int = 200) -> str:
    return "age,visit\n" + "".join(f"{20 + i % 50},{i}\n" for i in range(n))


def visits(path: str = "out.csv") -> list[str]:
    return [line.rpartition(",")[2] for line in Path(path).read_text().splitlines()[1:]]


ACCEPTED = ["--set", "accept={visit: a number}"]
NUMBERED = ["anonymize", "in.csv", "--qi", "age", "--k", "3", "--other", "visit", "-o", "out.csv", *ACCEPTED]


def test_keep_order_keeps_the_order(here: Path) -> None:
    write("in.csv", numbered())
    done(*NUMBERED, "--keep-order")
    assert visits() == [str(i) for i in range(200)]


def test_rows_are_shuffled_and_no_seed_says_how(here: Path) -> None:
    write("in.csv", numbered())
    rules = "columns: {age: quasi-identifier, visit: other}\nmodels: [k-anonymity: 3]\naccept: {visit: a number}\n"
    write("policy.yaml", f"{rules}method: {{genetic: {{seed: 7, generations: 1}}}}\n")
    orders = []
    for _ in range(3):
        done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv", "--force")
        orders.append(visits())
    in_order = [str(i) for i in range(200)]
    assert all(sorted(order, key=int) == in_order for order in orders)
    assert len({tuple(order) for order in [*orders, in_order]}) == 4


def test_external_manifest(here: Path) -> None:
    done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv", "--external")
    entries = json.loads(Path("out.csv.manifest.json").read_text())
    inside = {"loss", "quality", "trace", "n_classes", "smallest_class", "seed", "policy"}
    assert not inside & set(entries)
    assert entries["verified"] is True
    done("verify", "out.csv", "-p", "policy.yaml")


def test_pseudonyms(here: Path) -> None:
    known = 'accept: {name: "one of eight has two records, of which nobody knows"}\n'
    write("policy.yaml", POLICY.replace("name: identifier", "name: {role: identifier, action: pseudonym}") + known)
    write("in.csv", "\n".join([*ROWS, ",61,m,gout,7.0", "Ann,62,f,flu,8.0"]) + "\n")
    releases = []
    for key in (b"first-of-16bytes", b"the second key is of 32 bytes  !"):
        write("key.bin", key)
        made = done("anonymize", *BY_POLICY, "-o", "out.csv", "--key-file", "key.bin", "--keep-order", "--force")
        assert "Keyed pseudonyms: name" in made.out
        releases.append(frames.read("out.csv").column("name").to_list())
        assert key not in b"".join(path.read_bytes() for path in here.glob("out.*"))
    first, second = releases
    assert first[0] == first[7]
    assert first[6] is None
    assert all(len(name) == 32 and int(name, 16) >= 0 for name in first if name)
    assert not {*first} & {*second} - {None}
    done("verify", "out.csv", "-p", "policy.yaml")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("given", [True, False])
def test_the_delimiter_is_kept(here: Path, delimiter: str, given: bool) -> None:
    write("in.csv", "\n".join(ROWS).replace(",", delimiter) + "\n")
    done("anonymize", *BY_POLICY, "-o", "out.csv", *(["--delimiter", delimiter] if given else []))
    assert Path("out.csv").read_text().splitlines()[0] == delimiter.join(["age", "sex", "illness", "visit"])
    done("verify", "out.csv", "-p", "policy.yaml")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1", "utf-16"])
def test_encodings(here: Path, encoding: str) -> None:
    write("in.csv", "\n".join(ROWS).replace("gout", "Gläser").encode(encoding))
    done("anonymize", *BY_POLICY, "-o", "out.csv", "--encoding", encoding)
    assert "Gläser" in Path("out.csv").read_text(encoding="utf-8")
    done("verify", "out.csv", "-p", "policy.yaml")


def test_windows_line_ends(here: Path) -> None:
    write("in.csv", "\r\n".join([*ROWS, 'Gus,60,m,"two\r\nlines",7.0']) + "\r\n")
    done("anonymize", *BY_POLICY, "-o", "out.csv", "--keep-order")
    out = frames.read("out.csv")
    assert out.columns == ("age", "sex", "illness", "visit")
    assert out.column("visit").to_list() == [f"{i}.0" for i in range(1, 8)]
    assert out.column("illness").to_list()[-1] == "two\r\nlines"
    done("verify", "out.csv", "-p", "policy.yaml")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_odd_column_names(here: Path, ending: str) -> None:
    rows = {name: [f"{i % 2}{j}" for i in range(8)] for j, name in enumerate(ODD_NAMES)}
    table = pl.DataFrame({**rows, "town": list("abcdabcd")})
    table.write_parquet("odd.parquet") if ending == "parquet" else table.write_csv("odd.csv")
    done("scan", f"odd.{ending}", "-p", "odd.yaml", "--k", "2")
    entries = yaml.safe_load(Path("odd.yaml").read_text())
    assert list(entries["columns"]) == [*ODD_NAMES, "town"]
    entries["columns"] = dict.fromkeys(entries["columns"], "quasi-identifier")
    Path("odd.yaml").write_text(yaml.safe_dump(entries, sort_keys=False, allow_unicode=True))
    done("anonymize", f"odd.{ending}", "-p", "odd.yaml", "-o", f"out.{ending}")
    done("verify", f"out.{ending}", "-p", "odd.yaml")
    assert list(frames.read(f"out.{ending}").columns) == [*ODD_NAMES, "town"]


def test_quiet_when_not_a_terminal(here: Path) -> None:
    assert done("scan", "in.csv").err == ""
    assert done("anonymize", *BY_POLICY, "-o", "out.csv").err == ""
    assert done("verify", "out.csv", "-p", "policy.yaml").err == ""


def fail_with(error: BaseException) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
CRASHES = [
    pytest.param("hushtable.io.frames.write", FULL, id="disk full while writing"),
    pytest.param("hushtable.release.manifest.sha256", FULL, id="disk full while hashing"),
    pytest.param("hushtable.release.manifest.build", FULL, id="disk full while writing the manifest"),
    pytest.param("hushtable.io.drafts.os.fsync", FULL, id="disk full at the end"),
    pytest.param("hushtable.io.frames.write", KeyboardInterrupt(), id="interrupted while writing"),
    pytest.param("hushtable.release.manifest.sha256", KeyboardInterrupt(), id="interrupted while hashing"),
]


@pytest.mark.parametrize(("place", "error"), CRASHES)
@pytest.mark.parametrize("older", [True, False], ids=["older output", "no output"])
def test_a_crash_leaves_the_old_file(
    here: Path, monkeypatch: pytest.MonkeyPatch, place: str, error: BaseException, older: bool
) -> None:
    if older:
        done("anonymize", *BY_POLICY, "-o", "out.csv")
    before = tree(here)
    fail = fail_with(error)
    # Of a module, one function, and only as that place sees it: cells are written as JSON too.
    monkeypatch.setattr(place, SimpleNamespace(dumps=fail) if place.endswith(".json") else fail)
    outcome = run("anonymize", *BY_POLICY, "-o", "out.csv", "--force")
    assert outcome.code not in (0, 1) or isinstance(error, KeyboardInterrupt)
    assert outcome.code != 0
    assert "Traceback" not in outcome.err
    assert tree(here) == before


@pytest.mark.parametrize("call", [1, 2])
def test_a_disk_that_fills_up_late_changes_nothing(here: Path, monkeypatch: pytest.MonkeyPatch, call: int) -> None:
    done("anonymize", *BY_POLICY, "-o", "out.csv")
    before = tree(here)
    calls = []
    fsync = os.fsync

    def full(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == call:
            raise FULL
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    outcome = run("anonymize", *BY_POLICY, "-o", "out.csv", "--force")
    assert outcome.code == 70
    assert "no space is left" in outcome.err
    assert "nothing was changed" in outcome.err
    assert tree(here) == before


def test_a_manifest_that_cannot_be_written_changes_nothing(here: Path) -> None:
    write("out.csv", "older\n")
    Path("out.csv.manifest.json").mkdir()
    before = tree(here)
    outcome = run("anonymize", *BY_POLICY, "-o", "out.csv", "--force")
    assert outcome.code == 2
    assert_one_message(outcome)
    assert tree(here) == before


def test_a_failed_verification_publishes_nothing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tree(here)
    real = frames.write

    def single_out(frame: frames.Frame, path: Path, *how: Any) -> None:
        real(frame, path, *how)
        lines = path.read_text().splitlines()
        path.write_text("\n".join([*lines[:-1], lines[-1].replace(",f,", ",x,").replace(",m,", ",x,"), ""]))

    monkeypatch.setattr(frames, "write", single_out)
    outcome = run("anonymize", *BY_POLICY, "-o", "out.csv")
    assert outcome.code == 1
    assert "do not publish it" in outcome.err
    assert_one_message(outcome)
    assert tree(here) == before


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")
def test_a_killed_process_leaves_the_old_file(here: Path) -> None:
    done("anonymize", *BY_POLICY, "-o", "out.csv")
    before = tree(here)
    script = """
import os, signal, sys
from hushtable import cli
from hushtable.release import manifest
manifest.sha256 = lambda path: os.kill(os.getpid(), signal.SIGKILL)
sys.argv = ["hushtable", "anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv", "--force"]
cli.main()
"""
    killed = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    after = tree(here)
    assert {name: after[name] for name in before} == before
    drafts = [name for name in after if name not in before]
    assert all(name.startswith(".out.csv" if "manifest" in name else ".out.") for name in drafts)


@pytest.mark.skipif(not hasattr(signal, "SIGINT"), reason="needs POSIX signals")
def test_an_interrupted_process_leaves_no_draft(here: Path) -> None:
    before = tree(here)
    script = """
import os, signal, sys
from hushtable import cli
from hushtable.release import manifest
manifest.sha256 = lambda path: os.kill(os.getpid(), signal.SIGINT)
sys.argv = ["hushtable", "anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv"]
cli.main()
"""
    stopped = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert stopped.returncode not in (0, 1)
    assert "Traceback" not in stopped.stderr
    assert tree(here) == before


@pytest.mark.parametrize("arguments", [["scan", "in.csv"], ["scan", "in.csv", "--json"]], ids=["text", "json"])
def test_a_reader_that_leaves_early_is_no_error(here: Path, arguments: list[str]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "hushtable", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate()
    assert err == b""
    assert process.returncode == 0


@pytest.fixture
def many_inputs(here: Path) -> list[str]:
    """A job that reads six files besides the table, and its arguments."""
    write("job.csv", "flu;ill\ngout;ill\n")
    write("domains.csv", "age/*: 31, 34, 38, 52, 57, 59\n")
    write("key.csv", bytes(range(32)))
    write("people.csv", "age,sex\n" + "31,f\n34,m\n38,f\n52,m\n57,f\n59,f\n" * 3)
    changed = POLICY.replace("name: identifier", "name: {role: identifier, action: pseudonym}")
    changed = changed.replace("illness: sensitive", "illness: {role: sensitive, hierarchy: job.csv}")
    write("policy.csv", changed.replace("  - k-anonymity: 2\n", "  - k-anonymity: 2\n  - k-map: 2\n"))
    inputs = ["--population", "people.csv", "--domains", "domains.csv", "--key-file", "key.csv"]
    return ["anonymize", "in.csv", "-p", "policy.csv", *inputs]


@pytest.mark.parametrize("force", [[], ["--force"]], ids=["plain", "force"])
@pytest.mark.parametrize("name", ["in", "policy", "people", "domains", "key", "job"])
def test_no_input_is_ever_the_output(here: Path, many_inputs: list[str], name: str, force: list[str]) -> None:
    before = tree(here)
    outcome = run(*many_inputs, "-o", f"{name}.csv", *force)
    assert outcome.code == 2
    assert "the output is the input" in outcome.err
    assert_one_message(outcome)
    assert tree(here) == before
    done(*many_inputs, "-o", "out.csv")


def test_no_input_is_ever_the_manifest(here: Path) -> None:
    Path("policy.yaml").rename("out.csv.manifest.json")
    before = tree(here)
    outcome = run("anonymize", "in.csv", "-p", "out.csv.manifest.json", "-o", "out.csv", "--force")
    assert outcome.code == 2
    assert "the output is the input" in outcome.err
    assert tree(here) == before


WRITERS = {
    "anonymize": ("out.csv", ["anonymize", *BY_POLICY, "-o", "out.csv"]),
    "anonymize, manifest": ("out.csv.manifest.json", ["anonymize", *BY_POLICY, "-o", "out.csv"]),
    "mpuccs": ("out.csv", ["mpuccs", "in.csv", "--details", "out.csv"]),
    "uniques": ("out.csv", ["uniques", "in.csv", "--details", "out.csv"]),
    "keys": ("out.csv", ["keys", "in.csv", "--details", "out.csv"]),
    "mask-dependence": (
        "out.csv",
        ["mask-dependence", "in.csv", "--a", "sex", "--b", "age", "--clusters", "2", "--c", "illness", "-o", "out.csv"],
    ),
    "mask-dependence, clusters": (
        "out.clusters.csv",
        ["mask-dependence", "in.csv", "--a", "sex", "--b", "age", "--clusters", "2", "--c", "illness", "-o", "out.csv"],
    ),
}


@pytest.mark.parametrize(("output", "arguments"), WRITERS.values(), ids=WRITERS)
def test_what_exists_is_overwritten_by_force_only(here: Path, output: str, arguments: list[str]) -> None:
    write(output, "older\n")
    before = tree(here)
    outcome = run(*arguments)
    assert outcome.code == 2
    assert f"{output!r} exists" in outcome.err
    assert "--force" in outcome.err
    assert_one_message(outcome)
    assert tree(here) == before
    done(*arguments, "--force")
    assert Path(output).read_text() != "older\n"


@pytest.mark.parametrize("target", ["older.csv", "nothing.csv"])
@pytest.mark.parametrize(("output", "arguments"), WRITERS.values(), ids=WRITERS)
def test_nothing_is_written_through_a_link(here: Path, output: str, arguments: list[str], target: str) -> None:
    write("older.csv", "older\n")
    Path(output).symlink_to(target)
    outcome = run(*arguments, "--force")
    assert outcome.code == 2
    assert "is a symbolic link" in outcome.err
    assert_one_message(outcome)
    assert Path(output).is_symlink()
    assert Path("older.csv").read_text() == "older\n"
    assert not Path("nothing.csv").exists()


@pytest.mark.parametrize("command", ["mpuccs", "uniques", "keys"])
def test_details_are_no_input(here: Path, command: str) -> None:
    write("control.csv", "\n".join(ROWS))
    inputs = {"mpuccs": ["in.csv", "in.csv", "--control", "control.csv"], "uniques": ["in.csv"], "keys": ["in.csv"]}[
        command
    ]
    before = tree(here)
    for name in {each for each in inputs if each.endswith(".csv")}:
        outcome = run(command, *inputs, "--details", name, "--force")
        assert outcome.code == 2
        assert "the output is the input" in outcome.err
    assert tree(here) == before


def test_no_policy_is_written_through_a_link(here: Path) -> None:
    Path("new.yaml").symlink_to("elsewhere.yaml")
    outcome = run("scan", "in.csv", "-p", "new.yaml")
    assert outcome.code == 2
    assert "is a symbolic link" in outcome.err
    assert not Path("elsewhere.yaml").exists()


# Writes half a draft, says so, and waits until it is told to go on or is stopped.
WAITING = """
import sys
from hushtable import cli
from hushtable.io import frames
def wait(frame, path, *how):
    path.write_text("half a canary")
    print("waiting", flush=True)
    sys.stdin.readline()
frames.write = wait
sys.argv = ["hushtable", "anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv"]
cli.command()
"""


def waiting() -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    return process


def drafts_in(folder: Path) -> list[str]:
    return [name for name in tree(folder) if ".part" in name]


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_a_process_that_is_asked_to_end_leaves_no_draft(here: Path) -> None:
    before = tree(here)
    process = waiting()
    assert drafts_in(here)
    process.terminate()
    _, err = process.communicate()
    assert process.returncode == 128 + signal.SIGTERM
    assert err == ""
    assert tree(here) == before


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_drafts_of_the_dead_go_with_the_next_write_and_those_of_the_living_stay(here: Path) -> None:
    living, dead = waiting(), waiting()
    dead.kill()
    dead.communicate()
    assert len(drafts_in(here)) == 8
    done("anonymize", *BY_POLICY, "-o", "out.csv")
    assert len(drafts_in(here)) == 4
    living.kill()
    living.communicate()
    done("anonymize", *BY_POLICY, "-o", "out.csv", "--force")
    assert not drafts_in(here)


def test_only_a_process_of_the_command_handles_signals(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who calls `main`, as tests do, is ended by a signal as before: a run of tests can be stopped."""
    before, during = signal.getsignal(signal.SIGTERM), []
    monkeypatch.setattr(cli, "_build_command", lambda *_: lambda _: during.append(signal.getsignal(signal.SIGTERM)))
    done("scan", "in.csv")
    assert during == [before]


@pytest.mark.parametrize(
    ("changes", "has_margin"),
    [
        ("", True),
        ("method: {mondrian: {margin: 2}}\n", True),
        ("method: mingen\n", False),
        ("method: full_domain\n", False),
    ],
)
def test_that_what_was_not_cut_tells_more_is_said_of_every_method(here: Path, changes: str, has_margin: bool) -> None:
    write("policy.yaml", POLICY + changes)
    shown = done("anonymize", *BY_POLICY, "-o", "out.csv").out
    assert "infer more of illness from what was not cut" in shown
    # A method without a margin does not advise one.
    assert ("margin" in shown) is has_margin
    assert ("hushtable attack-release" in shown) is has_margin


def test_k_alone_tells_nothing_by_its_cuts(here: Path) -> None:
    assert "what was not cut" not in done("anonymize", "in.csv", *PLAIN, "-o", "out.csv").out


def test_a_summary_has_twelve_lines_at_most_and_all_of_it_on_request(here: Path) -> None:
    short = done("anonymize", *BY_POLICY, "-o", "out.csv").out.splitlines()
    whole = done("anonymize", *BY_POLICY, "-o", "out.csv", "--force", "--verbose").out.splitlines()
    assert len(short) <= 12
    assert short[-1].endswith(": --verbose")
    assert short[:-1] == whole[: len(short) - 1]
    n_more = int(short[-1].split()[0])
    assert len(whole) == len(short) - 1 + n_more
