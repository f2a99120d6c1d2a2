"""The policy that a scan proposes, as a text that explains itself to whoever must decide."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from textwrap import fill, indent
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from hushtable.columns import ENGLISH, Column, ColumnSpec, OddCells, count_missing_codes, fold_text, is_missing_word
from hushtable.discover import PROSE, ProposedRole, Roles
from hushtable.errors import PolicyError
from hushtable.hierarchy import (
    UNITS,
    Dates,
    Dictionary,
    Prefix,
    Rounding,
    Rule,
    code_lengths,
    format_exact,
    length_of_codes,
    prefix_lengths,
    share_in_dictionary,
    to_dict,
)
from hushtable.io import Frame
from hushtable.policy import plain_yaml
from hushtable.policy.sections import ASK, MEANINGS
from hushtable.release import ExposureLimit
from hushtable.tables import Table, count_open_ends, find_missing_codes, nameable_codes
from hushtable.wording import current_language, translate, use_language

if TYPE_CHECKING:
    from hushtable.columns import ProposedStep

_WORDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        language: frozenset(map(fold_text, words.split(", ")))
        for language, words in {
            "en": "age, sex, gender, birth, date, job, occupation, education, income, salary, country, city, name, "
            "marital, status, race, male, female, married, single, divorced, widowed, yes, no, unknown, other, visit",
            "de": "alter, geschlecht, geburtsdatum, geburtsjahr, geburtsort, datum, plz, postleitzahl, wohnort, ort, "
            "beruf, bildung, abschluss, familienstand, staatsangehörigkeit, nationalität, einkommen, gehalt, vorname, "
            "nachname, kreis, gemeinde, aufnahme, entlassung, männlich, weiblich, ledig, verheiratet, geschieden, "
            "verwitwet, ja, nein, deutsch, Deutschland, unbekannt, keine Angabe, uhrzeit, krankenkasse, diagnose",
            "fr": "âge, sexe, naissance, code postal, commune, ville, profession, métier, diplôme, revenu, salaire, "
            "nationalité, prénom, nom, pays, homme, femme, célibataire, marié, mariée, divorcé, divorcée, veuf, veuve, "
            "oui, non, inconnu, situation familiale, date de naissance, département, domicile",
            "es": "edad, sexo, nacimiento, código postal, municipio, ciudad, profesión, ocupación, estudios, "
            "ingresos, salario, nacionalidad, nombre, apellido, apellidos, país, hombre, mujer, soltero, soltera, "
            "casado, casada, divorciado, viudo, sí, desconocido, estado civil, fecha, fecha de nacimiento, provincia",
            "it": "età, sesso, nascita, cap, comune, città, professione, occupazione, istruzione, reddito, stipendio, "
            "nazionalità, cittadinanza, cognome, paese, maschio, femmina, celibe, nubile, coniugato, coniugata, "
            "divorziato, vedovo, sconosciuto, stato civile, data, data di nascita, provincia di nascita",
            "nl": "leeftijd, geslacht, geboortedatum, geboortejaar, woonplaats, gemeente, beroep, opleiding, inkomen, "
            "salaris, nationaliteit, voornaam, achternaam, land, man, vrouw, ongehuwd, gehuwd, gescheiden, weduwe, "
            "nee, onbekend, burgerlijke staat, datum van opname",
        }.items()
    }
)
_MIN_WORDS: Final = 2


def infer_language(texts: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Return the language of the most words among names of columns and cells, and these words; English in doubt."""
    folded = {fold_text(text) for text in texts}
    words = folded | {word for text in folded for word in text.split()}
    matches = {language: sorted(words & known) for language, known in _WORDS.items()}
    best = max(matches, key=lambda language: len(matches[language]))
    # If another language has as many words, the language is unsure.
    is_sure = (
        len(matches[best]) >= _MIN_WORDS and sum(len(each) == len(matches[best]) for each in matches.values()) == 1
    )
    best = best if is_sure else ENGLISH
    return best, tuple(matches[best])


_DICTIONARIES: Final = {"nation": "countries", "education": "education"}
_MIN_KNOWN_RATE: Final = 0.7
_ILLNESS: Final = re.compile(r"[A-Z][0-9]{2}(\.?[0-9A-Z]{1,4})?[!*+]?", re.ASCII)
_MIN_FITTING_RATE: Final = 0.9


