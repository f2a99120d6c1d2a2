"""Propose a role for every column, each with its reason: names first, then how the cells look.

A proposal is a starting point for someone who knows the data. Where the rules
are in doubt they propose the more careful role.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from hushtable import frames
from hushtable.column import Column, Role
from hushtable.errors import ColumnError
from hushtable.table import Table

__all__ = ["ProposedRole", "Roles", "find_quasi_identifiers"]


def _words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words of a column's name; the first role with a hit is proposed.
_NAMED: Final[Mapping[Role, frozenset[str]]] = {
    "identifier": _words_of("""
        name firstname lastname surname forename fullname username email mail phone telephone mobile fax ssn passport
        iban account license licence plate vin url ip mac mrn guid uuid address street nin nhs vorname nachname nom
        prenom nombre apellido
    """),
    "sensitive": _words_of("""
        salary income wage wages pay bracket earnings diagnosis diagnoses disease icd condition religion belief
        orientation ethnicity political party vote union criminal conviction hiv drug therapy treatment medication
        score grade debt credit gain loss
    """),
    "quasi-identifier": _words_of("""
        age birth birthday birthdate dob yob sex gender race zip zipcode postcode postal city town village county region
        state country nationality citizenship education degree school occupation job profession employer workclass
        marital married relationship household children language height weight admission discharge death native
    """),
}

# Whose record a row is, also where it repeats: with a numbering word, or alone.
_PERSONS: Final = _words_of("""
    patient person subject member client customer employee respondent participant insured student
""")
_NUMBERINGS: Final = _words_of("id no nr num number key code ref")

_LOOKS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("an e-mail address", re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")),
    ("a web address", re.compile(r"https?://\S+", re.IGNORECASE)),
    ("an IP address", re.compile(r"(\d{1,3}\.){3}\d{1,3}")),
    ("an IBAN", re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")),
    ("a US social security number", re.compile(r"\d{3}-\d{2}-\d{4}")),
    ("a UUID", re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)),
    ("a telephone number", re.compile(r"\+\d[\d ()/\-]{6,18}\d|\(\d{3}\) ?\d{3}-\d{4}")),
)

_SAMPLED: Final = 200
_MOSTLY: Final = 0.8
_NEARLY_UNIQUE: Final = 0.9
_FEW_VALUES: Final = 50


@dataclass(frozen=True, slots=True)
class ProposedRole:
    """One column's proposed role.

    Attributes
    ----------
    name : str
    role : {"identifier", "quasi-identifier", "sensitive", "other"}
    reason : str
        Without any cell of the column.
    kind : Kind
    n_distinct, n_missing : int
    warning : str
        Empty, or what to look at before releasing: spellings of one value, say.
    """

    name: str
    role: Role
    reason: str
    kind: str
    n_distinct: int
    n_missing: int
    warning: str = ""
    score: float = 0.0
    knowable_by: str = ""
    power: float = 0.0


@dataclass(frozen=True, slots=True)
class Roles:
    """A proposed role for every column.

    Attributes
    ----------
    columns : tuple of ProposedRole
        In column order.
    """

    columns: tuple[ProposedRole, ...]
    of_persons: bool = True
    persons_reason: str = ""

    @property
    def ask(self) -> tuple[str, ...]:
        """Columns whose role is to be decided."""
        return ()

    @property
    def roles(self) -> Mapping[str, Role]:
        """The role of every column."""
        return {column.name: column.role for column in self.columns}

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns that someone may know of a person."""
        return tuple(column.name for column in self.columns if column.role == "quasi-identifier")

    def to_dict(self) -> dict[str, Any]:
        """Return the proposals as plain values."""
        return asdict(self)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(column.name)}</td><td>{column.role}</td><td>{html.escape(column.reason)}</td></tr>"
            for column in self.columns
        )
        return f"<table><tr><th>column</th><th>proposed role</th><th>because</th></tr>{rows}</table>"


def find_quasi_identifiers(data: Any, words: Any = None) -> Roles:
    """Propose roles by the columns' names, looks and uniqueness.

    Parameters
    ----------
    data : path, dataframe or Table

    Notes
    -----
    O(n) per column. Looks are judged on up to 200 distinct texts of a column.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"e-mail": ["a@b.org", "c@d.org"], "age": [31, 52], "note": ["x", "x"]})
    >>> find_quasi_identifiers(people).roles
    {'e-mail': 'identifier', 'age': 'quasi-identifier', 'note': 'other'}
    """
    source = data if isinstance(data, Table) else frames.read(data)
    names = source.names if isinstance(source, Table) else source.columns
    return Roles(_with_persons([_propose(source, name) for name in names], _n_records(source)))


