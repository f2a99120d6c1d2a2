"""The copula's arrays against slow twins, and against tables whose correlations are known."""

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import norm

from hushtable.synthesizers import copula
from strategies import coded_rows


def naive_scores(line):
    """The mean of a standard normal between the quantiles of each code's records, one by one."""
    scores, before, total = {}, 0, sum(line.sizes)
    for code in line.order:
        begin, before = before, before + line.sizes[code]
        if line.sizes[code]:
            a, b = norm.ppf([begin / total, before / total])
            scores[code] = (norm.pdf(a) - norm.pdf(b)) / (line.sizes[code] / total)
    return scores


def naive_correlation(codes, counts, lines, i, j):
    one, other = (naive_scores(lines[k]) for k in (i, j))
    pairs = [(one[a], other[b]) for a, b, count in zip(codes[i], codes[j], counts, strict=True) for _ in range(count)]
    n = len(pairs)
    variances = [sum(each[k] ** 2 for each in pairs) / n for k in (0, 1)]
    if i != j:
        variances = [
            sum(naive_scores(lines[k])[c] ** 2 * w for c, w in zip(codes[k], counts, strict=True)) / n for k in (i, j)
        ]
    covariance = sum(a * b for a, b in pairs) / n
    return min(1, max(-1, n * covariance / (n * variances[0] * variances[1] + 1)))


@given(coded_rows(max_rows=12))
def test_correlations_are_those_of_the_twin(drawn):
    codes, _ = drawn
    if not codes.shape[1]:
        return
    codes = codes + np.int32(1)
    counts = np.arange(codes.shape[1]) % 3 + 1
    lines = copula.build_lines(codes, counts, [j % 2 == 0 for j in range(len(codes))])
    found = copula.estimate_correlations(codes, counts, lines)
    for i in range(len(codes)):
        for j in range(len(codes)):
            expected = 1 if i == j else naive_correlation(codes, counts, lines, i, j)
            assert found[i, j] == pytest.approx(expected, abs=1e-9)


@given(coded_rows(max_rows=12))
def test_places_by_code_keep_the_cell(drawn):
    codes, _ = drawn
    if not codes.shape[1]:
        return
    codes = codes + np.int32(1)
    for line in copula.build_lines(codes, np.ones(codes.shape[1], np.int64), [True] * len(codes)):
        assert sorted(line.order) == list(range(len(line.sizes)))
        in_line = [code for code in line.order for _ in range(line.sizes[code])]
        plain = [code for code in range(len(line.sizes)) for _ in range(line.sizes[code])]
        met = np.arange(0, len(plain), 0.25)
        moved = line.to_code_order(met)
        assert [plain[int(place)] for place in moved] == [in_line[int(place)] for place in met]
        assert sorted(moved) == list(met)


@given(coded_rows(max_rows=12))
def test_counts_are_records(drawn):
    codes, _ = drawn
    if not codes.shape[1]:
        return
    codes = codes + np.int32(1)
    counts = np.arange(codes.shape[1]) * 5 % 13 + 1
    repeated = np.repeat(codes, counts, axis=1)
    is_nominal = [True] * len(codes)
    found = copula.build_lines(codes, counts, is_nominal)
    expected = copula.build_lines(repeated, np.ones(repeated.shape[1], np.int64), is_nominal)
    assert [line.order.tolist() for line in found] == [line.order.tolist() for line in expected]


def normals(rho, n=20_000):
    rng = np.random.default_rng(7)
    one = rng.standard_normal(n)
    return one, rho * one + np.sqrt(1 - rho**2) * rng.standard_normal(n)


@pytest.mark.parametrize("rho", [-0.6, 0.0, 0.3, 0.6])
def test_the_correlation_behind_ranges_is_found(rho):
    one, other = normals(rho)
    codes = np.array([np.digitize(one, [-1, 0, 0.5, 2]), np.digitize(other, np.linspace(-2, 2, 9))], np.int32)
    counts = np.ones(len(one), np.int64)
    found = copula.estimate_correlations(codes, counts, copula.build_lines(codes, counts, [False, False]))
    assert found[0, 1] == pytest.approx(rho, abs=0.03)


def test_categories_follow_whom_they_meet():
    one, other = normals(0.8)
    names = np.array([3, 0, 4, 1, 2])
    codes = np.array(
        [names[np.digitize(one, [-1, -0.3, 0.3, 1])] + 1, np.digitize(other, np.linspace(-2, 2, 9))], np.int32
    )
    line, _ = copula.build_lines(codes, np.ones(len(one), np.int64), [True, False])
    order = [code - 1 for code in line.order if code]
    assert order in (names.tolist(), names[::-1].tolist())


def test_rare_categories_are_not_ordered_by_whom_they_meet():
    """An order of names by income would tell whose income it is."""
    income = np.random.default_rng(3).permutation(500)
    codes = np.array([np.arange(500), income], np.int32) + np.int32(1)
    line, _ = copula.build_lines(codes, np.ones(500, np.int64), [True, False])
    assert line.order.tolist() == list(range(501))


def test_the_nearest_matrix_is_one_of_correlations():
    odd = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
    mended = copula.nearest_correlations(odd)
    assert (mended == mended.T).all()
    assert (np.diag(mended) == 1).all()
    assert np.linalg.eigvalsh(mended).min() > 0
    fine = np.array([[1, 0.5], [0.5, 1]])
    assert (copula.nearest_correlations(fine) == fine).all()


def test_blocks_do_not_show(monkeypatch):
    codes = np.array([[1, 2, 3, 3], [1, 1, 2, 2]], np.int32)
    lines = copula.build_lines(codes, np.ones(4, np.int64), [False, False])
    correlation = np.array([[1, 0.5], [0.5, 1]])

    def drawn():
        blocks = list(copula.draw_positions(correlation, lines, 10, np.random.default_rng(0)))
        return len(blocks), np.concatenate([places for _, places in blocks], axis=1)

    n_whole, whole = drawn()
    monkeypatch.setattr(copula, "_ROWS_PER_BLOCK", 3)
    n_parts, parts = drawn()
    assert (n_whole, n_parts) == (1, 4)
    assert parts == pytest.approx(whole, abs=1e-9)
