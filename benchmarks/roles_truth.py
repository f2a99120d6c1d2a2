"""The truth the recogniser of roles is judged against on the made-up tables, with a reason for every column.

It was written before the recogniser, from what the columns mean and not from what a program
can see. The rule for all columns:

- identifier: tells alone who it is, or was made to (names, numbers of persons, accounts, addresses; the
  list of HIPAA, 45 CFR 164.514(b)(2));
- quasi-identifier: somebody who is not the keeper can know the value of a given person, the value lasts
  (or is of an event that is past and stays as it was), and it tells persons apart (El Emam: knowable,
  replicable, distinguishing). Dates of events of a person are (HIPAA's list), so is what the core topics
  of a census ask and what ARX's and Mondrian's examples take: age, sex, place, marital status, job, schooling;
- sensitive: what such a person must not learn; known to the keeper, not to the one who looks;
- other: known to nobody who looks, or the same for all, or of the record and not of the person.

`known_to` says who could know the value of a given person at the most: "public" (a register, a profile, any
website visited), "acquaintance" (family, neighbours, colleagues, classmates), "insider" (who works with the
data), "nobody". Where experts would disagree the column is debatable: it keeps the role it leans to
and is not counted. Two columns of one meaning (postcode and commune) are both true: each is knowable.

The truth of the real tables is in roles_real.py.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

IDENTIFIER, QUASI, SENSITIVE, OTHER = "identifier", "quasi-identifier", "sensitive", "other"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one column is, who could know it, and why."""

    role: str
    known_to: str
    reason: str
    debatable: bool = False


@dataclass(frozen=True, slots=True)
class Truth:
    """What every column of one table is, in the order of its columns; why it is, or is not, of persons."""

    of_persons: bool
    reason: str
    columns: Mapping[str, Judgement]

    @property
    def quasi_identifiers(self) -> frozenset[str]:
        """The columns that must be found."""
        return frozenset(name for name, j in self.columns.items() if j.role == QUASI and not j.debatable)

    @property
    def debatable(self) -> frozenset[str]:
        """The columns that may be found or not."""
        return frozenset(name for name, j in self.columns.items() if j.debatable)

    def renamed(self) -> "Truth":
        """The same truth for the frame that `renamed` makes."""
        judged = {f"v{i}": judgement for i, judgement in enumerate(self.columns.values())}
        return Truth(self.of_persons, self.reason, judged)


def f1(found: Iterable[str], truth: Truth) -> float:
    """Score the quasi-identifiers found, from 0 to 1.

    Debatable columns count neither as false alarm nor as missed. Where there is nothing to find,
    an empty answer scores 1 and any other 0.
    """
    found = frozenset(found)
    if unknown := sorted(found - truth.columns.keys()):
        msg = f"found columns without a truth: {unknown}"
        raise ValueError(msg)
    found, wanted = found - truth.debatable, truth.quasi_identifiers
    if not wanted:
        return 0.0 if found else 1.0
    return 2 * len(found & wanted) / (len(found) + len(wanted))


def renamed(frame: pl.DataFrame) -> pl.DataFrame:
    """Name the columns v0, v1, ...: what is left when the headers say nothing."""
    return frame.rename({name: f"v{i}" for i, name in enumerate(frame.columns)})


HOSPITAL = Truth(
    of_persons=True,
    reason="A row is a stay of one patient.",
    columns={
        "Fallnummer": Judgement(IDENTIFIER, "insider", "One number a stay, printed on every letter and bill."),
        "Patientennummer": Judgement(IDENTIFIER, "insider", "HIPAA's medical record number; the same in every stay."),
        "Geburtsdatum": Judgement(QUASI, "public", "Registers, friends and employers know it; it never changes."),
        "Geschlecht": Judgement(QUASI, "public", "Everyone who meets the person knows it; a census core topic."),
        "PLZ": Judgement(QUASI, "public", "Where somebody lives is in directories; five digits are a quarter."),
        "Aufnahmedatum": Judgement(QUASI, "acquaintance", "Neighbours, colleagues and the newspaper know the day."),
        "Entlassungsdatum": Judgement(QUASI, "acquaintance", "As the day of admission: who was told when she is back."),
        "Aufnahmeart": Judgement(OTHER, "insider", "A code of the admission desk; three values that few could tell."),
        "Fachabteilung": Judgement(
            QUASI, "acquaintance", "Who visits knows the ward; but it tells the illness, which others protect.", True
        ),
        "Hauptdiagnose (ICD)": Judgement(SENSITIVE, "insider", "The illness: what must not be learnt."),
        "Beatmungsstunden": Judgement(SENSITIVE, "insider", "Measured at the bed; tells how ill somebody was."),
        "Entlassungsgrund": Judgement(SENSITIVE, "insider", "How it ended, death among it: an outcome of the stay."),
        "Versicherung": Judgement(
            OTHER, "insider", "Doctors and employers know the fund, friends seldom; some rule sets count it in.", True
        ),
        "Kosten (EUR)": Judgement(SENSITIVE, "insider", "Computed by the hospital; tells length and gravity."),
    },
)

