"""How much a release lost: the losses that searches make small, and measures of what is published.

In come a recoding and a partition, or two tables; out go figures with unit and direction. `LOSSES` and `MEASURES`
name them all; `bound` proves a floor under a loss. Nothing here knows how a release was found.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
