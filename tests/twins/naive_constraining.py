"""The slow twin of constraints: rows as dicts, one at a time, from the words of the file."""

from __future__ import annotations

import datetime as dt
import operator
from decimal import Decimal
from typing import NamedTuple

SIGNS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Node(NamedTuple):
    """A piece of an expression: its kind says what its parts are.

    cell (name), number, text, day (value), nothing (), sum (added, taken), compare (left, sign, right),
    agree (left, right, is_same), every, some (conditions).
    """

    kind: str
    parts: tuple = ()


def words(node):
    """Write an expression as somebody would, with all parentheses."""
    kind, parts = node
    if kind == "cell":
        return f"`{parts[0].replace('`', '``')}`"
    if kind == "text":
        return "'" + parts[0].replace("'", "''") + "'"
    if kind in ("number", "day"):
        return f"DATE({parts[0]})" if kind == "day" else str(parts[0])
    if kind == "nothing":
        return "pd.NA"
    if kind == "sum":
        added, taken = (list(map(words, terms)) for terms in parts)
        return " - ".join([" + ".join(added), *taken])
    if kind == "compare":
        return f"{words(parts[0])} {parts[1]} {words(parts[2])}"
    if kind == "agree":
        return f"({words(parts[0])}) {'==' if parts[2] else '!='} ({words(parts[1])})"
    return (" & " if kind == "every" else " | ").join(f"({words(part)})" for part in parts)


def answer(node, row):
    """Answer True, False, or None where a missing cell leaves it open."""
    kind, parts = node
    if kind == "compare":
        return compare(*parts, row)
    if kind == "agree":
        both = answer(parts[0], row), answer(parts[1], row)
        return None if None in both else (both[0] == both[1]) == parts[2]
    answers = [answer(part, row) for part in parts]
    wins = kind == "some"
    if wins in answers:
        return wins
    return None if None in answers else not wins


def compare(left, sign, right, row):
    one, other = value(left, row), value(right, row)
    one, other = like(one, other, left), like(other, one, right)
    if sign == "IS":
        return one == other
    if sign == "IS NOT":
        return one != other
    if one is None or other is None:
        return None
    return SIGNS[sign](one, other)


def value(operand, row):
    kind, parts = operand
    if kind == "nothing":
        return None
    if kind == "sum":
        added, taken = ([value(each, row) for each in terms] for terms in parts)
        return None if None in (*added, *taken) else sum(added) - sum(taken)
    return exact(row[parts[0]] if kind == "cell" else parts[0])


def exact(cell):
    # Tenths are exact.
    return Decimal(str(cell)) if type(cell) in (int, float) else cell


def like(given, other, operand):
    """Read a text that was given as its neighbour is; one that is none of its kind is equal to nothing."""
    if operand.kind != "text" or other is None or isinstance(other, str):
        return given
    try:
        return Decimal(given) if isinstance(other, Decimal) else dt.date.fromisoformat(given)
    except ArithmeticError:
        return given


def constrain(rows, nan_groups, conditions, combinations):
    """Follow the rules as PETsARD's documentation has them."""
    rows = [
        dict(row)
        for row in rows
        if all(row[name] is not None or given != "delete" for name, given in nan_groups.items())
    ]
    for name, given in nan_groups.items():
        for action, related in given.items() if isinstance(given, dict) else ():
            for row in rows:
                act(row, name, action, related)
    kept = [row for row in rows if all(answer(condition, row) is True for condition in conditions)]
    return [row for row in kept if all(goes_together(row, *each) for each in combinations)]


def act(row, name, action, related):
    if action == "nan_if_condition":
        for other, values in related.items():
            if any(is_one(row[other], value) for value in values):
                row[name] = None
        return
    for target in [related] if isinstance(related, str) else related:
        if action == "erase" and row[name] is None:
            row[target] = None
        if action == "copy" and row[target] is None:
            row[target] = row[name]


def goes_together(row, pair, values):
    ((sources, target),) = pair.items()
    for wanted, allowed in values.items():
        several = isinstance(sources, tuple)
        pairs = zip(sources, wanted, strict=True) if several else [(sources, wanted)]
        if all(is_one(row[source], each) for source, each in pairs) and not any(
            is_one(row[target], each) for each in allowed
        ):
            return False
    return True


def is_one(cell, given):
    if given == "pd.NA" or cell is None:
        return given == "pd.NA" and cell is None
    if isinstance(cell, (int, float)):
        try:
            return Decimal(str(given)) == Decimal(str(cell))
        except ArithmeticError:
            return False
    return str(cell) == str(given)
