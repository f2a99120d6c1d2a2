"""Models of a sensitive column whose values are sets of items: what they ask of every item.

What an attacker learns of a set is that a person has an item. So a model is asked item by item: of a column that says
for every record whether it holds the item (``held``, else missing), as if that were the sensitive column.

- (alpha, k)-anonymity: no item is held by more than a share alpha of the records.
- distinct l-diversity, l = 2: no item is held by every record that has an item, and some record has one.
- t-closeness: the share that holds an item differs by at most t from the whole's.
- beta-likeness, delta-disclosure: neither those who hold an item nor those who do not gain too much.

Having no item is one more item to all but the first, as a missing value is a value to what compares with the whole.
Of a column in which no cell has more than one item, distinct l-diversity is the usual one: two values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from hushtable.errors import ModelError, quote_names
from hushtable.models.attribute import BetaLikeness, DeltaDisclosure, DistinctLDiversity, TCloseness
from hushtable.models.base import PrivacyModel, describe
from hushtable.models.identity import AlphaKAnonymity


class ItemQuestion(NamedTuple):
    """What a model asks of every item."""

    model: PrivacyModel  # of a column with one value
    # Whether the records that hold the item have that value, or those that have items and not this one
    of_holders: bool
    asks_of_none: bool  # whether it is asked of a further item that exactly those hold who have none


def question_of_items(model: PrivacyModel, column: str) -> ItemQuestion:
    """Return what a model of a column of sets asks of every item, as a model of the column of that name."""
    # A model of another package may be derived from one of these and mean something else.
    kind = type(model)
    if isinstance(model, DistinctLDiversity) and kind is DistinctLDiversity and model.l == 2:
        # As soon as one record has items, and not this one, the item is not everyone's.
        return ItemQuestion(DistinctLDiversity(1, column), of_holders=False, asks_of_none=True)
    is_plain = not isinstance(model, TCloseness) or model.ground in ("auto", "equal")
    if kind in (AlphaKAnonymity, TCloseness, BetaLikeness, DeltaDisclosure) and is_plain:
        asked: Any = model
        asks_of_none = kind is not AlphaKAnonymity
        return ItemQuestion(replace(asked, sensitive=column), of_holders=True, asks_of_none=asks_of_none)
    raise ModelError(
        f"{describe(model)} was asked of {quote_names(model.needs.sensitive)}, whose cells are sets of items.",
        hint="take alpha-k-anonymity: no item is held by more than a share alpha of a class. Or take "
        "distinct-l-diversity with l = 2, t-closeness without a ground, beta-likeness or delta-disclosure.",
    )
