#!/usr/bin/env python3
"""Build the site: the pages of docs, a reference made from the program, schemas, and texts for language models."""

import dataclasses
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import typer

import hushtable
from hushtable.anonymizers import METHODS
from hushtable.cli import build_app
from hushtable.models import MODELS
from hushtable.pipeline import pipeline_schema
from hushtable.policy import policy_schema
from hushtable.quality import LOSSES

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / ".site"
PAGES, HTML = SITE / "docs", SITE / "html"
EXITS = {
    0: "done",
    1: "the answer is no",
    2: "wrong input or arguments",
    3: "infeasible",
    70: "a fault of hushtable, or the end of memory or disk",
}
ABOVE = re.compile(
    r"\]\((?:\.\./)+(README\.md|CHANGELOG\.md|CITATION\.cff|CONTRIBUTING\.md|src/[^)]*|benchmarks/[^)]*)\)"
)


def main() -> int:
    """Put the pages together, build, and check every link; return the exit code."""
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES)
    # Where hosts of repositories look for it; the site shows the same page.
    shutil.copy(ROOT / "SECURITY.md", PAGES / "security.md")
    for page in PAGES.rglob("*.md"):
        # What lies above the docs is in the repository, and not on the site.
        text = page.read_text(encoding="utf-8").replace("](../SECURITY.md)", "](security.md)")
        page.write_text(ABOVE.sub("](index.md)" if page.parent == PAGES else "](../index.md)", text), encoding="utf-8")
    made = {"api.md": api(), "commands.md": commands(), "files.md": files()}
    (PAGES / "reference").mkdir()
    for name, text in made.items():
        (PAGES / "reference" / name).write_text(text, encoding="utf-8")
    (PAGES / "schemas").mkdir()
    for name, schema in {"policy": policy_schema(), "pipeline": pipeline_schema()}.items():
        (PAGES / "schemas" / f"{name}.schema.json").write_text(f"{json.dumps(schema, indent=2)}\n", encoding="utf-8")
    (PAGES / "llms.txt").write_text(listed(), encoding="utf-8")
    build = ["zensical", "build", "--strict", "--clean"]
    ended = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    print(ended.stdout, ended.stderr, sep="")
    warned = [line for line in (ended.stdout + ended.stderr).splitlines() if "warn" in line.lower()]
    broken = broken_links()
    print(*broken, sep="\n")
    print(f"{sum(1 for _ in HTML.rglob('*.html'))} pages, {len(broken)} broken links")
    return 1 if ended.returncode or warned or broken else 0


def api() -> str:
    """Return a page of all public names, each with its docstring."""
    names = "\n\n".join(f"::: hushtable.{name}" for name in sorted(hushtable.__all__, key=str.lower))
    return f"# Names, one by one\n\nShort examples of all of them are under [names](../names.md).\n\n{names}\n"


def commands() -> str:
    """Return a page of all commands with their options, from the program itself."""
    group = typer.main.get_command(build_app())
    parts = ["# Commands", "Every command with its options. `--help` shows the same."]
    context = group.make_context("hushtable", [], resilient_parsing=True)
    heading = ""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        first = (command.help or "").replace("\b", "").strip()
        if command.rich_help_panel != heading:
            heading = command.rich_help_panel
            parts.append(f"## {heading}")
        parts += [f"### {name}", first]
        rows = ["| option | what it is | default |", "|---|---|---|"]
        for parameter in command.params:
            if getattr(parameter, "hidden", False) or parameter.name == "help":
                continue
            told = " ".join([*parameter.opts, *parameter.secondary_opts])
            meta = f" {parameter.metavar}" if parameter.metavar and parameter.opts[0].startswith("-") else ""
            shown = parameter.metavar if not parameter.opts[0].startswith("-") else f"{told}{meta}"
            default = (
                "" if parameter.default in (None, False) or callable(parameter.default) else str(parameter.default)
            )
            rows.append(f"| `{cell(shown or told)}` | {cell(getattr(parameter, 'help', '') or '')} | {cell(default)} |")
        parts += ["\n".join(rows), f"```console\n$ {example}\n```" if (example := _example(command)) else ""]
    parts += [
        "## Exit codes",
        "| code | meaning |\n|---|---|\n" + "\n".join(f"| {code} | {EXITS[code]} |" for code in EXITS),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _example(command: object) -> str:
    first = (getattr(command, "epilog", "") or "").partition("\n")[0]
    return first.removeprefix("Example: ")


def cell(text: str) -> str:
    """Return a text as a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def files() -> str:
    """Return a page of what policies may hold."""
    parts = [
        "# Policies and pipelines",
        "The schemas are [policy.schema.json](../schemas/policy.schema.json) and "
        "[pipeline.schema.json](../schemas/pipeline.schema.json). "
        "`hushtable schema policy -o policy.schema.json` writes one. Beside a policy, `scan` names it, and an editor "
        "completes entries.",
    ]
    for title, kinds in (("Models", MODELS), ("Methods", METHODS), ("Losses", LOSSES)):
        rows = ["| name | options | what it is |", "|---|---|---|"]
        for name in sorted(kinds):
            options = ", ".join(f"`{field.name}`" for field in dataclasses.fields(kinds[name]) if field.init)
            rows.append(f"| `{name}` | {options} | {cell((kinds[name].__doc__ or '').partition('.')[0])} |")
        parts += [f"## {title}", "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


def listed() -> str:
    """Return a list of the pages for language models, by the form of llms.txt."""
    lines = ["# hushtable", "", "> Find what identifies people in a table, hide it with the least loss, prove it.", ""]
    for page in sorted(PAGES.rglob("*.md")):
        title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        lines.append(f"- [{title}]({page.relative_to(PAGES).as_posix()})")
    return "\n".join(lines) + "\n"


class Page(HTMLParser):
    """The links of a page, and the places in it that links may name."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take down what a tag links to and how it is called."""
        told = dict(attrs)
        if told.get("id"):
            self.places.add(told["id"] or "")
        link = told.get("href") if tag == "a" else told.get("src") if tag == "img" else None
        if link:
            self.links.append(link)


def broken_links() -> list[str]:
    """Return the links within the site that lead nowhere."""
    pages = {}
    for path in HTML.rglob("*.html"):
        pages[path] = Page()
        pages[path].feed(path.read_text(encoding="utf-8"))
    broken = []
    for path, page in pages.items():
        if path.name == "404.html":
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                broken.append(f"{path.relative_to(HTML)}: {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                broken.append(f"{path.relative_to(HTML)}: {link}: no such place")
    return broken


if __name__ == "__main__":
    sys.exit(main())
