"""Codes of missing values are named at every door before a search, and read as missing where a policy says so."""

import json
import warnings

import polars as pl
import pytest

import hushtable as ht
from command import done
from hushtable.io import frames
from hushtable.tables import find_missing_codes

AGES = [20 + i % 40 for i in range(120)]
CODED = {
    "age": [*AGES, *[999] * 5, -9],
    "sex": ["f", "m", "f"] * 42,
    "score": [*[i % 6 + 1 for i in range(121)], *[99] * 5],
}
ODD = {"age": [*map(str, AGES), "N/A", "N/A", "N/A"], "sex": ["f", "m", "f"] * 41}


def doors(data, path):
    """Every door that looks at a table before it is published or measured."""
    data.write_csv(path)
    asked = {"quasi_identifiers": ["age", "sex"], "models": [ht.KAnonymity(5)]}
    yield "anonymize", lambda: ht.anonymize(data, **asked)
    yield "anonymize a file", lambda: ht.anonymize(path, **asked)
    yield "assess", lambda: ht.assess(data, quasi_identifiers=["age", "sex"])
    yield "compare", lambda: ht.compare(data, ht.Policy.parse(POLICY), k=[5])
    yield "policy", lambda: ht.Policy.parse(POLICY).protect(data)


POLICY = "columns: {age: quasi-identifier, sex: quasi-identifier, score: other}\nmodels: [k-anonymity: 5]"


def test_every_door_names_the_codes(tmp_path):
    for name, door in doors(pl.DataFrame(CODED), tmp_path / "people.csv"):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            door()
        said = " ".join(str(each.message) for each in told)
        assert "column 'age' holds 999 in 5 records" in said, name
        # What few records have is a value of theirs until somebody says otherwise.
        assert "numbers far from its others in 1 records" in said, name
        assert "-9 in 1" not in said, name
        # A column that is kept as it is too, where the door publishes it.
        assert ("'score' holds 99 in 5" in said) == (name != "assess"), name


def test_a_text_among_numbers_is_named_only_where_it_is_a_usual_code(tmp_path):
    with pytest.warns(UserWarning, match=r"column 'age' holds N/A in 3 records.*nearly all cells are numbers"):
        ht.assess(pl.DataFrame(ODD), quasi_identifiers=["age", "sex"])
    strange = pl.DataFrame(ODD).with_columns(pl.col("age").replace("N/A", "Zq7Xcanary"))
    with pytest.warns(UserWarning, match="3 cells of the form Aa9Aaaaaaa are no number") as told:
        ht.assess(strange, quasi_identifiers=["age", "sex"])
    assert not any("canary" in str(each.message) for each in told)


@pytest.mark.parametrize("data", [CODED, ODD], ids=["numbers", "text"])
@pytest.mark.parametrize("typed", [True, False], ids=["frame", "file"])
def test_what_was_said_to_be_missing_is_no_longer_named(tmp_path, data, typed):
    path = tmp_path / "people.csv"
    pl.DataFrame(data).write_csv(path)
    frame = frames.read(pl.DataFrame(data) if typed else path)
    said = {"age": ht.ColumnSpec(missing_values=("999", "-9", "N/A"))}
    assert "age" in find_missing_codes(frame)
    assert "age" not in find_missing_codes(frame.with_specs(said))
    table = ht.Table.encode(frame, ["age"], said)
    assert (table.codes < 0).sum() == len(data["age"]) - len(AGES)


CODES = [f"0{i:04d}" for i in range(60)]
DAYS = [f"{1 + i % 28:02d}.03.{1950 + i}" for i in range(60)]


@pytest.mark.parametrize(
    ("cells", "codes"),
    [
        ([*AGES, *["9999999"] * 5], {"9999999": 5}),
        ([f"{i},50" for i in AGES] + ["999,00", "999"], {"999": 1, "999,00": 1}),
        ([*CODES, "99999", "99999"], {"99999": 2}),
        ([*CODES, "99999", "99998"], {}),
        ([*CODES, "99999", "unbekannt"], {"99999": 1}),
        ([*DAYS, "01.01.1900"], {"01.01.1900": 1}),
        ([*DAYS, "31.12.9999", "k. A."], {"31.12.9999": 1, "k. A.": 1}),
        (["1970-01-02"] * 60 + ["9999-12-31"], {"9999-12-31": 1}),
        ([*AGES, "non renseigné", "90+"], {"non renseigné": 1}),
        ([*AGES, ">= 90"], {}),
    ],
    ids=str,
)
def test_numbers_days_and_codes_of_nothing_are_found_as_they_are_spelled(tmp_path, cells, codes):
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["column;second", *(f"{cell};" for cell in cells)]), encoding="utf-8")
    frame = frames.read(path)
    assert find_missing_codes(frame) == ({"column": codes} if codes else {})
    for answer in ((), tuple(codes)):
        assert find_missing_codes(frame.with_specs({"column": ht.ColumnSpec(missing_values=answer)})) == {}


def test_days_of_nothing_are_found_among_typed_dates():
    days = pl.Series([*DAYS, "31.12.9999"]).str.to_date("%d.%m.%Y")
    assert find_missing_codes(frames.read(pl.DataFrame({"seen": days}))) == {"seen": {"9999-12-31": 1}}


def test_an_open_end_is_offered_as_a_top_code_and_not_as_a_missing_value():
    data = pl.DataFrame({"age": [*map(str, AGES), *["90+"] * 6], "sex": ["f", "m"] * 63})
    with pytest.warns(UserWarning, match=r"open ends such as 90\+ in 6 records.*tails: \{high: 90\}") as told:
        ht.assess(data, quasi_identifiers=["age", "sex"])
    assert not any("missing_values" in str(warning.message) for warning in told)


def test_zip_codes_and_names_hold_no_odd_texts():
    codes = [*(f"0{i:04d}" for i in range(100)), *["N/A"] * 3]
    names = [f"name {i}" for i in range(103)]
    assert find_missing_codes(frames.read(pl.DataFrame({"zip": codes, "name": names}))) == {}


def test_the_policy_of_scan_reads_codes_as_missing_and_loses_as_little_as_the_clean_column(tmp_path):
    clean = pl.DataFrame({"age": [str(18 + i * 7 % 70) for i in range(600)], "sex": ["f", "m"] * 300})
    code = {"text": "N/A", "number": "999"}
    losses = {}
    for name in ("clean", "text", "number"):
        data = clean
        if name != "clean":
            data = clean.with_columns(
                age=pl.when(pl.int_range(600) % 50 == 0).then(pl.lit(code[name])).otherwise("age")
            )
        path, policy, out = (tmp_path / f"{name}{ending}" for ending in (".csv", ".yaml", ".release.csv"))
        data.write_csv(path)
        done("scan", path, "--write-policy", policy)
        assert ("missing_values: [" in policy.read_text().replace("# missing_values", "")) == (name != "clean")
        told = json.loads(done("anonymize", path, "-p", policy, "-o", out, "--json").out)
        losses[name] = told["loss"]
        published = pl.read_csv(out, infer_schema=False)["age"]
        assert not published.str.contains("no\\.|other|999|N/A").any()
    assert losses["text"] < losses["clean"] + 0.03
    assert losses["number"] < losses["clean"] + 0.03
