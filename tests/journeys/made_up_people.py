"""The tables of the journeys: a generator with a seed invents people, and writes them as their owners would."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

FAMILY_NAMES = """
Müller Schröder Öztürk Weiß Jäger Köhler Krämer Böhm Groß Schäfer Ahrens Brandt Claussen Dierks Evers Feddersen Grothe
Hansen Iversen Jessen Kröger Lührs Meinert Nissen Ohlsen Petersen Quast Rohde Struve Thode
"""
GIVEN_NAMES = {
    "w": "Jördis Käthe Frauke Heike Maren Silke Ayla Beate Dörte Elke Gönül Hannah Imke Jutta Wiebke",
    "m": "Jörg Günther Hinnerk Sönke Uwe Björn Cem Detlef Eike Fiete Götz Horst Jürgen Malte Rüdiger",
    "d": "Kim Robin Toni Sascha",
}
DIAGNOSES = """
I10.00 I20.0 I21.4 I25.13 I48.0 I50.14 I63.4 E11.20 E11.90 E86 J12.8 J18.9 J44.19 K21.0 K35.8 K52.9 K80.20 M16.1 M17.1
M54.4 S06.0 S52.50 S72.01 N17.91 N39.0 F10.0 F32.2 C18.7 C34.1 C50.4 G40.2 G45.92
"""
WARDS = {
    "I": "Innere Medizin",
    "E": "Innere Medizin",
    "J": "Pneumologie",
    "K": "Chirurgie",
    "M": "Orthopädie",
    "S": "Unfallchirurgie",
    "N": "Urologie",
    "F": "Psychiatrie",
    "C": "Onkologie",
    "G": "Neurologie",
}


@dataclass(frozen=True)
class Hospital:
    """The files that a hospital exports: the first ten months, then single months in which some patients come again."""

    n_stays: int
    n_patients: int

    def first(self) -> pl.DataFrame:
        """Return the stays of January to October 2024: every patient has one, some have many, as cells of text."""
        rng = np.random.default_rng(60)
        again = rng.choice(self.n_patients, self.n_stays - self.n_patients, p=_few_come_often(self.n_patients))
        patient = np.sort(np.concatenate([np.arange(self.n_patients), again]))
        return self._stays(rng, patient, date(2024, 1, 1), date(2024, 10, 31))

    def month(self, number: int) -> pl.DataFrame:
        """Return the stays of a month, 1 for November 2024: three of ten are of patients of the first file."""
        rng = np.random.default_rng(60 + number)
        n = self.n_stays // 10
        known = rng.choice(self.n_patients, 3 * n // 10, p=_few_come_often(self.n_patients))
        new = self.n_patients + number * n + rng.integers(0, 4 * n // 5, n - len(known))
        first = date(2024 + (9 + number) // 12, (9 + number) % 12 + 1, 1)
        after = date(2024 + (10 + number) // 12, (10 + number) % 12 + 1, 1)
        last = date.fromordinal(after.toordinal() - 1)
        return self._stays(rng, np.sort(np.concatenate([known, new])), first, last)

    def _stays(self, rng: np.random.Generator, patient: Any, first: date, last: date) -> pl.DataFrame:
        n = len(patient)
        people = pl.DataFrame([_patient(int(number)) for number in patient], infer_schema_length=None)
        days = np.sort(rng.integers(first.toordinal(), last.toordinal() + 1, n))
        # Sorted by patient, and by day within a patient, as exports are.
        days = days[rng.permutation(n)]
        known = DIAGNOSES.split()
        diagnoses = [known[each] for each in rng.choice(len(known), n, p=_few_come_often(len(known)))]
        nights = np.where(rng.random(n) < 0.04, 999, 1 + rng.poisson(4, n))
        cost = np.round(rng.lognormal(7.6, 0.7, n), -2)
        return people.with_columns(
            pl.Series("Aufnahmedatum", [date.fromordinal(int(day)).strftime("%d.%m.%Y") for day in days]),
            pl.Series("Verweildauer", [str(each) for each in nights]),
            pl.Series("Fachabteilung", [WARDS[code[0]] for code in diagnoses]),
            pl.Series("Hauptdiagnose", diagnoses),
            pl.Series("Kosten", [f"{each:.2f}".replace(".", ",") for each in cost]),
        )


def _few_come_often(n: int) -> Any:
    shares = 1 / np.arange(3, n + 3) ** 0.6
    return shares / shares.sum()


def _patient(number: int) -> dict[str, str]:
    """Return one patient, who is the same in every file."""
    rng = np.random.default_rng([60, number])
    sex = "wmd"[int(rng.choice(3, p=[0.51, 0.48, 0.01]))]
    born = date(2024, 1, 1).toordinal() - int(np.clip(rng.normal(57, 20), 0, 98) * 365.25)
    is_unknown = rng.random() < 0.03
    family, given = FAMILY_NAMES.split(), GIVEN_NAMES[sex].split()
    return {
        "Patientennummer": f"P{(number * 7919 + 31) % 9_999_991:07d}",
        "Nachname": family[rng.integers(len(family))],
        "Vorname": given[rng.integers(len(given))],
        "Geburtsdatum": date.fromordinal(born).strftime("%d.%m.%Y"),
        "Geschlecht": sex,
        "PLZ": "99999" if is_unknown else f"{rng.integers(20, 30)}{int(rng.integers(0, 10) ** 2) * 7:03d}",
    }


def write_export(frame: pl.DataFrame, path: Path, encoding: str = "cp1252") -> None:
    """Write a table as an old German program does: semicolons, an encoding of its own."""
    text = frame.write_csv(separator=";", line_terminator="\r\n")
    path.write_bytes(text.encode(encoding, errors="replace"))


def survey(n: int) -> pl.DataFrame:
    """Return the answers of a survey with weights: income grows with age and education, as a regression finds."""
    rng = np.random.default_rng(61)
    age = rng.integers(18, 91, n)
    education = rng.choice(["lower", "middle", "higher"], n, p=[0.3, 0.45, 0.25])
    sex = rng.choice(["female", "male"], n)
    region = rng.choice(["north", "east", "south", "west"], n, p=[0.2, 0.15, 0.35, 0.3])
    log_income = (
        9.4 + 0.008 * age + 0.25 * (education == "middle") + 0.6 * (education == "higher") - 0.12 * (sex == "female")
    )
    return pl.DataFrame(
        {
            "respondent": [f"R{number:05d}" for number in rng.permutation(n)],
            "age": age,
            "sex": sex,
            "region": region,
            "education": education,
            "income": np.round(np.exp(rng.normal(log_income, 0.35)), -1).astype(int),
            "trust": rng.integers(0, 11, n),
            # Calibrated, so that it follows from no column.
            "weight": np.round(rng.gamma(8, 1 / 8, n) + 0.3, 1),
        }
    )


def nights(number: int, n: int) -> pl.DataFrame:
    """Return what members of a car pool drove in a night, with types: half of them drove the night before, too."""
    rng = np.random.default_rng([62, number])
    # Most drive once a night, some several times.
    drivers = rng.choice(np.arange(number * n // 3, number * n // 3 + 2 * n // 3), n)
    born = 1945 + (drivers * 7_919) % 60
    area = np.array(["harbour", "centre", "hills", "fields", "airport"])[(drivers * 31) % 97 % 5]
    day = date(2026, 11, 1).toordinal() + number
    return pl.DataFrame(
        {
            "member": [f"M{driver:06d}" for driver in drivers],
            "birth_year": born,
            "sex": np.where(drivers % 2 == 0, "female", "male"),
            "area": area,
            "tariff": np.where(drivers % 7 == 0, "business", np.where(drivers % 3 == 0, "young", "basic")),
            "night": [date.fromordinal(day)] * n,
            "reason": rng.choice(["work", "leisure", "doctor", "shopping"], n, p=[0.4, 0.3, 0.1, 0.2]),
        }
    ).sort("member")


REGION_LIST = "1\n@11\n@12\n@13\n2\n@21\n@22\n"
"""The regions of `jobs`, as tau-Argus lists them."""


def jobs(n: int) -> pl.DataFrame:
    """Return jobs of employees, some of whom have two; in one cell, three records are of two persons."""
    rng = np.random.default_rng(63)
    employee = np.concatenate([np.arange(3 * n // 4), rng.integers(0, 3 * n // 4, n - 3 * n // 4)])
    sector = np.array(list("ABCFGHMPQ"))[(employee * 37) % 101 % 9]
    # A second job is in the sector of the first as often as not.
    sector = np.where((np.arange(n) < 3 * n // 4) | (rng.random(n) < 0.5), sector, rng.choice(list("ABCFGHMPQ"), n))
    frame = pl.DataFrame(
        {
            "employee": [f"E{number * 37 % 99_991:05d}" for number in employee],
            "region": np.array(["11", "12", "13", "21", "22"])[(employee * 13) % 89 % 5],
            "sector": sector,
            "age_group": np.array(["15-24", "25-39", "40-54", "55-64"])[(employee * 7) % 61 % 4],
            "sex": np.where(employee % 2 == 0, "f", "m"),
            "hours": rng.choice(["full", "part"], n, p=[0.7, 0.3]),
            "wage": (100 * np.round(rng.lognormal(3.3, 0.4, n))).astype(int),
        }
    )
    cell = {"region": "22", "sector": "U", "age_group": "65+", "sex": "m", "hours": "part"}
    rare = pl.DataFrame(
        [
            {"employee": who, **cell, "wage": 1_000 + 100 * place}
            for place, who in enumerate(["E99991", "E99991", "E99992"])
        ]
    )
    return pl.concat([frame, rare.cast(frame.schema)]).sort("employee")
