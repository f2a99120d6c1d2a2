"""Compiled loops over coded arrays: arrays in, arrays out.

A kernel knows numpy, numba and ``_jit``: no frames, names, strings or Python objects. Codes and labels are int32 and -1
means missing (or in no class); counts are int64. More than eight arguments come as named tuples of arrays.
"""
