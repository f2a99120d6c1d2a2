"""The command: arguments to verbs to exit codes; no arithmetic.

Exit codes: 0 done, 1 the answer is no, 2 wrong input or arguments, 3 infeasible.
Only figures, names and positions are printed, never a cell of the data.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushtable.errors import HushError, InputError, PolicyError, listed, with_hint

if TYPE_CHECKING:
    from hushtable._types import Progress
    from hushtable.discover.recognise import Roles
    from hushtable.frames import Frame
    from hushtable.policy import Policy
    from hushtable.pseudonyms import Pseudonyms
    from hushtable.verifier import Verdict

app = typer.Typer(
    name="hushtable",
    help="Find what identifies people in a table, hide it with the least loss, prove it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

InFile = Annotated[Path, typer.Argument(metavar="FILE", help="CSV or Parquet.", show_default=False)]
PolicyFile = Annotated[Path | None, typer.Option("--policy", "-p", help="Policy file (YAML).", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Population = Annotated[
    Path | None,
    typer.Option(help="The people among whom the records are, for k-map and delta-presence.", show_default=False),
]
Encoding = Annotated[str, typer.Option(help="Encoding of a CSV.")]
Delimiter = Annotated[str | None, typer.Option(help="Delimiter of a CSV; found when not given.", show_default=False)]


def main() -> None:
    """Run the command; every error of the package becomes one message and its exit code."""
    try:
        app()
    except HushError as error:
        typer.echo(f"hushtable: {error}", err=True)
        sys.exit(error.exit_code)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    if version:
        from importlib import metadata

        typer.echo(metadata.version("hushtable"))
        raise typer.Exit


@app.command()
def scan(
    file: InFile,
    policy: Annotated[
        Path | None, typer.Option("--write-policy", "-p", help="Write a policy to start from.", show_default=False)
    ] = None,
    k: Annotated[int, typer.Option(min=1, help="k of the written policy.")] = 5,
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """List columns with proposed roles, measure the risk, and write a policy to start from."""
    from hushtable import frames
    from hushtable.discover.recognise import find_quasi_identifiers
    from hushtable.risk.reidentify import assess

    if policy is not None and policy.exists():
        msg = with_hint(f"{str(policy)!r} exists.", "name another file, or remove it: a policy is never overwritten.")
        raise InputError(msg)
    with _step("reading"):
        frame = frames.read(file, encoding=encoding, delimiter=delimiter)
    with _step("looking at columns and classes"):
        roles = find_quasi_identifiers(frame)
        sensitive = [name for name, role in roles.roles.items() if role == "sensitive"]
        risk = assess(frame, quasi_identifiers=roles.quasi_identifiers, sensitive=sensitive)
    if as_json:
        _print_json({"file": file.name, **roles.to_dict(), "risk": risk.to_dict()})
    else:
        _say(_role_table(roles), *_risk_lines(risk.to_dict()))
    if policy is not None:
        _write_policy(policy, _proposed_policy(roles, k).to_yaml())
        typer.echo(f"\nWrote {policy}. Check every role in it, then:", err=True)
        typer.echo(f"  hushtable anonymize {file} -p {policy} -o OUT", err=True)


@app.command()
def anonymize(
    file: InFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="CSV or Parquet to write.", show_default=False)],
    policy: PolicyFile = None,
    qi: Annotated[
        str, typer.Option(metavar="A,B", help="Quasi-identifiers, without a policy.", show_default=False)
    ] = "",
    k: Annotated[int | None, typer.Option(help="k-anonymity, without a policy.", show_default=False)] = None,
    l: Annotated[  # noqa: E741 - the model's own letter
        list[str] | None, typer.Option("--l", metavar="L:COLUMN", help="Distinct l-diversity.", show_default=False)
    ] = None,
    identifier: Annotated[str, typer.Option(metavar="A,B", help="Columns to leave out.", show_default=False)] = "",
    other: Annotated[
        str, typer.Option(metavar="A,B", help="Columns to keep although they look identifying.", show_default=False)
    ] = "",
    cut: Annotated[str | None, typer.Option(help="gain or median.", show_default=False)] = None,
    recoding: Annotated[
        str | None, typer.Option(help="cut (default), tight, label, set or central.", show_default=False)
    ] = None,
    population: Population = None,
    key_file: Annotated[
        Path | None, typer.Option(help="Secret key for pseudonyms, 16 bytes or more.", show_default=False)
    ] = None,
    keep_order: Annotated[bool, typer.Option("--keep-order", help="Do not shuffle the rows.")] = False,
    external: Annotated[bool, typer.Option("--external", help="Write the manifest that may be published.")] = False,
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Write a release in which every person hides among k, with its manifest, verified from the written file."""
    from hushtable import frames
    from hushtable.anonymizers import Mondrian
    from hushtable.anonymizers import anonymize as protect
    from hushtable.quality.loss import SetNCP

    frames.file_kind(output)
    _check_output(file, output)
    with _step("reading"):
        frame = frames.read(file, encoding=encoding, delimiter=delimiter)
    if policy is not None:
        if qi or k is not None or l or identifier or other:
            msg = with_hint("both a policy and roles or models were given.", "put everything into the policy.")
            raise InputError(msg)
        rules = _read_policy(policy)
    else:
        rules = _policy_of_options(frame, qi, k, l or [], identifier, other)
    rules = rules.changed(cut=cut, recoding=recoding)
    rules.check_covers(frame.columns)
    with _bar("cutting") as progress:
        release = protect(
            frame,
            quasi_identifiers=rules.quasi_identifiers,
            models=rules.models,
            sensitive=rules.with_role("sensitive"),
            method=Mondrian(
                cut=rules.cut,
                recoding=rules.recoding,
                strict=rules.strict,
                margin=rules.margin,
                grid=rules.grid,
                exchange=rules.exchange,
            ),
            hierarchies=rules.hierarchies(policy.parent if policy else "."),
            unknown=rules.unknown,
            loss=SetNCP(rules.weights),
            suppression_limit=rules.limits.suppression,
            population=_frame_of(population, encoding, delimiter),
            missing=rules.missing,
            identifiers=rules.removed,
            pseudonyms=_pseudonyms(rules, key_file),
            specs=_specs(rules),
            progress=progress,
        )
    with _step("writing and verifying"):
        verdict = release.write(output, keep_order=keep_order, external=external, policy=rules.to_dict())
    summary = release.to_dict()
    if as_json:
        _print_json({"file": str(output), "verified": verdict.to_dict(), **summary})
        return
    _say(*_release_lines(output, rules, verdict, summary))


