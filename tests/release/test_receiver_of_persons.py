"""Who receives a release by persons judges what the file shows, and hears what only its publisher could judge."""

import json
import random
from pathlib import Path

import polars as pl
import pytest

import hushtable as ht
from command import done, run
from hushtable.release import manifest

POLICY = """
person: patient
columns:
  patient: {role: identifier, action: ACTION}
  age: quasi-identifier
  sex: quasi-identifier
  ward: quasi-identifier
  ill: sensitive
models: [k-anonymity: 4, distinct-l-diversity: {l: 2, sensitive: ill}, t-closeness: {t: 0.6, sensitive: ill}]
"""
BY_PERSONS = "k-anonymity (k = 4), by persons"


def hospital(n_persons: int = 60, seed: int = 1) -> pl.DataFrame:
    """Return the stays of made-up patients, 1 to 20 of each."""
    draw = random.Random(seed)
    rows = []
    for person in range(n_persons):
        age, sex = draw.randint(18, 90), draw.choice("mw")
        rows += [
            (f"P{person:03}", age, sex, draw.choice("ABC"), draw.choice(["I10", "E11", "J45"]))
            for _ in range(draw.choice([1, 1, 2, 3, 20]))
        ]
    draw.shuffle(rows)
    return pl.DataFrame(rows, schema=["patient", "age", "sex", "ward", "ill"], orient="row")


@pytest.fixture(scope="module", params=["remove", "fresh"])
def release_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an original, its policy, and an internal and an external release."""
    folder = tmp_path_factory.mktemp(request.param)
    hospital().write_csv(folder / "in.csv")
    (folder / "policy.yaml").write_text(POLICY.replace("ACTION", request.param))
    for name, options in {"out.csv": (), "given.csv": ("--external",)}.items():
        done("anonymize", folder / "in.csv", "-p", folder / "policy.yaml", "-o", folder / name, *options)
    return folder


@pytest.fixture(params=["out.csv", "given.csv"])
def receiver_copy(release_path: Path, request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a release and its manifest alone, as somebody receives them."""
    file = tmp_path / request.param
    file.write_bytes((release_path / request.param).read_bytes())
    manifest.manifest_path(file).write_bytes(manifest.manifest_path(release_path / request.param).read_bytes())
    return file


def rewrite(file: Path, **entries: object) -> None:
    """Change a manifest by hand, and give it the hash of the file."""
    path = manifest.manifest_path(file)
    told = {**json.loads(path.read_text()), **entries, "sha256": manifest.sha256(file)}
    path.write_text(json.dumps({name: entry for name, entry in told.items() if entry is not None}))


def test_what_the_file_shows_holds_and_the_rest_is_named_with_the_publishers_figures(receiver_copy: Path) -> None:
    n_persons = hospital()["patient"].n_unique()
    out = done("verify", receiver_copy).out
    assert f"{receiver_copy} holds as far as a file can show" in out
    assert f"only its publisher could judge: {BY_PERSONS}: its manifest says that at least {n_persons} persons" in out
    assert "4 or more in every class" in out
    assert "holds: k-anonymity (k = 4), by records" in out
    assert "holds: distinct-l-diversity (l = 2, sensitive = 'ill')\n" in out
    assert "holds: t-closeness (t = 0.6, sensitive = 'ill', ground = 'auto')\n" in out
    assert "not checked" not in out
    told = json.loads(done("verify", receiver_copy, "--json").out)
    assert (told["passed"], told["complete"], told["complete_for_receiver"]) == (True, False, True)
    assert [each["condition"] for each in told["vouched"]] == [BY_PERSONS]


def test_strict_wants_all_judged(release_path: Path, receiver_copy: Path) -> None:
    assert run("verify", receiver_copy, "--strict").code == 1
    out = done("verify", receiver_copy, "--strict", "--original", release_path / "in.csv").out
    assert f"holds: {BY_PERSONS}" in out
    assert "only its publisher" not in out


def test_a_policy_in_python_says_the_same(release_path: Path, receiver_copy: Path) -> None:
    rules = ht.Policy.read(release_path / "policy.yaml")
    verdict = rules.verify(receiver_copy).raise_if_failed()
    assert (verdict.complete, verdict.complete_for_receiver, list(verdict.vouched)) == (False, True, [BY_PERSONS])
    assert verdict.facts[0] == "All that the table can show holds; the rest only its publisher could judge."
    whole = rules.verify(receiver_copy, original=release_path / "in.csv")
    assert whole.complete
    assert not whole.vouched


def test_without_a_manifest_nobody_vouches(release_path: Path, receiver_copy: Path) -> None:
    outcome = run("verify", receiver_copy, "--no-manifest", "-p", release_path / "policy.yaml")
    assert outcome.code == 1
    assert f"not checked: {BY_PERSONS}" in outcome.out


