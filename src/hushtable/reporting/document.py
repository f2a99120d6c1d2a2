"""A report: sections that a page, a terminal and a file of JSON show alike.

The page is one file of HTML: no script, nothing fetched, everything escaped. Its charts are SVG that takes its colours
from the page.
"""

from __future__ import annotations

import json
import math
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from hushtable.columns import escape_html as escape
from hushtable.errors import InputError
from hushtable.io import drafts
from hushtable.plots import charts, style
from hushtable.wording import CAREFUL, current_language, translate, use_language

Audience = Literal["internal", "external"]
"""Who reads: those who make the release, or whoever receives it."""

Tone = Literal["plain", "good", "careful"]
Unit = Literal["count", "share", "number"]
"""A whole number; a share or a chance, in [0, 1]; anything else."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit.

    Attributes
    ----------
    value : int or float or None
        None where there is none; never NaN.
    unit : {"count", "share", "number"}

    Examples
    --------
    >>> Quantity(12_345, "count").shown, Quantity(0.004, "share").shown, Quantity(None, "number").shown
    ('12,345', '0.40 %', '')
    """

    value: float | None
    unit: Unit = "number"

    def __post_init__(self) -> None:
        if self.value is not None and not math.isfinite(self.value):
            object.__setattr__(self, "value", None)

    @property
    def shown(self) -> str:
        """The number, formatted for people."""
        if self.value is None:
            return ""
        if self.unit == "count":
            return f"{self.value:,.0f}"
        if self.unit == "share":
            return format_share(self.value)
        return f"{self.value:,.4g}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


CellContent = str | Quantity


class Data(str):
    """Data or code: the same in every language; as a title of a table, of a column that holds such."""

    __slots__ = ()


# Titles of columns of tables that hold data or code, none of them words of a language.
_OF_DATA: Final = frozenset(
    {"column", "columns", "entry", "as asked", "key", "kind", "missing as", "reason", "run", "… this"}
)


def format_share(share: float) -> str:
    """Format a share as per cent, with two digits, or all digits before the point."""
    if math.isnan(share):
        return "not known"
    percent = 100 * share
    if percent == 0 or abs(percent) >= 10:
        return f"{percent:.0f} %"
    return f"{percent:.1f} %" if abs(percent) >= 1 else f"{percent:.2f} %" if abs(percent) >= 0.01 else "under 0.01 %"


def row_of(*cells: CellContent) -> tuple[CellContent, ...]:
    """Return a row of a table."""
    return cells


def say(text: str) -> str:
    """Translate a text into the current language; data stay as they are."""
    return text if isinstance(text, Data) else translate(text)


