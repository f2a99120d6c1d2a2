"""What membership attacks find in synthetic tables, beside their utility: the table of docs/synthesize.md.

    python benchmarks/synthetic_membership.py            # five tables, three seeds a method
    python benchmarks/synthetic_membership.py --seeds 1 people
    python benchmarks/synthetic_membership.py --records 1000 adult

Members, others and a reference are 3,000 records each (2,708 of mushroom), drawn without replacement; the synthetic
table has as many. Attacks, each a score of a record, higher for a member: the sum over columns of
``log((count of the cell in S + 1) / (count in R + 1))`` (order 1), the same with pairs of columns; agreement, the
greatest sum of ``-log`` frequencies of equal cells with a row of S, less that with a row of R; and the log of the
distance to R over that to S, categories one-hot, numbers standardized. AUC of 0.5 finds nobody; "at 1 %" is the share
of members above the threshold that 1 % of the others pass. ``p`` is of one permutation of labels for the best attack.

Utility: Kolmogorov-Smirnov (numbers) and total variation (categories) complements, the contingency similarity of pairs
with numbers in tenths, and how well boosting predicts a column of the others: AUC, or R2 of a number.
"""

import argparse
import itertools
import os
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from scipy import sparse
from scipy.stats import rankdata
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import r2_score, roc_auc_score

import hushtable as ht

DATA = Path(os.environ.get("HUSHTABLE_SHARED", Path(__file__).parents[1] / "../shared")) / "data"
TARGETS = {"adult": "income", "people": "income", "visits": "Verweildauer", "diabetes": "code", "mushroom": "edible?"}
METHODS = {
    "copula": ht.Copula(),
    "trees": ht.Trees(),
    "independent": ht.Independent(),
    "copula, observed": ht.Copula("observed"),
    "bootstrap": ht.Bootstrap(),
}
N_RECORDS, N_PERMUTATIONS = 3_000, 199


