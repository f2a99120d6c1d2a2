"""Attacks on what is released: singling out, linkability, inference, distances, attribution.

In come the people, the table that may give them away, and a control of people who were never used for it; out go rates
with intervals, and what is achieved beyond the control. Nothing here changes a table.
"""
