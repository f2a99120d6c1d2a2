"""The truth of roles: whole, reproducible, and judged rightly; nothing here asks the recogniser."""

import sys
from pathlib import Path

import polars as pl
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))
tables = pytest.importorskip("roles_tables", reason="the benchmarks are not part of a source distribution")
truths = pytest.importorskip("roles_truth")
real = pytest.importorskip("roles_real")

EVERY_TRUTH = [
    *truths.TRUTHS.items(),
    *((f"{name} E", truth) for name, truth in real.TRUTH_E.items()),
    *((f"{name} P", truth) for name, truth in real.TRUTH_P.items()),
]
ROWS = {"adult": 32561, "diabetes": 10830, "heart": 294, "nursery": 12960, "car": 1728, "mushroom": 8124}
ROLES = {truths.IDENTIFIER, truths.QUASI, truths.SENSITIVE, truths.OTHER}


@pytest.mark.parametrize("name", tables.TABLES)
class TestTables:
    def test_a_seed_tells_the_table(self, name):
        make = tables.TABLES[name]
        assert make(300, seed=3).equals(make(300, seed=3))
        assert not make(300, seed=3).equals(make(300, seed=4))

    def test_a_csv_file_reads_back_to_the_same_table(self, name, tmp_path):
        frame = tables.TABLES[name]()
        frame.write_csv(tmp_path / "table.csv")
        assert pl.read_csv(tmp_path / "table.csv", infer_schema=False).equals(frame)

    def test_it_has_the_usual_size(self, name):
        frame = tables.TABLES[name]()
        assert 1000 <= frame.height <= 4000
        assert 8 <= frame.width <= 16
        assert tables.TABLES[name](1).height == 1

    def test_every_column_has_its_truth_in_order(self, name):
        assert list(truths.TRUTHS[name].columns) == tables.TABLES[name](20).columns


def test_every_table_has_a_truth():
    assert truths.TRUTHS.keys() == tables.TABLES.keys()


@pytest.mark.parametrize(("name", "truth"), EVERY_TRUTH)
def test_a_truth_gives_a_role_and_a_reason_for_every_column(name, truth):
    assert truth.reason.endswith(".")
    for judged in truth.columns.values():
        assert judged.role in ROLES
        assert judged.known_to in {"public", "acquaintance", "insider", "nobody"}
        assert len(judged.reason) > 15
        assert judged.reason.endswith(".")
    assert len(truth.debatable) <= 2
    assert bool(truth.quasi_identifiers) == truth.of_persons
    for judged in truth.columns.values():
        assert judged.role != truths.QUASI or judged.known_to in {"public", "acquaintance"}


@pytest.mark.parametrize("name", real.TRUTH_E)
def test_the_truth_of_a_real_table_names_its_columns(name, shared_file):
    data = shared_file(f"data/{real.FILES[name]}").parents[1]
    frame = real.read_real(name, data=data)
    assert frame.columns == list(real.TRUTH_E[name].columns)
    assert frame.height == ROWS[name]


def test_the_truths_of_the_source_are_the_two_of_the_facts():
    assert real.TRUTH_E["adult"].quasi_identifiers - real.TRUTH_P["adult"].quasi_identifiers == {
        "education_num",
        "relationship",
    }
    assert len(real.TRUTH_P["adult"].quasi_identifiers) == 8
    assert real.TRUTH_E["diabetes"].quasi_identifiers == {"date", "time"}
    assert real.TRUTH_E["heart"].quasi_identifiers == {"age", "sex"}
    assert real.TRUTH_E["nursery"].quasi_identifiers == {"parents", "form", "children", "housing", "finance"}
    assert real.TRUTH_P["nursery"].quasi_identifiers == {"form", "children", "housing", "finance"}
    assert not real.TRUTH_E["car"].quasi_identifiers | real.TRUTH_E["mushroom"].quasi_identifiers


class TestF1:
    def judged(self, **roles: str):
        """A truth by hand: q found, o not, d debatable (leaning to be found)."""
        role = {"q": truths.QUASI, "o": truths.OTHER, "d": truths.QUASI}
        columns = {name: truths.Judgement(role[r], "public", "By hand.", r == "d") for name, r in roles.items()}
        return truths.Truth(of_persons=True, reason="By hand.", columns=columns)

    @pytest.mark.parametrize(
        ("found", "score"),
        [("ab", 1.0), ("a", 2 / 3), ("abc", 4 / 5), ("ac", 1 / 2), ("c", 0.0), ("", 0.0), ("abd", 1.0), ("d", 0.0)],
    )
    def test_by_hand(self, found, score):
        assert truths.f1(list(found), self.judged(a="q", b="q", c="o", d="d")) == pytest.approx(score)

    def test_where_nothing_is_to_be_found_only_nothing_is_right(self):
        truth = self.judged(a="o", b="o", d="d")
        assert truths.f1([], truth) == 1.0
        assert truths.f1(["d"], truth) == 1.0
        assert truths.f1(["a"], truth) == 0.0

    def test_a_column_counts_once(self):
        assert truths.f1(["a", "a"], self.judged(a="q", b="o")) == 1.0

    def test_a_column_without_a_truth_is_an_error(self):
        with pytest.raises(ValueError, match="without a truth"):
            truths.f1(["v0"], self.judged(a="q"))


def test_renamed_columns_keep_cells_and_truth():
    frame = tables.hospital(20)
    blind = truths.renamed(frame)
    assert blind.columns == [f"v{i}" for i in range(14)]
    assert blind.rows() == frame.rows()
    truth = truths.TRUTHS["hospital"].renamed()
    assert list(truth.columns) == blind.columns
    assert truth.quasi_identifiers == {"v2", "v3", "v4", "v5", "v6"}
