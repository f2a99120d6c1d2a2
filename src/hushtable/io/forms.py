"""The number of each form in which hushtable writes for programs, and what may be said of another number."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from hushtable.errors import InputError

FORM: Final = "form"
"""The entry that holds the number; in a recoding it is ``"recoding"``, in a policy ``version``."""

WRITER: Final = "hushtable"
"""The entry that holds the version that wrote it."""

FORMS: Final[Mapping[str, int]] = MappingProxyType(
    {"policy": 1, "manifest": 1, "claim": 1, "recoding": 2, "certificate": 1, "JSON output": 1}
)
"""The numbers that this version writes. A number rises when a reader of the old form would misread the new one."""


def read_json(path: Path) -> object:
    """Read a file of JSON; InputError if an object in it names an entry twice.

    Of two equal names JSON's readers take one, which is not the same for all: what one of them asks would be ignored.
    """

    def collect(pairs: list[tuple[str, object]]) -> dict[str, object]:
        entries = dict(pairs)
        if len(entries) < len(pairs):
            raise InputError(
                f"{str(path)!r} names an entry twice in one place.", hint="which of the two holds, nobody can say."
            )
        return entries

    entries: object = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=collect)
    return entries


def describe_other_form(what: str, number: object, writer: object = None) -> str | None:
    """Describe why something of this number is not read as a whole; None if it is of this form or an earlier one.

    Files from before the forms had numbers have none.
    """
    known = FORMS[what]
    if number is None or (type(number) is int and 1 <= number <= known):
        return None
    version = f", written by hushtable {writer}" if isinstance(writer, str) and writer.isprintable() else ""
    if type(number) is not int or number < 1:
        return f"the {what} has no number of its form{version}; this version reads up to {known}"
    return f"the {what} is of form {number}{version}; this version reads up to {known}"
