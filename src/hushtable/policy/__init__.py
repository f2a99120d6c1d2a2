"""A request as a record that lives in YAML, and what carries it out.

In come a file, options or keywords; out go a `Policy`, and the release it leads to. It knows no kernel and no class.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
