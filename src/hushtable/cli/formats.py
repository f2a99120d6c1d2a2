"""codebook, convert, schema: files that archives, policies and editors read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from hushtable.cli.arguments import Force
from hushtable.cli.groups import argument, option
from hushtable.cli.terminal import print_lines, print_to_stderr


def codebook(
    release: Annotated[Path, argument("RELEASE", "Release that was written.")],
    form: Annotated[str, option("Form: DDI-Codebook 2.5, or CSV on the Web.", "--as", metavar="ddi|csvw")] = "ddi",
    output: Annotated[
        Path | None,
        option(
            "File to write. Default: beside the release, RELEASE.ddi.xml or RELEASE-metadata.json.",
            "--output",
            "-o",
            metavar="FILE",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Write the codebook of a release for an archive or a catalogue: DDI-Codebook 2.5, or CSV on the Web."""
    from hushtable.release import archive_path, convert_codebook

    text = convert_codebook(release, form)
    path = output or archive_path(release, form)
    _write_texts([path], [text], [release], force=force)
    print_to_stderr(f"Wrote {path}.")


def convert(
    file: Annotated[
        Path,
        argument("FILE", "Project of ARX (.deid), hierarchy or table of tau-Argus (.hrc, .tab), or of Amnesia (.txt)."),
    ],
    output: Annotated[Path, option("Folder to write into.", "--output", "-o", metavar="FOLDER")] = Path(),
    force: Force = False,
) -> None:
    """Make a policy of an ARX project, a hierarchy file of tau-Argus' or Amnesia's, or a table of tau-Argus' a CSV.

    Says what has no counterpart.
    """
    from hushtable.policy import convert as convert_

    converted = convert_(file)
    paths = [output / name for name in converted.files]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
    _write_texts(paths, [*converted.files.values()], [file], force=force)
    # The command names files as they are called in the folder.
    advised = f"Next: {converted.command}" if output == Path() else f"Next, in {output}: {converted.command}"
    print_to_stderr(
        f"Wrote {', '.join(map(str, paths))}.",
        *(f"  no counterpart: {each}" for each in converted.lacking),
        *([advised] if converted.command else []),
    )


class _SchemaOf(StrEnum):
    policy = "policy"
    pipeline = "pipeline"


def schema(
    of: Annotated[_SchemaOf, argument("policy|pipeline", "Kind of file to describe.")],
    output: Annotated[
        Path | None, option("File to write. Default: terminal.", "--output", "-o", metavar="FILE")
    ] = None,
    force: Force = False,
) -> None:
    """Write the JSON schema of policies or pipelines, so that an editor completes and checks them.

    Written as policy.schema.json beside a policy, `scan` names it in the policies that it writes there.
    """
    if of is _SchemaOf.policy:
        from hushtable.policy import policy_schema

        document = policy_schema()
    else:
        from hushtable.pipeline import pipeline_schema

        document = pipeline_schema()
    text = json.dumps(document, indent=2)
    if output is None:
        print_lines(text)
        return
    _write_texts([output], [f"{text}\n"], [], force=force)
    print_to_stderr(f"Wrote {output}.")


def _write_texts(paths: Sequence[Path], texts: Sequence[str], inputs: Sequence[Path], *, force: bool) -> None:
    from hushtable.io import drafts

    drafts.check_outputs(paths, inputs, overwrite=force)
    with drafts.replace_files(*paths, overwrite=force) as written:
        for draft, text in zip(written, texts, strict=True):
            draft.write_text(text, encoding="utf-8", newline="\n")