@app.command()
def verify(
    file: InFile,
    policy: Annotated[Path, typer.Option("--policy", "-p", help="Policy file (YAML).", show_default=False)],
    missing: Annotated[str, typer.Option(help="category, wildcard or worst.")] = "category",
    population: Population = None,
    original: Annotated[
        Path | None,
        typer.Option(help="The input, whose sensitive values are what t-closeness compares with.", show_default=False),
    ] = None,
    no_manifest: Annotated[bool, typer.Option("--no-manifest", help="Do not ask for a manifest.")] = False,
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Judge a written release from the file alone; exit 1 when it does not hold what it claims."""
    from hushtable import frames, manifest
    from hushtable.verifier import verify as judge

    rules = _read_policy(policy)
    if not no_manifest:
        manifest.check_hash(file, manifest.read(file))
    with _step("reading and judging"):
        frame = frames.read(file, encoding=encoding, delimiter=delimiter)
        rules.check_release(frame.columns)
        verdict = judge(
            frame,
            quasi_identifiers=rules.quasi_identifiers,
            models=rules.models,
            sensitive=rules.with_role("sensitive"),
            specs=_specs(rules),
            hierarchies=rules.hierarchies(policy.parent),
            population=_frame_of(population, encoding, delimiter),
            original=_frame_of(original, encoding, delimiter),
            missing=missing,  # type: ignore[arg-type]  # checked by the callee
            highest_risk=rules.limits.highest_risk,
            average_risk=rules.limits.average_risk,
        )
    if as_json:
        _print_json(verdict.to_dict())
    else:
        _say(*_verdict_lines(file, verdict))
    if not verdict.passed:
        raise typer.Exit(1)


@app.command("mask-dependence")
def mask_dependence(
    file: InFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="CSV or Parquet to write.", show_default=False)],
    a: Annotated[str, typer.Option("--a", metavar="A,B", help="Columns to mask.", show_default=False)],
    b: Annotated[
        str, typer.Option("--b", metavar="A,B", help="Columns they shall be independent of.", show_default=False)
    ],
    clusters: Annotated[int, typer.Option(help="Clusters of equal size that replace --b.", show_default=False)],
    c: Annotated[
        str | None, typer.Option("--c", metavar="A,B", help="Columns to keep; all others.", show_default=False)
    ] = None,
    values: Annotated[
        Path | None,
        typer.Option(help="Where the clusters' values go; beside the output, as NAME.clusters.", show_default=False),
    ] = None,
    publish: Annotated[str, typer.Option(help="Of --b: tuples, columns or bins.")] = "tuples",
    clustering: Annotated[str, typer.Option(help="auto, runs, median or kmeans.")] = "auto",
    method: Annotated[str, typer.Option(help="auto, exact, greedy or pivot.")] = "auto",
    missing: Annotated[
        str, typer.Option(help="A missing cell of --a: category, or worst (always masked).")
    ] = "category",
    optimise_ties: Annotated[
        bool, typer.Option("--optimise-ties", help="Settle ties of --b for fewer stars; clusters then depend on --a.")
    ] = False,
    label: Annotated[str, typer.Option(help="Name of the cluster's column.")] = "cluster",
    keep_order: Annotated[bool, typer.Option("--keep-order", help="Do not shuffle the rows.")] = False,
    seed: Annotated[int, typer.Option(help="Of what is removed, and of ties.")] = 0,
    seconds: Annotated[float | None, typer.Option(help="Time for the search.", show_default=False)] = None,
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Write a table in which some columns are exactly independent of others, and the others' values by cluster."""
    from hushtable import frames
    from hushtable.anonymizers.independence import mask_dependence as mask
    from hushtable.search import Budget

    values = values or output.with_name(f"{output.stem}.clusters{output.suffix}")
    for path in (output, values):
        frames.file_kind(path)
        _check_output(file, path)
    with _step("reading"):
        frame = frames.read(file, encoding=encoding, delimiter=delimiter)
    with _step("masking"):
        release = mask(
            frame,
            a=_names(a),
            b=_names(b),
            clusters=clusters,
            c=None if c is None else _names(c),
            clustering=clustering,
            method=method,  # type: ignore[arg-type]  # checked by the callee
            missing=missing,  # type: ignore[arg-type]
            publish=publish,  # type: ignore[arg-type]
            optimise_ties=optimise_ties,
            label=label,
            seed=seed,
            budget=None if seconds is None else Budget(seconds=seconds),
        )
    with _step("writing and verifying"):
        verdict = release.write(output, values, keep_order=keep_order)
    if as_json:
        _print_json({"file": str(output), "values": str(values), "verified": verdict.to_dict(), **release.to_dict()})
        return
    proof = "the fewest possible" if release.optimal else f"at most {release.gap:.1%} above the fewest possible"
    _say(
        f"Wrote {output} and {values}.",
        f"{', '.join(verdict.columns)}: exactly independent of {verdict.label}, verified from the file:",
        f"  {verdict.n_records:,} records in {verdict.n_clusters} clusters; {len(release.removed)} removed",
        f"  {release.n_stars:,} cells masked ({proof}), {release.share_kept:.1%} of the cells kept",
        *(f"  careful: {warning}" for warning in release.warnings),
        "  This hides a correlation, not people: whoever knows a record's other cells can find it.",
    )


def _read_policy(path: Path) -> Policy:
    from hushtable.policy import Policy

    return Policy.read(path)


def _policy_of_options(
    frame: Frame, qi: str, k: int | None, diversity: list[str], identifier: str, other: str
) -> Policy:
    """Make a policy of plain options; a column that looks identifying and was given no role is refused."""
    from hushtable.discover.recognise import find_quasi_identifiers
    from hushtable.policy import Policy

    if not qi or k is None:
        msg = with_hint(
            "neither a policy nor quasi-identifiers and k were given.",
            "pass -p policy.yaml (`hushtable scan FILE -p policy.yaml` writes one), or --qi age,sex --k 5.",
        )
        raise InputError(msg)
    models: list[dict[str, Any]] = [{"k-anonymity": k}]
    for entry in diversity:
        number, _, column = entry.partition(":")
        if not number.isdigit() or not column:
            msg = with_hint(f"--l {entry!r} is not of the form L:COLUMN.", "for instance: --l 2:salary.")
            raise InputError(msg)
        models.append({"distinct-l-diversity": {"l": int(number), "sensitive": column}})
    given = {
        **dict.fromkeys(_names(other), "other"),
        **{model["distinct-l-diversity"]["sensitive"]: "sensitive" for model in models[1:]},
        **dict.fromkeys(_names(identifier), "identifier"),
        **dict.fromkeys(_names(qi), "quasi-identifier"),
    }
    undeclared = [name for name in frame.columns if name not in given]
    if undeclared:
        proposed = find_quasi_identifiers(frame.select(undeclared)).columns
        looks = [column for column in proposed if column.role == "identifier"]
        if looks:
            msg = with_hint(
                f"column {looks[0].name!r} looks like a direct identifier ({looks[0].reason}) and was given no role.",
                f"--identifier {looks[0].name} leaves it out, --other {looks[0].name} keeps it.",
            )
            raise InputError(msg)
        typer.echo(f"Kept as they are, taken for unknown to anyone: {', '.join(undeclared)}.", err=True)
    return Policy.make({"columns": {**dict.fromkeys(undeclared, "other"), **given}, "models": models})


def _names(option: str) -> list[str]:
    return [name.strip() for name in option.split(",") if name.strip()]


def _proposed_policy(roles: Roles, k: int) -> Policy:
    from hushtable.policy import Policy

    diverse = [
        {"distinct-l-diversity": {"l": 2, "sensitive": column.name}}
        for column in roles.columns
        if column.role == "sensitive" and column.n_distinct > 1
    ]
    return Policy.make({"columns": dict(roles.roles), "models": [{"k-anonymity": k}, *diverse]})


def _pseudonyms(rules: Policy, key_file: Path | None) -> Pseudonyms | None:
    from hushtable.pseudonyms import Pseudonyms

    if not rules.pseudonymized:
        return None
    if key_file is None:
        msg = with_hint(
            f"the policy gives pseudonyms to {listed(rules.pseudonymized)}, but there is no key.",
            "pass --key-file; make one with: openssl rand -out key.bin 32.",
        )
        raise PolicyError(msg)
    try:
        return Pseudonyms(rules.pseudonymized, key_file.read_bytes())
    except OSError:
        msg = with_hint(f"cannot read the key file {str(key_file)!r}.", "check the name and that you may read it.")
        raise InputError(msg) from None


def _specs(rules: Policy) -> dict[str, Any]:
    from hushtable.column import ColumnSpec

    return {name: ColumnSpec(column.kind, column.order) for name, column in rules.columns.items()}


def _frame_of(path: Path | None, encoding: str, delimiter: str | None) -> Frame | None:
    from hushtable import frames

    return None if path is None else frames.read(path, encoding=encoding, delimiter=delimiter)


def _check_output(source: Path, output: Path) -> None:
    if not output.parent.is_dir():
        msg = with_hint(f"there is no folder {str(output.parent)!r}.", "make it first; nothing was written.")
        raise InputError(msg)
    if output.exists() and source.exists() and output.samefile(source):
        msg = with_hint("the output is the input.", "name another file; the input is never overwritten.")
        raise InputError(msg)


def _write_policy(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        msg = with_hint(f"cannot write {str(path)!r}: {error.strerror}.", "check that the folder exists.")
        raise InputError(msg) from None


def _print_json(entries: Mapping[str, Any]) -> None:
    _say(json.dumps(entries, indent=2, ensure_ascii=False))


def _say(*lines: str) -> None:
    """Print, and stop quietly when the reader of a pipe has gone (``| head``)."""
    try:
        typer.echo("\n".join(lines))
    except BrokenPipeError:
        # Python flushes stdout once more when it ends; there, it must not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit from None


def _role_table(roles: Roles) -> str:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for title in ("column", "kind", "distinct", "missing", "proposed role", "because"):
        table.add_column(title, justify="right" if title in ("distinct", "missing") else "left")
    for column in roles.columns:
        reason = f"{column.reason}; {column.warning}" if column.warning else column.reason
        cells = (column.name, column.kind, f"{column.n_distinct:,}", f"{column.n_missing:,}", column.role, reason)
        # Text, because a name may hold what rich reads as markup.
        table.add_row(*(Text(cell) for cell in cells))
    # Piped output is not folded at some terminal's width.
    page = io.StringIO()
    Console(file=page, width=shutil.get_terminal_size().columns if sys.stdout.isatty() else 200).print(table)
    return page.getvalue()


def _risk_lines(risk: Mapping[str, Any]) -> list[str]:
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


def _release_lines(output: Path, rules: Policy, verdict: Verdict, summary: Mapping[str, Any]) -> list[str]:
    lines = [
        f"Wrote {output} and its manifest.",
        f"On {', '.join(verdict.quasi_identifiers)}, verified from the file:",
        *(f"  {condition}" for condition in verdict.conditions),
        f"  {summary['n_records']:,} records in {summary['n_classes']:,} classes, "
        f"smallest {summary['smallest_class']:,}; {summary['n_suppressed']:,} suppressed",
        f"  information loss {summary['loss']:.4f} (set-NCP, 0 none to 1 all)",
    ]
    if summary["removed"]:
        lines.append(f"  left out: {', '.join(summary['removed'])}")
    if summary["pseudonymized"]:
        lines.append(f"  keyed pseudonyms: {', '.join(summary['pseudonymized'])}")
    if kept := rules.with_role("other"):
        lines.append(f"  kept as they are, taken for unknown to anyone: {', '.join(kept)}")
    return [*lines, *_homogeneity_lines(verdict)]


def _verdict_lines(file: Path, verdict: Verdict) -> list[str]:
    head = "holds" if verdict.passed else "does NOT hold"
    lines = [
        f"{file} {head}, on {', '.join(verdict.quasi_identifiers)}:",
        *(f"  {condition}" for condition in verdict.conditions),
        f"  {verdict.n_records:,} records in {verdict.n_classes:,} classes, smallest {verdict.smallest_class:,}; "
        f"{verdict.n_suppressed:,} suppressed; missing as {verdict.missing}",
    ]
    return [*lines, *_homogeneity_lines(verdict), *(f"  failed: {failure}" for failure in verdict.failures)]


def _homogeneity_lines(verdict: Verdict) -> list[str]:
    return [
        f"  careful: a class agrees on {name}, so whoever finds a person's class knows it"
        for name, fewest in verdict.distinct_sensitive.items()
        if fewest < 2
    ]


@contextmanager
def _step(what: str) -> Iterator[None]:
    """Show what goes on while it does, on a terminal only."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


@contextmanager
def _bar(what: str) -> Iterator[Progress | None]:
    """Show a progress bar, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    if _is_first_run():
        typer.echo("Compiling for the first time on this machine; this takes about half a minute, once.", err=True)
    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=1.0)
        yield lambda done: bar.update(task, completed=done)


def _is_first_run() -> bool:
    """Tell whether no kernel of the search has been compiled here yet."""
    from hushtable.kernels import split

    stats = split.grow._cache._cache_path  # type: ignore[attr-defined]  # numba has no public way to ask
    return not any(Path(stats).glob("split.grow-*.nbi"))
