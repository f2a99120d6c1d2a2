"""Protecting methods: rows and a request in, a release out.

`protecting` carries out a `Request`: prepare, search, finish. A `Method` gets a `Problem` (rows,
quasi-identifiers, a `Judge`, hierarchies, a loss, a clock) and returns a `Found`; whoever writes one registers it in
`METHODS`. `fitted` publishes new rows by the cells of an earlier release. If rows are not in memory, a method sees the
distinct ones with counts (`beyond_memory`). Methods know no file, policy or engine.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
