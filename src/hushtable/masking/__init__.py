"""Independence masking: A made exactly independent of clusters of B with few stars, C untouched.

In come a table and columns in the roles A, B and C; out goes a `MaskedRelease` with its claim. Rows are clustered
(`independence`), dealt to types (`dealing`), and matched with the fewest stars (`search`). This hides a correlation,
not people, so it knows no privacy model.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
