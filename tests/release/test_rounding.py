"""Rounded columns and columns that are left out, at every door, against a twin that rounds in decimals."""

import json
import struct
import warnings
from collections import Counter
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from command import done, run
from hushtable.columns import ColumnSpec, KeptRounding, from_texts, propose_step, round_series
from hushtable.errors import ColumnError, ExposureError, HushError, InputError, PolicyError, VerificationError
from hushtable.release import Exposure

ROUNDINGS = ({"round": 100}, {"round": 0.5}, {"round": 25, "top": 3000}, {"digits": 1}, {"digits": 2, "bottom": 150},
             {"round": 30, "top": 2500, "bottom": 95}, {"top": 1999.5})  # fmt: skip
DOORS = ("polars", "pandas", "pyarrow", "csv", "comma", "parquet", "folder", "lazy", "duckdb")


def rounded(text, round=None, digits=None, top=None, bottom=None):
    """The twin: the codes, else half away from 0, in decimals, and not beyond the codes."""
    number = Decimal(text)
    if top is not None and number >= Decimal(str(top)):
        return Decimal(str(top))
    if bottom is not None and number <= Decimal(str(bottom)):
        return Decimal(str(bottom))
    if round is not None:
        number = (number / Decimal(str(round))).quantize(Decimal(1), ROUND_HALF_UP) * Decimal(str(round))
    if digits is not None and number:
        number = number.quantize(Decimal(1).scaleb(number.adjusted() - digits + 1), ROUND_HALF_UP)
    if top is not None:
        number = min(number, Decimal(str(top)))
    return number if bottom is None else max(number, Decimal(str(bottom)))


def drawn(rng):
    """Draw a table with exact costs, some of them halves of a step, and a stay that a model judges."""
    n = int(rng.integers(60, 120))
    cents = np.where(rng.random(n) < 0.2, rng.integers(1, 400, n) * 1250, rng.integers(-9_000, 600_000, n))
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "job": rng.choice(list("abc"), n),
            "cost": cents / 100,
            "stay": rng.integers(1, 4000, n),
            "note": [f"note {i}" for i in rng.integers(0, 9, n)],
        }
    )


def opened(door, people, folder):
    """Return a table as a door takes it, and the entries of a policy on how it is spelled."""
    if door in ("pandas", "pyarrow"):
        return people.to_pandas() if door == "pandas" else people.to_arrow(), {}
    if door == "lazy":
        return people.lazy(), {}
    if door == "duckdb":
        return pytest.importorskip("duckdb").from_arrow(people.to_arrow()), {}
    path = folder / f"in.{'parquet' if door == 'parquet' else 'csv'}"
    if door == "folder":
        path = folder / "in"
        path.mkdir()
        people[:30].write_parquet(path / "a.parquet")
        people[30:].write_parquet(path / "b.parquet")
    elif door == "parquet":
        people.write_parquet(path)
    elif door == "comma":
        people.write_csv(path, separator=";", decimal_comma=True)
        return path, {"read": {"decimal": ",", "delimiter": ";"}}
    elif door == "csv":
        people.write_csv(path)
    return (people if door == "polars" else path), {}


def policy_of(rounding, stay, **entries):
    return ht.Policy.make(
        {
            "columns": {
                "age": "quasi-identifier",
                "job": "quasi-identifier",
                "cost": {"role": "other", **rounding},
                "stay": {"role": "sensitive", **stay},
                "note": "leave out",
            },
            "models": [{"k-anonymity": 3}, {"distinct-l-diversity": {"l": 2, "sensitive": "stay"}}],
            "limits": {"exposure": {"rate": 1.0}},
            **entries,
        }
    )


def written_cells(path, name):
    return [str(cell).replace(",", ".") for cell in written_frame(path)[name].to_list()]


def written_frame(path):
    """Return a written file without its manifest, so that a policy alone tells what it claims."""
    if path.is_dir():
        return pl.concat([pl.read_parquet(part) for part in sorted(path.rglob("*.parquet"))])
    mark = ";" if ";" in path.read_text().partition("\n")[0] else ","
    return pl.read_csv(path, infer_schema=False, separator=mark)


def check_canaries(folder, inputs, exact):
    """Look for exact numbers in every byte that was written, as text and as a float."""
    for path in folder.rglob("*"):
        if path.is_file() and not any(path == each or each in path.parents for each in inputs):
            raw = path.read_bytes()
            for text in exact:
                assert text.encode() not in raw, path
                assert text.replace(".", ",").encode() not in raw, path
                assert struct.pack("<d", float(text)) not in raw, path


