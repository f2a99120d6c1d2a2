"""The evaluator of tables of cells: the figures of `ht.check_tables`, and its limits."""

import pytest

import hushtable as ht

TEXT = """
Loader: {table: {filepath: table.csv}}
Evaluator: {cells: {method: check_tables, by: [g], value: n, threshold: 10, limit: {n_failing: LIMIT}}}
Reporter: {all: {method: save_report, granularity: global}}
"""


@pytest.mark.parametrize("limit", [0, 2])
def test_cells_that_a_reader_computes_are_counted_and_limited(tmp_path, limit):
    (tmp_path / "table.csv").write_text("g,n\na,x\nb,40\nc,7\nTotal,50\n")
    (tmp_path / "pipeline.yaml").write_text(TEXT.replace("LIMIT", str(limit)))
    ended = ht.Pipeline.read(tmp_path / "pipeline.yaml").run(tmp_path / "out", cache=False)
    (told,) = ended.reports["hushtable[Report]_[global].csv"].to_dicts()
    assert (told["cells_n_exposed"], told["cells_n_failing"], told["cells_n_shown_small"]) == (1, 1, 1)
    assert ended.passed == (limit > 0)
