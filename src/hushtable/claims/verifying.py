"""Claims by their kinds, the claim that models make, and `verify`."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from hushtable._types import Missing
from hushtable.claims.classes import ClaimOnColumns, Classes
from hushtable.claims.combinations import Combinations
from hushtable.claims.histories import HistoryClaim, measure_claim_linkage
from hushtable.claims.independence import Independence
from hushtable.claims.limits import Limits
from hushtable.claims.matchings import Matchings
from hushtable.claims.verdict import Claim, Stated, Verdict
from hushtable.columns import SUPPRESSED, ColumnSpec, check_specs
from hushtable.errors import InputError, VerificationError, names_in, quote_names
from hushtable.hierarchy import Hierarchy
from hushtable.io import FORM, MANIFEST, Dialect, describe_other_form, frames
from hushtable.models import MatchingNotion, PrivacyModel, models_in

if TYPE_CHECKING:
    from hushtable.columns import KeptRounding
    from hushtable.io import Scan


# By their words: few releases are tables, and a command loads what it runs.
_KINDS_OF_TABLES: Final = ("hidden cells", "rounded cells")


def holds_cells(claim: Claim | None) -> bool:
    """Tell whether the rows of what is published are cells of tables, and no records."""
    return claim is not None and claim.kind in _KINDS_OF_TABLES


def _read_later(module: str, name: str) -> Callable[[Mapping[str, Any]], Claim]:
    """Return how a claim is read whose module is loaded when it is asked for: few releases have it."""

    def read(entries: Mapping[str, Any]) -> Claim:
        kind = getattr(importlib.import_module(f"hushtable.claims.{module}"), name)
        claim: Claim = kind.from_dict(entries)
        return claim

    return read


KINDS: Final[Mapping[str, Callable[[Mapping[str, Any]], Claim]]] = MappingProxyType(
    {each.kind: each.from_dict for each in (Classes, Combinations, HistoryClaim, Matchings, Independence, Stated)}
    | {
        "hidden cells": _read_later("hidden_cells", "HiddenCells"),
        "rounded cells": _read_later("rounded_cells", "RoundedCells"),
        "households": _read_later("households", "HouseholdClaim"),
        "linked tables": _read_later("bundles", "LinkedTables"),
    }
)
"""How claims are read from manifests, by the word for their kind."""


def claim_from_dict(entries: Any, writer: object = None) -> Claim:
    """Read a claim as `Claim.to_dict` wrote it; what it holds besides, `find_unread_entries` names.

    Raises
    ------
    VerificationError
        It is of a form or kind that this version does not read, and nothing of it could be judged.
    InputError
        It is none.
    """
    kind = str(entries.get("kind")) if isinstance(entries, Mapping) else "nothing"
    newer = describe_other_form("claim", entries.get(FORM), writer) if isinstance(entries, Mapping) else None
    try:
        if kind not in KINDS:
            raise InputError(
                f"the manifest claims something of kind {kind!r}.", hint=f"known kinds: {', '.join(KINDS)}."
            )
        claim = KINDS[kind](entries)
        told = [each for each in (claim.person, claim.suppressed) if each is not None]
        if not all(isinstance(each, str) for each in (*claim.columns, *claim.sensitive, *told)):
            raise TypeError
        return claim
    except (InputError, KeyError, TypeError, AttributeError, ValueError) as error:
        if newer:
            raise VerificationError(
                f"the claim could not be judged: {newer}.", hint="verify it with a version that reads this form."
            ) from None
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"the claim of kind {kind!r} lacks entries, or they are of another type.", hint="write it anew."
        ) from None


def claim_from_models(
    columns: Sequence[str],
    models: Sequence[PrivacyModel],
    *,
    sensitive: Sequence[str] = (),
    specs: Mapping[str, ColumnSpec] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    origins: Mapping[str, ColumnSpec] | None = None,
    rounded: Mapping[str, KeptRounding] | None = None,
    **of_classes: Any,
) -> Combinations | Classes | Matchings:
    """Return the claim that models make: of classes, of histories, or of rows where a matching notion is asked.

    With combinations the classes are those of each of these sets of columns.
    """
    shared: dict[str, Any] = {"sensitive": tuple(sensitive), "specs": specs or {}, "hierarchies": hierarchies or {}}
    shared |= {"origins": origins or {}, "rounded": rounded or {}}
    notions = tuple(model for model in models if isinstance(model, MatchingNotion))
    if notions and len(notions) == len(models):
        return Matchings(tuple(columns), notions, **shared)
    if notions:
        raise InputError(
            "matching notions were given with models of classes.",
            hint="judge them one after the other: notions look at rows.",
        )
    if "combinations" in of_classes:
        return Combinations(tuple(columns), tuple(models), **shared, **of_classes)
    kind = HistoryClaim if any(model.needs.histories for model in models) else Classes
    if of_classes.pop("is_household", False):
        # Few releases hold households, and a command loads what it runs.
        from hushtable.claims.households import HouseholdClaim

        kind = HouseholdClaim
    return kind(tuple(columns), tuple(models), **shared, **of_classes)


def with_commas(claim: Claim, columns: Sequence[str]) -> Claim:
    """Return the claim of a file in which numbers of some columns have decimal commas."""
    if not isinstance(claim, (Classes, Combinations, Matchings)):
        return claim
    spelled = {
        name: replace(claim.specs.get(name, ColumnSpec()), decimal=",", thousands=None)
        for name in columns
        if name in (*claim.columns, *claim.sensitive, *claim.rounded)
    }
    return replace(claim, specs={**claim.specs, **spelled})


def open_release(data: Any, dialect: Dialect | None = None, *, is_large: bool = False) -> frames.Frame | Scan:
    """Open a published table: a frame, or a folder (or a large file), of which no row is read.

    VerificationError where the folder holds files that would not be judged, beside its parts and its manifest.
    """
    if is_large or (isinstance(data, (str, os.PathLike)) and Path(data).is_dir()):
        try:
            from hushtable.io import scan
        except ModuleNotFoundError:
            raise InputError(
                f"{str(data)!r} is not read whole, which needs a reader.", hint="pip install 'hushtable[stream]'."
            ) from None
        table = scan(data, dialect)
        strangers = [name for name in getattr(table, "passed_over", ()) if name != MANIFEST]
        if strangers:
            raise VerificationError(
                f"{str(data)!r} holds files that nobody judges: {quote_names(strangers)}.",
                hint="remove them: a reader of the folder may read their rows too.",
            )
        return table
    return frames.read(data, dialect=dialect)


def original_columns(claim: Claim) -> list[str]:
    """Return the columns of the original that a claim speaks of, and whose record a row is."""
    rounded = claim.rounded if isinstance(claim, ClaimOnColumns) else ()
    named = [*claim.columns, *claim.sensitive, *rounded, claim.person]
    return [name for name in dict.fromkeys(named) if name is not None]


def select_for_claim(claim: Claim, table: frames.Frame | Scan) -> frames.Frame:
    """Return the rows that a claim judges: of files not held whole, the distinct rows of its columns with counts."""
    if isinstance(table, frames.Frame):
        return table
    from hushtable.io import collapse

    # What is new in every record says nothing of whose it is.
    named = [name for name in original_columns(claim) if not (claim.is_fresh and name == claim.person)]
    named += [claim.label] if isinstance(claim, Independence) else []
    named += claim.bound_columns if isinstance(claim, ClaimOnColumns) else ()
    # Whose record a row is, a release may not tell.
    wanted = [name for name in named if name in (*table.columns, *claim.columns)]
    if holds_cells(claim):  # a column besides may show what they hide
        wanted = list(table.columns)
    # Quasi-identifiers are looked at as texts, of which many rows have one. Sensitive values keep their types.
    return collapse(table, wanted, coded=claim.columns)


def verify(
    data: Any,
    *,
    quasi_identifiers: Sequence[str],
    models: Iterable[PrivacyModel],
    sensitive: Sequence[str] = (),
    missing: Missing = "category",
    suppressed: str | None = SUPPRESSED,
    specs: Mapping[str, ColumnSpec] | None = None,
    hierarchies: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    population: Any = None,
    original: Any = None,
    person: str | None = None,
    highest_risk: float | None = None,
    average_risk: float | None = None,
    counts: str | None = None,
    linked: bool = False,
) -> Verdict:
    """Judge a published table from the table alone.

    Parameters
    ----------
    data : path or dataframe
        The published table; of a folder of Parquet files the distinct rows of what is judged are held, not all rows.
    quasi_identifiers : sequence of str
    models : iterable of PrivacyModel
    sensitive : sequence of str
        Columns whose diversity is reported, besides those that a model judges. A record whose cell in one of them is
        readable is not suppressed.
    missing : {"category", "wildcard", "worst"}
        What a missing quasi-identifier matches: other missing ones; anything; nothing.
        The last two are no partitions: classes are then what each distinct row matches.
    suppressed : str or None
        The cell of suppressed records; None says that none was. They are judged by their number alone: it is 0, or what
        the models ask of a class. Where a model counts a population and no column is sensitive, they are a class that
        publishes ``*`` everywhere, and so covers everyone.
    specs : mapping of column to ColumnSpec, optional
        The kinds that columns had before they were published (`Release.specs`). Without them a
        quasi-identifier has the kind of its column in the population or the original, and one that
        is text there the kind it looks like, as long as no cell covers more by that.
    hierarchies : mapping of column to Hierarchy, rule, path or "auto", or a path, optional
        As `hushtable.anonymize` takes them; a path alone is that of a file of domains. What the labels of
        quasi-identifiers mean, where a population is counted, and how far apart sensitive values are.
    population : path or dataframe, optional
        With the quasi-identifiers: what k-map and delta-presence count. Each class holds the people whom its published
        cells cover; those whom none covers are a class without records.
    original : path or dataframe, optional
        The input, with the sensitive columns: the reference of t-closeness, beta-likeness and delta-disclosure. Without
        it that is the published table, which is the same as long as no record was suppressed. Matching notions
        (`hushtable.GlobalK1` and its siblings) need it with the quasi-identifiers; its order plays no part.
    person : str, optional
        The column that says whose record a row is: classes count distinct persons. Where the
        published table does not have it, the original says so.
    highest_risk, average_risk : float, optional
        Further limits: 1 / size of the smallest class; classes / records (what a re-identification of every record
        succeeds at on average). Compared as fractions: 0.09 asks for classes of 12, because 1/11 is above it.
    counts : str, optional
        A column of whole numbers, 1 or more each, that says how many records each row of the published table stands
        for: what is judged are the records. Rows of the population and of the original are one record each.
    linked : bool, default False
        Count too whom 1, 2 and 3 known records of a person find, where `person` is a column of the published table:
        ``figures["linkage"]`` has the counts, and the verdict fails where anybody is found. Of two and three records
        a sample of 1,000 persons is looked at, drawn with a fixed seed.

    Returns
    -------
    Verdict
        Failed as well where there is no record, and where a quasi-identifier writes its missing
        value in several ways (blank texts, no cell), which readers of the file can tell apart.

    Raises
    ------
    ColumnError
        A column is not in the table, or a count is none.
    InputError
        No model was given, or an argument is none of the allowed; a bound such as ``<50`` is
        published of categories, or the kind of a column has to be given.

    Notes
    -----
    O(n log n) for n records; ``"wildcard"`` compares every two patterns of missing cells.

    Examples
    --------
    >>> import polars as pl
    >>> from hushtable.models import KAnonymity
    >>> table = pl.DataFrame({"age": ["[30, 40)", "[30, 40)", "<30"], "job": ["*", "*", "*"]})
    >>> verdict = verify(table, quasi_identifiers=["age", "job"], models=[KAnonymity(2)])
    >>> verdict.passed, str(verdict.failures[0])
    (False, 'k-anonymity (k = 2): 1 classes with 1 records fail, worst 1')

    The same table, with its equal rows collapsed to one:

    >>> table = pl.DataFrame({"age": ["[30, 40)", "<30"], "job": ["*", "*"], "n": [2, 1]})
    >>> verify(table, quasi_identifiers=["age", "job"], models=[KAnonymity(2)], counts="n") == verdict
    True
    """
    check_specs(specs)
    all_models, columns = models_in(models), names_in(quasi_identifiers, "quasi_identifiers")
    if population is None and any(model.needs.population for model in all_models):
        raise InputError(
            "a model counts a population, and none was given.", hint="pass population=, or drop that model."
        )
    if original is None and any(model.needs.original for model in all_models):
        raise InputError(
            "a model compares published rows with the original ones, which were not given.",
            hint="pass original=, the table before it was protected.",
        )
    own_columns = [name for model in all_models for name in model.needs.sensitive]
    judged_columns = (*columns, *names_in(sensitive, "sensitive"), *own_columns)
    claim = claim_from_models(
        columns,
        all_models,
        sensitive=sensitive,
        specs=specs,
        hierarchies=_hierarchies_by_column(hierarchies, judged_columns),
        population=population,
        person=person,
        limits=Limits(highest_risk, average_risk),
        missing=missing,
        suppressed=suppressed,
    )
    if linked and person is None:
        raise InputError("linked=True needs to know whose record a row is.", hint="pass person=.")
    judged_frame = frames.with_counts(select_for_claim(claim, open_release(data)), counts)
    verdict = claim.verify(judged_frame, original=original)
    linkage = measure_claim_linkage(claim, judged_frame) if linked else None
    return verdict if linkage is None else linkage.add_to_verdict(verdict)


def _hierarchies_by_column(
    hierarchies: Mapping[str, Any] | str | os.PathLike[str] | None, columns: Sequence[str]
) -> Mapping[str, Any]:
    """Return what generalizes which column; a file of domains may list others too."""
    if isinstance(hierarchies, (str, os.PathLike)):
        return {name: ladder for name, ladder in Hierarchy.from_domains(hierarchies).items() if name in columns}
    return hierarchies or {}
