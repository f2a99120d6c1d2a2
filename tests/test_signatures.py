"""What travels together is a record: a function with many parameters is public, and one of those that are listed."""

import ast
from collections.abc import Iterator
from pathlib import Path

import hushtable as ht
from test_public_names import types_by_parameter

HOUSE = Path(ht.__file__).parent
MOST = 8

# Public signatures stay. An option of the command is a parameter, so `cli` is not looked at.
MANY_PARAMETERS = {
    *("masking/independence.py: mask_dependence", "masking/tradeoff.py: masking_tradeoff"),
    *("claims/verifying.py: verify", "policy/protecting.py: anonymize", "release/release.py: Release.write"),
    "perturbation/perturbing.py: perturb",
    "policy/comparing.py: compare",
    *("risk/assess.py: assess", "risk/keys.py: minimal_keys", "risk/mpuccs.py: mpuccs"),
    *("risk/attacks/few_records.py: unicity", "risk/attacks/guesses.py: inference", "risk/attacks/linking.py: link"),
    *(
        "risk/attacks/queries.py: singling_out",
        "risk/petsard.py: petsard_mpuccs",
        "risk/uniques.py: minimal_uniques",
    ),
    "risk/members/membership.py: membership",
    "sklearn.py: Anonymizer.__init__",
    *("tabulation/checking.py: check_tables", "tabulation/publishing.py: tabulate"),
}


def functions(node: ast.AST, within: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.ClassDef, ast.FunctionDef)):
            name = f"{within}{child.name}"
            if isinstance(child, ast.FunctionDef):
                yield name, child
            yield from functions(child, f"{name}.")


def n_parameters(function: ast.FunctionDef) -> int:
    given = function.args
    named = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return sum(name not in ("self", "cls") for name in named) + bool(given.vararg) + bool(given.kwarg)


def test_no_function_below_the_command_has_many_parameters_but_public_ones() -> None:
    many = {
        f"{path.relative_to(HOUSE).as_posix()}: {name}"
        for path in HOUSE.rglob("*.py")
        # Kernels see arrays and numbers only.
        if path.relative_to(HOUSE).parts[0] not in ("cli", "kernels")
        for name, function in functions(ast.parse(path.read_text(encoding="utf-8")))
        if n_parameters(function) > MOST
    }
    assert many == MANY_PARAMETERS


# What the verbs call their parameters. A thing has one name: before a name is added, look for the one it has.
PARAMETERS = """
a accept across all_minimal attacks audience aux_columns average_risk b base budget by by_rank c certificate
clustering clusters columns control control_size counts data dates datetime_precision deduplicate disclosure_fraction
earlier eccentricity engine error few field_decay_factor file first frequency hidden hierarchies highest_risk
household identifiers importance inputs item k keep key keys known known_within label language leave_out linked links
loss max_attempts max_size measure method methods min_entropy_delta missing mode model models n n_attacks n_cols
n_draws n_neighbors n_permutations n_records n_trials numeric_precision objective of_persons on optimise_ties original
outside person policy population population_size precision progress pseudonyms publish quasi_identifiers ratio reader
recoding reference regression release renyi_alpha result roles rounding rows rules sample search_models second secret
seed sensitive session specs status suppressed suppression suppression_limit synthetic target threshold thresholds
title tolerance total truth unknown value values verdict weight weights words wrong
"""


def test_a_verb_calls_a_thing_as_the_others_do() -> None:
    assert set(types_by_parameter()) == set(PARAMETERS.split())
