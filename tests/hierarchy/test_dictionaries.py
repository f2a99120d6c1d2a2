"""Dictionaries: what the package's lists of values say, and that no column breaks what is made of them."""

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import hushtable as ht
from hushtable.claims.column_entries import rules_of
from hushtable.columns.column import from_texts
from hushtable.columns.spellings import fold_text
from hushtable.hierarchy import rules
from hushtable.hierarchy.rules import DICTIONARIES, OTHER, Dictionary, _read_paths, _read_rows, share_in_dictionary
from hushtable.io import frames
from hushtable.release import manifest


def built(of: str, values: list[str]) -> ht.Hierarchy:
    column, _ = from_texts("x", values, "category")
    return ht.Hierarchy.build({"dictionary": of}, column)


def labels_of(of: str, value: str) -> list[str]:
    ladder = built(of, [value])
    return [labels[0] for labels in ladder.labels[1:-1]]


@pytest.mark.parametrize("of", DICTIONARIES)
def test_every_value_has_one_path(of: str) -> None:
    paths: dict[str, set[tuple[str, ...]]] = {}
    for values, labels in _read_rows(of):
        assert len(labels) == len(DICTIONARIES[of])
        for value in values:
            paths.setdefault(fold_text(value), set()).add(labels)
    assert "" not in paths
    assert fold_text(OTHER) not in paths
    assert not {value: found for value, found in paths.items() if len(found) > 1}


@pytest.mark.parametrize("of", DICTIONARIES)
def test_every_label_is_in_its_own_branch(of: str) -> None:
    labels = {label for _, labels in _read_rows(of) for label in labels}
    assert all(label in _read_paths(of)[fold_text(label)] for label in labels)
    values = sorted({value for values, _ in _read_rows(of) for value in values} | labels | {OTHER, "Other", "?"})
    ladder = built(of, values)
    assert ladder.n_levels == len(DICTIONARIES[of]) + 2


@pytest.mark.parametrize("of", DICTIONARIES)
@given(data=st.data())
def test_any_column_has_a_ladder(of: str, data: st.DataObject) -> None:
    known = [value for values, labels in _read_rows(of) for value in (*values, *labels)]
    value = st.sampled_from(known) | st.text(min_size=1).filter(lambda text: text.strip() and text.strip() != "*")
    values = data.draw(st.lists(value.map(str.strip), min_size=1, max_size=8))
    ladder = built(of, values)
    for code, text in enumerate(ladder.values):
        expected = _read_paths(of).get(fold_text(text), (OTHER,) * len(DICTIONARIES[of]))
        assert tuple(ladder.labels[i + 1][ladder.level_codes[i + 1, code]] for i in range(len(expected))) == expected


@pytest.mark.parametrize(
    ("value", "labels"),
    [
        ("united-states", ["Northern America", "Americas"]),
        ("Côte d’Ivoire", ["Western Africa", "Africa"]),
        ("ÖSTERREICH", ["Western Europe", "Europe"]),
        ("DEU", ["Western Europe", "Europe"]),
        ("Europa", ["Europe", "Europe"]),
        ("Holand-Netherlands", ["Western Europe", "Europe"]),
        ("印度", ["Southern Asia", "Asia"]),
        ("Atlantis", [OTHER, OTHER]),
        ("?", [OTHER, OTHER]),
    ],
)
def test_countries(value: str, labels: list[str]) -> None:
    assert labels_of("countries", value) == labels


@pytest.mark.parametrize(
    ("value", "level"),
    [
        ("HS-grad", "upper secondary"),
        ("abitur", "upper secondary"),
        ("Ph.D.", "doctorate"),
        ("Lehre", "vocational training"),
    ],
)
def test_education(value: str, level: str) -> None:
    assert labels_of("education", value)[0] == level


def test_known_rate() -> None:
    column, _ = from_texts("x", ["France", "Peru", "Atlantis", "Lemuria"], "category")
    assert share_in_dictionary("countries", column) == 0.5
    assert share_in_dictionary("countries", from_texts("x", [], "category")[0]) == 0


def test_a_manifest_may_tell_it() -> None:
    ladder = built("countries", ["France", "Peru"])
    assert rules_of({"x": ladder}) == {"x": {"dictionary": {"of": "countries", "language": "en"}}}
    assert rules.from_dict({"dictionary": {"of": "countries"}}) == Dictionary("countries") == ladder.rule
    assert ht.Hierarchy.dictionary("countries") == Dictionary("countries")


def test_an_unknown_dictionary_names_those_there_are() -> None:
    with pytest.raises(ht.HierarchyError, match="countries, education"):
        ht.Hierarchy.dictionary("jobs")


def test_a_release_by_dictionary_is_verified_from_its_file(tmp_path: Path) -> None:
    values = ["France", "Suisse", "Peru", "Brasil", "Atlantis", "Lemuria", "US", "Kanada"] * 3
    text = "country,note\n" + "".join(f"{value},x\n" for value in values)
    (tmp_path / "in.csv").write_text(text, encoding="utf-8")
    asked = {"quasi_identifiers": ["country"], "models": [ht.KAnonymity(6)]}
    release = ht.anonymize(tmp_path / "in.csv", hierarchies={"country": {"dictionary": "countries"}}, **asked)
    assert set(release.frame["country"]) == {"Western Europe", "South America", "Northern America", "other"}
    release.write(tmp_path / "out.csv", external=True)
    assert manifest.claim_of(tmp_path / "out.csv").verify(frames.read(tmp_path / "out.csv")).passed
