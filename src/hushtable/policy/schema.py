"""The JSON schema of a policy, for editors: which entries there are, and their types, not whether they fit together."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from hushtable.anonymizers import METHODS
from hushtable.models import MODELS, plugins
from hushtable.policy.policy import Policy
from hushtable.quality import LOSSES

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
SCHEMA_FILE: Final = "policy.schema.json"
"""The name that `hushtable scan` looks for beside a policy, to tell editors of it."""

_TYPE_NAMES: Final = {int: "integer", float: "number", str: "string", bool: "boolean"}


def policy_schema() -> dict[str, Any]:
    """Return the JSON schema of policies, with the models, methods and losses that are installed here."""
    schema = shorten_descriptions(Policy.model_json_schema())
    entries, column = schema["properties"], schema["$defs"]["ColumnPolicy"]
    entries["models"]["items"] = entries["search_models"]["items"] = _entry_schema(MODELS, "models")
    entries["method"] = _entry_schema(METHODS, "methods")
    entries["loss"] = _entry_schema(LOSSES, "losses")
    entries["columns"]["additionalProperties"] = {
        "anyOf": [{"enum": column["properties"]["role"]["enum"]}, {"$ref": "#/$defs/ColumnPolicy"}]
    }
    column["properties"]["hierarchy"] = {"type": ["string", "object", "null"]}
    # A policy that makes tables only needs no models.
    needed = [{"required": ["models"]}, {"required": ["tabulations"]}]
    return {"$schema": DIALECT, "title": "A policy of hushtable", **schema, "anyOf": needed}


def shorten_descriptions(schema: Any) -> Any:
    """Return a schema with descriptions cut to their first paragraph, and without titles that repeat names."""
    if isinstance(schema, list):
        return [shorten_descriptions(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    shortened = {
        name: shorten_descriptions(each)
        for name, each in schema.items()
        if name != "title" or not isinstance(each, str)
    }
    if isinstance(shortened.get("description"), str):
        shortened["description"] = shortened["description"].partition("\n\n")[0].replace("\n", " ")
    return shortened


def _entry_schema(kinds: Mapping[str, Any], group: str) -> dict[str, Any]:
    """Return the schema of an entry: a name, or a name with its options."""
    own = {name: _options_schema(kinds[name]) for name in kinds}
    others: dict[str, dict[str, Any]] = {name: {} for name in plugins.entry_points_of(group) if name not in own}
    schema_by_name = {**own, **others}
    with_options = {
        "type": "object",
        "properties": schema_by_name,
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }
    return {"anyOf": [{"enum": sorted(schema_by_name)}, with_options]}


def _options_schema(kind: Any) -> dict[str, Any]:
    """Return the schema of a class's options: all by name, or only the first one."""
    hints = get_type_hints(kind)
    fields = [field for field in dataclasses.fields(kind) if field.init]
    properties = {field.name: _type_schema(hints.get(field.name, Any)) for field in fields}
    needed = [
        field.name
        for field in fields
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    ]
    whole = {"type": "object", "properties": properties, "additionalProperties": False}
    named = {**whole, "required": needed} if needed else whole
    first = [properties[fields[0].name]] if fields and len(needed) <= 1 else []
    return {"anyOf": [named, *first, *([] if needed else [{"type": "null"}])]}


def _type_schema(hint: Any) -> dict[str, Any]:
    """Return the schema of a type; the empty schema (anything) if a file cannot hold the type."""
    if hint in _TYPE_NAMES:
        return {"type": _TYPE_NAMES[hint]}
    origin = get_origin(hint)
    if origin is Literal:
        return {"enum": list(get_args(hint))}
    if origin in (Union, types.UnionType):
        parts = [{"type": "null"} if each is types.NoneType else _type_schema(each) for each in get_args(hint)]
        return {} if {} in parts else {"anyOf": parts}
    return {}
