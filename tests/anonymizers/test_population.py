"""Releases that count a population verify, whatever the columns, the recoding and the hierarchies are."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from command import done, run
from hushtable.claims import Classes, Matchings, claim_from_dict
from hushtable.columns.column import ColumnSpec
from strategies import draws

DAY = dt.date(2019, 12, 30)
MOMENT = dt.datetime(1969, 12, 31, 23, 59, 58, 999_999)
MIDNIGHTS = ["2020-01-01 00:00:00", "2020-01-01T00:00"]
NUMBERS: list[dict[str, Any]] = [{"intervals": {"width": [2.5, 10]}}, {"intervals": {"width": 7, "high": 40}}]
SETS: list[dict[str, Any]] = [{"frequency": {"fanout": 2}}, {"runs": {"fanout": 2}}, {"suppression": None}]
TOWNS = ["ulm", "köln", "<50", "[1, 5]", '["a"]', "0123", "0124", "01", " ", "", "a b", "1.0", "1"]

# By name: the type, the values of which a table draws a few, and the rules that fit besides those of every column.
COLUMNS: dict[str, tuple[Any, list[Any], list[Any]]] = {
    "integer": (pl.Int64, [-3, 0, 1, 5, 17, 18, 25, 26, 40, 49, 50, 90], NUMBERS),
    "large": (pl.Int64, [2**53, 2**53 + 1, 2**53 + 2, -(2**60), 0], []),
    "decimal": (pl.Float64, [-1.5, -0.0, 0.1, 0.25, 1.0, 2.5, 10.0, 39.9], NUMBERS),
    "exponents": (pl.Float64, [1e16, 1e-7, 1e22, 5.0, 49.5, -2e-9, 3e16], []),
    "float32": (pl.Float32, [0.1, 0.2, 1.0, 16.7, 1e-7, 1e16], []),
    "date": (pl.Date, [DAY + dt.timedelta(days=days) for days in (0, 1, 2, 33, 400, 4000)], [{"dates": None}]),
    "moment": (pl.Datetime("us"), [MOMENT + dt.timedelta(hours=hours) for hours in (0, 1, 30, 900, 99999)], []),
    "nanoseconds": (pl.Int64, [-1, -1_500, 0, 1, 999, 1_000, 3_600_000_000_007], []),
    "zone": (pl.Datetime("us"), [MOMENT + dt.timedelta(minutes=minutes) for minutes in (0, 1, 45, 2000, 600_000)], []),
    "town": (pl.String, TOWNS, [{"prefix": [3, 2]}]),
    "code": (pl.String, ["01234", "01239", "01301", "99999", "99100", "45000"], [{"prefix": [4, 2]}]),
    "flag": (pl.Boolean, [False, True], []),
    "grade": (pl.Enum(["low", "mid", "high", "top"]), ["low", "mid", "high", "top"], []),
}


def column(name: str, cells: list[Any]) -> pl.Series:
    series = pl.Series(name, cells, dtype=COLUMNS[name][0])
    if name == "nanoseconds":
        return series.cast(pl.Datetime("ns"))
    return series.dt.replace_time_zone("Europe/Berlin", ambiguous="earliest") if name == "zone" else series


def draw(rng: np.random.Generator) -> dict[str, Any]:
    """Draw the arguments of `anonymize`: people, some of whom are the records, and what is asked."""
    names = rng.choice(list(COLUMNS), rng.integers(1, 4), replace=False).tolist()
    n_people = int(rng.integers(4, 40))
    people = []
    for name in names:
        values = COLUMNS[name][1]
        few = [values[i] for i in rng.permutation(len(values))[: rng.integers(1, len(values) + 1)]]
        few = [*few, None] if rng.random() < 0.3 else few
        people.append(column(name, [few[i] for i in rng.integers(0, len(few), n_people)]))
    everyone = pl.DataFrame(people)
    ill = rng.choice(["flu", "hiv", "none"], n_people)
    rows = np.sort(rng.permutation(n_people)[: rng.integers(2, n_people + 1)])
    data = everyone.with_columns(ill=ill)[rows]
    low, high = sorted(rng.choice([0.0, 0.1, 0.3, 0.5, 0.75, 1.0], 2, replace=False).tolist())
    models: list[Any] = [ht.KMap(int(rng.integers(1, 6))) if rng.random() < 0.5 else ht.DeltaPresence(low, high)]
    if rng.random() < 0.4:
        models.append(ht.KAnonymity(int(rng.integers(1, 4))))
    if rng.random() < 0.2:
        models.append(ht.DistinctLDiversity(2, "ill"))
    recoding = str(rng.choice(["tight", "cut", "label", "set", "central"], p=[0.3, 0.2, 0.2, 0.25, 0.05]))
    options: dict[str, Any] = {"recoding": recoding}
    if recoding != "cut" and rng.random() < 0.3:
        options |= {"strict": False, "cut": "median"} if rng.random() < 0.5 else {"exchange": True}
    ladders: dict[str, Any] = {}
    for name in names:
        if rng.random() < 0.4:
            choices = ["auto", *SETS, *COLUMNS[name][2]]
            ladders[name] = choices[rng.integers(len(choices))]
    return {
        "data": data,
        "quasi_identifiers": names,
        "models": models,
        "population": everyone,
        "method": ht.Mondrian(**options),
        "hierarchies": ladders,
        "sensitive": ["ill"] if rng.random() < 0.3 and len(models) < 3 and models[-1].name[0] != "d" else [],
        "suppression_limit": 0.4 if rng.random() < 0.2 else 0.0,
    }


def handed_over(frame: pl.DataFrame, how: str, path: Path) -> Any:
    if how == "csv":
        frame.write_csv(path)
        return path
    return {"pandas": frame.to_pandas, "pyarrow": frame.to_arrow, "polars": frame.clone}[how]()


def test_every_release_verifies(tmp_path):
    rng = np.random.default_rng(11)
    n_released, n_tables = 0, draws(200)
    for _ in range(n_tables):
        task = draw(rng)
        for name in ("data", "population"):
            how = rng.choice(["polars", "pandas", "pyarrow", "csv"], p=[0.4, 0.3, 0.1, 0.2])
            task[name] = handed_over(task[name], how, tmp_path / f"{name}.csv")
        try:
            release = ht.anonymize(**task)
        except ht.HushError:
            continue
        n_released += 1
        assert release.verify().passed, task
        assert release.write(tmp_path / f"out.{rng.choice(['csv', 'parquet'])}", overwrite=True).passed, task
    assert n_released > n_tables / 2


# Kinds: known from before the publication, never guessed from what was published.


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_bound_of_categories_is_refused(tmp_path):
    """One exponent makes the population's column text: by the alphabet, all of these are below 50."""
    published = pl.DataFrame({"age": ["<50"] * 3})
    people = pl.DataFrame({"age": ["10", "20", "30", "400", "401", "402", "49x"]})
    with pytest.raises(ht.InputError, match=r"column 'age' of kind category"):
        ht.verify(published, quasi_identifiers=["age"], models=[ht.KMap(5)], population=people)
    exponent = written(tmp_path, "people.csv", "age\n10\n20\n30\n400\n401\n1e16\n")
    with pytest.raises(ht.InputError, match="'age'"):
        ht.verify(published, quasi_identifiers=["age"], models=[ht.KMap(5)], population=exponent)
    specs = {"age": ColumnSpec("decimal")}
    verdict = ht.verify(published, quasi_identifiers=["age"], models=[ht.KMap(5)], population=exponent, specs=specs)
    assert [failure.worst for failure in verdict.failures] == [3.0]


