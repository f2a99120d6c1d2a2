"""Words in cells follow `write: {language: de}`, which scan proposes and the manifest tells."""

import json

import polars as pl
import pytest
import yaml

import hushtable as ht
from hushtable.columns import LANGUAGES, fold_text, words_of
from hushtable.hierarchy.rules import DICTIONARIES, _read_paths, _read_rows, translate_label
from hushtable.policy.proposal import infer_language

ENGLISH_WORDS = ("Western", "Europe", "other", "more", "secondary", "degree", "values")
JOBS = ["Ärztin", "Bäcker", "Dachdecker", "Erzieherin", "Fahrer", "Gärtner", "Koch", "Lehrerin", "Maurer", "Pfleger"]
LANDS = ["Deutschland", "Frankreich", "Polen", "Türkei", "Syrien", "Italien"]
SCHOOLS = ["Hauptschulabschluss", "Abitur", "Bachelor", "Promotion"]


def patients(n=600):
    return pl.DataFrame(
        {
            "plz": [f"{(i * i * 37) % 89 + 10:02}{i % 7:03}" for i in range(n)],
            "geschlecht": ["männlich" if i % 3 else "weiblich" for i in range(n)],
            "beruf": [JOBS[(i * i + i // 7) % len(JOBS)] for i in range(n)],
            "nationalität": [LANDS[(i * 5 + i // 11) % len(LANDS)] for i in range(n)],
            "abschluss": [SCHOOLS[(i // 3) % len(SCHOOLS)] for i in range(n)],
            "diagnose": ["I10" if i % 2 else "E11" for i in range(n)],
        }
    )


QI = ["plz", "geschlecht", "beruf", "nationalität", "abschluss"]
POLICY = {
    "version": 1,
    "columns": {
        "plz": {"role": "quasi-identifier", "kind": "category", "hierarchy": {"prefix": [4, 3, 2, 1]}},
        "geschlecht": "quasi-identifier",
        "beruf": "quasi-identifier",
        "nationalität": {"role": "quasi-identifier", "hierarchy": {"dictionary": "countries"}},
        "abschluss": {"role": "quasi-identifier", "hierarchy": {"dictionary": "education"}},
        "diagnose": "sensitive",
    },
    "models": [{"k-anonymity": 40}],
    "method": {"mondrian": {"recoding": "readable", "max_length": 30}},
    "write": {"language": "de"},
}


def test_all_words_of_a_german_release_are_german(tmp_path):
    patients().write_csv(tmp_path / "in.csv")
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump(POLICY, allow_unicode=True))
    rules = ht.Policy.read(tmp_path / "policy.yaml")
    release = rules.protect(tmp_path / "in.csv")
    out = tmp_path / "out.csv"
    release.write(out)
    published = pl.read_csv(out, infer_schema=False).select(QI)
    cells = {cell for name in QI for cell in published[name].unique().drop_nulls()}
    assert any("weitere" in cell for cell in cells)
    assert {"Europa", "Hochschulabschluss", "Westeuropa"} & cells
    assert not [cell for cell in cells if any(word in cell for word in ENGLISH_WORDS)]
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert manifest["language"] == "de"
    assert manifest["claim"]["hierarchies"]["nationalität"] == {"dictionary": {"of": "countries", "language": "de"}}
    assert rules.verify(out).passed
    told = (tmp_path / "out.csv.codebook.md").read_text()
    assert "`Westeuropa`" in told or "`Europa`" in told
    assert not [word for word in ("Western Europe", "Korea", "Österreich") if word in told]
    assert release.verify().passed


def test_python_the_policy_and_the_saved_recoding_say_the_same(tmp_path):
    rows = patients()
    asked = {"quasi_identifiers": ["nationalität"], "models": [ht.KAnonymity(150)]}
    ladders = {"nationalität": ht.Hierarchy.dictionary("countries")}
    method = ht.Mondrian(recoding="readable", max_listed=1)
    release = ht.anonymize(rows, **asked, hierarchies=ladders, method=method, language="de", roles="trust")
    labels = set(release.frame["nationalität"])
    assert labels <= {"Europa", "Asien", "Westeuropa", "Westasien", "Osteuropa", "Südeuropa", "*", *LANDS}
    assert labels & {"Europa", "Asien", "Westeuropa"}
    release.save_recoding(tmp_path / "next.json")
    assert set(ht.Recoding.read(tmp_path / "next.json").apply(rows).frame["nationalität"]) == labels
    english = ht.anonymize(rows, **asked, hierarchies=ladders, method=method, roles="trust")
    assert set(english.frame["nationalität"]) & {"Europe", "Asia", "Western Europe"}


def test_an_unknown_language_is_refused():
    with pytest.raises(ht.InputError, match="language = 'xx'"):
        ht.anonymize(patients(), quasi_identifiers=["plz"], models=[ht.KAnonymity(5)], language="xx")
    with pytest.raises(ht.PolicyError, match="language"):
        ht.Policy.make({**POLICY, "write": {"language": "xx"}})


@pytest.mark.parametrize("language", LANGUAGES)
def test_labels_are_translated_one_by_one_and_mean_their_own_branch(language):
    for of in DICTIONARIES:
        known = {label for _, labels in _read_rows(of) for label in labels}
        told = {label: translate_label(label, language) for label in known | {"other"}}
        assert len(set(told.values())) == len(told)
        for _, labels in _read_rows(of):
            for level, label in enumerate(labels):
                # In Spanish, as in English, America is a country too: in the continent of its name.
                path = _read_paths(of)[fold_text(told[label])]
                assert path[level] == label or (label in path and told[label] == "América")
    assert len(set(words_of(language))) == len(words_of(language))


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        (["Geschlecht", "PLZ", "beruf", "age"], "de"),
        (["sexe", "date de naissance", "célibataire"], "fr"),
        (["sexo", "fecha de nacimiento", "soltero"], "es"),
        (["sesso", "stato civile", "cognome"], "it"),
        (["geslacht", "geboortedatum", "beroep"], "nl"),
        (["age", "sex", "plz"], "en"),
        (["x", "y"], "en"),
        (["plz"], "en"),
        ([], "en"),
    ],
)
def test_the_language_is_told_from_words(texts, language):
    assert infer_language(texts)[0] == language


def test_scan_proposes_the_language(tmp_path):
    from command import done

    patients().write_csv(tmp_path / "in.csv")
    assert done("scan", tmp_path / "in.csv", "-p", tmp_path / "policy.yaml").code == 0
    written = (tmp_path / "policy.yaml").read_text()
    assert "write: {language: de}" in written
    assert (
        done(
            "anonymize",
            tmp_path / "in.csv",
            "--qi",
            "beruf",
            "--k",
            "90",
            "--other",
            "diagnose",
            "--identifier",
            "plz,abschluss,nationalität,geschlecht",
            "--language",
            "de",
            "-o",
            tmp_path / "o.csv",
        ).code
        == 0
    )
    assert json.loads((tmp_path / "o.csv.manifest.json").read_text())["language"] == "de"
