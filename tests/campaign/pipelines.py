"""Pipelines that write where they should not: nothing outside the output folder changes, nor what no run wrote."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Any

import yaml

from campaign.outcome import Outcome
from command import run

_PLACES = (
    "..", ".", "logs", "a/b", "../out", "../elsewhere", "logs/../../elsewhere", "/tmp", "{home}/elsewhere", "{home}",
    "link", "link/deep", "away", "file", "file/x", "~", "", "\0", "x" * 300, "out", "../out/logs", "loop", "\\..\\..",
)  # fmt: skip
_NAMES = (
    "run.log", "mine.txt", "in.csv", "pipeline.yaml", "../mine.txt", "/mine.txt", "..", "a/b", "link",
    "{timestamp}.log", ".hushtable_files.json", "hushtable", "x" * 250, "\n", "con", "a b", "mine", "mine.txt.part",
)  # fmt: skip


def case(random: Random, folder: Path) -> Outcome:
    """Run one case: a pipeline, twice."""
    outcome = Outcome()
    out = _laid_out(random, folder)
    text = yaml.safe_dump(_pipeline(random, folder), sort_keys=False)
    file = folder / "home/pipeline.yaml"
    file.write_text(text, encoding="utf-8")
    options = [*["--force"] * (random.random() < 0.3), *["--no-cache"] * (random.random() < 0.8)]
    outcome.reproduction = f"{text}\nrun pipeline.yaml --out {out.relative_to(folder)} {' '.join(options)}"
    for turn in ("first", "second"):
        before = _state(folder)
        ended = run("run", file, "--out", out, *options)
        outcome.count(f"{turn}: exit {ended.code}")
        outcome.expect(ended.code in (0, 1, 2, 3), "an odd exit code", ended)
        home = Path(os.path.realpath(out))
        changed = {path for path, state in _state(folder).items() if before.get(path) != state}
        changed |= {path for path in before if not os.path.lexists(path)}
        outside = [path for path in changed if home not in (path, *path.parents) and ".hushtable" not in path.parts]
        # The folder itself may be new.
        outside = [path for path in outside if path not in home.parents or path in before]
        outcome.expect(not outside, "something outside changed", f"{outside} {ended}")
        lost = [path for path in changed if path in before and path.is_file() and before[path][1] == b"mine"]
        gone = [path for path in before if before[path][1] == b"mine" and not os.path.lexists(path)]
        outcome.expect(not gone and ("--force" in options or not lost), "a file that no run wrote is lost", ended)
    return outcome


def _laid_out(random: Random, folder: Path) -> Path:
    """Make folders, links and files of somebody, and return the output folder, which may not be there."""
    home = folder / "home"
    for name in ("elsewhere", "home"):
        (folder / name).mkdir()
    (home / "elsewhere").mkdir()
    rows = "".join(f"{i % 7},x{i % 3}\n" for i in range(30))
    (home / "in.csv").write_text(f"a,b\n{rows}")
    out = random.choice((home / "out", home, home / "link_to_out"))
    if out.name == "link_to_out":
        (home / "real").mkdir()
        out.symlink_to(home / "real")
    if random.random() < 0.8 or out.is_dir():
        out.mkdir(exist_ok=True)
        (out / "link").symlink_to(folder / "elsewhere")
        (out / "loop").symlink_to(out / "loop")
        (out / "away").symlink_to(folder / "elsewhere/new")
        for name in ("file", "mine.txt", "hushtable[Report]_[global].csv"):
            if random.random() < 0.6:
                (out / name).write_text("mine")
        if random.random() < 0.2:
            (out / ".hushtable_files.json").write_text(random.choice(("mine", "[]", '{"mine.txt": 1}', "[" * 9999)))
    for place in (folder, folder / "elsewhere", home / "elsewhere", home):
        (place / "mine.txt").write_text("mine")
    return out


def _pipeline(random: Random, folder: Path) -> dict[str, Any]:
    def place() -> str:
        return random.choice(_PLACES).replace("{home}", str(folder / "home")).replace("/tmp", str(folder / "elsewhere"))

    def name() -> str:
        return random.choice(_NAMES)

    entries: dict[str, Any] = {}
    if random.random() < 0.8:
        entries["Executor"] = {"log_output_type": "both", "log_dir": place()}
        if random.random() < 0.6:
            entries["Executor"]["log_filename"] = name()
    entries["Loader"] = {random.choice(("data", "data", "data", name())): {"filepath": "in.csv"}}
    if random.random() < 0.5:
        entries["Synthesizer"] = {random.choice(("made", "made", "made", place())) or "made": {"method": "bootstrap"}}
    entries["Describer"] = {random.choice(("all", "all", "all", place())) or "all": {}}
    reporters: list[dict[str, Any]] = [
        {"method": "save_report", "granularity": "global"},
        {"method": "save_data", "source": random.choice(("Loader", "Synthesizer"))},
        {"method": "save_timing"},
    ]
    chosen = random.sample(reporters, random.randint(0, 2))
    for reporter in chosen:
        if random.random() < 0.4:
            reporter["output"] = random.choice((name(), place()))
    if chosen:
        entries["Reporter"] = {f"r{i}": reporter for i, reporter in enumerate(chosen)}
    if random.random() < 0.3:
        entries["version"] = 1
    return entries


def _state(folder: Path) -> dict[Path, tuple[int, bytes]]:
    """Return everything below a folder: what it is, and what it holds; links are not followed."""
    found: dict[Path, tuple[int, bytes]] = {}
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place, name)
            if path.is_symlink():
                found[path] = 0, os.fsencode(os.readlink(path))
            else:
                found[path] = path.stat().st_mode, path.read_bytes() if path.is_file() else b""
    return found
