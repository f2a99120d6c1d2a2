"""anonymize, verify: from a file to a release that holds what its policy asks; also where rows stay out of memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from hushtable.cli.arguments import (
    AsJson,
    Delimiter,
    Domains,
    Encoding,
    External,
    Force,
    InFile,
    KeepOrder,
    KeyFile,
    PolicyFile,
    PopulationOption,
    Threads,
    Verbose,
    WithCodebook,
    dialect_of,
    frame_of,
    numbers_of,
    outputs_of,
    place_of,
    table_of,
    table_path,
    use_threads,
)
from hushtable.cli.report import ReportFile, after_writing, report_outputs, write_report
from hushtable.cli.requests import changed, decided, key_of, policy_of_options
from hushtable.cli.summary import (
    abridged,
    effort_lines,
    far_out_lines,
    linked_lines,
    listed_lines,
    published_lines,
    release_details,
    release_facts,
    release_notes,
    spelling_lines,
    verdict_lines,
)
from hushtable.cli.terminal import bar, leaving, print_json, say, step, tell
from hushtable.errors import InputError

if TYPE_CHECKING:
    from hushtable.claims import Claim, Verdict
    from hushtable.engines import Files, Lazy
    from hushtable.io import Dialect, Frame
    from hushtable.policy import Policy
    from hushtable.release import AppliedMapping, Release

__all__ = ["anonymize", "head_of", "origin_of", "verify"]


def origin_of(file: Path, engine: str, dialect: Dialect, master: str | None = None) -> Files | Lazy | None:
    """Return where the rows are, if they are not to be read into memory."""
    from hushtable import engines

    if master is not None and engine != "spark":
        raise InputError("--master names a cluster of Spark.", hint="add --engine spark, or leave it out.")
    if str(file) == "-":
        if engine == "spark":
            raise InputError("--engine spark reads Parquet files, not standard input.", hint="name their folder.")
        return None
    choice, session = cast("engines.EngineChoice", engine), None
    if engine == "spark":
        with step("starting Spark"):
            session = engines.session_of_spark(master)
    return engines.opened(file, engine=choice, session=session, dialect=dialect)


def head_of(origin: Files | Lazy) -> Frame:
    """Return some rows to look for roles in, where not all are read."""
    from hushtable import engines

    return origin.head(engines.LOOKED_AT)


_FLOOR_SECONDS: Final = 10.0


Ask = Annotated[
    str | None,
    typer.Option(
        "--ask", metavar="ROLE", help="Role for all columns whose role in the policy is ask.", show_default=False
    ),
]


def anonymize(
    file: InFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write: CSV or Parquet.", show_default=False)],
    policy: PolicyFile = None,
    qi: Annotated[
        str, typer.Option(metavar="A,B", help="Quasi-identifiers, if there is no policy.", show_default=False)
    ] = "",
    k: Annotated[int | None, typer.Option(help="k of k-anonymity, if there is no policy.", show_default=False)] = None,
    l: Annotated[  # noqa: E741 - the model's own letter
        list[str] | None,
        typer.Option("--l", metavar="L:COLUMN", help="Distinct l-diversity of a column.", show_default=False),
    ] = None,
    notion: Annotated[
        str | None,
        typer.Option(
            help="Matching notion instead of classes: k1, 1k, kk, global-k1, global-1k, mg-ga.", show_default=False
        ),
    ] = None,
    identifier: Annotated[str, typer.Option(metavar="A,B", help="Columns to leave out.", show_default=False)] = "",
    other: Annotated[
        str, typer.Option(metavar="A,B", help="Columns to keep, although they look identifying.", show_default=False)
    ] = "",
    kind: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=KIND",
            help="Kind of a column, if its cells mislead: integer, decimal, date, datetime, time, ordered or category.",
            show_default=False,
        ),
    ] = None,
    person: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column that says whose record a row is. Counts persons instead of records.",
            show_default=False,
        ),
    ] = None,
    recoding: Annotated[
        str | None,
        typer.Option(
            help="How cells are written: readable (default), cut, tight, label, set or central.", show_default=False
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(help="Language of the words in cells: en (default), de, fr, es, it or nl.", show_default=False),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Published column whose cells name the folders of a Hive data set, where a folder is written.",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="How to search: mondrian (default), full_domain, local_recoding, histories, mingen or genetic.",
            show_default=False,
        ),
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            help="ncp (default), minimal_distortion, certainty or certainty-mg-ga; of full_domain also arx_loss, "
            "non_uniform_entropy, precision, discernibility, average_class_size.",
            show_default=False,
        ),
    ] = None,
    weights: Annotated[
        str, typer.Option(metavar="A=20,B=0", help="How much the loss of each column counts.", show_default=False)
    ] = "",
    ask: Ask = None,
    domains: Domains = None,
    n_best: Annotated[
        int | None, typer.Option(help="mingen: number of tables of least loss to find.", show_default=False)
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(help="mingen: number of tables to draw.", show_default=False)
    ] = None,
    generations: Annotated[
        int | None, typer.Option(help="genetic: maximum number of generations.", show_default=False)
    ] = None,
    individuals: Annotated[
        int | None, typer.Option(help="genetic: number of individuals in a generation.", show_default=False)
    ] = None,
    mutation_rate: Annotated[
        float | None, typer.Option(help="genetic, variant mg-ga: m in the rate m / (m + 100).", show_default=False)
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of methods that draw.", show_default=False)] = None,
    seconds: Annotated[
        float | None,
        typer.Option(help="Stop the search after so many seconds, with the best found so far.", show_default=False),
    ] = None,
    population: PopulationOption = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PLACE=VALUE",
            help="Change an entry of the policy for once: method.mondrian.cut=median.",
            show_default=False,
        ),
    ] = None,
    key_file: KeyFile = None,
    keep_order: KeepOrder = False,
    external: External = False,
    codebook: WithCodebook = True,
    save_recoding: Annotated[
        Path | None,
        typer.Option(
            help="Write the cells to a file, so that `hushtable apply` can publish new rows by them.",
            show_default=False,
        ),
    ] = None,
    mapping: Annotated[
        Path | None,
        typer.Option(
            help="Write which value became which cell as a CSV, without what too few people have. It is internal.",
            show_default=False,
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            help="Write a proof of how far the loss is from the lowest possible. It is internal.",
            show_default=False,
        ),
    ] = None,
    report: ReportFile = None,
    force: Force = False,
    threads: Threads = None,
    engine: Annotated[
        str,
        typer.Option(
            help="auto, memory, stream, or spark. stream reads batch by batch, and writes Parquet files into a folder; "
            "spark lets a cluster do so."
        ),
    ] = "auto",
    master: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Cluster of --engine spark: spark://host:7077, yarn, local[4]. Default: what Spark's settings say.",
            show_default=False,
        ),
    ] = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Write a release that meets a privacy model, with its manifest, and verify the written file."""
    use_threads(threads)
    from hushtable.anonymizers import check_learnable, doubts_of_saving
    from hushtable.io import Snapshot, drafts
    from hushtable.release import check_order, check_writing, is_folder
    from hushtable.search import Budget
    from hushtable.tables import Table

    if certificate is not None and external:
        raise InputError(
            "a certificate was asked for beside a published file.",
            hint="it tells more of the input than the release does: leave out --external or --certificate.",
        )
    rules = None if policy is None else _read_policy(policy)
    known = dialect_of(encoding, delimiter, None if rules is None else rules.read_as.dialect)
    origin = origin_of(file, engine, known, master)
    inputs = [place_of(file), *(path for path in (policy, key_file, domains, population) if path is not None)]
    before = Snapshot.of(drafts.paths_among(*inputs))
    by = by if by is not None or rules is None else rules.writing.by
    sources = [*inputs, *(rules.inputs if rules else ()), *(() if origin is None else origin.inputs)]
    others = (*(path for path in (save_recoding, certificate, mapping) if path is not None), *report_outputs(report))
    as_folder = by is not None or (origin is not None and is_folder(output))
    _check_outputs(output, others, sources, codebook=codebook, force=force, as_folder=as_folder)
    with step("reading"):
        frame = table_of(file, encoding, delimiter, known) if origin is None else head_of(origin)
    roles = {"quasi-identifier": qi, "identifier": identifier, "other": other}
    if rules is None:
        frame = frame.learned()
        rules = policy_of_options(frame, roles, k, notion, l or [])
    elif any(roles.values()) or k is not None or notion or l:
        raise InputError("both a policy and roles or models were given.", hint="put everything into the policy.")
    options = {
        "method": method,
        "loss": loss,
        "recoding": recoding,
        "language": language,
        "by": by,
        "weights": numbers_of(weights) or None,
        "domains": domains,
        "population": population,
        "person": person,
        "n_best": n_best,
        "iterations": iterations,
        "generations": generations,
        "individuals": individuals,
        "mutation_rate": mutation_rate,
        "seed": seed,
        "seconds": seconds,
    }
    rules = changed(decided(rules, ask), options, kind or [], set_ or [])
    rules.check_decided()
    rules.check_covers(frame.columns)
    key = key_of(key_file, rules)
    if origin is not None and keep_order:
        raise InputError(
            "--keep-order with an input that is read batch by batch.", hint="leave it out, or take --engine memory."
        )
    if origin is None and by is None:
        check_writing(output, rules.writing.made)
    if keep_order:
        check_order(rules.person, rules.models)
    if save_recoding is not None and origin is None:
        style = getattr(rules.method, "recoding", "")
        check_learnable(rules.models, style)
        coded = Table.encode(frame.told(rules.specs), rules.quasi_identifiers, rules.specs)
        for name, doubt in doubts_of_saving(coded, rules.hierarchies(), style).items():
            tell(f"The recoding may not be saved for column {name!r}: {doubt}.")
    with bar("searching") as progress:
        release = rules.protect(frame if origin is None else origin, key=key, progress=progress)
    if certificate is not None and release.certificate is None:
        with step("proving a floor"):
            release = release.with_bound(Budget(seconds=seconds or _FLOOR_SECONDS))
    # A report tells the hash of the input.
    before.check()
    applied = None if mapping is None else release.mapping()
    if save_recoding is not None and origin is not None:
        # Before anything is written: a recoding that may not be saved is what was asked for, too.
        release.save_recoding(save_recoding, overwrite=force)
    with step("writing and verifying"):
        verdict = release.write(
            output,
            keep_order=keep_order,
            external=external,
            policy=rules.to_dict(),
            codebook=codebook,
            overwrite=force,
        )
    # A key is no input of which anybody is told, not even its hash.
    made_from = [path for path in inputs if path != key_file]
    told = {"file": output, "policy": rules, "verdict": verdict, "inputs": made_from}
    try:
        with after_writing(output):
            if certificate is not None and release.certificate is not None:
                release.certificate.write(certificate, overwrite=force)
            if applied is not None and mapping is not None:
                _write_mapping(applied, mapping, force=force)
            write_report(release, report, force=force, audience="external" if external else "internal", **told)
            # Last: of all, this may fail by what the release holds.
            if save_recoding is not None and origin is None:
                release.save_recoding(save_recoding, overwrite=force)
    finally:
        _say_released(output, rules, release, verdict, as_json=as_json, verbose=verbose, codebook=codebook)


