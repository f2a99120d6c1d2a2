"""What a column is: its kind, its values in order, and how cells are spelled.

In come series of cells; out go a `Column` and codes that keep the order of its values. The grammar of published cells
is here (`cells`), for those who write them and those who read them, and so is how names are shown so that they act on
no terminal and no page (`escaping`). A column knows no table, no file and no other column.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
