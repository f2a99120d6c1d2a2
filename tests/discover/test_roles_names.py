"""What names and cells say: in every language, for every look; and the data files themselves."""

import re

import polars as pl
import pytest

from hushtable.columns.spellings import fold_text
from hushtable.discover.recognise import find_quasi_identifiers
from hushtable.discover.roles.names import (
    build_lexicon,
    interpret_name,
    parse_entries,
    parse_lines,
    read_data_file,
    topics_by_name,
)

NAMES = {
    "birth": [
        "DateOfBirth",
        "birth_year",
        "Geburtsdatum",
        "GEB_JAHR",
        "date de naissance",
        "fecha_nacimiento",
        "出生日期",
    ],
    "age": ["age", "AGEGRP", "Lebensalter", "Altersgruppe", "âge", "edad", "患者年龄", "年齡"],
    "sex": ["Sex", "gender", "Geschlecht", "sexe", "género", "性别", "性別"],
    "postcode": ["zip", "ZIP-Code", "PLZ", "Postleitzahl", "Code postal", "código postal", "邮政编码", "郵遞區號"],
    "place": ["city", "Wohnort", "Bundesland", "commune", "Municipio", "居住縣市", "省份"],
    "nation": ["native.country", "Staatsangehoerigkeit", "Nationalität", "pays", "nacionalidad", "国籍", "國籍"],
    "marital": ["maritalStatus", "Familienstand", "état civil", "estado_civil", "婚姻状况", "婚姻狀況"],
    "education": ["education_num", "Bildungsabschluss", "niveau d'études", "nivel de estudios", "学历", "教育程度"],
    "occupation": ["JobTitle", "Beruf", "métier", "ocupación", "职业", "職業"],
    "family": ["n_children", "Anzahl Kinder", "nombre d'enfants", "hijos", "子女数"],
    "date": ["admission", "Aufnahmedatum", "Eintrittsdatum", "date d'entrée", "fecha de ingreso", "入院日期"],
    "person": [
        "patient_id",
        "PatientID",
        "Patientennummer",
        "Schüler-Nr",
        "numéro d'adhérent",
        "id_paciente",
        "患者编号",
    ],
    "person name": ["FirstName", "Nachname", "nom", "apellidos", "姓名"],
    "contact": ["e-mail", "Telefonnummer", "courriel", "dirección", "电话", "電話"],
    "income": ["monthly_salary", "Bruttogehalt", "salaire", "sueldo", "月收入", "薪資"],
    "diagnosis": ["ICD10", "Hauptdiagnose", "maladie", "diagnóstico", "诊断结果", "診斷"],
    "religion": ["religion", "Konfession", "culte", "宗教"],
    "sampling weight": ["fnlwgt", "survey_weight", "Hochrechnungsfaktor", "pondération"],
    "thing": ["temperature_c", "rpm", "Luftfeuchtigkeit"],
    "work time": ["hours-per-week", "hr_per_week", "Wochenstunden"],
}


@pytest.mark.parametrize(("topic", "name"), [(topic, name) for topic, names in NAMES.items() for name in names])
def test_names(topic, name):
    said = interpret_name(name, build_lexicon(), lambda _: True)
    assert said.topic is not None
    assert said.topic.name == topic


@pytest.mark.parametrize("name", ["v0", "V12", "x", "col_3", "Column 7", "unnamed: 0", "字段1", "_", "", "99"])
def test_names_that_say_nothing(name):
    assert interpret_name(name, build_lexicon(), lambda _: True)[:3:2] == (None, True)


@pytest.mark.parametrize("name", ["wiek", "xylophone", "stage", "usage", "manager2000x", "a" * 5000])
def test_unknown_names_may_mean_something(name):
    assert not interpret_name(name, build_lexicon(), lambda _: True).is_generic


def test_a_doubtful_word_needs_its_cells():
    assert (
        interpret_name("cp", build_lexicon(), lambda topic: topic == "postcode").topic is topics_by_name()["postcode"]
    )
    assert interpret_name("cp", build_lexicon(), lambda _: False) == (None, "", False, False)


