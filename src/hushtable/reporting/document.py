"""A report: sections that a page, a terminal and a file of JSON show alike."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from hushtable.columns import escaped
from hushtable.errors import InputError, with_hint
from hushtable.io import drafts
from hushtable.reporting import page
from hushtable.reporting.sections import Audience, Section

__all__ = ["SCHEMA_VERSION", "Report", "report_paths"]

SCHEMA_VERSION: Final = 1
"""Of what `Report.to_dict` returns; it grows where something is renamed or goes."""


def report_paths(path: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Return where a report goes, as a page and beside it as JSON; InputError where the ending is no page's."""
    page_ = Path(path)
    if page_.suffix.lower() not in (".html", ".htm"):
        msg = f"cannot write a report to {str(page_)!r}: its ending is {page_.suffix!r}."
        raise InputError(with_hint(msg, "name it .html; its twin goes beside it as .json."))
    return page_, page_.with_suffix(".json")


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

    def section(self, name: str) -> Section:
        """Return a section by its name; InputError where there is none."""
        for each in self.sections:
            if each.name == name:
                return each
        names = ", ".join(each.name for each in self.sections)
        raise InputError(with_hint(f"the report has no section {name!r}.", f"it has {names}."))

    def to_html(self) -> str:
        """Return the report as one page: no script, nothing fetched, light or dark as its reader has it."""
        return page.render(self.title, self.audience, self.sections, version("hushtable"))

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values: every text and number of the page, and the data of its charts."""
        return {
            "schema_version": SCHEMA_VERSION,
            "hushtable": version("hushtable"),
            "title": self.title,
            "audience": self.audience,
            "holds": self.holds,
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
        with drafts.replacing(*paths, internal=paths if self.audience == "internal" else ()) as drafted:
            for draft, text in zip(drafted, texts, strict=True):
                # A file's name may hold bytes that are no text.
                draft.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
        return paths

    def _repr_html_(self) -> str:
        names = "".join(f"<li>{escaped(each.title)}</li>" for each in self.sections)
        return f"<b>{escaped(self.title)}</b> ({self.audience})<ol>{names}</ol>"
