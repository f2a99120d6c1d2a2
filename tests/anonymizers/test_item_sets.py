"""Columns of sets: one text for equal sets, whole sets as quasi-identifiers, item by item as sensitive ones."""

import hashlib
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from command import done, run
from hushtable.anonymizers import item_columns
from hushtable.anonymizers.item_columns import with_item_columns
from hushtable.anonymizers.judging import Judge
from hushtable.claims import check_certificate
from hushtable.columns import parse_cell
from hushtable.errors import InfeasibleError, InputError, ModelError, PolicyError
from hushtable.tables import Table
from twins.naive_items import failing_classes, items_of

SEPARATORS = [";", ",", "|", " ", "/", "\n", "-", "[", '"']
MODELS: list[Any] = [
    ht.AlphaKAnonymity(0.6, 3, "ill"),
    ht.DistinctLDiversity(2, "ill"),
    ht.TCloseness(0.3, "ill"),
    ht.BetaLikeness(1.5, "ill"),
    ht.BetaLikeness(3, "ill", enhanced=True),
    ht.DeltaDisclosure(1.2, "ill"),
]


def drawn(seed: int, n_rows: int = 60) -> tuple[pl.DataFrame, ht.ColumnSpec]:
    """A table whose cells spell sets in any order, with spaces, repetitions, gaps and codes of missing values."""
    rng = np.random.default_rng(seed)
    separator = SEPARATORS[seed % len(SEPARATORS)]
    items = [each for each in ("I10", "E11", "Z95 x", "a b", "N=A", "é", "*x", "1.5", "i10") if separator not in each]

    def cell() -> str | None:
        parts = [*rng.choice(items, rng.integers(0, 4), p=_falling(len(items)))]
        parts += rng.choice(["", " ", "NA", *parts], rng.integers(0, 3)).tolist()
        rng.shuffle(parts)
        pads = rng.choice(["", " ", "  "], len(parts))
        return separator.join(pad + part + pad for pad, part in zip(pads, parts, strict=True)) if parts else None

    table = pl.DataFrame(
        {
            "age": rng.integers(20, 60, n_rows),
            "sex": rng.choice(["f", "m"], n_rows),
            "ill": pl.Series([cell() for _ in range(n_rows)], dtype=pl.String),
        }
    )
    return table, ht.ColumnSpec(missing_values=("NA",), separator=separator)


def _falling(n: int) -> Any:
    shares = 1 / np.arange(1, n + 1)
    return shares / shares.sum()


@pytest.mark.parametrize("seed", range(9))
def test_verify_and_the_search_judge_item_by_item(seed: int) -> None:
    table, spec = drawn(seed)
    groups = np.random.default_rng(seed).integers(0, 12, len(table))
    sets = pl.Series([spec.separator.join(sorted(items_of(c, spec.separator, ["NA"]))) or None for c in table["ill"]])  # type: ignore[union-attr]
    coded = Table.encode(table.with_columns(g=groups), specs={"ill": spec})
    order = np.argsort(groups, kind="stable").astype(np.int32)
    offsets = np.searchsorted(groups[order], np.arange(13))
    for model in MODELS:
        expected = failing_classes(model, groups, table["ill"], spec.separator, missing=["NA"])  # type: ignore[arg-type]
        published = pl.DataFrame({"g": [str(each) for each in groups], "ill": sets})
        verdict = ht.verify(published, quasi_identifiers=["g"], models=[model], specs={"ill": spec})
        assert sum(each.n_classes for each in verdict.failures) == len(expected)
        # The search's own columns of items say the same, with rare items left out for large classes only.
        for k in (1, 3):
            wide, asked = with_item_columns(coded, [ht.KAnonymity(k), model])
            sizes = np.diff(offsets)
            passes = Judge(wide, asked).passes(offsets, order)
            filled = [label for label in range(12) if sizes[label]]
            small = {label for label in filled if sizes[label] < k}
            assert [label for label in filled if not passes[label]] == sorted({*expected, *small})


