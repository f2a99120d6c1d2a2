"""Learn a recoding from a release, for the next batch."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hushtable._types import CodeArray, CountArray, FloatArray
from hushtable.anonymizers import publish
from hushtable.anonymizers.fitted import LearnedRecoding
from hushtable.anonymizers.method import Method
from hushtable.anonymizers.mondrian import Mondrian
from hushtable.anonymizers.placement import Routes, write_bounds
from hushtable.anonymizers.preparation import Request
from hushtable.claims import Combinations
from hushtable.columns import SUPPRESSED, Column, ColumnSpec, format_value, parse_cell
from hushtable.errors import InputError, quote_names
from hushtable.hierarchy import Dates, Dictionary, Frequency, Hierarchy, Prefix, Rule, Runs
from hushtable.models import MatchingNotion, PrivacyModel
from hushtable.quality import SetNCP
from hushtable.recoding import (
    Cells,
    CodeRanges,
    GridCells,
    Nodes,
    PublishedIntervals,
    Recoding,
    Rounded,
    Written,
    number_keys,
)
from hushtable.release import Release
from hushtable.tables import Partition, Table

if TYPE_CHECKING:
    from hushtable.risk import OwnAttacks

_MIN_RECORDS_PER_VALUE: Final = 20  # a value that fewer records have may not be written to a file


@dataclass(frozen=True, slots=True, eq=False)
class Learner:
    """Learns a recoding from a release when it is first needed."""

    request: Request

    def learn_from(self, release: Release) -> LearnedRecoding:
        """Learn the cells of a release and where new rows go; raise if the release cannot place other rows."""
        request = self.request
        check_learnable(request.models, release.recoding.style)
        _check_judged_together(release)
        _check_no_sets(request.parted)
        cells, class_of_leaf = _collect_cells(release.recoding)
        seen = None if release.placing is None else _rows_with_classes(release, request)
        routes = None if seen is None else Routes.from_cuts(release.placing, *seen)
        from_data = _describe_cells_from_data(release, request, cells, routes)
        of_cuts = {} if seen is None or routes is None else _find_wider_cells(release, request, routes, seen, from_data)
        exposure = release.exposure
        return LearnedRecoding(
            asked=replace(
                request,
                identifiers=tuple(name for name in release.removed if name not in release.left_out),
                left_out=release.left_out,
                rounding=release.claim.rounded,
                pseudonyms=release.pseudonyms,
                hierarchies=_keep_lasting_hierarchies(release, request.hierarchies),
                unknown="suppress",
                limits=replace(request.limits, counts_blank=True),
                specs={**request.specs, **_collect_specs(release, request)},
                loss=request.loss if isinstance(request.loss, SetNCP) else SetNCP(),
                inputs=release.inputs,
                writing=release.writing,
            ),
            columns=release.input_columns,
            kinds={column.name: column.kind for column in release.recoding.columns},
            cells=cells,
            style=release.recoding.style,
            routes=routes,
            class_of_leaf=class_of_leaf,
            cells_of_cuts=of_cuts,
            hidden=release.pseudonymized,
            fresh=release.fresh,
            limit=exposure.limit if exposure else None,
            accepted=exposure.accepted if exposure else {},
            is_enforced=exposure is not None and exposure.is_enforced,
            from_data=from_data,
            policy_sha256=release.policy_sha256,
        )

    def attack_cuts(self, release: Release, attacks: OwnAttacks, *, seed: int) -> OwnAttacks:
        """Add to attacks on a release the one by cuts that were not made, or why it cannot be tried."""
        # Few callers attack, and a command loads what it runs.
        from hushtable.anonymizers.untaken_cuts import CutsOrigin, attack_cuts

        meanings = {**release.hierarchies, **release.recoding.meanings()}
        published, origin = release.counted.edition.frame().with_row_per_record(), CutsOrigin(release.trace.complete)
        return attack_cuts(attacks, published, release.source, self.request, meanings, seed=seed, origin=origin)


def check_learnable(models: Sequence[PrivacyModel], style: str) -> None:
    """Raise InputError if a release by these models, in this style, can have no next batch."""
    odd = [
        model.name
        for model in models
        if model.needs.population or model.needs.histories or isinstance(model, MatchingNotion)
    ]
    if odd:
        raise InputError(
            f"a release by {quote_names(odd)} has no next batch.",
            hint="such models look at more than the new rows: anonymize them anew.",
        )
    if style == "central":
        raise InputError(
            "a release of central values has no next batch: they do not say where other rows belong.",
            hint="choose another recoding than central.",
        )


def _check_judged_together(release: Release) -> None:
    """Raise InputError where a release is judged by sets of columns."""
    if isinstance(release.claim, Combinations):
        raise InputError(
            "a release by combinations of columns has no next batch.",
            hint="its cells are few on all columns together, on which a batch is judged: anonymize the rows anew.",
        )


def check_saveable(
    method: Method,
    models: Sequence[PrivacyModel],
    quasi_identifiers: Mapping[str, ColumnSpec],
    specs: Mapping[str, ColumnSpec],
    hierarchies: Mapping[str, object],
) -> None:
    """Raise InputError if it is certain before a search that its recoding cannot be saved; the hint says what can be.

    ``quasi_identifiers`` have the types known so far, ``specs`` are of all columns.
    """
    check_learnable(models, getattr(method, "recoding", ""))
    _check_no_sets([name for name, spec in specs.items() if spec.separator is not None])
    hint = "write `method: mondrian` into the policy: its cuts say it."
    if not isinstance(method, Mondrian):
        raise InputError(
            f"the recoding cannot be saved: the method {method.name!r} does not say where a new row goes.", hint=hint
        )
    if not method.strict or method.exchange:
        entry = "exchange: true" if method.exchange else "strict: false"
        raise InputError(f"the recoding cannot be saved: `{entry}` does not say where a new row goes.", hint=hint)
    given = {*hierarchies, *method.grid}
    kinds = {name: spec.kind for name, spec in quasi_identifiers.items() if name not in given}
    measured = [name for name, kind in kinds.items() if kind not in (None, "category", "ordered")]
    if measured and method.recoding not in ("readable", "nested"):
        raise InputError(
            f"the recoding cannot be saved with `recoding: {method.recoding}`: intervals of {quote_names(measured)} "
            "would begin and end with values of people.",
            hint="write `method: {mondrian: {recoding: readable}}` into the policy: its intervals are round.",
        )


def _check_no_sets(parted: Sequence[str]) -> None:
    if parted:
        raise InputError(
            f"a release with sets of items ({quote_names(parted)}) has no next batch.",
            hint="its items would be judged anew: anonymize the new rows anew.",
        )


def doubts_of_saving(table: Table, hierarchies: Mapping[str, Any]) -> dict[str, str]:
    """Describe, by column, what may keep a learned recoding from being saved, and what to write into the policy."""
    doubts = {}
    for column, codes in zip(table.columns, table.codes, strict=True):
        if column.name in hierarchies or column.is_measured:
            continue
        counts = np.bincount(codes[codes >= 0], weights=table.counts[codes >= 0], minlength=column.n_values)
        n_rare = int((counts < _MIN_RECORDS_PER_VALUE).sum())
        if n_rare:
            doubts[column.name] = (
                f"{n_rare:,} of its {column.n_values:,} values have fewer than {_MIN_RECORDS_PER_VALUE} records, and "
                "a class may publish them: write hierarchy: FILE, a line `value;group` for each"
            )
    return doubts


def _collect_specs(release: Release, request: Request) -> dict[str, ColumnSpec]:
    """Return how columns were typed and spelled, so that new rows are read in the same way."""
    claim, names = release.claim, (*release.quasi_identifiers, *release.sensitive)
    persons = () if request.person is None else (request.person,)
    return {
        name: claim.specs[name]
        .with_defaults_from(claim.origins.get(name, ColumnSpec()))
        .with_defaults_from(request.specs.get(name, ColumnSpec()))
        for name in (*names, *persons)
    }


def _collect_cells(recoding: Recoding) -> tuple[dict[str, Written], CodeArray]:
    """Return what classes publish, every combination of cells once, and which of them each class publishes."""
    cells = [_write_cells(column, cell) for column, cell in zip(recoding.columns, recoding.cells, strict=True)]
    written = replace(recoding, cells=tuple(cells))
    _, first, class_of = np.unique(written.number_combinations()[:-1], return_index=True, return_inverse=True)
    names = (column.name for column in recoding.columns)
    return dict(zip(names, (cell.take(first) for cell in cells), strict=True)), class_of.astype(np.int32)


def _write_cells(column: Column, cell: Cells) -> Written:
    """Write what classes publish of a column, each distinct text once."""
    label_of_class, texts = cell.format_labels(column)
    by_value, by_rank = (cell.shares(replace(column, by_rank=is_by_rank)) for is_by_rank in (False, True))
    meaning = Recoding((column,), (cell,), "").meanings().get(column.name)
    return _write_texts(texts, label_of_class, by_value, by_rank, meaning)


def _write_texts(
    texts: Sequence[str | None],
    labels: CodeArray,
    lost: FloatArray,
    lost_by_rank: FloatArray,
    meaning: Hierarchy | Rule | None = None,
) -> Written:
    """Write cells by labels of texts, of which several may be equal."""
    label_of_text, first = number_keys(texts)
    return Written(label_of_text[labels], lost, lost_by_rank, tuple(texts[i] for i in first.tolist()), meaning)


def _keep_lasting_hierarchies(release: Release, names: Iterable[str]) -> dict[str, Hierarchy | Rule]:
    """Return the hierarchies and rules that give labels the same meaning in every table.

    Intervals and lists need none: their texts say what they mean.
    """
    lasting: dict[str, Hierarchy | Rule] = {}
    for name in names:
        ladder = release.hierarchies[name]
        if ladder.rule is None:
            lasting[name] = ladder.whole or ladder
        elif name in release.sensitive or isinstance(ladder.rule, (Prefix, Dates, Dictionary)):
            lasting[name] = ladder.rule
    return lasting


def _describe_cells_from_data(
    release: Release, request: Request, cells: Mapping[str, Written], routes: Routes | None
) -> dict[str, str]:
    """Describe, by column, which published cells and cuts come from the data."""
    reasons: dict[str, str] = {}
    for column in release.recoding.columns:
        all_texts = (*cells[column.name].texts, *(routes.texts_of_cuts(column.name) if routes else ()))
        own, what = _find_own_texts(release, request, column.name, all_texts)
        if own:
            reasons[column.name] = what
    for name in (*release.quasi_identifiers, *release.sensitive):
        if release.specs[name].kind == "ordered" and not (name in request.specs and request.specs[name].order):
            reasons.setdefault(name, "has an order that lists its values")
    return reasons


def _find_own_texts(
    release: Release, request: Request, name: str, all_texts: Iterable[str | None]
) -> tuple[set[str], str]:
    """Find the texts of a column that come from the data, not from a grid, rule or file, and describe them."""
    pairs = zip(release.recoding.columns, release.recoding.cells, strict=True)
    column, cell = next((column, cell) for column, cell in pairs if column.name == name)
    texts = {text for text in all_texts if text is not None and text != SUPPRESSED}
    is_proposed = isinstance(cell, Nodes) and cell.is_proposed and cell.hierarchy.rule is not None
    ladder = release.hierarchies.get(name) if name in request.hierarchies or is_proposed else None
    if not texts or isinstance(cell, (Rounded, GridCells)) or isinstance(ladder and ladder.rule, Dates):
        # Days are units of the calendar, too.
        return set(), ""
    common = _list_common_values(release, request, name, ladder, _MIN_RECORDS_PER_VALUE)
    if not isinstance(ladder and ladder.rule, (Frequency, Runs)):
        # A value that many people have identifies nobody, alone or in a list.
        texts = {text for text in texts if not _list_members(text) <= common}
    own = set(map(format_value, column.texts()))
    if isinstance(cell, CodeRanges):
        # Codes are public lists: that k people have one is enough to cut there.
        common = _list_common_values(release, request, name, ladder, 1)
        odd = {text for text in texts if (own & {text, *(parse_cell(text).ends or ())}) - common}
        return odd, f"publishes, or is cut at, {len(odd)} of its values or ranges that end with them"
    if ladder is None or isinstance(ladder.rule, (Frequency, Runs)):
        return texts, "has no hierarchy from a file, and publishes values, or lists and groups of them"
    if ladder.rule is None:
        odd = texts.difference(*(ladder.whole or ladder).labels)
    else:
        odd = {text for text in texts if text in own or parse_cell(text).form == "set"}
    return odd, f"publishes, or is cut at, {len(odd)} of its values or lists of them"


def _list_members(text: str) -> set[str | None]:
    cell = parse_cell(text)
    return set(cell.members) if cell.form == "set" else {text}


def _list_common_values(
    release: Release, request: Request, name: str, ladder: Hierarchy | None, min_records: int
) -> set[str | None]:
    """Return the values and labels of a category that at least so many records have, maybe the missing value."""
    table = Table.encode(release.source, [name], request.specs)
    (column,), (codes,) = table.columns, table.codes
    if column.is_measured and ladder is None:
        return set()
    min_records = max([min_records, *(model.min_size for model in release.claim.models)])
    counts = np.bincount(codes + 1, weights=table.counts, minlength=column.n_values + 1)
    common: set[str | None] = {None} if counts[0] >= min_records else set()
    for text, n in zip(column.texts(), counts[1:].tolist(), strict=True):
        # As written in a list, and as a single cell.
        common |= {text, format_value(text)} if n >= min_records else set()
    for labels, nodes in () if ladder is None else zip(ladder.labels, ladder.level_codes, strict=True):
        label_counts = np.bincount(nodes, weights=counts[1:], minlength=len(labels))
        common |= {label for label, n in zip(labels, label_counts.tolist(), strict=True) if n >= min_records}
    return common


def _rows_with_classes(release: Release, request: Request) -> tuple[Table, Partition]:
    """Return the rows that have a class, and their classes, which are finished cuts in their order."""
    table = Table.encode(release.source, release.quasi_identifiers, request.specs)
    kept = np.flatnonzero(~release.suppressed)
    partition = release.partition
    if len(kept) < table.n_rows:
        table = table.take(kept)
        partition = Partition.from_labels(partition.labels[kept], partition.n_classes, table.counts)
    return table, partition


def _suppress(cell: Written, own: Container[str | None]) -> Written:
    """Publish ``*`` in place of some texts."""
    is_own = np.array([text in own for text in cell.texts], dtype=bool)
    lost, by_rank = (np.where(is_own[cell.label], 1.0, each) for each in (cell.lost, cell.lost_by_rank))
    texts = [SUPPRESSED if is_hidden else text for is_hidden, text in zip(is_own.tolist(), cell.texts, strict=True)]
    return _write_texts(texts, cell.label, lost, by_rank, cell.means)


def _find_wider_cells(
    release: Release, request: Request, routes: Routes, seen: tuple[Table, Partition], from_data: Container[str]
) -> dict[str, Written]:
    """Return what all rows below each cut publish together.

    If the narrow cells of a column can be saved, so can these: texts that come from the data become ``*``.
    """
    wider_cells = _find_cells_of_cuts(release, routes, *seen)
    for name, cell in wider_cells.items():
        if name not in from_data:
            own, _ = _find_own_texts(release, request, name, cell.texts)
            wider_cells[name] = _suppress(cell, own)
    return wider_cells


def _find_cells_of_cuts(release: Release, routes: Routes, table: Table, partition: Partition) -> dict[str, Written]:
    """Return what all rows below each cut publish together, cut by cut."""
    is_cut, parents = routes.cut >= 0, routes.parents()
    # In the order of the release's columns, which is not that of the cuts.
    axis_of = {axis.column.name: axis for axis in release.placing.axes}
    axes = [axis_of[column.name] for column in release.recoding.columns]
    wanted = "tight" if release.recoding.style == "cut" else release.recoding.style
    style = next(style for style in publish.STYLES if style == wanted)
    levels: list[tuple[CountArray, Recoding]] = []
    # No row is below two cuts of one level: all cuts of a level are published at once.
    nodes = np.flatnonzero(~is_cut)[partition.labels]
    depths = routes.depths()
    for depth in range(int(depths.max(initial=0)) - 1, -1, -1):
        nodes = np.where(depths[nodes] > depth, parents[nodes], nodes)
        nodes_with_rows, labels = np.unique(nodes, return_inverse=True)
        is_at_depth = is_cut[nodes_with_rows] & (depths[nodes_with_rows] == depth)
        below = Partition.from_labels(labels.astype(np.int32), len(nodes_with_rows), table.counts)
        recoding = publish.from_classes(table, below, axes, style)
        levels.append((nodes_with_rows[is_at_depth], recoding.take(np.flatnonzero(is_at_depth))))
    if not levels:
        nothing: FloatArray = np.empty(0)
        none = Written(np.empty(0, dtype=np.int32), nothing, nothing, ())
        return {column.name: none for column in release.recoding.columns}
    order = np.argsort(np.concatenate([nodes for nodes, _ in levels]))
    by_cut = Recoding.concatenate([recoding for _, recoding in levels]).take(order)
    return {
        column.name: _write_cells(column, cell)
        if style == release.recoding.style or not isinstance(cell, PublishedIntervals)
        else _write_bounds(routes, column, np.flatnonzero(is_cut))
        for column, cell in zip(by_cut.columns, by_cut.cells, strict=True)
    }


def _write_bounds(routes: Routes, column: Column, nodes: CountArray) -> Written:
    """Write where the values of nodes begin and end by the cuts."""
    lows, highs = ([ends[node] for node in nodes.tolist()] for ends in routes.bounds(column.name))
    texts, by_value, by_rank = write_bounds(lows, highs, column)
    return _write_texts(texts, np.arange(len(texts), dtype=np.int32), by_value, by_rank)