LOOKS = {
    "quasi-identifier": [
        ["2024-01-02", "2024-03-01", "2023-05-06"],
        ["02.01.2024", "31.12.2023", "07.05.2023"],
        ["1/2/24", "12/31/23", "5/7/23"],
        ["2 Jan 2024", "31. Dezember 2023", "7 mai 2023"],
        ["Jan 2, 2024", "March 3, 2024", "Oct. 9, 2023"],
        ["2024年1月2日", "2023年12月31日"],
        ["20240102", "20231231", "20230507"],
        ["02.01.2024 10:30", "31.12.2023 9:05", "01.05.2023 23:59:59"],
        ["10/Oct/2023:13:55:36 -0700", "11/Oct/2023:13:55:36 -0700"],
        ["08:30", "17:05", "23:59"],
        ["Monday", "Tuesday", "Friday"],
        ["Januar", "Mai", "Dezember"],
        ["18-25", "26-35", "65+"],
        ["[20, 30)", "[30, 40)", "<20"],
        ["01234", "80331", "04109", "10115"],
        ["SW1A 1AA", "M1 1AE", "EC1A 1BB"],
        ["48.1372, 11.5755", "52.5200, 13.4050"],
        ["Mozilla/5.0 (X11)", "Mozilla/5.0 (Windows)"],
        ["5a", "10B", "7c"],
        ["male", "female", "unknown"],
        ["männlich", "weiblich", "divers"],
        ["homme", "femme"],
        ["男", "女"],
        ["Germany", "Türkei", "France", "España"],
        ["DE", "FR", "US", "CN"],
        ["ledig", "verheiratet", "geschieden"],
        ["Bachelors", "HS-grad", "Some-college"],
        ["enseignant", "infirmière", "ouvrier"],
        ["White", "Black", "Asian-Pac-Islander", "Other"],
        ["北京", "上海", "深圳"],
        ["汉族", "回族", "藏族"],
        ["katholisch", "evangelisch", "konfessionslos"],
    ],
    "identifier": [
        ["B-AB 1234", "M-XY 99", "HH-A 1"],
        ["AB-123-CD", "ZZ-999-ZZ"],
        ["京A12345", "沪B·67890"],
        ["0170 1234567", "0221 998877"],
        ["11010519491231002X", "440524188001010014"],
        ["00:1a:2b:3c:4d:5e", "00:1a:2b:3c:4d:5f"],
        ["Anna Schmidt", "Peter Vogel", "Maria Keller", "Thomas Abel", "Julia Ott"],
    ],
    "sensitive": [["I21.4", "E11.7", "O80", "F32.2"]],
    "ask": [["a", "b", "c"], ["f", "t"], ["red", "green", "blue"], ["low", "mid", "high"]],
}


@pytest.mark.parametrize(("role", "cells"), [(role, cells) for role, every in LOOKS.items() for cells in every])
def test_looks_of_cells(role, cells):
    table = pl.DataFrame({"v0": cells * 20})
    (column,) = find_quasi_identifiers(table, of_persons=True).columns
    assert column.role == role


@pytest.mark.parametrize(
    ("cells", "looks"),
    [
        ([18 + i * 7 % 60 for i in range(600)], True),
        ([18 + i * 7 % 60 for i in range(300)] + [40] * 300, False),
        ([118 + i * 7 % 60 for i in range(600)], False),
        ([1 + i % 16 for i in range(600)], False),
        ([10 * (i % 10) for i in range(600)], False),
        ([18.5 + i * 7 % 60 for i in range(600)], False),
    ],
)
def test_ages_are_whole_many_and_no_heap(cells, looks):
    for name, role in (("v0", "quasi-identifier"), ("wiek", "ask")):
        (column,) = find_quasi_identifiers(pl.DataFrame({name: cells}), of_persons=True).columns
        assert ("look like ages" in column.reason) is looks
        assert not looks or column.role == role


@pytest.mark.parametrize(
    ("name", "cells"),
    [("age", [150, 900, 7000]), ("sex", list("abcdefg")), ("Aufnahmeart", ["Notfall", "Plan"]), ("has_phone", [0, 1])],
)
def test_cells_that_contradict_the_name_are_asked_about(name, cells):
    (column,) = find_quasi_identifiers(pl.DataFrame({name: cells * 20}), of_persons=True).columns
    assert (column.role, column.reason.endswith("its cells do not look it")) == ("ask", True)


def test_weight_is_of_a_body_or_of_a_record():
    body, sample = [50 + i % 60 for i in range(600)], [0.2 + i / 977 for i in range(600)]
    for cells, role in ((body, "quasi-identifier"), (sample, "ask")):
        (column,) = find_quasi_identifiers(pl.DataFrame({"weight": cells}), of_persons=True).columns
        assert column.role == role


def test_data_files_name_known_topics_and_compile():
    known = {*topics_by_name(), "nothing"}
    for name in ("words.tsv", "values.tsv"):
        assert {topic for _, _, topic in parse_entries(read_data_file(name))} <= known
        assert all(fold_text(entry) for _, entry, _ in parse_entries(read_data_file(name)))
        assert "Origin: " in read_data_file(name)
    for _, (topic, what, sure, pattern) in parse_lines(read_data_file("patterns.tsv")):
        assert topic in known
        assert what
        assert sure in ("sure", "unsure")
        re.compile(pattern)


def test_no_value_is_listed_twice_for_a_topic():
    seen = [(fold_text(entry), topic) for _, entry, topic in parse_entries(read_data_file("values.tsv"))]
    doubled = {each for each in seen if seen.count(each) > 1}
    assert not {each for each in doubled if each[1] in ("sex", "marital", "race")}


@pytest.mark.parametrize("name", ["pid", "PID", "patient_no", "pat_id"])
def test_short_names_of_patient_numbers_speak_of_a_person(name: str) -> None:
    said = interpret_name(name, build_lexicon(), lambda _: True)
    assert said.topic is not None
    assert said.topic.name == "person"


@pytest.mark.parametrize(
    ("name", "topic"),
    [
        *(("cognome", "person name"), ("codice_fiscale", "number of a person"), ("data di nascita", "birth")),
        *(("Età", "age"), ("sesso", "sex"), ("CAP", "postcode"), ("comune di residenza", "place")),
        *(("reparto", "unit"), ("diagnosi", "diagnosis"), ("stipendio", "income")),
    ],
)
def test_names_are_read_in_italian(name, topic):
    assert interpret_name(name, build_lexicon(None), lambda _: True)[0].name == topic
