"""A planted secret turns up in no message, report, log, or byte of a file that it was removed from."""

import base64
import dataclasses
import datetime as dt
import json
import logging
import pickle
import struct
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

import hushtable as ht
from command import done, run
from hushtable.io import frames
from population_stub import estimators  # noqa: F401 - a fixture

WORD = "Zq7Xcanary"
NUMBER = 481_516_237
DAY = dt.date(1903, 7, 13)
TRACES = [
    WORD.encode(),
    WORD.lower().encode(),
    WORD.encode("utf-16-le"),
    str(NUMBER).encode(),
    f"{NUMBER:,}".encode(),
    struct.pack("<i", NUMBER),
    struct.pack("<d", float(NUMBER)),
    struct.pack("<f", float(NUMBER)),
    DAY.isoformat().encode(),
    struct.pack("<i", (DAY - dt.date(1970, 1, 1)).days),
]


def assert_clean(*texts: object) -> None:
    """No trace of a secret, whether as text or in binary."""
    for text in texts:
        raw = text if isinstance(text, bytes) else str(text).encode()
        found = [trace for trace in TRACES if trace in raw]
        assert not found, (found, raw[:2_000])


def planted(n: int = 12) -> pl.DataFrame:
    """A table with a secret in an identifier, and in quasi-identifiers that k = n generalizes away."""
    return pl.DataFrame(
        {
            "name": [WORD, *(f"person {i}" for i in range(n - 1))],
            "number": [NUMBER, *range(20, 20 + n - 1)],
            "share": [float(NUMBER), *(i / 4 for i in range(n - 1))],
            "town": [WORD, *(f"town {i % 3}" for i in range(n - 1))],
            "born": [DAY, *(dt.date(1950 + i, 2, 3) for i in range(n - 1))],
            "sex": ["f", "m"] * (n // 2),
            "pay": list(range(n)),
        }
    )


QUASI = ["number", "share", "town", "born", "sex"]
MODELS = [ht.KAnonymity(12), ht.DistinctLDiversity(2, "pay")]


def protect(data: Any, **options: Any) -> ht.Release:
    given = {"quasi_identifiers": QUASI, "models": MODELS, "identifiers": ["name"], **options}
    return ht.anonymize(data, method=ht.Mondrian(recoding="cut"), **given)


def as_dictionary(table: pl.DataFrame) -> pa.Table:
    arrow = table.to_arrow()
    for name in ("name", "town"):
        place = arrow.column_names.index(name)
        arrow = arrow.set_column(place, name, arrow[name].dictionary_encode())
    return arrow


def as_enum(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.col(name).cast(pl.Enum(table[name].unique().sort())) for name in ("name", "town"))


KINDS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars": lambda table: table,
    "polars categorical": lambda table: table.with_columns(pl.col("name", "town").cast(pl.Categorical)),
    "polars enum": as_enum,
    "pandas": lambda table: table.to_pandas(),
    "pandas categorical": lambda table: table.to_pandas().astype({"name": "category", "town": "category"}),
    "pandas object": lambda table: table.to_pandas().astype(object),
    "pyarrow": lambda table: table.to_arrow(),
    "pyarrow dictionary": as_dictionary,
}


def frame_bytes(frame: Any) -> bytes:
    """All bytes that leave with a frame: values, dictionaries, categories and metadata."""
    if isinstance(frame, pa.Table):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, frame.schema) as writer:
            writer.write_table(frame)
        return sink.getvalue().to_pybytes()
    return pickle.dumps(frame)


def file_bytes(path: Path) -> bytes:
    """All bytes of a file, and what Parquet holds compressed or in base64."""
    raw = path.read_bytes()
    if path.suffix != ".parquet":
        return raw
    opened = pq.ParquetFile(path)
    metadata = opened.metadata.metadata or {}
    schema = base64.b64decode(metadata.get(b"ARROW:schema", b""))
    return b"".join((raw, str(metadata).encode(), schema, frame_bytes(opened.read())))


