"""What may stand in a pipeline's file: a record of parameters for each method of each module.

The words are those of PETsARD 1.6.0, so that its files are read as they are; what is ours besides is
`Anonymizer`, `Perturber`, ``values``, ``limit`` and the names without a prefix.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from hushtable.errors import InputError
from hushtable.perturbation import METHODS as PERTURBATIONS
from hushtable.policy import Record, check_reasons
from hushtable.synthesizers import MIN_PEOPLE, plugin_synthesizers

Granularity = Literal["global", "columnwise", "pairwise", "details", "tree"]
GRANULARITIES: Final[tuple[str, ...]] = get_args(Granularity)
Type = Literal["int", "integer", "float", "str", "string", "bool", "boolean", "datetime", "date", "category"]
Naming = Literal["traditional", "compact", "plain"]
_MOST_ROWS: Final = 10**15


def as_list(given: Any) -> Any:
    """Return a single value as a list of one."""
    return given if given is None or isinstance(given, (list, tuple, Mapping)) else [given]


def _to_cell_text(given: object) -> object:
    # A missing value may look like a number, and YAML reads 12.50 as 12.5: only texts are safe.
    if type(given) is float:
        raise ValueError("put a number with decimals in quotes, as it stands in the cells: '12.50'")
    return str(given) if type(given) is int else given


def _check_beginning(beginning: str) -> str:
    if not re.fullmatch(r"[^/\\\x00-\x1f]+", beginning) or beginning.startswith("."):
        raise ValueError(
            "expected the beginning of a file's name: text without / or \\ that does not start with a point"
        )
    return beginning


Output = Annotated[str, AfterValidator(_check_beginning)]
CellTexts = Annotated[tuple[Annotated[str, BeforeValidator(_to_cell_text)], ...], BeforeValidator(as_list)]
Names = Annotated[tuple[str, ...], BeforeValidator(as_list)]


class Executor(Record):
    """Where a log goes; without one of these entries, none is written."""

    log_output_type: Literal["stdout", "file", "both"] = "file"
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = "INFO"
    log_dir: str = "."
    log_filename: Output = "hushtable_{timestamp}.log"


class FieldSchema(Record):
    """What a column is. How it is stored (``category_method``, ``logical_type`` ...) makes no difference here."""

    type: Type | None = None
    na_values: CellTexts = ()
    datetime_format: str | None = None
    precision: int | None = None
    category_method: Any = None
    logical_type: Any = None
    leading_zeros: Any = None
    nullable_int: Any = None
    datetime_precision: Any = None
    description: Any = None
    enable_null: Any = None
    enable_stats: Any = None


class Schema(Record):
    """What is known of a table's columns; but for ``fields`` it says how they are stored, which makes no difference."""

    fields: dict[str, FieldSchema] = Field(default_factory=dict)
    schema_id: Any = None
    id: Any = None
    name: Any = None
    description: Any = None
    compute_stats: Any = None
    optimize_dtypes: Any = None
    nullable_int: Any = None
    sample_size: Any = None
    infer_logical_types: Any = None
    leading_zeros: Any = None


class FileReading(Record):
    """How a file is read: shared by everything that names one."""

    column_types: dict[str, Names] = Field(default_factory=dict)
    na_values: CellTexts | dict[str, CellTexts] = ()
    header_names: tuple[str, ...] | None = None
    schema_: str | Schema | None = Field(default=None, alias="schema")

    @model_validator(mode="after")
    def _types_are_known(self) -> FileReading:
        odd = [name for name in self.column_types if name.lower() not in ("category", "datetime")]
        if odd:
            raise ValueError(f"column_types names {odd[0]!r}; it may name category and datetime")
        return self


class Loading(FileReading):
    """Loader: the table of people."""

    filepath: str | None = None
    method: Literal["default"] | None = None

    @model_validator(mode="after")
    def _names_a_table(self) -> Loading:
        if (self.filepath is None) == (self.method is None):
            raise ValueError(
                "give filepath, the table to read (method: default, which downloads one, is read but not carried out)"
            )
        return self

    @property
    def obstacle(self) -> str | None:
        """What is asked and not built."""
        if self.filepath is not None and "://" not in self.filepath:
            return None
        name = (self.filepath or "benchmark://adult-income").partition("://")[2]
        return f"nothing is downloaded: put the table at a path, such as benchmark/{name}.csv, and name that"


class GivenTable(FileReading):
    """Synthesizer, ``method: custom_data``: a table that was made elsewhere; never cut unless asked."""

    method: Literal["custom_data"]
    filepath: str
    sample_num_rows: int | None = Field(default=None, ge=1, le=_MOST_ROWS, strict=True)


class SplitPaths(Record):
    """The two tables of a split that was made elsewhere."""

    ori: str
    control: str


class SplitSchemas(Record):
    """What is known of them."""

    ori: str | Schema | None = None
    control: str | Schema | None = None


class GivenSplit(Record):
    """Splitter, ``method: custom_data``: originals and a control set, each in a file."""

    method: Literal["custom_data"]
    filepath: SplitPaths
    na_values: CellTexts | dict[str, CellTexts] = ()
    column_types: dict[str, Names] = Field(default_factory=dict)
    schema_: SplitSchemas = Field(default_factory=SplitSchemas, alias="schema")

    @property
    def reading(self) -> FileReading:
        """How the originals are read."""
        return FileReading(na_values=self.na_values, column_types=self.column_types, schema=self.schema_.ori)


