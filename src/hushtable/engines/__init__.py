"""Tables that are not in memory: in files, or in an engine that works on lazy frames.

In comes where rows are (`Files`, `Lazy`); they are counted there as distinct rows, a method searches among those, and
out goes a `Release`, which publishes each record by the row it is. `choosing` decides which engine is taken. No
method of the next floor knows that its rows stand for records elsewhere.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