def propose_rule(column: Column, topic: str) -> Rule | None:
    """Propose a rule for a quasi-identifier; None if its own values are better cut points, as for numbers."""
    if column.n_values < 3:
        return None
    if column.kind == "date":
        return Dates(tuple(UNITS)[max(1, list(UNITS).index(column.precision)) :])
    if column.kind == "datetime":
        return Dates(("day", "month", "year", "decade"))
    texts = column.texts()
    if topic == "postcode" and column.kind in ("category", "integer") and (length := length_of_codes(texts)) > 1:
        return Prefix(prefix_lengths(length))
    if column.kind != "category":
        return None
    if sum(_ILLNESS.fullmatch(text) is not None for text in texts) >= _MIN_FITTING_RATE * len(texts):
        return Prefix((3, 1))
    of = _DICTIONARIES.get(topic)
    if of is not None and share_in_dictionary(of, column) >= _MIN_KNOWN_RATE:
        return Dictionary(of)
    return Prefix(code_lengths(column)) if code_lengths(column) else None


# Further entries that a policy may have, each with its explanation.
_PERSON: Final = "person: COLUMN"
_LIMITS: Final = """\
limits:
  highest_risk: 0.2
  average_risk: 0.1
  suppression: 0.01
  exposure: {columns: 2, rate: 0.05}"""
_OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        _PERSON: "whose record a row is, where a person has several: classes count persons",
        "household: COLUMN": "who belongs together: households are published whole, and classes count them",
        "dates: {within: 26W, window: [2020-01-01, 2024-12-31]}": "how far dates are shifted, with action: shift of a "
        "column",
        "release: second": "other pseudonyms than those of earlier releases under the same key",
        "tabulations: {by: [[COLUMN]], threshold: 10}": "tables of counts, for hushtable tables",
        "search_models: [distinct-l-diversity: {l: 3, sensitive: COLUMN}]": "stricter than models: the search keeps "
        "them as a margin, and the release does not claim them",
        "population: people.csv": "the people among whom the records are, for k-map and delta-presence",
        "domains: domains.txt": "hierarchies of several columns, a line `column/node: value, value` each",
        "write: {encoding: cp1252, language: en}": "of the release, UTF-8 as now; decimal: ',' writes numbers with a "
        "comma; words in cells in English, or in de, fr, es, it, nl",
        "missing: category": "a missing value is a value of its own, as now",
        "unknown: suppress": "values that a hierarchy does not list: error (as now), or *",
        "method: {mondrian: {cut: gain, recoding: readable}}": "as now; or mingen, genetic: see docs/anonymize.md",
        "loss: {ncp: {weights: {COLUMN: 2}}}": "what is kept small, and which columns count more",
        "importance: {COLUMN: 3}": "the same as whole numbers from 1 (as now) to 5, instead of weights",
        _LIMITS: "highest_risk is 1 / the size of the smallest class. average_risk is classes / records. suppression "
        "is the share of records that may be left out (none as now). exposure is the share of records that may be "
        "unique on so many columns of role other (as now).",
        'accept: {COLUMN: "a reason"}': "columns of role other that the last limit does not look at, and why",
        "budget: {seconds: 60}": "the best release found until then",
        "plugins: none": "what other packages bring: what this policy names (as now), or none",
    }
)
_ABOUT_OPTIONS: Final = "Whatever stands below behind a # is not asked for; remove the # to ask for it."
_OF_COLUMN: Final = (
    "Of a column, {role: quasi-identifier, kind: category, hierarchy: {prefix: [4, 3]}} says how it is read and "
    "generalized. Say auto, a file of ARX's, or a rule (intervals, prefix, dates, dictionary: countries or education; "
    "tails: {high: 200000} puts outliers into one group);",
    "order: [low, high] of a category;",
    "label: what the column is in words, for the codebook, SPSS, Stata and SAS;",
    "method: {mondrian: {grid: {COLUMN: 5}}} cuts numbers at multiples of 5;",
    "format: '%d.%m.%Y' (or '%d. %B %Y', '%m/%Y', 'Q%q %Y', '%Y', excel), and latest_year: 2026 where years have two "
    "digits;",
    "decimal, thousands, missing_values where they are not those of the file;",
    "{role: identifier, action: pseudonym} keeps a keyed pseudonym, by which the records of a person are linked; "
    "action: fresh, a new one for every record;",
    "{role: other, round: 100} publishes a number as a multiple of 100. digits: 2 keeps two significant digits; "
    "top: 90 publishes 90 for 90 and more, bottom: 18 publishes 18 for 18 and less.",
)
_MAX_VALUES_READ: Final = 30  # values of a column whose language is looked at
_MAX_WORDS_SHOWN: Final = 3
_MAX_LINE_WIDTH: Final = 80  # of a line
_MISSING_NOTE: Final = "texts that mean a missing value; beside a column for it alone"
_MAX_DISTINCT_SHARE: Final = 0.1  # distinct values of a number as a share of the records
_MAX_JOINT_DISTINCT_SHARE: Final = 0.5
_TOO_FINE: Final = "hardly two records have the same values, so that no model is asked for; to ask all the same:"
_MAX_KEY_LENGTH: Final = 1_000  # characters; a longer key needs a question mark in YAML


