"""What a job that runs every night gets: its policy, the groups of plans, and made-up people."""

from pathlib import Path

import polars as pl

POLICY = """columns:
  who: identifier
  age: quasi-identifier
  plan: {role: quasi-identifier, hierarchy: plans.csv}
  ill: sensitive
person: who
models: [k-anonymity: 3]
method: {mondrian: {recoding: readable}}
limits: {suppression: 0.05}
"""
POLICY_WITH_PSEUDONYMS = POLICY.replace("who: identifier", "who: {role: identifier, action: pseudonym}")
_PLANS = ("basic", "gold", "silver")


def write_policy(policy: str) -> None:
    """Write a policy and the hierarchy that it names into the folder where the test runs."""
    Path("policy.yaml").write_text(policy)
    Path("plans.csv").write_text("basic;low\nsilver;low\ngold;high\n")


def make_night(first: int, n: int = 60, plan: str = "") -> pl.DataFrame:
    """Return made-up people; ages and plans repeat in a fixed order."""
    numbers = range(first, first + n)
    return pl.DataFrame(
        {
            "who": [f"p{i}" for i in numbers],
            "age": [20 + i % 2 * 30 for i in numbers],
            "plan": [plan or _PLANS[i % 3] for i in numbers],
            "ill": [("flu", "gout", "mumps", "cold")[(i * 5) % 4] for i in numbers],
        }
    )
