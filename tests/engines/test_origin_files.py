"""What is published of files, batch by batch, beside a join of the whole table."""

import base64
import gc
import io
import stat
import traceback

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from hushtable.engines.files import Files
from hushtable.errors import ColumnError, InputError
from hushtable.io import batches, frames
from hushtable.io.csv import Dialect
from hushtable.release import batches as writing
from hushtable.release.batches import Batches, write_file, write_parts
from hushtable.release.origin import PublishedCells
from hushtable.release.pseudonyms import Pseudonyms, pseudonymize
from typed_frames import CELLS, rows_of, tables, written

SECRET = "canary-7319"
KEY = bytes(range(32))


def made_cells(files, judged, columns, n_published=None, drop=(), pseudonyms=None):
    """Publish something of every distinct row: a text, its first column, or nothing."""
    keys = files.collapse(judged).native
    number = np.arange(len(keys))
    published = {name: keys[:, judged.index(name)].alias(name) for name in judged}
    published[judged[-1]] = pl.Series(judged[-1], [None if i % 5 == 4 else f"<{i // 2}" for i in number], pl.String)
    published = {name: each for name, each in published.items() if name in columns}
    shown = np.array([i not in drop for i in number], dtype=bool)
    return PublishedCells(keys, pl.DataFrame(list(published.values())), shown, tuple(columns), pseudonyms)


def slow(table, cells):
    """Publish row by row, by a dictionary."""
    names = cells.keys.columns
    place_of = {row: place for place, row in enumerate(rows_of(cells.keys))}
    published = dict(zip(cells.published.columns, map(kept_cells, cells.published), strict=True))
    kept = dict(zip(table.columns, map(kept_cells, table), strict=True))
    places = [place_of[row] for row in rows_of(picked(table, names))]
    rows = [
        tuple(published[name][place] if name in published else kept[name][i] for name in cells.columns)
        for i, place in enumerate(places)
        if cells.is_published[place]
    ]
    return sorted(rows, key=repr)


def picked(table, names):
    return pl.DataFrame([table[:, table.columns.index(name)] for name in names])


def kept_cells(column):
    return [repr(cell) if isinstance(cell, float) else cell for cell in exact(column).to_list()]


def exact(column):
    return column.to_physical() if isinstance(column.dtype, pl.Datetime) else column


def written_rows(folder):
    tables = [pl.read_parquet(io.BytesIO(each.read_bytes())) for each in sorted(folder.iterdir())]
    return sorted((row for table in tables for row in zip(*map(kept_cells, table), strict=True)), key=repr)


def folders(tmp_path_factory):
    place = tmp_path_factory.mktemp("out")
    (place / "out").mkdir()
    return place / "out", place / "spill"


@given(data=st.data(), table=tables(min_rows=1))
def test_parts_hold_what_a_join_gives(tmp_path_factory, data, table):
    source = written(table, tmp_path_factory.mktemp("t") / "in", data.draw(st.lists(st.integers(0, 5), max_size=2)))
    files = Files.open(source)
    judged = data.draw(st.permutations(table.columns))[: data.draw(st.integers(1, table.width))]
    columns = data.draw(st.permutations(table.columns))[: data.draw(st.integers(1, table.width))]
    cells = made_cells(files, judged, columns, drop=data.draw(st.sets(st.integers(0, 4), max_size=2)))
    out, spill = folders(tmp_path_factory)
    with pytest.MonkeyPatch.context() as patch:
        limit = data.draw(st.sampled_from([0, 3, 10**6]))
        patch.setattr(writing, "_MAX_ROWS_IN_MEMORY", limit)
        patch.setattr(writing, "_N_BUCKETS", 3)
        patch.setattr(writing, "_ROWS_PER_GROUP", data.draw(st.integers(1, 5)))
        n_rows = write_parts(files.publish_batches(cells), out, spill, rows_per_part=4)
    assert not spill.exists()
    expected = slow(table, cells)
    assert written_rows(out) == expected
    assert n_rows == len(expected)
    sizes = [pq.read_metadata(each).num_rows for each in sorted(out.iterdir())]
    assert max(sizes) <= 4
    assert max(sizes) - min(sizes) <= 1
    assert [each.name for each in sorted(out.iterdir())] == [f"part-{i:05d}.parquet" for i in range(len(sizes))]
    # All have one schema, in which nothing but names and types is told.
    (schema,) = {pq.read_schema(each).to_string(show_schema_metadata=True) for each in out.iterdir()}
    assert "pandas" not in schema
    # And collapsed again, they are the published rows.
    again = Files.open(out).collapse(columns)
    assert again.n_records == n_rows


