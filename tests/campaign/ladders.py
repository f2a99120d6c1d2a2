"""Random hierarchies, with what their labels mean by definition."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import hushtable as ht
from campaign.tables import Made
from reading import Labels, measure, text_of


@dataclass(frozen=True)
class Ladder:
    """What `hushtable.anonymize` is given for a column, and what its labels hold."""

    given: Any
    style: str
    labels: Labels = field(default_factory=dict)
    above: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The nodes above each value below the top, from its parent on; for trees."""


def ladder(random: Random, made: Made, folder: Path, name: str) -> Ladder:
    """Draw a hierarchy that suits a column, and rarely one that does not."""
    texts = sorted({text for text in map(text_of, made.values) if text is not None})
    styles = ["tree", "tree", "file", "frequency", "suppression", "auto"]
    styles += {"category": ["prefix"], "date": ["dates"], "datetime": ["dates"]}.get(made.kind, ["intervals"])
    styles += [] if made.kind == "category" else ["runs"]
    style = random.choice(styles)
    if style in ("tree", "file"):
        return _tree(random, texts, folder / f"ladder{name}.csv" if style == "file" else None)
    if style == "prefix":
        lengths = sorted(random.sample(range(1, 5), random.randint(1, 2)), reverse=True)
        return Ladder(ht.Hierarchy.prefix(lengths), style, prefixes(texts))
    if style == "dates":
        units = [unit for unit in ("day", "month", "quarter", "year", "decade") if random.random() < 0.6] or ["year"]
        return Ladder(ht.Hierarchy.dates(units), style, calendar(texts, made.kind))
    if style == "intervals":
        width = random.choice(([5], [5, 10], [0.5, 2, 10], [100, 1000], [1]))
        ends = random.choice(({}, {"low": 0}, {"high": 50}, {"low": 10, "high": 40}))
        return Ladder(ht.Hierarchy.intervals(width, **ends), style)
    if style == "frequency":
        return Ladder(ht.Hierarchy.frequency(random.randint(2, 4)), style)
    if style == "runs":
        return Ladder(ht.Hierarchy.runs(random.randint(2, 3)), style)
    if style == "suppression":
        return Ladder(ht.Hierarchy.suppression(), style)
    return Ladder("auto", style, {**prefixes(texts), **calendar(texts, made.kind)})


def _tree(random: Random, texts: list[str], path: Path | None) -> Ladder:
    """Draw a balanced tree of one or two levels between the values and the top."""
    texts = [*texts, "elsewhere"] if random.random() < 0.3 else list(texts)
    random.shuffle(texts)
    words = random.choice((("left", "right", "middle", "rest"), ("a, b", "<10", "🙂", "0*"), ("A", "B", "C", "D")))
    n_groups = random.randint(1, 4)
    groups = {word: texts[i::n_groups] for i, word in enumerate(words[:n_groups]) if texts[i::n_groups]}
    above = {text: (word,) for word, held in groups.items() for text in held}
    tree: dict[str, Any] = groups
    if random.random() < 0.4 and len(groups) > 1:
        halves = {"upper": list(groups)[::2], "lower": list(groups)[1::2]}
        tree = {half: {word: groups[word] for word in held} for half, held in halves.items()}
        above = {text: (word, half) for half, held in halves.items() for word in held for text in groups[word]}
    labels: dict[str, set[str | None]] = {}
    for text, nodes in above.items():
        for node in nodes:
            labels.setdefault(node, set()).add(text)
    if path is None or any(sign in text for text in [*above, *words] for sign in ';"\n\t|,'):
        return Ladder({"tree": tree}, "tree", labels, above)
    path.write_text("".join(";".join((text, *above[text], "*")) + "\n" for text in sorted(above)), encoding="utf-8")
    return Ladder(path, "file", labels, above)


def prefixes(texts: list[str]) -> dict[str, set[str | None]]:
    """Return what ``012*`` means: the texts that start so, ``012`` too."""
    found: dict[str, set[str | None]] = {}
    for text in texts:
        for length in range(1, len(text) + 1):
            found.setdefault(f"{text[:length]}*", set()).add(text)
    return found


def calendar(texts: list[str], kind: str) -> dict[str, set[str | None]]:
    """Return what ``2024-05``, ``2024-Q2``, ``2024`` and ``2020s`` mean."""
    found: dict[str, set[str | None]] = {}
    for text in texts if kind in ("date", "datetime") else ():
        day = measure(text, kind).date()
        labels = [f"{day.year:04d}-{day.month:02d}", f"{day.year:04d}-Q{(day.month + 2) // 3}", f"{day.year:04d}"]
        labels += [f"{day.year // 10 * 10:04d}s"] + ([day.isoformat()] if kind == "datetime" else [])
        for label in labels:
            found.setdefault(label, set()).add(text)
    return found
