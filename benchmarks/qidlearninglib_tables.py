"""Tables 4 to 7 of the QIDLearningLib paper beside our own figures, as docs/qidlearninglib_tables.md shows them.

usage: python benchmarks/qidlearninglib_tables.py

Simões, Vilela, Santos, Abreu, "QIDLearningLib: a Python library for quasi-identifier recognition and evaluation",
sections 5.1 and 5.2. The ten records are its table 3; the five tables are those of benchmarks/scores.py.
"""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import polars as pl

import hushtable as ht
import scores as five
from hushtable.discover import compare_sets
from hushtable.discover.compare import SetComparison
from hushtable.discover.scores import truth
from hushtable.discover.scores.truth import Agreement

TABLE_3 = pl.DataFrame(
    {
        "Age": [34, 28, 45, 34, 29, 60, 34, 41, 54, 39],
        "Gender": list("MFFMMFMFFM"),
        "Diagnosis": ["Hypertension" if kind == "H" else "Diabetes" for kind in "HDHDHHDHDH"],
        "Treatment": list("ABABAABABA"),
        "Outcome": ["Improved" if better == "1" else "Not Improved" for better in "1011011010"],
    }
)
# Of every set what table 4 prints: k, S, D, Acc, CS, F.
TABLE_4 = {
    ("Age", "Gender"): (1, 0.80, 0.75, 0.40, 0.60, 0.45),
    ("Age", "Diagnosis"): (1, 0.75, 0.80, 0.50, 0.65, 0.43),
    ("Gender", "Diagnosis"): (1, 0.65, 0.90, 0.35, 0.55, 0.40),
    ("Age", "Treatment"): (1, 0.70, 0.85, 0.60, 0.70, 0.35),
    ("Gender", "Treatment"): (1, 0.68, 0.88, 0.45, 0.62, 0.39),
    ("Age", "Gender", "Treatment"): (1, 0.60, 0.90, 0.65, 0.75, 0.33),
    ("Age", "Diagnosis", "Treatment"): (1, 0.50, 0.92, 0.75, 0.80, 0.30),
    ("Gender", "Diagnosis", "Treatment"): (1, 0.55, 0.95, 0.80, 0.85, 0.28),
}
ADULT = {
    "type_employer": "workclass",
    "education_num": "education-num",
    "marital": "marital-status",
    "capital_gain": "capital-gain",
    "capital_loss": "capital-loss",
    "hr_per_week": "hours-per-week",
    "country": "native-country",
}
TABLE_5 = {
    "adult": "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country",
    "car": "buying maint lug_boot eval",
    "diabetes": "time value",
    "heart": "sex thalach exang oldpeak slope ca thal num",
    "nursery": "parents has_nurs form housing social health",
}
# f, D, S, K, A.
TABLE_6 = {
    "adult": (8.99, 0.99, 1.00, 1.00, 0.88),
    "car": (90.24, 0.06, 0.99, 16.78, 0.51),
    "diabetes": (82.47, 0.51, 1.00, 1.94, 0.50),
    "heart": (2.22, 0.75, 0.99, 1.33, 0.51),
    "nursery": (691.11, 0.06, 1.00, 16.13, 0.63),
}
# S, FPR, P, R, F1, F2, J; its rows D and A repeat F1 and R.
TABLE_7 = {
    "adult": (0.11, 0.89, 0.47, 0.88, 0.61, 0.74, 0.44),
    "car": (0.50, 0.50, 0.50, 0.50, 0.50, 0.50, 0.33),
    "diabetes": (0.50, 0.50, 0.50, 0.50, 0.50, 0.50, 0.33),
    "heart": (0.13, 0.88, 0.13, 0.50, 0.20, 0.31, 0.11),
    "nursery": (0.33, 0.67, 0.33, 0.50, 0.40, 0.45, 0.25),
}
# The source ships no truth. These sets have the sizes that its table 7 needs; where there are several, one of them.
TRUTH = {
    "adult": "age workclass education marital-status occupation race sex native-country",
    "car": "buying maint doors persons",
    "diabetes": "date time",
    "heart": "age sex",
    "nursery": "form children housing finance",
}
# What our measures are called here, and where table 7 has them; what it calls accuracy is recall.
OF_TRUTH = {
    "specificity": ("specificity", 0),
    "false positive rate": ("false_positive_rate", 1),
    "precision": ("precision", 2),
    "recall": ("recall", 3),
    "F1, Dice": ("f1", 4),
    "F2": ("f_beta", 5),
    "Jaccard": ("jaccard", 6),
    "accuracy": ("accuracy", 3),
}
MISREAD = "nursery, every name one off"
# The objective as section 5.2 prints it, with the weights of listing 1, and without gains over an earlier set.
PRINTED = ht.Objective(
    (ht.Term("distinction", 5.0), ht.Term("separation", 0.5), ht.Term("k_anonymity", -0.4, "mean")),
    ht.Term("attribute_length_penalty", 5.0),
)


