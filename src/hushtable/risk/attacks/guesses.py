"""Inference and attribution: whether what is known of a person, with the synthetic table, tells a secret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CountArray, FloatArray
from hushtable.columns import ColumnSpec
from hushtable.errors import ColumnError, InputError, check_choice, check_columns, check_whole
from hushtable.risk.attacks.attack import (
    Attack,
    Coded,
    PrivacyFigure,
    Reach,
    Tries,
    check_column_names,
    encode_tables,
    excess_over_control,
    find_nearest,
    random_generator,
    rate_of,
    sample_rows,
)
from hushtable.tables import JointRows

_RELATIVE_TOLERANCE: Final = 0.05


def inference(
    original: Any,
    synthetic: Any,
    *,
    secret: str,
    aux_columns: Sequence[str] | None = None,
    control: Any = None,
    regression: bool | None = None,
    n_attacks: int = 500,
    model: Literal["nearest", "boosting"] = "nearest",
    specs: Mapping[str, ColumnSpec] | None = None,
    seed: int = 0,
) -> Attack:
    """Count people whose secret is guessed right from the synthetic records.

    Parameters
    ----------
    original, synthetic, control, specs, seed
        As for `hushtable.singling_out`.
    secret : str
        The column that is guessed.
    aux_columns : sequence of str, optional
        What is known of a person; all other columns when not given.
    regression : bool, optional
        Whether a guess of a number is right when it is within 5 % of itself; else it must be equal. When not given:
        where the secret is a number.
    n_attacks : int
        People to attack; all where there are no more.
    model : {"nearest", "boosting"}
        Guess the secret of the nearest synthetic record, or by gradient boosting (needs ``hushtable[sklearn]``).

    Returns
    -------
    Attack

    Raises
    ------
    InputError, ColumnError
        An option outside its range, an unknown column, or one that is named twice.

    Notes
    -----
    Giomi et al., PETS 2023, section 5.3; distances as for `hushtable.linkability`. A missing secret is guessed right by
    a missing one only.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 34, 52], "ill": ["flu", "gout", "mumps"]})
    >>> inference(people, people, secret="ill").n_success
    3
    """
    check_whole("n_attacks", n_attacks, 1)
    check_choice("model", model, ("nearest", "boosting"))
    tables = encode_tables(original, synthetic, control, None, specs)
    by = _choose_known_columns(tables, secret, aux_columns, ("secret", "aux_columns"))
    is_number = secret in tables.number_columns
    if regression and not is_number:
        raise ColumnError(f"regression of {secret!r}, which is no number.", hint="leave regression out.")
    is_near = is_number if regression is None else bool(regression)
    rng = random_generator(seed)
    rows = sample_rows(rng, tables.original.codes.shape[1], n_attacks)
    targets = tables.original.take(rows)
    guess = partial(_guess_secrets, tables, by, secret, model, seed, is_near)
    guesses = guess(targets)
    secrets = _secrets_as_numbers(tables, secret, targets)
    examples = _secrets_as_numbers(tables, secret, tables.synthetic)
    hits = _are_right(guesses, secrets, is_near)
    by_chance = _are_right(examples[rng.integers(len(examples), size=len(rows))], secrets, is_near)
    control_tries, copy_risk = None, 1.0
    if tables.control is not None:
        unused = tables.control.take(sample_rows(rng, tables.control.codes.shape[1], n_attacks))
        right = _are_right(guess(unused), _secrets_as_numbers(tables, secret, unused), is_near)
        control_tries = Tries(int(right.sum()), len(right))
        if model == "nearest":
            copied = _are_right(
                _guess_secrets(tables.as_copy(), by, secret, model, seed, is_near, targets), secrets, is_near
            )
            copy_risk = excess_over_control(Tries(int(copied.sum()), len(rows)), control_tries).value
    settings = {"secret": secret, "aux_columns": list(by), "regression": is_near, "model": model}
    return Attack(
        "inference",
        Tries(int(hits.sum()), len(rows)),
        Tries(int(by_chance.sum()), len(rows)),
        control_tries,
        None,
        {"n_attacks": n_attacks, **settings, "seed": seed},
        partial(_describe_guesses, tables, secret, rows[hits], targets.codes[tables.index(secret), hits]),
        copy_risk,
    )


def _guess_secrets(
    tables: Coded, by: Sequence[str], secret: str, model: str, seed: int, is_near: bool, targets: JointRows
) -> FloatArray:
    examples = _secrets_as_numbers(tables, secret, tables.synthetic)
    if model == "nearest":
        return np.asarray(examples[find_nearest(tables, targets.codes, tables.synthetic.codes, by, 1)[0][:, 0]])
    return _guess_by_boosting(tables, by, examples, seed, is_near, targets)


def _guess_by_boosting(
    tables: Coded, by: Sequence[str], examples: FloatArray, seed: int, is_near: bool, targets: JointRows
) -> FloatArray:
    """Guess by trees that learned the synthetic records; one whose secret is missing teaches nothing."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
        from threadpoolctl import threadpool_limits
    except ImportError:
        raise InputError("guessing by boosting needs scikit-learn.", hint="install hushtable[sklearn].") from None
    has_secret = ~np.isnan(examples)
    values = np.unique(examples[has_secret])
    if len(values) < 2:
        return np.full(targets.codes.shape[1], values[0] if len(values) else np.nan)
    kind = HistGradientBoostingRegressor if is_near else HistGradientBoostingClassifier
    learner = kind(random_state=seed, early_stopping=False)
    # scikit-learn takes all cores, and waits for them where others work there too.
    with threadpool_limits(1, "openmp"):
        learner.fit(tables.to_numbers(tables.synthetic.codes, by)[0][has_secret], examples[has_secret])
        return np.asarray(learner.predict(tables.to_numbers(targets.codes, by)[0]), dtype=float)