class Splitting(Record):
    """Splitter: some of the people are kept out of the synthesis, as a control."""

    method: None = None
    num_samples: int = Field(default=1, ge=1, le=1000, strict=True)
    train_split_ratio: float = Field(default=0.8, gt=0, lt=1)
    random_state: int | float | str | None = None
    max_overlap_ratio: float = Field(default=1.0, ge=0, le=1)
    max_attempts: int = Field(default=30, ge=1, strict=True)
    person: str | None = None


class Synthesis(Record):
    """Synthesizer: a table made up here; see `hushtable.synthesize`."""

    method: str = "default"
    sample_num_rows: int | None = Field(default=None, ge=1, le=_MOST_ROWS, strict=True)
    values: Literal["interpolated", "observed"] | None = None
    min_leaf: int | None = Field(default=None, ge=MIN_PEOPLE, strict=True)
    order: Names | None = None

    @property
    def name(self) -> str:
        """The method as `hushtable.synthesize` calls it."""
        return {"default": "copula", "sdv-single_table-gaussiancopula": "copula"}.get(self.method, self.method)

    @property
    def options(self) -> dict[str, object]:
        """What is given of the options of its method."""
        given = {"values": self.values, "min_leaf": self.min_leaf, "order": self.order}
        return {name: value for name, value in given.items() if value is not None}

    @model_validator(mode="after")
    def _options_are_of_use(self) -> Synthesis:
        for name in self.options:
            methods = ("copula", "independent") if name == "values" else ("trees",)
            if self.name not in methods:
                raise ValueError(f"{name} has no effect with {self.method}")
        return self


class OwnSynthesizer(Record):
    """Synthesizer, ``method: custom_method``: somebody's class, an installed entry point of that name."""

    method: Literal["custom_method"]
    class_name: str
    module_path: str | None = None
    sample_num_rows: int | None = Field(default=None, ge=1, le=_MOST_ROWS, strict=True)

    @property
    def name(self) -> str:
        """The method as `hushtable.synthesize` calls it."""
        return self.class_name

    @property
    def obstacle(self) -> str | None:
        """What is asked and not installed."""
        if self.class_name in plugin_synthesizers():
            return None
        return (
            f"{self.class_name} is not installed: files of code are not run; install a package with an entry point of "
            "that name in hushtable.synthesizers"
        )


class Deep(Record):
    """Synthesizers that learn deeply: read, and not built."""

    obstacle: ClassVar[str] = (
        "deep-learning synthesizers are not built. Take method: default (a Gaussian copula). Or install a package with "
        "an entry point in hushtable.synthesizers, and give its name as the method"
    )

    method: str
    sample_num_rows: int | None = Field(default=None, ge=1, le=_MOST_ROWS, strict=True)


class Constraining(Record):
    """Constrainer: rules that the rows of a synthetic table keep to; see `hushtable.pipeline.constraining`."""

    method: Literal["default"] | None = None
    nan_groups: dict[str, Any] = Field(default_factory=dict)
    field_constraints: tuple[str, ...] = ()
    field_combinations: tuple[Any, ...] = ()
    field_proportions: Any = None
    target_rows: int | None = Field(default=None, ge=1, le=_MOST_ROWS, strict=True)
    sampling_ratio: float = Field(default=10.0, gt=0, le=1e6)
    max_trials: int = Field(default=300, ge=1, strict=True)
    verbose_step: int = Field(default=10, ge=1, strict=True)

    @property
    def obstacle(self) -> str | None:
        """What is asked and not built."""
        return "field_proportions is not built: leave it out" if self.field_proportions else None


class Perturbing(Record):
    """Perturber: numbers and categories near the true ones; see `hushtable.perturb`."""

    columns: Names
    method: str | dict[str, object] = "microaggregation"
    by: Names = ()
    keep: Names | None = None
    accept: Annotated[dict[str, str], BeforeValidator(check_reasons)] = Field(default_factory=dict)
    precision: Literal["column", "full"] = "column"
    external: bool = Field(default=False, strict=True)

    @field_validator("method")
    @classmethod
    def _is_a_method(cls, method: str | dict[str, object]) -> str | dict[str, object]:
        # Raised anew, because pydantic wants no other error.
        try:
            PERTURBATIONS.read(method)
        except InputError as error:
            raise ValueError(f"{error.message.rstrip('.')}; {error.hint}") from None
        return method


class Releasing(Record):
    """Anonymizer: a release by a policy, whose entries stand here (``rules``) or in a file of their own."""

    rules: Any = None
    policy: str | None = None
    key_file: str | None = None  # of pseudonyms
    external: bool = Field(default=False, strict=True)


class Describing(Record):
    """Describer: statistics of the table as it is by then."""

    method: Literal["default"] = "default"


class SaveData(Record):
    """Reporter, ``save_data``: tables as files."""

    method: Literal["save_data"]
    source: Names
    output: Output = "hushtable"
    naming_strategy: Naming | None = None


class SaveReport(Record):
    """Reporter, ``save_report``: what evaluators and describers found, a file for each granularity."""

    method: Literal["save_report"]
    granularity: Annotated[tuple[Granularity, ...], BeforeValidator(as_list)] = ("global",)
    eval: Names | None = None
    output: Output = "hushtable"
    naming_strategy: Naming | None = None


class SaveTiming(Record):
    """Reporter, ``save_timing``: how long each step took."""

    method: Literal["save_timing"]
    time_unit: Literal["seconds", "minutes", "hours", "days"] = "seconds"
    module: Names = ()
    output: Output = "hushtable"
    naming_strategy: Naming | None = None