def load() -> dict[str, ht.Table]:
    """Code the five tables, the columns of Adult under the names of the source."""
    tables = five.load()
    adult = pl.read_csv(five.SHARED / "adult/adult_ori.csv", infer_schema=False).rename(ADULT)
    tables["adult"] = ht.Table.encode(adult)
    return {name: tables[name] for name in TABLE_5}


def shifted(nursery: ht.Table) -> ht.Table:
    """Return nursery as the source's library reads it: eight names for nine fields, so that every name is one off."""
    return ht.Table.encode(pl.DataFrame({name: nursery.codes[j + 1] for j, name in enumerate(nursery.names[:8])}))


def row(*cells: object) -> str:
    """Return a line of a Markdown table."""
    return f"| {' | '.join(map(str, cells))} |"


def head(*titles: str) -> list[str]:
    """Return the head of a Markdown table, all columns but the first to the right."""
    return [row(*titles), f"|---|{'---:|' * (len(titles) - 1)}"]


def format_pair(ours: float, theirs: float, digits: int = 2) -> str:
    """Return our figure, and the paper's in brackets."""
    return f"{ours:.{digits}f} ({theirs:.2f})"


def fitness(k: float, s: float, d: float, acc: float, cs: float) -> float:
    """Compute F of section 5.1 as it is printed."""
    return 0.25 * k + 0.25 * s + 0.25 * d + 0.15 * (1 - acc) + 0.10 * cs


def ten_records() -> SetComparison:
    """Score the eight sets of table 4."""
    arms = {"treatment": "Treatment", "treated": "A", "variant": "paper"}
    return compare_sets(
        TABLE_3,
        [*TABLE_4],
        scores=[
            "k_anonymity",
            ht.Term("k_anonymity", aggregate="mean"),
            "separation",
            "distinction",
            ht.Term("accuracy", options={"target": "Outcome"}),
            ht.Term("covariate_shift", options=arms),
        ],
    )


def table_4() -> list[str]:
    """Show ours (the paper's) for the eight sets of the ten records."""
    lines = head("set", "smallest class", "k, mean", "S", "D", "Acc", "CS", "F", "F, k taken off", "F of the printed")
    for each, printed in zip(ten_records().rows, TABLE_4.values(), strict=True):
        smallest, *ours = each.values.values()
        f = fitness(*ours)
        cells = [format_pair(mine, theirs) for mine, theirs in zip((*ours, f), printed, strict=True)]
        last = (f"{f - 0.5 * ours[0]:.3f}", f"{fitness(*printed[:5]):.3f}")
        lines.append(row(each.name, f"{smallest:.0f}", *cells, *last))
    return lines


def table_5(tables: Mapping[str, ht.Table]) -> list[str]:
    """Show the paper's sets and the best ones by the printed objective, with F1 against the truth."""
    lines = head("table", "f of the paper's set", "its F1", "highest f", "sets that have it", "their F1", "the first")
    for name, table in tables.items():
        true = TRUTH[name].split()
        (paper,) = compare_sets(table, [TABLE_5[name].split()], scores=PRINTED, truth=true).rows
        best = ht.select_columns(table, objective=PRINTED, method="exhaustive")
        tied = best.history.sets[best.history.values == best.value]
        columns = np.array(best.history.columns)
        f1s = [truth.f1(columns[each].tolist(), true).value for each in tied]
        cells = (f"{paper.values['objective value']:.2f}", f"{paper.values['truth.f1']:.2f}", f"{best.value:.2f}")
        span = f"{min(f1s):.2f}" if min(f1s) == max(f1s) else f"{min(f1s):.2f} to {max(f1s):.2f}"
        lines.append(row(name, *cells, f"{len(tied):,}", span, " ".join(best.best)))
    return lines


