"""Ways to publish whose records are whose, side by side: what each costs, and whom several records find."""

import json

import polars as pl
import pytest

import hushtable as ht
from command import done, run
from hushtable.policy import Policy

DATA = ht.datasets.ratings(24, 6)
RULES = """\
columns:
  user_id: {role: identifier, action: remove}
  item: quasi-identifier
  rating: quasi-identifier
  date: quasi-identifier
person: user_id
models: [k-anonymity: 3]
"""
LINKS = ["remove", "fresh", "linked-k-anonymity", "km-anonymity"]


def compared(rules=RULES, links=LINKS, **more):
    return ht.compare(DATA, Policy.parse(rules), k=[3], suppression=[0.2], links=links, **more)


def test_every_way_is_a_release_of_its_own():
    rows = compared().rows
    assert [row.links for row in rows] == LINKS
    assert [row.method for row in rows] == ["mondrian", "mondrian", "histories", "mondrian"]
    assert all(row.verified for row in rows)
    left_out, fresh, linked, known = rows
    assert left_out.loss == fresh.loss < min(known.loss, linked.loss)
    assert left_out.persons_found is None is fresh.persons_found
    assert linked.persons_found == 0
    # By three records somebody may be found: two were asked for.
    assert 0 <= known.persons_found < 1
    assert known.line == "km-anonymity, mondrian, readable, suppression 0.2"


def test_a_row_is_what_the_policy_with_these_entries_publishes():
    rules = RULES.replace("action: remove", "action: pseudonym").replace("k-anonymity: 3", "km-anonymity: {k: 3, m: 2}")
    (row,) = compared(rules, ["km-anonymity"]).rows
    release = Policy.parse(rules + "limits: {suppression: 0.2}\n").protect(DATA, key=bytes(range(32)))
    assert (row.loss, row.n_suppressed) == (release.loss, release.n_suppressed)
    (linked,) = compared(rules, ["linked-k-anonymity"]).rows
    aligned = rules.replace("km-anonymity: {k: 3, m: 2}", "linked-k-anonymity: 3")
    release = Policy.parse(aligned + "limits: {suppression: 0.2}\nmethod: histories\n").protect(
        DATA, key=bytes(range(32))
    )
    assert (linked.loss, linked.n_suppressed) == (release.loss, release.n_suppressed)


def test_k_is_that_of_models_of_histories():
    rules = RULES.replace("action: remove", "action: pseudonym").replace("k-anonymity: 3", "km-anonymity: {k: 3, m: 1}")
    rows = ht.compare(DATA, Policy.parse(rules), k=[2, 6], suppression=[0.1]).rows
    assert rows[0].loss < rows[1].loss
    assert all(row.links is None and row.persons_found > 0 for row in rows)


def test_what_links_cannot_be_is_refused():
    with pytest.raises(ht.InputError, match="does not say whose record"):
        compared(RULES.replace("person: user_id\n", ""))
    with pytest.raises(ht.InputError, match="links holds 'freshly'"):
        compared(links=["freshly"])


def test_the_command_and_the_report_tell_them_apart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    DATA.write_csv("in.csv")
    (tmp_path / "policy.yaml").write_text(RULES)
    asked = ["compare", "in.csv", "-p", "policy.yaml", "--k", "3", "--suppression", "0.2", "--links", ",".join(LINKS)]
    told = done(*asked, "--report", "report.html").out
    assert all(f"{each}, " in told for each in LINKS)
    assert "no link" in told
    assert "1, 2 or 3 known records find" in told
    assert "Whom 1, 2 or 3 known records find" in (tmp_path / "report.html").read_text()
    rows = json.loads(done(*asked[:-1], "remove,km-anonymity", "--json").out)["rows"]
    assert [row["persons_found"] is None for row in rows] == [True, False]
    assert run(*asked[:-1], "freshly").code == 2


def test_people_without_links_are_compared_as_before():
    people = pl.DataFrame({"age": [31, 34, 52, 57]})
    rules = Policy.parse("columns: {age: quasi-identifier}\nmodels: [k-anonymity: 2]")
    (row,) = ht.compare(people, rules, k=[2], suppression=[0]).rows
    assert (row.links, row.persons_found) == (None, None)
