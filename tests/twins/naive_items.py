"""Columns of sets by definition: cells are exploded into items, and every item's shares are counted class by class.

Written from the definitions alone: sets are frozensets, shares are fractions.
"""

from __future__ import annotations

import math
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any


def items_of(cell: str | None, separator: str, missing: Sequence[str] = ()) -> frozenset[str]:
    """Return the items of a cell; none where it is missing or suppressed."""
    if cell is None or cell == "*" or cell.strip() in missing:
        return frozenset()
    return frozenset(part.strip() for part in cell.split(separator)) - {"", *missing}


def fails(model: Any, members: Sequence[frozenset[str]], whole: Sequence[frozenset[str]]) -> bool:
    """Tell whether a class of records, each a set of items, fails a model that is asked item by item."""
    size = len(members)
    items = frozenset[str]().union(*members, *whole)
    held = {item: Fraction(sum(item in each for each in members), size) for item in items}
    if model.name == "alpha-k-anonymity":
        return size < model.k or any(share > Fraction(str(model.alpha)) for share in held.values())
    if model.name == "distinct-l-diversity":
        known = [each for each in members if each]
        # No l - 1 = 1 items of which every record with items holds one.
        return not known or any(all(item in each for each in known) for item in items)
    pairs = [(held[item], Fraction(sum(item in each for each in whole), len(whole))) for item in items]
    pairs.append(
        (Fraction(sum(not each for each in members), size), Fraction(sum(not each for each in whole), len(whole)))
    )
    # Of every item both: that a record holds it, and that it does not.
    pairs += [(1 - here, 1 - there) for here, there in pairs]
    if model.name == "t-closeness":
        return any(abs(here - there) > Fraction(str(model.t)) for here, there in pairs)
    if model.name == "beta-likeness":
        return any(_gains(model, here, there) for here, there in pairs)
    if model.name == "delta-disclosure":
        return any(
            there > 0 and (here == 0 or abs(math.log(here / there)) >= model.delta - 1e-9) for here, there in pairs
        )
    raise TypeError(model)


def _fold_items(items: Iterable[str]) -> frozenset[str]:
    """Return items without blanks that are too many, letters' case, width and Unicode form."""
    forms = (unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", item).casefold()) for item in items)
    return frozenset(" ".join(form.split()) for form in forms)


def _gains(model: Any, here: Fraction, there: Fraction) -> bool:
    if here <= there:
        return False
    bound = model.beta if not model.enhanced else min(model.beta, math.inf if there == 0 else -math.log(there))
    return there == 0 or float((here - there) / there) > bound + 1e-9


def failing_classes(
    model: Any,
    labels: Sequence[Any],
    cells: Sequence[str | None],
    separator: str,
    whole: Iterable[str | None] | None = None,
    missing: Sequence[str] = (),
) -> list[Any]:
    """Return the labels of the classes that fail, sorted."""
    classes = defaultdict(list)
    for label, cell in zip(labels, cells, strict=True):
        classes[label].append(_fold_items(items_of(cell, separator, missing)))
    reference = [_fold_items(items_of(cell, separator, missing)) for cell in (cells if whole is None else whole)]
    return sorted(label for label, members in classes.items() if fails(model, members, reference))
