"""The language of a table, told from words of its headers and cells: a proposal, never a decision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from hushtable.columns import ENGLISH, fold

__all__ = ["language_of"]

_WORDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        language: frozenset(map(fold, words.split(", ")))
        for language, words in {
            "en": "age, sex, gender, birth, date, job, occupation, education, income, salary, country, city, name, "
            "marital, status, race, male, female, married, single, divorced, widowed, yes, no, unknown, other, visit",
            "de": "alter, geschlecht, geburtsdatum, geburtsjahr, geburtsort, datum, plz, postleitzahl, wohnort, ort, "
            "beruf, bildung, abschluss, familienstand, staatsangehörigkeit, nationalität, einkommen, gehalt, vorname, "
            "nachname, kreis, gemeinde, aufnahme, entlassung, männlich, weiblich, ledig, verheiratet, geschieden, "
            "verwitwet, ja, nein, deutsch, Deutschland, unbekannt, keine Angabe, uhrzeit, krankenkasse, diagnose",
            "fr": "âge, sexe, naissance, code postal, commune, ville, profession, métier, diplôme, revenu, salaire, "
            "nationalité, prénom, nom, pays, homme, femme, célibataire, marié, mariée, divorcé, divorcée, veuf, veuve, "
            "oui, non, inconnu, situation familiale, date de naissance, département, domicile",
            "es": "edad, sexo, nacimiento, código postal, municipio, ciudad, profesión, ocupación, estudios, "
            "ingresos, salario, nacionalidad, nombre, apellido, apellidos, país, hombre, mujer, soltero, soltera, "
            "casado, casada, divorciado, viudo, sí, desconocido, estado civil, fecha, fecha de nacimiento, provincia",
            "it": "età, sesso, nascita, cap, comune, città, professione, occupazione, istruzione, reddito, stipendio, "
            "nazionalità, cittadinanza, cognome, paese, maschio, femmina, celibe, nubile, coniugato, coniugata, "
            "divorziato, vedovo, sconosciuto, stato civile, data, data di nascita, provincia di nascita",
            "nl": "leeftijd, geslacht, geboortedatum, geboortejaar, woonplaats, gemeente, beroep, opleiding, inkomen, "
            "salaris, nationaliteit, voornaam, achternaam, land, man, vrouw, ongehuwd, gehuwd, gescheiden, weduwe, "
            "nee, onbekend, burgerlijke staat, datum van opname",
        }.items()
    }
)
_FEWEST: Final = 2


def language_of(texts: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Return the language of the most words among some texts, and these words; English in doubt.

    Parameters
    ----------
    texts : iterable of str
        Names of columns, and cells of categories.

    Examples
    --------
    >>> language_of(["Geschlecht", "PLZ", "beruf"])
    ('de', ('beruf', 'geschlecht', 'plz'))
    >>> language_of(["x", "date"])
    ('en', ('date',))
    """
    folded = {fold(text) for text in texts}
    words = folded | {word for text in folded for word in text.split()}
    found = {language: sorted(words & known) for language, known in _WORDS.items()}
    best = max(found, key=lambda language: len(found[language]))
    # Where another one has as many words, nothing is told.
    is_sure = len(found[best]) >= _FEWEST and sum(len(each) == len(found[best]) for each in found.values()) == 1
    best = best if is_sure else ENGLISH
    return best, tuple(found[best])