def propose_policy(
    frame: Frame,
    roles: Roles,
    *,
    k: int,
    source: str,
    run: str | None,
    undecided: Mapping[str, OddCells] = MappingProxyType({}),
) -> str:
    """Write a policy to start from, with a reason beside every column and a line for every option.

    ``run`` is what to run next, where nothing has to be decided before; the frame has none of the ``undecided`` odd
    cells.
    """
    # Comments are in the chosen language; without one, in the language of the table.
    chosen = current_language()
    with use_language(_infer_table_language(frame, roles)[0] if chosen == ENGLISH else chosen):
        columns = "\n".join(line for column in roles.columns for line in _render_column(frame, column, undecided))
        sections = [
            _render_head(frame, roles, source, run),
            "version: 1\n",
            _render_reading(frame),
            f"columns:\n{indent(columns, '  ')}\n",
            _render_person(frame, roles),
            _render_models(frame, roles, k),
            _render_writing(frame, roles),
            _options(roles),
        ]
    return "\n".join(section for section in sections if section)


def _render_head(frame: Frame, roles: Roles, source: str, run: str | None) -> str:
    then = ", then" if run else "."
    size = f"{frame.n_rows:,} records of {len(roles.columns)} columns"
    lines = [f"Proposed for {source}: {size}. Check every role{then}"]
    lines += [f"  {run}"] if run else []
    lines.append(f"{'A table of persons' if roles.of_persons else 'No table of persons'}: {roles.persons_reason}")
    lines += [f"  {role}: {meaning}" for role, meaning in MEANINGS.items()]
    if roles.ask:
        lines.append("  ask: decide for one of these; nothing is written until then")
    # A command is one line, to be copied.
    return "".join(
        f"# {_to_one_line(line)}\n" if line.strip() == run else f"{_format_comment(line, width=_MAX_LINE_WIDTH)}\n"
        for line in lines
    )


def _render_person(frame: Frame, roles: Roles) -> str:
    if roles.person is None:
        return ""
    column = next(each for each in roles.columns if each.name == roles.person)
    told = f"{column.n_distinct:,} persons in {frame.n_records:,} records: classes count persons"
    return _append_comment(f"person: {_format_key(roles.person)}", told) + "\n"


def _options(roles: Roles) -> str:
    """Render the further options as comments: explanations are translated, entries are not."""
    lines = [f"# {translate(_ABOUT_OPTIONS)}", "#"]
    for entry, told in _OPTIONS.items():
        if entry != _PERSON or roles.person is None:
            lines += [_format_comment(f"  {told}", width=_MAX_LINE_WIDTH), indent(entry, "# ")]
    return "\n".join([*lines, "#", *(_format_comment(each, width=_MAX_LINE_WIDTH) for each in _OF_COLUMN), ""])


def _infer_table_language(frame: Frame, roles: Roles) -> tuple[str, tuple[str, ...]]:
    """Infer the language of a table's headers and cells; return it with the words that show it."""
    columns = (_column_values(frame, column) for column in roles.columns)
    shown = (column.texts() for column in columns if column and not column.is_measured)
    return infer_language(
        [*frame.columns, *(text for texts in shown if len(texts) <= _MAX_VALUES_READ for text in texts)]
    )


