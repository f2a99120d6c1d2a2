"""What the command says of results, line by line."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hushtable.cli.terminal import aligned, join_some, laid_out
from hushtable.models import entries
from hushtable.wording import translate

if TYPE_CHECKING:
    from hushtable.claims import Claim, Linkage, Verdict
    from hushtable.discover import Roles
    from hushtable.hierarchy import Tails
    from hushtable.io import Frame, Writing
    from hushtable.models import PrivacyModel
    from hushtable.policy import Policy
    from hushtable.release import Exposure, FarOut
    from hushtable.risk import Attack, Attacks, Keys, MinimalUniques, Mpuccs, PetsardMpuccs, PrivacyFigure
    from hushtable.search import Trace

_LOSS_WORDS: Final = {
    "ncp": "set-NCP, 0 none to 1 all",
    "minimal_distortion": "changed cells, weighted",
    "certainty": "certainty, a sum over cells",
}
_MOST_LINES: Final = 12
_FEW_ROWS: Final = 30
_MANY_COLUMNS: Final = 200
_SHOWN_COLUMNS: Final = 50
_FEW_NAMES: Final = 8


_OF_ROLES: Final = ("proposed role", "distinct", "missing", "power", "because")


def role_table(roles: Roles) -> list[str]:
    """Lay out the columns with their proposed roles and reasons."""
    is_labelled = any(column.label for column in roles.columns)
    titles = ("column", *(["label"] if is_labelled else []), *_OF_ROLES)
    rows = [
        (
            column.name,
            *([column.label] if is_labelled else []),
            column.role,
            f"{column.n_distinct:,}",
            f"{column.n_missing:,}" if column.n_missing else "",
            f"{column.power:.0%}" if column.power else "",
            f"{column.reason}; {column.warning}" if column.warning else column.reason,
        )
        for column in roles.columns
    ]
    shown = rows if len(rows) <= _MANY_COLUMNS else rows[:_SHOWN_COLUMNS]
    table = aligned(
        titles, shown, right=("distinct", "missing", "power"), whole=("proposed role",), sentences=("because",)
    )
    if len(shown) == len(rows):
        return [table]
    counts = Counter(column.role for column in roles.columns)
    told = ", ".join(f"{n:,} {role}" for role, n in counts.most_common())
    return [
        table.rstrip(),
        f"The first {len(shown)} of {len(rows):,} columns; all of them: {told}; --json and the policy list them.",
    ]


def risk_lines(risk: Mapping[str, Any], roles: Roles) -> list[str]:
    """Say how easily people can be found again, where what is asked is known of them."""
    if not roles.of_persons:
        hint = "; where the rows are persons all the same: --persons" if roles.columns else ""
        return [f"Nothing is proposed: {roles.persons_reason.partition('; where')[0]}{hint}."]
    if not risk["quasi_identifiers"]:
        return ["No column looks like a quasi-identifier; if one is, name it in a policy or with --qi."]
    readings = risk["smallest_by_missing"]
    asked = f" ({', '.join(roles.ask)}: taken for known until you decide)" if roles.ask else ""
    return [
        f"By {', '.join(risk['quasi_identifiers'])}{asked}:",
        f"  {risk['headline']}",
        f"  {risk['n_records']:,} records in {risk['n_classes']:,} classes",
        f"  highest risk {risk['highest_risk']:.3g}, average risk {risk['average_risk']:.3g} "
        "(chance of a right guess by someone who knows that the person is in the table)",
        f"  smallest class {readings['category']} with missing as a category, "
        f"{readings['wildcard']} as a wildcard, {readings['worst']} at worst",
    ]


def abridged(facts: Sequence[str], notes: Sequence[str], details: Sequence[str], *, verbose: bool) -> list[str]:
    """Return twelve lines at most: facts, and notes, the most dangerous first; if verbose all, and the details."""
    if verbose:
        return [*facts, *notes, *details]
    room = _MOST_LINES - 1 - len(facts)
    n_left = len(notes[room:]) + len(details)
    more = [f"{count_of(n_left, 'more line')}: --verbose"] if n_left else []
    return [*facts, *notes[:room], *more]


def release_facts(
    output: Path, rules: Policy, verdict: Verdict, summary: Mapping[str, Any], *, codebook: bool
) -> list[str]:
    """Say what was written, what holds, and what it cost."""
    compared = rules.person in (*rules.removed, *rules.fresh) or any(model.needs.original for model in rules.models)
    who = "person" if rules.person else "record"
    n_gone = summary["n_suppressed"]
    gone = (
        f"{count_of(n_gone, 'record')} {'was' if n_gone == 1 else 'were'} suppressed"
        if n_gone
        else ("none was suppressed")
    )
    words = _LOSS_WORDS.get(rules.loss.name, rules.loss.name)
    lost = "" if rules.loss.name == "ncp" else f"; information loss {summary['loss']:.4f} ({words})"
    links = any(model.needs.histories for model in rules.models)
    again = " (make the next release with a new key: one key would join the histories of both)" if links else ""
    kinds = {
        "left out": join_some(summary["removed"]),
        "keyed pseudonyms": join_some(summary["pseudonymized"]) + again * bool(summary["pseudonymized"]),
        "a new pseudonym for every record": join_some(summary["fresh"]),
    }
    without = "; ".join(f"{what}: {names}" for what, names in kinds.items() if names)
    share, names = summary["quality"]["set_ncp"], verdict.quasi_identifiers
    known = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    kept = rules.with_role("other")
    lines = [
        f"Wrote {output}{', its codebook' if codebook else ''} and its manifest.",
        f"Verified from the file{' and its original' if compared else ''}: {'; '.join(verdict.conditions)}.",
        f"  This holds for readers who know {known}{_of_records(rules.models)}, and nothing else of a person.",
        f"  {count_of(summary['n_records'], 'record')} in {count_of(summary['n_classes'], 'class')} of at least "
        f"{count_of(verdict.smallest_class, who)}; {gone}.",
        f"  A typical cell spans {100 * share:.{1 if share < 0.1 else 0}f} % of its column "
        f"(set-NCP {share:.4f}){lost}.",
        f"  {without[:1].upper()}{without[1:]}." * bool(without),
        f"  Kept as they are, taken for unknown to anyone: {join_some(kept)}." * bool(kept),
    ]
    return [line for line in lines if line]


def release_notes(rules: Policy, verdict: Verdict, exposure: Exposure | None, further: Sequence[str]) -> list[str]:
    """Say what speaks against a release, and what somebody learns who knows more, the most dangerous first."""
    if exposure is None:
        return [*_homogeneity_lines(verdict), *further, *_margin_lines(rules)]
    told = exposure.told_lines()
    first = [*_indented(told[:1]), *_homogeneity_lines(verdict), *_indented(exposure.against())]
    return [*first, *further, *_margin_lines(rules), *_indented([*told[1:], *exposure.tested_lines()])]


def release_details(rules: Policy, summary: Mapping[str, Any], exposure: Exposure | None) -> list[str]:
    """Say how a release was searched for, and what was accepted."""
    lines = [] if exposure is None else _indented(exposure.accepted_lines())
    lines.append(
        f"  recoding {summary['recoding']}; loss {summary['loss']:.4f} "
        f"({_LOSS_WORDS.get(rules.loss.name, rules.loss.name)}); set-NCP by rank "
        f"{summary['quality']['set_ncp_by_rank']:.4f}"
    )
    trade = summary["trace"].get("trade")
    return lines if not trade else [*lines, _trade_line(trade, summary["n_records"])]


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def count_of(n: int, noun: str) -> str:
    """Write a number of things."""
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"


def _of_records(models: Sequence[PrivacyModel]) -> str:
    """Say of how many records of a person readers may know so much, where a model judges histories."""
    from hushtable.models import KMAnonymity

    linked = [model for model in models if model.needs.histories]
    if not linked:
        return ""
    most = [model.m for model in linked if isinstance(model, KMAnonymity)]
    return f" of {count_of(max(most), 'record')} or fewer" if len(most) == len(linked) else " of any number of records"


def far_out_lines(found: Mapping[str, FarOut]) -> list[str]:
    """Name the columns whose loss by value says little of most records, and what to do."""
    lines = []
    for name, each in found.items():
        coded = f", or code who lies far out as one group (`hierarchy: {_entry(each.rule)}`)" if each.rule else ""
        lines.append(
            f"  careful: 1 % of the records hold {each.share:.0%} of the range of {name}, so that its loss by value is "
            f"small whatever the others lose; measure it on ranks (`loss: {{ncp: {{scale: rank}}}}`){coded}"
        )
    return lines


def _entry(rule: Tails) -> str:
    """Write top and bottom coding on one line, as a policy has it."""
    options = ", ".join(f"{name}: {value}" for name, value in entries.write(rule)[rule.name].items())
    return f"{{{rule.name}: {{{options}}}}}"


def _trade_line(trade: Mapping[str, Any], n_records: int) -> str:
    """Say what suppressing records gained; for those who make the release, not for those who receive it."""
    if trade["n_suppressed"] == 0:
        return "  no suppression lowers the loss, in which a suppressed record counts as wholly lost"
    return (
        f"  {trade['n_suppressed'] / n_records:.2%} suppressed lowers the loss from {trade['loss_before']:.4f} "
        f"to {trade['loss_after']:.4f}, those wholly lost included"
    )


def spelling_lines(
    writing: Writing,
    codes: Mapping[str, Mapping[str, int]],
    alike: Mapping[str, int],
    kept: Sequence[str],
    formulas: Mapping[str, int],
) -> list[str]:
    """Say how a file is written, and which of its cells look like other ones, each by column with their counts.

    Codes look like a missing value, alike ones nearly are another value, formulas a spreadsheet would run. Kept columns
    stay as they came, beside quasi-identifiers that do not.
    """
    lines = []
    if writing.encoding != "utf-8":
        lines.append(f"  written as {writing.encoding}")
    if writing.decimal == ",":
        lines.append("  quasi-identifiers are written with decimal commas")
    if formulas:
        told = [f"{name} {n:,}" for name, n in formulas.items()]
        done = "got an apostrophe" if writing.formulas == "escape" else "stay as they are (write: {formulas: escape})"
        lines.append(
            f"  careful: cells that a spreadsheet would run, beginning with =, +, - or @, {done}: {join_some(told)}"
        )
    if kept:
        form = "a decimal point" if writing.decimal == "." else "a decimal comma"
        lines.append(
            f"  quasi-identifiers are written with {form} and ISO dates, other columns as they came: {join_some(kept)}"
        )
    lines += [
        f"  careful: {n:,} values of {name} differ from another only in case, spaces or width"
        for name, n in alike.items()
    ]
    if codes:
        told = [f"{name} ({', '.join(f'{code} {n:,}' for code, n in each.items())})" for name, each in codes.items()]
        lines.append(
            f"  careful: cells that look like a missing value stay what they are (missing_values): {join_some(told)}"
        )
    return lines


def listed_lines(listed: Mapping[str, int], lacking: Sequence[str]) -> list[str]:
    """Say which columns list what a class holds, and which of them values that few records have."""
    hint = f"  lists in {join_some(lacking)} show which values a class lacks; recoding cut hides that"
    return [hint] * bool(lacking) + [
        f"  careful: the sets of {name} list {n:,} values that are nearly unique: who knows one finds its class; "
        "recoding cut or a hierarchy shows less"
        for name, n in listed.items()
    ]


def effort_lines(trace: Trace, unit: str) -> list[str]:
    """Say what was looked at, and what is proven; ties are counted in a unit."""
    effort = trace.effort
    assert effort is not None
    proof = "proven to be the least" if trace.optimal else "no proof"
    if not trace.optimal and trace.gap is not None:
        proof = f"no proof; at most {trace.gap:.1%} of it can be spared"
    if not effort.space and effort.history:
        losses = [value for _, _, value in effort.history]
        return [f"  {proof}; {effort.states:,} steps from a start of {losses[0]:.6g}, {trace.seconds:.2f} s"]
    ties = "" if effort.ties is None else f"; reached by {effort.ties:,} {unit}{'' if effort.ties == 1 else 's'}"
    space, share = f"10^{effort.space:.1f} possible tables", f"10^{effort.factor:.1f} tables each"
    return [
        f"  {proof}{ties}",
        f"  {space}; {effort.states:,} states settled ({share}), "
        f"{effort.pruned:,} pruned, {effort.cache_hits:,} costs from the cache, {trace.seconds:.2f} s",
    ]


def published_lines(frame: Frame) -> list[str]:
    """Show a small table as it was written."""
    if frame.n_rows > _FEW_ROWS:
        return []
    columns = [frame.column(name) for name in frame.columns]
    rows = [["" if cell is None else str(cell) for cell in row] for row in zip(*columns, strict=True)]
    return ["", laid_out(frame.columns, rows)]


def verdict_lines(file: Path, verdict: Verdict, *, has_manifest: bool = False) -> list[str]:
    """Say what holds apart from what fails, and from what could not be judged."""
    head = "does NOT hold" if not verdict.passed else "holds" if verdict.complete else "was judged in part"
    lines = [f"{file} {head}, on {', '.join(verdict.columns)}:"]
    lines += [f"  holds: {condition}" for condition in verdict.held]
    lines += [f"  failed: {failure}" for failure in verdict.failures]
    lines += [f"  not checked: {condition}: {needs}" for condition, needs in verdict.unchecked.items()]
    if any(condition.endswith("by persons") for condition in verdict.unchecked) and verdict.n_records:
        made = "; its manifest says that persons were counted beside the original" if has_manifest else ""
        lines.append(f"  by records: classes hold at least {verdict.smallest_class:,} records{made}")
    if "n_classes" in verdict.figures:
        lines.append(
            f"  {verdict.n_records:,} records in {verdict.n_classes:,} classes, smallest {verdict.smallest_class:,}; "
            f"{verdict.n_suppressed:,} suppressed; missing as {verdict.figures['missing']}"
        )
        lines += _homogeneity_lines(verdict)
    else:
        lines.append(f"  {verdict.n_records:,} records")
    return lines


def linked_lines(claim: Claim, linkage: Linkage | None) -> list[str]:
    """Say whom several records of a person find, or why that could not be counted."""
    if linkage is not None:
        return [f"  {line}" for line in linkage.lines()]
    person = claim.person
    if person is None:
        return ["  no column is said to tell whose record a row is: records are not linked, persons not counted"]
    return [f"  no published column links records of a person: {person} is not published, new everywhere, or unique"]


def _homogeneity_lines(verdict: Verdict) -> list[str]:
    return [
        f"  careful: a class agrees on {name}, so whoever finds a person's class knows it"
        for name, fewest in verdict.distinct_sensitive.items()
        if fewest < 2
    ]


def _margin_lines(rules: Policy) -> list[str]:
    """Say what is learnt from cuts that a model of sensitive values, not the size of a class, forbade."""
    judged = dict.fromkeys(name for model in rules.models for name in model.needs.sensitive)
    if not judged or getattr(rules.method, "margin", 0) > 0:
        return []
    return [
        f"  careful: who knows the method exactly can learn of {', '.join(judged)} from the cuts that were not made; "
        "a margin blunts that (`method: {mondrian: {margin: 2}}` in the policy)"
    ]


def attack_lines(found: Attacks) -> list[str]:
    """Lay out attacks under WP29's three headings, and say what keeps their figures from being taken at their word."""
    titles = ("attack", "made", "succeed", "by chance", "control", "risk", "95 % interval", "a copy")
    lines = [] if found.copies is None else [found.copies.headline]
    for kind in ("singling out", "linkability", "inference"):
        attacks = found.of(kind)
        if not attacks:
            continue
        lines += [
            translate(kind).capitalize(),
            aligned(titles, [_attack_row(each) for each in attacks], right=titles[1:]),
        ]
        lines += [f"  {note}" for note in dict.fromkeys(note for each in attacks for note in each.notes)]
    if found.figures:
        shown = ("figure", "target", "value", "95 % interval", "control or chance")
        rows = [_figure_row(each) for each in found.figures]
        lines += ["Distances and attribution", aligned(shown, rows, right=shown[2:])]
        lines += [f"  {line}" for line in dict.fromkeys(f"{each.name}: {each.meaning}" for each in found.figures)]
    return lines


