"""Privacy models: conditions on every equivalence class, judged from its statistics alone.

In come `ClassStats` (sizes, histograms, totals); out goes a verdict for each class, and the same judgement as a
`Rule` that a kernel can read. `registry` names all models, `entries` is the grammar in which policies write models,
methods, hierarchies and losses. A model never fetches what it judges.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
