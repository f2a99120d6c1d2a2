"""Timelines: the dates of a person, shifted together or counted from the first; what they still tell.

In come arrays of dates and the number of the person of each; out go arrays, and figures about them. Nothing here knows
a table, so that several tables of the same persons are shifted alike. An offset is computed and forgotten: no record
here holds one, and none is written.
"""
