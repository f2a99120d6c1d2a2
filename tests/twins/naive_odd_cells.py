"""Odd cells by the words of the rule: cell by cell, every kind in turn, with `strptime` and no pattern for a column."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterator

FORMATS = [
    *(f"{order}{clock}" for order in ("%d.%m.%Y", "%m.%d.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y-%m-%d", "%d-%b-%Y")
      for clock in ("", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S")),
    "%Y-%m-%dT%H:%M:%S%z",
]  # fmt: skip
MARKS = [(decimal, group) for decimal in ".," for group in ("", ".", ",", " ", "'") if group != decimal]
NO_ANSWER = {"na", "n/a", "null", "nan", "none", r"\n", "unbekannt", "?", "-", "--", "."}


def odd_cells(cells: list[str | None]) -> Counter[str]:
    """Count the odd cells of a column, text by text; none where it is not nearly all of one kind."""
    texts = Counter(cell.strip() for cell in cells if cell is not None and cell.strip() not in ("", "*"))
    asked_otherwise = {text for text in texts if text.lower() in NO_ANSWER or text.endswith("+")}
    judged = {text: n for text, n in texts.items() if text not in asked_otherwise}
    n_all = sum(judged.values())
    best: set[str] = set()
    fewest, n_best = 0, 0
    for is_kind, least, yields in _kinds(judged):
        fitting = {text for text in judged if is_kind(text)}
        n_fitting = sum(judged[text] for text in fitting)
        if n_fitting > n_best and not (yields and n_best >= 0.8 * n_all):
            best, fewest, n_best = fitting, least, n_fitting
    odd = Counter({text: n for text, n in judged.items() if text not in best})
    is_told = odd and n_best >= 0.95 * n_all and len(best) >= fewest and len({*map(form, odd)}) <= 5
    return odd if is_told else Counter()


def form(text: str) -> str:
    """Return what a text looks like."""
    return "".join("9" if c.isdigit() else "A" if c.isupper() else "a" if c.isalpha() else c for c in text)


def _kinds(judged: dict[str, int]) -> Iterator[tuple[Callable[[str], bool], int, bool]]:
    """Yield each kind, how many different values it has at least, and whether any other goes before it."""
    for marks in MARKS:
        yield lambda text, marks=marks: _is_number(text, *marks), 3, False
    yield _is_iso_moment, 3, False
    for format_ in FORMATS:
        yield lambda text, format_=format_: _is_of(text, format_), 3, False
    yield _is_time, 3, False
    forms = Counter[str]()
    for text, n in judged.items():
        n_letters, n_digits = sum(map(str.isalpha, text)), sum(map(str.isdigit, text))
        is_short = n_digits >= 2 and n_letters <= 4 and " " not in text and "a" not in form(text)
        if is_short and (n_letters or text.isdigit()):
            forms[_code(text)] += n
    if forms:
        usual = min(forms, key=lambda each: (-forms[each], each))
        has_letters = "A" in usual
        yield (
            lambda text: _code(text) == usual or (has_letters and _is_coarser_or_finer(_code(text), usual)),
            20,
            has_letters,
        )


def _is_coarser_or_finer(code: str, usual: str) -> bool:
    """Tell whether codes of one form begin with what the other's are."""
    is_coarser = "9" in code and usual.startswith(code)
    return is_coarser or (code.startswith(usual) and " " not in code and code[len(usual)] not in "9Aa")


def _code(text: str) -> str:
    """Return the form of a code: of digits as it is, else without signs that repeat."""
    whole = form(text)
    is_kept = [i == 0 or sign != whole[i - 1] or sign not in "9Aa" for i, sign in enumerate(whole)]
    return whole if set(whole) == {"9"} else "".join(sign for sign, kept in zip(whole, is_kept, strict=True) if kept)


def _is_number(text: str, decimal: str, group: str) -> bool:
    if len(text) > 18:
        return False
    mantissa, e, exponent = (
        text.lstrip("+-").lower().partition("e") if text.count("-") + text.count("+") < 3 else ("",) * 3
    )
    if len(text) - len(text.lstrip("+-")) > 1 or (e and not (exponent.lstrip("+-").isdecimal() and len(exponent) <= 4)):
        return False
    whole, mark, rest = mantissa.partition(decimal)
    if mark and not rest.isdecimal():
        return False
    parts = whole.split(group) if group else [whole]
    if len(parts) > 1 and not (all(len(part) == 3 for part in parts[1:]) and 1 <= len(parts[0]) <= 3):
        return False
    if not all(part.isdecimal() for part in parts):
        return False
    return len(whole) == 1 or not whole.startswith("0")


def _is_of(text: str, format_: str) -> bool:
    try:
        dt.datetime.strptime(text, format_)
    except ValueError:
        return False
    return True


def _is_iso_moment(text: str) -> bool:
    return any(_is_of(text.replace("T", " "), f"%Y-%m-%d %H:%M{seconds}") for seconds in ("", ":%S", ":%S.%f"))


def _is_time(text: str) -> bool:
    return len(text) >= 4 and text[-3] == ":" and any(_is_of(text, f"%H:%M{seconds}") for seconds in ("", ":%S"))
