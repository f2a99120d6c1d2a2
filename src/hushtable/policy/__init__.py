"""A request as a record that lives in YAML, and what carries it out.

In come a file, options or keywords; out go a `Policy`, the request that it stands for, and the release it leads to.
`protecting` holds `anonymize`, `comparing` one policy with other figures side by side. `sections` says what a policy
may contain, `records` how records are read from YAML with errors that name the line. A policy knows no kernel and no
class.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