def judge(seed, folder):
    rng = np.random.default_rng(seed)
    people, door = drawn(rng), DOORS[seed % len(DOORS)]
    rounding, stay = ROUNDINGS[int(rng.integers(len(ROUNDINGS)))], {"round": 50, "top": 3000}
    data, spelled = opened(door, people, folder)
    policy = policy_of(rounding, stay, **spelled)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = policy.protect(data)
    output = folder / ("out" if release.origin is not None else "out.csv")
    release.write(output, codebook=True)
    texts = [str(cost) for cost in people["cost"].to_list()]
    twin = Counter(rounded(text, **rounding) for text in texts)
    assert Counter(Decimal(str(cell)) for cell in written_cells(output, "cost")) == twin, (door, rounding)
    stays = Counter(rounded(str(each), **stay) for each in people["stay"].to_list())
    assert Counter(Decimal(str(cell)) for cell in written_cells(output, "stay") if cell != "*") <= stays
    assert release.exposure.n_unique == sum(n == 1 for n in twin.values())
    assert policy.verify(output).passed
    assert policy.verify(written_frame(output)).passed
    assert "note" not in release.columns
    if seed % 4 == 0:
        ht.report(release).write(folder / "report.html")
    exact = [text for text in texts if rounded(text, **rounding) != Decimal(text) and len(text) > 6]
    check_canaries(folder, [folder / "in", folder / "in.csv", folder / "in.parquet"], exact)
    return policy, release, output


@pytest.mark.parametrize("seed", range(9))
def test_what_is_published_is_what_a_twin_rounds(seed, tmp_path):
    judge(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(9, 200))
def test_what_is_published_of_many_tables_is_what_a_twin_rounds(seed, tmp_path):
    judge(seed, tmp_path)


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_a_column_of_any_type_rounds_alike(rounding):
    texts = ["0", "-0.3", "12.5", "49.995", "50", "1250", "99.5", "-1250", "1.005", "987654.32", None]
    exact = [None if text is None else rounded(text, **rounding) for text in texts]
    made = KeptRounding(**rounding)
    for series in (pl.Series(texts), pl.Series(texts).cast(pl.Float64)):
        found = round_series(series, made, ColumnSpec(), "x").to_list()
        assert [None if each is None else Decimal(str(each)) for each in found] == exact
    comma = pl.Series([None if text is None else text.replace(".", ",") for text in texts])
    found = round_series(comma, made, ColumnSpec("decimal", decimal=","), "x").to_list()
    assert [None if each is None else Decimal(each.replace(",", ".")) for each in found] == exact
    again = round_series(pl.Series(texts).cast(pl.Float64), made, ColumnSpec(), "x")
    assert round_series(again, made, ColumnSpec(), "x").equals(again)


def test_verify_finds_a_cell_that_is_not_rounded(tmp_path):
    people = drawn(np.random.default_rng(3))
    release = policy_of({"round": 100, "top": 5000}, {}).protect(people)
    claim = release.claim
    frame = release.frame
    assert claim.verify(frame).passed
    condition = "column cost holds multiples of 100, top-coded at 5000"
    assert condition in claim.verify(frame).held
    for odd in (101.0, 5100.0, float("inf")):
        spoiled = frame.with_columns(cost=pl.when(pl.int_range(pl.len()) == 4).then(odd).otherwise("cost"))
        (failure,) = claim.verify(spoiled).failures
        assert failure.condition == f"{condition}: 1 records have other cells"
        assert failure.rows(spoiled).tolist() == [4]
    (failure,) = claim.verify(frame.drop("cost")).failures
    assert failure.condition.endswith("the table has no such column")


