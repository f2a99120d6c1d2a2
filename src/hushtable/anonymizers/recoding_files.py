"""The file that keeps a learned recoding: its form, and what of it is read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

from hushtable.anonymizers.placement import Among, Below, Routes, Side
from hushtable.anonymizers.preparation import Request
from hushtable.claims import Limits, read_roundings
from hushtable.columns import KINDS, ColumnSpec, check_specs, from_texts, with_first_days
from hushtable.errors import InputError, quote_names
from hushtable.hierarchy import Hierarchy, to_dict as rule_to_dict
from hushtable.io import FORMS, WRITER, Writing, describe_other_form, drafts, read_json
from hushtable.models import entries, model_to_dict, models_from_claim, plugins
from hushtable.quality import SetNCP
from hushtable.recoding import Written
from hushtable.release import ExposureLimit, manifest

_FORM: Final = "recoding"
DIGEST: Final = "sha256"


def write_recoding(parts: Mapping[str, Any], path: Path, *, overwrite: bool) -> None:
    """Write the attributes of a learned recoding, whole or not at all."""
    drafts.check_outputs((path,), parts["asked"].inputs, overwrite=overwrite)
    with drafts.replace_files(path, internal=(path,), overwrite=overwrite) as (draft,):
        draft.write_text(_format_json(_to_dict(parts)), encoding="utf-8")


def read_recoding(path: Path) -> dict[str, Any]:
    """Read the file of a learned recoding as plain values."""
    try:
        contents = read_json(path)
    except InputError:
        raise
    except (OSError, ValueError, RecursionError):
        raise InputError(
            f"cannot read the recoding {str(path)!r}.", hint="`--save-recoding` and save_recoding() write one."
        ) from None
    if not isinstance(contents, dict) or contents.get(_FORM) is None:
        raise InputError(f"{str(path)!r} is no recoding.", hint="`--save-recoding` and save_recoding() write one.")
    if newer := describe_other_form("recoding", contents[_FORM], contents.get(WRITER)):
        raise InputError(f"{str(path)!r}: {newer}.", hint="apply it with a version that reads it, or save it anew.")
    if contents.get(DIGEST) != hash_contents(contents):
        raise InputError(
            f"the recoding {str(path)!r} is not as it was written.",
            hint="save it anew; it is not to be edited by hand.",
        )
    return contents


def hash_contents(contents: Mapping[str, object]) -> str:
    """Return the SHA-256 of a recoding's contents but for this digest, which tells that somebody edited it."""
    others = {name: entry for name, entry in contents.items() if name != DIGEST}
    return manifest.hash_json(others)


