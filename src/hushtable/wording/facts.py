"""Facts of a result: whole sentences, shared by terminal, notebook, report, page and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from hushtable.columns import escape_html
from hushtable.wording.translating import translate

CAREFUL: Final = "careful: "
"""What a fact begins with that somebody should decide on."""


def careful(fact: str) -> str:
    """Mark a fact that needs somebody's decision."""
    return f"{CAREFUL}{fact}"


class StatesFacts:
    """A result that states its facts; a notebook lists them."""

    __slots__ = ()

    @property
    def facts(self) -> tuple[str, ...]:
        """What was found, in whole sentences, the most dangerous first."""
        raise NotImplementedError

    def _table(self) -> Iterable[Sequence[object]]:
        """Return the titles and rows of the table that a notebook shows below the facts."""
        return ()

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape_html(translate(fact))}</li>" for fact in self.facts)
        return f"<b>{type(self).__name__}</b><ul>{items}</ul>{table_html(self._table())}"


def table_html(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as an HTML table with titles; empty if there are no rows."""
    told = (f"<tr>{''.join(f'<td>{escape_html(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    body = "".join(told)
    return f"<table>{body}</table>" if body else ""


def join_names(names: Sequence[object]) -> str:
    """Join names as in a sentence."""
    *first, last = map(str, names or ("nothing",))
    return f"{', '.join(first)} and {last}" if first else last


def count_of(n: int, noun: str) -> str:
    """Format a count with its noun."""
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"
