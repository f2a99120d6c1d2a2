"""tables: tables of counts or sums from records, with the cells hidden that would tell of few persons."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushtable.cli.arguments import (
    AsJson,
    External,
    Force,
    InFile,
    NewFile,
    Person,
    PolicyFile,
    ReadingOptions,
    Seconds,
    budget_of,
    names_of,
    place_of,
)
from hushtable.cli.check import parse_pair
from hushtable.cli.groups import field
from hushtable.cli.terminal import fold_sentences, print_json, print_lines, print_to_stderr, show_step
from hushtable.errors import InputError

if TYPE_CHECKING:
    from hushtable.engines import Rows
    from hushtable.tabulation import CellRules, RoundedTables, Tabulation


@dataclass(frozen=True)
class TableOptions:
    """What is counted."""

    policy: PolicyFile = None
    by: list[str] | None = field(None, "Columns of a table; give it again for each further table.", metavar="A,B")
    value: str | None = field(None, "Column of amounts to sum. Default: count.", metavar="COLUMN")
    person: Person = None
    hierarchy: list[str] | None = field(
        None, "Which labels add up to which: a table with a column for each level, or .hrc.", metavar="A=FILE"
    )

    def arguments(self) -> dict[str, Any]:
        """Return what `hushtable.tabulate` and `hushtable.round_tables` take."""
        if not self.by:
            raise InputError("nothing says what to count.", hint="name columns, --by region,sex; or -p policy.yaml.")
        return {
            "by": [names_of(names) for names in self.by],
            "person": self.person,
            "hierarchies": dict(parse_pair(each, "--hierarchy") for each in self.hierarchy or []),
        }


@dataclass(frozen=True)
class RuleOptions:
    """What must be hidden."""

    round: int | None = field(
        None, "Round counts to multiples of this that add up, and hide none.", metavar="BASE", min=2
    )
    threshold: int = field(10, "Hide counts from 1 to below this.", min=1)
    dominance: str | None = field(None, "Hide sums of which N contributions are more than K percent.", metavar="N,K")
    p: float | None = field(
        None, "Hide sums that let the second contributor know the first to within P percent.", metavar="P"
    )
    sensitive: str | None = field(None, "Dimension whose lines must not reveal all but one.", metavar="COLUMN")
    level: str = field(
        "upper",
        "What hidden counts may be: upper (the threshold or more) or exact (another value).",
        metavar="upper|exact",
    )
    zeros: str | None = field(
        None, "Whether zeros are shown or hidden. Default: shown, and hidden with --sensitive.", metavar="shown|hidden"
    )
    singletons: bool = field(
        True,
        "Keep who is alone in a cell from computing other hidden ones.",
        "--singletons/--no-singletons",
    )
    earlier: Path | None = field(
        None,
        "Tables of these people that were published before: kept, and published again.",
        metavar="FILE",
    )
    weight: str = field("count", "What hiding a cell costs: count (its value), one, or log.", metavar="count|one|log")
    seconds: Seconds = None

    @property
    def rules(self) -> CellRules:
        """Return the rules."""
        from hushtable.tabulation import CellRules

        dominance = None
        if self.dominance is not None:
            try:
                n, k = names_of(self.dominance)
                dominance = int(n), float(k)
            except ValueError:
                raise InputError(f"--dominance {self.dominance!r}.", hint="write N,K: --dominance 2,85.") from None
        return CellRules(
            self.threshold,
            dominance,
            self.p,
            self.sensitive,
            self.level,  # type: ignore[arg-type]
            singletons=self.singletons,
        )


@dataclass(frozen=True)
class TableResults:
    """What is written and printed."""

    certificate: Path | None = field(
        None, "File for the witness tables of primary cells. Internal.", metavar="FILE.json"
    )
    external: External = False
    force: Force = False
    as_json: AsJson = False


def tables(
    file: InFile,
    output: NewFile,
    counted: TableOptions,
    rules: RuleOptions,
    results: TableResults,
    reading: ReadingOptions,
) -> None:
    """Make tables of counts or sums, and hide the cheapest cells so that nobody can compute a small one.

    What to count and to hide, a policy says under `tabulations`, or the options do.
    """
    from hushtable.cli.requests import read_policy
    from hushtable.engines import open_origin
    from hushtable.io import drafts, frames
    from hushtable.tabulation import Tabulation

    frames.file_kind(output)
    policy = read_policy(counted.policy)
    if policy is not None and (counted, rules) != (TableOptions(counted.policy), RuleOptions()):
        raise InputError("both a policy and other options were given.", hint="put everything into its tabulations.")
    is_rounded = rules.round is not None or (policy and policy.tabulations and policy.tabulations.round)
    if is_rounded and results.certificate is not None:
        raise InputError("rounded tables have no certificate of their input.", hint="leave --certificate out.")
    outputs = [output, *filter(None, [results.certificate])]
    inputs = (place_of(file), *filter(None, [counted.policy]), *(policy.inputs if policy else ()))
    drafts.check_outputs(outputs, inputs, overwrite=results.force)
    dialect = reading.dialect(None if policy is None else policy.read_as.dialect)
    with show_step("reading"):
        rows = (None if str(file) == "-" else open_origin(file, dialect=dialect)) or reading.table(file, dialect)
    with show_step("counting and hiding"):
        if policy is not None:
            made: Tabulation | RoundedTables = policy.tabulate(rows)
        else:
            made = _make(rows, counted, rules) if rules.round is None else _round(rows, counted, rules)
    with show_step("writing and verifying"):
        verdict = made.write(output, external=results.external, overwrite=results.force)
    if results.certificate is not None:
        assert isinstance(made, Tabulation), "nothing was rounded"
        made.certificate.write(results.certificate, overwrite=results.force)
        print_to_stderr(f"Wrote {results.certificate}: it holds true values, keep it as safe as the data.")
    if results.as_json:
        print_json({"file": str(output), "verified": verdict.to_dict(), **made.to_dict(), "facts": made.facts})
    else:
        print_lines(f"Wrote {output}, verified from the file.", *fold_sentences(made.facts))


def _make(rows: Rows, counted: TableOptions, rules: RuleOptions) -> Tabulation:
    from hushtable.tabulation import ReaderKnowledge, tabulate

    return tabulate(
        rows,
        **counted.arguments(),
        value=counted.value,
        rules=rules.rules,
        reader=None if rules.zeros is None else ReaderKnowledge(zeros=rules.zeros),  # type: ignore[arg-type]
        weight=rules.weight,  # type: ignore[arg-type]
        earlier=rules.earlier,
        budget=budget_of(rules.seconds),
    )


def _round(rows: Rows, counted: TableOptions, rules: RuleOptions) -> RoundedTables:
    from hushtable.tabulation import round_tables

    base = rules.round
    assert base is not None, "the caller looked"
    without = RuleOptions(round=base, seconds=rules.seconds)
    if rules != without or counted.value is not None:
        raise InputError(
            "--round rounds counts and hides none.", hint="of the rules take --seconds alone, and leave out --value."
        )
    return round_tables(rows, **counted.arguments(), base=base, budget=budget_of(rules.seconds))
