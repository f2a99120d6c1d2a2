"""What independence masking keeps, what it hides, and what the other columns give back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations, product
from typing import Any, Final

import numpy as np

from hushtable._types import BoolArray, CodeArray, CountArray, FloatArray
from hushtable.columns import Column
from hushtable.io import frames
from hushtable.tables import Table

_STAR: Final = -2
_FIGURES: Final = tuple(f"{name}_{when}" for name in ("support", "confidence", "lift") for when in ("before", "after"))
_N_BINS: Final = 20
_ALARMING_RATE: Final = 0.25  # share of the hidden mutual information that a guess gives back


@dataclass(frozen=True, slots=True)
class Dependence:
    """How far two columns are from independent."""

    mutual_information: float  # in bits, 0 where independent
    chi_square: float  # Pearson's statistic, 0 where independent
    degrees_of_freedom: int


@dataclass(frozen=True, slots=True)
class Pair:
    """How far two columns determine one another, before and after.

    It is the normalised mutual information, in [0, 1]: both in bits over the geometric mean of the entropies of the
    original columns, so that their ratio is the share of bits that is kept.
    """

    kind: str  # the source's name for the correlation: "A", "AC" or "BC"
    first: str
    second: str
    before: float
    after: float
    n_after: int  # records that publish both cells; on a few of them `after` is high by chance alone


@dataclass(frozen=True, slots=True)
class AssociationRule:
    """An association rule, from one cell to another; figures are (before, after), 0 where a cell is unpublished."""

    given: str
    given_value: str = field(repr=False)  # long orders are binned, and a bin is named by its ends
    then: str
    then_value: str = field(repr=False)
    support: tuple[float, float]  # the share of records that hold both cells
    confidence: tuple[float, float]  # the share of those with the first that hold the second
    lift: tuple[float, float]  # the confidence over the second's share of all records
    is_before: bool  # the rule reaches the requested support and confidence
    is_after: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as plain values: they hold two cells of the table."""
        plain = asdict(self)
        for name in ("support", "confidence", "lift"):
            before, after = plain.pop(name)
            plain |= {f"{name}_before": before, f"{name}_after": after}
        return plain


@dataclass(frozen=True, slots=True)
class AssociationRules:
    """Association rules from one cell to another, with a column of A on either side."""

    support: float  # what a rule needs, in [0, 1]
    confidence: float  # what a rule needs, in [0, 1]
    n_before: int  # rules of the original
    n_kept: int  # those of them that the masked table still has
    n_new: int  # rules that only the masked table has
    rules: tuple[AssociationRule, ...] = field(default=(), repr=False)  # those with the highest support before first

    def to_frame(self, source: str = "polars") -> Any:
        """Return a row for every rule, as a dataframe of a library: internal, as it holds cells of the table."""
        rows = [rule.to_dict() for rule in self.rules]
        names = ("given", "given_value", "then", "then_value", *_FIGURES, "is_before", "is_after")
        return frames.assemble({name: [row[name] for row in rows] for name in names}, source)


