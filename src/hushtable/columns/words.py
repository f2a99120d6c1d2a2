"""The words that releases write into cells, in several languages: English unless a policy says otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from hushtable.errors import InputError, listed, with_hint

__all__ = ["ENGLISH", "LANGUAGES", "CellWords", "check_language", "words_of"]


class CellWords(NamedTuple):
    """What names groups of values, each with places to fill in."""

    one_more: str
    more: str
    others: str
    numbered: str
    other: str

    def group(self, text: str, n_values: int) -> str:
        """Name a group of at least two values by one of them."""
        return self.one_more.format(text) if n_values == 2 else self.more.format(text, n_values - 1)

    def unnamed(self, number: int | None, n_values: int) -> str:
        """Name a group of values none of which may be named; with a letter where there are several."""
        if number is None:
            return self.others.format(n_values)
        letters = ""
        while number >= 0:
            letters, number = chr(ord("A") + number % 26) + letters, number // 26 - 1
        return self.numbered.format(letters, n_values)


ENGLISH: Final = "en"
_WORDS: Final[Mapping[str, CellWords]] = MappingProxyType(
    {
        "en": CellWords("{} and 1 more", "{} and {} more", "other ({} values)", "other {} ({} values)", "other"),
        "de": CellWords(
            "{} und 1 weiterer", "{} und {} weitere", "andere ({} Werte)", "andere {} ({} Werte)", "andere"
        ),
        "fr": CellWords("{} et 1 autre", "{} et {} autres", "autres ({} valeurs)", "autres {} ({} valeurs)", "autre"),
        "es": CellWords("{} y 1 más", "{} y {} más", "otros ({} valores)", "otros {} ({} valores)", "otro"),
        "it": CellWords("{} e 1 altro", "{} e altri {}", "altri ({} valori)", "altri {} ({} valori)", "altro"),
        "nl": CellWords(
            "{} en 1 andere", "{} en {} andere", "overige ({} waarden)", "overige {} ({} waarden)", "overig"
        ),
    }
)
LANGUAGES: Final = tuple(_WORDS)


def check_language(language: object) -> None:
    """Raise InputError where no words are known of a language."""
    if language not in LANGUAGES:
        msg = with_hint(f"language = {language!r}.", f"cells are written in one of: {listed(LANGUAGES)}.")
        raise InputError(msg)


def words_of(language: str) -> CellWords:
    """Return the words of a language."""
    return _WORDS[language]