def _format_json(contents: Mapping[str, Any]) -> str:
    """Write JSON with one line for every entry, and for every mapping in a list."""
    lines = []
    for name, entry in contents.items():
        has_entries = isinstance(entry, list) and any(isinstance(each, dict) for each in entry)
        parts = [json.dumps(each, ensure_ascii=False) for each in (entry if has_entries else [entry])]
        text = "[\n  " + ",\n  ".join(parts) + "\n ]" if has_entries else parts[0]
        lines.append(f" {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _to_dict(parts: Mapping[str, Any]) -> dict[str, object]:
    request, limit, routes = parts["asked"], parts["limit"], parts["routes"]
    contents = {
        _FORM: FORMS["recoding"],
        WRITER: version("hushtable"),
        "columns": list(parts["columns"]),
        "quasi_identifiers": list(request.quasi_identifiers),
        "kinds": dict(parts["kinds"]),
        "sensitive": list(request.judged),
        "identifiers": list(request.identifiers),
        "left_out": list(request.left_out),
        "rounding": {name: each.to_dict() for name, each in request.rounding.items()},
        "pseudonyms": list(parts["hidden"]),
        "fresh": list(parts["fresh"]),
        "person": request.person,
        "models": [model_to_dict(model) for model in request.models],
        "limits": asdict(request.limits),
        "specs": {name: {k: v for k, v in asdict(spec).items() if v} for name, spec in request.specs.items()},
        "hierarchies": {name: _ladder_to_dict(each) for name, each in request.hierarchies.items()},
        "loss": entries.to_entry(request.loss),
        "exposure": None if limit is None else asdict(limit),
        "accepted": dict(parts["accepted"]),
        "is_enforced": parts["is_enforced"],
        "policy_sha256": parts["policy_sha256"],
        "write": asdict(request.writing),
        "style": parts["style"],
        "cells": {name: _cell_to_dict(cell) for name, cell in parts["cells"].items()},
        "cells_of_cuts": {name: _cell_to_dict(cell) for name, cell in parts["cells_of_cuts"].items()},
        "routes": _routes_to_list(routes, parts["class_of_leaf"].tolist()),
    }
    return {**contents, DIGEST: hash_contents(contents)}


# No plugins: a file from somebody else must not decide which code runs.
@plugins.allow_only(())
def parse_parts(contents: Mapping[str, Any]) -> dict[str, Any]:
    """Parse the attributes of a learned recoding from a file's contents; raise InputError if any is malformed."""
    try:
        names = tuple(contents["quasi_identifiers"])
        cells = {name: _parse_cell(contents["cells"][name]) for name in names}
        n_classes = {len(cell.label) for cell in cells.values()}
        routes, leaves = _parse_routes(contents["routes"], names)
        if len(n_classes) != 1 or not all(0 <= leaf < max(n_classes) for leaf in leaves):
            raise ValueError
        of_cuts = _parse_cells_of_cuts(contents, names, routes)
        parts = {
            "asked": _parse_request(contents),
            "columns": tuple(contents["columns"]),
            "kinds": {name: contents["kinds"][name] for name in names},
            "cells": cells,
            "cells_of_cuts": of_cuts,
            "style": str(contents["style"]),
            "routes": routes,
            "class_of_leaf": np.array(leaves, dtype=np.int32),
            "hidden": tuple(contents["pseudonyms"]),
            "fresh": tuple(contents["fresh"]),
            "limit": None if contents["exposure"] is None else ExposureLimit(**contents["exposure"]),
            "accepted": dict(contents["accepted"]),
            "is_enforced": bool(contents["is_enforced"]),
            "policy_sha256": contents["policy_sha256"],
        }
        _check_read_as_written(contents, parts)
        return parts
    except (ArithmeticError, AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            "the recoding is not as it was written.", hint="save it anew; it is not to be edited by hand."
        ) from None


def _parse_cells_of_cuts(contents: Mapping[str, Any], names: Sequence[str], routes: Routes) -> dict[str, Written]:
    # Where the search did not cut, there are none.
    if not contents["cells_of_cuts"]:
        return {}
    of_cuts = {name: _parse_cell(contents["cells_of_cuts"][name]) for name in names}
    if any(len(cell.label) != np.count_nonzero(routes.cut >= 0) for cell in of_cuts.values()):
        raise ValueError
    return of_cuts


def _check_read_as_written(contents: Mapping[str, Any], parts: Mapping[str, Any]) -> None:
    """Raise an error if an entry is unknown or is read as another one, or what should be a name is none."""
    again = json.loads(json.dumps(_to_dict(parts)))
    if unknown := [name for name in contents if name not in again]:
        raise InputError(
            f"the recoding has entries {quote_names(unknown)}, which this version does not know.",
            hint="apply it with the version that wrote it, or save it anew.",
        )
    request: Request = parts["asked"]
    names = [*parts["columns"], *parts["hidden"], *parts["fresh"], *parts["accepted"].values(), *request.removed]
    names += [*request.quasi_identifiers, *request.sensitive, *([] if request.person is None else [request.person])]
    names += [*request.writing.labels.values(), "" if parts["policy_sha256"] is None else parts["policy_sha256"]]
    if not all(isinstance(each, str) for each in names) or not all(each in KINDS for each in parts["kinds"].values()):
        raise ValueError
    check_specs(request.specs)
    for name, sides in zip(parts["routes"].columns, parts["routes"].sides, strict=True):
        edges = [side.edge for side in sides if isinstance(side, Below) and side.edge is not None]
        kind = parts["kinds"][name]
        if kind not in ("category", "ordered"):
            from_texts(name, with_first_days(edges) if kind in ("date", "datetime") else edges, kind)
    if any(again[name] != entry for name, entry in contents.items() if name not in (DIGEST, WRITER)):
        raise ValueError


def _parse_request(contents: Mapping[str, Any]) -> Request:
    return Request(
        quasi_identifiers=tuple(contents["quasi_identifiers"]),
        models=models_from_claim(contents["models"]),
        sensitive=tuple(contents["sensitive"]),
        hierarchies={name: Hierarchy.from_dict(each, name) for name, each in contents["hierarchies"].items()},
        unknown="suppress",
        loss=entries.Registry({SetNCP.name: SetNCP}, "loss").read(contents["loss"]),
        identifiers=tuple(contents["identifiers"]),
        left_out=tuple(contents["left_out"]),
        rounding=read_roundings(contents["rounding"]),
        specs={name: ColumnSpec(**_as_tuples(spec)) for name, spec in contents["specs"].items()},
        person=contents["person"],
        limits=Limits(**contents["limits"]),
        writing=Writing(**contents["write"]),
    )


def _as_tuples(entry: Mapping[str, Any]) -> dict[str, Any]:
    # JSON has lists only.
    return {name: tuple(each) if isinstance(each, list) else each for name, each in entry.items()}


def _ladder_to_dict(ladder: Any) -> dict[str, Any]:
    return ladder.to_dict() if isinstance(ladder, Hierarchy) else rule_to_dict(ladder)


def _cell_to_dict(cell: Written) -> dict[str, object]:
    return {
        "texts": list(cell.texts),
        "label": cell.label.tolist(),
        "lost": cell.lost.tolist(),
        "lost_by_rank": cell.lost_by_rank.tolist(),
        "means": None if cell.means is None else _ladder_to_dict(cell.means),
    }


def _parse_cell(entry: Mapping[str, Any]) -> Written:
    label, texts = np.array(entry["label"], dtype=np.int32), tuple(entry["texts"])
    shares, shares_by_rank = (np.array(entry[name], dtype=np.float64) for name in ("lost", "lost_by_rank"))
    is_text = all(text is None or isinstance(text, str) for text in texts)
    if not is_text or label.ndim != 1 or not label.shape == shares.shape == shares_by_rank.shape:
        raise ValueError
    if label.min(initial=0) < 0 or label.max(initial=-1) >= len(texts):
        raise ValueError
    meaning = entry["means"]
    return Written(label, shares, shares_by_rank, texts, None if meaning is None else Hierarchy.from_dict(meaning, ""))


def _routes_to_list(routes: Routes, classes: Sequence[int]) -> list[dict[str, object]]:
    """Return the nodes as plain values, depth first, left side first: a test of a column, or a class."""
    leaves, nodes = iter(classes), list[dict[str, object]]()
    for cut, test in zip(routes.cut.tolist(), routes.test.tolist(), strict=True):
        nodes.append(
            {"class": next(leaves)} if cut < 0 else _test_to_dict(routes.columns[cut], routes.sides[cut][test])
        )
    return nodes


def _test_to_dict(column: str, side: Side) -> dict[str, object]:
    left = {"below": side.edge} if isinstance(side, Below) else {"among": list(side.cells)}
    return {"column": column, **left}


def _parse_routes(nodes: Any, columns: tuple[str, ...]) -> tuple[Routes, list[int]]:
    """Parse the nodes of a tree; return the routes and the classes of the leaves."""
    cut, test = (np.full(len(nodes), -1, dtype=np.int32) for _ in range(2))
    sides: list[dict[Side, int]] = [{} for _ in columns]
    leaves, n_open = [], 1
    for i, node in enumerate(nodes):
        # More nodes after the tree is complete: the file is malformed.
        if not n_open:
            raise ValueError
        if "class" in node:
            leaves.append(int(node["class"]))
            n_open -= 1
            continue
        cut[i] = columns.index(node["column"])
        side: Side = Below(node["below"]) if "below" in node else Among(tuple(node["among"]))
        test[i] = sides[cut[i]].setdefault(side, len(sides[cut[i]]))
        n_open += 1
    if n_open:
        raise ValueError
    return Routes(columns, cut, test, tuple(tuple(each) for each in sides)), leaves
