"""Bytes of text files to text: how a file is encoded, and a file decoded whole or piece by piece."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import itertools
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

import numpy as np

from hushtable.errors import InputError

_HEAD_BYTES: Final = 1_000_000  # bytes looked at for the encoding
_PIECE_BYTES: Final = 1 << 23  # bytes that are read at a time: larger pieces leave the cache and are slower
_MAX_MARK_BYTES: Final = 4  # bytes of the longest byte order mark, which is never cut
_ENCODINGS_TO_GUESS: Final = ("cp1252", "gb18030", "big5", "cp932")
"""Tried where a text is not UTF-8. Others, which western letters would pass for, are to be named."""
_MOST_WORDS: Final = 5_000
_CLEAR_SHARE: Final = 0.95  # share of the words; a text in a third encoding has words that mac-roman cannot spell
_RAW_WORD: Final = re.compile(rb"[A-Za-z\x80-\xff]+")
_ASCII_LETTER: Final = re.compile(rb"[A-Za-z]")
_CAPITALS: Final = "À-ÖØ-ÞŒŠŽŸ"
_SMALL_LETTERS: Final = "ß-öø-ÿœšžªºµ"
_LETTERS: Final = f"[A-Za-z{_CAPITALS}{_SMALL_LETTERS}]+"
_SIGNS: Final = r"(?:[^\w\ufffd]|[¹²³¼½¾])*"
_WORD: Final = re.compile(f"{_SIGNS}{_LETTERS}(?:[’‘–—]{_LETTERS})*{_SIGNS}")
_ODD_CASE: Final = re.compile(
    f"[a-z{_SMALL_LETTERS}][{_CAPITALS}]|[A-Z][{_CAPITALS}][a-z{_SMALL_LETTERS}]|[A-Z][{_SMALL_LETTERS}][A-Z]"
)


def read_text(path: Path, encoding: str | None = None, most_bytes: int = -1) -> str:
    """Read a text file in any encoding of tables; at most ``most_bytes`` bytes of it."""
    with path.open("rb") as file:
        raw = file.read(most_bytes)
    # Who gives a limit refuses what comes to it, and a letter may be cut there.
    return raw.decode("latin-1") if len(raw) == most_bytes else decode_text(path, raw, encoding)


def decode_text(path: Path, raw: bytes, encoding: str | None = None) -> str:
    """Decode bytes as text, with every line end a newline."""
    text = as_utf8(path, raw, encoding)[0].decode()
    return text.replace("\r\n", "\n").replace("\r", "\n")


def as_utf8(path: Path, raw: bytes, encoding: str | None) -> tuple[bytes, str]:
    """Return the text of a file in UTF-8 without a mark, and its encoding."""
    if ("utf-8" if encoding is None else encoding).lower() == "utf-8" and _is_utf8(raw):
        while raw.startswith(codecs.BOM_UTF8):
            raw = raw[len(codecs.BOM_UTF8) :]
        return raw, encoding or "utf-8"
    text, encoding = _decode_bytes(path, raw, encoding)
    return text.encode(), encoding


def _is_utf8(raw: bytes) -> bool:
    """Tell whether bytes are UTF-8, without decoding all of them at once (that would take more memory)."""
    if raw.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for begin in range(0, len(raw), _PIECE_BYTES):
            decoder.decode(raw[begin : begin + _PIECE_BYTES])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _decode_bytes(path: Path, raw: bytes, encoding: str | None) -> tuple[str, str]:
    """Return the text of a file, and its encoding."""
    encoding = _find_encoding(raw) if encoding is None else encoding
    bom = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
    try:
        # Remove the mark: polars would skip it, but the check of the bytes would not.
        text = raw[len(bom) :].decode(encoding).lstrip("\ufeff")
        # Some encodings can spell half a character, which UTF-8 cannot.
        text.encode()
    except (LookupError, ValueError) as error:
        if isinstance(error, UnicodeDecodeError):
            at = len(bom) + error.start
            raise InputError(
                f"byte {at} of {str(path)!r} is not {encoding} (line {raw.count(10, 0, at) + 1}).",
                hint="pass the file's encoding, for instance latin-1, cp1252 or utf-16.",
            ) from None
        raise _no_encoding(encoding) from None
    return text, encoding


def _no_encoding(encoding: str) -> InputError:
    return InputError(
        f"unknown encoding {encoding!r}, or not the file's.",
        hint="use a name such as utf-8, latin-1, cp1252 or utf-16.",
    )


def _find_encoding(raw: bytes) -> str:
    """Find the encoding of a text: by its mark, UTF-8 if it fits, else by the letters that it would hold."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        # Only bytes beyond ASCII tell the encoding; they may begin late.
        start = raw.rfind(b"\n", 0, error.start) + 1
        return _guess_encoding(raw[start : start + _HEAD_BYTES])
    return "utf-8"


