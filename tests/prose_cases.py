"""A made-up extract of a hospital: visits with findings in German sentences, some of which name people."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import polars as pl

_FIRST = ("Anna", "Ben", "Clara", "David", "Emma", "Felix", "Greta", "Hannes", "Ida", "Jonas", "Katrin", "Lukas")
_LAST = ("Ahrens", "Bergmann", "Clausen", "Dietrich", "Ehlers", "Fiedler", "Gerlach", "Hinrichs", "Iversen", "Jansen",
         "Kessler", "Lorenz", "Martens", "Nissen", "Ostermann", "Petersen")  # fmt: skip
_PLAIN = (
    "klagt seit {days} Tagen über Schmerzen im {part}, RR {rr}/80",
    "keine Auffälligkeiten, Kontrolle in {days} Tagen empfohlen",
    "Schwellung am {part} rückläufig, Entlassung nach {days} Tagen geplant",
    "Zustand nach Sturz vor {days} Tagen, {part} ohne Frakturnachweis",
)
_PARTS = ("Knie", "Rücken", "Bauch", "Kopf", "Arm")


@dataclass(frozen=True)
class Extract:
    """Visits, and what was planted in the findings of which rows."""

    visits: pl.DataFrame
    titles: frozenset[int]
    phones: frozenset[int]
    identified: frozenset[int]

    @property
    def named(self) -> frozenset[int]:
        """Rows whose finding names somebody."""
        return self.titles | self.phones | self.identified


def hospital_extract(n: int, seed: int = 0) -> Extract:
    """Make visits of patients with name, age, sex, ward and finding."""
    random = Random(seed)
    rows, titles, phones, identified = [], set(), set(), set()
    for row in range(n):
        first, last = random.choice(_FIRST), random.choice(_LAST)
        sex = random.choice("wm")
        said = random.choice(_PLAIN).format(
            days=random.randint(1, 60), part=random.choice(_PARTS), rr=random.randint(90, 180)
        )
        roll = random.random()
        if roll < 0.15:
            # The family name stands in the record's own column of names, too.
            said = f"{'Frau' if sex == 'w' else 'Herr'} {last} {said}"
            titles.add(row)
            identified.add(row)
        elif roll < 0.18:
            said = f"{said}; Dr. {random.choice(_LAST)}, Tel. 030/{random.randint(100000, 9999999)}"
            titles.add(row)
            phones.add(row)
        elif roll < 0.22:
            said = f"{said}, mit {first} besprochen"
            identified.add(row)
        rows.append((f"{last}, {first}", random.randint(18, 90), sex, random.choice(("Innere", "Chirurgie")), said))
    visits = pl.DataFrame(rows, schema=["Patient", "Alter", "Geschlecht", "Station", "Befund"], orient="row")
    own = [
        row
        for row, (name, finding) in enumerate(zip(visits["Patient"], visits["Befund"], strict=True))
        if any(word in finding for word in name.split(", "))
    ]
    return Extract(visits, frozenset(titles), frozenset(phones), frozenset(own))
