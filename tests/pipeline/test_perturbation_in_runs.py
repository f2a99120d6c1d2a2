"""A Perturber makes a table near the true one; its evaluator tells what that lost and left, and has limits."""

import json

import polars as pl
import pytest

import hushtable as ht

TEXT = """
Loader: {people: {filepath: people.csv}}
Perturber:
  grouped: {columns: [age, pay], method: {microaggregation: {k: 3, steps: 500}}}
  noisy: {columns: pay, method: noise, external: true}
Evaluator: {near: {method: perturbation, limit: {linkage: LIMIT}}}
Reporter:
  all: {method: save_report, granularity: [global, columnwise, pairwise]}
  tables: {method: save_data, source: Perturber}
"""


def write(folder, text=TEXT):
    rows = range(30)
    pl.DataFrame({"age": [20 + row % 17 for row in rows], "pay": [row * row for row in rows]}).write_csv(
        folder / "people.csv"
    )
    (folder / "pipeline.yaml").write_text(text)
    return ht.Pipeline.read(folder / "pipeline.yaml")


@pytest.mark.parametrize("limit", ["0.01", "1"])
def test_figures_of_both_are_in_the_reports_and_limits_hold(tmp_path, limit):
    out = tmp_path / "out"
    ended = write(tmp_path, TEXT.replace("LIMIT", limit)).run(out)
    assert ended.passed == (limit == "1")
    stem = "hushtable_Loader[people]_Perturber"
    grouped, noisy = (pl.read_csv(out / f"{stem}[{label}].csv", glob=False) for label in ("grouped", "noisy"))
    assert grouped.group_by("age", "pay").len()["len"].min() >= 3
    assert noisy["age"].sort().to_list() == sorted(20 + row % 17 for row in range(30))
    internal, external = (
        json.loads((out / f"{stem}[{label}].csv.manifest.json").read_text()) for label in ("grouped", "noisy")
    )
    assert "losses" in internal
    assert "losses" not in external
    rows = ended.reports["hushtable[Report]_[global].csv"].to_dicts()
    assert all(0 < row["near_linkage"] <= row["near_linkage_before"] == 1 for row in rows)
    assert all(0 < row["near_sse_share"] < 1 for row in rows)
    assert len(ended.reports["hushtable[Report]_[columnwise].csv"]) == 3
    assert len(ended.reports["hushtable[Report]_[pairwise].csv"]) == 1


def test_a_run_again_takes_what_is_kept(tmp_path):
    pipeline = write(tmp_path, TEXT.replace("LIMIT", "1"))
    first, again = (pipeline.run(tmp_path / out, cache=True) for out in ("one", "one"))
    name = "hushtable[Report]_[global].csv"
    assert first.reports[name].equals(again.reports[name])


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("method: noise", "method: nois", "did you mean 'noise'"),
        ("{k: 3, steps: 500}", "{kk: 3}", "has no option 'kk'"),
        ("linkage: LIMIT", "gap: 1", "limit names 'gap'; it may name linkage, sse_share"),
    ],
)
def test_what_cannot_be_is_refused_before_a_run(tmp_path, before, after, said):
    with pytest.raises(ht.PipelineError, match=said):
        write(tmp_path, TEXT.replace(before, after).replace("LIMIT", "1"))


def test_without_a_perturber_nothing_was_measured(tmp_path):
    lines = [line for line in TEXT.replace("LIMIT", "1").splitlines() if "Perturber" not in line]
    text = "\n".join(line for line in lines if not line.startswith(("  grouped", "  noisy")))
    with pytest.raises(ht.InputError, match="no Perturber made this table"):
        write(tmp_path, text).run(tmp_path / "out", cache=False)


def test_a_direct_identifier_is_refused_unless_it_is_accepted(tmp_path):
    text = """
Loader: {people: {filepath: people.csv}}
Perturber: {names: {columns: surname, method: pram, keep: [], ACCEPT}}
Reporter: {tables: {method: save_data, source: Perturber}}
"""
    (tmp_path / "people.csv").write_text("surname,pay\n" + "Lang,1\nKurz,2\nBauer,3\n" * 10)
    path = tmp_path / "pipeline.yaml"
    path.write_text(text.replace(", ACCEPT", ""))
    with pytest.raises(ht.HushError, match="'surname' looks like a direct identifier"):
        ht.Pipeline.read(path).run(tmp_path / "out", cache=False)
    path.write_text(text.replace("ACCEPT", "accept: {surname: made up}"))
    assert ht.Pipeline.read(path).run(tmp_path / "out", cache=False).passed
