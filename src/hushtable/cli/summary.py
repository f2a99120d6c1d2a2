"""What the command says of results, line by line."""

from __future__ import annotations

import json
import math
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hushtable.cli.terminal import format_table, join_some, laid_out
from hushtable.wording import count_of, translate

if TYPE_CHECKING:
    from hushtable.claims import Claim, Linkage, Verdict
    from hushtable.discover import Roles
    from hushtable.hierarchy import Tails
    from hushtable.io import Frame, Writing
    from hushtable.policy import Advice, Policy
    from hushtable.release import Exposure, FarOut, SignOff
    from hushtable.risk import (
        Attack,
        Attacks,
        Keys,
        Membership,
        MinimalUniques,
        Mpuccs,
        PetsardMpuccs,
        PrivacyFigure,
        RiskAssessment,
    )
    from hushtable.search import Trace

_LOSS_WORDS: Final = {
    "ncp": "set-NCP, 0 none to 1 all",
    "minimal_distortion": "changed cells, weighted",
    "certainty": "certainty, a sum over cells",
}
_MAX_LINES: Final = 12
_MAX_ROWS_SHOWN: Final = 30
_MAX_COLUMNS_LISTED: Final = 200
_SHOWN_COLUMNS: Final = 50
_MAX_KEYS_SHOWN: Final = 8


_ROLE_TITLES: Final = ("proposed role", "distinct", "missing", "power", "because")


def format_roles(roles: Roles) -> list[str]:
    """Format the columns with their proposed roles and reasons as a table."""
    is_labelled = any(column.label for column in roles.columns)
    titles = ("column", *(["label"] if is_labelled else []), *_ROLE_TITLES)
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
    listed_rows = rows if len(rows) <= _MAX_COLUMNS_LISTED else rows[:_SHOWN_COLUMNS]
    table = format_table(
        titles, listed_rows, right=("distinct", "missing", "power"), no_wrap=("proposed role",), sentences=("because",)
    )
    if len(listed_rows) == len(rows):
        return [table]
    counts = Counter(column.role for column in roles.columns)
    counted = ", ".join(f"{n:,} {role}" for role, n in counts.most_common())
    return [
        table.rstrip(),
        f"The first {len(listed_rows)} of {len(rows):,} columns; all of them: {counted}; "
        "--json and the policy list them.",
    ]


def describe_risk(risk: RiskAssessment, roles: Roles) -> list[str]:
    """Describe how easily people can be found by columns that others may know."""
    if not roles.of_persons:
        hint = ". If the rows are persons, add --persons" if roles.columns else ""
        return [f"No roles are proposed: {roles.persons_reason.partition('; if')[0]}{hint}."]
    if not risk.quasi_identifiers:
        return ["No column looks like a quasi-identifier; if one is, name it in a policy or with --qi."]
    return [*([f"Taken for known until you decide: {join_some(roles.ask)}."] if roles.ask else []), *risk.facts]


def abridge_lines(lines: Sequence[str], details: Sequence[str], *, verbose: bool) -> list[str]:
    """Return at most twelve lines; all lines and the details if verbose."""
    if verbose:
        return [*lines, *details]
    n_left = len(lines[_MAX_LINES - 1 :]) + len(details)
    return [*lines[: _MAX_LINES - 1], *([f"{count_of(n_left, 'more line')}: --verbose"] if n_left else [])]


def describe_output(output: Path, *, codebook: bool) -> str:
    """Describe to which files a release was written."""
    return f"Wrote {output}{', its codebook' if codebook else ''} and its manifest."


def loss_lines(rules: Policy, loss: float) -> list[str]:
    """Describe the loss, unless it is the one that the facts already state (set-NCP)."""
    is_stated = rules.loss.name == "ncp" and not rules.objective.weights
    return [] if is_stated else [f"The information loss is {loss:.4f} ({_name_loss(rules)})."]