def _figure_row(found: PrivacyFigure) -> tuple[str, ...]:
    ends = _format_interval(found.low, found.high)
    return found.name, found.target or "", _format_rate(found.value), ends, _format_rate(found.beside)


def _attack_row(found: Attack) -> tuple[str, ...]:
    asked, rates, risk = found.settings, found.rates, found.risk
    name = asked.get("secret") or asked.get("mode") or f"{asked['n_neighbors']} nearest"
    shown = [rates[each].value if each in rates else None for each in ("attack", "baseline", "control")]
    figures = [_format_rate(each) for each in (*shown, risk.value)]
    return name, f"{found.n_attacks:,}", *figures, _format_interval(risk.low, risk.high), _format_rate(found.most)


def _format_rate(rate: float | None) -> str:
    return "" if rate is None else "unknown" if math.isnan(rate) else f"{rate:.1%}"


def _format_interval(low: float, high: float) -> str:
    return "unknown" if math.isnan(low) else f"{low:.1%} to {high:.1%}"


def mpuccs_lines(attacked: Mpuccs | PetsardMpuccs, *, alone: bool) -> list[str]:
    """Say how many records are identified, on what, and what a control shows."""
    summary = attacked.summary
    rows = attacked.counted
    mate = "original" if rows == "records" else "distinct row of the original"
    what = "are unique in the table" if alone else f"are unique and equal exactly one {mate}"
    lines = [
        f"{summary['total_identified']:,} of {summary['total_syn_records']:,} {rows} {what} "
        f"on {summary['config_n_cols'] or 'any number of'} columns: {summary['identification_rate']:.2%}",
    ]
    if any(summary.get("dropped_as_equal", {}).values()):
        dropped = [f"{n:,} of the {name}" for name, n in summary["dropped_as_equal"].items()]
        lines.append(f"  records dropped before, because they equal another of their table: {', '.join(dropped)}")
    if "interval" in summary:
        low, high = summary["interval"]
        lines += [
            f"  95 % interval {low:.2%} to {high:.2%} (Wilson, as if records were independent); "
            f"weighted rate {summary['weighted_identification_rate']:.2%}",
            f"  {summary['distinct_originals']:,} different originals of {summary['total_ori_records']:,} "
            f"({summary['original_rate']:.2%}) are hit",
            _table_by_size(rows, summary["identified_by_size"]),
            _table_by_column("in the sets of", summary["identified_by_column"]),
        ]
    if "control" in summary:
        lines += _control_lines(summary["control"])
    if not summary.get("complete", True):
        lines += _unfinished_lines(summary["complete_to_size"], summary["combinations_by_size"])
    return lines + ([f"  careful: {summary['note']}"] if "note" in summary else [])


