"""Run docs/figures.md and write its pictures: each after the lines above it, the same bytes on every run."""

import re
import sys
from pathlib import Path
from typing import Any

import matplotlib

DOCS = Path(__file__).parent.parent / "docs"
PARTS = re.compile(r"```python\n(.*?)```|!\[[^\]]+\]\(figures/([a-z_]+\.svg)\)", flags=re.DOTALL)


def draw(folder: Path, ending: str = "svg") -> list[Path]:
    """Write every picture of the page to a folder; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    names: dict[str, Any] = {}
    written = []
    for code, picture in PARTS.findall((DOCS / "figures.md").read_text(encoding="utf-8")):
        if code:
            exec(code, names)
            continue
        path = folder / f"{picture.removesuffix('svg')}{ending}"
        # Else an SVG holds the time, and names of parts drawn at random.
        with matplotlib.rc_context({"svg.hashsalt": picture}):
            names["axes"].figure.savefig(path, metadata={"Date": None} if ending == "svg" else None)
        written.append(path)
    return written


if __name__ == "__main__":
    for each in draw(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "figures", *sys.argv[2:]):
        print(f"{each} ({each.stat().st_size:,} bytes)")
