"""Policy: roles, models and limits as one validated record that lives in a YAML file.

.. code-block:: yaml

    version: 1
    columns:
      name: identifier                              # left out of the release
      email: {role: identifier, action: pseudonym}  # or replaced by a keyed pseudonym
      age: quasi-identifier
      severity: {role: quasi-identifier, order: [mild, moderate, severe]}
      zip: {role: quasi-identifier, kind: category, hierarchy: {prefix: [4, 3, 2]}}
      job: {role: quasi-identifier, hierarchy: hierarchies/job.csv}  # or: auto
      diagnosis: sensitive
      visit: other                                  # written as it is
    models:
      - k-anonymity: 5
      - distinct-l-diversity: {l: 2, sensitive: diagnosis}
    limits: {highest_risk: 0.2}
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, ValidationInfo, model_validator

from hushtable import plain_yaml
from hushtable.column import ROLES, ColumnSpec, Kind, Role
from hushtable.errors import HushError, PolicyError, check_columns, listed, with_hint
from hushtable.hierarchy import Hierarchy
from hushtable.hierarchy.rules import to_dict as rule_to_dict
from hushtable.models import PrivacyModel, from_dict, model_to_dict

__all__ = ["ColumnPolicy", "Limits", "Policy"]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


def _hierarchy(given: Any, info: ValidationInfo) -> Any:
    """Check what generalizes a column, and return it as plain values."""
    if isinstance(given, str):
        folder = (info.context or {}).get("folder")
        if given != "auto" and folder is not None and not os.path.isfile(folder / given):
            msg = f"no file {given!r} in the folder of the policy"
            raise ValueError(msg)
        return given
    if not isinstance(given, Mapping):
        msg = "expected auto, the path of a hierarchy file, or a rule, for instance {intervals: {width: [5, 10]}}"
        raise ValueError(msg)
    try:
        found = Hierarchy.from_dict(given, "column")
    except HushError as error:
        raise ValueError(_in_one_line(error)) from None
    return found.to_dict() if isinstance(found, Hierarchy) else rule_to_dict(found)


def _in_one_line(error: HushError) -> str:
    # The policy's own message adds the place and a hint of its own.
    message, _, hint = str(error).partition("\n\nHint: ")
    return f"{message} {hint}".rstrip(".")


class ColumnPolicy(_Record):
    """What a column is, and how it is read.

    Attributes
    ----------
    role : {"identifier", "quasi-identifier", "sensitive", "other"}
    action : {"remove", "pseudonym"}, identifiers only
    kind : Kind, optional
        Where the cells' looks mislead: a ZIP code is a ``category``, for instance.
    order : tuple of str, optional
        The values of an ordered category, from low to high.
    hierarchy : str or dict, optional
        How a quasi-identifier or sensitive column generalizes: ``"auto"``, the path of
        an ARX hierarchy file relative to the policy, or one rule or tree as
        `hushtable.Hierarchy.from_dict` reads it.
    """

    role: Role
    action: Literal["remove", "pseudonym"] | None = None
    kind: Kind | None = None
    order: tuple[str, ...] | None = None
    hierarchy: Annotated[Any, BeforeValidator(_hierarchy)] = None

    @model_validator(mode="before")
    @classmethod
    def _from_word(cls, given: Any) -> Any:
        return {"role": given} if isinstance(given, str) else given

    @model_validator(mode="after")
    def _entries_fit_role(self) -> ColumnPolicy:
        try:
            ColumnSpec(self.kind, self.order)
        except HushError as error:
            raise ValueError(_in_one_line(error)) from None
        if self.action is not None and self.role != "identifier":
            msg = f"action: {self.action} goes with role: identifier, not with {self.role}"
            raise ValueError(msg)
        if self.hierarchy is not None and self.role not in ("quasi-identifier", "sensitive"):
            msg = f"hierarchy goes with role: quasi-identifier or sensitive, not with {self.role}"
            raise ValueError(msg)
        return self


class Limits(_Record):
    """What `hushtable verify` demands besides the models.

    Attributes
    ----------
    highest_risk : float, optional
        Of any record: 1 / size of its class.
    average_risk : float, optional
        Over all records: classes / records.
    suppression : float
        Share of the records that `hushtable anonymize` may suppress.
    """

    highest_risk: float | None = Field(default=None, gt=0, le=1, strict=True)
    average_risk: float | None = Field(default=None, gt=0, le=1, strict=True)
    suppression: float = Field(default=0.0, ge=0, lt=1, strict=True)


def _model(entry: Any) -> PrivacyModel:
    if isinstance(entry, PrivacyModel):
        return entry
    if not isinstance(entry, Mapping):
        msg = "expected `name: parameter`, for instance k-anonymity: 5"
        raise ValueError(msg)
    try:
        return from_dict(entry)
    except HushError as error:
        raise ValueError(_in_one_line(error)) from None


def _some_models(given: Any) -> Any:
    if not isinstance(given, (list, tuple)) or not given:
        msg = "expected a list of models, for instance: [k-anonymity: 5]"
        raise ValueError(msg)
    return given


_Weight = Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]
_Width = Annotated[float, Field(gt=0, allow_inf_nan=False, strict=True)]


class _MisplacedError(ValueError):
    """A fault between two entries, and the one to look at."""

    def __init__(self, message: str, location: tuple[int | str, ...]) -> None:
        super().__init__(message)
        self.location = location


class Policy(_Record):
    r"""What is to be protected, how, and to what limit.

    Attributes
    ----------
    version : 1
    columns : dict of str to ColumnPolicy
        Every column of the table.
    models : tuple of PrivacyModel
    method : {"mondrian", "mingen", "genetic"}
    cut, recoding, strict, margin, grid, exchange
        As for `hushtable.Mondrian`, of no effect on the other methods; the recoding is
        ``"cut"`` when not given.
    loss : {"ncp", "minimal_distortion", "certainty", "certainty-mg-ga"}
        The last is certainty in MG-GA's formula; Mondrian knows the first only.
    weights : dict of column to float
        How much the loss of a quasi-identifier counts.
    unknown : {"error", "suppress"}
        What becomes of values that a hierarchy does not list.
    missing : "category"
    limits : Limits
    seed : int
        Of methods that draw random numbers.

    Examples
    --------
    >>> policy = Policy.parse("columns: {age: quasi-identifier, pay: sensitive}\nmodels: [k-anonymity: 5]")
    >>> policy.quasi_identifiers, policy.models
    (('age',), (KAnonymity(k=5),))
    """

    version: Literal[1] = 1
    columns: dict[str, ColumnPolicy]
    models: Annotated[tuple[Annotated[Any, BeforeValidator(_model)], ...], BeforeValidator(_some_models)]
    method: Literal["mondrian", "mingen", "genetic"] = "mondrian"
    loss: Literal["ncp", "minimal_distortion", "certainty", "certainty-mg-ga"] = "ncp"
    cut: Literal["gain", "median"] = "gain"
    recoding: Literal["tight", "cut", "label", "set", "central"] = "cut"
    strict: bool = True
    margin: int = Field(default=0, ge=0, le=10**15, strict=True)
    grid: dict[str, _Width] = Field(default_factory=dict)
    exchange: bool = False
    weights: dict[str, _Weight] = Field(default_factory=dict)
    unknown: Literal["error", "suppress"] = "error"
    missing: Literal["category"] = "category"
    limits: Limits = Limits()
    seed: int = Field(default=0, ge=0, strict=True)

    @model_validator(mode="after")
    def _roles_fit_entries(self) -> Policy:
        for i, model in enumerate(self.models):
            for name in model.needs.sensitive:
                if name not in self.columns or self.columns[name].role != "sensitive":
                    msg = f"{model.name} needs {name!r}, which columns does not declare as sensitive"
                    raise _MisplacedError(msg, ("models", i))
        cut = self.quasi_identifiers
        if not cut:
            msg = "columns declares no quasi-identifier"
            raise _MisplacedError(msg, ("columns",))
        for entry, named in (("weights", self.weights), ("grid", self.grid)):
            stray = [name for name in named if name not in cut]
            if stray:
                msg = f"expected quasi-identifiers, which are {listed(cut)}"
                raise _MisplacedError(msg, (entry, stray[0]))
        return self

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """Columns that someone may know of a person."""
        return self.with_role("quasi-identifier")

    @property
    def removed(self) -> tuple[str, ...]:
        """Identifiers that the release leaves out."""
        return tuple(name for name in self.with_role("identifier") if self.columns[name].action != "pseudonym")

    @property
    def pseudonymized(self) -> tuple[str, ...]:
        """Identifiers that become keyed pseudonyms."""
        return tuple(name for name in self.with_role("identifier") if self.columns[name].action == "pseudonym")

    def hierarchies(self, folder: str | Path = ".") -> dict[str, Any]:
        """Return what generalizes which column, for `hushtable.Hierarchy.build`; paths start at ``folder``."""
        found = {name: column.hierarchy for name, column in self.columns.items() if column.hierarchy is not None}
        return {
            name: Path(folder) / given if isinstance(given, str) and given != "auto" else given
            for name, given in found.items()
        }

    def with_role(self, role: Role) -> tuple[str, ...]:
        """Return the columns of one role."""
        return tuple(name for name, column in self.columns.items() if column.role == role)

    def check_release(self, columns: Sequence[str]) -> None:
        """Raise PolicyError where a released table holds a column that the policy removes or does not know."""
        stray = [name for name in columns if name not in self.columns or name in self.removed]
        if stray:
            msg = with_hint(
                f"the table holds columns {listed(stray)}, which the policy does not release.",
                "verify the file that anonymize wrote with this policy.",
            )
            raise PolicyError(msg)

    def check_covers(self, columns: Sequence[str]) -> None:
        """Raise PolicyError where a column has no role: what is not declared is not released."""
        check_columns(tuple(self.columns), columns, "columns of the policy")
        undeclared = [name for name in columns if name not in self.columns]
        if undeclared:
            msg = with_hint(
                f"the policy gives no role to {listed(undeclared)}.",
                f"add each under columns as one of {', '.join(ROLES)}.",
            )
            raise PolicyError(msg)

    @classmethod
    def read(cls, path: str | Path) -> Policy:
        """Read a policy file."""
        try:
            with Path(path).open(encoding="utf-8") as file:
                text = file.read(plain_yaml.LARGEST + 1)
        except (OSError, ValueError):
            msg = with_hint(f"cannot read the policy {str(path)!r}.", "`hushtable scan` writes one.")
            raise PolicyError(msg) from None
        return cls.parse(text, str(path), Path(path).parent)

    @classmethod
    def parse(cls, text: str, name: str = "policy", folder: Path | None = None) -> Policy:
        """Read a policy from YAML; errors name the line, and files are looked for in ``folder``."""
        entries, tree = plain_yaml.read(text, name)
        if not isinstance(entries, Mapping):
            msg = with_hint(
                f"{name}: expected `columns:` and `models:`.", "`hushtable scan` writes a policy to start from."
            )
            raise PolicyError(msg)
        return cls.make(entries, name, tree, folder)

    @classmethod
    def make(
        cls,
        entries: Mapping[str, Any],
        name: str = "policy",
        tree: plain_yaml.Node | None = None,
        folder: Path | None = None,
    ) -> Policy:
        """Make a policy from plain values; with the YAML tree they came from, errors name the line."""
        try:
            return cls.model_validate(entries, context={"folder": folder})
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            cause = first.get("ctx", {}).get("error")
            location = cause.location if isinstance(cause, _MisplacedError) else first["loc"]
            where = f"{name} line {plain_yaml.line_of(tree, location)}" if tree else name
            place = ".".join(str(step) for step in location)
            msg = with_hint(
                f"{where}: {place}: {first['msg'].removeprefix('Value error, ')}.",
                "docs/quickstart.md shows a whole policy; `hushtable scan FILE -p policy.yaml` writes one.",
            )
            raise PolicyError(msg) from None

    def changed(self, **given: Any) -> Policy:
        """Return the policy with some entries replaced; None leaves an entry as it is."""
        return self.make({**self.to_dict(), **{name: entry for name, entry in given.items() if entry is not None}})

    def to_dict(self) -> dict[str, Any]:
        """Return the policy as plain values, as the YAML file holds them."""
        entries = self.model_dump(mode="json", exclude={"models"}, exclude_none=True)
        entries["columns"] = {
            name: column["role"] if set(column) == {"role"} else column for name, column in entries["columns"].items()
        }
        entries["models"] = [model_to_dict(model) for model in self.models]
        rarely_set = ("strict", "margin", "grid", "exchange", "loss", "weights", "unknown")
        fields = type(self).model_fields
        unset = [name for name in rarely_set if entries[name] == fields[name].get_default(call_default_factory=True)]
        return {name: entry for name, entry in entries.items() if name not in unset}

    def to_yaml(self) -> str:
        """Write the policy as YAML."""
        return plain_yaml.write(self.to_dict())
