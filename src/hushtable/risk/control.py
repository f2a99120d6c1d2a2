"""What an attack on the originals achieves beyond the same attack on people who were never used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from hushtable._types import CountArray
from hushtable.risk.intervals import excess_risk, standard_score, wilson
from hushtable.tables import Rows

__all__ = ["against_control"]


def against_control(
    original: Rows,
    control: Rows,
    n_attacks: int,
    attack: Callable[[Iterable[CountArray]], CountArray | None],
    *,
    n_draws: int,
    n_permutations: int,
    seed: int,
) -> dict[str, object] | None:
    """Attack equally many originals and control records, and say what the originals add.

    Parameters
    ----------
    original, control : Rows
    n_attacks : int
        Records that attack.
    attack : callable
        Given draws of rows, those of the control counted on after the originals: how many of the attacks on each
        succeed. None where its budget ended; then so is the answer.
    n_draws : int
        Draws of as many originals as there are control records (or of as many control
        records as there are originals, where those are fewer); their mean is compared.
    n_permutations : int
        Exchanges of the labels "original" and "control", which show how far the excess
        strays where there is none.
    seed : int

    Notes
    -----
    More originals are hit more often, whoever they are: so the sizes must match. The
    interval is normal, with the standard deviation of the permutations; unlike
    Wilson's, it does not take records that hit the same person for independent trials.
    """
    n_original, n_control = len(original.counts), len(control.counts)
    n_each = min(n_original, n_control)
    # The smaller table is drawn whole, every time the same.
    n_of = [1 if size == n_each else n_draws for size in (n_original, n_control)]
    counts = attack(_draws(n_original, n_control, n_of, n_permutations, np.random.default_rng(seed)))
    if counts is None:
        return None

    def excess(on_original: float, on_control: float) -> float:
        return excess_risk(wilson(on_original, n_attacks), wilson(on_control, n_attacks))[0]

    n_compared = sum(n_of)
    on_original, on_control = float(counts[: n_of[0]].mean()), float(counts[n_of[0] : n_compared].mean())
    observed = excess(on_original, on_control)
    halves = counts[n_compared : n_compared + 2 * n_permutations].reshape(-1, 2)
    by_chance = [excess(*half) for half in halves.tolist()]
    reach = standard_score() * float(np.std(by_chance, ddof=1))
    return {
        "n_control": control.n_records,
        "n_compared": n_each,
        "n_draws": n_draws,
        "n_permutations": n_permutations,
        "train_rate": on_original / n_attacks,
        "control_rate": on_control / n_attacks,
        "excess_risk": observed,
        "interval": [observed - reach, observed + reach],
        "p_value": (1 + sum(each >= observed for each in by_chance)) / (1 + n_permutations),
    }


def _draws(
    n_original: int, n_control: int, n_of: list[int], n_permutations: int, rng: np.random.Generator
) -> Iterator[CountArray]:
    """Yield draws of originals, draws of control records, and for each permutation the two halves of one of both."""
    n_each = min(n_original, n_control)

    def drawn(first: int, size: int) -> CountArray:
        return first + (np.arange(size) if size == n_each else np.sort(rng.choice(size, n_each, replace=False)))

    for _ in range(n_of[0]):
        yield drawn(0, n_original)
    for _ in range(n_of[1]):
        yield drawn(n_original, n_control)
    for _ in range(n_permutations):
        pool = np.concatenate([drawn(0, n_original), drawn(n_original, n_control)])
        order = rng.permutation(2 * n_each)
        yield pool[order[:n_each]]
        yield pool[order[n_each:]]
