"""Membership: how well attacks tell the people of a synthetic table from people who were never used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.columns import ColumnSpec
from hushtable.errors import InputError, check_choice, check_whole
from hushtable.io import frames
from hushtable.risk.attacks.attack import random_generator
from hushtable.risk.members.drift import score_membership_without_synthetic
from hushtable.risk.members.equal_cells import RelativeF1, are_equal_after_binning, relative_f1
from hushtable.risk.members.findings import (
    FALSE_ALARMS,
    ColumnHint,
    Drift,
    Membership,
    MembershipAttack,
    MembershipReach,
    MembershipSizes,
    Scored,
    Subgroup,
)
from hushtable.risk.members.participants import Participants, gather
from hushtable.risk.members.scoring import ATTACKS, WITHOUT_REFERENCE, MembershipAttacker
from hushtable.risk.members.statistics import (
    adjust_p_values,
    area_under_curve,
    least_area,
    least_recognised,
    linear_statistics,
    recognise,
)

_N_PERMUTATIONS: Final = 999
_MAX_UNITS_OF_MOST: Final = 1_000  # attacked in a copy of the people
_MAX_RECORDS_OF_COPY: Final = 100_000
_OF_MOST: Final = (
    "rank distance",
    "rank ratio",
    "ratio",
    "distance",
    "copies",
    "pairs",
    "agreement",
    "agreement alone",
)  # those that cost little
_SHARES_OF_GROUPS: Final = (0.5, 0.9)
_GROUP_NAMES: Final = ("the half nearest to others", "the next 40 %", "the outer 10 %")
_MIN_OTHERS_OF_GROUP: Final = 300
_MAX_REFERENCE_RECORDS: Final = 100_000


def membership(
    original: Any,
    synthetic: Any,
    *,
    control: Any,
    reference: Any = None,
    attacks: str | Sequence[str] = "all",
    person: str | None = None,
    n_records: int = 5_000,
    specs: Mapping[str, ColumnSpec] | None = None,
    seed: int = 0,
) -> Membership:
    r"""Measure whether a synthetic table tells who was among the people that it was made from.

    Parameters
    ----------
    original : path, dataframe or Table
        The people: members.
    synthetic : path, dataframe or Table
        The table that was made from them.
    control : path, dataframe or Table
        People of the same kind who were never used. One half are non-members, the other a reference that attackers
        have; below 400 all are non-members, and attacks that need a reference are left out.
    reference : path, dataframe or Table, optional
        Other people who were never used: then all of the control are non-members.
    attacks : "all" or sequence of str
        Of ``"distance"``, ``"ratio"``, ``"rank distance"``, ``"rank ratio"``, ``"copies"``, ``"counts"``,
        ``"pairs"``, ``"agreement"``, ``"agreement alone"``, ``"boosting"``, ``"domias"`` and ``"gen-lra"``.
    person : str, optional
        A column that tells whose record a row is. A person's score is the highest of their rows, and persons are
        counted.
    n_records : int
        People, and non-members, to attack, drawn at random; all where there are no more.
    specs : mapping of column to ColumnSpec, optional
        Kinds of columns where the data do not say.
    seed : int

    Returns
    -------
    Membership

    Raises
    ------
    InputError
        An option outside its range, an empty table, or persons who are in two tables.
    ColumnError
        The tables have different columns, or a column cannot be coded.

    Notes
    -----
    An attack scores each record without knowing who is a member. M are the people, N the non-members, S the synthetic
    records, R the reference:

    - distance: to the nearest of S (Chen et al., GAN-Leaks, 2020); ratio: to R over that to S; copies: equal records of
      S over those of R.
    - counts: how often each value occurs in S over R; pairs: values and pairs of values, as in the histogram attack on
      the SNAKE challenge.
    - agreement: the greatest sum of surprisals of cells that equal those of a record of S, less the same of R (weights
      as Fellegi and Sunter's); agreement alone: without R.
    - boosting: trees that tell S from R (needs scikit-learn). domias: densities, van Breugel et al., 2023; gen-lra:
      Ward et al., 2025. We depart: both in logarithms, with an isotropic kernel of one bandwidth.

    Distances are of numbers, standardised on S and R, and 1 between other values that differ. Those by ranks find more
    where numbers are skewed, those by values where many are equal. Intervals of the
    rate at few false alarms take into account that its threshold is estimated (beta-binomial). One permutation of the
    labels M and N over all attacks adjusts their p-values: no attack runs again. O((M + N) log S) searches for each
    table, as far as boxes separate records.

    Examples
    --------
    >>> import hushtable as ht
    >>> people = ht.datasets.people(400, seed=1).drop("name", "email")
    >>> others = ht.datasets.people(400, seed=2).drop("name", "email")
    >>> membership(people, people, control=others).verdict
    'found'
    """
    check_whole("n_records", n_records, 1)
    names = _choose_attacks(attacks)
    if control is None:
        raise InputError(
            "membership needs a control.", hint="give people who were never used; ht.split keeps some before synthesis."
        )
    rng = random_generator(seed)
    data = {"original": original, "synthetic": synthetic, "control": control, "reference": reference}
    who = gather(data, person, specs, n_records, rng)
    synthetic_codes = who.tables.synthetic.codes
    attacker = MembershipAttacker(who.tables, who.targets, synthetic_codes, _limit_reference(who, rng), seed)
    scores = _run_attacks(names, attacker, who.units)
    if not scores:
        raise InputError(
            f"none of the attacks can be made: {', '.join(names)}.",
            hint="give a control of 400 people, or a reference (and scikit-learn for boosting), or ask for 'distance'.",
        )
    return Membership(
        _measure_attacks(scores, who, rng),
        sizes=_count_sizes(who, attacker),
        drift=_measure_drift(who, rng),
        most=_measure_most(names, attacker, who, rng),
        least=_find_least_leak(who),
        columns=_find_columns(attacker, who),
        groups=_measure_groups(scores, attacker, who, rng),
        equals=who.equals,
        auditors=_relative_f1(who, synthetic_codes),
        untried=tuple(name for name in names if name not in scores),
        settings={"attacks": list(names), "person": person, "n_records": n_records, "seed": seed},
        scored=Scored(scores, who.is_member, who.units, who.positions, frames.library_of(original)),
    )


def _choose_attacks(attacks: str | Sequence[str]) -> tuple[str, ...]:
    if attacks == "all":
        return tuple(ATTACKS)
    if isinstance(attacks, str):
        raise InputError(f"attacks = {attacks!r}.", hint=f"choose 'all', or a list of some of {', '.join(ATTACKS)}.")
    for name in attacks:
        check_choice("attacks", name, tuple(ATTACKS))
    if not attacks:
        raise InputError("attacks names none.", hint=f"name some of {', '.join(ATTACKS)}.")
    return tuple(dict.fromkeys(attacks))


def _limit_reference(who: Participants, rng: np.random.Generator) -> CodeArray | None:
    if who.reference is None or who.reference.shape[1] <= _MAX_REFERENCE_RECORDS:
        return who.reference
    return who.reference[:, np.sort(rng.permutation(who.reference.shape[1])[:_MAX_REFERENCE_RECORDS])]


def _run_attacks(names: Sequence[str], attacker: MembershipAttacker, units: CountArray) -> dict[str, FloatArray]:
    """Return the scores of all units by each attack that can be made: the highest of their rows."""
    scores = {}
    for name in names:
        if attacker.reference is None and name not in WITHOUT_REFERENCE:
            continue
        of_rows = ATTACKS[name](attacker)
        if of_rows is not None:
            scores[name] = _highest_of_units(of_rows, units)
    return scores


def _highest_of_units(of_rows: FloatArray, units: CountArray) -> FloatArray:
    highest = np.full(int(units.max()) + 1, -np.inf)
    np.maximum.at(highest, units, of_rows)
    return highest


def _measure_attacks(
    scores: Mapping[str, FloatArray], who: Participants, rng: np.random.Generator
) -> tuple[MembershipAttack, ...]:
    p_values = adjust_p_values(
        [linear_statistics(each) for each in scores.values()], who.is_member, _N_PERMUTATIONS, rng
    )
    attacks = []
    for (name, of_units), p_value in zip(scores.items(), p_values.tolist(), strict=True):
        members, others = of_units[who.is_member], of_units[~who.is_member]
        recognitions = tuple(recognise(members, others, share, len(scores)) for share in FALSE_ALARMS)
        attacks.append(MembershipAttack(name, area_under_curve(members, others), recognitions, p_value))
    return tuple(attacks)


def _count_sizes(who: Participants, attacker: MembershipAttacker) -> MembershipSizes:
    n_reference = 0 if attacker.reference is None else attacker.reference.shape[1]
    n_people, n_others = int(who.is_member.sum()), int((~who.is_member).sum())
    return MembershipSizes(n_people, n_others, *who.n_persons, n_reference, attacker.synthetic.shape[1])


def _find_least_leak(who: Participants) -> MembershipReach:
    m, n = int(who.is_member.sum()), int((~who.is_member).sum())
    return MembershipReach(least_area(m, n), tuple(least_recognised(m, n, share) for share in FALSE_ALARMS))


def _measure_drift(who: Participants, rng: np.random.Generator) -> Drift:
    """Measure how well the people and the non-members are told apart without the synthetic table."""
    is_ordered = [scale is not None for scale in who.tables.scales]
    labels = who.is_member[who.units].astype(float)
    of_rows = score_membership_without_synthetic(who.targets, is_ordered, who.units, labels, rng)
    means = np.bincount(who.units, of_rows) / np.bincount(who.units)
    return Drift(area_under_curve(means[who.is_member], means[~who.is_member]))


def _measure_most(
    names: Sequence[str], attacker: MembershipAttacker, who: Participants, rng: np.random.Generator
) -> MembershipReach:
    """Measure what the attacks show if the synthetic table is the people themselves, on some of them."""
    members, others = np.flatnonzero(who.is_member), np.flatnonzero(~who.is_member)
    chosen = np.concatenate([rng.permutation(each)[:_MAX_UNITS_OF_MOST] for each in (members, others)])
    rows = np.isin(who.units, chosen)
    units = np.unique(who.units[rows], return_inverse=True)[1]
    is_member = who.is_member[np.unique(who.units[rows])]
    pool = rng.permutation(who.tables.original.codes.shape[1])
    if len(pool) > _MAX_RECORDS_OF_COPY:
        # A smaller table of people, in which those who are attacked are.
        attacked = who.positions[rows & who.is_member[who.units]]
        pool = rng.permutation(np.union1d(attacked, pool[: _MAX_RECORDS_OF_COPY - len(attacked)]))
    copy = who.tables.original.codes[:, pool[: attacker.synthetic.shape[1]]]
    cheap = [name for name in names if name in _OF_MOST] or list(_OF_MOST)
    scores = _run_attacks(cheap, attacker.with_synthetic(who.targets[:, rows], copy), units).values()
    areas = [area_under_curve(each[is_member], each[~is_member]).value for each in scores]
    rates = [[recognise(each[is_member], each[~is_member], share).excess for share in FALSE_ALARMS] for each in scores]
    return MembershipReach(max(areas), tuple(np.max(rates, axis=0).tolist()))


def _find_columns(attacker: MembershipAttacker, who: Participants) -> tuple[ColumnHint, ...]:
    """Return each column with how well the counts of its values tell members, the best first."""
    if attacker.reference is None:
        return ()
    hints = []
    for name, of_rows in zip(who.tables.joint.names, attacker.value_scores, strict=True):
        of_units = _highest_of_units(of_rows, who.units)
        hints.append(ColumnHint(name, area_under_curve(of_units[who.is_member], of_units[~who.is_member])))
    return tuple(sorted(hints, key=lambda each: -each.auc.value))


def _measure_groups(
    scores: Mapping[str, FloatArray], attacker: MembershipAttacker, who: Participants, rng: np.random.Generator
) -> tuple[Subgroup, ...]:
    """Compare people with non-members who are as far from others, with thresholds of their own.

    How far somebody is from others is the mean distance to the nearest records of the reference: people and
    non-members are alike in that whatever the synthetic table is.
    """
    if attacker.reference is None:
        return ()
    isolation = _highest_of_units(np.sqrt(attacker.reference_distances_by_ranks).mean(axis=1), who.units)
    group = np.searchsorted(np.quantile(isolation, _SHARES_OF_GROUPS), isolation, side="left")
    members = [group == i for i in range(len(_GROUP_NAMES))]
    large = [i for i, which in enumerate(members) if (which & ~who.is_member).sum() >= _MIN_OTHERS_OF_GROUP]
    tried = [(i, name) for i in large for name in scores]
    if not tried:
        return ()
    statistics = [linear_statistics(scores[name], members[i]) for i, name in tried]
    p_values = adjust_p_values(statistics, who.is_member, _N_PERMUTATIONS, rng)
    groups = []
    for i in large:
        p_value, name = min((p, name) for p, (j, name) in zip(p_values.tolist(), tried, strict=True) if j == i)
        of_people, of_others = (scores[name][members[i] & side] for side in (who.is_member, ~who.is_member))
        groups.append(
            Subgroup(
                _GROUP_NAMES[i],
                name,
                len(of_people),
                len(of_others),
                area_under_curve(of_people, of_others),
                recognise(of_people, of_others, 0.01, len(tried)),
                p_value,
            )
        )
    return tuple(groups)


def _relative_f1(who: Participants, synthetic: CodeArray) -> RelativeF1:
    of_rows = are_equal_after_binning(who.tables, who.targets, synthetic).astype(float)
    is_equal = _highest_of_units(of_rows, who.units)
    return relative_f1(float(is_equal[who.is_member].mean()), float(is_equal[~who.is_member].mean()))