@pytest.mark.parametrize("column", ["name", "number", "share", "town", "born"])
def test_the_canary_would_be_seen(tmp_path: Path, column: str) -> None:
    table = planted().select(column)
    table.write_parquet(tmp_path / "in.parquet")
    table.write_csv(tmp_path / "in.csv")
    seen = [*map(frame_bytes, (table, table.to_arrow())), *map(file_bytes, tmp_path.iterdir())]
    for raw in seen:
        with pytest.raises(AssertionError):
            assert_clean(raw)
    with pytest.raises(AssertionError):
        assert_clean(f"a town called {WORD}")


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_release_and_files_are_clean(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, kind: Callable[[pl.DataFrame], Any], ending: str
) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("numba").setLevel(logging.INFO)
    release = protect(kind(planted()))
    verdict = release.write(tmp_path / f"out.{ending}", policy={"columns": dict.fromkeys(QUASI, "quasi-identifier")})
    assert_clean(repr(release), release._repr_html_(), json.dumps(release.to_dict()), release.partition)
    assert_clean(repr(verdict), verdict._repr_html_(), json.dumps(verdict.to_dict()), caplog.text)
    assert_clean(repr(release.frame), frame_bytes(release.frame))
    written = list(tmp_path.iterdir())
    assert len(written) == 4
    assert_clean(*(file_bytes(path) for path in written), *(path.name for path in written))


@pytest.mark.parametrize("rule", [{"frequency": 2}, {"prefix": [3, 1]}, {"dictionary": "countries"}, "auto"], ids=str)
@pytest.mark.parametrize("recoding", ["cut", "tight", "set", "label"])
def test_codebooks_are_clean(tmp_path: Path, rule: Any, recoding: str) -> None:
    town = ht.Hierarchy.auto(ht.Table.encode(planted()).column("town")) if rule == "auto" else rule
    asked = {"quasi_identifiers": ["town", "sex"], "models": [ht.KAnonymity(12)], "hierarchies": {"town": town}}
    data = planted().select("name", "town", "sex")
    release = ht.anonymize(data, identifiers=["name"], method=ht.Mondrian(recoding=recoding), **asked)
    for external in (True, False):
        release.write(tmp_path / "out.csv", external=external, overwrite=True)
        assert_clean(*(file_bytes(path) for path in tmp_path.glob("*.codebook.*")))


@pytest.mark.parametrize("name", ["name", "town"])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_no_category_survives(kind: Callable[[pl.DataFrame], Any], name: str) -> None:
    frame = protect(kind(planted())).frame
    if isinstance(frame, pd.DataFrame):
        assert not any(isinstance(dtype, pd.CategoricalDtype) for dtype in frame.dtypes)
    elif isinstance(frame, pl.DataFrame):
        assert not {pl.Categorical, pl.Enum} & {dtype.base_type() for dtype in frame.dtypes}
    else:
        assert not any(pa.types.is_dictionary(field.type) for field in frame.schema)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_pseudonyms_are_clean(tmp_path: Path, ending: str) -> None:
    key = WORD.encode() * 2
    release = protect(planted(), identifiers=[], pseudonyms=ht.Pseudonyms(("name",), key))
    release.write(tmp_path / f"out.{ending}")
    assert_clean(repr(release), repr(release.pseudonyms), json.dumps(release.to_dict()), frame_bytes(release.frame))
    assert_clean(*(file_bytes(path) for path in tmp_path.iterdir()))


def test_a_table_is_clean() -> None:
    table = ht.Table.encode(planted())
    release = protect(table)
    assert_clean(repr(table), *map(repr, table.columns), repr(release), repr(release.frame))
    assert_clean(pickle.dumps([(each.name, each.values) for each in release.frame.columns]))


