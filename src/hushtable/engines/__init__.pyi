from .choosing import (
    EngineChoice as EngineChoice,
    Rows as Rows,
    first_rows as first_rows,
    is_origin as is_origin,
    open_origin as open_origin,
    open_rows as open_rows,
    session_of_spark as session_of_spark,
)
from .files import Files as Files
from .lazy import Lazy as Lazy, collapse as collapse, is_lazy as is_lazy
from .originals import collapse_original as collapse_original
