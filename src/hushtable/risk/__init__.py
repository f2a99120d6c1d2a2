"""How easily the people of a table can be found again, as it stands.

In come a table, its quasi-identifiers, and what is known of the population; out go assessments: classes, samples and
populations, singling out by `mpuccs`, special uniques, the thresholds of the field. Nothing here changes a table.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
