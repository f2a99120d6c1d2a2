"""Wording: what people read, in their language.

Sentences stand in English where they are said. `translating` finds a text's form in the catalogue of a language
(``data/de.tsv``) and puts the parts that vary into the same form there. Whoever shows a text to a person translates it:
the terminal, reports, the page, codebooks. `facts` is for results that say in sentences what they found. It knows
`hushtable.columns` alone.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
