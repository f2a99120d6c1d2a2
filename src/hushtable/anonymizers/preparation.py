"""The request for a release, the checks and warnings before a search, and the table, read and coded once."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from hushtable.anonymizers.method import Method
from hushtable.anonymizers.mondrian import Mondrian
from hushtable.claims import Limits
from hushtable.columns import ENGLISH, SUPPRESSED, Column, ColumnSpec, describe_separator, without_blanks
from hushtable.errors import ColumnError, InputError, check_choice, check_columns, quote_names
from hushtable.hierarchy import Dictionary, Hierarchy, Prefix, are_codes, prefix_lengths_of
from hushtable.io import Frame, Writing, drafts
from hushtable.models import DeltaPresence, KAnonymity, MatchingNotion, PrivacyModel
from hushtable.quality import Loss, SetNCP
from hushtable.release import Pseudonyms
from hushtable.search import Clock
from hushtable.tables import Table, count_by_value, merge_spellings_in, open_table, warn_of_missing_codes

if TYPE_CHECKING:
    from hushtable.columns import KeptRounding
    from hushtable.release import DateShift, SinceFirst, Timelines


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """The request for a release; fields are the parameters of `hushtable.anonymize` of the same names."""

    quasi_identifiers: tuple[str, ...]
    models: tuple[PrivacyModel, ...]
    sensitive: tuple[str, ...] = ()  # besides those that a model judges
    method: Method = field(default_factory=Mondrian)
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    unknown: Literal["error", "suppress"] = "error"
    loss: Loss = field(default_factory=SetNCP)
    suppression_limit: float = 0.0
    identifiers: tuple[str, ...] = ()
    pseudonyms: Pseudonyms | None = None
    specs: Mapping[str, ColumnSpec] = field(default_factory=dict)
    population: Any = field(default=None, repr=False)
    person: str | None = None
    limits: Limits = field(default_factory=Limits)
    clock: Clock = field(default_factory=Clock, repr=False)
    inputs: tuple[Path, ...] = ()  # files read for it, besides those that the other attributes name
    writing: Writing = field(default_factory=Writing)
    left_out: tuple[str, ...] = ()  # columns that identify nobody, and are not wanted
    rounding: Mapping[str, KeptRounding] = field(default_factory=dict)  # of columns that are kept
    # The column that says of which household a person is: ``person`` is then that column, ``member`` the one that
    # says who a person is, and households are published whole
    household: str | None = None
    member: str | None = None
    dates: DateShift | SinceFirst | None = None  # dates of persons that are changed before anything is judged
    search_models: tuple[PrivacyModel, ...] = ()  # that the search keeps besides, and the release does not claim

    def __post_init__(self) -> None:
        if not self.models:
            raise InputError("no privacy model was given.", hint="pass models=[KAnonymity(5)], for instance.")
        if not self.quasi_identifiers:
            raise InputError(
                "no quasi-identifier was given.", hint="name the columns that someone may know of a person."
            )
        if not 0 <= self.suppression_limit <= 1:
            raise InputError(
                f"suppression_limit = {self.suppression_limit!r}.", hint="a share of the records, from 0 to 1."
            )
        check_choice("unknown", self.unknown, ("error", "suppress"))
        shares = [model.name for model in self.models if isinstance(model, DeltaPresence)]
        if shares and self.person is not None:
            raise InputError(
                f"{quote_names(shares)} was given with person={self.person!r}.",
                hint="a share of a population is of records: give one row a person, or leave the model out.",
            )
        _complete_request(self)
        linked = [model.name for model in self.models if model.needs.histories]
        if linked and (self.person is None or self.hides_person):
            what = "nobody said" if self.person is None else "the release does not tell"
            raise InputError(
                f"{quote_names(linked)} was asked, and {what} whose record a row is.",
                hint="pass person=, a column that is published as a pseudonym; or ask for k-anonymity, which counts "
                "persons where nothing links their records.",
            )
        notions = [model.name for model in self.models if isinstance(model, MatchingNotion)]
        others = (*self.models[1:], *self.search_models)
        if notions and (others or self.suppression_limit > 0 or self.limits.any or self.person):
            raise InputError(
                f"{quote_names(notions)} was given with other models, limits, persons or a suppression limit.",
                hint="a matching notion goes alone: it compares all published rows with all original ones.",
            )
        _check_sets(self)
        _check_rounding(self)
        _check_search_models(self)

    @property
    def parted(self) -> tuple[str, ...]:
        """Columns whose cells are sets of items."""
        return tuple(name for name, spec in self.specs.items() if spec.separator is not None)

    @property
    def judged(self) -> tuple[str, ...]:
        """All sensitive columns, each once."""
        judged = (name for model in self.models for name in model.needs.sensitive)
        return tuple(dict.fromkeys((*self.sensitive, *judged)))

    @property
    def hidden(self) -> tuple[str, ...]:
        """Identifiers that are removed, or become pseudonyms."""
        return (*self.identifiers, *(self.pseudonyms.columns if self.pseudonyms else ()))

    @property
    def removed(self) -> tuple[str, ...]:
        """Columns that the release does not have."""
        return (*self.identifiers, *self.left_out)

    @property
    def unpublished(self) -> tuple[str, ...]:
        """Columns of which no cell is published as it is."""
        return (*self.hidden, *self.left_out)

    @property
    def hides_person(self) -> bool:
        """Whether the release does not say which records are one person's."""
        return self.person in self.identifiers or (self.pseudonyms is not None and self.person in self.pseudonyms.fresh)

    @property
    def asked_of_classes(self) -> tuple[PrivacyModel, ...]:
        """The models for every class, with k-anonymity for the smallest class that the limits of risk allow."""
        models = tuple(model for model in self.models if not isinstance(model, MatchingNotion))
        k = self.limits.smallest_class
        return models if k <= 1 else (*models, KAnonymity(k))

    @property
    def asked_of_search(self) -> tuple[PrivacyModel, ...]:
        """The models that a search keeps in every class: those of the claim, and stricter ones as a margin."""
        return (*self.asked_of_classes, *self.search_models)


