"""Results of attacks: how often they succeed on the people, by chance, and on a control that was never used."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.columns import ColumnSpec, to_json_values
from hushtable.errors import ColumnError, InputError, check_columns, check_whole, names_in
from hushtable.kernels.neighbours import find_nearest_rows
from hushtable.risk.assessment import format_percent
from hushtable.risk.intervals import clip_interval, excess_risk, wilson_interval
from hushtable.risk.mpuccs import encode_same_columns
from hushtable.tables import Joint, JointRows, encode_jointly, find_mismatches, warn_of_mismatches
from hushtable.wording import StatesFacts, careful

if TYPE_CHECKING:
    from hushtable.risk.attacks.copies import Copies
    from hushtable.risk.members.findings import Membership


_MEANINGS: Final = {
    "dcr": "the share of synthetic records that are nearer to the people than to as large a control; 0.5 is chance, "
    "1 a copy",
    "nndr": "the low tail (5 %) of the ratio of distances to the nearest and the next person; 0 is a copy",
    "tcap": "how often the target is right where all synthetic records of a key agree on it",
    "rapid": "the share of people whose target a model of the synthetic records tells much better than its frequency",
}
_NOT_ALONE_NOTE: Final = (
    "Experts advise against distances alone (Pilgram et al., 2025): they miss what attacks on membership find."
)
_COMPARED_FIGURES: Final = {
    "dcr": (),
    "nndr": ("low_of_control",),
    "tcap": ("control", "chance"),
    "rapid": ("control",),
}


class Reach(NamedTuple):
    """What a figure can tell: the value that a copy of the people shows, and the least that is told from chance."""

    most: float
    least: float


@dataclass(frozen=True, slots=True)
class PrivacyFigure(StatesFacts):
    """A figure of a synthetic table.

    Attributes
    ----------
    name : str
    value, low, high : float
        The figure and the ends of its 95 % interval; NaN where they are not known, which is not "no risk".
    n_records : int
        Records that it is a figure of.
    figures : dict
        What belongs to it.
    target : str, optional
        The column that is attributed.
    reach : Reach, optional
        What a copy of the people would show with this control, and the least that the interval tells from chance; None
        where it is not known.
    """

    name: str
    value: float
    low: float
    high: float
    n_records: int
    figures: Mapping[str, float] = field(repr=False)
    target: str | None = None
    reach: Reach | None = None

    @property
    def meaning(self) -> str:
        """What the figure is, in a sentence."""
        return _MEANINGS[self.name]

    @property
    def facts(self) -> tuple[str, ...]:
        """What the figure is, and what it needs beside it."""
        facts = [f"The figure {self.name} is {self.meaning}."]
        if self.name in ("dcr", "nndr"):
            facts.append(_NOT_ALONE_NOTE)
        if self.name == "tcap" and self.beside is not None and not math.isnan(self.beside):
            facts.append(
                f"A tcap says little without its baseline: on the control, or by chance, it is "
                f"{format_percent(self.beside)}."
            )
        return tuple(facts)

    @property
    def beside(self) -> float | None:
        """The same on people who were never used, or what chance gives; None where neither is known."""
        return next((self.figures[name] for name in _COMPARED_FIGURES[self.name] if name in self.figures), None)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        entries = {name: getattr(self, name) for name in ("name", "value", "low", "high", "n_records")}
        entries |= {} if self.target is None else {"target": self.target}
        entries |= {} if self.reach is None else self.reach._asdict()
        return dict(to_json_values({**entries, "figures": dict(self.figures)}))


_NUMBER_KINDS: Final = frozenset({"integer", "decimal"})
_TIME_KINDS: Final = frozenset({"date", "datetime", "time"})


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """The originals, the synthetic records, and the control where there is one, in one code."""

    joint: Joint = field(repr=False)
    scales: tuple[FloatArray | None, ...] = field(repr=False)  # by column: codes from 0 to 1; None of texts
    number_columns: frozenset[str]

    @property
    def original(self) -> JointRows:
        """The original records."""
        return self.joint.tables[0]

    @property
    def synthetic(self) -> JointRows:
        """The synthetic records."""
        return self.joint.tables[1]

    @property
    def control(self) -> JointRows | None:
        """People who were never used for it."""
        return self.joint.tables[2] if len(self.joint.tables) > 2 else None

    @property
    def reference(self) -> JointRows | None:
        """People whom an attacker knows not to have been used; only beside a control."""
        return self.joint.tables[3] if len(self.joint.tables) > 3 else None

    def index(self, name: str) -> int:
        """Return the position of a column."""
        return self.joint.names.index(name)

    def as_copy(self) -> Coded:
        """Return the tables of an attack on a copy: the originals take the place of the synthetic records."""
        people, _, *control = self.joint.tables
        return replace(self, joint=replace(self.joint, tables=(people, people, *control)))

    def merge_equal_rows(self, rows: JointRows) -> JointRows:
        """Return every distinct row once, with how many records it stands for."""
        return rows.merge_equal_rows(self.joint.widths)

    def to_numbers(self, codes: CodeArray, columns: Sequence[str]) -> tuple[FloatArray, int]:
        """Return rows of some columns as numbers, those on a scale first, and how many columns those are."""
        positions = [self.index(name) for name in columns]
        ordered = sorted(positions, key=lambda j: self.scales[j] is None)
        numbers = np.empty((codes.shape[1], len(ordered)))
        for i, j in enumerate(ordered):
            scale = self.scales[j]
            values = np.arange(self.joint.widths[j], dtype=float) if scale is None else scale
            # The code of a missing value is -1: the last.
            numbers[:, i] = np.append(values, np.nan)[codes[j]]
        return numbers, sum(self.scales[j] is not None for j in ordered)


def encode_tables(
    original: Any,
    synthetic: Any,
    control: Any,
    columns: Sequence[str] | None,
    specs: Mapping[str, ColumnSpec] | None,
    reference: object = None,
) -> Coded:
    """Encode the tables of an attack jointly; an empty table, or other columns, are an error."""
    data_by_name = {"original": original, "synthetic": synthetic, "control": control, "reference": reference}
    optional = ("control", "reference")
    tables = encode_same_columns(
        {name: each for name, each in data_by_name.items() if each is not None or name not in optional}, columns, specs
    )
    if any((table.counts != 1).any() for table in tables):
        tables = [table.with_row_per_record() for table in tables]
    joint = encode_jointly(tables)
    names = [name for name, data in data_by_name.items() if data is not None]
    warn_of_mismatches(find_mismatches(joint, tables, by_range=True), names)
    scales, numbers = [], set()
    for j, name in enumerate(joint.names):
        kinds = {column.kind for column in (table.column(name) for table in tables) if column.n_values}
        is_number = bool(kinds) and kinds <= _NUMBER_KINDS
        if is_number:
            numbers.add(name)
        scales.append(_scale_to_unit(joint.values[j]) if is_number or (kinds and kinds <= _TIME_KINDS) else None)
    return Coded(joint, tuple(scales), frozenset(numbers))


def check_column_names(given: Any, what: str, tables: Coded, taken_names: Sequence[str] = ()) -> tuple[str, ...]:
    """Check names of columns: at least one, all known, none twice, and none that is taken already; return them."""
    names = names_in(given, what)
    if not names:
        raise InputError(f"{what} names no column.", hint="name what the attacker knows.")
    check_columns(names, tables.joint.names, what)
    twice = [name for name in names if names.count(name) > 1 or name in taken_names]
    if twice:
        raise ColumnError(f"{what} names {twice[0]!r}, which is named already.", hint="name each column once.")
    return names


def find_nearest(
    tables: Coded, targets: CodeArray, candidates: CodeArray, columns: Sequence[str], n_near: int
) -> tuple[CountArray, FloatArray]:
    """Return the nearest candidates of every target by some columns, nearest first, and how far they are."""
    (near_to, n_numbers), (among, _) = tables.to_numbers(targets, columns), tables.to_numbers(candidates, columns)
    near = np.empty((len(near_to), min(n_near, len(among))), dtype=np.int64)
    distances = np.empty(near.shape)
    find_nearest_rows(near_to, among, n_numbers, near, distances)
    return near, distances


def random_generator(seed: int) -> np.random.Generator:
    """Return a random generator for a seed, which is checked."""
    check_whole("seed", seed, 0)
    return np.random.default_rng(int(seed))


def sample_rows(rng: np.random.Generator, n_rows: int, n_wanted: int) -> CountArray:
    """Draw rows without replacement, in random order; all where there are no more."""
    return rng.permutation(n_rows)[:n_wanted]


def _scale_to_unit(values: Sequence[Any]) -> FloatArray:
    """Return ordered values on a scale from 0 to 1."""
    numbers = np.array(values)
    numbers = numbers.astype("datetime64[us]").astype(float) if numbers.dtype.kind == "M" else numbers.astype(float)
    spread = numbers[-1] - numbers[0]
    # The range of the widest columns overflows a float: halve the values first.
    if not np.isfinite(spread):
        numbers, spread = numbers / 2, numbers[-1] / 2 - numbers[0] / 2
    return np.asarray((numbers - numbers[0]) / (spread or 1.0))


_NO_MEMBERSHIP_NOTE: Final = "Membership was not attacked: give a control of at least 100 people who were never used."

AttackKind = Literal["singling out", "linkability", "inference"]

_NO_CONTROL_NOTE: Final = (
    "no control was given, so the risk is the attack's rate: it holds what is learned of anybody too"
)
_NO_ATTACK_NOTE: Final = "no attack could be made, which says nothing of the risk"
_TOO_WEAK_NOTE: Final = "the attack succeeds no more often than chance: it is too weak to say that the risk is low"
_CONTROL_ALWAYS_NOTE: Final = "the control always succeeds: nothing can be achieved beyond it, so the risk is unknown"


class Rate(NamedTuple):
    """A rate or risk with the ends of its 95 % interval; NaN where it is not known."""

    value: float
    low: float
    high: float
    center: float = math.nan  # of Wilson's interval, which Anonymeter shows in the place of the share


class Tries(NamedTuple):
    """Successes, and of how many attacks; an expected number of successes may be no whole number."""

    n_success: float
    n_attacks: int


def rate_of(tries: Tries) -> Rate:
    """Return a share of successes with Wilson's interval."""
    if tries.n_attacks == 0:
        return Rate(math.nan, math.nan, math.nan)
    center, error = wilson_interval(*tries)
    return _clip_rate(tries.n_success / tries.n_attacks, center, error)


