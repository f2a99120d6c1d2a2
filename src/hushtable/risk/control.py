"""What an attack on the originals achieves beyond the same attack on people who were never used."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean

import numpy as np

from hushtable.joint import Rows
from hushtable.risk.intervals import excess_risk, standard_score, wilson

__all__ = ["against_control"]


def against_control(
    original: Rows,
    control: Rows,
    n_attacks: int,
    attack: Callable[[Rows], int],
    *,
    n_draws: int,
    n_permutations: int,
    seed: int,
) -> dict[str, object]:
    """Attack equally many originals and control records, and say what the originals add.

    Parameters
    ----------
    original, control : Rows
    n_attacks : int
        Records that attack.
    attack : callable
        How many of the attacks on some rows succeed.
    n_draws : int
        Draws of as many originals as there are control records (or of as many control
        records as there are originals, where those are fewer); their mean is compared.
    n_permutations : int
        Exchanges of the labels "original" and "control", which show how far the excess
        strays where there is none. At least 2.
    seed : int

    Notes
    -----
    More originals are hit more often, whoever they are: so the sizes must match. The
    interval is normal, with the standard deviation of the permutations; unlike
    Wilson's, it does not take records that hit the same person for independent trials.
    """
    rng = np.random.default_rng(seed)
    n_each = min(len(original.counts), len(control.counts))

    def drawn(rows: Rows) -> Rows:
        size = len(rows.counts)
        return rows if size == n_each else rows.take(np.sort(rng.choice(size, n_each, replace=False)))

    def excess(on_original: float, on_control: float) -> float:
        return excess_risk(wilson(on_original, n_attacks), wilson(on_control, n_attacks))[0]

    # The smaller table is drawn whole, every time the same.
    on_original = [attack(drawn(original)) for _ in range(1 if len(original.counts) == n_each else n_draws)]
    on_control = [attack(drawn(control)) for _ in range(1 if len(control.counts) == n_each else n_draws)]
    observed = excess(fmean(on_original), fmean(on_control))
    by_chance = []
    for _ in range(n_permutations):
        pool = _together(drawn(original), drawn(control))
        order = rng.permutation(2 * n_each)
        halves = (pool.take(np.sort(order[:n_each])), pool.take(np.sort(order[n_each:])))
        by_chance.append(excess(attack(halves[0]), attack(halves[1])))
    reach = standard_score() * float(np.std(by_chance, ddof=1))
    return {
        "n_control": control.n_records,
        "n_compared": n_each,
        "n_draws": n_draws,
        "n_permutations": n_permutations,
        "train_rate": fmean(on_original) / n_attacks,
        "control_rate": fmean(on_control) / n_attacks,
        "excess_risk": observed,
        "interval": [observed - reach, observed + reach],
        "p_value": (1 + sum(each >= observed for each in by_chance)) / (1 + n_permutations),
    }


def _together(first: Rows, second: Rows) -> Rows:
    return Rows(
        np.concatenate([first.codes, second.codes], axis=1),
        np.concatenate([first.counts, second.counts]),
        np.concatenate([first.positions, second.positions]),
    )
