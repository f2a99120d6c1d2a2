"""The one way from a release to the disk: whole and verified, or nothing.

A draft is filled, read back, judged, and gets its name last, together with its manifest and what lies beside it. Rows
in memory fill it at once; others batch by batch, or by an engine that writes by itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol

import numpy as np

from hushtable._types import CodeArray
from hushtable.claims import Claim, Verdict, open_release, select_for_claim, with_commas
from hushtable.errors import ColumnError, InputError, quote_names
from hushtable.io import Dialect, Frame, Writing, drafts, frames, program_of
from hushtable.release import manifest
from hushtable.release.edition import Edition
from hushtable.release.exposing import look_at_draft
from hushtable.release.pseudonyms import Pseudonyms

if TYPE_CHECKING:
    import pyarrow as pa

    from hushtable.release.origin import Origin, PublishedCells
    from hushtable.release.release import Release

ManifestEntries = Mapping[str, Any]

_PARQUET_PART: Final = Path("part.parquet")
_OF_NAMES: Final = "backslashreplace"
"""Names of files may hold bytes that are no text: JSON reads such an escape as what it was."""


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a published table is written, and how.

    Attributes
    ----------
    path : path
        ``.csv``, ``.tsv``, ``.parquet``, ``.xlsx``, or of a statistics program, with the manifest beside it; or a
        folder of Parquet files, with the manifest in it.
    sidecars : mapping of path to Frame or str
        Other files that belong to it: tables, or texts in UTF-8.
    writing : Writing
        Of text: Parquet has neither encodings nor decimal marks.
    keep_order : bool
        Else rows are shuffled with the operating system's randomness, because an order can identify people.
    external : bool
        Write the manifest that goes with a published file; only its owner may read an internal one.
    overwrite : bool
        Replace files of these names. An input is never replaced, nor a link.
    inputs : sequence of path
        The files that it was made from, none of which is written to.
    """

    path: Path
    sidecars: Mapping[Path, Frame | str] = field(default_factory=dict)
    writing: Writing = field(default_factory=Writing)
    keep_order: bool = False
    external: bool = False
    overwrite: bool = False
    inputs: Sequence[Path] = ()


@dataclass(frozen=True, slots=True)
class Filled:
    """What a draft was filled with.

    Attributes
    ----------
    n_records : int
    claim : Claim
        What must hold of it, spelled as the draft is.
    dialect : Dialect, optional
        How a CSV spells it.
    rows : ndarray of int32, shape (n_records,), optional
        The published row that each record is, where these are in memory.
    comma_columns : tuple of str
        Columns whose numbers have decimal commas.
    """

    n_records: int
    claim: Claim
    dialect: Dialect | None = None
    rows: CodeArray | None = field(default=None, repr=False)
    comma_columns: tuple[str, ...] = ()


class Content(Protocol):
    """What is written: it fills a draft, and is judged by what was read back from there."""

    @property
    def may_be_folder(self) -> bool:
        """Whether it becomes a folder where the name has no ending."""
        ...

    def check(self, to: Destination) -> None:
        """Raise an error where it cannot be written there, before anything is done for it."""
        ...

    def fill(self, draft: Path, spill: Path, to: Destination) -> Filled:
        """Write it into a draft, with room for a spill in another folder."""
        ...

    def judge(self, draft: Path, filled: Filled, to: Destination) -> tuple[Verdict, ManifestEntries]:
        """Read the draft back and judge it; return also what the manifest says of it in place of what was planned."""
        ...


