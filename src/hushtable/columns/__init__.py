"""What a column is: its kind, its values in order, and how cells are spelled.

In come series of cells; out go a `Column` and codes that keep the order of its values. `cells` holds the grammar of
published cells, for writers and readers. `escaping` shows names so that a terminal or a page never runs them. A column
knows no table, no file and no other column.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
