from . import charts as charts, style as style
from .bar import ProgressBar as ProgressBar
from .variants import dark as dark, printed as printed
