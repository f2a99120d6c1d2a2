"""Why an attack on a release was not tried, and whether the release may fall to it all the same."""

from __future__ import annotations

from typing import Final

from hushtable.columns import ColumnSpec
from hushtable.risk.attacks.publication import Publication

NOT_SENSITIVE: Final = "no published column is declared sensitive"
NO_INTERVAL: Final = "no published cell is an interval"
UNKNOWN_ROWS: Final = "which record became which row is not known"
NOT_LINKED: Final = "no published column links records"
NO_EARLIER: Final = "no earlier release was given"
UNKNOWN_PEOPLE: Final = "the people of the release are not known"
CELLS_OF_EARLIER: Final = "the cells come from an earlier release"
_UNKNOWN_PERSONS: Final = "who is in both releases is not known"
_NOBODY_IN_BOTH: Final = "nobody is in both releases"
_NOBODY_FITS: Final = "nobody fits both releases"
_NOTHING_SHARED: Final = "the two releases share no sensitive column"
_NOT_COVERED: Final = "no class is covered by the other release"
_NO_PSEUDONYM: Final = "no published column has the pseudonym of a person in both releases"

ATTACKS_ON_TWO_RELEASES: Final = ("linked releases", "shared persons", "intersection", "joined", "left")

_SETTLED: Final = frozenset(
    [
        # It does not apply.
        *(NOT_SENSITIVE, NO_INTERVAL, NOT_LINKED, CELLS_OF_EARLIER, _NOTHING_SHARED, _NO_PSEUDONYM),
        # It found no target.
        *(_NOBODY_IN_BOTH, _NOBODY_FITS, _NOT_COVERED),
        # What it needs was not given.
        *(UNKNOWN_ROWS, NO_EARLIER, UNKNOWN_PEOPLE, _UNKNOWN_PERSONS),
    ]
)


def leaves_doubt(why: str) -> bool:
    """Tell whether a release may fall to an attack that was not tried for this reason: any that settles nothing."""
    return why not in _SETTLED


def attack_in(name: str) -> str:
    """Return the attack that was not tried, by its name or as named with the classes or the column that it left out."""
    return name.partition(", in ")[0]


def columns_of_sets(side: Publication) -> list[str]:
    """Return the sensitive columns whose cells are sets of items, which no attack intersects."""
    specs = side.table.specs
    return [name for name in side.sensitive if specs.get(name, ColumnSpec()).separator is not None]


def explain_two_releases(now: Publication, before: Publication, person: str | None, lack: str | None) -> dict[str, str]:
    """Say why attacks on two releases may not have been tried; ``lack`` is what is missing to compare their cells."""
    shared = [name for name in now.sensitive if name in before.table.frame.columns]
    sets = [name for name in columns_of_sets(now) if name in shared]
    reasons = {
        "linked releases": _NO_PSEUDONYM,
        "shared persons": _UNKNOWN_PERSONS if person is None else lack or _NOBODY_IN_BOTH,
        "intersection": lack or _NOBODY_FITS,
        **dict.fromkeys(("joined", "left"), lack or _NOT_COVERED),
    }
    if now.table.source is None:
        return {**reasons, "intersection": UNKNOWN_PEOPLE}
    if not shared:
        return {**reasons, "intersection": _NOTHING_SHARED}
    for name in sets:
        attack = "intersection" if sets == shared else f"intersection, in column {name}"
        reasons[attack] = f"column {name!r} holds sets of items, which are not intersected"
    return reasons
