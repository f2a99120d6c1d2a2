"""Compare figures with limits. A figure fails unless it is known to be at most its limit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple


class LimitedFigure(NamedTuple):
    """A figure that has a limit: its value, what it counts, and why the true value may be higher ("" if it may not)."""

    value: float
    what: str
    doubt: str = ""
    most: float = math.inf  # where it may be higher: at most so much


def find_failures(figures: Mapping[str, LimitedFigure], limits: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return the limits that fail, as plain values: the figure is above the limit, NaN, or in doubt."""
    failed = []
    for name, limit in limits.items():
        value, what, doubt, most = figures[name]
        if value > limit:
            because = f"{name} is {value}, above the limit of {limit}: {what}"
        elif (doubt and most > limit) or math.isnan(value):
            because = f"{name} cannot be said to be at most {limit}: {doubt or 'it could not be computed'}"
        else:
            continue
        failed.append(
            {"figure": name, "value": None if math.isnan(value) else value, "limit": limit, "because": because}
        )
    return failed


def keys_figures(summary: Mapping[str, Any]) -> dict[str, LimitedFigure]:
    """Return what can be limited of `hushtable.minimal_keys`: how many keys there are."""
    doubt = "" if summary["complete"] else f"keys of more than {summary['complete_to_size']} columns may be missing"
    what = f"the number of minimal keys of at most {summary['max_size']} columns"
    return {"count": LimitedFigure(summary["n_keys"], what, doubt)}


def mpuccs_figures(summary: Mapping[str, Any], limits: Mapping[str, float]) -> dict[str, LimitedFigure]:
    """Return what can be limited of `hushtable.mpuccs`: its rate, its count, and its excess over a control.

    The excess is judged by the upper end of its interval, so that an estimate from few records cannot pass.
    """
    # PETsARD's summary has no entry "complete": it counts as complete.
    doubt = "" if summary.get("complete", True) else "the budget ended before all column sets were looked at"
    if "complete" in summary and summary["total_combinations_pruned"]:
        doubt = "column sets were skipped for their entropy, and records with them"
    # PETsARD always merges equal records.
    rows = "distinct rows" if summary.get("config_deduplicate", True) else "records"
    figures = {
        "rate": LimitedFigure(summary["identification_rate"], f"the share of the {rows} that are identified", doubt),
        "count": LimitedFigure(summary["total_identified"], f"the number of {rows} that are identified", doubt),
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
    control = summary["control"]
    # What a run keeps has null for NaN.
    if control["excess_risk"] is None or math.isnan(control["excess_risk"]):
        always = "the control always succeeds: nothing can be achieved beyond it"
        return {**figures, "excess": LimitedFigure(math.nan, "", always)}
    if control["most"] <= limits["excess"]:
        doubt = (
            f"the control is too small; {summary['total_syn_records']:,} {rows} that copy each of the "
            f"{control['n_compared']:,} originals compared once would show an excess of {control['most']:.4g}"
        )
    what = f"the upper end of the 95 % interval of the excess risk, which is {control['excess_risk']:.4g}"
    return {**figures, "excess": LimitedFigure(control["interval"][1], what, doubt)}
