"""The record of a certificate, and its file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from hushtable.errors import InputError, with_hint
from hushtable.io import drafts

__all__ = ["Certificate"]

_DIGEST: Final = "sha256"


@dataclass(frozen=True, slots=True)
class Certificate:
    """Why nothing better exists, as plain entries: a document about the input, which is its owner's alone.

    It counts records at levels that the release does not publish, and belongs neither beside a published file nor into
    its manifest.

    Attributes
    ----------
    entries : mapping
        ``kind`` says of what; see `hushtable.check_certificate`.
    """

    entries: Mapping[str, Any] = field(repr=False)

    @classmethod
    def of(cls, entries: Mapping[str, Any]) -> Certificate:
        """Make a certificate, with the digest of its entries."""
        plain = json.loads(json.dumps(entries))
        return cls({**plain, _DIGEST: _digest(plain)})

    @property
    def kind(self) -> str:
        """What it is a certificate of."""
        return str(self.entries.get("kind"))

    @property
    def is_whole(self) -> bool:
        """Whether no entry has changed since it was made, as far as a digest tells that anyone can make anew."""
        rest = {name: entry for name, entry in self.entries.items() if name != _DIGEST}
        return self.entries.get(_DIGEST) == _digest(rest)

    def to_dict(self) -> dict[str, Any]:
        """Return the entries as plain values."""
        return dict(json.loads(json.dumps(dict(self.entries))))

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> Certificate:
        """Read what `to_dict` returned.

        Raises
        ------
        InputError
            It is no certificate.
        """
        if not isinstance(entries, Mapping) or "kind" not in entries:
            msg = with_hint("this is no certificate.", "pass Release.certificate, or what its to_dict returned.")
            raise InputError(msg)
        return cls(dict(entries))

    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the certificate as JSON, to be read by its owner alone.

        Parameters
        ----------
        path : path
        overwrite : bool
            Replace a file of this name.

        Raises
        ------
        InputError
            The file cannot be written, or must not be.
        """
        path = Path(path)
        drafts.check_outputs((path,), (), overwrite=overwrite)
        with drafts.replacing(path, internal=(path,)) as (draft,):
            draft.write_text(json.dumps(self.to_dict(), separators=(",", ":")) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: str | Path) -> Certificate:
        """Read a certificate from its file.

        Raises
        ------
        InputError
            The file cannot be read, or holds none.
        """
        try:
            entries = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            msg = with_hint(f"cannot read a certificate from {str(path)!r}.", "check the name; it is a file of JSON.")
            raise InputError(msg) from None
        return cls.from_dict(entries)


def _digest(entries: Mapping[str, Any]) -> str:
    try:
        text = json.dumps(dict(entries), sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return ""
    return hashlib.sha256(text.encode()).hexdigest()
