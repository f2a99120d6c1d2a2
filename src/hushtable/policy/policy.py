"""Policy: what is to be protected, how, and to what limit, as one validated record that lives in a YAML file.

Models, hierarchy rules, methods and losses are entries of one grammar (`hushtable.models.entries`); docs/quickstart.md
shows a whole policy.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, overload

from pydantic import BeforeValidator, Field, PrivateAttr, ValidationError, model_validator

from hushtable import engines
from hushtable._types import Progress
from hushtable.anonymizers import Request, list_judged_combinations, protect
from hushtable.claims import (
    Claim,
    Classes,
    Combinations,
    Matchings,
    Verdict,
    claim_from_models,
    holds_cells,
    open_release,
    select_for_claim,
)
from hushtable.columns import ROLES, ColumnSpec, Role, bound_names
from hushtable.engines import EngineChoice
from hushtable.errors import InputError, PolicyError, check_columns, quote_names
from hushtable.hierarchy import PROPOSED, Hierarchy
from hushtable.io import Frame, Snapshot, drafts, frames
from hushtable.models import plugins
from hushtable.policy import agreeing, plain_yaml
from hushtable.policy.fitting import check_entries
from hushtable.policy.sections import (
    ASK,
    DATE_ACTIONS,
    MEANINGS,
    ColumnPolicy,
    Importance,
    MisplacedError,
    PolicyBudget,
    PolicyDates,
    PolicyLimits,
    PolicyLoss,
    PolicyMethod,
    PolicyModels,
    PolicyReading,
    PolicyTabulations,
    PolicyUnknown,
    PolicyVersion,
    PolicyWriting,
    Record,
    check_file_exists,
    check_reasons,
    faults_of,
    format_error,
)
from hushtable.quality import Loss, with_importance
from hushtable.release import ExposureLimit, Pseudonyms, Release, derive_key, manifest
from hushtable.search import Budget, Clock
from hushtable.tables import Table

if TYPE_CHECKING:
    import polars as pl
    from narwhals.typing import IntoDataFrameT, IntoLazyFrameT
    from typing_extensions import Unpack

    from hushtable.columns import KeptRounding
    from hushtable.policy.advising import Advice
    from hushtable.release import DateShift, SinceFirst
    from hushtable.tabulation import RoundedTables, Tabulation


class ProtectOptions(TypedDict, total=False):
    """What `Policy.protect` takes besides the data and their engine."""

    key: bytes | None
    progress: Progress | None
    session: Any


class Policy(Record):
    r"""What is to be protected, how, and to what limit.

    Attributes
    ----------
    version : 1
    read_as : PolicyReading
        The entry ``read``: how a file of text spells its table, where it does not tell by itself.
    columns : dict of str to ColumnPolicy
        Every column of the table.
    models, search_models : tuple of PrivacyModel
        What the release claims; stricter ones that the search keeps besides, as a margin.
    method : Method
        Mondrian when not given, whose recoding is then ``"cut"``; with ``household`` histories.
    loss : Loss
    importance : dict of str to int
        How many times the loss of a quasi-identifier counts, from 1, as where none is given, to 5.
    person : str, optional
        The column that says whose record a row is, where a person may have several.
    household : str, optional
        The column that says of which household a person is: whole households are published, and counted.
    release : str, optional
        A word for this release, such as its year: under another one the key gives other pseudonyms, and the same dates.
    dates : PolicyDates, optional
        How far dates with ``action: shift`` are shifted.
    population : str, optional
        The path, relative to the policy, of the people whom k-map and delta-presence count.
    domains : str, optional
        The path of a file of hierarchies, a line ``Column/node: value, value`` each.
    unknown : {"error", "suppress"}
        What becomes of values that a hierarchy does not list.
    missing : "category"
    limits : PolicyLimits
        Part of what the release claims, but for ``exposure``, which is asked before it is written.
    accept : dict of str to str
        Columns that may be published all the same, each with the reason why: those with the role other that single
        people out, those with the role other or sensitive that name people in their text, and those with any role that
        look like direct identifiers.
    writing : PolicyWriting
        Named ``write`` in YAML: how a CSV is written.
    budget : PolicyBudget, optional
    tabulations : PolicyTabulations, optional
        Tables of counts or sums that are made of the records besides; a policy that makes nothing else has no models.
    plugins : "none" or tuple of str, optional
        Which entry points of other packages the policy may use: none, or those of these names; by default those that it
        names.

    Examples
    --------
    >>> policy = Policy.parse("columns: {age: quasi-identifier, pay: sensitive}\nmodels: [k-anonymity: 5]")
    >>> policy.quasi_identifiers, policy.models
    (('age',), (KAnonymity(k=5),))
    """

    version: PolicyVersion = 1
    read_as: PolicyReading = Field(default_factory=PolicyReading, alias="read")
    columns: dict[str, ColumnPolicy]
    models: PolicyModels = ()
    search_models: PolicyModels = ()
    method: PolicyMethod = Field(default="mondrian", validate_default=True)
    loss: PolicyLoss = Field(default="ncp", validate_default=True)
    importance: dict[str, Importance] = Field(default_factory=dict)
    person: str | None = None
    household: str | None = None
    release: Annotated[str, BeforeValidator(str)] | None = None
    dates: PolicyDates | None = None
    population: Annotated[str, BeforeValidator(check_file_exists)] | None = None
    domains: Annotated[str, BeforeValidator(check_file_exists)] | None = None
    unknown: PolicyUnknown = "error"
    missing: Literal["category"] = "category"
    limits: PolicyLimits = PolicyLimits()
    accept: Annotated[dict[str, str], BeforeValidator(check_reasons)] = Field(default_factory=dict)
    writing: PolicyWriting = Field(default=PolicyWriting(), alias="write")
    budget: PolicyBudget | None = None
    tabulations: PolicyTabulations | None = None
    plugins: Literal["none"] | tuple[str, ...] | None = None

    _folder: Path | None = PrivateAttr(default=None)

    @model_validator(mode="before")
    @classmethod
    def _keep_households_whole(cls, given: object) -> object:
        """Choose the one method that keeps households whole where nobody gave any."""
        if isinstance(given, Mapping) and given.get("household") is not None:
            return {"method": "histories", **given}
        return given

    @model_validator(mode="after")
    def _importance_fits_loss(self) -> Policy:
        try:
            with_importance(self.loss, self.importance)
        except InputError as error:
            raise MisplacedError(format_error(error), ("importance",)) from None
        return self

    @model_validator(mode="after")
    def _entries_fit_one_another(self) -> Policy:
        check_entries(self)
        return self

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """Columns that someone may know of a person."""
        return self.with_role("quasi-identifier")

    @property
    def objective(self) -> Loss:
        """The loss that searches make small: weighted by how important columns are."""
        return with_importance(self.loss, self.importance)

    @property
    def removed(self) -> tuple[str, ...]:
        """Columns that the release leaves out."""
        return (*self.removed_identifiers, *self.left_out)

    @property
    def removed_identifiers(self) -> tuple[str, ...]:
        """Identifiers that the release leaves out."""
        hidden = (*self.pseudonymized, *self.fresh)
        return tuple(name for name in self.with_role("identifier") if name not in hidden)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Columns that identify nobody, and are left out."""
        return self.with_role("leave out")

    @property
    def rounding(self) -> dict[str, KeptRounding]:
        """How the numbers of kept columns are rounded."""
        return {name: each.rounding for name, each in self.columns.items() if each.rounding is not None}

    @property
    def pseudonymized(self) -> tuple[str, ...]:
        """Identifiers that become keyed pseudonyms."""
        return tuple(name for name in self.with_role("identifier") if self.columns[name].action == "pseudonym")

    @property
    def fresh(self) -> tuple[str, ...]:
        """Identifiers of which every record gets a new pseudonym."""
        return tuple(name for name in self.with_role("identifier") if self.columns[name].action == "fresh")

    @property
    def is_keyed(self) -> bool:
        """Whether it takes a secret key."""
        return bool(self.pseudonymized or self.with_action("shift"))

    @property
    def use_of_key(self) -> str:
        """What its key is for."""
        if not self.pseudonymized:
            return f"shifts the dates of {quote_names(self.with_action('shift'))}"
        return f"gives pseudonyms to {quote_names(self.pseudonymized)}"

    @property
    def specs(self) -> dict[str, ColumnSpec]:
        """How columns are typed where the policy says so."""
        specs = {name: column.spec for name, column in self.columns.items()}
        return {name: spec for name, spec in specs.items() if spec != ColumnSpec()}

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that the policy names, as inputs."""
        trees = self.tabulations.hierarchies.values() if self.tabulations else ()
        earlier = self.tabulations.earlier if self.tabulations else None
        named = [
            *self.hierarchies().values(),
            *(self._path_in_folder(tree) for tree in trees if isinstance(tree, str)),
            *(self._path_in_folder(path) for path in (self.population, self.domains, earlier) if path),
        ]
        return tuple(path for path in named if isinstance(path, Path))

    def hierarchies(self) -> dict[str, Any]:
        """Return hierarchy entries by column, for `hushtable.Hierarchy.build`; paths start at the policy's folder."""
        given = {name: column.hierarchy for name, column in self.columns.items() if column.hierarchy is not None}
        return {
            name: self._path_in_folder(entry) if isinstance(entry, str) and entry not in PROPOSED else entry
            for name, entry in given.items()
        }

    def with_role(self, role: Role | Literal["ask"]) -> tuple[str, ...]:
        """Return the columns of one role."""
        return tuple(name for name, column in self.columns.items() if column.role == role)

    def with_action(self, *actions: str) -> tuple[str, ...]:
        """Return the columns of some actions."""
        return tuple(name for name, column in self.columns.items() if column.action in actions)

    @overload
    def protect(
        self, data: IntoLazyFrameT, *, engine: EngineChoice = ..., **options: Unpack[ProtectOptions]
    ) -> Release[IntoLazyFrameT]: ...
    @overload
    def protect(
        self, data: IntoDataFrameT, *, engine: EngineChoice = ..., **options: Unpack[ProtectOptions]
    ) -> Release[IntoDataFrameT]: ...
    @overload
    def protect(
        self, data: str | os.PathLike[str], *, engine: Literal["memory"], **options: Unpack[ProtectOptions]
    ) -> Release[pl.DataFrame]: ...
    @overload
    def protect(
        self, data: str | os.PathLike[str], *, engine: Literal["stream"], **options: Unpack[ProtectOptions]
    ) -> Release[pl.LazyFrame]: ...
    @overload
    def protect(self, data: Any, *, engine: EngineChoice = ..., **options: Unpack[ProtectOptions]) -> Release[Any]: ...
    def protect(
        self,
        data: Any,
        *,
        key: bytes | None = None,
        progress: Progress | None = None,
        engine: EngineChoice = "auto",
        session: Any = None,
    ) -> Release:
        """Carry out the policy.

        Parameters
        ----------
        data : path, URL, dataframe, lazy frame or Table
        key : bytes, optional
            The secret of pseudonyms, where some columns get them.
        progress, engine, session
            As `hushtable.anonymize`.

        Raises
        ------
        PolicyError
            A column has no role, or a key is missing or given in vain.
        HushError
            As `hushtable.anonymize`.
        """
        self.check_decided()
        before = Snapshot.from_paths(drafts.paths_among(data, *self.inputs))
        rows = engines.open_rows(data, engine=engine, session=session, dialect=self.read_as.dialect)
        self.check_covers(rows.names)
        made = protect(rows, self.request(data, key=key, progress=progress))
        made = replace(made, policy_sha256=manifest.hash_json(self.to_dict()))
        before.check()
        asked = self.limits.exposure
        limit = ExposureLimit(asked.columns, asked.rate, asked.named, asked.linked)
        return made.with_exposure(limit, accepted=self.accept, is_enforced=True)

    def tabulate(
        self, data: object, *, engine: EngineChoice = "auto", session: object = None
    ) -> Tabulation | RoundedTables:
        r"""Make the tables that ``tabulations`` asks for.

        Parameters
        ----------
        data : path, dataframe or lazy frame
        engine, session
            As `hushtable.anonymize`.

        Raises
        ------
        HushError
            The policy asks for no tables, a column has no role, or as `hushtable.tabulate`.

        Examples
        --------
        >>> import hushtable as ht
        >>> people = ht.datasets.people(400, seed=1).select("sex", "education")
        >>> policy = Policy.parse("columns: {sex: other, education: other}\ntabulations: {by: [sex, education]}")
        >>> policy.tabulate(people).n_cells
        36
        """
        from hushtable.policy.tabulating import make_tables

        return make_tables(self, data, self._folder or Path(), engine, session)

    def advise(
        self,
        data: object,
        *,
        release: Release | None = None,
        cpu_seconds: float | None = None,
        engine: EngineChoice = "auto",
        **options: Unpack[ProtectOptions],
    ) -> Advice:
        r"""Measure which changes of the policy would bring most detail back: internal, for choosing.

        Every change is carried out on all rows, as `protect` would, so that its figures are those of the release that
        follows it. Tried are: to leave out a column, 1 % of suppression, importance, a smaller k, and the next coarser
        unit of a column.

        Parameters
        ----------
        data : path, dataframe, lazy frame or Table
        release : Release, optional
            The one that `protect` returned for these data; searched for when not given.
        cpu_seconds : float, optional
            No search begins, and none goes on, after so many; all changes are tried when not given.
        engine, **options
            ``key``, ``progress`` and ``session`` as of `protect`; a key is not needed, because nothing is written.

        Returns
        -------
        Advice
            `Advice.changes` are sorted by what they bring back; ``policy.with_entries(change.entries)`` follows one.

        Raises
        ------
        InputError
            The policy's budget is in seconds, so that no figure would hold again; or as `protect` says.

        Examples
        --------
        >>> import polars as pl
        >>> people = pl.DataFrame({"age": [31, 34, 38, 52, 57, 59], "sex": ["f", "m", "f", "m", "f", "m"]})
        >>> policy = Policy.parse("columns: {age: quasi-identifier, sex: quasi-identifier}\nmodels: [k-anonymity: 2]")
        >>> change = policy.advise(people).best[0]
        >>> change.what, policy.with_entries(change.entries).protect(people).quality.set_ncp == change.after
        ('without sex', True)
        """
        from hushtable.policy.advising import advise

        return advise(self, data, release=release, cpu_seconds=cpu_seconds, engine=engine, **options)

    def open_table(self, data: Any) -> Frame | Table:
        """Open a table with the policy's spelling; PolicyError if a column has no role."""
        self.check_decided()
        source = data if isinstance(data, Table) else frames.read(data, dialect=self.read_as.dialect)
        self.check_covers(source.names)
        return source

    def request(self, data: Any, *, key: bytes | None = None, progress: Progress | None = None) -> Request:
        """Return what the policy asks of a release of some data, its files read; parameters as of `protect`."""
        agreeing.check_asks_for_records(self)
        budget = Budget() if self.budget is None else Budget(self.budget.seconds, self.budget.nodes)
        return Request(
            quasi_identifiers=self.quasi_identifiers,
            models=self.models,
            search_models=self.search_models,
            sensitive=self.with_role("sensitive"),
            method=self.method,
            hierarchies=self._read_hierarchies(),
            unknown=self.unknown,
            loss=self.objective,
            suppression_limit=self.limits.suppression,
            identifiers=self.removed_identifiers,
            left_out=self.left_out,
            rounding=self.rounding,
            pseudonyms=self._build_pseudonyms(key),
            specs=self.specs,
            population=self._read_population(),
            person=self.person,
            household=self.household,
            dates=self._change_of_dates(key),
            limits=self.limits.of_release,
            clock=Clock(budget, progress),
            inputs=(*drafts.paths_among(data), *self.inputs),
            writing=replace(self.writing.made, labels=self._labels),
        )

    @property
    def _labels(self) -> dict[str, str]:
        """The labels of published columns."""
        columns = {name: each for name, each in self.columns.items() if name not in self.removed}
        return {name: each.label for name, each in columns.items() if each.label}

    def check_decided(self) -> None:
        """Raise PolicyError where a role or a format is yet to be decided."""
        asked = self.with_role(ASK)
        if asked:
            raise PolicyError(
                f"the policy asks for the role of {quote_names(asked)}.",
                hint=f"decide each: {'. '.join(f'{role} ({what})' for role, what in MEANINGS.items())}. "
                "To decide all at once: --ask quasi-identifier.",
            )
        unformatted = [name for name, column in self.columns.items() if column.format == ASK]
        if unformatted:
            raise PolicyError(
                f"the policy asks for the format of the dates of {quote_names(unformatted)}.",
                hint="their cells fit several: choose the one that is meant, for instance format: '%d.%m.%Y'.",
            )

    def claim(self, columns: Sequence[str] = ()) -> Combinations | Classes | Matchings:
        """Return what a release by this policy claims; where something is yet to be decided, it claims nothing.

        Parameters
        ----------
        columns : sequence of str
            Of the release: without a manifest they say which quasi-identifiers have bounds beside them.
        """
        self.check_decided()
        agreeing.check_asks_for_records(self)
        of_classes: dict[str, Any] = {}
        if not any(model.needs.original for model in self.models):
            unit, is_household = self.household or self.person, self.household is not None
            of_classes = {"person": unit, "is_fresh": unit in self.fresh, "is_household": is_household}
            of_classes |= {"population": self._read_population(), "limits": self.limits.of_release}
        if sets := list_judged_combinations(self.method, self.quasi_identifiers):
            of_classes = {"combinations": sets}
        claim = claim_from_models(
            self.quasi_identifiers,
            self.models,
            sensitive=self.with_role("sensitive"),
            specs=agreeing.specs_of_release(self),
            origins=self._input_specs(),
            hierarchies=self._read_hierarchies(),
            rounded=self.rounding,
            **of_classes,
        )
        asked = self.quasi_identifiers if self.writing.bounds else ()
        return replace(claim, bounds=tuple(name for name in asked if {*bound_names(name)} <= {*columns}))

    def _input_specs(self) -> dict[str, ColumnSpec]:
        """Return how the input spells quasi-identifiers, and which cells of unjudged columns are missing."""
        others = {name: self.columns[name].spec for name in self.with_role("other")}
        told = {name: spec.missing_cells for name, spec in others.items() if spec.missing_cells != ColumnSpec()}
        judged = [name for name in self.quasi_identifiers if name not in self.with_action(*DATE_ACTIONS)]
        return {name: self.columns[name].spec.spelling for name in judged} | told

    def verify(self, data: Any, *, original: Any = None) -> Verdict:
        """Judge a published table by what the policy asks.

        Parameters
        ----------
        data : path or dataframe
            Of a file with a manifest, the hash is checked and the kinds of columns are taken.
        original : path or dataframe, optional
            The input, where a condition compares with it.

        Raises
        ------
        VerificationError
            The file is not the one that its manifest describes.
        PolicyError
            It holds a column that the policy removes or does not know, or claims something else.
        """
        claimed = manifest.claim_of(data)
        table = open_release(data, manifest.dialect_of(data))
        if original is not None:
            original = frames.read(original, dialect=self.read_as.dialect).with_specs(self.specs)
        claim = self.complete_claim(claimed, table.columns)
        self.check_release(table.columns, claim)
        verdict = claim.verify(select_for_claim(claim, table), original=original)
        entries = {} if claimed is None else manifest.read(data)
        asked = agreeing.describe_exposure_limit(self)
        verdict = manifest.judge_exposure(verdict, entries, table, claim, asked, original=original)
        return manifest.compare_with(verdict, data, table.columns, claim)

    def complete_claim(self, claimed: Claim | None, columns: Sequence[str] = ()) -> Claim:
        """Return the claim to judge: a manifest's, which must agree with the policy, else the policy's own.

        Without a manifest, ``columns`` of the release say where bounds stand.
        """
        if claimed is not None and holds_cells(claimed):
            from hushtable.policy.tabulating import check_claims_tables

            check_claims_tables(self, claimed, self._folder or Path())
            return claimed
        if claimed is None:
            return self.claim(columns)
        self.check_agrees(claimed)
        return claimed.with_knowledge_of(self.claim())

    def check_agrees(self, claimed: Claim) -> None:
        """Raise PolicyError where the claim in a manifest is not what the policy asks."""
        agreeing.check_agrees(self, claimed)

    def check_release(self, columns: Sequence[str], claim: Claim | None = None) -> None:
        """Raise PolicyError where a released table holds a column that the policy removes or does not know."""
        agreeing.check_release(self, columns, claim)

    def check_covers(self, columns: Sequence[str]) -> None:
        """Raise PolicyError where a column has no role: what is not declared is not released."""
        check_columns(tuple(self.columns), columns, "columns of the policy")
        undeclared = [name for name in columns if name not in self.columns]
        if undeclared:
            raise PolicyError(
                f"the policy gives no role to {quote_names(undeclared)}.",
                hint=f"add each under columns as one of {', '.join(ROLES)}.",
            )
        by = self.writing.by
        if by is not None and (by not in self.columns or by in (*self.with_role("identifier"), *self.left_out)):
            raise PolicyError(
                f"write: by names column {by!r}, whose cells are not published as they are or coarsened.",
                hint="name a quasi-identifier, or a column that is kept.",
            )

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Policy:
        """Read a policy file."""
        text = plain_yaml.read_file(path, "policy", "`hushtable scan` writes one.", PolicyError)
        return cls.parse(text, str(path), Path(path).parent)

    @classmethod
    def parse(cls, text: str, name: str = "policy", folder: Path | None = None) -> Policy:
        """Read a policy from YAML; errors name the line, and files are looked for in ``folder``."""
        values, tree = plain_yaml.parse(text, name)
        if not isinstance(values, Mapping):
            raise PolicyError(
                f"{name}: expected `columns:` and `models:`.", hint="`hushtable scan` writes a policy to start from."
            )
        return cls.make(values, name, tree, folder)

    @classmethod
    def make(
        cls,
        given: Mapping[str, Any],
        name: str = "policy",
        tree: plain_yaml.YamlNode | None = None,
        folder: Path | None = None,
    ) -> Policy:
        """Make a policy from plain values; with the YAML tree they came from, errors name the line."""
        if "tables" in given:
            raise PolicyError(
                f"{name}: it names tables, and a policy of one table was expected.",
                hint="linked tables go to `hushtable anonymize FOLDER -p policy.yaml -o FOLDER` and `hushtable verify "
                "FOLDER`, in Python to anonymize_tables and verify_tables.",
            )
        allowed = given.get("plugins")
        try:
            with plugins.allow_only(allowed if allowed is None or isinstance(allowed, (list, tuple)) else ()):
                policy = cls.model_validate(given, context={"folder": folder})
        except ValidationError as error:
            faults = faults_of(error, cls, given, name, tree)
            raise PolicyError(
                "\n".join(dict.fromkeys(faults)),
                hint="docs/quickstart.md shows a whole policy; `hushtable scan FILE -p policy.yaml` writes one.",
            ) from None
        policy._folder = folder
        return policy

    def with_entries(self, given: Mapping[Any, Any]) -> Policy:
        """Return the policy with some entries replaced.

        Parameters
        ----------
        given : mapping
            By place: steps, or one text with dots as ``--set`` has them, ``{"method.mondrian.cut": "median"}``.
            A method or loss of another name replaces the whole entry.
        """
        changed = self.to_dict()
        if "method" not in self.model_fields_set:
            del changed["method"]
        for place, entry in given.items():
            plain_yaml.set_entry(changed, place.split(".") if isinstance(place, str) else place, entry)
        return self.make(changed, folder=self._folder)

    def to_dict(self) -> dict[str, Any]:
        """Return the policy as plain values, as the YAML file holds them."""
        values = self.model_dump(mode="json", exclude_none=True, by_alias=True)
        values["columns"] = {
            name: column["role"] if set(column) == {"role"} else column for name, column in values["columns"].items()
        }
        values["read"] = self.read_as.dialect.to_dict()
        values["write"] = self.writing.model_dump(exclude_defaults=True)
        unset = {
            "models": [],
            "search_models": [],
            "read": {},
            "write": {},
            "loss": {"ncp": {}},
            "unknown": "error",
            "accept": {},
            "importance": {},
        }
        return {name: entry for name, entry in values.items() if unset.get(name) != entry}

    def to_yaml(self) -> str:
        """Write the policy as YAML."""
        return plain_yaml.dump(self.to_dict())

    def _read_population(self) -> Frame | None:
        if self.population is None:
            return None
        return frames.read(self._path_in_folder(self.population), dialect=self.read_as.dialect).with_specs(self.specs)

    def _path_in_folder(self, path: str) -> Path:
        return (self._folder or Path()) / path

    def _read_hierarchies(self) -> dict[str, Any]:
        declared = self.hierarchies()
        if self.domains is None:
            return declared
        asked = {*self.quasi_identifiers, *self.with_role("sensitive")}
        from_domains = Hierarchy.from_domains(self._path_in_folder(self.domains))
        ladders = {name: ladder for name, ladder in from_domains.items() if name in asked}
        if not ladders:
            raise PolicyError(
                f"domains: {self.domains!r} names no quasi-identifier or sensitive column.",
                hint="its lines begin with a column's name: `job/office: clerk, typist`.",
            )
        return {**ladders, **declared}

    def _build_pseudonyms(self, key: bytes | None) -> Pseudonyms | None:
        if (key is not None) != self.is_keyed:
            no_key, no_use = f"{self.use_of_key}, but there is no key", "gives no pseudonyms, but there is a key"
            what = no_key if self.is_keyed else no_use
            hint = "a key goes with `action: pseudonym` or shift: make one with openssl rand -out key.bin 32."
            raise PolicyError(f"the policy {what}.", hint=hint)
        return self.pseudonyms(key) if self.pseudonymized or self.fresh else None

    def _change_of_dates(self, key: bytes | None) -> DateShift | SinceFirst | None:
        if not self.with_action(*DATE_ACTIONS):
            return None
        from hushtable.policy.persons import change_of_dates

        return change_of_dates(self, key)

    def pseudonyms(self, key: bytes | None) -> Pseudonyms:
        """Return which columns become pseudonyms, those that are keyed by some key."""
        if key is not None and self.release is not None:
            key = derive_key(key, self.release)
        return Pseudonyms(self.pseudonymized, key if self.pseudonymized else None, self.fresh)