def _complete_request(request: Request) -> None:
    """Let classes count households where these are asked for; check the dates that are to be changed."""
    # Few requests have any, and a command loads what it runs.
    if request.household is not None:
        from hushtable.anonymizers.households import method_of_households

        if request.person != request.household:
            object.__setattr__(request, "member", request.person)
            object.__setattr__(request, "person", request.household)
        object.__setattr__(request, "method", method_of_households(request))
    if request.dates is not None:
        from hushtable.anonymizers.retiming import check_dates

        check_dates(request)


_MIN_COMBINATIONS: Final = 20  # fewer values of a column are not tested for separators
_SEPARATORS: Final = (";", "|", ",", "/", "+")
_MIN_VALUES_TO_WARN: Final = 100  # with so many, nobody remembers which group holds which value


def _check_sets(request: Request) -> None:
    """Raise an error if the request uses columns of sets in a way that has no meaning for sets."""
    parted = request.parted
    if not parted:
        return
    from hushtable.models import question_of_items

    identifying = [name for name in parted if name in (*request.hidden, request.person)]
    if identifying:
        raise InputError(
            f"column {identifying[0]!r} has a separator, and identifies a person.",
            hint="an identifier is no set: leave it out.",
        )
    models = (*request.models, *request.search_models)
    of_sets = [model for model in models if any(name in parted for name in model.needs.sensitive)]
    for model in of_sets:
        question_of_items(model, "item")
    linked = [model.name for model in request.models if model.needs.histories]
    if of_sets and linked:
        raise InputError(
            f"{quote_names(linked)} was given with {of_sets[0].name} of sets of items.",
            hint="ask for k-anonymity instead, or of the sensitive column without a separator.",
        )
    rules = {name: request.hierarchies[name] for name in parted if name in request.hierarchies}
    prefixed = [name for name, rule in rules.items() if isinstance(rule, Prefix) or _names_rule(rule, Prefix.name)]
    odd = [name for name in rules if name in request.judged or name in prefixed]
    if odd:
        what = "sensitive column" if odd[0] in request.judged else "prefixes of column"
        raise InputError(
            f"a hierarchy was given to {what} {odd[0]!r}, whose cells are sets of items.",
            hint="a quasi-identifier takes a file or a tree that lists its sets; of a sensitive one every "
            "item is judged.",
        )


def _check_search_models(request: Request) -> None:
    """Raise InputError if the search is to keep a model of another column, or one that judges no class."""
    for model in request.search_models:
        others = [name for name in model.needs.sensitive if name not in request.judged]
        if others:
            raise InputError(
                f"{model.name} in search_models looks at {quote_names(others)}, which the release does not judge.",
                hint="name a sensitive column of the release, as in models.",
            )
        if model.needs.histories or model.needs.population or isinstance(model, MatchingNotion):
            raise InputError(
                f"{model.name} in search_models does not judge single classes of records.",
                hint="search with a stricter model of the same kind, for instance l-diversity with l + 1.",
            )


