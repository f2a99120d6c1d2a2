from . import budget as budget, solver as solver
from .budget import (
    THREADS as THREADS,
    Budget as Budget,
    Clock as Clock,
    Effort as Effort,
    Trace as Trace,
    Trade as Trade,
    check_budget as check_budget,
    check_memory as check_memory,
    free_memory as free_memory,
    n_threads as n_threads,
    run_in_threads as run_in_threads,
    say_if_first_run as say_if_first_run,
)
from .solver import linprog as linprog, milp as milp
from .usage import measure_usage as measure_usage
