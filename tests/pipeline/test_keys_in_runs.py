"""The evaluator of keys: the figures of `ht.minimal_keys`, its limit, and what it refuses."""

import polars as pl
import pytest

import hushtable as ht

TEXT = """
Loader: {people: {filepath: people.csv}}
Evaluator: {keys: {method: keys, max_size: 2, error: ERROR, limit: {n_keys: 1}}}
Reporter: {all: {method: save_report, granularity: [global, details]}}
"""
PEOPLE = pl.DataFrame({"age": [31, 31, 52, 52], "sex": ["f", "m", "f", "f"], "city": ["A", "A", "A", "B"]})


def run(folder, text):
    PEOPLE.write_csv(folder / "people.csv")
    (folder / "pipeline.yaml").write_text(text, encoding="utf-8")
    return ht.Pipeline.read(folder / "pipeline.yaml").run(folder / "out", cache=False)


@pytest.mark.parametrize(("error", "n_keys"), [("0.0", 0), ("0.2", 3)])
def test_keys_are_counted_and_limited(tmp_path, error, n_keys):
    ended = run(tmp_path, TEXT.replace("ERROR", error))
    (told,) = ended.reports["hushtable[Report]_[global].csv"].to_dicts()
    found = ht.minimal_keys(PEOPLE, max_size=2, error=float(error))
    assert (told["keys_n_keys"], told["keys_n_rows"], told["keys_complete"]) == (len(found), 4, True)
    assert told["keys_fewest_columns"] == min(found.n_by_size, default=None)
    assert len(found) == n_keys
    assert ended.passed == (n_keys <= 1)
    assert all("count is 3, above the limit" in each for each in ended.failures)
    if n_keys:
        details = ended.reports["hushtable[Report]_[details].csv"]
        assert details["keys_size"].to_list() == [2, 2, 2]


@pytest.mark.parametrize(("good", "bad"), [("n_keys: 1", "rate: 1"), ("max_size: 2", "max_size: 0")])
def test_what_is_refused(tmp_path, good, bad):
    with pytest.raises(ht.PipelineError):
        run(tmp_path, TEXT.replace("ERROR", "0.0").replace(good, bad))


MERGED = """
Loader: {people: {filepath: people.csv}}
Synthesizer: {given: {method: custom_data, filepath: equal.csv}}
Evaluator: {risk: {method: mpuccs, n_cols: 1, deduplicate: DO}}
Reporter: {all: {method: save_report, granularity: global}}
"""


@pytest.mark.parametrize(("deduplicate", "identified"), [("false", 1), ("true", 2)])
def test_mpuccs_merges_equal_records_where_it_is_asked_to(tmp_path, deduplicate, identified):
    pl.concat([PEOPLE.tail(1), PEOPLE]).write_csv(tmp_path / "equal.csv")
    (told,) = run(tmp_path, MERGED.replace("DO", deduplicate)).reports["hushtable[Report]_[global].csv"].to_dicts()
    assert told["risk_total_identified"] == identified


def test_mpuccs_merges_no_records_by_some_columns(tmp_path):
    with pytest.raises(ht.PipelineError, match="deduplicate"):
        run(tmp_path, MERGED.replace("DO", "true, columns: [age]"))