def measured(tables: Mapping[str, ht.Table]) -> dict[str, tuple[float, ...]]:
    """Return D, S, K, A and f of the sets of table 5; nursery also as misread."""
    found = {}
    for title, table in {**tables, MISREAD: shifted(tables["nursery"])}.items():
        name = "nursery" if title == MISREAD else title
        found[title] = tuple(compare_sets(table, [TABLE_5[name].split()], scores=PRINTED).rows[0].values.values())
    return found


def table_6(tables: Mapping[str, ht.Table]) -> list[str]:
    """Show ours (the paper's) for the sets of table 5."""
    lines = head("table", "D", "S", "K", "A", "f")
    for title, (*scored, f) in measured(tables).items():
        f_paper, *printed = TABLE_6["nursery" if title == MISREAD else title]
        cells = [format_pair(mine, theirs, 3) for mine, theirs in zip(scored, printed, strict=True)]
        lines.append(row(title, *cells, format_pair(f, f_paper)))
    return lines


def fitted(tables: Mapping[str, ht.Table]) -> list[str]:
    """Show which f the three best weights of D, S and K give, by least squares, nursery as misread."""
    found = measured(tables)
    found["nursery"] = found[MISREAD]
    numbers = np.array([found[name][:4] for name in TABLE_6])
    parts, f = numbers[:, :3] / numbers[:, 3:], np.array([printed[0] for printed in TABLE_6.values()])
    weights = np.linalg.lstsq(parts, f, rcond=None)[0]
    lines = head("table", "f by the best weights", "f printed")
    return lines + [
        row(name, f"{mine:.0f}", f"{theirs:.2f}")
        for name, mine, theirs in zip(TABLE_6, parts @ weights, f, strict=True)
    ]


def table_7(tables: Mapping[str, ht.Table]) -> list[str]:
    """Show ours (the paper's) for the sets of table 5 against a truth."""
    scored = {
        name: compare_sets(table, [TABLE_5[name].split()], scores=PRINTED, truth=TRUTH[name].split()).rows[0].values
        for name, table in tables.items()
    }
    lines = head("measure", *TABLE_7)
    for title, (measure, place) in OF_TRUTH.items():
        cells = [format_pair(scored[name][f"truth.{measure}"], TABLE_7[name][place], 3) for name in TABLE_7]
        lines.append(row(title, *cells))
    return lines


def counts(tables: Mapping[str, ht.Table]) -> list[str]:
    """Show which counts of columns give the printed ratios, and which specificity they have."""
    lines = head("table", "columns", "in table 5", "TP, FP, FN of table 7", "S printed", "FN / (FN + FP)", "TN", "S")
    for name, table in tables.items():
        n_columns, n_found = len(table.names), len(TABLE_5[name].split())
        fitting = fits(TABLE_7[name])
        for each in [each for each in fitting if each.tp + each.fp == n_found] or fitting:
            tn = n_columns - each.tp - each.fp - each.fn
            s = f"{tn / (tn + each.fp):.2f}" if tn >= 0 else "none"
            cells = (f"{TABLE_7[name][0]:.2f}", f"{each.fn / (each.fn + each.fp):.3f}", tn, s)
            lines.append(row(name, n_columns, n_found, f"{each.tp}, {each.fp}, {each.fn}", *cells))
    return lines


def fits(printed: Sequence[float]) -> list[Agreement]:
    """Find all counts of at most 20 columns whose precision, recall, F1, F2 and Jaccard are the printed ones."""
    found = []
    for tp, fp, fn in product(range(1, 21), range(20), range(20)):
        f1, f2 = 2 * tp / (2 * tp + fp + fn), 5 * tp / (5 * tp + 4 * fn + fp)
        ratios = (tp / (tp + fp), tp / (tp + fn), f1, f2, tp / (tp + fp + fn))
        if tp + fp + fn <= 20 and all(map(near, ratios, printed[2:])):
            found.append(Agreement(tp, fp, fn))
    return found


def near(ratio: float, printed: float) -> bool:
    """Tell whether a ratio may be printed so with two digits."""
    return abs(ratio - printed) <= 0.005 + 1e-9


def main() -> None:
    """Print all tables."""
    tables = load()
    for title, lines in {
        "Table 4": table_4(),
        "Table 5": table_5(tables),
        "Table 6": table_6(tables),
        "f of table 6 by the best weights": fitted(tables),
        "Table 7": table_7(tables),
        "Counts behind table 7": counts(tables),
    }.items():
        print(f"\n{title}\n", *lines, sep="\n")


if __name__ == "__main__":
    main()
