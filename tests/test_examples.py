"""Every fenced example of README and the docs runs as it stands, and prints what the page shows.

The examples of a page run in their order, in one empty folder and one namespace. A shown output may leave out parts
by ``...`` and fold spaces. A block of YAML is saved under the name in its first line (``# policy.yaml``). What installs
the package, and the demo, is run with the wheel (`scripts/test_wheel`).
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

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CHECKER = doctest.OutputChecker()
LENIENT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
RUN_ELSEWHERE = ("make ", "pip install ", "hushtable demo", "hushtable warm-up", "scripts/", "docker ")


def blocks(page):
    """Return the fenced blocks of a page as (line, language, text)."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, each.start()) + 1, each[1], each[2]) for each in FENCE.finditer(text)]


def compared(where, shown, printed):
    """Raise AssertionError unless something printed is what a page shows."""
    printed = "\n".join(line.rstrip() for line in printed.splitlines())
    assert CHECKER.check_output(shown, f"{printed}\n", LENIENT), f"{where}: printed\n{printed}\ninstead of\n{shown}"


def run_console(where, text):
    """Run the commands after each ``$``, each with the output shown below it; ``# exit N`` tells the expected code."""
    for asked, shown in re.findall(r"^\$ (.*(?:\\\n.*)*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
        line = asked.replace("\\\n", " ")
        if line.startswith(RUN_ELSEWHERE):
            continue
        command, _, comment = line.partition("  #")
        expected = re.search(r"exit (?:code )?(\d+)", comment)
        code, printed = run_shell(command)
        assert code == (int(expected[1]) if expected else 0), f"{where}: {line} ended with {code}:\n{printed}"
        if shown.strip():
            compared(f"{where}: {line}", shown, printed)


def run_shell(command):
    """Run a line of a shell, as far as the pages have one, and return its code and what it printed."""
    program, *arguments = shlex.split(command)
    if program == "python":
        assert arguments[0] == "-c", command
        return 0, run_python(arguments[1], {})
    if program == "head":
        _, number, name = arguments
        return 0, "".join(Path(name).read_text(encoding="utf-8").splitlines(keepends=True)[: int(number)])
    assert program == "hushtable", f"the test knows no {program}"
    # Both streams in one, as a terminal shows them.
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(printed):
        try:
            with pytest.MonkeyPatch.context() as given:
                given.setattr(sys, "argv", [program, *arguments])
                cli.main()
        except SystemExit as ended:
            return ended.code or 0, printed.getvalue()
    return 0, printed.getvalue()


def run_python(text, namespace):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(text, "example", "exec"), namespace)
    return printed.getvalue()


def run_doctest(where, text, namespace):
    parsed = doctest.DocTestParser().get_doctest(text, namespace, where, where, 0)
    report = io.StringIO()
    runner = doctest.DocTestRunner(CHECKER, verbose=False, optionflags=LENIENT)
    runner.run(parsed, out=report.write, clear_globs=False)
    namespace.update(parsed.globs)
    assert not runner.failures, report.getvalue()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace, printed = {"__name__": "example"}, ""
    with warnings.catch_warnings():
        # A page's subject is not what a call warns of: where it is, the page shows the text.
        warnings.simplefilter("ignore")
        for line, language, text in blocks(page):
            where = f"{page.name}:{line}"
            if language == "yaml" and (named := re.match(r"# (\S+\.ya?ml)\n", text)):
                Path(named[1]).write_text(text, encoding="utf-8")
            elif language == "console":
                run_console(where, text)
            elif language == "pycon":
                run_doctest(where, text, namespace)
            elif language == "python":
                printed = run_python(text, namespace)
            elif language == "text" and printed:
                compared(where, text, printed)
                printed = ""
