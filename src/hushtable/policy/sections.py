"""The parts of a policy as frozen, strict records; every fault of an entry has its line and what is allowed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from hushtable.anonymizers import METHODS, Method
from hushtable.claims import Limits
from hushtable.columns import ColumnSpec, Kind, OddCellsAnswer, Role as Decided
from hushtable.errors import HushError, PolicyError, find_nearest
from hushtable.hierarchy import PROPOSED, Hierarchy, to_dict as rule_to_dict
from hushtable.io import Dialect, Formulas, Writing, describe_other_form
from hushtable.models import PrivacyModel, entries, from_dict, model_to_dict
from hushtable.policy import plain_yaml
from hushtable.quality import HIGHEST_IMPORTANCE, LOSSES, Loss
from hushtable.release import ExposureLimit

if TYPE_CHECKING:
    from hushtable.columns import KeptRounding
    from hushtable.release import DateShift
    from hushtable.tabulation import CellRules

Place = tuple[Any, ...]
"""Where something stands in a file: names of entries, and positions in lists."""


class Record(BaseModel):
    """A frozen record, in which unknown entries are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class MisplacedError(ValueError):
    """A fault between two entries of a record, with the location of the one to correct."""

    def __init__(self, message: str, location: Place) -> None:
        super().__init__(message)
        self.location = location


def faults_of(
    error: ValidationError,
    kind: type[Record],
    values: Any,
    name: str,
    tree: plain_yaml.YamlNode | None,
    above: Place = (),
) -> list[str]:
    """Return one line for each fault in a record, which is located at ``above`` in the file ``name``."""
    located = [(_locate_fault(fault, values), fault) for fault in error.errors(include_url=False)]
    # If an entry may have several types, the fault inside one type says more than the fault of the whole.
    outer = {place[:depth] for place, _ in located for depth in range(len(place))}
    return [
        fault_line(name, tree, (*above, *place), _describe_fault(fault, kind, place))
        for place, fault in located
        if place not in outer
    ]


def fault_line(name: str, tree: plain_yaml.YamlNode | None, place: Place, told: str) -> str:
    """Format a fault with its location in a file, and with its line if the tree is known."""
    where = name if tree is None else f"{name} line {plain_yaml.line_of(tree, place)}"
    return f"{where}: {'.'.join(map(str, place))}: {told}"


def no_such(what: str, word: Any, known: Iterable[str]) -> str:
    """Describe that a word is unknown, and which known word may be meant."""
    known = list(known)
    return f"{what}.{_suggest_word(word, known)} Known: {', '.join(known)}."


def _suggest_word(word: Any, known: Iterable[str]) -> str:
    near = find_nearest(word, known)
    return "" if near is None else f" Did you mean {near!r}?"


def _locate_fault(fault: Mapping[str, Any], values: Any) -> Place:
    """Return the location of a fault in a record, without the types that pydantic inserts for unions."""
    path: list[Any] = []
    for step in fault["loc"]:
        if _has_step(values, step):
            path.append(step)
            values = values[step]
        elif not _is_type(step):
            path.append(step)
            values = None
    cause = fault.get("ctx", {}).get("error")
    return (*path, *cause.location) if isinstance(cause, MisplacedError) else tuple(path)


def _has_step(given: Any, step: int | str) -> bool:
    if isinstance(given, (list, tuple)):
        return isinstance(step, int) and step < len(given)
    return isinstance(given, Mapping) and step in given


def _is_type(step: int | str) -> bool:
    # Unlike types, names of entries are in lower case, without brackets.
    return isinstance(step, str) and (step in ("int", "float", "str", "bool") or step[:1].isupper() or "[" in step)


def _describe_fault(fault: Mapping[str, Any], kind: type[BaseModel], place: Place) -> str:
    if fault["type"] == "extra_forbidden":
        return no_such("no such entry", place[-1], _list_entries(kind, place[:-1]))
    words = re.findall("'([^']*)'", fault["ctx"]["expected"]) if fault["type"] == "literal_error" else ()
    return f"{fault['msg'].removeprefix('Value error, ')}.{_suggest_word(fault['input'], words)}"


