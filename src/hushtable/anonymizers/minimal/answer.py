"""What a search in the candidate space publishes: cells for every class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hushtable._types import CodeArray, CountArray
from hushtable.anonymizers.minimal import candidates
from hushtable.anonymizers.minimal.candidates import Space
from hushtable.errors import InfeasibleError, with_hint
from hushtable.models import PrivacyModel, describe
from hushtable.recoding import Recoding
from hushtable.tables import Partition

__all__ = ["infeasible", "merged", "published", "row_texts"]


def infeasible(models: Sequence[PrivacyModel], n_rows: int) -> InfeasibleError:
    """Return the error of records that cannot satisfy the models even all together."""
    asked = " and ".join(map(describe, models))
    msg = with_hint(f"no release of these {n_rows} records can satisfy {asked}.", "ask for less, or add records.")
    return InfeasibleError(msg)


def merged(recoding: Recoding, labels: CodeArray) -> tuple[Partition, Recoding]:
    """Make one class of blocks that publish the same cells; so readers see them."""
    cells = np.array([recoding.labels(column.name)[0] for column in recoding.columns])
    _, first, class_of_block = np.unique(cells, axis=1, return_index=True, return_inverse=True)
    kept = tuple(candidates.take(cell, first) for cell in recoding.cells)
    class_of_row = class_of_block.reshape(-1)[labels].astype(np.int32)
    partition = Partition.from_labels(class_of_row, len(first), np.ones(len(labels), dtype=np.int64))
    return partition, Recoding(recoding.columns, kept, recoding.style)


def published(space: Space, picks: CountArray) -> tuple[Partition, Recoding]:
    """Publish a candidate for every cell; shape (n_rows, n_columns)."""
    rows = np.arange(space.n_rows, dtype=np.int32)
    cells = tuple(
        space.publish(j, space.candidates(j), picks[:, j], space.places[:, j] == 0) for j in range(picks.shape[1])
    )
    return merged(Recoding(space.columns, cells, "candidates"), rows)


def row_texts(partition: Partition, recoding: Recoding) -> tuple[tuple[str | None, ...], ...]:
    """Return what every row publishes, column by column."""
    columns = (recoding.labels(column.name) for column in recoding.columns)
    return tuple(tuple(texts[i] for i in label[partition.labels].tolist()) for label, texts in columns)
