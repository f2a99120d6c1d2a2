"""Models of persons with several records, which a published column links: they judge multisets of published records.

What a class has to satisfy follows: whoever hides among k histories hides among k persons in every class of a record.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from hushtable.models.base import ONE_OR_MORE, Needs
from hushtable.models.identity import CrowdModel


@dataclass(frozen=True, slots=True)
class HistoryModel(CrowdModel):
    """What the models of histories have in common: every class holds at least k persons."""

    monotone_suppression: ClassVar[bool] = False
    needs = Needs(histories=True)


@dataclass(frozen=True, slots=True)
class LinkedKAnonymity(HistoryModel):
    """The history of every person is equal to those of at least k - 1 others.

    Someone who knows all records of a person finds at least k persons.

    Parameters
    ----------
    k : int
        At least 1.

    Notes
    -----
    The published records under one pseudonym are a multiset of rows of quasi-identifiers. Nergiz, Clifton,
    Nergiz, "Multirelational k-anonymity", ICDE 2007, and Gong et al., "Anonymizing 1:M microdata with high utility",
    Knowledge-Based Systems 115, 2017, ask the same of the records of one person, who is a row of a table of its own
    there: here the published column of pseudonyms is that table.

    Examples
    --------
    >>> LinkedKAnonymity(5).k
    5
    """

    name: ClassVar[str] = "linked-k-anonymity"


@dataclass(frozen=True, slots=True)
class KMAnonymity(HistoryModel):
    """Someone who knows any m records of a person finds at least k persons who could have them.

    Parameters
    ----------
    k : int
        At least 1.
    m : int
        Known records, at least 1. Of a person with fewer records, all of them are known.

    Notes
    -----
    Terrovitis, Mamoulis, Kalnis, "Privacy-preserving anonymization of set-valued data", VLDB 2008, of records instead
    of items, as Mohammed, Fung, Debbabi, "Walking in the crowd", CIKM 2009, bound what is known of a trajectory. The
    papers know sets; here every known record needs a row of its own, as a person may have the same record twice.

    Examples
    --------
    >>> KMAnonymity(5, m=2).m
    2
    """

    m: int

    name: ClassVar[str] = "km-anonymity"
    _bounds = MappingProxyType({"k": ONE_OR_MORE, "m": ONE_OR_MORE})