SCHOOL = Truth(
    of_persons=True,
    reason="A row is one pupil.",
    columns={
        "pupil_id": Judgement(IDENTIFIER, "insider", "A number given to one pupil."),
        "school": Judgement(QUASI, "public", "Which school a child goes to is known in the street."),
        "class": Judgement(QUASI, "acquaintance", "Every classmate and parent knows it; few pupils share it."),
        "sex": Judgement(QUASI, "public", "Everyone who meets the pupil knows it."),
        "age": Judgement(QUASI, "acquaintance", "Known from birthdays; HIPAA, El Emam and ARX agree on age."),
        "postcode": Judgement(QUASI, "public", "Where the family lives."),
        "migration_background": Judgement(
            QUASI, "acquaintance", "Name, language and family tell it; a census topic, as race is in Adult."
        ),
        "siblings": Judgement(QUASI, "acquaintance", "Neighbours count them; the census' household composition."),
        "mark_maths": Judgement(SENSITIVE, "insider", "The result of the pupil, between teacher, pupil and parents."),
        "mark_german": Judgement(SENSITIVE, "insider", "As the mark in maths."),
        "mark_english": Judgement(SENSITIVE, "insider", "As the mark in maths."),
        "days_absent": Judgement(SENSITIVE, "insider", "Counted by the school; tells illness or truancy."),
        "free_lunch": Judgement(
            SENSITIVE, "acquaintance", "Tells that the family is poor; but classmates often see who pays.", True
        ),
        "school_year": Judgement(OTHER, "public", "The same in every row: tells nobody apart."),
    },
)

PAYROLL = Truth(
    of_persons=True,
    reason="A row is one employee.",
    columns={
        "employee_no": Judgement(IDENTIFIER, "insider", "A number given to one employee."),
        "iban": Judgement(IDENTIFIER, "insider", "HIPAA's account number: one holder."),
        "birth_year": Judgement(QUASI, "public", "Profiles and colleagues tell it; never changes."),
        "sex": Judgement(QUASI, "public", "Everyone who meets the person knows it."),
        "hire_date": Judgement(QUASI, "public", "Professional networks and anniversaries tell it; nearly unique here."),
        "department": Judgement(QUASI, "public", "On business cards, in profiles and mails."),
        "job_title": Judgement(QUASI, "public", "On business cards and in profiles; occupation is a census topic."),
        "site": Judgement(QUASI, "public", "The place of work: cards, profiles, neighbours."),
        "pay_grade": Judgement(
            SENSITIVE,
            "insider",
            "Nearly the salary; but colleagues under one pay scale can tell it from the job.",
            True,
        ),
        "weekly_hours": Judgement(
            OTHER, "acquaintance", "Colleagues know who works part-time; it changes, and most have 40.", True
        ),
        "base_salary": Judgement(SENSITIVE, "insider", "What must not be learnt."),
        "bonus": Judgement(SENSITIVE, "insider", "A part of the salary, and set in private."),
        "sick_days": Judgement(SENSITIVE, "insider", "Tells about health; counted by the personnel office."),
        "currency": Judgement(OTHER, "public", "The same in every row: tells nobody apart."),
    },
)

WEB_LOG = Truth(
    of_persons=True,
    reason="A row is what one visitor did; visitors are persons, told by cookie and address.",
    columns={
        "timestamp": Judgement(QUASI, "acquaintance", "When somebody was on the site: who sat beside, or another log."),
        "session_id": Judgement(IDENTIFIER, "insider", "A number made to know one visitor again."),
        "ip": Judgement(IDENTIFIER, "insider", "On HIPAA's list; leads to a line, by the provider to its owner."),
        "user_agent": Judgement(QUASI, "public", "Sent to every website; tells browsers apart, and lasts for weeks."),
        "method": Judgement(OTHER, "nobody", "What kind of request the page makes: not of the person."),
        "path": Judgement(
            SENSITIVE, "insider", "What somebody reads; but published searches and links have led to persons.", True
        ),
        "status": Judgement(OTHER, "nobody", "The server's answer: not of the person."),
        "bytes": Judgement(OTHER, "nobody", "The length of the answer: nobody notes it."),
        "country": Judgement(QUASI, "public", "Where somebody lives, known to all; a rare one tells much."),
        "referrer": Judgement(OTHER, "insider", "The site before, mostly a search engine or none: nobody remembers."),
    },
)

