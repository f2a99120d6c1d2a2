"""Which names and values an assistant may read: plain short text, as data."""

from __future__ import annotations

import re
import unicodedata
from typing import Final, Literal

from hushtable.discover import is_of_known_words

NamesShown = Literal["known", "all", "none"]
"""Which names of columns are shown: those whose words the recogniser knows, all plain ones, or none."""

MAX_NAME: Final = 40  # characters
MAX_VALUE: Final = 60  # characters
_MARKS_OF_NAMES: Final = " _-"
_MARKS_OF_VALUES: Final = " _-.,'()+<>="
_LONG_NUMBER: Final = re.compile(r"\d{4}")


def is_plain(text: str, *, most: int, marks: str) -> bool:
    """Tell whether a text is short, in its simplest Unicode form, and of letters, digits and some marks alone."""
    return (
        0 < len(text) <= most
        and text == unicodedata.normalize("NFKC", text) == text.strip()
        and all(each.isalnum() or each in marks for each in text)
    )


def is_plain_value(text: str) -> bool:
    """Tell whether a value may be shown if enough people share it."""
    return is_plain(text, most=MAX_VALUE, marks=_MARKS_OF_VALUES)


def find_shown_name(name: str, shown: NamesShown) -> str | None:
    """Return the name of a column if it may be shown; None if it is withheld.

    Dates and numbers of four digits are withheld: a header may hold a person's values.
    """
    if shown == "none" or not is_plain(name, most=MAX_NAME, marks=_MARKS_OF_NAMES) or _LONG_NUMBER.search(name):
        return None
    return name if shown == "all" or is_of_known_words(name) else None
