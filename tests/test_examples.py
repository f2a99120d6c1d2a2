"""Every fenced example of README and the docs runs as it stands, and prints what the page shows.

The examples of a page run in their order, in one empty folder and one namespace. Output stands below its command, or in
a block of text below its lines of Python, which show their last value as a notebook does. It may leave out parts by
``...`` and fold spaces, but shows every warning. ``scripts/test_docs --update -k PAGE`` writes the output of today.
A block of YAML is saved under the name in its first line (``# policy.yaml``); one without a
name holds entries of a policy, which are read beside the others that a policy needs. ``RUN_ELSEWHERE``, ``NOT_OURS``
and ``SHOWN`` say what is not run here, and why.
"""

import ast
import contextlib
import difflib
import doctest
import importlib.util
import io
import os
import re
import shlex
import sys
import textwrap
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


UPDATES = bool(os.environ.get("HUSHTABLE_UPDATE_PAGES"))
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
PICTURE = re.compile(r"!\[[^\]]+\]\(([\w./]+\.svg)\)")
WARNING = re.compile(r"\b(?:careful|Achtung): ")
LEFT_OUT = "..."
MOST_LINES, WIDTH = 16, 96  # as scripts/check_widths.py; polars prints a wide frame in 100 columns
# What a slow machine adds: that kernels are compiled, and what goes on since when.
SIGNS = re.compile(r"hushtable: (?:compiling for the first time .*|.*, for [\d,]+ seconds\.)")


def compared(where, shown, printed):
    """Return what a page is to show of something printed; raise AssertionError unless it does, or is updated."""
    lines = [line.rstrip() for line in printed.splitlines() if not SIGNS.match(line)]
    printed = "".join(f"{line}\n" for line in lines)
    is_data = not shown.strip() and printed.startswith("{")
    if (
        not printed.strip()
        or is_data
        or (
            CHECKER.check_output(shown, printed, LENIENT)
            and len(WARNING.findall(shown)) == len(WARNING.findall(printed))
        )
    ):
        return shown
    if UPDATES:
        return choose_lines(shown, lines)
    raise AssertionError(f"{where}: printed\n{printed}\ninstead of\n{shown}")


def choose_lines(shown, printed):
    """Return the printed lines that are most like the shown ones, and every warning; without shown ones, the first."""
    kept = [line for line in shown.splitlines() if line.strip(" .")]
    if kept:
        wanted = {each for line in kept for each in difflib.get_close_matches(line, printed, n=1)}
    else:
        wanted = set(printed if len(printed) <= MOST_LINES else printed[:8])
    chosen = []
    for line in filter(None, printed):
        # A shown line may leave out its end, such as seconds.
        if same := [each for each in kept if CHECKER.check_output(each, line, LENIENT)]:
            chosen.append(same[0])
        elif WARNING.search(line) or (line in wanted and max(map(len, fold(line).splitlines())) <= WIDTH):
            chosen.append(fold(line))
        elif chosen[-1:] != [LEFT_OUT]:
            chosen.append(LEFT_OUT)
    return "".join(f"{line}\n" for line in chosen)


