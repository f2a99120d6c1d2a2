"""utility: what can still be learned from a release, beside its original."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from hushtable.cli.arguments import (
    AsJson,
    Machine,
    PolicyFile,
    ReadingOptions,
    RegressionOptions,
    table_field,
    table_path,
)
from hushtable.cli.groups import argument, field
from hushtable.cli.requests import complete_claim, read_policy
from hushtable.cli.terminal import format_table, print_json, print_lines, show_step
from hushtable.errors import InputError

if TYPE_CHECKING:
    from hushtable.claims import Classes, Combinations, Matchings
    from hushtable.io import Frame
    from hushtable.policy import Policy
    from hushtable.quality import Regression, Utility

_SHOWN_PAIRS: Final = 20


@dataclass(frozen=True)
class PredictionOptions:
    """Models that predict a column."""

    target: str | None = field(
        None, "Column to predict, by models trained on the release and on the original.", metavar="COLUMN"
    )
    held_out: Path | None = table_field("Further original records, not in the release, to test both models on.")
    seed: int = field(0, "Seed of the models.")


def utility(
    original: Annotated[Path, argument("ORIGINAL", "Table that was anonymized.", parser=table_path)],
    release: Annotated[Path, argument("RELEASE", "Release that was written.")],
    prediction: PredictionOptions,
    regression: RegressionOptions,
    machine: Machine,
    policy: PolicyFile = None,
    as_json: AsJson = False,
) -> None:
    """Compare columns, pairs of columns, means and a model of a target between a release and its original."""
    from hushtable.io import is_many
    from hushtable.quality import RegressionModel, measure_utility, regress, with_all_columns
    from hushtable.release import manifest

    is_large = is_many(release) or is_many(original)
    _check_models(prediction, regression, is_large=is_large)
    rules = read_policy(policy)
    with show_step("reading"):
        claim = _read_claim(release, rules)
        facts = manifest.read(release) if manifest.manifest_path(release).is_file() else {}
        manifest.check_comparable(facts)
        if is_large:
            source, released, names = _read_distinct_rows(original, release, claim, machine, rules)
        else:
            released = ReadingOptions().table(release, manifest.dialect_of(release))
            source, names = _read_original(original, rules, machine), released.columns
        tests = None if prediction.held_out is None else _read_original(prediction.held_out, rules, machine)
    model = RegressionModel.from_options(regression.model, regression.weights)
    pseudonyms = [*facts.get("pseudonymized", ()), *facts.get("fresh", ())]
    if rules is not None:
        pseudonyms = [*rules.pseudonymized, *rules.fresh]
    with show_step("measuring"):
        target, seed = prediction.target, prediction.seed
        result = measure_utility(
            source, released, claim, pseudonyms=pseudonyms, target=target, held_out=tests, seed=seed
        )
        result = with_all_columns(result, [name for name in names if name not in claim.bound_columns])
        if model is not None:
            # Cells taken from an earlier release are no ranges of these records' values: no style.
            style = None if "replaces_earlier" in facts else facts.get("recoding")
            fitted = regress(source, released, claim, model, pseudonyms=pseudonyms, recoding=style, seed=seed)
            result = replace(result, regression=fitted)
    if as_json:
        print_json({"original": original.name, "release": release.name, **result.to_dict()})
    else:
        print_lines(*_describe_utility(result))


def _read_distinct_rows(
    original: Path,
    release: Path,
    claim: Classes | Combinations | Matchings,
    reading: ReadingOptions,
    rules: Policy | None,
) -> tuple[Frame, Frame, tuple[str, ...]]:
    """Return the distinct rows of original and release, and all published columns."""
    from hushtable.claims import open_release, select_for_claim
    from hushtable.engines import collapse_original
    from hushtable.release import manifest

    dialect = reading.dialect(None if rules is None else rules.read_as.dialect)
    table = open_release(release, manifest.dialect_of(release), is_large=True)
    return (
        collapse_original(original, claim, dialect, {} if rules is None else rules.specs)[1],
        select_for_claim(claim, table),
        table.columns,
    )


def _check_models(prediction: PredictionOptions, regression: RegressionOptions, *, is_large: bool) -> None:
    target, held_out = prediction.target, prediction.held_out
    if target is not None and held_out is None:
        raise InputError(
            "--target needs --held-out: a model is tested on rows that it has not seen. The rows of a release are "
            "shuffled, so nothing shows which original each of them is.",
            hint="name a file of originals that are not in the release; in Python, "
            "release.utility(target=) holds out some.",
        )
    if held_out is not None and target is None:
        raise InputError("--held-out has no effect without --target.", hint="give that too, or leave it out.")
    if is_large and (target is not None or regression.model is not None):
        raise InputError(
            f"{'--model' if target is None else '--target'} learns from records one by one, and a folder is read as "
            "its distinct rows.",
            hint="leave it out, or pass one file of each.",
        )


def _read_claim(release: Path, rules: Policy | None) -> Classes | Combinations | Matchings:
    """Return the claim (of a manifest, a policy, or both): it says how columns are typed and what labels mean."""
    from hushtable.claims import Classes, Combinations, Matchings
    from hushtable.release import manifest

    claimed = complete_claim(manifest.claim_of(release), rules)
    if claimed is None:
        raise InputError(
            "neither a manifest nor a policy says what the cells of the release mean.",
            hint="keep the manifest beside the release, or pass -p policy.yaml.",
        )
    if not isinstance(claimed, (Classes, Combinations, Matchings)):
        raise InputError("the release is none of quasi-identifiers.", hint="this measures what `anonymize` wrote.")
    return claimed


def _read_original(path: Path, rules: Policy | None, reading: ReadingOptions) -> Frame:
    frame = reading.original(path, rules)
    return frame.with_learned_specs() if rules is None else frame


def _describe_utility(result: Utility) -> list[str]:
    columns = format_table(
        ("column", "distance", "by", "records *", "mean shift", "variance ratio"),
        (
            (each.name, _format_figure(each.distance), each.measure, _format_figure(each.untold_rate),
             _format_figure(each.mean_shift),
             _format_figure(each.variance_ratio))
            for each in result.columns
        ),
        right=("distance", "records *", "mean shift", "variance ratio"),
        no_wrap=("column", "distance", "by", "records *", "mean shift", "variance ratio"),
        sentences=("by",),
    )  # fmt: skip
    changed = sorted(result.pairs, key=lambda each: -abs(each.difference or 0.0))[:_SHOWN_PAIRS]
    pairs = format_table(
        ("pair", "by", "original", "release", "difference"),
        (
            (f"{each.first}, {each.second}", each.measure, _format_figure(each.original), _format_figure(each.release),
             "" if each.difference is None else f"{each.difference:+.3f}")
            for each in changed
        ),
        right=("original", "release", "difference"),
        sentences=("by",),
    )  # fmt: skip
    return [
        f"{result.n_release:,} of {result.n_original:,} records. Distance: 0 as it was, 1 as far as can be; of numbers "
        "and dates over its range. Mean shift: in its standard deviations. A cell `*` is in no other figure.",
        "",
        columns.rstrip(),
        *(f"  not judged: {each.name}: {each.reason}" for each in result.columns if each.reason),
        *([f"The {len(changed)} pairs that changed most, of {len(result.pairs):,}:", pairs] if result.pairs else []),
        *([result.target.sentence + "."] if result.target is not None else []),
        *([] if result.regression is None else _describe_regression(result.regression)),
    ]


def _describe_regression(fitted: Regression) -> list[str]:
    table = format_table(
        ("coefficient", "original", "release", "cells as means", "overlap"),
        (
            (each.name, _format_estimate(each.original, each.original_error),
             _format_estimate(each.drawn, each.drawn_error),
             _format_estimate(each.means, each.means_error), f"{each.overlap:.2f}")
            for each in fitted.coefficients
        ),
        right=("original", "release", "cells as means", "overlap"),
        no_wrap=("coefficient", "original", "release", "cells as means", "overlap"),
    )  # fmt: skip
    weighted = f", weighted by {fitted.weights}" if fitted.weights else ""
    return [
        "",
        f"{fitted.formula} ({fitted.family}{weighted}), standard errors in brackets. Release: every cell drawn "
        f"{fitted.n_draws} times from what it covers.",
        table.rstrip(),
        f"The 95 % intervals overlap by {fitted.overlap:.2f} on average; 1 is all, 0 nothing.",
        *fitted.warnings,
    ]


def _format_estimate(value: float | None, error: float | None) -> str:
    return "" if value is None else f"{value:.4g} ({error:.2g})"


def _format_figure(figure: float | None) -> str:
    return "" if figure is None else f"{figure:.3f}"
