#!/usr/bin/env python3
"""Build the site: the pages of docs, a reference made from the program, schemas, and texts for language models."""

import dataclasses
import inspect
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
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
# The rooms of the package, in the words of readers: each public name has its page under the topic of its room.
TOPICS = {
    "Releases": ("policy", "release", "engines"),
    "Privacy models": ("models",),
    "Methods": ("anonymizers", "search"),
    "Columns and hierarchies": ("columns", "hierarchy", "tables"),
    "Losses and utility": ("quality",),
    "Verdicts and certificates": ("claims",),
    "Roles and scores": ("discover",),
    "Risk": ("risk",),
    "Attacks": ("risk.attacks", "risk.members", "risk.mpuccs", "risk.petsard"),
    "Linked tables": ("linked",),
    "Perturbation": ("perturbation",),
    "Independence masking": ("masking",),
    "Tables of counts and sums": ("tabulation",),
    "Synthetic tables": ("synthesizers", "datasets"),
    "Pipelines and reports": ("pipeline", "reporting"),
    "Errors": ("errors",),
}
ABOVE = re.compile(
    r"\]\((?:\.\./)+(README\.md|CHANGELOG\.md|CITATION\.cff|CONTRIBUTING\.md|src/[^)]*|benchmarks/[^)]*)\)"
)
# What mkdocstrings writes around what it does not find: a dash, and a second pair of brackets.
UNDESCRIBED = re.compile(r'–\s*<div class="doc-md-description">\s*</div>')
UNTYPED = re.compile(r"\(<code>\(((?:(?!</code>).)*)\)</code>\)", re.DOTALL)
SCREEN = re.compile(r"!\[([^\]]+)\]\((screens/page_[a-z_]+)\.png\)")


def main() -> int:
    """Put the pages together, build, and check every link; return the exit code."""
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES, ignore=shutil.ignore_patterns("ruff.toml"))
    # Where hosts of repositories look for it; the site shows the same page.
    shutil.copy(ROOT / "SECURITY.md", PAGES / "security.md")
    home = PAGES / "index.md"
    home.write_text(f"---\nhide: [navigation]\n---\n\n{home.read_text(encoding='utf-8')}", encoding="utf-8")
    for page in PAGES.rglob("*.md"):
        # What lies above the docs is in the repository, and not on the site.
        text = page.read_text(encoding="utf-8").replace("](../SECURITY.md)", "](security.md)")
        text = ABOVE.sub("](index.md)" if page.parent == PAGES else "](../index.md)", text)
        page.write_text(SCREEN.sub(narrow_too, text), encoding="utf-8")
    for name, text in {**api(), **commands(), "files.md": files()}.items():
        path = PAGES / "reference" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (PAGES / "schemas").mkdir()
    for name, schema in {"policy": policy_schema(), "pipeline": pipeline_schema()}.items():
        (PAGES / "schemas" / f"{name}.schema.json").write_text(f"{json.dumps(schema, indent=2)}\n", encoding="utf-8")
    (PAGES / "llms.txt").write_text(listed(), encoding="utf-8")
    build = ["zensical", "build", "--strict", "--clean"]
    ended = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    print(ended.stdout, ended.stderr, sep="")
    warned = [line for line in (ended.stdout + ended.stderr).splitlines() if "warn" in line.lower()]
    for menu in HTML.rglob("SUMMARY.html"):
        menu.unlink()
    guides_first(HTML / "search.json")
    for page in (HTML / "reference" / "api").glob("*.html"):
        text = UNDESCRIBED.sub("", page.read_text(encoding="utf-8"))
        page.write_text(UNTYPED.sub(r"(<code>\1</code>)", text), encoding="utf-8")
    broken = [*broken_links(), *not_on_home()]
    print(*broken, sep="\n")
    print(f"{sum(1 for _ in HTML.rglob('*.html'))} pages, {len(broken)} broken links")
    return 1 if ended.returncode or warned or broken else 0


