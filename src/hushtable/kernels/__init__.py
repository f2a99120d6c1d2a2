"""Compiled loops over coded arrays: arrays in, arrays out.

A kernel knows numpy, numba and ``_jit``, and nothing else: no frames, no names,
no strings, no Python objects. Codes and labels are int32 and -1 means missing
(or in no class); counts are int64. Whatever a kernel needs arrives as arrays,
or as named tuples of arrays where there would be more than eight arguments.

============= ===============================================================
file          what it does
============= ===============================================================
group         partition refinement, class sizes, rows by class
class_profile what a class holds of every column, in the order of its cuts
judge         a privacy model's rule, applied to one class inside a cut
split         Mondrian: find the best allowable cut of a class, and cut it
parts         cuts chosen from what others counted, on other machines
replay        the cells that a tree of cuts leaves to its classes
============= ===============================================================
"""
