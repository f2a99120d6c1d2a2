"""Slow twins of the estimators of population risk, from their definitions."""

import math
from fractions import Fraction

import numpy as np
from scipy import integrate, optimize, stats


def counts_of(class_sizes):
    """Return {size: how many classes have it}."""
    return {size: list(class_sizes).count(size) for size in class_sizes}


def intrusion(class_sizes, n_people):
    """Return theta by data intrusion simulation."""
    f, counts = sum(class_sizes) / n_people, counts_of(class_sizes)
    n1, n2 = counts.get(1, 0), counts.get(2, 0)
    return f * n1 / (f * n1 + 2 * (1 - f) * n2)


def zayatz(class_sizes, n_people):
    """Return population uniqueness with hypergeometric chances as fractions."""
    n, counts, u = sum(class_sizes), counts_of(class_sizes), len(class_sizes)

    def one_of(i):
        return Fraction(math.comb(i, 1) * math.comb(n_people - i, n - 1), math.comb(n_people, n))

    shown = sum(Fraction(s, u) * one_of(i) for i, s in counts.items())
    share = Fraction(counts[1], u) * one_of(1) / shown
    return float(counts[1] * share / n)


def pitman_likelihood(class_sizes, alpha, theta):
    """Return the log-likelihood of the Ewens-Pitman partition, term by term."""
    u, n = len(class_sizes), sum(class_sizes)
    value = sum(math.log(theta + i * alpha) for i in range(1, u)) - sum(math.log(theta + i) for i in range(1, n))
    return value + sum(math.log(j - alpha) for size in class_sizes for j in range(1, size))


def snb_likelihood(class_sizes, f, alpha, beta):
    """Return the log-likelihood of thinned classes of 1 + NB people, by adding over their sizes."""
    people = np.arange(1, 4_000)
    chances = stats.nbinom.pmf(people - 1, alpha, beta)

    def shown(k):
        return float(chances @ stats.binom.pmf(k, people, f))

    return sum(math.log(shown(size) / (1 - shown(0))) for size in class_sizes)


def mixture(class_sizes, n_people, steps):
    """Return uniqueness, tau1, tau2 and theta after EM steps, for fewer people than need a grid."""
    f, counts = sum(class_sizes) / n_people, counts_of(class_sizes)
    sizes = range(1, n_people + 1)
    h = [n_people / (n_people * size) for size in sizes]
    chance = {(i, size): stats.binom.pmf(i, size, f) for i in range(1, n_people + 1) for size in sizes}
    for _ in range(steps):
        mean = {i: sum(h[size - 1] * chance[i, size] for size in sizes) for i in counts}
        h = [
            h[size - 1]
            * sum(counts[i] / mean[i] * chance[i, size] for i in counts)
            / sum(chance[i, size] for i in range(1, n_people + 1))
            for size in sizes
        ]
        people = sum(size * h[size - 1] for size in sizes)
        h = [value * n_people / people for value in h]
    uniques = sum(h[size - 1] * chance[1, size] for size in sizes)
    matched = sum(h[size - 1] * chance[1, size] * size for size in sizes)
    tau2 = sum(h[size - 1] * chance[1, size] / size for size in sizes)
    return h[0] / n_people, f * h[0], tau2, uniques / matched


def bounds(class_sizes, n_people, z):
    """Return least and most uniqueness, tau1 and tau2 of mixtures that fit, for fewer people than need a grid."""
    f, counts = sum(class_sizes) / n_people, counts_of(class_sizes)
    sizes, shown = np.arange(1, n_people + 1), range(1, 13)
    rows = np.array([stats.binom.pmf(i, sizes, f) for i in shown])
    seen = np.array([counts.get(i, 0) for i in shown])
    reach = z * np.sqrt(np.maximum(seen, 1))
    ends = []
    for objective in (sizes == 1, f * (sizes == 1), stats.binom.pmf(1, sizes, f) / sizes):
        for sign in (1, -1):
            answer = optimize.linprog(
                sign * objective.astype(float),
                A_ub=np.vstack([rows, -rows]),
                b_ub=np.concatenate([seen + reach, reach - seen]),
                A_eq=[sizes],
                b_eq=[n_people],
            )
            ends.append(sign * answer.fun if answer.success else None)
    return ends


def benedetti_franconi(f, weight_sum):
    """Return the mean of 1 / F, integrated."""
    p = f / weight_sum
    return integrate.quad(
        lambda t: t ** (f - 1) * p**f / (1 - (1 - p) * t) ** f, 0, 1, epsabs=0, epsrel=1e-11, limit=500
    )[0]


def household(risks, codes):
    """Return 1 - product of (1 - risk) over the members of each record's household."""
    answer = []
    for own, code in zip(risks, codes, strict=True):
        members = [own] if code < 0 else [r for r, other in zip(risks, codes, strict=True) if other == code]
        answer.append(1 - math.prod(1 - r for r in members))
    return answer


def tree(codes, counts):
    """Return the edges of the Chow-Liu forest (Kruskal) and the log share of every row."""
    rows = [row for row, count in zip(zip(*codes, strict=True), counts, strict=True) for _ in range(count)]
    n, columns = len(rows), range(len(codes))

    def share(places, row):
        return sum(all(other[a] == row[a] for a in places) for other in rows) / n

    def entropy(places):
        cells = {tuple(row[a] for a in places) for row in rows}
        sizes = [sum(tuple(row[a] for a in places) == cell for row in rows) / n for cell in cells]
        return -sum(p * math.log(p) for p in sizes) + (len(cells) - 1) / (2 * n)

    ties = {(a, b): entropy([a]) + entropy([b]) - entropy([a, b]) for a in columns for b in columns if a < b}
    parts, edges = {a: {a} for a in columns}, []
    for (a, b), tie in sorted(ties.items(), key=lambda each: -each[1]):
        if tie > 1e-12 and parts[a] is not parts[b]:
            joined = parts[a] | parts[b]
            parts |= dict.fromkeys(joined, joined)
            edges.append((a, b))
    weight = sum(ties[edge] for edge in edges)
    return (
        edges,
        weight,
        lambda chosen: [
            math.log(
                math.prod(share([a], row) for a in columns)
                * math.prod(share([a, b], row) / share([a], row) / share([b], row) for a, b in chosen)
            )
            for row in zip(*codes, strict=True)
        ],
    )
