r"""Translate the program's texts: each is matched with the form of a sentence in the catalogue.

A line of a catalogue is an English form, a tab, and the same in another language. In the English form ``{}`` stands for
what varies; in the other one ``{0}`` is the first such part as it is, ``{0:t}`` translated, ``{0:n}`` a number as the
language writes it, ``{0:l}`` a list of names, which may end with how many more there are, ``{0:w}`` a list of words,
each translated. ``\n`` is the end of a line, ``{{`` a brace. ``-`` says that something is code in every language.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Final, NamedTuple

LANGUAGES: Final[Mapping[str, str]] = {"en": "English", "de": "Deutsch"}
"""What the program speaks, and how each language calls itself; all but English have a catalogue in ``data``."""

_LANGUAGE_VARIABLE: Final = "HUSHTABLE_LANGUAGE"
_AND_WORDS: Final = {"de": "und"}
_MORE_WORDS: Final = {"de": "weitere"}
_NUMBER: Final = re.compile(
    r"(?<![\w.,])-?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d+(?=%))(?:e[-+]?\d+)?%?(?!\w|[.,]\d)"
)
# A number that may fill a place, also with a percent sign.
_ONE_NUMBER: Final = r"-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?: ?%)?|-?inf|nan"
_SWAPPED_MARKS: Final = str.maketrans(",.", ".,")
# Text before a sentence that is not part of it: spaces, marks of lists and comments, a warning.
_SENTENCE_LEAD: Final = re.compile(r"(?P<lead>(?:\s|[#*-]+\s)*)(?:(?P<kind>careful|Hint): )?")
_SENTENCE_END: Final = re.compile(r"(?<=[.;:!?])(\s+)(?=\S)")

_chosen: ContextVar[str | None] = ContextVar("language", default=None)


def current_language() -> str:
    """Return the chosen language, else that of the environment (``HUSHTABLE_LANGUAGE``), else English."""
    chosen = _chosen.get() or os.environ.get(_LANGUAGE_VARIABLE, "")[:2].lower()
    return chosen if chosen in LANGUAGES else "en"


def set_language(language: str) -> None:
    """Set the language of all further texts; an unknown one means English."""
    _chosen.set(language)


@contextmanager
def use_language(language: str) -> Iterator[None]:
    """Set a language for the body of a ``with``."""
    token = _chosen.set(language)
    try:
        yield
    finally:
        _chosen.reset(token)


def choose_language(accepted: str) -> str:
    """Return the first known language of an ``Accept-Language`` header."""
    for part in accepted.split(","):
        language = part.partition(";")[0].strip().partition("-")[0].lower()
        if language in LANGUAGES:
            return language
    return "en"


def translate(text: str, language: str | None = None) -> str:
    """Translate a text into a language; without a form in the catalogue, it stays as it is.

    Parameters
    ----------
    text : str
        Of one or more sentences and lines.
    language : str, optional
        The current one when not given.

    Examples
    --------
    >>> translate("5 records are suppressed, the table has 1,234.", "de")
    '5 records are suppressed, the table has 1,234.'
    >>> translate("  careful: Column to predict", "de")
    '  Achtung: Spalte, die vorhergesagt wird'
    """
    language = language or current_language()
    if language == "en" or not text:
        return text
    return "\n".join(_translate_line(line, _read_catalogue(language)) for line in text.split("\n"))


def _translate_line(line: str, catalogue: Catalogue) -> str:
    begin = _SENTENCE_LEAD.match(line)
    assert begin is not None
    lead, kind = begin["lead"], begin["kind"]
    body = line[begin.end() :].rstrip()
    translated_lead = f"{lead}{catalogue.fixed.get(kind, kind)}: " if kind else lead
    return translated_lead + catalogue.translate(body) + line[begin.end() + len(body) :] if body else line


@dataclass(frozen=True, slots=True)
class SentenceForm:
    """A sentence with places that vary.

    Attributes
    ----------
    begins, ends : str
        What stands before the first and behind the last place.
    pattern : str
        A regular expression with a group for each place.
    pieces : tuple of (str, str or None, str)
        The translation: words, and behind them which place, read in which way.
    n_letters : int
        Of the English form.
    """

    begins: str
    ends: str
    pattern: str
    pieces: tuple[tuple[str, str | None, str], ...]
    n_letters: int

    @classmethod
    def from_line(cls, english: str, translated: str) -> SentenceForm:
        """Build a form from a line of a catalogue."""
        pieces = tuple((literal, place, kind or "") for literal, place, kind, _ in Formatter().parse(translated))
        kinds = {place: kind for _, place, kind in pieces if place is not None}
        parts = list(Formatter().parse(english))
        pattern, n_places = "", 0
        for literal, slot, _, _ in parts:
            pattern += re.escape(literal)
            if slot is not None:
                pattern += f"({_ONE_NUMBER if kinds.get(str(n_places)) == 'n' else '.*?'})"
                n_places += 1
        ends = parts[-1][0] if parts[-1][1] is None else ""
        return cls(parts[0][0], ends, pattern, pieces, sum(count_letters(literal) for literal, _, _, _ in parts))


class TranslatedText(NamedTuple):
    """A translation, and how many letters of the text the catalogue knows."""

    translation: str
    n_known_letters: int


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The sentences of a language, by their English forms.

    Attributes
    ----------
    language : str
    fixed : mapping of str to str
        What has no places.
    forms : sequence of SentenceForm
        Those with most letters first: of several that a text has, the one that says most about it is taken.
    """

    language: str
    fixed: Mapping[str, str]
    forms: Sequence[SentenceForm] = field(repr=False)

    def translate(self, text: str) -> str:
        """Translate one or several sentences; unknown parts stay."""
        return self._translate_sentence(text).translation

    def _translate_sentence(self, text: str) -> TranslatedText:
        if text in self.fixed:
            return TranslatedText(self.fixed[text], count_letters(text))
        if not count_letters(text) or _NUMBER.fullmatch(text):
            return TranslatedText(_NUMBER.sub(_swap_marks, text), 0)
        readings = [*self._translate_by_forms(text), *self._translate_by_sentences(text)]
        return max(readings, key=lambda each: each.n_known_letters, default=TranslatedText(text, 0))

    def _translate_by_forms(self, text: str) -> Iterator[TranslatedText]:
        """Translate a text by the first form that fits, and by the first one whose places hold no end of a sentence.

        Of those whose places do, one that begins with words of its own is tried, too: it is about the whole text.
        """
        tried = set[bool]()
        for form in self.forms:
            if not (text.startswith(form.begins) and text.endswith(form.ends)):
                continue
            matched = _compile_pattern(form.pattern).fullmatch(text)
            if matched is None:
                continue
            if not any(map(_SENTENCE_END.search, matched.groups())):
                yield self._fill_form(form, matched)
                return
            if not tried or (form.begins and True not in tried):
                yield self._fill_form(form, matched)
                tried.add(bool(form.begins))

    def _translate_by_sentences(self, text: str) -> Iterator[TranslatedText]:
        """Translate a text sentence by sentence, and as a single one without its final mark."""
        parts = _SENTENCE_END.split(text)
        if len(parts) > 1:
            readings = [
                TranslatedText(part, 0) if place % 2 else self._translate_sentence(part)
                for place, part in enumerate(parts)
            ]
            yield TranslatedText(
                "".join(each.translation for each in readings), sum(each.n_known_letters for each in readings)
            )
        if text[-1:] in (".", ";", ":"):
            translation, n_known = self._translate_sentence(text[:-1])
            yield TranslatedText(translation + text[-1], n_known)

    def _fill_form(self, form: SentenceForm, found: re.Match[str]) -> TranslatedText:
        translation, n_known = "", form.n_letters
        for literal, place, kind in form.pieces:
            words = "" if place is None else found[int(place) + 1]
            if kind == "t":
                reading = self._translate_sentence(words)
                n_known += reading.n_known_letters
                words = reading.translation if reading.n_known_letters else _NUMBER.sub(_swap_marks, words)
            elif kind == "l":
                words = self._translate_names(words)
            elif kind == "w":
                words = self._translate_names(", ".join(self._read_last(each) for each in words.split(", ")))
            elif kind == "n":
                words = _NUMBER.sub(_swap_marks, words)
            translation += literal + words
        return TranslatedText(translation, n_known)

    def _read_last(self, words: str) -> str:
        """Translate the words of a list, whose last entry may join two."""
        return " and ".join(self._translate_sentence(each).translation for each in words.split(" and "))

    def _translate_names(self, names: str) -> str:
        """Translate "and" and "more" in a list of names; names are data and stay."""
        leading_names, has_end, last = names.rpartition(" and ")
        if not has_end:
            return names
        more = re.fullmatch(r"(\d[\d,]*) more", last)
        end = f"{more[1].translate(_SWAPPED_MARKS)} {_MORE_WORDS[self.language]}" if more else last
        return f"{leading_names} {_AND_WORDS[self.language]} {end}"