def fold(line):
    """Break a line of prose where a page ends; rows of a table stay whole."""
    if "  " in line.strip():
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.fill(line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def run_console(where, text):
    """Run the commands after each ``$``, each with the output shown below it; ``# exit N`` tells the expected code."""

    def run(found):
        asked, shown = found.groups()
        line = asked.replace("\\\n", " ")
        printed = run_line(where, line)
        return f"$ {asked}\n{shown if printed is None else compared(f'{where}: {line}', shown, printed)}"

    return COMMAND.sub(run, text)


def run_line(where, line):
    """Run a line of a shell and return what it showed, or None if it is run elsewhere; check its code."""
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
    return "" if file else printed


def run_script(where, text):
    for line in text.replace("\\\n", " ").splitlines():
        if not line.startswith("set "):
            run_line(where, line)
    return text


def run_makefile(where, text):
    """Run the recipes in their order: each target of the pages comes after what it needs."""
    for line in text.replace("\\\n", " ").splitlines():
        if not line.startswith("\t"):
            target = line.partition(":")[0]
        else:
            run_line(where, line.strip().replace("$@", target))
    return text


def read_yaml(where, text):
    """Save what has a name; read what has none, as entries of a policy."""
    if named := re.match(r"# (\S+\.ya?ml)\n", text):
        Path(named[1]).write_text(text, encoding="utf-8")
        return text
    given = yaml.safe_load(text)
    if not NOT_OURS & set(given):
        columns = {"age": "quasi-identifier", **dict.fromkeys(given.get("accept", ()), "other")}
        rest = {"models": [{"k-anonymity": 5}], **given, "columns": {**columns, **given.get("columns", {})}}
        Policy.parse(yaml.safe_dump(rest), where, Path())
    return text


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
    """Run lines of Python as a notebook does, and the tests that they define; return what they print and show."""
    before, cell = set(namespace), ast.parse(text)
    last = cell.body.pop() if cell.body and isinstance(cell.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(cell, "example", "exec"), namespace)
        namespace["_"] = last and eval(compile(ast.Expression(last.value), "example", "eval"), namespace)
        shown = repr(namespace["_"]).splitlines()
        # A record of many fields is for the reader's own notebook; a plot stands below its block.
        is_short = len(shown) <= MOST_LINES and max(map(len, shown)) <= WIDTH
        if namespace["_"] is not None and is_short and not is_plot(namespace["_"]):
            printed.writelines(f"{line}\n" for line in shown)
        for name in sorted(set(namespace) - before):
            if name.startswith("test_"):
                namespace[name]()
    return printed.getvalue()


def is_plot(value):
    return type(value).__module__.startswith("matplotlib")


def draw_below(page, rest, plot):
    """Draw the picture that stands below a block, if pages are updated; it must be there."""
    picture = PICTURE.search(rest.partition("```")[0])
    assert picture, f"{page.name}: no picture below a plot"
    if UPDATES:
        import matplotlib

        # Else an SVG holds the time, and names of parts drawn at random.
        with matplotlib.rc_context({"svg.hashsalt": picture[1]}):
            plot.figure.savefig(page.parent / picture[1], metadata={"Date": None})
    assert (page.parent / picture[1]).is_file()


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
    with warnings.catch_warnings():
        # A page's subject is not what a call warns of: where it is, the page shows the text.
        warnings.simplefilter("ignore")
        text = run_page(page)
    if UPDATES:
        page.write_text(text, encoding="utf-8")


def run_page(page):
    """Run the examples of a page; return it as it is, or with the output of today if it is updated."""
    text = page.read_text(encoding="utf-8")
    namespace, printed, parts, end = {"__name__": "example"}, "", [], 0
    for each in FENCE.finditer(text):
        language, block = each[1], each[2]
        where = f"{page.name}:{text.count(chr(10), 0, each.start()) + 1}"
        if printed and language != "text":
            parts.append(f"\n\n```text\n{compared(where, '', printed)}```")
        parts.append(text[end : each.start()])
        if language in RUNNERS:
            block = RUNNERS[language](where, block)
        elif language == "pycon":
            run_doctest(where, block, namespace)
        elif language == "text":
            block = compared(where, block, printed)
        elif language != "python":
            assert language in SHOWN, f"{where}: the test knows no {language}"
        printed = run_python(block, namespace) if language == "python" else ""
        if language == "python" and is_plot(namespace["_"]):
            draw_below(page, text[each.end() :], namespace["_"])
        parts.append(f"```{language}\n{block}```")
        end = each.end()
    if printed:
        parts.append(f"\n\n```text\n{compared(page.name, '', printed)}```")
    return "".join([*parts, text[end:]])


RUNNERS = {"console": run_console, "bash": run_script, "make": run_makefile, "yaml": read_yaml}
