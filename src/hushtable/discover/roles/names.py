"""What the name of a column says: known words in it, in several languages, and words of the user's own.

Topics and their lists of words and values are data files with their origin on top. A line of a list: words or values
with commas between them, a tab, the topic.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple, cast, get_args

from hushtable.columns import Role, fold_text
from hushtable.errors import InputError, check_type
from hushtable.io import read_text


@dataclass(frozen=True, slots=True)
class Topic:
    """What a column is about."""

    name: str
    role: Role  # What it is in a table of persons. "quasi-identifier" and "other" are settled by the score.
    knowability: float  # how probably somebody outside knows its value of a person, in [0, 1]
    known_by: str
    # How far such a column says that rows are persons: 1 suffices, less counts together, below 0 speaks of things
    persons: float
    text: str  # what it is, for reasons
    rank: int  # its place in the file: the most careful first


def read_data_file(name: str) -> str:
    """Return the text of a data file of this package."""
    return resources.files(__package__).joinpath("data", name).read_text(encoding="utf-8")


@cache
def topics_by_name() -> Mapping[str, Topic]:
    """Return every topic by its name."""
    topics: dict[str, Topic] = {}
    for _, (name, role, knowability, known_by, persons, text) in parse_lines(read_data_file("topics.tsv")):
        topics[name] = Topic(name, cast(Role, role), float(knowability), known_by, float(persons), text, len(topics))
    return MappingProxyType(topics)


def parse_entries(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield every word or value of a list with its line and its topic; a line without a topic has "" for it."""
    for line, (words, *topic) in parse_lines(text):
        for word in words.split(","):
            yield line, word.strip(), topic[0].strip() if len(topic) == 1 else ""


def parse_lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield every line of a list that is no comment, with its number and its fields."""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            yield number, line.split("\t")


_CAMEL: Final = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_TOKEN: Final = re.compile(r"[\u3400-\u9fff]+|[^\W\d\u3400-\u9fff]+|\d+")
_CHINESE: Final = re.compile(r"[\u3400-\u9fff]+")
_UMLAUT: Final = re.compile(r"([aou])e")
_COMPOUND_LINKS: Final = ("", "s", "n", "en", "es", "er", "e")
_MAX_COMPOUND_CHARACTERS: Final = 40
_MIN_PART_CHARACTERS: Final = 3
_SHORT_PARTS: Final = ("id", "nr")
_MAX_TOKENS_PER_WORD: Final = 6

# Words that only say of which column, person or value they speak, where another topic stands beside them.
_QUALIFYING_TOPICS: Final = ("number", "name", "person", "key")

Fits = Callable[[str], bool]


class Said(NamedTuple):
    """What a name says."""

    topic: Topic | None
    word: str = ""  # the known word, as the name has it
    # Nothing at all is said, as by ``v1`` or ``column``; else unknown words may mean something
    is_generic: bool = False
    is_own: bool = False  # A word of the user's says so


def topic_of_name(name: str) -> str | None:
    """Return what a column is about by its name alone, such as "birth" or "age"; None if it says nothing."""
    meaning = interpret_name(name, build_lexicon(), lambda _: True)
    return None if meaning.topic is None else meaning.topic.name


def names_birth(name: str) -> bool:
    """Tell whether a column is one of births by its name."""
    return topic_of_name(name) == "birth"


def is_of_known_words(name: str) -> bool:
    """Tell whether a name consists of known words alone, so that it holds no value of a person."""
    words = list(_split_name(name, build_lexicon()))
    return bool(words) and all(claims for _, claims in words)


class _NameClaim(NamedTuple):
    topic: Topic
    needs_cells: bool
    is_own: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """Known words, without spaces, and those that are also known as the end of a longer word."""

    words: Mapping[str, tuple[_NameClaim, ...]]
    endings: Mapping[str, tuple[_NameClaim, ...]]

    def claims_of(self, word: str) -> tuple[_NameClaim, ...]:
        """Return what a word says; umlauts may be spelled out."""
        return self.words.get(word) or self.words.get(_UMLAUT.sub(r"\1", word), ())


def build_lexicon(words: str | os.PathLike[str] | Mapping[str, str] | None = None) -> Lexicon:
    """Return the built-in words, and before them the user's own: a mapping to a topic or role, or a file of lists.

    Parameters
    ----------
    words : path or mapping, optional
        Of words to a topic of `topics_by_name` or to a role. A file has lines of words with commas between them, a tab,
        and the topic or role; lines that begin with ``#`` are skipped.

    Raises
    ------
    InputError
        The file cannot be read, or a word has no such topic or role.
    """
    if words is None:
        return _default_lexicon()
    own: dict[str, tuple[_NameClaim, ...]] = {}
    for where, word, topic in _own_entries(words):
        if _lookup_key(word) and topic not in _own_topics():
            known = ", ".join((*get_args(Role), *topics_by_name()))
            raise InputError(
                f"{where} has {topic!r} for a topic or role.", hint=f"write `word<TAB>topic`, one of {known}."
            )
        own[_lookup_key(word)] = (_NameClaim(_own_topics()[topic], needs_cells=False, is_own=True),)
    built_in = _default_lexicon()
    return Lexicon({**built_in.words, **own}, built_in.endings)


def interpret_name(name: str, lexicon: Lexicon, fits: Fits) -> Said:
    """Interpret a column's name; `fits` tells whether its cells agree with a topic, where a word has several."""
    hits: list[tuple[str, _NameClaim]] = []
    is_generic = True
    for word, claims in _split_name(name, lexicon):
        claim = next((each for each in claims if not each.needs_cells or fits(each.topic.name)), None)
        if claim is not None and claim.topic.name != "filler":
            hits.append((word, claim))
        # A single letter or a number beside it is a variable's name.
        is_generic &= claim is not None or word.isdigit() or len(word) == 1
    own = [hit for hit in hits if hit[1].is_own]
    return _choose_topic(own or hits, is_generic)