def write(content: Content, to: Destination, facts: ManifestEntries) -> Verdict:
    """Write a published table with its manifest, whole and verified or not at all.

    Parameters
    ----------
    content : Content
    to : Destination
    facts : mapping
        What the manifest says besides the claim.

    Raises
    ------
    VerificationError
        The written table does not hold the claim; nothing is left behind.
    InputError
        Something cannot be written, or must not be.
    """
    content.check(to)
    path, sidecar_paths = to.path, tuple(to.sidecars)
    as_folder = to.writing.by is not None or (content.may_be_folder and is_folder(path))
    check_output(path, to.inputs, sidecar_paths, overwrite=to.overwrite, as_folder=as_folder)
    with ExitStack() as stack:
        if as_folder:
            # What lies beside it gets its names last: it speaks of what is there.
            further = [*stack.enter_context(drafts.replace_files(*sidecar_paths, overwrite=to.overwrite))]
            internal = () if to.external else (manifest.FOLDER_MANIFEST,)
            draft, spill = stack.enter_context(drafts.replace_folder(path, internal, overwrite=to.overwrite))
            sidecar = manifest.manifest_path(draft)
        else:
            sidecar = manifest.manifest_path(path)
            internal_paths = () if to.external else (sidecar,)
            spill = stack.enter_context(drafts.temporary_folder(path)) / "spill" if content.may_be_folder else path
            draft, sidecar, *further = stack.enter_context(
                drafts.replace_files(path, sidecar, *sidecar_paths, internal=internal_paths, overwrite=to.overwrite)
            )
        filled = content.fill(draft, spill, to)
        for what, file in zip(to.sidecars.values(), further, strict=True):
            if isinstance(what, Frame):
                frames.write(what, file, to.writing.encoding)
            else:
                file.write_text(what, encoding="utf-8", errors=_OF_NAMES, newline="\n")
        verdict, judged_facts = content.judge(draft, filled, to)
        entries = manifest.build(
            path,
            manifest.sha256(draft),
            filled.n_records,
            filled.claim,
            {**facts, **judged_facts, **manifest.build_person_counts(filled.claim, verdict)},
            filled.dialect,
            external=to.external,
        )
        text = json.dumps(entries, indent=2, ensure_ascii=False) + "\n"
        sidecar.write_text(text, encoding="utf-8", errors=_OF_NAMES)
    return verdict


@dataclass(frozen=True, slots=True, eq=False)
class TableContent:
    """A published table whose rows are in memory.

    Attributes
    ----------
    edition : Edition
    claim : Claim
    original : path or dataframe, optional
        What the claim compares with.
    """

    edition: Edition
    claim: Claim
    original: Any = None

    @property
    def may_be_folder(self) -> bool:
        """Only where a column names folders."""
        return False

    def check(self, to: Destination) -> None:
        """Refuse an order that links records, and folders that cannot be."""
        if to.keep_order:
            check_order(self.claim.person)
        if to.writing.by is not None:
            _check_folders_of(to.writing.by, to, self.edition)

    def fill(self, draft: Path, spill: Path, to: Destination) -> Filled:
        """Write the table as its kind of file holds it."""
        edition, by = self.edition, to.writing.by
        path = to.path if by is None else _PARQUET_PART
        frame, with_comma = edition.build_file_frame(path, to.writing)
        claim = with_commas(self.claim, with_comma) if with_comma else self.claim
        tables = {target: each for target, each in to.sidecars.items() if isinstance(each, Frame)}
        for target, table in {path: frame, **tables}.items():
            check_writing(target, to.writing)
            if by is None:
                frames.check_writable(table, target, to.writing.encoding)
        rows = frame.rows_of_records()
        if not to.keep_order:
            np.random.default_rng().shuffle(rows)
        if by is not None:
            from hushtable.io import hive

            return Filled(frame.n_records, claim, rows=hive.write_frame(frame, rows, draft, by))
        frames.write(frame, draft, to.writing.encoding, rows)
        is_text = frames.file_kind(path) == "csv"
        dialect = _dialect_of_file(to.writing, frames.output_delimiter(frame, path)) if is_text else None
        return Filled(frame.n_records, claim, dialect, rows, with_comma)

    def judge(self, draft: Path, filled: Filled, to: Destination) -> tuple[Verdict, ManifestEntries]:
        """Judge what was read back, and compare kept cells with the input's."""
        assert filled.rows is not None
        if to.writing.by is None:
            written = frames.read(draft, dialect=filled.dialect)
        else:
            from hushtable.io import hive

            written = hive.read_frame(draft, filled.n_records, self.edition.names)
        self.edition.check_kept(written, filled.rows, filled.comma_columns, program_of(to.path))
        return filled.claim.verify(written, original=self.original).raise_if_failed(), {}