def _render_writing(frame: Frame, roles: Roles) -> str:
    """Render the language of group names and labels if the table is not English, and its decimal comma."""
    language, words = _infer_table_language(frame, roles)
    entries, notes = [], []
    if language != ENGLISH:
        entries.append(f"language: {language}")
        notes.append(f"of words in cells (the table has {', '.join(words[:_MAX_WORDS_SHOWN])})")
    if frame.is_text and frame.dialect.decimal == ",":
        entries.append('decimal: ","')
        notes.append("numbers with a comma, as they came")
    return _append_comment(f"write: {{{', '.join(entries)}}}", "; ".join(notes)) + "\n" if entries else ""


def _render_reading(frame: Frame) -> str:
    marks = {name: value for name, value in frame.dialect.to_dict().items() if value is not False}
    if not frame.is_text or not marks:
        # A workbook has no spelling, and an empty entry is not allowed.
        return _append_comment("# read: {missing_values: [NA]}", _MISSING_NOTE) + "\n"
    is_sure = str(marks.get("encoding")).startswith("utf")
    notes = {} if is_sure else {"encoding": "guessed: look whether all letters are right"}
    entries = [_append_comment(f"  {name}: {json.dumps(value)}", notes.get(name, "")) for name, value in marks.items()]
    entries.append(_append_comment("  # missing_values: [NA]", _MISSING_NOTE))
    return "\n".join([_append_comment("read:", "how the file spells its table"), *entries, ""])


def _render_column(frame: Frame, column: ProposedRole, undecided: Mapping[str, OddCells]) -> Iterator[str]:
    """Render the lines of a column."""
    # Imported here: only a written policy needs it.
    from hushtable.policy.dating import Dating, describe_century, propose_dating

    codes = find_likely_missing_codes(frame, column)
    if codes:
        frame = frame.with_specs({column.name: ColumnSpec(missing_values=tuple(codes))})
    is_read = column.role not in ("identifier", "other")
    dating = propose_dating(frame, column.name, column.topic) if is_read and column.n_distinct else Dating()
    frame = frame if dating.spec == ColumnSpec() else frame.with_specs({column.name: dating.spec})
    entries: dict[str, str] = {"role": column.role}
    notes: dict[str, str] = {}
    if is_read:
        said = frame.specs.get(column.name, ColumnSpec())
        own = {name: getattr(said, name) for name in ("format", "latest_year", "decimal", "thousands")}
        if dating.formats:
            own["format"], notes["format"] = ASK, f"one of {', '.join(map(repr, dating.formats))}"
        if said.latest_year is not None:
            notes["latest_year"] = describe_century(said.latest_year, column.topic)
        entries |= {entry: str(value) for entry, value in own.items() if value is not None}
    if codes:
        entries["missing_values"] = json.dumps(list(codes), ensure_ascii=False)
        counts = ", ".join(f"{code} in {n:,}" for code, n in codes.items())
        notes["missing_values"] = f"{counts} records; if they are values, write missing_values: []"
    values = _column_values(frame, column)
    rule = propose_rule(values, column.topic) if values else None
    odd = None if column.role == "identifier" else undecided.get(column.name)
    if odd is not None:
        entries["odd_cells"] = _propose_answer(odd, values, rule)
        notes["odd_cells"] = _describe_odd(odd, entries["odd_cells"])
    if values is not None and values.kind == "time":
        entries["kind"] = "time"
    if rule is not None and not isinstance(rule, Dates):
        # Numbers have no prefixes: such a column becomes a category.
        entries |= {"kind": "category"} if values is not None and values.kind == "integer" else {}
        entries["hierarchy"] = _format_rule(rule)
    yield from _render_entries(column.name, entries, notes, _describe_reasons(frame, column))
    yield from _render_remarks(frame, column, values, rule)
    if dating.are_years:
        yield _format_comment('its numbers may be years: format: "%Y" reads them as dates', "  ")


def _render_entries(name: str, entries: Mapping[str, str], notes: Mapping[str, str], reasons: str) -> Iterator[str]:
    """Render the entries of a column with their notes; a role alone stands on one line."""
    key = _format_key(name)
    if len(key) > _MAX_KEY_LENGTH:
        yield f"? {key}"
        key = ""
    if len(entries) == 1:
        yield _append_comment(f"{key}: {entries['role']}", reasons)
        return
    yield _append_comment(f"{key}:", reasons)
    for entry, value in entries.items():
        # Marks and formats need quotes; all else are plain words or YAML already.
        is_quoted = entry in ("format", "decimal", "thousands") and value != ASK
        text = json.dumps(value, ensure_ascii=False) if is_quoted else value
        yield _append_comment(f"  {entry}: {text}", notes.get(entry, ""))