@given(data=st.data(), kind=st.sampled_from([each for each in CELLS if each not in ("nothing",)]))
def test_kept_columns_keep_type_and_cells(tmp_path_factory, data, kind):
    table = data.draw(tables(kinds=(kind,), min_rows=1))
    name = table.columns[0]
    table = table.with_columns(pl.Series("judged", ["x"] * len(table)))
    files = Files.open(written(table, tmp_path_factory.mktemp("t") / "in", []))
    out, spill = folders(tmp_path_factory)
    write_parts(files.publish_batches(made_cells(files, ["judged"], table.columns)), out, spill)
    (path,) = out.iterdir()
    read = pl.read_parquet(path)
    dtype = table.schema[name]
    assert read.schema[name] == (pl.String() if isinstance(dtype, (pl.Categorical, pl.Enum)) else dtype)


def test_rows_leave_in_another_order_every_time(tmp_path):
    pl.DataFrame({"a": range(1000), "b": ["x"] * 1000}).write_parquet(tmp_path / "t.parquet")
    files = Files.open(tmp_path / "t.parquet")
    orders = []
    for place, limit in enumerate([10**6, 100, 100]):
        (tmp_path / str(place)).mkdir()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(writing, "_MAX_ROWS_IN_MEMORY", limit)
            write_parts(
                files.publish_batches(made_cells(files, ["b"], ["a"])),
                tmp_path / str(place),
                tmp_path / "s",
                rows_per_part=300,
            )
        pieces = [pl.read_parquet(each) for each in sorted((tmp_path / str(place)).iterdir())]
        orders.append(pl.concat(pieces)["a"].to_list())
        assert [len(piece) for piece in pieces] == [250] * 4
    assert all(sorted(order) == list(range(1000)) for order in orders)
    assert len({*map(tuple, orders), tuple(range(1000))}) == 4
    # First rows end up anywhere: 1 in 2^1000 that all are in one half.
    assert all({order.index(i) < 500 for i in range(1000 // 2)} == {True, False} for order in orders)


def test_a_large_bucket_is_dealt_again_and_nothing_is_open_to_others(tmp_path, monkeypatch):
    pl.DataFrame({"a": range(3000)}).write_parquet(tmp_path / "t.parquet", row_group_size=100)
    files = Files.open(tmp_path / "t.parquet")
    for name, value in {"_MAX_ROWS_IN_MEMORY": 50, "_N_BUCKETS": 4, "_ROWS_PER_GROUP": 200}.items():
        monkeypatch.setattr(writing, name, value)
    dealt, depths, modes = writing._shuffle_into_buckets, [], []

    def watched(tables, spill):
        found = dealt(tables, spill)
        depths.append(len(spill.relative_to(tmp_path).parts))
        modes.extend((each.is_dir(), stat.S_IMODE(each.stat().st_mode)) for each in [spill, *spill.iterdir()])
        return found

    monkeypatch.setattr(writing, "_shuffle_into_buckets", watched)
    batches = Batches(lambda: iter([pa.table({"a": range(3000)})]), lambda table: table)
    assert write_file(batches, tmp_path / "out.parquet", tmp_path / "s") == 3000
    assert sorted(pl.read_parquet(tmp_path / "out.parquet")["a"].to_list()) == list(range(3000))
    assert max(depths) > 2
    assert set(modes) == {(True, 0o700), (False, 0o600)}
    assert not (tmp_path / "s").exists()
    assert files.n_bytes == (tmp_path / "t.parquet").stat().st_size


def test_no_cell_that_is_not_published_is_in_a_part(tmp_path):
    table = pl.DataFrame(
        {"a": [SECRET, *"xyz" * 40], "kept": pl.Series([SECRET, *"uvw" * 40], dtype=pl.Categorical), "n": [0] * 121}
    )
    files = Files.open(written(table, tmp_path / "in", []))
    keys = files.collapse(["a"]).native
    shown = (keys["a"] != SECRET).to_numpy()
    cells = PublishedCells(keys, keys.clone(), shown, ("a", "kept"))
    (tmp_path / "out").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "_MAX_ROWS_IN_MEMORY", 10)
        write_parts(files.publish_batches(cells), tmp_path / "out", tmp_path / "s")
    (path,) = (tmp_path / "out").iterdir()
    assert SECRET.encode() not in path.read_bytes()
    assert pl.read_parquet(path).columns == ["a", "kept"]
    assert len(pl.read_parquet(path)) == 120
    schema = pq.read_schema(path)
    assert [str(each) for each in schema.types] == ["large_string", "string"] or schema.types[0] == pa.string()


def test_pseudonyms_are_those_of_a_table_in_memory(tmp_path):
    table = pl.DataFrame({"id": [7, None, 9, 7], "a": ["x", "x", "y", "y"]})
    files = Files.open(written(table, tmp_path / "in", [2]))
    pseudonyms = Pseudonyms(("id",), KEY)
    (tmp_path / "out").mkdir()
    cells = made_cells(files, ["a"], ["id", "a"], pseudonyms=pseudonyms)
    batches = files.publish_batches(cells)
    assert not any(str(cell) == "7" for each in batches.narrow() for cell in each.column(1).to_pylist())
    write_parts(batches, tmp_path / "out", tmp_path / "s")
    expected = pseudonymize(frames.read(table), pseudonyms).column("id")
    found = pl.read_parquet(tmp_path / "out" / "part-00000.parquet")["id"]
    assert sorted(found.to_list(), key=repr) == sorted(expected.to_list(), key=repr)


def test_dictionaries_in_lists_and_structs_are_forgotten_too(tmp_path):
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1, 2, 1, 2], pa.int32()), [SECRET, "x", "y"])
    lists = pa.ListArray.from_arrays([0, 2, 4, 6], words)
    structs = pa.StructArray.from_arrays([words[:3]], ["word"])
    table = pa.table({"a": ["gone", "kept", "kept"], "lists": lists, "structs": structs})
    pq.write_table(table, tmp_path / "t.parquet")
    files = Files.open(tmp_path / "t.parquet")
    keys = files.collapse(["a"]).native
    cells = PublishedCells(keys, keys.clone(), (keys["a"] == "kept").to_numpy(), ("a", "lists", "structs"))
    write_file(files.publish_batches(cells), tmp_path / "out.parquet", tmp_path / "s")
    assert SECRET.encode() not in (tmp_path / "out.parquet").read_bytes()
    rows = pl.read_parquet(tmp_path / "out.parquet").rows()
    expected = [("kept", ["x", "y"], {"word": "x"}), ("kept", ["x", "y"], {"word": "x"})]
    assert sorted(rows, key=repr) == expected


