"""The demo makes its files in a folder of its own, and touches nothing of anybody else."""

import sys
from pathlib import Path

import pytest

from command import done, run
from hushtable.cli import demo

FILES = {
    *("people.csv", "policy.yaml", "release.csv", "release.csv.manifest.json", "release.csv.codebook.md"),
    *("release.csv.codebook.json", "report.html", "report.json", "before_and_after.svg"),
}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few people, and the commands in this process: what they do is tested elsewhere."""

    def in_process(folder: Path, *arguments: str) -> None:
        with pytest.MonkeyPatch.context() as moved:
            moved.chdir(folder)
            sys.stdout.write(done(*arguments).out)

    monkeypatch.setattr(demo, "_N_PEOPLE", 2_000)
    monkeypatch.setattr(demo, "_OTHER_KS", (2, 5))
    monkeypatch.setattr(demo, "_run_command", in_process)


def test_a_fresh_folder_gets_all_files_and_ten_lines_tell_what_happened(tmp_path: Path) -> None:
    folder = tmp_path / "show me"
    printed = done("demo", folder).out
    assert {each.name for each in folder.iterdir()} == FILES
    closing = printed[printed.index("\nBefore: ") + 1 :].splitlines()
    assert len(closing) <= 12
    assert f"{folder / 'before_and_after.svg'}: the picture." in closing[7]
    assert "<svg" in (folder / "before_and_after.svg").read_text(encoding="utf-8")

    again = run("demo", folder)
    assert again.code == 2
    assert "--force" in again.err
    (folder / "report.html").write_text("old", encoding="utf-8")
    done("demo", folder, "--force")
    assert (folder / "report.html").read_text(encoding="utf-8") != "old"


def test_a_folder_with_files_of_others_is_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "thesis.txt"
    mine.write_text("mine", encoding="utf-8")
    for force in ([], ["--force"]):
        refused = run("demo", tmp_path, *force)
        assert refused.code == 2
        assert "1 file that the demo did not write" in refused.err
    assert run("demo", mine).code == 2
    assert [each.name for each in tmp_path.iterdir()] == ["thesis.txt"]
