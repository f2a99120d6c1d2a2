"""Where tables come in and go out: dataframes of any library, files of every kind, whole or batch by batch.

In come a path, a frame or bytes; out go a `Frame`, whose cells are columns, batches of rows, or distinct rows with
counts. What leaves is written as a draft that gets its name only when it is whole. CSV has a room of its own, `csv`:
one reader decides there how a file spells its table. Nothing here knows roles, classes, models or releases.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
