"""Synthesizing: new records that are alike in the aggregate. Never called protected; its measure is `mpuccs`.

In comes a table, out goes one of the same kind with drawn records. Methods are an open registry, and those of other
packages are found by the entry points `hushtable.synthesizers`. Values are written as their column writes its own
(`cell_styles`). Nothing here says how safe the result is.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
