"""What an operator needs of a job: codes and kinds of errors, a log, and outputs that exist or are raced for."""

import errno
import io
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import polars as pl
import pytest

from command import done, run, tree
from hushtable import cli, errors
from hushtable.cli import joblog
from hushtable.io import drafts
from hushtable.wording import use_language

POLICY = "columns: {age: quasi-identifier, pay: other}\nmodels: [k-anonymity: 3]\nlimits: {exposure: {rate: 1.0}}\n"
ASKED = ("anonymize", "people.csv", "-p", "policy.yaml", "-o", "out.csv")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"age": [30 + i % 7 for i in range(40)], "pay": [i % 3 for i in range(40)]}).write_csv("people.csv")
    Path("policy.yaml").write_text(POLICY)
    return tmp_path


def read_log(path: str = "job.log") -> list[dict[str, object]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def all_errors(kind: type = errors.HushError) -> Iterator[type]:
    yield kind
    for each in kind.__subclasses__():
        yield from all_errors(each)


def test_every_error_has_a_kind_of_its_own_that_the_page_lists_with_its_code() -> None:
    page = (Path(__file__).parents[2] / "docs" / "nightly.md").read_text()
    ours = {each.kind: each for each in all_errors() if each.__module__ == "hushtable.errors"}
    assert len(ours) == sum(each.__module__ == "hushtable.errors" for each in all_errors())
    for kind, each in ours.items():
        assert kind == "error" or f"| {each.exit_code} | `{kind}` |" in page, kind
    for code, kind in ((70, "fault"), (70, "memory"), (70, "library"), (2, "usage")):
        assert f"| {code} | `{kind}` |" in page


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("changed", "code", "kind"),
    [
        (("anonymize", "none.csv", "-p", "policy.yaml", "-o", "out.csv"), 2, "input"),
        (("anonymize", "people.csv", "-p", "none.yaml", "-o", "out.csv"), 2, "policy"),
        ((*ASKED[:-1], "policy.yaml.csv", "--set", "models=[{k-anonymity: 50}]"), 3, "infeasible"),
        ((*ASKED, "--no-such-option"), 2, "usage"),
        ((*ASKED[:-1], "people.csv"), 2, "input"),
        (("verify", "people.csv"), 2, "input"),
    ],
)
def test_an_error_is_json_with_its_kind_for_every_exit_code(changed: tuple[str, ...], code: int, kind: str) -> None:
    outcome = run(*changed, "--json", "--log", "job.log")
    assert outcome.code == code, outcome
    told = json.loads(outcome.out)
    assert (told["passed"], told["kind"], told["exit_code"]) == (False, kind, code)
    log = read_log()
    assert [log[-2]["event"], log[-2]["kind"]] == ["error", kind]
    assert (log[-1]["event"], log[-1]["exit_code"]) == ("end", code)


@pytest.mark.usefixtures("here")
def test_the_log_says_what_a_job_did_and_no_cell_of_the_table() -> None:
    done(*ASKED, "--log", "job.log")
    log = read_log()
    assert log[0]["event"] == "start"
    assert log[0]["command"] == "anonymize"
    by_event = {each["event"]: each for each in log}
    assert by_event["read"]["rows"] == by_event["written"]["rows"] == 40
    assert {"reading", "searching", "writing and verifying"} <= {each.get("step") for each in log}
    assert by_event["end"]["exit_code"] == 0
    assert by_event["end"]["peak_memory_bytes"] > 10**7
    # A second job appends; a file that is no log is left alone.
    assert run(*ASKED, "--log", "job.log").code == 2
    assert [each["event"] for each in read_log()].count("start") == 2
    before = Path("people.csv").read_bytes()
    outcome = run(*ASKED, "--log", "people.csv", "--json")
    assert (outcome.code, json.loads(outcome.out)["kind"]) == (2, "input")
    assert Path("people.csv").read_bytes() == before


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("first", ['{"event": "click", "user": 1}', "[" * 9_000, '"event"', "7"])
def test_a_file_that_only_looks_like_a_log_is_left_alone(first: str) -> None:
    Path("events.json").write_text(f"{first}\n")
    assert run(*ASKED, "--log", "events.json").code == 2
    assert Path("events.json").read_text() == f"{first}\n"


@pytest.mark.usefixtures("here")
def test_a_release_that_takes_the_name_of_the_log_is_whole() -> None:
    done(*ASKED, "--if-exists", "replace", "--log", "out.csv")
    assert run("verify", "out.csv").code == 0


@pytest.mark.usefixtures("here")
def test_a_job_goes_on_where_its_log_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with Path("job.log").open("ab", buffering=0) as file:
        log = mock.Mock(wraps=file, write=fail)
        monkeypatch.setattr(joblog, "_open_file", lambda _: log)
        outcome = run(*ASKED, "--log", "job.log", "--json")
    assert (outcome.code, json.loads(outcome.out)["verified"]["passed"]) == (0, True)
    assert "hushtable: the log lacks a line: No space left on device." in outcome.err


