"""Synthetic tables: how long they take, how alike they are, and what they give away.

    python benchmarks/synthesize.py          # Adult, five seeds a method

Adult is found through HUSHTABLE_SHARED. Seconds are those of fitting and drawing, reading apart, after a
first turn. Likeness is measured as SDMetrics defines it: 1 is equal. Columns: the Kolmogorov-Smirnov complement of
numbers, the total variation complement of categories. Pairs: the contingency similarity, numbers in ten
bins of equal width; and the absolute change of the Pearson correlation of numbers. Singling out: `mpuccs` up to
three columns, when the synthetic table is drawn from the other 80 %: its rate, its excess over a control, and the
rates on the people and on the control that this compares.
"""

import itertools
import os
import statistics
import time
from pathlib import Path

import numpy as np

import hushtable as ht
from hushtable.io.frames import read
from hushtable.synthesizers import synthesize_frame
from hushtable.tables.joint import encode_jointly

SHARED = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).parents[1] / "../shared"))
ADULT = SHARED / "data" / "adult" / "adult_ori.csv"
METHODS = {
    "copula": ht.Copula(),
    "copula, observed": ht.Copula("observed"),
    "trees": ht.Trees(),
    "independent": ht.Independent(),
    "bootstrap": ht.Bootstrap(),
}
N_BINS = 10


def shares(codes: np.ndarray, width: int) -> np.ndarray:
    """Return the share of the records that each code has."""
    return np.bincount(codes, minlength=width) / len(codes)


def columns_of(original: ht.Table, synthetic: ht.Table) -> list[tuple[bool, np.ndarray, list[np.ndarray]]]:
    """Return for each column whether it is of numbers, what its codes mean, and the codes of both tables."""
    joint = encode_jointly([original, synthetic])
    return [
        (column.is_measured, np.array(joint.values[j]), [rows.codes[j] for rows in joint.tables])
        for j, column in enumerate(original.columns)
    ]


def likeness(original: ht.Table, synthetic: ht.Table) -> dict[str, float]:
    """Compare two tables without missing cells."""
    columns = columns_of(original, synthetic)
    of_columns: dict[bool, list[float]] = {True: [], False: []}
    binned = []
    for is_number, values, both in columns:
        one, other = (shares(codes, len(values)) for codes in both)
        change = np.abs(np.cumsum(one - other)).max() if is_number else np.abs(one - other).sum() / 2
        of_columns[is_number].append(1 - change)
        edges = np.linspace(values[both[0]].min(), values[both[0]].max(), N_BINS + 1)[1:-1] if is_number else None
        width = N_BINS if is_number else len(values)
        binned.append((width, [codes if edges is None else np.digitize(values, edges)[codes] for codes in both]))
    pairs = [
        1 - np.abs(shares(a * width + c, n * width) - shares(b * width + d, n * width)).sum() / 2
        for (n, (a, b)), (width, (c, d)) in itertools.combinations(binned, 2)
    ]
    numbers = [(values, both) for is_number, values, both in columns if is_number]
    one, other = (np.corrcoef([values[both[side]] for values, both in numbers]) for side in (0, 1))
    changes = np.abs(one - other)[np.triu_indices(len(one), 1)]
    return {
        "KS": statistics.mean(of_columns[True]),
        "TV": statistics.mean(of_columns[False]),
        "pairs": statistics.mean(pairs),
        "least pair": min(pairs),
        "correlation": float(changes.mean()),
        "greatest change": float(changes.max()),
    }


def main() -> None:
    """Print a line for every method."""
    frame, table = read(ADULT), ht.Table.encode(ADULT)
    # Coded before it is split: in a dataframe, the texts of a CSV would be categories.
    train, control = ht.split(table)
    titles = ["method", "s", "KS", "TV", "pairs", "least pair", "correlation", "greatest change", "rate", "excess"]
    titles += ["of people", "of control"]
    print(f"| {' | '.join(titles)} |\n|---{'|---:' * (len(titles) - 1)}|")
    for title, method in METHODS.items():
        synthesize_frame(frame, method, frame.n_rows, 0)
        seconds, found = [], []
        for seed in range(5):
            began = time.perf_counter()
            made = synthesize_frame(frame, method, frame.n_rows, seed)
            seconds.append(time.perf_counter() - began)
            found.append(likeness(table, ht.Table.encode(made)))
        medians = {name: statistics.median(each[name] for each in found) for name in found[0]}
        figures = " | ".join(f"{value:.3f}" for value in medians.values())
        risk = ht.mpuccs(train, ht.synthesize(train, method=method), n_cols=[1, 2, 3], control=control).summary
        beside = risk["control"]
        singled = f"{risk['identification_rate']:.3f} | {beside['excess_risk']:.3f}"
        singled += f" | {beside['train_rate']:.3f} | {beside['control_rate']:.3f}"
        print(f"| {title} | {statistics.median(seconds):.2f} | {figures} | {singled} |")


if __name__ == "__main__":
    main()
