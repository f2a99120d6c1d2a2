from .margins import MIN_PEOPLE as MIN_PEOPLE
from .synthesizing import (
    METHODS as METHODS,
    Bootstrap as Bootstrap,
    Copula as Copula,
    Independent as Independent,
    Method as Method,
    Trees as Trees,
    plugin_synthesizers as plugin_synthesizers,
    register as register,
    synthesize as synthesize,
    synthesize_frame as synthesize_frame,
)
