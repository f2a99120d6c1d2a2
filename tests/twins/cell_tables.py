"""All small tables, and what a reader can find out of a hidden cell by looking at every one of them."""

from itertools import product

import numpy as np


def all_tables(shape, most):
    """Return every table of counts with a total of at most `most`, with its margins, a row each."""
    n_cells = int(np.prod(shape))

    def fill(n_left, left):
        if n_left == 0:
            yield ()
            return
        for first in range(left + 1):
            for rest in fill(n_left - 1, left - first):
                yield (first, *rest)

    tables = []
    for cells in fill(n_cells, most):
        table = np.array(cells).reshape(shape)
        for axis in range(len(shape)):
            table = np.concatenate([table, table.sum(axis=axis, keepdims=True)], axis=axis)
        tables.append(table.ravel())
    return np.array(tables)


def values_by_cell(tables, table, is_hidden, least):
    """Return for each hidden cell the values that it has in the tables that agree with what is shown."""
    agrees = (tables[:, ~is_hidden] == table[~is_hidden]).all(axis=1) & (tables[:, is_hidden] >= least).all(axis=1)
    return {cell: sorted(set(tables[agrees, cell].tolist())) for cell in np.flatnonzero(is_hidden).tolist()}


def labels_of(shape):
    """Return the labels of all cells, in the order of `all_tables`."""
    names = [
        [*(f"{letter}{place}" for place in range(size)), "Total"] for letter, size in zip("ghij", shape, strict=False)
    ]
    return list(product(*names))


def without_symmetries(tables, shape):
    """Return one table of all that differ by the order of labels only."""
    found = {}
    inner = tuple(slice(0, size) for size in shape)
    whole = tuple(size + 1 for size in shape)
    for table in tables:
        cells = table.reshape(whole)[inner]
        # Sorting lines by their sums and content is a cheap stand-in for all permutations.
        for axis in range(len(shape)):
            lines = np.moveaxis(cells, axis, 0)
            order = sorted(
                range(len(lines)), key=lambda line: (lines[line].sum(), sorted(lines[line].ravel().tolist()))
            )
            cells = np.moveaxis(lines[order], 0, axis)
        found.setdefault(cells.tobytes(), table)
    return list(found.values())
