"""The skill: a text that tells an assistant how to use the server well. No rule in it protects anybody."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final

from hushtable.io import drafts

_NAME: Final = "protect-a-table"


def write_skill(folder: Path) -> Path:
    """Write the skill into a folder of skills; InputError if it is there."""
    path = folder / _NAME / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    drafts.check_outputs((path,), (), overwrite=False)
    text = files("hushtable.assistant").joinpath("SKILL.md").read_text(encoding="utf-8")
    with drafts.replace_files(path, overwrite=False) as (draft,):
        draft.write_text(text, encoding="utf-8", newline="\n")
    return path
