"""Certificates: why nothing better exists, checked by code that shares nothing with the search."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from hushtable.claims.certificates import blocks, lattice, prices
from hushtable.claims.certificates.record import Certificate, Reading
from hushtable.claims.verdict import Failure, Verdict
from hushtable.columns import ColumnSpec
from hushtable.errors import InputError

__all__ = ["KINDS", "Certificate", "check_certificate"]


CertificateCheck = Callable[[Any, Mapping[str, Any], Reading], Verdict]


def _load_check(kind: str) -> CertificateCheck:
    """Return a check whose module is loaded when it is asked for: no release of classes needs it."""

    def check(data: object, entries: Mapping[str, object], reading: Reading) -> Verdict:
        judge: CertificateCheck = importlib.import_module(f"{__name__}.{kind}").check
        return judge(data, entries, reading)

    return check


KINDS: Final[Mapping[str, CertificateCheck]] = MappingProxyType(
    {
        "lattice": lattice.check,
        prices.KIND: prices.check,
        blocks.KIND: blocks.check,
        "suppression": _load_check("suppression"),
        "triples": _load_check("triples"),
        "witnesses": _load_check("witnesses"),
    }
)
"""What checks a certificate, by the word for its kind."""


def check_certificate(
    data: Any,
    certificate: Certificate | Mapping[str, Any],
    hierarchies: Mapping[str, Any] | None = None,
    *,
    specs: Mapping[str, ColumnSpec] | None = None,
    by_rank: Sequence[str] = (),
) -> Verdict:
    """Check from the input alone that a release is the best there is, as its certificate says.

    The checker reads the input as `hushtable.anonymize` does, or as you say, and never as the certificate says. The
    verdict names the readings, and what the certificate is about: the models, the loss, the limit of suppression.
    Kinds: ``lattice`` (full-domain recoding), ``blocks`` (minimal generalization), ``suppression`` (local suppression),
    ``prices`` (`Release.with_bound`), ``triples`` (microaggregation with ``prove``). Also ``witnesses`` (tables that
    hide cells, of `hushtable.check_tables`; the data are the published tables).

    Parameters
    ----------
    data : path or dataframe
        The input of the release: a file, a folder of Parquet files or a pattern, or a release's `distinct.source`.
    certificate : Certificate, or the mapping that `Certificate.to_dict` returned
    hierarchies : mapping of column to Hierarchy, rule, path or "auto", optional
        Those of the certificate when not given; prices need none. Pass your own where somebody else made the
        certificate: "best" is best along these hierarchies.
    specs : mapping of column to ColumnSpec, optional
        How columns are read, where the data do not say: those that `hushtable.anonymize` was given.
    by_rank : sequence of str
        Columns of a certificate of prices whose values lie as far apart as their ranks.

    Returns
    -------
    Verdict
        Failed where the numbers prove nothing about this input, and where the certificate reads a column otherwise.
        Its figures hold the readings.

    Raises
    ------
    ColumnError
        A column is not in the table.
    InputError
        It is no certificate, of an unknown kind, one of prices or triples with hierarchies, or another one with ranks.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> people = pl.DataFrame({"zip": ["10115", "10117", "20095", "20099"]})
    >>> release = ht.anonymize(people, quasi_identifiers=["zip"], models=[ht.KAnonymity(2)], method="full_domain",
    ...                        hierarchies={"zip": ht.Hierarchy.prefix([3, 1])}, loss="arx_loss")
    >>> check_certificate(people, release.certificate).passed
    True
    >>> entries = release.certificate.to_dict()
    >>> check_certificate(people, {**entries, "value": 0.2}).passed
    False
    """
    document = certificate if isinstance(certificate, Certificate) else Certificate.from_dict(certificate)
    if document.kind not in KINDS:
        raise InputError(f"a certificate of kind {document.kind!r}.", hint=f"known kinds: {', '.join(KINDS)}.")
    if not document.is_unchanged:
        told = "the certificate is as it was made"
        return Verdict((told,), (Failure(f"{told}: its digest is another"),), (), 0)
    if by_rank and document.kind != prices.KIND:
        raise InputError(
            f"by_rank for a certificate of kind {document.kind!r}.", hint="only prices go by rank; leave it out."
        )
    entries = dict(document.entries)
    if hierarchies is not None:
        if document.kind in (prices.KIND, "triples"):
            raise InputError(
                f"hierarchies for a certificate of {document.kind}.",
                hint="its lower bound holds of values themselves; leave them out.",
            )
        entries["hierarchies"] = {**entries.get("hierarchies", {}), **hierarchies}
    return KINDS[document.kind](data, entries, Reading(specs or {}, tuple(by_rank), tuple(hierarchies or ())))
