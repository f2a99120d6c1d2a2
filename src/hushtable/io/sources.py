"""Tables that have a URL: a table or query of a database, Parquet files of an object store.

A URL is named by its text, because a path would drop one of its slashes. A password is refused wherever one stands;
the libraries find theirs by themselves. What is shown of a URL has neither a user nor the text of a query.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from hushtable.errors import InputError

_PROGRAM_BY_SCHEME: Final = {
    "postgresql": "PostgreSQL",
    "postgres": "PostgreSQL",
    "sqlite": "SQLite",
    "duckdb": "DuckDB",
}
_OBJECT_SCHEMES: Final = ("s3", "s3a", "gs", "gcs", "az", "azure", "abfs", "abfss", "adl")
_SCHEME: Final = re.compile(rf"({'|'.join((*_PROGRAM_BY_SCHEME, *_OBJECT_SCHEMES))}):(/*)", re.IGNORECASE)
_ANY_URL: Final = re.compile(r"[a-z][a-z0-9+.-]*:/", re.IGNORECASE)
_OUR_PARAMETERS: Final = re.compile(r"[?&](?:table|query)=", re.IGNORECASE)
_SECRET: Final = re.compile(
    r"[?&;][^=&;?]*(?:password|passwd|pwd|secret|token|signature|credential|access_?key|sig)[^=&;?]*=", re.IGNORECASE
)
_HOST: Final = re.compile(r"[\w.,:\[\]-]*")
_NAME_PART: Final = re.compile(r'"((?:[^"]|"")*)"|([^".]+)')

_URL_FORMS: Final = {
    "PostgreSQL": "postgresql://host/database?table=NAME, or ?query=SELECT ...",
    "SQLite": "sqlite:///file.db?table=NAME, or ?query=SELECT ... (four slashes before an absolute path)",
    "DuckDB": "duckdb:///file.duckdb?table=NAME, or ?query=SELECT ... (four slashes before an absolute path)",
}


@dataclass(frozen=True, slots=True)
class Source(os.PathLike[str]):
    """A table that has a URL; commands take it as they take a path."""

    url: str = field(repr=False)

    def __str__(self) -> str:
        """Return the part of the URL that may be shown: no user, no parameter, no text of a query."""
        if self.program is None:
            return self._location
        location = self._location
        if self.file is None:
            scheme, _, rest = location.partition("://")
            host, slash, database = rest.rpartition("@")[2].partition("/")
            location = f"{scheme}://{host}{slash}{database}" if _HOST.fullmatch(host) else f"{scheme}:"
        kind, text = self._request
        return f"{location}?{f'{kind}={text}' if kind == 'table' else 'query=...'}" if kind else location

    __repr__ = __str__

    def __fspath__(self) -> str:
        """Return the database's file, so that outputs cannot overwrite it; else the part that may be shown."""
        return str(self) if self.file is None else str(self.file)

    @property
    def program(self) -> str | None:
        """The database; None for an object store."""
        return _PROGRAM_BY_SCHEME.get(self.url.partition(":")[0].lower())

    @property
    def file(self) -> Path | None:
        """The file of a database that is one."""
        if self.program not in ("SQLite", "DuckDB"):
            return None
        return Path(unquote(self._location.partition(":")[2].removeprefix("///")))

    @property
    def name(self) -> str:
        """The name of the table or the file, ``query`` for a query."""
        if self.program is None:
            return self._location.rstrip("/").rpartition("/")[2]
        return self.names[-1] if self._request[0] == "table" and self.names else "query"

    @property
    def suffix(self) -> str:
        """The ending of files whose cells have types, like these."""
        return ".parquet"

    @property
    def names(self) -> tuple[str, ...]:
        """The parts of the table's name: schema and table; empty for a query."""
        kind, text = self._request
        if kind != "table":
            return ()
        if self.program == "SQLite":
            return (text,)
        return tuple(inside.replace('""', '"') or plain for inside, plain in _NAME_PART.findall(text))

    @property
    def query(self) -> str:
        """The SQL that the database is asked."""
        kind, text = self._request
        assert self.program is not None
        if self.file is not None and self._parameters:
            raise InputError(f"{self} has parameters that mean nothing.", hint=f"write {_URL_FORMS[self.program]}.")
        has_file = self.file is None or self._location.partition(":")[2].startswith("///")
        if not text.strip() or not has_file or (kind == "table" and not self.names):
            raise InputError(f"{self} names no table of {self.program}.", hint=f"write {_URL_FORMS[self.program]}.")
        if kind == "table":
            return f"SELECT * FROM {'.'.join(map(quote_name, self.names))}"
        return text.strip().rstrip(";")

    @property
    def connection(self) -> str:
        """The URL for the library of PostgreSQL: without table and query."""
        return f"postgresql:{self._location.partition(':')[2]}" + (
            f"?{'&'.join(self._parameters)}" if self._parameters else ""
        )

    @property
    def is_many(self) -> bool:
        """Whether it is a folder or a pattern of an object store."""
        return self.program is None and (self.url.endswith("/") or any(sign in self.url for sign in "*["))

    def is_dir(self) -> bool:
        """Whether it is a folder of this machine: never."""
        return False

    def check(self) -> None:
        """Raise InputError where the URL holds what only a library may find, or an object store's is not understood."""
        check_secrets([self.url])
        if self.program is None and "?" in self.url:
            raise InputError(
                f"{self._location} is followed by parameters.", hint="name files alone; a pattern has * only."
            )

    @property
    def _location(self) -> str:
        return self.url.partition("?")[0]

    @property
    def _request(self) -> tuple[str, str]:
        """Return ``table`` or ``query``, and its text, which goes to the end, so that it may hold any character.

        A query that holds a space was typed, and its percent signs are SQL's own.
        """
        found = _OUR_PARAMETERS.search(self.url)
        if found is None:
            return "", ""
        kind, text = found.group()[1:-1].lower(), self.url[found.end() :]
        if kind == "query":
            return kind, text if any(map(str.isspace, text)) else unquote(text)
        return kind, unquote(text.partition("&")[0])

    @property
    def _parameters(self) -> tuple[str, ...]:
        found = _OUR_PARAMETERS.search(self.url)
        before = (self.url if found is None else self.url[: found.start()]).partition("?")[2]
        is_table = found is not None and found.group()[1:-1].lower() == "table"
        after = self.url[found.end() :].partition("&")[2] if found is not None and is_table else ""
        return tuple(each for each in (*before.split("&"), *after.split("&")) if each)