def _list_entries(kind: type[BaseModel], place: Place) -> list[str]:
    """Return the entries that a record may have, or one of its parts."""
    for step in place:
        field = next((each for name, each in kind.model_fields.items() if step in (name, each.alias)), None)
        if field is not None:
            kind = next(_records_in(field.annotation), kind)
    return [field.alias or name for name, field in kind.model_fields.items()]


def _records_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _records_in(part)


ASK: Final = "ask"
"""What a role, or a format of dates, is until someone has decided."""

MEANINGS: Final = {
    "quasi-identifier": "someone may know it of a person: generalized",
    "sensitive": "nobody may learn it of a person: judged by models, kept as it is",
    "identifier": "it identifies a person directly: left out, or a pseudonym",
    "other": "nobody knows it of a person: kept as it is",
    "leave out": "it identifies nobody, and is not wanted: left out",
}
"""What each role means, in a line."""

_VALUE_ENTRIES: Final = ("hierarchy", "kind", "order")

PolicyRole = Literal[Decided, "ask"]
Importance = Annotated[int, Field(ge=1, le=HIGHEST_IMPORTANCE, strict=True)]
Action = Literal["remove", "pseudonym", "fresh", "shift", "since-first"]
PolicyUnknown = Literal["error", "suppress"]


def format_error(error: HushError) -> str:
    """Format an error as the fault of an entry: what is wrong, and what to do."""
    # The policy's own message adds the place and a hint of its own.
    return f"{error.message} {error.hint}".rstrip(".")


