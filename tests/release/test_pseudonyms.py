"""Keyed pseudonyms: what they keep equal, what they keep apart, and where the key does not appear."""

import hashlib
import hmac
import traceback

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from hushtable.errors import ColumnError, InputError
from hushtable.io import frames
from hushtable.models import KAnonymity
from hushtable.policy.protecting import anonymize
from hushtable.release.pseudonyms import Pseudonyms, pseudonymize
from hushtable.tables.table import Table

KEY = b"canary-key-of-32-bytes-exactly!!"
TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=8)


def pseudonyms_of(cells, name="id", key=KEY):
    frame = frames.read(pl.DataFrame({name: cells}, schema={name: pl.String}))
    return pseudonymize(frame, Pseudonyms((name,), key)).native[name].to_list()


@given(st.lists(st.none() | TEXTS))
def test_equal_cells_and_no_others_get_equal_pseudonyms(cells):
    found = pseudonyms_of(cells)
    assert found == pseudonyms_of(cells)
    assert [one is None for one in found] == [cell is None for cell in cells]
    assert len(set(found)) == len(set(cells))


@given(TEXTS, TEXTS)
def test_columns_do_not_share_pseudonyms(cell, other):
    assert pseudonyms_of([cell], "a") != pseudonyms_of([other], "b")


def test_column_and_cell_are_kept_apart():
    assert pseudonyms_of(["c"], "ab") != pseudonyms_of(["bc"], "a")


def test_another_key_gives_other_pseudonyms():
    assert not set(pseudonyms_of(["x", "y"])) & set(pseudonyms_of(["x", "y"], key=KEY[::-1]))


def test_pseudonym_is_the_documented_one():
    """Another program can make the same pseudonym: HMAC-SHA-256, the first 128 bits."""
    expected = hmac.new(KEY, b"2:idcaf\xc3\xa9", hashlib.sha256).hexdigest()[:32]
    assert pseudonyms_of(["café"]) == [expected]


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_other_columns_and_the_kind_of_frame_stay(make):
    table = make({"id": ["x", None, "x"], "note": ["b", "a", None]})
    frame = pseudonymize(frames.read(table), Pseudonyms(("id",), KEY))
    assert type(frame.native) is type(table)
    assert frame.columns == ("id", "note")
    assert frame.column("note").to_list() == ["b", "a", None]
    (first, missing, again) = frame.column("id").to_list()
    assert (first == again, missing) == (True, None)


def test_order_and_index_of_rows_stay():
    table = pd.DataFrame({"id": ["x", "y", "x"]}, index=[5, 5, 1])
    found = pseudonymize(frames.read(table), Pseudonyms(("id",), KEY)).native
    assert found.index.tolist() == [5, 5, 1]
    assert found["id"].tolist() == pseudonyms_of(["x", "y", "x"])


def test_numbers_get_the_pseudonym_of_their_text():
    frame = frames.read(pl.DataFrame({"id": [7, None]}))
    assert pseudonymize(frame, Pseudonyms(("id",), KEY)).native["id"].to_list() == pseudonyms_of(["7", None])


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_a_number_has_one_pseudonym_in_every_library(make):
    """Pandas makes 7.0 of 7 where another cell is missing; the person's row in another table must still be found."""
    frame = pseudonymize(frames.read(make({"id": [7, None]})), Pseudonyms(("id",), KEY))
    assert frame.column("id").to_list() == pseudonyms_of(["7", None])


def test_several_columns():
    frame = frames.read(pl.DataFrame({"a": ["x"], "b": ["x"], "c": ["x"]}))
    found = pseudonymize(frame, Pseudonyms(("a", "b"), KEY)).native.row(0)
    assert len(set(found)) == 3
    assert found[2] == "x"


@pytest.mark.parametrize("key", [b"", b"canary", b"canary-7391-key"])
def test_short_key(key):
    with pytest.raises(InputError, match=f"has {len(key)} bytes") as error:
        Pseudonyms(("id",), key)
    assert "canary" not in str(error.value)


@pytest.mark.parametrize("key", [b"0123456701234567", bytes(range(16))])
def test_key_of_sixteen_bytes_eight_of_them_different_is_enough(key):
    assert Pseudonyms(("id",), key).columns == ("id",)


@pytest.mark.parametrize("key", [bytes(16), b"x" * 64, b"canary1" * 9, b"\0" * 99 + b"abcdef"])
def test_key_of_few_different_bytes(key):
    with pytest.raises(InputError, match=f"has {len(set(key))} different bytes, expected 8 or more") as error:
        Pseudonyms(("id",), key)
    assert "canary" not in str(error.value)


def test_key_that_is_text_is_refused_at_once():
    with pytest.raises(InputError, match="bytes"):
        Pseudonyms(("id",), "0123456789abcdef0123456789abcdef")


def test_unknown_column():
    with pytest.raises(ColumnError, match="'idd'") as error:
        pseudonymize(frames.read(pl.DataFrame({"id": ["x"]})), Pseudonyms(("idd",), KEY))
    assert "canary" not in "".join(traceback.format_exception(error.value))


def test_key_is_shown_nowhere(tmp_path):
    pseudonyms = Pseudonyms(("id",), KEY)
    table = pl.DataFrame({"id": ["x", "y"], "age": [1, 2]})
    release = anonymize(table, quasi_identifiers=["age"], models=[KAnonymity(2)], pseudonyms=pseudonyms)
    release.write(tmp_path / "out.csv", policy={"columns": {"id": "identifier"}})
    shown = [repr(pseudonyms), str(pseudonyms), repr(release), str(release.to_dict()), release._repr_html_()]
    written = [path.read_bytes() for path in tmp_path.iterdir()]
    for secret in ("canary", KEY.hex()):
        assert not any(secret in text for text in shown)
        assert not any(secret.encode() in raw for raw in written)


def test_release_holds_pseudonyms_and_no_identifier():
    table = pl.DataFrame({"id": ["x", "y", None], "age": [1, 2, 3]})
    release = anonymize(table, quasi_identifiers=["age"], models=[KAnonymity(3)], pseudonyms=Pseudonyms(("id",), KEY))
    assert release.frame["id"].to_list() == pseudonyms_of(["x", "y", None])


@pytest.mark.parametrize("columns", [("mail",), ("mail", "number")])
def test_a_table_has_the_pseudonyms_of_its_frame(columns):
    frame = pl.DataFrame({"mail": ["a@x", None, "b@x", "a@x"], "number": [7, 7, None, 8], "age": [1, 1, 2, 2]})
    options = {"quasi_identifiers": ["age"], "models": [KAnonymity(2)], "pseudonyms": Pseudonyms(columns, KEY)}
    options["roles"] = "trust"
    for table in (Table.encode(frame), Table.encode(frame).collapse()[0]):
        published = anonymize(table, **options).frame
        assert published.decode().rows() == anonymize(frame, **options).frame.rows()
        assert not any(value in published.column("mail").texts() for value in ("a@x", "b@x"))


def test_pseudonyms_of_a_table_are_written(tmp_path):
    table = Table.encode(pl.DataFrame({"mail": ["a@x", "b@x"], "age": [1, 1]}))
    release = anonymize(table, quasi_identifiers=["age"], models=[KAnonymity(2)], pseudonyms=Pseudonyms(("mail",), KEY))
    release.write(tmp_path / "out.csv")
    assert b"@x" not in (tmp_path / "out.csv").read_bytes()