def _guess_encoding(raw: bytes) -> str:
    is_high = np.frombuffer(raw, dtype=np.uint8) > 127
    is_alone = is_high & ~np.append(is_high[1:], False) & ~np.append(False, is_high[:-1])
    # In western words, letters beyond ASCII stand alone; in East Asian texts, they come in rows of two bytes each.
    if 2 * is_alone.sum() > is_high.sum():
        return _guess_western(raw)
    # Few files are guessed, and a command loads what it runs.
    import charset_normalizer

    guess = charset_normalizer.from_bytes(raw, cp_isolation=list(_ENCODINGS_TO_GUESS)).best()
    return _guess_western(raw) if guess is None or guess.encoding == "cp1252" else guess.encoding


def _guess_western(raw: bytes) -> str:
    """Return mac-roman or cp1252, whichever spells more words; cp1252 if both spell as many."""
    # Words of ASCII alone are the same in both, and signs alone are no words.
    mixed = (word for word in _RAW_WORD.findall(raw) if not word.isascii() and _ASCII_LETTER.search(word))
    words = list(itertools.islice(dict.fromkeys(mixed), _MOST_WORDS))
    n_windows = sum(_is_word(word.decode("cp1252", "replace")) for word in words)
    n_mac = sum(_is_word(word.decode("mac_roman")) for word in words)
    return "mac_roman" if n_mac > max(n_windows, _CLEAR_SHARE * len(words)) else "cp1252"


def _is_word(text: str) -> bool:
    """Tell whether a text is a word of western letters: signs at its ends only, no capital as in ``MŸller``."""
    return _WORD.fullmatch(text) is not None and _ODD_CASE.search(text) is None


def decode_pieces(path: Path, encoding: str) -> Iterator[str]:
    """Decode a file piece by piece."""
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
    except LookupError:
        raise _no_encoding(encoding) from None
    n_lines, is_first = 1, True
    with _open_or_unzip(path) as file:
        while True:
            raw = file.read(max(_PIECE_BYTES, _MAX_MARK_BYTES))
            start = len(codecs.BOM_UTF8) if is_first and raw.startswith(codecs.BOM_UTF8) else 0
            try:
                text = decoder.decode(raw[start:], final=not raw)
                text.encode()
            except ValueError as error:
                if not isinstance(error, UnicodeDecodeError):
                    raise _no_encoding(encoding) from None
                line = n_lines + error.object.count(10, 0, error.start)
                raise InputError(
                    f"line {line} of {str(path)!r} is not {encoding}.",
                    hint="pass the file's encoding, for instance latin-1, cp1252 or utf-16.",
                ) from None
            n_lines += text.count("\n")
            yield text.lstrip("\ufeff") if is_first else text
            is_first = False
            if not raw:
                return


def encoding_of(path: Path) -> str:
    """Find the encoding of a file, as `_find_encoding` does for its bytes."""
    decoder, is_first = codecs.getincrementaldecoder("utf-8")(), True
    with _open_or_unzip(path) as file:
        while True:
            raw = file.read(max(_PIECE_BYTES, _MAX_MARK_BYTES))
            if is_first and raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                return "utf-16"
            try:
                decoder.decode(raw, final=not raw)
            except UnicodeDecodeError:
                # The piece may begin within a character.
                return _find_encoding(raw if is_first else raw[raw.find(b"\n") + 1 :])
            if not raw:
                return "utf-8"
            is_first = False


@contextlib.contextmanager
def _open_or_unzip(path: Path) -> Iterator[IO[bytes]]:
    with path.open("rb") as file:
        is_gzip = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        with open_gzip(path, file) if is_gzip else contextlib.nullcontext(file) as text:
            yield text


@contextlib.contextmanager
def open_gzip(path: Path, raw: IO[bytes]) -> Iterator[IO[bytes]]:
    """Open a gzip file; InputError if it is not gzip or damaged, also while it is read."""
    try:
        with gzip.open(raw) as text:
            yield text  # type: ignore[misc]  # of bytes, as it reads them
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InputError(
            f"{str(path)!r} is not gzip, or was cut off or damaged.", hint="compress it anew, or unpack it."
        ) from None
