"""anonymize, verify: from a file to a release that holds what its policy asks; also where rows stay out of memory."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

from hushtable.cli import summary
from hushtable.cli.arguments import (
    AsJson,
    Domains,
    Force,
    InFile,
    KeyFile,
    Machine,
    NewFile,
    PolicyFile,
    PopulationOption,
    ReadingOptions,
    ReportFile,
    Results,
    RoleToAsk,
    Shown,
    WrittenOptions,
    budget_of,
    names_of,
    place_of,
    table_field,
    table_path,
)
from hushtable.cli.existing import skip_existing
from hushtable.cli.groups import argument, field
from hushtable.cli.report import note_written_release, report_outputs, write_release, write_report
from hushtable.cli.requests import (
    Changes,
    RequestOptions,
    SearchOptions,
    change_by_options,
    complete_claim,
    key_of,
    policy_of_request,
    read_policy,
    with_asked_role,
)
from hushtable.cli.terminal import exit_with_code, print_json, print_lines, print_to_stderr, show_progress, show_step
from hushtable.errors import InputError, VerificationError

if TYPE_CHECKING:
    from hushtable.claims import Claim, Linkage, Verdict
    from hushtable.engines import Files, Lazy
    from hushtable.io import Dialect, Frame
    from hushtable.policy import Policy
    from hushtable.release import AppliedMapping, Release, SignOff


def origin_of(file: Path, engine: str, dialect: Dialect, master: str | None = None) -> Files | Lazy | None:
    """Return the origin of rows that should not be read into memory; None if they should."""
    from hushtable import engines

    if master is not None and engine != "spark":
        raise InputError("--master names a cluster of Spark.", hint="add --engine spark, or leave it out.")
    if str(file) == "-":
        if engine == "spark":
            raise InputError("--engine spark reads Parquet files, not standard input.", hint="name their folder.")
        return None
    choice, session = cast("engines.EngineChoice", engine), None
    if engine == "spark":
        with show_step("starting Spark"):
            session = engines.session_of_spark(master)
    return engines.open_origin(file, engine=choice, session=session, dialect=dialect)


_FLOOR_SECONDS: Final = 10.0
_ADVICE_SECONDS: Final = 2.0  # of a CPU, unless advice was asked for


@dataclass(frozen=True)
class ReleaseFiles(WrittenOptions):
    """How the release is written, and what else."""

    report: ReportFile = None
    key_file: KeyFile = None
    language: str | None = field(
        None, "Language of the words in cells: en (default), de, fr, es, it or nl.", metavar="LANGUAGE"
    )
    by: str | None = field(
        None,
        "Published column whose cells name the folders of a Hive data set, where a folder is written.",
        metavar="COLUMN",
    )
    bounds: bool = field(
        False,
        "Add the bounds of cells as numbers and dates: age_from and age_to beside age.",
        "--bounds",
    )
    save_recoding: Path | None = field(
        None, "Write the cells to a file, so that `hushtable apply` can publish new rows by them."
    )
    mapping: Path | None = field(
        None, "Write which value became which cell as a CSV, without what too few people have. It is internal."
    )
    certificate: Path | None = field(
        None, "Write a proof of how far the loss is from the lowest possible. It is internal."
    )
    advise: bool | None = field(
        None,
        "Search for changes of the policy that bring most detail back. Default: for 2 CPU seconds at most, on a "
        "terminal only.",
        "--advise/--no-advise",
    )


@dataclass(frozen=True)
class EngineOptions(Machine):
    """How tables are read, and where they are computed."""

    engine: str = field(
        "auto",
        "Where rows are computed: auto, memory, stream or spark. stream reads batch by batch, and writes Parquet "
        "files into a folder; spark lets a cluster do so.",
        metavar="ENGINE",
    )
    master: str | None = field(
        None,
        "Cluster of --engine spark: spark://host:7077, yarn, local[4]. Default: what Spark's settings say.",
        metavar="URL",
    )


def anonymize(
    file: InFile,
    output: NewFile,
    request: RequestOptions,
    changes: Changes,
    search: SearchOptions,
    writing: ReleaseFiles,
    machine: EngineOptions,
    display: Shown,
) -> None:
    """Write a release that meets a privacy model, with its manifest, and verify the written file."""
    with skip_existing(output, writing, display):
        if request.policy is not None and _names_tables(request.policy):
            from hushtable.cli.linked import anonymize_linked_tables

            anonymize_linked_tables(file, output, request, changes, search, writing, machine, display)
        else:
            _anonymize_table(file, output, request, changes, search, writing, machine, display)


def _anonymize_table(
    file: Path,
    output: Path,
    request: RequestOptions,
    changes: Changes,
    search: SearchOptions,
    writing: ReleaseFiles,
    machine: EngineOptions,
    display: Shown,
) -> None:
    from hushtable.io import Snapshot, drafts
    from hushtable.release import check_writing, is_folder

    rules = read_policy(request.policy)
    dialect = machine.dialect(None if rules is None else rules.read_as.dialect)
    origin = origin_of(file, machine.engine, dialect, machine.master)
    # The key file is not reported as an input: not even its hash may be published.
    made_from = [place_of(file), *filter(None, (request.policy, changes.domains, changes.population))]
    inputs = [*made_from, *filter(None, [writing.key_file])]
    before = Snapshot.from_paths(drafts.paths_among(*inputs))
    sources = [*inputs, *(rules.inputs if rules else ()), *(() if origin is None else origin.inputs)]
    by = rules.writing.by if writing.by is None and rules is not None else writing.by
    as_folder = by is not None or (origin is not None and is_folder(output))
    _check_outputs(output, writing, sources, as_folder=as_folder)
    with show_step("reading"):
        frame = machine.table(file, dialect) if origin is None else origin.head()
    frame = frame.with_learned_specs() if rules is None else frame
    rules = policy_of_request(request, rules, frame, names_of(changes.leave_out))
    written = {"language": writing.language, "by": by, "bounds": writing.bounds or None}
    rules = change_by_options(rules, changes, search, written)
    rules.check_decided()
    rules.check_covers(frame.columns)
    key = key_of(writing.key_file, rules)
    if origin is None and not as_folder:
        check_writing(output, rules.writing.made)
    rows = frame if origin is None else origin
    _check_rules(rules, writing, display, frame if origin is None else None)
    with show_progress("searching") as progress:
        release = rules.protect(rows, key=key, progress=progress)
    if writing.certificate is not None and release.certificate is None:
        with show_step("proving a floor"):
            release = release.with_bound(budget_of(search.seconds or _FLOOR_SECONDS))
    # The report states the inputs' hashes: these must be the files that were read.
    before.check()
    release = replace(release, inputs=(*release.inputs, *drafts.paths_among(*made_from)))
    _write_release(output, rules, release, writing, display, made_from)
    _show_advice(rules, rows, release, key, writing, display)


def _names_tables(policy: Path) -> bool:
    """Tell whether a policy is one of linked tables."""
    from hushtable.policy import plain_yaml

    return plain_yaml.names_tables(policy)


def _show_advice(
    rules: Policy, data: object, release: Release, key: bytes | None, writing: ReleaseFiles, display: Shown
) -> None:
    """Search for advice, and print it: where it was asked for, or somebody watches and it takes seconds."""
    has_end = rules.budget is not None and rules.budget.seconds is not None
    is_quick = release.origin is None and not display.as_json and not has_end and sys.stdout.isatty()
    if writing.advise or (writing.advise is None and is_quick):
        with show_progress("looking for advice") as progress:
            seconds = None if writing.advise else _ADVICE_SECONDS
            advice = rules.advise(data, release=release, cpu_seconds=seconds, key=key, progress=progress)
        print_lines(*summary.describe_advice(advice))


def _check_advice(rules: Policy, display: Shown) -> None:
    """Refuse to advise, before the search, where figures would not hold again or are not shown."""
    from hushtable.policy import check_advisable

    if display.as_json:
        raise InputError("--advise has no effect with --json.", hint="hushtable compare --advise --json prints all.")
    check_advisable(rules)


def _check_outputs(output: Path, writing: ReleaseFiles, sources: Sequence[Path], *, as_folder: bool) -> None:
    """Refuse output files that must not be written, before the search begins."""
    from hushtable.release import check_output, codebook_paths

    if writing.certificate is not None and writing.external:
        raise InputError(
            "a certificate was asked for beside a published file.",
            hint="it reveals more of the input than the release does: leave out --external or --certificate.",
        )
    sidecars = [
        *(codebook_paths(output) if writing.codebook else ()),
        *filter(None, (writing.save_recoding, writing.certificate, writing.mapping)),
        *report_outputs(writing.report),
    ]
    check_output(output, sources, sidecars, overwrite=writing.overwrite, as_folder=as_folder)


def _check_rules(rules: Policy, writing: ReleaseFiles, display: Shown, frame: Frame | None) -> None:
    """Refuse before the search what its rules do not allow; ``frame`` is None if the rows are not in memory."""
    from hushtable.anonymizers import check_saveable, doubts_of_saving
    from hushtable.policy import DATE_ACTIONS
    from hushtable.release import check_order, raise_if_dates_are_ordered
    from hushtable.tables import Table

    if writing.advise:
        _check_advice(rules, display)
    if writing.keep_order and frame is None:
        raise InputError(
            "--keep-order with an input that is read batch by batch.", hint="leave it out, or take --engine memory."
        )
    if writing.keep_order:
        check_order(rules.household or rules.person)
        if rules.with_action(*DATE_ACTIONS):
            raise_if_dates_are_ordered()
    if rules.dates is not None:
        print_to_stderr(rules.dates.cost)
    if writing.save_recoding is None:
        return
    if rules.with_action(*DATE_ACTIONS):
        raise InputError(
            "--save-recoding was given, and the policy changes dates of persons.",
            hint="anonymize later rows with the same key instead of publishing them by these cells.",
        )
    hierarchies = rules.hierarchies()
    if frame is None:
        check_saveable(rules.method, rules.models, {}, rules.specs, hierarchies)
    else:
        coded = Table.encode(frame.with_specs(rules.specs), rules.quasi_identifiers, rules.specs)
        typed = {column.name: column.spec for column in coded.columns}
        check_saveable(rules.method, rules.models, typed, rules.specs, hierarchies)
        for name, doubt in doubts_of_saving(coded, hierarchies).items():
            print_to_stderr(f"The recoding may not be saved for column {name!r}: {doubt}.")


def _write_release(
    output: Path, rules: Policy, release: Release, writing: ReleaseFiles, display: Shown, made_from: Sequence[Path]
) -> None:
    """Write a release and the other requested files, and print what it holds."""
    applied = None if writing.mapping is None else release.mapping()
    if writing.save_recoding is not None:
        # Before anything is written: a recoding that may not be saved is what was asked for, too.
        release.learned.check_saveable()
    verdict = write_release(release, output, writing, policy=rules.to_dict())
    try:
        with note_written_release(output):
            if writing.certificate is not None and release.certificate is not None:
                release.certificate.write(writing.certificate, overwrite=writing.overwrite)
            if applied is not None and writing.mapping is not None:
                _write_mapping(applied, writing.mapping, force=writing.overwrite)
            write_report(
                release,
                Results(writing.report, writing.overwrite),
                audience="external" if writing.external else "internal",
                file=output,
                policy=rules,
                verdict=verdict,
                inputs=made_from,
            )
            if writing.save_recoding is not None:
                release.save_recoding(writing.save_recoding, overwrite=writing.overwrite)
    finally:
        _show_release(output, rules, release, verdict, display, has_codebook=writing.codebook)


def _write_mapping(applied: AppliedMapping, path: Path, *, force: bool) -> None:
    applied.write(path, overwrite=force)
    n_left_out = sum(applied.left_out.values())
    print_to_stderr(
        f"Wrote {path}: {len(applied.rows)} pairs of a value and its cell. It reveals more than the release: keep it "
        f"inside. {n_left_out} pairs that fewer than {applied.least} have are left out."
    )


def _show_release(
    output: Path, rules: Policy, release: Release, verdict: Verdict, display: Shown, *, has_codebook: bool
) -> None:
    from hushtable.release import describe_release, notes

    facts, is_here, looks = release.to_dict(), release.origin is None, _gather_notes(output, release)
    sentences = describe_release(release.claim, verdict, release.columns, facts)
    if display.as_json:
        looks["far_out"] = {name: each.to_dict() for name, each in looks["far_out"].items()}
        print_json({"file": str(output), "verified": verdict.to_dict(), "facts": sentences, **facts, **looks})
        return
    further = summary.loss_lines(rules, facts["loss"])
    further += summary.describe_revealing_lists(looks["listed_values"], looks["lacking_values"])
    if is_here:
        unconverted = notes.find_unconverted_columns(release, decimal=release.writing.decimal)
        codes, alike, formulas = (looks[name] for name in ("missing_codes", "near_duplicates", "formulas"))
        further += summary.describe_spelling(release.writing, codes, alike, unconverted, formulas)
    further += summary.describe_outliers(looks["far_out"])
    print_lines(
        *_describe_reading(release),
        *summary.abridge_lines(
            [
                summary.describe_output(output, codebook=has_codebook),
                *sentences[:2],
                *summary.untaken_cut_lines(rules),
                *sentences[2:],
                *further,
            ],
            summary.describe_search(rules, facts, release.exposure),
            verbose=display.verbose,
        ),
    )
    if is_here and release.trace.effort is not None:
        _show_tables(output, release)


def _gather_notes(output: Path, release: Release) -> dict[str, Any]:
    """Return notes on a release's cells; those on kept columns need all rows in memory."""
    from hushtable.io import frames
    from hushtable.release import notes

    entries = {
        "listed_values": notes.count_values_in_lists(release.distinct),
        "lacking_values": notes.lacking_values(release.distinct),
        "far_out": notes.find_outlier_columns(release.distinct, release.margins),
    }
    if release.origin is not None:
        return entries
    is_csv = not output.is_dir() and frames.file_kind(output) == "csv"
    kept = {"missing_codes": notes.missing_codes(release), "near_duplicates": notes.count_lookalike_values(release)}
    return {**kept, **entries, "formulas": notes.formula_cells(release) if is_csv else {}}


