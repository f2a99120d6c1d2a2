"""A whole experiment in one file: modules of experiments, their product, and what becomes of each.

In comes YAML; out go tables, evaluations and reports in one folder. `modules` says which parameters a step has,
`steps` what it does, `evaluators` how results are judged. A pipeline calls public functions only, and writes inside
its folder.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
