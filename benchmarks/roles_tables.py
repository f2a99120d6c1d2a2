"""Eight made-up tables, as text a CSV file holds, on which the recogniser of roles is judged; about nobody real.

Who is who in them is written down in roles_truth.py. Every table is text in every cell (None where
there is nothing), so that a CSV file of it reads back to the same frame.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl

# ICD code, department, mean age, its deviation, share of women, mean days, euros a day, weight.
_DIAGNOSES = [
    ("I21.4", "Kardiologie", 68, 11, 0.35, 6, 780, 9),
    ("I50.1", "Kardiologie", 76, 9, 0.48, 9, 610, 10),
    ("I48.0", "Kardiologie", 71, 10, 0.45, 4, 640, 7),
    ("I63.9", "Neurologie", 73, 11, 0.47, 11, 690, 6),
    ("G40.9", "Neurologie", 45, 20, 0.46, 4, 560, 3),
    ("S72.0", "Unfallchirurgie", 80, 9, 0.70, 13, 730, 7),
    ("S82.6", "Unfallchirurgie", 46, 17, 0.50, 5, 690, 5),
    ("K35.8", "Allgemeinchirurgie", 31, 15, 0.47, 3, 820, 6),
    ("K80.2", "Allgemeinchirurgie", 55, 15, 0.63, 4, 760, 6),
    ("J18.9", "Innere Medizin", 70, 16, 0.44, 8, 520, 10),
    ("E11.7", "Innere Medizin", 67, 11, 0.43, 9, 480, 5),
    ("F10.3", "Psychiatrie", 47, 11, 0.26, 9, 350, 4),
    ("F32.2", "Psychiatrie", 44, 15, 0.62, 31, 310, 4),
    ("O80", "Geburtshilfe", 31, 5, 1.00, 3, 590, 9),
    ("C50.4", "Gynäkologie", 61, 12, 0.99, 5, 840, 4),
    ("J20.9", "Kinderheilkunde", 4, 3, 0.45, 3, 540, 5),
]
_FUNDS = {"AOK PLUS": 9, "TK": 6, "Barmer": 5, "DAK": 4, "IKK classic": 3, "privat": 4, "BG": 1}
_BROWSERS = {
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{}.0.0.0 Safari/537.36": 5,
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_{} like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1": 3,
    "Mozilla/5.0 (Linux; Android 13; SM-A{}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/121.0 Mobile": 3,
    "Mozilla/5.0 (X11; Linux x86_64; rv:{}.0) Gecko/20100101 Firefox/{}.0": 1,
}
_COMMUNES = {
    ("35000", "Rennes"): 6,
    ("35200", "Rennes"): 5,
    ("35700", "Rennes"): 4,
    ("35510", "Cesson-Sévigné"): 3,
    ("35135", "Chantepie"): 2,
    ("35136", "Saint-Jacques-de-la-Lande"): 2,
    ("35170", "Bruz"): 2,
    ("35740", "Pacé"): 1.5,
    ("35760", "Saint-Grégoire"): 1.5,
    ("35830", "Betton"): 1.5,
    ("35230", "Noyal-Châtillon-sur-Seiche"): 1,
    ("35650", "Le Rheu"): 1,
    ("01000", "Bourg-en-Bresse"): 0.2,
}
_NOMS = """
Martin Bernard Thomas Petit Robert Richard Durand Dubois Moreau Laurent Simon Michel Lefèvre Leroy Roux David Bertrand
Morel Fournier Girard Bonnet Dupont Lambert Fontaine Rousseau Vincent Muller Faure André Mercier Blanc Guérin Boyer
Garnier Chevalier François Legrand Gauthier Perrin Robin Clément Morin Nicolas Henry Roussel Mathieu Gautier Masson
Marchand Duval Denis Dumont Marie Lemaire Noël Meyer Dufour Meunier Brun Blanchard Giraud Joly Rivière Lucas Brunet
"""
_PRENOMS = {
    "F": "Marie Camille Léa Manon Chloé Inès Jeanne Nathalie Isabelle Sylvie Catherine Anne Sophie Élodie Zoé",
    "H": "Pierre Jean Louis Hugo Lucas Théo Nicolas Julien Philippe Michel Alain Éric Olivier Noé Yann",
}
# Single, married, living together, divorced, widowed, by young, middle and old.
_MARITAL = [{1: 70, 2: 10, 3: 19, 4: 1}, {1: 22, 2: 55, 3: 11, 4: 11, 5: 1}, {1: 7, 2: 58, 3: 3, 4: 12, 5: 20}]
# Department -> its titles from junior to senior with the grade of each, share of women, weight.
_PARTS = {
    "Production": (["Machine Operator", "Shift Supervisor", "Plant Engineer"], [3, 6, 9], 0.2, 9),
    "Logistics": (["Warehouse Clerk", "Driver", "Logistics Manager"], [2, 3, 8], 0.25, 5),
    "Sales": (["Sales Assistant", "Account Manager", "Head of Sales"], [4, 7, 11], 0.5, 4),
    "Finance": (["Accountant", "Controller", "Head of Finance"], [5, 8, 11], 0.55, 2),
    "IT": (["Support Technician", "Software Developer", "IT Architect"], [5, 8, 10], 0.2, 3),
    "Human Resources": (["HR Assistant", "HR Partner", "Head of HR"], [4, 7, 11], 0.75, 1),
    "Research": (["Lab Technician", "Scientist", "Principal Scientist"], [5, 9, 11], 0.45, 2),
}


def _frame(columns: Mapping[str, Iterable[Any]]) -> pl.DataFrame:
    """Make text of every value, and keep None as what is missing."""
    texts = {name: [None if v is None else str(v) for v in values] for name, values in columns.items()}
    return pl.DataFrame(texts, schema=dict.fromkeys(texts, pl.String))


def _draw(rng: np.random.Generator, weights: Mapping[Any, float], n_rows: int) -> list[Any]:
    """Draw values by their weights."""
    shares = np.array(list(weights.values()), dtype=float)
    values = list(weights)
    return [values[i] for i in rng.choice(len(values), n_rows, p=shares / shares.sum())]


def _one(rng: np.random.Generator, weights: Mapping[Any, float]) -> Any:
    """Draw one value by its weight."""
    return _draw(rng, weights, 1)[0]


def _holes(rng: np.random.Generator, values: Iterable[Any], *, missing_rate: float) -> list[Any]:
    """Lose some of the values."""
    return [None if rng.random() < missing_rate else value for value in values]


def _comma(amount: float) -> str:
    """Write an amount with a decimal comma."""
    return f"{amount:.2f}".replace(".", ",")


def _stamps(rng: np.random.Generator, n_rows: int, *, days: int) -> list[int]:
    """Draw seconds since the first of March 2024, more in the evening than by night, in order."""
    hours = rng.choice(24, n_rows, p=np.array([1, 1, 1, 1, 1, 2, *[5] * 10, *[8] * 7, 3]) / 116)
    return sorted(rng.integers(0, days, n_rows) * 86400 + hours * 3600 + rng.integers(0, 3600, n_rows))


def _zipf(n_values: int) -> np.ndarray:
    """Shares of a few busy ones and many rare ones."""
    shares = 1 / (5 + np.arange(n_values))
    return shares / shares.sum()


def hospital(n_rows: int = 2000, *, seed: int = 0) -> pl.DataFrame:
    """Stays of one year in a German hospital; about one patient in five comes again, for the same department."""
    rng = np.random.default_rng(seed)
    n_patients = max(1, round(0.85 * n_rows))
    areas = {f"04{100 + 2 * i + i % 3}": 1 / (1 + i / 6) for i in range(60)} | {"06108": 0.3, "01067": 0.2}
    cases = _draw(rng, {case: case[-1] for case in _DIAGNOSES}, n_patients)
    ages = [float(np.clip(rng.normal(case[2], case[3]), 0.1, 98)) for case in cases]
    births = [date(2023, 1, 1) - timedelta(days=round(365.25 * age)) for age in ages]
    sexes = ["w" if rng.random() < case[4] else "m" for case in cases]
    homes = _holes(rng, _draw(rng, areas, n_patients), missing_rate=0.01)
    funds = _draw(rng, _FUNDS, n_patients)
    who = rng.permutation(np.concatenate([np.arange(n_patients), rng.integers(0, n_patients, n_rows)])[:n_rows])
    last = {p: number for number, p in enumerate(who)}
    rows = []
    for number, (p, day) in enumerate(zip(who, sorted(rng.integers(0, 365, n_rows)), strict=True)):
        _, ward, mean_age, _, _, stay, daily, _ = cases[p]
        code = cases[p][0] if rng.random() < 0.9 else _one(rng, {c[0]: c[7] for c in _DIAGNOSES if c[1] == ward})
        days = 1 + int(rng.poisson(stay * (0.7 + 0.3 * rng.gamma(2, 0.5))))
        hours = int(rng.gamma(1.5, 60)) if mean_age > 60 and rng.random() < 0.06 else 0
        admitted = date(2023, 1, 1) + timedelta(days=int(day))
        died = number == last[p] and rng.random() < 0.0008 * ages[p]
        rows.append(
            {
                "Fallnummer": f"F23{number + 10417:06d}",
                "Patientennummer": f"{7 * int(p) + 300211:08d}",
                "Geburtsdatum": f"{births[p]:%d.%m.%Y}",
                "Geschlecht": sexes[p],
                "PLZ": homes[p],
                "Aufnahmedatum": f"{admitted:%d.%m.%Y}",
                "Entlassungsdatum": f"{admitted + timedelta(days=days):%d.%m.%Y}",
                "Aufnahmeart": _one(rng, {"Notfall": 5 + (mean_age > 65), "Einweisung": 5, "Verlegung": 1}),
                "Fachabteilung": ward,
                "Hauptdiagnose (ICD)": code,
                "Beatmungsstunden": hours,
                "Entlassungsgrund": "verstorben" if died else _one(rng, {"regulär": 9, "Reha": 1, "verlegt": 1}),
                "Versicherung": funds[p],
                "Kosten (EUR)": _comma(days * daily * rng.uniform(0.9, 1.3) + 38 * hours),
            }
        )
    return _frame({name: [row[name] for row in rows] for name in rows[0]})


def school(n_rows: int = 1800, *, seed: int = 0) -> pl.DataFrame:
    """Pupils of six schools in one year; marks depend on ability, ability a little on the home."""
    rng = np.random.default_rng(seed)
    # School, its postcode, share of pupils with a migration background.
    schools = [("Lindenschule", 40211, 0.5), ("Gymnasium am Park", 40221, 0.2), ("Gesamtschule Nord", 40472, 0.45)]
    schools += [("Realschule West", 40547, 0.35), ("Goethe-Gymnasium", 40237, 0.15), ("Hauptschule Süd", 40599, 0.6)]
    at = rng.choice(6, n_rows, p=[0.1, 0.22, 0.26, 0.16, 0.18, 0.08])
    grade = rng.integers(5, 11, n_rows)
    moved = rng.random(n_rows) < np.array([s[2] for s in schools])[at]
    siblings = rng.poisson(1.0 + 0.6 * moved)
    lunch = rng.random(n_rows) < 0.06 + 0.12 * moved + 0.04 * siblings
    sex = rng.choice(["f", "m"], n_rows)
    ability = rng.normal(0, 1, n_rows) - 0.5 * lunch + 0.6 * np.isin(at, [1, 4])
    late = rng.random(n_rows) < 0.12 + 0.05 * lunch

    def marks(lift: np.ndarray) -> np.ndarray:
        return np.clip(np.rint(3.1 - 0.8 * ability - lift + rng.normal(0, 0.6, n_rows)), 1, 6).astype(int)

    near = rng.integers(0, 4, n_rows) * 2 * (rng.random(n_rows) < 0.6)
    return _frame(
        {
            "pupil_id": 100000 + rng.permutation(9 * n_rows)[:n_rows],
            "school": [schools[i][0] for i in at],
            "class": [f"{g}{'abcd'[i]}" for g, i in zip(grade, rng.integers(0, 3, n_rows), strict=True)],
            "sex": sex,
            "age": grade + 5 + (rng.random(n_rows) < 0.5) + late,
            "postcode": [schools[i][1] + d for i, d in zip(at, near, strict=True)],
            "migration_background": np.where(moved, "yes", "no"),
            "siblings": siblings,
            "mark_maths": marks(0.15 * (sex == "m")),
            "mark_german": marks(0.25 * (sex == "f") - 0.2 * moved),
            "mark_english": _holes(rng, marks(0.1 * (sex == "f")), missing_rate=0.03),
            "days_absent": rng.poisson(4 + 3 * lunch + 0.5 * (grade - 5)),
            "free_lunch": np.where(lunch, 1, 0),
            "school_year": ["2022/23"] * n_rows,
        }
    )


def payroll(n_rows: int = 1500, *, seed: int = 0) -> pl.DataFrame:
    """A company with four sites: department tells the titles, title and years of service the grade, grade the pay."""
    rng = np.random.default_rng(seed)
    sites = {"Hamburg": 5, "Leeds": 3, "Lyon": 2, "Brno": 3}
    rows = []
    for number in rng.permutation(n_rows):
        part = _one(rng, {name: p[3] for name, p in _PARTS.items()})
        titles, grades, women, _ = _PARTS[part]
        age = int(np.clip(rng.normal(42, 11), 18, 66))
        served = min(rng.exponential(8), age - 17.5)
        step = _one(rng, {0: 10, 1: 2 + served / 2, 2: 0.02 * (age - 18)})
        sex = "F" if rng.random() < women else "M"
        hours = 40 if rng.random() > (0.35 if sex == "F" else 0.07) else rng.choice([20, 25, 30, 32])
        grade = grades[step] + (served > 10)
        pay = round((21000 + 5200 * grade) * (1 + 0.008 * served) * rng.normal(1, 0.04) * hours / 40, -1)
        rows.append(
            {
                "employee_no": f"E{20000 + number}",
                "iban": f"DE{rng.integers(10, 99)}{rng.integers(10**17, 10**18)}",
                "birth_year": 2023 - age,
                "sex": sex,
                "hire_date": date(2023, 12, 31) - timedelta(days=int(365.25 * served)),
                "department": part,
                "job_title": titles[step],
                "site": _one(rng, sites if part in ("Production", "Logistics") else {"Hamburg": 8, "Leeds": 1}),
                "pay_grade": f"G{grade}",
                "weekly_hours": hours,
                "base_salary": f"{pay:.2f}",
                "bonus": f"{pay * max(0, rng.normal(0.02 * step + 0.03, 0.02)):.2f}",
                "sick_days": rng.poisson(5 + 0.06 * age),
                "currency": "EUR",
            }
        )
    return _frame({name: [row[name] for row in rows] for name in rows[0]})


def web_log(n_rows: int = 4000, *, seed: int = 0) -> pl.DataFrame:
    """Requests to a news site in two weeks: a visitor keeps address, browser and country, a visit its cookie."""
    rng = np.random.default_rng(seed)
    n_visitors, n_visits = max(1, n_rows // 12), max(1, n_rows // 4)
    paths = [f"/{part}/{i}" for part in ("politics", "sport", "health", "local", "money") for i in range(1, 60)]
    popular = {path: 1 / (1 + i) for i, path in enumerate(["/", "/search", "/login", *rng.permutation(paths)])}
    places = _draw(rng, {"DE": 60, "AT": 12, "CH": 10, "FR": 4, "US": 4, "PL": 3, "NL": 3, "TR": 2}, n_visitors)
    agents = [a.replace("{}", str(rng.integers(110, 125))) for a in _draw(rng, _BROWSERS, n_visitors)]
    # 198.18.0.0/15 belongs to nobody: RFC 2544 keeps it for trials.
    addresses = [f"198.{18 + i % 2}.{rng.integers(256)}.{rng.integers(1, 255)}" for i in range(n_visitors)]
    cookies = [rng.bytes(16).hex() for _ in range(n_visits)]
    visitor = rng.choice(n_visitors, n_visits, p=_zipf(n_visitors))
    starts = _stamps(rng, n_visits, days=14)
    doors = {"-": 6, "https://www.google.com/": 5, "https://www.bing.com/": 1, "https://news.example.org/": 1}
    came_from = _draw(rng, doors, n_visits)
    visit = np.concatenate([np.arange(n_visits), rng.integers(0, n_visits, n_rows)])[:n_rows]
    later = np.where(np.arange(n_rows) < n_visits, 0, rng.exponential(240, n_rows)).astype(int)
    seconds = np.array(starts)[visit] + later
    order = np.argsort(seconds, kind="stable")
    seconds, visit = seconds[order], visit[order]
    path = np.array(_draw(rng, popular, n_rows))
    status = np.array(_draw(rng, {200: 92, 304: 4, 404: 3, 500: 0.3}, n_rows))
    size = np.where(status == 200, 5000 + 400 * np.array([len(p) for p in path]) + rng.gamma(2, 6000, n_rows), 312)
    first = datetime(2024, 3, 1, tzinfo=UTC)
    return _frame(
        {
            "timestamp": [f"{first + timedelta(seconds=int(s)):%Y-%m-%dT%H:%M:%SZ}" for s in seconds],
            "session_id": [cookies[v] for v in visit],
            "ip": [addresses[visitor[v]] for v in visit],
            "user_agent": [agents[visitor[v]] for v in visit],
            "method": np.where(path == "/login", "POST", "GET"),
            "path": path,
            "status": status,
            "bytes": size.astype(int),
            "country": [places[visitor[v]] for v in visit],
            "referrer": [came_from[v] for v in visit],
        }
    )


def survey(n_rows: int = 2000, *, seed: int = 0) -> pl.DataFrame:
    """Interviews in codes: answers lean on age and sex; the weight makes up for who answers too rarely."""
    rng = np.random.default_rng(seed)
    region = np.array(_draw(rng, dict(enumerate([13, 16, 4, 3, 1, 2, 8], 1)), n_rows))
    # 1 to 3 men, 4 to 6 women: young, middle, old.
    sexage = np.array(_draw(rng, {1: 12, 2: 20, 3: 17, 4: 12, 5: 21, 6: 18}, n_rows))
    age = (sexage - 1) % 3
    married = np.array([_one(rng, _MARITAL[a]) for a in age])
    household = np.clip(1 + rng.poisson(np.where(married == 2, 1.4, 0.4)), 1, 7)
    lean = rng.normal(0, 1, n_rows) + 0.4 * (age - 1)

    def answers(slope: float, top: int) -> list[Any]:
        place = (top + 1) / 2 + slope * lean + rng.normal(0, top / 4, n_rows)
        return _holes(rng, np.clip(np.rint(place), 1, top).astype(int), missing_rate=0.02)

    income = np.clip(np.rint(2 + household * 0.7 + (married == 2) + rng.normal(0, 1.2, n_rows)), 1, 7).astype(int)
    party = np.clip(np.rint(3.5 + lean + rng.normal(0, 1.3, n_rows)), 1, 7).astype(int)
    share = {(r, s): rng.uniform(0.5, 1.9) for r in range(1, 8) for s in range(1, 7)}
    weight = [share[r, s] * rng.normal(1, 0.01) for r, s in zip(region, sexage, strict=True)]
    return _frame(
        {
            "intnr": 50001 + np.arange(n_rows),
            "wt": [f"{w:.4f}" for w in weight],
            "region": region,
            "sexage": sexage,
            "d1": married,
            "hhsize": household,
            **{f"q{i}": answers(slope, 5) for i, slope in enumerate([0.3, -0.5, 0.2, 0.6, 0.0, -0.2], 1)},
            "q7": answers(0.9, 7),
            "q8": np.clip(np.rint(1.5 + 0.6 * age + rng.gamma(1, 0.7, n_rows)), 1, 5).astype(int),
            "q9": _holes(rng, income, missing_rate=0.12),
            "q10": _holes(rng, party, missing_rate=0.1),
        }
    )


def sensors(n_rows: int = 3000, *, seed: int = 0) -> pl.DataFrame:
    """Readings of a cold store's devices, half-hourly: a daily wave, batteries that run down, a device that fails."""
    rng = np.random.default_rng(seed)
    n_devices = 24
    device, tick = np.arange(n_rows) % n_devices, np.arange(n_rows) // n_devices
    set_point = np.array([-18, 4, 12])[device % 3]
    wave = np.sin(2 * np.pi * tick / 48)
    warm = set_point + 0.8 * wave + rng.normal(0, 0.3, n_rows) + 9 * ((device == 7) & (tick > 60))
    volts = 3.31 - 0.0008 * tick - 0.01 * (device % 5) + rng.normal(0, 0.004, n_rows)
    state = np.where(warm > set_point + 5, "ALARM", np.where(volts < 3.2, "LOW_BATTERY", "OK"))
    first = datetime(2024, 5, 6, tzinfo=UTC)
    return _frame(
        {
            "device_id": [f"TH-{d + 1:04d}" for d in device],
            "timestamp": [f"{first + timedelta(minutes=30 * int(t)):%Y-%m-%d %H:%M:%S}" for t in tick],
            "zone": np.array(["freezer", "dairy", "ripening"])[device % 3],
            "temperature": _holes(rng, np.round(warm, 1), missing_rate=0.01),
            "humidity": np.round(np.clip(82 - 0.7 * set_point - 4 * wave + rng.normal(0, 2, n_rows), 20, 100), 1),
            "voltage": [f"{v:.3f}" for v in volts],
            "rssi": -60 - 2 * (device % 9) - rng.poisson(3, n_rows),
            "firmware": np.where(device < 16, "2.4.1", np.where(tick > 50, "2.4.1", "2.3.0")),
            "uptime_s": 1800 * tick + 4000 + 11 * device,
            "status": state,
        }
    )


