"""Files that appear whole or not at all: what is left after a crash, and what no output may be."""

import errno
import fcntl
import os
import signal
import stat
import sys
import threading
import traceback
from pathlib import Path

import polars as pl
import pytest

from hushtable.errors import InputError, ResourceError
from hushtable.io import drafts, frames

SECRET = "canary-7319"


def all_text_of(error):
    return "".join(traceback.format_exception(error)) + repr(error)


def test_a_file_replaces_another_at_the_end(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    with drafts.replace_files(path) as (draft,):
        draft.write_text("new")
        assert path.read_text() == "old"
        assert draft.suffix == ".csv"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_exception_leaves_the_old_files_and_no_draft(tmp_path, error):
    old, new = tmp_path / "out.csv", tmp_path / "out.json"
    old.write_text("old")

    def fail():
        with drafts.replace_files(old, new) as both:
            for draft in both:
                draft.write_text("new")
            raise error

    with pytest.raises(error):
        fail()
    assert old.read_text() == "old"
    assert list(tmp_path.iterdir()) == [old]


def test_one_file_that_cannot_have_its_name_leaves_the_other(tmp_path):
    old, folder = tmp_path / "out.csv", tmp_path / "folder.csv"
    old.write_text("old")
    folder.mkdir()

    def replace():
        with drafts.replace_files(old, folder) as both:
            for draft in both:
                draft.write_text("new")

    with pytest.raises(InputError, match="cannot write"):
        replace()
    assert old.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == [folder, old]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("name", ["none/out", "file.csv/out", "folder", "x" * 300])
def test_a_target_that_cannot_be_written(tmp_path, name, ending):
    (tmp_path / "file.csv").write_text("old")
    (tmp_path / f"folder{ending}").mkdir()
    before = sorted(tmp_path.iterdir())
    path = tmp_path / f"{name}{ending}"

    def replace():
        with drafts.replace_files(path) as (draft,):
            frames.write(frames.read(pl.DataFrame({"a": [SECRET]})), draft)

    with pytest.raises(InputError, match="cannot write") as caught:
        replace()
    assert SECRET not in all_text_of(caught.value)
    assert sorted(tmp_path.iterdir()) == before


def test_nothing_written_is_an_error(tmp_path):
    with pytest.raises(InputError, match="cannot write"), drafts.replace_files(tmp_path / "out.csv"):
        pass


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX modes")
def test_every_draft_is_its_owners_alone_when_it_is_renamed(tmp_path, monkeypatch):
    modes = []

    def note(self, target):
        modes.append(mode_of(self))
        os.replace(self, target)

    monkeypatch.setattr(Path, "replace", note)
    with drafts.replace_files(tmp_path / "a.csv", tmp_path / "b.csv") as (one, other):
        one.write_text("a")
        other.write_text("b")
    assert modes == [0o600, 0o600]


@pytest.mark.parametrize(("mask", "usual"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_draft_is_its_owners_alone_until_it_has_its_name(tmp_path, mask, usual):
    path = tmp_path / "out.csv"
    path.write_text("old")
    before = os.umask(mask)
    try:
        with drafts.replace_files(path) as (draft,):
            frames.write(frames.read(pl.DataFrame({"a": ["x"]})), draft)
            assert mode_of(draft) == 0o600
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert mode_of(path) == usual


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX modes")
def test_what_is_internal_stays_its_owners_alone(tmp_path):
    paths = tmp_path / "release.csv", tmp_path / "manifest.json"
    with drafts.replace_files(*paths, internal=paths[1:]) as made:
        for draft in made:
            draft.write_text("x")
    assert [mode_of(path) for path in paths] == [drafts.mode_of(), 0o600]


@pytest.mark.parametrize("told", [OSError(errno.ENOSPC, "full"), OSError("no space (os error 28)")])
def test_a_full_disk_is_an_error_of_its_own(tmp_path, told):
    def fill():
        with drafts.replace_files(tmp_path / "out.csv"):
            raise told

    with pytest.raises(ResourceError, match="no space is left") as caught:
        fill()
    assert caught.value.exit_code == 70


def test_the_next_write_removes_what_a_kill_left(tmp_path):
    path = tmp_path / "out.v1.csv"
    left = [".out.v1.0123abcd.part.csv", ".out.v1.ffffffff.part.csv", ".out.v1.0123abcd.old.csv"]
    others = [
        ".out.0123abcd.part.csv",
        ".out.v1.0123abcd.part.parquet",
        ".out.v1.notadraft.part.csv",
        ".out.v1.0123abcd5.part.csv",
        "out.v1.0123abcd.part.csv",
    ]
    for name in [*left, *others]:
        (tmp_path / name).write_text(SECRET)
    with drafts.replace_files(path) as (draft,):
        draft.write_text("new")
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([path.name, *others])


def test_a_draft_that_is_held_is_left_alone(tmp_path):
    path = tmp_path / "out.csv"
    with drafts.replace_files(path) as (slow,):
        slow.write_text("slow")
        with drafts.replace_files(path) as (quick,):
            quick.write_text("quick")
        assert path.read_text() == "quick"
        assert slow.read_text() == "slow"
    assert path.read_text() == "slow"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, OSError])
@pytest.mark.parametrize("n_done", [0, 1, 2])
def test_whatever_stops_the_renaming_leaves_the_old_files(tmp_path, monkeypatch, error, n_done):
    """Also where the signal comes right after a file got its name."""
    old, new = tmp_path / "out.csv", tmp_path / "out.json"
    old.write_text("old")
    rename, calls = Path.replace, []

    def stopped(self, target):
        if ".part" in self.name:
            calls.append(target)
            if len(calls) > n_done:
                raise error
            rename(self, target)
            if len(calls) == n_done == 2:
                raise error
            return target
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", stopped)

    def write():
        with drafts.replace_files(old, new) as both:
            for draft in both:
                draft.write_text("new")

    with pytest.raises(InputError if error is OSError else error):
        write()
    assert old.read_text() == "old"
    assert list(tmp_path.iterdir()) == [old]


def _write_new(*paths):
    with drafts.replace_files(*paths) as made:
        for draft in made:
            draft.write_text("new", encoding="utf-8")


def test_a_signal_among_the_renames_waits_for_their_end(tmp_path, monkeypatch):
    paths = (tmp_path / "a", tmp_path / "b")
    for path in paths:
        path.write_text("old", encoding="utf-8")
    removing = Path.unlink

    def removed(path: Path, missing_ok: bool = False) -> None:
        if ".old" in path.name:
            signal.raise_signal(signal.SIGTERM)
        removing(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", removed)
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with pytest.raises(SystemExit):
            _write_new(*paths)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
    assert [path.read_text(encoding="utf-8") for path in paths] == ["new", "new"]


def test_paths_among_arguments(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv", "c.csv"):
        Path(name).write_text("x")
    given = ("a.csv", None, pl.DataFrame({"x": [1]}), {"job": Path("b.csv"), "age": "auto", "zip": {"prefix": [3]}})
    found = drafts.paths_among(*given, tmp_path / "c.csv", "gone.csv", tmp_path)
    monkeypatch.chdir("/")
    assert found == tuple(Path(os.path.realpath(tmp_path / name)) for name in ("a.csv", "b.csv", "c.csv"))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An input, an older output, links to either and to nothing, a folder."""
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("in")
    Path("old.csv").write_text("old")
    Path("folder").mkdir()
    Path("hard.csv").hardlink_to("in.csv")
    for name, target in (("link.csv", "in.csv"), ("other.csv", "old.csv"), ("loose.csv", "gone.csv")):
        Path(name).symlink_to(target)
    Path("linked").symlink_to("folder")
    return tmp_path


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["in.csv"], "the output is the input 'in.csv'"),
        (["./folder/../in.csv"], "the output is the input"),
        (["hard.csv"], "the output is the input"),
        (["link.csv"], "the output is the input"),
        (["new.csv", "in.csv"], "the output is the input"),
        (["other.csv"], "'other.csv' is a symbolic link"),
        (["loose.csv"], "'loose.csv' is a symbolic link"),
        (["folder"], "'folder' is a directory"),
        (["none/new.csv"], "there is no folder 'none'"),
        (["new.csv", "folder/../new.csv"], "two outputs go to"),
        (["folder/new.csv", "linked/new.csv"], "two outputs go to"),
    ],
)
def test_what_no_output_may_be(here, names, message, overwrite):
    with pytest.raises(InputError, match=message) as caught:
        drafts.check_outputs([Path(name) for name in names], [Path("in.csv")], overwrite=overwrite)
    assert "Hint: " in str(caught.value)


def test_an_input_that_is_a_link_is_what_it_points_to(here):
    with pytest.raises(InputError, match="the output is the input"):
        drafts.check_outputs([Path("old.csv")], [Path("other.csv")], overwrite=True)


def test_an_output_that_exists_is_replaced_when_asked_only(here):
    drafts.check_outputs([Path("new.csv"), Path("linked/new.csv")], [Path("in.csv")], overwrite=False)
    drafts.check_outputs([Path("old.csv")], [Path("in.csv"), Path("gone.csv")], overwrite=True)
    for names in (["old.csv"], ["new.csv", "old.csv"]):
        with pytest.raises(InputError, match=r"'old\.csv' exists(.|\n)*--force"):
            drafts.check_outputs([Path(name) for name in names], [], overwrite=False)


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_draft_that_another_writer_removed_before_it_was_locked_is_made_again(tmp_path, monkeypatch, kind):
    """Two writers of one name: the second looks for what was abandoned while the first has opened, and not locked."""
    flock, path, seen = fcntl.flock, tmp_path / "out", []

    def late(number, how):
        if not seen:
            seen.append(number)
            drafts._remove_stale_drafts(path)
        flock(number, how)

    monkeypatch.setattr(drafts.fcntl, "flock", late)
    if kind == "file":
        with drafts.replace_files(path) as (draft,):
            draft.write_text("x")
        assert path.read_text() == "x"
    else:
        with drafts.temporary_folder(path) as place:
            (place / "draft").mkdir()
    assert seen


@pytest.mark.parametrize("has_hard_links", [True, False])
@pytest.mark.parametrize("taken", [0, 1])
def test_a_file_that_appeared_since_the_name_was_free_is_never_replaced(tmp_path, monkeypatch, taken, has_hard_links):
    """Two runs to one new name: both find it free, and the second to end must not destroy what the first published."""

    def refuse(self, target):
        raise OSError(errno.EPERM, "no hard links here")

    if not has_hard_links:
        monkeypatch.setattr(Path, "hardlink_to", refuse)
    paths = tmp_path / "out.csv", tmp_path / "out.csv.manifest.json"
    drafts.check_outputs(paths, [], overwrite=False)

    def write():
        with drafts.replace_files(*paths, overwrite=False) as made:
            for draft in made:
                draft.write_text("second")
            paths[taken].write_text("first")

    with pytest.raises(InputError, match=r"exists(.|\n)*--force"):
        write()
    assert [path.name for path in tmp_path.iterdir()] == [paths[taken].name]
    assert paths[taken].read_text() == "first"
    paths[taken].unlink()
    with drafts.replace_files(*paths, overwrite=False) as made:
        for draft in made:
            draft.write_text("new")
    assert sorted(tmp_path.iterdir()) == sorted(paths)


def test_a_folder_that_appeared_since_the_name_was_free_is_never_replaced(tmp_path):
    path = tmp_path / "release"

    def write():
        with drafts.replace_folder(path, overwrite=False) as (draft, _):
            (draft / "part-0.parquet").write_text("second")
            path.mkdir()
            (path / "part-0.parquet").write_text("first")

    with pytest.raises(InputError, match="exists"):
        write()
    assert (path / "part-0.parquet").read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="needs locks of files")
def test_a_second_writer_takes_no_draft_for_abandoned_while_it_gets_its_name(tmp_path, monkeypatch):
    path, rename = tmp_path / "out.csv", drafts._rename_all

    def begin_another(*given, **options):
        drafts._remove_stale_drafts(path)
        rename(*given, **options)

    monkeypatch.setattr(drafts, "_rename_all", begin_another)
    _write_new(path)
    assert path.read_text() == "new"


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
@pytest.mark.skipif(os.name != "posix", reason="needs locks of files")
def test_whoever_waits_for_others_to_give_names_can_be_ended(tmp_path):
    number = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(number, fcntl.LOCK_EX)
    timers = [
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)),
        threading.Timer(2, fcntl.flock, (number, fcntl.LOCK_UN)),
    ]
    for timer in timers:
        timer.start()
    with pytest.raises(KeyboardInterrupt):
        _write_new(tmp_path / "out")
    timers[1].cancel()
    os.close(number)
    assert not list(tmp_path.iterdir())


def test_a_signal_that_nobody_handles_waits_for_the_end_of_the_renames(monkeypatch):
    raised = []
    monkeypatch.setattr(drafts.signal, "raise_signal", raised.append)
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with drafts._delay_signals():
            assert signal.getsignal(signal.SIGTERM) != signal.SIG_DFL
            os.kill(os.getpid(), signal.SIGTERM)
            assert not raised
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)
    assert raised == [signal.SIGTERM]


def test_old_files_that_a_kill_left_go_with_the_next_write(tmp_path):
    table, manifest = tmp_path / "out.csv", tmp_path / "out.csv.manifest.json"
    for path, old in ((table, ".out.0123abcd.old.csv"), (manifest, ".out.csv.manifest.0123abcd.old.json")):
        path.write_text("old")
        path.with_name(old).hardlink_to(path)
    with drafts.replace_files(table, manifest) as both:
        for draft in both:
            draft.write_text("new")
    assert sorted(tmp_path.iterdir()) == [table, manifest]
    assert manifest.read_text() == "new"
