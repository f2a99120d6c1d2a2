"""Which people of a population the classes of a published table cover, read from the published cells."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray
from hushtable.columns import Cell, Column, ColumnSpec, Ends, from_texts, parse_cell, with_first_days
from hushtable.errors import ColumnError, InputError
from hushtable.hierarchy import Codes, Hierarchy, NamedSets, Prefix, to_exact
from hushtable.search import check_memory

_PAIRS_PER_STEP: Final = 2**20  # pairs of a row and a class at once
_HINT: Final = "compare fewer rows at a time, or verify without the population or the original table."


def count_coverage(
    published_cells: Sequence[Sequence[str | None]],
    classes: CodeArray,
    people: Sequence[Sequence[str | None]],
    rows: CodeArray,
    counts: CountArray,
    specs: Sequence[ColumnSpec],
    hierarchies: Sequence[Any],
    names: Sequence[str] = (),
) -> tuple[CountArray, int]:
    """Count the people whom each class covers, and those whom none does; who is covered by several counts in each.

    ``classes`` (n_columns, n_classes) and ``rows`` (n_columns, n_rows) are indices into the distinct cells of a column,
    ``published_cells`` and ``people``; ``counts`` are the people of each row, ``names`` are for errors.
    """
    box, row = pair_rows(published_cells, classes, people, rows, specs, hierarchies, names)
    # Sums of whole numbers below 2^53 are exact in bincount's floats.
    covered = np.bincount(box, weights=counts[row], minlength=classes.shape[1])
    is_left = np.ones(rows.shape[1], dtype=bool)
    is_left[row] = False
    return covered.astype(np.int64), int(counts[is_left].sum())


def count_fewest_persons(
    classes: CountArray, persons: CodeArray, records: CountArray, counts: CountArray | None = None
) -> CountArray:
    """Count the fewest persons whose rows can fill each class, from pairs of a class and the person of a covered row.

    Those with the most rows are taken first. A missing person (-1) is nobody, and takes as many rows as there are.
    """
    fewest = np.zeros(len(records), dtype=np.int64)
    width = int(persons.max(initial=-1)) + 2
    pairs, inverse = np.unique(classes * width + (persons + 1), return_inverse=True)
    # Sums of whole numbers below 2^53 are exact in bincount's floats.
    n_rows = np.bincount(inverse, weights=counts, minlength=len(pairs)).astype(np.int64)
    label, person = pairs // width, pairs % width - 1
    # Within a class, nobody's rows first, then the persons with the most.
    order = np.lexsort((-n_rows, person >= 0, label))
    label, person, n_rows = label[order], person[order], n_rows[order]
    before = np.cumsum(n_rows) - n_rows
    starts = np.searchsorted(label, np.arange(len(records)))
    n_taken = before - before[np.minimum(starts[label], max(0, len(before) - 1))]
    is_needed = (n_taken < records[label]) & (person >= 0)
    np.add.at(fewest, label[is_needed], 1)
    return fewest


def find_filling(classes: CountArray, rows: CountArray, records: CountArray, counts: CountArray) -> BoolArray:
    """Tell which rows are in a class for certain, from pairs of a class and a covered row: it holds all it covers."""
    # Sums of whole numbers below 2^53 are exact in bincount's floats.
    is_full = np.bincount(classes, weights=counts[rows], minlength=len(records)) == records
    found = np.zeros(len(counts), dtype=bool)
    found[rows[is_full[classes]]] = True
    return found


def fewest_persons_among(
    persons: CodeArray, n_records: int, counts: CountArray, is_certain: BoolArray | None = None
) -> int:
    """Count the fewest persons who can have so many of the records of some rows, the certain rows among them."""
    certain = np.zeros(len(persons), dtype=bool) if is_certain is None else is_certain
    known = np.unique(persons[certain & (persons >= 0)])
    # All rows of persons who are there for certain, and of nobody, are taken first.
    is_other = ~certain & (persons >= 0) & ~np.isin(persons, known)
    n_left = max(0, n_records - int(counts[~is_other].sum()))
    nowhere = np.zeros(np.count_nonzero(is_other), dtype=np.int64)
    (others,) = count_fewest_persons(nowhere, persons[is_other], np.array([n_left]), counts[is_other]).tolist()
    return len(known) + int(others)


def covers_row_value(
    published_cells: Sequence[str | None], column: Column, hierarchy: Any, cells: CodeArray, codes: CodeArray
) -> BoolArray:
    """Tell for each row whether its published cell covers its value; -1 is missing.

    Intervals are looked up once for every bound, so that the distinct cells ``published_cells`` may be many.
    """
    missing = np.array([_covers_missing(cell) for cell in published_cells], dtype=bool)
    low, high = _cell_spans(published_cells, column)
    covered = np.where(codes < 0, missing[cells], (low[cells] <= codes) & (codes < high[cells]))
    not_spans = np.flatnonzero(low < 0)
    if len(not_spans):
        position_of = np.full(len(published_cells), -1)
        position_of[not_spans] = np.arange(len(not_spans))
        rows = np.flatnonzero((position_of[cells] >= 0) & (codes >= 0))
        texts = [published_cells[i] for i in not_spans.tolist()]
        matrix = coverage_matrix(texts, column.texts(), column.spec, hierarchy, column.name)
        covered[rows] = matrix[position_of[cells[rows]], codes[rows]]
    return covered


def count_values_below(bounds: Sequence[str], column: Column, *, is_closed: bool = False) -> CountArray:
    """Count the values of a column below each bound, with ``is_closed`` its own too; categories go by text."""
    if not column.is_measured:
        return np.searchsorted(np.array(column.texts()), np.array(bounds), side="right" if is_closed else "left")
    if column.kind in ("integer", "decimal"):
        find = bisect_right if is_closed else bisect_left
        # Exact: half a step of a grid is no integer, and what is written of a decimal is not its float.
        return np.array(
            [
                find(range(column.n_values), to_exact(bound), key=lambda code: to_exact(column.text(code)))
                for bound in bounds
            ],
            dtype=np.int64,
        )
    values, codes = from_texts(column.name, with_first_days(bounds), column.kind)
    n_below = np.searchsorted(column.values, values.values, side="right" if is_closed else "left")
    return np.asarray(n_below[codes])


def _cell_spans(cells: Sequence[str | None], column: Column) -> tuple[CountArray, CountArray]:
    """Return the codes that each cell covers, from one to below another; -1 where it is no interval."""
    low, high = np.full((2, len(cells)), -1)
    parsed_cells = [None if cell is None else parse_cell(cell) for cell in cells]
    for i, cell in enumerate(parsed_cells):
        if cell is None or cell.form == "any" or (cell.form == "interval" and column.is_measured):
            low[i], high[i] = 0, 0 if cell is None else column.n_values
    bounds = [(i, cell.ends) for i, cell in enumerate(parsed_cells) if low[i] >= 0 and cell and cell.ends]
    begins = [(i, each.low) for i, each in bounds if each.low is not None]
    ends = [(i, each.high, each.is_closed) for i, each in bounds if each.high is not None]
    _fill_counts_below(low, begins, column, is_closed=False)
    for is_closed in (False, True):
        of_kind = [(i, bound) for i, bound, closed in ends if closed == is_closed]
        _fill_counts_below(high, of_kind, column, is_closed=is_closed)
    return low, high


def _fill_counts_below(
    n_below: CountArray, bounds: Sequence[tuple[int, str]], column: Column, *, is_closed: bool
) -> None:
    """Write into ``n_below`` how many values are below each bound; equal bounds are counted once."""
    if bounds:
        distinct = list(dict.fromkeys(bound for _, bound in bounds))
        counts = dict(zip(distinct, count_values_below(distinct, column, is_closed=is_closed).tolist(), strict=True))
        n_below[[i for i, _ in bounds]] = [counts[bound] for _, bound in bounds]


def pair_rows(
    published_cells: Sequence[Sequence[str | None]],
    classes: CodeArray,
    people: Sequence[Sequence[str | None]],
    rows: CodeArray,
    specs: Sequence[ColumnSpec],
    hierarchies: Sequence[Any],
    names: Sequence[str] = (),
) -> tuple[CountArray, CountArray]:
    """Return all pairs of a class and a row that it covers, in no order; arguments as for `count_coverage`.

    Both are halved together, column by column, and what is left is compared: O(n log n) for n rows without overlaps.
    """
    names = names or [""] * len(published_cells)
    columns = list(zip(published_cells, people, specs, hierarchies, names, strict=True))
    covers = [coverage_matrix(*each) for each in columns]
    ranks = [_rank_values(each, *column[1:]) for each, column in zip(covers, columns, strict=True)]
    row_ranks = np.array([rank[row] for rank, row in zip(ranks, rows, strict=True)], dtype=np.int32)
    spans = [_spans_of_ranks(each, rank) for each, rank in zip(covers, ranks, strict=True)]
    low, high = (
        np.array([span[end][cells] for span, cells in zip(spans, classes, strict=True)], dtype=np.int32)
        for end in (0, 1)
    )
    pairs: list[tuple[CountArray, CountArray]] = []
    n_pairs = 0
    to_split = [(np.flatnonzero((low < high).all(axis=0)), np.arange(rows.shape[1]))]
    while to_split:
        boxes, points = to_split.pop()
        halves = _split_in_halves(low[:, boxes], high[:, boxes], row_ranks[:, points])
        if halves is not None:
            to_split += [(boxes[ours], points[theirs]) for ours, theirs in halves if ours.any() and theirs.any()]
            continue
        for part in np.array_split(points, max(1, len(boxes) * len(points) // _PAIRS_PER_STEP)):
            hit = np.ones((len(boxes), len(part)), dtype=bool)
            for cover, cells, row in zip(covers, classes, rows, strict=True):
                hit &= cover[cells[boxes][:, None], row[part][None, :]]
            box, point = np.nonzero(hit)
            pairs.append((boxes[box], part[point]))
            n_pairs += len(box)
            what = f"comparing {rows.shape[1]} rows with {classes.shape[1]} published ones"
            check_memory(32.0 * n_pairs, what, _HINT)
    if not pairs:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    return np.concatenate([box for box, _ in pairs]), np.concatenate([point for _, point in pairs])


def _split_in_halves(low: CodeArray, high: CodeArray, row_ranks: CodeArray) -> list[tuple[BoolArray, BoolArray]] | None:
    """Return which boxes and points go to either half by the column that leaves the least to compare; None to stop."""
    all_pairs = fewest_pairs = low.shape[1] * row_ranks.shape[1]
    best = None
    for first, behind, ranks in zip(low, high, row_ranks, strict=True) if all_pairs > _PAIRS_PER_STEP >> 4 else ():
        middle = np.partition(ranks, len(ranks) // 2)[len(ranks) // 2]
        if middle == ranks.min():
            middle += 1
        boxes_below, points_below = first < middle, ranks < middle
        n_below, n_points = np.count_nonzero(boxes_below), np.count_nonzero(points_below)
        n_above = np.count_nonzero(behind > middle)
        to_compare = n_below * n_points + n_above * (len(ranks) - n_points)
        if to_compare < fewest_pairs:
            fewest_pairs, best = to_compare, [(boxes_below, points_below), (behind > middle, ~points_below)]
    return best


def _rank_values(
    covers: BoolArray, texts: Sequence[str | None], spec: ColumnSpec, ladder: Any, name: str
) -> CountArray:
    """Order the values of a column so that cells cover neighbours: by value, or by the cells that cover them."""
    column, codes = from_texts(name, [text or "" for text in texts], spec.kind, spec.order)
    if column.is_measured and ladder is None:
        return codes.astype(np.int64) + 1
    wide_first = np.argsort(-covers.sum(axis=1), kind="stable")
    signs = np.ascontiguousarray(np.packbits(covers[wide_first], axis=0).T)
    _, ranks = np.unique(signs.view(f"S{signs.shape[1]}").reshape(-1), return_inverse=True)
    return ranks


def _spans_of_ranks(covers: BoolArray, ranks: CountArray) -> tuple[CountArray, CountArray]:
    """Return the ranks between which each cell covers all that it covers; nothing where it covers none."""
    order = np.argsort(ranks, kind="stable")
    ranked = covers[:, order]
    first, last = ranked.argmax(axis=1), ranked.shape[1] - 1 - ranked[:, ::-1].argmax(axis=1)
    covers_any = ranked.any(axis=1)
    return np.where(covers_any, ranks[order[first]], 0), np.where(covers_any, ranks[order[last]] + 1, 0)


def coverage_matrix(
    cells: Sequence[str | None], texts: Sequence[str | None], spec: ColumnSpec, hierarchy: Any, name: str
) -> BoolArray:
    """Tell which published cell covers which value, shape (n_cells, n_values)."""
    column, codes = from_texts(name, [text or "" for text in texts], spec.kind, spec.order)
    if spec.kind is None and spec.order is None and column.is_measured:
        _check_spelling(column, texts, codes, cells)
    by_label = _codes_by_label(column, hierarchy, cells)
    values = [value for value in dict.fromkeys(_values_in(cells, column)) if value not in by_label]
    code_of = _codes_of(values, column)
    # Twice, because ranking the values copies the matrix.
    check_memory(2.0 * len(cells) * len(texts), f"comparing {len(texts)} values with {len(cells)} cells", _HINT)
    covers = np.zeros((len(cells), len(texts)), dtype=bool)
    for i, cell in enumerate(cells):
        covers[i] = np.append(_values_under_cell(cell, column, by_label, code_of), _covers_missing(cell))[codes]
    return covers


def _check_spelling(column: Column, texts: Sequence[str | None], codes: CodeArray, cells: Sequence[str | None]) -> None:
    """Raise InputError where it depends on a column's kind, which was not given, whether two texts are one value."""
    values = column.texts()
    known = set(values)
    odd = sum(text is not None and values[code] != text for text, code in zip(texts, codes.tolist(), strict=True))
    novel = [cell for cell in cells if cell is not None and cell not in known and parse_cell(cell).form == "value"]
    code_of = _codes_of(novel, column)
    odd += sum(code_of[cell] >= 0 for cell in novel)
    if odd:
        raise InputError(
            f"column {column.name!r} looks like the kind {column.kind}, but writes {odd} of its values in another way "
            "than that kind does, and no kind was given.",
            hint="give its kind in specs: whether 1 and 1.0 are one value depends on it.",
        )