def _secrets_as_numbers(tables: Coded, secret: str, rows: JointRows) -> FloatArray:
    """Return secrets as numbers: numbers as they are, others as their codes; NaN is missing."""
    j = tables.index(secret)
    values = tables.joint.values[j] if secret in tables.number_columns else range(tables.joint.widths[j])
    return np.asarray(np.append(np.array(values, dtype=float), np.nan)[rows.codes[j]])


def _are_right(guesses: FloatArray, secrets: FloatArray, is_near: bool) -> NDArray[np.bool_]:
    # A negative guess is as far from a secret as a positive one.
    reach = _RELATIVE_TOLERANCE * np.abs(guesses) if is_near else 0.0
    return (np.abs(guesses - secrets) <= reach) | (np.isnan(guesses) & np.isnan(secrets))


def _describe_guesses(tables: Coded, secret: str, rows: CountArray, codes: Any, values: bool) -> list[str]:
    j = tables.index(secret)
    texts = [f" ({tables.joint.text(j, code) or 'missing'})" if values else "" for code in codes.tolist()]
    return [f"{secret} of original record {row} is guessed right{each}" for row, each in zip(rows, texts, strict=True)]


def tcap(
    original: Any,
    synthetic: Any,
    *,
    target: str,
    keys: Sequence[str] | None = None,
    control: Any = None,
    specs: Mapping[str, ColumnSpec] | None = None,
) -> PrivacyFigure:
    """Measure how often a target is right where the synthetic records of a key all agree on it.

    Parameters
    ----------
    original, synthetic, control, specs
        As for `hushtable.singling_out`.
    target : str
        The column that is looked up.
    keys : sequence of str, optional
        What an attacker knows of a person; all other columns when not given.

    Returns
    -------
    PrivacyFigure
        The mean over synthetic records whose key has one target only and occurs among the people; NaN where none does.
        ``figures`` holds the same on the control, the share of synthetic records that count, and the chance that two
        people agree on the target.

    Notes
    -----
    Targeted correct attribution probability: Taub, Elliot, Pampaka and Smith, "Differential Correct Attribution
    Probability for Synthetic Data" (PSD 2018); the mean as Little, Elliot and Allmendinger (2022). Its interval is not
    known: records of one key are not independent. Values are compared as they are: generalize numbers before.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"job": ["clerk", "clerk", "cook"], "ill": ["flu", "gout", "flu"]})
    >>> made = pl.DataFrame({"job": ["clerk", "cook"], "ill": ["flu", "flu"]})
    >>> tcap(people, made, keys=["job"], target="ill").value
    0.75
    """
    tables = encode_tables(original, synthetic, control, None, specs)
    by = _choose_known_columns(tables, target, keys, ("target", "keys"))
    codes = tables.original.codes[tables.index(target)]
    figures = {"chance": float(((np.bincount(codes + 1) / len(codes)) ** 2).sum())}
    attributed = _attribution_shares(tables, by, target)
    on_people = attributed[0][~np.isnan(attributed[0])]
    figures["share_counted"] = len(on_people) / tables.synthetic.codes.shape[1]
    if tables.control is not None:
        on_control = attributed[1][~np.isnan(attributed[1])]
        figures["control"] = float(on_control.mean()) if len(on_control) else np.nan
    copied = _attribution_shares(tables.as_copy(), by, target)[0]
    reach = Reach(float(copied.mean()) if len(copied) else np.nan, np.nan)
    value = float(on_people.mean()) if len(on_people) else np.nan
    return PrivacyFigure("tcap", value, np.nan, np.nan, len(on_people), figures, target, reach)


