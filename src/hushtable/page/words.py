"""The words of the page: English in the code, and a table of each language in ``data``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

LANGUAGES: Final[Mapping[str, str]] = {"en": "English", "de": "Deutsch"}
"""What the page speaks; of each there is a table ``data/LANGUAGE.tsv``: the words in the code, a tab, what is said."""


@cache
def _table(language: str) -> Mapping[str, str]:
    text = files("hushtable.page").joinpath("data", f"{language}.tsv").read_text(encoding="utf-8")
    entries = (line.partition("\t") for line in text.splitlines() if line)
    return {english: said for english, _, said in entries}


class PageWords:
    """What says a sentence of the page in one language.

    Examples
    --------
    >>> PageWords("de")("Columns"), PageWords("en")("{n} records", n=3)
    ('Spalten', '3 records')
    """

    def __init__(self, language: str) -> None:
        self.language = language if language in LANGUAGES else "en"

    def __call__(self, english: str, **parts: Any) -> str:
        """Return the sentence, its parts put in."""
        said = _table(self.language).get(english, english)
        return said.format(**parts) if parts else said


def preferred(accepted: str) -> str:
    """Return the first language of ``Accept-Language`` that the page speaks, in the order in which they stand."""
    for part in accepted.split(","):
        language = part.partition(";")[0].strip().partition("-")[0].lower()
        if language in LANGUAGES:
            return language
    return "en"