def excess_over_control(attack: Tries, control: Tries | None) -> Rate:
    """Return what an attack achieves beyond its control: (attack - control) / (1 - control), within [0, 1]."""
    if control is None or attack.n_attacks == 0:
        return rate_of(attack)
    if control.n_attacks == 0 or control.n_success >= control.n_attacks:
        return Rate(math.nan, math.nan, math.nan)
    shares = [each.n_success / each.n_attacks for each in (attack, control)]
    return _clip_rate(
        (shares[0] - shares[1]) / (1 - shares[1]), *excess_risk(wilson_interval(*attack), wilson_interval(*control))
    )


def _clip_rate(value: float, center: float, error: float) -> Rate:
    """Return a rate whose interval holds it, all of them within [0, 1]."""
    low, high = clip_interval(min(center - error, value), max(center + error, value))
    return Rate(min(max(value, 0.0), 1.0), low, high, center)


@dataclass(frozen=True, slots=True, eq=False)
class Attack(StatesFacts):
    """An attack, and the same attack on people who were never used.

    Attributes
    ----------
    kind : {"singling out", "linkability", "inference"}
        The risk of WP29's Opinion 05/2014 that it measures.
    attack, baseline : Tries
        Attacks on the people, and guesses by chance.
    control : Tries, optional
        The same attacks on the control.
    compared : Tries, optional
        What the control is compared with, where that is not `attack`: the same attacks on as many people as the control
        has records.
    settings : dict
        How it was asked for.
    witnesses : callable
        What `queries` tells, with values or without.
    most : float
        The risk that a copy of the people would show beside this control.
    """

    kind: AttackKind
    attack: Tries
    baseline: Tries
    control: Tries | None
    compared: Tries | None
    settings: Mapping[str, Any]
    witnesses: Callable[[bool], list[str]] = field(repr=False)
    most: float = 1.0

    @property
    def n_attacks(self) -> int:
        """How many attacks were made, which may be fewer than were asked for."""
        return self.attack.n_attacks

    @property
    def n_success(self) -> int:
        """How many attacks on the people succeeded."""
        return int(self.attack.n_success)

    @property
    def risk(self) -> Rate:
        """What the attack achieves beyond its control; without one, its rate. NaN where nothing can be said."""
        return excess_over_control(self.compared or self.attack, self.control)

    @property
    def least(self) -> float:
        """The smallest risk that these numbers of attacks tell from none; NaN without a control."""
        if self.control is None or not self.n_attacks:
            return math.nan

        def risk_of(n_success: int) -> Rate:
            return excess_over_control(Tries(n_success, self.n_attacks), self.control)

        # The low end rises with the successes, so that bisection finds the first above 0.
        n_told = bisect_right(range(self.n_attacks + 1), 0.0, key=lambda n_success: risk_of(n_success).low)
        return risk_of(n_told).value if n_told <= self.n_attacks else math.nan

    @property
    def rates(self) -> Mapping[str, Rate]:
        """The rates ``attack``, ``baseline`` and ``control``, and ``compared`` where the sizes had to be matched."""
        tries = {"attack": self.attack, "baseline": self.baseline, "control": self.control, "compared": self.compared}
        return MappingProxyType({name: rate_of(each) for name, each in tries.items() if each is not None})

    @property
    def notes(self) -> tuple[str, ...]:
        """Caveats of the figures."""
        if self.n_attacks == 0:
            return (_NO_ATTACK_NOTE,)
        notes = []
        if self.control is None:
            notes.append(_NO_CONTROL_NOTE)
        elif math.isnan(self.risk.value):
            notes.append(_CONTROL_ALWAYS_NOTE)
        if self.most < 1:
            notes.append(
                f"beside this control even a copy of the table would show a risk of {round(self.most, 3):g} only"
            )
        if self.rates["baseline"].value >= self.rates["attack"].value:
            notes.append(_TOO_WEAK_NOTE)
        n_requested = self.settings["n_attacks"]
        if self.n_attacks < n_requested:
            notes.append(f"only {self.n_attacks:,} of {n_requested:,} attacks could be made")
        return tuple(notes)

    def queries(self, values: bool = False) -> list[str]:
        """Return the attacks that succeeded, as text. They name witnesses: keep them as safe as the data.

        Parameters
        ----------
        values : bool
            Whether they show values of records.
        """
        return self.witnesses(values)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values; no witness and no cell."""
        return dict(
            to_json_values(
                {
                    "kind": self.kind,
                    "risk": self.risk._asdict(),
                    "rates": {name: rate._asdict() for name, rate in self.rates.items()},
                    "most": self.most,
                    "least": self.least,
                    "n_attacks": self.n_attacks,
                    "n_success": self.n_success,
                    "n_baseline": self.baseline.n_success,
                    "n_control": None if self.control is None else self.control.n_success,
                    "n_control_attacks": None if self.control is None else self.control.n_attacks,
                    "settings": dict(self.settings),
                    "notes": list(self.notes),
                }
            )
        )

    def __repr__(self) -> str:
        risk = self.risk
        return (
            f"Attack({self.kind}: {self.n_success} of {self.n_attacks} succeed; risk {format_percent(risk.value)} "
            f"[{format_percent(risk.low)}, {format_percent(risk.high)}])"
        )

    @property
    def name(self) -> str:
        """What distinguishes it from others of its kind."""
        settings = self.settings
        named = [str(settings[each]) for each in ("secret", "mode") if each in settings]
        return named[0] if named else f"{settings['n_neighbors']} nearest"

    @property
    def facts(self) -> tuple[str, ...]:
        """What was found, in whole sentences, the most dangerous first."""
        return Attacks((self,)).facts


def _describe(risk: Rate) -> str:
    if math.isnan(risk.value):
        return "the risk is not known"
    value, low, high = (format_percent(each) for each in (risk.value, risk.low, risk.high))
    return f"the risk is {value}, with a 95 % interval of {low} to {high}"


@dataclass(frozen=True, slots=True, eq=False)
class Attacks(StatesFacts):
    """Several attacks on one table, and figures of distance and attribution beside them.

    Attributes
    ----------
    attacks : tuple of Attack
    figures : tuple of PrivacyFigure
        Figures of distance and attribution beside them.
    copies : Copies, optional
        The people who stand in the table as they are.
    membership : Membership, optional
        How well the people are told from those who were never used.
    """

    attacks: tuple[Attack, ...]
    figures: tuple[PrivacyFigure, ...] = ()
    copies: Copies | None = None
    membership: Membership | None = None

    @property
    def facts(self) -> tuple[str, ...]:
        """What was found, in whole sentences, the most dangerous first."""
        ranked = sorted(self.attacks, key=lambda each: -np.nan_to_num(each.risk.value))
        sentences = (
            f"{each.n_success:,} of {each.n_attacks:,} attacks by {each.kind} ({each.name}) succeed; "
            f"{_describe(each.risk)}."
            for each in ranked
        )
        notes = dict.fromkeys(careful(f"{note}.") for each in ranked for note in each.notes)
        meanings = dict.fromkeys(fact for each in self.figures for fact in each.facts)
        first = [fact for each in (self.copies, self.membership) if each is not None for fact in each.facts]
        if self.copies is not None and self.membership is None:
            first.append(_NO_MEMBERSHIP_NOTE)
        return *first, *sentences, *notes, *meanings

    def attacks_of_kind(self, kind: AttackKind) -> tuple[Attack, ...]:
        """Return the attacks of one kind."""
        return tuple(each for each in self.attacks if each.kind == kind)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures of all as plain values."""
        entries: dict[str, Any] = {} if self.copies is None else {"copies": self.copies.to_dict()}
        entries |= {} if self.membership is None else {"membership": self.membership.to_dict()}
        entries |= {"attacks": [each.to_dict() for each in self.attacks]}
        return entries | ({"figures": [each.to_dict() for each in self.figures]} if self.figures else {})
