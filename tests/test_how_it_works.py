"""The page of the house speaks of the house that stands."""

import re
from pathlib import Path

import polars as pl

import hushtable as ht

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "how_it_works.md").read_text(encoding="utf-8")
FILES = {path.name for path in (ROOT / "src").rglob("*.py")}


def table(number: int) -> list[list[str]]:
    """Return the cells of a table of the page, without its head."""
    blocks = re.findall(r"(?:^\|.*\|\n)+", PAGE, flags=re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in blocks[number].splitlines()[2:]]


def test_five_rows_come_out_as_the_page_says():
    rows = table(0)
    people = pl.DataFrame(
        {name: list(cells) for name, cells in zip(("age", "job", "ill"), zip(*rows, strict=True), strict=True)}
    )
    people = people.with_columns(pl.col("age").cast(pl.Int64))
    release = ht.anonymize(people, quasi_identifiers=["age", "job"], models=[ht.KAnonymity(2)])
    assert [list(row) for row in release.frame.rows()] == table(1)
    assert f"labels `{release.partition.labels.tolist()}`" in PAGE
    assert ht.Table.encode(people).codes[0].tolist() == [0, 1, 2, 3, 0]


def test_every_file_of_the_page_exists_and_the_other_way_round():
    tree = PAGE.partition("## 4. The tree")[2].partition("```\n")[2].partition("\ntests/ ")[0]
    named = set(re.findall(r"[a-z_]+\.py", tree))
    assert named - FILES == set()
    assert FILES - named == set()


def test_every_file_of_the_first_page_exists():
    first = PAGE.partition("## 1. ")[0]
    assert set(re.findall(r"[a-z_]+\.py", first)) <= FILES
    folders = set(re.findall(r"`([a-z_]+)/", first))
    assert all((ROOT / "src" / "hushtable" / folder).is_dir() for folder in folders)


def test_every_public_name_of_the_page_exists():
    face = PAGE.partition("## 7. Public face")[2].partition("# later:")[0]
    assert all(hasattr(ht, name) for name in re.findall(r"ht\.([A-Za-z_]+)", face))
