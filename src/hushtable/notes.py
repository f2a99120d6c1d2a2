"""What to look at in a release besides its claim: how cells are spelled that nobody was asked about."""

from __future__ import annotations

from hushtable.frames import Frame
from hushtable.release import Release
from hushtable.spellings import count_missing_codes, count_near_duplicates

__all__ = ["as_they_came", "missing_codes", "near_duplicates"]


def missing_codes(release: Release) -> dict[str, dict[str, int]]:
    """Count the cells of published columns that look like a missing value and were not said to be one.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> people = pl.DataFrame({"age": [1, 1], "job": ["NA", "cook"]})
    >>> missing_codes(ht.anonymize(people, quasi_identifiers=["age"], models=[ht.KAnonymity(2)]))
    {'job': {'NA': 1}}
    """
    source = release.source
    if not isinstance(source, Frame):
        return {}
    found = {}
    for name in release.edition.columns:
        said = source.spec(name).missing_values or ()
        codes = {code: n for code, n in count_missing_codes(source.column(name)).items() if code not in said}
        if codes:
            found[name] = codes
    return found


def near_duplicates(release: Release) -> dict[str, int]:
    """Count the values of quasi-identifiers that differ from another only in case, spaces or width."""
    counted = {column.name: count_near_duplicates(column) for column in release.recoding.columns}
    return {name: n for name, n in counted.items() if n}


def as_they_came(release: Release, *, decimal: str) -> tuple[str, ...]:
    """Return the columns that keep decimal commas or dates of a format beside quasi-identifiers that do not.

    Parameters
    ----------
    release : Release
    decimal : {".", ","}
        The mark that quasi-identifiers are written with.
    """
    source = release.source
    if not isinstance(source, Frame) or not source.is_text:
        return ()
    kinds = {column.kind for column in release.recoding.columns}
    hidden = (*release.quasi_identifiers, *(release.pseudonyms.columns if release.pseudonyms else ()))
    odd = []
    for name in [name for name in release.edition.columns if name not in hidden]:
        spec = source.spelling(name)
        is_date = spec.format is not None
        is_other = not kinds.isdisjoint(("date", "datetime")) if is_date else spec.decimal not in (None, decimal)
        # A mark that was said of the whole file need not stand in every column.
        if is_other and (is_date or "decimal" in kinds) and bool((source.values(name) != source.column(name)).any()):
            odd.append(name)
    return tuple(odd)
