"""Columns of sets through every door, judged by their definition: cells exploded, items counted class by class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

import hushtable as ht
from campaign.outcome import Outcome
from command import run
from reading import holds, text_of
from twins.naive_items import failing_classes, items_of

_SEPARATORS = (";", ",", "|", "/", " ", "+", "\n", "\t", "&", "[", '"', "·")
_ITEMS = ("I10", "E11.9", "Z95 x", "a b", "é", "*x", "[1, 2]", '["a"]', "<5", "=1+1", "null", "1.50", "i10", "07")
_MISSING = ("NA", "-9")
_METHODS: tuple[Any, ...] = (
    ht.Mondrian(),
    ht.Mondrian(recoding="readable", max_listed=64, max_length=10**5),
    ht.Mondrian(recoding="set", cut="median", margin=1),
    "full_domain",
    "local_recoding",
    ht.Genetic(individuals=4, generations=3, elite=0.25),
)


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: a table with two columns of sets, each a quasi-identifier, sensitive or kept."""
    outcome = Outcome(secrets=("SeCrEt",))
    n = random.randint(4, 50)
    separators = {name: random.choice(_SEPARATORS) for name in ("ill", "drugs")}
    table = pl.DataFrame(
        {
            "age": [random.randint(20, 60) for _ in range(n)],
            **{name: pl.Series(_cells(random, n, each), dtype=pl.String) for name, each in separators.items()},
        }
    )
    specs = {name: ht.ColumnSpec(missing_values=_MISSING, separator=each) for name, each in separators.items()}
    roles = {name: random.choice(("quasi-identifier", "sensitive", "sensitive", "other")) for name in separators}
    sensitive = [name for name, role in roles.items() if role == "sensitive"]
    asked: dict[str, Any] = {
        "quasi_identifiers": ["age", *(name for name, role in roles.items() if role == "quasi-identifier")],
        "models": [ht.KAnonymity(random.randint(1, 4)), *(_model(random, name) for name in sensitive)],
        "method": random.choice(_METHODS),
        "suppression_limit": random.choice((0.0, 0.0, 0.3)),
        "specs": specs,
        "roles": "trust",
    }
    outcome.reproduction = f"table = pl.DataFrame({table.to_dict(as_series=False)!r})\nasked = {asked!r}"
    form = random.choice(("polars", "pandas", "pyarrow", "csv", "Table"))
    table.write_csv(folder / "in.csv")
    release = None
    with outcome.guarded(f"anonymize: {form}"):
        release = ht.anonymize(_given(table, form, folder, specs), **asked)
    if release is None:
        return outcome
    outcome.count(f"release of {form}")
    published = _records(release.frame)
    left_out = release.suppressed.tolist()
    kept = [i for i in range(n) if not (left_out[i] and release.drops_suppressed)]
    shown = [(i, row) for i, row in zip(kept, published, strict=True) if not left_out[i]]
    for name in separators:
        _judge_cells(outcome, name, roles[name], table[name].to_list(), shown, separators[name])
    labels = [tuple(str(row[name]) for name in asked["quasi_identifiers"]) for _, row in shown]
    for model in asked["models"][1:]:
        name = model.sensitive
        cells = [row[name] for _, row in shown]
        failing = failing_classes(model, labels, cells, separators[name], table[name], _MISSING)
        outcome.expect(not failing, f"a class fails {model.name}, item by item", failing)
    outcome.expect(release.verify().passed, "verify refuses a release", release.verify().failures)
    path = folder / random.choice(("out.csv", "out.parquet", "out.tsv"))
    with outcome.guarded("write", ht.InputError):
        release.write(path)
        outcome.count(f"written as {path.suffix[1:]}")
        # A Table has forgotten which texts meant a missing value in its file.
        if form != "Table":
            checked = run("verify", path, "--original", folder / "in.csv")
            outcome.expect(checked.code == 0, "the command refuses a written release", checked)
    if form == "csv" and isinstance(asked["method"], ht.Mondrian):
        _stream(outcome, asked, published, folder)
    return outcome


def _stream(outcome: Outcome, asked: dict[str, Any], published: list[dict[str, Any]], folder: Path) -> None:
    """The same file, read batch by batch: the same records."""
    with outcome.guarded("stream"):
        ht.anonymize(str(folder / "in.csv"), **asked, engine="stream").write(folder / "streamed")
        outcome.count("streamed")
        checked = run("verify", folder / "streamed", "--original", folder / "in.csv")
        outcome.expect(checked.code == 0, "the command refuses a streamed release", checked)
        parts = pl.concat([pl.read_parquet(path) for path in sorted((folder / "streamed").glob("part-*"))])
        rows = [
            Counter(tuple(text_of(cell) for cell in row.values()) for row in each)
            for each in (published, parts.to_dicts())
        ]
        outcome.expect(rows[0] == rows[1], "a streamed release has other cells", rows)


def _cells(random: Random, n: int, separator: str) -> list[str | None]:
    items = [item for item in _ITEMS if separator not in item]
    few = random.sample(items, random.randint(1, min(len(items), 8)))
    if random.random() < 0.3:
        few[0] += "SeCrEt"
    weights = [1 / (1 + place) for place in range(len(few))]
    cells: list[str | None] = []
    for _ in range(n):
        parts = random.choices(few, weights, k=random.choice((0, 1, 1, 2, 3)))
        parts += random.choices(("", " ", *_MISSING, *parts), k=random.choice((0, 0, 1, 2)))
        random.shuffle(parts)
        pads = [random.choice(("", "", " ")) for _ in parts]
        cells.append(separator.join(pad + part + pad for pad, part in zip(pads, parts, strict=True)) or None)
    return cells


def _model(random: Random, name: str) -> Any:
    return random.choice(
        (
            ht.AlphaKAnonymity(random.choice((0.4, 0.6, 0.9)), random.randint(1, 3), name),
            ht.DistinctLDiversity(2, name),
            ht.TCloseness(random.choice((0.2, 0.4)), name),
            ht.BetaLikeness(random.choice((1, 3)), name, random.random() < 0.5),
            ht.DeltaDisclosure(random.choice((1, 2)), name),
            ht.EntropyLDiversity(2, name),
        )
    )


def _given(table: pl.DataFrame, form: str, folder: Path, specs: dict[str, Any]) -> Any:
    made = {"pandas": table.to_pandas, "pyarrow": table.to_arrow, "csv": lambda: str(folder / "in.csv")}
    made["Table"] = lambda: ht.Table.encode(table, specs=specs)
    return made[form]() if form in made else table


def _records(frame: Any) -> list[dict[str, Any]]:
    if isinstance(frame, ht.Table):
        return frame.expand().to_dicts()
    return pl.DataFrame(frame).to_dicts()


def _judge_cells(
    outcome: Outcome, name: str, role: str, cells: Sequence[str | None], shown: Sequence[Any], separator: str
) -> None:
    """Every cell is the one text of its record's set, or covers it."""
    for i, row in shown:
        text = separator.join(sorted(items_of(cells[i], separator, _MISSING))) or None
        cell = None if row[name] != row[name] else row[name]
        is_right = holds(cell, text, "category") if role == "quasi-identifier" else cell == text
        outcome.expect(is_right, f"a {role} column publishes another set", (name, cells[i], cell))
