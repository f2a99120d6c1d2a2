"""The check of prose counts words of sentences, and nothing that is no prose."""

import inspect
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

import check_prose

import hushtable

PAGE = """# A title of many words that nobody counts as a sentence

One sentence, e.g. this one. Another has `code of many words` and a [link of two](x.md)!

| a table | is not read |
|---|---|

- an item without an end
- a second item
  on two lines

```python
print("nor is code")
```
"""


def test_sentences_and_items_are_counted_and_code_tables_and_titles_are_not():
    assert check_prose.sentences(PAGE) == [
        "One sentence, e.g. this one",
        "Another has name and a link of two",
        "an item without an end",
        "a second item on two lines",
    ]
    assert [check_prose.n_words(each) for each in check_prose.sentences(PAGE)] == [6, 8, 5, 6]


def test_a_page_of_long_sentences_is_complained_of():
    assert not check_prose.complaints("page", PAGE)
    long = " ".join(["word"] * 26)
    average, sentence = check_prose.complaints("page", f"{long}.")
    assert "26.0 words a sentence on average" in average
    assert "26 words" in sentence


def test_a_sentence_goes_on_after_a_colon_or_a_semicolon_at_the_end_of_a_line():
    assert check_prose.sentences("It holds:\nhere; and\nthere;\neverywhere.") == [
        "It holds: here; and there; everywhere"
    ]


def test_help_texts_and_docstrings_are_among_what_is_read():
    names = dict(check_prose.texts())
    assert {"README.md", "docs/quickstart.md", "help of the command", "public docstrings"} <= set(names)
    assert "k-anonymity" in names["what the program prints"]
    assert len(check_prose.sentences(names["help of the command"])) > 200
    docstrings = names["public docstrings"]
    assert len(check_prose.sentences(docstrings)) > 300
    # Of a function, a method, a property and a function of a module.
    for found in (
        hushtable.anonymize,
        hushtable.Release.write,
        hushtable.Release.frame,
        hushtable.datasets.people,
    ):
        assert inspect.getdoc(found).splitlines()[0] in docstrings