def _show_tables(output: Path, release: Release) -> None:
    """Print how minimal generalization searched, and its tables if they are small."""
    from hushtable.claims import Matchings
    from hushtable.io import frames
    from hushtable.release import manifest

    assert release.trace.effort is not None
    # A partition may publish several tables; under matching notions, ties are tables themselves.
    unit = "table" if isinstance(release.claim, Matchings) else "partition"
    print_lines(
        *summary.describe_effort(release.trace, unit),
        *summary.format_small_table(frames.read(output, dialect=manifest.dialect_of(output))),
    )
    for alternative in release.alternatives:
        print_lines(*summary.format_small_table(alternative.edition.frame()))


def _describe_reading(release: Release) -> list[str]:
    """Describe where the rows are, if they are not in memory."""
    if release.origin is None:
        return []
    in_batches = "Read batch by batch, never as a whole (--engine memory reads it into memory)."
    cut = "Its rows hardly repeat, so that its records were cut one by one."
    said = ["Read by Spark, never as a whole." if release.engine == "spark" else in_batches]
    return [*said, cut] if release.is_row_by_row else said


@dataclass(frozen=True)
class Judging:
    """What is judged."""

    policy: PolicyFile = None
    ask: RoleToAsk = None
    no_manifest: bool = field(False, "Do not read the manifest; judge by the policy alone.", "--no-manifest")
    original: Path | None = table_field("Original table, if a condition compares with it.")
    population: PopulationOption = None
    domains: Domains = None
    missing: str = field("category", "How missing values count: category, wildcard or worst.", metavar="MODE")
    strict: bool = field(False, "Exit 1 also if something needs the publisher's original table.", "--strict")
    plugins: list[str] | None = field(
        None,
        "Import this model of another package, if the manifest names it. Give the option once for each.",
        metavar="NAME",
    )


