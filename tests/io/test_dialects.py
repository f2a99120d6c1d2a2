"""One table in forty dialects: whatever a file leaves no doubt of is found, and the rest is said."""

import datetime as dt
import itertools

import pytest

from hushtable.columns.column import ColumnSpec
from hushtable.io import frames
from hushtable.io.csv import Dialect
from hushtable.tables.table import Table

DELIMITERS = [",", ";", "\t", "|"]
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "cp1252"]
FORMATS = ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d-%m-%Y", "%d %b %Y"]
MARKS = [(".", ""), (",", ""), (",", "."), (".", "'")]
CODES = ["", "NA", "k. A.", "-99"]

ROWS = [
    ("Müller", 31, 1234.5, dt.date(1990, 2, 1), "01234"),
    ("Weiß", 7, 0.25, dt.date(1985, 3, 2), "99999"),
    ("Özil", None, -2.0, None, "00001"),
    (None, 60, None, dt.date(2001, 12, 11), "1E10"),
    ("Æ, b; c", 31, 1234567.75, dt.date(1990, 2, 1), None),
]


def forty():
    """Every value of every part, each with the others in turn."""
    parts = zip(
        itertools.cycle(DELIMITERS),
        itertools.cycle(ENCODINGS + ENCODINGS[:1]),
        itertools.cycle(FORMATS + FORMATS[:2]),
        itertools.cycle(MARKS + MARKS[:1] + MARKS[2:]),
        itertools.cycle(CODES + CODES[1:2] + CODES[:2] + CODES[:2] + CODES[2:]),
        strict=False,
    )
    return list(dict.fromkeys(itertools.islice(parts, 40)))


def spelled(value, format_, marks, code):
    if value is None:
        return code
    if isinstance(value, dt.date):
        return value.strftime(format_)
    if not isinstance(value, float):
        return str(value)
    decimal, thousands = marks
    return f"{value:,.2f}".replace(".", "d").replace(",", thousands).replace("d", decimal)


def lines(delimiter, format_, marks, code):
    yield delimiter.join(["name", "größe", "pay", "born", "zip"])
    for row in ROWS:
        yield delimiter.join(
            f'"{cell}"' if delimiter in cell or cell.startswith(" ") else cell
            for cell in (spelled(value, format_, marks, code) for value in row)
        )


def test_there_are_forty():
    assert len(forty()) == 40
    for part, values in zip(zip(*forty(), strict=True), (DELIMITERS, ENCODINGS, FORMATS, MARKS, CODES), strict=True):
        assert set(part) == set(values)


@pytest.mark.parametrize(("delimiter", "encoding", "format_", "marks", "code"), forty())
def test_all_dialects_read_to_the_same_table(tmp_path, delimiter, encoding, format_, marks, code):
    path = tmp_path / "people.csv"
    path.write_bytes(("\n".join(lines(delimiter, format_, marks, code)) + "\n").encode(encoding))
    # Said: what means missing, and of dates that fit two formats which one it is.
    dialect = Dialect(missing_values=(code,) if code else ())
    is_ambiguous = format_ in ("%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y")
    specs = {"born": ColumnSpec(format=format_)} if is_ambiguous else {}
    frame = frames.read(path, dialect=dialect)
    table = Table.encode(frame, specs=specs)
    assert frame.delimiter == delimiter
    assert frame.dialect.encoding.replace("utf-8-sig", "utf-8") == encoding.replace("utf-8-sig", "utf-8")
    assert [column.kind for column in table.columns] == ["category", "integer", "decimal", "date", "category"]
    for place, (column, codes) in enumerate(zip(table.columns, table.codes, strict=True)):
        values = [None if at < 0 else column.values[at] for at in codes.tolist()]
        assert [each.item() if hasattr(each, "item") else each for each in values] == [row[place] for row in ROWS]
        known = sorted({row[place] for row in ROWS} - {None})
        assert codes.tolist() == [-1 if row[place] is None else known.index(row[place]) for row in ROWS]
    if is_ambiguous:
        assert Table.encode(frame).column("born").kind == "category"


@pytest.mark.parametrize(
    "text", ['a|"x,y"\n[1, 2]|true\n[3, 4]|false\n', 'a|"x,y"\n1|"2, 3"\n', 'a|"x,y"\r\n1|"2,3"\r']
)
def test_a_delimiter_leaves_no_quote_within_a_cell(tmp_path, text):
    # A comma parts these lines as evenly as the bar does.
    path = tmp_path / "in.csv"
    path.write_bytes(text.encode())
    frame = frames.read(path)
    assert (frame.delimiter, frame.columns) == ("|", ("a", "x,y"))
