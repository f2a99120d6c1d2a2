"""What few people share is written nowhere by a scan, and no name of a column acts where it is printed."""

import json

import polars as pl
import pytest

from command import done

ODD = "patient\x1b]0;x\x07\nid\u202e"


def scanned(tmp_path, n_rare):
    n = 60
    ages = [777] * n_rare + [20 + i % 40 for i in range(n - n_rare)]
    table = pl.DataFrame(
        {"age": ages, "stay": ages, ODD: [i // 2 for i in range(n)], "L" * 3_000: [i % 3 for i in range(n)]}
    )
    table.write_csv(tmp_path / "in.csv")
    told = done("scan", tmp_path / "in.csv", "-p", tmp_path / "policy.yaml")
    return told, (tmp_path / "policy.yaml").read_text()


@pytest.mark.parametrize(("n_rare", "is_named"), [(1, False), (4, False), (5, True)])
def test_a_scan_names_no_value_of_fewer_than_five_records(n_rare, is_named, tmp_path):
    told, policy = scanned(tmp_path, n_rare)
    for text in (policy, told.err):
        assert ("777" in text) == is_named
    assert ("numbers far from its others" in told.err) != is_named


def test_no_name_of_a_column_acts_where_a_scan_prints_it(tmp_path):
    told, policy = scanned(tmp_path, 1)
    as_json = done("scan", tmp_path / "in.csv", "--json").out
    for text in (told.out, told.err, policy, as_json):
        assert all(sign.isprintable() for sign in text.replace("\n", ""))
        assert "\nid" not in text
    # A name is a key of programs, and stays what it is; sentences about it are for people.
    columns = {each["name"]: each for each in json.loads(as_json)["columns"]}
    assert ODD in columns
    assert all((each["reason"] + each["warning"]).isprintable() for each in columns.values())
    assert "person: patient\\x1b" in columns[ODD]["warning"]
