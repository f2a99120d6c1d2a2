"""Count the words of every sentence that people read: README, docs, help texts, public docstrings, what is printed.

A text has at most 18 words a sentence on average, and no sentence of more than 25. Code, tables, headings, formulas
and lists of names are not counted; what stands in backticks is one word.

Run it without arguments for a verdict, or with the names of pages to see their longest sentences.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from check_wording import HOUSE, find_forms, is_sentence, read_catalogue

ROOT = Path(__file__).parent.parent
MOST_ON_AVERAGE = 18
MOST = 25

_NOT_PROSE = re.compile(r"^```.*?^```|^<!--.*?-->|^\s*[|#!].*?$|^---$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"`+[^`]*`+")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_PARAGRAPHS = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )")
# The end of a sentence, not that of "e.g." or of a number. A colon or a semicolon ends none, wherever the line breaks.
_ENDS = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bet al)(?<!\bvs)(?<!\bSec)(?<!\bNo)[.!?][\"')*_]*(?:\s+|$)")
_WORD = re.compile(r"[^\W\d_][\w'’-]*|\d[\d.,:/%-]*")


def sentences(markdown: str) -> list[str]:
    r"""Return the sentences of the prose of a text in Markdown.

    Examples
    --------
    >>> sentences("# Title\n\nUse `k = 5`. It holds, e.g. here.\n\n- one\n- two words")
    ['Use name', 'It holds, e.g. here', 'one', 'two words']
    """
    prose = _NOT_PROSE.sub("\n\n", markdown)
    prose = _LINK.sub(r"\1", _NAMED.sub("name", prose))
    parts = [re.sub(r"^\s*(?:[-*]|\d+\.)\s+", "", part) for part in _PARAGRAPHS.split(prose)]
    found = [" ".join(each.split()) for part in parts for each in _ENDS.split(part)]
    return [each for each in found if _WORD.search(each)]


def n_words(sentence: str) -> int:
    """Return how many words and numbers a sentence has."""
    return len(_WORD.findall(sentence))


def texts() -> Iterator[tuple[str, str]]:
    """Yield the name and the prose of everything that people read."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))):
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    yield "help of the command", "\n\n".join(_help())
    yield "public docstrings", "\n\n".join(_docstrings())
    yield "what the program prints", "\n\n".join(_sentences_of_the_program())


def _help() -> Iterator[str]:
    from typer.main import get_command

    from hushtable import cli

    for command in get_command(cli.build_app()).commands.values():  # type: ignore[attr-defined]
        yield re.sub(r"Examples?:.*?(?:\n\s*\n|$)", "", command.help or "", flags=re.DOTALL)
        yield from (each.help for each in command.params if getattr(each, "help", None))


def _sentences_of_the_program() -> Iterator[str]:
    """Yield the forms of sentences and their German, a word for what varies; code in every language is not prose."""
    german = read_catalogue(HOUSE / "wording" / "data" / "de.tsv")
    for form in dict.fromkeys(form for form, _ in find_forms(HOUSE) if is_sentence(form)):
        for text in () if german.get(form) == "-" else (form, german.get(form, "")):
            plain = _NAMED.sub("name", text.replace(".{", ". {")).replace("`", " ")
            yield re.sub(r"\{(?:\d(?::\w)?)?\}", "word", plain)


def _docstrings() -> Iterator[str]:
    import hushtable

    for name in hushtable.__all__:
        found = getattr(hushtable, name)
        parts = [found]
        if inspect.ismodule(found):
            parts += [getattr(found, each) for each in getattr(found, "__all__", ())]
        for part in parts:
            methods = [each for own, each in vars(part).items() if own[0] != "_"] if inspect.isclass(part) else []
            for each in (part, *methods):
                each = each.fget if isinstance(each, property) else getattr(each, "__func__", each)
                if inspect.isclass(each) or inspect.isfunction(each):
                    # Parameters and references have a form of their own; the summary and what follows it are prose.
                    yield re.split(r"\n\w[\w ]*\n-{3,}\n", inspect.getdoc(each) or "")[0]


def complaints(name: str, text: str) -> list[str]:
    """Return what is wrong with a text."""
    counts = [(n_words(each), each) for each in sentences(text)]
    if not counts:
        return []
    average = sum(n for n, _ in counts) / len(counts)
    told = [f"{name}: {average:.1f} words a sentence on average"] if average > MOST_ON_AVERAGE else []
    return told + [f"{name}: {n} words: {each[:90]}..." for n, each in counts if n > MOST]


def main() -> int:
    """Complain of every page and sentence that is too long; 1 where there is one."""
    wanted = sys.argv[1:]
    told = [
        each
        for name, text in texts()
        if not wanted or any(each in name for each in wanted)
        for each in complaints(name, text)
    ]
    print("\n".join(told) if told else "no sentence is too long")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
