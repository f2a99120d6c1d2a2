"""Tables as LaTeX, for papers: the package booktabs, numbers at the right, nothing that LaTeX would run."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any, Final

_ESCAPES: Final = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\n": " ",
        "\r": " ",
    }
)


def latex_of(columns: Mapping[str, Sequence[Any]]) -> str:
    """Return columns of plain values as a ``tabular``; numbers that are not whole have three significant digits."""
    kinds = "".join("r" if all(_is_number(cell) for cell in cells) else "l" for cells in columns.values())
    lines = [" & ".join(_format_cell(cell) for cell in row) + r" \\" for row in zip(*columns.values(), strict=True)]
    head = " & ".join(_format_cell(title) for title in columns) + r" \\"
    body = "\n".join(lines)
    return f"\\begin{{tabular}}{{{kinds}}}\n\\toprule\n{head}\n\\midrule\n{body}\n\\bottomrule\n\\end{{tabular}}"


def _is_number(cell: Any) -> bool:
    return cell is None or (isinstance(cell, numbers.Real) and not isinstance(cell, bool))


def _format_cell(cell: Any) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "--"
    if isinstance(cell, float):
        return f"{cell:.3g}" if math.isfinite(cell) else str(cell)
    if isinstance(cell, (list, tuple)):
        return ", ".join(_format_cell(each) for each in cell)
    return str(cell).translate(_ESCAPES)