# Kernels of local recoding are compiled for these models alone, which takes half a minute.
METHODS = ["mondrian", "full_domain", pytest.param("local_recoding", marks=pytest.mark.slow)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("method", METHODS)
def test_releases_hold_for_every_item(method: str, seed: int, tmp_path: Path) -> None:
    table, spec = drawn(seed)
    model = MODELS[seed]
    try:
        release = ht.anonymize(
            table,
            quasi_identifiers=["age", "sex"],
            models=[ht.KAnonymity(2), model],
            method=method,
            suppression_limit=0.2,
            specs={"ill": spec},
        )
    except InfeasibleError:
        assert failing_classes(model, [0] * len(table), table["ill"], spec.separator, missing=["NA"])  # type: ignore[arg-type]
        return
    cells = release.frame
    shown = cells.filter(~((cells["age"] == "*") & (cells["sex"] == "*") & (cells["ill"] == "*").fill_null(False)))
    labels = list(zip(shown["age"], shown["sex"], strict=True))
    whole = table["ill"].to_list()
    assert failing_classes(model, labels, shown["ill"], spec.separator, whole, ["NA"]) == []  # type: ignore[arg-type]
    written = tmp_path / "release.csv"
    release.write(written)
    table.write_csv(tmp_path / "original.csv")
    done("verify", written, "--original", tmp_path / "original.csv")
    entries = json.loads(written.with_name("release.csv.manifest.json").read_text(encoding="utf-8"))
    assert entries["claim"]["spellings"]["ill"] == {"missing_values": ["NA"], "separator": spec.separator}
    assert "item by item" in entries["claim"]["sentence"]


READABLE = ht.Mondrian(recoding="readable")
SETS = {"ill": ht.ColumnSpec(separator=";")}
POLICY = """
version: 1
columns:
  age: quasi-identifier
  ill: {role: sensitive, separator: ";"}
models:
  - alpha-k-anonymity: {alpha: 0.5, k: 2, sensitive: ill}
"""


def people() -> pl.DataFrame:
    cells = ["I10;E11", "Z95 ; I10", "I10", "E11;;I10;E11", None, " ; "]
    return pl.DataFrame({"age": [20 + i for i in range(12)], "ill": [cells[i % 6] for i in range(12)]})


WRITTEN = ["E11;I10", "I10;Z95", "I10", "E11;I10", None, None] * 2


@pytest.mark.parametrize("role", ["kept", "sensitive"])
def test_equal_sets_have_one_text_also_where_they_are_kept(role: str) -> None:
    sensitive = ["ill"] if role == "sensitive" else []
    asked: dict[str, Any] = {"quasi_identifiers": ["age"], "models": [ht.KAnonymity(2)], "sensitive": sensitive}
    for data in (people(), people().to_pandas(), people().to_pandas().astype({"ill": "category"}), people().to_arrow()):
        release = ht.anonymize(data, **asked, specs=SETS, roles="trust")
        assert pl.DataFrame(release.frame)["ill"].to_list() == WRITTEN
        assert release.verify().passed
    coded = ht.anonymize(Table.encode(people(), specs=SETS), **asked, specs=SETS, roles="trust")
    assert coded.frame.decode()["ill"].to_list() == WRITTEN


def test_a_quasi_identifier_is_judged_as_whole_sets() -> None:
    release = ht.anonymize(people(), quasi_identifiers=["ill"], models=[ht.KAnonymity(3)], specs=SETS)
    assert release.verify().passed
    cells = set(release.frame["ill"])
    assert all(cell is None or cell in WRITTEN or {*json.loads(cell)} <= {*WRITTEN, ""} for cell in cells)
    assert min(release.frame["ill"].value_counts()["count"]) >= 3


def test_codes_that_a_separator_parts_are_no_codes_in_their_order() -> None:
    table = pl.DataFrame({"ill": [f"{a}{i:02}-{b}{i % 7:02}" for i in range(10) for a in "CDE" for b in "FGH"]})
    asked: dict[str, Any] = {"quasi_identifiers": ["ill"], "models": [ht.KAnonymity(9)], "method": READABLE}
    plain = ht.anonymize(table, **asked)
    assert any(parse_cell(cell).form == "interval" for cell in plain.frame["ill"])
    sets = ht.anonymize(table, **asked, specs={"ill": ht.ColumnSpec(separator="-")})
    assert not any(parse_cell(cell).form == "interval" for cell in sets.frame["ill"])


def test_one_item_that_all_have_is_no_diversity() -> None:
    table = pl.DataFrame({"age": [30, 30, 30, 40, 40], "ill": ["E11;I10", "I10;Z95", "I10", "E11", "Z95"]})
    asked: dict[str, Any] = {"quasi_identifiers": ["age"], "models": [ht.DistinctLDiversity(2, "ill")]}
    assert ht.verify(table, **asked).passed
    verdict = ht.verify(table, **asked, specs=SETS)
    (failure,) = verdict.failures
    assert (failure.n_classes, failure.n_records, failure.worst) == (1, 3, 1.0)
    assert failure.rows(table).tolist() == [0, 1, 2]
    assert verdict.distinct_sensitive == {"ill": 1}


def test_of_single_items_distinct_diversity_is_the_usual_one() -> None:
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"g": rng.integers(0, 30, 120), "ill": pl.Series(rng.choice(["a", "b", ""], 120))})
    asked: dict[str, Any] = {"quasi_identifiers": ["g"], "models": [ht.DistinctLDiversity(2, "ill")]}
    plain, sets = ht.verify(table, **asked), ht.verify(table, **asked, specs=SETS)
    assert [each.n_classes for each in plain.failures] == [each.n_classes for each in sets.failures]
    assert plain.distinct_sensitive["ill"] == sets.distinct_sensitive["ill"] == 0


