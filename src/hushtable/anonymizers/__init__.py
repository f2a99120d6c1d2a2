"""Protecting methods: rows and a request in, a release out.

`protecting` carries a `Request` out: preparation, search, finish. A `Method` gets a `Problem` (rows,
quasi-identifiers, a `Judge`, hierarchies, a loss, a clock) and returns a `Found`; whoever writes one registers it in
`METHODS`. What a release learned is kept for new rows (`fitted`). Of rows that are not in memory a method sees the
distinct ones, and does not know it (`beyond_memory`). Methods know no file, no policy and no engine.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