ReleaseFile = Annotated[
    Path | None,
    argument("FILE", "Release to judge: CSV, Parquet or a folder; - reads standard input.", parser=table_path),
]


@dataclass(frozen=True)
class FailingRows:
    """A file of the rows that fail."""

    rows: Path | None = field(None, "Write the numbers of the rows that fail. They are internal.", metavar="FILE.csv")
    force: Force = False


@dataclass(frozen=True)
class BesidesTheVerdict:
    """What else is judged, and what is printed."""

    linked: bool = field(
        False, "Also count the persons whom several of their records find. Exit 1 if anybody is found.", "--linked"
    )
    transcript: Path | None = field(
        None, "Replay the transcript of an AI assistant against --original, instead of a release.", metavar="FILE"
    )
    as_json: AsJson = False


def verify(
    judging: Judging,
    failing_rows: FailingRows,
    besides: BesidesTheVerdict,
    reading: ReadingOptions,
    file: ReleaseFile = None,
) -> None:
    """Check that a release holds what its manifest claims, and what a policy asks, if one is given.

    Reads the written file or folder alone. Exits with 1 if a claim does not hold, or if it cannot be judged. What only
    the publisher can judge is named.
    """
    if besides.transcript is not None:
        from hushtable.cli.assist import judge_transcript

        judge_transcript(besides.transcript, judging.original, as_json=besides.as_json)
        return
    if file is None:
        raise InputError("no release was named.", hint="write hushtable verify release.csv.")
    _check_rows(failing_rows, file, judging)
    if _is_of_linked_tables(file, judging):
        from hushtable.cli.linked import verify_linked_tables

        verify_linked_tables(file, judging, failing_rows, reading, is_linked=besides.linked, as_json=besides.as_json)
        return
    _verify_table(file, judging, failing_rows, reading, is_linked=besides.linked, as_json=besides.as_json)


