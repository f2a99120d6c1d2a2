"""A hostile campaign: random inputs for the whole package, judged by a slow judge of its own.

A case is a number and a seed; it is the same whatever ran before it. `scripts/campaign` runs it.
"""
