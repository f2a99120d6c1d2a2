"""The lattice of column sets: on which sets is a row alone, and which of them are minimal.

In come codes in the order of the walk; out go rows with their minimal column sets. `column_sets` walks and skips what
cannot matter, `listing` looks at set by set.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
