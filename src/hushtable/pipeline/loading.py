"""Tables that a pipeline's file names: read once, with what the file says of their columns."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from hushtable.columns import ColumnSpec, Kind
from hushtable.errors import InputError, PipelineError, check_columns, with_hint
from hushtable.io import DELIMITERS, Dialect, Frame, frames, header_line
from hushtable.pipeline.modules import Reading, Schema
from hushtable.pipeline.reading import validated
from hushtable.pipeline.results import Files
from hushtable.policy import plain_yaml
from hushtable.tables import Table

__all__ = ["load"]

_KINDS: Final[Mapping[str, Kind]] = {
    "int": "integer",
    "integer": "integer",
    "float": "decimal",
    "datetime": "datetime",
    "date": "date",
    **dict.fromkeys(("str", "string", "bool", "boolean", "category"), "category"),
}


def load(filepath: str, files: Files, said: Reading, like: Frame | None = None) -> Frame:
    """Read a table.

    Parameters
    ----------
    filepath : str
    files : Files
    said : Reading
        What a file says of its columns and cells.
    like : Frame, optional
        A table that was read before: what was said of its columns holds for this one too.

    Raises
    ------
    InputError, ColumnError
        The file cannot be read, or a column that is named is not in it.
    """
    of_all = () if isinstance(said.na_values, Mapping) else said.na_values
    marks = Dialect() if like is None else like.dialect.marks
    path, dialect = files.find(filepath), replace(marks, missing_values=(*marks.missing_values, *of_all))
    frame = frames.read(path, dialect=dialect) if said.header_names is None else _headed(path, said, dialect)
    if like is not None:
        frame = frame.told({name: spec for name, spec in like.specs.items() if name in frame.columns})
    specs = _specs(said, files)
    check_columns(tuple(specs), frame.columns, f"what is said of the columns of {path.name}")
    return _decided(frame.told(specs))


def _specs(said: Reading, files: Files) -> dict[str, ColumnSpec]:
    """Return what is said of columns: by a schema, by their types, by what means missing in them."""
    specs = {
        name: ColumnSpec(
            _KINDS[field.type] if field.type else None,
            format=None if field.datetime_format == "auto" else field.datetime_format,
            missing_values=field.na_values or None,
        )
        for name, field in _read_schema(said.schema_, files).fields.items()
    }
    for kind, names in said.column_types.items():
        specs |= {name: ColumnSpec(_KINDS[kind.lower()]).completed(specs.get(name, ColumnSpec())) for name in names}
    if isinstance(said.na_values, Mapping):
        for name, texts in said.na_values.items():
            specs[name] = ColumnSpec(missing_values=texts).completed(specs.get(name, ColumnSpec()))
    return specs


def _decided(frame: Frame) -> Frame:
    """Return a table that is read alike in all its parts: numbers in some rows of a column of texts are texts too."""
    if not frame.is_text:
        return frame
    known = frame.learned()
    kinds = {column.name: column.kind for column in Table.encode(known).columns}
    return known.told({name: ColumnSpec(kind) for name, kind in kinds.items() if kind == "category"})


def _read_schema(schema: str | Schema | None, files: Files) -> Schema:
    if not isinstance(schema, str):
        return schema or Schema()
    text = plain_yaml.text_of(files.find(schema), "schema", "it is YAML in UTF-8.", PipelineError)
    given, tree = plain_yaml.read(text, schema, PipelineError)
    known = validated(Schema, given, schema, tree)
    return known if isinstance(known, Schema) else Schema()


def _headed(path: Path, said: Reading, dialect: Dialect) -> Frame:
    """Read a CSV without a header; the delimiter is the one that splits its first line into as many cells as names."""
    names = list(said.header_names or ())
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        msg = with_hint(f"cannot read {path.name} as a CSV without a header.", "header_names is for CSV in UTF-8.")
        raise InputError(msg) from None
    first = text.partition("\n")[0].rstrip("\r")
    n_cells = {each: _n_cells(first, each) for each in DELIMITERS}
    fitting = [each for each in DELIMITERS if n_cells[each] == len(names) == max(n_cells.values())]
    if not fitting:
        msg = f"header_names has {len(names)} names, and the first line of {path.name} does not split into as many."
        raise InputError(with_hint(msg, "name every column once, in their order."))
    headed = header_line(names, fitting[0]) + text
    return frames.read_stream(headed.encode(), path.name, replace(dialect, encoding="utf-8", delimiter=fitting[0]))


def _n_cells(line: str, delimiter: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=delimiter), []))
    except csv.Error:
        return 0