@dataclass(frozen=True, slots=True)
class Guess:
    """What the columns of C, published as they are, give back of a masked column."""

    column: str
    n_masked: int
    right_rate: float  # share of the masked cells that a guess from C gets right, in [0, 1]
    hidden: float  # mutual information of the original column with the label, in bits
    restored: float  # that of the published column with its masked cells guessed

    @property
    def restored_rate(self) -> float:
        """Share of the hidden mutual information that the guess gives back; it can pass 1."""
        return self.restored / self.hidden if self.hidden > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the guess as plain values."""
        return {**asdict(self), "restored_rate": self.restored_rate}


def measure_dependence(first: CodeArray, second: CodeArray) -> Dependence:
    """Measure how far two coded columns are from independent."""
    pairs = _CountedPairs.from_codes(first, second)
    expected = pairs.first_counts[pairs.rows] * pairs.second_counts[pairs.columns] / pairs.n_records
    # Empty cells add (0 - expected)^2 / expected = expected each: in all n minus the expectations of the others.
    chi_square = float(((pairs.counts - expected) ** 2 / expected).sum() + pairs.n_records - expected.sum())
    freedom = max(0, int((pairs.first_counts > 0).sum()) - 1) * max(0, int((pairs.second_counts > 0).sum()) - 1)
    return Dependence(mutual_information(first, second), max(0.0, chi_square), freedom)


@dataclass(frozen=True, slots=True, eq=False)
class _CountedPairs:
    """Record counts of each cell of two columns and of each pair; indices are codes + 2."""

    n_records: int
    rows: CountArray
    columns: CountArray
    counts: CountArray
    first_counts: CountArray
    second_counts: CountArray

    @classmethod
    def from_codes(cls, first: CodeArray, second: CodeArray) -> _CountedPairs:
        # Codes begin at -2, the star; -1 is a missing cell. Hence + 2, and a width of the highest code + 3.
        width = int(second.max(initial=-1)) + 3
        pairs, counts = np.unique((first.astype(np.int64) + 2) * width + second + 2, return_counts=True)
        first_counts, second_counts = np.bincount(first + 2), np.bincount(second + 2)
        return cls(max(1, len(first)), pairs // width, pairs % width, counts, first_counts, second_counts)

    def find_rules(self, support: float, confidence: float) -> set[tuple[int, int]]:
        """Find the pairs of codes that reach support and confidence, without stars and missing cells."""
        reached = (self.counts >= support * self.n_records) & (self.rows > 1) & (self.columns > 1)
        reached &= self.counts >= confidence * self.first_counts[self.rows]
        return set(zip((self.rows[reached] - 2).tolist(), (self.columns[reached] - 2).tolist(), strict=True))

    def rule_figures(self, first: int, second: int) -> tuple[float, float, float]:
        """Return support, confidence and lift of a rule; 0 where no record publishes both cells."""
        n = int(self.counts[(self.rows == first + 2) & (self.columns == second + 2)].sum())
        if not n:
            return 0.0, 0.0, 0.0
        confidence = n / int(self.first_counts[first + 2])
        return n / self.n_records, confidence, confidence * self.n_records / int(self.second_counts[second + 2])


def mutual_information(first: CodeArray, second: CodeArray) -> float:
    """Return the mutual information of two coded columns in bits; -1 and -2 are values."""
    pairs = _CountedPairs.from_codes(first, second)
    # Products of integers first: for independent columns their ratio is exactly 1.
    ratio = (pairs.counts * pairs.n_records) / (pairs.first_counts[pairs.rows] * pairs.second_counts[pairs.columns])
    return max(0.0, float((pairs.counts * np.log2(ratio)).sum() / pairs.n_records))


def entropy(codes: CodeArray) -> float:
    """Return the entropy of a coded column in bits."""
    counts = np.unique(codes, return_counts=True)[1]
    return float(-(counts * np.log2(counts / len(codes))).sum() / len(codes)) if len(codes) else 0.0


def normalize_mutual_information(first: CodeArray, second: CodeArray) -> float:
    """Return the mutual information over the geometric mean of both entropies, in [0, 1]."""
    return _normalize_bits(mutual_information(first, second), first, second)


def _normalize_bits(bits: float, first: CodeArray, second: CodeArray) -> float:
    """Divide mutual information by the geometric mean of the entropies of two columns; 0 where one has no entropy."""
    scale = float(np.sqrt(entropy(first) * entropy(second)))
    return min(1.0, bits / scale) if scale > 0 else 0.0


def bin_codes(table: Table, name: str) -> CodeArray:
    """Return a column's codes, those of an ordered column with many values in bins of nearly equal frequency."""
    column = table.column(name)
    codes: CodeArray = table.codes[table.index(name)]
    if not _is_binned(column):
        return codes
    counts = np.bincount(codes[codes >= 0], minlength=column.n_values)
    before = np.cumsum(counts) - counts
    bins = (before * _N_BINS // max(1, int(counts.sum()))).astype(np.int32)
    return np.asarray(np.append(bins, np.int32(-1))[codes], dtype=np.int32)


def name_bins(table: Table, name: str) -> list[str]:
    """Name the codes of `bin_codes`: a value, or the first and last value of a bin."""
    column = table.column(name)
    texts = column.texts()
    if not _is_binned(column):
        return texts
    bins, codes = bin_codes(table, name), table.codes[table.index(name)]
    members = [codes[bins == number] for number in range(int(bins.max(initial=-1)) + 1)]
    ends = [(texts[codes.min()], texts[codes.max()]) if len(codes) else ("", "") for codes in members]
    return [first if first == last else f"[{first}, {last}]" for first, last in ends]


def _is_binned(column: Column) -> bool:
    return column.is_ordered and column.n_values > _N_BINS


def compare_pairs(
    a: Mapping[str, tuple[CodeArray, CodeArray]],
    b: Mapping[str, CodeArray],
    c: Mapping[str, CodeArray],
    labels: CodeArray,
) -> tuple[Pair, ...]:
    """Compare the dependence of pairs of columns before and after masking; codes are binned, a star is -2.

    Stars are left out: as a value, they would make columns that are starred together look dependent. Columns of C are
    published as they are, B is replaced by the cluster.
    """
    codes_by_column = {
        **a,
        **{name: (codes, labels) for name, codes in b.items()},
        **{n: (codes, codes) for n, codes in c.items()},
    }
    kinds = {"A": combinations(a, 2), "AC": product(a, c), "BC": product(b, c)}
    return tuple(_compare_pair(kind, one, two, codes_by_column) for kind, names in kinds.items() for one, two in names)


def _compare_pair(kind: str, left: str, right: str, columns: Mapping[str, tuple[CodeArray, CodeArray]]) -> Pair:
    """Compare two columns: before, and after on records that publish both cells; scaled by the original entropies."""
    (first, masked), (second, other_masked) = columns[left], columns[right]
    known = (masked != _STAR) & (other_masked != _STAR)
    after = _normalize_bits(mutual_information(masked[known], other_masked[known]), first, second)
    return Pair(kind, left, right, normalize_mutual_information(first, second), after, int(known.sum()))


def association_rules(
    a: Mapping[str, tuple[CodeArray, CodeArray]],
    c: Mapping[str, CodeArray],
    texts: Mapping[str, Sequence[str]],
    support: float,
    confidence: float,
) -> AssociationRules:
    """Find the rules "this cell, therefore that cell" before and after masking; a star (-2) takes part in none."""
    cells = {**a, **{name: (codes, codes) for name, codes in c.items()}}
    rules = []
    for pair_of_columns in (*combinations(a, 2), *product(a, c)):
        for given, then in (pair_of_columns, pair_of_columns[::-1]):
            before, after = (_CountedPairs.from_codes(cells[given][at], cells[then][at]) for at in (0, 1))
            at = [counted.find_rules(support, confidence) for counted in (before, after)]
            for pair in sorted({*at[0], *at[1]}):
                one_text, other_text = texts[given][pair[0]], texts[then][pair[1]]
                support_, confidence_, lift = zip(before.rule_figures(*pair), after.rule_figures(*pair), strict=True)
                is_in = (pair in at[0], pair in at[1])
                rules.append(AssociationRule(given, one_text, then, other_text, support_, confidence_, lift, *is_in))
    rules.sort(key=lambda rule: -rule.support[0])
    n_before, n_kept = sum(rule.is_before for rule in rules), sum(rule.is_before and rule.is_after for rule in rules)
    return AssociationRules(support, confidence, n_before, n_kept, len(rules) - n_before, tuple(rules))


def guess_stars(
    names: Sequence[str], raw: CodeArray, masked: BoolArray, evidence: Sequence[CodeArray], labels: CodeArray
) -> tuple[Guess, ...]:
    """Guess the masked cells of every column from C, as a reader of the published table could.

    Naive Bayes, trained on the records whose cell is published, with one added to every count: O(n d) for each column
    of C and value of A. It is a weak attacker; a stronger one restores more.
    """
    guesses = []
    for name, codes, is_hidden in zip(names, raw, masked, strict=True):
        restored = codes.copy()
        restored[is_hidden] = _predict_codes(codes + 1, is_hidden, evidence) - 1
        n_masked = int(is_hidden.sum())
        right = float((restored[is_hidden] == codes[is_hidden]).mean()) if n_masked else 0.0
        guesses.append(
            Guess(name, n_masked, right, mutual_information(codes, labels), mutual_information(restored, labels))
        )
    return tuple(guesses)


def _predict_codes(codes: CodeArray, is_hidden: BoolArray, evidence: Sequence[CodeArray]) -> CodeArray:
    width = int(codes.max(initial=0)) + 1
    is_known = ~is_hidden
    frequencies = np.bincount(codes[is_known], minlength=width)
    scores: FloatArray = np.tile(np.log(np.where(frequencies, frequencies, 1e-9)), (int(is_hidden.sum()), 1))
    for column in evidence:
        n_values = int(column.max(initial=-1)) + 2
        joint_counts = np.bincount((column[is_known] + 1) * width + codes[is_known], minlength=n_values * width)
        shares = (joint_counts.reshape(n_values, width) + 1) / (frequencies + n_values)
        scores += np.log(shares)[column[is_hidden] + 1]
    return np.asarray(scores.argmax(axis=1), dtype=np.int32)


def warnings_of(guesses: Sequence[Guess]) -> tuple[str, ...]:
    """Return a warning for each column of A whose hidden correlation C gives back."""
    return tuple(
        f"the other columns give {guess.column!r} back. A guess is right in {guess.right_rate:.0%} of its "
        f"{guess.n_masked:,} masked cells and restores {guess.restored_rate:.0%} of what it says of the label"
        for guess in guesses
        if guess.n_masked and guess.hidden > 0 and guess.restored_rate >= _ALARMING_RATE
    )
