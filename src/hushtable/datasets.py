"""Made-up people tables for examples, tests and benchmarks: realistic in shape, about nobody real."""

import unicodedata
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

__all__ = ["PEOPLE_ROLES", "hospital", "people", "ratings", "visits"]

PEOPLE_ROLES: Mapping[str, str] = MappingProxyType(
    {
        "name": "identifier",
        "email": "identifier",
        "birth_date": "quasi-identifier",
        "sex": "quasi-identifier",
        "postcode": "quasi-identifier",
        "education": "quasi-identifier",
        "marital_status": "quasi-identifier",
        "occupation": "quasi-identifier",
        "nationality": "quasi-identifier",
        "income": "sensitive",
        "diagnosis": "sensitive",
        "visit_date": "other",
        "blood_pressure": "other",
    }
)
"""The true role of every column of `people`, in column order."""

_MISSING = {
    "email": 0.04,
    "education": 0.03,
    "occupation": 0.02,
    "nationality": 0.02,
    "income": 0.04,
    "blood_pressure": 0.05,
}

_FEMALE_NAMES = """
Anna Maria Sofia Emma Olivia Léa Chloé Zoë Ingrid Astrid Freya Katarzyna Agnieszka Olga Irina Elena Ioana Yasmin Fatima
Aisha Leyla Zeynep Priya Ananya Mei Yuki Hana Linh Ngozi Amara Carmen Lucía Inês Giulia Chiara Grace Hannah Ruth Petra
"""
_MALE_NAMES = """
Jan Lukas Paul Noah Liam José Luis Diego João Marco Luca Matteo Pierre André Louis Lars Sven Erik Piotr Tomasz Ivan
Dmitri Andrei Mihai Omar Ahmed Yusuf Mehmet Emre Arjun Rohan Wei Kenji Haruto Minh Chidi Kwame Samuel David Jürgen
"""
_FAMILY_NAMES = """
Müller Schmidt Fischer Weber Wagner Smith Jones Brown García Martín López Fernández Silva Santos Costa Rossi Russo
Dubois Moreau Laurent Janssen Visser Bakker Jensen Hansen Larsen Andersson Lindqvist Virtanen Nowak Kowalska Zielinska
Novák Horváth Nagy Popescu Ionescu Petrov Ivanova Kovalenko Marković Papadopoulos Çelik Demir Kaya Hassan Haddad
Rahman Khan Sharma Patel Nguyen Tran Chen Wang Tanaka Sato Kim Park Okafor Mensah Diallo Tesfaye
"""
_DOMAINS = ("example.com", "example.org", "example.net")

# Some regions start with 0, so reading a postcode as a number loses a digit.
_REGIONS = ("20", "01", "50", "80", "04", "60", "10", "70", "07", "33", "45", "99")
_POSTCODES = [f"{region}{number:03d}" for region in _REGIONS for number in range(17, 1000, 99)]

_NATIONALITIES = """
Germany Turkey Poland Ukraine Romania Syria Italy Croatia Bulgaria Greece Afghanistan Serbia Iraq Hungary Spain India
France China Austria Netherlands Portugal Vietnam Nigeria Brazil Iceland
"""

_SEXES = {"female": 0.506, "male": 0.489, "diverse": 0.005}

# Lower ends of all age bands but the first: 17-19, 20-24, 25-39, 40-66, 67-95.
# Tables "by band" have a column for each of these five.
_AGE_BANDS = (20, 25, 40, 67)
_EDUCATION_BY_BAND = {
    "none": (1, 1, 1, 2, 4),
    "primary": (6, 3, 4, 6, 16),
    "lower secondary": (55, 14, 12, 16, 30),
    "upper secondary": (38, 55, 36, 40, 32),
    "bachelor": (0, 24, 28, 20, 9),
    "master": (0, 3, 17, 13, 7),
    "doctorate": (0, 0, 2, 3, 2),
}
_MARITAL_STATUS_BY_BAND = {
    "single": (99, 92, 52, 18, 7),
    "married": (1, 7, 42, 62, 55),
    "divorced": (0, 1, 5, 16, 12),
    "widowed": (0, 0, 1, 4, 26),
}
_NOT_WORKING_BY_BAND = (0.75, 0.35, 0.08, 0.10, 0.93)

