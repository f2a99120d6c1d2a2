"""Random calls of `hushtable.anonymize`: a table, roles, models, a method and its options."""

from __future__ import annotations

import contextlib
import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import hushtable as ht
from campaign.ladders import Ladder, calendar, ladder, prefixes
from campaign.tables import COUNTED, FORMS, NAMES, Made, build, column, kind_of_texts, records
from judging_slow import Terms
from reading import text_of


@dataclass(frozen=True)
class Request:
    """A call, and all that a judge needs to know of it."""

    data: Any
    form: str
    columns: dict[str, Made]
    call: dict[str, Any]
    original: list[dict[str, Any]]
    people: list[dict[str, Any]] | None
    ladders: dict[str, Ladder]
    secrets: tuple[str, ...]
    identifiers: tuple[str, ...]
    other: tuple[str, ...]
    roles: dict[str, str] = field(default_factory=dict)

    @property
    def sensitive(self) -> list[str]:
        """All sensitive columns, those of the models and those named besides."""
        return [name for name, role in self.roles.items() if role == "sensitive"]

    def terms(self) -> Terms:
        """Return what the judge is told."""
        kinds, orders = {}, {}
        for name, made in self.columns.items():
            spec = self.call.get("specs", {}).get(name)
            texts = [row[name] for row in [*self.original, *(self.people or ())] if name in row]
            # Sensitive texts are typed as a CSV's are: two spellings of one value are one value. A Table has kinds.
            is_text = (
                made.dtype in ("text", "factor")
                and self.roles[name] == "sensitive"
                and self.form not in ("Table", COUNTED)
            )
            kinds[name] = kind_of_texts(texts) if self.form == "csv" or is_text else made.kind
            if spec is not None:
                kinds[name] = spec.kind or kinds[name]
            orders[name] = (spec and spec.order) or (made.order if kinds[name] == "ordered" else ())
        people = self.people or []
        labels = {}
        for name, found in self.ladders.items():
            texts = [text_of(row[name]) for row in [*self.original, *people] if text_of(row.get(name)) is not None]
            more = (
                {**prefixes(texts), **calendar(texts, kinds[name])}
                if found.style in ("auto", "prefix", "dates")
                else {}
            )
            labels[name] = {**more, **found.labels} if found.style in ("tree", "file") else more
        if getattr(self.call["method"], "recoding", None) == "readable":
            for name in self.call["quasi_identifiers"]:
                texts = [text for row in [*self.original, *people] if (text := text_of(row.get(name))) is not None]
                labels[name] = {**calendar(texts, kinds[name]), **labels.get(name, {})}
        above = {name: found.above for name, found in self.ladders.items() if found.above}
        qi = self.call["quasi_identifiers"]
        return Terms(qi, self.sensitive, self.call["models"], kinds, labels, orders, above)

    def reproduction(self) -> str:
        """Write the call as Python, where that is short."""
        table = {name: (made.dtype, made.values) for name, made in self.columns.items()}
        call = {name: value for name, value in self.call.items() if name != "population"}
        if self.ladders:
            call["hierarchies"] = {name: found.above or found.given for name, found in self.ladders.items()}
        given = ", ".join(f"{name}={value!r}" for name, value in call.items())
        people = f"\npopulation = {self.people!r}" if self.people else ""
        text = f"table = {table!r}  # as {self.form}{people}\nht.anonymize(table, {given})"
        return text if len(text) < 2500 else f"{text[:2500]} ... ({len(self.original)} rows)"


