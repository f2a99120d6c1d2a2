"""Re-identification risk of a table as it stands: how many records, and how many people, share a person's values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from hushtable._types import CountArray, FloatArray, Missing
from hushtable.columns import SUPPRESSED, ColumnSpec, check_specs
from hushtable.errors import InputError, check_choice, check_type, names_in
from hushtable.io import frames, read_alike
from hushtable.risk.assessment import AttackRisk, Records, RiskAssessment
from hushtable.risk.counted import (
    READINGS,
    Counted,
    HouseholdRisk,
    People,
    count_classes,
    count_population_by_class,
    household_classes,
    household_codes,
    measure_homogeneity,
    sum_by_size,
    sum_weights,
)
from hushtable.risk.hipaa import SafeHarborFinding, safe_harbor
from hushtable.risk.nearness import count_rough_matches, reaches_of
from hushtable.risk.presets import SAFE_HARBOR, smallest_class_of, thresholds_in
from hushtable.tables import Table, merge_spellings_in, open_table, warn_of_missing_codes

if TYPE_CHECKING:
    from hushtable.risk.population import Estimate, SampleClasses, TreeRisk

_Basis = Literal["table", "population", "population_size", "weights"]
_MAX_PEOPLE: Final = 1e12  # past it, figures of the estimators are lost to rounding


@dataclass(frozen=True, slots=True, eq=False)
class _Population:
    """What is known of the population that a table is from."""

    basis: _Basis
    size: float | None  # how many people
    theta: Estimate | None  # the chance that a match with a unique is right
    uniqueness: dict[str, Estimate]  # the share of people who are unique, by estimator
    individual_risk: FloatArray = field(repr=False)  # (n_classes,): the expected chance of a right guess
    rank: CountArray | None = field(default=None, repr=False)  # (n_classes,): of classes of one, 1 the rarest; else 0
    people_by_class: CountArray | None = field(default=None, repr=False)  # (n_classes,), where counted


def _count_population(classes: Counted, people: People) -> _Population:
    """Take the counts of the population as they are: nothing is estimated."""
    is_unique = classes.sizes == 1
    theta = None
    if is_unique.any():
        theta = _exact_estimate(float(is_unique.sum()) / float(people.by_class[is_unique].sum()))
    uniqueness = {"counted": _exact_estimate(people.n_unique / people.n_people)} if people.n_people else {}
    individual = 1 / np.maximum(people.by_class, 1)
    return _Population(
        "population", float(people.n_people), theta, uniqueness, individual, people_by_class=people.by_class
    )


def _estimate_population(classes: Counted, size: float, weighted: FloatArray | None) -> _Population:
    """Estimate the population from the classes; without weights all had the same chance to be in the sample."""
    from hushtable.risk.population import SampleClasses, data_intrusion, population_uniqueness

    is_occupied = classes.members > 0
    _check_population_size(size, int(classes.members.sum()), weighted)
    basis: _Basis = "population_size" if weighted is None else "weights"
    individual = _estimate_individual_risk(classes, size, weighted)
    if not is_occupied.any():
        return _Population(basis, size, None, {}, individual)
    sample = SampleClasses.from_sizes(classes.members[is_occupied], size)
    pairs = None if weighted is None else weighted[classes.members == 2]
    theta = data_intrusion(sample, pair_weights=pairs) if sample.n_unique else None
    tree, rank = _estimate_by_tree(classes, sample) if sample.n_unique and classes.columns else (None, None)
    return _Population(basis, size, theta, population_uniqueness(sample, tree=tree), individual, rank)


def _estimate_individual_risk(classes: Counted, size: float, weighted: FloatArray | None) -> FloatArray:
    """Return the individual risk of every class by how many people its members stand for."""
    from hushtable.risk.population import benedetti_franconi

    # Records of nobody are as exposed as those of one person.
    members = np.maximum(classes.members, 1)
    if weighted is not None:
        return benedetti_franconi(members, np.maximum(weighted, members))
    # With equal weights, classes of one size have one risk.
    sizes, positions = np.unique(members, return_inverse=True)
    return benedetti_franconi(sizes, sizes * (size / max(1, int(classes.members.sum()))))[positions]


def _estimate_by_tree(classes: Counted, sample: SampleClasses) -> tuple[TreeRisk, CountArray]:
    """Return what a tree of the columns expects, and the rank of the classes of one by how rare their values are."""
    from hushtable.risk.population import chow_liu, estimate_tree_risk

    is_occupied = classes.members > 0
    tree = chow_liu(classes.codes[:, is_occupied], classes.widths, classes.members[is_occupied])
    risk = estimate_tree_risk(tree.log_shares, classes.members[is_occupied] == 1, sample)
    rank = np.zeros(len(is_occupied), dtype=np.int64)
    # Classes that are equally rare share the lowest rank.
    rank[classes.members == 1] = np.searchsorted(np.sort(risk.nu), risk.nu) + 1
    return risk, rank


def _exact_estimate(value: float) -> Estimate:
    from hushtable.risk.population import Estimate

    return Estimate(value, value, value, True, "counted in the population")


def _check_population_size(size: float, n_members: int, weighted: FloatArray | None) -> None:
    if n_members <= size <= _MAX_PEOPLE:
        return
    if weighted is None:
        raise InputError(
            f"population_size = {size:g}, and the table holds {n_members}.",
            hint="give the number of people among whom those of the table are.",
        )
    raise InputError(
        f"the weights sum to {size:g}, and the table holds {n_members}.",
        hint="a weight is the number of people that a record stands for, 1 or more on average.",
    )


THRESHOLDS: Final = (2, 5, 11, 20)

_INDIVIDUAL_BASIS: Final[Mapping[_Basis, str]] = MappingProxyType(
    {
        "table": "1 / the size of the class: who attacks knows that the person is in the table",
        "population": "1 / the people of the population who share the values, counted",
        "population_size": "Benedetti and Franconi's, with equal weights: all uniques have the same",
        "weights": "Benedetti and Franconi's, with the sums of weights",
    }
)


def assess(
    data: Any,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    population: Any = None,
    population_size: float | None = None,
    weights: str | None = None,
    person: str | None = None,
    household: str | None = None,
    tolerance: float | str | None = None,
    thresholds: Sequence[int] = THRESHOLDS,
    missing: Missing = "category",
    known_within: Mapping[str, Any] | None = None,
    specs: Mapping[str, ColumnSpec] | None = None,
) -> RiskAssessment:
    """Measure the re-identification risk of a table as it stands.

    Parameters
    ----------
    data : path, URL, dataframe or Table
    quasi_identifiers : sequence of str
        What someone may know of a person.
    sensitive : sequence of str
        Columns whose diversity within classes is reported.
    population : path, dataframe or Table, optional
        The people among whom those of the table are, with the quasi-identifiers: they are counted.
    population_size : float, optional
        How many they are, where they cannot be counted: what follows is estimated.
    weights : str, optional
        The column that says how many people a record stands for: positive numbers, whose sum is the population.
    person : str, optional
        The column that says whose record a row is, where a person may have several: classes then
        count distinct persons, and a record without one counts nobody.
    household : str, optional
        The column that says who lives together; a record without one is alone.
    tolerance : int, float or str, optional
        The smallest class that is tolerated, a risk in (0, 1) that asks for one (0.09 asks for 12), or a preset:
        "survey-internal" 3, "internal" 5, "cms" and "ema-0070" 11, "public-use" 20; "hipaa-safe-harbor" checks all
        columns by rules instead.
    thresholds : sequence of int
        Class sizes below which records are counted.
    missing : {"category", "wildcard", "worst"}
        Whether a missing value is a value of its own, matches anything, or nothing.
    known_within : mapping of column to amount, optional
        How far what is known of a quasi-identifier may be from the truth, as `tolerance` of `hushtable.unicity`:
        ``{"age": 2, "admitted": "14D"}``. Class sizes are then the records that a record could be taken for; what
        classes tell of sensitive columns stays that of equal values. For records of the table alone.
    specs : mapping of column to ColumnSpec, optional
        Kinds of columns where the data do not say.

    Raises
    ------
    InputError
        Two ways to know the population were given, or none that can be: people of the data who are not in the
        population, fewer people than records, weights that are missing or not positive.

    Notes
    -----
    El Emam, Dankar (2008) for prosecutor and journalist, Dankar, El Emam (2010) for the marketer; Skinner, Elliot
    (2002) for theta; Benedetti, Franconi (1998) for individual risk. O(n) per column, besides the estimates.
    "wildcard" compares every two patterns of missing cells. An empty table has no classes and reports a risk of 1:
    no figure is better than the worst where there is nothing to measure.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 31, 52], "sex": ["f", "f", "m"]})
    >>> risk = assess(people, quasi_identifiers=["age", "sex"])
    >>> risk.n_unique, risk.highest_risk, round(risk.average_risk, 3)
    (1, 1.0, 0.667)
    """
    check_specs(specs)
    columns, sensitive = names_in(quasi_identifiers, "quasi_identifiers"), names_in(sensitive, "sensitive")
    below, tolerated = thresholds_in(thresholds), None if tolerance is None else smallest_class_of(tolerance)
    _check_choices(population, population_size, weights, person, household, missing)
    if population is None:
        data = open_table(data)
    elif not isinstance(data, Table) and not isinstance(population, Table):
        data, population = read_alike((frames.read(data), frames.read(population)))
    named = (name for name in (*sensitive, person, household, weights) if name is not None and name not in columns)
    judged = [name for name in sensitive if name not in columns]
    # Sensitive columns are typed and spelled as the models of anonymize and verify see them: one t for one table.
    table = Table.encode(data, (*columns, *dict.fromkeys(named)), specs, typed=judged)
    warn_of_missing_codes(open_table(data, specs), table.names)
    table = merge_spellings_in(table, judged)
    classes = count_classes(table, columns, person, missing)
    if known_within is not None:
        _check_rough(population, population_size, weights, person, missing)
        sizes = count_rough_matches(
            classes.codes, classes.members, reaches_of(table.select(columns), known_within, "known_within")
        )
        classes = replace(classes, sizes=sizes, is_rough=True)
    measured_population = _measure_population(classes, population, population_size, weights, specs)
    households = None if household is None else _measure_household_risk(classes, measured_population, household)
    source = frames.library_of(data)
    findings = safe_harbor(data) if tolerance == SAFE_HARBOR else None
    records = Records(
        classes.partition.labels,
        table.counts,
        classes.sizes,
        measured_population.individual_risk,
        measured_population.rank,
        None if households is None else households[0],
    )
    homogeneity = {name: measure_homogeneity(classes, name) for name in sensitive}
    return RiskAssessment(
        quasi_identifiers=columns,
        **_figures_of_classes(classes, below),
        **_figures_of_population(classes, measured_population, below),
        distinct_sensitive={name: each.distinct_l for name, each in homogeneity.items()},
        homogeneity=homogeneity,
        household=None if households is None else households[1],
        person=person,
        **_compare_with_tolerance(classes, tolerated, findings),
        records=records,
        source=source,
        known_within={name: str(amount) for name, amount in (known_within or {}).items()},
    )


def _measure_population(
    classes: Counted,
    population: Any,
    size: float | None,
    weights: str | None,
    specs: Mapping[str, ColumnSpec] | None,
) -> _Population:
    if population is not None:
        return _count_population(classes, count_population_by_class(classes, population, specs))
    if weights is not None:
        weighted = sum_weights(classes, weights)
        return _estimate_population(classes, math.fsum(weighted.tolist()), weighted)
    if size is not None:
        return _estimate_population(classes, float(size), None)
    # The table is all that there is: who attacks knows that a person is in it.
    return _Population("table", None, None, {}, 1 / np.maximum(classes.sizes, 1))


def _figures_of_classes(classes: Counted, below: tuple[int, ...]) -> dict[str, Any]:
    """Return the figures that follow from the classes alone."""
    smallest = classes.smallest_by_missing()
    attack = _measure_attack_risk(classes.records, classes.sizes, below)
    sizes, n_classes = sum_by_size(classes.sizes, np.ones_like(classes.sizes))
    return {
        "n_records": classes.table.n_records,
        "n_classes": classes.partition.n_classes,
        # A class of size 0 holds records of nobody.
        "n_unique": int(classes.records[classes.sizes <= 1].sum()),
        "smallest_class": smallest[classes.missing],
        "highest_risk": attack.highest,
        "average_risk": attack.average,
        "smallest_by_missing": smallest,
        "class_sizes": dict(zip(sizes.tolist(), n_classes.tolist(), strict=True)),
        "records_below": {size: int(classes.records[classes.sizes < size].sum()) for size in below},
        "missing": classes.missing,
        "n_incomplete": int(classes.records[classes.incomplete_classes].sum()),
        "n_suppressed": _count_star_records(classes),
        "prosecutor_risk": attack,
    }


def _count_star_records(classes: Counted) -> int:
    """Count the records of which a release published ``*`` in every quasi-identifier."""
    columns = [classes.table.column(name) for name in classes.columns]
    if not columns or not all(SUPPRESSED in column.values for column in columns):
        return 0
    stars = np.array([column.values.tolist().index(SUPPRESSED) for column in columns])
    return int(classes.records[(stars == classes.codes.T).all(axis=1)].sum())


def _figures_of_population(classes: Counted, population: _Population, below: tuple[int, ...]) -> dict[str, Any]:
    """Return the figures of the population, and those that follow from it."""
    people, n_both = population.people_by_class, None
    journalist = None if people is None else _measure_attack_risk(classes.records, people, below)
    if people is not None:
        n_both = int(classes.records[(classes.sizes == 1) & (people == 1)].sum())
    marketer = journalist or _measure_attack_risk(classes.records, classes.sizes, ())
    n_records = classes.table.n_records
    mean = math.fsum((population.individual_risk * classes.records).tolist()) / n_records if n_records else 1.0
    return {
        "journalist_risk": journalist,
        "marketer_risk": marketer.average,
        "basis": population.basis,
        "population_size": population.size,
        "sampling_fraction": int(classes.members.sum()) / population.size if population.size else None,
        "theta": population.theta,
        "population_uniqueness": population.uniqueness,
        "n_unique_in_population": n_both,
        "individual_basis": _INDIVIDUAL_BASIS[population.basis],
        "global_risk": marketer.average if population.basis in ("table", "population") else mean,
    }


def _compare_with_tolerance(
    classes: Counted, tolerated: int | None, findings: tuple[SafeHarborFinding, ...] | None
) -> dict[str, Any]:
    """Compare the classes, or the columns, with the tolerance; an empty table is not within it."""
    n_above, is_within = None, None if findings is None else not findings
    if tolerated is not None:
        n_above = int(classes.records[classes.sizes < tolerated].sum())
        is_within = len(classes.sizes) > 0 and n_above == 0
    return {
        "tolerance": tolerated,
        "within_tolerance": is_within,
        "n_above_tolerance": n_above,
        "safe_harbor": findings,
    }


def _measure_household_risk(classes: Counted, population: _Population, column: str) -> tuple[FloatArray, HouseholdRisk]:
    """Return the risk of every record's household, and a summary."""
    from hushtable.risk.population import household_risk

    table = classes.table
    households = household_codes(table.codes[table.index(column)], table.counts)
    labels = np.repeat(classes.partition.labels, table.counts)
    risks = household_risk(population.individual_risk[labels], households) if len(labels) else np.empty(0)
    sizes = household_classes(households, labels)
    # Without a record, the risk is 1.
    highest, average = (float(risks.max()), float(risks.mean())) if len(risks) else (1.0, 1.0)
    n_unique, smallest = int(np.count_nonzero(sizes == 1)), int(sizes.min(initial=len(sizes)))
    known = float((1 / sizes)[households].mean()) if len(risks) else 1.0
    return risks, HouseholdRisk(len(sizes), n_unique, smallest, highest, average, known)