def members(n_rows: int = 1200, *, seed: int = 0) -> pl.DataFrame:
    """Members of a French sports club: families share name and home, age tells the job and the fee."""
    rng = np.random.default_rng(seed)
    homes = _draw(rng, _COMMUNES, n_rows)
    # 06 39 98 belongs to nobody: the French regulator keeps it for films.
    phones = rng.choice(10_000, n_rows, replace=n_rows > 10_000)
    works = {"employé": 8, "cadre": 6, "ouvrier": 5, "enseignant": 3, "infirmier": 3, "artisan": 2, "ingénieur": 3}
    rows: list[dict[str, Any]] = []
    for number in range(n_rows):
        kin = bool(rows) and rng.random() < 0.4
        name = rows[-1]["Nom"] if kin else rng.choice(_NOMS.split())
        post, town = (rows[-1]["Code postal"], rows[-1]["Commune"]) if kin else homes[number]
        sex = rng.choice(["F", "H"])
        first_name = rng.choice(_PRENOMS[sex].split())
        age = rng.uniform(6, 17) if kin and rng.random() < 0.6 else float(np.clip(rng.normal(41, 16), 8, 86))
        student, retired = age < rng.uniform(18, 24), age > rng.uniform(60, 65)
        work = "élève" if age < 18 else "étudiant" if student else "retraité" if retired else _one(rng, works)
        reduced = work in ("élève", "étudiant")
        sports = {"judo": 5 if reduced else 1, "natation": 4, "yoga": 0 if reduced else 4, "tennis": 3}
        joined = date(2024, 1, 1) - timedelta(days=int(365 * min(rng.exponential(4), age - 5)))
        rows.append(
            {
                "Numéro d'adhérent": f"A-{number + 1041:05d}",
                "Nom": name,
                "Prénom": first_name,
                "Sexe": sex,
                "Date de naissance": f"{date(2024, 1, 1) - timedelta(days=round(365.25 * age)):%d/%m/%Y}",
                "Code postal": post,
                "Commune": town,
                "Profession": work,
                "Section": _one(rng, sports),
                "Date d'adhésion": f"{joined:%d/%m/%Y}",
                "Cotisation": _comma((85 if reduced else 150 if retired else 180) - 15 * kin),
                "Mode de paiement": _one(rng, {"chèque": 3, "virement": 3, "prélèvement": 4, "espèces": 1}),
                "Courriel": f"{first_name}.{name}{number}@example.org".lower().replace(" ", ""),
                "Téléphone": f"063998{phones[number]:04d}",
            }
        )
    frame = _frame({name: [row[name] for row in rows] for name in rows[0]})
    return frame.with_columns(pl.Series("Courriel", _holes(rng, frame["Courriel"], missing_rate=0.08), dtype=pl.String))