@dataclass(frozen=True, slots=True, eq=False)
class BatchContent:
    """A published table that comes batch by batch.

    Attributes
    ----------
    batches : iterable of pyarrow.Table
        One at least, of one schema; see `hushtable.release.batches.Batches`.
    claim : Claim
    original : path or dataframe, optional
        What the claim compares with.
    delimiter : str
        Of a CSV.
    rows_per_part : int
        How many rows a file of a folder has at most.
    """

    batches: Iterable[pa.Table]
    claim: Claim
    original: Any = None
    delimiter: str = ","
    rows_per_part: int = 5_000_000

    @property
    def may_be_folder(self) -> bool:
        """It becomes a folder of Parquet files."""
        return True

    def check(self, to: Destination) -> None:
        """Refuse what batches have no room for."""
        if to.keep_order or not to.writing.spells_as_usual:
            raise InputError(
                "rows that are not in memory are shuffled, and published as they are. An order, an encoding, a decimal "
                "mark or a way to hide formulas has no effect.",
                hint="leave it out, or take engine='memory'.",
            )

    def fill(self, draft: Path, spill: Path, to: Destination) -> Filled:
        """Write all records, shuffled on the disk."""
        from hushtable.release.batches import write_file, write_parts

        if draft.is_dir():
            by, rows_per_part = to.writing.by, self.rows_per_part
            return Filled(write_parts(self.batches, draft, spill, rows_per_part=rows_per_part, by=by), self.claim)
        delimiter = "\t" if to.path.suffix.lower() == ".tsv" else self.delimiter
        dialect = Dialect("utf-8", delimiter, index=False) if frames.file_kind(to.path) == "csv" else None
        return Filled(write_file(self.batches, draft, spill, delimiter=delimiter), self.claim, dialect)

    def judge(self, draft: Path, filled: Filled, to: Destination) -> tuple[Verdict, ManifestEntries]:
        """Judge the distinct rows of what was written."""
        published = open_release(draft, filled.dialect, is_large=True)
        return filled.claim.verify(
            select_for_claim(filled.claim, published), original=self.original
        ).raise_if_failed(), {}


@dataclass(frozen=True, slots=True, eq=False)
class ReleaseContent:
    """A release whose rows are not in memory: written batch by batch, or by the engine that holds them.

    Attributes
    ----------
    release : Release
    origin : Origin
        Where its rows are.
    cells : PublishedCells
        What is published of its distinct rows, as the file holds it.
    """

    release: Release
    origin: Origin
    cells: PublishedCells

    @property
    def may_be_folder(self) -> bool:
        """It becomes a folder of Parquet files."""
        return True

    def check(self, to: Destination) -> None:
        """Refuse what these rows cannot be written as."""
        path, by, engine = to.path, to.writing.by, self.origin.engine_name
        if by is not None:
            check_by(by, path, self.release.columns, self.release.pseudonyms)
        self._as_batches(()).check(to)
        if self.origin.writes_by_itself and not is_folder(path):
            raise InputError(f"{engine} writes folders.", hint=f"name one without an ending, not {path.name!r}.")
        if self.origin.writes_by_itself and by is not None:
            raise InputError(
                f"{engine} writes by itself, and no folders by the cells of {by!r}.",
                hint="leave it out, and write the release anew by its own means: it has the column.",
            )
        if not is_folder(path) and frames.file_kind(path) == "csv" and not self.release.source.frame().is_text:
            raise InputError(
                "rows that are not in memory, and no text, are published as Parquet.",
                hint="name a folder, or a file that ends in .parquet.",
            )
        if find_spec("pyarrow") is None:
            raise InputError(
                "writing tables that are not in memory needs pyarrow.", hint="pip install 'hushtable[stream]'."
            )

    def fill(self, draft: Path, spill: Path, to: Destination) -> Filled:
        """Write all records."""
        if self.origin.writes_by_itself:
            return Filled(self.origin.write(self.cells, draft), self.release.claim)
        return self._as_batches(self.origin.publish_batches(self.cells)).fill(draft, spill, to)

    def judge(self, draft: Path, filled: Filled, to: Destination) -> tuple[Verdict, ManifestEntries]:
        """Judge what was read back, and measure anew what its kept columns find."""
        verdict, _ = self._as_batches(()).judge(draft, filled, to)
        return verdict, look_at_draft(self.release, draft, filled.dialect)

    def _as_batches(self, batches: Iterable[pa.Table]) -> BatchContent:
        release = self.release
        return BatchContent(batches, release.claim, release.compared_with, release.source.frame().delimiter)


