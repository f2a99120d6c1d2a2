"""Compiled loops over coded arrays: arrays in, arrays out.

A kernel knows numpy, numba and ``_jit``, and nothing else: no frames, no names, no strings, no Python objects. Codes
and labels are int32 and -1 means missing (or in no class); counts are int64. Where there would be more than eight
arguments they come as named tuples of arrays.
"""
