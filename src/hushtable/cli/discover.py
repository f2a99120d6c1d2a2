"""scores, select: what column sets say of people, and which set scores highest."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

from hushtable.cli.arguments import AsJson, InFile, ReadingOptions, budget_of, names_of, numbers_of
from hushtable.cli.groups import field, option
from hushtable.cli.terminal import format_table, print_json, print_lines, show_step
from hushtable.errors import InputError, quote_names

if TYPE_CHECKING:
    from hushtable.discover import Explanation, Objective, Selection, SetComparison, Term


@dataclass(frozen=True)
class NamedColumns:
    """Columns that scores are about."""

    target: str | None = field(None, "Column to predict, for accuracy, gini and the like.", metavar="COLUMN")
    sensitive: str | None = field(None, "Sensitive column, for l_diversity and t_closeness.", metavar="COLUMN")
    treatment: str | None = field(None, "Column that says who was treated, for balance.", metavar="COLUMN")
    treated: str | None = field(None, "Value of the treated in that column.", metavar="VALUE")


@dataclass(frozen=True)
class SetSearch:
    """How the column set is searched for."""

    method: str = field(
        "exhaustive",
        "How to search: exhaustive (up to 20 columns), branch_and_bound, pareto, greedy, tabu, annealing or "
        "evolutionary.",
        metavar="METHOD",
    )
    options: str = field(
        "",
        "Of the method: temperature=2,cooling=0.99 (annealing), tenure=20 (tabu), "
        "population=80,generations=50 (evolutionary), max_steps=500.",
        "--option",
        metavar="NAME=NUMBER",
    )
    seconds: float | None = field(None, "Stop after so many seconds, with the best found so far.", min=0)
    seed: int = field(0, "Seed of methods that draw.")


# Scores by the role of a named column, besides class sizes: the default of --scores.
_SCORES_BY_ROLE: Final[Mapping[str, tuple[str, ...]]] = {
    "target": ("accuracy", "information_gain"),
    "sensitive": ("l_diversity", "t_closeness"),
    "treatment": ("covariate_shift", "balance"),
}
_MAX_SETS_SHOWN: Final = 20
_SETS_PER_TABLE: Final = 6


def scores(
    file: InFile,
    columns: Annotated[list[str], option("Column set to score; repeat it for each set.", metavar="A,B")],
    roles: NamedColumns,
    reading: ReadingOptions,
    scores: Annotated[
        str | None,
        option(
            "Scores by name, such as separation, with :mean or :weighted_mean for another number than their value. "
            "Default: class sizes, and what the columns named below are for.",
            metavar="NAME,NAME:mean",
        ),
    ] = None,
    truth: Annotated[str | None, option("True column set, to compare each set with.", metavar="A,B")] = None,
    as_json: AsJson = False,
) -> None:
    """Score column sets: how well they distinguish people, what they give away, what they predict."""
    from hushtable.discover import DEFAULT_SCORES, compare_sets
    from hushtable.io import frames

    column_by_role = vars(roles)
    score_names = names_of(scores) or [
        name for option, names in _SCORES_BY_ROLE.items() if column_by_role[option] for name in names
    ]
    terms = _build_terms(dict.fromkeys(score_names, 1.0), column_by_role)
    if scores is None:
        terms = [*DEFAULT_SCORES, *terms]
    with show_step("reading"):
        frame = frames.read(file, encoding=reading.encoding, delimiter=reading.delimiter)
    with show_step("scoring"):
        compared = compare_sets(
            frame,
            [names_of(each) for each in columns],
            scores=terms,
            truth=None if truth is None else names_of(truth),
        )
    if as_json:
        print_json({"file": file.name, "n_records": frame.n_rows, **compared.to_dict()})
    else:
        print_lines(*_describe_comparison(compared, frame.n_rows))


def select(
    file: InFile,
    roles: NamedColumns,
    search: SetSearch,
    reading: ReadingOptions,
    objective: Annotated[
        str,
        option(
            "Scores by name with their weights (above 0: more is better), or paper, that of QIDLearningLib. "
            "Default: distinction=1, attribute_length_penalty=-0.5.",
            show_default=False,
            metavar="NAME=WEIGHT,...|paper",
        ),
    ] = "distinction=1,attribute_length_penalty=-0.5",
    columns: Annotated[
        str,
        option("Columns to choose from. Default: all but the target, sensitive and treatment columns.", metavar="A,B"),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Find the column set with the highest objective, and what each term and column contributes."""
    from hushtable.discover import select_columns
    from hushtable.io import frames
    from hushtable.tables import Table

    column_by_role = vars(roles)
    goal = _parse_objective(objective, column_by_role)
    method = _parse_search(search.method, search.options)
    with show_step("reading"):
        frame = frames.read(file, encoding=reading.encoding, delimiter=reading.delimiter)
        # Encoded only once: the search and the explanation both need it.
        table = Table.encode(frame)
    role_columns = (roles.target, roles.sensitive, roles.treatment)
    with show_step("searching"):
        selection = select_columns(
            table,
            objective=goal,
            columns=names_of(columns) or [name for name in table.names if name not in role_columns],
            method=method,
            seed=search.seed,
            budget=budget_of(search.seconds),
        )
        explanation = selection.explain(table)
    if as_json:
        print_json({"file": file.name, **selection.to_dict(), "explanation": explanation.to_dict()})
    else:
        print_lines(*_describe_selection(selection, explanation))