@pytest.mark.parametrize(
    ("column", "cell", "fails"),
    [("age", "<1", "k-anonymity (k = 4), by persons: "), ("ill", "I10", "distinct-l-diversity")],
)
def test_what_the_file_shows_to_be_false_fails(receiver_copy: Path, column: str, cell: str, fails: str) -> None:
    frame = pl.read_csv(receiver_copy, infer_schema=False)
    is_changed = pl.int_range(pl.len()) < (1 if column == "age" else len(frame))
    frame.with_columns(pl.when(is_changed).then(pl.lit(cell)).otherwise(column).alias(column)).write_csv(receiver_copy)
    rewrite(receiver_copy)
    outcome = run("verify", receiver_copy)
    assert outcome.code == 1
    assert f"failed: {fails}" in outcome.out
    assert run("report", receiver_copy, "--external").code == 1


@pytest.mark.parametrize(
    ("persons", "says"),
    [
        ({"in_all": 10**6, "smallest_class": 4}, "the manifest counts 1,000,000, the file has room for"),
        ({"in_all": 40, "smallest_class": 400}, "the manifest counts 400 in the smallest class"),
        ({"in_all": 40, "smallest_class": 3}, "the manifest promises 4 in every class, and counts fewer"),
        ({"in_all": 3}, "the manifest promises 4 in every class, and counts fewer"),
        ({"in_all": 4}, None),
        ({"in_all": 0}, "the manifest counts 1 in the smallest class"),
        ({"in_all": True}, "the manifest gives no number of them"),
        ({"in_all": "40"}, "the manifest gives no number of them"),
        ([40], "the manifest gives no number of them"),
        ({}, "the manifest gives no number of them"),
    ],
    ids=str,
)
def test_figures_that_the_file_has_no_room_for_fail(receiver_copy: Path, persons: object, says: str | None) -> None:
    rewrite(receiver_copy, persons=persons)
    outcome = run("verify", receiver_copy)
    if says is None:
        assert outcome.code == 0
        return
    assert outcome.code == 1
    assert f"failed: as many persons as the file can hold: {says}" in outcome.out
    assert run("report", receiver_copy, "--external").code == 1


@pytest.mark.parametrize("entries", [{"persons": None}, {"verified": False}], ids=str)
def test_a_manifest_without_its_word_vouches_for_nothing(receiver_copy: Path, entries: dict[str, object]) -> None:
    rewrite(receiver_copy, **entries)
    outcome = run("verify", receiver_copy)
    assert outcome.code == 1
    assert f"not checked: {BY_PERSONS}" in outcome.out
    assert run("report", receiver_copy, "--external").code == 1


def test_outsiders_hear_a_round_number_of_persons_and_none_of_a_class(release_path: Path) -> None:
    inside, outside = (manifest.read(release_path / name)["persons"] for name in ("out.csv", "given.csv"))
    assert inside == {"in_all": 60, "smallest_class": inside["smallest_class"]}
    assert outside == {"in_all": 60}
    assert manifest.external_facts({"persons": {"in_all": 13_987, "smallest_class": 5}}) == {
        "persons": {"in_all": 13_000}
    }


def test_the_external_report_says_in_one_sentence_what_only_the_publisher_could_judge(
    release_path: Path, receiver_copy: Path
) -> None:
    alone = done("report", receiver_copy, "--external").out
    (line,) = [line for line in alone.splitlines() if "only its publisher" in line]
    assert BY_PERSONS in line
    assert "at least 60 persons" in line
    beside = done("report", receiver_copy, "--external", "--original", release_path / "in.csv").out
    assert "only its publisher" not in beside
    assert "judged from the published table and its original by its maker, and holds." in beside
    # No more is told of the original than that all was judged beside it.
    pages = (ht.report(receiver_copy, audience="external", original=given) for given in (None, release_path / "in.csv"))
    first, second = ({each.name: each for each in page.sections} for page in pages)
    assert {name for name in first if first[name] != second[name]} == {"summary", "risk_after", "tests"}


def test_the_report_is_made_in_python_and_in_german_too(release_path: Path, receiver_copy: Path) -> None:
    report = ht.report(receiver_copy, audience="external")
    assert report.holds
    assert ht.report(receiver_copy, audience="external", original=release_path / "in.csv").holds
    german = done("--language", "de", "verify", receiver_copy).out
    assert "nur" in german
    assert "publisher" not in german


def test_an_internal_report_without_the_original_holds_what_the_file_shows(receiver_copy: Path) -> None:
    out = done("report", receiver_copy).out
    assert "Only its publisher could judge" in out
    assert "Do not release it yet" not in out
