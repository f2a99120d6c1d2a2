"""Where tables come in and go out: dataframes of any library, files of every kind, whole or batch by batch.

In come a path, a frame or bytes; out go a `Frame`, batches of rows, or distinct rows with counts. What leaves gets its
name only when it is whole. Nothing here knows roles, classes, models or releases.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