def request(random: Random, folder: Path, *, tame: bool = False) -> Request:
    """Draw a call; a tame one is likely to end in a release."""
    n = random.choices(
        (random.randint(1, 12), random.randint(8, 40), random.randint(200, 400)), (4, 6, 0 if tame else 0.4)
    )[0]
    n = max(n, 6) if tame else n
    secret = f"SeCrEt{random.randrange(10**9)}"
    names = random.sample(NAMES, random.randint(2, 6))
    columns = {name: column(random, n, secret) for name in names}
    form = random.choice(FORMS if tame or random.random() < 0.9 else (COUNTED,))
    roles = dict.fromkeys(names[: random.randint(1, min(4, len(names)))], "quasi-identifier")
    roles |= {name: random.choice(("sensitive", "sensitive", "other")) for name in names if name not in roles}
    # What a whole table may fail and a part of it satisfy: a value that is too frequent.
    skewed = next((name for name in names if roles[name] == "sensitive"), None) if random.random() < 0.25 else None
    if skewed:
        columns[skewed] = _skewed(random, columns[skewed])
    tokens = {"id": "identifier", "mail": "pseudonym", "note": "other"}
    for name, role in tokens.items():
        if random.random() < 0.25:
            roles[name] = role
            dtype = random.choice(("text", "factor"))
            columns[name] = Made([f"{secret}-{name}-{i}" for i in range(n)], dtype, "category")
    order = list(columns)
    random.shuffle(order)
    columns = {name: columns[name] for name in order}
    data = build(columns, form, random, folder)
    _, original = records(data)
    identifiers = tuple(name for name in order if roles[name] == "identifier")
    pseudonyms = tuple(name for name in order if roles[name] == "pseudonym")
    qi = [name for name in order if roles[name] == "quasi-identifier"]
    sensitive = [name for name in order if roles[name] == "sensitive"]
    ladders = _ladders(random, columns, qi, folder)
    population, people = None, None
    call: dict[str, Any] = {"quasi_identifiers": qi, "sensitive": random.choice(([], sensitive))}
    if not skewed and random.random() < (0.1 if tame else 0.25):
        population, people = _population(random, columns, qi, form, folder)
        call["population"] = population
    call["models"] = models(random, sensitive, columns, people is not None, ladders, folder)
    while "method" not in call:
        # Options that do not go together are refused when the method is made.
        with contextlib.suppress(ht.InputError):
            call["method"] = method(random, n, qi, columns, call["models"])
    if not isinstance(call["method"], ht.Mondrian) or random.random() < 0.02:
        call["loss"] = random.choice(("ncp", "certainty", "minimal_distortion", ht.Certainty({qi[0]: 2.0}), "ncp"))
    elif random.random() < 0.2:
        call["loss"] = ht.SetNCP({random.choice(qi): random.choice((0.5, 2, 10))})
    if isinstance(call["method"], ht.MinGen) and n > 16:
        call["budget"] = ht.Budget(seconds=1)
    if ladders:
        call["hierarchies"] = {name: found.given for name, found in ladders.items()}
        call["unknown"] = random.choice(("error", "suppress"))
    if skewed:
        call["models"] = [ht.KAnonymity(2), _frequency_model(random, skewed)]
        call["method"] = ht.Mondrian(recoding=random.choice(("tight", "cut", "label", "set")))
        call["suppression_limit"] = random.choice((0.3, 0.9, 0.9))
        call.pop("budget", None)
    elif random.random() < 0.35:
        call["suppression_limit"] = random.choice((0.05, 0.2, 0.5, 0.9))
    specs = {name: _spec(random, original, name) for name in (*qi, *sensitive) if random.random() < 0.04}
    # A Table has its kinds.
    if specs and form not in ("Table", COUNTED):
        call["specs"] = specs
    if identifiers:
        call["identifiers"] = identifiers
    if pseudonyms:
        call["pseudonyms"] = ht.Pseudonyms(pseudonyms, bytes(random.sample(range(256), 24)))
    used = {name for model in call["models"] for name in model.needs.sensitive} | set(call["sensitive"])
    for name in sensitive:
        roles[name] = "sensitive" if name in used else "other"
    other = tuple(name for name in order if roles[name] == "other")
    return Request(
        data, form, columns, call, original, people, ladders, (secret,), (*identifiers, *pseudonyms), other, roles
    )


def _ladders(random: Random, columns: dict[str, Made], qi: list[str], folder: Path) -> dict[str, Ladder]:
    if random.random() < 0.5:
        return {}
    return {name: ladder(random, columns[name], folder, str(i)) for i, name in enumerate(qi) if random.random() < 0.5}


def _population(
    random: Random, columns: dict[str, Made], qi: list[str], form: str, folder: Path
) -> tuple[Any, list[dict[str, Any]]]:
    """Return the records and others like them, with now and then a value that the records lack."""
    n = len(columns[qi[0]].values)
    extra = random.randint(0, 2 * n)
    rows = [*range(n), *(random.randrange(n) for _ in range(extra))]
    random.shuffle(rows)
    people = {}
    for name in qi:
        made = columns[name]
        values = [made.values[i] for i in rows]
        if random.random() < 0.6:
            values = [random.choice(made.values) if i >= n else value for i, value in zip(rows, values, strict=True)]
        people[name] = Made(values, made.dtype, made.kind, made.order)
    data = build(people, form, random, folder, "population")
    return data, records(data)[1]


def models(
    random: Random,
    sensitive: list[str],
    columns: dict[str, Made],
    has_people: bool,
    ladders: dict[str, Ladder],
    folder: Path,
) -> list[Any]:
    """Draw one to three models."""
    k = random.choice((1, 2, 2, 2, 3, 3, 4, 5))
    found: list[Any] = [ht.KAnonymity(k)] if random.random() < 0.8 or not (sensitive or has_people) else []
    if has_people:
        shares = random.choice(((0.0, 0.5), (0.0, 0.9), (0.1, 1.0), (0.3, 0.8), (0.0, 1.0)))
        found.append(random.choice((ht.KMap(random.randint(1, 6)), ht.DeltaPresence(*shares))))
    for name in sensitive:
        if random.random() < 0.6 or not found:
            found.append(_sensitive_model(random, name, columns[name], ladders, folder))
    return found