def parse_location(location: str | os.PathLike[str]) -> Path | Source:
    """Return the path or source that a text names; InputError if a URL holds a password, or lost a slash in a Path."""
    if isinstance(location, Source):
        location.check()
        return location
    text = os.fspath(location)
    # Also for unknown databases: the error message would quote the URL.
    check_secrets([text])
    scheme = _SCHEME.match(text)
    if scheme is None:
        return Path(text)
    if len(scheme[2]) < 2:
        how = (
            _URL_FORMS[_PROGRAM_BY_SCHEME[scheme[1].lower()]]
            if scheme[1].lower() in _PROGRAM_BY_SCHEME
            else f"{scheme[1]}://bucket/file.parquet"
        )
        raise InputError(
            f"a URL begins with {scheme[1]}:{scheme[2]} and not with {scheme[1]}://.", hint=f"as a text: {how}."
        )
    source = Source(text)
    source.check()
    return source


def quote_name(name: str) -> str:
    """Quote a name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def check_secrets(texts: Iterable[Any]) -> None:
    """Raise InputError if a URL among texts holds a password, a key or a token; no part of it is quoted."""
    for text in texts:
        scheme = _ANY_URL.search(text) if isinstance(text, str) else None
        if scheme is None:
            continue
        # A query may hold anything, also an @: the search ends where it begins.
        own = _OUR_PARAMETERS.search(text, scheme.end())
        before = unquote(text[scheme.end() : None if own is None else own.start()])
        after = "" if own is None or own.group()[1:-1].lower() == "query" else unquote(text[own.start() :])
        # An absolute path may hold : and @ without a user.
        is_file = _PROGRAM_BY_SCHEME.get(scheme.group()[:-2].lower()) in ("SQLite", "DuckDB") and before.startswith(
            "///"
        )
        has_user = re.search(r":[^@]*@", before) is not None and not is_file
        if has_user or _SECRET.search(before) or _SECRET.search(after):
            raise InputError(
                f"a URL of {scheme.group()[:-2]} holds a password, a key or a token.",
                hint="leave it out: it would be read by others. PostgreSQL's libraries find it in "
                "~/.pgpass, a service file "
                "or PGPASSWORD, those of object stores in their own environment variables and files.",
            )
