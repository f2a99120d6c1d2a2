"""The slow twin of constraints: rows as dicts, one at a time, from the words of the file."""

from __future__ import annotations

import datetime as dt
import operator
from decimal import Decimal

from hushtable.pipeline.expressions import (
    BothOrNeither,
    CellOf,
    ComparedOperands,
    Day,
    NoCell,
    NumberLiteral,
    Some,
    Sum,
    Text,
)

SIGNS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def answer(node, row):
    """Answer True, False, or None where a missing cell leaves it open."""
    if isinstance(node, ComparedOperands):
        return compare(node.left, node.sign, node.right, row)
    if isinstance(node, BothOrNeither):
        both = answer(node.left, row), answer(node.right, row)
        return None if None in both else (both[0] == both[1]) == node.is_same
    answers = [answer(part, row) for part in node.parts]
    wins = isinstance(node, Some)
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
    if isinstance(operand, CellOf):
        return exact(row[operand.name])
    if isinstance(operand, (NumberLiteral, Text, Day)):
        return exact(operand.value)
    if isinstance(operand, NoCell):
        return None
    assert isinstance(operand, Sum)
    added, taken = ([value(each, row) for each in terms] for terms in (operand.added, operand.taken))
    return None if None in (*added, *taken) else sum(added) - sum(taken)


def exact(cell):
    # Tenths are exact.
    return Decimal(str(cell)) if type(cell) in (int, float) else cell


def like(given, other, operand):
    """Read a text that was given as its neighbour is; one that is none of its kind is equal to nothing."""
    if not isinstance(operand, Text) or other is None or isinstance(other, str):
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