def test_persons_are_counted_beside_items() -> None:
    table = pl.DataFrame(
        {"who": [1, 1, 2, 2, 3, 3], "age": [30] * 4 + [40] * 2, "ill": ["a;b", "c", "a", "b"] + ["a"] * 2}
    )
    model = ht.AlphaKAnonymity(0.5, 2, "ill")
    verdict = ht.verify(table, quasi_identifiers=["age"], models=[model], specs=SETS, person="who")
    assert [(each.n_classes, each.n_records) for each in verdict.failures] == [(1, 2)]


def released(folder: Path) -> Path:
    table = pl.DataFrame({"age": [20, 21, 30, 31] * 5, "ill": ["B;A", "C", "B;C", "A"] * 5})
    table.write_csv(folder / "in.csv")
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    done("anonymize", folder / "in.csv", "-p", folder / "policy.yaml", "-o", folder / "out.csv")
    return folder / "out.csv"


@pytest.mark.parametrize(
    ("old", "new"), [("A;B", "B;A"), ("A;B", "A;B;B"), ("B;C", "B; C"), ("A;B", ";"), ("C", "A;B;C")]
)
def test_a_forged_release_is_caught(old: str, new: str, tmp_path: Path) -> None:
    out = released(tmp_path)
    done("verify", out)
    text = out.read_text(encoding="utf-8")
    assert old in text
    # A set that is written in another way once tells its record from others; an item that is added tells what all have.
    out.write_text(text.replace(old, new, -1 if new == "A;B;C" else 1), encoding="utf-8")
    sidecar = out.with_name("out.csv.manifest.json")
    entries = json.loads(sidecar.read_text(encoding="utf-8"))
    entries["sha256"] = hashlib.sha256(out.read_bytes()).hexdigest()
    sidecar.write_text(json.dumps(entries), encoding="utf-8")
    assert run("verify", out).code == 1


def test_every_door_asks_for_the_same(tmp_path: Path) -> None:
    out = released(tmp_path)
    plain = POLICY.replace('{role: sensitive, separator: ";"}', "sensitive")
    (tmp_path / "plain.yaml").write_text(plain, encoding="utf-8")
    given = ("anonymize", tmp_path / "in.csv", "-p", tmp_path / "plain.yaml", "-o", tmp_path / "set.csv")
    done(*given, "--set", 'columns.ill={role: sensitive, separator: ";"}')
    release = ht.anonymize(
        str(tmp_path / "in.csv"),
        quasi_identifiers=["age"],
        models=[ht.AlphaKAnonymity(0.5, 2, "ill")],
        method=READABLE,
        specs=SETS,
    )
    of_policy = ht.Policy.read(tmp_path / "policy.yaml").protect(str(tmp_path / "in.csv"))
    rows = sorted(release.frame.rows())
    assert rows == sorted(of_policy.frame.rows())
    for path in (out, tmp_path / "set.csv"):
        assert sorted(pl.read_csv(path, infer_schema=False).rows()) == rows


