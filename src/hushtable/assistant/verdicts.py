"""Verdicts on policies: whether a release comes of one, and what it costs, in the closed alphabet of an assistant.

What a single person can change is not told: no count, no column, no group, and nothing of names in texts or of links
between records. Verdicts are of a table in which nobody stands alone on a column (`guarding`). The local page tells a
person what is true of the table itself.
"""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from math import log2
from typing import Final

from hushtable._types import Progress
from hushtable.assistant.bands import HIDDEN_BANDS, LOSS_BANDS, loss_band, suppression_band
from hushtable.assistant.guarding import guard_frame
from hushtable.assistant.plain_values import Json
from hushtable.assistant.source import AssistantSource
from hushtable.errors import HushError, InfeasibleError, ResourceError
from hushtable.page import StoppedError
from hushtable.policy import Policy

ANY_KEY: Final = bytes(range(32))  # nothing is written, so that pseudonyms need no secret

REASONS: Final = (
    "UNDECIDED",
    "NEEDS_PERSON",
    "NOT_FEASIBLE",
    "DOES_NOT_FIT",
    "KEPT_COLUMNS_SINGLE_OUT",
    "LOOKS_LIKE_IDENTIFIER",
    "NOT_VERIFIED",
)
"""Why no release may come of a policy."""

BITS: Final = log2(len(LOSS_BANDS) * len(HIDDEN_BANDS) + len(REASONS))
"""The most that one verdict can tell, in bits."""

_LEAST_RATE: Final = 0.01  # a policy that allows a smaller share of uniques asks of single persons


@dataclass(frozen=True, slots=True)
class AssistantVerdict:
    """What is told of a policy.

    Attributes
    ----------
    feasible : bool
    reason : str or None
        One of `REASONS` where nothing comes of it.
    loss, hidden : str or None
        Bands.
    """

    feasible: bool
    reason: str | None = None
    loss: str | None = None
    hidden: str | None = None

    def to_dict(self) -> dict[str, Json]:
        """Return the verdict as plain values."""
        return asdict(self)


def judge_policy(source: AssistantSource, policy: Policy, progress: Progress) -> AssistantVerdict:
    """Carry out a policy, and say in bands what comes of it; StoppedError if somebody cancelled."""
    reason = _find_open_question(policy)
    if reason is not None:
        return AssistantVerdict(False, reason)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _carry_out(source, policy, progress)
    except (StoppedError, ResourceError):
        # An answer for ever must not depend on how much memory was free.
        raise
    except InfeasibleError:
        return AssistantVerdict(False, "NOT_FEASIBLE")
    except HushError:
        return AssistantVerdict(False, "DOES_NOT_FIT")


def _find_open_question(policy: Policy) -> str | None:
    """Return why a policy cannot be carried out before somebody decides, if so; no cell is looked at."""
    if policy.with_role("ask"):
        return "UNDECIDED"
    return "NEEDS_PERSON" if any(each.format == "ask" for each in policy.columns.values()) else None


def _carry_out(source: AssistantSource, policy: Policy, progress: Progress) -> AssistantVerdict:
    # One odd cell would be one person: as long as nobody has decided, it is taken for missing.
    kept = [name for name in source.odd_columns if policy.columns[name].role not in ("identifier", "leave out")]
    odd = [name for name in kept if policy.columns[name].odd_cells in (None, "refuse")]
    # Nor on how fast the machine is.
    changes = {("columns", name, "odd_cells"): "missing" for name in odd} | {("budget",): None}
    policy = policy.with_entries(changes)
    key = ANY_KEY if policy.pseudonymized else None
    guarded = guard_frame(source, (*policy.quasi_identifiers, *policy.with_role("sensitive")), policy.person)
    release = policy.protect(guarded, key=key, progress=lambda share: progress(0.8 * share), engine="memory")
    progress(0.8)
    exposure = release.exposure
    if exposure is not None and exposure.refused_identifiers:
        return AssistantVerdict(False, "LOOKS_LIKE_IDENTIFIER")
    if exposure is not None and exposure.is_above and exposure.limit.rate >= _LEAST_RATE:
        return AssistantVerdict(False, "KEPT_COLUMNS_SINGLE_OUT")
    verdict = release.verify()
    progress(0.9)
    if not (verdict.passed and verdict.complete_for_receiver):
        return AssistantVerdict(False, "NOT_VERIFIED")
    hidden = release.n_suppressed / max(1, source.frame.n_records)
    told = AssistantVerdict(
        True, None, loss_band(release.quality.set_ncp), suppression_band(hidden, policy.limits.suppression)
    )
    progress(1.0)
    return told