def test_the_type_of_a_populations_column_is_its_kind():
    people = pl.DataFrame({"age": [10.0, 20.0, 30.0, 400.0, 1e16]})
    judged = [
        ht.verify(pl.DataFrame({"age": ["<50"]}), quasi_identifiers=["age"], models=[ht.KMap(k)], population=people)
        for k in (3, 4)
    ]
    assert [verdict.passed for verdict in judged] == [True, False]


@pytest.mark.parametrize(
    ("cell", "people"), [("1", ["1", "1.0"]), ("1.0", ["1", "2.5"]), ("2020-01-01 00:00:00", MIDNIGHTS)]
)
def test_a_kind_that_decides_who_is_covered_must_be_given(cell, people):
    """As numbers two people are covered, as categories one: neither is guessed."""
    table, population = pl.DataFrame({"x": [cell]}), pl.DataFrame({"x": people})
    with pytest.raises(ht.InputError, match=r"'x' looks like the kind .* no kind was given"):
        ht.verify(table, quasi_identifiers=["x"], models=[ht.KMap(1)], population=population)
    for kind in ("category", "datetime" if "-" in cell else "decimal"):
        specs = {"x": ColumnSpec(kind)}
        ht.verify(table, quasi_identifiers=["x"], models=[ht.KMap(1)], population=population, specs=specs)