# Weights among people whose schooling ended (before, at, after) upper secondary, then typical pay relative to the mean.
_NOT_WORKING = "at home"  # students, retired people
_OCCUPATIONS = {
    "cleaner": (16, 4, 0, 0.70),
    "warehouse worker": (18, 7, 1, 0.80),
    "farm worker": (9, 3, 0, 0.75),
    "cook": (12, 7, 1, 0.80),
    "driver": (14, 9, 1, 0.85),
    "salesperson": (16, 16, 5, 0.85),
    "electrician": (6, 14, 2, 1.00),
    "clerk": (7, 20, 12, 0.95),
    "nurse": (2, 13, 10, 1.00),
    "police officer": (0, 5, 4, 1.05),
    "teacher": (0, 1, 20, 1.15),
    "engineer": (0, 1, 25, 1.40),
    "physician": (0, 0, 10, 1.80),
    _NOT_WORKING: (0, 0, 0, 0.50),
}

# Weights at ages 17-39, 40-66 and 67-95, then factors for women and men.
# "1E10" looks like the number ten thousand million; "E11" does not, so guessing types from a few rows goes wrong.
_DIAGNOSES = {
    "I10": (3, 20, 32, 1.0, 1.1),
    "E11": (1, 9, 15, 0.9, 1.2),
    "1E10": (2, 2, 2, 1.0, 1.0),
    "J45": (12, 6, 4, 1.1, 0.9),
    "J06": (25, 12, 6, 1.0, 1.0),
    "J44": (0, 4, 9, 0.8, 1.2),
    "M54": (14, 18, 12, 1.1, 1.0),
    "M17": (0, 5, 14, 1.3, 0.8),
    "F32": (12, 10, 6, 1.5, 0.8),
    "F41": (10, 6, 3, 1.5, 0.8),
    "F10": (3, 4, 1, 0.5, 1.6),
    "G43": (8, 6, 1, 2.0, 0.7),
    "I25": (0, 3, 12, 0.7, 1.4),
    "I48": (0, 2, 10, 0.9, 1.1),
    "E03": (3, 5, 5, 2.5, 0.5),
    "K21": (5, 7, 6, 1.0, 1.0),
    "B20": (1, 1, 0.2, 0.4, 1.6),
    "C50": (0.3, 2, 3, 2.0, 0.02),
    "N40": (0, 3, 9, 0, 2.0),
    "N80": (4, 2, 0, 2.0, 0),
}

_FEMALE, _MALE = "weiblich", "männlich"
_TOWNS = ("20095", "20359", "21031", "22111", "22765", "23552", "24103", "24937", "25335", "26122", "27568", "28195")
_STATES = {
    "Deutschland": 160, "Türkei": 9, "Polen": 7, "Syrien": 6, "Ukraine": 6, "Afghanistan": 4, "Rumänien": 4,
    "Italien": 2, "Kroatien": 2, "Griechenland": 2,
}  # fmt: skip
_GERMAN_JOBS = {
    "Rentner": 30, "Angestellte": 22, "Schüler": 8, "Studierende": 6, "Pflegekraft": 7, "Verkäufer": 7, "Lehrkraft": 5,
    "Ingenieur": 5, "Erzieher": 4, "Koch": 4, "Elektriker": 4, "Maurer": 3, "Kraftfahrer": 5, "Reinigungskraft": 5,
    "Arzt": 2, "Landwirt": 2, "Tischler": 2, "Friseur": 2, "Jurist": 1, "Apotheker": 1,
}  # fmt: skip
_WARDS = {
    "I": "Innere Medizin", "E": "Innere Medizin", "J": "Pneumologie", "K": "Chirurgie", "M": "Orthopädie",
    "S": "Unfallchirurgie", "N": "Urologie", "F": "Psychiatrie", "C": "Onkologie", "G": "Neurologie",
}  # fmt: skip
_ICD = """
I10.00 I10.90 I11.90 I20.0 I21.1 I21.4 I25.13 I48.0 I48.1 I50.13 I50.14 I63.4 I70.24 E10.90 E11.20 E11.74 E11.90 E86
J12.8 J15.9 J18.0 J18.9 J20.9 J44.09 J44.19 J45.9 K21.0 K29.1 K35.8 K40.90 K52.9 K56.7 K57.32 K80.20 K85.10 M16.1 M17.1
M48.06 M51.2 M54.4 M75.1 S06.0 S42.21 S52.50 S72.01 S72.10 S82.6 N13.2 N17.91 N20.1 N39.0 N40 F10.0 F20.0 F32.2 F33.2
F43.2 C18.7 C34.1 C50.4 C61 C67.2 G40.2 G43.1 G45.92 G47.31
"""


