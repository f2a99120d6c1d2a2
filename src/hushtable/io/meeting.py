"""Frames of several writers, read and spelled alike before anything compares them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hushtable.columns import Column, ColumnSpec, encode, meet_columns, text_series
from hushtable.io.frames import Frame


def read_alike(tables: Sequence[Frame]) -> tuple[Frame, ...]:
    """Return tables with ambiguous columns read like an unambiguous column of that name in another table."""
    respelled = list(tables)
    for name in dict.fromkeys(name for table in tables for name in table.columns):
        holders = [place for place, table in enumerate(tables) if table.is_text and name in table.columns]
        doubtful = {place: tables[place].doubts(name) for place in holders}
        settled = [tables[place].spelling(name) for place in holders if doubtful[place] == ((), ())]
        for index, (formats, marks) in doubtful.items():
            decimals = [decimal for decimal, _ in marks]
            dated = next((spec for spec in settled if spec.format in formats), ColumnSpec())
            decimal = next((spec.decimal for spec in settled if spec.decimal in decimals), None)
            if dated.format is not None or decimal is not None:
                spec = ColumnSpec(format=dated.format, decimal=decimal, latest_year=dated.latest_year)
                respelled[index] = respelled[index].with_specs({name: spec})
    return tuple(respelled)


def spell_as(frame: Frame, reference: Mapping[str, Column]) -> Frame:
    """Return a frame whose columns have the spelling of the reference columns."""
    frame, undecided = frame.without_odd_cells([*reference])
    if undecided:
        from hushtable.io.odd_cells import warn_of_odd_cells

        warn_of_odd_cells(undecided)
    columns, specs = {}, dict(frame.specs)
    for name, target in reference.items():
        column, codes = encode(frame.column(name), frame.spec(name), is_typed=frame.is_text, name=name)
        met = meet_columns([target, column], [False, bool((codes < 0).any())])
        # Numbers and dates keep their type: the reference has to be read like them.
        stays = column.is_measured and not target.is_measured
        if met is None or met[1].column is column or (stays and met[0].column.is_measured):
            continue
        former = zip(target.texts(), met[0].codes.tolist(), strict=False)
        spelling_of = {met[0].column.text(code): text for text, code in former if code >= 0}
        texts = [*(spelling_of.get(text, text) for text in met[1].column.texts()), None]
        spelled = [texts[code] for code in met[1].codes.tolist()]
        if spelled == [*column.texts(), None] and met[1].column.kind == column.kind:
            continue
        columns[name] = text_series(name, spelled).gather(codes % len(spelled))
        if target.is_ordered and target.kind != "ordered":
            # The file's marks and date formats no longer apply.
            kind = "datetime" if target.kind == "datetime" else met[1].column.kind
            specs[name] = ColumnSpec(kind, decimal="." if kind in ("integer", "decimal") else None)
    return replace(frame.with_columns(columns), specs=specs) if columns else frame