def narrow_too(screen: re.Match[str]) -> str:
    """Return a screen that is the narrow one where the page is narrow: there, words of the wide one are too small."""
    words, name = screen.groups()
    wide, narrow = f'<img alt="{words}" src="{name}.png">', f"{name}_400.png"
    source = f'<source media="(max-width: 45em)" srcset="{narrow}">' if (PAGES / narrow).is_file() else ""
    return f"<picture>{source}{wide}</picture>"


def api() -> dict[str, str]:
    """Return a page of each public name; names that differ by capitals, as of a call and its result, share one."""
    pages: dict[str, list[str]] = {}
    for name in sorted(hushtable.__all__, key=lambda name: (name.lower(), name.swapcase())):
        pages.setdefault(name.lower(), []).append(name)
    texts, topics = {}, {title: [] for title in TOPICS}
    for page, names in pages.items():
        texts[f"api/{page}.md"] = "\n\n".join(
            f"::: hushtable.{name}\n    options: {{heading_level: {min(level, 2)}}}"
            for level, name in enumerate(names, 1)
        )
        topics[topic(names[0])].append((page, names))
    index = [
        "# Every name of the Python package",
        "[Names, with examples](../../names.md) has lines to copy.",
    ]
    listed = ["- [Names, one by one](index.md)"]
    for title, entries in topics.items():
        rows = [f"| {_links(page, names)} | {_summary(names[0])} |" for page, names in entries]
        index += [f"## {title}", "\n".join(["| name | what it is |", "|---|---|", *rows])]
        listed += [f"- {title}", *(f"    - [{', '.join(names)}]({page}.md)" for page, names in entries)]
    return texts | {"api/index.md": "\n\n".join(index) + "\n", "api/SUMMARY.md": "\n".join(listed) + "\n"}


def topic(name: str) -> str:
    """Return the topic of a public name: that of the innermost room which has one."""
    found = getattr(hushtable, name)
    module = getattr(found, "__module__", found.__name__ if inspect.ismodule(found) else "")
    titles = {f"hushtable.{room}": title for title, rooms in TOPICS.items() for room in rooms}
    inner = [room for room in titles if f"{module}.".startswith(f"{room}.")]
    if not inner:
        raise SystemExit(f"{name} of {module} has no topic: add its room to TOPICS in scripts/make_docs.py")
    return titles[max(inner, key=len)]


def _links(page: str, names: list[str]) -> str:
    return ", ".join(f"[`{name}`]({page}.md#hushtable.{name})" for name in names)


def _summary(name: str) -> str:
    return cell((inspect.getdoc(getattr(hushtable, name)) or "").partition("\n\n")[0]).replace("``", "`")


def commands() -> dict[str, str]:
    """Return a page of each command, from the program itself, and a list of them."""
    group = typer.main.get_command(build_app())
    context = group.make_context("hushtable", [], resilient_parsing=True)
    texts, panels = {}, {}
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        summary, _, examples = (command.help or "").partition("\n\n\b\n")
        shown = "\n".join(f"$ {line}" for line in examples.splitlines()[1:])
        parts = [f"# hushtable {name}", summary, f"```console\n{shown}\n```", *_options(command, context)]
        texts[f"commands/{name}.md"] = "\n\n".join(parts) + "\n"
        panels.setdefault(command.rich_help_panel, []).append((name, " ".join(summary.partition("\n\n")[0].split())))
    index = ["# Commands", "`hushtable COMMAND --help` shows what its page shows."]
    listed = ["- [Commands](index.md)"]
    for title, entries in panels.items():
        rows = [f"| [`{name}`]({name}.md) | {cell(summary)} |" for name, summary in entries]
        index += [f"## {title}", "\n".join(["| command | what it does |", "|---|---|", *rows])]
        listed += [f"- {title}", *(f"    - [{name}]({name}.md)" for name, _ in entries)]
    codes = "\n".join(["| code | meaning |", "|---|---|", *(f"| {code} | {EXITS[code]} |" for code in EXITS)])
    index += ["## Exit codes", codes]
    return texts | {"commands/index.md": "\n\n".join(index) + "\n", "commands/SUMMARY.md": "\n".join(listed) + "\n"}


