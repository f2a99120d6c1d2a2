"""How a text is encoded is told by the words that it spells, for tables and for the files beside them."""

import pytest

from hushtable.io import frames
from hushtable.io.encoding import encoding_of

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
