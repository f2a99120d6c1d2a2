"""A bar of progress in a notebook, for everything that takes ``progress=``."""

from __future__ import annotations

import sys
from html import escape
from typing import Any


class ProgressBar:
    """Shows in a notebook how far a search is; elsewhere it shows nothing.

    Parameters
    ----------
    label : str
        What is done, in a word: ``"anonymizing"``.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> people = pl.DataFrame({"age": [31, 34, 52, 57]})
    >>> bar = ProgressBar("anonymizing")
    >>> release = ht.anonymize(people, quasi_identifiers=["age"], models=[ht.KAnonymity(2)], progress=bar)
    >>> bar.share
    1.0
    """

    def __init__(self, label: str = "") -> None:
        self.label, self.share = label, 0.0
        self._shown: Any = None
        self._told = -1

    def __call__(self, share: float) -> None:
        """Show a share of the work, in [0, 1]; at most a hundred times."""
        self.share = share
        hundredth = int(100 * share)
        shell = sys.modules.get("IPython")
        if hundredth == self._told or shell is None or shell.get_ipython() is None:
            return
        self._told = hundredth
        if self._shown is None:
            self._shown = shell.display.display(self, display_id=True)
        else:
            self._shown.update(self)

    def __repr__(self) -> str:
        return f"{self.label} {100 * self.share:.0f} %".strip()

    def _repr_html_(self) -> str:
        return f'<progress value="{self.share:.2f}" max="1"></progress> {escape(repr(self))}'
