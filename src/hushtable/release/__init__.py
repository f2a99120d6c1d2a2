"""A release: what is published of a source, the claim on it, and what lies beside its file.

In come a source, a partition, a recoding and a claim; out go a frame, a table, or a file that was written as a draft,
verified and named. `edition` says which cells go out, `exposure` who can be found by what is kept as it is,
`manifest` and `codebook` what lies beside. A release does not know which method found it, or from which door the
request came.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
