"""Runs of one policy side by side: what each costs, and where the curve of risk and loss bends most.

It is internal: what other requests would have cost tells the readers of a release how its classes came about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final

import numpy as np

from hushtable._types import TOLERANCE
from hushtable.columns import escaped
from hushtable.errors import InputError, with_hint
from hushtable.io import frames
from hushtable.plots import charts

__all__ = ["INTERNAL", "KNEE", "ComparedRun", "Comparison"]

INTERNAL: Final = "internal: what every k costs helps to undo a release; keep it away from whoever receives one"
KNEE: Final = "where highest risk against loss bends most; the choice is yours"


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """What was asked of one run, and what it costs; every figure is None where no release came of it.

    Attributes
    ----------
    k : int
    suppression : float or None
        The share of the records that might go; None where the policy's notion lets none go.
    recoding : str or None
        None where the method has no such option.
    method : str
    highest_risk, average_risk : float or None
        In (0, 1]: 1 / the smallest class, and the mean over records of 1 / the size of their class (classes / records,
        unless persons are counted). Of the records that are published in classes, whether the others are starred or
        dropped; counted from the published cells.
    smallest_class, n_classes : int or None
        Of equal published cells; the smallest in persons where the policy counts them.
    loss : float or None
        The policy's loss; suppressed records count as wholly lost.
    loss_by_column : dict of str to float, or None
        The set-NCP of every quasi-identifier, in [0, 1], whatever the loss is.
    longest_cell : int or None
        Characters of the longest published quasi-identifier.
    n_bytes : int or None
        The size of the release as a CSV; None also where no CSV has cells for it.
    n_suppressed : int or None
        Records, starred or dropped.
    seconds : float or None
        Wall-clock time of the search, without reading, verifying and counting.
    verified : bool or None
        Whether all that the release claims was judged from its published cells and holds.
    reason : str or None
        Why no release came of it.
    """

    k: int
    suppression: float | None
    recoding: str | None
    method: str
    highest_risk: float | None = None
    average_risk: float | None = None
    smallest_class: int | None = None
    n_classes: int | None = None
    loss: float | None = None
    loss_by_column: dict[str, float] | None = None
    longest_cell: int | None = None
    n_bytes: int | None = None
    n_suppressed: int | None = None
    seconds: float | None = None
    verified: bool | None = None
    reason: str | None = None

    @property
    def is_feasible(self) -> bool:
        """Whether a release came of it."""
        return self.reason is None

    @property
    def line(self) -> str:
        """What the run shares with others that differ in k alone, in words."""
        suppression = None if self.suppression is None else f"suppression {self.suppression:g}"
        return ", ".join(part for part in (self.method, self.recoding, suppression) if part is not None)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Runs of one policy side by side.

    It is internal: what every k costs helps to undo a release.

    Attributes
    ----------
    rows : tuple of ComparedRun
        By method, recoding and suppression, then k, each in the order asked for.
    quasi_identifiers : tuple of str
    n_records : int
        Of the input.
    loss : str
        The name of the loss.
    person : str or None
        The column by which persons are counted.
    source : str
        The dataframe library that ``to_frame`` answers in.
    """

    rows: tuple[ComparedRun, ...] = field(repr=False)
    quasi_identifiers: tuple[str, ...]
    n_records: int
    loss: str
    person: str | None = None
    source: str = "polars"

    @property
    def knee(self) -> ComparedRun | None:
        """The run where highest risk against loss bends most; a mark, not a choice.

        Of the verified runs, those remain than which no other has as little of both (the frontier). Risk and
        loss are scaled to [0, 1] over it; the knee is farthest below the line from its safest run to the
        one of least loss, of equal ones the safer. None where it has fewer than three runs, or none lies below.
        """
        frontier = _frontier(self.rows)
        if len(frontier) < 3:
            return None
        risks, losses = np.array([(row.highest_risk, row.loss) for row in frontier]).T
        # The line goes from (0, 1) to (1, 0) once both are scaled.
        below = 1 - (risks - risks[0]) / (risks[-1] - risks[0]) - (losses - losses[-1]) / (losses[0] - losses[-1])
        place = int(np.argmax(below))
        return frontier[place] if below[place] > TOLERANCE else None

    def plot(self, *, ax: Any = None) -> Any:
        """Draw highest risk against loss, a line for the runs that differ in k alone; return the matplotlib axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A figure of its own when not given; a notebook shows it.

        Raises
        ------
        InputError
            No run is feasible.
        """
        feasible = [row for row in self.rows if row.is_feasible]
        if not feasible:
            raise InputError(with_hint("no run is feasible, so there is nothing to draw.", "ask for a smaller k."))
        lines = {name: np.array(points) for name, points in self.lines().items()}
        knee = self.knee
        marked = None if knee is None else np.array([knee.loss, knee.highest_risk])
        return charts.risk_against_loss(lines, marked, label=f"loss ({self.loss})", mark="knee", ax=ax)

    def lines(self) -> dict[str, list[tuple[float, float]]]:
        """Return (loss, highest risk) of feasible runs that differ in k alone; those that are alike are one line."""
        points: dict[str, list[tuple[float, float]]] = {}
        runs: dict[str, ComparedRun] = {}
        for row in self.rows:
            if row.loss is not None and row.highest_risk is not None:
                points.setdefault(row.line, []).append((row.loss, row.highest_risk))
                runs.setdefault(row.line, row)
        alike: dict[tuple[tuple[float, float], ...], list[ComparedRun]] = {}
        for name, each in points.items():
            alike.setdefault(tuple(each), []).append(runs[name])
        told = ("method", "recoding", "suppression")
        # What all lines share would fill a legend.
        differs = [name for name in told if len({getattr(run, name) for run in runs.values()}) > 1] or list(told)
        return {_joined(each, differs): list(line) for line, each in alike.items()}

    def to_frame(self) -> Any:
        """Return a row for every run as a dataframe of the kind that went in (polars for a path or a Table)."""
        plain = [each.name for each in fields(ComparedRun) if each.name != "loss_by_column"]
        columns = {name: [getattr(row, name) for row in self.rows] for name in plain}
        lost = {
            f"loss of {name}": [None if row.loss_by_column is None else row.loss_by_column[name] for row in self.rows]
            for name in self.quasi_identifiers
        }
        return frames.assemble({**columns, **lost}, self.source)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values, and that it is internal."""
        knee = self.knee
        return {
            "internal": INTERNAL,
            "quasi_identifiers": list(self.quasi_identifiers),
            "n_records": self.n_records,
            "loss": self.loss,
            "person": self.person,
            "rows": [asdict(row) for row in self.rows],
            "knee": None if knee is None else {"row": self.rows.index(knee), "what": KNEE},
        }

    def _repr_html_(self) -> str:
        knee = self.knee
        titles = ("k", "", "highest risk", "average risk", "loss", "suppressed", "longest cell", "bytes")
        head = "".join(f"<th>{title}</th>" for title in titles)
        body = "".join(f"<tr>{_html_cells(row)}{'<td>knee</td>' if row is knee else ''}</tr>" for row in self.rows)
        told = "" if knee is None else f"Knee: {KNEE}. "
        return f"<table><tr>{head}</tr>{body}</table>{told}{INTERNAL.capitalize()}."


def _joined(runs: Sequence[ComparedRun], names: Sequence[str]) -> str:
    """Name a line of runs that are alike: what they share once, and each of what they differ in."""
    parts = []
    for told in names:
        values = [getattr(run, told) for run in runs]
        texts = dict.fromkeys(f"{each:g}" if told == "suppression" else each for each in values if each is not None)
        if texts:
            parts.append(f"{'suppression ' if told == 'suppression' else ''}{' = '.join(texts)}")
    return ", ".join(parts)


def _frontier(rows: Iterable[ComparedRun]) -> list[ComparedRun]:
    """Return the verified runs than which no other has as little risk and as little loss, the safest first."""
    frontier: list[ComparedRun] = []
    for row in sorted((row for row in rows if row.verified), key=lambda row: (row.highest_risk, row.loss)):
        if not frontier or row.loss < frontier[-1].loss:  # type: ignore[operator]  # a verified run has a loss
            frontier.append(row)
    return frontier


def _html_cells(row: ComparedRun) -> str:
    if row.reason is not None:
        return f"<td>{row.k}</td><td>{escaped(row.line)}</td><td colspan=6>{escaped(row.reason)}</td>"
    figures_ = (
        f"{row.highest_risk:.3g}",
        f"{row.average_risk:.3g}",
        f"{row.loss:.4f}",
        f"{row.n_suppressed:,}",
        row.longest_cell,
        "" if row.n_bytes is None else f"{row.n_bytes:,}",
    )
    return "".join(f"<td>{cell}</td>" for cell in (row.k, escaped(row.line), *figures_))