def _check_rounding(request: Request) -> None:
    """Raise ColumnError if a column is to be rounded that is not kept."""
    of_persons = () if request.person is None else (request.person,)
    names = (*request.quasi_identifiers, *request.unpublished, *request.parted, *of_persons)
    changed = [name for name in request.rounding if name in names]
    if changed:
        raise ColumnError(
            f"column {changed[0]!r} is rounded, and is no number that is kept.",
            hint="round columns with the role sensitive or other; a quasi-identifier takes a hierarchy or a grid.",
        )


def _names_rule(rule: Any, name: str) -> bool:
    """Tell whether a policy's entry is a mapping that names this rule."""
    return isinstance(rule, Mapping) and name in rule


def check_roles(available: Sequence[str], request: Request) -> None:
    """Raise ColumnError if a request names a column that does not exist, or gives one two roles."""
    roles = {
        "quasi_identifiers": request.quasi_identifiers,
        "sensitive columns": request.judged,
        "identifiers": request.hidden,
        "columns to leave out": request.left_out,
    }
    for what, names in roles.items():
        check_columns(names, available, what)
    check_columns(tuple(request.rounding), available, "columns to round")
    all_names = [name for names in roles.values() for name in names]
    doubled = sorted({name for name in all_names if all_names.count(name) > 1})
    if doubled:
        raise ColumnError(
            f"columns {quote_names(doubled)} have more than one role.",
            hint="a column is an identifier, a quasi-identifier or sensitive; copy it where it must be two of them.",
        )
    if request.person is not None:
        check_columns((request.person,), available, "person" if request.household is None else "household")
        if request.person in (*request.quasi_identifiers, *request.judged):
            raise ColumnError(
                f"column {request.person!r} says whose record a row is, and has another role.",
                hint="it is an identifier (left out, or a pseudonym), or has no role.",
            )


def check_spelling(source: Frame, names: Sequence[str], judged: Sequence[str] = ()) -> None:
    """Raise ColumnError if the cells of a column without a declared type could mean different dates or numbers."""
    for name in (*names, *judged):
        formats, marks = source.doubts(name)
        if formats:
            if len(formats) == 1:
                from hushtable.anonymizers.centuries import ask_for_latest_year

                what = f"the dates of column {name!r}, {formats[0]}, have years of two digits."
                raise ColumnError(what, hint=f"{ask_for_latest_year(name)[:-1]}; or that it is of kind category.")
            what = f"the dates of column {name!r} fit several formats: {', '.join(formats)}."
            entry, example = "format", formats[0]
        elif marks:
            what = f"the numbers of column {name!r} could be read in {len(marks)} ways."
            entry, example = "decimal", "','"
        else:
            continue
        how = f"`{entry}:` in a policy, --set columns.{name}.{entry}={example}, ColumnSpec({entry}=...) in Python"
        raise ColumnError(what, hint=f"say which is meant: {how}; or that it is of kind category.")


def check_cells(table: Table) -> None:
    """Raise InputError if the table is empty, or if a cell is already `*`."""
    if table.n_rows == 0 or table.n_records == 0:
        raise InputError("the table is empty.", hint="there is nothing to protect; check the file and its first line.")
    for column in table.columns:
        if not column.is_measured and SUPPRESSED in column.values:
            raise ColumnError(
                f"column {column.name!r} holds a literal '*', which in a release means any value.",
                hint="replace it by a missing value or another text first; was this table anonymized before?",
            )


