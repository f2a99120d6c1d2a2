"""Synthesizing: new records that are alike in the aggregate. Never called protected; its measure is `mpuccs`.

In comes a table, out goes one of the same kind with drawn records. Other packages add methods by the entry point group
`hushtable.synthesizers`. Drawn values are written in the style of their column's own cells (`writing`). This
room does not measure how safe the result is.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
