from . import cells as cells, column as column, series as series
from .cells import (
    ENGLISH as ENGLISH,
    LANGUAGES as LANGUAGES,
    SUPPRESSED as SUPPRESSED,
    Cell as Cell,
    CellWords as CellWords,
    Ends as Ends,
    bound_names as bound_names,
    check_language as check_language,
    format_half_open as format_half_open,
    format_value as format_value,
    parse_cell as parse_cell,
    with_comma as with_comma,
    with_first_days as with_first_days,
    with_point as with_point,
    without_first_days as without_first_days,
    words_of as words_of,
)
from .column import (
    KINDS as KINDS,
    ROLES as ROLES,
    Column as Column,
    ColumnSpec as ColumnSpec,
    Kind as Kind,
    OddCellsAnswer as OddCellsAnswer,
    Role as Role,
    check_marks as check_marks,
    check_specs as check_specs,
    from_texts as from_texts,
    value_text as value_text,
)
from .date_formats import has_two_digits as has_two_digits, precision_of as precision_of, this_day as this_day
from .escaping import (
    escape_controls as escape_controls,
    escape_html as escape_html,
    escape_json_controls as escape_json_controls,
    to_json_values as to_json_values,
)
from .item_sets import (
    describe_separator as describe_separator,
    list_items as list_items,
)
from .meeting import (
    column_of_cell_values as column_of_cell_values,
    fold_spelling as fold_spelling,
    form_of as form_of,
    kinds_of_one_family as kinds_of_one_family,
    meet_columns as meet_columns,
    merge_items as merge_items,
    merge_spellings as merge_spellings,
    spell_ends as spell_ends,
    spell_names_as as spell_names_as,
)
from .missing_codes import (
    count_missing_codes as count_missing_codes,
    count_missing_numbers as count_missing_numbers,
    count_sentinel_codes as count_sentinel_codes,
    count_sentinel_dates as count_sentinel_dates,
    count_spellings as count_spellings,
    count_texts as count_texts,
    ends_with_codes as ends_with_codes,
    is_missing_word as is_missing_word,
    is_open_end as is_open_end,
)
from .moments import holds_dates as holds_dates, moments_as_series as moments_as_series, read_moments as read_moments
from .odd_cells import OddCells as OddCells, find_odd_cells as find_odd_cells
from .rounding import (
    KeptRounding as KeptRounding,
    check_rounding as check_rounding,
    round_expression as round_expression,
    round_series as round_series,
    round_values as round_values,
)
from .rounding_steps import (
    ProposedStep as ProposedStep,
    list_steps as list_steps,
    measure_step as measure_step,
    propose_step as propose_step,
    round_codes as round_codes,
)
from .series import (
    build_bound_columns as build_bound_columns,
    cast_exactly as cast_exactly,
    cell_codes as cell_codes,
    convert_texts as convert_texts,
    count_missing_texts as count_missing_texts,
    dates_as_text as dates_as_text,
    encode as encode,
    format_numbers as format_numbers,
    format_values as format_values,
    gather_labels as gather_labels,
    has_cells_of as has_cells_of,
    infer_spec as infer_spec,
    integer_series as integer_series,
    is_text_by_type as is_text_by_type,
    list_distinct_cells as list_distinct_cells,
    map_texts as map_texts,
    replace_cells as replace_cells,
    separator_error as separator_error,
    suppress_rows as suppress_rows,
    text_codes as text_codes,
    text_series as text_series,
    to_enumeration as to_enumeration,
    to_polars as to_polars,
    without_blanks as without_blanks,
    without_categories as without_categories,
    without_declared as without_declared,
    zone_of as zone_of,
)
from .spellings import (
    begins_with_numbers as begins_with_numbers,
    count_near_duplicates as count_near_duplicates,
    count_odd_texts as count_odd_texts,
    date_formats_of_digits as date_formats_of_digits,
    find_ambiguities as find_ambiguities,
    fold_text as fold_text,
    infer_spelling as infer_spelling,
    latest_year_of as latest_year_of,
    to_canonical_texts as to_canonical_texts,
    to_numbers_with_point as to_numbers_with_point,
)
