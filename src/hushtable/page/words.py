"""The words of the page, in the language of who reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hushtable.wording import LANGUAGES, translate

_PHRASES: Final[Mapping[str, str]] = {
    "rule cuts": "its own cuts",
    "rule auto": "found from its values",
    "rule units": "nested units",
    "rule intervals": "intervals of numbers",
    "rule prefix": "first characters",
    "rule dates": "units of dates",
    "rule dictionary": "a dictionary",
    "rule runs": "runs of neighbours",
    "rule frequency": "by frequency",
    "rule file": "a file",
    "cells readable": "readable, with round ends",
    "cells nested": "one ladder of nested units a column",
    "cells cut": "from cut to cut",
    "cells tight": "as tight as can be",
    "cells label": "labels",
    "cells set": "sets of values",
    "cells central": "one value in the middle",
    "kind integer": "whole number",
    "kind decimal": "decimal number",
    "kind date": "date",
    "kind datetime": "date and time",
    "kind time": "time of a day",
    "kind ordered": "ordered category",
    "kind category": "category",
    "method mondrian": "mondrian: fine cuts",
    "method full_domain": "full_domain: one unit a column",
    "method local_recoding": "local_recoding: groups of similar records",
    "name another file, or overwrite it: --force on the command line, overwrite=True in Python.": (
        "Type another name, or tick “Replace files of this name”."
    ),
    "ask for less, or add records.": "Set a smaller k, or let more records be left out. Undo goes back.",
    "pass its encoding, such as utf-16.": "Choose another file, or save the table again as UTF-8.",
    "quote fields that hold the delimiter, or pass another delimiter.": (
        "Mend this line in the program that the table comes from, and open the file again."
    ),
}
"""What names of kinds, rules, recodings and methods are in words, and what hints for the command say on a page."""


class PageWords:
    """Translates sentences of the page into one language.

    Examples
    --------
    >>> PageWords("de")("Columns"), PageWords("en")("{n} records", n=3)
    ('Spalten', '3 records')
    """

    def __init__(self, language: str) -> None:
        self.language = language if language in LANGUAGES else "en"

    def __call__(self, english: str, **parts: Any) -> str:
        """Return the translated sentence with its parts filled in."""
        said = _PHRASES.get(english, english)
        return translate(said.format(**parts) if parts else said, self.language)
