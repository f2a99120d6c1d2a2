"""warm-up: compile what commands need before they need it, as in the image of a container."""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

from hushtable.cli.arguments import names_of
from hushtable.cli.groups import option
from hushtable.cli.terminal import print_lines, show_step
from hushtable.errors import InputError, quote_names

if TYPE_CHECKING:
    from hushtable.models import PrivacyModel


def warm_up(
    jobs: Annotated[str, option("Commands and methods to compile for. Default: all.", "--for", metavar="A,B")] = "",
) -> None:
    """Compile before the first use, so that no command waits for it.

    The compiled code lies beside the installed package; if nothing can be written there, in your cache folder. It
    serves every user, every processor of the same kind, and every container of the same image.
    """
    selected = names_of(jobs) or [*DRILLS]
    unknown = [name for name in selected if name not in DRILLS]
    if unknown:
        raise InputError(f"--for {unknown[0]!r} is no job that is compiled for.", hint=f"jobs are {', '.join(DRILLS)}.")
    with show_step("compiling"):
        compile_for(selected)
    print_lines(f"Compiled for {quote_names(selected)}.")


def compile_for(jobs: Sequence[str]) -> None:
    """Run the drills of some jobs in parallel processes; what was compiled before is loaded."""
    drills = list(dict.fromkeys(drill for job in jobs for drill in DRILLS[job]))
    with multiprocessing.get_context("spawn").Pool(min(len(drills), os.cpu_count() or 1)) as pool:
        pool.map(_carry_out, drills, chunksize=1)


def _carry_out(drill: Callable[[], None]) -> None:
    warnings.simplefilter("ignore")
    drill()


def _protect_people(n_rows: int, columns: slice, *models: PrivacyModel, k: int = 5, **options: Any) -> None:
    """Protect some made-up people."""
    import hushtable as ht

    names = ["birth_date", "sex", "postcode", "education"][columns]
    people = ht.datasets.people(n=n_rows, seed=0)
    # Verifying loads kernels that no search loads.
    ht.anonymize(people, quasi_identifiers=names, models=[ht.KAnonymity(k), *models], roles="trust", **options).verify()


def _run_mondrian() -> None:
    """Cut columns of more and of fewer than 256 values: two code types."""
    import hushtable as ht

    for columns in (slice(4), slice(1, 4)):
        _protect_people(300, columns, ht.DistinctLDiversity(2, "diagnosis"))


