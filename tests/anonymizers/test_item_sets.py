"""Columns of sets: one text for equal sets, whole sets as quasi-identifiers, item by item as sensitive ones."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from command import done
from hushtable.anonymizers.item_columns import with_item_columns
from hushtable.anonymizers.judging import Judge
from hushtable.tables import Table
from twins.naive_items import failing_classes, items_of

SEPARATORS = [";", ",", "|", " ", "/", "\n", "-", "[", '"']
MODELS: list[Any] = [
    ht.AlphaKAnonymity(0.6, 3, "ill"),
    ht.DistinctLDiversity(2, "ill"),
    ht.TCloseness(0.3, "ill"),
    ht.BetaLikeness(1.5, "ill"),
    ht.BetaLikeness(3, "ill", enhanced=True),
    ht.DeltaDisclosure(1.2, "ill"),
]


def drawn(seed: int, n_rows: int = 60) -> tuple[pl.DataFrame, ht.ColumnSpec]:
    """A table whose cells spell sets in any order, with spaces, repetitions, gaps and codes of missing values."""
    rng = np.random.default_rng(seed)
    separator = SEPARATORS[seed % len(SEPARATORS)]
    items = [each for each in ("I10", "E11", "Z95 x", "a b", "N=A", "é", "*x", "1.5", "i10") if separator not in each]

    def cell() -> str | None:
        parts = [*rng.choice(items, rng.integers(0, 4), p=_falling(len(items)))]
        parts += rng.choice(["", " ", "NA", *parts], rng.integers(0, 3)).tolist()
        rng.shuffle(parts)
        pads = rng.choice(["", " ", "  "], len(parts))
        return separator.join(pad + part + pad for pad, part in zip(pads, parts, strict=True)) if parts else None

    table = pl.DataFrame(
        {
            "age": rng.integers(20, 60, n_rows),
            "sex": rng.choice(["f", "m"], n_rows),
            "ill": pl.Series([cell() for _ in range(n_rows)], dtype=pl.String),
        }
    )
    return table, ht.ColumnSpec(missing_values=("NA",), separator=separator)


def _falling(n: int) -> Any:
    shares = 1 / np.arange(1, n + 1)
    return shares / shares.sum()


@pytest.mark.parametrize("seed", range(9))
def test_verify_and_the_search_judge_item_by_item(seed: int) -> None:
    table, spec = drawn(seed)
    groups = np.random.default_rng(seed).integers(0, 12, len(table))
    sets = pl.Series([spec.separator.join(sorted(items_of(c, spec.separator, ["NA"]))) or None for c in table["ill"]])  # type: ignore[union-attr]
    coded = Table.encode(table.with_columns(g=groups), specs={"ill": spec})
    order = np.argsort(groups, kind="stable").astype(np.int32)
    offsets = np.searchsorted(groups[order], np.arange(13))
    for model in MODELS:
        expected = failing_classes(model, groups, table["ill"], spec.separator, missing=["NA"])  # type: ignore[arg-type]
        published = pl.DataFrame({"g": [str(each) for each in groups], "ill": sets})
        verdict = ht.verify(published, quasi_identifiers=["g"], models=[model], specs={"ill": spec})
        assert sum(each.n_classes for each in verdict.failures) == len(expected)
        # The search's own columns of items say the same, with rare items left out for large classes only.
        for k in (1, 3):
            wide, asked = with_item_columns(coded, [ht.KAnonymity(k), model])
            sizes = np.diff(offsets)
            passes = Judge(wide, asked).passes(offsets, order)
            filled = [label for label in range(12) if sizes[label]]
            small = {label for label in filled if sizes[label] < k}
            assert [label for label in filled if not passes[label]] == sorted({*expected, *small})


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("method", ["mondrian", "full_domain", "local_recoding"])
def test_releases_hold_for_every_item(method: str, seed: int, tmp_path: Path) -> None:
    table, spec = drawn(seed)
    model = MODELS[seed]
    try:
        release = ht.anonymize(
            table,
            quasi_identifiers=["age", "sex"],
            models=[ht.KAnonymity(2), model],
            method=method,
            suppression_limit=0.2,
            specs={"ill": spec},
        )
    except ht.errors.InfeasibleError:
        assert failing_classes(model, [0] * len(table), table["ill"], spec.separator, missing=["NA"])  # type: ignore[arg-type]
        return
    cells = release.frame
    shown = cells.filter(~((cells["age"] == "*") & (cells["sex"] == "*") & (cells["ill"] == "*").fill_null(False)))
    labels = list(zip(shown["age"], shown["sex"], strict=True))
    whole = table["ill"].to_list()
    assert failing_classes(model, labels, shown["ill"], spec.separator, whole, ["NA"]) == []  # type: ignore[arg-type]
    written = tmp_path / "release.csv"
    release.write(written)
    table.write_csv(tmp_path / "original.csv")
    done("verify", written, "--original", tmp_path / "original.csv")
    entries = json.loads(written.with_name("release.csv.manifest.json").read_text(encoding="utf-8"))
    assert entries["claim"]["spellings"]["ill"] == {"missing_values": ["NA"], "separator": spec.separator}
    assert "item by item" in entries["claim"]["sentence"]