def _describe_odd(odd: OddCells, answer: str) -> str:
    if answer == "text":
        return f"{odd.describe()}: the column is text with and without them; say missing if they mean nothing"
    return f"{odd.describe()}: say missing or text; nothing is released before"


def _propose_answer(odd: OddCells, values: Column | None, rule: Rule | None) -> str:
    """Propose the meaning of odd cells: text if they are words in a column of categories, else to be decided."""
    is_category = values is not None and (values.kind == "category" or (values.kind == "integer" and rule is not None))
    # A cell with digits may be a damaged code.
    are_words = not any("9" in form for form in odd.forms)
    return "text" if are_words and (odd.are_among_codes or is_category) else "refuse"


def _render_remarks(frame: Frame, column: ProposedRole, values: Column | None, rule: Rule | None) -> Iterator[str]:
    """Render comments on further options of a column."""
    from hushtable.anonymizers import describe_impossible_dates

    if isinstance(rule, Dates):
        # Only a comment: a class across two decades would publish `*`; a cut publishes two round days.
        yield _append_comment(
            f"  # hierarchy: {_format_rule(rule)}", "to publish these units only; cuts at round days lose less"
        )
    if values and rule is None and values.kind in ("integer", "decimal") and values.n_values > 1:
        grid = Rounding.from_column(values).grid
        coarser = f"method: {{mondrian: {{grid: {{{_format_key(column.name)}: {format_exact(5 * grid)}}}}}}}"
        yield _format_comment(
            f"published in intervals whose ends are multiples of {format_exact(grid)}; coarser: {coarser}", "  "
        )
    n_open = count_open_ends(frame, column.name) if column.n_distinct and column.role != "identifier" else 0
    if n_open:
        remark = f"{n_open:,} cells are open ends such as 90+, which are values: write the number alone (90), and say"
        yield _format_comment(
            f"{remark} hierarchy: {{tails: {{high: 90}}}}; until then the column is read as categories", "  "
        )
    for impossible in describe_impossible_dates(values) if values else ():
        yield _format_comment(f"careful, {impossible}: look how its dates are written", "  ")
    step = _propose_step(frame, column)
    if step is not None:
        role, size = "other" if column.role == ASK else column.role, format_exact(Fraction(str(step.round)))
        remark = (
            f"its exact numbers leave {step.n_now:,} of {step.n_records:,} records alone; "
            f"{{role: {role}, round: {size}}} leaves {step.n_alone:,}"
        )
        yield _format_comment(remark, "  ")
    marks = frame.doubts(column.name)[1] if frame.is_text else ()
    if marks:
        remark = f"its numbers could be read in {len(marks)} ways: say decimal: '.' or ','; until then they are text"
        yield _format_comment(remark, "  ")


def _propose_step(frame: Frame, column: ProposedRole) -> ProposedStep | None:
    """Propose to which step a column of numbers that is kept can be rounded, where its exact numbers find people."""
    is_kept = column.role in ("sensitive", "other", ASK) and column.kind in ("integer", "decimal")
    # Fewer values than records that may be alone: nothing is to be proposed.
    if not is_kept or column.n_distinct <= ExposureLimit().rate * frame.n_records:
        return None
    # Few tables have such columns, and a command loads what it runs.
    from hushtable.columns import propose_step

    table = Table.encode(frame, [column.name])
    return propose_step(table.columns[0], table.codes[0], table.counts, ExposureLimit().rate)


def find_likely_missing_codes(frame: Frame, column: ProposedRole) -> dict[str, int]:
    """Return likely missing-value codes of a published column, without values that few people share."""
    if column.role == "identifier" or not column.n_distinct or column.topic == PROSE:
        return {}
    text = frame.text(column.name)
    words = {} if text is None else count_missing_codes(text)
    found = find_missing_codes(frame, [column.name]).get(column.name, {})
    return nameable_codes({code: n for code, n in words.items() if is_missing_word(code)} | found)


def _column_values(frame: Frame, column: ProposedRole) -> Column | None:
    """Return the values of a quasi-identifier or of an undecided column; None for others."""
    if column.role not in ("quasi-identifier", ASK) or not column.n_distinct or column.topic == PROSE:
        return None
    return Table.encode(frame, [column.name]).column(column.name)