def _name_loss(rules: Policy) -> str:
    """Name the loss that was made small."""
    words = _LOSS_WORDS.get(rules.loss.name, rules.loss.name)
    return f"{words}, weighted" if rules.objective.weights and not words.endswith("weighted") else words


def describe_column_losses(rules: Policy, lost: Mapping[str, float]) -> str:
    """List the loss of every column, the largest first, with its importance where it has one."""
    named = [
        f"{name} {lost[name]:.4f}{f' (importance {rules.importance[name]})' if name in rules.importance else ''}"
        for name in sorted(lost, key=lambda name: -lost[name])
    ]
    return f"set-NCP by column: {', '.join(named)}"


def describe_advice(advice: Advice) -> list[str]:
    """List the changes that bring most back."""
    if not advice.changes and advice.untried:
        return ["Advice on what to change takes longer than 2 seconds here: hushtable compare --advise gives it."]
    titled = ["What would bring most back (set-NCP, measured on all records; hushtable compare --advise lists all):"]
    return [*(titled if advice.best else []), *(f"  {line}" for line in advice.describe_best())]


def format_advice(advice: Advice) -> list[str]:
    """Format all changes that were tried as a table, with what follows each."""
    rows = [
        (
            translate(change.what),
            f"{change.before:.4f}",
            f"{change.after:.4f}",
            f"{change.gain:+.4f}",
            f"{change.n_suppressed:,}",
            _format_settings(change.entries),
        )
        for change in advice.changes
        if change.after is not None
    ]
    numbers = ("before", "after", "brings back", "suppressed")
    titles = ("change", *numbers, "option of anonymize")
    return [
        format_table(titles, rows, right=numbers, no_wrap=numbers).rstrip(),
        "Before: the set-NCP now, of the columns that stay. After: that of the release by the changed policy.",
    ]


def _format_settings(entries: Mapping[tuple[str, ...], object]) -> str:
    """Format a change as options to type; empty where a name of a column would part a place."""
    if any(sign in step for place in entries for step in place for sign in ".="):
        return ""
    texts = {place: entry if isinstance(entry, str) else json.dumps(entry) for place, entry in entries.items()}
    return " ".join(f"--set {shlex.quote('.'.join(place) + '=' + text)}" for place, text in texts.items())


def describe_search(rules: Policy, summary: Mapping[str, Any], exposure: Exposure | None) -> list[str]:
    """Describe how a release was searched for, and which columns were accepted."""
    lines = [] if exposure is None else exposure.describe_acceptances()
    lines.append(
        f"recoding {summary['recoding']}; loss {summary['loss']:.4f} ({_name_loss(rules)}); set-NCP by rank "
        f"{summary['quality']['set_ncp_by_rank']:.4f}"
    )
    lines.append(describe_column_losses(rules, summary["quality"]["by_column"]))
    trade = summary["trace"].get("trade")
    return lines if not trade else [*lines, _describe_trade(trade, summary["n_records"])]


def describe_outliers(found: Mapping[str, FarOut]) -> list[str]:
    """Name the columns whose loss by value says little of most records, and what to do."""
    lines = []
    for name, each in found.items():
        coded = f", or code outliers as one group (`hierarchy: {_format_rule(each.rule)}`)" if each.rule else ""
        lines.append(
            f"careful: 1 % of the records hold {each.share:.0%} of the range of {name}. These outliers make its loss "
            f"by value look low. Measure it on ranks (`loss: {{ncp: {{scale: rank}}}}`){coded}"
        )
    return lines


def _format_rule(rule: Tails) -> str:
    """Format top and bottom coding on one line, as in a policy."""
    from hushtable.models import entries

    options = ", ".join(f"{name}: {value}" for name, value in entries.to_entry(rule)[rule.name].items())
    return f"{{{rule.name}: {{{options}}}}}"


