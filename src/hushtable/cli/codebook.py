"""codebook: what a release's columns are, in a form that archives and catalogues read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hushtable.cli.arguments import Force
from hushtable.cli.terminal import tell

__all__ = ["codebook"]


def codebook(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="Release that was written.", show_default=False)],
    form: Annotated[
        str, typer.Option("--as", metavar="ddi|csvw", help="Form: DDI-Codebook 2.5, or CSV on the Web.")
    ] = "ddi",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to write. Default: beside the release, RELEASE.ddi.xml or RELEASE-metadata.json.",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Write the codebook of a release for an archive or a catalogue: DDI-Codebook 2.5, or CSV on the Web."""
    from hushtable.io import drafts
    from hushtable.release import archived, archived_path

    text = archived(release, form)
    path = output or archived_path(release, form)
    drafts.check_outputs((path,), (release,), overwrite=force)
    with drafts.replacing(path, overwrite=force) as (draft,):
        draft.write_text(text, encoding="utf-8", newline="\n")
    tell(f"Wrote {path}.")
