"""Records, and all records of a person, are left out where persons are counted and the file does not tell them."""

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import hushtable as ht
from command import done, run

NAMES = ["age", "sex", "ward", "month"]
METHODS = {
    "mondrian": ht.Mondrian(recoding="readable"),
    "tight": ht.Mondrian(),
    "cut": ht.Mondrian(recoding="cut"),
    "median": ht.Mondrian(cut="median"),
    "full_domain": ht.FullDomain(),
}
OVERLAPPING = {"local_recoding": ht.LocalRecoding(), "genetic": ht.Genetic(generations=3), "mingen": ht.MinGen()}
MODELS = {
    "k": [ht.KAnonymity(5)],
    "l": [ht.KAnonymity(4), ht.DistinctLDiversity(2, "ill")],
    "alpha": [ht.AlphaKAnonymity(0.68, 4, "ill")],
    "t": [ht.KAnonymity(3), ht.TCloseness(0.35, "ill")],
}
HIDING: dict[str, dict[str, Any]] = {
    "remove": {"identifiers": ["who"]},
    "fresh": {"pseudonyms": ht.Pseudonyms(fresh=("who",))},
}


def hospital(seed: int, n_persons: int = 40) -> pl.DataFrame:
    """Return stays of made-up patients, 1 to 20 of each, some of them nobody's; ``nr`` numbers the records."""
    draw = random.Random(seed)
    rows: list[tuple[Any, ...]] = []
    for person in range(n_persons):
        age, sex, ward = draw.randint(18, 90), draw.choice("mw"), draw.choice(["A1", "A2", "B1", "C1"])
        for _ in range(draw.choice([1, 1, 1, 2, 2, 3, 5, 20])):
            who = None if draw.random() < 0.02 else f"P{person:03}"
            rows.append((who, age, sex, ward, draw.randint(1, 24), draw.choices("abcd", [8, 1, 1, 2])[0], len(rows)))
    draw.shuffle(rows)
    return pl.DataFrame(rows, schema=["who", *NAMES, "ill", "nr"], orient="row")


def count_slowly(published: pl.DataFrame, original: pl.DataFrame) -> tuple[list[int], int, int]:
    """Count the persons of every class, those of the suppressed records, and these records, one record at a time."""
    whose = {}
    for record in original.to_dicts():
        whose[str(record["nr"])] = record["who"]
    classes, hidden = defaultdict(set), []
    for row in published.to_dicts():
        if all(row[name] == "*" for name in [*NAMES, "ill"]):
            hidden.append(whose[str(row["nr"])])
        else:
            classes[tuple(row[name] for name in NAMES)].add(whose[str(row["nr"])])
    return [len(persons - {None}) for persons in classes.values()], len(set(hidden) - {None}), len(hidden)


def anonymize(frame: pl.DataFrame, method: Any, models: str, share: float, **options: Any) -> ht.Release:
    """Return a release that may leave out a share of the records, by persons."""
    return ht.anonymize(
        frame,
        quasi_identifiers=NAMES,
        sensitive=["ill"],
        models=MODELS[models],
        method=method,
        person="who",
        suppression_limit=share,
        roles="trust",
        **options,
    )


@pytest.mark.parametrize("hiding", list(HIDING))
@pytest.mark.parametrize("models", list(MODELS))
@pytest.mark.parametrize("method", list(METHODS))
def test_every_class_holds_k_persons_beside_those_that_are_left_out(method: str, models: str, hiding: str) -> None:
    for seed, share in enumerate((0.02, 0.1, 0.3)):
        frame = hospital(seed)
        try:
            release = anonymize(frame, METHODS[method], models, share, **HIDING[hiding])
        except ht.InfeasibleError:
            assert models == "alpha"  # so many share one value
            continue
        persons, n_hidden_persons, n_hidden = count_slowly(release.frame, frame)
        k = release.models[0].min_size
        assert min(persons) >= k
        assert n_hidden == 0 or n_hidden_persons >= k
        assert release.n_suppressed == len(frame) - len(release.frame) + n_hidden <= share * len(frame)
        verdict = release.verify()
        assert verdict.passed
        assert verdict.complete
        assert verdict.smallest_class <= min(persons)