@given(st.lists(st.integers(0, 90), min_size=3, max_size=40), st.data(), st.integers(2, 4))
def test_the_largest_value_is_in_no_cut(ages: list[int], data: st.DataObject, k: int) -> None:
    place = data.draw(st.integers(0, len(ages)))
    values = [*ages[:place], NUMBER, *ages[place:]]
    k = min(k, len(values))
    release = ht.anonymize(
        pl.DataFrame({"age": values}),
        quasi_identifiers=["age"],
        models=[ht.KAnonymity(k)],
        method=ht.Mondrian(recoding="cut"),
    )
    assert_clean(frame_bytes(release.frame), release.frame, repr(release), json.dumps(release.to_dict()))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_command_is_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, ending: str
) -> None:
    monkeypatch.chdir(tmp_path)
    caplog.set_level(logging.DEBUG)
    logging.getLogger("numba").setLevel(logging.INFO)
    table = planted()
    table.write_csv("in.csv") if ending == "csv" else table.write_parquet("in.parquet")
    roles = {"name": "identifier", **dict.fromkeys(QUASI, "quasi-identifier"), "pay": "sensitive"}
    Path("policy.yaml").write_text(json.dumps({"columns": roles, "models": [{"k-anonymity": 12}]}))
    shown = [
        done("scan", f"in.{ending}"),
        done("scan", f"in.{ending}", "--json", "-p", "new.yaml"),
        done("anonymize", f"in.{ending}", "-p", "policy.yaml", "-o", f"out.{ending}"),
        done("anonymize", f"in.{ending}", "-p", "policy.yaml", "-o", f"out.{ending}", "--json", "--force"),
        done("verify", f"out.{ending}", "-p", "policy.yaml"),
        done("verify", f"out.{ending}", "-p", "policy.yaml", "--json"),
        run("verify", f"in.{ending}", "-p", "policy.yaml", "--no-manifest"),
    ]
    assert_clean(*(outcome.out + outcome.err for outcome in shown), caplog.text)
    assert_clean(*(file_bytes(path) for path in tmp_path.iterdir() if path.stem != "in"))


def test_scan_shows_no_cell_of_any_column(tmp_path: Path) -> None:
    cells = {name: [f"{WORD}{name}{i % 4} " for i in range(40)] for name in ("e-mail", "age", "diagnosis", "note")}
    pl.DataFrame(cells).write_csv(tmp_path / "in.csv")
    shown = done("scan", tmp_path / "in.csv", "-p", tmp_path / "policy.yaml")
    as_json = done("scan", tmp_path / "in.csv", "--json")
    roles = ht.find_quasi_identifiers(tmp_path / "in.csv")
    assert_clean(shown.out, shown.err, as_json.out, (tmp_path / "policy.yaml").read_text())
    assert_clean(repr(roles), roles._repr_html_(), roles.to_dict())


HEAD = "name,number,town,pay\n"
BODY = f"{WORD},{NUMBER},{WORD},1\nBob,34,town,2\nCyd,35,town,3\n"
# What goes wrong with a CSV: its bytes, and what is added to the policy's column number or town.
FILES = {
    "short record": (HEAD + f"{WORD},{NUMBER},{WORD}\n" + BODY, {}),
    "long record": (HEAD + BODY + f"{WORD},{NUMBER},{WORD},{WORD},{NUMBER}\n", {}),
    "open quote": (HEAD + BODY + f'"{WORD},{NUMBER},{WORD}\n', {}),
    "text after a quote": (HEAD + f'"{WORD}"{NUMBER},34,{WORD},1\n' + BODY, {}),
    "open quote before much text": (HEAD + f'"{WORD},{NUMBER},{WORD},1\n' + BODY * 9_000, {}),
    "star": (HEAD + BODY + f"{WORD},{NUMBER},*,1\n", {}),
    "kind": (HEAD + BODY, {"town": {"role": "quasi-identifier", "kind": "integer"}}),
    "date": (HEAD + BODY, {"number": {"role": "quasi-identifier", "kind": "date"}}),
    "order": (HEAD + BODY, {"town": {"role": "quasi-identifier", "order": ["town", "village"]}}),
    "infeasible": (HEAD + BODY, {"k": 9}),
    "not diverse": (HEAD + f"{WORD},{NUMBER},{WORD},1\n" * 9, {}),
    "no role": (HEAD.replace("pay", "pay,note") + f"{WORD},{NUMBER},{WORD},1,{WORD}\n", {}),
}


