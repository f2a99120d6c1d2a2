"""The record of a certificate, its file, and how a checker reads the input: as its caller says."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from hushtable._types import CodeArray
from hushtable.claims.verdict import Failure, Verdict
from hushtable.columns import Column, ColumnSpec, check_specs, encode, merge_spellings
from hushtable.errors import ColumnError, InputError, check_columns, quote_names
from hushtable.io import FORM, FORMS, Frame, describe_other_form, drafts, frames, is_many, read_json

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
    def from_entries(cls, entries: Mapping[str, Any]) -> Certificate:
        """Make a certificate, with the digest of its entries."""
        json_entries = json.loads(json.dumps({FORM: FORMS["certificate"], **entries}))
        return cls({**json_entries, _DIGEST: _hash_entries(json_entries)})

    @property
    def kind(self) -> str:
        """What it is a certificate of."""
        return str(self.entries.get("kind"))

    @property
    def is_unchanged(self) -> bool:
        """Whether no entry has changed since it was made, as far as a digest tells that anyone can make anew."""
        entries = {name: entry for name, entry in self.entries.items() if name != _DIGEST}
        return self.entries.get(_DIGEST) == _hash_entries(entries)

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
            raise InputError("this is no certificate.", hint="pass Release.certificate, or what its to_dict returned.")
        if newer := describe_other_form("certificate", entries.get(FORM)):
            raise InputError(f"{newer}.", hint="check it with a version that reads this form.")
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
        with drafts.replace_files(path, internal=(path,), overwrite=overwrite) as (draft,):
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
            entries = read_json(Path(path))
        except InputError:
            raise
        except (OSError, ValueError, RecursionError):
            raise InputError(
                f"cannot read a certificate from {str(path)!r}.", hint="check the name; it is a file of JSON."
            ) from None
        return cls.from_dict(entries if isinstance(entries, dict) else {})


def _hash_entries(entries: Mapping[str, Any]) -> str:
    try:
        text = json.dumps(dict(entries), sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return ""
    return hashlib.sha256(text.encode()).hexdigest()


AS_READ: Final = "the certificate reads the columns as the checker does"


@dataclass(frozen=True, slots=True)
class Reading:
    """What the caller of a check says of the columns."""

    specs: Mapping[str, ColumnSpec]  # where the data do not say: those that anonymize was given
    by_rank: Collection[str] = ()  # columns whose values lie as far apart as their ranks
    hierarchies: Collection[str] = ()  # columns whose hierarchies are not the certificate's

    def __post_init__(self) -> None:
        check_specs(self.specs)

    def open_input(self, data: Any, names: Sequence[str], person: str | None = None) -> Frame:
        """Open the input, a row a record; what is not held whole comes in the order of its cells, as in a release."""
        if isinstance(data, (str, os.PathLike)) and is_many(Path(data)):
            from hushtable.io import collapse, scan

            frame = collapse(scan(data), [*names, *([person] if person and person not in names else [])])
        else:
            frame = frames.read(data)
        frame = frame.with_row_per_record()
        check_columns(names, frame.columns, "columns of the certificate")
        check_columns(tuple(self.specs), frame.columns, "specs")
        frame = frame.with_specs(self.specs)
        # Persons are told apart by their cells.
        return frame if person is None else frame.with_specs({person: ColumnSpec("category")})

    def encode_columns(
        self, frame: Frame, names: Sequence[str], typed: Collection[str] = ()
    ) -> dict[str, tuple[Column, CodeArray]]:
        """Code columns as the search did."""
        set_columns = [name for name in names if name in typed and frame.spec(name).separator is not None]
        if set_columns:
            raise InputError(
                f"the certificate judges {quote_names(set_columns)}, whose cells are sets of items.",
                hint="no certificate is made of models that are asked item by item: verify the release.",
            )
        encoded = {
            name: encode(frame.column(name), frame.spec(name), is_typed=frame.is_text or name in typed, name=name)
            for name in names
        }
        return {name: merge_spellings(*pair) if name in typed else pair for name, pair in encoded.items()}

    def find_differences(
        self,
        frame: Frame,
        encoded: Mapping[str, tuple[Column, CodeArray]],
        specs: Mapping[str, ColumnSpec],
        typed: Collection[str] = (),
    ) -> Iterator[Failure]:
        """Yield the columns that a certificate reads otherwise: it proves something of another table."""
        for name, (column, codes) in encoded.items():
            if name not in specs:
                continue
            try:
                ((certified, certified_codes),) = self.encode_columns(
                    frame.with_specs({name: specs[name]}), (name,), typed
                ).values()
                is_same = certified.kind == column.kind and np.array_equal(certified.values, column.values)
                is_same = is_same and np.array_equal(certified_codes, codes)
            except ColumnError:
                is_same = False
            if not is_same:
                kind = specs[name].kind or "other values"
                yield Failure(
                    f"{AS_READ}: it reads {name!r} as {kind}, the checker as {self.describe_kind(column)}; "
                    f"if the certificate is right, say so with specs="
                )

    def verdict_of_failures(self, failures: Sequence[Failure], columns: tuple[str, ...], n_records: int) -> Verdict:
        """Return the verdict on a certificate of other readings."""
        return Verdict((AS_READ,), tuple(failures), columns, n_records)

    def describe_kind(self, column: Column) -> str:
        """Describe how a column is read."""
        return f"{column.kind}, by rank" if column.name in self.by_rank else column.kind


def spec_in(entries: Mapping[str, Any]) -> ColumnSpec:
    """Read a spec of a certificate, whose JSON has lists in the place of tuples."""
    settings: dict[str, Any] = {each: tuple(mark) if isinstance(mark, list) else mark for each, mark in entries.items()}
    try:
        return ColumnSpec(**settings)
    except TypeError:
        raise InputError("the certificate holds specs of columns that are none.", hint="write it anew.") from None
