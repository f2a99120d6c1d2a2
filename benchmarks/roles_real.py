"""The truths the recogniser of roles is judged against on six tables of others, with a reason for every column.

E is what somebody outside could know of a person, by the rule in roles_truth.py. P is what the source's own
figures allow as its truth, which it does not publish; it is kept for adult, diabetes, heart and nursery.
What it may have taken for car presupposes persons, and mushroom is not in it. No column is debatable.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from roles_truth import OTHER, QUASI, SENSITIVE, Judgement, Truth

FILES = {
    "adult": "adult/adult_ori.csv",
    "diabetes": "uci/diabetes.csv",
    "heart": "uci/heart_disease.csv",
    "nursery": "uci/nursery.csv",
    "car": "uci/car.csv",
    "mushroom": "uci/mushroom.csv",
}
"""Where each table is under the data folder of HUSHTABLE_SHARED."""


def read_real(name: str, *, data: Path) -> pl.DataFrame:
    """Read a table as text, without the blanks round its names and cells.

    Nursery's header lacks the name of its ninth column, which is called class here. Heart and nursery end with
    an empty line, which is no record.
    """
    path = data / FILES[name]
    header = [column.strip() for column in path.read_text().split("\n", 1)[0].split(",")]
    if name == "nursery":
        header.append("class")
    frame = pl.read_csv(path, skip_rows=1, has_header=False, infer_schema=False, new_columns=header)
    return frame.filter(~pl.all_horizontal(pl.all().is_null())).with_columns(pl.all().str.strip_chars())


ADULT = Truth(
    of_persons=True,
    reason="A row is a person whom the census bureau asked.",
    columns={
        "age": Judgement(QUASI, "acquaintance", "Known from birthdays and registers; in every list."),
        "type_employer": Judgement(
            QUASI, "public", "For whom somebody works is in profiles; ARX and Mondrian take it."
        ),
        "fnlwgt": Judgement(
            OTHER, "nobody", "A sampling weight the bureau computed: it tells apart, but nobody knows it."
        ),
        "education": Judgement(QUASI, "public", "The highest school is in profiles; a census core topic."),
        "education_num": Judgement(QUASI, "public", "Education once more, in numbers: as knowable as the words."),
        "marital": Judgement(QUASI, "public", "Registers and neighbours know it; a census core topic."),
        "occupation": Judgement(QUASI, "public", "In profiles and on cards; a census core topic."),
        "relationship": Judgement(
            QUASI, "acquaintance", "Place in the household: neighbours know; a census core topic."
        ),
        "race": Judgement(QUASI, "public", "Seen by all who meet the person."),
        "sex": Judgement(QUASI, "public", "Seen by all who meet the person."),
        "capital_gain": Judgement(SENSITIVE, "insider", "Between a person and the tax office."),
        "capital_loss": Judgement(SENSITIVE, "insider", "Between a person and the tax office."),
        "hr_per_week": Judgement(OTHER, "insider", "Hours of one week: changes, and is known exactly to few."),
        "country": Judgement(QUASI, "public", "Country of birth: friends and registers know it; a census core topic."),
        "income": Judgement(SENSITIVE, "insider", "What is to be predicted and protected."),
    },
)

DIABETES = Truth(
    of_persons=True,
    reason="A row is an event (a measurement, a dose, a meal) in the diary of one of the patients.",
    columns={
        "date": Judgement(
            QUASI, "acquaintance", "The day of an event of the patient: HIPAA's list; family knows meals."
        ),
        "time": Judgement(QUASI, "acquaintance", "The hour of the event: who was there knows it."),
        "code": Judgement(SENSITIVE, "insider", "What was done, insulin or sport: the treatment."),
        "value": Judgement(SENSITIVE, "insider", "Blood glucose or dose: a measurement."),
    },
)

_EXAMINED = "Found by an examination: the patient's health, known to the clinic."
HEART = Truth(
    of_persons=True,
    reason="A row is a patient examined for heart disease.",
    columns={
        "age": Judgement(QUASI, "acquaintance", "Known from birthdays and registers; in every list."),
        "sex": Judgement(QUASI, "public", "Seen by all who meet the person."),
        "cp": Judgement(SENSITIVE, "insider", "The kind of pain, as told to the doctor."),
        **{
            name: Judgement(SENSITIVE, "insider", _EXAMINED)
            for name in ("trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak", "slope", "ca", "thal")
        },
        "num": Judgement(SENSITIVE, "insider", "The diagnosis: what is to be predicted and protected."),
    },
)

NURSERY = Truth(
    of_persons=True,
    reason="A row is a family that applied for a nursery place.",
    columns={
        "parents": Judgement(QUASI, "acquaintance", "The parents' occupation: a census core topic."),
        "has_nurs": Judgement(OTHER, "insider", "How the child is cared for so far, as the office graded it."),
        "form": Judgement(
            QUASI, "acquaintance", "Whether the family is complete: neighbours know; a census core topic."
        ),
        "children": Judgement(QUASI, "acquaintance", "How many children: neighbours count them."),
        "housing": Judgement(QUASI, "acquaintance", "How the family lives: who visits or passes sees it."),
        "finance": Judgement(QUASI, "acquaintance", "How the family stands: neighbours and employers have a notion."),
        "social": Judgement(SENSITIVE, "insider", "The office's grade of social trouble."),
        "health": Judgement(SENSITIVE, "insider", "The office's grade of health."),
        "class": Judgement(SENSITIVE, "insider", "The decision on the application, made from all others."),
    },
)

_OF_A_CAR = "A property of a kind of car; `persons` is how many seats it has."
CAR = Truth(
    of_persons=False,
    reason="Every combination of six properties of cars, once each, with a mark: nobody is in it.",
    columns={
        name: Judgement(OTHER, "nobody", _OF_A_CAR)
        for name in ("buying", "maint", "doors", "persons", "lug_boot", "safety", "eval")
    },
)

_MUSHROOM = (
    "edible? cap-shape cap-surface cap-color bruises? odor gill-attachment gill-spacing gill-size gill-color "
    "stalk-shape stalk-root stalk-surface-above-ring stalk-surface-below-ring stalk-color-above-ring "
    "stalk-color-below-ring veil-type veil-color ring-number ring-type spore-print-color population habitat"
)
MUSHROOM = Truth(
    of_persons=False,
    reason="A row describes a mushroom.",
    columns={name: Judgement(OTHER, "nobody", "A property of a mushroom.") for name in _MUSHROOM.split()},
)

TRUTH_E: Mapping[str, Truth] = {
    "adult": ADULT,
    "diabetes": DIABETES,
    "heart": HEART,
    "nursery": NURSERY,
    "car": CAR,
    "mushroom": MUSHROOM,
}
"""What somebody outside could know of a person."""


def _but(truth: Truth, **changed: Judgement) -> Truth:
    """Judge some columns otherwise."""
    return replace(truth, columns={name: changed.get(name, judged) for name, judged in truth.columns.items()})


TRUTH_P: Mapping[str, Truth] = {
    "adult": _but(
        ADULT,
        education_num=Judgement(OTHER, "public", "Education once more, which the usual eight leave out."),
        relationship=Judgement(
            OTHER, "acquaintance", "Not among the usual eight; sex and marital status nearly tell it."
        ),
    ),
    "diabetes": DIABETES,
    "heart": HEART,
    "nursery": _but(
        NURSERY,
        parents=Judgement(SENSITIVE, "acquaintance", "The source lists it among the sensitive attributes."),
    ),
}
"""What the source's figures allow as its own truth."""
