"""The JSON schema of a pipeline: its modules, each with experiments."""

from __future__ import annotations

from typing import Any

from hushtable.pipeline.modules import Executor
from hushtable.pipeline.reading import STEPS
from hushtable.policy import DIALECT, shorten_descriptions


def pipeline_schema() -> dict[str, Any]:
    """Return the JSON schema of pipelines; what an experiment takes depends on its method, and the program says it."""
    experiments = {"type": "object", "additionalProperties": {"type": ["object", "string", "null"]}}
    executor = shorten_descriptions(Executor.model_json_schema())
    return {
        "$schema": DIALECT,
        "title": "A pipeline of hushtable",
        "type": "object",
        "properties": {
            "version": {"const": 1},
            "seed": {"type": "integer"},
            "Executor": executor,
            **dict.fromkeys((*STEPS, "Reporter"), experiments),
        },
        "additionalProperties": False,
        "minProperties": 1,
    }
