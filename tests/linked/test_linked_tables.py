"""Linked tables: what is published of a person in all tables together hides among k, and the files alone show it."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from command import done, run
from hushtable.linked import list_inputs, open_tables, verify_by_policy
from twins import naive_linked_tables as naive

POLICY = """
unit: {table: patients, key: pid}
tables:
  patients: {columns: {sex: quasi-identifier, born: quasi-identifier}}
  stays: {time: day, columns: {stay: identifier, day: quasi-identifier, ward: quasi-identifier}}
  drugs: {key: patient, columns: {code: quasi-identifier}}
models: [linked-k-anonymity: 3]
limits: {suppression: 0.3}
"""


def hospital(n: int = 60, seed: int = 0, *, most: int = 3) -> dict[str, pl.DataFrame]:
    """Patients, their stays and drugs; with ``most`` the most stays of a patient."""
    rng = np.random.default_rng(seed)
    ids = np.array([f"P{i:03d}" for i in range(n)])
    stays, drugs = np.repeat(ids, rng.integers(1, most + 1, n)), np.repeat(ids, rng.integers(0, most, n))
    return {
        "patients": pl.DataFrame({"pid": ids, "sex": rng.choice(["f", "m"], n), "born": rng.integers(1930, 2010, n)}),
        "stays": pl.DataFrame(
            {
                "stay": [f"S{i:04d}" for i in range(len(stays))],
                "pid": stays,
                "day": rng.integers(0, 200, len(stays)),
                "ward": rng.choice(["A", "B", "C", "D"], len(stays)),
            }
        ),
        "drugs": pl.DataFrame({"patient": drugs, "code": rng.choice(["x", "y", "z"], len(drugs))}),
    }


def policy(text: str = POLICY, **changes: str) -> ht.LinkedPolicy:
    for old, new in changes.items():
        text = text.replace(old, new)
    return ht.LinkedPolicy.parse(text)


def as_rows(tables: dict[str, pl.DataFrame], columns: dict[str, tuple[str, ...]], keys: dict[str, str]) -> naive.Tables:
    return {
        name: [
            (str(person), tuple(map(str, cells)))
            for person, cells in zip(table[keys.get(name, "pid")], table.select(columns[name]).iter_rows(), strict=True)
        ]
        for name, table in tables.items()
    }


COLUMNS = {"patients": ("sex", "born"), "stays": ("day", "ward"), "drugs": ("code",)}


@pytest.fixture(scope="module")
def release():
    return ht.anonymize_tables(hospital(), policy())


@pytest.fixture
def folder(release, tmp_path):
    release.write(tmp_path / "out")
    return tmp_path / "out"


@pytest.mark.parametrize("most", [3, pytest.param(9, marks=pytest.mark.slow)])
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_who_knows_rows_of_all_tables_finds_nobody_among_fewer_than_k(seed, most):
    tables = hospital(36 if seed == 0 and most == 3 else 60, seed, most=most)
    release = ht.anonymize_tables(tables, policy(**{"0.3": "0.6"} if most > 3 else {}))
    published = as_rows(release.frames, COLUMNS, {})
    assert naive.smallest_bundle(published) >= 3
    assert release.verify().figures["smallest_bundle"] == naive.smallest_bundle(published)
    pseudonyms = dict(zip(tables["patients"]["pid"], release.frames["patients"]["pid"], strict=True))
    original = as_rows(tables, COLUMNS, {"drugs": "patient"})
    for unit in ("patients", None):
        for n_known in (0, 1, 2, 3, None) if unit else (1, 2, None):
            found = naive.attack(original, published, pseudonyms, unit, n_known, k=3)
            assert found.n_persons > 0
            assert (found.n_found, found.n_few) == (0, 0), (unit, n_known)


def test_tables_that_each_hold_alone_fail_together_under_one_pseudonym():
    tables = hospital()
    key = bytes(range(32))
    apart = {}
    for name, columns in COLUMNS.items():
        who = "patient" if name == "drugs" else "pid"
        frame = tables[name].rename({who: "pid"}).select("pid", *columns)
        alone = ht.anonymize(
            frame,
            quasi_identifiers=columns,
            models=[ht.LinkedKAnonymity(3)],
            person="pid",
            method="histories",
            pseudonyms=ht.Pseudonyms(("pid",), key),
            suppression_limit=0.3,
        )
        assert alone.verify().passed
        apart[name] = alone.frame
    verdict = ht.verify_tables(apart, policy())
    published = as_rows(apart, COLUMNS, {})
    n_few = sum(
        sum(sorted(rows) == sorted(other) for other in naive.rows_by_person(published).values()) < 3
        for rows in naive.rows_by_person(published).values()
    )
    (failure,) = verdict.failures
    assert failure.n_records == n_few > 30
    assert str(failure) == (
        f"linked-k-anonymity (k = 3), over patients, stays and drugs: {n_few} of 60 persons are among fewer, at worst "
        "among 1; alone, these tables hold: patients, stays and drugs"
    )


def test_a_written_folder_joins_and_holds_from_its_files_alone(release, folder):
    verdict = ht.verify_tables(folder)
    assert verdict.passed
    assert verdict.complete
    assert sorted(each.name for each in folder.iterdir()) == [
        "_manifest.json",
        "drugs.parquet",
        "patients.parquet",
        "stays.parquet",
    ]
    written = {name: pl.read_parquet(folder / f"{name}.parquet") for name in COLUMNS}
    assert written["stays"].columns == ["pid", "day", "ward"]
    assert written["drugs"].columns == ["pid", "code"]
    persons = set(written["patients"]["pid"])
    assert len(persons) == 60
    assert not persons & set(hospital()["patients"]["pid"])
    for name in ("stays", "drugs"):
        assert set(written[name]["pid"]) <= persons
        assert written[name].height == hospital()[name].height - release.n_suppressed[name]
    manifest = (folder / "_manifest.json").read_text()
    assert not any(f'"{pid}"' in manifest for pid in [*persons, *hospital()["patients"]["pid"]])
    again = ht.anonymize_tables(hospital(), policy())
    assert again.loss == release.loss
    assert not persons & set(again.frames["patients"]["pid"])


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda path: (path / "drugs.parquet").unlink(), None),
        (lambda path: pl.DataFrame({"pid": ["a"], "x": [1]}).write_csv(path / "more.csv"), "no other table"),
        (lambda path: rewrite(path, "stays", lambda t: t.with_columns(pl.lit("A").alias("ward"))), "describes"),
        (lambda path: rewrite(path, "patients", lambda t: t.slice(1)), "is of a person of patients"),
        (lambda path: rewrite(path, "stays", lambda t: t.with_columns(pid=t["pid"].reverse())), "among fewer"),
    ],
    ids=["table left away", "further table", "changed cell", "deleted person", "swapped keys"],
)
def test_a_changed_folder_fails_or_is_judged_in_part(folder, harm, said):
    harm(folder)
    verdict = ht.verify_tables(folder)
    if said is None:
        assert verdict.passed
        assert not verdict.complete
        assert any("drugs" in needs for needs in verdict.unchecked.values())
    else:
        assert any(said in str(failure) for failure in verdict.failures), verdict.failures


def edit_manifest(path, change):
    entries = json.loads((path / "_manifest.json").read_text())
    change(entries)
    (path / "_manifest.json").write_text(json.dumps(entries))


def test_what_a_newer_version_wrote_is_judged_in_part(folder):
    edit_manifest(folder, lambda entries: entries["claim"].update(form=9, more="x"))
    verdict = ht.verify_tables(folder)
    assert verdict.passed
    assert not verdict.complete
    assert {"what more of the claim says", "all that the claim says"} <= set(verdict.unchecked)
    edit_manifest(folder, lambda entries: entries.update(form=9))
    assert "all that the manifest says" in ht.verify_tables(folder).unchecked


@pytest.mark.parametrize("odd", [None, 7, "other", ["other"], {"other": 1}])
def test_an_altered_manifest_fails_or_is_refused(folder, odd):
    for change in (
        lambda entries: entries.update(tables=odd),
        lambda entries: entries["tables"].update(stays=odd),
        lambda entries: entries["tables"]["stays"].update(sha256=odd),
    ):
        before = (folder / "_manifest.json").read_text()
        edit_manifest(folder, change)
        assert any("describes" in str(failure) for failure in ht.verify_tables(folder).failures)
        (folder / "_manifest.json").write_text(before)


@pytest.mark.parametrize("odd", [None, 7, "other", ["other"], {"other": 1}])
@pytest.mark.parametrize("name", ["person", "columns", "kind", "suppressed"])
def test_an_altered_claim_of_a_table_is_no_traceback(folder, name, odd):
    edit_manifest(folder, lambda entries: entries["claim"]["tables"]["stays"].update({name: odd}))
    with suppress(ht.InputError):
        ht.verify_tables(folder)


def rewrite(path, name, change):
    change(pl.read_parquet(path / f"{name}.parquet")).write_parquet(path / f"{name}.parquet")


def test_sensitive_values_differ_among_equal_rows_of_equal_bundles():
    tables = hospital()
    lab = np.random.default_rng(5).choice(["low", "high"], tables["stays"].height)
    tables["stays"] = tables["stays"].with_columns(lab=lab)
    rules = policy(
        **{
            "ward: quasi-identifier": "ward: quasi-identifier, lab: sensitive",
            "3]": "3, distinct-l-diversity: {l: 2, sensitive: lab}]",
        }
    )
    release = ht.anonymize_tables(tables, rules)
    verdict = release.verify()
    assert verdict.passed
    assert "stays: distinct-l-diversity" in " ".join(verdict.held)
    frames = release.frames
    bundle = {who: sorted(rows) for who, rows in naive.rows_by_person(as_rows(frames, COLUMNS, {})).items()}
    values: dict[str, set[str]] = {}
    for row in frames["stays"].iter_rows(named=True):
        values.setdefault(str((row["day"], row["ward"], bundle[row["pid"]])), set()).add(row["lab"])
    assert min(map(len, values.values())) >= 2
    same = {**frames, "stays": frames["stays"].with_columns(lab=pl.lit("low"))}
    with pytest.raises(ht.PolicyError, match="holds columns 'stay', which the policy does not release"):
        ht.verify_tables({**frames, "stays": frames["stays"].with_columns(stay=pl.lit("S"))}, rules)
    assert any("distinct" in str(failure) for failure in ht.verify_tables(same, rules).failures)


def test_any_m_records_besides_the_row_find_k_persons():
    tables = {
        "patients": pl.DataFrame({"pid": ["a", "b", "c", "d"], "sex": ["f", "f", "f", "f"]}),
        "stays": pl.DataFrame({"pid": list("aabbcdcd"), "ward": list("ABABABCC")}),
    }
    text = """
    unit: {table: patients, key: pid}
    tables: {patients: {columns: {sex: quasi-identifier}}, stays: {columns: {ward: quasi-identifier}}}
    models: [km-anonymity: {k: 2, m: 2}]
    """
    # a and b have wards A and B; c has A and C, d has B and C: any one of them fits 2 persons, A and C one.
    failures = ht.verify_tables(tables, ht.LinkedPolicy.parse(text)).failures
    assert [failure.worst for failure in failures] == [1]
    one = ht.LinkedPolicy.parse(text.replace("m: 2}]", "m: 1}]\n    accept: {km-anonymity: nobody knows two stays}"))
    assert ht.verify_tables(tables, one).passed
    # The row parts a from b, although their stays are equal.
    tables["patients"] = tables["patients"].with_columns(sex=pl.Series(["f", "m", "f", "m"]))
    assert [failure.worst for failure in ht.verify_tables(tables, one).failures] == [1]
    release = ht.anonymize_tables(tables, ht.LinkedPolicy.parse(text + "\n    limits: {suppression: 0.5}"))
    assert release.verify().passed
    assert release.verify().complete


def test_a_child_hangs_on_its_parent_and_its_rows_on_the_person():
    tables = hospital()
    stay = tables["stays"]["stay"]
    tables["diagnoses"] = pl.DataFrame({"stay": stay, "icd": np.random.default_rng(0).choice(["I", "J"], len(stay))})
    rules = policy(**{"models:": "  diagnoses: {of: stays, key: stay, columns: {icd: quasi-identifier}}\nmodels:"})
    frames = ht.anonymize_tables(tables, rules).frames
    assert frames["diagnoses"].columns == ["pid", "icd"]
    assert "stay" not in frames["stays"].columns
    assert set(frames["diagnoses"]["pid"]) <= set(frames["patients"]["pid"])


def test_without_a_link_each_table_is_judged_by_itself_and_shares_no_key(tmp_path):
    release = ht.anonymize_tables(hospital(), policy(**{"key: pid}": "key: pid}\nlink: none"}))
    linked = ht.anonymize_tables(hospital(), policy())
    assert all(release.loss[name] <= linked.loss[name] for name in COLUMNS)
    assert release.frames["patients"].columns == ["sex", "born"]
    keys = [set(release.frames[name]["pid"]) for name in ("stays", "drugs")]
    assert keys[0]
    assert keys[1]
    assert not keys[0] & keys[1]
    release.write(tmp_path / "out")
    verdict = ht.verify_tables(tmp_path / "out", release.policy)
    assert release.n_suppressed["stays"] > 0 == release.n_suppressed["patients"]
    assert verdict.passed
    assert verdict.complete
    # No file shows how many of its records were left out, so that none is said to hold that limit.
    assert "patients: suppressed records <= 0.3 of all" in verdict.held
    assert not any(condition.startswith("stays: suppressed") for condition in verdict.conditions)
    stays = pl.read_parquet(tmp_path / "out" / "stays.parquet")
    drugs = pl.read_parquet(tmp_path / "out" / "drugs.parquet")
    drugs.with_columns(pid=pl.lit(stays["pid"][0])).write_parquet(tmp_path / "out" / "drugs.parquet")
    assert any("no key is in two tables" in str(each) for each in ht.verify_tables(tmp_path / "out").failures)


def test_one_table_is_what_histories_makes_of_it():
    stays = hospital()["stays"].drop("stay")
    rules = """
    unit: {key: pid}
    tables: {stays: {time: day, columns: {day: quasi-identifier, ward: quasi-identifier}}}
    models: [linked-k-anonymity: 3]
    limits: {suppression: 0.3}
    """
    linked = ht.anonymize_tables({"stays": stays}, ht.LinkedPolicy.parse(rules))
    alone = ht.anonymize(
        stays,
        quasi_identifiers=["day", "ward"],
        models=[ht.LinkedKAnonymity(3)],
        person="pid",
        method=ht.Histories(time="day"),
        pseudonyms=ht.Pseudonyms(("pid",), bytes(range(32))),
        suppression_limit=0.3,
    )
    assert linked.loss["stays"] == alone.loss
    assert linked.frames["stays"].drop("pid").equals(alone.frame.drop("pid"))
    claims = [json.dumps(each.to_dict(), default=str) for each in (linked.claim.tables["stays"], alone.claim)]
    assert claims[0] == claims[1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"[linked-k-anonymity: 3]": "[k-anonymity: 3]"}, "Ask for linked-k-anonymity, or for no link"),
        ({"[linked-k-anonymity: 3]": "[km-anonymity: {k: 3, m: 1}]"}, "m = 1 promises nothing"),
        ({"stay: identifier": "stay: {role: identifier, action: pseudonym}"}, "an identifier besides the key"),
        ({"born: quasi-identifier": "day: other", "day: quasi-identifier": "day: other", "time: day, ": ""}, "joins"),
        ({"table: patients": "table: people"}, "is none of the tables"),
        ({"{sex:": "{pid: identifier, sex:"}, "is the key, which gets new values"),
        ({"models:": "method: mondrian\nmodels:"}, "aligned by `histories`"),
        ({"time: day": "time: stay"}, "no quasi-identifier"),
        ({"key: patient": "key: patient, of: stays"}, "names no column"),
    ],
)
def test_a_policy_that_would_link_unjudged_rows_is_refused_with_a_way_out(change, said):
    with pytest.raises(ht.PolicyError, match=said):
        policy(**change)


def test_keys_that_do_not_fit_are_refused_or_dropped_by_name():
    tables = hospital()
    twice = {**tables, "patients": pl.concat([tables["patients"], tables["patients"][:2]])}
    with pytest.raises(ht.InputError, match="0 rows lack the key, and 2 repeat one"):
        ht.anonymize_tables(twice, policy())
    nobody = pl.DataFrame({"patient": ["Q1", None], "code": ["x", "x"]})
    orphans = {**tables, "drugs": pl.concat([tables["drugs"], nobody])}
    with pytest.raises(ht.InputError, match="of nobody in the table of persons: 2 of 'drugs'"):
        ht.anonymize_tables(orphans, policy())
    release = ht.anonymize_tables(orphans, policy(**{"limits:": "orphans: drop\nlimits:"}))
    assert release.rows.n_dropped == {"patients": 0, "stays": 0, "drugs": 2}
    assert "careful: drugs: 2 records of nobody in the table of persons left out." in release.facts
    with pytest.raises(ht.InputError, match="there is no table 'drugs'"):
        ht.anonymize_tables({name: tables[name] for name in ("patients", "stays")}, policy())
    with pytest.raises(ht.PolicyError, match="gives no role to 'note'"):
        ht.anonymize_tables({**tables, "stays": tables["stays"].with_columns(note=pl.lit("x"))}, policy())
    with pytest.raises(ht.PolicyError, match="it names tables"):
        ht.Policy.parse(POLICY)


@pytest.mark.parametrize("ending", [".xlsx", ".duckdb"])
def test_a_workbook_and_a_database_hold_the_tables_and_are_judged(release, tmp_path, ending):
    path = tmp_path / f"out{ending}"
    assert release.describe(release.write(path)) == release.facts
    assert {each.name for each in tmp_path.iterdir()} == {path.name, f"{path.name}.manifest.json"}
    verdict = ht.verify_tables(path)
    assert verdict.passed
    assert verdict.complete
    assert verdict.n_records == sum(table.height for table in release.frames.values())
    opened, others = open_tables(path, [*COLUMNS, "more"])
    assert others == []
    assert set(opened["stays"].column("pid")) <= set(opened["patients"].column("pid"))
    by_policy = verify_by_policy(path, ht.LinkedPolicy.make(release.policy.to_dict()))
    assert by_policy.passed
    # Its policy is of linked tables, and it is refused for what it claims.
    assert "claims nothing of classes" in run("attack-release", path).err


def test_the_command_takes_a_folder_and_gives_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    for name, table in hospital().items():
        table.write_csv(tmp_path / "in" / f"{name}.csv")
    (tmp_path / "in" / "notes.csv").write_text("a\n1\n")
    (tmp_path / "policy.yaml").write_text(POLICY)
    told = done("anonymize", "in", "-p", "policy.yaml", "-o", "short").out
    assert all(f"{name}: a typical cell spans" in told for name in COLUMNS)
    told = done("anonymize", "in", "-p", "policy.yaml", "-o", "out", "--verbose").out
    assert "Wrote out: patients, stays, drugs, and one manifest." in told
    assert "Who knows the person's row and 1 record of all tables finds 0 of 60 persons" in told
    assert "Not in the policy, and not published: notes." in told
    assert {each.name for each in (tmp_path / "out").iterdir()} == {
        "_manifest.json",
        "drugs.csv",
        "patients.csv",
        "stays.csv",
    }
    assert "holds: linked-k-anonymity (k = 3), over patients, stays and drugs" in done("verify", "out").out
    assert "stays: suppressed" not in done("verify", "out", "-p", "policy.yaml").out
    assert done("verify", "out", "-p", "policy.yaml", "--no-manifest").out.startswith("out holds")
    ended = run("verify", "out", "--delimiter", ";", "--linked")
    assert ended.code == 2
    assert "--delimiter, --linked: linked tables do not take this" in ended.err
    for options, said in (
        (["--keep-order"], "the order links them"),
        (["--k", "5", "--set", "budget.nodes=9"], "--k, --set: linked tables do not take this"),
        ([], "exists"),
    ):
        ended = run("anonymize", "in", "-p", "policy.yaml", "-o", "out", *options)
        assert ended.code == 2
        assert said in ended.err
    done("anonymize", "in", "-p", "policy.yaml", "-o", "out", "--force")
    (tmp_path / "out" / "drugs.csv").unlink()
    ended = run("verify", "out")
    assert ended.code == 1
    assert "was judged in part" in ended.out
    ended = run("scan", "in/patients.csv", "-p", "policy.yaml")
    assert ended.code == 2
    ended = run("compare", "in/patients.csv", "-p", "policy.yaml")
    assert ended.code == 2
    assert "it names tables" in ended.err


@pytest.mark.parametrize("seed", range(12))
def test_row_and_m_records_by_the_definition(seed):
    rng = np.random.default_rng(seed)
    n, m = 8, 1 + seed % 2
    ids = np.array([f"p{i}" for i in range(n)])
    stays, drugs = np.repeat(ids, rng.integers(0, 3, n)), np.repeat(ids, rng.integers(0, 3, n))
    cells = ["a", "b", "*"] if seed % 3 else ["a", "*"]
    tables = {
        "patients": pl.DataFrame({"pid": ids, "sex": rng.choice(cells, n)}),
        "stays": pl.DataFrame(
            {"pid": stays, "ward": rng.choice(cells, len(stays)), "day": rng.choice(["*", "1"], len(stays))}
        ),
        "drugs": pl.DataFrame({"pid": drugs, "code": rng.choice(cells, len(drugs))}),
    }
    columns = {"patients": ("sex",), "stays": ("ward", "day"), "drugs": ("code",)}
    fewest = naive.fewest_by_row_and_m(as_rows(tables, columns, {}), "patients", m)
    for k in {fewest, fewest + 1}:
        rules = ht.LinkedPolicy.make(
            {
                "unit": {"table": "patients", "key": "pid"},
                "tables": {
                    name: {"columns": dict.fromkeys(each, "quasi-identifier")} for name, each in columns.items()
                },
                "models": [{"km-anonymity": {"k": k, "m": m}}],
                "accept": {"km-anonymity": "a test"},
            }
        )
        assert ht.verify_tables(tables, rules).passed == (k <= fewest), (k, fewest)


@pytest.mark.parametrize("target", ["in/out", "in/sub/out", "in/out.xlsx", ".", "in"])
def test_no_output_lies_in_the_input_folder_or_holds_it(release, tmp_path, monkeypatch, target):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in" / "sub").mkdir(parents=True)
    for name, table in hospital().items():
        table.write_csv(tmp_path / "in" / f"{name}.csv")
    before = sorted(tmp_path.rglob("*"))
    (tmp_path / "policy.yaml").write_text(POLICY)
    ended = run("anonymize", "in", "-p", "policy.yaml", "-o", target)
    assert ended.code == 2
    assert "the output" in ended.err
    assert "the input" in ended.err
    assert "searching" not in ended.err
    with pytest.raises(ht.InputError, match="the input"):
        replace(release, inputs=list_inputs("in")).write(target)
    assert sorted(tmp_path.rglob("*")) == sorted([*before, tmp_path / "policy.yaml"])
