"""Ask a method for classes of a coded table, without the door in front of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.anonymizers import Found, Method, Problem
from hushtable.anonymizers.judging import Judge
from hushtable.models import PrivacyModel
from hushtable.quality.loss import SetNCP
from hushtable.search.budget import Budget, Clock
from hushtable.tables.table import Table


def problem_of(
    table: Table,
    names: Sequence[str],
    models: Sequence[PrivacyModel],
    *,
    hierarchies: Mapping[str, Any] | None = None,
    loss: Any = None,
    budget: Budget | None = None,
    progress: Any = None,
    **judged: Any,
) -> Problem:
    """Return the problem of a table; ``judged`` are further attributes of its judge."""
    ladders = dict(hierarchies or {})
    judge = Judge(table, tuple(models), ladders, **judged)
    return Problem(tuple(names), judge, ladders, loss or SetNCP(), Clock(budget or Budget(), progress))


def search(method: Method, table: Table, names: Sequence[str], models: Sequence[PrivacyModel], **options: Any) -> Found:
    """Search the rows of a table for classes."""
    return method.search(problem_of(table, names, models, **options))
