"""A codebook in the forms that archives and catalogues read: DDI-Codebook 2.5, and CSV on the Web.

Both say what the codebook says, and nothing else: no counts of values, nothing of the input.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote
from xml.etree import ElementTree

from hushtable.errors import InputError
from hushtable.io import Frame, frames
from hushtable.release.codebook import codebook_paths
from hushtable.release.manifest import dialect_of

_DDI: Final = "ddi:codebook:2_5"
_CSVW: Final = "http://www.w3.org/ns/csvw"
_DAY_PATTERN: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK_PATTERN: Final = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?"
_TYPE_AND_PATTERN: Final = {
    "integer": ("integer", r"[+-]?[0-9]+"),
    "decimal": ("number", r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([Ee][+-]?[0-9]+)?"),
    "date": ("date", _DAY_PATTERN),
    "datetime": ("dateTime", f"{_DAY_PATTERN}T{_CLOCK_PATTERN}(Z|[+-][0-9]{{2}}:[0-9]{{2}})?"),
    "time": ("time", _CLOCK_PATTERN),
}
"""Types of CSV on the Web by the kinds of columns, and what their cells look like."""
_NUMBERS: Final = ("integer", "decimal")


def archive_path(release: Path, form: str) -> Path:
    """Return the path of a release's codebook in an archive's form: CSVW's own name, or with ``.ddi.xml``."""
    return release.with_name(f"{release.name}{'-metadata.json' if form == 'csvw' else '.ddi.xml'}")


def convert_codebook(release: Path, form: str) -> str:
    """Convert the codebook of a release to an archive's form.

    Parameters
    ----------
    release : path
        A written release, with its codebook beside it.
    form : {"ddi", "csvw"}

    Raises
    ------
    InputError
        There is no such form, no codebook, or it is of another file; CSV on the Web describes no other kinds of files,
        and the file is not there.
    """
    if form not in ARCHIVES:
        raise InputError(f"there is no form {form!r} of a codebook.", hint=f"choose one of {', '.join(ARCHIVES)}.")
    data = codebook_paths(release)[1]
    try:
        entries = json.loads(data.read_text(encoding="utf-8"))
        is_one = entries["file"] == release.name and isinstance(entries["columns"], list)
    except (OSError, ValueError, KeyError, TypeError):
        is_one = False
    if not is_one:
        raise InputError(
            f"{str(data)!r} is not the codebook of {release.name!r}.",
            hint="write the release with its codebook, which `anonymize` does unless it is told not to.",
        )
    if form == "csvw" and release.suffix.lower() not in (".csv", ".tsv", ".txt"):
        raise InputError(f"CSV on the Web describes no {release.suffix!r}.", hint="write a CSV, or ask for ddi.")
    return ARCHIVES[form](entries, release)


def _render_ddi(entries: Mapping[str, Any], release: Path) -> str:
    """Render DDI-Codebook 2.5: a study of one file, and its variables."""
    book = ElementTree.Element("codeBook", {"xmlns": _DDI, "version": "2.5"})
    study = ElementTree.SubElement(book, "stdyDscr")
    _add_text(study, "citation/titlStmt/titl", entries["file"])
    file = ElementTree.SubElement(book, "fileDscr", {"ID": "F1"})
    about = ElementTree.SubElement(file, "fileTxt")
    _add_text(about, "fileName", entries["file"])
    size = ElementTree.SubElement(about, "dimensns")
    _add_text(size, "caseQnty", str(entries["n_records"]))
    _add_text(size, "varQnty", str(len(entries["columns"])))
    _add_text(about, "software", f"hushtable {entries['hushtable']}")
    _add_text(file, "notes", f"Verified from the file: {'; '.join(entries['holds'])}.")
    data = ElementTree.SubElement(book, "dataDscr")
    for place, column in enumerate(entries["columns"], start=1):
        is_number = column.get("kind") in _NUMBERS and "cells" not in column
        attributes = {"ID": f"V{place}", "name": _to_one_line(column["name"]), "files": "F1"}
        variable = ElementTree.SubElement(data, "var", {**attributes, "intrvl": "contin" if is_number else "discrete"})
        _add_text(variable, "labl", column.get("label") or column["name"])
        _add_text(variable, "txt", f"{column['role']}: {column['how']}")
        for code, meaning in column.get("values", {}).items():
            _add_category(variable, code, meaning)
        for label, each in column.get("labels", {}).items():
            _add_category(variable, label, _describe_coverage(each))
        ElementTree.SubElement(variable, "varFormat", {"type": "numeric" if is_number else "character"})
    ElementTree.indent(book)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(book, encoding="unicode")}\n'


def _add_category(variable: ElementTree.Element, value: str, meaning: str) -> None:
    category = ElementTree.SubElement(variable, "catgry")
    _add_text(category, "catValu", value)
    _add_text(category, "labl", meaning)


def _add_text(parent: ElementTree.Element, path: str, text: str) -> None:
    for name in path.split("/"):
        parent = ElementTree.SubElement(parent, name)
    parent.text = _to_one_line(text)


def _to_one_line(text: str) -> str:
    """Return a text on one line, without characters that XML must not hold."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


def _describe_coverage(each: Mapping[str, Any]) -> str:
    n_rare = each.get("n_rare", 0)
    told = ", ".join(each.get("covers", [])) or each.get("words", "")
    return f"{told}{' and ' if told and n_rare else ''}{f'{n_rare} rare values' if n_rare else ''}"


def _render_csvw(entries: Mapping[str, Any], release: Path) -> str:
    """Render metadata of CSV on the Web (W3C 2015): how the file is spelled, and its columns.

    A column has a type where all its cells are spelled as that type asks. Names are those that stand in the file.
    """
    table = frames.read(release, dialect=replace(dialect_of(release), formulas=None))
    columns = []
    for column, title in zip(entries["columns"], table.columns, strict=True):
        label = {"rdfs:label": column["label"]} if column.get("label") else {}
        columns.append(
            {
                "name": quote(column["name"], safe="").replace("_", "%5F", int(column["name"].startswith("_"))),
                "titles": title,
                "datatype": _infer_datatype(column.get("kind", ""), table, title),
                "null": "",
                "dc:description": f"{column['role']}: {column['how']}",
                **label,
            }
        )
    metadata = {
        "@context": _CSVW,
        "url": quote(entries["file"]),
        "dc:title": entries["file"],
        "dc:description": f"Verified from the file: {'; '.join(entries['holds'])}.",
        # The default is "#": lines that begin with it would be comments.
        "dialect": {
            "delimiter": table.delimiter,
            "encoding": _web_encoding(table.dialect.encoding or "utf-8"),
            "commentPrefix": None,
        },
        "tableSchema": {"columns": columns},
    }
    return json.dumps(metadata, indent=2, ensure_ascii=False) + "\n"


def _infer_datatype(kind: str, table: Frame, title: str) -> str:
    name, pattern = _TYPE_AND_PATTERN.get(kind, ("string", ""))
    return name if bool(table.column(title).str.contains(f"^({pattern})$").all()) else "string"


def _web_encoding(name: str) -> str:
    """Return the name that the Web has for an encoding."""
    found = codecs.lookup(name).name.removesuffix("-sig")
    return re.sub(r"^iso8859-", "iso-8859-", re.sub(r"^cp(?=125)", "windows-", found))


ARCHIVES: Final[Mapping[str, Callable[[Mapping[str, Any], Path], str]]] = MappingProxyType(
    {"ddi": _render_ddi, "csvw": _render_csvw}
)
"""What writes a codebook in a form."""
