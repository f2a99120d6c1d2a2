"""Where rows are: in memory, in files, or in an engine that works on lazy frames.

In come data of any kind; `open_rows` says where their rows are: a table that was read, or an origin (`Files`, `Lazy`)
that counts distinct rows and publishes records by them. It knows no method, and nothing of what is asked.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
