"""A version has one number, and the README stays short enough to be read."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_project_changelog_and_citation_tell_the_same_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert newest is not None
    assert newest[1] in (project["version"], "Unreleased")
    assert citation["version"] == project["version"]


def test_the_readme_is_short_has_a_picture_and_no_wide_table():
    lines = README.splitlines()
    assert len(lines) <= 120
    prose = [line for line in lines if not line.startswith(("|", "![", "http"))]
    assert [line for line in prose if len(line) > 120] == []
    assert max(line.count("|") - 1 for line in lines if line.startswith("|")) <= 3
    picture = re.search(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert picture is not None
    assert (ROOT / picture[1]).is_file()
    tasks = README.partition("## What do you want to do?")[2].partition("\n## ")[0]
    assert tasks.count("\n| ") - 1 <= 10


def test_the_figures_against_other_programs_are_those_of_the_benchmarks():
    table = README.partition("## How it compares")[2].partition("\n[")[0]
    measured = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    figures = re.findall(r"\d[\d.,]*(?<![.,])", table)
    assert figures
    assert [each for each in figures if not re.search(rf"(?<![\d.,]){re.escape(each)}(?![\d])", measured)] == []


def test_the_figures_beside_arx_and_sdcmicro_are_those_of_recorded_runs():
    page = (ROOT / "docs" / "arx_and_sdcmicro.md").read_text(encoding="utf-8").partition("## Abilities")[0]
    recorded = ("docs/benchmarks.md", "docs/suppress.md", "docs/local_recoding.md", "benchmarks/suppression.py")
    measured = "".join((ROOT / path).read_text(encoding="utf-8") for path in recorded)
    rows = "".join(line for line in page.splitlines() if line.startswith("|") and "---" not in line)
    figures = set(
        re.findall(r"\d[\d.,]*(?<![.,])", re.sub(r"ARX 3\.9\.2|k = 5|\b[023][.-]\S*ity|0\.2-\S+|\d+ %", "", rows))
    )
    assert len(figures) > 30
    assert sorted(each for each in figures if not re.search(rf"(?<![\d.,]){re.escape(each)}(?!\d)", measured)) == []


def test_every_link_of_the_docs_leads_somewhere():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("**/*.md")]
    lost = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert lost == []


def test_measured_seconds_and_memory_name_what_measured_them():
    lacking = []
    for page in (ROOT / "docs").glob("**/*.md"):
        prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for section in re.split(r"^(?=#+ )", prose, flags=re.MULTILINE):
            if re.search(r"\b(?:takes?|took|after|in)\s[\d.,]+(?: CPU)?\s(?:s|seconds|GB)\b", section):
                lacking += [] if "benchmarks" in section else [f"{page.name}: {section.partition(chr(10))[0]}"]
    assert lacking == []
