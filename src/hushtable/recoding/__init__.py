"""What each class publishes of every column, and as which text.

In come a table, a partition and hierarchies; out goes a `Recoding`: intervals, nodes of a hierarchy, sets, single
values, or stars, and their texts. Where cuts fall, which ends are round and how cells are written is decided here.
Nothing here searches: which rows form a class, others say.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
