"""Evaluators that attack: the figures of the functions that they call, limits, and what they refuse."""

from __future__ import annotations

import polars as pl
import pytest

import hushtable as ht
from twins import naive_attacks

RATINGS = """
Loader: {people: {filepath: ratings.csv}}
Evaluator:
  few: {method: unicity, person: person, item: item, known: [1, 4], tolerance: {date: 14D}, limit: {rate: 0.5}}
  misled: {method: unicity, person: person, item: item, known: [6], wrong: 2, eccentricity: 1, limit: {n_found: 0}}
  shared: {method: join_risk, columns: [item, date], other: other.csv, truth: person}
Reporter:
  all: {method: save_report, granularity: [global, details]}
"""
PEOPLE = """
Loader: {people: {filepath: people.csv}}
Anonymizer:
  three:
    columns: {name: identifier, birth_date: quasi-identifier, sex: quasi-identifier, diagnosis: sensitive}
    models: [k-anonymity: 3]
    limits: {exposure: {rate: 1}}
Evaluator:
  tried: {method: attack, limit: {n_fell: 0}}
  voters: {method: link, columns: [birth_date, sex], tolerance: {birth_date: 30D}, control: others.csv}
  groups: {method: link, columns: [birth_date, sex], person: diagnosis, eccentricity: 0.1, limit: {n_one_record: 9}}
Reporter:
  all: {method: save_report, granularity: [global, details]}
"""


def run(folder, text, **options):
    (folder / "pipeline.yaml").write_text(text, encoding="utf-8")
    return ht.Pipeline.read(folder / "pipeline.yaml").run(folder / "out", **options)


def figures(folder):
    (path,) = (folder / "out").glob("*global*.csv")
    return pl.read_csv(path.read_bytes()).row(0, named=True)


def test_ratings_are_searched_and_joined(tmp_path):
    ratings = naive_attacks.ratings(60, 20, 1, mean=6)
    ratings.write_csv(tmp_path / "ratings.csv")
    ratings.with_columns(seen=pl.lit("yes")).drop("stars").write_csv(tmp_path / "other.csv")
    done = run(tmp_path, RATINGS)
    assert not done.passed
    assert any("rate is" in each for each in done.failures)
    told = figures(tmp_path)
    found = ht.unicity(
        tmp_path / "ratings.csv", person="person", item="item", known=[1, 4], tolerance={"date": "14D"}, seed=0
    )
    assert told["few_rate"] == found.rate
    assert told["misled_n_best"] >= told["misled_n_found"] >= told["misled_n_right"]
    assert any("n_found is" in each for each in done.failures)
    joined = ht.join_risk(tmp_path / "ratings.csv", tmp_path / "other.csv", on=["item", "date"], truth="person")
    assert told["shared_n_alone"] == joined.n_alone


def test_a_release_is_attacked_and_looked_up(tmp_path):
    people = ht.datasets.people(n=120, seed=1).select("name", "birth_date", "sex", "diagnosis")
    people[:100].write_csv(tmp_path / "people.csv")
    people[100:].write_csv(tmp_path / "others.csv")
    done = run(tmp_path, PEOPLE)
    told = figures(tmp_path)
    assert told["tried_n_fell"] in (0, 1)
    # Persons are counted, so a limit on records is not known to hold.
    assert [each.split(":")[0] for each in done.failures if "n_one_record" in each]
    assert told["groups_n_persons"] == people["diagnosis"][:100].n_unique()
    assert told["groups_rate"] == told["groups_n_found"] / told["groups_n_persons"]
    assert (told["tried_n_fell"] == 0) == (not any("n_fell" in each for each in done.failures))
    assert (told["voters_n_records"], told["voters_n_one_record"], told["voters_n_lost"]) == (100, 0, 0)
    assert told["voters_excess"] == 0


@pytest.mark.parametrize("what", ["file", "form"])
def test_an_earlier_release_is_judged_by_its_manifest_too(tmp_path, what):
    people = ht.datasets.people(n=120, seed=1).select("name", "birth_date", "sex", "diagnosis")
    people.write_csv(tmp_path / "people.csv")
    people[:20].write_csv(tmp_path / "others.csv")
    early = ht.anonymize(
        people[:100], quasi_identifiers=["birth_date", "sex"], models=[ht.KAnonymity(3)], sensitive=["diagnosis"],
        identifiers=["name"],
    )  # fmt: skip
    path = tmp_path / "early.csv"
    attacked = PEOPLE.replace(
        "method: attack, limit: {n_fell: 0}", "method: attack, earlier: early.csv, limit: {n_fell: 9}"
    )
    early.write(path)
    assert not any("tried" in each for each in run(tmp_path, attacked).failures)
    beside = path.with_name("early.csv.manifest.json")
    if what == "form":
        beside.write_text(beside.read_text().replace('"form": 1', '"form": 99', 1))
        # The file is the same, and its manifest another.
        (failure,) = (each for each in run(tmp_path, attacked).failures if "n_fell" in each)
        assert "n_fell cannot be said to be at most 9.0: all that the manifest says was not read" in failure
    else:
        path.write_bytes(path.read_bytes() + b"x,f,flu\n")
        with pytest.raises(ht.VerificationError, match="is not the file its manifest describes"):
            run(tmp_path, attacked)


def test_only_what_was_claimed_is_attacked(tmp_path):
    ht.datasets.people(n=30, seed=1).write_csv(tmp_path / "people.csv")
    text = "Loader: {people: {filepath: people.csv}}\nEvaluator: {tried: {method: attack}}\n"
    text += "Reporter: {all: {method: save_report, granularity: global}}\n"
    with pytest.raises(ht.InputError, match="nothing was claimed"):
        run(tmp_path, text)
    with pytest.raises(ht.PipelineError, match="limit names"):
        run(tmp_path, text.replace("attack}", "unicity, person: name, item: sex, limit: {excess: 1}}"))
