"""Budget and Trace."""

import dataclasses
import math
import sys
from types import SimpleNamespace

import pytest

from hushtable.errors import InputError
from hushtable.search import budget
from hushtable.search.budget import Budget, Clock, Effort, Trace, check_memory, free_memory, say_if_first_run


@pytest.mark.parametrize("given", [{}, {"seconds": 0.5}, {"nodes": 1}, {"seconds": 1, "nodes": 10}])
def test_budgets_above_zero_are_taken(given):
    budget = Budget(**given)
    assert (budget.seconds, budget.nodes) == (given.get("seconds"), given.get("nodes"))


@pytest.mark.parametrize("name", ["seconds", "nodes"])
@pytest.mark.parametrize("number", [0, -1, float("nan")])
def test_other_budgets_are_refused_with_their_value(name, number):
    with pytest.raises(InputError, match=rf"budget {name} = {number!r}") as caught:
        Budget(**{name: number})
    assert "Hint:" in str(caught.value)


def test_a_trace_claims_no_proof_unless_told():
    trace = Trace("mondrian", nodes=7, seconds=0.25)
    assert trace.to_dict() == {
        "method": "mondrian",
        "nodes": 7,
        "seconds": 0.25,
        "complete": True,
        "optimal": False,
        "bound": None,
        "gap": None,
        "seed": None,
    }


@pytest.mark.parametrize("result", [Budget(), Trace("mondrian", 1, 0.0)])
def test_both_are_frozen(result):
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.seconds = 1.0


def test_effort_is_told_where_it_was_recorded():
    effort = Effort(states=1_000, pruned=3, cache_hits=2, space=8.0, ties=1, history=((0.5, None, 2.0),))
    assert effort.factor == pytest.approx(5.0)
    entries = Trace("mingen", 1, 0.0, effort=effort).to_dict()
    assert entries["effort"]["states"] == 1_000
    assert entries["effort"]["history"] == ((0.5, None, 2.0),)
    assert "effort" not in Trace("mondrian", 1, 0.0).to_dict()


@pytest.fixture
def now(monkeypatch):
    """Return a list whose last entry is what time it is."""
    times = [100.0]
    monkeypatch.setattr(budget, "perf_counter", lambda: times[-1])
    return times


def test_a_clock_is_over_when_its_seconds_or_its_nodes_are(now):
    clock = Clock(Budget(seconds=5, nodes=10))
    assert (clock.spent, clock.left, clock.is_over(), clock.is_over(9), clock.is_over(10)) == (0, 5, False, False, True)
    now.append(104.0)
    assert (clock.spent, clock.left, clock.is_over()) == (4, 1, False)
    now.append(105.0)
    assert (clock.left, clock.is_over()) == (0, True)
    now.append(200.0)
    assert clock.left == 0


def test_a_clock_without_seconds_never_ends_by_itself(now):
    clock = Clock()
    now.append(1e9)
    assert clock.left == math.inf
    assert not clock.is_over(1_000_000)
    assert clock.start_part(0.5).left == math.inf


def test_a_part_of_a_search_has_a_share_of_the_seconds_that_are_left(now):
    clock = Clock(Budget(seconds=10))
    now.append(106.0)
    part = clock.start_part(0.5)
    assert (part.spent, part.left) == (0, 2)
    now.append(108.0)
    assert part.is_over()
    assert not clock.is_over()
    now.append(111.0)
    assert clock.start_part(0.5).budget.seconds > 0


def test_a_clock_begun_anew_has_all_its_seconds_and_what_was_noted(now):
    clock = Clock(Budget(seconds=10))
    clock.record_improvement(2.0)
    now.append(108.0)
    anew = clock.with_new_start()
    assert (clock.left, anew.left, anew.spent) == (2, 10, 0)
    assert anew.history == clock.history


def test_what_needs_more_memory_than_is_free_is_an_error_with_both_figures(monkeypatch):
    monkeypatch.setattr(budget, "free_memory", lambda: 2_500_000_000)
    check_memory(2.4e9, "comparing all rows", "take fewer.")
    with pytest.raises(
        InputError, match=r"comparing all rows would need 38 GB of memory, and 2\.5 GB is free"
    ) as caught:
        check_memory(3.8e10, "comparing all rows", "take fewer.")
    assert "Hint: take fewer." in str(caught.value)


def test_memory_that_no_one_tells_of_is_not_checked(monkeypatch):
    monkeypatch.setattr(budget, "free_memory", lambda: None)
    check_memory(1e30, "anything", "nothing.")


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({}, None),
        ({"/proc/meminfo": "MemTotal: 90 kB\nMemAvailable:   50 kB\n"}, 51_200),
        ({"/proc/meminfo": "MemAvailable: 50 kB\n", "/proc/self/statm": "3 2 1 0 0 0 0"}, 51_200),
        (
            {
                "/proc/meminfo": "MemAvailable: 50 kB\n",
                "/proc/self/statm": "3 2 1 0 0 0 0",
                "/sys/fs/cgroup/memory.max": "20000\n",
            },
            20_000 - 2 * 4096,
        ),
        (
            {
                "/proc/meminfo": "MemAvailable: 50 kB\n",
                "/proc/self/statm": "3 2 1 0 0 0 0",
                "/sys/fs/cgroup/memory.max": "max\n",
            },
            51_200,
        ),
    ],
)
def test_free_memory_is_the_least_of_what_the_machine_and_its_limits_leave(files, free, monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(budget, "_read_system_file", lambda path: files.get(path, ""))
    monkeypatch.setattr(resource, "getrlimit", lambda which: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    monkeypatch.setattr(resource, "getpagesize", lambda: 4096)
    assert free_memory() == free


@pytest.mark.parametrize(("name", "of_threads"), [("polars-0\n", 0), ("python\n", 400_000_000 + 2 * 220_000_000)])
def test_a_limit_of_the_shell_counts_too_and_what_threads_of_polars_reserve(name, of_threads, monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setenv("POLARS_MAX_THREADS", "2")
    monkeypatch.setattr(budget, "_read_system_file", lambda path: {"/proc/self/statm": "3 2 1 0 0 0 0"}.get(path, name))
    monkeypatch.setattr(resource, "getrlimit", lambda which: (1_000_000_000, resource.RLIM_INFINITY))
    monkeypatch.setattr(resource, "getpagesize", lambda: 4096)
    assert free_memory() == 1_000_000_000 - 3 * 4096 - of_threads


def announced(capsys, signatures=(), *, is_kept=False):
    say_if_first_run(SimpleNamespace(signatures=signatures, _cache=SimpleNamespace(is_kept=is_kept)), 7)
    return capsys.readouterr().err


def test_the_first_search_on_a_machine_says_that_it_compiles(capsys, monkeypatch):
    line = "Compiling for the first time on this machine; this takes about 7 seconds, once.\n"
    assert announced(capsys) == "", "nobody watches"
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    assert announced(capsys) == line
    assert announced(capsys, signatures=["compiled in this process"]) == ""
    assert announced(capsys, is_kept=True) == "", "compiled before"


def test_what_is_asked_of_a_kernel_is_there(capsys, monkeypatch):
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    from hushtable.kernels import cost, split, uniques

    for kernel in (split.grow_tree, uniques.walk_on, uniques.walk_all_on, cost.find_nearest, cost.cheapest_partitions):
        say_if_first_run(kernel, 7)
        assert capsys.readouterr().err.count("\n") <= 1
