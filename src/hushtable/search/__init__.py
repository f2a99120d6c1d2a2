"""What every search stands on: a budget, a clock, a trace, threads and memory, and a solver of programmes.

In comes a budget; out go how far a search came, and whether it may go on. SciPy is loaded only when a programme is
solved. Nothing here knows what is searched for.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