def test_a_separator_that_is_none_is_refused() -> None:
    for given in ("", ";;", "a", "7", "*", 3):
        with pytest.raises(InputError, match="separator"):
            ht.ColumnSpec(separator=given)  # type: ignore[arg-type]
    for others in ({"kind": "integer"}, {"order": ("a",)}, {"decimal": ","}, {"format": "%d.%m.%Y"}):
        with pytest.raises(InputError, match="was given with"):
            ht.ColumnSpec(separator=";", **others)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "model",
    [
        ht.EntropyLDiversity(2, "ill"),
        ht.RecursiveCLDiversity(2, 2, "ill"),
        ht.DistinctLDiversity(3, "ill"),
        ht.TCloseness(0.2, "ill", "ordered"),
        ht.TCloseness(0.2, "ill", "hierarchical"),
    ],
)
def test_models_without_a_meaning_for_sets_are_refused_by_name(model: Any) -> None:
    for judge in (ht.anonymize, ht.verify):
        with pytest.raises(ModelError, match=model.name):
            judge(people(), quasi_identifiers=["age"], models=[model], specs=SETS)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"identifiers": ["ill"]}, "identifies a person"),
        ({"person": "ill", "identifiers": ["ill"]}, "identifies a person"),
        ({"sensitive": ["ill"], "hierarchies": {"ill": "auto"}}, "hierarchy was given to sensitive column"),
        ({"quasi_identifiers": ["ill"], "hierarchies": {"ill": {"prefix": [1]}}}, "prefixes of column"),
        ({"specs": {"age": ht.ColumnSpec(separator=";")}}, "a separator, and the type"),
    ],
)
def test_what_has_no_meaning_for_sets_is_refused(asked: dict[str, Any], told: str) -> None:
    given = {"quasi_identifiers": ["age"], "models": [ht.KAnonymity(2)], "specs": SETS, **asked}
    with pytest.raises(InputError, match=told):
        ht.anonymize(people(), **given)


def test_a_table_that_was_coded_without_sets_is_refused() -> None:
    with pytest.raises(InputError, match="after they were coded"):
        ht.anonymize(Table.encode(people()), quasi_identifiers=["age"], models=[ht.KAnonymity(2)], specs=SETS)


@pytest.mark.parametrize("role", ["sensitive", "kept", "quasi-identifier"])
def test_files_that_are_streamed_publish_the_sets_of_memory(role: str, tmp_path: Path) -> None:
    table = pl.concat([people()] * 3).with_columns(other=pl.lit("b; a"))
    (tmp_path / "parts").mkdir()
    table[:20].with_columns(pl.col("ill").cast(pl.String)).write_parquet(tmp_path / "parts" / "0.parquet")
    table[20:].write_parquet(tmp_path / "parts" / "1.parquet")
    table.write_csv(tmp_path / "in.csv")
    asked: dict[str, Any] = {
        "quasi_identifiers": ["age", "ill"] if role == "quasi-identifier" else ["age"],
        "models": [ht.AlphaKAnonymity(0.7, 2, "ill")] if role == "sensitive" else [ht.KAnonymity(2)],
        "specs": {**SETS, "other": ht.ColumnSpec(separator=";")},
        "roles": "trust",
    }
    memory = ht.anonymize(table, **asked).frame
    for data in (tmp_path / "parts", tmp_path / "in.csv"):
        release = ht.anonymize(str(data), **asked, engine="stream")
        out = tmp_path / f"out of {data.stem}"
        release.write(out)
        done("verify", out)
        published = pl.concat([pl.read_parquet(path) for path in sorted(out.glob("part-*"))])
        assert sorted(published.cast(pl.String).rows(), key=str) == sorted(memory.cast(pl.String).rows(), key=str)
        assert "values are sets" in str(release.codebook.to_dict(None, external=True))