def _apply() -> None:
    """Publish a next batch by the cells of a release, which are saved and read."""
    import tempfile
    from pathlib import Path

    import hushtable as ht

    people = ht.datasets.people(n=400, seed=0).select("birth_date", "sex", "diagnosis")
    release = ht.anonymize(
        people[:300],
        quasi_identifiers=["birth_date", "sex"],
        models=[ht.KAnonymity(5)],
        method=ht.Mondrian(recoding="readable"),
        hierarchies={"sex": {"tree": ["diverse", "female", "male"]}},
        roles="trust",
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cells.json"
        release.save_recoding(path)
        ht.Recoding.read(path).apply(people[300:]).verify()


def _recode_and_exchange() -> None:
    """Publish what the cuts leave, along hierarchies too, and exchange rows after cutting."""
    import hushtable as ht

    for method in (ht.Mondrian(recoding="cut"), ht.Mondrian(exchange=True)):
        _protect_people(
            300, slice(4), ht.DistinctLDiversity(2, "diagnosis"), method=method, hierarchies={"education": "auto"}
        )


def _measure_exposure() -> None:
    """Count who is unique on kept columns."""
    import hushtable as ht

    people, names = ht.datasets.people(n=300, seed=0).drop("email"), ["sex", "postcode"]
    for person in (None, "name"):
        ht.anonymize(people, quasi_identifiers=names, models=[ht.KAnonymity(2)], identifiers=["name"], person=person)


def _generalize_minimally() -> None:
    import hushtable as ht

    for n_rows, method in ((12, ht.MinGen()), (60, ht.MinGen()), (60, ht.Genetic(generations=2))):
        _protect_people(n_rows, slice(1, 4), k=3, method=method, budget=ht.Budget(seconds=5))


def _recode_locally() -> None:
    import hushtable as ht

    for k, models in ((2, []), (5, [ht.DistinctLDiversity(2, "diagnosis")])):
        for hierarchies in ({}, {"sex": ht.Hierarchy.suppression(), "postcode": "auto", "education": "auto"}):
            options: dict[str, Any] = {"hierarchies": hierarchies, "budget": ht.Budget(nodes=100)}
            _protect_people(120, slice(1, 4), *models, k=k, method="local_recoding", **options)


def _single_out() -> None:
    import hushtable as ht

    people = ht.datasets.people(n=120, seed=0)
    ht.mpuccs(people[:60], people[60:], n_cols=[1, 2], control=people[:30])
    ht.mpuccs(people[:60], people[60:], n_cols=[1, 2], all_minimal=True)
    ht.minimal_uniques(people[:60])
    ht.minimal_keys(people[:60], error=0.01)
    ht.minimal_keys(people[:60], sample=20)
    # Many values: codes of a wider type, for which kernels are compiled separately.
    ht.minimal_keys(ht.datasets.people(n=40_000, seed=0), ["email"])


def _run_masking() -> None:
    import hushtable as ht

    people = ht.datasets.people(n=120, seed=0).select("education", "birth_date")
    ht.mask_dependence(people, a=["education"], b=["birth_date"], clusters=4)


def _run_perturbation() -> None:
    """Group two columns and one, price triples, and swap ranks."""
    import hushtable as ht

    people = ht.datasets.people(n=120, seed=0).select("income", "birth_date").drop_nulls()
    for method in (ht.Microaggregation(steps=1, prove=True), ht.RankSwap()):
        numbers = people.with_columns(born=people["birth_date"].dt.year())
        ht.perturb(numbers, columns=["income", "born"], method=method)
        ht.perturb(numbers, columns=["income"], method=method)


def _run_scores() -> None:
    import hushtable as ht

    people = ht.datasets.people(n=120, seed=0).select("birth_date", "sex", "postcode", "education")
    ht.discover.scores.separation(people, people.columns)
    ht.select_columns(people, objective={"distinction": 1.0})


def _run_attacks() -> None:
    """Look up known records, count those that are near, and attack a synthetic table."""
    import hushtable as ht

    people = ht.datasets.people(n=60, seed=0)
    ht.singling_out(people[:30], people[30:], n_attacks=5)
    ht.inference(people[:30], people[30:], secret="sex", n_attacks=5)
    for eccentricity in (None, 1.5):
        ht.unicity(
            people, person="name", item="sex", known=1, tolerance={"birth_date": "30D"}, eccentricity=eccentricity
        )
    ht.minimal_uniques(people, columns=["birth_date", "sex"], tolerance={"birth_date": "30D"})


def _run_scan() -> None:
    """Propose roles, and look for keys, as scan does; measure risk."""
    import hushtable as ht

    people = ht.datasets.people(n=300, seed=0)
    ht.find_quasi_identifiers(people)
    ht.minimal_keys(people, max_size=3)
    ht.assess(people, quasi_identifiers=["birth_date", "sex", "postcode"], sensitive=["diagnosis"])


DRILLS: Final[Mapping[str, tuple[Callable[[], None], ...]]] = {
    "scan": (_run_scan,),
    "assess": (_run_scan,),
    "anonymize": (_run_mondrian, _measure_exposure),
    "verify": (_run_mondrian,),
    "apply": (_run_mondrian, _measure_exposure, _apply),
    "keys": (_run_scan, _single_out),
    "uniques": (_single_out,),
    "mondrian": (_run_mondrian, _recode_and_exchange),
    "mingen": (_generalize_minimally,),
    "local-recoding": (_recode_locally,),
    "mpuccs": (_single_out,),
    "attack": (_run_attacks,),
    "mask-dependence": (_run_masking,),
    "perturb": (_run_perturbation,),
    "scores": (_run_scores,),
    "select": (_run_scores,),
}
"""What can be compiled for, commands and methods: small calls that make numba compile what the job needs."""
