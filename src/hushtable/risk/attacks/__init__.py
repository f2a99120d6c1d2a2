"""Attacks on released tables, by rough knowledge, another table or an earlier release; and on synthetic tables.

In come the people, the table that may give them away, and a control of people who were never used for it; out go rates
with intervals, and what is achieved beyond the control. Nothing here changes a table.
"""