def _write_mapping(applied: AppliedMapping, path: Path, *, force: bool) -> None:
    applied.write(path, overwrite=force)
    n_left_out = sum(applied.left_out.values())
    tell(
        f"Wrote {path}: {len(applied.rows)} pairs of a value and its cell. It tells more than the release: keep it "
        f"inside. {n_left_out} pairs that fewer than {applied.least} have are left out."
    )


def _say_released(
    output: Path, rules: Policy, release: Release, verdict: Verdict, *, as_json: bool, verbose: bool, codebook: bool
) -> None:
    from hushtable.claims import Matchings
    from hushtable.io import frames
    from hushtable.release import manifest, notes

    summary, distinct, is_here = release.to_dict(), release.distinct, release.origin is None
    listed, lacking = notes.listed_values(distinct), notes.lacking_values(distinct)
    far_out = notes.far_out(distinct, release.margins)
    # What is said of kept columns is looked for where all rows are.
    codes, alike = (notes.missing_codes(release), notes.near_duplicates(release)) if is_here else ({}, {})
    has_formulas = is_here and not output.is_dir() and frames.file_kind(output) == "csv"
    formulas = notes.formula_cells(release) if has_formulas else {}
    if as_json:
        looks = {
            **({"missing_codes": codes, "near_duplicates": alike} if is_here else {}),
            "listed_values": listed,
            "lacking_values": lacking,
            "far_out": {name: each.to_dict() for name, each in far_out.items()},
            **({"formulas": formulas} if is_here else {}),
        }
        print_json({"file": str(output), "verified": verdict.to_dict(), **summary, **looks})
        return
    kept = notes.as_they_came(release, decimal=release.writing.decimal) if is_here else ()
    further = (
        *listed_lines(listed, lacking),
        *(spelling_lines(release.writing, codes, alike, kept, formulas) if is_here else ()),
        *far_out_lines(far_out),
    )
    say(
        *_how_it_was_read(release),
        *abridged(
            release_facts(output, rules, verdict, summary, codebook=codebook),
            release_notes(rules, verdict, release.exposure, further),
            release_details(rules, summary, release.exposure),
            verbose=verbose,
        ),
    )
    if not is_here:
        return
    if release.trace.effort is not None:
        # A partition may publish several tables; of what matches row by row, tables themselves are counted.
        unit = "table" if isinstance(release.claim, Matchings) else "partition"
        say(
            *effort_lines(release.trace, unit),
            *published_lines(frames.read(output, dialect=manifest.dialect_of(output))),
        )
        for alternative in release.alternatives:
            say(*published_lines(alternative.edition.frame()))


