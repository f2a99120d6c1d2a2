"""A codebook as DDI-Codebook and as CSV on the Web: what it says, in their forms, and nothing that it does not say."""

import csv
import json
from xml.etree import ElementTree

import polars as pl
import pytest

import hushtable as ht
from command import done, run
from hushtable.release import convert_codebook

# What it lets an element say of itself, of what is written here.
ATTRIBUTES = {
    "codeBook": {"version": {"2.5"}},
    "fileDscr": {"ID": None},
    "var": {"ID": None, "name": None, "files": {"F1"}, "intrvl": {"contin", "discrete"}},
    "varFormat": {"type": {"numeric", "character"}},
}
DDI = "{ddi:codebook:2_5}"
# The order that the schema of DDI-Codebook 2.5 asks for, of what is written here.
ORDER = {
    "codeBook": ["stdyDscr", "fileDscr", "dataDscr"],
    "fileDscr": ["fileTxt", "notes"],
    "fileTxt": ["fileName", "dimensns", "software"],
    "dimensns": ["caseQnty", "varQnty"],
    "var": ["labl", "txt", "catgry", "varFormat"],
    "catgry": ["catValu", "labl"],
}


@pytest.fixture
def released(tmp_path):
    people = ht.datasets.people(200).select("sex", "birth_date", "education", "income")
    odd = {"birth_date": "born <on>", "education": "_edu & 'x'\x07", "income": "1 in"}
    people = people.rename(odd)
    release = ht.anonymize(
        people,
        quasi_identifiers=["sex", "born <on>", "_edu & 'x'\x07"],
        models=[ht.KAnonymity(5)],
        hierarchies={"_edu & 'x'\x07": ht.Hierarchy.dictionary("education")},
        accept={"1 in": "an example"},
        roles="trust",
    )
    release.write(tmp_path / "out.csv")
    return tmp_path / "out.csv"


def test_ddi_holds_every_variable_in_the_order_of_the_schema(released):
    book = json.loads((released.parent / "out.csv.codebook.json").read_text(encoding="utf-8"))
    root = ElementTree.fromstring(convert_codebook(released, "ddi"))
    assert root.tag == f"{DDI}codeBook"
    assert root.findtext(f"{DDI}stdyDscr/{DDI}citation/{DDI}titlStmt/{DDI}titl") == "out.csv"
    variables = root.findall(f"{DDI}dataDscr/{DDI}var")
    assert [each.get("name").replace(" ", "") for each in variables] == [
        "".join(sign for sign in each["name"] if sign.isprintable()).replace(" ", "") for each in book["columns"]
    ]
    assert [each.get("ID") for each in variables] == ["V1", "V2", "V3", "V4"]
    assert [each.find(f"{DDI}varFormat").get("type") for each in variables][:3] == ["character"] * 3
    assert root.findtext(f".//{DDI}caseQnty") == "200"
    for element in root.iter():
        name = element.tag.removeprefix(DDI)
        found = [each.tag.removeprefix(DDI) for each in element]
        if name in ORDER:
            assert found == sorted(found, key=ORDER[name].index), name
        allowed = ATTRIBUTES.get(name, {})
        assert element.attrib.keys() == allowed.keys(), name
        assert all(allowed[each] is None or text in allowed[each] for each, text in element.attrib.items()), name
    groups = {each.findtext(f"{DDI}catValu"): each.findtext(f"{DDI}labl") for each in variables[2].iter(f"{DDI}catgry")}
    assert groups.keys() == book["columns"][2].get("labels", {}).keys()


def test_csvw_names_the_columns_of_the_file(released):
    told = json.loads(convert_codebook(released, "csvw"))
    with released.open(newline="", encoding="utf-8") as file:
        header = next(csv.reader(file))
    columns = told["tableSchema"]["columns"]
    assert [each["titles"] for each in columns] == header
    assert told["@context"] == "http://www.w3.org/ns/csvw"
    assert told["url"] == "out.csv"
    assert not any(each["name"].startswith("_") or " " in each["name"] for each in columns)
    assert [each["datatype"] for each in columns] == ["string", "string", "string", columns[3]["datatype"]]


@pytest.fixture(params=[("utf-8", ","), ("cp1252", ";"), ("utf-8", "\t")])
def spelled(request, tmp_path):
    encoding, delimiter = request.param
    n = 40
    table = pl.DataFrame(
        {
            "#": [f"#{i % 2}" for i in range(n)],
            "born": [f"{25 + i % 4}.01.1950" for i in range(n)],
            "day": [f"2020-01-{1 + i % 4:02}" for i in range(n)],
            "größe": [f"{i % 4},5" for i in range(n)],
            "share": [f"{i % 4}.5" if i % 5 else None for i in range(n)],
            "count": [i % 4 for i in range(n)],
        }
    )
    table.write_csv(tmp_path / "in.csv", separator=delimiter)
    release = ht.anonymize(
        str(tmp_path / "in.csv"),
        quasi_identifiers=["#"],
        sensitive=table.columns[1:],
        models=[ht.KAnonymity(2), *(ht.DistinctLDiversity(2, name) for name in table.columns[1:])],
        roles="trust",
    )
    release.write(tmp_path / "out.csv", encoding=encoding)
    return tmp_path / "out.csv", encoding, delimiter


def test_csvw_says_how_the_file_is_spelled(spelled):
    path, encoding, delimiter = spelled
    told = json.loads(convert_codebook(path, "csvw"))
    assert told["dialect"] == {
        "delimiter": delimiter,
        "encoding": encoding.replace("cp", "windows-"),
        "commentPrefix": None,
    }
    # A type is told where all cells are spelled as the Web spells them: no days of another form, no decimal commas.
    types = {each["titles"]: each["datatype"] for each in told["tableSchema"]["columns"]}
    assert types.pop("born") == types.pop("größe") == types.pop("#") == "string"
    assert types == {"day": "date", "share": "number", "count": "integer"}


def test_csvw_reads_the_file_by_its_metadata(spelled):
    csvw = pytest.importorskip("csvw", reason="needs the package csvw")
    path, *_ = spelled
    metadata = path.with_name("out.csv-metadata.json")
    done("codebook", path, "--as", "csvw")
    found = csvw.CSVW(str(metadata), validate=True)
    assert found.is_valid, found.warnings
    assert len(list(found.tables[0])) == 40


def test_the_command_writes_both_beside_the_release(released):
    done("codebook", released)
    done("codebook", released, "--as", "csvw")
    assert (released.parent / "out.csv.ddi.xml").is_file()
    assert (released.parent / "out.csv-metadata.json").is_file()
    assert run("codebook", released).code == 2  # it exists
    assert done("codebook", released, "--force").code == 0


def test_what_has_no_codebook_is_refused(tmp_path, released):
    for form, told in (("dcat", "no form 'dcat'"), ("ddi", "not the codebook of 'other.csv'")):
        with pytest.raises(ht.InputError, match=told):
            convert_codebook(tmp_path / "other.csv", form)
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "p.parquet")
    (tmp_path / "p.parquet.codebook.json").write_text('{"file": "p.parquet", "columns": []}')
    with pytest.raises(ht.InputError, match=r"describes no '\.parquet'"):
        convert_codebook(tmp_path / "p.parquet", "csvw")
