"""Results as LaTeX tables: nothing in a name acts, and numbers are told as they are."""

import polars as pl

import hushtable as ht
from hushtable.discover import compare_sets
from hushtable.io import latex_of

PEOPLE = ht.datasets.people(60).select("sex", "education")


def test_names_cannot_run_in_latex():
    table = latex_of({r"\input{/etc/passwd}": ["a & b", "100 %"], "x_1": [0.5, float("nan")]})
    assert r"\textbackslash{}input\{/etc/passwd\}" in table
    assert r"a \& b & 0.5 \\" in table
    assert r"100 \% & -- \\" in table
    assert r"\begin{tabular}{lr}" in table


def test_results_have_a_table_for_papers():
    compared = compare_sets(PEOPLE, [["sex"], ["sex", "education"]], scores=["distinction"])
    assert compared.to_latex().count(r"\\") == 3
    policy = ht.Policy.parse("columns: {sex: quasi-identifier, education: quasi-identifier}\nmodels: [k-anonymity: 3]")
    runs = ht.compare(PEOPLE, policy, k=[2, 3]).to_latex()
    assert runs.splitlines()[2].startswith("k & ")
    release = ht.anonymize(PEOPLE, quasi_identifiers=["sex"], models=[ht.KAnonymity(2)], roles="trust")
    told = release.utility().to_latex()
    assert isinstance(release.frame, pl.DataFrame)
    assert "education" in told
