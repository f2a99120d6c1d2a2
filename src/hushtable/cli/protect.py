"""scan, anonymize, verify: from a file to a release that holds what its policy asks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from hushtable.cli.arguments import (
    AsJson,
    Delimiter,
    Encoding,
    Force,
    InFile,
    PolicyFile,
    Population,
    frame_of,
    names_of,
    numbers_of,
)
from hushtable.cli.terminal import aligned, bar, print_json, say, step
from hushtable.errors import InputError, PolicyError, listed, with_hint

if TYPE_CHECKING:
    from hushtable.claims import Verdict
    from hushtable.column import Kind
    from hushtable.discover.recognise import Roles
    from hushtable.frames import Frame
    from hushtable.policy import Policy
    from hushtable.pseudonyms import Pseudonyms
    from hushtable.search import Trace

__all__ = ["anonymize", "scan", "verify"]

_LOSS_WORDS: Final = {
    "ncp": "set-NCP, 0 none to 1 all",
    "minimal_distortion": "changed cells, weighted",
    "certainty": "certainty, a sum over cells",
    "certainty-mg-ga": "certainty as MG-GA has it, a sum over cells",
}
_FEW_ROWS = 30


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
    from hushtable import drafts, frames
    from hushtable.discover.recognise import find_quasi_identifiers
    from hushtable.risk.assess import assess

    if policy is not None:
        drafts.check_outputs((policy,), (file,), overwrite=True)
    if policy is not None and policy.exists():
        msg = with_hint(f"{str(policy)!r} exists.", "name another file, or remove it: a policy is never overwritten.")
        raise InputError(msg)
    with step("reading"):
        frame = frames.read(file, encoding=encoding, delimiter=delimiter)
    with step("looking at columns and classes"):
        roles = find_quasi_identifiers(frame)
        sensitive = [name for name, role in roles.roles.items() if role == "sensitive"]
        risk = assess(frame, quasi_identifiers=roles.quasi_identifiers, sensitive=sensitive)
    if as_json:
        print_json({"file": file.name, **roles.to_dict(), "risk": risk.to_dict()})
    else:
        say(_role_table(roles), *_risk_lines(risk.to_dict()))
    if policy is not None:
        _write_policy(policy, _proposed_policy(roles, k).to_yaml())
        typer.echo(f"\nWrote {policy}. Check every role in it, then:", err=True)
        typer.echo(f"  hushtable anonymize {file} -p {policy} -o OUT", err=True)


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
    method: Annotated[
        str | None, typer.Option(help="mondrian (default), mingen or genetic.", show_default=False)
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(help="ncp (default), minimal_distortion, certainty or certainty-mg-ga.", show_default=False),
    ] = None,
    weights: Annotated[
        str, typer.Option(metavar="A=20,B=0", help="How much the loss of a column counts.", show_default=False)
    ] = "",
    domains: Annotated[
        Path | None, typer.Option(help="Hierarchies, a line `Column/node: value, value` each.", show_default=False)
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Stop searching then, with the best so far.", show_default=False)
    ] = None,
    population: Population = None,
    key_file: Annotated[
        Path | None, typer.Option(help="Secret key for pseudonyms, 16 bytes or more.", show_default=False)
    ] = None,
    keep_order: Annotated[bool, typer.Option("--keep-order", help="Do not shuffle the rows.")] = False,
    external: Annotated[bool, typer.Option("--external", help="Write the manifest that may be published.")] = False,
    force: Force = False,
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Write a release in which every person hides among k, with its manifest, verified from the written file."""
    from hushtable import drafts, frames, manifest
    from hushtable.anonymizers import anonymize as protect
    from hushtable.search import Budget

    frames.file_kind(output)
    if policy is not None and (qi or k is not None or l or identifier or other):
        msg = with_hint("both a policy and roles or models were given.", "put everything into the policy.")
        raise InputError(msg)
    given = None if policy is None else _read_policy(policy)
    hierarchies = {} if policy is None or given is None else given.hierarchies(policy.parent)
    inputs = drafts.paths_among(file, policy, population, domains, key_file, hierarchies)
    drafts.check_outputs((output, manifest.manifest_path(output)), inputs, overwrite=force)
    with step("reading"):
        frame = frames.read(file, encoding=encoding, delimiter=delimiter)
    rules = given or _policy_of_options(frame, qi, k, l or [], identifier, other)
    rules = rules.changed(cut=cut, recoding=recoding, method=method, loss=loss, weights=numbers_of(weights) or None)
    rules.check_covers(frame.columns)
    with bar("searching") as progress:
        release = protect(
            frame,
            quasi_identifiers=rules.quasi_identifiers,
            models=rules.models,
            sensitive=rules.with_role("sensitive"),
            method=_method(rules),
            hierarchies={**hierarchies, **_domains(rules, domains)},
            unknown=rules.unknown,
            loss=_loss(rules),
            budget=None if seconds is None else Budget(seconds=seconds),
            suppression_limit=rules.limits.suppression,
            population=frame_of(population, encoding, delimiter),
            missing=rules.missing,
            identifiers=rules.removed,
            pseudonyms=_pseudonyms(rules, key_file),
            specs=_specs(rules),
            progress=progress,
        )
    with step("writing and verifying"):
        verdict = release.write(
            output, keep_order=keep_order, external=external, policy=rules.to_dict(), overwrite=force
        )
    summary = release.to_dict()
    if as_json:
        print_json({"file": str(output), "verified": verdict.to_dict(), **summary})
        return
    say(*_release_lines(output, rules, verdict, summary))
    if release.trace.effort is not None:
        say(*_effort_lines(release.trace), *_published_lines(frames.read(output)))


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
    from hushtable.cells import SUPPRESSED
    from hushtable.claims import verify as judge

    rules = _read_policy(policy)
    claim = {} if no_manifest else manifest.read(file)
    if claim:
        manifest.check_hash(file, claim)
    with step("reading and judging"):
        frame = frames.read(file, encoding=encoding, delimiter=delimiter)
        rules.check_release(frame.columns)
        verdict = judge(
            frame,
            quasi_identifiers=rules.quasi_identifiers,
            models=rules.models,
            sensitive=rules.with_role("sensitive"),
            suppressed=None if claim.get("n_suppressed") == 0 else SUPPRESSED,
            specs=_specs(rules, manifest.kinds(claim)),
            hierarchies=rules.hierarchies(policy.parent),
            population=frame_of(population, encoding, delimiter),
            original=frame_of(original, encoding, delimiter),
            missing=missing,  # type: ignore[arg-type]  # checked by the callee
            highest_risk=rules.limits.highest_risk,
            average_risk=rules.limits.average_risk,
        )
    if as_json:
        print_json(verdict.to_dict())
    else:
        say(*_verdict_lines(file, verdict))
    if not verdict.passed:
        raise typer.Exit(1)


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
        **dict.fromkeys(names_of(other), "other"),
        **{model["distinct-l-diversity"]["sensitive"]: "sensitive" for model in models[1:]},
        **dict.fromkeys(names_of(identifier), "identifier"),
        **dict.fromkeys(names_of(qi), "quasi-identifier"),
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


