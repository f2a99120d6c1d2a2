"""schema: what an editor completes and checks in a policy or a pipeline."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hushtable.cli.arguments import Force
from hushtable.cli.terminal import say, tell

__all__ = ["schema"]


class _SchemaOf(StrEnum):
    policy = "policy"
    pipeline = "pipeline"


def schema(
    of: Annotated[_SchemaOf, typer.Argument(metavar="policy|pipeline", help="Which file.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="File to write. Default: terminal.", show_default=False),
    ] = None,
    force: Force = False,
) -> None:
    """Write the JSON schema of policies or pipelines, so that an editor completes and checks them.

    Written as policy.schema.json beside a policy, `scan` names it in the policies that it writes there.
    """
    from hushtable.io import drafts

    if of is _SchemaOf.policy:
        from hushtable.policy import policy_schema

        made = policy_schema()
    else:
        from hushtable.pipeline import pipeline_schema

        made = pipeline_schema()
    text = json.dumps(made, indent=2)
    if output is None:
        say(text)
        return
    drafts.check_outputs((output,), (), overwrite=force)
    with drafts.replacing(output, overwrite=force) as (draft,):
        draft.write_text(f"{text}\n", encoding="utf-8", newline="\n")
    tell(f"Wrote {output}.")
