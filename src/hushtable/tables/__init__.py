"""Coded rows and their partitions: what every privacy question is asked of."""
