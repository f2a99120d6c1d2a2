"""An institute publishes a survey with weights: its readers fit on the release what they would have fitted."""

import re

import numpy as np
import pytest
from made_up_people import survey
from shell import Shell

MODEL = '"log(income) ~ age + education + sex" --weights weight'


@pytest.fixture(scope="module")
def institute(tmp_path_factory):
    """The institute with its policy: scan asks of the weight, which is calibrated and in no register."""
    shell = Shell(tmp_path_factory.mktemp("survey"))
    survey(1_500).write_csv(shell.folder / "survey.csv")
    seen = shell.type("hushtable scan survey.csv -p policy.yaml")
    assert "a sampling weight" in seen.out
    shell.edit("policy.yaml", weight="other", trust="sensitive")
    return shell


def fit(frame):
    """Fit the weighted regression by its normal equations, and return the coefficient of men."""
    columns = [
        np.ones(len(frame)),
        frame["age"].to_numpy(),
        (frame["education"] == "lower").to_numpy(),
        (frame["education"] == "middle").to_numpy(),
        (frame["sex"] == "male").to_numpy(),
    ]
    design, weights = np.column_stack(columns).astype(float), frame["weight"].to_numpy()
    weighted = design * weights[:, None]
    return np.linalg.solve(weighted.T @ design, weighted.T @ np.log(frame["income"].to_numpy()))[-1]


@pytest.mark.slow
def test_k_is_chosen_by_a_regression(institute):
    pytest.importorskip("formulaic")
    seen = institute.type(f"hushtable compare survey.csv -p policy.yaml --k 5,50 --suppression 0 --model {MODEL}")
    overlaps = [float(row.split()[8]) for row in seen.out.splitlines() if re.match(r" *(5|50) +0\.", row)]
    assert len(overlaps) == 2
    assert overlaps[0] > 0.9
    assert overlaps[0] >= overlaps[1]


def test_what_readers_fit_on_the_release_is_what_they_would_have_fitted(institute):
    pytest.importorskip("formulaic")
    told = institute.type("hushtable anonymize survey.csv -p policy.yaml -o release.csv --external")
    assert "k-anonymity (k = 5)" in told.out
    institute.type("hushtable verify release.csv")
    seen = institute.type(f"hushtable utility survey.csv release.csv --model {MODEL}")
    men = re.search(r"sex\[T\.male\] +([\d.]+) \(([\d.]+)\) +([\d.]+)", seen.out)
    assert float(men[1]) == pytest.approx(fit(survey(1_500)), rel=0.01)
    assert abs(float(men[3]) - float(men[1])) < float(men[2])


def test_who_is_among_the_population_and_what_an_archive_gets(institute):
    institute.type("hushtable anonymize survey.csv -p policy.yaml -o archive.csv --external")
    known = "--qi age,sex,region,education --weights weight"
    before = institute.type(f"hushtable assess survey.csv {known}")
    assert "unique in the sample" in before.out
    institute.type(f"hushtable assess survey.csv {known} --tolerance 5", code=1)
    institute.type("hushtable report archive.csv --external -o archive.html")
    assert "respondent" not in institute.read("archive.csv")
    institute.type("hushtable codebook archive.csv --as ddi")
    assert "<labl>" in institute.read("archive.csv.ddi.xml")