def warn_of_doubts(source: Frame | Table, table: Table, request: Request) -> None:
    """Warn of requests that are carried out but probably not meant."""
    if any(model == KAnonymity(1) for model in request.models) and request.limits.smallest_class == 1:
        warnings.warn("k-anonymity (k = 1) asks nothing: every record may be alone in its class.", stacklevel=4)
    if isinstance(request.method, Mondrian) and request.method.recoding in ("readable", "nested"):
        max_listed = request.method.max_listed if request.method.recoding == "readable" else 1
        for name in request.quasi_identifiers:
            column = table.column(name)
            if column.is_measured:
                continue
            are_sets = column.separator is not None
            is_many = column.n_values >= _MIN_VALUES_TO_WARN and (are_sets or not are_codes(column.texts()))
            if name not in request.hierarchies and is_many:
                warnings.warn(
                    f"column {name!r} has {column.n_values} values and no hierarchy: a class of more than "
                    f"{max_listed} of them publishes a group by frequency, which says little. "
                    f"{_propose_hierarchy(column)}",
                    stacklevel=4,
                )
    for name in request.quasi_identifiers:
        mark = _mark_of_several(table.column(name))
        if mark is not None and name not in request.hierarchies:
            warnings.warn(
                f"column {name!r} has cells of several values with {mark!r} between them: each of its "
                f"{table.column(name).n_values} combinations is a value of its own, in every order. Make sets of them "
                f"({describe_separator(name, mark)}), give every one of the values a column that says yes or no, or "
                "keep the first one only.",
                stacklevel=4,
            )
    warn_of_missing_codes(source, [name for name in source.names if name not in request.unpublished], stacklevel=5)
    doubts = [doubt_of_persons(source, request)]
    if request.dates is not None:
        from hushtable.anonymizers.retiming import doubts_of_shift

        doubts = [*doubts, *doubts_of_shift(source, request)]
    dated = [column for column in table.columns if column.kind in ("date", "datetime")]
    if dated:
        from hushtable.anonymizers.centuries import doubts_of_centuries

        doubts = [*doubts_of_centuries(source, dated), *doubts]
    for doubt in filter(None, doubts):
        warnings.warn(doubt, stacklevel=4)


def _mark_of_several(column: Column) -> str | None:
    """Find the separator of cells with several values in a category; None if cells are single values."""
    is_plain = column.is_measured or column.separator is not None or column.n_values < _MIN_COMBINATIONS
    texts = [] if is_plain else column.texts()
    for mark in _SEPARATORS:
        several = [text.split(mark) for text in texts if mark in text]
        parts = {part.strip() for each in several for part in each}
        # Many combinations of few values: most cells have the mark, and their parts repeat.
        if len(several) >= len(texts) / 2 > len(parts) and "" not in parts:
            return mark
    return None


def doubt_of_persons(source: Frame | Table, request: Request) -> str | None:
    """Return a warning if a person may have several records and no person column is given; else None."""
    hidden = request.hidden
    # An identifier without repeats: every record may be a person's only one.
    if request.person is not None or not hidden or any(_tells_apart(source, name) for name in hidden):
        return None
    return (
        f"no identifier tells the {source.n_records} records apart ({quote_names(hidden)}): where a person has several "
        f"records, pass person={hidden[0]!r} (--person {hidden[0]}), so that classes count persons."
    )


def _propose_hierarchy(column: Column) -> str:
    lengths = prefix_lengths_of(column)
    rule = f"`hierarchy: {{prefix: {list(lengths)}}}`" if lengths else "a file with a line `value;group;...` for each"
    return f"Give it one: {rule}."


_N_FIRST_CELLS: Final = 10_000


def _tells_apart(source: Frame | Table, name: str) -> bool:
    """Tell whether a column's values are unique and most cells have one; True for lists and the like, unread."""
    if isinstance(source, Table):
        n_known = int(source.counts[source.codes[source.index(name)] >= 0].sum())
        return source.n_records < 2 * n_known and source.column(name).n_values == n_known
    try:
        column = source.column(name)
        # Most columns repeat a value early: then the others need not be read.
        if without_blanks(column.head(_N_FIRST_CELLS), name).drop_nulls().is_duplicated().any():
            return False
        cells = without_blanks(column, name)
    except ColumnError:
        return True
    known = cells.drop_nulls()
    n_known = int(source.records[cells.is_not_null().to_numpy()].sum())
    return source.n_records < 2 * n_known and known.n_unique() == n_known


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """The prepared table; requests with the same columns can share it."""

    source: Frame | Table
    table: Table  # the judged columns, row by row; spellings of a sensitive value are one value
    population: Frame | Table | None  # as it was read
    population_table: Table | None  # the quasi-identifiers of the population
    ladders: Mapping[str, Hierarchy]
    specs: Mapping[str, ColumnSpec]  # how the columns were typed, those of the population included
    origins: Mapping[str, ColumnSpec] = field(repr=False)  # how quasi-identifiers are spelled in the source
    inputs: tuple[Path, ...]  # the files that were read
    timelines: Timelines | None = None  # how the dates of persons were changed

    def with_hierarchies_of(self, request: Request) -> Prepared:
        """Return the same with exactly the hierarchies that the request's method needs."""
        rules = _hierarchies_to_build(request)
        if rules.keys() == self.ladders.keys():
            return self
        lacking = {name: ladder for name, ladder in rules.items() if name not in self.ladders}
        ladders = {**self.ladders, **_build_hierarchies(self.everyone, lacking, request.unknown)}
        return replace(self, ladders={name: ladders[name] for name in rules})

    @property
    def everyone(self) -> Table:
        """The table, with the population where one is counted."""
        return self.table if self.population_table is None else self.table.with_population(self.population_table)

    def without_quasi_identifier(self, name: str) -> Prepared:
        """Return the same without a quasi-identifier, where no population is counted; the source keeps its cells."""
        table = self.table.select([each for each in self.table.names if each != name])
        ladders = {each: ladder for each, ladder in self.ladders.items() if each != name}
        specs, origins = (
            {each: spec for each, spec in specs.items() if each != name} for specs in (self.specs, self.origins)
        )
        return replace(self, table=table, ladders=ladders, specs=specs, origins=origins)

    def with_row_per_record(self) -> Prepared:
        """Expand counts: one row per record, so that equal records can go to different classes."""
        return replace(self, source=self.source.with_row_per_record(), table=self.table.with_row_per_record())


