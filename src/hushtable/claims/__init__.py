"""What releases promise, and verdicts on it from the published file alone.

In come a file or a frame and its claim; out goes a `Verdict`: what holds, what fails, what could not be judged.
Nothing here comes from the code that makes releases: no table, no partition, no recoding, no kernel, not even through
others. So a fault over there cannot hide itself here. `certificates` checks proofs that nothing better exists, in the
same way.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