def ratings(n_rows: int = 4000, *, seed: int = 0) -> pl.DataFrame:
    """Ratings of films in long form: a user's person columns stand in every row, taste leans on age and sex."""
    rng = np.random.default_rng(seed)
    n_users, n_items = max(1, n_rows // 16), 600
    age = np.clip(rng.normal(33, 12, n_users), 13, 75).astype(int)
    sex = rng.choice(["F", "M"], n_users, p=[0.35, 0.65])
    works = {"programmer": 5, "educator": 4, "clerical": 4, "executive": 3, "sales": 3, "artist": 2, "doctor": 1}
    job = ["student" if a < 22 else "retired" if a > 63 else _one(rng, works) for a in age]
    home = [f"{rng.choice([2138, 10025, 55105, 60115, 94043, 98101]) + rng.integers(0, 40):05d}" for _ in age]
    genres = {"Drama": 9, "Comedy": 8, "Action": 6, "Horror": 2, "Romance": 4, "Documentary": 2}
    genre = np.array(_draw(rng, genres, n_items))
    quality = rng.normal(3.4, 0.6, n_items)
    user = np.sort(rng.choice(n_users, n_rows, p=_zipf(n_users)))
    item = rng.choice(n_items, n_rows, p=_zipf(n_items))
    female = sex[user] == "F"
    liking = 0.5 * (genre[item] == "Romance") * female - 0.02 * (genre[item] == "Horror") * (age[user] - 30)
    joined = rng.integers(946684800, 1009843200, n_users)
    return _frame(
        {
            "user_id": user + 1,
            "gender": sex[user],
            "age": age[user],
            "occupation": [job[u] for u in user],
            "zip_code": [home[u] for u in user],
            "item_id": item + 1,
            "genre": genre[item],
            "rating": np.clip(np.rint(quality[item] + liking + rng.normal(0, 0.8, n_rows)), 1, 5).astype(int),
            "timestamp": joined[user] + rng.exponential(9000, n_rows).astype(int),
            "device": np.where(rng.random(n_rows) < 0.02 * (60 - age[user]), "phone", "web"),
        }
    )


TABLES: Mapping[str, Callable[..., pl.DataFrame]] = {
    make.__name__: make for make in (hospital, school, payroll, web_log, survey, sensors, members, ratings)
}
"""How every made-up table is made: `TABLES[name](n_rows, seed=seed)`."""