def people(n: int = 30_000, *, seed: int = 0) -> pl.DataFrame:
    """Make a table of invented people whose columns depend on each other as they do in life.

    Parameters
    ----------
    n : int, default 30_000
        Number of rows, 0 or more, else a ValueError.
    seed : int, default 0
        Seed of the random generator; the same `n` and `seed` give the same table.

    Returns
    -------
    polars.DataFrame, shape (n, 13)
        One row per person. `PEOPLE_ROLES` gives the role of each column.

        ================  =================  =================================================================
        column            dtype              content
        ================  =================  =================================================================
        name              String             given and family name; may repeat
        email             String             unique; some missing
        birth_date        Date               ages 17 to 95, counted as 2025 minus the year of birth
        sex               String             "female", "male" or, rarely, "diverse"
        postcode          String             5 digits, 120 codes in 12 regions (first two digits)
        education         Enum               7 levels from least to most; depends on age; some missing
        marital_status    String             depends on age
        occupation        String             depends on education and age; "at home" is no gap, null is one
        nationality       String             25 countries, three in four people from the first; some missing
        income            Int64              per year, to the nearest 100; depends on education, occupation
                                             and age; some missing
        diagnosis         String             like ICD-10 codes; depends on age and sex
        visit_date        Date               in 2024
        blood_pressure    Float64            systolic, one decimal; rises with age; some missing
        ================  =================  =================================================================

    Raises
    ------
    ValueError
        If `n` is negative.

    Examples
    --------
    >>> from hushtable.datasets import PEOPLE_ROLES, people
    >>> people(1_000, seed=1).shape
    (1000, 13)
    >>> [column for column, role in PEOPLE_ROLES.items() if role == "sensitive"]
    ['income', 'diagnosis']
    """
    if n < 0:
        raise ValueError(f"n must be a number of rows, 0 or more, got {n}")
    rng = np.random.default_rng(seed)

    ages = np.arange(17, 96)
    pyramid = np.interp(ages, (17, 30, 45, 58, 70, 80, 95), (1.0, 1.2, 1.2, 1.5, 1.1, 0.7, 0.03))
    age = ages[_draw_codes(rng, pyramid, n)]
    band = np.digitize(age, _AGE_BANDS)
    sex = _draw_codes(rng, list(_SEXES.values()), n)
    levels = list(_EDUCATION_BY_BAND)
    education = _draw_by_group(rng, np.transpose(list(_EDUCATION_BY_BAND.values())), band)
    marital_status = _draw_by_group(rng, np.transpose(list(_MARITAL_STATUS_BY_BAND.values())), band)

    occupations = list(_OCCUPATIONS)
    *by_schooling, pay = np.transpose(list(_OCCUPATIONS.values()))
    upper_secondary = levels.index("upper secondary")
    occupation = _draw_by_group(rng, by_schooling, np.sign(education - upper_secondary) + 1)
    occupation[rng.random(n) < np.take(_NOT_WORKING_BY_BAND, band)] = occupations.index(_NOT_WORKING)

    log_income = np.log(27_000 * pay[occupation]) + 0.1 * education - 0.0003 * (age - 52) ** 2
    income = np.exp(rng.normal(log_income, 0.35))

    young, middle, old, women, men = np.transpose(list(_DIAGNOSES.values()))
    by_sex = (women, men, (women + men) / 2)
    by_age_and_sex = [weights * factors for weights in (young, middle, old) for factors in by_sex]
    diagnosis = _draw_by_group(rng, by_age_and_sex, np.maximum(band - 2, 0) * len(by_sex) + sex)

    # A diverse person's given name comes from both lists.
    given_names, family_names = (_FEMALE_NAMES + _MALE_NAMES).split(), _FAMILY_NAMES.split()
    women_end, names_end = len(_FEMALE_NAMES.split()), len(given_names)
    given = rng.integers(np.take((0, women_end, 0), sex), np.take((women_end, names_end, names_end), sex))
    family = _draw_codes(rng, _zipf_weights(len(family_names), 0.7), n)
    domain = rng.integers(len(_DOMAINS), size=n)
    # Shuffled numbers keep e-mail addresses unique without telling the row number.
    number = pl.Series(rng.permutation(n)).cast(pl.String)

    mailbox = (
        _pick_values(_mail_text(given_names), given) + "." + _pick_values(_mail_text(family_names), family) + number
    )
    postcode_weights = np.outer(
        _zipf_weights(len(_REGIONS), 0.8), _zipf_weights(len(_POSTCODES) // len(_REGIONS), 1.0)
    ).ravel()
    year = (2025 - age - 1970).astype("datetime64[Y]")
    first_day = year.astype("datetime64[D]")
    days_in_year = ((year + np.timedelta64(1, "Y")).astype("datetime64[D]") - first_day).astype(np.int64)
    countries = _NATIONALITIES.split()

    frame = pl.DataFrame(
        {
            "name": _pick_values(given_names, given) + " " + _pick_values(family_names, family),
            "email": mailbox + "@" + _pick_values(_DOMAINS, domain),
            "birth_date": first_day + rng.integers(days_in_year).astype("timedelta64[D]"),
            "sex": _pick_values(list(_SEXES), sex),
            "postcode": _pick_values(_POSTCODES, _draw_codes(rng, postcode_weights, n)),
            "education": _pick_values(levels, education).cast(pl.Enum(levels)),
            "marital_status": _pick_values(list(_MARITAL_STATUS_BY_BAND), marital_status),
            "occupation": _pick_values(occupations, occupation),
            "nationality": _pick_values(countries, _draw_codes(rng, _zipf_weights(len(countries), 2.5), n)),
            "income": (income / 100).round().astype(np.int64) * 100,
            "diagnosis": _pick_values(list(_DIAGNOSES), diagnosis),
            "visit_date": np.datetime64("2024-01-01") + rng.integers(366, size=n).astype("timedelta64[D]"),
            "blood_pressure": rng.normal(105 + 0.45 * age, 12).round(1),
        }
    )
    gaps = {column: pl.Series(rng.random(n) < share) for column, share in _MISSING.items()}
    return frame.with_columns(pl.when(~gap).then(pl.col(column)).alias(column) for column, gap in gaps.items())


def hospital(n_patients: int = 2_000, *, seed: int = 0) -> dict[str, pl.DataFrame]:
    """Make three linked tables of a hospital: invented patients, their stays, and the drugs that they got.

    Parameters
    ----------
    n_patients : int, default 2_000
        0 or more; else a ValueError.
    seed : int, default 0
        Seed of the random generator; the same arguments give the same tables.

    Returns
    -------
    dict of str to polars.DataFrame
        ``patients`` (patient_id, sex, birth_year, region) with one row each; ``stays`` (stay_id, patient_id, date,
        ward, icd), one to eight a patient; ``drugs`` (patient_id, atc), none to five a patient.

    Raises
    ------
    ValueError
        If `n_patients` is negative.

    Examples
    --------
    >>> from hushtable.datasets import hospital
    >>> {name: table.columns[0] for name, table in hospital(10).items()}
    {'patients': 'patient_id', 'stays': 'stay_id', 'drugs': 'patient_id'}
    """
    if n_patients < 0:
        raise ValueError(f"expected 0 patients or more, got {n_patients}")
    rng = np.random.default_rng(seed)
    ids = np.array([f"P{number:06d}" for number in range(n_patients)], dtype=object)
    region = _draw_codes(rng, _zipf_weights(12, 1.0), n_patients)
    patients = {
        "patient_id": ids,
        "sex": rng.choice(["f", "m"], n_patients),
        "birth_year": rng.integers(1920, 2005, n_patients),
        "region": [f"R{number:02d}" for number in region],
    }
    patient = np.repeat(np.arange(n_patients), np.minimum(rng.geometric(0.4, n_patients), 8))
    n_stays = len(patient)
    # A third of the stays are for what the patient mostly has; most illnesses have their ward.
    usual = rng.integers(0, 130, n_patients)[patient]
    icd = np.where(rng.random(n_stays) < 0.3, usual, _draw_codes(rng, _zipf_weights(130, 0.9), n_stays))
    ward = np.where(rng.random(n_stays) < 0.7, icd % 8, rng.integers(0, 8, n_stays))
    stays = {
        "stay_id": [f"S{number:07d}" for number in range(n_stays)],
        "patient_id": ids[patient],
        "date": np.datetime64("2023-01-01") + rng.integers(0, 730, n_stays),
        "ward": [f"W{number}" for number in ward],
        "icd": [f"I{number:03d}" for number in icd],
    }
    owner = np.repeat(np.arange(n_patients), np.minimum(rng.poisson(2.4, n_patients), 5))
    atc = _draw_codes(rng, _zipf_weights(60, 0.8), len(owner))
    drugs = {"patient_id": ids[owner], "atc": [f"A{number:02d}" for number in atc]}
    return {name: pl.DataFrame(table) for name, table in (("patients", patients), ("stays", stays), ("drugs", drugs))}


def ratings(n_persons: int = 1_500, n_items: int = 500, *, seed: int = 0) -> pl.DataFrame:
    """Make dated ratings of invented people: several records a person, which name nobody and find many.

    Few items have most of the ratings, and few people give most of them, as Zipf's law says of films and customers.

    Parameters
    ----------
    n_persons, n_items : int, default 1_500 and 500
        Persons, 0 or more, and the things that they rate, 1 or more; else a ValueError.
    seed : int, default 0
        Seed of the random generator; the same arguments give the same table.

    Returns
    -------
    polars.DataFrame
        About seven rows a person, in no order; nobody rates an item twice on one day.

        ========  =======  ==============================================
        column    dtype    content
        ========  =======  ==============================================
        user_id   String   whose rating it is
        item      String   what is rated
        rating    Int64    1 to 5; good items have more high ones
        date      Date     in 2024
        ========  =======  ==============================================

    Raises
    ------
    ValueError
        If `n_persons` is negative, or there is no item.

    Examples
    --------
    >>> from hushtable.datasets import ratings
    >>> ratings(100, seed=1).columns
    ['user_id', 'item', 'rating', 'date']
    """
    if n_persons < 0 or n_items < 1:
        raise ValueError(f"expected 0 persons or more and 1 item or more, got {n_persons} and {n_items}")
    rng = np.random.default_rng(seed)
    # Between 1 and 40 ratings; half of the people have five or fewer.
    n_records = 1 + _draw_codes(rng, _zipf_weights(40, 1.0), n_persons)
    person = np.repeat(np.arange(n_persons), n_records)
    item = _draw_codes(rng, _zipf_weights(n_items, 0.9), len(person))
    liked = rng.normal(3.6, 0.6, n_items)[item]
    rating = np.clip(np.rint(rng.normal(liked, 0.9)), 1, 5).astype(np.int64)
    # Someone watches in spells, around a day of the person's own.
    day = (rng.integers(366, size=n_persons)[person] + np.rint(rng.normal(0, 40, len(person))).astype(np.int64)) % 366
    frame = pl.DataFrame(
        {
            "user_id": pl.Series(person).cast(pl.String),
            "item": "item " + pl.Series(item + 1).cast(pl.String),
            "rating": rating,
            "date": np.datetime64("2024-01-01") + day.astype("timedelta64[D]"),
        }
    ).unique(["user_id", "item", "date"], maintain_order=True)
    return frame.select(pl.all().gather(pl.Series(rng.permutation(frame.height), dtype=pl.UInt32)))


def visits(n: int = 5_000, *, seed: int = 0) -> pl.DataFrame:
    """Make an extract of a German hospital: visits of invented patients, all cells text as such a system writes them.

    Dates are ``31.12.2024``, decimals have commas, diagnoses are codes of ICD-10-GM. Write it with semicolons.

    Parameters
    ----------
    n : int, default 5_000
        Visits, 0 or more, else a ValueError; about five of four patients.
    seed : int, default 0
        Seed of the random generator; the same arguments give the same table.

    Returns
    -------
    polars.DataFrame
        In no order.

    Raises
    ------
    ValueError
        If `n` is negative.

    Examples
    --------
    >>> from hushtable.datasets import visits
    >>> visits(100).columns[:6]
    ['Patientennummer', 'Name', 'Geburtsdatum', 'Geschlecht', 'PLZ', 'Nationalität']
    """
    if n < 0:
        raise ValueError(f"expected 0 visits or more, got {n}")
    rng = np.random.default_rng(seed)
    patient = np.sort(rng.integers(0, max(1, 2 * n), n))
    patients, who = np.unique(patient, return_inverse=True)
    m = len(patients)
    is_woman = rng.random(m) < 0.52
    age = np.clip(rng.normal(58, 21, m), 0, 99)
    born = np.datetime64("2024-01-01") - (age * 365.25).astype("timedelta64[D]")
    town = np.array(_TOWNS, dtype=np.int64)[_draw_codes(rng, _zipf_weights(len(_TOWNS), 0.8), m)] + 2 * rng.integers(
        0, 20, m
    )
    given = np.where(
        is_woman,
        np.array(_FEMALE_NAMES.split())[rng.integers(0, len(_FEMALE_NAMES.split()), m)],
        np.array(_MALE_NAMES.split())[rng.integers(0, len(_MALE_NAMES.split()), m)],
    )
    family = np.array(_FAMILY_NAMES.split())[rng.integers(0, len(_FAMILY_NAMES.split()), m)]
    job = np.array(list(_GERMAN_JOBS))[_draw_codes(rng, list(_GERMAN_JOBS.values()), m)]
    job[age < 18], job[age >= 67] = "Schüler", "Rentner"
    of_patients = pl.DataFrame(
        {
            "Patientennummer": [f"P{number:07d}" for number in (patients * 7_919 + 31) % 9_999_991],
            "Name": [f"{last}, {first}" for last, first in zip(family, given, strict=True)],
            "Geburtsdatum": pl.Series(born.astype("datetime64[D]")).dt.strftime("%d.%m.%Y"),
            "Geschlecht": np.where(is_woman, _FEMALE, _MALE),
            "PLZ": town.astype(str),
            "Nationalität": np.array(list(_STATES))[_draw_codes(rng, list(_STATES.values()), m)],
            "Beruf": job,
            "Größe": _with_comma(rng.normal(np.where(is_woman, 1.66, 1.79), 0.07, m), 2),
        }
    )
    codes = _ICD.split()
    icd = np.array(codes)[_draw_codes(rng, _zipf_weights(len(codes), 0.6), n)]
    admitted = np.datetime64("2024-01-01") + rng.integers(0, 366, n).astype("timedelta64[D]")
    minute = 5 * rng.integers(0, 288, n)
    of_visits = pl.DataFrame(
        {
            "Aufnahmedatum": pl.Series(admitted).dt.strftime("%d.%m.%Y"),
            "Aufnahmezeit": [f"{each // 60:02d}:{each % 60:02d}" for each in minute.tolist()],
            "Verweildauer": (1 + rng.poisson(4, n)).astype(str),
            "Abteilung": [_WARDS[code[0]] for code in icd.tolist()],
            "Hauptdiagnose": icd,
            "CRP": _with_comma(rng.lognormal(2, 1.2, n), 1),
        }
    )
    frame = pl.concat([of_patients[who], of_visits], how="horizontal")
    return frame[rng.permutation(n)]


def _with_comma(numbers: NDArray[np.float64], n_digits: int) -> pl.Series:
    return pl.Series([f"{number:.{n_digits}f}".replace(".", ",") for number in numbers.tolist()], dtype=pl.String)


def _draw_codes(rng: np.random.Generator, weights: ArrayLike, n: int) -> NDArray[np.int64]:
    """Draw `n` codes, code i with a chance in proportion to `weights[i]`."""
    weights = np.asarray(weights, dtype=np.float64)
    return rng.choice(len(weights), size=n, p=weights / weights.sum())


def _draw_by_group(rng: np.random.Generator, weights: ArrayLike, group: NDArray[np.int64]) -> NDArray[np.int64]:
    """Draw one code per row, using row `group[i]` of `weights` (groups by codes) for row i."""
    codes = np.empty(len(group), dtype=np.int64)
    for number, group_weights in enumerate(np.asarray(weights, dtype=np.float64)):
        rows = np.flatnonzero(group == number)
        codes[rows] = _draw_codes(rng, group_weights, len(rows))
    return codes


def _zipf_weights(count: int, exponent: float) -> NDArray[np.float64]:
    return np.arange(1, count + 1, dtype=np.float64) ** -exponent


def _pick_values(values: list[str] | tuple[str, ...], codes: NDArray[np.int64]) -> pl.Series:
    return pl.Series(values, dtype=pl.String).gather(pl.Series(codes))


def _mail_text(names: list[str]) -> list[str]:
    """Lower-case the names and strip their accents, as e-mail addresses do."""
    return [unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower() for name in names]