@pytest.mark.usefixtures("here")
def test_where_nobody_watches_a_long_step_gives_a_sign_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joblog, "HEARTBEAT_SECONDS", 0.001)
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with joblog.open_log(Path("job.log")), joblog.record_step("searching"):
        while "heartbeat" not in Path("job.log").read_text():
            time.sleep(0.001)
        logging.getLogger("hushtable.kernels").info("label_rows")
    assert "hushtable: searching, for 0 seconds." in stream.getvalue()
    assert "compiling for the first time on this machine" in stream.getvalue()
    assert "label_rows" in Path("job.log").read_text()


def test_a_sign_of_life_is_in_the_language_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joblog, "HEARTBEAT_SECONDS", 0.001)
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with use_language("de"), joblog.open_log(None):
        logging.getLogger("hushtable.kernels").info("label_rows")
        with joblog.record_step("searching"):
            while "Sekunden" not in stream.getvalue():
                time.sleep(0.001)
    assert "hushtable: Es wird gesucht, seit 0 Sekunden.\n" in stream.getvalue()
    assert "for the first time" not in stream.getvalue()


@pytest.mark.usefixtures("here")
def test_what_to_do_where_a_release_exists() -> None:
    done(*ASKED)
    assert json.loads(run(*ASKED, "--json").out)["kind"] == "exists"
    before = tree(Path())
    told = json.loads(done(*ASKED, "--if-exists", "skip", "--json").out)
    assert told["skipped"] is True
    assert tree(Path()) == before
    done(*ASKED, "--if-exists", "replace")
    assert run(*ASKED, "--if-exists", "replace", "--force").code == 2
    assert run(*ASKED, "--if-exists", "sometimes").code == 2
    # What is there is not what its manifest says: nobody may take it for done.
    Path("out.csv").write_text("age,pay\n30,1\n")
    assert run(*ASKED, "--if-exists", "skip").code == 1


def test_a_file_that_appears_while_a_job_works_is_left_or_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    for overwrite, text in ((False, "theirs"), (True, "ours")):
        path.unlink(missing_ok=True)
        try:
            with drafts.replace_files(path, overwrite=overwrite) as (draft,):
                draft.write_text("ours")
                path.write_text("theirs")
        except errors.ExistsError:
            assert not overwrite
        assert path.read_text() == text
        assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_appears_while_a_job_works_is_left(tmp_path: Path) -> None:
    path = tmp_path / "out"

    def write_beside_another() -> None:
        with drafts.replace_folder(path, overwrite=False) as (draft, _):
            (draft / "part-0.parquet").write_text("ours")
            path.mkdir()
            (path / "part-0.parquet").write_text("theirs")

    with pytest.raises(errors.ExistsError):
        write_beside_another()
    assert (path / "part-0.parquet").read_text() == "theirs"


def test_a_broken_library_is_named_as_such() -> None:
    line = cli.fault_line(ImportError("libfoo.so: cannot open shared object", name="polars.polars"))
    assert "the library 'polars' cannot be loaded" in line
    assert "a fault of hushtable" not in line
    assert "a fault of hushtable" in cli.fault_line(ImportError("no name", name="hushtable.none"))
    assert "install that library anew" in cli.fault_line(ImportError("DLL load failed"))


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_an_output_that_may_not_be_written_is_refused_before_the_work(here: Path) -> None:
    (here / "closed").mkdir(mode=0o500)
    outcome = run(*ASKED[:-1], "closed/out.csv")
    assert outcome.code == 2
    assert "may not be written to" in outcome.err


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, names are text")
@pytest.mark.usefixtures("here")
def test_names_of_any_bytes() -> None:
    folder = os.fsencode(Path.cwd()) + b"/m\xfcller"
    os.mkdir(folder)
    with open(folder + b"/in.csv", "wb") as file:
        file.write(Path("people.csv").read_bytes())
    script = "import sys; from hushtable import cli; cli.command()"
    shown = subprocess.run(
        [sys.executable, "-c", script, "anonymize", folder + b"/in.csv", "-p", "policy.yaml", "-o",
         folder + b"/\xff.csv", "--log", folder + b"/job.log", "--json"],
        capture_output=True, check=False,
    )  # fmt: skip
    assert shown.returncode == 0, shown.stderr
    os.mkdir(parts := folder + b"/\xfd")
    pl.read_csv("people.csv").write_parquet("part-0.parquet")
    os.rename("part-0.parquet", parts + b"/part-0.parquet")
    written = os.fsdecode(os.fsencode(Path.cwd()) + b"/\xfe")
    done("anonymize", os.fsdecode(parts), "-p", "policy.yaml", "-o", written)
    done("verify", written)