def test_marks_of_thousands_are_read_before_a_rounding_is_judged(tmp_path):
    costs = [1200.0, 12300.4, 850.26, 1234567.0] * 15
    marked = [f"{each:,.2f}".translate(str.maketrans(",.", ".,")) for each in costs]
    pl.DataFrame({"age": [31, 32] * 30, "cost": marked}).write_csv(tmp_path / "in.csv", separator=";")
    policy = ht.Policy.make({
        "read": {"delimiter": ";", "decimal": ",", "thousands": "."},
        "columns": {"age": "quasi-identifier", "cost": {"role": "other", "round": 0.5, "top": 20_000}},
        "models": [{"k-anonymity": 3}],
    })  # fmt: skip
    release = policy.protect(tmp_path / "in.csv")
    assert {*release.frame["cost"]} == {"1200", "12300,5", "850,5", "20000"}
    assert release.verify().passed
    assert policy.verify(release.frame).passed
    # Whoever keeps the release may write it with marks, which the policy knows and the claim of the release does not.
    in_marks = {"1200": "1.200", "12300,5": "12.300,5", "20000": "20.000,0"}
    marked_release = release.frame.with_columns(pl.col("cost").replace(in_marks))
    assert policy.verify(marked_release).passed
    assert not release.claim.verify(marked_release).passed
    for odd in ("20.001", "1.200,7", "12.00", "1.200.5"):
        assert not policy.verify(release.frame.with_columns(cost=pl.lit(odd))).passed


def test_the_exact_numbers_are_compared_with_the_rounded_ones(tmp_path):
    people = pl.DataFrame({"age": [31, 32] * 30, "cost": [1200.25, 12300.4, 850.5, 20_000.0] * 15})
    people.write_csv(tmp_path / "in.csv")
    policy = policy_of({"round": 100}, {}).with_entries({("columns",): {"age": "quasi-identifier", "cost": {
        "role": "other", "round": 100}}, ("models",): [{"k-anonymity": 3}]})  # fmt: skip
    policy.protect(tmp_path / "in.csv").write(tmp_path / "out.csv")
    told = done("utility", tmp_path / "in.csv", tmp_path / "out.csv", "--json")
    (cost,) = (each for each in json.loads(told.out)["columns"] if each["name"] == "cost")
    # The mean change is (0.25 + 0.4 + 49.5 + 0) / 4.
    assert cost["distance"] == pytest.approx((0.25 + 0.4 + 49.5) / 4 / (20_000 - 850.5), abs=1e-9)


def test_a_manifest_tells_the_rounding_and_no_more(tmp_path):
    policy, release, output = judge(3, tmp_path)
    release.write(tmp_path / "outside.csv", external=True)
    told = json.loads((tmp_path / "outside.csv.manifest.json").read_text())
    assert told["claim"]["rounded"] == {name: each.to_dict() for name, each in policy.rounding.items()}
    assert not {"removed", "left_out"} & told.keys()
    book = json.loads((output.parent / f"{output.name}.codebook.json").read_text())
    cost = next(each for each in book["columns"] if each["name"] == "cost")
    assert cost["how"] == f"rounded: {policy.rounding['cost'].describe()}"
    with pytest.raises(PolicyError, match="does not claim"):
        policy.with_entries({"columns.cost": {"role": "other", "round": 7}}).verify(output)


def test_an_l_diverse_column_is_judged_as_it_is_published():
    # Exact stays differ, rounded ones do not: no release is l-diverse.
    people = pl.DataFrame({"age": [30, 31, 32, 33] * 20, "stay": list(range(1, 41)) * 2})
    options = {"quasi_identifiers": ["age"], "models": [ht.KAnonymity(2), ht.DistinctLDiversity(2, "stay")]}
    assert ht.anonymize(people, **options, roles="trust").verify().passed
    with pytest.raises(HushError, match="distinct-l-diversity"):
        ht.anonymize(people, **options, rounding={"stay": 100}, roles="trust")


def test_a_model_that_compares_with_the_input_compares_with_rounded_numbers():
    people = drawn(np.random.default_rng(5))
    policy = policy_of({"round": 100}, {"round": 1000}).with_entries(
        {("models",): [{"k-anonymity": 3}, {"t-closeness": {"t": 0.4, "sensitive": "stay"}}], "limits.suppression": 0.2}
    )
    release = policy.protect(people)
    assert release.verify().passed
    assert policy.verify(release.frame, original=people).passed


def test_next_month_is_rounded_as_this_month_was(tmp_path):
    first, second = drawn(np.random.default_rng(1)), drawn(np.random.default_rng(2))
    policy = policy_of({"digits": 1}, {"round": 100}).with_entries({("models",): [{"k-anonymity": 3}]})
    release = policy.protect(first)
    release.save_recoding(tmp_path / "recoding.json")
    learned = ht.Recoding.read(tmp_path / "recoding.json")
    for batch in (release.apply(second), learned.apply(second), learned.apply(second.lazy())):
        batch = batch.frame.lazy().collect()
        assert "note" not in batch.columns
        shown = {Decimal(str(each)) for each in batch["cost"].to_list()}
        assert shown <= {rounded(str(each), digits=1) for each in second["cost"].to_list()}
    together = release.apply(second, together=True)
    assert together.claim.rounded == release.claim.rounded
    assert together.verify().passed