def test_all_records_of_a_person_are_left_out(tmp_path: Path) -> None:
    """Far from the others, and with many records, one person costs more than she is worth."""
    frame = pl.DataFrame(
        [(f"P{i:02}", 30 + i % 5, "w", "A1", 1 + i % 2, "ab"[i % 2], i) for i in range(40)]
        + [("far", 99, "m", "C1", 24, "a", 40 + i) for i in range(4)],
        schema=["who", *NAMES, "ill", "nr"],
        orient="row",
    )
    for method in (METHODS["mondrian"], METHODS["full_domain"]):
        release = anonymize(frame, method, "k", 0.1, identifiers=["who"])
        persons, _, _ = count_slowly(release.frame, frame)
        assert min(persons) >= 5
        assert release.n_suppressed == 4
        verdict = release.write(tmp_path / "out.csv", overwrite=True)
        assert verdict.figures["n_persons"] == 40
        assert len(pl.read_csv(tmp_path / "out.csv")) == 40  # four stars would be one person's


@pytest.mark.parametrize("method", ["mondrian", "full_domain"])
def test_through_policy_and_command(method: str, tmp_path: Path) -> None:
    frame = hospital(7, 60)
    frame.write_csv(tmp_path / "in.csv")
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "person: who\ncolumns: {who: identifier, age: quasi-identifier, sex: quasi-identifier, "
        "month: quasi-identifier, ward: {role: quasi-identifier, hierarchy: {prefix: [1]}}, ill: sensitive, "
        "nr: other}\n"
        "models: [k-anonymity: 5]\naccept: {nr: to count by}\n"
        f"method: {method}\nlimits: {{suppression: 0.1}}\n"
    )
    done("anonymize", tmp_path / "in.csv", "-p", policy, "-o", tmp_path / "out.csv")
    published = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
    persons, n_hidden_persons, n_hidden = count_slowly(published, frame)
    assert min(persons) >= 5
    assert n_hidden == 0 or n_hidden_persons >= 5
    assert len(frame) - len(published) + n_hidden <= 0.1 * len(frame)
    done("verify", tmp_path / "out.csv")
    done("verify", tmp_path / "out.csv", "--original", tmp_path / "in.csv")
    done("verify", tmp_path / "out.csv", "--strict", "--original", tmp_path / "in.csv", "-p", policy)


@pytest.mark.parametrize("method", list(OVERLAPPING))
def test_cells_that_overlap_are_refused_in_a_sentence_or_linked(method: str) -> None:
    frame = hospital(3, 30)
    with pytest.raises(ht.InputError, match="the cells of the classes overlap, so that without 'who' nobody could"):
        anonymize(frame, OVERLAPPING[method], "k", 0.1, identifiers=["who"])
    linked = anonymize(frame, OVERLAPPING[method], "k", 0.1, pseudonyms=ht.Pseudonyms(("who",), bytes(range(32))))
    assert min(count_slowly(linked.frame, frame)[0]) >= 5
    assert linked.verify().complete


def test_what_is_compared_has_a_release_or_a_reason() -> None:
    policy = ht.Policy.parse(
        "person: who\ncolumns: {who: identifier, age: quasi-identifier, sex: quasi-identifier, ward: quasi-identifier, "
        "month: quasi-identifier, ill: sensitive, nr: other}\nmodels: [k-anonymity: 5]\n"
    )
    methods = ["mondrian", "full_domain", "local_recoding", "genetic", "mingen", "histories"]
    rows = ht.compare(hospital(3, 12), policy, k=[3], suppression=[0, 0.2], method=methods).rows
    for row in rows:
        assert row.verified if row.reason is None else row.reason.endswith(".")
        assert row.reason is None or row.reason.count(". ") == 0
        if row.method in ("mondrian", "full_domain"):
            assert row.is_feasible
            assert row.smallest_class is not None
            assert row.smallest_class >= row.k


def test_a_folder_and_a_lazy_frame_leave_out_records_too(tmp_path: Path) -> None:
    frame = hospital(5, 60)
    (tmp_path / "in").mkdir()
    frame.write_parquet(tmp_path / "in" / "a.parquet")
    for data in (tmp_path / "in", frame.lazy()):
        release = anonymize(data, ht.FullDomain(), "k", 0.2, identifiers=["who"])
        release.write(tmp_path / "out", overwrite=True)
        published = pl.read_parquet(tmp_path / "out" / "*.parquet")
        persons, n_hidden_persons, n_hidden = count_slowly(published, frame)
        assert min(persons) >= 5
        assert n_hidden == 0 or n_hidden_persons >= 5
        assert release.n_suppressed > 0
        assert run("verify", tmp_path / "out").code == 0
