"""Dialect: how a file of text spells a table, from its encoding to its decimal mark."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from hushtable.columns import ENGLISH, ColumnSpec, check_language, check_marks
from hushtable.errors import InputError, with_hint

__all__ = ["Dialect", "Formulas", "Writing"]

Formulas = Literal["keep", "escape", "refuse"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a file of text spells a table; None where it is found from the file.

    Attributes
    ----------
    encoding : str, optional
        Of the text. A byte order mark says it; else UTF-8, and where that does not fit a guess.
    delimiter : str, optional
        One character; found among ``, ; tab |``.
    decimal, thousands : str, optional
        The marks of numbers, in every column that says nothing else; see `ColumnSpec`.
    missing_values : tuple of str
        Texts that mean a missing value in every column, besides blank ones.
    index : bool, optional
        Whether the first column, which then has no name, is an index that is left out.
    formulas : {"escape"}, optional
        Apostrophes before cells that a spreadsheet would run are none of the cells; see `hushtable.io.csv.formulas`.
    """

    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    missing_values: tuple[str, ...] = ()
    index: bool | None = None
    formulas: Literal["escape"] | None = None

    def __post_init__(self) -> None:
        check_marks(self.decimal, self.thousands, self.missing_values)
        one = self.delimiter
        if one is not None and (len(one) != 1 or not one.isascii() or one in '"\r\n'):
            msg = with_hint(f"the delimiter {one!r} is not one character.", "use one of , ; | or a tab.")
            raise InputError(msg)

    @property
    def spec(self) -> ColumnSpec:
        """What it says of every column."""
        return ColumnSpec(
            decimal=self.decimal, thousands=self.thousands, missing_values=tuple(self.missing_values) or None
        )

    @property
    def marks(self) -> Dialect:
        """What it says of cells, in whatever file or frame they are."""
        return Dialect(decimal=self.decimal, thousands=self.thousands, missing_values=self.missing_values)

    def to_dict(self) -> dict[str, Any]:
        """Return what it says as plain values."""
        said = {each.name: getattr(self, each.name) for each in fields(self)}
        said["missing_values"] = list(self.missing_values) or None
        return {name: value for name, value in said.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Writing:
    """How a file of text is written, besides the delimiter of its input.

    Attributes
    ----------
    encoding : str
    decimal : {".", ","}
        The mark of numbers that are not written as they came: quasi-identifiers, and what a dataframe holds as floats.
    formulas : {"keep", "escape", "refuse"}
        What becomes of cells and names that a spreadsheet would run: they are written as they are, with an
        apostrophe in front, or nothing is written.
    language : {"en", "de", "fr", "es", "it", "nl"}
        Of the words that are written into cells: names of groups, and labels of dictionaries.
    """

    encoding: str = "utf-8"
    decimal: str = "."
    formulas: Formulas = "keep"
    language: str = ENGLISH

    def __post_init__(self) -> None:
        check_language(self.language)
        check_marks(self.decimal, None, None)
        if self.formulas not in get_args(Formulas):
            msg = with_hint(f"formulas = {self.formulas!r}.", f"choose among {', '.join(get_args(Formulas))}.")
            raise InputError(msg)
        try:
            name = codecs.lookup(self.encoding).name
            "".encode(name)
        except (LookupError, ValueError, TypeError):
            msg = with_hint(
                f"unknown encoding {self.encoding!r}.", "use a name such as utf-8, latin-1, cp1252 or utf-16."
            )
            raise InputError(msg) from None
        if name == "utf-8":
            object.__setattr__(self, "encoding", name)
