from .curves import measure_curve as measure_curve
from .facts import Timelines as Timelines
from .intervals import KnownIntervals as KnownIntervals, measure_intervals as measure_intervals
from .shifting import (
    DateShift as DateShift,
    SinceFirst as SinceFirst,
    days_since_first as days_since_first,
    find_first_dates as find_first_dates,
    shift_dates as shift_dates,
)