def test_python_and_a_table_take_roundings():
    people = drawn(np.random.default_rng(4))
    options = {"quasi_identifiers": ["age", "job"], "models": [ht.KAnonymity(3)], "leave_out": ["note"],
               "rounding": {"cost": 500, "stay": {"digits": 1}}, "roles": "trust"}  # fmt: skip
    release = ht.anonymize(people, **options)
    assert release.left_out == release.removed == ("note",)
    coded = ht.anonymize(ht.Table.encode(people), **options)
    assert coded.verify().passed
    assert sorted(coded.frame.frame().column("cost").to_list()) == sorted(release.frame["cost"].to_list()) or (
        coded.frame.column("cost").values.tolist() == sorted(set(release.frame["cost"].to_list()))
    )


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"role": "quasi-identifier", "round": 10}, "round goes with role"),
        ({"role": "leave out", "top": 10}, "top goes with role"),
        ({"role": "other", "round": 0}, "above 0"),
        ({"role": "other", "round": 10, "digits": 2}, "leave one of the two out"),
        ({"role": "other", "top": 10, "bottom": 20}, "not below top"),
        ({"role": "leave out", "kind": "integer"}, "kind goes with role"),
    ],
)
def test_a_policy_refuses_roundings_without_meaning(entries, said):
    with pytest.raises(PolicyError, match=said):
        ht.Policy.make({"columns": {"age": "quasi-identifier", "cost": entries}, "models": [{"k-anonymity": 2}]})


def test_what_is_no_number_is_not_rounded():
    people = pl.DataFrame({"age": [1, 2] * 30, "word": ["a", "b"] * 30, "pay": [0, 51] * 30})
    options = {"quasi_identifiers": ["age"], "models": [ht.KAnonymity(2)], "roles": "trust"}
    with pytest.raises(ColumnError, match="60 of its cells are no numbers"):
        ht.anonymize(people, **options, rounding={"word": 10})
    with pytest.raises(ColumnError, match="no number that is kept"):
        ht.anonymize(people, **options, rounding={"age": 10})
    specs = {"pay": ht.ColumnSpec(missing_values=("0",))}
    with pytest.raises(ColumnError, match="declared missing"):
        ht.anonymize(people, **options, rounding={"pay": 100}, specs=specs)
    release = ht.anonymize(people, **options, rounding={"pay": {"round": 100, "bottom": 50}}, specs=specs)
    assert release.frame["pay"].to_list() == [None, 100] * 30


def test_a_step_is_proposed_by_which_few_are_alone():
    rng = np.random.default_rng(0)
    costs = rng.gamma(2, 3000, 2000).round(2)
    people = pl.DataFrame({"age": rng.integers(20, 24, 2000), "cost": costs})
    policy = ht.Policy.make({"columns": {"age": "quasi-identifier", "cost": "other"}, "models": [{"k-anonymity": 5}]})
    release = policy.protect(people)
    (step,) = release.exposure.steps
    with pytest.raises(ExposureError) as refused:
        release.exposure.raise_if_unpublishable()
    assert step.describe() in str(refused.value)
    cells = zip(release.frame["age"], (rounded(str(each), round=step.round) for each in costs), strict=True)
    assert step.n_alone == sum(n == 1 for n in Counter(cells).values()) <= 0.05 * 2000 < step.n_now
    assert policy.with_entries({"columns.cost.round": step.round}).protect(people).exposure.n_found == step.n_alone
    column, codes = from_texts("x", ["a", "b"])
    assert propose_step(column, codes, np.ones(2, dtype=np.int64), 0.0) is None


