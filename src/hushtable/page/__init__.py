"""A local page: see who can be found, choose, look, sign.

In come a folder, the name of a table and clicks; out go screens of HTML, and the files that a command would write: a
policy, its history, and a release. It listens on loopback alone. A client of `Policy` as the command is: what is shown
of results are sections of reports, and what it counts itself decides only what may be shown.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