def _proposed_policy(roles: Roles, k: int) -> Policy:
    from hushtable.policy import Policy

    diverse = [
        {"distinct-l-diversity": {"l": 2, "sensitive": column.name}}
        for column in roles.columns
        if column.role == "sensitive" and column.n_distinct > 1
    ]
    return Policy.make({"columns": dict(roles.roles), "models": [{"k-anonymity": k}, *diverse]})


def _method(rules: Policy) -> Any:
    from hushtable.anonymizers import Genetic, MinGen, Mondrian

    if rules.method == "mingen":
        return MinGen(seed=rules.seed)
    if rules.method == "genetic":
        return Genetic(seed=rules.seed)
    return Mondrian(
        cut=rules.cut,
        recoding=rules.recoding,
        strict=rules.strict,
        margin=rules.margin,
        grid=rules.grid,
        exchange=rules.exchange,
    )


def _loss(rules: Policy) -> Any:
    from hushtable.quality.certainty import Certainty, MinimalDistortion
    from hushtable.quality.loss import SetNCP

    if rules.loss == "ncp":
        return SetNCP(rules.weights)
    if rules.loss == "minimal_distortion":
        return MinimalDistortion(rules.weights)
    return Certainty(rules.weights, variant="mg-ga" if rules.loss == "certainty-mg-ga" else "leaves")