def say_cell(cell: CellContent, title: str) -> str:
    """Format a cell of a table, given its column's title, in the current language."""
    if isinstance(cell, Quantity):
        return translate(cell.shown)
    return cell if isinstance(title, Data) or title in _OF_DATA else say(cell)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A few sentences."""

    text: str
    tone: Tone = "plain"

    kind: ClassVar[str] = "paragraph"


@dataclass(frozen=True, slots=True)
class Points:
    """A list of short statements."""

    items: tuple[str, ...]

    kind: ClassVar[str] = "points"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts and numbers.

    Attributes
    ----------
    caption : str
    titles : tuple of str
    rows : tuple of tuple of str or Quantity
    note : str
        What to know of it.
    """

    caption: str
    titles: tuple[str, ...]
    rows: tuple[tuple[CellContent, ...], ...]
    note: str = ""

    kind: ClassVar[str] = "table"


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture, as the data that it draws.

    Attributes
    ----------
    draws : str
        The function of `hushtable.plots.charts` that draws it.
    title : str
        What to see in it.
    data : mapping
        The arguments of that function, as plain values.
    """

    draws: str
    title: str
    data: Mapping[str, Any]

    kind: ClassVar[str] = "chart"


@dataclass(frozen=True, slots=True)
class Code:
    """Text to be read or run as it is: a policy, a command."""

    caption: str
    text: str

    kind: ClassVar[str] = "code"


@dataclass(frozen=True, slots=True)
class Form:
    """Lines that people fill in by hand."""

    titles: tuple[str, ...]
    labels: tuple[str, ...]

    kind: ClassVar[str] = "form"


Block = Paragraph | Points | Table | Chart | Code | Form


def blocks_of(*blocks: Block) -> tuple[Block, ...]:
    """Return the blocks of a section."""
    return blocks


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report.

    Attributes
    ----------
    name : str
        Unique within a report: ``"risk_after"``.
    title : str
    blocks : tuple of Block
    clause : str
        The clause of ISO/IEC 27559:2022 that it speaks to, by number and name; empty where none does.
    """

    name: str
    title: str
    blocks: tuple[Block, ...] = field(repr=False)
    clause: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the section as plain values."""
        return {
            "name": self.name,
            "title": self.title,
            "clause": self.clause,
            "blocks": [{"kind": block.kind, **_to_plain_values(block)} for block in self.blocks],
        }


def facts_section(facts: Sequence[str], *blocks: Block) -> Section:
    """Return the first section of a report: the facts of a result, and further blocks."""
    told = (Paragraph(each.removeprefix(CAREFUL), "careful" if each.startswith(CAREFUL) else "plain") for each in facts)
    return Section("summary", "In short", (*told, *blocks))


def _to_plain_values(entry: Any) -> Any:
    """Convert an entry to plain values for JSON."""
    if hasattr(entry, "__dataclass_fields__"):
        return {name: _to_plain_values(getattr(entry, name)) for name in entry.__dataclass_fields__ if name != "kind"}
    if isinstance(entry, Mapping):
        return {str(name): _to_plain_values(each) for name, each in entry.items()}
    if isinstance(entry, Sequence) and not isinstance(entry, str):
        return [_to_plain_values(each) for each in entry]
    return entry


_COLOURS: Final = {
    "#000000": "var(--ink)",
    "#ffffff": "var(--paper)",
    "#b0b0b0": "var(--line)",
    **{colour: f"var(--series-{place})" for place, colour in enumerate(style.PALETTE, start=1)},
}
"""What matplotlib writes, and what stands for it on a page that may be light or dark."""


def render_chart(chart: Chart, prefix: str) -> str:
    """Render a chart as an ``svg`` element.

    Parameters
    ----------
    chart : Chart
    prefix : str
        What its ids begin with: two pictures on one page share none.
    """
    with style.hide_figures(translate):
        axes = getattr(charts, chart.draws)(**_translate_chart_names(chart.data))
    with warnings.catch_warnings():
        # As text, because the reader's fonts have characters that matplotlib's lack.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        svg = style.as_svg(axes)
    svg = svg[svg.index("<svg") :]
    for colour, variable in _COLOURS.items():
        svg = re.sub(colour, variable, svg, flags=re.IGNORECASE)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    return _with_own_ids(_without_svg_size(_NUMBER_DRAWN.sub(lambda number: translate(number[0]), svg)), prefix)


def _translate_chart_names(data: Mapping[str, Any]) -> dict[str, Any]:
    """Translate the names of a chart's series and bands; all other names are columns."""
    named = {
        entry: {translate(name): each for name, each in said.items()} if isinstance(said, Mapping) else said
        for entry, said in data.items()
    }
    return named | ({"bands": [*map(translate, data["bands"])]} if "bands" in data else {})


def _without_svg_size(svg: str) -> str:
    """Remove the size of a picture, which the page sets, and hide it from screen readers: its data stand beside it."""
    opening, rest = svg.split(">", 1)
    view = re.search(r'viewBox="[^"]*"', opening)
    assert view is not None
    return f'<svg {view[0]} aria-hidden="true" focusable="false">{rest}'


def _with_own_ids(svg: str, prefix: str) -> str:
    """Replace matplotlib's random ids by numbers in order of appearance."""
    names: dict[str, str] = {}

    def number_id(found: re.Match[str]) -> str:
        return f"{found[1]}{names.setdefault(found[2], f'{prefix}{len(names)}')}{found[3]}"

    svg = re.sub(r'(\bid=")([^"]+)(")', number_id, svg)
    svg = re.sub(r'(xlink:href="#)([^"]+)(")', number_id, svg)
    return re.sub(r"(url\(#)([^)]+)(\))", number_id, svg)


_NUMBER_DRAWN: Final = re.compile(r"(?<=>)[^<>\w]*\d[^<>A-Za-z]*(?=</t)")
"""A text of a picture that is a number."""

_CONTENT_SECURITY: Final = "default-src 'none'; style-src 'unsafe-inline'"
"""What a browser may fetch: nothing; styles are in the page."""

_MIN_SENTENCE_LENGTH: Final = 30  # characters

_AUDIENCE_NOTES: Final = {
    "internal": "Internal: for those who make a release. It holds what helps to undo one: keep it from its recipients.",
    "external": "External: for those who receive the release. It holds nothing that the file does not show.",
}


_ORDER: Final = "The order of sections is that of ISO/IEC 27559:2022, which is no claim of conformity."


def _translate_to_html(text: str) -> str:
    """Translate a text into the current language, as HTML."""
    return escape(say(text))