def _attribution_shares(tables: Coded, by: Sequence[str], target: str) -> list[FloatArray]:
    """Return the shares of the people, and of the control, that have the one target of each synthetic key that counts.

    NaN where none of them has the key.
    """
    sides = [tables.original, tables.synthetic, *([] if tables.control is None else [tables.control])]
    n_of = np.cumsum([0, *(each.codes.shape[1] for each in sides)])
    codes = np.hstack([each.codes for each in sides])
    groups = _group_rows(codes[[tables.index(name) for name in by]])
    pairs = _group_rows(np.vstack([groups[None], codes[[tables.index(target)]]]))
    parts = [slice(n_of[i], n_of[i + 1]) for i in range(len(sides))]
    agrees = _count_in_groups(groups[parts[1]], groups) == _count_in_groups(pairs[parts[1]], pairs)
    return [_target_shares(groups, pairs, part)[parts[1]][agrees[parts[1]]] for part in (parts[0], *parts[2:])]


def rapid(
    original: Any,
    synthetic: Any,
    *,
    target: str,
    keys: Sequence[str] | None = None,
    control: Any = None,
    threshold: float = 0.3,
    specs: Mapping[str, ColumnSpec] | None = None,
    seed: int = 0,
) -> PrivacyFigure:
    """Measure the share of people whose target a model of the synthetic records tells much better than its frequency.

    Parameters
    ----------
    original, synthetic, control, specs, seed
        As for `hushtable.singling_out`.
    target : str
        A column of categories.
    keys : sequence of str, optional
        What an attacker knows of a person; all other columns when not given.
    threshold : float
        The gain above which a person is at risk; in [0, 1).

    Returns
    -------
    PrivacyFigure
        The share of people at risk, with Wilson's interval; ``figures["control"]`` is that of the control.

    Notes
    -----
    Risk of attribute prediction-induced disclosure: Templ, Thees and Müller, "RAPID: Risk of Attribute
    Prediction-Induced Disclosure in Synthetic Microdata" (2025), as the R package riskutility has it for categories
    (normalized gain, tau 0.3). A person's gain is (p - b)
    / (1 - b): p is the probability that the model gives to the true value, b the share of the people who have it. The
    model is a random forest of 100 trees (needs ``hushtable[sklearn]``). A person whose target is missing counts as
    not told.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"job": ["clerk", "cook"] * 20, "ill": ["flu", "gout"] * 20})
    >>> rapid(people, people, target="ill").value > 0.9
    True
    """
    if not 0 <= threshold < 1:
        raise InputError(f"threshold = {threshold!r}.", hint="give a number from 0 to below 1.")
    tables = encode_tables(original, synthetic, control, None, specs)
    by = _choose_known_columns(tables, target, keys, ("target", "keys"))
    if tables.scales[tables.index(target)] is not None:
        raise ColumnError(f"{target!r} has no categories.", hint="use hushtable.inference for numbers and dates.")
    try:
        from sklearn.ensemble import RandomForestClassifier
    except ImportError:
        raise InputError("rapid needs scikit-learn.", hint="install hushtable[sklearn].") from None
    j = tables.index(target)
    has_target = tables.synthetic.codes[j] >= 0
    if not has_target.any():
        raise ColumnError(f"{target!r} is missing in every synthetic record.", hint="choose another target.")
    forest = RandomForestClassifier(100, random_state=seed % 2**32, n_jobs=1)
    forest.fit(_fill_missing(tables, by, tables.synthetic)[has_target], tables.synthetic.codes[j][has_target])
    at_risk = [
        _are_at_risk(tables, by, j, forest, rows, threshold) for rows in (tables.original, tables.control) if rows
    ]
    rates = [rate_of(Tries(int(each.sum()), len(each))) for each in at_risk]
    figures = {"threshold": threshold, **({"control": rates[1].value} if len(rates) > 1 else {})}
    return PrivacyFigure("rapid", *rates[0][:3], len(at_risk[0]), figures, target)