def _choose_topic(hits: list[tuple[str, _NameClaim]], is_generic: bool) -> Said:
    """Choose among the topics of a name: the most careful, of those that say what the column is about."""
    topic_names = {claim.topic.name for _, claim in hits}
    if "name" in topic_names and topic_names <= {"name", "person", "family"} and len(topic_names) > 1:
        return Said(topics_by_name()["person name"], next(word for word, claim in hits if claim.topic.name == "name"))
    if "person" in topic_names and topic_names <= {"person", "number", "key"} and not is_generic:
        return Said(None)
    about = [hit for hit in hits if hit[1].topic.name not in _QUALIFYING_TOPICS]
    if not about and "person" in topic_names:
        about = [hit for hit in hits if hit[1].topic.name == "person"]
    if not (about or hits):
        return Said(None, is_generic=is_generic)
    word, claim = min(about or hits, key=lambda hit: hit[1].topic.rank)
    return Said(claim.topic, word, is_own=claim.is_own)


def _split_name(name: str, lexicon: Lexicon) -> Iterator[tuple[str, tuple[_NameClaim, ...]]]:
    """Split a name into its longest known words; what is unknown claims nothing."""
    tokens = _TOKEN.findall(fold_text(_CAMEL.sub(" ", name)))
    start = 0
    while start < len(tokens):
        for end in range(min(len(tokens), start + _MAX_TOKENS_PER_WORD), start, -1):
            if claims := lexicon.claims_of("".join(tokens[start:end])):
                yield " ".join(tokens[start:end]), claims
                start = end
                break
        else:
            yield from _split_token(tokens[start], lexicon)
            start += 1


def _split_token(token: str, lexicon: Lexicon) -> Iterator[tuple[str, tuple[_NameClaim, ...]]]:
    """Split a token that is no known word: Chinese by its longest words, others as compounds of known ones."""
    if _CHINESE.fullmatch(token):
        yield from _split_chinese(token, lexicon)
        return
    parts = _split_compound(token, lexicon) if len(token) <= _MAX_COMPOUND_CHARACTERS else None
    if parts is not None:
        yield from ((part, lexicon.claims_of(part)) for part in parts)
        return
    for start in range(1, len(token)):
        if claims := lexicon.endings.get(token[start:]):
            yield token[start:], claims
            return
    yield token, ()


def _split_chinese(token: str, lexicon: Lexicon) -> Iterator[tuple[str, tuple[_NameClaim, ...]]]:
    start = 0
    while start < len(token):
        longest = next((end for end in range(len(token), start, -1) if token[start:end] in lexicon.words), start + 1)
        yield token[start:longest], lexicon.words.get(token[start:longest], ())
        start = longest


def _split_compound(token: str, lexicon: Lexicon) -> list[str] | None:
    """Return the known words that a token is made of, as few as possible, with a link between them at most."""
    best: list[list[str] | None] = [[]] + [None] * len(token)
    for start in range(len(token)):
        before = best[start]
        if before is None:
            continue
        for end in range(start + 1, len(token) + 1):
            part = token[start:end]
            is_last = start > 0 and end == len(token)
            if not lexicon.claims_of(part) or (
                len(part) < _MIN_PART_CHARACTERS and not (is_last and part in _SHORT_PARTS)
            ):
                continue
            for link in _COMPOUND_LINKS:
                after = end + len(link)
                if token[end:after] != link or (link and end - start <= _MIN_PART_CHARACTERS):
                    continue
                rival = best[after]
                if rival is None or len(rival) > len(before) + 1:
                    best[after] = [*before, part]
    return best[-1]


@cache
def _default_lexicon() -> Lexicon:
    words: dict[str, tuple[_NameClaim, ...]] = {}
    endings: dict[str, tuple[_NameClaim, ...]] = {}
    for _, entry, topic in parse_entries(read_data_file("words.tsv")):
        claim = _NameClaim(topics_by_name()[topic], needs_cells=entry.endswith("?"))
        target = endings if entry.startswith("*") else words
        others = [each for each in target.get(_lookup_key(entry), ()) if each.topic != claim.topic]
        target[_lookup_key(entry)] = tuple(
            sorted([*others, claim], key=lambda each: (not each.needs_cells, each.topic.rank))
        )
    return Lexicon(words, endings)


@cache
def _own_topics() -> Mapping[str, Topic]:
    """Return every topic by its name, and one for each role."""
    roles = {
        role: Topic(role, role, 0.9 if role == "quasi-identifier" else 0.0, "unclear", 0.0, f"declared as {role}", -1)
        for role in get_args(Role)
    }
    return {**roles, **topics_by_name()}


def _own_entries(words: str | os.PathLike[str] | Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    if isinstance(words, Mapping):
        for word, topic in words.items():
            yield f"words[{word!r}]", str(word), str(topic)
        return
    check_type(words, (str, os.PathLike), "words", '{"wiek": "age"}')
    path = Path(words)
    try:
        text = read_text(path)
    except OSError:
        raise InputError(f"the words file {str(path)!r} cannot be read.", hint="pass a text file.") from None
    for line, word, topic in parse_entries(text):
        yield f"line {line} of {path.name}", word, topic


def _lookup_key(word: str) -> str:
    return fold_text(word).replace(" ", "")
