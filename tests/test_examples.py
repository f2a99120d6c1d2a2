"""Every fenced example of README and the docs runs as it stands, and prints what the page shows.

The examples of a page run in their order, in one empty folder and one namespace. A shown output may leave out parts
by ``...`` and fold spaces. What a page installs or writes by hand is said in the page, not here.
"""

import contextlib
import doctest
import io
import re
import shlex
import sys
import warnings
from pathlib import Path

import pytest

from hushtable import cli
from hushtable.pipeline import Pipeline
from hushtable.policy import Policy

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CHECKER = doctest.OutputChecker()
LENIENT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page):
    """Return the fenced blocks of a page as (line, language, text)."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, each.start()) + 1, each[1], each[2]) for each in FENCE.finditer(text)]


def compared(where, shown, printed):
    """Raise AssertionError unless something printed is what a page shows."""
    printed = "\n".join(line.rstrip() for line in printed.splitlines())
    assert CHECKER.check_output(shown, f"{printed}\n", LENIENT), f"{where}: printed\n{printed}\ninstead of\n{shown}"


def run_python(where, text, names):
    """Run lines of Python; return what they print."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(text, where, "exec"), names)
    return printed.getvalue()


def run_command(where, line):
    """Run a command in this process; return what it prints, and raise AssertionError where it ends otherwise."""
    command, _, comment = line.partition("  #")
    words = shlex.split(command)
    expected = re.search(r"exit (?:code )?(\d+)", comment)
    before = sys.argv
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(printed):
        sys.argv = words
        try:
            cli.main()
            code = 0
        except SystemExit as ended:
            code = ended.code or 0
        finally:
            sys.argv = before
    assert code == (int(expected[1]) if expected else 0), f"{where}: {line} ended with {code}:\n{printed.getvalue()}"
    return printed.getvalue()


def run_console(where, text):
    """Run the commands of a console, each with what is shown below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        joined = part.replace("\\\n", " ")
        line, _, shown = joined.partition("\n")
        if line.startswith("pip install"):
            continue
        assert line.startswith("hushtable "), f"{where}: {line} is no command of hushtable"
        printed = run_command(where, line)
        if shown.strip():
            compared(where, shown, printed)


def run_yaml(where, text):
    """Read a policy or a pipeline, and save it under the name that its first line gives."""
    named = re.match(r"# (\S+\.ya?ml)\b", text)
    path = Path(named[1] if named else "example.yaml")
    path.write_text(text, encoding="utf-8")
    (Policy if re.search(r"^(columns|models):", text, re.MULTILINE) else Pipeline).read(path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    printed = None
    for line, language, text in blocks(page):
        where = f"{page.name}:{line}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            if language == "python":
                printed = run_python(where, text, names)
                continue
            if language == "console":
                run_console(where, text)
            elif language == "yaml":
                run_yaml(where, text)
            elif language == "pycon":
                found = doctest.DocTestParser().get_doctest(text, names, where, str(page), line)
                ran = doctest.DocTestRunner(optionflags=LENIENT).run(found, clear_globs=False)
                assert not ran.failed, where
                names |= found.globs
            elif language == "text" and printed is not None:
                compared(where, text, printed)
        printed = None
