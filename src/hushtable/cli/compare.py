"""compare: risk and information loss of a policy for every k, suppression, recoding and method, side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hushtable.cli.arguments import (
    InFile,
    KeyFile,
    Machine,
    RegressionOptions,
    Results,
    RoleToAsk,
    names_of,
    numbers_in,
    place_of,
)
from hushtable.cli.groups import field, find_given
from hushtable.cli.report import report_outputs, write_report
from hushtable.cli.requests import key_in, with_asked_role
from hushtable.cli.summary import format_advice
from hushtable.cli.terminal import exit_with_code, format_table, print_json, print_lines, show_progress, show_step
from hushtable.errors import InputError

if TYPE_CHECKING:
    from hushtable.io import Frame
    from hushtable.policy import ComparedRun, Comparison, Policy

_FOUND_NOTE: Final = "Found: the largest share of persons that 1, 2 or 3 known records find; by a sample."
_OVERLAP_NOTE: Final = (
    "Overlap: of the 95 % intervals of the model's coefficients with the original's; 1 is all, 0 none."
)
_PICTURES: Final = (".png", ".svg")
_FIGURES: Final = ("highest", "average", "classes", "loss", "longest", "bytes", "suppressed", "found", "overlap", "s")


@dataclass(frozen=True)
class SettingsOptions:
    """What is compared."""

    k: str = field("2,3,5,10,20", "Values of k to compare.", metavar="2,3,5")
    suppression: str = field(
        "0,0.01,0.05", "Suppression limits to compare, as shares of the records.", metavar="0,0.01"
    )
    recoding: str | None = field(None, "Recodings to compare. Default: the policy's.", metavar="readable,cut")
    method: str | None = field(None, "Methods to compare. Default: the policy's.", metavar="mondrian,mingen")
    links: str | None = field(
        None,
        "Ways to link a person's records to compare: remove, fresh, linked-k-anonymity, km-anonymity.",
        metavar="remove,fresh,...",
    )
    advise: bool = field(False, "Instead, list changes of the policy by how much detail they bring back.", "--advise")


@dataclass(frozen=True)
class ComparedPolicy:
    """The policy whose settings vary."""

    policy: Path = field(..., "Policy file (YAML).", "--policy", "-p")
    ask: RoleToAsk = None
    key_file: KeyFile = None


@dataclass(frozen=True)
class ComparisonResults(Results):
    """What is written and printed."""

    plot: Path | None = field(None, "File to draw risk against loss in.", metavar="FILE.png|svg")
    # --external exists only to be refused with a reason: the losses of every k help an attacker to undo a release.
    external: bool = field(False, "", "--external", hidden=True)


def compare(
    file: InFile,
    baseline: ComparedPolicy,
    settings: SettingsOptions,
    regression: RegressionOptions,
    results: ComparisonResults,
    machine: Machine,
) -> None:
    """Compare risk and information loss for different settings. Writes no release; the output is internal.

    Exits with 3 if no combination is feasible.
    """
    from hushtable.policy import Policy

    if results.external:
        raise InputError(
            "a comparison has no external form: it shows what every k costs, which helps to undo a release.",
            hint="keep it to those who make the release, and leave --external out.",
        )
    if settings.advise:
        _check_only_advice(settings, regression, results)
    policy = Policy.read(baseline.policy)
    inputs = [place_of(file), baseline.policy, *([baseline.key_file] if baseline.key_file else []), *policy.inputs]
    _check_outputs(results, inputs)
    policy = with_asked_role(policy, baseline.ask)
    with show_step("reading"):
        frame = machine.table(file, policy.read_as.dialect)
    if settings.advise:
        _show_advice(file, frame, policy, results)
        return
    key = None if baseline.key_file is None else key_in(baseline.key_file)
    comparison = _compare_settings(frame, policy, settings, regression, key)
    is_feasible = any(row.is_feasible for row in comparison.rows)
    with exit_with_code(0 if is_feasible else 3):
        if results.plot is not None and is_feasible:
            _plot_comparison(comparison, results.plot, force=results.force)
        write_report(comparison, results)
        if results.as_json:
            print_json({"file": file.name, "facts": comparison.facts, **comparison.to_dict()})
        else:
            print_lines(*_describe_comparison(comparison))


def _compare_settings(
    frame: Frame, policy: Policy, settings: SettingsOptions, regression: RegressionOptions, key: bytes | None
) -> Comparison:
    from hushtable.policy import compare as compare_

    varied = {"recoding": settings.recoding, "method": settings.method, "links": settings.links}
    ks = numbers_in("--k", settings.k, int, "numbers", "2,3,5")
    shares = numbers_in("--suppression", settings.suppression, float, "numbers", "0,0.01")
    with show_progress("comparing") as progress:
        return compare_(
            frame,
            policy,
            k=ks,
            suppression=shares,
            **{name: names_of(text) for name, text in varied.items() if text is not None},
            model=regression.model,
            weights=regression.weights,
            key=key,
            progress=progress,
        )


def _check_only_advice(settings: SettingsOptions, regression: RegressionOptions, results: ComparisonResults) -> None:
    """Raise InputError if an option was given that says nothing of advice."""
    given = find_given(replace(settings, advise=False), regression)
    useless = [name for name, is_given in {**given, "--plot": results.plot is not None}.items() if is_given]
    if useless:
        raise InputError(
            f"{useless[0]} has no effect with --advise.", hint="advice is of the policy as it stands: leave it out."
        )


def _show_advice(file: Path, frame: Frame, policy: Policy, results: ComparisonResults) -> None:
    """Search for advice, and print or report it."""
    with show_progress("looking for advice") as progress:
        advice = policy.advise(frame, progress=progress)
    write_report(advice, results)
    if results.as_json:
        print_json({"file": file.name, "facts": advice.facts, **advice.to_dict()})
    else:
        print_lines(*advice.facts, *format_advice(advice))


def _check_outputs(results: ComparisonResults, inputs: list[Path]) -> None:
    """Raise InputError if an output cannot be written, before anything is read."""
    from hushtable.io import drafts

    path = results.plot
    if path is not None and path.suffix.lower() not in _PICTURES:
        raise InputError(
            f"cannot recognise the format of {str(path)!r} from its ending {path.suffix!r}.",
            hint=f"name it {' or '.join(_PICTURES)}.",
        )
    outputs = [*([] if path is None else [path]), *report_outputs(results.report)]
    if results.force and not outputs:
        raise InputError(
            "--force has no effect without --plot or --report.", hint="leave it out: no other file is written."
        )
    drafts.check_outputs(outputs, inputs, overwrite=results.force)


def _plot_comparison(compared: Comparison, path: Path, *, force: bool) -> None:
    from hushtable.io import drafts
    from hushtable.plots import style

    with drafts.replace_files(path, internal=(path,), overwrite=force) as (draft,), style.hide_figures():
        compared.plot().figure.savefig(draft)


def _describe_comparison(compared: Comparison) -> list[str]:
    """Describe a comparison as lines: its facts, and for each line of the plot its runs and the losses by column."""
    feasible = [row for row in compared.rows if row.is_feasible]
    lines = [*compared.facts]
    if feasible:
        lines.append(
            f"Highest and average risk; loss ({compared.loss}); characters of the longest cell; bytes of a CSV."
        )
    for line in dict.fromkeys(row.line for row in feasible):
        runs = [row for row in feasible if row.line == line]
        lines += ["", f"{line}:", _format_runs(runs, compared.knee), _format_column_losses(compared, runs)]
        lines += ["", _format_column_cells(compared, runs)]
    if feasible:
        lines += [
            "Risk is of the records that are published in classes; suppressed ones are in none.",
            *([_FOUND_NOTE] if any(row.persons_found is not None for row in feasible) else []),
            *([_OVERLAP_NOTE] if any(row.overlap is not None for row in feasible) else []),
            "What columns kept as they are expose is not measured here; anonymize does.",
        ]
    return lines


def _format_runs(rows: list[ComparedRun], knee: ComparedRun | None) -> str:
    """Format the runs of one line, which differ only in k, as a table; columns that were not requested are left out."""
    cells: list[tuple[str, ...]] = [
        (
            str(row.k),
            f"{row.highest_risk:.3g}",
            f"{row.average_risk:.3g}",
            f"{row.n_classes:,}",
            f"{row.loss:.4f}",
            f"{row.longest_cell:,}",
            "no CSV" if row.n_bytes is None else f"{row.n_bytes:,}",
            f"{row.n_suppressed:,}",
            "no link" if row.persons_found is None else f"{row.persons_found:.1%}",
            "" if row.overlap is None else f"{row.overlap:.2f}",
            f"{row.seconds:.2f}",
            "bend" if row is knee else "",
        )
        for row in rows
    ]
    titles = ("k", *_FIGURES, "")
    is_left_out = {
        "found": all(row.persons_found is None and row.links is None for row in rows),
        "overlap": all(row.overlap is None for row in rows),
    }
    positions = [position for position, title in enumerate(titles) if not is_left_out.get(title)]
    kept_titles = [titles[position] for position in positions]
    kept_cells = [[row[position] for position in positions] for row in cells]
    return format_table(
        kept_titles, kept_cells, right=kept_titles[:-1], no_wrap=kept_titles[:-1], sentences=kept_titles[-1:]
    ).rstrip()


def _format_column_losses(compared: Comparison, rows: list[ComparedRun]) -> str:
    """Format the loss of every column as a table, with one column for each k."""
    titles = [f"k = {row.k}" for row in rows]
    losses = [row.loss_by_column or {} for row in rows]
    cells = [
        (name, *(f"{loss_by_column[name]:.4f}" for loss_by_column in losses)) for name in compared.quasi_identifiers
    ]
    return format_table(("loss (set-NCP) of", *titles), cells, right=titles, no_wrap=titles).rstrip()


def _format_column_cells(compared: Comparison, rows: list[ComparedRun]) -> str:
    """Format how many distinct cells every column has, and whether they nest, with one column for each k."""
    titles = [f"k = {row.k}" for row in rows]
    by_column = [row.cells_by_column or {} for row in rows]
    cells = [
        (name, *(f"{each[name].n_cells:,}{'' if each[name].nest else '!'}" for each in by_column))
        for name in compared.quasi_identifiers
    ]
    return format_table(("distinct cells (!: overlapping) of", *titles), cells, right=titles, no_wrap=titles).rstrip()
