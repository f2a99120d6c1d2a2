"""Compile every kernel once, on all cores, before tests or clients need them: each worker would else do it alone.

What is compiled is kept beside the source, so that only a cold cache costs anything here.
"""

import multiprocessing
import warnings
from collections.abc import Callable

import hushtable as ht
from hushtable.discover import scores

QUASI_IDENTIFIERS = ["birth_date", "sex", "postcode", "education"]
DIVERSE = [ht.KAnonymity(5), ht.DistinctLDiversity(2, "diagnosis")]


def cutting() -> None:
    """Mondrian of more values than a byte tells apart: both cuts, along hierarchies, with models, and the exchange."""
    people = ht.datasets.people(n=300, seed=0)
    options = {"quasi_identifiers": QUASI_IDENTIFIERS, "models": DIVERSE, "roles": "trust"}
    for method in (ht.Mondrian(recoding="cut"), ht.Mondrian(cut="median"), ht.Mondrian(exchange=True)):
        ht.anonymize(people, method=method, hierarchies={"education": "auto"}, **options)


def cutting_bytes() -> None:
    """Mondrian of fewer values: both cuts, by the size of classes alone and with models of sensitive values."""
    people = ht.datasets.people(n=300, seed=0)
    for models in (DIVERSE[:1], DIVERSE):
        for cut in ("gain", "median"):
            options = {"quasi_identifiers": QUASI_IDENTIFIERS[1:], "models": models, "roles": "trust"}
            ht.anonymize(people, method={"mondrian": {"cut": cut}}, **options)


def grouping() -> None:
    """Minimal generalization, genetic search, mpUCCs, minimal uniques, masking, scores."""
    people = ht.datasets.people(n=120, seed=0)
    options = {"quasi_identifiers": QUASI_IDENTIFIERS[1:], "models": [ht.KAnonymity(3)], "roles": "trust"}
    ht.mpuccs(people[:60], people[60:], n_cols=[1, 2], control=people[:30])
    ht.mpuccs(people[:60], people[60:], n_cols=[1, 2], all_minimal=True)
    ht.minimal_uniques(people[:60])
    ht.minimal_keys(people[:60], error=0.01)
    ht.minimal_keys(people[:60], sample=20)
    ht.mask_dependence(people, a=["education"], b=["birth_date"], clusters=4)
    scores.separation(people, QUASI_IDENTIFIERS)
    ht.select_columns(people.select(QUASI_IDENTIFIERS), objective={"distinction": 1.0})
    for n_rows, method in ((12, ht.MinGen()), (60, ht.MinGen()), (60, ht.Genetic(generations=2))):
        ht.anonymize(people[:n_rows], method=method, budget=ht.Budget(seconds=5), **options)


def annealing() -> None:
    """Local recoding, by the size of classes alone and with a model of sensitive values."""
    people = ht.datasets.people(n=120, seed=0)
    for k, models in ((2, []), (5, DIVERSE[1:])):
        options = {"quasi_identifiers": QUASI_IDENTIFIERS[1:], "models": [ht.KAnonymity(k), *models], "roles": "trust"}
        for hierarchies in ({}, {"sex": ht.Hierarchy.suppression(), "postcode": "auto", "education": "auto"}):
            ht.anonymize(
                people, method="local_recoding", hierarchies=hierarchies, budget=ht.Budget(nodes=100), **options
            )


def main() -> None:
    """Run the drills side by side."""
    warnings.simplefilter("ignore")
    drills: list[Callable[[], None]] = [cutting, cutting_bytes, grouping, annealing]
    processes = [multiprocessing.get_context("spawn").Process(target=drill) for drill in drills]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