def _verify_table(
    file: Path, judging: Judging, failing_rows: FailingRows, reading: ReadingOptions, *, is_linked: bool, as_json: bool
) -> None:
    """Judge one table, and exit with 1 if it does not hold."""
    from hushtable.claims import measure_claim_linkage, open_release, original_columns, select_for_claim
    from hushtable.models import plugins
    from hushtable.release import manifest

    rules = read_policy(judging.policy)
    rules = None if rules is None else with_asked_role(rules, judging.ask)
    if judging.no_manifest and rules is None:
        raise InputError("neither a manifest nor a policy says what to judge.", hint="pass -p policy.yaml.")
    # Raises an error if the manifest is missing.
    entries = {} if judging.no_manifest else manifest.read(file)
    if judging.original is not None:
        manifest.check_comparable(entries)
    with plugins.allow_only(judging.plugins or ()):
        claimed = None if judging.no_manifest else manifest.claim_of(file)
    with show_step("reading and judging"):
        known = None if judging.no_manifest else manifest.dialect_of(file)
        table = open_release(file) if file.is_dir() else reading.table(file, known)
        claim = complete_claim(claimed, rules, table.columns)
        assert claim is not None, "a manifest or a policy says it"
        asked = None
        if rules is not None:
            from hushtable.policy import describe_exposure_limit

            rules.check_release(table.columns, claim)
            asked = describe_exposure_limit(rules)
        claim = _complete_by_options(claim, judging, reading)
        judged = select_for_claim(claim, table)
        columns, path = original_columns(claim), judging.original
        original = None if path is None else reading.original(path, rules, columns)
        verdict = claim.verify(judged, original=original)
        verdict = manifest.judge_exposure(verdict, entries, table, claim, asked, original=original)
        verdict = verdict if judging.no_manifest else manifest.compare_with(verdict, file, table.columns, claim)
        linkage = measure_claim_linkage(claim, judged) if is_linked else None
    if failing_rows.rows is not None:
        _write_rows(failing_rows.rows, verdict, table, force=failing_rows.force)
    is_found = linkage is not None and linkage.rate > 0
    is_judged = verdict.complete if judging.strict else verdict.complete_for_receiver
    with exit_with_code(0 if verdict.passed and is_judged and not is_found else 1):
        signed = None if judging.no_manifest else _read_sign_off(file)
        _print_verdict(file, verdict, claim, signed, (linkage,) if is_linked else (), as_json=as_json)


