"""What people who decide need to know of a result, as plain data that a page, a terminal and a file draw alike.

In comes a result; out goes a `Report` of sections, internal or for recipients. What outsiders may see is decided in
`outside` alone. Nothing is computed here that the result does not know.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