def _sensitive_model(random: Random, name: str, made: Made, ladders: dict[str, Ladder], folder: Path) -> Any:
    ground = random.choice(("auto", "auto", "equal", "ordered" if made.kind != "category" else "equal", "hierarchical"))
    if ground == "hierarchical":
        found = ladder(random, made, folder, f"s{len(ladders)}")
        if found.above:
            ladders[name] = found
        else:
            ground = "auto"
    return random.choice(
        (
            ht.DistinctLDiversity(random.choice((1, 2, 2, 3)), name),
            ht.EntropyLDiversity(random.choice((1, 1.5, 2)), name),
            ht.RecursiveCLDiversity(random.choice((1, 2.5, 4)), random.choice((1, 2, 3)), name),
            ht.AlphaKAnonymity(random.choice((0.5, 0.7, 1.0)), random.choice((1, 2, 3)), name),
            ht.TCloseness(random.choice((0.1, 0.3, 0.5, 0.8)), name, ground),
            ht.TCloseness(random.choice((0.2, 0.4, 0.6)), name, ground),
            ht.BetaLikeness(random.choice((0.5, 1, 3)), name, random.random() < 0.5),
            ht.DeltaDisclosure(random.choice((0.7, 1.5, 3)), name),
        )
    )


def _spec(random: Random, original: list[dict[str, Any]], name: str) -> ht.ColumnSpec:
    """Declare a column a category, or ordered in one order of its values or another."""
    texts = sorted({text for row in original if (text := text_of(row[name])) is not None})
    random.shuffle(texts)
    return ht.ColumnSpec("ordered", tuple(texts)) if texts and random.random() < 0.6 else ht.ColumnSpec("category")


def _skewed(random: Random, made: Made) -> Made:
    """Return a column in which one value is more frequent than all others."""
    known = [value for value in made.values if value is not None] or [None]
    often, share = random.choice(known), random.choice((0.3, 0.5, 0.7))
    values = [often if random.random() < share else value for value in made.values]
    return Made(values, made.dtype, made.kind, made.order)


def _frequency_model(random: Random, name: str) -> Any:
    return random.choice(
        (
            ht.AlphaKAnonymity(random.choice((0.4, 0.6)), 2, name),
            ht.EntropyLDiversity(random.choice((1.5, 1.9)), name),
            ht.RecursiveCLDiversity(random.choice((1.5, 2)), 2, name),
        )
    )


def method(random: Random, n: int, qi: list[str], columns: dict[str, Made], asked: list[Any]) -> Any:
    """Draw a method; slow ones for small tables alone."""
    roll = random.random()
    if roll < 0.15 and n <= 12:
        if len(asked) == 1 and isinstance(asked[0], ht.KAnonymity) and random.random() < 0.5:
            notion = random.choice((ht.Match1K, ht.MatchK1, ht.MatchKK, ht.Global1K, ht.GlobalK1))
            asked[:] = [notion(min(asked[0].k, 3))]
        return ht.MinGen(
            n_best=random.choice((1, 1, 3)), iterations=random.choice((None, None, 20)), seed=random.randrange(5)
        )
    if roll < 0.2 and n <= 40:
        return ht.MinGen(seed=random.randrange(5))
    if roll < 0.27 and n <= 40:
        only_k = len(asked) == 1 and isinstance(asked[0], ht.KAnonymity)
        variant = "mg-ga" if only_k and random.random() < 0.4 else "partitions"
        return ht.Genetic(variant, individuals=4 if variant == "partitions" else 12, generations=4, elite=0.25)
    if roll < 0.32:
        importance = random.sample(qi, random.randint(0, len(qi)))
        return ht.LocalSuppression({qi[0]: random.choice((0, 0.5, 3))} if random.random() < 0.3 else {}, importance)
    recoding = random.choice(("tight", "tight", "cut", "cut", "label", "set", "central", "readable", "readable"))
    # What groups and long sets are named only the codebook tells: here all are listed.
    listing = {"readable": {"max_listed": 64, "max_length": 10**5}, "cut": {"max_length": 10**5}}.get(recoding, {})
    grid = {}
    numbers = [name for name in qi if columns[name].kind in ("integer", "decimal")]
    if numbers and random.random() < 0.2:
        grid = {random.choice(numbers): random.choice((1, 5, 0.5, 10))}
    strict = random.random() < 0.85
    return ht.Mondrian(
        cut="median" if not strict or random.random() < 0.3 else "gain",
        recoding=recoding,
        strict=strict,
        margin=random.choice((0, 0, 0, 1, 2)),
        grid=grid,
        exchange=recoding != "cut" and random.random() < 0.2,
        **listing,
    )


def without_rule(model: Any) -> Any:
    """Return a model like another one, without the rule that kernels know."""
    kind = type(model)
    own = type(kind.__name__, (kind,), {"rule": None, "__slots__": ()})
    return own(**{each.name: getattr(model, each.name) for each in dataclasses.fields(model)})


@dataclass(frozen=True)
class OfSizes:
    """A loss as somebody else has it: the sum of squares of the sizes of the classes."""

    name: ClassVar[str] = "of_sizes"
    weights: ClassVar[dict[str, float]] = {}

    def measure(self, recoding: Any, sizes: Any, n_suppressed: int = 0) -> float:
        """Return the loss of a release."""
        del recoding, n_suppressed
        return float(sum(size**2 for size in sizes.tolist()))