def _codes_by_label(column: Column, hierarchy: Any, cells: Sequence[str | None]) -> Mapping[str, BoolArray]:
    """Return the codes under every label of a hierarchy that is published; under all its nodes of one label."""
    if hierarchy is None:
        return {}
    known = [cell for cell in cells if cell is not None]
    in_use = {*known, *(member for cell in known for member in parse_cell(cell).members)}
    if isinstance(_rule_of(hierarchy), Codes):
        within = {cell: _codes_within(cell, column) for cell in in_use if cell is not None}
        return {cell: codes for cell, codes in within.items() if codes is not None}
    if isinstance(_rule_of(hierarchy), NamedSets):
        texts, named = column.texts(), _rule_of(hierarchy).labels
        return {label: np.isin(texts, [*filter(None, named[label])]) for label in in_use & named.keys()}
    nothing = np.zeros(column.n_values, dtype=bool)
    # Labels that hold none of the values stay labels.
    levels = hierarchy.labels[1:] if isinstance(hierarchy, Hierarchy) else ()
    covered: dict[str, BoolArray] = {label: nothing for labels in levels for label in labels if label in in_use}
    ladder = Hierarchy.build(hierarchy, column, unknown="suppress")
    for level in range(1, ladder.n_levels):
        for node, label in enumerate(ladder.labels[level]):
            if label in in_use:
                covered[label] = np.asarray(covered.get(label, nothing) | (ladder.level_codes[level] == node))
    rule = ladder.rule
    if isinstance(rule, Prefix):
        # `01*` holds 01 too, whatever other codes the compared table has.
        begins = {cell for cell in in_use if cell and cell.endswith("*") and len(cell) - 1 in rule.lengths}
        covered |= {cell: codes for cell in begins if (codes := _codes_within(cell, column)) is not None}
    return covered


