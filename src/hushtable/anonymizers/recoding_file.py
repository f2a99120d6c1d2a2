"""The file of a learned recoding: plain values, none of them a person's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

from hushtable.anonymizers.placement import Among, Below, Routes, Side
from hushtable.anonymizers.request import Request
from hushtable.claims import Limits
from hushtable.columns import ColumnSpec
from hushtable.errors import InputError, with_hint
from hushtable.hierarchy import Dates, Hierarchy, to_dict as rule_to_dict
from hushtable.io import Writing, drafts
from hushtable.models import entries, from_dict as model_from_dict, model_to_dict
from hushtable.quality import SetNCP
from hushtable.recoding import Written
from hushtable.release import ExposureLimit

__all__ = ["parts_in", "read", "write"]

_FORM: Final = 1
"""Of the file; another one is not read."""


def write(parts: Mapping[str, Any], path: Path, *, overwrite: bool) -> None:
    """Write the attributes of a learned recoding, whole or not at all.

    Raises
    ------
    InputError
        The file must not be written.
    """
    drafts.check_outputs((path,), parts["asked"].inputs, overwrite=overwrite)
    with drafts.replacing(path, internal=(path,)) as (draft,):
        draft.write_text(_laid_out(_to_dict(parts)), encoding="utf-8")


def read(path: Path) -> dict[str, Any]:
    """Read the file of a learned recoding as plain values.

    Raises
    ------
    InputError
        It cannot be read, or is none.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        msg = with_hint(f"cannot read the recoding {str(path)!r}.", "`--save-recoding` and save_recoding() write one.")
        raise InputError(msg) from None
    if not isinstance(found, dict) or found.get("recoding") != _FORM:
        msg = with_hint(
            f"{str(path)!r} is no recoding of this form.",
            "`--save-recoding` and save_recoding() of this version write one.",
        )
        raise InputError(msg)
    return found


