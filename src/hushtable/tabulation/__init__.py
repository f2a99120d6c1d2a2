"""Tables of counts and sums: what their readers can compute, and which cells must be hidden so that they cannot.

In come tables of cells, or records; out go verdicts on every hidden cell with the sum that computes it or the tables
that protect it. Cells and the sums that bind them are one system of equations, over all tables together.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
