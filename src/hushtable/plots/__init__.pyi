from . import charts as charts, style as style
