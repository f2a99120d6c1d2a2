"""mpUCCs: which synthetic records single out an original one, on how few columns, and what people never used show."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final, Literal

import numpy as np

from hushtable._types import CountArray
from hushtable.columns import ColumnSpec, check_specs, to_json_values
from hushtable.errors import ColumnError, InputError, check_whole, quote_names
from hushtable.io import frames, read_alike
from hushtable.plots import charts
from hushtable.risk.assessment import format_percent
from hushtable.risk.collisions import (
    Collisions,
    Settings,
    count_by_draw,
    datetime_precisions,
    detail_columns,
    find_collisions,
    numeric_precisions,
    tree_columns,
)
from hushtable.risk.intervals import clip_interval, excess_risk, standard_score, wilson_interval
from hushtable.search import Budget, Trace, check_budget
from hushtable.tables import (
    Coverage,
    Joint,
    JointRows,
    Table,
    WalkProgress,
    encode_jointly,
    find_mismatches,
    meet_tables,
    warn_of_mismatches,
)
from hushtable.wording import StatesFacts, careful, join_names


def compare_with_control(
    original: CountArray,
    control: CountArray,
    n_attacks: int,
    attack: Callable[[Iterable[CountArray]], CountArray | None],
    *,
    n_draws: int,
    n_permutations: int,
    seed: int,
) -> dict[str, object] | None:
    """Attack equally many originals and control records; return what the originals add, None where a budget ended.

    ``original`` and ``control`` hold for each record the row that stands for it, and ``attack`` counts for each of many
    draws of rows how many of the ``n_attacks`` attacks succeed. More originals are hit more often, whoever they are: so
    the sizes match, in ``n_draws`` draws of the larger table, whose mean is compared. Equal records that were drawn
    count once, because of more records a larger share is equal to another; ``n_compared`` is how many distinct ones
    each draw has at least.

    The excess is (original - control) / (1 - control); it and the ends of its interval are brought into [-1, 1]. The
    interval is normal, with the standard deviation of ``n_permutations`` exchanges of the labels: unlike Wilson's, it
    does not take records that hit the same person for independent trials. ``most`` is the excess of a copy that hits
    every original of a draw once.
    """
    rng = np.random.default_rng(seed)
    n_each = min(len(original), len(control))
    # The smaller table is drawn whole, every time the same.
    n_of = [1 if len(records) == n_each else n_draws for records in (original, control)]
    tables = zip((original, control), n_of, strict=True)
    compared = [np.unique(_draw_records(records, n_each, rng)) for records, n in tables
                for _ in range(n)]  # fmt: skip
    counts = attack(chain(compared, _exchange_labels(original, control, n_permutations, rng)))
    if counts is None:
        return None

    def excess(on_original: float, on_control: float) -> float:
        return excess_risk((on_original / n_attacks, 0.0), (on_control / n_attacks, 0.0))[0]

    n_whole = len(compared)
    on_original, on_control = float(counts[: n_of[0]].mean()), float(counts[n_of[0] : n_whole].mean())
    observed = excess(on_original, on_control)
    halves = counts[n_whole : n_whole + 2 * n_permutations].reshape(-1, 2)
    by_chance = [excess(*half) for half in halves.tolist()]
    reach = standard_score() * float(np.std(by_chance, ddof=1))
    clipped_excess, low, high = np.clip([observed, observed - reach, observed + reach], -1.0, 1.0).tolist()
    n_compared = min(map(len, compared))
    return {
        "n_control": len(np.unique(control)),
        "n_compared": n_compared,
        "n_draws": n_draws,
        "n_permutations": n_permutations,
        "train_rate": on_original / n_attacks,
        "control_rate": on_control / n_attacks,
        "excess_risk": clipped_excess,
        "interval": [low, high],
        # `not <` counts NaN (the control always succeeds) as no smaller than what was observed.
        "p_value": (1 + sum(not each < observed for each in by_chance)) / (1 + n_permutations),
        "most": excess(min(n_compared, n_attacks), on_control),
    }


def _draw_records(records: CountArray, n_drawn: int, rng: np.random.Generator) -> CountArray:
    whole = n_drawn == len(records)
    return records if whole else records[np.sort(rng.choice(len(records), n_drawn, replace=False))]


def _exchange_labels(
    original: CountArray, control: CountArray, n_permutations: int, rng: np.random.Generator
) -> Iterator[CountArray]:
    """Yield for each permutation the two halves of a draw of originals and one of control records."""
    n_each = min(len(original), len(control))
    for _ in range(n_permutations):
        pool = np.concatenate([_draw_records(records, n_each, rng) for records in (original, control)])
        order = rng.permutation(2 * n_each)
        yield np.unique(pool[order[:n_each]])
        yield np.unique(pool[order[n_each:]])


_NO_CONTROL_NOTE: Final = (
    "without a control table this rate does not show what the synthesis gave away: records also match by chance. "
    "Give a control table: records of the same kind that were never used for it"
)
_BUDGET_ENDED_NOTE: Final = "the budget ended before all sets were looked at, so that the control was not compared"
# With fewer no p-value is below 0.05, and they say little of a standard deviation.
_MIN_PERMUTATIONS: Final = 20
_ONE_TABLE_NOTE: Final = "records of the table itself that are unique on some columns; no other table was looked at"


@dataclass(frozen=True, slots=True, eq=False)
class Mpuccs(StatesFacts):
    """Who is singled out on which columns.

    Attributes
    ----------
    summary : dict
        Totals and rates, the settings, and what a control table shows; ``dropped_as_equal``: how many records of
        each table were dropped before, because they equal another of it.
    trace : Trace
    sizes : tuple of int
        The sizes asked for, ascending.
    settings : Settings
        The options of the same names.
    joint : Joint
        The originals and the records that attack, in one code; without what the codes mean, unless ``values=True``.
    collisions : Collisions
        Which of those records, on which of those columns.
    source : str
        The dataframe library that frames come in.
    """

    summary: dict[str, Any]
    trace: Trace = field(repr=False)
    sizes: tuple[int, ...] = field(repr=False)
    settings: Settings = field(repr=False)
    joint: Joint = field(repr=False)
    collisions: Collisions = field(repr=False)
    source: str = field(repr=False)

    @property
    def counted(self) -> str:
        """What all figures count: ``"records"``, or ``"distinct rows"`` where equal records were merged."""
        return "distinct rows" if self.summary["config_deduplicate"] else "records"

    @property
    def facts(self) -> tuple[str, ...]:
        """What was found, in whole sentences, the most dangerous first."""
        return tuple(describe_collisions(self.summary, self.counted, is_alone=len(self.joint.tables) == 1))

    @property
    def details(self) -> Any:
        """A dataframe with one row per record and column set, made anew on each access.

        ``combo_size``, ``syn_idx`` (the record's position in its table), ``field_combo`` (the columns). Then
        ``ori_idx`` (the position of the one original that equals it there), and ``value_combo`` where ``values=True``.
        """
        return frames.assemble(detail_columns(self.joint, self.collisions), self.source)

    @property
    def tree(self) -> Any:
        """A dataframe with one row per column set of the sizes asked for: its entropy, and whom it singles out.

        Where a budget ended, of the sizes up to ``summary["complete_to_size"]``. Made anew on each access, set
        by set: 0.7 ms a set of 40,000 records, 20 s for all sets of 15 columns.
        """
        sizes = [size for size in self.sizes if size <= self.collisions.complete_to]
        return frames.assemble(tree_columns(self.joint, sizes, self.collisions, self.settings), self.source)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw on how few columns records are singled out; return the matplotlib axes.

        Each record counts once, at the size of its smallest column set. Sizes that a budget did not get to have no bar.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A figure of its own when not given; a notebook shows it.
        """
        by_size, reached = self.summary["identified_by_size"], self.summary["complete_to_size"]
        alone = len(self.joint.tables) == 1
        what = f"{self.counted} are unique on some columns" if alone else f"{self.counted} single out an original"
        return charts.by_size(
            list(by_size),
            [n if size <= reached else None for size, n in by_size.items()],
            label=f"{self.counted}, by their fewest columns",
            title=f"{format_percent(self.summary['identification_rate'])} of {what}",
            ax=ax,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the summary and the trace as plain values."""
        return dict(to_json_values({**self.summary, "trace": self.trace.to_dict()}))

    def __repr__(self) -> str:
        return (
            f"Mpuccs({self.summary['total_identified']} of {self.summary['total_syn_records']} {self.counted} "
            f"identified, rate {self.summary['identification_rate']:.4g})"
        )


def describe_collisions(summary: Mapping[str, Any], unit: str, *, is_alone: bool) -> Iterator[str]:
    """Describe how many records are identified, on how many columns, and how many beyond a control."""
    mate = "original" if unit == "records" else "distinct row of the original"
    what = "are unique in the table" if is_alone else f"are unique and equal exactly one {mate}"
    yield (
        f"{summary['total_identified']:,} of {summary['total_syn_records']:,} {unit} {what} "
        f"on {summary['config_n_cols'] or 'any number of'} columns: {summary['identification_rate']:.2%}."
    )
    if not summary.get("complete", True):
        yield describe_end(summary["complete_to_size"])
    if (control := summary.get("control")) is not None:
        low, high = control["interval"]
        yield (
            f"The excess risk beyond the control is {control['excess_risk']:.4f}, with a 95 % interval of {low:.4f} to "
            f"{high:.4f} ({control['n_permutations']} permutations, p = {control['p_value']:.3g})."
        )
        yield (
            f"Of {control['n_compared']:,} control records {control['control_rate']:.2%} are singled out, of as many "
            f"originals {control['train_rate']:.2%} (mean of {control['n_draws']} draws)."
        )
    if "note" in summary:
        yield careful(f"{summary['note']}.")
    if "interval" in summary:
        low, high = summary["interval"]
        yield (
            f"The 95 % interval is {low:.2%} to {high:.2%} (Wilson, as if records were independent); the weighted rate "
            f"is {summary['weighted_identification_rate']:.2%}."
        )
        yield (
            f"Of {summary['total_ori_records']:,} originals, {summary['distinct_originals']:,} different ones are hit "
            f"({summary['original_rate']:.2%})."
        )
    dropped = summary.get("dropped_as_equal", {})
    if any(dropped.values()):
        counts = join_names([f"{n:,} of the {name}" for name, n in dropped.items()])
        yield f"Records that equal another of their table were dropped before: {counts}."


def describe_end(complete_to: int) -> str:
    """Describe up to which size a search came when its budget ended."""
    return careful(f"the search is NOT complete: the budget ended; sets of up to {complete_to} columns are done.")


def mpuccs(
    original: Any,
    synthetic: Any = None,
    *,
    n_cols: int | Sequence[int] | None = None,
    columns: Sequence[str] | None = None,
    control: Any = None,
    deduplicate: bool = False,
    all_minimal: bool = False,
    missing: Literal["category", "never"] = "category",
    numeric_precision: Literal["auto"] | int | Mapping[str, int] | None = "auto",
    datetime_precision: str | Mapping[str, str] | None = "auto",
    field_decay_factor: float = 0.5,
    renyi_alpha: float = 2.0,
    min_entropy_delta: float | None = None,
    values: bool = False,
    n_draws: int = 5,
    n_permutations: int = 199,
    specs: Mapping[str, ColumnSpec] | None = None,
    seed: int = 0,
    budget: Budget | None = None,
    progress: WalkProgress | None = None,
) -> Mpuccs:
    """Find every record that is unique on some columns and equals exactly one original there.

    Parameters
    ----------
    original : path, dataframe or Table
        The records of people.
    synthetic : path, dataframe or Table, optional
        The records that may give them away. Without it, the originals are looked at
        themselves: which of them are unique, on which fewest columns.
    n_cols : int or sequence of int, optional
        How many columns a set may have; an int is that size only. All sizes when not given.
    columns : sequence of str, optional
        Columns to look at; all when not given, which both tables must then have.
    control : path, dataframe or Table, optional
        People of the same kind who were never used for the synthesis, attacked in the
        same way: what is achieved on the originals beyond that is the excess risk.
    deduplicate : bool
        Whether equal records of a table count as one distinct row, as the source has it: all figures are then of
        distinct rows. Two equal people protect one another, so that records are counted by default. Rows that are equal
        on chosen `columns` alone are no equal records: the two exclude one another.
    all_minimal : bool
        Report all minimal column sets of a record, not only its first smallest one.
    missing : {"category", "never"}
        Missing is one value, or a record matches nothing where it has none.
    numeric_precision : "auto", int, mapping of column to int, or None
        Decimals to which numbers are compared; -1 compares tens, of whole numbers too. ``"auto"``: per
        column, the fewest that write all its values in one of the tables. None compares exactly. Numbers are rounded
        as NumPy does it: to one decimal .15 becomes .2, where Python's ``round`` gives .1.
    datetime_precision : "auto", unit, mapping of column to unit, or None
        Unit (``D h m s ms us``) to which moments are cut; ``"auto"`` as for numbers.
    field_decay_factor : float
        In (0, 1]. A set of c columns weighs factor ** (c - 1) in the weighted rate.
    renyi_alpha : float
        Order of the entropies of `Mpuccs.tree`, at least 0; 1 is Shannon's, inf the min-entropy.
    min_entropy_delta : float, optional
        Skip column sets that add no more than this to the entropy of the first of their columns, and
        sets that build on a skipped one. This loses records; None skips nothing.
    values : bool
        Whether `details` shows the values of records.
    n_draws, n_permutations : int
        Of the comparison with a control, from 1 and from 20 on; see `hushtable.risk.mpuccs.compare_with_control`.
    specs : mapping of column to ColumnSpec, optional
        Kinds of columns where the data do not say.
    seed : int
        Of the draws of the comparison with a control; nothing else is random.
    budget : Budget, optional
        When it ends, ``summary["complete"]`` is False: more records may be identified, on more than
        ``summary["complete_to_size"]`` columns. Sets are looked at by size then, the smallest first. What is
        left of it is for the control, which is not compared where that ends too.
    progress : callable, optional
        Called with the share of the columns done and the number of combinations looked at.

    Returns
    -------
    Mpuccs

    Raises
    ------
    InputError
        A size that no set can have, an option outside its range, or options that exclude one another.
    ColumnError
        The tables have different columns, or a column cannot be coded.

    Notes
    -----
    Maximal partial unique column combinations (PETsARD's developer guide) are the *minimal* sets on
    which a record is unique. Columns are ordered by their number of distinct values in the
    synthetic table, most first; sets by size, then as `itertools.combinations` has them.

    Exact: a branch is left only where nothing can be lost (`hushtable.kernels.uniques`).
    Worst case 2^columns sets; about 0.1 s for two tables of 40,000 x 15 up to size 3, 0.7 s for all sizes.
    A control adds a walk for every 31 permutations.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 31, 52, 47], "sex": ["f", "m", "f", "f"]})
    >>> made_up = pl.DataFrame({"age": [31, 47, 52, 52], "sex": ["m", "m", "f", "m"]})
    >>> found = mpuccs(people, made_up, n_cols=[1, 2])
    >>> found.summary["total_identified"], found.summary["identified_by_size"]
    (3, {1: 1, 2: 2})
    >>> found.details.rows()
    [(1, 1, ['age'], 3), (2, 0, ['age', 'sex'], 1), (2, 2, ['age', 'sex'], 2)]
    """
    how = Settings(all_minimal, missing, min_entropy_delta, renyi_alpha, field_decay_factor)
    check_budget(budget)
    _check_options(synthetic, control, how)
    if deduplicate and columns is not None:
        raise InputError(
            "deduplicate and columns were given, and records that are equal on some columns are not equal records.",
            hint="leave one of the two out.",
        )
    check_whole("n_draws", n_draws, 1)
    check_whole("n_permutations", n_permutations, _MIN_PERMUTATIONS)
    data_by_name = {"original": original, "synthetic": synthetic, "control": control}
    data_by_name = {name: data for name, data in data_by_name.items() if data is not None or name == "original"}
    tables = encode_same_columns(data_by_name, columns, specs)
    decimals = numeric_precisions(tables[:2], numeric_precision)
    units = datetime_precisions(tables[:2], datetime_precision)
    read = encode_jointly(tables, decimals, units)
    warn_of_mismatches(find_mismatches(read, tables), [*data_by_name])
    joint = order_columns(read, merges=deduplicate)
    sizes = sizes_of(n_cols, len(joint.names))
    collisions = find_collisions(joint, sizes, how, budget, progress)
    summary = {
        **_count_totals(joint, sizes, collisions, field_decay_factor),
        # By table, the records that were merged because they are equal.
        "dropped_as_equal": {
            name: table.n_records - rows.n_records
            for name, table, rows in zip(data_by_name, tables, joint.tables, strict=True)
        },
        "config_deduplicate": deduplicate,
        "config_min_entropy_delta": min_entropy_delta,
        "config_renyi_alpha": renyi_alpha,
        "config_numeric_precision": decimals,
        "config_datetime_precision": units,
        "config_n_cols": None if n_cols is None else sizes,
        "config_field_decay_factor": field_decay_factor,
    }
    if synthetic is not None and control is not None:
        n_of = {"n_draws": n_draws, "n_permutations": n_permutations, "seed": seed}
        records = _rows_of_records(read, joint, merges=deduplicate)
        compared = _compare_tables_with_control(joint, records, sizes, how, collisions, budget, n_of)
        summary |= {"note": _BUDGET_ENDED_NOTE} if compared is None else {"control": compared}
    else:
        summary["note"] = _ONE_TABLE_NOTE if synthetic is None else _NO_CONTROL_NOTE
    pair = replace(joint, tables=joint.tables[:2])
    return Mpuccs(
        summary,
        collisions.trace,
        tuple(sizes),
        how,
        pair if values else pair.without_values(),
        collisions,
        frames.library_of(original),
    )


def _rows_of_records(read: Joint, joint: Joint, *, merges: bool) -> tuple[CountArray, CountArray]:
    """Return the row that stands for each original, and for each control record, counted on after the originals.

    Where ``merges``, a control record that equals an original is that one's row.
    """
    parts = joint.tables[0], joint.tables[2]
    n_originals = len(parts[0].counts)
    if not merges:
        return np.arange(n_originals), n_originals + np.arange(len(parts[1].counts))
    pooled = JointRows(
        *(
            np.concatenate(each, axis=-1)
            for each in zip(*((each.codes, each.counts, each.positions) for each in parts), strict=True)
        )
    )
    first = pooled.first_equal_rows(joint.widths)
    own = [
        np.repeat(np.unique(table.first_equal_rows(read.widths), return_inverse=True)[1], table.counts)
        for table in (read.tables[0], read.tables[2])
    ]
    return first[own[0]], first[n_originals + own[1]]


def _compare_tables_with_control(
    joint: Joint,
    records: tuple[CountArray, CountArray],
    sizes: Sequence[int],
    how: Settings,
    collisions: Collisions,
    budget: Budget | None,
    n_of: Mapping[str, int],
) -> dict[str, object] | None:
    """Return what the originals add to the control; None where the budget ended, in the search or here."""
    if not collisions.trace.complete:
        return None
    rest = _remaining_budget(budget, collisions.trace)

    def attack(draws: Iterable[CountArray]) -> CountArray | None:
        return count_by_draw(joint, sizes, how, collisions.pruned, draws, rest)

    return compare_with_control(records[0], records[1], joint.tables[1].n_records, attack, **n_of)


def _remaining_budget(budget: Budget | None, trace: Trace) -> Budget | None:
    """Return what a search that was complete has left of its budget."""
    if budget is None:
        return None
    # A budget is never 0.
    seconds = None if budget.seconds is None else max(budget.seconds - trace.seconds, 1e-9)
    return Budget(seconds, None if budget.nodes is None else max(budget.nodes - trace.nodes, 1))


def _check_options(synthetic: Any, control: Any, how: Settings) -> None:
    decay = how.field_decay_factor
    checks = [
        (how.missing in ("category", "never"), f"missing = {how.missing!r}", 'use "category" or "never".'),
        (0 < decay <= 1, f"field_decay_factor = {decay!r}", "give a number above 0, at most 1."),
        (how.renyi_alpha >= 0, f"renyi_alpha = {how.renyi_alpha!r}", "give a number of at least 0; inf is allowed."),
        (
            how.min_entropy_delta is None or not how.all_minimal,
            "min_entropy_delta and all_minimal",
            "pruning may skip minimal sets: choose one of the two.",
        ),
        (control is None or synthetic is not None, "control without a synthetic table", "pass both, or neither."),
    ]
    for holds, what, hint in checks:
        if not holds:
            raise InputError(f"{what}.", hint=hint)


def encode_same_columns(
    data_by_name: Mapping[str, Any], columns: Sequence[str] | None = None, specs: Mapping[str, ColumnSpec] | None = None
) -> list[Table]:
    """Encode tables on the columns of the second, in its order; errors call them by their names."""
    if columns is not None and not len(columns):
        raise InputError("columns names no column.", hint="name some, or leave it out for all.")
    check_specs(specs)
    read = [what for what, data in data_by_name.items() if not isinstance(data, Table)]
    spelled = read_alike([frames.read(data_by_name[what]).with_specs(specs or {}) for what in read])
    spelled_alike = {**data_by_name, **dict(zip(read, spelled, strict=True))}
    tables = [Table.encode(spelled_alike[what], columns, specs) for what in data_by_name]
    # The synthetic table's order of columns rules, as in the source.
    names = tables[min(1, len(tables) - 1)].names
    for what, table in zip(data_by_name, tables, strict=True):
        odd = sorted(set(names) ^ set(table.names))
        if odd:
            raise ColumnError(
                f"the {what} table and the synthetic one do not have the same columns: {quote_names(odd)} in one only.",
                hint="give both tables the same columns; mpuccs looks at those of columns=.",
            )
        if table.n_rows == 0:
            raise InputError(f"the {what} table is empty.", hint="a rate of nothing would say nothing; check the file.")
    return [*meet_tables([table.select(names) for table in tables], specs)]


def order_columns(joint: Joint, *, merges: bool) -> Joint:
    """Order columns by descending number of values in the attacking table; a table alone is both.

    Where ``merges``, equal rows of a table become one record.
    """
    rows = [each.distinct_rows(joint.widths) if merges else each for each in joint.tables]
    attacking = rows[min(1, len(rows) - 1)]
    n_values = [len(np.unique(codes[codes >= 0])) for codes in attacking.codes]
    order = sorted(range(len(n_values)), key=lambda j: -n_values[j])
    return Joint(
        tuple(joint.names[j] for j in order),
        tuple(joint.widths[j] for j in order),
        tuple(joint.values[j] for j in order),
        tuple(each.reorder_columns(order) for each in rows),
    )


def sizes_of(n_cols: int | Sequence[int] | None, n_columns: int) -> list[int]:
    """Return the sizes asked for, ascending."""
    wanted: Any = range(1, n_columns + 1) if n_cols is None else n_cols
    if not isinstance(wanted, Iterable) or isinstance(wanted, (str, bytes)) or getattr(wanted, "ndim", 1) != 1:
        wanted = [wanted]
    sizes = [int(size) if isinstance(size, np.integer) else size for size in wanted]
    odd = [size for size in sizes if type(size) is not int or not 1 <= size <= n_columns]
    if odd or not len(sizes):
        what = f"n_cols asks for sets of {odd[0]!r} columns" if odd else "n_cols asks for no size of sets"
        raise InputError(
            f"{what}, of {n_columns} columns.", hint=f"give whole numbers from 1 to {n_columns}, or None for all."
        )
    return sorted(set(sizes))


def _count_totals(joint: Joint, sizes: Sequence[int], collisions: Collisions, decay: float) -> dict[str, Any]:
    original, attacking = joint.tables[0], joint.tables[min(1, len(joint.tables) - 1)]
    n_records, n_identified = attacking.n_records, collisions.n_identified
    is_first = collisions.is_first
    size_of = collisions.sizes[is_first]
    n_originals = len(np.unique(collisions.mates))
    covered = Coverage(*map(sum, zip(*collisions.coverage.values(), strict=True)))
    rate, error = wilson_interval(n_identified, n_records)
    holds = [(collisions.paths[is_first] == j).any(axis=1) for j in range(len(joint.names))]
    return {
        "total_syn_records": n_records,
        "total_ori_records": original.n_records,
        "total_identified": n_identified,
        "identification_rate": n_identified / n_records,
        "weighted_identification_rate": float((decay ** (size_of - 1)).sum()) / n_records,
        "total_combinations_checked": sum(math.comb(len(joint.names), size) for size in sizes),
        "total_combinations_pruned": len(collisions.pruned),
        "interval": list(clip_interval(rate - error, rate + error)),
        "distinct_originals": n_originals,
        "original_rate": n_originals / original.n_records,
        "identified_by_size": {size: int((size_of == size).sum()) for size in sizes},
        "identified_by_column": {
            name: float(each.mean()) if n_identified else 0.0 for name, each in zip(joint.names, holds, strict=True)
        },
        "total_combinations_walked": covered.walked,
        "total_combinations_left": covered.left,
        "total_combinations_not_reached": covered.not_reached,
        "combinations_by_size": {size: each._asdict() for size, each in collisions.coverage.items()},
        "complete": collisions.trace.complete,
        "complete_to_size": collisions.complete_to,
    }