def count_letters(text: str) -> int:
    """Return how many letters a text has."""
    return sum(map(str.isalpha, text))


def _swap_marks(number: re.Match[str]) -> str:
    return number[0].translate(_SWAPPED_MARKS).replace("%", " %")


@cache
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    # Compiled only when needed: compiling all of the thousands of patterns would take longer than a command.
    return re.compile(pattern, re.DOTALL)


@cache
def _read_catalogue(language: str) -> Catalogue:
    text = files("hushtable.wording").joinpath("data", f"{language}.tsv").read_text(encoding="utf-8")
    fixed, forms = {}, list[SentenceForm]()
    # Code is the same in every language.
    entries = {english: translated for english, translated in read_entries(text) if translated not in ("", "-")}
    # Within another sentence a sentence has no mark of its own.
    inner = {
        english[:-1]: translated[:-1]
        for english, translated in entries.items()
        if english.endswith(".") and translated.endswith(".")
    }
    for english, translated in (inner | entries).items():
        if any(place is not None for _, place, _, _ in Formatter().parse(english)):
            forms.append(SentenceForm.from_line(english, translated))
        else:
            fixed[english.format()] = translated.format()
    return Catalogue(language, fixed, sorted(forms, key=lambda each: (-each.n_letters, -len(each.pattern))))


def read_entries(text: str) -> Iterator[tuple[str, str]]:
    """Yield the English and the translated form of every line of a catalogue, without comments."""
    for line in text.split("\n"):
        english, _, translated = line.partition("\t")
        if english and not english.startswith("#"):
            yield english.replace("\\n", "\n"), translated.replace("\\n", "\n")
