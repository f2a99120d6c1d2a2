"""Find cells of kept columns that name people: identifiers of their record, addresses, phone numbers, titles.

A column of text may name people in the middle of a sentence, whatever role it has. Four things are looked for:

- a word or number that an identifier column holds in the same record;
- an e-mail address;
- a telephone number: with a country's or an area's prefix, or behind a word such as "Tel.";
- a title and a capitalised word behind it: "Frau Meier", "Dr. Lang", "Mme Curie", "王先生".

Nothing else is read: a bare name that no identifier column holds cannot be told from any other word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import reduce
from operator import add
from typing import Final

import narwhals as nw
import numpy as np
import polars as pl

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.columns import cell_codes
from hushtable.errors import ColumnError
from hushtable.io import Frame
from hushtable.kernels import group
from hushtable.tables import Table

_RECORDS_PER_BATCH: Final = 200_000  # records whose words are held
_CELLS_IN_SAMPLE: Final = 1_000  # cells that tell whether a column repeats
_MAX_WORD_SHARE: Final = 0.6  # of the records: a word that so many identifiers have says nothing of one of them
_MAX_RARE_WORD_COUNT: Final = 10

_MAIL: Final = r"[\w.+%\-]+@[\w\-]+(?:\.[\w\-]+)*\.\p{L}{2,}"

_TITLES: Final = (
    *("Frau", "FRAU", "Herrn?", "HERRN?", "Hr", r"Fr\.", "Dr", "DR", "Dres", "Prof", "PROF"),
    *("Mr", "MR", "Mrs", "MRS", "Ms", "Miss", "Mx"),
    *("Monsieur", "MONSIEUR", "Madame", "MADAME", "Mademoiselle", "Mme", "MME", "Mlle", r"M\.", "Docteur"),
    *("Señor", "Señora", "Señorita", "Sr", "Sra", "SRA", "Srta", "Doña", r"Sig\.", r"Sig\.ra", "Signora?"),
    *(r"Dott\.", r"Dott\.ssa"),
)
_TITLE: Final = rf"(?:{'|'.join(_TITLES)})\.?"
_BETWEEN: Final = (
    rf"(?:{_TITLE}|med\.|dent\.|vet\.|rer\.|nat\.|phil\.|jur\.|pol\.|h\.c\.|habil\.|Professor(?:in)?|Doktor|Doctor"
    r"|und|and|et|y|e|&|von|vom|zu|zur|van|de|der|den|del|della|di|da|du|la|le|el|al|bin|ibn)"
)
_NAMED_FAST: Final = rf"(?:^|[^\w.]){_TITLE}\s+(?:{_BETWEEN}\s+)*(?:\p{{Lu}}\.\s*)*\p{{Lu}}[\p{{L}}'’\-]"
_LETTER: Final = r"[^\W\d_]"
_NAMED_EXACT: Final = re.compile(
    rf"(?<![\w.])({_TITLE})\s+(?:{_BETWEEN}\s+)*(?:{_LETTER}\.\s*)*({_LETTER}(?:{_LETTER}|['’\-])*{_LETTER})"
)
_HAN_NAMES: Final = (
    "王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡林郭何高梁郑鄭罗羅宋谢謝唐韩韓曹许許邓鄧萧蕭冯馮曾程蔡彭潘袁"
    "董余苏蘇叶葉吕呂魏蒋蔣田杜丁沈姜范江傅钟鐘卢盧汪戴崔陆陸廖姚方邱夏谭譚韦韋贾賈邹鄒石熊孟秦阎閻薛侯雷龙龍段郝"
    "孔邵史毛顾顧赖賴武康贺賀严嚴尹钱錢施洪龚龔"
)
_HAN_TITLE: Final = (
    rf"[{_HAN_NAMES}](?:先生|女士|小姐|太太)|(?:^|[^\p{{Han}}])[{_HAN_NAMES}](?:医生|醫生|大夫|教授|老师|老師)"
)
# Behind these no name stands: ranks, illnesses called after somebody, days.
_NO_NAME: Final = re.compile(
    r"manager|engineer|developer|analyst|director|consultant|associate|scientist|vice|vp|president|"
    r"executive|officer|specialist|accounts?|project|product|program|programmer|software|data|systems?|"
    r"business|sales|staff|technical|technician|research(?:er)?|accountant|administrator|architect|lead|"
    r"designer|nurse|secondary|high|school|citizens?|specialty|services?|teacher|lecturer|editor|buyer|"
    r"clerk|supervisor|coordinator|advis[eo]r|marketing|finance|financial|network|security|it|hr|qa|ui|ux|"
    r"operations|operator|medical|clinical|legal|human|assistant|inspector|investigator|recruiter|writer|"
    r"planner|partner|"
    r"crohn|parkinson|alzheimer|bechterew|scheuermann|basedow|hodgkin|meni[eè]re|whipple|paget|boeck|"
    r"dupuytren|perthes|sudeck|addison|cushing|wilson|fabry|gaucher|pompe|osler|waldenström|raynaud|still|"
    r"behçet|behcet|ledderhose|schlatter|osgood|werlhof|biermer|bowen|kahler|haglund|ormond|huntington|"
    r"mo|di|mi|do|fr|sa|so|vormittag|nachmittag|abend|morgen|mittag|nacht|uhr|"
    r"take|apply|use|one|two|doktor|professor|doctor"
)

_CALL: Final = (
    r"(?:\b(?:[Tt]el|TEL|[Tt]elefon\w*|[Ff]on|[Pp]hone|[Mm]obile?|[Hh]andy\w*|[Ff]ax|[Tt]él\w*|[Tt]el[eé]f\w*|[Tt]fno"
    r"|[Mm][oó]vil|[Cc]all)\b|电话|電話|手机|手機)"
)
_PHONE_FAST: Final = (
    r"(?:\+|\b00)[1-9]|\(\d{3}\)|\b0\d{2,4}[ )/\-]|\b0[1-9](?:[ .\-]\d{2}){4}|\d{3}[.\-]\d{3}[.\-]\d{4}|" + _CALL
)
_DIGIT_RUN: Final = re.compile(r"[+(]?\d(?:[ ()/.\-]{0,3}\d)+")
_SPOKEN: Final = re.compile(
    _CALL + r"[^\w+(]{0,4}(?:(?:[Nn]r|[Nn]o|[Nn]um(?:ber|mer|ero|éro)?|号码?|號碼?)[^\w+(]{0,3})?$"
)
_ABROAD: Final = re.compile(r"(?:\+|00)[1-9]\d{0,2}(?:[ ()/.\-]{1,3}\d+)+|\+[1-9]\d{8,14}")
_AMERICAN: Final = re.compile(r"(?:1[ .\-])?(?:\(\d{3}\) ?|\d{3}[.\-])\d{3}[.\-]\d{4}")
_BRACKETED: Final = re.compile(r"\(\d{3}\) ?\d{3}[ .\-]\d{4}")
_AREA: Final = re.compile(r"\(?0[1-9]\d{1,4}\)?(?: ?[/\-] ?| )\d{3,8}(?:[ \-]\d{1,5})*")
_PAIRS: Final = re.compile(r"0[1-9](?:([ .\-])\d{2})(?:\1\d{2}){3}")
_MIN_SPOKEN_DIGITS: Final = 5  # digits
_PHONE_DIGITS_RANGE: Final = (9, 15)
_CODE_SEPARATORS: Final = ("-", "/", ".", ",", "_", "#")  # what stands behind them is the rest of a code

_WORD: Final = r"\p{L}[\p{L}\p{M}\p{N}]{2,}|\p{N}[\p{L}\p{N}]{4,}"
_CAPITAL: Final = r"\b\p{Lu}[\p{L}\p{M}\p{N}]{2,}|\b\p{N}[\p{L}\p{N}]{4,}"
_HAN: Final = r"^\p{Han}{2,20}$"
_SENTENCE: Final = r"(?:[^\s]+\s+){2}[^\s]|(?:\p{Han}\P{Han}*){6}"
_TITLE_WORDS: Final = tuple(re.sub(r"\\|\.|\?", "", each).lower() for each in _TITLES)

_TEXT_TYPES: Final = (pl.String, pl.Categorical, pl.Enum)

_MIN_MEAN_CHARACTERS: Final = 25.0  # characters, of the usual cell of prose
_MIN_MEAN_WORDS: Final = 4.0
_MIN_DISTINCT_CELLS: Final = 20  # distinct cells
_MIN_DISTINCT_SHARE: Final = 0.1  # of the records
_MIN_LOWERCASE_SHARE: Final = 0.3  # of the words, those that begin with a small letter


@dataclass(frozen=True, slots=True)
class Named:
    """How many records name people in the cells of a kept column; counts alone, no cell."""

    column: str
    n_records: int  # with at least one of what follows
    n_identified: int  # A word or number that an identifier column holds in the same record
    n_mails: int
    n_phones: int
    n_titles: int  # a title and a capitalised word

    @property
    def what(self) -> str:
        """What was seen, most frequent first."""
        counts = (
            (self.n_identified, "a value of an identifier column"),
            (self.n_mails, "an e-mail address"),
            (self.n_phones, "a telephone number"),
            (self.n_titles, "a title and a name"),
        )
        return ", ".join(f"{n:,} hold {what}" for n, what in sorted(counts, key=lambda each: -each[0]) if n)


def holds_mail(texts: pl.Series) -> pl.Series:
    """Tell which texts hold an e-mail address; a missing one does not."""
    has_sign = texts.str.contains("@", literal=True).fill_null(False)
    return has_sign & texts.str.contains(_MAIL).fill_null(False) if has_sign.any() else has_sign


def holds_phone(texts: pl.Series) -> pl.Series:
    """Tell which texts hold a telephone number; a missing one does not."""
    return _match_twice(texts, _PHONE_FAST, _has_phone)


def holds_title(texts: pl.Series) -> pl.Series:
    """Tell which texts hold a title and a name behind it; a missing one does not."""
    return _match_twice(texts, _NAMED_FAST, _has_title) | texts.str.contains(_HAN_TITLE).fill_null(False)


def is_prose(texts: Sequence[str], counts: CountArray) -> bool:
    """Tell whether the distinct cells of a column are free text, given some of them and the records of all.

    Prose has many distinct cells: 20 or more, and one for ten records or more. They have at least 25 characters and
    four words on average. Three words in ten begin with a small letter: names of places and firms do not. Chinese has
    no blanks between words, and no small letters: ten of its characters are four words.
    """
    if len(counts) < _MIN_DISTINCT_CELLS or len(counts) < _MIN_DISTINCT_SHARE * int(counts.sum()):
        return False
    n_han = sum(len(_HAN_SIGNS.findall(text)) for text in texts)
    length = sum(map(len, texts)) + 1.5 * n_han
    # Numbers and dates are no words; in capitals all letters are alike.
    words = [word for text in texts for word in _LETTERS.findall(text.lower() if text.isupper() else text)]
    n_words, n_small = len(words) + n_han / 2.5, sum(word[0].islower() for word in words) + n_han / 2.5
    is_long = length >= _MIN_MEAN_CHARACTERS * len(texts) and n_words >= _MIN_MEAN_WORDS * len(texts)
    return is_long and n_small >= _MIN_LOWERCASE_SHARE * n_words


_HAN_SIGNS: Final = re.compile(r"[\u3400-\u9fff]")
_LETTERS: Final = re.compile(r"(?<![^\s(\"'„“-])[^\W\d_\u3400-\u9fff][^\W\d_\u3400-\u9fff'’.-]*(?=[\s,.;:!?)\"'“-]|$)")


def has_room_for_names(dtype: pl.DataType) -> bool:
    """Tell whether cells of a type can name people: texts, and what holds texts."""
    return isinstance(dtype, (*_TEXT_TYPES, pl.Binary)) or dtype.is_nested()


def look_for_names(
    source: Frame | Table,
    columns: Sequence[str],
    identifiers: Sequence[str] = (),
    *,
    suppressed: BoolArray | None = None,
    starred: Mapping[str, BoolArray] | None = None,
    codes: Mapping[str, CodeArray] | None = None,
) -> tuple[Named, ...]:
    """Count the published records that name people in kept columns; a column that names nobody is left out.

    `suppressed` rows are not published, `starred` ones publish ``*`` in that column, `codes` are
    `columns.series.cell_codes` where they are known. O(n) per column of text for its distinct cells, then patterns
    over those; other types are not looked at. Identifiers are compared in cells of three words or more alone, row by
    row.
    """
    records = source.records
    if suppressed is not None:
        records = np.where(suppressed, 0, records)
    known_codes = codes or {}
    texts = {name: found for name in columns if (found := _texts_of(source, name, known_codes.get(name))) is not None}
    prose = {name for name, (each, _) in texts.items() if each.str.contains(_SENTENCE).any()}
    owns = [found for name in identifiers if prose and (found := _texts_of(source, name, is_any=True)) is not None]
    own = [_expand_to_rows(*each) for each in owns]
    counts = (
        _count_names(
            name,
            cells,
            places,
            own if name in prose else (),
            np.where(starred[name], 0, records) if starred and name in starred else records,
        )
        for name, (cells, places) in texts.items()
    )
    return tuple(each for each in counts if each.n_records)


def _expand_to_rows(texts: pl.Series, codes: CodeArray) -> pl.Series:
    """Return the text of every row."""
    # The last entry serves the missing cells, which index it as -1.
    return texts.append(pl.Series([None], dtype=pl.String)).gather(np.where(codes < 0, len(texts) - 1, codes))


def _texts_of(
    source: Frame | Table, name: str, codes: CodeArray | None = None, *, is_any: bool = False
) -> tuple[pl.Series, CodeArray] | None:
    """Return the cells of a column as text, and which of them each row holds; None where no name has room in its type.

    They are distinct, unless hardly one repeats: to find out which are equal then takes longer than to look at all.
    """
    if isinstance(source, Table):
        column, positions = source.column(name), source.codes[source.index(name)]
        is_text = is_any or not column.is_measured
        return (pl.Series(column.texts(), dtype=pl.String), positions) if is_text else None
    try:
        cells = source.column(name)
    except ColumnError:
        if source.data.schema[name] not in (nw.Object, nw.String):
            # No table holds such cells: whoever writes them is refused.
            return None
        try:
            # Objects of several types, or halves of surrogate pairs.
            texts = [str(cell).encode(errors="replace").decode() for cell in source.data.get_column(name).to_list()]
        except UnicodeDecodeError:
            return None
        cells = pl.Series(texts, dtype=pl.String)
    if not (is_any or has_room_for_names(cells.dtype)):
        return None
    if (
        codes is None
        and isinstance(cells.dtype, pl.String)
        and cells.head(_CELLS_IN_SAMPLE).n_unique() > _CELLS_IN_SAMPLE / 2
    ):
        return cells, np.arange(len(cells), dtype=np.int32)
    positions = cell_codes(cells) if codes is None else codes
    distinct = cells.gather(group.first_rows(positions, int(positions.max(initial=-1)) + 1))
    if isinstance(cells.dtype, _TEXT_TYPES):
        return distinct.cast(pl.String), positions
    return pl.Series([str(cell) for cell in distinct.to_list()], dtype=pl.String), positions


def sum_name_counts(counted: Iterable[tuple[Named, ...]]) -> tuple[Named, ...]:
    """Add up the counts of several parts of a table; columns come in the order in which they first appear."""
    total: dict[str, Named] = {}
    for each in (named for part in counted for named in part):
        before = total.get(each.column)
        total[each.column] = each if before is None else _add_counts(before, each)
    return tuple(total.values())


def _count_names(name: str, texts: pl.Series, codes: CodeArray, own: Sequence[pl.Series], records: CountArray) -> Named:
    """Count the records that name people in a column of coded cells; identifiers have a text for each row."""
    signs = [each(texts).to_numpy() for each in (holds_mail, holds_phone, holds_title)]
    mail, phone, title = (_expand_flags(each, codes) for each in signs)
    identified = _find_identifiers(texts, codes, own) if own else np.zeros(len(codes), dtype=bool)
    flags = (identified | mail | phone | title, identified, mail, phone, title)
    return Named(name, *(int(records[each].sum()) for each in flags))


def _add_counts(first: Named, second: Named) -> Named:
    column, *counts = astuple(first)
    return Named(column, *map(add, counts, astuple(second)[1:]))


def _expand_flags(is_one: BoolArray, codes: CodeArray) -> BoolArray:
    """Expand flags of distinct cells to rows; False for missing cells, which index them as -1."""
    if not is_one.any():
        return np.zeros(len(codes), dtype=bool)
    return np.append(is_one, False)[codes]


def _match_twice(texts: pl.Series, fast: str, holds: Callable[[str], bool]) -> pl.Series:
    """Tell which texts match a fast pattern and also pass a slower, exact check."""
    likely = texts.str.contains(fast).fill_null(False)
    if not likely.any():
        return likely
    positions = likely.arg_true()
    is_sure = [holds(text) for text in texts.gather(positions).to_list()]
    is_match = np.zeros(len(texts), dtype=bool)
    is_match[positions.to_numpy()] = is_sure
    return pl.Series(is_match)


def _has_title(text: str) -> bool:
    start = 0
    while match := _NAMED_EXACT.search(text, start):
        word = match[2]
        if word[0].isupper() and not _NO_NAME.fullmatch(word.lower()) and word.lower() not in _TITLE_WORDS:
            return True
        start = match.end(1)
    return False


def _has_phone(text: str) -> bool:
    is_whole = not any(sign.isalpha() for sign in text)
    return any(_is_phone(text, run, is_whole=is_whole) for run in _DIGIT_RUN.finditer(text))


def _is_phone(text: str, run: re.Match[str], *, is_whole: bool) -> bool:
    """Judge one run of digits; in a cell without letters, which may be a code, by its strictest forms alone."""
    before, behind = text[: run.start()], text[run.end() : run.end() + 1]
    number, n_digits = run[0], sum(sign.isdigit() for sign in run[0])
    if _MIN_SPOKEN_DIGITS <= n_digits <= _PHONE_DIGITS_RANGE[1] and _SPOKEN.search(before):
        return True
    if before[-1:].isalnum() or before.endswith(_CODE_SEPARATORS) or behind.isalnum():
        return False
    if not _PHONE_DIGITS_RANGE[0] <= n_digits <= _PHONE_DIGITS_RANGE[1]:
        return False
    if is_whole:
        return bool((number[0] == "+" and _ABROAD.fullmatch(number)) or _BRACKETED.fullmatch(number))
    return any(each.fullmatch(number) for each in (_ABROAD, _AMERICAN, _AREA, _PAIRS))


def _find_identifiers(texts: pl.Series, codes: CodeArray, own: Sequence[pl.Series]) -> BoolArray:
    """Tell which rows hold in a sentence a word or number that an identifier of theirs holds."""
    rows = np.flatnonzero(_expand_flags(texts.str.contains(_SENTENCE).fill_null(False).to_numpy(), codes))
    holds_identifier = np.zeros(len(codes), dtype=bool)
    for start in range(0, len(rows), _RECORDS_PER_BATCH):
        some = rows[start : start + _RECORDS_PER_BATCH]
        cells = texts.gather(codes[some])
        holds_identifier[some] = reduce(np.logical_or, [_share_words(cells, each.gather(some)) for each in own])
    return holds_identifier


def _share_words(cells: pl.Series, own: pl.Series) -> BoolArray:
    """Tell which cells share a word with the identifier in the same row."""
    table = pl.DataFrame({"cell": cells, "own": own.str.strip_chars()})
    words = table.select(
        _extract_words("cell", _CAPITAL),
        _extract_words("own", _WORD).list.set_difference(list(_TITLE_WORDS)),
        pl.when(pl.col("own").str.contains(_HAN)).then(pl.col("own")).alias("han"),
        pl.col("cell").alias("text"),
    )
    counted = words["own"].explode().drop_nulls().value_counts()
    shared = counted.filter(
        (pl.col("count") > _MAX_RARE_WORD_COUNT) & (pl.col("count") > _MAX_WORD_SHARE * len(cells))
    )["own"].to_list()
    meets = words.select(
        (
            (pl.col("own").list.set_difference(shared) if shared else pl.col("own"))
            .list.set_intersection(pl.col("cell"))
            .list.len()
            > 0
        ).fill_null(False)
        | pl.col("text").str.contains(pl.col("han"), literal=True).fill_null(False)
    )
    return meets.to_series().to_numpy()


def _extract_words(name: str, pattern: str) -> pl.Expr:
    return pl.col(name).str.extract_all(pattern).list.eval(pl.element().str.to_lowercase()).list.unique()