def _table_by_size(what: str, counts: Mapping[int, int]) -> str:
    """Lay out counts by the number of columns of a set."""
    return aligned(("columns in the set", what), [(str(size), f"{n:,}") for size, n in counts.items()], right=(what,))


def _table_by_column(what: str, shares: Mapping[str, float]) -> str:
    """Lay out shares by column, the highest first."""
    ranked = sorted(shares.items(), key=lambda each: -each[1])
    return aligned(("column", what), [(name, f"{share:.1%}") for name, share in ranked], right=(what,))


def _control_lines(control: Mapping[str, Any]) -> list[str]:
    low, high = control["interval"]
    return [
        f"Against {control['n_compared']:,} control records and as many originals "
        f"(mean of {control['n_draws']} draws): {control['control_rate']:.2%} and {control['train_rate']:.2%}",
        f"  excess risk {control['excess_risk']:.4f}, 95 % interval {low:.4f} to {high:.4f} "
        f"({control['n_permutations']} permutations, p = {control['p_value']:.3g})",
    ]


def keys_lines(found: Keys, top: int) -> list[str]:
    """Say how many minimal keys there are, and show those that are most easily known."""
    what = "rows differ" if not found.error else f"rows differ but for an error of {found.error:g} ({found.measure})"
    counted = "distinct rows" if found.rows == "distinct" else "rows, equal ones included"
    lines = [
        f"{len(found):,} minimal {'key' if len(found) == 1 else 'keys'}: sets of at most {found.max_size} of "
        f"{len(found.columns)} columns on which {what}, and no column can go",
        f"  counted on {found.n_rows:,} {counted}, of {found.n_records:,} records",
    ]
    if not found.complete:
        lines.append(f"  NOT complete: keys of more than {found.complete_to_size} columns may be missing")
    elif not len(found) and found.rows == "all" and not found.error:
        lines.append("  Two equal records have no key. Leave out --rows all to count equal records once.")
    if len(found):
        ranked = found.ranked_keys(top)
        rows = [(", ".join(each["columns"]), f"{each['g1']:.3g}", f"{each['unique_rate']:.4%}") for each in ranked]
        lines.append(aligned(("key", "g1", "unique rows"), rows, right=("g1", "unique rows")))
        if len(found) > len(ranked):
            lines.append(f"... and {len(found) - len(ranked):,} more: --top, or --details OUT for all.")
    return lines