def _choose_known_columns(
    tables: Coded, target: str, columns: Sequence[str] | None, words: tuple[str, str]
) -> tuple[str, ...]:
    """Return what is known of a person: the columns given, else all but the target; ``words`` are of the caller."""
    check_columns([target], tables.joint.names, words[0])
    all_but_target = [name for name in tables.joint.names if name != target]
    return check_column_names(all_but_target if columns is None else columns, words[1], tables, (target,))


def _group_rows(codes: Any) -> CountArray:
    """Return for every row which group of equal rows it is of."""
    return np.asarray(np.unique(codes, axis=1, return_inverse=True)[1]).reshape(-1)


def _count_in_groups(members: CountArray, of: CountArray) -> CountArray:
    """Return how many members are in each row's group."""
    return np.asarray(np.bincount(members, minlength=int(of.max()) + 1)[of])


def _target_shares(groups: CountArray, pairs: CountArray, part: slice) -> FloatArray:
    """Return which share of a table's records of a row's key has its target; NaN where it has none of that key."""
    n_keys, n_pairs = _count_in_groups(groups[part], groups), _count_in_groups(pairs[part], pairs)
    return np.where(n_keys > 0, n_pairs / np.maximum(n_keys, 1), np.nan)


def _fill_missing(tables: Coded, by: Sequence[str], rows: JointRows) -> FloatArray:
    return np.nan_to_num(tables.to_numbers(rows.codes, by)[0], nan=-1.0)


def _are_at_risk(tables: Coded, by: Sequence[str], j: int, forest: Any, rows: JointRows, threshold: float) -> Any:
    chances = np.zeros((rows.codes.shape[1], tables.joint.widths[j] + 1))
    chances[:, forest.classes_] = forest.predict_proba(_fill_missing(tables, by, rows))
    true = rows.codes[j]
    shares = np.append(np.bincount(tables.original.codes[j][tables.original.codes[j] >= 0],
                                   minlength=tables.joint.widths[j]) / len(tables.original.codes[j]), 0.0)  # fmt: skip
    predicted, base = chances[np.arange(len(true)), true], shares[true]
    # Where everyone has one value, guessing it gains nothing.
    gains = np.where(base < 1, (predicted - base) / np.maximum(1 - base, 1e-12), 0.0)
    return (gains > threshold) & (true >= 0)
