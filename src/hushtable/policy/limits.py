"""Figures against limits: one that is not known to be at most its limit fails."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

__all__ = ["LimitedFigure", "failures", "mpuccs_figures"]


class LimitedFigure(NamedTuple):
    """A figure that has limits: its value, what it is, and why it may be higher in truth, where it may."""

    value: float
    what: str
    doubt: str = ""


def failures(figures: Mapping[str, LimitedFigure], limits: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return, as plain values, the limits that figures are above, or are not known to be at most."""
    failed = []
    for name, limit in limits.items():
        value, what, doubt = figures[name]
        if value > limit:
            because = f"{name} is {value}, above the limit of {limit}: {what}"
        elif doubt or math.isnan(value):
            because = f"{name} cannot be said to be at most {limit}: {doubt or 'it could not be computed'}"
        else:
            continue
        failed.append(
            {"figure": name, "value": None if math.isnan(value) else value, "limit": limit, "because": because}
        )
    return failed


def mpuccs_figures(summary: Mapping[str, Any], limits: Mapping[str, float]) -> dict[str, LimitedFigure]:
    """Return what can be limited of `hushtable.mpuccs`: its rate, its count, and its excess over a control.

    Of the excess, the upper end of its interval: an estimate from few records must not pass for being uncertain.
    """
    # PETsARD's own figures, which say nothing of being complete, are judged as that program has them.
    doubt = "" if summary.get("complete", True) else "the budget ended before all column sets were looked at"
    if "complete" in summary and summary["total_combinations_pruned"]:
        doubt = "column sets were skipped for their entropy, and records with them"
    figures = {
        "rate": LimitedFigure(summary["identification_rate"], "the share of the records that are identified", doubt),
        "count": LimitedFigure(summary["total_identified"], "the number of records that are identified", doubt),
        "weighted": LimitedFigure(
            summary["weighted_identification_rate"], "the same, larger sets weighing less", doubt
        ),
    }
    if "excess" not in limits:
        return figures
    if "control" not in summary:
        return {
            **figures,
            "excess": LimitedFigure(math.nan, "", "no control was compared, or the budget ended before it was"),
        }
    control, n_attacks = summary["control"], summary["total_syn_records"]
    most = control["n_compared"] / n_attacks
    if most <= limits["excess"]:
        doubt = (
            f"the control is too small; {n_attacks:,} records that copy each of the {control['n_compared']:,} "
            f"originals compared once would show an excess of {most:.4g}"
        )
    what = f"the upper end of the 95 % interval of the excess risk, which is {control['excess_risk']:.4g}"
    return {**figures, "excess": LimitedFigure(control["interval"][1], what, doubt)}
