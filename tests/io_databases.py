"""Databases for tests: files of SQLite and DuckDB, and a server of PostgreSQL.

The server is that of Debian's package, in a folder of its own, asks for a password, and is gone afterwards.
"""

import contextlib
import datetime as dt
import os
import pwd
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

PASSWORD = "canary-s3same-0pen"
USER = "canary_user"


_DECLARED = {
    pl.Int64: "INTEGER",
    pl.String: "TEXT",
    pl.Boolean: "BOOLEAN",
    pl.Float64: "DOUBLE PRECISION",
    pl.Date: "DATE",
    pl.Datetime: "TIMESTAMP",
    pl.Time: "TIME",
}


def quoted(name: str) -> str:
    """Return a name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def sqlite_file(path: Path, data: pl.DataFrame, table: str = "people") -> Path:
    """Write a table as programs do: days and moments as text, with their types declared."""
    declared = [f"{quoted(name)} {_DECLARED[dtype.base_type()]}" for name, dtype in data.schema.items()]
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE TABLE {quoted(table)} ({', '.join(declared)})")
    rows = [[str(cell) if isinstance(cell, (dt.date, dt.time)) else cell for cell in row] for row in data.rows()]
    connection.executemany(f"INSERT INTO {quoted(table)} VALUES ({', '.join('?' * data.width)})", rows)
    connection.commit()
    connection.close()
    return path


def duckdb_file(path: Path, data: pl.DataFrame, table: str = "people") -> Path:
    """Write a table into the schema ``s``."""
    import duckdb

    connection = duckdb.connect(str(path))
    connection.register("given", data.to_arrow())
    connection.execute(f"CREATE SCHEMA s; CREATE TABLE s.{quoted(table)} AS SELECT * FROM given")
    connection.close()
    return path


def _programs() -> Path:
    found = [Path(each).parent for each in [shutil.which("initdb")] if each]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    if not found:
        pytest.skip("needs a PostgreSQL server (initdb, pg_ctl)")
    return found[0]


def _drop() -> dict[str, object]:
    """Return as whom a server is run: it refuses to be root."""
    if os.geteuid() != 0:
        return {}
    names = {each.pw_name for each in pwd.getpwall()}
    user = next((name for name in ("postgres", "nobody") if name in names), None)
    if user is None:
        pytest.skip("a PostgreSQL server does not run as root, and there is no other user")
    known = pwd.getpwnam(user)
    return {"user": known.pw_uid, "group": known.pw_gid, "extra_groups": [], "cwd": "/"}


@contextlib.contextmanager
def postgresql() -> Iterator[str]:
    """Start a server, and give the folder of its socket; whoever connects needs the password."""
    programs, drop = _programs(), _drop()
    # Not in pytest's folder, where no other user comes, and whose name is too long for a socket.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    secret = folder / "secret"
    secret.write_text(PASSWORD)
    for each in (folder, secret):
        if "user" in drop:
            os.chown(each, drop["user"], drop["group"])
    control = [programs / "pg_ctl", "-D", folder / "data"]

    def run(*arguments: object) -> None:
        done = subprocess.run(
            list(map(str, arguments)), capture_output=True, text=True, timeout=60, check=False, **drop
        )
        if done.returncode:
            pytest.skip(f"no PostgreSQL server starts here: {done.stderr[-200:]}")

    try:
        initdb = [programs / "initdb", "-D", folder / "data", "-U", USER, "-A", "scram-sha-256"]
        run(*initdb, f"--pwfile={secret}", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
        # Without pipes: the server would keep them open.
        options = f"-k {folder} -c listen_addresses= -c fsync=off -c shared_buffers=16MB"
        run(*control, "-w", "-l", folder / "log", "-o", options, "start")
        try:
            yield str(folder)
        finally:
            run(*control, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
