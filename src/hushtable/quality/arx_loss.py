"""ARX's Loss as an objective of searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Literal

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.errors import InputError, with_hint
from hushtable.hierarchy import Hierarchy
from hushtable.quality.arx import arx_loss
from hushtable.quality.measures import leaf_share
from hushtable.recoding import Recoding

__all__ = ["ArxLoss"]


@dataclass(frozen=True, slots=True)
class ArxLoss:
    r"""ARX's Loss, of a column the mean share that is published beyond a single value's, 0 (nothing lost) to 1.

    Parameters
    ----------
    mean : {"geometric", "arithmetic"}
        How columns are put together; the geometric mean is ARX's default.
    gs_factor : float
        From 0, which weighs generalization alone, to 1, which weighs suppression alone.

    Notes
    -----
    To the digit what ARX 3.9.2 says of its own releases: `hushtable.quality.arx.arx_loss`.

    Examples
    --------
    >>> from hushtable import Hierarchy
    >>> jobs = Hierarchy.from_domains("job/blue: welder, plumber\njob/white: clerk, nurse\n")["job"]
    >>> ArxLoss().node_costs(jobs, 4)[1].round(12).tolist()
    [0.333333333333, 0.333333333333]
    """

    mean: Literal["geometric", "arithmetic"] = "geometric"
    gs_factor: float = 0.5

    name: ClassVar[str] = "arx_loss"
    by_width: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.mean not in ("geometric", "arithmetic"):
            msg = with_hint(f"ArxLoss was given mean = {self.mean!r}.", "choose 'geometric' or 'arithmetic'.")
            raise InputError(msg)
        if isinstance(self.gs_factor, bool) or not isinstance(self.gs_factor, (int, float)):
            msg = with_hint(f"ArxLoss was given gs_factor = {self.gs_factor!r}.", "a number from 0 to 1.")
            raise InputError(msg)
        if not 0 <= self.gs_factor <= 1:
            msg = with_hint(f"ArxLoss was given gs_factor = {self.gs_factor!r}.", "a number from 0 to 1.")
            raise InputError(msg)

    @property
    def weights(self) -> Mapping[str, float]:
        """Every column counts alike."""
        return MappingProxyType({})

    def of(self, recoding: Recoding, sizes: CountArray, n_suppressed: int = 0) -> float:
        """Return the loss of a release from what its classes publish; a suppressed record would publish ``*``."""
        leaf_shares = np.array([leaf_share(cells) for cells in recoding.cells])
        shares = np.maximum(recoding.shares(), leaf_shares[:, None])
        hidden = np.append(np.zeros(len(sizes), dtype=bool), [True])
        return arx_loss(
            np.column_stack([shares, np.ones(len(leaf_shares))]),
            np.append(sizes, n_suppressed),
            leaf_shares,
            suppressed=hidden,
            gs_factor=self.gs_factor,
            aggregate=self.mean,
        )

    def node_costs(self, hierarchy: Hierarchy, n_values: int) -> tuple[FloatArray, ...]:
        """Return what every node adds to the loss of its column, of one record."""
        return tuple(self.cost_of(shares, hierarchy.leaf_share) for shares in hierarchy.shares)

    def cost_of(self, shares: FloatArray, leaf: float) -> FloatArray:
        """Return what published shares add to the loss of a column whose single values have the share ``leaf``."""
        least = min(1.0, 2 - 2 * self.gs_factor)
        room = 1 - least * leaf
        return np.asarray(least * np.maximum(0.0, shares - leaf) / room if room > 0 else np.zeros(len(shares)))

    def factor(self, names: Sequence[str], n_records: int) -> float:
        """Return the factor that makes a mean of a sum of cells."""
        return 1 / max(1, n_records * len(names))
