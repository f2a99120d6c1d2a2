"""The release that publishes the bounds of its cells as columns beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hushtable.claims import check_bound_names
from hushtable.errors import InputError

if TYPE_CHECKING:
    from hushtable.release.release import Release


def release_with_bounds(release: Release) -> Release:
    """Return a release with columns of bounds; see `Release.with_bounds`."""
    refuse_central(release.recoding.style)
    claim = release.claim.with_bounds()
    check_bound_names(claim.bounds, release.input_columns)
    others = tuple(map(release_with_bounds, release.alternatives))
    return replace(release, claim=claim, writing=replace(release.writing, bounds=True), alternatives=others)


def refuse_central(recoding: str | None) -> None:
    """Raise InputError where cells are central values: the records of a class lie around them."""
    if recoding == "central":
        raise InputError(
            "bounds were asked for, and recoding: central publishes one value for all records of a class.",
            hint="choose another recoding, such as readable, or leave `bounds` out.",
        )
