"""Projects, hierarchies and tables of other tools: an ARX project becomes a policy, a code list a hierarchy file.

Of a project (``.deid``, a zip that ARX's `WorkerSave` writes) neither its data nor what Java serialized is read.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

from hushtable.errors import InputError
from hushtable.hierarchy import check_lines
from hushtable.io import decode_text, read_text
from hushtable.policy import plain_yaml
from hushtable.policy.policy import Policy

_MAX_BYTES_PER_ENTRY: Final = 2**28  # of an entry of a project
_ROLE_BY_ARX_TYPE: Final = {
    "IDENTIFYING_ATTRIBUTE": "identifier",
    "QUASI_IDENTIFYING_ATTRIBUTE": "quasi-identifier",
    "SENSITIVE_ATTRIBUTE": "sensitive",
    "INSENSITIVE_ATTRIBUTE": "other",
}
_KIND_BY_ARX_TYPE: Final = {"String": "category", "Integer": "integer", "Decimal": "decimal", "Date/Time": "date"}
_LOSS_BY_PATTERN: Final = {
    r"(non-)?monotonic precision": "precision",
    r"non-monotonic discernability": "discernibility",
    r"average equivalence class size": "average_class_size",
    r".*non-uniform entropy.*": "non_uniform_entropy",
    r"loss \(.*\)": "arx_loss",
}
_NUMBER_PATTERN: Final = r"([0-9]+(?:\.[0-9]+)?(?:E-?[0-9]+)?)"
_FOR_ATTRIBUTE: Final = r" for attribute '(.*)'"
_MODEL_PATTERNS: Final = (
    (rf"{_NUMBER_PATTERN}-anonymity", "k-anonymity", ("k",)),
    (rf"distinct-{_NUMBER_PATTERN}-diversity{_FOR_ATTRIBUTE}", "distinct-l-diversity", ("l", "sensitive")),
    (rf"(?:shannon-)?entropy-{_NUMBER_PATTERN}-diversity{_FOR_ATTRIBUTE}", "entropy-l-diversity", ("l", "sensitive")),
    (
        rf"recursive-\({_NUMBER_PATTERN},{_NUMBER_PATTERN}\)-diversity{_FOR_ATTRIBUTE}",
        "recursive-c-l-diversity",
        ("c", "l", "sensitive"),
    ),
    (
        rf"{_NUMBER_PATTERN}-closeness with (equal|ordered|hierarchical) (?:ground-)?distance{_FOR_ATTRIBUTE}",
        "t-closeness",
        ("t", "ground", "sensitive"),
    ),
    (
        rf"(basic|enhanced)-{_NUMBER_PATTERN}-likeness{_FOR_ATTRIBUTE}",
        "beta-likeness",
        ("enhanced", "beta", "sensitive"),
    ),
)
_JAVA_DATES: Final = dict(
    zip(
        ("yyyy", "y", "yy", "MMMM", "MMM", "MM", "M", "dd", "d", "HH", "H", "mm", "m", "ss", "s"),
        ("%Y", "%Y", "%y", "%B", "%b", "%m", "%m", "%d", "%d", "%H", "%H", "%M", "%M", "%S", "%S"),
        strict=True,
    )
)


@dataclass(frozen=True, slots=True)
class Converted:
    """What a file of another tool becomes."""

    files: Mapping[str, str] = field(repr=False)  # texts by the names of files, relative to where they are written
    lacking: tuple[str, ...] = ()  # what has no counterpart here
    command: str = ""  # what to type next


def convert(path: Path) -> Converted:
    """Convert a file of another tool: ``.deid`` to a policy, ``.hrc`` and ``.txt`` to a hierarchy, ``.tab`` to CSV."""
    kind = path.suffix.lower()
    if kind == ".deid":
        return _convert_project(path)
    if kind == ".hrc":
        return Converted({f"{path.stem}.csv": _convert_code_list(path)})
    if kind == ".txt":
        return Converted({f"{path.stem}.csv": _convert_amnesia(path)})
    if kind == ".tab":
        return _convert_table(path)
    hint = "pass a .deid of ARX, a .hrc or .tab of tau-Argus, or a hierarchy of Amnesia (.txt)."
    raise InputError(f"cannot convert {str(path)!r}.", hint=hint)


def _convert_table(path: Path) -> Converted:
    """Return a table of tau-Argus as `hushtable check` takes it, its hierarchies beside it."""
    from hushtable.tabulation import read_argus_table

    table = read_argus_table(path)
    reading, files = (
        table.reading,
        {f"{path.stem}.csv": _write_csv([[*table.columns], *zip(*table.columns.values(), strict=True)])},
    )
    words = ["hushtable check", f"{path.stem}.csv", "--by", ",".join(reading.by), "--value", str(reading.value)]
    for name, tree in reading.hierarchies.items():
        file = f"{path.stem}_{re.sub(r'[^0-9A-Za-z]+', '_', name)}.csv"
        files[file] = _write_levels(tree)
        words += ["--hierarchy", f"{name}={file}"]
    if reading.total:
        words += ["--total", ",".join(f"{name}={label}" for name, label in reading.total.items())]
    words += [
        part for what in ("status", "frequency") if (name := getattr(reading, what)) for part in (f"--{what}", name)
    ]
    lacking = tuple(f"column {name}: nothing here asks for it" for name in table.unused)
    return Converted(files, lacking, " ".join(words))


def _write_levels(tree: Mapping[str, Sequence[str]]) -> str:
    """Return a hierarchy as a table with a column a level, a row a leaf; a short path repeats its leaf."""
    below = {part for parts in tree.values() for part in parts}

    def paths(label: str) -> Iterator[list[str]]:
        for part in tree.get(label, ()):
            for rest in paths(part):
                yield [label, *rest]
        if not tree.get(label):
            yield [label]

    rows = [path for label in tree if label not in below for path in paths(label)]
    deepest = max(map(len, rows), default=1)
    head = [f"level{place + 1}" for place in range(deepest)]
    return _write_csv([head, *([*row, *[row[-1]] * (deepest - len(row))] for row in rows)])


def _write_csv(rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _convert_project(path: Path) -> Converted:
    try:
        with zipfile.ZipFile(path) as project:
            entries = {name: _read_entry(project, name) for name in project.namelist() if _is_wanted(name)}
    except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        hint = "save it in ARX again, without a password."
        raise InputError(f"{str(path)!r} is not a project of ARX.", hint=hint) from None
    required = ("project.xml", "input/config.xml", "input/definition.xml")
    if missing := [name for name in required if name not in entries]:
        raise InputError(
            f"{str(path)!r} lacks {missing[0]!r}.", hint="import data and configure the project in ARX first."
        )
    about, config, definition = (_parse_xml(path, name, entries[name]) for name in required)
    lacking: list[str] = []
    columns, ladders = {}, {}
    for number, element in enumerate(definition.iter("assigment"), start=1):
        name = _child_text(element, "name")
        columns[name] = entry = _convert_column(name, element, lacking)
        ladder = entries.get(f"input/hierarchies/{name}.csv")
        if ladder is not None and entry["role"] in ("quasi-identifier", "sensitive"):
            slug = re.sub(r"\W+", "_", name) or "column"
            entry["hierarchy"] = f"hierarchies/{number:02}_{slug}.csv"
            ladders[entry["hierarchy"]] = decode_text(path, ladder)
    policy = {
        "version": 1,
        "read": {"delimiter": _child_text(about, "separator", ",")},
        "columns": columns,
        "models": list(_convert_models(config, lacking)),
        "method": "full_domain",
        "loss": _convert_loss(config, columns, lacking),
        "limits": {"suppression": min(1.0, max(0.0, _parse_number(_child_text(config, "relativeMaxOutliers", "0"))))},
    }
    if not policy["models"]:
        hint = "add one, such as k-anonymity."
        raise InputError(f"{str(path)!r} asks for no privacy model that is known here.", hint=hint)
    head = "".join(f"# no counterpart: {each}\n" for each in lacking)
    text = plain_yaml.dump(policy)
    Policy.parse(re.sub(r"^ *hierarchy: .*\n", "", text, flags=re.MULTILINE), path.name)
    return Converted({"policy.yaml": f"# From {path.name} of ARX\n{head}{text}", **ladders}, tuple(lacking))


def _is_wanted(name: str) -> bool:
    is_ladder = name.startswith("input/hierarchies/") and name.endswith(".csv")
    return is_ladder or name in ("project.xml", "input/config.xml", "input/definition.xml")


def _read_entry(project: zipfile.ZipFile, name: str) -> bytes:
    with project.open(name) as file:
        # What a zip says of its sizes may be wrong.
        raw = file.read(_MAX_BYTES_PER_ENTRY + 1)
    if len(raw) > _MAX_BYTES_PER_ENTRY:
        raise InputError(
            f"the project's {name!r} unpacks to more than {_MAX_BYTES_PER_ENTRY:,} bytes.", hint="it is damaged."
        )
    return raw


def _parse_xml(path: Path, name: str, raw: bytes) -> ElementTree.Element:
    if b"<!DOCTYPE" in raw or b"<!ENTITY" in raw:
        # Entities could read other files, or expand without end.
        raise InputError(f"{name!r} of {str(path)!r} declares entities.", hint="ARX writes none.")
    try:
        return ElementTree.fromstring(raw)
    except ElementTree.ParseError:
        raise InputError(f"{name!r} of {str(path)!r} is no XML.", hint="save it in ARX again.") from None


def _child_text(element: ElementTree.Element, name: str, default: str = "") -> str:
    # Not stripped: a separator may be a tab, and a column's name may begin with a space.
    return element.findtext(name) or default


def _parse_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError("a limit of the project is no number.", hint="save it in ARX again.") from None


def _convert_column(name: str, element: ElementTree.Element, lacking: list[str]) -> dict[str, Any]:
    role, datatype = _child_text(element, "type"), _child_text(element, "datatype", "String")
    entry: dict[str, Any] = {"role": _ROLE_BY_ARX_TYPE.get(role, "ask")}
    # A policy states kinds only of judged columns.
    is_judged = entry["role"] in ("quasi-identifier", "sensitive")
    kind, format_ = _KIND_BY_ARX_TYPE.get(datatype), _child_text(element, "format")
    if is_judged and kind is None:
        lacking.append(f"the data type {datatype} of {name}")
    elif is_judged and kind == "date":
        entry |= _convert_date_format(format_ or "dd.MM.yyyy")
        if entry["kind"] == "date" and "format" not in entry:
            lacking.append(f"the format {format_} of {name}")
    elif is_judged:
        entry["kind"] = kind
        if format_:
            lacking.append(f"the format {format_} of {name}")
    limited = (limit for limit in ("min", "max") if _child_text(element, limit, "All") != "All")
    lacking += [f"the {limit}imum level of {name}" for limit in limited]
    if function := _child_text(element, "microaggregationFunction"):
        lacking.append(f"microaggregation of {name} ({function})")
    return entry


def _convert_date_format(java: str) -> dict[str, Any]:
    """Return the kind of a column of dates, moments or times, and its format if it can be converted."""
    given = _as_strptime(java) or ""
    if re.search("%[Yy]", given) and "%m" in given and "%d" in given:
        return {"kind": "date", "format": given}
    return {"kind": "time" if given.startswith("%H") else "date"}


def _as_strptime(java: str) -> str | None:
    """Convert a format of Java's `SimpleDateFormat` to strptime's; None if a letter has no counterpart."""
    pattern = ""
    for quoted, run, _, other in re.findall(r"'([^']*)'|(([a-zA-Z])\3*)|([^a-zA-Z']+)", java):
        if run and run not in _JAVA_DATES:
            return None
        pattern += _JAVA_DATES[run] if run else (quoted or other).replace("%", "%%")
    return pattern


def _convert_models(config: ElementTree.Element, lacking: list[str]) -> Iterator[dict[str, Any]]:
    for element in config.iter("criterion"):
        text = (element.text or "").strip()
        for pattern, model, options in _MODEL_PATTERNS:
            if found := re.fullmatch(pattern, text):
                values = [_convert_option(option, given) for option, given in zip(options, found.groups(), strict=True)]
                yield {model: dict(zip(options, values, strict=True))}
                break
        else:
            lacking.append(f"the privacy model {text}")


def _convert_option(name: str, text: str) -> Any:
    if name in ("sensitive", "ground"):
        return text
    if name == "enhanced":
        return text == "enhanced"
    number = float(text)
    return int(number) if name in ("k", "l") and number.is_integer() else number


def _convert_loss(config: ElementTree.Element, columns: Mapping[str, Any], lacking: list[str]) -> Any:
    metric = _child_text(config, "metric")
    loss = next(
        (ours for theirs, ours in _LOSS_BY_PATTERN.items() if re.fullmatch(theirs, metric, re.IGNORECASE)), None
    )
    if loss is None:
        lacking.append(f"the quality model {metric or 'that is not named'}; arx_loss instead")
        loss = "arx_loss"
    weights = {
        _child_text(each, "attribute"): _parse_number(_child_text(each, "weight", "0.5"))
        for each in config.iter("attributeWeight")
        if columns.get(_child_text(each, "attribute"), {}).get("role") == "quasi-identifier"
    }
    differ = len(set(weights.values())) > 1 and loss in ("arx_loss", "precision", "non_uniform_entropy")
    options: dict[str, Any] = {"weights": weights} if differ else {}
    # The factor that weighs generalization against suppression comes first: Loss (0.5/1.0/1.0).
    factor = re.match(rf"loss \({_NUMBER_PATTERN}", metric, re.IGNORECASE)
    if factor and float(factor[1]) != 0.5:
        options["gs_factor"] = float(factor[1])
    return {loss: options} if options else loss


def _convert_code_list(path: Path) -> str:
    """Return the lines of a hierarchy of tau-Argus: every line a code, behind one ``@`` for each level above it."""
    lines = _read_lines(path)
    codes: list[tuple[int, str]] = []
    numbers: list[int] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        code = line.lstrip("@").strip()
        depth = len(line) - len(line.lstrip("@"))
        if not code or depth > (codes[-1][0] + 1 if codes else 0) or ";" in code:
            raise InputError(
                f"line {number} of {str(path)!r} stands under no code.",
                hint="each line has one @ more than the code above it.",
            )
        codes.append((depth, code))
        numbers.append(number)
    if not codes:
        raise InputError(f"{str(path)!r} holds no code.", hint="a line for each code.")
    deepest = max(depth for depth, _ in codes)
    above: list[str] = []
    rows: list[list[str]] = []
    of_leaves: list[int] = []
    for position, (depth, code) in enumerate(codes):
        above = [*above[:depth], code]
        if position + 1 == len(codes) or codes[position + 1][0] <= depth:
            # A leaf above the deepest level repeats its own code on the levels below.
            rows.append([code] * (deepest - depth) + above[::-1] + ["*"])
            of_leaves.append(numbers[position])
    check_lines(str(path), rows, of_leaves)
    return "".join(f"{';'.join(row)}\n" for row in rows)


def _read_lines(path: Path) -> list[str]:
    try:
        return read_text(path).split("\n")
    except OSError:
        raise InputError(f"cannot read {str(path)!r}.", hint="check the name.") from None


def _convert_amnesia(path: Path) -> str:
    """Return the lines of a hierarchy of Amnesia: behind its head, ``parent has child child`` for each inner node."""
    lines = [line.split() for line in _read_lines(path)]
    if not lines or lines[0] not in (["distinct"], ["range"]):
        raise InputError(f"{str(path)!r} is no hierarchy of Amnesia.", hint="its first line is `distinct` or `range`.")
    if lines[0] == ["range"]:
        raise InputError(
            f"{str(path)!r} holds ranges, which are a rule here and no file.",
            hint="write the widths of its levels into the policy: hierarchy: {intervals: {width: [5, 10]}}.",
        )
    parent_of: dict[str, str] = {}
    # The head ends with the first empty line.
    begin = lines.index([]) if [] in lines else len(lines)
    for number, words in enumerate(lines[begin:], start=begin + 1):
        if not words:
            continue
        parent, children = words[0], words[2:]
        is_tree = words[1:2] == ["has"] and children and not {*children} & parent_of.keys()
        if not is_tree or len({*children}) < len(children) or ";" in "".join(words):
            raise InputError(
                f"line {number} of {str(path)!r} is no node of a tree.",
                hint="each line is a parent, `has`, and children that stand under no other parent.",
            )
        parent_of |= dict.fromkeys(children, parent)
    chains = [_list_ancestors(node, parent_of) for node in parent_of if node not in {*parent_of.values()}]
    tops = {chain[-1] for chain in chains}
    if len(tops) != 1 or tops & parent_of.keys():
        raise InputError(
            f"{str(path)!r} is no tree with one root.", hint="every node but the root stands under another."
        )
    deepest = max(map(len, chains))
    rows = ([chain[0]] * (deepest - len(chain)) + chain + ["*"] for chain in chains)
    return "".join(f"{';'.join(row)}\n" for row in rows)


def _list_ancestors(node: str, parent_of: Mapping[str, str]) -> list[str]:
    """Return a leaf and its ancestors, up to a node without a parent; a cycle gives more nodes than there are."""
    chain = [node]
    while chain[-1] in parent_of and len(chain) <= len(parent_of):
        chain.append(parent_of[chain[-1]])
    return chain
