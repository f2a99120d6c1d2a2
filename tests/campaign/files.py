"""Fuzzed CSV files: the rows that `csv` reads, or an InputError."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.csv

import hushtable as ht
from campaign.outcome import Outcome
from hushtable.io import frames
from hushtable.io.csv import Dialect

_PIECES = (
    b'"', b'""', b"\n", b"\r\n", b"\r", b",", b";", b"\t", b"|", b" ", b"a", b"1", b"1.0", b"NA", b"", b"\x00",
    b"\xff",     b"\xef\xbb\xbf", "é🙂".encode(), b'"a,b"', b'"x\ny"', b"3\"", b"'", b"\\", b"\\\"", b"#", b"\x1a",
    b"\xc2\xa0", b"\x0c",
)  # fmt: skip
_CELLS = (
    "a", "b", "1", "1.0", "01", "NA", "", "", " ", "x y", "a,b", 'say "hi"', '"', "l\nm", "l\r\nm", "é", "🙂", ";",
    "|", "\t", "-",
)  # fmt: skip


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: several files."""
    outcome = Outcome()
    for _ in range(10):
        data = random.choice((_noise, _damaged, _damaged, _well_formed))(random)
        compare(outcome, data, folder)
    return outcome


def compare(outcome: Outcome, data: bytes, folder: Path) -> None:
    """Read one file by all readers."""
    path = folder / "fuzzed.csv"
    path.write_bytes(data)
    outcome.reproduction = f"frames.read of a file of the bytes {data!r}"
    frame = None
    with outcome.guarded("read", ht.InputError):
        # The other readers guess no encoding, and leave out no index.
        frame = frames.read(path, dialect=Dialect("utf-8", index=False))
    with outcome.guarded("encode", ht.InputError):
        ht.Table.encode(path)
    if frame is None:
        return
    outcome.count("read")
    names = list(frame.data.columns)
    rows = [["" if cell is None else cell for cell in row] for row in frame.data.rows()]
    expected = _by_csv(data, frame.delimiter, len(names))
    outcome.expect(expected is not None, "csv refuses what is read", (names, rows))
    if expected is not None:
        outcome.expect(expected[0] == names, "csv reads other names", (names, expected[0]))
        outcome.expect(expected[1:] == rows, "csv reads other rows", f"{rows}\ncsv: {expected[1:]}")
    by_arrow = _by_arrow(data, frame.delimiter)
    if by_arrow is not None and by_arrow != [names, *rows]:
        outcome.count("pyarrow reads other rows")
    _rewrite(outcome, frame, folder, names, rows)


def _rewrite(outcome: Outcome, frame: frames.Frame, folder: Path, names: list[str], rows: list[list[str]]) -> None:
    """What is written reads back to the same."""
    with outcome.guarded("write", ht.InputError):
        frames.write(frame, folder / "again.csv")
        again = frames.read(folder / "again.csv", delimiter=frame.delimiter)
        cells = [["" if cell is None else cell for cell in row] for row in again.data.rows()]
        outcome.expect(
            [list(again.data.columns), *cells] == [names, *rows], "what is written reads back differently", rows
        )


def _by_csv(data: bytes, delimiter: str, n_columns: int) -> list[list[str]] | None:
    try:
        # A second mark belongs to no name either: programs that put files together leave such.
        text = data.decode().lstrip("\ufeff")
        found = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except (csv.Error, UnicodeDecodeError):
        return None
    # An empty line is a record of one empty cell where there is one column, and none where there are more.
    return [row or [""] for row in found] if n_columns == 1 else [row for row in found if row]


def _by_arrow(data: bytes, delimiter: str) -> list[list[str]] | None:
    try:
        table = pa.csv.read_csv(
            io.BytesIO(data),
            parse_options=pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=True),
            convert_options=pa.csv.ConvertOptions(strings_can_be_null=False, column_types={}),
            read_options=pa.csv.ReadOptions(use_threads=False),
        )
    except (pa.ArrowInvalid, UnicodeDecodeError, pa.ArrowKeyError):
        return None
    columns = [column.cast(pa.string()).to_pylist() for column in table.columns]
    return [table.column_names, *map(list, zip(*columns, strict=True))]


def _noise(random: Random) -> bytes:
    return b"".join(random.choices(_PIECES, k=random.randint(0, 25)))


def _well_formed(random: Random) -> bytes:
    text = io.StringIO(newline="")
    n = random.randint(1, 4)
    writer = csv.writer(
        text,
        delimiter=random.choice(",;\t|"),
        quoting=random.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC)),
        lineterminator=random.choice(("\n", "\r\n", "\r")),
    )
    writer.writerow(random.sample(("id", "b c", "größe", 'size 3"', "x,y", "1"), n))
    writer.writerows([random.choice(_CELLS) for _ in range(n)] for _ in range(random.randint(0, 12)))
    data = text.getvalue().encode()
    data = data.rstrip(b"\r\n") if random.random() < 0.2 else data
    return b"\xef\xbb\xbf" + data if random.random() < 0.1 else data


def _damaged(random: Random) -> bytes:
    data = bytearray(_well_formed(random))
    for _ in range(random.choice((1, 1, 2, 4))):
        i = random.randint(0, len(data))
        if random.random() < 0.5:
            data[i:i] = random.choice(_PIECES)
        else:
            del data[i : i + random.choice((1, 1, 5))]
    return bytes(data)