def prepare(data: Any, request: Request) -> Prepared:
    """Read and code the table, population and hierarchies of a request."""
    inputs = (*request.inputs, *drafts.paths_among(data, request.population, request.hierarchies))
    population = request.population
    if population is not None:
        population = open_table(population, request.specs)
    source, table, timelines = _read_source(data, request)
    if isinstance(source, Frame) and isinstance(population, Frame):
        from hushtable.io import read_alike, spell_as

        population = read_alike((source, population))[1]
        population = spell_as(
            population, {name: table.column(name) for name in table.names if name in population.columns}
        )
    people = _encode_population(population, request)
    everyone = table if people is None else table.with_population(people)
    _check_columns_named(request)
    specs = {column.name: _spec_of(column, source, request) for column in everyone.columns}
    specs |= {
        name: source.column(name).spec
        if isinstance(source, Table)
        else rounding.spec(source.spelling(name, is_typed=True))
        for name, rounding in request.rounding.items()
        if name not in specs
    }
    everyone = merge_spellings_in(everyone, request.judged)
    ladders = _build_hierarchies(everyone, _hierarchies_to_build(request), request.unknown)
    if request.writing.bounds:
        from hushtable.anonymizers.bounds import check_bounds

        check_bounds(source.names, table.columns, ladders, request)
    return Prepared(
        source,
        merge_spellings_in(table, request.judged),
        population,
        people,
        ladders=ladders,
        specs=specs,
        origins={} if isinstance(source, Table) else _collect_origins(source, request),
        inputs=inputs,
        timelines=timelines,
    )


def _read_source(data: Any, request: Request) -> tuple[Frame | Table, Table, Timelines | None]:
    """Read and check the source; return it, the judged columns as a coded table, and how dates were changed."""
    source = open_table(data, request.specs)
    check_roles(source.names, request)
    sensitive = request.judged
    persons = () if request.person is None else (request.person,)
    if not isinstance(source, Table):
        # Persons are told apart by their texts, as any reader of the file does.
        source = source.with_specs({name: ColumnSpec("category") for name in persons if source.text(name) is not None})
        source, undecided = source.without_odd_cells([name for name in source.names if name not in request.unpublished])
        if undecided:
            from hushtable.io import refuse_odd_cells

            refuse_odd_cells(undecided)
        check_spelling(source, request.quasi_identifiers if source.is_text else (), (*sensitive, *request.rounding))
        dated = [name for name in (*request.quasi_identifiers, *sensitive) if source.spec(name).format is not None]
        if dated:
            from hushtable.anonymizers.centuries import check_centuries

            check_centuries(source, dated)
        # From here on, declared missing texts are missing cells for everything that follows.
        source = source.without_declared().with_sets()
    elif any(name in source.names and source.column(name).separator is None for name in request.parted):
        raise InputError(
            f"columns {quote_names(request.parted)} of a Table were given a separator after they were coded.",
            hint="code them with it: Table.encode(data, specs=...).",
        )
    source, specs, timelines = _change_dates(source, request)
    source = round_source(source, request.rounding)
    table = Table.encode(source, (*request.quasi_identifiers, *sensitive, *persons), specs, typed=sensitive)
    check_cells(table)
    if request.household is not None:
        from hushtable.anonymizers.households import check_households

        check_households(source, table, request)
    return source, _with_ranks(table, request.loss), timelines