def _laid_out(found: Mapping[str, Any]) -> str:
    """Write JSON with a line for every entry, and for every one of a list of entries."""
    lines = []
    for name, entry in found.items():
        has_entries = isinstance(entry, list) and any(isinstance(each, dict) for each in entry)
        parts = [json.dumps(each, ensure_ascii=False) for each in (entry if has_entries else [entry])]
        text = "[\n  " + ",\n  ".join(parts) + "\n ]" if has_entries else parts[0]
        lines.append(f" {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _to_dict(parts: Mapping[str, Any]) -> dict[str, Any]:
    asked, limit, routes = parts["asked"], parts["limit"], parts["routes"]
    return {
        "recoding": _FORM,
        "hushtable": version("hushtable"),
        "columns": list(parts["columns"]),
        "quasi_identifiers": list(asked.quasi_identifiers),
        "kinds": dict(parts["kinds"]),
        "sensitive": list(asked.judged),
        "identifiers": list(asked.identifiers),
        "pseudonyms": list(parts["hidden"]),
        "fresh": list(parts["fresh"]),
        "person": asked.person,
        "models": [model_to_dict(model) for model in asked.models],
        "limits": asdict(asked.limits),
        "specs": {name: {k: v for k, v in asdict(spec).items() if v} for name, spec in asked.specs.items()},
        "hierarchies": {name: _ladder_to_dict(each) for name, each in asked.hierarchies.items()},
        "loss": entries.write(asked.loss),
        "exposure": None if limit is None else asdict(limit),
        "accepted": dict(parts["accepted"]),
        "is_enforced": parts["is_enforced"],
        "write": asdict(asked.writing),
        "style": parts["style"],
        "cells": {name: _cell_to_dict(cell) for name, cell in parts["cells"].items()},
        "routes": _routes_to_list(routes, parts["class_of_leaf"].tolist()),
    }


def parts_in(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of the learned recoding that a file holds.

    Raises
    ------
    InputError
        Something in it is not as it was written.
    """
    try:
        names = tuple(found["quasi_identifiers"])
        cells = {name: _cell_in(found["cells"][name]) for name in names}
        n_classes = {len(cell.label) for cell in cells.values()}
        routes, leaves = _routes_in(found["routes"], names)
        if len(n_classes) != 1 or not all(0 <= leaf < max(n_classes) for leaf in leaves):
            raise ValueError
        return {
            "asked": _request_in(found),
            "columns": tuple(found["columns"]),
            "kinds": {name: found["kinds"][name] for name in names},
            "cells": cells,
            "style": str(found["style"]),
            "routes": routes,
            "class_of_leaf": np.array(leaves, dtype=np.int32),
            "hidden": tuple(found["pseudonyms"]),
            "fresh": tuple(found.get("fresh", ())),
            "limit": None if found["exposure"] is None else ExposureLimit(**found["exposure"]),
            "accepted": dict(found["accepted"]),
            "is_enforced": bool(found["is_enforced"]),
        }
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        msg = with_hint("the recoding is not as it was written.", "save it anew; it is not to be edited by hand.")
        raise InputError(msg) from None


def _request_in(found: Mapping[str, Any]) -> Request:
    return Request(
        quasi_identifiers=tuple(found["quasi_identifiers"]),
        models=tuple(model_from_dict(model) for model in found["models"]),
        sensitive=tuple(found["sensitive"]),
        hierarchies={name: Hierarchy.from_dict(each, name) for name, each in found["hierarchies"].items()},
        unknown="suppress",
        loss=entries.read(found["loss"], {SetNCP.name: SetNCP}, "loss"),
        identifiers=tuple(found["identifiers"]),
        specs={name: ColumnSpec(**_as_tuples(spec)) for name, spec in found["specs"].items()},
        person=found["person"],
        limits=Limits(**found["limits"]),
        writing=Writing(**found["write"]),
    )


def _as_tuples(given: Mapping[str, Any]) -> dict[str, Any]:
    # JSON has lists only.
    return {name: tuple(each) if isinstance(each, list) else each for name, each in given.items()}


def _ladder_to_dict(ladder: Any) -> dict[str, Any]:
    return ladder.to_dict() if isinstance(ladder, Hierarchy) else rule_to_dict(ladder)


def _cell_to_dict(cell: Written) -> dict[str, Any]:
    return {
        "texts": list(cell.texts),
        "label": cell.label.tolist(),
        "lost": cell.lost.tolist(),
        "lost_by_rank": cell.lost_by_rank.tolist(),
        "dates": isinstance(cell.means, Dates),
    }


def _cell_in(found: Mapping[str, Any]) -> Written:
    label, texts = np.array(found["label"], dtype=np.int32), tuple(found["texts"])
    lost, by_rank = (np.array(found[name], dtype=np.float64) for name in ("lost", "lost_by_rank"))
    is_text = all(text is None or isinstance(text, str) for text in texts)
    if not is_text or label.ndim != 1 or not label.shape == lost.shape == by_rank.shape or not len(label):
        raise ValueError
    if label.min() < 0 or label.max() >= len(texts):
        raise ValueError
    return Written(label, lost, by_rank, texts, Dates() if found["dates"] else None)


def _routes_to_list(routes: Routes, classes: Sequence[int]) -> list[dict[str, Any]]:
    """Write the nodes, depth first, left side first: a test of a column, or a class."""
    leaves, nodes = iter(classes), []
    for cut, test in zip(routes.cut.tolist(), routes.test.tolist(), strict=True):
        nodes.append({"class": next(leaves)} if cut < 0 else _test(routes.columns[cut], routes.sides[cut][test]))
    return nodes


def _test(column: str, side: Side) -> dict[str, Any]:
    left = {"below": side.edge} if isinstance(side, Below) else {"among": list(side.cells)}
    return {"column": column, **left}


def _routes_in(nodes: Any, columns: tuple[str, ...]) -> tuple[Routes, list[int]]:
    """Read the nodes, and the classes of those that are finished."""
    cut, test = (np.full(len(nodes), -1, dtype=np.int32) for _ in range(2))
    sides: list[dict[Side, int]] = [{} for _ in columns]
    leaves, n_open = [], 1
    for i, node in enumerate(nodes):
        # A tree ends with its last node and not before.
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