def _rule_of(hierarchy: Any) -> Any:
    """Return the rule of a hierarchy, however it is given; None where it has none."""
    if isinstance(hierarchy, Mapping):
        hierarchy = Hierarchy.from_dict(hierarchy, "")
    return hierarchy.rule if isinstance(hierarchy, Hierarchy) else hierarchy


def _codes_within(cell: str, column: Column) -> BoolArray | None:
    """Tell which values begin with a prefix, or lie in a range of codes, whose ends stand for all that begin so."""
    ends = parse_cell(cell).ends
    if not cell.endswith("*") if ends is None else not ends.is_closed:
        return None
    low, high = (cell, cell) if ends is None else (ends.low or "", ends.high or "")
    low, high = low.removesuffix("*"), high.removesuffix("*")
    return np.array([low <= text and text[: len(high)] <= high for text in column.texts()], dtype=bool)


def _covers_missing(cell: str | None) -> bool:
    if cell is None:
        return True
    form, _, members = parse_cell(cell)
    return form == "any" or None in members


def _values_under_cell(
    cell: str | None, column: Column, by_label: Mapping[str, BoolArray], code_of: Mapping[str, int]
) -> BoolArray:
    """Tell which values of a column a cell covers."""
    covered = np.zeros(column.n_values, dtype=bool)
    if cell is None:
        return covered
    form, bounds, members = parse_cell(cell)
    if form == "any":
        return np.ones(column.n_values, dtype=bool)
    if cell in by_label:
        return by_label[cell]
    if form not in ("value", "set"):
        return _values_between(bounds, column)
    for each in members if form == "set" else (cell,):
        code = None if each is None else code_of.get(each)
        if code is None:
            covered |= _values_under_cell(each, column, by_label, code_of)
        elif code >= 0:
            covered[code] = True
    return covered


