"""Sentences by their forms: what is known is said in the language, and data stay what they are."""

import importlib.util
from pathlib import Path

import pytest

from hushtable.wording import LANGUAGES, choose_language, current_language, translate, use_language
from hushtable.wording.translating import Catalogue, SentenceForm

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_wording.py"
FORMS = {
    "{} of {} records": "{0:n} von {1:n} Datensätzen",
    "column {} holds {}.": "Spalte {0} enthält {1:t}.",
    "names: {}": "Namen: {0:l}",
    "words: {}": "Wörter: {0:w}",
    "{} is said before what somebody has to do": "{0} wird gesagt, bevor etwas zu tun ist",
    "why: {}": "Grund: {0:t}",
    "{} holds a brace {{": "Geschweifte Klammer {{ in {0}",
}


@pytest.fixture
def catalogue():
    fixed = {"a gap": "eine Lücke", "Check it.": "Prüfen Sie es."}
    return Catalogue("de", fixed, [SentenceForm.from_line(english, german) for english, german in FORMS.items()])


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("a gap", "eine Lücke"),
        ("1,234 of 5,678.5 records", "1.234 von 5.678,5 Datensätzen"),
        ("column 'a gap' holds a gap.", "Spalte 'a gap' enthält eine Lücke."),
        ("column 'x' holds 1,234.5 of them.", "Spalte 'x' enthält 1.234,5 of them."),
        ("column 'x' holds a gap. Check it.", "Spalte 'x' enthält eine Lücke. Prüfen Sie es."),
        ("names: a, b and c", "Namen: a, b und c"),
        ("names: a, b and 1,234 more", "Namen: a, b und 1.234 weitere"),
        ("words: a gap, x and a gap", "Wörter: eine Lücke, x und eine Lücke"),
        ("97.1%", "97,1 %"),
        (
            "why: a gap. x is said before what somebody has to do",
            "Grund: eine Lücke. x wird gesagt, bevor etwas zu tun ist",
        ),
        ("x holds a brace {", "Geschweifte Klammer { in x"),
        ("many of few records", "many of few records"),
        ("nobody said this", "nobody said this"),
    ],
)
def test_a_text_is_said_by_its_form(catalogue, english, german):
    assert catalogue.translate(english) == german


def test_the_language_is_chosen_or_that_of_the_environment(monkeypatch):
    monkeypatch.delenv("HUSHTABLE_LANGUAGE", raising=False)
    assert current_language() == "en"
    monkeypatch.setenv("HUSHTABLE_LANGUAGE", "de_AT.UTF-8")
    assert current_language() == "de"
    with use_language("en"):
        assert current_language() == "en"
    monkeypatch.setenv("HUSHTABLE_LANGUAGE", "tlh")
    assert current_language() == "en"
    assert choose_language("") == choose_language("xx, en-GB") == "en"
    assert choose_language("xx, de-CH;q=0.5") == "de"


def test_what_stands_before_and_behind_a_sentence_stays():
    assert translate("  careful: Columns ", "de") == "  Achtung: Spalten "
    assert translate("", "de") == ""
    assert translate("careful: Columns", "en") == "careful: Columns"
    assert set(LANGUAGES) == {"en", "de"}


def test_each_sentence_of_the_program_has_its_translation():
    spec = importlib.util.spec_from_file_location("check_wording", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert list(script.find_faults("de")) == []