def _describe_trade(trade: Mapping[str, Any], n_records: int) -> str:
    """Describe what suppression gained; for those who make the release, not for recipients."""
    if trade["n_suppressed"] == 0:
        return "no suppression lowers the loss, in which a suppressed record counts as wholly lost"
    return (
        f"{trade['n_suppressed'] / n_records:.2%} suppressed lowers the loss from {trade['loss_before']:.4f} "
        f"to {trade['loss_after']:.4f}, those wholly lost included"
    )


def describe_spelling(
    writing: Writing,
    codes: Mapping[str, Mapping[str, int]],
    alike: Mapping[str, int],
    unconverted: Sequence[str],
    formulas: Mapping[str, int],
) -> list[str]:
    """Describe how a file is written, and count by column the cells that look like something else.

    Codes look like a missing value, alike ones nearly are another value, formulas a spreadsheet would run. Kept columns
    stay as they came, beside quasi-identifiers that do not.
    """
    lines = []
    if writing.encoding != "utf-8":
        lines.append(f"written as {writing.encoding}")
    if writing.decimal == ",":
        lines.append("quasi-identifiers are written with decimal commas")
    if formulas:
        counts = [f"{name} {n:,}" for name, n in formulas.items()]
        done = "got an apostrophe" if writing.formulas == "escape" else "stay as they are (write: {formulas: escape})"
        lines.append(
            f"careful: cells that a spreadsheet would run, beginning with =, +, - or @, {done}: {join_some(counts)}"
        )
    if unconverted:
        form = "a decimal point" if writing.decimal == "." else "a decimal comma"
        lines.append(
            f"quasi-identifiers are written with {form} and ISO dates, other columns as they came: "
            f"{join_some(unconverted)}"
        )
    lines += [
        f"careful: {n:,} values of {name} differ from another only in case, spaces or width"
        for name, n in alike.items()
    ]
    if codes:
        counts = [f"{name} ({', '.join(f'{code} {n:,}' for code, n in each.items())})" for name, each in codes.items()]
        lines.append(
            f"careful: cells that look like a missing value stay what they are (missing_values): {join_some(counts)}"
        )
    return lines


def describe_revealing_lists(n_by_column: Mapping[str, int], lacking: Sequence[str]) -> list[str]:
    """Describe which columns list the values of a class, and which lists hold rare values."""
    hint = f"lists in {join_some(lacking)} show which values a class lacks; recoding cut hides that"
    return [hint] * bool(lacking) + [
        f"careful: the sets of {name} list {n:,} values that are nearly unique: who knows one finds its class; "
        "recoding cut or a hierarchy shows less"
        for name, n in n_by_column.items()
    ]


def describe_effort(trace: Trace, unit: str) -> list[str]:
    """Describe how far a search went, and what it proved; ties are counted in a unit."""
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


def format_small_table(frame: Frame) -> list[str]:
    """Format a small published table."""
    if frame.n_rows > _MAX_ROWS_SHOWN:
        return []
    columns = [frame.column(name) for name in frame.columns]
    rows = [["" if cell is None else str(cell) for cell in row] for row in zip(*columns, strict=True)]
    return ["", laid_out(frame.columns, rows)]


def describe_verdict(file: Path, verdict: Verdict, claim: Claim | None = None) -> list[str]:
    """Say what holds apart from what fails, and from what could not be judged."""
    from hushtable.claims import holds_cells

    columns = ", ".join(verdict.columns)
    if not verdict.passed:
        head = f"{file} does NOT hold, on {columns}:"
    elif verdict.complete:
        head = f"{file} holds, on {columns}:"
    elif verdict.complete_for_receiver:
        head = f"{file} holds as far as a file can show, on {columns}:"
    else:
        head = f"{file} was judged in part, on {columns}:"
    lines = [head, *(f"  {fact}" for fact in verdict.facts[1:])]
    if "n_classes" in verdict.figures:
        lines.append(
            f"  {verdict.n_records:,} records in {verdict.n_classes:,} classes, smallest {verdict.smallest_class:,}; "
            f"{verdict.n_suppressed:,} suppressed; missing as {verdict.figures['missing']}"
        )
        lines += [f"  {caution}" for caution in verdict.cautions]
    elif holds_cells(claim):
        lines.append(f"  {verdict.n_records:,} cells")
    else:
        lines.append(f"  {verdict.n_records:,} records")
    return lines


