"""Membership: whether a synthetic table tells who was among the people that it was made from.

In come the people, the synthetic table, and people who were never used, of whom some are a reference that an attacker
has too; out goes how well attacks tell members from non-members, with what these numbers of people can show. Nothing
here changes a table.
"""
