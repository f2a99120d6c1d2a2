from .choosing import (
    LOOKED_AT as LOOKED_AT,
    EngineChoice as EngineChoice,
    opened as opened,
    protect as protect,
    publish_next as publish_next,
    session_of_spark as session_of_spark,
)
from .files import Files as Files
from .lazy import Lazy as Lazy, collapse as collapse, is_lazy as is_lazy
from .originals import judged_rows as judged_rows
