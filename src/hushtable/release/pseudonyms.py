"""Keyed pseudonyms for direct identifiers."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np

from hushtable.columns import ColumnSpec, from_texts, map_texts, text_codes, text_series, to_canonical_texts
from hushtable.errors import check_columns, check_key
from hushtable.io import Frame
from hushtable.tables import Table

_HEX_DIGITS: Final = 32
# No column's cell: those begin with digits, see `_hash_cell`.
_FINGERPRINT_OF: Final = b"fingerprint of a hushtable key"
_FINGERPRINT_DIGITS: Final = 16


@dataclass(frozen=True, slots=True)
class Pseudonyms:
    """Which columns get pseudonyms, and the secret key.

    Somebody who holds the key can test guesses. Keep it apart from the release, and use a new one for every release
    whose people must not be linked to another's.

    Parameters
    ----------
    columns : tuple of str
    key : bytes, optional
        At least 16 bytes of randomness, 8 of them different, for instance ``secrets.token_bytes(32)``. None is needed
        where all columns are fresh.
    fresh : tuple of str
        Columns whose every record gets a new pseudonym, drawn by the operating system, so that nothing links the
        records of a person. They are among ``columns``, whether named there or not.

    Examples
    --------
    >>> Pseudonyms(fresh=("patient",)).columns
    ('patient',)
    """

    columns: tuple[str, ...] = ()
    key: bytes | None = field(default=None, repr=False)
    fresh: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(dict.fromkeys((*self.columns, *self.fresh))))
        if self.key is None and not self.keyed and self.fresh:
            return
        check_key(self.key, "pseudonyms")

    @property
    def key_fingerprint(self) -> str | None:
        """Sixteen digits that two releases under one key share, and that tell nothing of the key or of a pseudonym."""
        if self.key is None:
            return None
        return hmac.new(self.key, _FINGERPRINT_OF, hashlib.sha256).hexdigest()[:_FINGERPRINT_DIGITS]

    @property
    def keyed(self) -> tuple[str, ...]:
        """The columns of which equal cells get equal pseudonyms."""
        return tuple(name for name in self.columns if name not in self.fresh)

    def select(self, columns: Iterable[str]) -> Pseudonyms | None:
        """Return the pseudonyms of some columns only; None where none of them has any."""
        columns = tuple(columns)
        keyed, fresh = (tuple(name for name in columns if name in each) for each in (self.keyed, self.fresh))
        return Pseudonyms(keyed, self.key if keyed else None, fresh) if keyed or fresh else None


def derive_key(key: bytes, release: str) -> bytes:
    """Return the key of one release's pseudonyms: whoever lacks ``key`` cannot tell which are of one person."""
    check_key(key, "pseudonyms")
    return hmac.new(key, f"hushtable: pseudonyms of a release\0{release}".encode(), hashlib.sha256).digest()


def pseudonymize(frame: Frame, pseudonyms: Pseudonyms) -> Frame:
    """Replace the cells of some columns by pseudonyms; missing stays missing.

    Equal cells get equal ones by the key; in a fresh column every row gets its own.

    Notes
    -----
    HMAC-SHA-256 (RFC 2104) of the column's name and the cell's text, the first 128
    bits in hexadecimal. One hash for each distinct cell. A whole number has the same
    pseudonym whether its library holds it as an integer or, beside missing cells, as a float.
    """
    check_columns(pseudonyms.columns, frame.columns, "pseudonyms")
    key = pseudonyms.key or b""
    keyed = {
        name: map_texts(_without_missing(frame, name), partial(_hash_cell, key, name), name)
        for name in pseudonyms.keyed
    }
    return frame.with_columns(
        keyed | {name: _draw_pseudonyms(_without_missing(frame, name), name) for name in pseudonyms.fresh}
    )


def _draw_pseudonyms(cells: Any, name: str) -> Any:
    """Return a pseudonym of its own for every cell that is not missing."""
    is_known = text_codes(cells, name) >= 0
    return text_series(name, [secrets.token_hex(_HEX_DIGITS // 2) if each else None for each in is_known.tolist()])


def _without_missing(frame: Frame, name: str) -> Any:
    """Return a column's cells, without those that mean missing: nobody has no pseudonym."""
    text, missing = frame.text(name), frame.spec(name).missing_values
    return frame.column(name) if text is None else to_canonical_texts(text, ColumnSpec(missing_values=missing))


def pseudonymize_table(table: Table, pseudonyms: Pseudonyms) -> Table:
    """Replace the values of some columns by pseudonyms, as `pseudonymize` does cells.

    A row is a record where a column is fresh.
    """
    check_columns(pseudonyms.columns, table.names, "pseudonyms")
    columns, codes = list(table.columns), table.codes.copy()
    for name in pseudonyms.fresh:
        j = table.index(name)
        texts = ["" if code < 0 else secrets.token_hex(_HEX_DIGITS // 2) for code in codes[j].tolist()]
        columns[j], codes[j] = from_texts(name, texts, "category")
    for name in pseudonyms.keyed:
        j = table.index(name)
        texts = [_hash_cell(pseudonyms.key or b"", name, text) for text in columns[j].texts()]
        columns[j], code_of_text = from_texts(name, texts, "category")
        # The last entry serves the missing cells, which index it as -1.
        codes[j] = np.append(code_of_text, np.int32(-1))[codes[j]]
    return Table(tuple(columns), codes, table.counts)


def _hash_cell(key: bytes, column: str, cell: str) -> str:
    # The length keeps ("ab", "c") and ("a", "bc") apart.
    return hmac.new(key, f"{len(column)}:{column}{cell}".encode(), hashlib.sha256).hexdigest()[:_HEX_DIGITS]
