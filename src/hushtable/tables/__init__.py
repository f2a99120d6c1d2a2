"""Coded rows and their partitions: what every privacy question is asked of.

In come columns and codes; out go a `Table`, a `Partition` of its rows into classes, and statistics. Nobody knows here
what is published, or who asks.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
