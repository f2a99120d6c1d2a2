"""The page of the house speaks of the house that stands.

The drawing of the floors is made from the contract: `python tests/test_how_it_works.py` draws it anew.
"""

import importlib
import re
import tomllib
from pathlib import Path

import polars as pl

import hushtable as ht

ROOT = Path(__file__).parents[1]
PATH = ROOT / "docs" / "how_it_works.md"
PAGE = PATH.read_text(encoding="utf-8")
REFERENCE = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
HOUSE = ROOT / "src" / "hushtable"


def table(number: int) -> list[list[str]]:
    """Return the cells of a table of the page, without its head."""
    blocks = re.findall(r"(?:^\|.*\|\n)+", PAGE, flags=re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in blocks[number].splitlines()[2:]]


def floors() -> list[list[str]]:
    """Return the rooms of every floor, from the roof down, as the contract lists them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [[room.strip() for room in floor.split("|")] for floor in layers]


def drawing() -> str:
    """Draw the floors: a block each, a line for each room, with what its door says first."""
    blocks = []
    for rooms in floors():
        first = [(importlib.import_module(f"hushtable.{room}").__doc__ or "").splitlines()[0] for room in rooms]
        blocks.append("\n".join(f"{room:14}{says}" for room, says in zip(rooms, first, strict=True)))
    return "\n\n".join(blocks)


def test_the_floors_are_those_of_the_contract():
    assert drawing() in PAGE


def test_every_room_has_its_floor():
    entries = {path.stem for path in HOUSE.iterdir()} - {"__init__", "__main__", "__pycache__", "py"}
    assert entries == {room for rooms in floors() for room in rooms}
    assert len(entries) <= 33


def test_the_page_is_three_screens():
    assert len(PAGE.splitlines()) <= 150


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


def test_every_place_of_the_page_exists():
    for row in table(2):
        folder = ""
        for place in re.findall(r"`([\w/]+(?:/|\.py))`", row[1]):
            path = place if "/" in place else f"{folder}{place}"
            folder = path.rpartition("/")[0] + "/"
            assert any((base / path).exists() for base in (HOUSE, ROOT)), place


def test_every_file_of_the_reference_exists():
    nouns = REFERENCE.partition("## Ten taste rules")[0]
    files = re.findall(r"`((?:\w+/)+\w+\.py)`", nouns)
    assert files
    assert [file for file in files if not any((base / file).exists() for base in (HOUSE, ROOT))] == []


def test_every_public_name_of_the_reference_exists():
    face = REFERENCE.partition("## Public face")[2].partition("# later:")[0]
    assert all(hasattr(ht, name) for name in re.findall(r"ht\.([A-Za-z_]+)", face))


if __name__ == "__main__":
    before, middle, after = PAGE.partition("## The floors")
    fenced = re.sub(r"```\n.*?\n```", lambda _: f"```\n{drawing()}\n```", after, count=1, flags=re.DOTALL)
    PATH.write_text(before + middle + fenced, encoding="utf-8")
