"""CSV: bytes to text, how a file spells its table, one reader that decides, cells that a spreadsheet runs."""