def _print_verdict(
    file: Path,
    verdict: Verdict,
    claim: Claim,
    signed: SignOff | None,
    linkages: tuple[Linkage | None, ...],
    *,
    as_json: bool,
) -> None:
    """Print a verdict, who signed, and, where it was asked for, whom linked records find."""
    if as_json:
        told_of: dict[str, object] = {}
        for each in linkages:
            told_of["linkage"] = None if each is None else each.to_dict()
        told_of |= {} if signed is None else {"signed": signed.to_dict()}
        print_json({**verdict.to_dict(), **told_of})
        return
    lines = [] if signed is None else summary.describe_sign_off(signed)
    for each in linkages:
        lines += summary.describe_linkage(claim, each)
    print_lines(*summary.describe_verdict(file, verdict, claim), *lines)


def _is_of_linked_tables(file: Path, judging: Judging) -> bool:
    """Tell whether a manifest, or the policy to judge by, is one of linked tables."""
    from hushtable.release import manifest

    by_policy = judging.policy is not None and _names_tables(judging.policy)
    return by_policy or (not judging.no_manifest and manifest.is_of_linked_tables(file))


def _read_sign_off(file: Path) -> SignOff | None:
    """Read who signed a release; None if nobody did, or the record was altered, which the verdict says."""
    from hushtable.release import manifest

    if not manifest.sign_off_path(file).is_file():
        return None
    from hushtable.release import read_sign_off

    try:
        return read_sign_off(file)
    except VerificationError:
        return None


