"""The steps of docs/how-to/containers.md, as far as they go without a daemon.

The package and the home folder cannot be written, and the process has no rights: where the tests run as root, it gives
them up. What another user reads of an installed wheel is tried by ``scripts/test_wheel``.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hushtable

PAGE = (Path(__file__).parents[1] / "docs" / "how-to" / "containers.md").read_text(encoding="utf-8")
# Of the command's image; that of executors comes behind it.
WARM_UP = re.findall(r"^RUN (hushtable .*)$", PAGE, re.MULTILINE)[:1]
# Long commands go on below a backslash.
COMMANDS = re.findall(r"^\$ docker run .* (hushtable .*)$", re.sub(r"\\\n *", "", PAGE), re.MULTILINE)

# The command, which tells at its end how many kernels it had to compile.
TELLING = """
import atexit, sys

def told():
    modules = [each for name, each in sys.modules.items() if name.startswith("hushtable.kernels.")]
    kernels = {id(each): each for module in modules for each in vars(module).values() if hasattr(each, "stats")}
    print("compiled:", sum(sum(each.stats.cache_misses.values()) for each in kernels.values()), file=sys.stderr)

atexit.register(told)
from hushtable.cli import command
command()
"""


def installed(folder, *, is_warm):
    """Copy the package, with what was compiled of it or without, and make it and a home that cannot be written."""
    package = Path(hushtable.__file__).parent
    cold = () if is_warm else ("*.nbi", "*.nbc")
    shutil.copytree(package, folder / "site" / "hushtable", ignore=shutil.ignore_patterns("*.pyc", *cold))
    (folder / "home").mkdir()
    (folder / "data").mkdir()
    hushtable.datasets.people(300, seed=0).write_csv(folder / "data" / "people.csv")


def closed(folder, is_closed):
    """Take or give back the right to write the package and the home."""
    for root in (folder / "site", folder / "home"):
        for path in (root, *root.rglob("*")):
            path.chmod((0o555 if is_closed else 0o755) if path.is_dir() else (0o444 if is_closed else 0o644))


def run(folder, line):
    """Run a command of the page as a process without rights, in the folder of the data."""
    without_rights = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    return subprocess.run(
        [*without_rights, sys.executable, "-c", TELLING, *shlex.split(line)[1:]],
        cwd=folder / "data",
        env={"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "PYTHONPATH": str(folder / "site")},
        capture_output=True,
        text=True,
        check=False,
    )


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.fixture
def folder(tmp_path):
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("the tests run as root, and setpriv is not there to give that up")
    yield tmp_path
    closed(tmp_path, False)


# That nothing is compiled after a warm-up is asked of one command by tests/cli/test_cli_warm_up.py, in every run.
@pytest.mark.slow
def test_the_commands_of_the_image_start_warm_and_write_the_data_folder_alone(folder):
    installed(folder, is_warm=True)
    (warm_up,) = WARM_UP
    warmed = run(folder, warm_up)
    assert warmed.returncode == 0, warmed.stderr
    closed(folder, True)
    before = files(folder / "site"), files(folder / "home")
    assert len(COMMANDS) == 3
    for line in COMMANDS:
        ran = run(folder, line)
        assert ran.returncode == 0, f"{line}: {ran.stderr}"
        assert "compiled: 0\n" in ran.stderr, f"{line}: {ran.stderr}"
    assert (files(folder / "site"), files(folder / "home")) == before
    told = {name for name in files(folder / "data") if not name.startswith("out.csv.")}
    assert told == {"people.csv", "policy.yaml", "out.csv"}


@pytest.mark.slow
def test_a_package_that_was_not_warmed_up_and_cannot_be_written_compiles_in_memory(folder):
    installed(folder, is_warm=False)
    closed(folder, True)
    before = files(folder / "site"), files(folder / "home")
    scan, anonymize, _ = COMMANDS  # verify needs no kernel
    for line in (scan, anonymize):
        ran = run(folder, line)
        assert ran.returncode == 0, f"{line}: {ran.stderr}"
        assert re.search(r"^compiled: [1-9]", ran.stderr, re.MULTILINE), f"{line}: {ran.stderr}"
    assert (files(folder / "site"), files(folder / "home")) == before