def render_page(title: str, audience: Audience, sections: Sequence[Section], version: str) -> str:
    """Render a page in the current language; ``version`` is that of hushtable."""
    contents = "".join(
        f'<li><a href="#{escape(each.name)}">{_translate_to_html(each.title)}</a></li>' for each in sections[1:]
    )
    # The summary comes first, then the contents, then the rest.
    first, *rest = map(render_section, sections)
    return (
        "<!DOCTYPE html>\n"
        f'<html lang="{current_language()}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_CONTENT_SECURITY)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">'
        f"<title>{_translate_to_html(title)}</title><style>{page_style()}</style></head>\n<body>"
        f"<header><h1>{_translate_to_html(title)}</h1>"
        f'<p class="audience">{_translate_to_html(_AUDIENCE_NOTES[audience])}</p></header>\n'
        f'<main>\n{first}<nav aria-label="{_translate_to_html("Contents")}"><ol>{contents}</ol></nav>\n'
        f"{''.join(rest)}</main>\n"
        f"<footer><p>{_translate_to_html(f'Written by hushtable {version}. {_ORDER}')}</p></footer></body></html>\n"
    )


@cache
def page_style() -> str:
    """Return the style sheet of pages."""
    return files("hushtable.reporting").joinpath("page.css").read_text(encoding="utf-8")


def render_section(section: Section) -> str:
    """Render a section as HTML in the current language, with everything escaped."""
    clause = f'<p class="clause">ISO/IEC 27559: {_translate_to_html(section.clause)}</p>' if section.clause else ""
    blocks = "\n".join(_render_blocks(section))
    name = escape(section.name)
    return (
        f'<section id="{name}" aria-labelledby="{name}-title">'
        f'<h2 id="{name}-title">{_translate_to_html(section.title)}</h2>'
        f"{clause}\n{blocks}\n</section>\n"
    )


def _render_blocks(section: Section) -> Iterator[str]:
    for place, block in enumerate(section.blocks):
        if isinstance(block, Chart):
            yield _render_figure(block, f"{section.name}-{place}-")
        else:
            yield _RENDERERS[type(block)](block)


def _render_paragraph(block: Paragraph) -> str:
    return f'<p class="{block.tone}">{_translate_to_html(block.text)}</p>'


def _render_points(block: Points) -> str:
    return f"<ul>{''.join(f'<li>{_translate_to_html(item)}</li>' for item in block.items)}</ul>" if block.items else ""


def _render_table(block: Table) -> str:
    kinds = [_cell_class([row[place] for row in block.rows]) for place in range(len(block.titles))]
    head = "".join(
        f'<th scope="col"{kind}>{_translate_to_html(title)}</th>' if title else "<td></td>"
        for title, kind in zip(block.titles, kinds, strict=True)
    )
    body = "".join(f"<tr>{_render_cells(row, block.titles, kinds)}</tr>" for row in block.rows)
    note = f'<p class="note">{_translate_to_html(block.note)}</p>' if block.note else ""
    # Wide tables scroll in their own box, which the keyboard can focus.
    return (
        f'<div class="table" tabindex="0" role="region" aria-label="{_translate_to_html(block.caption)}"><table>'
        f"<caption>{_translate_to_html(block.caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{note}"
    )


def _cell_class(cells: Sequence[CellContent]) -> str:
    """Return the CSS class of a column's cells: numbers are right-aligned, sentences are wide."""
    if cells and all(isinstance(cell, Quantity) for cell in cells):
        return ' class="number"'
    return ' class="words"' if any(isinstance(cell, str) and len(cell) > _MIN_SENTENCE_LENGTH for cell in cells) else ""


def _render_cells(row: Sequence[CellContent], titles: Sequence[str], kinds: Sequence[str]) -> str:
    first, *rest = map(_render_cell, row, titles)
    opened = f'<th scope="row"{kinds[0]}>{first}</th>'
    return opened + "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(rest, kinds[1:], strict=True))


def _render_cell(cell: CellContent, title: str) -> str:
    return _render_quantity(cell) if isinstance(cell, Quantity) else escape(say_cell(cell, title))


def _render_quantity(quantity: Quantity) -> str:
    """Render a number for people, with its exact value as an attribute."""
    if quantity.value is None:
        return ""
    return f'<data value="{quantity.value!r}">{_translate_to_html(quantity.shown)}</data>'


def _render_figure(block: Chart, prefix: str) -> str:
    return f"<figure>{render_chart(block, prefix)}<figcaption>{_translate_to_html(block.title)}</figcaption></figure>"


def _render_code(block: Code) -> str:
    return (
        f'<p class="note">{_translate_to_html(block.caption)}</p>'
        f'<pre tabindex="0" role="region" aria-label="{_translate_to_html(block.caption)}">'
        f"<code>{escape(block.text)}</code></pre>"
    )


