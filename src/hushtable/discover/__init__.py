"""What identifies people in a table: the roles of its columns, scores of column sets, and searches over them.

In comes a table; out go `Roles` with reasons, scores with intervals, and the best sets by an objective. Prose that
names people (`prose`) and columns that follow from others (`determined`) are found here. It reads cells and releases
nothing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
