from . import charts as charts, style as style
from .bar import ProgressBar as ProgressBar
from .variants import to_dark as to_dark, to_greys as to_greys
