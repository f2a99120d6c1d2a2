"""Hierarchy: how the values of one column generalize, level by level, up to ``*``.

In come a column and a rule, a list or a file of another program; out goes a `Hierarchy`, nested and complete, or an
error that names the level. Rules are records (`rules`); `propose` finds one for a column. A hierarchy knows one
column and no table.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
