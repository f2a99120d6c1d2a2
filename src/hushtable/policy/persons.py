"""Persons, households and their dates in a policy: whether its entries fit one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hushtable.policy.sections import MisplacedError
from hushtable.release import SinceFirst

if TYPE_CHECKING:
    from hushtable.policy.policy import Policy
    from hushtable.release import DateShift


def check_persons(policy: Policy) -> None:
    """Raise MisplacedError if columns of persons have another role, or if entries about them have no effect."""
    for entry, name in {"person": policy.person, "household": policy.household}.items():
        if name is not None and name not in (*policy.with_role("identifier"), *policy.with_role("other")):
            raise MisplacedError(f"{name!r} must be a column with the role identifier or other", (entry,))
    if policy.release is not None and not policy.pseudonymized:
        raise MisplacedError("has no effect: no column has action: pseudonym", ("release",))
    _check_dates(policy)


def _check_dates(policy: Policy) -> None:
    """Raise MisplacedError unless dates are changed in one way, of which the policy says all."""
    shifted, counted = policy.with_action("shift"), policy.with_action("since-first")
    if shifted and counted:
        msg = "action: since-first does not go with action: shift of other columns: choose one for all dates"
        raise MisplacedError(msg, ("columns", counted[0], "action"))
    if (shifted or counted) and policy.person is None:
        msg = "action: shift and since-first need to know whose dates they are: add person: with a column"
        raise MisplacedError(msg, ("columns", (shifted or counted)[0], "action"))
    if shifted and policy.dates is None:
        msg = "action: shift needs dates: {within: 26W, window: [first day, last day]}"
        raise MisplacedError(msg, ("columns", shifted[0], "action"))
    if policy.dates is not None and not shifted:
        raise MisplacedError("has no effect: no column has action: shift", ("dates",))


def change_of_dates(policy: Policy, key: bytes | None) -> DateShift | SinceFirst | None:
    """Return how a policy changes the dates of persons; None without the key that a shift takes."""
    if counted := policy.with_action("since-first"):
        return SinceFirst(counted)
    return None if policy.dates is None or key is None else policy.dates.to_shift(policy.with_action("shift"), key)
