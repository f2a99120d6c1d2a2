"""Inference: whether what is known of a person, with the synthetic table, tells a secret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from hushtable._types import CountArray, FloatArray
from hushtable.columns import ColumnSpec
from hushtable.errors import ColumnError, InputError, check_columns, check_whole, with_hint
from hushtable.risk.attacks.attack import Attack, Tries
from hushtable.risk.attacks.coding import Coded, coded, generator, named, nearest, sampled
from hushtable.tables import JointRows

__all__ = ["inference"]

_TOLERANCE: Final = 0.05


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
    original, synthetic, control : path, dataframe or Table
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
    specs : mapping of column to ColumnSpec, optional
        Kinds of columns where the data do not say.
    seed : int

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
    if model not in ("nearest", "boosting"):
        raise InputError(with_hint(f"model = {model!r}.", 'use "nearest" or "boosting".'))
    known = coded(original, synthetic, control, None, specs)
    check_columns([secret], known.joint.names, "secret")
    others = [name for name in known.joint.names if name != secret]
    by = named(others if aux_columns is None else aux_columns, "aux_columns", known, (secret,))
    is_number = secret in known.numbers
    if regression and not is_number:
        raise ColumnError(with_hint(f"regression of {secret!r}, which is no number.", "leave regression out."))
    is_near = is_number if regression is None else bool(regression)
    rng = generator(seed)
    rows = sampled(rng, known.original.codes.shape[1], n_attacks)
    targets = known.original.take(rows)
    guess = partial(_guess, known, by, secret, model, seed, is_near)
    guesses = guess(targets)
    secrets = _secrets(known, secret, targets)
    made = _secrets(known, secret, known.synthetic)
    hits = _right(guesses, secrets, is_near)
    by_chance = _right(made[rng.integers(len(made), size=len(rows))], secrets, is_near)
    beside = None
    if known.control is not None:
        unused = known.control.take(sampled(rng, known.control.codes.shape[1], n_attacks))
        right = _right(guess(unused), _secrets(known, secret, unused), is_near)
        beside = Tries(int(right.sum()), len(right))
    asked = {"secret": secret, "aux_columns": list(by), "regression": is_near, "model": model}
    return Attack(
        "inference",
        Tries(int(hits.sum()), len(rows)),
        Tries(int(by_chance.sum()), len(rows)),
        beside,
        None,
        {"n_attacks": n_attacks, **asked, "seed": seed},
        partial(_told, known, secret, rows[hits], targets.codes[known.index(secret), hits]),
    )


def _guess(
    known: Coded, by: Sequence[str], secret: str, model: str, seed: int, is_near: bool, targets: JointRows
) -> FloatArray:
    made = _secrets(known, secret, known.synthetic)
    if model == "nearest":
        return np.asarray(made[nearest(known, targets.codes, known.synthetic.codes, by, 1)[0][:, 0]])
    return _boosted(known, by, made, seed, is_near, targets)


def _boosted(
    known: Coded, by: Sequence[str], made: FloatArray, seed: int, is_near: bool, targets: JointRows
) -> FloatArray:
    """Guess by trees that learned the synthetic records; one whose secret is missing teaches nothing."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
        from threadpoolctl import threadpool_limits
    except ImportError:
        msg = with_hint("guessing by boosting needs scikit-learn.", "install hushtable[sklearn].")
        raise InputError(msg) from None
    taught = ~np.isnan(made)
    values = np.unique(made[taught])
    if len(values) < 2:
        return np.full(targets.codes.shape[1], values[0] if len(values) else np.nan)
    kind = HistGradientBoostingRegressor if is_near else HistGradientBoostingClassifier
    learner = kind(random_state=seed, early_stopping=False)
    # scikit-learn takes all cores, and waits for them where others work there too.
    with threadpool_limits(1, "openmp"):
        learner.fit(known.placed(known.synthetic.codes, by)[0][taught], made[taught])
        return np.asarray(learner.predict(known.placed(targets.codes, by)[0]), dtype=float)


def _secrets(known: Coded, secret: str, rows: JointRows) -> FloatArray:
    """Return secrets as numbers: numbers as they are, others as their codes; NaN is missing."""
    j = known.index(secret)
    values = known.joint.values[j] if secret in known.numbers else range(known.joint.widths[j])
    return np.asarray(np.append(np.array(values, dtype=float), np.nan)[rows.codes[j]])


def _right(guesses: FloatArray, secrets: FloatArray, is_near: bool) -> NDArray[np.bool_]:
    # A negative guess is as far from a secret as a positive one.
    reach = _TOLERANCE * np.abs(guesses) if is_near else 0.0
    return (np.abs(guesses - secrets) <= reach) | (np.isnan(guesses) & np.isnan(secrets))


def _told(known: Coded, secret: str, rows: CountArray, codes: Any, values: bool) -> list[str]:
    j = known.index(secret)
    shown = [f" ({known.joint.text(j, code) or 'missing'})" if values else "" for code in codes.tolist()]
    return [f"{secret} of original record {row} is guessed right{each}" for row, each in zip(rows, shown, strict=True)]