def _format_rule(rule: Rule) -> str:
    """Format a rule on one line; for proposed rules, the first option is enough."""
    ((option, *_),) = (options.values() for options in to_dict(rule).values())
    said = option if isinstance(option, str) else f"[{', '.join(map(str, option))}]"
    return f"{{{rule.name}: {said}}}"


def _describe_reasons(frame: Frame, column: ProposedRole) -> str:
    parts = [*([column.label] if column.label else []), column.reason, f"{column.n_distinct:,} distinct"]
    if column.role in ("quasi-identifier", ASK) and column.knowable_by != "unclear":
        parts.append(f"known to {column.knowable_by}")
    if column.n_missing:
        parts.append(f"{column.n_missing:,} missing")
    if column.power:
        parts.append(f"{column.power:.0%} of the identifying power")
    said = frame.spec(column.name).missing_values or ()
    codes = count_missing_codes(frame.column(column.name)) if column.n_distinct else {}
    codes = nameable_codes({code: n for code, n in codes.items() if code not in said})
    if codes and column.role != "identifier":
        looks = ", ".join(f"{code} {n:,}" for code, n in codes.items())
        parts.append(f"careful, cells that look like a missing value: {looks}")
    if column.warning:
        parts.append(column.warning)
    return "; ".join(parts)


def _render_models(frame: Frame, roles: Roles, k: int) -> str:
    lines = ["models:", f"  - k-anonymity: {k}"]
    judged = [column for column in roles.columns if column.role == "sensitive" and column.n_distinct > 1]
    finest = _find_fine_columns(frame, judged)
    for column in judged:
        model = f"distinct-l-diversity: {{l: 2, sensitive: {_format_key(column.name)}}}"
        if column.name in finest:
            lines.append(_format_comment(f"{_format_key(column.name)}: {_TOO_FINE} {model}", "  "))
        else:
            lines.append(f"  - {model}")
    return "\n".join(lines) + "\n"


def _find_fine_columns(frame: Frame, proposals: Sequence[ProposedRole]) -> set[str]:
    """Find columns of numbers and dates that hardly two records share, alone or jointly.

    A class of two would pass, and every judged row would be distinct, which takes a large table out of memory.
    """
    numbers = [column for column in proposals if column.kind not in ("category", "ordered")]
    coarse: list[str] = []
    for column in sorted(numbers, key=lambda column: (column.n_distinct, column.name)):
        joint = [*coarse, column.name]
        if column.n_distinct > _MAX_DISTINCT_SHARE * frame.n_rows:
            continue
        distinct, _ = Table.encode(frame, joint).collapse()
        coarse = joint if distinct.n_rows <= _MAX_JOINT_DISTINCT_SHARE * frame.n_rows else coarse
    return {column.name for column in numbers} - set(coarse)


def _format_key(name: str) -> str:
    """Format a column's name as a YAML key, quoted if it could be read as something else."""
    signs = (f"\\{sign}" if sign in '"\\' else sign if sign.isprintable() else f"\\U{ord(sign):08x}" for sign in name)
    quoted = f'"{"".join(signs)}"'
    if any(sign in name for sign in "{}[],&*#?|<>=!%@`:'\"") or name != name.strip() or not name.isprintable():
        return quoted
    try:
        is_plain = plain_yaml.parse(f"{name}: x", "name")[0] == {name: "x"}
    except PolicyError:
        is_plain = False
    return name if is_plain else quoted


def _append_comment(line: str, note: str) -> str:
    """Append a comment to a line, or put it above a line that would become too long."""
    if not note:
        return line
    note = translate(note)
    whole = f"{line}  # {_to_one_line(note)}"
    # Lines of columns stand two further in.
    return (
        whole
        if len(whole) + 2 <= _MAX_LINE_WIDTH
        else f"{_format_comment(note, line[: len(line) - len(line.lstrip())])}\n{line}"
    )


def _format_comment(text: str, margin: str = "", width: int = _MAX_LINE_WIDTH - 2) -> str:
    """Wrap a comment; all lines have the indent of the first one."""
    inner = text[: len(text) - len(text.lstrip())]
    begin = f"{margin}# {inner}"
    return fill(
        _to_one_line(translate(text.strip())),
        width,
        initial_indent=begin,
        subsequent_indent=begin,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _to_one_line(text: str) -> str:
    """Return a text on one line, without control characters."""
    return "".join(sign if sign.isprintable() else " " for sign in text)
