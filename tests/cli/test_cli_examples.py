"""The examples in the help of every command run, one after the other in one folder, and end as they should."""

import shlex
import shutil
from pathlib import Path

import polars as pl
import pytest

import hushtable as ht
from command import done, run
from hushtable import cli

POLICY = """\
columns:
  birth_date: quasi-identifier
  sex: quasi-identifier
  postcode: quasi-identifier
  education: quasi-identifier
  occupation: quasi-identifier
  income: {role: sensitive, round: 20000}
  diagnosis: sensitive
models: [k-anonymity: 5, distinct-l-diversity: {l: 2, sensitive: income}]
"""
PIPELINE = """\
Loader: {people: {filepath: original.csv}}
Splitter: {half: {train_split_ratio: 0.5}}
Synthesizer: {copula: {method: default}}
Evaluator: {singling-out: {method: mpuccs, n_cols: [1]}}
"""
# They take as long as a person reads, compile everything, or read files of other programs.
NOT_RUN = ("demo", "open", "assist", "warm-up", "convert")
# What makes a file that the examples of a command name, besides those that all share.
BEFORE = {
    "attack-release": "anonymize people.csv -p policy.yaml -o old.csv",
    "apply": "anonymize survey.csv --qi age,pay --k 5 -o old.csv --save-recoding recoding.json",
    "check": "tables people.csv --by sex,education -o table.csv",
}
# What finds people in the tables of this test, as it would in most.
ANSWERS_NO = (
    "hushtable scan people.csv --fail-above",
    "hushtable assess people.csv -p policy.yaml --tolerance",
    "hushtable uniques people.csv --max-size 2 --fail-above",
    "hushtable keys people.csv --max-size 2 --fail-above",
    "hushtable unicity trips.csv --person id --item stop --fail-above",
    "hushtable join-risk jan.csv feb.csv --on sex,postcode --fail-above",
    "hushtable mpuccs original.csv synthetic.csv --fail-above",
    "hushtable attack original.csv synthetic.csv --fail-above",
)


def examples(*names: str) -> list[str]:
    return [each for place, lines in cli._EXAMPLES.items() for each in lines if each.split()[1] in names]


NAMES = [name for name in cli._PLACES if name not in NOT_RUN]
CHEAP = ("codebook", "verify")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the files that examples name."""
    folder = tmp_path_factory.mktemp("examples")
    people = ht.datasets.people(1_000)
    known = people.select("birth_date", "sex", "postcode", "education", "occupation", "income", "diagnosis")
    born = pl.col("birth_date").dt.year()
    survey = people.select((2024 - born).alias("age"), "sex", pl.col("postcode").str.head(1).alias("region"))
    survey = survey.with_columns(pay=people["income"] // 1000 * 1000).drop_nulls()
    trips = ht.datasets.ratings(300).rename({"user_id": "id", "item": "stop", "date": "day"})
    ids = people.with_row_index("id").select("id", "sex", "postcode", "education")
    tables = {
        "people": known.head(600),
        "rest": known.tail(400),
        "original": known.head(400),
        "control": known.tail(400),
        "survey": survey.head(600),
        "new": survey.tail(300),
        "pay": survey.head(90),
        "trips": trips,
        "voters": people.head(200).select("name", "sex", "postcode"),
        "others": people.tail(200).select("name", "sex", "postcode"),
        "jan": ids.head(300),
        "feb": ids.head(500).tail(400),
    }
    for name, table in tables.items():
        table.write_csv(folder / f"{name}.csv")
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    (folder / "pipeline.yaml").write_text(PIPELINE, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        done(*shlex.split("anonymize people.csv -p policy.yaml -o release.csv"))
    return folder


@pytest.mark.parametrize(
    "name", [name if name in CHEAP else pytest.param(name, marks=pytest.mark.slow) for name in NAMES]
)
def test_the_examples_of_a_command_run(name, prepared, tmp_path, monkeypatch):
    folder = tmp_path / "here"
    shutil.copytree(prepared, folder)
    monkeypatch.chdir(folder)
    if name in ("mpuccs", "attack"):
        ht.synthesize(pl.read_csv("original.csv", try_parse_dates=True), seed=0).write_csv("synthetic.csv")
    if name in BEFORE:
        done(*shlex.split(BEFORE[name]))
    for example in examples(name):
        arguments = shlex.split(example)[1:]
        written = "-p" if name == "scan" else "-o"
        if written in arguments:
            for path in folder.glob(f"{Path(arguments[arguments.index(written) + 1]).stem}.*"):
                path.unlink()
        with Path("pay.csv").open(encoding="utf-8") as stdin:
            monkeypatch.setattr("sys.stdin", stdin)
            shown = run(*arguments)
        assert shown.code == (1 if example.startswith(ANSWERS_NO) else 0), (example, shown.err)
        assert shown.out or shown.err