@pytest.mark.parametrize("later", [{"a": [1, 3], "b": [1, 1]}, {"a": [1, 2], "b": [1, 2]}])
def test_an_input_that_changed_is_an_error_that_quotes_nothing(tmp_path, monkeypatch, later):
    monkeypatch.setattr("hushtable.io.files._file_state", lambda path: (0, 0, 0, 0))
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": [1, 2, 2], "b": [1, 1, 2]}).filter(pl.Series([True, True, False])).write_parquet(path)
    files = Files.open(path)
    cells = made_cells(files, ["a", "b"], ["a"])
    pl.DataFrame(later).write_parquet(path)
    with pytest.raises(InputError, match="changed while it was read") as caught:
        list(files.publish_batches(cells))
    assert "3" not in "".join(traceback.format_exception_only(caught.value))


def test_columns_that_are_not_there(tmp_path):
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "t.parquet")
    files = Files.open(tmp_path / "t.parquet")
    cells = made_cells(files, ["a"], ["a", "b"])
    with pytest.raises(ColumnError, match="'b'"):
        files.publish_batches(cells)


def test_nobody_is_published(tmp_path):
    files = Files.open(written(pl.DataFrame({"a": ["x"], "b": [1]}), tmp_path / "in", []))
    (tmp_path / "out").mkdir()
    cells = made_cells(files, ["a"], ["a", "b"], drop=[0])
    assert write_parts(files.publish_batches(cells), tmp_path / "out", tmp_path / "s") == 0
    assert pl.read_parquet(tmp_path / "out" / "part-00000.parquet").shape == (0, 2)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_csv_comes_back(tmp_path, encoding, delimiter, monkeypatch):
    table = pl.DataFrame(
        {'a;,"b': ["é", 'x"y', "1,5;2", None, "line\nbreak"] * 3, "n": [1.5, 2.0, None, -0.25, 1e-7] * 3}
    )
    monkeypatch.setattr(writing, "_ROWS_PER_GROUP", 4)
    write_file([table.to_arrow()], tmp_path / "out.csv", tmp_path / "s", delimiter=delimiter, encoding=encoding)
    read = frames.read(tmp_path / "out.csv", dialect=Dialect(encoding, delimiter))
    assert read.columns == tuple(table.columns)
    expected = frames.read(table).with_columns({"n": table["n"].cast(pl.String)}).native
    assert sorted(map(repr, read.native.rows())) == sorted(map(repr, expected.rows()))


