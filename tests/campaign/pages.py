"""The doors of the local page: odd requests, on a table of odd names, end in refusals and tell nothing from outside."""

from __future__ import annotations

import warnings
from pathlib import Path
from random import Random

import page_fuzz
from campaign.outcome import Outcome
from served_page import served

_REQUESTS = 120
_NAMES = (
    "age",
    "<script>alert(1)</script>",
    "a,b",
    '"',
    "\u202ename",
    "{0}",
    "PLZ",
    "k: v",
    "note\nnote",
    " ",
    "größe",
)


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: a folder, a page, and requests that nobody's browser sends."""
    outcome = Outcome()
    home = page_fuzz.folder_of(folder, rows=random.choice((1, 12, 60)))
    if random.random() < 0.3:
        names = random.sample(_NAMES, 4)
        quoted = ",".join('"' + name.replace('"', '""') + '"' for name in names)
        rows = [",".join(f"v{random.randint(0, 3)}" for _ in names) for _ in range(40)]
        (home / "people.csv").write_text("\n".join([quoted, *rows, ""]), encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir() if path != home}
    seed = random.randint(0, 2**31)
    outcome.reproduction = f"page_fuzz.complaints(visitor, random.Random({seed}), {_REQUESTS})"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with served(home) as visitor:
            visitor.do("open", path="people.csv")
            desk = visitor.settle()
            for column in desk.policy.with_role("ask") if desk.looked is not None and random.random() < 0.8 else ():
                visitor.do("role", column=desk.looked.typed_frame.columns.index(column), role="other")
            visitor.settle()
            outcome.count("open" if desk.looked is not None else "refused")
            outcome.complain("a request", page_fuzz.complaints(visitor, Random(seed), _REQUESTS))
            visitor.settle()
            outcome.count("a release" if desk.outcome is not None else "no release")
            outcome.count("written" if desk.written is not None else "nothing written")
            outcome.expect(
                desk.written is None or desk.written.is_verified, "a written release does not hold", desk.written
            )
    after = {path: path.stat().st_mtime_ns for path in folder.iterdir() if path != home}
    outcome.expect(before == after, "a file outside the folder changed", sorted(map(str, after)))
    return outcome
