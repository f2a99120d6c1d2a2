from . import cells as cells, column as column, series as series
from .cells import (
    SUPPRESSED as SUPPRESSED,
    Cell as Cell,
    Ends as Ends,
    between as between,
    read as read,
    value as value,
    with_comma as with_comma,
    with_point as with_point,
)
from .column import (
    KINDS as KINDS,
    ROLES as ROLES,
    Column as Column,
    ColumnSpec as ColumnSpec,
    Kind as Kind,
    Role as Role,
    check_marks as check_marks,
    check_specs as check_specs,
    from_texts as from_texts,
    value_text as value_text,
)
from .escaping import escaped as escaped, finite as finite, legible as legible, legible_json as legible_json
from .series import (
    cell_codes as cell_codes,
    digits as digits,
    encode as encode,
    gather as gather,
    holds as holds,
    integers as integers,
    listed as listed,
    map_texts as map_texts,
    mask as mask,
    missing_texts as missing_texts,
    replaced as replaced,
    settled as settled,
    spelled as spelled,
    strings as strings,
    text_codes as text_codes,
    to_polars as to_polars,
    typed as typed,
    without_blanks as without_blanks,
    without_categories as without_categories,
    zone_of as zone_of,
)
from .spellings import (
    canonical as canonical,
    count_missing_codes as count_missing_codes,
    count_missing_numbers as count_missing_numbers,
    count_near_duplicates as count_near_duplicates,
    doubts as doubts,
    fold as fold,
    found as found,
)
from .words import (
    ENGLISH as ENGLISH,
    LANGUAGES as LANGUAGES,
    CellWords as CellWords,
    check_language as check_language,
    words_of as words_of,
)