def test_a_thread_that_reads_ahead_ends_with_its_reader():
    seen = []
    items = batches.prefetch_items(seen.append(i) or i for i in range(100))
    assert [next(items), next(items)] == [0, 1]
    items.close()
    gc.collect()
    assert len(seen) < 10

    def failing():
        yield 1
        raise RuntimeError

    items = batches.prefetch_items(failing())
    assert next(items) == 1
    with pytest.raises(RuntimeError):
        next(items)


def test_rows_of_many_wide_columns_are_found_again(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    table = pl.DataFrame({f"c{j}": rng.integers(0, 2**62, 400)[rng.integers(0, 400, 1_000)] for j in range(12)})
    files = Files.open(written(table, tmp_path / "in", [300], row_group_size=200))
    keys = files.collapse(table.columns).native
    cells = PublishedCells(keys, keys.clone(), np.ones(len(keys), dtype=bool), tuple(table.columns))
    (tmp_path / "out").mkdir()
    monkeypatch.setattr(writing, "_MAX_ROWS_IN_MEMORY", 100)
    write_parts(files.publish_batches(cells), tmp_path / "out", tmp_path / "s")
    assert written_rows(tmp_path / "out") == sorted(table.rows(), key=repr)
    changed = table.with_columns(pl.col("c11") + 1)
    changed.write_parquet(tmp_path / "in" / "0.parquet")
    with pytest.raises(InputError, match="changed"):
        list(files.publish_batches(cells))


def test_a_dictionary_says_nothing_of_the_order_of_what_is_hidden(tmp_path):
    # The younger someone is, the later in the alphabet the diagnosis.
    table = pl.DataFrame({"age": range(9), "ill": [f"ill {9 - i}" for i in range(9)]})
    table.write_parquet(tmp_path / "in.parquet")
    files, out = Files.open(tmp_path / "in.parquet"), tmp_path / "out"
    keys = files.collapse(["age", "ill"]).native
    cells = PublishedCells(keys, keys.with_columns(age=pl.lit("[0, 8]")), np.ones(9, dtype=bool), ("age", "ill"))
    out.mkdir()
    write_parts(files.publish_batches(cells), out, tmp_path / "spill")
    (ill,) = pq.ParquetFile(next(out.iterdir()), read_dictionary=["ill"]).read(["ill"]).column(0).chunks
    assert ill.dictionary.to_pylist() == sorted(table["ill"])


@pytest.mark.parametrize("kind", ["array", "map", "struct", "list", "view"])
def test_nothing_nested_remembers_what_is_gone(tmp_path, kind):
    table, secret = pl.DataFrame({"age": [1, 2, 3]}), "canary"
    plain, offsets = pa.array(["a", "b", secret]), pa.array(range(4), pa.int32())
    field = pa.field("item", pa.string(), metadata={"of": secret})
    nested = {
        "array": pa.FixedSizeListArray.from_arrays(plain.dictionary_encode(), 1),
        "map": pa.MapArray.from_arrays(offsets, plain.dictionary_encode(), plain.dictionary_encode()),
        "struct": pa.StructArray.from_arrays([plain], fields=[field]),
        "list": pa.ListArray.from_arrays(offsets, plain).cast(pa.list_(field)),
        "view": pa.ListArray.from_arrays(offsets, plain.cast(pa.string_view())),
    }[kind]
    pq.write_table(pa.table({"age": table["age"].to_arrow(), "kept": nested}), tmp_path / "in.parquet")
    files, out = Files.open(tmp_path / "in.parquet"), tmp_path / "out"
    keys = files.collapse(["age"]).native
    cells = PublishedCells(keys, keys.cast(pl.String), np.array([True, True, False]), ("age", "kept"))
    out.mkdir()
    write_parts(files.publish_batches(cells), out, tmp_path / "spill")
    (path,) = out.iterdir()
    raw = path.read_bytes()
    assert secret.encode() not in raw
    assert secret.encode() not in base64.b64decode(pq.read_metadata(path).metadata[b"ARROW:schema"])
    assert pl.read_parquet(path).height == 2
