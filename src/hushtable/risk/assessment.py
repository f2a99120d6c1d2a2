"""The result of a risk assessment, in figures and in sentences; a unique record is never called a unique person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray, Missing
from hushtable.errors import InputError, check_choice
from hushtable.io import frames
from hushtable.risk.bands import cumulative_shares, record_bands
from hushtable.risk.counted import Homogeneity, HouseholdRisk, sum_by_size
from hushtable.risk.hipaa import SafeHarborFinding
from hushtable.wording import StatesFacts, careful, count_of, join_names

if TYPE_CHECKING:
    from hushtable.risk.population import Estimate


def _write_headline(risk: RiskAssessment) -> str:
    n = f"{risk.n_records:,} {'record' if risk.n_records == 1 else 'records'}"
    if not risk.n_records:
        return "The table has no records: nothing was measured, and every risk is given as 1, the worst."
    if not risk.n_unique:
        return f"None of {n} is unique in the table; the smallest class holds {risk.smallest_class:,}."
    are = "is" if risk.n_unique == 1 else "are"
    if risk.population_size is None:
        return (
            f"{risk.n_unique:,} of {n} {are} unique in the table. How many people outside the table share "
            "their values is not known. To estimate it, give the size of the population."
        )
    fraction = format_percent(risk.sampling_fraction)
    unique = f"{risk.n_unique:,} of {n} {are} unique in the sample (f = {fraction} of the population)"
    theta = risk.theta
    if theta is None or theta.value is None:
        why = "nobody alone is counted" if theta is None else theta.reason
        return f"{unique}; how often a match with one of them is right is not estimable: {why}."
    if risk.basis == "population":
        return (
            f"{unique}; a match with one of them is right in {format_percent(theta.value)} of cases, counted in the "
            f"population, where {risk.n_unique_in_population:,} of them are unique too."
        )
    return (
        f"{unique}; a match with one of them is right in about {format_percent(theta.value)} of cases "
        f"(interval {format_percent(theta.low).removesuffix(' %')} to {format_percent(theta.high)})."
    )


def _yield_notes(risk: RiskAssessment) -> Iterator[str]:
    if risk.n_suppressed:
        yield (
            f"{risk.n_suppressed:,} records are * in every quasi-identifier: a release whose suppressed records count "
            "here as a class like others"
        )
    if risk.known_within:
        known = ", ".join(f"{name} within {amount}" for name, amount in risk.known_within.items())
        yield (
            f"class sizes count the records that somebody who knows {known} takes a record for; who knows more finds "
            "more"
        )
    for name, each in risk.homogeneity.items():
        if each.n_homogeneous:
            kept = " although every class is large enough" if risk.within_tolerance else ""
            yield (
                f"{each.n_homogeneous:,} records lie in classes that agree on {name}{kept}: "
                "anyone who finds a person's class knows it"
            )
    if risk.basis in ("population_size", "weights"):
        yield f"estimates hold for a random sample of the {risk.population_size:,.0f} people of that population"
        if risk.n_incomplete:
            yield f"{risk.n_incomplete:,} records miss a quasi-identifier, which estimates take for a value of its own"
        if risk.household is not None:
            yield "members of a household come together: estimates take records for drawn one by one"
        if risk.person is not None:
            yield "who has records in several classes counts once in each of them"
    if risk.basis == "weights":
        yield (
            "a weight is taken as 1 / the probability of selection; trimmed or calibrated weights meet this only "
            "roughly"
        )
    if risk.safe_harbor is not None:
        yield "the Safe Harbor's rules were checked by names and cells, which is no legal opinion"


def _facts(risk: RiskAssessment) -> Iterator[str]:
    if risk.within_tolerance is False and risk.tolerance is not None:
        yield careful(f"{risk.n_above_tolerance:,} records are in classes smaller than {risk.tolerance}.")
    yield from (
        careful(f"{each.column} looks to break the Safe Harbor, {each.rule}.") for each in risk.safe_harbor or ()
    )
    yield risk.headline
    smallest = count_of(risk.smallest_class, "person" if risk.person else "record")
    readings = risk.smallest_by_missing
    yield (
        f"By {join_names(risk.quasi_identifiers)}, with missing values read as {risk.missing}, {risk.n_records:,} "
        f"records are in {risk.n_classes:,} classes; the smallest holds {smallest}."
    )
    if below := risk.records_below:
        counts = join_names([f"{n:,}" for n in below.values()])
        yield f"Classes smaller than {join_names([*below])} hold {counts} records."
    yield (
        f"The smallest class holds {readings['category']:,} with missing values as a category, "
        f"{readings['wildcard']:,} as a wildcard, and {readings['worst']:,} at worst."
    )
    yield from _describe_attackers(risk)
    yield from (each.sentence(name) for name, each in risk.homogeneity.items())
    if (household := risk.household) is not None:
        yield (
            f"Of {household.n_households:,} households, {household.n_unique:,} are unique by all their members. Who "
            f"knows a whole household finds it with a chance of {household.average_known:.3g} on average (1 / equal "
            "households)."
        )
        yield (
            f"The product of the members' own risks is {household.highest:.3g} at most, {household.average:.3g} on "
            "average: it takes them for independent, and is no limit."
        )
    yield from (careful(f"{note}.") for note in risk.notes)
    if risk.within_tolerance:
        large = f"Every class holds {risk.tolerance} or more."
        yield "No column looks to break a rule of the Safe Harbor." if risk.tolerance is None else large


def _describe_attackers(risk: RiskAssessment) -> Iterator[str]:
    """Describe the risk from a prosecutor, a journalist and a marketer."""
    highest, average = risk.prosecutor_risk.highest, risk.prosecutor_risk.average
    yield (
        f"A prosecutor, who knows that a person is in the table, has a highest risk of {highest:.3g} and an average of "
        f"{average:.3g}."
    )
    if (journalist := risk.journalist_risk) is not None:
        yield (
            "A journalist, who knows that a person is in the population, has a highest risk of "
            f"{journalist.highest:.3g} and an average of {journalist.average:.3g}."
        )
    among = "as if the table were all people" if risk.journalist_risk is None else "people of the population counted"
    yield f"A marketer, who guesses at every record, is right in {risk.marketer_risk:.1%} of the records, {among}."
    if risk.basis in ("population_size", "weights"):
        yield f"The global risk is {risk.global_risk:.3g}, by {risk.individual_basis}."


def format_percent(share: float | None) -> str:
    """Format a share as a percentage: two significant digits below 10 %, no decimals from there on."""
    if share is None:
        return "an unknown share"
    hundredths = 100 * share
    return f"{hundredths:.0f} %" if hundredths >= 10 else f"{hundredths:.2g} %"


Picture = Literal["class_sizes", "risk_by_k"]

# The k of a title where no tolerance was given.
_DEFAULT_K: Final = 5


@dataclass(frozen=True, slots=True)
class AttackRisk:
    """What an attacker achieves, record by record: 1 / how many share a record's values. Lower is safer."""

    highest: float
    average: float
    share_above: dict[int, float]  # by class size: the share of the records in smaller classes


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """Data of single records, for frames alone: the class of each row, and the figures of each class."""

    labels: CodeArray = field(repr=False)  # (n_rows,)
    counts: CountArray = field(repr=False)  # (n_rows,): records of each row
    sizes: CountArray = field(repr=False)  # (n_classes,), as the two below
    individual: FloatArray = field(repr=False)
    rank: CountArray | None = field(repr=False)
    household: FloatArray | None = field(repr=False)  # (n_records,)

    def expand_to_records(self, of_classes: Any) -> Any:
        """Return for every record the figure of its class."""
        return np.repeat(of_classes[self.labels], self.counts)

    def count_by_class_size(self) -> dict[int, int]:
        """Return how many records lie in classes of every size, ascending."""
        # Whole numbers far below 2^53, so that bincount's floats are exact.
        of_class = np.bincount(self.labels, weights=self.counts, minlength=len(self.sizes)).astype(np.int64)
        sizes, totals = sum_by_size(self.sizes, of_class)
        return dict(zip(sizes.tolist(), totals.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class RiskAssessment(StatesFacts):
    """How easily people can be found again.

    The risk of a record is 1 / the records of its class. This is the chance of a right guess by a prosecutor, who knows
    that the person is in the table. Where persons are counted, they take the place of records in every class size.

    Attributes
    ----------
    quasi_identifiers : tuple of str
    n_records, n_classes : int
    n_unique : int
        Records alone in their class, or of its only person.
    smallest_class : int
    highest_risk : float
        In [0, 1]; 1 / smallest_class. Lower is safer.
    average_risk : float
        In [0, 1]; the mean over records of 1 / the size of their class: classes / records, unless persons are counted.
    smallest_by_missing : dict of reading to int
        The smallest class when missing values are a category of their own, match
        anything (wildcard), or match nothing (worst). As a wildcard, a person counts once for every class matched.
    distinct_sensitive : dict of column to int
        The fewest distinct known values of a sensitive column in any class.
    class_sizes : dict of size to int
        How many classes there are of every size.
    records_below : dict of size to int
        Records in classes smaller than each threshold.
    missing : {"category", "wildcard", "worst"}
        The reading of class sizes; estimates of a population take missing values for a category.
    n_incomplete : int
        Records that miss a quasi-identifier.
    prosecutor_risk : AttackRisk
        Of someone who knows that a person is in the table.
    journalist_risk : AttackRisk, optional
        Of someone who knows that a person is in the population: by the people counted there. None without one.
    marketer_risk : float
        In [0, 1]; the expected share of right guesses over all records: the mean of 1 / people of the population who
        share a record's values, where they are counted; else of 1 / class size, as much as it can be.
    basis : {"table", "population", "population_size", "weights"}
        What is known of the population: nothing, the people, their number, survey weights.
    population_size : float, optional
    sampling_fraction : float, optional
        In (0, 1]: f, records (or persons) / population.
    theta : Estimate, optional
        In [0, 1]: the chance that a match with a unique is right; None where the population is not known, or nobody
        is unique. Counted where the population is, else by data intrusion simulation.
    population_uniqueness : dict of name to Estimate
        The share of the population who share their values with nobody: "counted", or an estimate by each method,
        shown to compare with other programs, with the bounds of what the data allow as its interval.
    n_unique_in_population : int, optional
        Records that are unique here and in the population that was counted.
    individual_basis : str
        What individual risks are, in words.
    global_risk : float
        In [0, 1]: the mean of the individual risks of all records, the share that is expected to be found.
    homogeneity : dict of column to Homogeneity
    household : HouseholdRisk, optional
    person : str, optional
    tolerance : int, optional
        The smallest class that is tolerated.
    within_tolerance : bool, optional
        Whether every class is as large, in the table itself whatever the population; with the Safe Harbor, whether
        no column looks to break a rule.
    n_above_tolerance : int, optional
        Records whose class is smaller.
    safe_harbor : tuple of SafeHarborFinding, optional
    records : Records
        What frames show of single records; in no representation and no dictionary.
    source : str
        The dataframe library that `to_frame` answers in.
    n_suppressed : int
        Records that are ``*`` in every quasi-identifier, as a release writes those that it suppressed. All figures
        count them as a class like others.
    known_within : dict of column to str
        How far what is known of a column may be from the truth; others are known exactly. Where it names one, class
        sizes are the records that a record could be taken for.
    """

    quasi_identifiers: tuple[str, ...]
    n_records: int
    n_classes: int
    n_unique: int
    smallest_class: int
    highest_risk: float
    average_risk: float
    smallest_by_missing: dict[str, int]
    distinct_sensitive: dict[str, int]
    class_sizes: dict[int, int] = field(repr=False)
    records_below: dict[int, int]
    missing: Missing
    n_incomplete: int
    n_suppressed: int
    prosecutor_risk: AttackRisk
    journalist_risk: AttackRisk | None
    marketer_risk: float
    basis: str
    population_size: float | None
    sampling_fraction: float | None
    theta: Estimate | None
    population_uniqueness: dict[str, Estimate]
    n_unique_in_population: int | None
    individual_basis: str
    global_risk: float
    homogeneity: dict[str, Homogeneity]
    household: HouseholdRisk | None
    person: str | None
    tolerance: int | None
    within_tolerance: bool | None
    n_above_tolerance: int | None
    safe_harbor: tuple[SafeHarborFinding, ...] | None
    records: Records = field(repr=False, compare=False)
    source: str = field(repr=False, compare=False)
    known_within: dict[str, str] = field(default_factory=dict)

    @property
    def headline(self) -> str:
        """One sentence: uniques, the share of the population that the table is, and how often a match is right."""
        return _write_headline(self)

    @property
    def facts(self) -> tuple[str, ...]:
        """What was found, in whole sentences, the most dangerous first."""
        return tuple(_facts(self))

    @property
    def notes(self) -> tuple[str, ...]:
        """What the figures do not say by themselves."""
        return tuple(_yield_notes(self))

    @property
    def individual_risk(self) -> FloatArray:
        """Each record's expected chance of a right guess, float64 in [0, 1]; `individual_basis` says by what."""
        return np.asarray(self.records.expand_to_records(self.records.individual))

    def plot(self, kind: Picture = "class_sizes", *, ax: Any = None) -> Any:
        """Draw in classes of what size the records are; return the matplotlib axes.

        Parameters
        ----------
        kind : {"class_sizes", "risk_by_k"}
            The share of the records by the size of their class, or in classes smaller than k, for every k.
        ax : matplotlib axes, optional
            A figure of its own when not given; a notebook shows it.

        Raises
        ------
        InputError
            Another kind, or no records.
        """
        from hushtable.plots import charts

        check_choice("kind", kind, get_args(Picture))
        if not self.n_records:
            raise InputError("there are no records to draw.", hint="assess a table with rows.")
        records_by_size, people = self.records.count_by_class_size(), "records" if self.person is None else "persons"
        if kind == "class_sizes":
            bands, (counts,) = record_bands(records_by_size)
            shares = {"records": [n / self.n_records for n in counts]}
            return charts.class_sizes(bands, shares, people=people, title=self._describe_uniques(), ax=ax)
        k = self.tolerance or _DEFAULT_K
        below = sum(n for size, n in records_by_size.items() if size < k) / self.n_records
        steps, (shares_below,) = cumulative_shares(records_by_size)
        shares = {"records": list(shares_below)}
        unit = "" if self.person is None else " persons"
        title = f"{format_percent(below)} of records are in classes smaller than {k:,}{unit}"
        return charts.risk_by_k(list(steps), shares, people=people, title=title, ax=ax)

    def _describe_uniques(self) -> str:
        """Describe how many records are alone in their class."""
        if not self.n_unique:
            return f"no record is alone; the smallest class holds {self.smallest_class:,}"
        whose = "are alone in their class" if self.person is None else "are in a class of one person"
        return f"{format_percent(self.n_unique / self.n_records)} of records {whose}"

    def to_frame(self) -> Any:
        """Return a row for every record, in the order of the data, in a frame of the library that the data came in.

        Columns ``class_size``, ``individual_risk``; where a population is estimated ``rarity_rank`` (of uniques, 1 has
        the rarest values; 0 for others); with households ``household_risk``. It says who can be found: keep it as
        safe as the data.
        """
        records = self.records
        columns = {"class_size": records.expand_to_records(records.sizes), "individual_risk": self.individual_risk}
        if records.rank is not None:
            columns["rarity_rank"] = records.expand_to_records(records.rank)
        if records.household is not None:
            columns["household_risk"] = records.household
        return frames.assemble({name: each.tolist() for name, each in columns.items()}, self.source)

    def to_dict(self) -> dict[str, Any]:
        """Return the assessment as plain values: figures and names, nothing of a single record."""
        names = [each.name for each in fields(self) if each.compare]
        entries = {name: _to_plain(getattr(self, name)) for name in names}
        return {**entries, "headline": self.headline, "notes": list(self.notes)}


def _to_plain(entry: Any) -> Any:
    if hasattr(entry, "to_dict"):
        return entry.to_dict()
    if isinstance(entry, dict):
        return {name: _to_plain(each) for name, each in entry.items()}
    if isinstance(entry, tuple):
        return [_to_plain(each) for each in entry]
    return asdict(entry) if is_dataclass(entry) and not isinstance(entry, type) else entry
