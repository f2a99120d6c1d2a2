"""Cells that a spreadsheet would run: texts that begin with ``=``, ``+``, ``-`` or ``@`` and are no numbers.

An apostrophe in front makes a spreadsheet show such a cell as it is. It goes before apostrophes that are there already,
so that `shown` undoes what `hidden` does, whatever a cell holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl

from hushtable._types import CountArray

__all__ = ["are_formulas", "count", "hidden", "shown"]

_TEXTS: Final = (pl.String, pl.Categorical, pl.Enum)

# What a spreadsheet may pass over; control characters are no blanks to everyone.
_BLANK: Final = r"[\s\x00-\x1f]"
_SIGNED: Final = rf"^{_BLANK}*[=+\-@＝＋－＠]"
_NUMBER: Final = rf"^{_BLANK}*[+\-＋－]?(?:[0-9](?:[0-9.,']|{_BLANK})*|[.,][0-9]+)(?:[eE][+\-]?[0-9]+)?{_BLANK}*%?$"
_SIGNS: Final = r"^[\s\x00-\x1f\p{S}[\p{P}--_]]*$"
"""Nothing to run: ``-`` and ``--`` often stand for a missing value."""


def are_formulas(texts: pl.Series) -> pl.Series:
    """Tell which texts a spreadsheet would run; a missing one is none.

    Examples
    --------
    >>> are_formulas(pl.Series(["=1+1", "-5", "+49 30", "@x", "-", "-a", None])).to_list()
    [True, False, False, True, False, True, False]
    """
    signed = texts.str.contains(_SIGNED).fill_null(False)
    if not signed.any():
        return signed
    return signed & ~(texts.str.contains(_NUMBER) | texts.str.contains(_SIGNS)).fill_null(True)


def count(columns: Mapping[str, pl.Series], counts: CountArray | None = None) -> dict[str, int]:
    """Count by column the cells that a spreadsheet would run, its name among them; columns without one are left out.

    A cell counts once, or as often as its row does.

    Examples
    --------
    >>> count({"a": pl.Series(["=1+1", "n"]), "@b": pl.Series([-1, -2]), "c": pl.Series(["n"])})
    {'a': 1, '@b': 1}
    """
    names = are_formulas(pl.Series(list(columns), dtype=pl.String)).to_list()
    found = {
        name: is_one + (_n_formulas(each.cast(pl.String), counts) if isinstance(each.dtype, _TEXTS) else 0)
        for (name, each), is_one in zip(columns.items(), names, strict=True)
    }
    return {name: n for name, n in found.items() if n}


def _n_formulas(texts: pl.Series, counts: CountArray | None) -> int:
    is_formula = are_formulas(texts)
    return int(is_formula.sum() if counts is None else counts[is_formula.to_numpy()].sum())


def hidden(texts: pl.Series) -> pl.Series:
    """Put an apostrophe before formulas, and before those behind apostrophes; what is no text stays as it is.

    Examples
    --------
    >>> hidden(pl.Series(["=1+1", "'=1+1", "'n"])).to_list()
    ["'=1+1", "''=1+1", "'n"]
    """
    if not isinstance(texts.dtype, _TEXTS):
        return texts
    texts = texts.cast(pl.String)
    return texts.zip_with(~_stand_behind_apostrophes(texts), "'" + texts)


def shown(texts: pl.Series) -> pl.Series:
    """Take away the apostrophes that `hidden` put there."""
    is_hidden = texts.str.starts_with("'").fill_null(False) & _stand_behind_apostrophes(texts)
    return texts.zip_with(~is_hidden, texts.str.slice(1))


def _stand_behind_apostrophes(texts: pl.Series) -> pl.Series:
    return are_formulas(texts.str.strip_chars_start("'"))
