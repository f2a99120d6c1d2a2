"""A server for AI assistants: they work on the policy of a table, and see nobody.

In come a table that a person named, and messages of the Model Context Protocol; out go one fixed sheet of the table,
verdicts in bands on policies of a closed menu, and a transcript of every byte. Only a person decides, on the page.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
