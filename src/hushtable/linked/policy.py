"""The policy of linked tables: keys, and of every table the columns and their roles."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, PrivateAttr, ValidationError, model_validator

from hushtable.anonymizers import Histories
from hushtable.claims import Classes, LinkedTables
from hushtable.errors import PolicyError, quote_names
from hushtable.io import Dialect
from hushtable.models import KAnonymity, KMAnonymity
from hushtable.policy import (
    ColumnPolicy,
    Importance,
    MisplacedError,
    Policy,
    PolicyBudget,
    PolicyLimits,
    PolicyMethod,
    PolicyModels,
    PolicyReading,
    PolicyWriting,
    Record,
    check_reasons,
    faults_of,
    plain_yaml,
)

_TABLE_NAME: Final = re.compile(r"\w[\w-]*")  # it becomes the name of a file, a sheet or a table of a database


class PolicyUnit(Record):
    """The persons: the column that says whose record a row is, and the table with one row for each of them."""

    key: str
    table: str | None = None


class TablePolicy(Record):
    """A table of several."""

    columns: dict[str, ColumnPolicy]  # all but the key
    key: str | None = None  # the column that says whose record a row is, where its name is not that of the unit's key
    of: str | None = None  # the table whose rows the key names, where these are not the persons: `of: stays`
    time: str | None = None  # the quasi-identifier by which records are aligned first
    weight: float = Field(default=1.0, gt=0, allow_inf_nan=False)  # how much a cell counts beside one of another table
    importance: dict[str, Importance] = Field(default_factory=dict)
    accept: Annotated[dict[str, str], BeforeValidator(check_reasons)] = Field(default_factory=dict)


class LinkedPolicy(Record):
    r"""What is to be protected in several tables of the same persons, and how.

    Attributes
    ----------
    unit : PolicyUnit
    link : {"joined", "none"}
        Whether the published tables can be joined by a person's key. Without a link each table is judged by itself.
    tables : dict of str to TablePolicy
    models : tuple of PrivacyModel
        ``linked-k-anonymity`` or ``km-anonymity`` over all tables; others judge the tables that have their sensitive
        column.
    method : Histories
    limits : PolicyLimits
        ``suppression`` is a share of the records of every table.
    orphans : {"refuse", "drop"}
        What becomes of records whose person is not in the table of persons.
    accept : dict of str to str
        ``km-anonymity`` with m = 1, with the reason why nobody knows two records.

    Examples
    --------
    >>> policy = LinkedPolicy.parse('''
    ... unit: {table: patients, key: pid}
    ... tables:
    ...   patients: {columns: {sex: quasi-identifier}}
    ...   stays: {columns: {ward: quasi-identifier}}
    ... models: [linked-k-anonymity: 5]
    ... ''')
    >>> policy.key_of("stays"), policy.claim().conditions[0]
    ('pid', 'linked-k-anonymity (k = 5), over patients and stays')
    """

    version: Literal[1] = 1
    unit: PolicyUnit
    link: Literal["joined", "none"] = "joined"
    tables: dict[str, TablePolicy] = Field(min_length=1)
    models: PolicyModels
    method: PolicyMethod = Field(default="histories", validate_default=True)
    limits: PolicyLimits = PolicyLimits()
    orphans: Literal["refuse", "drop"] = "refuse"
    accept: Annotated[dict[str, str], BeforeValidator(check_reasons)] = Field(default_factory=dict)
    read_as: PolicyReading = Field(default_factory=PolicyReading, alias="read")
    writing: PolicyWriting = Field(default=PolicyWriting(), alias="write")
    budget: PolicyBudget | None = None

    _folder: Path | None = PrivateAttr(default=None)
    _policies: dict[str, Policy] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _entries_fit_one_another(self) -> LinkedPolicy:
        if self.unit.table is not None and self.unit.table not in self.tables:
            raise MisplacedError(f"{self.unit.table!r} is none of the tables", ("unit", "table"))
        if not isinstance(self.method, Histories) or self.method.time is not None:
            msg = "tables are aligned by `histories`; the time of records is an entry of their table (`time:`)"
            raise MisplacedError(msg, ("method",))
        if self.limits.highest_risk is not None or self.limits.average_risk is not None:
            raise MisplacedError("limits of risk are of one table: ask for a larger k", ("limits",))
        if self.writing.by is not None:
            raise MisplacedError("tables are not written in parts: leave `by` out", ("write", "by"))
        self._check_models()
        for name, table in self.tables.items():
            self._check_table(name, table)
        self._check_shared_columns()
        return self

    def _check_models(self) -> None:
        joint = [model for model in self.models if model.needs.histories]
        if not joint:
            msg = (
                "tables that share a key need a model of all records of a person. Ask for linked-k-anonymity, or for "
                "no link between the tables (`link: none`, with linked-k-anonymity for each)"
            )
            raise MisplacedError(msg, ("models",))
        sensitive = {
            name for table in self.tables.values() for name, each in table.columns.items() if each.role == "sensitive"
        }
        for i, model in enumerate(self.models):
            if isinstance(model, KMAnonymity) and model.m < 2 and KMAnonymity.name not in self.accept:
                msg = (
                    "m = 1 promises nothing to who knows two records: take m = 2 or linked-k-anonymity, or say in "
                    "`accept: {km-anonymity: ...}` why nobody knows two"
                )
                raise MisplacedError(msg, ("models", i))
            lacking = [name for name in model.needs.sensitive if name not in sensitive]
            if lacking:
                raise MisplacedError(f"needs {lacking[0]!r}, which no table declares as sensitive", ("models", i))
            if not model.needs.histories and not model.needs.sensitive:
                msg = f"{model.name} is of one table: linked-k-anonymity asks it of all of them"
                raise MisplacedError(msg, ("models", i))
        useless = [name for name in self.accept if name != KMAnonymity.name]
        if useless:
            msg = "is none of what all tables accept (km-anonymity): columns are accepted in their table"
            raise MisplacedError(msg, ("accept", useless[0]))

    def _check_table(self, name: str, table: TablePolicy) -> None:
        if not _TABLE_NAME.fullmatch(name):
            raise MisplacedError("a table's name is that of a file: letters, digits, - and _", ("tables", name))
        own_key = self.key_of(name)
        if own_key in table.columns:
            msg = f"{own_key!r} is the key, which gets new values by itself: leave it out"
            raise MisplacedError(msg, ("tables", name, "columns", own_key))
        if table.time is not None and (
            table.time not in table.columns or table.columns[table.time].role != "quasi-identifier"
        ):
            raise MisplacedError(f"{table.time!r} is no quasi-identifier of it", ("tables", name, "time"))
        if table.of is not None:
            self._check_parent(name, table)
        kept = [column for column, each in table.columns.items() if each.action in ("pseudonym", "fresh")]
        if kept:
            msg = (
                f"{kept[0]!r} is an identifier besides the key, and would link rows that nobody judges together: "
                "remove it (`action: remove`)"
            )
            raise MisplacedError(msg, ("tables", name, "columns", kept[0]))

    def _check_parent(self, name: str, table: TablePolicy) -> None:
        place = ("tables", name, "of")
        if table.of not in self.tables or table.of == name or self.tables[table.of].of is not None:
            raise MisplacedError(f"{table.of!r} is none of the tables that have a person's key", place)
        if table.key is None or table.key not in self.tables[table.of].columns:
            msg = f"names no column of {table.of!r} in `key`: the one that both tables have"
            raise MisplacedError(msg, place)

    def _check_shared_columns(self) -> None:
        """Refuse columns that join rows of two tables besides the key: nobody would judge what they tell."""
        kept = [
            (name, column, each.role)
            for name, table in self.tables.items()
            for column, each in table.columns.items()
            if each.role in ("other", "sensitive")
        ]
        for name, column, _ in kept:
            others = [other for other, same, _ in kept if same == column and other != name]
            if others:
                msg = (
                    f"{column!r} is published as it is in {quote_names([name, *others])}, and joins their rows. "
                    "Make it a quasi-identifier, leave it out of one table, or rename it there if it means something "
                    "else"
                )
                raise MisplacedError(msg, ("tables", others[-1], "columns", column))

    @property
    def is_joined(self) -> bool:
        """Whether the published tables share the keys of persons."""
        return self.link == "joined"

    def key_of(self, name: str) -> str:
        """Return the column of a table that says whose record a row is, or of which row of its parent."""
        return self.tables[name].key or self.unit.key

    def policy_of(self, name: str) -> Policy:
        """Return the policy of a table by itself, under the name that all tables give the key."""
        if name not in self._policies:
            self._policies[name] = self._build_policy(name)
        return self._policies[name]

    def _build_policy(self, name: str) -> Policy:
        table, is_alone = self.tables[name], not self.is_joined and name == self.unit.table
        mine = {column for column, each in table.columns.items() if each.role == "sensitive"}
        models = [model for model in self.models if mine.issuperset(model.needs.sensitive)]
        method: Any = replace(self.method, time=table.time)
        if is_alone:
            # Nothing links the one row of a person to another row: classes of records are all that it takes.
            models = [KAnonymity(model.min_size) if model.needs.histories else model for model in models]
            models, method = list(dict.fromkeys(models)), "mondrian"
        key = {"role": "identifier", "action": "remove" if is_alone else "pseudonym"}
        entries = {
            "columns": {self.unit.key: key, **table.columns},
            "models": models,
            "method": method,
            "importance": table.importance,
            "accept": table.accept,
            "limits": self.limits,
            "read": self.read_as,
            "write": self.writing,
            "budget": self.budget,
            **({} if is_alone else {"person": self.unit.key}),
        }
        given = {word: entry for word, entry in entries.items() if entry is not None}
        return Policy.make(given, f"policy, tables.{name}", folder=self._folder)

    def claim(self, claims: Mapping[str, Classes] | None = None) -> LinkedTables:
        """Return what a release by this policy claims; ``claims`` are those of its tables, once they are made."""
        if claims is None:
            claims = {name: self.policy_of(name).claim() for name in self.tables}  # type: ignore[misc]
        return LinkedTables(dict(claims), unit=self.unit.table, is_joined=self.is_joined)

    @property
    def dialect(self) -> Dialect:
        """How files of text are spelled."""
        return self.read_as.dialect

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> LinkedPolicy:
        """Read a policy file."""
        text = plain_yaml.read_file(path, "policy", "docs/linked_tables.md shows one.", PolicyError)
        return cls.parse(text, str(path), Path(path).parent)

    @classmethod
    def parse(cls, text: str, name: str = "policy", folder: Path | None = None) -> LinkedPolicy:
        """Read a policy from YAML; errors name the line, and files are looked for in ``folder``."""
        values, tree = plain_yaml.parse(text, name)
        if not isinstance(values, Mapping):
            raise PolicyError(
                f"{name}: expected `unit:`, `tables:` and `models:`.", hint="docs/linked_tables.md shows a policy."
            )
        return cls.make(values, name, tree, folder)

    @classmethod
    def make(
        cls,
        given: Mapping[str, Any],
        name: str = "policy",
        tree: plain_yaml.YamlNode | None = None,
        folder: Path | None = None,
    ) -> LinkedPolicy:
        """Make a policy from plain values; with the YAML tree they came from, errors name the line."""
        try:
            policy = cls.model_validate(given, context={"folder": folder})
        except ValidationError as error:
            faults = faults_of(error, cls, given, name, tree)
            raise PolicyError(
                "\n".join(dict.fromkeys(faults)), hint="docs/linked_tables.md shows a whole policy."
            ) from None
        policy._folder = folder
        for table in policy.tables:
            policy.policy_of(table)
        return policy

    def to_dict(self) -> dict[str, Any]:
        """Return the policy as plain values, as the YAML file holds them."""
        values = self.model_dump(mode="json", exclude_defaults=True, exclude_none=True, by_alias=True)
        values["tables"] = {
            name: {**table, "columns": {each: _shorten(column) for each, column in table["columns"].items()}}
            for name, table in values["tables"].items()
        }
        return values


def _shorten(column: Mapping[str, Any]) -> Any:
    return column["role"] if set(column) == {"role"} else column
