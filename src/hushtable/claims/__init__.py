"""What releases promise, and verdicts on it from the published file alone.

In come a file or a frame and its claim; out goes a `Verdict`. Nothing here comes from code that makes releases (tables,
partitions, recodings, kernels), not even through others: a fault over there cannot hide itself here.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
