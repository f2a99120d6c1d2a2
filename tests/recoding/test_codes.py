"""Codes are cut in their order: what is written is read back by the claim, the next batch and a reader of its own."""

import json
import string

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import hushtable as ht
from hushtable.claims import coverage_matrix
from hushtable.columns import ColumnSpec, cells
from hushtable.hierarchy import CodeGrid, Codes, are_codes
from reading import holds
from strategies import draws

READABLE = ht.Mondrian(recoding="readable")
PATTERNS = ("99999", "A99", "99-A", "9999 AA", "A99.9", "AA9A 9AA")
SIGNS = {"9": string.digits, "A": "ACEX"}


@st.composite
def codes_of(draw, least=2):
    pattern = draw(st.sampled_from(PATTERNS))
    one = st.tuples(*(st.sampled_from(SIGNS.get(sign, sign)) for sign in pattern)).map("".join)
    if pattern == "A99.9":
        one = st.tuples(one, st.sampled_from((3, 5))).map(lambda pair: pair[0][: pair[1]])
    if pattern == "AA9A 9AA":
        # The first half of a British postcode: E1, E10, SW1A, EC2.
        halves = st.from_regex(r"[ACEX]{1,2}[0-9][0-9AX]?", fullmatch=True)
        one = st.tuples(halves, one).map(lambda pair: pair[0] + pair[1][4:])
    return sorted(draw(st.sets(one, min_size=least, max_size=40)))


@settings(max_examples=draws(200))
@given(codes_of(), st.data())
def test_a_range_reads_as_the_codes_that_it_was_written_for(texts, data):
    lengths = data.draw(st.sampled_from((None, (3, 1), (2,), (1,))))
    grid = CodeGrid.from_texts(texts, lengths)
    low = data.draw(st.integers(0, len(texts) - 1))
    high = data.draw(st.integers(low, len(texts) - 1))
    (begin,), (end,) = grid.round_outwards(np.array([low], dtype=np.int32), np.array([high], dtype=np.int32))
    assert begin <= low <= high < end
    assert (end - begin == 1) == (low == high) or lengths
    cell = grid.format_range(int(begin), int(end))
    written = set(texts[begin:end])
    assert {text for text in texts if holds(cell, text, "category")} == written
    covers = coverage_matrix([cell], texts, ColumnSpec("category"), Codes(grid.prefixes), "code")
    assert {text for text, is_in in zip(texts, covers[0], strict=True) if is_in} == written
    assert cells.parse_cell(cell).form in ("interval", "value", "any")


def test_a_range_that_ends_with_a_code_holds_the_longer_ones_that_begin_with_it():
    texts = ["A00", "A00.0", "A00.1", "A01", "A01.0", "A02"]
    grid = CodeGrid.from_texts(texts)
    (begin,), (end,) = grid.round_outwards(np.array([1], dtype=np.int32), np.array([3], dtype=np.int32))
    assert texts[begin:end] == ["A00.0", "A00.1", "A01", "A01.0"]
    cell = grid.format_range(int(begin), int(end))
    assert [text for text in texts if holds(cell, text, "category")] == texts[begin:end]
    (begin,), (end,) = grid.round_outwards(np.array([3], dtype=np.int32), np.array([3], dtype=np.int32))
    assert grid.format_range(int(begin), int(end)) == "A01"


@given(codes_of())
def test_an_edge_parts_two_neighbours_and_is_the_shortest(texts):
    grid = CodeGrid.from_texts(texts)
    for low in range(len(texts) - 1):
        edge = grid.format_edge(low, low + 1)
        assert texts[low] < edge <= texts[low + 1]
        assert not texts[low] < edge[:-1]


@pytest.mark.parametrize(
    ("texts", "are"),
    [
        (["01067", "99998"], True),
        (["I10", "I10.9", "I10.90"], True),
        (["E11", "I10"], True),
        (["1012 AB", "3511 XZ"], True),
        (["E1 6AN", "E10 5QJ", "SW1A 1AA"], True),
        (["E1 6AN", "E10-5QJ"], False),
        (["A1", "A10"], False),
        (["A10", "10A"], False),
        (["red", "blue"], False),
        (["A1", "a1"], False),
        (["Straße 1", "Straße 2"], False),
        (["1,5", "2,5"], False),
        (["", "A1"], False),
        ([], False),
    ],
)
def test_codes_have_one_pattern(texts, are):
    assert are_codes(texts) is are


def frame_of(codes, n=400):
    return pl.DataFrame({"code": [codes[7 * i % len(codes)] for i in range(n)], "age": [i * i % 60 for i in range(n)]})


POSTCODES = [f"{i:05}" for i in range(1067, 99_999, 2_711)]
ILLNESSES = [f"{letter}{i}" for letter in "EIM" for i in range(10, 22)]