def describe_sign_off(signed: SignOff) -> list[str]:
    """Say who signed, why, and what spoke against it."""
    from hushtable.release import NO_SIGNATURE

    lines = [f"{signed.sentence}{f': {signed.comment}' if signed.comment else ''}"]
    lines += [f"  spoke against signing: {each}" for each in signed.objections]
    return [*lines, f"  {NO_SIGNATURE}"]


def describe_linkage(claim: Claim, linkage: Linkage | None) -> list[str]:
    """Describe whom an attacker finds by several records of a person, or why that could not be counted."""
    if linkage is not None:
        return [f"  {line}" for line in linkage.lines()]
    person = claim.person
    if person is None:
        return ["  no column is declared to say whose record a row is: records are not linked, persons not counted"]
    return [f"  no published column links records of a person: {person} is not published, new everywhere, or unique"]


def untaken_cut_lines(rules: Policy) -> list[str]:
    """Warn that what a model of sensitive values forbade tells an attacker something about them."""
    judged = dict.fromkeys(name for model in (*rules.models, *rules.search_models) for name in model.needs.sensitive)
    if not judged:
        return []
    line = (
        "careful: an attacker who knows this program and everybody's quasi-identifiers can infer more of "
        f"{', '.join(judged)} from what was not cut."
    )
    if rules.method.name != "mondrian":
        return [line]
    return [
        f"{line} Count it with `hushtable attack-release`. A margin (`margin: 2` of the method) makes this rarer, and "
        "does not end it."
    ]


def attack_tables(result: Attacks) -> list[str]:
    """Format attacks under WP29's three headings, and further figures."""
    titles = ("attack", "made", "succeed", "by chance", "control", "risk", "95 % interval", "a copy")
    lines = [] if result.membership is None else _membership_tables(result.membership)
    for kind in ("singling out", "linkability", "inference"):
        if attacks := result.attacks_of_kind(kind):
            rows = [_attack_row(each) for each in attacks]
            lines += [translate(kind).capitalize(), format_table(titles, rows, right=titles[1:])]
    if result.figures:
        figure_titles = ("figure", "target", "value", "95 % interval", "control or chance")
        lines += [
            "Distances and attribution",
            format_table(figure_titles, map(_figure_row, result.figures), right=figure_titles[2:]),
        ]
    return lines


def _membership_tables(found: Membership) -> list[str]:
    """Format each attack on membership with its figures."""
    titles = ("attack", "AUC", "95 % interval", "at 1 in 100", "at 1 in 1,000", "adjusted p")
    rows = [
        (each.name, f"{each.auc.value:.3f}", f"{each.auc.low:.3f} to {each.auc.high:.3f}",
         *(_format_rate(recognition.rate) for recognition in each.recognitions[:2]), f"{each.p_value:.3f}")
        for each in found.attacks
    ]  # fmt: skip
    return [translate("membership").capitalize(), format_table(titles, rows, right=titles[1:])]


def _attack_row(found: Attack) -> tuple[str, ...]:
    rates, risk = found.rates, found.risk
    shown = [rates[each].value if each in rates else None for each in ("attack", "baseline", "control")]
    figures = [_format_rate(each) for each in (*shown, risk.value)]
    return found.name, f"{found.n_attacks:,}", *figures, _format_interval(risk.low, risk.high), _format_rate(found.most)


def _figure_row(found: PrivacyFigure) -> tuple[str, ...]:
    ends = _format_interval(found.low, found.high)
    return found.name, found.target or "", _format_rate(found.value), ends, _format_rate(found.beside)