_OPINION = "An opinion on a scale: nobody but the interviewer heard it, and it changes."
SURVEY = Truth(
    of_persons=True,
    reason="A row is the interview of one person.",
    columns={
        "intnr": Judgement(
            IDENTIFIER, "insider", "The number of one interview, kept with the address by the institute."
        ),
        "wt": Judgement(OTHER, "nobody", "Computed from the sample's plan: no one knows the weight of a person."),
        "region": Judgement(QUASI, "public", "Where somebody lives, in seven codes."),
        "sexage": Judgement(QUASI, "public", "Sex and age class in one code: both known to all who meet the person."),
        "d1": Judgement(QUASI, "public", "Marital status in codes (d: demography): registers and friends know it."),
        "hhsize": Judgement(QUASI, "acquaintance", "How many live in the home: neighbours know; a census core topic."),
        **{f"q{i}": Judgement(OTHER, "insider", _OPINION) for i in range(1, 8)},
        "q8": Judgement(SENSITIVE, "insider", "Health as the person sees it, in five codes."),
        "q9": Judgement(SENSITIVE, "insider", "Income class of the household."),
        "q10": Judgement(SENSITIVE, "insider", "Party voted for: kept secret by law."),
    },
)

_MACHINE = "Measured at a machine in a cold store."
SENSORS = Truth(
    of_persons=False,
    reason="A row is a reading of a device in a cold store; no column leads to a person.",
    columns={
        "device_id": Judgement(OTHER, "insider", "The number of a device that no person carries or owns."),
        "timestamp": Judgement(OTHER, "nobody", "When a clock let the device measure: no person's doing."),
        "zone": Judgement(OTHER, "insider", "A room for goods."),
        "temperature": Judgement(OTHER, "nobody", _MACHINE),
        "humidity": Judgement(OTHER, "nobody", _MACHINE),
        "voltage": Judgement(OTHER, "nobody", _MACHINE),
        "rssi": Judgement(OTHER, "nobody", _MACHINE),
        "firmware": Judgement(OTHER, "insider", "The device's program."),
        "uptime_s": Judgement(OTHER, "nobody", _MACHINE),
        "status": Judgement(OTHER, "nobody", "The device's own check."),
    },
)

MEMBERS = Truth(
    of_persons=True,
    reason="A row is one member of the club.",
    columns={
        "Numéro d'adhérent": Judgement(IDENTIFIER, "insider", "A number given to one member."),
        "Nom": Judgement(IDENTIFIER, "public", "A name: first on HIPAA's list, though families share it."),
        "Prénom": Judgement(IDENTIFIER, "public", "A name, as the family name."),
        "Sexe": Judgement(QUASI, "public", "Everyone who meets the person knows it."),
        "Date de naissance": Judgement(QUASI, "public", "Registers and friends know it; never changes."),
        "Code postal": Judgement(QUASI, "public", "Where somebody lives is in directories."),
        "Commune": Judgement(QUASI, "public", "Where somebody lives, in words; as knowable as the postcode."),
        "Profession": Judgement(QUASI, "public", "Profiles and neighbours tell it; a census core topic."),
        "Section": Judgement(
            QUASI, "acquaintance", "Fellow members know who plays what; but it changes, and is the club's own.", True
        ),
        "Date d'adhésion": Judgement(
            QUASI, "acquaintance", "A date of the person; but of a day that few beside the treasurer remember.", True
        ),
        "Cotisation": Judgement(OTHER, "insider", "The fee follows from the club's tariff; six values."),
        "Mode de paiement": Judgement(OTHER, "insider", "Between member and treasurer; changes at will."),
        "Courriel": Judgement(IDENTIFIER, "public", "An address of one person, on HIPAA's list."),
        "Téléphone": Judgement(IDENTIFIER, "public", "A number of one person, on HIPAA's list."),
    },
)

RATINGS = Truth(
    of_persons=True,
    reason="A row is what one user said of one film.",
    columns={
        "user_id": Judgement(IDENTIFIER, "insider", "A number given to one user; ties all rows of a person together."),
        "gender": Judgement(QUASI, "public", "Everyone who meets the person knows it."),
        "age": Judgement(QUASI, "acquaintance", "Known from birthdays and profiles."),
        "occupation": Judgement(QUASI, "public", "Profiles and neighbours tell it; a census core topic."),
        "zip_code": Judgement(QUASI, "public", "Where somebody lives is in directories."),
        "item_id": Judgement(
            QUASI,
            "public",
            "Films seen are told to friends and the web; Narayanan and Shmatikov found users by them.",
        ),
        "genre": Judgement(
            OTHER, "acquaintance", "Follows from the film; taste is known, yet six values say little.", True
        ),
        "rating": Judgement(
            SENSITIVE, "acquaintance", "The opinion to protect; but reviews on the web repeat it.", True
        ),
        "timestamp": Judgement(
            QUASI, "acquaintance", "About when a film was seen; with the days of a few films most users were found."
        ),
        "device": Judgement(OTHER, "insider", "Phone or web: changes from day to day, two values."),
    },
)

TRUTHS: Mapping[str, Truth] = {
    "hospital": HOSPITAL,
    "school": SCHOOL,
    "payroll": PAYROLL,
    "web_log": WEB_LOG,
    "survey": SURVEY,
    "sensors": SENSORS,
    "members": MEMBERS,
    "ratings": RATINGS,
}
"""The truth of every table of roles_tables.TABLES."""
