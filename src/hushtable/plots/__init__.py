"""What is drawn: arrays and labels in, matplotlib axes out, in one style.

`charts` has a function for each picture, `style` sizes, colours, names and SVG. Nothing here computes a figure:
results hand theirs over, and matplotlib is loaded when something is drawn.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
