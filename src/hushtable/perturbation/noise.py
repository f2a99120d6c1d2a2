"""Noise: numbers plus random ones, of which `amount` means the same in every kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from hushtable._types import BoolArray, FloatArray
from hushtable.claims import Stated
from hushtable.errors import InfeasibleError, check_choice, check_type
from hushtable.perturbation.method import OriginalCells, Perturbed
from hushtable.perturbation.rank_swap import check_share, describe_strata

KINDS: Final = ("obfuscated", "additive", "correlated", "transformed")


@dataclass(frozen=True, slots=True)
class Noise:
    """Add normal noise to numbers.

    Attributes
    ----------
    amount : float, default 0.2
        The standard deviation of the noise, as a share of that of its column: above 0, at most 1.
    kind : {"obfuscated", "additive", "correlated", "transformed"}
        ``"obfuscated"``: means and covariances stay exactly, in the complete records (before rounding).
        ``"additive"``: independent noise in every column; variances grow, correlations shrink. ``"correlated"``: noise
        with the covariances of the columns; variances grow, correlations stay on average. ``"transformed"``: the
        same, and the numbers move towards their mean, so that variances stay on average too.
    keep_zeros : bool
        Leave cells of 0 as they are: whoever has none of something is told so.

    Notes
    -----
    ``"transformed"`` is Kim, "A method for limiting disclosure in microdata based on random noise and transformation",
    1986, with noise drawn jointly; ``"obfuscated"`` is what random orthogonal matrix masking (Ting, Fienberg, Trottini
    2008) publishes, without its n x n matrix: noise without its part along [1, X] is scaled to the covariance of X
    (information preserving obfuscation, Burridge 2003). O(n d^2). Missing cells stay missing. A record with one gets
    noise of the same covariance, and does not count in the covariance.
    """

    name: ClassVar[str] = "noise"
    amount: float = 0.2
    kind: str = "obfuscated"
    keep_zeros: bool = False

    def __post_init__(self) -> None:
        check_share("amount", self.amount)
        check_choice("kind", self.kind, KINDS)
        check_type(self.keep_zeros, bool, "keep_zeros", "True or False")

    @property
    def beside(self) -> tuple[str, ...]:
        """No column."""
        return ()

    def claim(self, columns: tuple[str, ...], by: tuple[str, ...]) -> Stated:
        """Return the statement of what was done."""
        zeros = ", zeros kept" if self.keep_zeros else ""
        amount = f"{self.amount:.6g} standard deviations{zeros}{describe_strata(by)}"
        return Stated(columns, f"{self.kind} noise ({amount})")

    def perturb(self, cells: OriginalCells, rng: np.random.Generator) -> Perturbed:
        """Add noise to the columns, for each stratum by itself."""
        numbers = cells.numbers()
        noisy = numbers.copy()
        for stratum in np.unique(cells.strata):
            rows = cells.strata == stratum
            noisy[rows] = self._add_noise(numbers[rows], rng)
        kept = np.isnan(numbers) | (self.keep_zeros & (numbers == 0))
        return Perturbed(numbers=np.where(kept, numbers, noisy), notes=_describe_missing(numbers))

    def _add_noise(self, numbers: FloatArray, rng: np.random.Generator) -> FloatArray:
        complete = ~np.isnan(numbers).any(axis=1)
        n_complete, n_columns = int(complete.sum()), numbers.shape[1]
        # Fewer records hold no covariance: noise of 0 would publish them as they are.
        if n_complete < 2 * n_columns + 2:
            raise InfeasibleError(
                f"{n_complete} records without a missing cell are too few for noise on {n_columns} columns (in a "
                "stratum).",
                hint=f"{2 * n_columns + 2} or more are needed: name fewer columns, or coarser strata in by.",
            )
        mean = numbers[complete].mean(axis=0)
        centred = numbers - mean
        covariance = np.atleast_2d(np.cov(numbers[complete], rowvar=False))
        root = _square_root(np.diag(np.diag(covariance)) if self.kind == "additive" else covariance)
        drawn = rng.standard_normal(numbers.shape)
        if self.kind == "obfuscated":
            drawn[complete] = _without_parts_along(drawn[complete], centred[complete])
        kept = np.sqrt(1 - self.amount**2) if self.kind in ("obfuscated", "transformed") else 1.0
        return np.asarray(mean + kept * centred + self.amount * drawn @ root)


def _square_root(covariance: FloatArray) -> FloatArray:
    """Return the symmetric square root; covariances of columns that determine one another have one too."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def _without_parts_along(drawn: FloatArray, centred: FloatArray) -> FloatArray:
    """Return noise with mean 0, covariance 1, and none with the numbers, exactly."""
    scale = np.abs(centred).max(axis=0, initial=0.0)
    basis = np.column_stack([np.ones(len(drawn)), centred / np.where(scale > 0, scale, 1.0)])
    left, singular, _ = np.linalg.svd(basis, full_matrices=False)
    span = left[:, singular > singular[0] * 1e-12]
    # Twice, so that what rounding left of the first time goes too.
    for _ in range(2):
        drawn = drawn - span @ (span.T @ drawn)
    orthogonal, triangular = np.linalg.qr(drawn)
    return np.asarray(orthogonal * np.sign(np.diag(triangular)) * np.sqrt(len(drawn) - 1))


def _describe_missing(numbers: FloatArray) -> tuple[str, ...]:
    missing: BoolArray = np.isnan(numbers)
    if not missing.any():
        return ()
    return (f"{int(missing.sum()):,} missing cells stay missing, and can show who has them.",)
