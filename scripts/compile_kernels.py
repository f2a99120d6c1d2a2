"""Compile every kernel once, on all cores, before tests or clients need them: each worker would else do it alone.

What is compiled is kept beside the source, so that only a cold cache costs anything here.
"""

import multiprocessing
import warnings
from collections.abc import Callable

import hushtable as ht
from hushtable.discover import scores

QUASI_IDENTIFIERS = ["birth_date", "sex", "postcode", "education"]


def cutting() -> None:
    """Mondrian, with both cuts, along hierarchies, with models of sensitive values, and the exchange pass."""
    people = ht.datasets.people(n=300, seed=0)
    models = [ht.KAnonymity(5), ht.DistinctLDiversity(2, "diagnosis")]
    options = {"quasi_identifiers": QUASI_IDENTIFIERS, "models": models, "roles": "trust"}
    for method in (ht.Mondrian(recoding="cut"), ht.Mondrian(cut="median"), ht.Mondrian(exchange=True)):
        ht.anonymize(people, method=method, hierarchies={"education": "auto"}, **options)


def grouping() -> None:
    """Minimal generalization, genetic search, mpUCCs, minimal uniques, masking, scores."""
    people = ht.datasets.people(n=120, seed=0)
    options = {"quasi_identifiers": QUASI_IDENTIFIERS[1:], "models": [ht.KAnonymity(3)], "roles": "trust"}
    ht.mpuccs(people[:60], people[60:], n_cols=[1, 2], control=people[:30])
    ht.mpuccs(people[:60], people[60:], n_cols=[1, 2], all_minimal=True)
    ht.minimal_uniques(people[:60])
    ht.mask_dependence(people, a=["education"], b=["birth_date"], clusters=4)
    scores.separation(people, QUASI_IDENTIFIERS)
    ht.select_columns(people.select(QUASI_IDENTIFIERS), objective={"distinction": 1.0})
    for n_rows, method in ((12, ht.MinGen()), (60, ht.MinGen()), (60, ht.Genetic(generations=2))):
        ht.anonymize(people[:n_rows], method=method, budget=ht.Budget(seconds=5), **options)


def main() -> None:
    """Run the drills side by side."""
    warnings.simplefilter("ignore")
    drills: list[Callable[[], None]] = [cutting, grouping]
    processes = [multiprocessing.get_context("spawn").Process(target=drill) for drill in drills]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