def _check_outputs(
    output: Path, others: Sequence[Path], sources: Sequence[Path], *, codebook: bool, force: bool, as_folder: bool
) -> None:
    """Refuse files that must not be written, before anything is done for them."""
    from hushtable.io import drafts
    from hushtable.release import check_output, codebook_paths

    if not as_folder:
        drafts.check_outputs((*outputs_of(output, codebook=codebook), *others), sources, overwrite=force)
        return
    books = codebook_paths(output) if codebook else ()
    check_output(output, sources, books, overwrite=force, as_folder=True)
    drafts.check_outputs((*books, *others), [*sources, output], overwrite=force)


def _how_it_was_read(release: Release) -> list[str]:
    """Say where the rows are, if they are not in memory."""
    if release.origin is None:
        return []
    in_batches = "Read batch by batch, never as a whole (--engine memory reads it into memory)."
    cut = "Its rows hardly repeat, so that its records were cut one by one."
    said = ["Read by Spark, never as a whole." if release.engine == "spark" else in_batches]
    return [*said, cut] if release.is_row_by_row else said


def verify(
    file: InFile,
    policy: PolicyFile = None,
    missing: Annotated[str, typer.Option(help="How missing values count: category, wildcard or worst.")] = "category",
    population: PopulationOption = None,
    original: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Original table, if a condition compares with it.",
            parser=table_path,
            show_default=False,
        ),
    ] = None,
    ask: Ask = None,
    domains: Domains = None,
    no_manifest: Annotated[
        bool, typer.Option("--no-manifest", help="Do not read the manifest; judge by the policy alone.")
    ] = False,
    rows: Annotated[
        Path | None,
        typer.Option(
            "--rows",
            metavar="FILE.csv",
            help="Write the numbers of the rows that fail. They are internal.",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    plugins_: Annotated[
        list[str] | None,
        typer.Option(
            "--plugins",
            metavar="NAME",
            help="Import this model of another package, if the manifest names it. Give the option once for each.",
            show_default=False,
        ),
    ] = None,
    linked: Annotated[
        bool,
        typer.Option(
            "--linked", help="Also count the persons whom several of their records find. Exit 1 if anybody is found."
        ),
    ] = False,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Check that a release holds what its manifest claims, and what a policy asks, if one is given.

    Reads the written file or folder alone. Exits with 1 if a claim does not hold, or if it cannot be judged.
    """
    from hushtable.claims import linked_in, opened, seen, told
    from hushtable.models import plugins
    from hushtable.release import manifest

    if rows is not None:
        _check_rows(rows, [file, policy, population, original, domains], force=force)
    elif force:
        raise InputError("--force has no effect without --rows.", hint="leave it out: no other file is written.")
    rules = None if policy is None else decided(_read_policy(policy), ask)
    if no_manifest and rules is None:
        raise InputError("neither a manifest nor a policy says what to judge.", hint="pass -p policy.yaml.")
    if not no_manifest:
        # Without a manifest this says so.
        manifest.read(file)
    with plugins.only(plugins_ or ()):
        claimed = None if no_manifest else manifest.claim_of(file)
    with step("reading and judging"):
        known = None if no_manifest else manifest.dialect_of(file)
        table = opened(file) if file.is_dir() else table_of(file, encoding, delimiter, known)
        claim = _claim(rules, claimed, table.columns)
        if missing != "category":
            claim = told(claim, missing=missing)
        if population is not None:
            claim = told(claim, population=frame_of(population, encoding, delimiter))
        if domains is not None:
            claim = claim.completed(told(claim, hierarchies=_domains_of(claim, domains)))
        judged = seen(claim, table)
        verdict = claim.verify(judged, original=_original(original, rules, encoding, delimiter))
        verdict = verdict if no_manifest else manifest.compared(verdict, file, table.columns)
        linkage = linked_in(claim, judged) if linked else None
    if rows is not None:
        _write_rows(rows, verdict, table, force=force)
    is_found = linkage is not None and linkage.rate > 0
    with leaving(0 if verdict.passed and verdict.complete and not is_found else 1):
        if as_json:
            told_of = {"linkage": None if linkage is None else linkage.to_dict()} if linked else {}
            print_json({**verdict.to_dict(), **told_of})
        else:
            say(
                *verdict_lines(file, verdict, has_manifest=claimed is not None),
                *(linked_lines(claim, linkage) if linked else []),
            )


def _check_rows(path: Path, inputs: Sequence[Path | None], *, force: bool) -> None:
    from hushtable.io import drafts

    if inputs[0] is not None and inputs[0].is_dir():
        raise InputError(
            "--rows was given for a folder.", hint="rows have numbers within a file: verify one file of it."
        )
    if path.suffix.lower() != ".csv":
        raise InputError(f"--rows {str(path)!r} is no CSV.", hint="name it .csv.")
    drafts.check_outputs((path,), [each for each in inputs if each is not None], overwrite=force)


def _write_rows(path: Path, verdict: Verdict, table: Any, *, force: bool) -> None:
    """Write the numbers of the rows that fail, from 1 on, each with what it fails: for who holds the table."""
    import csv

    from hushtable.io import drafts

    with (
        drafts.replacing(path, internal=(path,), overwrite=force) as (draft,),
        draft.open("w", encoding="utf-8", newline="") as file,
    ):
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(("row", "fails"))
        for failure in verdict.failures:
            if failure.finds is not None:
                lines.writerows((row + 1, failure.condition) for row in failure.rows(table).tolist())


def _claim(rules: Policy | None, claimed: Claim | None, columns: tuple[str, ...]) -> Claim:
    """Return what to judge: the claim of a manifest, which a policy completes and must agree with."""
    if rules is None:
        assert claimed is not None
        return claimed
    rules.check_release(columns)
    if claimed is None:
        return rules.claim()
    rules.check_agrees(claimed)
    return claimed.completed(rules.claim())


def _original(path: Path | None, rules: Policy | None, encoding: str | None, delimiter: str | None) -> Frame | None:
    """Read the input that a release was made from, as the policy says that it is spelled."""
    if path is None:
        return None
    if rules is None:
        return table_of(path, encoding, delimiter)
    return table_of(path, encoding, delimiter, rules.read_as.dialect).told(rules.specs)


def _domains_of(claim: Claim, path: Path) -> dict[str, Any]:
    """Read what labels mean; a file of domains may list other columns too."""
    from hushtable.hierarchy import Hierarchy

    judged = {*claim.columns, *claim.sensitive}
    ladders = {name: ladder for name, ladder in Hierarchy.from_domains(path).items() if name in judged}
    if not ladders:
        raise InputError(
            f"--domains {str(path)!r} names no column that is judged.",
            hint="its lines begin with a column's name: `job/office: clerk, typist`.",
        )
    return ladders


def _read_policy(path: Path) -> Policy:
    from hushtable.policy import Policy

    return Policy.read(path)
