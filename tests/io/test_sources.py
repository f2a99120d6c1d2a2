"""Tables that have a URL: read as the exported file is, and no error, policy or release tells a secret."""

from __future__ import annotations

import datetime as dt
import io
import json
import sqlite3
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl
import pytest

import hushtable as ht
from command import done, run, tree
from hushtable import errors
from hushtable.io import Source, check_secrets, frames, parse_location
from io_databases import PASSWORD, USER, duckdb_file, postgresql, sqlite_file
from io_objects import azure, google, s3

duckdb = pytest.importorskip("duckdb", reason="needs hushtable[database]")

N = 60
ODD = 'odd "word"; -- % ü'
PEOPLE = pl.DataFrame(
    {
        "age": [20 + i * 7 % 40 for i in range(N)],
        "sex": [("female", "male", None)[i % 3] for i in range(N)],
        "born": [dt.date(1950, 1, 1) + dt.timedelta(days=400 * i % 9_000) for i in range(N)],
        "seen": [dt.datetime(2024, 1, 1, 3, 4, 5, 600_000) + dt.timedelta(hours=i) for i in range(N)],
        "smokes": [None if i % 7 == 0 else i % 2 == 0 for i in range(N)],
        "weight": [50 + i / 4 for i in range(N)],
        "zip": [f"0{1000 + i % 3}" for i in range(N)],
        ODD: [("a;b", "'", "ü\n", '"')[i % 4] for i in range(N)],
    }
)
ASKED: dict[str, Any] = {
    "quasi_identifiers": ["age", "sex", "born"],
    "models": [ht.KAnonymity(4)],
    "roles": "trust",
}


@pytest.fixture(scope="module")
def server(monkeymodule: pytest.MonkeyPatch):
    pytest.importorskip("adbc_driver_postgresql.dbapi", reason="needs hushtable[database]")
    with postgresql() as folder:
        monkeymodule.setenv("PGPASSWORD", PASSWORD)
        url = f"postgresql://{USER}@/postgres?host={folder}"
        with dbapi_of(url) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest("people", PEOPLE.to_arrow())
            connection.commit()
        yield url


@pytest.fixture(scope="module")
def monkeymodule():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("exported") / "people.parquet"
    PEOPLE.write_parquet(path)
    return path


