"""Learn a recoding from a release, for the next batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from hushtable._types import CodeArray
from hushtable.anonymizers.fitted import LearnedRecoding
from hushtable.anonymizers.placement import Routes
from hushtable.anonymizers.preparation import Request
from hushtable.columns import SUPPRESSED, ColumnSpec, format_value, parse_cell
from hushtable.errors import InputError, quote_names
from hushtable.hierarchy import Dates, Dictionary, Frequency, Hierarchy, Prefix, Rule, Runs
from hushtable.models import MatchingNotion, PrivacyModel
from hushtable.quality import SetNCP
from hushtable.recoding import CodeRanges, GridCells, Recoding, Rounded, Written
from hushtable.release import Release
from hushtable.tables import Partition, Table

_MIN_RECORDS_PER_VALUE: Final = 20  # a value that fewer records have may not be written to a file


@dataclass(frozen=True, slots=True, eq=False)
class Learner:
    """Learns a recoding from a release when it is first needed."""

    request: Request

    def learn_from(self, release: Release) -> LearnedRecoding:
        """Learn the cells of a release and where new rows go; raise if the release cannot place other rows."""
        request = self.request
        check_learnable(request.models, release.recoding.style)
        if request.parted:
            raise InputError(
                f"a release with sets of items ({quote_names(request.parted)}) has no next batch.",
                hint="its items would be judged anew: anonymize the new rows anew.",
            )
        cells, class_of_leaf = _collect_cells(release.recoding)
        routes = _build_routes(release, request)
        exposure = release.exposure
        return LearnedRecoding(
            asked=replace(
                request,
                identifiers=release.removed,
                pseudonyms=release.pseudonyms,
                hierarchies=_keep_lasting_hierarchies(release, request.hierarchies),
                unknown="suppress",
                specs={**request.specs, **_collect_specs(release, request)},
                loss=request.loss if isinstance(request.loss, SetNCP) else SetNCP(),
                inputs=release.inputs,
            ),
            columns=release.input_columns,
            kinds={column.name: column.kind for column in release.recoding.columns},
            cells=cells,
            style=release.recoding.style,
            routes=routes,
            class_of_leaf=class_of_leaf,
            hidden=release.pseudonymized,
            fresh=release.fresh,
            limit=exposure.limit if exposure else None,
            accepted=exposure.accepted if exposure else {},
            is_enforced=exposure is not None and exposure.is_enforced,
            from_data=_describe_cells_from_data(release, request, cells, routes),
        )


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


def doubts_of_saving(table: Table, hierarchies: Mapping[str, Any], style: str) -> dict[str, str]:
    """Return, by column, what may prevent saving the recoding, and what to write into the policy."""
    doubts = {}
    for column, codes in zip(table.columns, table.codes, strict=True):
        if column.name in hierarchies:
            continue
        if column.is_measured:
            if style != "readable":
                doubts[column.name] = "its intervals would end with values of people: write recoding: readable"
            continue
        counts = np.bincount(codes[codes >= 0], weights=table.counts[codes >= 0], minlength=column.n_values)
        n_rare = int((counts < _MIN_RECORDS_PER_VALUE).sum())
        if n_rare:
            doubts[column.name] = (
                f"{n_rare:,} of its {column.n_values:,} values have fewer than {_MIN_RECORDS_PER_VALUE} records, and "
                "a class may "
                "publish them: write hierarchy: FILE, a line `value;group` for each"
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
    """Return the distinct combinations of published cells, and which of them each class publishes."""
    meanings, cells = recoding.meanings(), []
    for column, cell in zip(recoding.columns, recoding.cells, strict=True):
        label_of_class, labels = recoding.format_labels(column.name)
        index_of_text = {text: place for place, text in enumerate(dict.fromkeys(labels))}
        cells.append(
            Written(
                np.array([index_of_text[text] for text in labels], dtype=np.int32)[label_of_class],
                cell.shares(replace(column, by_rank=False)),
                cell.shares(replace(column, by_rank=True)),
                tuple(index_of_text),
                meanings.get(column.name),
            )
        )
    written = replace(recoding, cells=tuple(cells))
    _, first, class_of = np.unique(written.number_combinations()[:-1], return_index=True, return_inverse=True)
    names = (column.name for column in recoding.columns)
    return dict(zip(names, (cell.take(first) for cell in cells), strict=True)), class_of.astype(np.int32)


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
    for column, cell in zip(release.recoding.columns, release.recoding.cells, strict=True):
        all_texts = (*cells[column.name].texts, *(routes.texts_of_cuts(column.name) if routes else ()))
        texts = {text for text in all_texts if text is not None and text != SUPPRESSED}
        ladder = release.hierarchies.get(column.name) if column.name in request.hierarchies else None
        if not texts or isinstance(cell, (Rounded, GridCells)):
            continue
        common = _list_common_values(release, request, column.name, ladder, _MIN_RECORDS_PER_VALUE)
        if not isinstance(ladder and ladder.rule, (Frequency, Runs)):
            # A value that many people have identifies nobody, alone or in a list.
            texts = {text for text in texts if not _list_members(text) <= common}
        if not texts:
            continue
        own = set(map(format_value, column.texts()))
        if isinstance(cell, CodeRanges):
            # Codes come from public lists: k people with a code are enough to cut there.
            common = _list_common_values(release, request, column.name, ladder, 1)
            odd = {text for text in texts if (own & {text, *(parse_cell(text).ends or ())}) - common}
            if odd:
                reasons[column.name] = f"publishes, or is cut at, {len(odd)} of its values or ranges that end with them"
            continue
        if ladder is None or isinstance(ladder.rule, (Frequency, Runs)):
            reasons[column.name] = "has no hierarchy from a file, and publishes values, or lists and groups of them"
            continue
        if ladder.rule is None:
            odd = texts.difference(*(ladder.whole or ladder).labels)
        else:
            odd = {text for text in texts if text in own or parse_cell(text).form == "set"}
        if odd:
            reasons[column.name] = f"publishes, or is cut at, {len(odd)} of its values or lists of them"
    for name in (*release.quasi_identifiers, *release.sensitive):
        if release.specs[name].kind == "ordered" and not (name in request.specs and request.specs[name].order):
            reasons.setdefault(name, "has an order that lists its values")
    return reasons


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


def _build_routes(release: Release, request: Request) -> Routes | None:
    if release.placing is None:
        return None
    table = Table.encode(release.source, release.quasi_identifiers, request.specs)
    kept_rows = np.flatnonzero(~release.suppressed)
    partition = release.partition
    if len(kept_rows) < table.n_rows:
        table = table.take(kept_rows)
        partition = Partition.from_labels(partition.labels[kept_rows], partition.n_classes, table.counts)
    return Routes.from_cuts(release.placing, table, partition)