def test_bounds_between_integers_are_exact():
    people = pl.DataFrame({"x": [2**53, 2**53 + 1, 2**53 + 2, 2, 3]})
    for cell, n_covered in ((f"[{2**53 + 1}, {2**53 + 2})", 1), ("[2.5, 5)", 1), ("<2.5", 1), (f">={2**53 + 1}", 2)):
        verdict = ht.verify(
            pl.DataFrame({"x": [cell]}), quasi_identifiers=["x"], models=[ht.KMap(6)], population=people
        )
        assert verdict.failures[0].worst == n_covered


@pytest.mark.parametrize("cell", ["[1,2,3]", "[[1]]", "[1, 2]"])
def test_cells_that_say_nothing_of_categories_are_refused(cell):
    with pytest.raises(ht.InputError, match="'x'"):
        ht.verify(
            pl.DataFrame({"x": [cell]}),
            quasi_identifiers=["x"],
            models=[ht.KMap(1)],
            population=pl.DataFrame({"x": ["a", "b"]}),
        )


def test_a_release_and_its_manifest_keep_the_kinds(tmp_path):
    data = pl.DataFrame(
        {
            "age": [1.5, 2.0, 1e16, 7.0],
            "grade": pl.Series(["low", "high", "low", "mid"], dtype=pl.Enum(["low", "mid", "high"])),
            "ill": [1, 2, 1, 2],
        }
    )
    release = ht.anonymize(
        data, quasi_identifiers=["age", "grade"], sensitive=["ill"], models=[ht.KMap(2)], population=data[:, :2]
    )
    assert release.specs == {
        "age": ColumnSpec("decimal"),
        "grade": ColumnSpec("ordered", ("low", "mid", "high")),
        "ill": ColumnSpec("integer"),
    }
    for external in (False, True):
        release.write(tmp_path / "out.csv", external=external, overwrite=True)
        entries = json.loads((tmp_path / "out.csv.manifest.json").read_text())
        assert entries["claim"]["kinds"] == {"age": "decimal", "grade": "ordered", "ill": "integer"}
        assert not any(f'"{value}"' in json.dumps(entries) for value in ("low", "mid", "high"))


def test_the_command_takes_kinds_from_the_manifest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ["1.0", "2.0", "3.0", "10.0", "11.0", "12.0"]
    people = written(tmp_path, "people.csv", "\n".join(["age", *rows, "2.50"]) + "\n")
    written(tmp_path, "in.csv", "\n".join(["age", *rows]) + "\n")
    written(tmp_path, "p.yaml", "columns: {age: quasi-identifier}\nmodels: [k-map: 2]\n")
    done("anonymize", "in.csv", "-p", "p.yaml", "-o", "out.csv", "--population", people)
    done("verify", "out.csv", "-p", "p.yaml", "--population", people)
    assert run("verify", "out.csv", "-p", "p.yaml", "--population", people, "--no-manifest").code == 2


@pytest.mark.parametrize("kinds", [{"age": "colour"}, ["age"]])
def test_a_manifest_of_other_kinds_is_refused(kinds):
    for claim in (Classes(("age",), (ht.KMap(2),)), Matchings(("age",), (ht.GlobalK1(2),))):
        with pytest.raises(ht.InputError, match="kinds"):
            claim_from_dict({**claim.to_dict(), "kinds": kinds})


# What a search and a reader count.


def test_a_class_of_stars_is_not_taken_for_suppressed_records():
    """Nothing was suppressed, and the people under the stars are the class's."""
    data = pl.DataFrame({"x": ["a", "b", "c", "d"]})
    verdict = ht.anonymize(data, quasi_identifiers=["x"], models=[ht.DeltaPresence(0.5, 1.0)], population=data).verify()
    assert (verdict.passed, verdict.n_suppressed) == (True, 0)
    table = pl.DataFrame({"x": ["*", "*"]} | {"y": ["*", "*"]}).vstack(pl.DataFrame({"x": ["a"], "y": ["u"]}))
    people = pl.DataFrame({"x": ["a", "b", "c"], "y": ["u", "u", "v"]})
    for k, passed in ((1, True), (2, False), (4, False)):
        found = ht.verify(table, quasi_identifiers=["x", "y"], models=[ht.KMap(k)], population=people)
        assert (found.passed, found.n_suppressed, found.n_classes) == (passed, 0, 2)
    assert found.failures[0].n_records == 3