def _options(command: typer.core.TyperCommand, context: typer.Context) -> Iterator[str]:
    """Yield a table for each group of the options of a command, as ``--help`` has them."""
    groups: dict[str, list[str]] = {"Arguments": [], "Options": []}
    for parameter in command.params:
        if getattr(parameter, "hidden", False) or parameter.name == "help":
            continue
        argument = not parameter.opts[0].startswith("-")
        text = getattr(parameter, "help", "") or ""
        is_told = parameter.show_default and not callable(parameter.default)
        # Not by equality alone: 0 equals False, and is told.
        if is_told and parameter.default not in (None, "", ()) and parameter.default is not False:
            text += f" Default: `{parameter.default}`."
        if parameter.required:
            text += " Required."
        title = getattr(parameter, "rich_help_panel", None) or ("Arguments" if argument else "Options")
        shown = parameter.metavar or parameter.opts[0] if argument else parameter.get_help_record(context)[0]
        groups.setdefault(title, []).append(f"| {cell(f'`{shown}`')} | {cell(text)} |")
    for title, rows in groups.items():
        if rows:
            yield f"## {title}"
            head = "argument" if title == "Arguments" else "option"
            yield "\n".join([f"| {head} | what it is |", "|---|---|", *rows])


def cell(text: str) -> str:
    """Return a text as a cell of a table; what stands in code is shown as it is."""
    parts = " ".join(text.split()).split("`")
    shown = (part if i % 2 else part.replace("|", "\\|").replace("<", "&lt;") for i, part in enumerate(parts))
    return "`".join(shown)


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
        if page.name == "SUMMARY.md" or (page.parent.name == "api" and page.name != "index.md"):
            continue
        title = page.read_text(encoding="utf-8").partition("# ")[2].partition("\n")[0]
        lines.append(f"- [{title}]({page.relative_to(PAGES).as_posix()})")
    return "\n".join(lines) + "\n"


def guides_first(path: Path) -> None:
    """Let a search show guides before the reference: one entry for each of its pages, found by names, not by headings.

    The search ranks by titles, and among equals by how early the word stands there; then by menus; then by text.
    """
    index = json.loads(path.read_text(encoding="utf-8"))
    entries, kept = {}, []
    for item in index["items"]:
        page, _, place = item["location"].partition("#")
        kind = next((kind for kind in ("api", "commands") if page.startswith(f"reference/{kind}/")), "")
        if page.endswith("/SUMMARY.html"):
            continue
        if not kind or page.endswith("/index.html"):
            # The topics of the list of names are those of guides.
            if kind != "api" or not place:
                kept.append(item)
            continue
        name = place.removeprefix("hushtable.") or re.sub(r"<[^>]*>", "", item["title"])
        if page not in entries:
            entries[page] = item
            item["title"] = f"Look up in the Python package: {name}" if kind == "api" else name
            item["path"] = ["Reference"]
            kept.append(item)
        else:
            entries[page]["text"] += f" {name}" if kind == "api" else f" {name} {item['text']}"
    path.write_text(json.dumps(index | {"items": kept}), encoding="utf-8")


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


def not_on_home() -> list[str]:
    """Return the pages, but those made from the program, which the home does not link."""
    home = (PAGES / "index.md").read_text(encoding="utf-8")
    pages = [path.relative_to(PAGES).as_posix() for path in PAGES.rglob("*.md") if "reference" not in path.parts]
    return [f"index.md: no link to {page}" for page in sorted(pages) if page != "index.md" and f"]({page}" not in home]


if __name__ == "__main__":
    sys.exit(main())