@pytest.fixture(params=["sqlite", "duckdb", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of the table, without what is asked of it."""
    if request.param == "postgresql":
        return f"{request.getfixturevalue('server')}&"
    made = (sqlite_file if request.param == "sqlite" else duckdb_file)(tmp_path / "p.db", PEOPLE)
    return f"{request.param}:///{made}?"


def dbapi_of(url: str) -> Any:
    from adbc_driver_postgresql import dbapi

    return dbapi.connect(url)


def table_in(url: str) -> str:
    return f"{url}table={'s.people' if url.startswith('duckdb') else 'people'}"


def test_cells_and_types_come_as_from_parquet(url):
    assert frames.read(table_in(url)).native.equals(PEOPLE)
    assert frames.read(table_in(url)).native.schema == PEOPLE.schema


def test_the_release_is_that_of_the_exported_file_in_memory_and_streamed(url, exported, tmp_path):
    ours, theirs = (ht.anonymize(each, **ASKED) for each in (table_in(url), str(exported)))
    assert ours.frame.equals(theirs.frame)
    rows = []
    for place, each in enumerate((table_in(url), str(exported))):
        streamed = ht.anonymize(each, engine="stream", **ASKED)
        assert streamed.write(tmp_path / f"out{place}").passed
        rows.append(pl.read_parquet(tmp_path / f"out{place}" / "*.parquet").sort(pl.all()))
    assert rows[0].equals(rows[1])


@pytest.mark.parametrize("written", [str, quote])
def test_a_query_is_read_as_it_is_typed_or_as_urls_write_it(url, written):
    table = table_in(url).rpartition("=")[2]
    # Letters that mean something in URLs mean themselves in a query; it may end as queries do.
    query = f"SELECT age % 50 AS next, zip FROM {table} WHERE zip LIKE '0%' AND '&table=%41' <> '?#' -- people;"
    found = frames.read(f"{url}query={written(query)}").native
    assert found["next"].to_list() == (PEOPLE["age"] % 50).to_list()
    assert found["zip"].to_list() == PEOPLE["zip"].to_list()


def test_every_pass_sees_the_same_rows(server, tmp_path):
    with dbapi_of(server) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("growing", PEOPLE.to_arrow())
        connection.commit()
        release = ht.anonymize(f"{server}&table=growing", engine="stream", **ASKED)
        cursor.execute("INSERT INTO growing SELECT * FROM growing")
        connection.commit()
    assert release.write(tmp_path / "out").passed
    assert pl.read_parquet(tmp_path / "out" / "*.parquet").height == N
    assert frames.read(f"{server}&table=growing").n_rows == 2 * N


def test_decimals_of_a_database_are_numbers(server):
    query = "SELECT (i % 50) * 1.25 AS price, (i % 7)::numeric AS n FROM generate_series(1, 200) AS i"
    release = ht.anonymize(f"{server}&query={query}", quasi_identifiers=["price", "n"], models=[ht.KAnonymity(5)])
    assert release.verify().passed
    assert any("[" in cell for cell in release.frame["price"].unique())


@pytest.mark.parametrize(
    "query",
    ["DROP TABLE people", "SELECT 1 AS a; DROP TABLE people", "DELETE FROM people RETURNING age", "", "nonsense"],
)
def test_a_query_cannot_write(url, query):
    with pytest.raises(ht.InputError):
        frames.read(f"{url}query={query.replace('people', table_in(url).rpartition('=')[2])}")
    assert frames.read(table_in(url)).n_rows == N


@pytest.mark.parametrize(
    "query", ["SELECT CAST('canary-cell' AS INTEGER) AS a", "SELECT zip AS canary, zip AS canary FROM t"]
)
def test_an_error_quotes_no_cell(url, query):
    if url.startswith("sqlite"):
        # SQLite lets anything be cast, and names columns by itself.
        query = "SELECT x'00' AS canary_cell UNION ALL SELECT 'canary-cell'"
    with pytest.raises(ht.InputError) as caught:
        frames.read(f"{url}query={query}")
    assert "canary-cell" not in str(caught.value)
    assert USER not in str(caught.value)


@pytest.mark.parametrize("end", ["table=nobody", "table=", "", "table=people&else=1", "query="])
def test_what_is_not_there_is_told(url, end):
    with pytest.raises(ht.InputError) as caught:
        frames.read(f"{url}{end}")
    assert USER not in str(caught.value)
    assert PASSWORD not in str(caught.value)


def test_the_command_takes_a_url(url, tmp_path):
    policy, out = tmp_path / "policy.yaml", tmp_path / "out.parquet"
    assert "born" in done("scan", table_in(url), "-p", policy).out
    assert json.loads(done("assess", table_in(url), "--qi", "age,sex", "--json").out)["file"] == "people"
    assert "cannot read the manifest" in run("verify", table_in(url)).err
    options = ["--qi", f"age,sex,born,seen,smokes,weight,zip,{ODD}", "--k", "2", "-o", out]
    done("anonymize", table_in(url), *options, "--report", tmp_path / "report.html")
    # Beside the release, nothing tells who asked, and how.
    for name, raw in tree(tmp_path).items():
        assert PASSWORD.encode() not in raw, name
        assert USER.encode() not in raw, name


def test_numbers_days_and_odd_types_of_postgresql(server):
    query = """SELECT 1.50::numeric(10,2) AS price, 2.125::numeric AS free, 'NaN'::numeric AS nothing,
        3::smallint AS small, 'x'::char(3) AS padded, true AS yes,
        '2020-01-02 03:04:05+02'::timestamptz AS moment, '10:11:12'::time AS clock,
        '{"a": 1}'::jsonb AS doc, '1 day'::interval AS span, '1.2.3.4'::inet AS net, NULL AS none, sum(2) AS total,
        'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid AS id, repeat('9', 60)::numeric AS huge, ARRAY[1, 2] AS list"""
    frame = frames.read(f"{server}&query={query}").native
    moment = dt.datetime(2020, 1, 2, 1, 4, 5, tzinfo=dt.UTC)
    assert frame.row(0) == (
        *(Decimal("1.50"), Decimal("2.125"), None, 3, "x", True, moment, dt.time(10, 11, 12), '{"a": 1}', "1 day"),
        *("1.2.3.4/32", None, 2, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "9" * 60, [1, 2]),
    )
    for endless in ("SELECT 'infinity'::date AS day", "SELECT '-infinity'::timestamp AS day"):
        with pytest.raises(ht.ColumnError, match="infinite"):
            frames.read(f"{server}&query={endless}")


def test_a_url_may_be_written_in_other_ways(server):
    user = server.partition("@")[0].replace("postgresql", "Postgres", 1)
    socket = server.partition("=")[2]
    for url in (
        f"{user}@/postgres?table=public.people&host={socket}",
        f'{user}@/postgres?host={socket}&table="public"."people"',
        f"postgresql:///postgres?user={USER}&host={quote(socket, safe='')}&TABLE=p%65ople",
    ):
        assert frames.read(url).n_rows == N


def test_a_refused_password_is_told_without_it(server, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", "canary-wrong")
    with pytest.raises(ht.InputError, match="refused the password") as caught:
        frames.read(f"{server}&table=people")
    assert "canary" not in str(caught.value)


def test_odd_types_of_duckdb(tmp_path):
    query = """SELECT 1.50::DECIMAL(10,2) AS price, sum(2) AS total, uuid() IS NULL AS no, INTERVAL 1 DAY AS span,
        'b'::ENUM('a', 'b') AS mood, [1, 2] AS list, NULL AS none, '2020-01-02 03:04:05+02'::TIMESTAMPTZ AS moment"""
    frame = frames.read(f"duckdb:///{duckdb_file(tmp_path / 'p.db', PEOPLE)}?query={query}").native
    moment = dt.datetime(2020, 1, 2, 1, 4, 5, tzinfo=dt.UTC)
    assert frame.row(0) == (Decimal("1.50"), 2, False, "1 day", "b", [1, 2], None, moment)
    # A type of categories would tell of values that nobody has.
    assert frame.schema["mood"] == pl.String


def test_columns_of_sqlite_that_hold_anything(tmp_path):
    connection = sqlite3.connect(tmp_path / "p.db")
    connection.execute("CREATE TABLE t (mixed, n NUMERIC, day DATE, moment DATETIME, yes BOOLEAN, empty INTEGER, big)")
    rows = [
        (1, 1, "2020-02-29", "2020-01-01T10:00:00", 0, None, 2**60),
        ("x", 2.5, "2020-02-30", "2020-01-01 10:00:00.25", 2, None, 0.5),
    ]
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()
    frame = frames.read(f"sqlite:///{tmp_path / 'p.db'}?table=t").native
    assert dict(frame.schema) == {
        "mixed": pl.String,
        "n": pl.Float64,
        "day": pl.String,
        "moment": pl.Datetime("us"),
        "yes": pl.Int64,
        "empty": pl.Int64,
        "big": pl.String,
    }
    assert frame["moment"].to_list() == [dt.datetime(2020, 1, 1, 10), dt.datetime(2020, 1, 1, 10, 0, 0, 250_000)]
    assert frame["big"].to_list() == [str(2**60), "0.5"]
    assert frame["day"].to_list() == ["2020-02-29", "2020-02-30"]


def test_a_database_is_no_output(tmp_path):
    path = sqlite_file(tmp_path / "p.csv", PEOPLE)
    before = path.read_bytes()
    outcome = run("anonymize", f"sqlite:///{path}?table=people", "--qi", "age", "--k", "2", "-o", path, "--force")
    assert outcome.code == 2
    assert "the output is the input" in outcome.err
    with pytest.raises(ht.InputError, match="is a database"):
        frames.read(sqlite_file(tmp_path / "p.sqlite", PEOPLE))
    assert path.read_bytes() == before


SECRETS = [
    "postgresql://ann:canary@host/db?table=people",
    "postgresql://ann:can/ary@host/db?table=people",
    "postgresql://ann:can?canary@host/db?table=people",
    "postgres://host/db?password=canary&table=people",
    "postgresql://host/db?table=people&sslpassword=canary",
    "postgresql://host/db?p%61ssword=canary&table=people",
    "s3://AK:canary/x@bucket/people.parquet",
    "az://bucket/people.parquet?sv=2024&sig=canary",
    "sqlite://ann:canary@host/db?table=people",
    "mysql://ann:canary@host/db?table=people",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_password_in_a_url_is_refused_and_never_told(secret, tmp_path, monkeypatch, exported):
    monkeypatch.chdir(tmp_path)
    told = []
    for text in (secret, Path(secret), Source(secret)):
        with pytest.raises(ht.InputError) as caught:
            frames.read(text)
        told.append(str(caught.value))
    for call in (
        lambda: ht.anonymize(secret, **ASKED),
        lambda: ht.anonymize(secret, engine="stream", **ASKED),
        lambda: ht.assess(secret, quasi_identifiers=["age"]),
        lambda: ht.find_quasi_identifiers(secret),
        lambda: ht.Policy.make({"version": 1, "columns": {"age": "other"}}).protect(secret),
        lambda: ht.anonymize(str(exported), **ASKED).write(secret),
        lambda: ht.anonymize(str(exported), **ASKED).write(f"{secret}/out.csv"),
    ):
        with pytest.raises(ht.HushError) as caught:
            call()
        told.append(str(caught.value))
    for arguments in (
        ("scan", secret),
        ("anonymize", secret, "--qi", "age", "--k", "2", "-o", "out.csv"),
        ("anonymize", exported, "--qi", "age", "--k", "2", "-o", secret),
        ("assess", exported, "--qi", "age", f"--population={secret}"),
        ("attack", exported, secret),
        ("verify", secret),
        ("nonsense", secret),
    ):
        outcome = run(*arguments)
        assert outcome.code == 2
        told += [outcome.out, outcome.err]
    assert [text for text in told if "canary" in text] == []
    assert tree(tmp_path) == {}


def test_an_error_repeats_no_password_of_anything_typed():
    for text in ("no folder 'x:/ann:canary@host'", "https://a:canary@b", "host?password=canary&b", "a b:canary"):
        assert ("canary" in errors.with_hint(text, "write it.")) == (text == "a b:canary")


@pytest.mark.parametrize("library", ["duckdb", "adbc_driver_postgresql"])
def test_what_to_install_is_told(library, tmp_path, monkeypatch):
    (tmp_path / "p.db").write_bytes(b"        DUCK")
    monkeypatch.setitem(sys.modules, library, None)
    url = f"duckdb:///{tmp_path / 'p.db'}?table=t" if library == "duckdb" else "postgresql://localhost/d?table=t"
    with pytest.raises(ht.InputError, match=r"hushtable\[database\]"):
        frames.read(url)


def test_a_file_of_another_program_is_told(tmp_path):
    sqlite_file(tmp_path / "p.db", PEOPLE)
    (tmp_path / "empty.db").touch()
    # DuckDB would download what reads it.
    for url in (f"duckdb:///{tmp_path}/p.db?table=people", f"sqlite:///{tmp_path}/empty.db?table=people"):
        with pytest.raises(ht.InputError, match="no database of"):
            frames.read(url)


def test_what_is_shown_of_a_url():
    shown = {
        "postgresql://ann@h:5432/db?sslmode=require&table=s.people": "postgresql://h:5432/db?table=s.people",
        "postgresql://h/db?query=SELECT 'cell'": "postgresql://h/db?query=...",
        "sqlite:////a/b.db?table=people": "sqlite:////a/b.db?table=people",
        "s3://bucket/people.parquet": "s3://bucket/people.parquet",
    }
    assert {url: str(parse_location(url)) for url in shown} == shown
    assert "cell" not in repr(parse_location("sqlite:///a.db?query=SELECT 'cell'"))
    check_secrets(
        ["a:b", "C:\\x:y@z", 3, None, "sqlite:////a:b@c/p.db?table=t", "postgresql://h/d?query=SELECT ':', '@'"]
    )


def test_nothing_heavy_is_imported_for_a_file():
    heavy = "{'duckdb', 'sqlite3', 'adbc_driver_postgresql'}"
    script = f"import sys; from hushtable.io import frames; frames.Frame; print(len({heavy} & {{*sys.modules}}))"
    outcome = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert outcome.stdout == "0\n"


@pytest.fixture(scope="module", params=[s3, azure, google], ids=lambda store: store.__name__)
def bucket(request, monkeymodule):
    with request.param(monkeymodule) as (url, put):
        for key, rows in {"people": PEOPLE, "parts/1": PEOPLE[:20], "parts/2": PEOPLE[20:]}.items():
            rows.write_parquet(file := io.BytesIO())
            put(f"{key}.parquet", file.getvalue())
        put("bad.parquet", b"canary-cell")
        yield url


def test_objects_are_released_as_files_are(bucket, exported, tmp_path):
    whole = f"{bucket}/people.parquet"
    theirs = ht.anonymize(str(exported), **ASKED)
    assert ht.anonymize(whole, **ASKED).frame.equals(theirs.frame)
    for place, url in enumerate((whole, f"{bucket}/parts/", f"{bucket}/parts/*.parquet")):
        streamed = ht.anonymize(url, engine="stream" if url == whole else "auto", **ASKED)
        out = tmp_path / f"out{place}"
        assert streamed.write(out).passed
        assert pl.read_parquet(out / "*.parquet").sort(pl.all()).equals(theirs.frame.sort(pl.all()))
    if bucket.startswith("gs:"):
        assert frames.read(whole.replace("gs:", "gcs:")).native.equals(PEOPLE)
    assert json.loads(done("assess", whole, "--qi", "age,sex", "--json").out)["file"] == "people.parquet"
    for name, raw in tree(tmp_path).items():
        assert b"canary" not in raw, name


@pytest.mark.parametrize("end", ["/nobody.parquet", "/bad.parquet", "-nobody/x.parquet", "/people.parquet?x=1"])
def test_objects_that_are_not_there_are_told(bucket, end):
    with pytest.raises(ht.InputError) as caught:
        frames.read(f"{bucket}{end}")
    assert "canary" not in str(caught.value)
