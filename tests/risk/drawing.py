"""Populations of known make, and samples of them, for tests of estimators."""

import numpy as np

from hushtable.risk.population import SampleClasses


def sample(people, f, seed):
    """Draw without replacement from classes of people; return the sample's classes, and how many of each were drawn."""
    people = np.asarray(people)
    drawn = np.random.default_rng(seed).multivariate_hypergeometric(people, round(f * people.sum()), method="marginals")
    return SampleClasses.from_sizes(drawn[drawn > 0], people.sum()), drawn


def lognormal(seed, n_classes=2_000, spread=1.2):
    """Return people per class: many small classes, few large ones."""
    return np.ceil(np.random.default_rng(seed).lognormal(0.3, spread, n_classes)).astype(int)


def even(seed, n_classes=2_000, most=6):
    """Return people per class, all sizes up to a small one alike."""
    return np.random.default_rng(seed).integers(1, most, n_classes)


def lumpy(seed, n_classes=3_000):
    """Return people per class: uniques, and classes of twenty, with nothing between."""
    return np.where(np.random.default_rng(seed).random(n_classes) < 0.8, 1, 20)


def pitman_partition(n, alpha, theta, seed):
    """Draw the classes of n people by the Chinese restaurant process of two parameters."""
    rng = np.random.default_rng(seed)
    labels, sizes = np.zeros(n, dtype=int), [1]
    for i in range(1, n):
        if rng.random() < (theta + len(sizes) * alpha) / (theta + i):
            labels[i] = len(sizes)
            sizes.append(1)
            continue
        # A random earlier person's class, by size; by size - alpha after refusals.
        while rng.random() < alpha / sizes[label := labels[rng.integers(i)]]:
            pass
        labels[i] = label
        sizes[label] += 1
    return np.array(sizes)


def slide_classes(n_classes, alpha, beta, seed):
    """Draw classes of 1 + NB(alpha, beta) people."""
    return 1 + np.random.default_rng(seed).negative_binomial(alpha, beta, n_classes)