def _change_dates(
    source: Frame | Table, request: Request
) -> tuple[Frame | Table, Mapping[str, ColumnSpec], Timelines | None]:
    """Change the dates of persons, if asked; return also how columns are typed then, and how dates were changed."""
    if request.dates is None:
        return source, request.specs, None
    from hushtable.anonymizers.retiming import change_dates

    changed, timelines = change_dates(source, request)
    specs = {name: spec for name, spec in request.specs.items() if name not in request.dates.columns}
    return changed, specs, timelines


def _with_ranks(table: Table, loss: Loss) -> Table:
    """Return a table whose columns say whether the loss measures them by rank."""
    if not isinstance(loss, SetNCP):
        return table
    return replace(table, columns=tuple(replace(each, by_rank=loss.is_by_rank(each.name)) for each in table.columns))


def round_source(source: Frame | Table, roundings: Mapping[str, KeptRounding]) -> Frame | Table:
    """Return a table with rounded columns."""
    if not roundings or isinstance(source, Table):
        return source.with_rounding(roundings) if isinstance(source, Table) else source
    from hushtable.io import round_frame

    return round_frame(source, roundings)


def _collect_origins(source: Frame, request: Request) -> dict[str, ColumnSpec]:
    """Collect how quasi-identifiers are spelled, and which texts are missing cells in columns that are kept."""
    spellings = {name: source.spelling(name).spelling for name in request.quasi_identifiers}
    passed_over = {*spellings, *request.judged, *request.unpublished}
    others = {name: source.spec(name).missing_cells for name in source.names if name not in passed_over}
    return spellings | {name: spec for name, spec in others.items() if spec != ColumnSpec()}


def _spec_of(column: Column, source: Frame | Table, request: Request) -> ColumnSpec:
    """Return how a column was typed, so that a reader of the release types its texts in the same way."""
    if isinstance(source, Table) or column.name not in (*request.judged, request.person):
        return column.spec
    # A sensitive column is published as it came.
    return column.spec.with_defaults_from(source.spelling(column.name, is_typed=True))


def _check_columns_named(request: Request) -> None:
    """Raise ColumnError if hierarchies, weights or scales are given for other columns."""
    columns = (*request.quasi_identifiers, *request.judged)
    check_columns(tuple(request.hierarchies), columns, "hierarchies of quasi-identifiers and sensitive columns")
    check_columns(tuple(request.loss.weights), request.quasi_identifiers, "weights")
    if isinstance(request.loss, SetNCP) and isinstance(request.loss.scale, Mapping):
        check_columns(tuple(request.loss.scale), request.quasi_identifiers, "scale")


def _hierarchies_to_build(request: Request) -> dict[str, Any]:
    """Return the definitions of hierarchies: the user's, and "auto" for other columns if the method needs one."""
    rules = {name: _with_language(each, request.writing.language) for name, each in request.hierarchies.items()}
    proposed = request.quasi_identifiers if request.method.offers.needs_ladders else ()
    return {**dict.fromkeys(proposed, "auto"), **rules}


def _with_language(definition: Any, language: str) -> Any:
    """Return a dictionary rule with labels in a language, unless the rule sets its own."""
    rule = Hierarchy.from_dict(definition, "") if _names_rule(definition, Dictionary.name) else definition
    return replace(rule, language=language) if isinstance(rule, Dictionary) and rule.language == ENGLISH else definition


def _build_hierarchies(
    table: Table, rules: Mapping[str, Any], unknown: Literal["error", "suppress"]
) -> dict[str, Hierarchy]:
    """Build the hierarchies of columns from their definitions."""
    return {
        name: Hierarchy.build(ladder, table.column(name), count_by_value(table, name)[1:], unknown=unknown)
        for name, ladder in rules.items()
    }


def _encode_population(population: Frame | Table | None, request: Request) -> Table | None:
    """Encode the population's quasi-identifiers; None without one. Raise if a model lacks or ignores it."""
    needed = [model.name for model in request.models if model.needs.population]
    if (population is not None) != bool(needed):
        models = (
            f"{quote_names(needed)} without a population" if needed else "a population, but no model that counts it"
        )
        raise InputError(
            f"anonymize was given {models}.", hint="k-map and delta-presence go with population=, others do not."
        )
    if population is None:
        return None
    if isinstance(population, Frame) and population.is_text:
        check_spelling(population, request.quasi_identifiers)
    people = Table.encode(population, request.quasi_identifiers)
    check_cells(people)
    return people
