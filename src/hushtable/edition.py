"""Edition: what is published of a source, and the one way from it to a frame, a table and a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from hushtable import drafts, frames, manifest, pseudonyms
from hushtable._types import BoolArray, CodeArray, CountArray, frozen
from hushtable.cells import SUPPRESSED
from hushtable.claims import Claim, Verdict
from hushtable.column import Column, from_texts
from hushtable.frames import Frame
from hushtable.pseudonyms import Pseudonyms
from hushtable.remnants import without_remnants
from hushtable.table import Table

__all__ = ["Edition", "Rewritten"]

Order = Literal["shuffled", "kept"]
Audience = Literal["internal", "external"]


@dataclass(frozen=True, slots=True, eq=False)
class Rewritten:
    """What a column publishes instead of its own cells.

    Attributes
    ----------
    codes : ndarray of int32, shape (n_rows,)
        Of every row of the source.
    texts : tuple of str or None
        What each code publishes; None is a missing cell.
    """

    codes: CodeArray = field(repr=False)
    texts: tuple[str | None, ...] = field(repr=False)

    def __post_init__(self) -> None:
        frozen(self.codes)


@dataclass(frozen=True, slots=True, eq=False)
class Edition:
    """What is published of a source.

    Attributes
    ----------
    source : Frame or Table
    columns : tuple of str
        The source's columns that are published, in order.
    rewritten : mapping of column to Rewritten
        All other columns keep their cells.
    starred : mapping of column to ndarray of bool, shape (n_rows,)
        Rows in which a column that keeps its cells publishes ``*`` instead.
    rows : ndarray of int64, optional
        The rows of the source that are published, in order; all when not given.
    added : mapping of column to ndarray of int64, shape (n_published_rows,)
        Columns of whole numbers behind the others.
    pseudonyms : Pseudonyms, optional
        Columns whose cells become keyed pseudonyms.
    as_text : tuple of str
        Columns that are declared text: a file holds the texts of their values, whatever their type.
    inputs : tuple of path
        The files it was made from, none of which `write` touches.
    """

    source: Frame | Table = field(repr=False)
    columns: tuple[str, ...]
    rewritten: Mapping[str, Rewritten] = field(default_factory=dict, repr=False)
    starred: Mapping[str, BoolArray] = field(default_factory=dict, repr=False)
    rows: CountArray | None = field(default=None, repr=False)
    added: Mapping[str, CountArray] = field(default_factory=dict, repr=False)
    pseudonyms: Pseudonyms | None = None
    as_text: tuple[str, ...] = ()
    inputs: tuple[Path, ...] = ()

    @property
    def native(self) -> Any:
        """The published table, of the kind that the source is."""
        return self.table(self.source) if isinstance(self.source, Table) else self.frame().native

    def frame(self) -> Frame:
        """Return the published table as a frame with a row for every record, with nothing left of what is not in it."""
        if isinstance(self.source, Table):
            return frames.read(self.table(self.source).expand())
        texts = {name: frames.gather(each.texts, each.codes) for name, each in self.rewritten.items()}
        for name, rows in self.starred.items():
            texts[name] = frames.mask(self.source.column(name), rows, name)
        frame = self.source.with_texts(texts).select(self.columns)
        frame = frame if self.rows is None else frame.take(self.rows)
        for name, numbers in self.added.items():
            frame = frame.with_numbers(name, numbers)
        frame = pseudonyms.pseudonymize(frame, self.pseudonyms) if self.pseudonyms else frame
        return without_remnants(frame, rows_are_gone=self.rows is not None)

    def table(self, source: Table) -> Table:
        """Return the published table coded: a rewritten column is a category whose values are its cells."""
        columns, codes = list(source.columns), source.codes.copy()
        for name, each in self.rewritten.items():
            # A missing cell has the empty text, which is coded as missing.
            column, code_of_text = from_texts(name, [text or "" for text in each.texts], "category")
            columns[source.index(name)], codes[source.index(name)] = column, code_of_text[each.codes]
        for name, rows in self.starred.items():
            j, column = source.index(name), source.column(name)
            columns[j], code_of_text = from_texts(name, [*column.texts(), "", SUPPRESSED], "category")
            missing, star = column.n_values, column.n_values + 1
            codes[j] = code_of_text[np.where(rows, star, np.where(codes[j] < 0, missing, codes[j]))]
        table = Table(tuple(columns), codes, source.counts).select(self.columns)
        table = table if self.rows is None else table.take(self.rows)
        table = pseudonyms.pseudonymize_table(table, self.pseudonyms) if self.pseudonyms else table
        return _with_numbers(table, self.added).without_unused()

    def write(
        self,
        path: Path,
        claim: Claim,
        facts: Mapping[str, Any],
        *,
        original: Any = None,
        beside: Mapping[Path, Frame] | None = None,
        order: Order = "shuffled",
        audience: Audience = "internal",
        overwrite: bool = False,
    ) -> Verdict:
        """Write the published table with its manifest, whole and verified or not at all.

        Parameters
        ----------
        path : path
            ``.csv``, ``.tsv`` or ``.parquet``; the manifest goes beside it.
        claim : Claim
            What the file must hold; it is read back and verified before it gets its name.
        facts : mapping
            What the manifest says besides the claim.
        original : path or dataframe, optional
            What the claim compares with.
        beside : mapping of path to Frame, optional
            Other files that belong to it.
        order : {"shuffled", "kept"}
            Shuffled with the operating system's randomness, because an order can identify people.
        audience : {"internal", "external"}
            Of the manifest.
        overwrite : bool
            Replace files of these names. An input is never replaced, nor a link.

        Raises
        ------
        VerificationError
            The written table does not hold the claim; nothing is left behind.
        InputError
            A file cannot be written, or must not be.
        """
        frames.file_kind(path)
        others = dict(beside or {})
        outputs = (path, manifest.manifest_path(path), *others)
        drafts.check_outputs(outputs, self.inputs, overwrite=overwrite)
        frame = self.frame()
        frame = frame.with_texts({name: frames.spelled(frame.column(name), name) for name in self.as_text})
        for target, each in {path: frame, **others}.items():
            frames.check_writable(each, target)
        if order == "shuffled":
            frame = frame.take(np.random.default_rng().permutation(frame.n_rows))
        with drafts.replacing(*outputs) as (draft, sidecar, *further):
            frames.write(frame, draft)
            for each, other in zip(others.values(), further, strict=True):
                frames.write(each, other)
            written = frames.read(draft, delimiter=frames.written_delimiter(frame, path))
            verdict = claim.verify(written, original=original).raise_if_failed()
            digest = manifest.sha256(draft)
            entries = manifest.of(path, digest, frame.n_rows, claim, facts, external=audience == "external")
            sidecar.write_text(json.dumps(entries, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        return verdict


def _with_numbers(table: Table, added: Mapping[str, CountArray]) -> Table:
    columns, codes = list(table.columns), [*table.codes]
    for name, numbers in added.items():
        values, positions = np.unique(numbers, return_inverse=True)
        columns.append(Column(name, "integer", values))
        codes.append(positions.astype(np.int32))
    return Table(tuple(columns), np.array(codes, dtype=np.int32), table.counts) if added else table