@pytest.mark.parametrize(("content", "changes"), FILES.values(), ids=FILES)
def test_messages_of_the_command_are_clean(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    content: str,
    changes: dict[str, Any],
) -> None:
    monkeypatch.chdir(tmp_path)
    caplog.set_level(logging.DEBUG)
    logging.getLogger("numba").setLevel(logging.INFO)
    Path("in.csv").write_text(content)
    roles = {"name": "identifier", "number": "quasi-identifier", "town": "quasi-identifier", "pay": "sensitive"}
    models = [{"k-anonymity": changes.get("k", 2)}, {"distinct-l-diversity": {"l": 2, "sensitive": "pay"}}]
    columns = {**roles, **{name: entry for name, entry in changes.items() if name in roles}}
    Path("policy.yaml").write_text(json.dumps({"columns": columns, "models": models}))
    outcome = run("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv")
    assert outcome.code in (2, 3)
    assert_clean(outcome.out, outcome.err, caplog.text)
    for arguments in (["scan", "in.csv"], ["verify", "in.csv", "-p", "policy.yaml", "--no-manifest"]):
        other = run(*arguments)
        assert_clean(other.out, other.err)


def test_bad_bytes_quote_no_neighbour(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes(f"{HEAD}{WORD},{NUMBER},K".encode() + b"\xf6ln,1\n")
    outcome = run("scan", path, "--encoding", "utf-8")
    assert outcome.code == 2
    assert_clean(outcome.err)


class Odd:
    """A cell of a type that no table library knows, with a repr that tells."""

    def __repr__(self) -> str:
        return WORD


CELLS = {
    "mixed": pd.DataFrame({"x": [WORD, 1, 2.5]}),
    "mixed numbers": pd.DataFrame({"x": np.array([NUMBER, "a", None], dtype=object)}),
    "objects": pd.DataFrame({"x": [Odd(), Odd(), Odd()]}),
    "bytes": pl.DataFrame({"x": [WORD.encode()] * 3}),
    "lists": pl.DataFrame({"x": [[WORD], [WORD], []]}),
    "structs": pl.DataFrame({"x": [{"a": WORD}] * 3}),
    "intervals": pd.DataFrame({"x": pd.interval_range(NUMBER, NUMBER + 3)}),
    "periods": pd.DataFrame({"x": pd.period_range(DAY, periods=3, freq="D")}),
    "complex": pd.DataFrame({"x": [complex(NUMBER, 1)] * 3}),
    "timedeltas": pd.DataFrame({"x": pd.to_timedelta([NUMBER] * 3, unit="s")}),
    "durations": pl.DataFrame({"x": [dt.timedelta(hours=7, minutes=13)] * 3}),
    "infinite": pl.DataFrame({"x": [float(NUMBER), float("inf"), 1.0]}),
    "past int64": pl.DataFrame({"x": pl.Series([2**63 + NUMBER] * 3, dtype=pl.UInt64)}),
    "star": pl.DataFrame({"x": [WORD, "*", WORD]}),
    "no table": {WORD: [1]},
    "a text": WORD,
    "lazy lists": pl.LazyFrame({"x": [[WORD], [WORD]]}),
    "a lazy query that fails": pl.LazyFrame({"x": [WORD]}).with_columns(pl.col("x").str.to_integer(strict=True)),
}


@pytest.mark.parametrize("data", CELLS.values(), ids=CELLS)
@pytest.mark.filterwarnings("ignore:.*PerformanceWarning")
def test_messages_about_cells_are_clean(data: Any) -> None:
    if isinstance(data, str):
        with pytest.raises(ht.InputError):
            ht.anonymize(data, quasi_identifiers=["x"], models=[ht.KAnonymity(2)])
        return
    with pytest.raises(ht.InputError) as caught:
        ht.anonymize(data, quasi_identifiers=["x"], models=[ht.KAnonymity(2)])
    assert_clean(str(caught.value), repr(caught.value), "".join(traceback.format_exception(caught.value)))


def test_failed_verdicts_are_clean() -> None:
    verdict = ht.verify(
        planted(),
        quasi_identifiers=QUASI,
        models=[*MODELS, ht.DistinctLDiversity(3, "name")],
        highest_risk=0.1,
        average_risk=0.1,
    )
    assert not verdict.passed
    assert_clean(repr(verdict), *verdict.failures, verdict._repr_html_(), json.dumps(verdict.to_dict()))
    with pytest.raises(ht.VerificationError) as caught:
        verdict.raise_if_failed()
    assert_clean(str(caught.value), "".join(traceback.format_exception(caught.value)))


def test_assessments_are_clean() -> None:
    risk = ht.assess(planted(), quasi_identifiers=QUASI, sensitive=["name", "pay"])
    assert_clean(repr(risk), risk._repr_html_(), json.dumps(risk.to_dict()))


@pytest.mark.usefixtures("estimators")
@pytest.mark.parametrize("options", [{"population": planted()}, {"population_size": 99}, {"weights": "w"}, {}])
def test_assessments_with_all_options_are_clean(options: dict[str, Any]) -> None:
    table = planted().with_columns(w=pl.lit(3), home=pl.lit(secret(1)))
    risk = ht.assess(
        table, quasi_identifiers=QUASI, sensitive=["name"], household="home", tolerance="hipaa-safe-harbor", **options
    )
    assert_clean(repr(risk), risk._repr_html_(), json.dumps(risk.to_dict()), repr(risk.to_frame()))


@pytest.mark.parametrize("audience", ["internal", "external"])
@pytest.mark.parametrize("n", [12, 60])
def test_reports_of_releases_are_clean(tmp_path: Path, audience: Any, n: int) -> None:
    given = {"quasi_identifiers": QUASI, "models": [ht.KAnonymity(n)], "identifiers": ["name"], "sensitive": ["pay"]}
    release = ht.anonymize(planted(n), method=ht.Mondrian(recoding="cut"), **given)
    report = ht.report(release, audience=audience)
    report.write(tmp_path / "r.html")
    assert_clean(report, report.to_html(), report.to_dict(), (tmp_path / "r.json").read_bytes())


def test_other_reports_are_clean() -> None:
    people = planted(24)
    masked = ht.mask_dependence(people, a=["town"], b=["pay"], c=["sex"], clusters=3)
    policy = ht.Policy.parse("columns: {number: quasi-identifier, town: quasi-identifier}\nmodels: [k-anonymity: 2]")
    results = [
        masked,
        ht.assess(people, quasi_identifiers=QUASI, sensitive=["name", "pay"], tolerance=5),
        ht.mpuccs(people, people.head(12), n_cols=[1, 2]),
        ht.minimal_uniques(people),
        ht.compare(people.select("number", "town"), policy, k=[2, 24], suppression=[0]),
    ]
    for result in results:
        report = ht.report(result)
        assert_clean(report, report.to_html(), report.to_dict())
    assert_clean(ht.report(masked, audience="external").to_html())


def test_unused_categories_are_in_no_file(tmp_path: Path) -> None:
    """The column stays, but a value that only the dtype remembers belongs to nobody in the table."""
    table = planted().with_columns(kept=pl.Series(["a", "b"] * 6, dtype=pl.Enum(["a", "b", WORD])))
    for ending in ("csv", "parquet"):
        protect(table).write(tmp_path / f"out.{ending}")
    assert_clean(*(file_bytes(path) for path in tmp_path.iterdir()))


def secret(i: int) -> str:
    """A secret of one record, long enough that no library keeps it inside a cell."""
    return f"{WORD}-of-record-{i:04d}-and-a-tail"


def secretive(n: int = 40) -> pl.DataFrame:
    """Every record has a secret of its own in every column but two; a fourth of them has to go."""
    secrets = [secret(i) for i in range(n)]
    return pl.DataFrame(
        {
            "age": [20 + i % 10 for i in range(n)],
            "ill": ["flu"] * (3 * n // 4) + ["gout"] * (n - 3 * n // 4),
            "note": secrets,
            "ward": secrets,
            "visits": [[each] for each in secrets],
        }
    )


def thinned(data: Any) -> ht.Release:
    """A release of a secretive table without the records that are too many."""
    release = ht.anonymize(
        data,
        quasi_identifiers=["age"],
        models=[ht.KAnonymity(2), ht.AlphaKAnonymity(0.6, 2, "ill")],
        sensitive=["ward"],
        suppression_limit=0.5,
    )
    assert release.drops_suppressed
    return release


def thinly_masked(data: Any) -> ht.MaskedRelease:
    return ht.mask_dependence(data, a=["ill"], b=["age"], clusters=3)


def as_nested(table: pl.DataFrame) -> pl.DataFrame:
    enum = pl.Enum(table["ward"])
    return table.with_columns(pl.col("visits").cast(pl.List(enum)), note=pl.struct(pl.col("note").cast(enum)))


def with_index(table: pl.DataFrame, make: Callable[[pl.DataFrame], pd.Index]) -> pd.DataFrame:
    return table.to_pandas().set_index(make(table))


def with_metadata(table: pl.DataFrame) -> pa.Table:
    arrow = pa.Table.from_pandas(table.to_pandas().set_index("note"))
    fields = [field.with_metadata({"longest": secret(place)}) for place, field in enumerate(arrow.schema)]
    return arrow.cast(pa.schema(fields, metadata={**arrow.schema.metadata, "people": ";".join(table["note"])}))


def with_attributes(table: pl.DataFrame) -> pd.DataFrame:
    frame = table.to_pandas()
    frame.attrs["people"] = table["note"].to_list()
    return frame


def as_arrow_dictionary(table: pl.DataFrame, ordered: bool = False) -> pa.Table:
    arrow = table.to_arrow()
    codes = pa.array(range(len(table)), type=pa.int16())
    ward = pa.DictionaryArray.from_arrays(codes, table["ward"].to_arrow(), ordered=ordered)
    return arrow.set_column(arrow.column_names.index("ward"), "ward", ward)


PANDAS_DICTIONARY = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
SECRETIVE: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars": lambda table: table,
    "polars categorical": lambda table: table.with_columns(pl.col("ward").cast(pl.Categorical)),
    "polars enum": lambda table: table.with_columns(pl.col("ward").cast(pl.Enum(table["ward"]))),
    "polars nested": as_nested,
    "pandas": lambda table: table.to_pandas(),
    "pandas categorical": lambda table: table.to_pandas().astype({"ward": "category", "note": "category"}),
    "pandas dictionary": lambda table: table.to_pandas().astype({"ward": PANDAS_DICTIONARY}),
    "pandas attributes": with_attributes,
    "pandas index": lambda table: with_index(table, lambda table: pd.Index(table["note"].to_list())),
    "pandas categorical index": lambda table: with_index(table, lambda table: pd.CategoricalIndex(table["note"])),
    "pandas multi-index": lambda table: with_index(
        table, lambda table: pd.MultiIndex.from_arrays([pd.Categorical(table["note"]), range(len(table))])
    ),
    "pyarrow": lambda table: table.to_arrow(),
    "pyarrow dictionary": as_arrow_dictionary,
    "pyarrow ordered dictionary": lambda table: as_arrow_dictionary(table, ordered=True),
    "pyarrow chunks": lambda table: pa.concat_tables([as_arrow_dictionary(table[:9]), as_arrow_dictionary(table[9:])]),
    "pyarrow nested": lambda table: as_nested(table).to_arrow(),
    "pyarrow metadata": with_metadata,
}


def assert_only_of(kept: np.ndarray[Any, Any], raw: bytes) -> None:
    """The secrets of records that stay are there, so that they would be seen, and no others are."""
    found = {i for i in range(40) if secret(i).encode() in raw}
    assert found == set(kept.tolist())


@pytest.mark.parametrize("kind", SECRETIVE.values(), ids=SECRETIVE)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_nothing_is_left_of_dropped_records(
    tmp_path: Path, kind: Callable[[pl.DataFrame], Any], ending: str, request: pytest.FixtureRequest
) -> None:
    release = thinned(kind(secretive()))
    kept = np.flatnonzero(~release.suppressed)
    assert_only_of(kept, frame_bytes(release.frame))
    assert_only_of(kept, frame_bytes(release.frame) + repr(release.frame).encode())
    path = tmp_path / f"out.{ending}"
    if ending == "csv":
        release = thinned(frames.read(kind(secretive())).drop(_nested(release.frame)))
    release.write(path)
    assert_only_of(kept, file_bytes(path))


def _nested(frame: Any) -> list[str]:
    schema = pl.DataFrame(frame).schema
    return [name for name, dtype in schema.items() if dtype.is_nested()]


@pytest.mark.parametrize("kind", SECRETIVE.values(), ids=SECRETIVE)
def test_nothing_is_left_of_records_that_masking_removed(kind: Callable[[pl.DataFrame], Any]) -> None:
    masked = thinly_masked(kind(secretive()))
    assert len(masked.removed) == 1
    assert_only_of(masked.kept, frame_bytes(masked.frame))


@pytest.mark.parametrize("protect", [thinned, thinly_masked])
def test_nothing_is_left_of_dropped_records_in_a_table(protect: Callable[[Any], Any]) -> None:
    table = ht.Table.encode(secretive().drop("visits"))
    release = protect(table)
    kept = release.kept if isinstance(release, ht.MaskedRelease) else np.flatnonzero(~release.suppressed)
    assert_only_of(kept, pickle.dumps([(each.name, each.values) for each in release.frame.columns]))


@pytest.mark.parametrize("kind", ["pyarrow metadata", "pandas attributes"])
def test_what_is_said_of_the_whole_table_goes_though_no_record_does(kind: str) -> None:
    data = SECRETIVE[kind](secretive().with_columns(note=pl.lit("-"), people=pl.Series(range(40)), visits=1, ward=1))
    if isinstance(data, pa.Table):
        data = data.replace_schema_metadata({"people": WORD})
    else:
        data.attrs["people"] = WORD
    accept = {"people": "made up"}
    release = ht.anonymize(data, quasi_identifiers=["age"], models=[ht.KAnonymity(2)], accept=accept)
    frame = release.frame
    assert not (frame.schema.metadata if isinstance(frame, pa.Table) else frame.attrs)


def test_columns_keep_their_type_without_the_categories_of_dropped_records() -> None:
    for kind in ("polars enum", "pandas categorical", "pyarrow ordered dictionary"):
        source = SECRETIVE[kind](secretive())
        release = thinned(source)
        kept = [secret(i) for i in np.flatnonzero(~release.suppressed)]
        ward = release.frame["ward"]
        assert (ward.to_pylist() if isinstance(ward, pa.ChunkedArray) else ward.to_list()) == kept
        if isinstance(ward, pl.Series):
            assert ward.dtype == pl.Enum(kept)
        elif isinstance(ward, pd.Series):
            assert ward.cat.categories.tolist() == kept
        else:
            assert ward.type == source["ward"].type
            assert ward.combine_chunks().dictionary.to_pylist() == kept


@pytest.mark.parametrize("name", ["note", "visits"])
def test_messages_about_types_name_no_category(name: str) -> None:
    for kind in (as_nested(secretive()), as_nested(secretive()).to_arrow()):
        for options in ({"quasi_identifiers": [name]}, {"quasi_identifiers": ["age"], "sensitive": [name]}):
            with pytest.raises(ht.ColumnError, match="cannot be grouped") as caught:
                ht.anonymize(kind, models=[ht.KAnonymity(2)], **options)
            assert_clean("".join(traceback.format_exception(caught.value)))
        with pytest.raises(ht.ColumnError) as caught:
            ht.verify(kind, quasi_identifiers=[name], models=[ht.KAnonymity(2)])
        assert_clean("".join(traceback.format_exception(caught.value)))


@pytest.mark.parametrize("kind", ["polars", "polars enum", "pandas categorical", "pyarrow dictionary"])
def test_nothing_is_left_under_a_star(kind: str) -> None:
    table = frames.read(SECRETIVE[kind](secretive())).drop(["visits", "note"]).native
    release = dataclasses.replace(thinned(table), drops_suppressed=False)
    assert_only_of(np.flatnonzero(~release.suppressed), frame_bytes(release.frame))
    masked = ht.mask_dependence(table, a=["ward"], b=["age"], clusters=3, c=[])
    assert masked.n_stars == masked.n_records
    assert_clean(frame_bytes(masked.frame))


def test_the_verbs_around_a_release_are_clean(tmp_path: Path) -> None:
    """Comparing, measuring what is left, and publishing the next batch."""
    for name, seed in (("first", 0), ("second", 1)):
        planted(24).sample(24, seed=seed, shuffle=True).write_csv(tmp_path / f"{name}.csv")
    (tmp_path / "policy.yaml").write_text(
        "columns: {name: identifier, number: quasi-identifier, share: quasi-identifier, born: quasi-identifier,\n"
        "  town: {role: quasi-identifier, hierarchy: {prefix: [1]}}, sex: other, pay: sensitive}\n"
        "models: [k-anonymity: 12]\n"
    )
    first, second, policy = tmp_path / "first.csv", tmp_path / "second.csv", tmp_path / "policy.yaml"
    for asked in (
        ("compare", first, "-p", policy, "--k", "12,20,30", "--suppression", "0"),
        (
            "anonymize",
            first,
            "-p",
            policy,
            "-o",
            tmp_path / "release.csv",
            "--save-recoding",
            tmp_path / "recoding.json",
        ),
        ("utility", first, tmp_path / "release.csv", "-p", policy),
        ("apply", tmp_path / "recoding.json", second, "-o", tmp_path / "later.csv"),
        ("apply", tmp_path / "recoding.json", second, "-o", tmp_path / "both.csv", "--together", first),
    ):
        told = done(*asked)
        assert_clean(told.out, told.err)
    for asked in (
        ("compare", first, "-p", policy),
        ("apply", tmp_path / "recoding.json", second, "-o", tmp_path / "x.csv"),
    ):
        assert_clean(done(*asked, "--json").out)
    made = [path for path in tmp_path.iterdir() if path.name not in ("first.csv", "second.csv")]
    assert {"recoding.json", "later.csv", "both.csv"} <= {path.name for path in made}
    assert_clean(*map(file_bytes, made))
    release = ht.Policy.read(policy).protect(first)
    for shown in (
        release,
        release.learned,
        release.utility(),
        release.apply(second),
        ht.compare(first, policy, k=[12]),
    ):
        assert_clean(repr(shown), *([shown._repr_html_()] if hasattr(shown, "_repr_html_") else []))