def _format_rate(rate: float | None) -> str:
    return "" if rate is None else "unknown" if math.isnan(rate) else f"{rate:.1%}"


def _format_interval(low: float, high: float) -> str:
    return "unknown" if math.isnan(low) else f"{low:.1%} to {high:.1%}"


def _format_counts_by_size(what: str, counts: Mapping[int, int]) -> str:
    """Format counts by the number of columns of a set."""
    return format_table(
        ("columns in the set", what), [(str(size), f"{n:,}") for size, n in counts.items()], right=(what,)
    )


def _format_shares_by_column(what: str, shares: Mapping[str, float]) -> str:
    """Format shares by column, the highest first."""
    ranked = sorted(shares.items(), key=lambda each: -each[1])
    return format_table(("column", what), [(name, f"{share:.1%}") for name, share in ranked], right=(what,))


def describe_joint_keys(result: Keys) -> list[str]:
    """Describe keys of several columns; nothing if none were found."""
    joint_keys = [names for names in result.keys if len(names) > 1]
    if not joint_keys:
        return []
    lines = [f"  {' + '.join(names)}" for names in joint_keys[:_MAX_KEYS_SHOWN]]
    n_more = len(joint_keys) - len(lines)
    return [
        f"A key together (no two different rows agree on them; at most {result.max_size} columns):",
        *lines,
        *([f"  ... and {n_more:,} more, see `hushtable keys`"] if n_more else []),
        *([] if result.complete else [f"  searched to {result.complete_to_size} columns; larger keys may be missing"]),
    ]


def mpuccs_tables(attacked: Mpuccs | PetsardMpuccs) -> list[str]:
    """Format on how many columns, and on which, records are identified."""
    summary = attacked.summary
    if "identified_by_size" not in summary:
        return []
    return [
        _format_counts_by_size(attacked.counted, summary["identified_by_size"]),
        _format_shares_by_column("in the sets of", summary["identified_by_column"]),
        *_table_of_search(summary),
    ]


def keys_tables(result: Keys, top: int) -> list[str]:
    """Format the keys that are most easily known."""
    if not len(result):
        return []
    ranked = result.easiest_key_rows(top)
    rows = [(", ".join(each["columns"]), f"{each['g1']:.3g}", f"{each['unique_rate']:.4%}") for each in ranked]
    n_more = len(result) - len(ranked)
    return [
        format_table(("key", "g1", "unique rows"), rows, right=("g1", "unique rows")),
        *([f"... and {n_more:,} more: --top, or --details OUT for all."] if n_more else []),
    ]


def uniques_tables(keys: MinimalUniques, by_value: list[dict[str, Any]]) -> list[str]:
    """Format on how few columns records are unique, and the columns and values that contribute most."""
    summary, share = keys.summary(), "share of the SUDA scores"
    lines = [
        _format_counts_by_size("sets", summary["n_by_size"]),
        _format_shares_by_column(share, summary["contributions"]),
    ]
    if by_value:
        first = sorted(by_value, key=lambda each: -each["contribution"])[:20]
        rows = [(each["column"], each["value"] or "", f"{each['contribution']:.1%}") for each in first]
        lines.append(format_table(("column", "value", share), rows, right=(share,)))
    return [*lines, *_table_of_search(summary)]


def _table_of_search(summary: Mapping[str, Any]) -> list[str]:
    """Format how far a search came before its budget ended: the sizes, up to the first incomplete one."""
    if summary["complete"]:
        return []
    by_size, complete_to = summary["combinations_by_size"], summary["complete_to_size"]
    begun = [size for size in by_size if size <= complete_to or by_size[size]["walked"]]
    shown = [*begun, *[size for size in by_size if size not in begun][:1]]
    titles = ("columns in the set", "looked at", "left: nothing can come of them", "skipped", "not reached")
    rows = [(str(size), *(f"{n:,}" for n in by_size[size].values())) for size in shown]
    return [format_table(titles, rows, right=titles[1:])]