def _check_rows(failing_rows: FailingRows, file: Path, judging: Judging) -> None:
    from hushtable.io import drafts

    path = failing_rows.rows
    if path is None:
        if failing_rows.force:
            raise InputError("--force has no effect without --rows.", hint="leave it out: no other file is written.")
        return
    if file.is_dir():
        raise InputError(
            "--rows was given for a folder.", hint="rows have numbers within a file: verify one file of it."
        )
    if path.suffix.lower() != ".csv":
        raise InputError(f"--rows {str(path)!r} is no CSV.", hint="name it .csv.")
    inputs = (file, judging.policy, judging.population, judging.original, judging.domains)
    drafts.check_outputs((path,), [each for each in inputs if each is not None], overwrite=failing_rows.force)


def _write_rows(path: Path, verdict: Verdict, table: Any, *, force: bool) -> None:
    """Write the numbers (from 1) of the failing rows, each with what it fails, for the table's holder."""
    import csv

    from hushtable.io import drafts

    with (
        drafts.replace_files(path, internal=(path,), overwrite=force) as (draft,),
        draft.open("w", encoding="utf-8", newline="") as file,
    ):
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(("row", "fails"))
        for failure in verdict.failures:
            if failure.find_rows is not None:
                lines.writerows((row + 1, failure.condition) for row in failure.rows(table).tolist())


def _complete_by_options(claim: Claim, judging: Judging, reading: ReadingOptions) -> Claim:
    """Complete a claim by options; a file of domains may list other columns too."""
    from hushtable.claims import with_reading_of
    from hushtable.hierarchy import Hierarchy

    if judging.missing != "category":
        claim = with_reading_of(claim, missing=judging.missing)
    if judging.population is not None:
        claim = with_reading_of(claim, population=reading.optional_table(judging.population))
    if judging.domains is None:
        return claim
    judged = {*claim.columns, *claim.sensitive}
    ladders = {name: ladder for name, ladder in Hierarchy.from_domains(judging.domains).items() if name in judged}
    if not ladders:
        raise InputError(
            f"--domains {str(judging.domains)!r} names no column that is judged.",
            hint="its lines begin with a column's name: `job/office: clerk, typist`.",
        )
    return claim.with_knowledge_of(with_reading_of(claim, hierarchies=ladders))