def _domains(rules: Policy, path: Path | None) -> dict[str, Any]:
    """Read the hierarchies of quasi-identifiers and sensitive columns; others in the file are not asked for."""
    from hushtable.hierarchy import Hierarchy

    if path is None:
        return {}
    asked = {*rules.quasi_identifiers, *rules.with_role("sensitive")}
    return {name: ladder for name, ladder in Hierarchy.from_domains(path).items() if name in asked}


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


def _specs(rules: Policy, kinds: Mapping[str, Kind] | None = None) -> dict[str, Any]:
    """Return how columns are typed: as the policy says, else as the release says that they were."""
    from hushtable.column import ColumnSpec

    # The order of an ordered column is no manifest's to tell, for it is a list of its values.
    known = {name: kind for name, kind in (kinds or {}).items() if kind != "ordered"}
    return {
        name: ColumnSpec(column.kind or (None if column.order else known.get(name)), column.order)
        for name, column in rules.columns.items()
    }


def _write_policy(path: Path, text: str) -> None:
    from hushtable import drafts

    with drafts.replacing(path) as (draft,):
        draft.write_text(text, encoding="utf-8")


def _role_table(roles: Roles) -> str:
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
        f"  information loss {summary['loss']:.4f} ({_LOSS_WORDS[rules.loss]})",
    ]
    if summary["removed"]:
        lines.append(f"  left out: {', '.join(summary['removed'])}")
    if summary["pseudonymized"]:
        lines.append(f"  keyed pseudonyms: {', '.join(summary['pseudonymized'])}")
    if kept := rules.with_role("other"):
        lines.append(f"  kept as they are, taken for unknown to anyone: {', '.join(kept)}")
    return [*lines, *_homogeneity_lines(verdict), *_margin_lines(rules)]


def _margin_lines(rules: Policy) -> list[str]:
    """Say what is learnt from cuts that a model of sensitive values, not the size of a class, forbade."""
    judged = dict.fromkeys(name for model in rules.models for name in model.needs.sensitive)
    has_margin = rules.method == "mondrian" and rules.margin > 0
    if not judged or has_margin:
        return []
    remedy = "`margin: 2`" if rules.method == "mondrian" else "`method: mondrian` with `margin: 2`"
    return [
        f"  careful: who knows the method exactly can learn of {', '.join(judged)} from the cuts that were not made; "
        f"a margin blunts that ({remedy} in the policy)"
    ]


def _effort_lines(trace: Trace) -> list[str]:
    """Say what was looked at, and what is proven."""
    effort = trace.effort
    assert effort is not None
    proof = "proven to be the least" if trace.optimal else "no proof"
    if not trace.optimal and trace.gap is not None:
        proof = f"no proof; at most {trace.gap:.1%} of it can be spared"
    ties = "" if effort.ties is None else f"; {effort.ties:,} partitions reach it"
    space, share = f"10^{effort.space:.1f} possible tables", f"10^{effort.factor:.1f} tables each"
    return [
        f"  {proof}{ties}",
        f"  {space}; {effort.states:,} states settled ({share}), "
        f"{effort.pruned:,} pruned, {effort.cache_hits:,} costs from the cache, {trace.seconds:.2f} s",
    ]


def _published_lines(frame: Frame) -> list[str]:
    """Show a small table as it was written."""
    if frame.n_rows > _FEW_ROWS:
        return []
    columns = [frame.column(name) for name in frame.columns]
    rows = [["" if cell is None else str(cell) for cell in row] for row in zip(*columns, strict=True)]
    return ["", aligned(frame.columns, rows)]


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