def _parse_search(method: str, text: str) -> Any:
    """Return a search with its options: integers if the method's default is one, else floats."""
    from dataclasses import fields

    from hushtable.discover import choose_optimizer

    search: Any = choose_optimizer(method)
    defaults = {each.name: each.default for each in fields(search) if isinstance(each.default, (int, float))}
    options: dict[str, Any] = {}
    for name, number in numbers_of(text, "NAME=NUMBER", "--option temperature=2,cooling=0.99").items():
        if name not in defaults:
            hint = f"it takes {quote_names(defaults)}." if defaults else "it takes none."
            raise InputError(f"the method {method!r} has no option {name!r}.", hint=hint)
        is_whole = isinstance(defaults[name], int) and number == int(number)
        options[name] = type(defaults[name])(number) if is_whole else number
    return type(search)(**options)


def _parse_objective(text: str, column_by_role: Mapping[str, str | None]) -> Objective:
    """Parse an objective of the form score=weight,score:aggregate=weight, or the name of one."""
    from hushtable.discover import Objective

    if text != "paper":
        return Objective(
            tuple(_build_terms(numbers_of(text, "SCORE=WEIGHT", "--objective distinction=1,gini=-0.5"), column_by_role))
        )
    _build_terms({}, column_by_role)
    return Objective.paper()


def _build_terms(weights: Mapping[str, float], column_by_role: Mapping[str, str | None]) -> list[Term]:
    """Build terms from scores by name, each with the columns that its score takes."""
    from hushtable.discover import Term, scores as measures

    terms: list[Term] = []
    used: set[str] = set()
    for text, weight in weights.items():
        name, _, aggregate = text.partition(":")
        # Only to refuse an unknown score, before its signature is looked up.
        Term(name, weight)
        takes = inspect.signature(getattr(measures, name)).parameters
        options = {option: value for option, value in column_by_role.items() if option in takes and value is not None}
        lacking = [
            option for option, each in takes.items() if each.kind is each.KEYWORD_ONLY and each.default is each.empty
        ]
        _check_given(name, [option for option in lacking if option not in options], column_by_role)
        terms.append(Term(name, weight, aggregate or "value", options=options))  # type: ignore[arg-type]  # checked there
        used |= options.keys()
    idle = [f"--{option}" for option, value in column_by_role.items() if value is not None and option not in used]
    if idle:
        raise InputError(f"no score looks at {quote_names(idle)}.", hint="name a score that does, or leave it out.")
    return terms


def _check_given(name: str, lacking: list[str], column_by_role: Mapping[str, str | None]) -> None:
    if lacking:
        hint = f"give --{lacking[0]}." if lacking[0] in column_by_role else "in Python, its Term can be given options."
        raise InputError(f"the score {name!r} needs {quote_names(lacking)}.", hint=hint)


def _describe_comparison(compared: SetComparison, n_records: int) -> list[str]:
    n_sets = len(compared.rows)
    return [
        f"{n_sets} column set{'s' if n_sets > 1 else ''}, {n_records:,} records",
        *(f"  {place}: {row.name}" for place, row in enumerate(compared.rows, start=1)),
        *(
            _format_comparison(compared, range(first, min(first + _SETS_PER_TABLE, n_sets)))
            for first in range(0, n_sets, _SETS_PER_TABLE)
        ),
    ]


def _format_comparison(compared: SetComparison, positions: range) -> str:
    """Format some column sets as a table, one column for each set."""
    titles = [str(place + 1) for place in positions]
    rows = [
        (
            score.label,
            score.unit,
            score.direction or "",
            *(_format_number(compared.rows[place].values[score.label]) for place in positions),
        )
        for score in compared.scores
    ]
    return format_table(("score", "unit", "higher is", *titles), rows, right=titles, sentences=("unit", "higher is"))


def _describe_selection(selection: Selection, explanation: Explanation) -> list[str]:
    proof = "proven: no other set has a higher objective" if selection.optimal else "not proven"
    return [
        ", ".join(selection.best),
        f"  the best of {len(selection.history):,} column sets evaluated ({selection.method.name}); {proof}",
        *([] if selection.complete else ["  NOT complete: the budget ended"]),
        *explanation.lines(),
        *_describe_front(selection),
        *(f"  careful: {text}" for text in selection.warnings),
        "  A set that scores highest is not what others know of people: see `hushtable scan`.",
    ]


def _describe_front(selection: Selection) -> list[str]:
    """Format the Pareto front: the sets that no other set beats in every term, best first."""
    if not selection.front:
        return []
    labels = list(selection.terms)
    rows = [
        (", ".join(each.columns), _format_number(each.value), *(_format_number(each.terms[label]) for label in labels))
        for each in selection.front[:_MAX_SETS_SHOWN]
    ]
    left = len(selection.front) - len(rows)
    return [
        f"{len(selection.front):,} sets that no other betters in every term and in size:",
        format_table(("column set", "objective", *labels), rows, right=("objective", *labels)),
        *([f"  ... and {left:,} more, see --json"] if left else []),
    ]


def _format_number(value: float) -> str:
    return "not defined" if math.isnan(value) else f"{value:.6g}"