def test_a_release_of_one_class_of_stars_and_others_has_none_suppressed():
    data = pl.DataFrame({"x": [None, 1, None, 2, 5, 5, 5, 5], "y": [1, None, 2, None, 5, 5, 5, 5]})
    release = ht.anonymize(data, quasi_identifiers=["x", "y"], models=[ht.KAnonymity(4)])
    assert release.frame.rows().count(("*", "*")) == 4
    verdict = release.verify()
    assert (verdict.n_suppressed, verdict.n_classes, verdict.smallest_class) == (0, 2, 4)


def test_k_anonymity_judges_no_class_without_records():
    published = pl.DataFrame({"age": ["[20, 29]"] * 2})
    population = pl.DataFrame({"age": [20, 25, 29, 60]})
    models = [ht.KMap(3), ht.KAnonymity(2)]
    assert ht.verify(published, quasi_identifiers=["age"], models=models, population=population).passed


def test_sets_of_nodes_hold_the_population():
    data = pl.DataFrame({"x": ["a", "c"]})
    people = pl.DataFrame({"x": ["a", "b", "c", "d", "e"]})
    release = ht.anonymize(
        data,
        quasi_identifiers=["x"],
        models=[ht.KMap(2)],
        population=people,
        method=ht.Mondrian(recoding="set"),
        hierarchies={"x": {"tree": {"l": ["a", "b"], "r": ["c", "d"], "o": ["e"]}}},
    )
    assert release.verify().passed


def test_a_population_may_hold_values_that_the_data_lack_under_a_hierarchy():
    data = pl.DataFrame({"age": [21, 22, 35, 36]})
    people = pl.DataFrame({"age": [21, 22, 24, 35, 36, 38, 50]})
    for rule in ("auto", {"intervals": {"width": 10}}, {"frequency": {"fanout": 2}}):
        release = ht.anonymize(
            data, quasi_identifiers=["age"], models=[ht.KMap(3)], population=people, hierarchies={"age": rule}
        )
        assert release.verify().passed
    listed = {"tree": {"20s": ["21", "22"], "30s": ["35", "36"]}}
    with pytest.raises(ht.HierarchyError, match="not 3 of the 7 values"):
        ht.anonymize(
            data, quasi_identifiers=["age"], models=[ht.KMap(2)], population=people, hierarchies={"age": listed}
        )


@pytest.mark.parametrize("recoding", ["tight", "cut", "label", "set"])
def test_cuts_are_undone_where_cells_cover_the_people_of_one_another(recoding):
    """By its cuts {a, b} holds 2 of 2 and {c} 3 of 4, but ``*`` for a and b covers c as well."""
    data, people = pl.DataFrame({"x": list("abccc")}), pl.DataFrame({"x": list("abcccc")})
    options = {"hierarchies": {"x": {"suppression": None}}} if recoding != "set" else {}
    release = ht.anonymize(
        data,
        quasi_identifiers=["x"],
        models=[ht.DeltaPresence(0.7, 1.0), ht.KAnonymity(2)],
        population=people,
        method=ht.Mondrian(recoding=recoding),
        **options,
    )
    assert release.verify().passed
    assert release.partition.n_classes == (1 if options else 2)


def test_what_a_search_and_a_reader_count_differently_is_refused():
    data = pl.DataFrame({"x": [1, 2, 3, 4]})
    presence = ht.DeltaPresence(0.5, 1.0)
    for method, model in (
        (ht.Mondrian(recoding="central"), ht.KMap(2)),
        (ht.Mondrian(cut="median", strict=False), presence),
        (ht.Mondrian(exchange=True), presence),
    ):
        with pytest.raises(ht.InputError, match=model.name):
            ht.anonymize(data, quasi_identifiers=["x"], models=[model], population=data, method=method)
    for method in (ht.Mondrian(cut="median", strict=False), ht.Mondrian(exchange=True)):
        release = ht.anonymize(data, quasi_identifiers=["x"], models=[ht.KMap(2)], population=data, method=method)
        assert release.verify().passed


def test_sensitive_moments_of_a_time_zone_verify(tmp_path):
    moments = column("zone", [MOMENT, MOMENT + dt.timedelta(minutes=45), MOMENT, MOMENT + dt.timedelta(minutes=90)])
    data = pl.DataFrame({"x": [1, 2, 3, 4], "s": moments})
    release = ht.anonymize(data, quasi_identifiers=["x"], models=[ht.DistinctLDiversity(2, "s")])
    assert release.verify().distinct_sensitive == {"s": 2}
    for name in ("out.csv", "out.parquet"):
        assert release.write(tmp_path / name).passed
