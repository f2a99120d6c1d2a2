"""The hierarchy that a scan proposes for a column: a rule that follows from what the column is about."""

from __future__ import annotations

import re
from typing import Final

from hushtable.columns import Column
from hushtable.hierarchy import Dates, Dictionary, Prefix, Rule, code_lengths, known_rate, prefix_lengths

__all__ = ["proposed_rule"]

_DICTIONARIES: Final = {"nation": "countries", "education": "education"}
_KNOWN: Final = 0.7
_ILLNESS: Final = re.compile(r"[A-Z][0-9]{2}(\.?[0-9A-Z]{1,4})?[!*+]?", re.ASCII)
_FITTING: Final = 0.9


def proposed_rule(column: Column, topic: str) -> Rule | None:
    """Return what to generalize a quasi-identifier by; None where its own values serve better.

    Parameters
    ----------
    column : Column
    topic : str
        What it is about: a name in ``discover/roles/data/topics.tsv``.

    Notes
    -----
    Numbers get none: they are cut wherever a cut serves best, with round ends. Nor does a column of two values.

    ====================================================  ==========================================
    column                                                rule
    ====================================================  ==========================================
    date; datetime                                        month (day), quarter, year, decade
    postcode; category of digits of one length            the first characters, up to four levels
    codes of illnesses as ICD-10 has them                 a letter and two digits, then the letter
    country or nationality, education; 70 % of the        the dictionary
    values in the dictionary
    ====================================================  ==========================================
    """
    if column.n_values < 3:
        return None
    if column.kind == "date":
        return Dates()
    if column.kind == "datetime":
        return Dates(("day", "month", "year", "decade"))
    texts = column.texts()
    longest = max(map(len, texts))
    if topic == "postcode" and column.kind in ("category", "integer") and longest > 1:
        return Prefix(prefix_lengths(longest))
    if column.kind != "category":
        return None
    if sum(_ILLNESS.fullmatch(text) is not None for text in texts) >= _FITTING * len(texts):
        return Prefix((3, 1))
    of = _DICTIONARIES.get(topic)
    if of is not None and known_rate(of, column) >= _KNOWN:
        return Dictionary(of)
    return Prefix(code_lengths(column)) if code_lengths(column) else None