def joint_key_lines(found: Keys) -> list[str]:
    """Say which few columns are a key together; nothing where none were found."""
    together = [names for names in found.keys if len(names) > 1]
    if not together:
        return []
    shown = [f"  {' + '.join(names)}" for names in together[:_FEW_NAMES]]
    left = len(together) - len(shown)
    return [
        f"A key together (no two different rows agree on them; at most {found.max_size} columns):",
        *shown,
        *([f"  ... and {left:,} more, see `hushtable keys`"] if left else []),
        *([] if found.complete else [f"  searched to {found.complete_to_size} columns; larger keys may be missing"]),
    ]


def uniques_lines(keys: MinimalUniques, by_value: list[dict[str, Any]]) -> list[str]:
    """Say how many records are unique, on how few columns, and which columns and values, if any, make them so."""
    summary = keys.summary()
    lines = [
        f"{summary['n_records_with_sets']:,} of {summary['n_records']:,} records are unique on at most "
        f"{summary['max_size']} of {len(summary['columns'])} columns; {summary['n_sets']:,} minimal sets",
        f"  chance that a unique record is a unique person (DIS, a sample of "
        f"{100 * summary['disclosure_fraction']:g} %): {summary['dis']:.2%}",
        _table_by_size("sets", summary["n_by_size"]),
        _table_by_column("share of the SUDA scores", summary["contributions"]),
    ]
    if by_value:
        titles = ("column", "value", "share of the SUDA scores")
        first = sorted(by_value, key=lambda each: -each["contribution"])[:20]
        rows = [(each["column"], each["value"] or "", f"{each['contribution']:.1%}") for each in first]
        lines.append(aligned(titles, rows, right=titles[2:]))
    if not summary["complete"]:
        lines += _unfinished_lines(summary["complete_to_size"], summary["combinations_by_size"])
    return lines


def _unfinished_lines(complete_to: int, by_size: Mapping[int, Mapping[str, int]]) -> list[str]:
    """Say how far a search came whose budget ended: its sizes, and the first that is not complete."""
    begun = [size for size in by_size if size <= complete_to or by_size[size]["walked"]]
    shown = [*begun, *[size for size in by_size if size not in begun][:1]]
    titles = ("columns in the set", "looked at", "left: nothing can come of them", "skipped", "not reached")
    rows = [(str(size), *(f"{n:,}" for n in by_size[size].values())) for size in shown]
    return [
        f"  NOT complete: the budget ended; sets of up to {complete_to} columns are done",
        aligned(titles, rows, right=titles[1:]),
    ]