def test_lazy_frames_have_no_sets(tmp_path: Path) -> None:
    people().write_parquet(tmp_path / "people.parquet")
    asked: dict[str, Any] = {"quasi_identifiers": ["age"], "models": [ht.KAnonymity(2)], "specs": SETS}
    with pytest.raises(InputError, match="a lazy frame has its own cells"):
        ht.anonymize(people().lazy(), **asked)
    release = ht.anonymize(str(tmp_path / "people.parquet"), **asked, engine="stream", roles="trust")
    with pytest.raises(InputError, match="no lazy frame of a release with sets"):
        _ = release.frame
    numbers = {**asked, "specs": {"age": ht.ColumnSpec(separator=";")}}
    with pytest.raises(InputError, match="a separator, and the type"):
        ht.anonymize(str(tmp_path / "people.parquet"), **numbers, engine="stream")


def test_there_is_no_next_batch_of_sets() -> None:
    release = ht.anonymize(people(), quasi_identifiers=["age"], models=[ht.KAnonymity(2)], specs=SETS)
    with pytest.raises(InputError, match="no next batch"):
        _ = release.learned


def test_too_many_items_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(item_columns, "MOST_ITEM_COLUMNS", 2)
    asked: dict[str, Any] = {"quasi_identifiers": ["age"], "specs": SETS}
    with pytest.raises(InputError, match="more than 2"):
        ht.anonymize(people(), **asked, models=[ht.TCloseness(0.3, "ill")])
    # Items that no record holds together share a column.
    table = people().with_columns(ill=pl.Series(["a;b", "c;d", "a;d", "b;c"] * 3))
    assert ht.anonymize(table, **asked, models=[ht.AlphaKAnonymity(0.5, 2, "ill")]).verify().passed


def test_an_item_too_rare_to_fail_has_no_column() -> None:
    table = Table.encode(people().with_columns(ill=pl.Series([*["a;b"] * 10, "c", "d"])), specs=SETS)
    model = ht.AlphaKAnonymity(0.5, 4, "ill")
    wide, asked = with_item_columns(table, [ht.KAnonymity(4), model])
    assert [column.n_values for column in wide.columns[2:]] == [1, 1]
    assert len(asked) == 4


def test_no_release_says_that_no_item_may_be_everyones() -> None:
    table = people().with_columns(ill=pl.lit("a;b"))
    with pytest.raises(InfeasibleError) as told:
        ht.anonymize(table, quasi_identifiers=["age"], models=[ht.AlphaKAnonymity(0.5, 2, "ill")], specs=SETS)
    assert "ill (items, part 1)" in str(told.value)


def test_masking_and_certificates_know_no_sets() -> None:
    with pytest.raises(InputError, match="masking publishes cells as they came"):
        ht.mask_dependence(people(), a=["age"], b=["ill"], clusters=2, specs=SETS)
    models = [ht.KAnonymity(2), ht.AlphaKAnonymity(0.9, 2, "ill")]
    asked: dict[str, Any] = {"quasi_identifiers": ["age"], "models": models, "method": "full_domain"}
    assert ht.anonymize(people(), **asked, specs=SETS).certificate is None
    plain = ht.anonymize(people(), **asked)
    with pytest.raises(InputError, match="sets of items"):
        check_certificate(people(), plain.certificate, specs=SETS)  # type: ignore[arg-type]


def test_certificates_of_sets_as_quasi_identifiers_hold() -> None:
    asked: dict[str, Any] = {"quasi_identifiers": ["ill", "age"], "models": [ht.KAnonymity(2)], "specs": SETS}
    for release in (
        ht.anonymize(people(), **asked, method="full_domain"),
        ht.anonymize(people(), **asked).with_bound(),
    ):
        assert check_certificate(people(), release.certificate, specs=SETS).passed  # type: ignore[arg-type]


def test_a_population_is_counted_by_its_sets() -> None:
    others = pl.DataFrame({"ill": ["E11 ; I10", "I10;I10", "Z95;I10", None] * 3})
    asked: dict[str, Any] = {"quasi_identifiers": ["ill"], "models": [ht.KMap(5)], "specs": SETS}
    release = ht.anonymize(people(), **asked, population=others)
    assert release.verify().passed
    del asked["specs"]
    assert not ht.verify(release.frame, **asked, population=others).passed
    assert ht.verify(release.frame, **asked, specs=SETS, population=others).passed


