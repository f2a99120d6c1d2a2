"""Perturbation: numbers and categories that are near the true ones, and not them.

In come a table and columns; a method (`method`) changes their cells; out goes a `PerturbedRelease` with its claim, its
loss and what an intruder still links, beside MDAV's. Microaggregation is k-anonymity and is judged so; all else is only
stated, because no file can show it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
