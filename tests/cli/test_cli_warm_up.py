"""What a command needs is compiled before, and kept where its first use finds it."""

import os
import subprocess
import sys

import pytest

import hushtable as ht
from command import done
from hushtable.cli.warm_up import DRILLS
from hushtable.kernels import group

COUNTED = """
from numba.core import event
from hushtable.cli import main

compiled = []
event.register("numba:compile", type("Counting", (event.Listener,), {
    "on_start": lambda self, told: compiled.append(told.data["dispatcher"].py_func.__name__),
    "on_end": lambda self, told: None,
})())
try:
    main()
except SystemExit as ended:
    print("ended", ended.code)
print("compiled", compiled)
"""


def cli(*arguments, before="from hushtable.cli import command; command()"):
    return subprocess.run(
        [sys.executable, "-c", before, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NUMBA_CPU_NAME": "generic"},
    )


@pytest.mark.skipif(not hasattr(group.rows_by_class, "_cache"), reason="nothing is compiled")
def test_the_first_use_after_a_warm_up_compiles_nothing(tmp_path):
    assert cli("warm-up", "--for", "anonymize").returncode == 0
    ht.datasets.people(n=400, seed=3).drop("name", "email").write_csv(tmp_path / "people.csv")
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "columns:\n  birth_date: quasi-identifier\n  sex: quasi-identifier\n  postcode: quasi-identifier\n"
        "  occupation: quasi-identifier\n  diagnosis: sensitive\n"
        "models: [k-anonymity: 5, distinct-l-diversity: {l: 2, sensitive: diagnosis}]\nexposure: {rate: 1}\n"
    )
    ended = cli("anonymize", tmp_path / "people.csv", "-p", policy, "-o", tmp_path / "release.csv", before=COUNTED)
    assert "compiled []" in ended.stdout, ended.stdout + ended.stderr


def test_an_unknown_job_is_refused_and_told_what_there_is():
    ended = cli("warm-up", "--for", "anonymize,everything")
    assert ended.returncode == 2
    assert "--for 'everything'" in ended.stderr
    assert all(job in ended.stderr for job in DRILLS)


# For all of them scripts/test compiles before it begins.
@pytest.mark.parametrize("jobs", [["mask-dependence"], pytest.param([*DRILLS], marks=pytest.mark.slow)])
def test_jobs_can_be_compiled_for(jobs):
    told = done("warm-up", "--for", ",".join(jobs)).out
    assert told.startswith("Compiled for ")
    assert all(repr(job) in told for job in jobs)
