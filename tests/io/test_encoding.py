"""How a text is encoded is told by the words that it spells, for tables and for the files beside them."""

import polars as pl
import pytest

import hushtable as ht
from hushtable.io import frames
from hushtable.io.encoding import encoding_of
from hushtable.policy import convert

TEXTS = {
    "German": "name;ort\nMüller;Köln\nWeiß;Straße\nÖzil;größe\n",
    "German capitals": "name;ort\nMÜLLER;KÖLN\nÄRZTE;GRÜN\n",
    "French": "nom;lieu\nFrançois;Hélène\nL’Été;hôpital\n",
    "Spanish": "nombre;lugar\nJosé;García\nPérez;España\n",
    "Danish": "navn;by\nSøren;Århus\nÆrø;København\n",
    "Portuguese": "nome;lugar\nJoão;São Paulo\n",
    "one word": "a;b\nx;Straße\n",
}


@pytest.mark.parametrize("encoding", ["cp1252", "mac_roman"])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_mac_roman_is_told_from_cp1252_by_the_words(tmp_path, text, encoding):
    path = tmp_path / "people.csv"
    path.write_bytes(text.encode(encoding))
    frame = frames.read(path)
    assert frame.dialect.encoding == encoding
    rows = zip(*(frame.column(name) for name in frame.columns), strict=True)
    assert "".join(f"{';'.join(row)}\n" for row in [frame.columns, *rows]) == text
    assert encoding_of(path) == encoding


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        # Signs tell nothing: no letter of mac-roman is read into them.
        ("a;b\n5°C;m²\n10 €;a–b\n“x”;Brand™\ndon’t;Art.§\n", "cp1252"),
        # Spelled by both: K\x9aln is Kšln or Köln.
        ("a;b\nKöln;Öl\n", "mac_roman"),
        # Of a third encoding, mac-roman does not spell all either.
        ("a;b\nŁódź;źdźbło\npięć;Kraków\nGrażyna;są\n", "cp1250"),
    ],
)
def test_what_leaves_a_doubt_stays_cp1252(tmp_path, text, encoding):
    path = tmp_path / "people.csv"
    path.write_bytes(text.encode(encoding))
    assert frames.read(path).dialect.encoding == "cp1252"


def write_all(folder, encoding):
    """Write a table and what lies beside it: a policy, a hierarchy, domains, words, code lists."""
    texts = {
        "t.csv": "größe;ort\nklein;Köln\ngroß;Münster\n" * 5,
        "policy.yaml": "version: 1\n"
        "columns:\n"
        "  größe: {role: quasi-identifier, hierarchy: größe.csv}\n"
        "  ort: {role: quasi-identifier}\n"
        "domains: domains.txt\n"
        "models: [{k-anonymity: {k: 2}}]\n",
        "größe.csv": "klein;Größe\ngroß;Größe\n",
        "domains.txt": "ort/Städte über alles: Köln, Münster\n",
        "words.txt": "Wuchs, Größe\tage\n",
        "codes.hrc": "Süden\n@München\n@Füssen\n",
        "tree.txt": "distinct\nheight 2\n\nSüden has München Füssen\n",
    }
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode(encoding))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "mac_roman"])
def test_what_lies_beside_a_table_is_decoded_as_the_table_is(tmp_path, encoding):
    write_all(tmp_path, encoding)
    policy = ht.Policy.read(tmp_path / "policy.yaml")
    assert list(policy.columns) == ["größe", "ort"]
    assert ht.Hierarchy.from_csv(tmp_path / "größe.csv").labels[1] == ("Größe",)
    assert ht.Hierarchy.from_domains(tmp_path / "domains.txt")["ort"].labels[1] == ("Städte über alles",)
    table = pl.DataFrame({"Wuchs": [31, 34, 52, 57, 31]})
    assert ht.find_quasi_identifiers(table, words=tmp_path / "words.txt").quasi_identifiers == ("Wuchs",)
    for name in ("codes.hrc", "tree.txt"):
        (made,) = convert(tmp_path / name).files.values()
        assert sorted(made.splitlines()) == ["Füssen;Süden;*", "München;Süden;*"]