def test_risk_is_measured_item_by_item() -> None:
    table = pl.DataFrame({"age": [30] * 3 + [40] * 3, "ill": ["a;b", "c; a", "a", "a", "b", None]})
    risk = ht.assess(table, quasi_identifiers=["age"], sensitive=["ill"], specs=SETS).homogeneity["ill"]
    assert (risk.distinct_l, risk.entropy_l, risk.n_homogeneous) == (1, None, 3)
    # Of a: 3 of 3 and 1 of 3, where 4 of 6 hold it.
    assert risk.t == pytest.approx(1 / 3)
    with pytest.raises(InputError, match="sets of items"):
        ht.assess(table, quasi_identifiers=["age"], sensitive=["ill"], specs=SETS, missing="wildcard")
    release = ht.anonymize(table, quasi_identifiers=["age"], models=[ht.KAnonymity(3)], sensitive=["ill"], specs=SETS)
    (found,) = (each for each in release.attack(release).attacks if each.name == "homogeneity")
    assert (found.n_found, found.fell) == (3, True)
    assert "sets of items" in release.attack(release).untried["intersection"]
    # Another column is intersected, and this one still leaves a doubt.
    both = table.with_columns(sick=pl.Series(["x", "y", "z"] * 2))
    release = ht.anonymize(both, quasi_identifiers=["age"], models=[ht.KAnonymity(3)], sensitive=["ill", "sick"],
                           specs=SETS)  # fmt: skip
    found = release.attack(release)
    assert "intersection" in {each.name for each in found.attacks}
    assert found.unjudged == ("intersection, in column ill",)
    assert found.max_fell == len({*found.fell, "intersection"})
    assert found.doubt.startswith("intersection could not be judged (column 'ill' holds sets")


def test_the_codebook_says_how_sets_are_written() -> None:
    release = ht.anonymize(people(), quasi_identifiers=["age"], models=[ht.KAnonymity(2)], specs=SETS, roles="trust")
    told = {each["name"]: each["how"] for each in release.codebook.to_dict(None, external=True)["columns"]}
    assert told["ill"] == "kept; values are sets: their items in order, ';' between them"


@pytest.mark.parametrize("role", ["identifier", "other"])
def test_a_policy_takes_a_separator_of_all_but_identifiers(role: str) -> None:
    asked = {
        "columns": {"age": "quasi-identifier", "ill": {"role": role, "separator": ";"}},
        "models": [{"k-anonymity": 2}],
    }
    if role == "other":
        assert ht.Policy.make(asked).specs == SETS
        return
    with pytest.raises(PolicyError, match="separator goes with role"):
        ht.Policy.make(asked)


def test_no_item_that_is_gone_is_told(tmp_path: Path) -> None:
    word = "Zq7Xcanary"
    table = people().with_columns(ill=pl.Series([f"I10;{word}", "E11", f"{word} ;I10", "Z95"] * 3))
    frames = [
        table,
        table.to_pandas().astype({"ill": "category"}),
        table.with_columns(pl.col("ill").cast(pl.Categorical)),
    ]
    asked: dict[str, Any] = {"quasi_identifiers": ["ill", "age"], "models": [ht.KAnonymity(12)], "specs": SETS}
    for place, data in enumerate(frames):
        release = ht.anonymize(data, **asked, method=ht.Mondrian(recoding="cut", max_length=5))
        assert set(pl.DataFrame(release.frame)["ill"]) == {"*"}
        for ending in ("csv", "parquet"):
            release.write(tmp_path / f"{place}.{ending}")
        assert word.encode() not in pickle.dumps(release.frame)
    assert not any(word.encode() in path.read_bytes() for path in tmp_path.iterdir())
    asked["quasi_identifiers"] = ["age"]
    for model in (ht.AlphaKAnonymity(0.1, 2, "ill"), ht.DistinctLDiversity(3, "ill"), ht.DeltaDisclosure(0.1, "ill")):
        try:
            told = repr(ht.anonymize(table, **{**asked, "models": [ht.KAnonymity(2), model]}).trace)
        except (InfeasibleError, InputError) as error:
            told = str(error)
        assert word not in told
    verdict = ht.verify(table, quasi_identifiers=["age"], models=[ht.AlphaKAnonymity(0.1, 2, "ill")], specs=SETS)
    assert not verdict.passed
    assert word not in str(verdict.failures) + json.dumps(verdict.to_dict())