def _values_in(cells: Iterable[str | None], column: Column) -> Iterator[str]:
    """Yield the cells and members of sets that are values; a member of a category is, whatever it looks like."""
    for cell in cells:
        form, _, members = Cell("any") if cell is None else parse_cell(cell)
        if cell is not None and form == "value":
            yield cell
        elif column.is_measured:
            yield from _values_in(members, column)
        else:
            yield from (each for each in members if each is not None)


def _codes_of(texts: Sequence[str], column: Column) -> dict[str, int]:
    """Return the code of the value that each text writes; -1 where it writes none of the column's."""
    try:
        values, value_codes = from_texts(column.name, texts, column.kind)
    except ColumnError:
        # A text does not fit the kind: halve the list until it is alone.
        if len(texts) == 1:
            return {texts[0]: -1}
        half = len(texts) // 2
        return _codes_of(texts[:half], column) | _codes_of(texts[half:], column)
    code_of = {value: code for code, value in enumerate(column.values.tolist())}
    codes = [*(code_of.get(value, -1) for value in values.values.tolist()), -1]
    return {text: codes[place] for text, place in zip(texts, value_codes.tolist(), strict=True)}


def _values_between(bounds: Ends | None, column: Column) -> BoolArray:
    if bounds is None or not column.is_measured:
        raise InputError(
            f"column {column.name!r} of kind {column.kind} is published in a form that says nothing of such values.",
            hint="give the kind that it had before it was published in specs, and its hierarchy if those are labels.",
        )
    codes = np.arange(column.n_values)
    inside: BoolArray = np.ones(column.n_values, dtype=bool)
    if bounds.low is not None:
        inside &= codes >= count_values_below([bounds.low], column)
    if bounds.high is not None:
        inside &= codes < count_values_below([bounds.high], column, is_closed=bounds.is_closed)
    return np.asarray(inside)