def _n_records(source: Table | frames.Frame) -> int:
    return source.n_records if isinstance(source, Table) else source.n_rows


def _propose(source: Table | frames.Frame, name: str) -> ProposedRole:
    try:
        table = Table.encode(source, [name])
    except ColumnError as error:
        return ProposedRole(name, "other", "its cells cannot be compared", "none", 0, 0, str(error).partition("\n")[0])
    (column,), (codes,) = table.columns, table.codes
    n_missing = int(table.counts[codes < 0].sum())
    n_known = table.n_records - n_missing
    role, reason = _role(column, n_known)
    return ProposedRole(name, role, reason, column.kind, column.n_values, n_missing, _warning(column))


def _role(column: Column, n_known: int) -> tuple[Role, str]:
    n_values = column.n_values
    if n_values == 0:
        return "other", "it holds no value"
    looks = _looks_like(column)
    if looks:
        return "identifier", f"most of its cells look like {looks}"
    words = _words(column.name)
    is_unique = n_known > 1 and n_values >= _NEARLY_UNIQUE * n_known
    if "id" in words and is_unique:
        return "identifier", "its name says id, and nearly every value occurs once"
    if _says_whose(words) and n_values * n_values > n_known:
        return "identifier", "its name says whose record a row is"
    for role, vocabulary in _NAMED.items():
        hits = [word for word in words if word in vocabulary]
        if hits:
            return role, f"its name says {hits[0]!r}"
    if is_unique and column.kind == "category":
        return "identifier", "text, and nearly every value occurs once"
    if is_unique and column.kind in ("integer", "decimal"):
        return "quasi-identifier", "nearly every value occurs once"
    if column.kind in ("date", "datetime"):
        return "quasi-identifier", "a date, which others may know"
    if n_values == 1:
        return "other", "it holds a single value"
    if not column.is_measured and n_values <= _FEW_VALUES and n_values * n_values > n_known:
        return "quasi-identifier", "a category with many values for so few records"
    return "other", "nothing about its name or cells stands out"


def _words(name: str) -> list[str]:
    """Split a column's name into lower-case words, and also join it: "e-mail" gives e, mail and email."""
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    words = [part.lower() for part in parts]
    return [*words, "".join(words)]


def _says_whose(words: Sequence[str]) -> bool:
    *parts, joined = words
    whose = _PERSONS | {"id"}
    return joined.removesuffix("id") in _PERSONS or (
        not whose.isdisjoint(parts) and (whose | _NUMBERINGS).issuperset(parts)
    )


def _looks_like(column: Column) -> str:
    if column.is_measured:
        return ""
    step = max(1, column.n_values // _SAMPLED)
    sample = [str(value).strip() for value in column.values[::step][:_SAMPLED]]
    for looks, pattern in _LOOKS:
        if sum(bool(pattern.fullmatch(text)) for text in sample) >= _MOSTLY * len(sample):
            return looks
    return ""


def _warning(column: Column) -> str:
    """Count values that differ only in case or surrounding and doubled spaces."""
    if column.is_measured or not column.n_values:
        return ""
    folded = {" ".join(unicodedata.normalize("NFKC", text).casefold().split()) for text in column.values.tolist()}
    alike = column.n_values - len(folded)
    return f"{alike} values differ from another only in case or spaces" if alike else ""


def _with_persons(columns: Sequence[ProposedRole], n_records: int) -> tuple[ProposedRole, ...]:
    """Warn at identifiers where every one of them repeats: a person may have several records."""
    named = [column for column in columns if column.role == "identifier"]
    if not all(column.n_distinct < n_records - column.n_missing for column in named):
        return tuple(columns)
    return tuple(
        replace(
            column,
            warning=f"it repeats ({column.n_distinct} values in {n_records} records): if a person has several records, "
            f"write `person: {column.name}` into the policy, so that classes count persons",
        )
        if column.role == "identifier"
        else column
        for column in columns
    )
