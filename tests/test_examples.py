"""Every fenced example of README and the docs runs as it stands, and prints what the page shows.

The examples of a page run in their order, in one empty folder and one namespace. A shown output may leave out parts
by ``...`` and fold spaces. A block of YAML is saved under the name in its first line (``# policy.yaml``); one without a
name holds entries of a policy, which are read beside the others that a policy needs. ``RUN_ELSEWHERE``, ``NOT_OURS``
and ``SHOWN`` say what is not run here, and why.
"""

import contextlib
import doctest
import importlib.util
import io
import re
import shlex
import sys
import warnings
from pathlib import Path

import pytest
import yaml

from hushtable import cli
from hushtable.policy import Policy

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CHECKER = doctest.OutputChecker()
LENIENT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
# What installs the package, and the demo, is run with the wheel (scripts/test_wheel); jq may not be installed; a page
# is served until somebody ends it, and so is an assistant, of whom the transcript is.
RUN_ELSEWHERE = (
    "make ",
    "pip install ",
    "hushtable demo",
    "hushtable warm-up",
    "hushtable open",
    "hushtable assist ",
    "hushtable verify --transcript",
    "scripts/",
    "docker ",
    "jq ",
)
# YAML that GitHub Actions and pre-commit read.
NOT_OURS = {"jobs", "repos"}
# Blocks that only show something: trees and diagrams (no language), an image that a daemon would build, and
# entry points, which tests/test_extending.py installs; lines and settings of other programs.
SHOWN = {"", "docker", "json", "r", "stata", "text", "toml"}
# Files that only a reader can bring along.
BROUGHT = {"areas.csv": "10115;101**;*\n"}
# Packages that a page needs and the tests may lack.
PACKAGES = {
    "engines.md": ("duckdb",),
    "next_batch.md": ("sklearn",),
    "utility.md": ("sklearn",),
    "names.md": ("sklearn",),
    "bounds.md": ("pyreadstat", "statsmodels"),
}


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
    for asked, shown in re.findall(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
        line = asked.replace("\\\n", " ")
        printed = run_line(where, line)
        if shown.strip() and printed is not None:
            compared(f"{where}: {line}", shown, printed)


def run_line(where, line):
    """Run a line of a shell and return what it printed, or None if it is run elsewhere; check its code."""
    # A cluster is started by tests/engines/test_spark.py alone.
    if line.startswith(RUN_ELSEWHERE) or " --engine spark" in line:
        return None
    command, _, comment = line.partition("  #")
    command, _, forgiven = command.partition(" || ")
    command, _, file = command.partition(" > ")
    expected = re.search(r"exit (?:code )?(\d+)", comment)
    code, printed = run_shell(command)
    told = int(expected[1]) if expected else 0
    assert forgiven or code == told, f"{where}: {line} ended with {code}:\n{printed}"
    if file:
        Path(file.strip()).write_text(printed, encoding="utf-8")
    return printed


def run_script(where, text):
    for line in text.replace("\\\n", " ").splitlines():
        if not line.startswith("set "):
            run_line(where, line)


def run_makefile(where, text):
    """Run the recipes in their order: each target of the pages comes after what it needs."""
    for line in text.replace("\\\n", " ").splitlines():
        if not line.startswith("\t"):
            target = line.partition(":")[0]
        else:
            run_line(where, line.strip().replace("$@", target))


def read_yaml(where, text):
    """Save what has a name; read what has none, as entries of a policy."""
    if named := re.match(r"# (\S+\.ya?ml)\n", text):
        Path(named[1]).write_text(text, encoding="utf-8")
        return
    given = yaml.safe_load(text)
    if not NOT_OURS & set(given):
        columns = {"age": "quasi-identifier", **dict.fromkeys(given.get("accept", ()), "other")}
        rest = {"models": [{"k-anonymity": 5}], **given, "columns": {**columns, **given.get("columns", {})}}
        Policy.parse(yaml.safe_dump(rest), where, Path())


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
    """Run lines of Python, and the tests that they define; return what they print."""
    before = set(namespace)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(text, "example", "exec"), namespace)
        for name in sorted(set(namespace) - before):
            if name.startswith("test_"):
                namespace[name]()
    return printed.getvalue()


def run_doctest(where, text, namespace):
    parsed = doctest.DocTestParser().get_doctest(text, namespace, where, where, 0)
    report = io.StringIO()
    runner = doctest.DocTestRunner(CHECKER, verbose=False, optionflags=LENIENT)
    runner.run(parsed, out=report.write, clear_globs=False)
    namespace.update(parsed.globs)
    assert not runner.failures, report.getvalue()


@pytest.mark.pages
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch):
    lacking = [each for each in PACKAGES.get(page.name, ()) if importlib.util.find_spec(each) is None]
    if lacking:
        pytest.skip(f"the page needs {', '.join(lacking)}")
    monkeypatch.chdir(tmp_path)
    for name, text in BROUGHT.items():
        Path(name).write_text(text, encoding="utf-8")
    namespace, printed = {"__name__": "example"}, ""
    with warnings.catch_warnings():
        # A page's subject is not what a call warns of: where it is, the page shows the text.
        warnings.simplefilter("ignore")
        for line, language, text in blocks(page):
            where = f"{page.name}:{line}"
            if language in RUNNERS:
                RUNNERS[language](where, text)
            elif language == "pycon":
                run_doctest(where, text, namespace)
            elif language == "python":
                printed = run_python(text, namespace)
            else:
                assert language in SHOWN, f"{where}: the test knows no {language}"
            if language == "text" and printed:
                compared(where, text, printed)
                printed = ""


RUNNERS = {"console": run_console, "bash": run_script, "make": run_makefile, "yaml": read_yaml}