def is_folder(path: Path) -> bool:
    """Tell whether a release of this name is a folder of Parquet files: its name has no ending, or it is one."""
    return not path.suffix or path.is_dir()


def check_output(
    path: Path,
    inputs: Sequence[Path],
    sidecar_paths: Sequence[Path] = (),
    *,
    overwrite: bool,
    as_folder: bool | None = None,
) -> None:
    """Raise InputError where a release of this name must not be written, before any work is done for it.

    Parameters
    ----------
    path : path
    inputs : sequence of path
    sidecar_paths : sequence of path
        Files that are written with it, beside it.
    overwrite : bool
    as_folder : bool, optional
        What its name says when not given.
    """
    if is_folder(path) if as_folder is None else as_folder:
        drafts.check_folder(path, inputs, manifest.FOLDER_MANIFEST, manifest.PART_NAMES, overwrite=overwrite)
        drafts.check_outputs(sidecar_paths, (*inputs, path), overwrite=overwrite)
    else:
        frames.file_kind(path)
        drafts.check_outputs((path, manifest.manifest_path(path), *sidecar_paths), inputs, overwrite=overwrite)


def check_by(by: str, path: Path, columns: Sequence[str], pseudonyms: Pseudonyms | None) -> None:
    """Raise an error where a table cannot be written as folders by the published cells of a column.

    Parameters
    ----------
    by : str
    path : path
        Of the folder.
    columns : sequence of str
        The published columns.
    pseudonyms : Pseudonyms, optional
        Columns whose cells become pseudonyms.
    """
    if path.suffix and not path.is_dir():
        raise InputError(
            f"parts by column {by!r} are folders, and {path.name!r} names a file.",
            hint="name a folder, without an ending.",
        )
    if by not in columns:
        raise ColumnError(
            f"parts by column {by!r}, which is not published.", hint=f"choose among {quote_names(columns)}."
        )
    if pseudonyms is not None and by in pseudonyms.columns:
        raise ColumnError(
            f"parts by column {by!r}, which publishes pseudonyms: each folder would be a person's.",
            hint="choose another column.",
        )


def check_order(person: str | None) -> None:
    """Raise InputError where rows are to keep their order and persons hide, with one record or with several.

    Tables of persons are sorted by person, so that rows beside each other are one person's more often than not. Where
    their records are linked anyway, the order tells which of the persons alike has which number in the input.
    """
    if person is not None:
        raise InputError(
            f"the rows would keep the order of the input, which can distinguish the persons of {person!r}.",
            hint="leave the order to chance.",
        )


def raise_if_dates_are_ordered() -> NoReturn:
    """Raise InputError where rows are to keep their order and dates of persons were changed."""
    raise InputError(
        "the rows would keep the order of the input, which can reveal the dates that were changed.",
        hint="leave the order to chance.",
    )


def check_writing(path: Path, writing: Writing) -> None:
    """Raise InputError where a file has neither an encoding nor a decimal mark, and one was asked for."""
    if frames.file_kind(path) == "parquet" and not writing.spells_as_usual:
        raise InputError(
            f"{str(path)!r} is Parquet, in which an encoding, a decimal mark or a way to hide formulas has no effect.",
            hint="write a CSV, or leave encoding, decimal and formulas (`write:` in a policy) out.",
        )


def _dialect_of_file(writing: Writing, delimiter: str) -> Dialect:
    """Return how a CSV spells its table once it is written."""
    return Dialect(
        writing.encoding, delimiter, index=False, formulas="escape" if writing.formulas == "escape" else None
    )


def _check_folders_of(by: str, to: Destination, edition: Edition) -> None:
    """Raise an error where a table in memory cannot be written as folders."""
    check_by(by, to.path, edition.columns, edition.pseudonyms)
    if to.keep_order:
        raise InputError(
            f"the order of rows was to be kept, and {to.path.name!r} is a folder for each cell of {by!r}.",
            hint="write one file, or leave the order to chance.",
        )
    try:
        from hushtable.io import hive  # noqa: F401  # asked whether it is there
    except ModuleNotFoundError:
        raise InputError("a folder of Parquet files needs pyarrow.", hint="pip install 'hushtable[stream]'.") from None
