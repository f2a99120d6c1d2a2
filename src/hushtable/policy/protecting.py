"""The verb that protects a table, from arguments or from a policy."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, overload

from hushtable import engines
from hushtable._types import Missing, Progress
from hushtable.anonymizers import METHODS, Method, Request, check_roles, doubt_of_persons, protect
from hushtable.claims import Limits
from hushtable.columns import ColumnSpec, check_specs
from hushtable.discover import find_identifiers, find_repeating_person
from hushtable.engines import EngineChoice
from hushtable.errors import ColumnError, ExposureWarning, InputError, check_columns, check_type, names_in, quote_names
from hushtable.hierarchy import Hierarchy
from hushtable.io import Frame, Snapshot, Writing, drafts
from hushtable.models import PrivacyModel, models_in
from hushtable.policy.policy import Policy
from hushtable.quality import LOSSES, Loss, with_importance
from hushtable.release import DateShift, Exposure, ExposureLimit, Pseudonyms, Release, SinceFirst
from hushtable.search import Budget, Clock, check_budget
from hushtable.tables import Table

if TYPE_CHECKING:
    import polars as pl
    from narwhals.typing import IntoDataFrameT, IntoLazyFrameT
    from typing_extensions import Unpack

    from hushtable.columns import KeptRounding


class AnonymizeOptions(TypedDict, total=False):
    """The arguments of `anonymize` besides the table and the engine, as an editor knows them."""

    quasi_identifiers: Sequence[str]
    models: Iterable[PrivacyModel]
    search_models: Iterable[PrivacyModel]
    sensitive: Sequence[str]
    method: str | Mapping[str, Any] | Method
    hierarchies: Mapping[str, Any] | str | os.PathLike[str] | None
    unknown: Literal["error", "suppress"]
    loss: str | Mapping[str, Any] | Loss
    importance: Mapping[str, int] | None
    suppression_limit: float
    missing: Missing
    identifiers: Sequence[str]
    leave_out: Sequence[str]
    rounding: Mapping[str, float | Mapping[str, float]] | None
    pseudonyms: Pseudonyms | None
    specs: Mapping[str, ColumnSpec] | None
    population: Any
    person: str | None
    household: str | None
    dates: DateShift | SinceFirst | None
    highest_risk: float | None
    average_risk: float | None
    roles: Literal["check", "trust"]
    accept: Mapping[str, str] | None
    policy: Policy | str | os.PathLike[str] | None
    key: bytes | None
    budget: Budget | None
    progress: Progress | None
    language: str
    session: Any


@overload
def anonymize(data: Table, *, engine: EngineChoice = ..., **options: Unpack[AnonymizeOptions]) -> Release[Table]: ...
@overload
def anonymize(
    data: IntoLazyFrameT, *, engine: EngineChoice = ..., **options: Unpack[AnonymizeOptions]
) -> Release[IntoLazyFrameT]: ...
@overload
def anonymize(
    data: IntoDataFrameT, *, engine: EngineChoice = ..., **options: Unpack[AnonymizeOptions]
) -> Release[IntoDataFrameT]: ...
@overload
def anonymize(
    data: str | os.PathLike[str], *, engine: Literal["memory"], **options: Unpack[AnonymizeOptions]
) -> Release[pl.DataFrame]: ...
@overload
def anonymize(
    data: str | os.PathLike[str], *, engine: Literal["stream"], **options: Unpack[AnonymizeOptions]
) -> Release[pl.LazyFrame]: ...
# A file in memory, or a folder in place: only the disk can tell which.
@overload
def anonymize(
    data: str | os.PathLike[str], *, engine: Literal["auto"] = ..., **options: Unpack[AnonymizeOptions]
) -> Release[Any]: ...
def anonymize(
    data: Any,
    *,
    quasi_identifiers: Sequence[str] = (),
    models: Iterable[PrivacyModel] = (),
    search_models: Iterable[PrivacyModel] = (),
    sensitive: Sequence[str] = (),
    method: str | Mapping[str, Any] | Method = "auto",
    hierarchies: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    unknown: Literal["error", "suppress"] = "error",
    loss: str | Mapping[str, Any] | Loss = "ncp",
    importance: Mapping[str, int] | None = None,
    suppression_limit: float = 0.0,
    missing: Missing = "category",
    identifiers: Sequence[str] = (),
    leave_out: Sequence[str] = (),
    rounding: Mapping[str, float | Mapping[str, float]] | None = None,
    pseudonyms: Pseudonyms | None = None,
    specs: Mapping[str, ColumnSpec] | None = None,
    population: Any = None,
    person: str | None = None,
    household: str | None = None,
    dates: DateShift | SinceFirst | None = None,
    highest_risk: float | None = None,
    average_risk: float | None = None,
    roles: Literal["check", "trust"] = "check",
    accept: Mapping[str, str] | None = None,
    policy: Policy | str | os.PathLike[str] | None = None,
    key: bytes | None = None,
    budget: Budget | None = None,
    progress: Progress | None = None,
    language: str = "en",
    engine: EngineChoice = "auto",
    session: Any = None,
) -> Release:
    """Generalize quasi-identifiers until every class satisfies the models, at little loss.

    Parameters
    ----------
    data : path, URL, dataframe, lazy frame or Table
        A Table gives a Table. A lazy frame is of polars, DuckDB or Spark; a path may be that of a folder of Parquet. A
        URL names a table of a database, or Parquet of an object store: ``"sqlite:///people.db?table=people"``.
    quasi_identifiers : sequence of str
        Columns that someone may know of a person. All others but ``identifiers`` and ``leave_out`` stay as they are,
        but for ``rounding``.
    models : iterable of PrivacyModel
        All of them hold for every class of the release. A matching notion (`GlobalK1` and
        its siblings), which is not k-anonymity, goes alone and with method "mingen"; `MatchK1` also with "suppress".
    search_models : iterable of PrivacyModel
        Stricter ones that the search keeps besides, as a margin: the release does not claim them. l + 1 instead of l
        leaves readers who know the program l values more often (see docs/anonymize.md).
    sensitive : sequence of str
        Sensitive columns besides those that a model judges: how diverse the classes are in them is reported.
    method : {"mondrian", "full_domain", "local_recoding", "suppress", "histories", "mingen", "genetic"}, or an object
        Any name in `hushtable.anonymizers.METHODS`, or ``{name: {option: value}}`` as a policy writes it.
        ``"auto"`` is Mondrian, and histories with ``household``.
    hierarchies : mapping of column to Hierarchy, rule, path, "auto" or "units", or a path, optional
        See `Hierarchy.build`; a path alone is that of a file of domains for several columns.
        Columns without one are cut where their values lie; full-domain recoding takes "auto" for them.
    unknown : {"error", "suppress"}
        What becomes of values that a hierarchy does not list: an error, or ``*`` once they are generalized at all.
    loss : {"ncp", "minimal_distortion", "certainty"}, SetNCP, MinimalDistortion or Certainty
        The objective; the objects take weights. Mondrian cuts by the set-NCP only, see
        `hushtable.quality.loss.set_ncp`. Full-domain recoding also takes `ArxLoss`, `NonUniformEntropy`, `Precision`
        ("arx_loss", "non_uniform_entropy", "precision"), "discernibility" and "average_class_size".
        `Distances` says which categories are near.
    importance : mapping of column to int, optional
        How many times the loss of a quasi-identifier counts, from 1, as where none is given, to 5: it becomes the
        weights of the loss, which then has none of its own.
    suppression_limit : float
        Share of the records that may be suppressed, in [0, 1]. As few as it takes where no release of all records can
        satisfy the models; with Mondrian also those without which the loss falls, which counts them as wholly lost.
        Suppressed records publish ``*`` in every quasi-identifier and sensitive column where they are enough to satisfy
        the models as a class of their own, and are dropped where they are not.
    missing : {"category"}
        A missing value is a value of its own.
    identifiers : sequence of str
        Direct identifiers; the release leaves them out.
    leave_out : sequence of str
        Columns that identify nobody; the release leaves them out, too.
    rounding : mapping of column to number or mapping, optional
        How numbers of columns that are kept are rounded, before anything else sees them: ``{"cost": 100}`` to multiples
        of 100, ``{"cost": {"digits": 2}}`` to two significant digits; ``{"age": {"top": 90, "bottom": 18}}`` publishes
        90 for 90 and more, 18 for 18 and less.
    pseudonyms : Pseudonyms, optional
        Direct identifiers that become keyed pseudonyms instead.
    specs : mapping of column to ColumnSpec, optional
        Kinds and orders of columns where the data do not say.
    population : path, dataframe or Table, optional
        The people among whom the records are, with the quasi-identifiers: what k-map
        and delta-presence count. The cells of a class then cover its population too.
    person : str, optional
        The column that says whose record a row is, where a person may have several: classes
        then count distinct persons, and a record without one counts nobody.
    household : str, optional
        The column that says of which household a person is, one row a person. Households are published whole or not at
        all, and hide among households of equal size and members: with `LinkedKAnonymity` and ``method="histories"``.
    dates : DateShift or SinceFirst, optional
        Quasi-identifiers whose dates are shifted, each person's by one keyed offset, or become days since the person's
        first event. Takes ``person``.
    highest_risk, average_risk : float, optional
        Limits in (0, 1] that the release claims besides the models: 1 / the smallest class, and
        classes / records. Classes are made large enough for the first.
    roles : {"check", "trust"}
        Columns without a role are published as they are. ``"check"`` refuses columns that look like direct
        identifiers and would be published, whatever their role. It measures what the others expose
        (`Release.exposure`), and warns where that is much, of 50 records or more. Where kept cells name people
        (`discover.prose`) it warns, and `Release.write` refuses. ``"trust"`` leaves all that out.
    accept : mapping of column to str, optional
        Columns that may look like identifiers, expose or name people all the same, each with the reason why.
    policy : Policy or path, optional
        What to do, instead of all other arguments but ``key`` and ``progress``.
    key : bytes, optional
        The secret of a policy's pseudonyms.
    budget : Budget, optional
        The best release so far when it ends.
    progress : callable, optional
        Called now and then with the share of the search that is done.
    language : {"en", "de", "fr", "es", "it", "nl"}
        Of the words that are written into cells: names of groups, labels of dictionaries.
    engine : {"auto", "memory", "stream", "spark"}
        Where the rows of files are: in memory, or read batch by batch; ``"auto"`` streams a folder or pattern of
        Parquet files, and what would take more than half of the free memory. ``"spark"`` has Spark read Parquet files:
        in the session that is given, or in the one of this process.
    session : optional
        The connection of a DuckDB relation, or the Spark session, where there are several.

    Returns
    -------
    Release
        Its classes were judged anew after the search. `Release.verify` judges the published cells, `Release.write` the
        written file. Of a lazy frame, or where files are streamed, its rows are not in memory.

    Raises
    ------
    ColumnError
        A column does not exist, has two roles, holds a literal ``*``, or looks like a direct identifier and has none.
    ExposureError
        A column that looks like a direct identifier would be published.
    InputError
        No model, no quasi-identifier, an empty table, an unknown option, or a
        population and no model that looks at it, or the other way round.
    InfeasibleError
        Even the whole table as one class fails a model: which, and what it reaches.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> people = pl.DataFrame({"age": [31, 34, 52, 57], "sex": ["f", "f", "m", "f"], "pay": [1, 2, 3, 4]})
    >>> release = ht.anonymize(people, quasi_identifiers=["age", "sex"], models=[ht.KAnonymity(2)])
    >>> release.frame.rows()
    [('[31, 34]', 'f', 1), ('[31, 34]', 'f', 2), ('[52, 57]', '*', 3), ('[52, 57]', '*', 4)]
    >>> release.verify().passed
    True
    """
    if policy is not None:
        given = {name: value for name, value in locals().items() if value is not _DEFAULTS[name]}
        strangers = given.keys() - {"data", "policy", "key", "progress", "engine", "session"}
        if strangers:
            raise InputError(
                f"a policy was given, and {quote_names(sorted(strangers))} too.", hint="put everything into the policy."
            )
        rules = policy if isinstance(policy, Policy) else Policy.read(policy)
        carried_out: Release = rules.protect(data, key=key, progress=progress, engine=engine, session=session)
        return carried_out
    _check_arguments(missing, key, specs, budget, pseudonyms, roles)
    check_type(dates, (DateShift, SinceFirst), "dates", _EXAMPLE_OF_DATES)
    check_type(rounding, Mapping, "rounding", 'a mapping, as {"cost": 100}')
    check_type(accept, Mapping, "accept", 'a mapping, as {"note": "why it may be published"}')
    check_type(importance, Mapping, "importance", 'a mapping, as {"postcode": 3}')
    quasi_identifiers = names_in(quasi_identifiers, "quasi_identifiers")
    check_columns(tuple(importance or ()), quasi_identifiers, "importance")
    asked = models_in(models)
    request = Request(
        quasi_identifiers=quasi_identifiers,
        models=asked,
        search_models=models_in(search_models),
        sensitive=names_in(sensitive, "sensitive"),
        method=METHODS.take(_default_method(household) if method == "auto" else method, Method),
        unknown=unknown,
        loss=with_importance(LOSSES.take(loss, Loss), importance or {}),
        suppression_limit=suppression_limit,
        identifiers=names_in(identifiers, "identifiers"),
        left_out=names_in(leave_out, "leave_out"),
        rounding=_read_rounding(rounding),
        pseudonyms=pseudonyms,
        specs=specs or {},
        population=population,
        person=person,
        household=household,
        dates=dates,
        limits=Limits(highest_risk, average_risk, suppression_limit or None),
        clock=Clock(budget or Budget(), progress),
        inputs=drafts.paths_among(data, hierarchies),
        writing=Writing(language=language),
    )
    before = Snapshot.from_paths(drafts.paths_among(data, hierarchies, population))
    rows = engines.open_rows(data, engine=engine, session=session)
    request = replace(request, hierarchies=_read_hierarchies(hierarchies, request))
    if roles == "check":
        _check_identifiers(engines.first_rows(rows), request, accept or {})
    release = protect(rows, request)
    before.check()
    if roles == "trust":
        return release
    release = release.with_exposure(ExposureLimit(), accepted=accept)
    assert release.exposure is not None
    release.exposure.raise_if_found("identifiers")
    for doubt in _describe_doubts(release.exposure):
        warnings.warn(doubt, ExposureWarning, stacklevel=2)
    return release


_EXAMPLE_OF_DATES: Final = "DateShift(columns, within, window, key) or SinceFirst(columns)"


def _default_method(household: str | None) -> str:
    """Return the method where nobody gave any; one alone keeps households whole."""
    return "mondrian" if household is None else "histories"


_DEFAULTS: Final = {name: each.default for name, each in inspect.signature(anonymize).parameters.items()}


_HINTS_IN_PYTHON: Final = {
    "names": "Nothing is written. Leave them out, as identifiers=[...], or say why they may stay, as accept={...}.",
    "dependences": "Make them quasi-identifiers, leave them out, as identifiers=[...], or say why not, as "
    "accept={...}.",
    "uniques": 'Give them roles, as sensitive=[...]; roles="trust" keeps them as they are without a word.',
    "links": 'Leave the column out, take Pseudonyms(fresh=[...]), or say roles="trust": else it is not written.',
}
"""What a caller in Python does about what a release may be refused for."""


def _describe_doubts(exposure: Exposure) -> Iterator[str]:
    """Describe what speaks against writing a release, each with what to do."""
    for what, hint in _HINTS_IN_PYTHON.items():
        if refusal := exposure.refusals.get(what):
            yield f"records are linked: {refusal.fault} {hint}" if what == "links" else f"{refusal.fault} {hint}"


def _check_identifiers(source: Frame | Table, request: Request, accepted: Mapping[str, str]) -> None:
    """Refuse before the search a column that looks like a direct identifier and was given no role."""
    names = source.names
    check_roles(names, request)
    _warn_of_persons(source, request)
    pseudonymized = request.pseudonyms.columns if request.pseudonyms else ()
    declared = {*request.quasi_identifiers, *request.judged, *request.removed, *pseudonymized, *accepted}
    undeclared = [name for name in names if name not in declared]
    # Naming quasi-identifiers implies that rows are about persons, so identifiers are looked for.
    looks = find_identifiers(source, undeclared) if undeclared else ()
    if looks:
        raise ColumnError(
            f"column {looks[0][0]!r} looks like a direct identifier ({looks[0][1]}) and was given no role.",
            hint=f"identifiers={[name for name, _ in looks]!r} leaves it out, "
            f'accept={{{looks[0][0]!r}: "a reason"}} keeps it.',
        )


def _warn_of_persons(source: Frame | Table, request: Request) -> None:
    """Warn of a column that numbers persons and repeats, where classes count records."""
    identifiers = (*request.identifiers, *(request.pseudonyms.columns if request.pseudonyms else ()))
    if request.person is not None or len(identifiers) < 2 or any(model.needs.original for model in request.models):
        return
    person = find_repeating_person(source, identifiers)
    if person is not None and doubt_of_persons(source, request) is None:
        msg = (
            f"column {person!r} numbers persons, and some have several of the {source.n_records:,} records: pass "
            f"person={person!r}, so that classes count persons."
        )
        warnings.warn(msg, stacklevel=4)


def _check_arguments(missing: object, key: object, specs: Any, budget: Any, pseudonyms: object, roles: object) -> None:
    if missing != "category":
        raise InputError(
            f"missing = {missing!r} makes no partition, so nothing can be generalized by it.",
            hint="anonymize with missing='category', and verify with the other readings.",
        )
    if key is not None:
        raise InputError("a key was given without a policy.", hint="pass pseudonyms=Pseudonyms(columns, key).")
    if roles not in ("check", "trust"):
        raise InputError(f"roles = {roles!r}.", hint="choose 'check' or 'trust'.")
    check_specs(specs)
    check_budget(budget)
    check_type(pseudonyms, Pseudonyms, "pseudonyms", "Pseudonyms(columns, key)")


def _read_rounding(rounding: Mapping[str, float | Mapping[str, float]] | None) -> dict[str, KeptRounding]:
    """Read how columns are rounded."""
    if not rounding:
        return {}
    from hushtable.columns import KeptRounding

    return {name: KeptRounding.from_entry(entry) for name, entry in rounding.items()}


def _read_hierarchies(hierarchies: Any, request: Request) -> Mapping[str, Any]:
    """Read hierarchies; of a file of domains, only those of quasi-identifiers and judged columns."""
    if not isinstance(hierarchies, (str, os.PathLike)):
        check_type(
            hierarchies, Mapping, "hierarchies", 'a mapping, as {"zip": "auto"}, or the path of a file of domains'
        )
        return hierarchies or {}
    columns = (*request.quasi_identifiers, *request.judged)
    return {name: ladder for name, ladder in Hierarchy.from_domains(hierarchies).items() if name in columns}
