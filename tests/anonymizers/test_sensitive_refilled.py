"""With k-anonymity alone, sensitive values decide nothing: other ones leave the published cells as they are."""

from __future__ import annotations

import random

import polars as pl
import pytest

import hushtable as ht

METHODS = {
    "gain": ht.Mondrian(),
    "median": ht.Mondrian(cut="median"),
    "relaxed": ht.Mondrian(cut="median", strict=False),
    "readable": ht.Mondrian(recoding="readable"),
    "cut": ht.Mondrian(recoding="cut"),
    "exchange": ht.Mondrian(exchange=True),
    "full_domain": ht.FullDomain(),
    "local_recoding": ht.LocalRecoding(),
    "suppress": ht.LocalSuppression(),
    "genetic": ht.Genetic(generations=3),
    "mingen": ht.MinGen(),
}


def cells(x: list[int], g: list[str], a: list[str], method: object, **options: object) -> list[tuple[str, ...]]:
    # Its name comes before those of the quasi-identifiers, which decides ties.
    data = pl.DataFrame({"x": x, "g": g, "a": a})
    release = ht.anonymize(
        data,
        quasi_identifiers=["x", "g"],
        sensitive=["a"],
        models=[ht.KAnonymity(2)],
        method=method,
        hierarchies={"x": {"intervals": {"width": [3, 6]}}, "g": ht.Hierarchy.suppression()},
        roles="trust",
        **options,
    )
    return sorted(release.frame.select("x", "g").rows())


def test_mingen_chooses_among_equal_optima_without_the_sensitive_column() -> None:
    x, g = [8, 8, 7, 1, 3, 8], list("acacca")
    assert cells(x, g, list("uuuuuu"), ht.MinGen()) == cells(x, g, list("vvvuvu"), ht.MinGen())


@pytest.mark.parametrize("name", METHODS)
def test_other_sensitive_values_leave_the_published_cells(name: str) -> None:
    for seed in range(3):
        draw = random.Random(seed)
        n = draw.choice([8, 12])
        x, g = [draw.randrange(9) for _ in range(n)], [draw.choice("ac") for _ in range(n)]
        limit = 0.2 if name in ("gain", "full_domain") else 0.0
        published = cells(x, g, ["u"] * n, METHODS[name], suppression_limit=limit)
        for _ in range(2):
            refilled = [draw.choice("uvw") for _ in range(n)]
            assert cells(x, g, refilled, METHODS[name], suppression_limit=limit) == published