def _measure_attack_risk(records: CountArray, sizes: CountArray, below: tuple[int, ...]) -> AttackRisk:
    n_records = int(records.sum())
    if not n_records:
        return AttackRisk(1.0, 1.0, dict.fromkeys(below, 1.0))
    # By size, so that no order of the rows changes a digit.
    distinct_sizes, records_by_size = sum_by_size(sizes, records)
    # A class of nobody's records is no safer than that of one person.
    risks = 1 / np.maximum(distinct_sizes, 1)
    above = {size: int(records_by_size[distinct_sizes < size].sum()) / n_records for size in below}
    return AttackRisk(float(risks.max()), float(risks @ records_by_size) / n_records, above)


def _check_rough(
    population: Any, population_size: float | None, weights: str | None, person: str | None, missing: str
) -> None:
    """Raise InputError where known_within is given with an option that goes by equal values."""
    options = {
        "population": population is not None,
        "population_size": population_size is not None,
        "weights": weights is not None,
        "person": person is not None,
        f"missing={missing!r}": missing != "category",
    }
    odd = [name for name, is_given in options.items() if is_given]
    if odd:
        raise InputError(
            f"known_within was given with {odd[0]}, which goes by equal values.", hint="leave one of the two out."
        )


def _check_choices(
    population: Any,
    population_size: float | None,
    weights: str | None,
    person: str | None,
    household: str | None,
    missing: str,
) -> None:
    """Raise InputError for arguments that contradict one another, or are of another type."""
    for what, name in {"weights": weights, "person": person, "household": household}.items():
        check_type(name, str, what, f'the name of a column: {what}="id"')
    ways = {"population": population, "population_size": population_size, "weights": weights}
    given = [name for name, way in ways.items() if way is not None]
    if len(given) > 1:
        raise InputError(
            f"{' and '.join(given)} were given, each of which says how large the population is.",
            hint="give one: population where people can be counted.",
        )
    is_number = isinstance(population_size, (int, float, np.integer, np.floating))
    if population_size is not None and (isinstance(population_size, bool) or not is_number):
        raise InputError(
            f"population_size was given as {type(population_size).__name__}.",
            hint="a number of people; a table of them is given as population.",
        )
    # Checked here: `float()` of a huge int would overflow before `_check_population_size` could refuse it.
    if population_size is not None and _MAX_PEOPLE < population_size < math.inf:
        raise InputError(
            "population_size is larger than any population.",
            hint=f"give a number of people, at most {_MAX_PEOPLE:.0e}.",
        )
    check_choice("missing", missing, READINGS)
    if person is not None and missing != "category":
        raise InputError(
            f"missing = {missing!r} was given with persons.", hint="persons are counted in classes: missing='category'."
        )
    if person is not None and household is not None:
        raise InputError(
            "person and household were given, and the members of a household are counted by records.",
            hint="give a row for every person, or leave one of the two out.",
        )
