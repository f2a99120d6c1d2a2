"""What to cite: the papers behind models, methods and measures, as BibTeX."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any, Final

from hushtable.errors import InputError, find_nearest, quote_names
from hushtable.models import entries
from hushtable.release import Release

_ENTRY: Final = re.compile(r"^% for: ([^\n]*)\n(@.*?^\})$", re.MULTILINE | re.DOTALL)


def references(*result: Any) -> str:
    """Return BibTeX for hushtable and the papers behind results.

    Parameters
    ----------
    *result : Release or str
        Releases, whose models, method and loss are looked up, or names: of models, methods and losses as a policy
        writes them, or ``"mpuccs"``, ``"keys"``, ``"uniques"``, ``"unicity"``, ``"singling-out"``,
        ``"mask-dependence"``. All papers when nothing is given.

    Returns
    -------
    str
        One entry for each paper, hushtable's own first. Something without a paper of its own adds none.

    Raises
    ------
    InputError
        A name stands for nothing that has a paper.

    Examples
    --------
    >>> print(references("mondrian").split(",")[0])
    @software{hushtable
    >>> references("mondrian").count("@")
    2
    """
    papers = [(names.split(), entry) for names, entry in _ENTRY.findall(_read_bibliography())]
    if not result:
        return "\n\n".join(entry for _, entry in papers) + "\n"
    known_names = {name for names, _ in papers for name in names}
    requested = {"hushtable"}
    for item in result:
        if isinstance(item, str) and item not in known_names:
            near = find_nearest(item, known_names)
            hint = f"did you mean {near!r}?" if near else f"there are {quote_names(sorted(known_names), limit=50)}."
            raise InputError(f"there is no paper for {item!r}.", hint=hint)
        requested |= {item} if isinstance(item, str) else _names_of(item)
    return "\n\n".join(entry for names, entry in papers if requested & {*names}) + "\n"


def _names_of(release: Any) -> set[str]:
    """Return the names of a release's models, method and loss."""
    release = getattr(release, "distinct", release)
    if not isinstance(release, Release):
        raise InputError(
            f"a result was given as {type(release).__name__}.", hint="pass a release, or a name such as 'mondrian'."
        )
    asked = getattr(release.learner, "request", None)
    if asked is None:
        return set()
    return {each.name for each in (*asked.models, asked.method)} | set(entries.to_entry(asked.loss))


def _read_bibliography() -> str:
    return files("hushtable.reporting").joinpath("papers.bib").read_text(encoding="utf-8")
