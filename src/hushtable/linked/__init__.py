"""Linked tables: persons with rows in several tables, published together, judged together.

In come tables by name (a folder, a workbook, a database, dataframes) and a policy that names their keys; out goes a
`LinkedRelease`: a release of each table, whose fresh keys join, and one claim on all of them. It knows nothing of how
groups are found or judged: `anonymizers` and `claims` do that.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