def with_value_errors(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Convert errors of a reader into ValueError, which pydantic collects."""

    def read(given: Any) -> Any:
        try:
            return make(given)
        except HushError as error:
            raise ValueError(format_error(error)) from None

    return read


_DEFAULTS: Final = {"mondrian": {"recoding": "readable"}}
"""Options of methods whose default in a policy is not Python's: people read a file, and exact ends belong to some."""


def read_loss(given: Any) -> Loss:
    """Read a loss."""
    made: Loss = LOSSES.take(given, Loss)
    return made


def read_method(entry: Any) -> Method:
    """Read a method, with the defaults of a policy."""
    if isinstance(entry, str):
        entry = {entry: {}}
    if isinstance(entry, Mapping):
        entry = {
            name: {**_DEFAULTS.get(name, {}), **(options or {})} if isinstance(options or {}, Mapping) else options
            for name, options in entry.items()
        }
    made: Method = METHODS.take(entry, Method, nested={"tie_break": read_loss})
    return made


def method_to_dict(made: Method) -> dict[str, Any]:
    """Return a method as plain values, including options whose defaults differ in a policy."""
    return {
        name: {**{option: getattr(made, option) for option in _DEFAULTS.get(name, {})}, **options}
        for name, options in entries.to_entry(made).items()
    }


def read_model(entry: Any) -> PrivacyModel:
    """Read a privacy model."""
    if isinstance(entry, (str, Mapping)):
        return from_dict(entry)
    if not isinstance(entry, PrivacyModel):
        raise PolicyError("expected `name: parameter`, for instance k-anonymity: 5")
    return entry


def check_reasons(reasons: Any) -> Any:
    """Check that accepted columns have reasons in words."""
    if not isinstance(reasons, Mapping):
        raise ValueError('expected a column and a reason, for instance {visit: "nobody outside knows the day"}')
    for name, reason in reasons.items():
        if not isinstance(reason, str) or not any(sign.isalnum() for sign in reason):
            msg = "expected a reason in words why nobody knows the column"
            raise MisplacedError(msg, (name,))
    return reasons


def _check_models(given: Any, info: ValidationInfo) -> Any:
    """Check that models are a list; a release claims one at least."""
    if not isinstance(given, (list, tuple)) or (not given and info.field_name != "search_models"):
        raise ValueError("expected a list of models, for instance: [k-anonymity: 5]")
    return given


def _check_version(given: object) -> object:
    """Raise ValueError if a policy is of a form that this version does not read."""
    if newer := describe_other_form("policy", given):
        raise ValueError(newer)
    return given


PolicyVersion = Annotated[Literal[1], BeforeValidator(_check_version)]
PolicyModels = Annotated[
    tuple[Annotated[Any, BeforeValidator(with_value_errors(read_model)), PlainSerializer(model_to_dict)], ...],
    BeforeValidator(_check_models),
]
PolicyMethod = Annotated[Any, BeforeValidator(with_value_errors(read_method)), PlainSerializer(method_to_dict)]
PolicyLoss = Annotated[Any, BeforeValidator(with_value_errors(read_loss)), PlainSerializer(entries.to_entry)]


def _check_hierarchy(entry: Any, info: ValidationInfo) -> Any:
    """Check the hierarchy of a column, and return it as plain values."""
    if isinstance(entry, str):
        return entry if entry in PROPOSED else check_file_exists(entry, info)
    if not isinstance(entry, Mapping):
        raise ValueError(
            "expected auto, units, the path of a hierarchy file, or a rule, for instance {intervals: {width: [5, 10]}}"
        )
    try:
        made = Hierarchy.from_dict(entry, "column")
    except HushError as error:
        raise ValueError(format_error(error)) from None
    return made.to_dict() if isinstance(made, Hierarchy) else rule_to_dict(made)


def check_file_exists(path: Any, info: ValidationInfo) -> str:
    """Check that a file exists, if the policy's folder is known."""
    folder = (info.context or {}).get("folder")
    if not isinstance(path, str) or (folder is not None and not os.path.isfile(folder / path)):
        raise ValueError(f"no file {path!r} in the folder of the policy")
    return path


ANY_KEY: Final = bytes(range(32))
"""The key of figures that are the same whatever it is; what is written never has it."""

DATE_ACTIONS: Final = ("shift", "since-first")

_StrictNumber = Annotated[int, Field(strict=True)] | Annotated[float, Field(strict=True)]


class ColumnPolicy(Record):
    """What a column is, and how it is read."""

    role: PolicyRole  # ``"ask"`` is yet to be decided: nothing is protected by such a policy
    action: Action | None = None
    kind: Kind | None = None  # where the cells' looks mislead: a ZIP code is a ``category``
    format: str | None = None  # of dates in text, as strptime has it; ``"ask"`` is yet to be decided
    latest_year: int | None = Field(default=None, strict=True)  # the latest year that two digits of a year stand for
    decimal: str | None = None  # the marks of numbers, where they are not those of the whole file
    thousands: str | None = None
    missing_values: tuple[str, ...] | None = None  # texts that mean a missing value, besides those of the whole file
    order: tuple[str, ...] | None = None  # the values of an ordered category, from low to high
    separator: str | None = None  # what stands between the items of a cell such as ``I10;E11``: cells are sets then
    # What the few cells are that are not of the kind of nearly all others, such as ``31.02.1950``: missing, or values
    # of a column of text. Nothing is released as long as that is to be refused, or is not said.
    odd_cells: OddCellsAnswer | None = None
    # ``"auto"``, ``"units"``, the path of an ARX hierarchy file relative to the policy, or one rule or tree as
    # `hushtable.Hierarchy.from_dict` reads it.
    hierarchy: Annotated[Any, BeforeValidator(_check_hierarchy)] = None
    # How the numbers of a kept column are rounded: to multiples, to significant digits, and what stands for the ends.
    round: _StrictNumber | None = None
    digits: int | None = Field(default=None, strict=True)
    top: _StrictNumber | None = None
    bottom: _StrictNumber | None = None
    label: str | None = None  # what the column is in words, for the codebook and for files of SPSS, Stata and SAS

    @model_validator(mode="before")
    @classmethod
    def _from_word(cls, given: Any) -> Any:
        return {"role": given} if isinstance(given, str) else given

    @model_validator(mode="after")
    def _entries_fit_role(self) -> ColumnPolicy:
        role = "quasi-identifier" if self.action in DATE_ACTIONS else "identifier"
        if self.action is not None and self.role != role:
            raise ValueError(f"action: {self.action} goes with role: {role}, not with {self.role}")
        # How a column is typed that nobody knows decides how Parquet holds it.
        of_published = ("separator", "odd_cells")
        of_others = [name for name in _VALUE_ENTRIES if name != "kind"]
        self._check_rounding()
        of_removed = [*_VALUE_ENTRIES, *of_published]
        useless = {"identifier": of_removed, "leave out": [*of_removed, "label"], "other": of_others}
        for name in useless.get(self.role, ()):
            if getattr(self, name) is not None:
                roles = f"quasi-identifier{', sensitive or other' if name in of_published else ' or sensitive'}"
                raise ValueError(f"{name} goes with role: {roles}, not with {self.role}")
        with_value_errors(lambda column: column.spec)(self)
        return self

    def _check_rounding(self) -> None:
        rounding = with_value_errors(lambda column: column.rounding)(self)
        if rounding is not None and self.role not in ("sensitive", "other", "ask"):
            given = next(iter(rounding.to_dict()))
            raise ValueError(f"{given} goes with role: sensitive or other, not with {self.role}")
        if rounding is not None and (self.order or self.separator or self.format):
            raise ValueError("round, digits, top and bottom go with numbers: leave order, separator and format out")

    @property
    def rounding(self) -> KeptRounding | None:
        """How the numbers of a kept column are rounded; None if they are not."""
        given = {name: getattr(self, name) for name in ("round", "digits", "top", "bottom")}
        if all(entry is None for entry in given.values()):
            return None
        # Few policies round, and a command loads what it runs.
        from hushtable.columns import KeptRounding

        return KeptRounding(**given)

    @property
    def spec(self) -> ColumnSpec:
        """How the column is read."""
        said = {each.name: getattr(self, each.name) for each in fields(ColumnSpec)}
        return ColumnSpec(**said | ({"format": None} if self.format == ASK else {}))


class PolicyReading(Record):
    """How the input spells its table, where it is a file of text: see `hushtable.io.csv.Dialect`."""

    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    missing_values: tuple[str, ...] = ()
    index: bool | None = Field(default=None, strict=True)

    @model_validator(mode="after")
    def _is_one(self) -> PolicyReading:
        with_value_errors(lambda given: given.dialect)(self)
        return self

    @property
    def dialect(self) -> Dialect:
        """The same, for whoever reads a file."""
        return Dialect(**{name: getattr(self, name) for name in type(self).model_fields})


_DEFAULT_LIMIT: Final = ExposureLimit()


class PolicyExposure(Record):
    """How much the columns with the role other may expose: see `hushtable.release.exposure.ExposureLimit`."""

    columns: int = Field(default=_DEFAULT_LIMIT.columns, ge=1, strict=True)
    rate: float = Field(default=_DEFAULT_LIMIT.rate, ge=0, le=1, strict=True)
    named: int = Field(default=_DEFAULT_LIMIT.named, ge=0, strict=True)
    linked: float = Field(default=_DEFAULT_LIMIT.linked, ge=0, le=1, strict=True)


class PolicyLimits(Record):
    """What is demanded besides the models."""

    highest_risk: float | None = Field(default=None, gt=0, le=1, strict=True)  # of any record: 1 / size of its class
    average_risk: float | None = Field(default=None, gt=0, le=1, strict=True)  # over all records: classes / records
    suppression: float = Field(default=0.0, ge=0, le=1, strict=True)  # share of the records
    exposure: PolicyExposure = PolicyExposure()  # of columns with the role other, and by linked records

    @property
    def of_release(self) -> Limits:
        """What a release claims, and its next batches keep to: of suppression, if some is allowed."""
        return Limits(self.highest_risk, self.average_risk, self.suppression or None)


class PolicyWriting(Record):
    """How a release is written: see `hushtable.io.csv.Writing`."""

    encoding: str = "utf-8"
    decimal: str = "."
    formulas: Formulas = "keep"
    language: str = "en"
    by: str | None = None
    # whether columns of bounds stand beside generalized numbers and dates: `age_from` and `age_to`
    bounds: bool = Field(default=False, strict=True)

    @model_validator(mode="after")
    def _is_known(self) -> PolicyWriting:
        with_value_errors(lambda given: given.made)(self)
        return self

    @property
    def made(self) -> Writing:
        """What a release carries."""
        return Writing(self.encoding, self.decimal, self.formulas, self.language, self.by, bounds=self.bounds)


class PolicyDates(Record):
    """How far dates with ``action: shift`` are shifted: see `hushtable.DateShift`."""

    within: str  # "182D", "26W"
    # The first and the last day of the data; YAML reads dates as such.
    window: tuple[Annotated[str, BeforeValidator(str)], Annotated[str, BeforeValidator(str)]]

    @model_validator(mode="after")
    def _is_possible(self) -> PolicyDates:
        with_value_errors(lambda given: given.to_shift((), ANY_KEY))(self)
        return self

    @property
    def cost(self) -> str:
        """What the shift costs, in words."""
        return self.to_shift((), ANY_KEY).cost

    def to_shift(self, columns: tuple[str, ...], key: bytes) -> DateShift:
        """Return the shift of some columns by a key."""
        from hushtable.release import DateShift

        return DateShift(columns, self.within, self.window, key)


class PolicyBudget(Record):
    """When a search ends: see `hushtable.Budget`."""

    seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    nodes: int | None = Field(default=None, gt=0, strict=True)

    @model_validator(mode="after")
    def _ends(self) -> PolicyBudget:
        if self.seconds is None and self.nodes is None:
            raise ValueError("has no effect: give seconds or nodes")
        return self


class PolicyTabulations(Record):
    """Which tables of counts or sums are made of the records, and what they hide: see `hushtable.tabulate`."""

    by: tuple[tuple[str, ...], ...] = Field(min_length=1)  # the dimensions of each table
    value: str | None = None  # the column that is summed; counts are of persons, or records where there are none
    round: int | None = Field(default=None, ge=2, strict=True)  # counts are rounded to multiples of it, and none hidden
    threshold: int = Field(default=10, ge=1, strict=True)
    dominance: tuple[int, float] | None = None
    p: float | None = Field(default=None, gt=0)
    sensitive: str | None = None
    level: Literal["exact", "upper"] = "upper"
    safety: float = Field(default=10.0, gt=0)
    singletons: bool = Field(default=True, strict=True)  # who is alone in a cell must not compute another one
    zeros: Literal["shown", "hidden"] | None = None
    weight: Literal["count", "one", "log"] = "count"
    earlier: Annotated[str, BeforeValidator(check_file_exists)] | None = None  # tables that were published before
    # Labels that are sums of others, by dimension: the path of a table or .hrc, or a parent and its parts.
    hierarchies: dict[str, Annotated[str, BeforeValidator(check_file_exists)] | dict[str, tuple[str, ...]]] = Field(
        default_factory=dict
    )

    @model_validator(mode="before")
    @classmethod
    def _from_one_table(cls, given: object) -> object:
        by = given.get("by") if isinstance(given, Mapping) else None
        is_one = isinstance(by, (list, tuple)) and all(isinstance(name, str) for name in by)
        return {**given, "by": [by]} if isinstance(given, Mapping) and is_one and by else given

    @model_validator(mode="after")
    def _fits_together(self) -> PolicyTabulations:
        # Few policies make tables, and a command loads what it runs.
        with_value_errors(lambda given: given.rules)(self)
        if self.round is not None:
            for name in sorted(self.model_fields_set - {"by", "round", "hierarchies"}):
                if getattr(self, name) != type(self).model_fields[name].default:
                    raise MisplacedError("has no effect: counts are rounded, and none is hidden", (name,))
        names = dict.fromkeys(name for by in self.by for name in by)
        told = {"sensitive": [self.sensitive] if self.sensitive else [], "hierarchies": [*self.hierarchies]}
        for place, given in told.items():
            for name in given:
                if name not in names:
                    raise MisplacedError(f"names {name!r}, which is a dimension of no table", (place,))
        return self

    @property
    def rules(self) -> CellRules:
        """What must be hidden."""
        from hushtable.tabulation import CellRules

        given = {each.name: getattr(self, each.name) for each in fields(CellRules)}
        return CellRules(**given)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are counted by, and that is summed."""
        names = (*(name for by in self.by for name in by), *([self.value] if self.value else []))
        return tuple(dict.fromkeys(names))
