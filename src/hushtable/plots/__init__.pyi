from . import charts as charts, style as style
from .variants import dark as dark, printed as printed
