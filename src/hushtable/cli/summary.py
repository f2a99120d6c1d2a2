"""What the command says of results, line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hushtable.cli.terminal import aligned

if TYPE_CHECKING:
    from hushtable.claims import Verdict
    from hushtable.dialect import Writing
    from hushtable.discover.recognise import Roles
    from hushtable.frames import Frame
    from hushtable.policy import Policy
    from hushtable.search import Trace

__all__ = [
    "effort_lines",
    "published_lines",
    "release_lines",
    "risk_lines",
    "role_table",
    "spelling_lines",
    "verdict_lines",
]

_LOSS_WORDS: Final = {
    "ncp": "set-NCP, 0 none to 1 all",
    "minimal_distortion": "changed cells, weighted",
    "certainty": "certainty, a sum over cells",
}
_FEW_ROWS: Final = 30
_FEW_NAMES: Final = 8


def role_table(roles: Roles) -> str:
    """Lay out the columns with their proposed roles and reasons."""
    titles = ("column", "kind", "distinct", "missing", "proposed role", "because")
    rows = [
        (
            column.name,
            column.kind,
            f"{column.n_distinct:,}",
            f"{column.n_missing:,}",
            column.role,
            f"{column.reason}; {column.warning}" if column.warning else column.reason,
        )
        for column in roles.columns
    ]
    return aligned(titles, rows, right=("distinct", "missing"))


def risk_lines(risk: Mapping[str, Any]) -> list[str]:
    """Say how easily people can be found again."""
    if not risk["quasi_identifiers"]:
        return ["No column looks like a quasi-identifier; if one is, name it in a policy or with --qi."]
    readings = risk["smallest_by_missing"]
    return [
        f"By {', '.join(risk['quasi_identifiers'])}:",
        f"  {risk['n_records']:,} records in {risk['n_classes']:,} classes; {risk['n_unique']:,} records are unique",
        f"  highest risk {risk['highest_risk']:.3g}, average risk {risk['average_risk']:.3g} "
        "(chance of a right guess by someone who knows that the person is in the table)",
        f"  smallest class {readings['category']} with missing as a category, "
        f"{readings['wildcard']} as a wildcard, {readings['worst']} at worst",
    ]


def release_lines(output: Path, rules: Policy, verdict: Verdict, summary: Mapping[str, Any]) -> list[str]:
    """Say what was written, and what it cost."""
    compared = rules.person in rules.removed or any(model.needs.original for model in rules.models)
    sizes = f"smallest {verdict.smallest_class:,}" + (" persons" if rules.person else "")
    lines = [
        f"Wrote {output} and its manifest.",
        f"On {', '.join(verdict.quasi_identifiers)}, verified from the file{' and its original' if compared else ''}:",
        *(f"  {condition}" for condition in verdict.conditions),
        f"  {summary['n_records']:,} records in {summary['n_classes']:,} classes, {sizes}; "
        f"{summary['n_suppressed']:,} suppressed",
        f"  information loss {summary['loss']:.4f} ({_LOSS_WORDS.get(rules.loss.name, rules.loss.name)})",
    ]
    if summary["removed"]:
        lines.append(f"  left out: {', '.join(summary['removed'])}")
    if summary["pseudonymized"]:
        lines.append(f"  keyed pseudonyms: {', '.join(summary['pseudonymized'])}")
    if kept := rules.with_role("other"):
        lines.append(f"  kept as they are, taken for unknown to anyone: {', '.join(kept)}")
    return [*lines, *_homogeneity_lines(verdict), *_margin_lines(rules)]


def spelling_lines(
    writing: Writing, codes: Mapping[str, Mapping[str, int]], alike: Mapping[str, int], kept: Sequence[str]
) -> list[str]:
    """Say how a file is written, and which of its cells look like other ones.

    Parameters
    ----------
    writing : Writing
    codes : mapping of column to code to count
        Cells that look like a missing value.
    alike : mapping of column to count
        Values that nearly are another.
    kept : sequence of str
        Columns that stay as they came, beside quasi-identifiers that do not.
    """
    lines = []
    if writing.encoding != "utf-8":
        lines.append(f"  written as {writing.encoding}")
    if writing.decimal == ",":
        lines.append("  quasi-identifiers are written with decimal commas")
    if kept:
        form = "a decimal point" if writing.decimal == "." else "a decimal comma"
        lines.append(
            f"  quasi-identifiers are written with {form} and ISO dates, other columns as they came: {_few(kept)}"
        )
    lines += [
        f"  careful: {n:,} values of {name} differ from another only in case, spaces or width"
        for name, n in alike.items()
    ]
    if codes:
        told = [f"{name} ({', '.join(f'{code} {n:,}' for code, n in each.items())})" for name, each in codes.items()]
        lines.append(
            f"  careful: cells that look like a missing value stay what they are (missing_values): {_few(told)}"
        )
    return lines


def _few(names: Sequence[str]) -> str:
    """Join the first names, and say how many more there are."""
    more = f" and {len(names) - _FEW_NAMES} more" if len(names) > _FEW_NAMES else ""
    return f"{', '.join(names[:_FEW_NAMES])}{more}"


def effort_lines(trace: Trace) -> list[str]:
    """Say what was looked at, and what is proven."""
    effort = trace.effort
    assert effort is not None
    proof = "proven to be the least" if trace.optimal else "no proof"
    if not trace.optimal and trace.gap is not None:
        proof = f"no proof; at most {trace.gap:.1%} of it can be spared"
    ties = "" if effort.ties is None else f"; reached in {effort.ties:,} ways"
    space, share = f"10^{effort.space:.1f} possible tables", f"10^{effort.factor:.1f} tables each"
    return [
        f"  {proof}{ties}",
        f"  {space}; {effort.states:,} states settled ({share}), "
        f"{effort.pruned:,} pruned, {effort.cache_hits:,} costs from the cache, {trace.seconds:.2f} s",
    ]


def published_lines(frame: Frame) -> list[str]:
    """Show a small table as it was written."""
    if frame.n_rows > _FEW_ROWS:
        return []
    columns = [frame.column(name) for name in frame.columns]
    rows = [["" if cell is None else str(cell) for cell in row] for row in zip(*columns, strict=True)]
    return ["", aligned(frame.columns, rows)]


def verdict_lines(file: Path, verdict: Verdict) -> list[str]:
    """Say what holds apart from what fails, and from what could not be judged."""
    head = "does NOT hold" if not verdict.passed else "holds" if verdict.complete else "was judged in part"
    lines = [f"{file} {head}, on {', '.join(verdict.columns)}:"]
    lines += [f"  holds: {condition}" for condition in verdict.held]
    lines += [f"  failed: {failure}" for failure in verdict.failures]
    lines += [f"  not checked: {condition}: {needs}" for condition, needs in verdict.unchecked.items()]
    if "n_classes" in verdict.figures:
        lines.append(
            f"  {verdict.n_records:,} records in {verdict.n_classes:,} classes, smallest {verdict.smallest_class:,}; "
            f"{verdict.n_suppressed:,} suppressed; missing as {verdict.figures['missing']}"
        )
        lines += _homogeneity_lines(verdict)
    else:
        lines.append(f"  {verdict.n_records:,} records")
    return lines


def _homogeneity_lines(verdict: Verdict) -> list[str]:
    return [
        f"  careful: a class agrees on {name}, so whoever finds a person's class knows it"
        for name, fewest in verdict.distinct_sensitive.items()
        if fewest < 2
    ]


def _margin_lines(rules: Policy) -> list[str]:
    """Say what is learnt from cuts that a model of sensitive values, not the size of a class, forbade."""
    judged = dict.fromkeys(name for model in rules.models for name in model.needs.sensitive)
    if not judged or getattr(rules.method, "margin", 0) > 0:
        return []
    return [
        f"  careful: who knows the method exactly can learn of {', '.join(judged)} from the cuts that were not made; "
        "a margin blunts that (`method: {mondrian: {margin: 2}}` in the policy)"
    ]