@pytest.mark.parametrize("codes", [POSTCODES, ILLNESSES])
@pytest.mark.parametrize("lengths", [None, [3, 2, 1], [1]])
def test_a_release_of_codes_has_no_lists_and_is_read_back(codes, lengths, tmp_path):
    rows = frame_of(codes)
    ladders = {} if lengths is None else {"code": ht.Hierarchy.prefix(lengths)}
    asked = {"quasi_identifiers": ["code", "age"], "models": [ht.KAnonymity(5)], "hierarchies": ladders}
    release = ht.anonymize(rows, **asked, method=READABLE)
    published = release.frame["code"].to_list()
    assert not any(cell.startswith('["') or "other" in cell for cell in published)
    assert any(cells.parse_cell(cell).form == "interval" or cell.endswith("*") for cell in published)
    for cell, code in zip(published, rows["code"], strict=True):
        assert holds(cell, code, "category"), (cell, code)
    release.write(tmp_path / "out.csv")
    told = json.loads((tmp_path / "out.csv.manifest.json").read_text())["claim"]["hierarchies"]["code"]
    assert [*told] == ["codes"]
    assert ht.verify(
        tmp_path / "out.csv",
        quasi_identifiers=["code", "age"],
        models=[ht.KMap(5)],
        population=rows,
        hierarchies={"code": told},
        specs={"age": ColumnSpec("integer"), "code": ColumnSpec("category")},
    ).passed


def test_a_hierarchy_keeps_its_label_where_one_covers_a_class():
    rows = pl.DataFrame({"code": [*["20101", "20187"] * 5, *["20201", "45812"] * 5]})
    release = ht.anonymize(
        rows,
        quasi_identifiers=["code"],
        models=[ht.KAnonymity(10)],
        hierarchies={"code": ht.Hierarchy.prefix([3, 1])},
        method=READABLE,
    )
    assert set(release.frame["code"]) == {"201*", "[202*, 458*]"}


def test_few_values_without_a_hierarchy_stay_a_list():
    rows = pl.DataFrame({"code": ["A1", "A2", "A3", "A4"] * 5, "x": ["a"] * 20})
    release = ht.anonymize(rows, quasi_identifiers=["code", "x"], models=[ht.KAnonymity(10)], method=READABLE)
    assert all(cell.startswith('["') for cell in release.frame["code"])


def test_the_next_batch_falls_into_ranges(tmp_path):
    rows = frame_of(POSTCODES, 900)
    asked = {"quasi_identifiers": ["code", "age"], "models": [ht.KAnonymity(5)]}
    release = ht.anonymize(rows, **asked, method=READABLE, hierarchies={"code": ht.Hierarchy.prefix([3, 2, 1])})
    release.save_recoding(tmp_path / "codes.json")
    new = pl.DataFrame({"code": [f"{int(code) + 1:05}" for code in rows["code"]], "age": rows["age"]})
    for learned in (release, ht.Recoding.read(tmp_path / "codes.json")):
        batch = learned.apply(new)
        kept = np.asarray(~batch.suppressed)
        assert kept.mean() > 0.7
        for cell, code in zip(
            batch.frame["code"].filter(pl.Series(kept)), new["code"].filter(pl.Series(kept)), strict=True
        ):
            assert holds(cell, code, "category"), (cell, code)


def test_values_that_look_like_ranges_are_lists_of_one():
    assert cells.format_value("[A1, B2]") == '["[A1, B2]"]'
    assert cells.format_value("[red, green]") == "[red, green]"


def test_a_label_that_reads_as_a_range_holds_what_it_says():
    tree = {"tree": {"[I10, I15]": ["I10", "I12.9", "I15.1"], "rest": ["I20", "I21"]}}
    assert ht.Hierarchy.from_dict(tree, "icd").labels[1] == ("[I10, I15]", "rest")
    with pytest.raises(ht.HierarchyError, match="reads as an interval"):
        ht.Hierarchy.from_dict({"tree": {"[I10, I15]": ["I10", "I20"], "rest": ["I12"]}}, "icd")


def test_the_codebook_says_what_ranges_and_prefixes_are(tmp_path):
    release = ht.anonymize(
        frame_of(POSTCODES), quasi_identifiers=["code", "age"], models=[ht.KAnonymity(9)], method=READABLE
    )
    release.write(tmp_path / "out.csv")
    text = (tmp_path / "out.csv.codebook.md").read_text()
    assert "codes, cut in their order" in text
    assert "codes in their order, from those that begin with 20" in text


def test_british_postcodes_are_published_in_ranges():
    rng = np.random.default_rng(4)
    areas, n = np.array(["SW1A", "E1", "E10", "N1", "EC2V", "M14", "W9"]), 300
    inward = [
        f"{digit}{one}{two}"
        for digit, one, two in zip(*(rng.choice(list(s), n) for s in ("123", "AB", "DE")), strict=True)
    ]
    codes = [f"{area} {rest}" for area, rest in zip(areas[rng.integers(0, 7, n)].tolist(), inward, strict=True)]
    data = pl.DataFrame({"code": codes, "age": rng.integers(20, 60, n)})
    release = ht.anonymize(data, quasi_identifiers=["code", "age"], models=[ht.KAnonymity(5)], method=READABLE)
    assert release.verify().passed
    published = release.frame["code"].to_list()
    assert all(holds(cell, code, "category") for cell, code in zip(published, codes, strict=True))
    assert all(cell.endswith("*") or cell in codes or cells.parse_cell(cell).form == "interval" for cell in published)


def test_the_first_half_of_a_british_postcode_is_told_from_a_longer_one():
    grid = CodeGrid.from_texts(sorted(["E1 1AA", "E1 2AA", "E10 1AA", "E10 2AA", "N1 1AA", "N2 1AA"]))
    assert [grid.format_range(*run) for run in ((0, 2), (2, 4), (0, 4), (0, 5))] == ["E1 *", "E10*", "E*", "[E1*, N1*]"]