def _render_form(block: Form) -> str:
    head = "".join(f'<th scope="col">{_translate_to_html(title)}</th>' for title in block.titles)
    row = "<td>&nbsp;</td>" * (len(block.titles) - 1)
    body = "".join(f'<tr><th scope="row">{_translate_to_html(label)}</th>{row}</tr>' for label in block.labels)
    return (
        f'<div class="table form" tabindex="0" role="region" aria-label="{_translate_to_html("Decision")}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


_RENDERERS: Final[dict[type[Block], Callable[[Any], str]]] = {
    Paragraph: _render_paragraph,
    Points: _render_points,
    Table: _render_table,
    Code: _render_code,
    Form: _render_form,
}


SCHEMA_VERSION: Final = 2
"""Of what `Report.to_dict` returns; it grows where something is renamed or goes."""


def report_paths(path: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Return the paths of a report, as a page and as JSON; InputError if the ending is not that of a page."""
    page = Path(path)
    if page.suffix.lower() not in (".html", ".htm"):
        raise InputError(
            f"cannot write a report to {str(page)!r}: its ending is {page.suffix!r}.",
            hint="name it .html; the same goes beside it as .json.",
        )
    return page, page.with_suffix(".json")


@dataclass(frozen=True, slots=True)
class Report:
    """What people who decide need to know, section by section.

    Attributes
    ----------
    title : str
    audience : {"internal", "external"}
        Who may read it: those who make a release, or whoever receives it.
    sections : tuple of Section
        Plain data: paragraphs, tables, charts as the data that they draw.
    holds : bool, optional
        Of a release: whether it holds what it claims, and all of that was judged.
    inputs : tuple of path
        The files that it was made from, none of which `write` touches.
    language : {"en", "de"}
        Of the page. The JSON beside it stays English, whatever reads it.

    Examples
    --------
    >>> import polars as pl
    >>> import hushtable as ht
    >>> people = pl.DataFrame({"age": [31, 34, 52, 57], "job": ["clerk", "cook", "clerk", "clerk"]})
    >>> report = ht.report(ht.assess(people, quasi_identifiers=["age"]))
    >>> [section.name for section in report.sections]
    ['summary', 'attacks', 'classes']
    """

    title: str
    audience: Audience
    sections: tuple[Section, ...] = field(repr=False)
    holds: bool | None = None
    inputs: tuple[Path, ...] = field(default=(), repr=False)
    language: str = "en"

    def section(self, name: str) -> Section:
        """Return a section by its name; InputError where there is none."""
        for each in self.sections:
            if each.name == name:
                return each
        names = ", ".join(each.name for each in self.sections)
        raise InputError(f"the report has no section {name!r}.", hint=f"it has {names}.")

    @property
    def facts(self) -> tuple[str, ...]:
        """The sentences of its first section, as the result says them."""
        told = (block for block in self.sections[0].blocks if isinstance(block, Paragraph))
        return tuple(f"{CAREFUL if block.tone == 'careful' else ''}{block.text}" for block in told)

    def to_html(self) -> str:
        """Return the report as one page: no script, nothing fetched, light or dark as its reader has it."""
        with use_language(self.language):
            return render_page(self.title, self.audience, self.sections, version("hushtable"))

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values: every text and number of the page, and the data of its charts."""
        return {
            "schema_version": SCHEMA_VERSION,
            "hushtable": version("hushtable"),
            "title": self.title,
            "audience": self.audience,
            "holds": self.holds,
            "facts": list(self.facts),
            "sections": [each.to_dict() for each in self.sections],
        }

    def write(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> tuple[Path, Path]:
        """Write the page, and beside it the same as JSON, both whole or not at all.

        Only their owner may read those of an internal report.

        Parameters
        ----------
        path : path
            ``.html``; the twin's name ends in ``.json``.
        overwrite : bool
            Replace files of these names. An input is never replaced, nor a link.

        Returns
        -------
        tuple of path
            The page and its twin.

        Raises
        ------
        InputError
            The files cannot be written, or must not be.
        """
        paths = report_paths(path)
        drafts.check_outputs(paths, self.inputs, overwrite=overwrite)
        texts = self.to_html(), json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        with drafts.replace_files(
            *paths, internal=paths if self.audience == "internal" else (), overwrite=overwrite
        ) as drafted:
            for draft, text in zip(drafted, texts, strict=True):
                # A file's name may hold bytes that are not UTF-8.
                draft.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
        return paths

    def _repr_html_(self) -> str:
        with use_language(self.language):
            names = "".join(f"<li>{_translate_to_html(each.title)}</li>" for each in self.sections)
            return f"<b>{_translate_to_html(self.title)}</b> ({self.audience})<ol>{names}</ol>"