def load(name):
    """Return the whole table, without columns that only name people."""
    files = {"adult": "adult/adult_ori.csv", "diabetes": "uci/diabetes.csv", "mushroom": "uci/mushroom.csv"}
    if name in files:
        return ht.Table.encode(DATA / files[name])
    if name == "people":
        return ht.Table.encode(ht.datasets.people(3 * N_RECORDS).drop("name", "email"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "visits.csv"
        ht.datasets.visits(3 * N_RECORDS).drop("Patientennummer", "Name").write_csv(path)
        return ht.Table.encode(path)


def split(table, seed, n_records):
    """Return members, others and a reference."""
    table = table.with_row_per_record()
    n = min(n_records, table.n_rows // 3)
    rows = np.random.default_rng(seed + 77).permutation(table.n_rows)
    return [table.take(rows[part * n : (part + 1) * n]) for part in range(3)]


def encode_cells(tables):
    """Return codes that mean the same cell in all tables, the numbers behind them (None: categories), and the rows."""
    frames = [table.decode() for table in tables]
    codes, numbers = [], []
    for name in frames[0].columns:
        cells = [frame[name] for frame in frames]
        if cells[0].dtype.is_numeric() or cells[0].dtype.is_temporal():
            values = np.concatenate([each.to_physical().cast(pl.Float64).to_numpy() for each in cells])
            numbers.append(values)
        else:
            values = np.concatenate([each.cast(pl.String).fill_null("\0").to_numpy() for each in cells]).astype(str)
            numbers.append(None)
        codes.append(np.unique(values, return_inverse=True)[1])
    ends = np.cumsum([frame.height for frame in frames])
    return codes, numbers, np.split(np.arange(ends[-1]), ends[:-1])


def count_scores(codes, synthetic, reference):
    """Return the log ratio of how often each row's cell is in both tables."""
    counts = [np.bincount(codes[rows], minlength=codes.max() + 1) + 1 for rows in (synthetic, reference)]
    return np.log(counts[0] / counts[1])[codes]


def join_codes(one, other):
    """Return the codes of pairs."""
    return np.unique(one.astype(np.int64) * (other.max() + 1) + other, return_inverse=True)[1]


def agreement(codes, synthetic, reference, attacked):
    """Return the greatest surprisal of equal cells with a row of the synthetic table, less that of the reference."""

    def one_hot(rows, weigh):
        columns = []
        for each in codes:
            shape = (len(rows), each.max() + 1)
            hot = sparse.csr_matrix((np.ones(len(rows)), (np.arange(len(rows)), each[rows])), shape=shape)
            shares = np.bincount(each[np.append(synthetic, reference)], minlength=shape[1])
            weights = -np.log(np.maximum(shares / (len(synthetic) + len(reference)), 1e-9)) * (shares > 0)
            columns.append(hot @ sparse.diags(weights) if weigh else hot)
        return sparse.hstack(columns).tocsr()

    people, rows = one_hot(attacked, True), [one_hot(each, False).T for each in (synthetic, reference)]
    best = [
        np.concatenate([(people[at : at + 500] @ each).toarray().max(axis=1) for at in range(0, people.shape[0], 500)])
        for each in rows
    ]
    return best[0] - best[1]


def distance_ratio(codes, numbers, synthetic, reference, attacked):
    """Return the log of the distance to the reference over that to the synthetic table."""
    known = np.append(synthetic, reference)
    parts = []
    for code, values in zip(codes, numbers, strict=True):
        if values is None:
            # Names of many values would be all of the distance.
            parts += [np.eye(code.max() + 1)[code] / np.sqrt(2)] if code.max() < 200 else []
        else:
            width = np.nanstd(values[known]) or 1
            parts += [np.nan_to_num((values - np.nanmean(values[known])) / width)[:, None], np.isnan(values)[:, None]]
    places = np.hstack(parts).astype(np.float32)

    def nearest(rows):
        squares = (places[rows] ** 2).sum(axis=1)
        blocks = [places[attacked[at : at + 1000]] for at in range(0, len(attacked), 1000)]
        least = [((each**2).sum(axis=1)[:, None] + squares - 2 * each @ places[rows].T).min(axis=1) for each in blocks]
        return np.sqrt(np.maximum(np.concatenate(least), 0))

    return np.log(nearest(reference) + 1e-3) - np.log(nearest(synthetic) + 1e-3)


def attack(members, others, reference, synthetic):
    """Return the scores of members and others by each attack."""
    codes, numbers, (m, n, r, s) = encode_cells([members, others, reference, synthetic])
    attacked = np.append(m, n)
    order1 = sum(count_scores(each, s, r) for each in codes)
    order2 = sum(count_scores(join_codes(*pair), s, r) for pair in itertools.combinations(codes, 2))
    return {
        "order 1": order1[attacked],
        "pairs": (order1 + order2)[attacked],
        "agreement": agreement(codes, s, r, attacked),
        "distance ratio": distance_ratio(codes, numbers, s, r, attacked),
    }


def judge(scores, n_members):
    """Return the AUC of each attack, its share of members at 1 % false alarms, and p of the greatest standardized."""
    rng = np.random.default_rng(1)
    ranks = {name: rankdata(each) for name, each in scores.items()}
    n_others = len(next(iter(ranks.values()))) - n_members

    def aucs(rows):
        sums = np.array([each[rows].sum() for each in ranks.values()])
        return (sums - n_members * (n_members + 1) / 2) / (n_members * n_others)

    found = aucs(np.arange(n_members))
    null = np.array([aucs(rng.permutation(n_members + n_others)[:n_members]) for _ in range(N_PERMUTATIONS)])
    greatest = ((null - 0.5) / null.std(axis=0)).max(axis=1)
    p = (1 + (greatest >= ((found - 0.5) / null.std(axis=0)).max()).sum()) / (1 + N_PERMUTATIONS)
    at_one = [(each[:n_members] > np.sort(each[n_members:])[::-1][n_others // 100]).mean() for each in scores.values()]
    return [*itertools.chain(*zip(found, at_one, strict=True)), p]


def measure_utility(name, members, others, synthetic):
    """Return how alike columns and pairs are, and how well a column of others is predicted from both tables."""
    codes, numbers, (m, n, s) = encode_cells([members, others, synthetic])

    def total_variation(code):
        shares = [np.bincount(code[rows], minlength=code.max() + 1) / len(rows) for rows in (m, s)]
        return 1 - np.abs(shares[0] - shares[1]).sum() / 2, 1 - np.abs(np.cumsum(shares[0] - shares[1])).max()

    columns, binned = {True: [], False: []}, []
    for code, values in zip(codes, numbers, strict=True):
        columns[values is not None].append(total_variation(code)[int(values is not None)])
        if values is not None:
            edges = np.unique(np.nanquantile(values[m], np.arange(0.1, 1, 0.1)))
            code = np.where(np.isnan(values), len(edges) + 1, np.searchsorted(edges, values))
        binned.append(code)
    pairs = [total_variation(join_codes(*pair))[0] for pair in itertools.combinations(binned, 2)]
    j = members.names.index(TARGETS[name])
    cells = np.array(
        [code if v is None else v for i, (code, v) in enumerate(zip(codes, numbers, strict=True)) if i != j]
    ).T
    predicted = []
    for rows in (m, s):
        if numbers[j] is None:
            target = codes[j] == codes[j][m].min()
            model = HistGradientBoostingClassifier(max_iter=60, random_state=0).fit(cells[rows], target[rows])
            predicted.append(roc_auc_score(target[n], model.predict_proba(cells[n])[:, 1]))
        else:
            target = np.clip(numbers[j], *np.nanquantile(numbers[j][m], [0.01, 0.99]))
            rows, test = (each[~np.isnan(target[each])] for each in (rows, n))
            model = HistGradientBoostingRegressor(max_iter=60, random_state=0).fit(cells[rows], target[rows])
            predicted.append(r2_score(target[test], model.predict(cells[test])))
    likeness = [np.mean(columns[kind]) if columns[kind] else np.nan for kind in (True, False)]
    return [*likeness, np.mean(pairs), min(pairs), *predicted]


def main():
    """Print a line for every table and method, the mean of all seeds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tables", nargs="*", default=list(TARGETS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--records", type=int, default=N_RECORDS)
    options = parser.parse_args()
    heads = ["table", "method", "s", "order 1", "pairs", "agreement", "distance ratio", "p (least)"]
    heads += ["KS", "TV", "pairs", "least pair", "predicted"]
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for name, (title, method) in itertools.product(options.tables, METHODS.items()):
        found, used, seconds = [], [], []
        for seed in range(options.seeds):
            members, others, reference = split(load(name), seed, options.records)
            began = time.perf_counter()
            synthetic = ht.synthesize(members, method=method, seed=seed)
            seconds.append(time.perf_counter() - began)
            found.append(judge(attack(members, others, reference, synthetic), members.n_rows))
            used.append(measure_utility(name, members, others, synthetic))
        attacks, utility = np.mean(found, axis=0), np.mean(used, axis=0)
        shown = " | ".join(f"{auc:.3f}, {share:.3f}" for auc, share in attacks[:-1].reshape(-1, 2))
        alike = " | ".join(f"{each:.3f}" for each in utility[:4])
        p = min(each[-1] for each in found)
        print(
            f"| {name} | {title} | {np.median(seconds):.1f} | {shown} | {p:.3f} | {alike} | "
            f"{utility[5]:.3f} of {utility[4]:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