@pytest.mark.parametrize("person", [False, True])
def test_proposed_steps_of_several_columns_suffice_together(person):
    rng, n = np.random.default_rng(1), 400
    # Each number alone is soon shared; a pair of them is not.
    visits = pl.DataFrame(
        {
            "who": [f"p{i // 2}" for i in range(n)],
            "age": rng.integers(20, 24, n),
            "cost": rng.gamma(2, 3000, n).round(2),
            "weight": rng.normal(70, 12, n).round(1),
            "ward": rng.choice(["a", "b"], n),
        }
    )
    columns = {"who": "identifier", "age": "quasi-identifier", **dict.fromkeys(["cost", "weight", "ward"], "other")}
    entries = {"columns": columns, "models": [{"k-anonymity": 5}], **({"person": "who"} if person else {})}
    policy = ht.Policy.make(entries)
    exposure = policy.protect(visits).exposure
    assert exposure.steps_suffice
    assert {step.column for step in exposure.steps} == {"cost", "weight"}
    with pytest.raises(ExposureError) as refused:
        exposure.raise_if_unpublishable()
    assert f"round all of these numbers: {' and '.join(step.entry for step in exposure.steps)}" in str(refused.value)
    assert Exposure.from_dict(exposure.to_dict()) == exposure
    followed = policy.with_entries({f"columns.{step.column}.round": step.round for step in exposure.steps})
    assert not followed.protect(visits).exposure.is_above
    # Where a text finds as many, no step is enough, and none is promised.
    alone = visits.with_columns(ward=pl.Series([f"w{i}" for i in range(n)]))
    exposure = policy.protect(alone).exposure
    assert not exposure.steps_suffice
    with pytest.raises(ExposureError) as refused:
        exposure.raise_if_unpublishable()
    assert "round" not in str(refused.value)


def test_a_scan_proposes_a_step(tmp_path):
    from hushtable.discover import find_quasi_identifiers
    from hushtable.io import frames
    from hushtable.policy import propose_policy

    rng = np.random.default_rng(0)
    people = pl.DataFrame(
        {
            "age": rng.integers(20, 60, 500),
            "sex": rng.choice(["f", "m"], 500),
            "costs": rng.gamma(2, 3000, 500).round(2),
        }
    )
    frame = frames.read(people)
    text = propose_policy(frame, find_quasi_identifiers(frame), k=5, source="x.csv", run=None)
    assert "{role: other, round: " in text.replace("\n  #", "").split("its exact numbers leave")[1]


def test_value_labels_of_exact_numbers_are_gone(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    people = drawn(np.random.default_rng(6)).with_columns(pl.col("cost").round(0) + 100_000)
    exact = people["cost"][0]
    pyreadstat.write_sav(
        people.to_pandas(), str(tmp_path / "in.sav"), variable_value_labels={"cost": {exact: "the dear one"}}
    )
    policy_of({"round": 1000}, {}).protect(tmp_path / "in.sav").write(tmp_path / "out.sav", codebook=True)
    for path in tmp_path.glob("out*"):
        assert b"the dear one" not in path.read_bytes()
    _, told = pyreadstat.read_sav(str(tmp_path / "out.sav"))
    assert "cost" not in told.variable_value_labels


def test_the_command_rounds_and_leaves_out(tmp_path):
    drawn(np.random.default_rng(7)).write_csv(tmp_path / "in.csv")
    options = (
        "--qi",
        "age,job",
        "--k",
        3,
        "--leave-out",
        "note,stay",
        "--round",
        "cost=2000",
        "-o",
        tmp_path / "out.csv",
    )
    outcome = done("anonymize", tmp_path / "in.csv", *options, "--set", "columns.cost.top=4000")
    assert "Rounded: cost (multiples of 2000, top-coded at 4000)." in outcome.out + outcome.err
    released = pl.read_csv(tmp_path / "out.csv")
    assert released.columns == ["age", "job", "cost"]
    assert set(released["cost"]) <= {0, 2000, 4000}
    assert "holds: column cost holds multiples of 2000" in done("verify", tmp_path / "out.csv").out
    assert "COLUMN=STEP" in run("anonymize", tmp_path / "in.csv", *options, "--round", "7", "--force").err


@pytest.mark.parametrize("given", [True, "100", float("nan"), 1e16, {"step": 3}])
def test_no_rounding_without_a_number(given):
    with pytest.raises(InputError):
        KeptRounding.from_entry(given)


def test_a_draft_that_is_not_rounded_gets_no_name(tmp_path, monkeypatch):
    release = policy_of({"round": 100}, {}).protect(drawn(np.random.default_rng(8)))
    spoiled = release.source.with_columns({"cost": pl.Series([101.5] * release.source.n_rows)})
    from dataclasses import replace

    with pytest.raises(VerificationError, match="column cost holds multiples of 100"):
        replace(release, source=spoiled).write(tmp_path / "out.csv")
    assert not list(Path(tmp_path).iterdir())
