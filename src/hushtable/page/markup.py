"""HTML built from parts: texts are escaped when they are inserted, so that no text becomes markup."""

from __future__ import annotations

import re
from typing import Final

from hushtable.columns import escape_html

_VOID_TAGS: Final = frozenset({"br", "hr", "input", "link", "meta", "rect"})


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, /, *children: str | None, **attributes: str | int | bool | None) -> Html:
    """Return an element with escaped texts; attributes of None or False are left out, those of True have no value.

    An underscore at the end of an attribute is dropped, others become hyphens.

    Examples
    --------
    >>> print(tag("p", "a < b", tag("b", "c"), class_="note", hidden=False))
    <p class="note">a &lt; b<b>c</b></p>
    """
    parts = [f"<{name}"]
    for key, entry in attributes.items():
        if entry is not None and entry is not False:
            word = key.rstrip("_").replace("_", "-")
            parts.append(f" {word}" if entry is True else f' {word}="{escape_html(str(entry))}"')
    opened = f"{''.join(parts)}>"
    return Html(opened if name in _VOID_TAGS else f"{opened}{concatenate_html(*children)}</{name}>")


def concatenate_html(*children: str | None) -> Html:
    """Concatenate parts, with texts escaped."""
    return Html("".join(each if isinstance(each, Html) else escape_html(each) for each in children if each is not None))


_STYLE: Final = re.compile(r' style="([^"]*)"')
_STYLE_ELEMENT: Final = re.compile(r"<style[^>]*>.*?</style>", re.DOTALL)
_FONT_SIZE: Final = re.compile(r"([\d.]+)px")


def without_styles(html: str) -> Html:
    """Return HTML that holds pictures with what styles them as attributes: the page allows no style in an element.

    Every text in it is escaped already, so that a quote ends an attribute.
    """
    return Html(_STYLE.sub(lambda found: _style_to_attributes(found[1]), _STYLE_ELEMENT.sub("", html)))


def _style_to_attributes(style: str) -> str:
    attributes = []
    for entry in style.split(";"):
        name, is_one, what = entry.partition(":")
        name, what = name.strip(), what.strip()
        if name == "font":
            size = _FONT_SIZE.search(what)
            attributes.append(f' font-size="{size[1]}"' if size else "")
        elif is_one and not name.startswith("-"):
            attributes.append(f' {name}="{what}"')
    return "".join(attributes)
