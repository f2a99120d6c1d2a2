from . import distinct_rows as distinct_rows, drafts as drafts, frames as frames, hive as hive
from .batches import (
    NO_KEY as NO_KEY,
    Parts as Parts,
    Scan as Scan,
    as_declared as as_declared,
    prefetch_items as prefetch_items,
    round_scan as round_scan,
    scan as scan,
    to_arrow as to_arrow,
)
from .csv import (
    DELIMITERS as DELIMITERS,
    Dialect as Dialect,
    Formulas as Formulas,
    Writing as Writing,
    header_line as header_line,
)
from .databases import (
    connect as connect,
    list_duckdb_tables as list_duckdb_tables,
    write_duckdb_tables as write_duckdb_tables,
)
from .distinct_rows import RowKeys as RowKeys, Values as Values, change_error as change_error, collapse as collapse
from .drafts import is_full as is_full
from .encoding import decode_text as decode_text, read_text as read_text
from .files import (
    FILE_KINDS as FILE_KINDS,
    MANIFEST as MANIFEST,
    Snapshot as Snapshot,
    count_gzip_bytes as count_gzip_bytes,
    file_kind as file_kind,
    is_many as is_many,
    list_sheets as list_sheets,
    write_sheets as write_sheets,
)
from .forms import (
    FORM as FORM,
    FORMS as FORMS,
    WRITER as WRITER,
    describe_other_form as describe_other_form,
    read_json as read_json,
)
from .frames import Frame as Frame
from .hive import parquet_writer as parquet_writer, strip_schema as strip_schema
from .latex import latex_of as latex_of
from .meeting import read_alike as read_alike, spell_as as spell_as
from .object_stores import lazy_objects as lazy_objects
from .odd_cells import refuse_odd_cells as refuse_odd_cells, warn_of_odd_cells as warn_of_odd_cells
from .rounding import round_frame as round_frame
from .row_codes import (
    CellCodes as CellCodes,
    Margins as Margins,
    RowCodes as RowCodes,
    SeenCells as SeenCells,
    add_up_cells as add_up_cells,
    count_cells as count_cells,
    smallest_code_type as smallest_code_type,
    sort_columns_separately as sort_columns_separately,
)
from .sources import Source as Source, check_secrets as check_secrets, parse_location as parse_location
from .stale_values import without_remnants as without_remnants
from .statistics_files import (
    Variable as Variable,
    infer_measures as infer_measures,
    program_of as program_of,
    publish_variables as publish_variables,
)
