"""Attribution: what the keys of a person, looked up or learned in the synthetic table, say of a target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hushtable._types import CountArray, FloatArray
from hushtable.columns import ColumnSpec
from hushtable.errors import ColumnError, InputError, check_columns, with_hint
from hushtable.risk.attacks.attack import Tries, rate_of
from hushtable.risk.attacks.coding import Coded, coded, named
from hushtable.risk.attacks.figure import PrivacyFigure
from hushtable.tables import JointRows

__all__ = ["rapid", "tcap"]


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
    original, synthetic, control : path, dataframe or Table
        As for `hushtable.singling_out`.
    target : str
        The column that is looked up.
    keys : sequence of str, optional
        What an attacker knows of a person; all other columns when not given.
    specs : mapping of column to ColumnSpec, optional
        Kinds of columns where the data do not say.

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
    known, by = _known(original, synthetic, control, keys, target, specs)
    tables = [known.original, known.synthetic, *([] if known.control is None else [known.control])]
    n_of = np.cumsum([0, *(each.codes.shape[1] for each in tables)])
    codes = np.hstack([each.codes for each in tables])
    places = [known.index(name) for name in by]
    groups = _groups(codes[places])
    pairs = _groups(np.vstack([groups[None], codes[[known.index(target)]]]))
    parts = [slice(n_of[i], n_of[i + 1]) for i in range(len(tables))]
    made = parts[1]
    agrees = _count(groups[made], groups) == _count(pairs[made], pairs)
    shares = [_shares(groups, pairs, part)[made][agrees[made]] for part in (parts[0], *parts[2:])]
    on_people = shares[0][~np.isnan(shares[0])]
    figures = {"share_counted": len(on_people) / int(n_of[2] - n_of[1]), "chance": _chance(known, target)}
    if len(parts) > 2:
        beside = shares[1][~np.isnan(shares[1])]
        figures["control"] = float(beside.mean()) if len(beside) else np.nan
    value = float(on_people.mean()) if len(on_people) else np.nan
    return PrivacyFigure("tcap", value, np.nan, np.nan, len(on_people), figures, target)


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
    original, synthetic, control : path, dataframe or Table
        As for `hushtable.singling_out`.
    target : str
        A column of categories.
    keys : sequence of str, optional
        What an attacker knows of a person; all other columns when not given.
    threshold : float
        The gain above which a person is at risk; in [0, 1).
    specs : mapping of column to ColumnSpec, optional
        Kinds of columns where the data do not say.
    seed : int

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
        raise InputError(with_hint(f"threshold = {threshold!r}.", "give a number from 0 to below 1."))
    known, by = _known(original, synthetic, control, keys, target, specs)
    if known.scales[known.index(target)] is not None:
        raise ColumnError(with_hint(f"{target!r} has no categories.", "use hushtable.inference for numbers and dates."))
    try:
        from sklearn.ensemble import RandomForestClassifier
    except ImportError:
        raise InputError(with_hint("rapid needs scikit-learn.", "install hushtable[sklearn].")) from None
    j = known.index(target)
    taught = known.synthetic.codes[j] >= 0
    if not taught.any():
        raise ColumnError(with_hint(f"{target!r} is missing in every synthetic record.", "choose another target."))
    forest = RandomForestClassifier(100, random_state=seed % 2**32, n_jobs=1)
    forest.fit(_filled(known, by, known.synthetic)[taught], known.synthetic.codes[j][taught])
    at_risk = [_at_risk(known, by, j, forest, rows, threshold) for rows in (known.original, known.control) if rows]
    rates = [rate_of(Tries(int(each.sum()), len(each))) for each in at_risk]
    figures = {"threshold": threshold, **({"control": rates[1].value} if len(rates) > 1 else {})}
    return PrivacyFigure("rapid", *rates[0], len(at_risk[0]), figures, target)


def _known(
    original: Any, synthetic: Any, control: Any, keys: Sequence[str] | None, target: str, specs: Any
) -> tuple[Coded, tuple[str, ...]]:
    known = coded(original, synthetic, control, None, specs)
    check_columns([target], known.joint.names, "target")
    others = [name for name in known.joint.names if name != target]
    return known, named(others if keys is None else keys, "keys", known, (target,))


def _groups(codes: Any) -> CountArray:
    """Return for every row which group of equal rows it is of."""
    return np.asarray(np.unique(codes, axis=1, return_inverse=True)[1]).reshape(-1)


def _count(members: CountArray, of: CountArray) -> CountArray:
    """Return how many members are in each row's group."""
    return np.asarray(np.bincount(members, minlength=int(of.max()) + 1)[of])


def _shares(groups: CountArray, pairs: CountArray, part: slice) -> FloatArray:
    """Return which share of a table's records of a row's key has its target; NaN where it has none of that key."""
    n_keys, n_pairs = _count(groups[part], groups), _count(pairs[part], pairs)
    return np.where(n_keys > 0, n_pairs / np.maximum(n_keys, 1), np.nan)


def _chance(known: Coded, target: str) -> float:
    codes = known.original.codes[known.index(target)]
    shares = np.bincount(codes + 1) / len(codes)
    return float((shares**2).sum())


def _filled(known: Coded, by: Sequence[str], rows: JointRows) -> FloatArray:
    return np.nan_to_num(known.placed(rows.codes, by)[0], nan=-1.0)


def _at_risk(known: Coded, by: Sequence[str], j: int, forest: Any, rows: JointRows, threshold: float) -> Any:
    chances = np.zeros((rows.codes.shape[1], known.joint.widths[j] + 1))
    chances[:, forest.classes_] = forest.predict_proba(_filled(known, by, rows))
    true = rows.codes[j]
    shares = np.append(np.bincount(known.original.codes[j][known.original.codes[j] >= 0],
                                   minlength=known.joint.widths[j]) / len(known.original.codes[j]), 0.0)  # fmt: skip
    told, base = chances[np.arange(len(true)), true], shares[true]
    # Where everyone has one value nothing is gained by telling it.
    gains = np.where(base < 1, (told - base) / np.maximum(1 - base, 1e-12), 0.0)
    return (gains > threshold) & (true >= 0)
