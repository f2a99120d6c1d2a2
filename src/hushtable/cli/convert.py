"""convert: projects and hierarchies of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hushtable.cli.arguments import Force
from hushtable.cli.terminal import tell

__all__ = ["convert"]


def convert(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Project of ARX (.deid), hierarchy of tau-Argus (.hrc) or of Amnesia (.txt).",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder to write into. Default: here.")
    ] = Path(),
    force: Force = False,
) -> None:
    """Make a policy of an ARX project, or a hierarchy file of tau-Argus' or Amnesia's. Says what has no counterpart."""
    from hushtable.io import drafts
    from hushtable.policy import convert as convert_

    made = convert_(file)
    paths = [output / name for name in made.files]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
    drafts.check_outputs(tuple(paths), (file,), overwrite=force)
    with drafts.replacing(*paths, overwrite=force) as written:
        for draft, text in zip(written, made.files.values(), strict=True):
            draft.write_text(text, encoding="utf-8", newline="\n")
    tell(f"Wrote {', '.join(map(str, paths))}.", *(f"  no counterpart: {each}" for each in made.lacking))
