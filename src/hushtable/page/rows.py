"""Rows before and after, side by side, a page at a time; what they may show says `hushtable.page.row_guard`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlencode

from hushtable._types import CodeArray
from hushtable.page.desk import Desk
from hushtable.page.markup import Html, tag
from hushtable.page.parts import render_button, render_fields, render_label, shorten_cell
from hushtable.page.row_guard import GuardedColumn, GuardedRows, ShownCells
from hushtable.page.words import PageWords

_ROWS_PER_PAGE: Final = 50
_MASK: Final = "•••"
_SAME: Final = "="
_COARSER: Final = "≈"


@dataclass(frozen=True, slots=True)
class RowsQuery:
    """Which rows are asked for, as the address says it; what does not fit is not asked.

    Attributes
    ----------
    page : int
        From 1.
    column : int, optional
        The place of the column that sorts the rows; by class when not given.
    is_after, is_descending : bool
    of_class : int, optional
    with_kept : bool
        Whether kept columns are shown, too.
    """

    page: int = 1
    column: int | None = None
    is_after: bool = False
    is_descending: bool = False
    of_class: int | None = None
    with_kept: bool = False

    @classmethod
    def from_address(cls, query: Mapping[str, str]) -> RowsQuery:
        """Read an address."""
        side, _, place = query.get("sort", "").partition("-")
        return cls(
            page=max(1, _parse_number(query.get("page", "")) or 1),
            column=_parse_number(place) if side in ("before", "after") else None,
            is_after=side == "after",
            is_descending=query.get("down", "") == "1",
            of_class=_parse_number(query.get("class", "")),
            with_kept=query.get("kept", "") == "1",
        )

    def to_address(self, screen: str) -> str:
        """Return the address."""
        side = "after" if self.is_after else "before"
        parts = {
            "sort": "" if self.column is None else f"{side}-{self.column}",
            "down": "1" if self.is_descending else "",
            "class": "" if self.of_class is None else str(self.of_class),
            "kept": "1" if self.with_kept else "",
            "page": str(self.page) if self.page > 1 else "",
        }
        return f"/{screen}?{urlencode({name: part for name, part in parts.items() if part})}#rows"

    def sort_by(self, column: int | None, *, is_after: bool = False) -> RowsQuery:
        """Return the query for rows sorted by a column; asked for again, the other way round."""
        is_again = (self.column, self.is_after) == (column, is_after)
        is_descending = is_again and not self.is_descending
        return replace(self, column=column, is_after=is_after, is_descending=is_descending, page=1)


def _parse_number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None


def render_rows(desk: Desk, words: PageWords, query: Mapping[str, str], screen: str) -> Html | None:
    """Render the rows before and after that an address asks for."""
    if desk.outcome is None:
        return None
    title = tag("h3", words("Rows before and after"), id="rows-title")
    rows = desk.outcome.rows
    if rows is None:
        note = words("Rows are not shown: the rows that were protected are not those of the table.")
        return tag("section", title, tag("p", note, class_="note"))
    asked = RowsQuery.from_address(query)
    columns = tuple(each for each in rows.columns if asked.with_kept or not each.is_by_value)
    sorting = columns[asked.column] if asked.column is not None and asked.column < len(columns) else None
    found = rows.select_rows(
        sorting, is_after=asked.is_after, is_descending=asked.is_descending, of_class=asked.of_class
    )
    n_pages = max(1, -(-len(found) // _ROWS_PER_PAGE))
    asked = replace(asked, page=min(asked.page, n_pages), column=None if sorting is None else asked.column)
    first = (asked.page - 1) * _ROWS_PER_PAGE
    shown = found[first : first + _ROWS_PER_PAGE]
    paging = _render_paging(asked, screen, first, len(shown), len(found), words)
    return tag(
        "section",
        title,
        tag("p", words("Left is what the table holds of a record, right what is published of it.")),
        _render_legend(rows.min_people, words),
        _render_filter(asked, rows, screen, words),
        paging,
        _render_table(rows, columns, shown, asked, screen, words),
        paging if len(shown) > _ROWS_PER_PAGE // 2 else None,
        id="rows",
        aria_labelledby="rows-title",
        tabindex="-1",
    )


def _render_legend(min_people: int, words: PageWords) -> Html:
    meanings = {
        _SAME: words("published as it is"),
        _COARSER: words("coarser, or rounded"),
        "*": words("suppressed"),
        _MASK: words("masked: fewer than {n} people share this cell, alone or with those before it", n=min_people),
    }
    items = (tag("div", tag("dt", sign), tag("dd", meaning)) for sign, meaning in meanings.items())
    return tag("dl", *items, class_="legend")


def _render_filter(asked: RowsQuery, rows: GuardedRows, screen: str, words: PageWords) -> Html:
    value = "" if asked.of_class is None else str(asked.of_class)
    field = tag("input", name="class", type="number", min="0", max=str(rows.n_classes), value=value, id="class")
    note = words("1 to {n}, the smallest first; 0: suppressed", n=f"{rows.n_classes:,}")
    box = tag("input", type="checkbox", name="kept", value="1", checked=asked.with_kept, id="kept")
    return tag(
        "form",
        render_fields(
            render_label(words("Class"), field, note),
            tag("label", box, tag("span", words("Kept columns, too")), class_="box"),
            render_button(words("Show rows")),
        ),
        method="get",
        action=f"/{screen}",
    )


def _render_paging(asked: RowsQuery, screen: str, first: int, n_shown: int, n: int, words: PageWords) -> Html:
    place = (
        words("rows {first} to {last} of {n}", first=f"{first + 1:,}", last=f"{first + n_shown:,}", n=f"{n:,}")
        if n
        else words("No row is in this class.")
    )
    n_pages = max(1, -(-n // _ROWS_PER_PAGE))
    steps = {
        words("First"): 1,
        words("Previous"): asked.page - 1,
        words("Next rows"): asked.page + 1,
        words("Last"): n_pages,
    }
    links = [
        tag("a", title, href=replace(asked, page=page).to_address(screen))
        for title, page in steps.items()
        if page != asked.page and 1 <= page <= n_pages
    ]
    every = replace(asked, of_class=None, page=1).to_address(screen)
    everything = tag("a", words("all classes"), href=every) if asked.of_class is not None else None
    return tag("nav", tag("span", place), *links, everything, class_="paging", aria_label=words("Rows"))


def _render_table(
    rows: GuardedRows,
    columns: tuple[GuardedColumn, ...],
    shown: CodeArray,
    asked: RowsQuery,
    screen: str,
    words: PageWords,
) -> Html:
    names = [tag("th", each.name, scope="colgroup", colspan=2) for each in columns]
    sides = [
        _render_sort_link(asked, place, screen, words, is_after=is_after)
        for place in range(len(columns))
        for is_after in (False, True)
    ]
    by_class = _render_sort_link(asked, None, screen, words, is_after=False)
    head = tag("thead", tag("tr", by_class, *names), tag("tr", *sides))
    body = [_render_row(rows, columns, int(row), asked, screen, words) for row in shown]
    caption = words("Rows before and after")
    table = tag("table", tag("caption", caption), head, tag("tbody", *body))
    return tag("div", table, class_="table rows", tabindex="0", role="region", aria_label=caption)


def _render_sort_link(asked: RowsQuery, place: int | None, screen: str, words: PageWords, *, is_after: bool) -> Html:
    is_chosen = (asked.column, asked.is_after) == (place, is_after)
    sort = ("descending" if asked.is_descending else "ascending") if is_chosen else None
    arrow = {"descending": " ↓", "ascending": " ↑"}.get(sort or "", "")
    title = words("class") if place is None else words("after") if is_after else words("before")
    link = tag("a", f"{title}{arrow}", href=asked.sort_by(place, is_after=is_after).to_address(screen))
    return tag("th", link, scope="col", rowspan=2 if place is None else None, aria_sort=sort)


def _render_row(
    rows: GuardedRows,
    columns: tuple[GuardedColumn, ...],
    row: int,
    asked: RowsQuery,
    screen: str,
    words: PageWords,
) -> Html:
    number = int(rows.class_of_row[row])
    # A class of 0 holds what is suppressed.
    link = tag("a", f"{number:,}" if number else "*", href=replace(asked, of_class=number, page=1).to_address(screen))
    size = words("{n} people", n=f"{rows.people_of_class[number]:,}") if number else words("suppressed")
    parts = [part for each in columns for part in _render_pair(each.name, each.describe_row(row, number), words)]
    return tag("tr", tag("th", link, " ", tag("small", size), scope="row"), *parts)


def _render_pair(name: str, found: ShownCells, words: PageWords) -> tuple[Html, Html]:
    """Render a cell before and after; a sign says what became of it, so that no colour has to."""
    before = _render_cell(found.before, words, is_shown=found.is_before_shown)
    if not found.is_changed:
        sign, kind = _SAME, "same"
    else:
        sign, kind = ("", "starred") if found.after == "*" else (_COARSER, "coarser")
    mark = tag("span", sign, class_="sign", aria_hidden="true")
    after = _render_cell(found.after, words, is_shown=found.is_after_shown)
    return tag("td", before, data_title=name), tag("td", mark, "\u00a0", after, class_=f"after {kind}")


def _render_cell(text: str | None, words: PageWords, *, is_shown: bool) -> Html | str:
    if not is_shown:
        return tag(
            "span",
            tag("span", _MASK, aria_hidden="true"),
            tag("span", words("masked"), class_="unseen"),
            class_="masked",
        )
    return tag("i", words("empty")) if text is None else shorten_cell(text)
