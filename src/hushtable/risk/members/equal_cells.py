"""The membership measure that auditors know: people who equal a synthetic record, relative to accusing everybody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CodeArray
from hushtable.risk.attacks.attack import Coded
from hushtable.risk.members.participants import is_among

_N_BINS: Final = 20


@dataclass(frozen=True, slots=True)
class RelativeF1:
    """El Emam's F_rel: of an attacker who calls everybody a member who equals a synthetic record.

    Attributes
    ----------
    true_rate, false_rate : float
        The shares of the people and of the non-members who equal one.
    share_of_members : float
        Which share of those who are attacked are members.
    naive : float
        The F1 of an attacker who calls everybody a member.
    value : float
        (F1 - naive) / (1 - naive): below 0, the attacker does worse than that. Auditors accept at most 0.2, which
        passes tables with a tenth of the people in them: no limit of hushtable is held against it.
    """

    true_rate: float
    false_rate: float
    share_of_members: float
    naive: float
    value: float


def relative_f1(true_rate: float, false_rate: float, share_of_members: float = 0.5) -> RelativeF1:
    """Return F_rel for the rates of an attack: El Emam, Mosquera and Fang, JAMIA Open (2022)."""
    accused = share_of_members * true_rate + (1 - share_of_members) * false_rate
    f1 = 2 * share_of_members * true_rate / (accused + share_of_members)
    naive = 2 * share_of_members / (1 + share_of_members)
    return RelativeF1(true_rate, false_rate, share_of_members, naive, (f1 - naive) / (1 - naive))


def are_equal_after_binning(tables: Coded, targets: CodeArray, synthetic: CodeArray) -> NDArray[np.bool_]:
    """Tell which records equal a synthetic one, numbers and dates cut into 20 bins of equal width."""
    lookups = []
    for scale, width in zip(tables.scales, tables.joint.widths, strict=True):
        bins = np.arange(width) if scale is None else np.minimum((scale * _N_BINS).astype(np.int64), _N_BINS - 1)
        lookups.append(np.append(bins, -1).astype(np.int32))
    binned, in_synthetic = (
        np.stack([lookup[codes[j]] for j, lookup in enumerate(lookups)]) for codes in (targets, synthetic)
    )
    return is_among(binned, in_synthetic, tuple(int(lookup.max()) + 1 for lookup in lookups))
