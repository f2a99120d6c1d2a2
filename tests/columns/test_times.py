"""Times of a day: read, ordered by the clock, published as intervals, read back by the grammar alone."""

import datetime as dt
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import hushtable as ht
from command import done
from hushtable.columns import ColumnSpec, from_texts
from hushtable.errors import ColumnError, HierarchyError, InputError
from hushtable.hierarchy import Rounding
from hushtable.risk.nearness import amount_of
from hushtable.tables import Table
from reading import holds
from strategies import draws

TIMES = st.times()
MINUTES = st.builds(dt.time, st.integers(0, 23), st.integers(0, 59))


def text(time: dt.time) -> str:
    return time.isoformat()


def test_times_are_ordered_by_the_clock_and_written_in_one_way():
    column, codes = from_texts("at", ["8:05", "23:59:30", "08:05:00", "00:00", "", "12:00:00.250"])
    assert column.kind == "time"
    assert column.texts() == ["00:00", "08:05", "12:00:00.250000", "23:59:30"]
    assert codes.tolist() == [1, 3, 1, 0, -1, 2]


@pytest.mark.parametrize("cells", [["24:00"], ["08:60"], ["25:10", "08:00"], ["0815"], ["08:15 h"], ["08:15+01:00"]])
def test_what_no_clock_shows_is_a_category(cells):
    assert from_texts("at", cells)[0].kind != "time"
    with pytest.raises(ColumnError, match="declared time"):
        from_texts("at", cells, "time")


def test_the_type_of_a_dataframe_and_texts_of_a_file_are_the_same_column(tmp_path):
    times = [dt.time(8, 15), None, dt.time(23, 59, 59, 999_999), dt.time(8, 15)]
    typed = Table.encode(pl.DataFrame({"at": times}))
    pl.DataFrame({"at": times}).write_csv(tmp_path / "a.csv", time_format="%H:%M:%S%.f")
    of_texts = Table.encode(tmp_path / "a.csv")
    for table in (typed, of_texts):
        assert table.columns[0].kind == "time"
        assert table.codes.tolist() == [[0, -1, 1, 0]]
    assert typed.decode()["at"].to_list() == times


@given(st.lists(st.one_of(TIMES, MINUTES), min_size=2, max_size=40), st.sampled_from(["readable", "tight", "cut"]))
@settings(max_examples=draws(60), deadline=None)
def test_every_published_cell_holds_the_time_that_it_was(times, recoding):
    people = pl.DataFrame({"at": [text(each) for each in times]})
    release = ht.anonymize(
        people,
        quasi_identifiers=["at"],
        models=[ht.KAnonymity(2)],
        method=ht.Mondrian(recoding=recoding),
        specs={"at": ColumnSpec("time")},
        roles="trust",
    )
    for cell, own in zip(release.frame["at"], people["at"], strict=True):
        assert holds(cell, own, "time"), (cell, own)
    assert release.verify().passed


@given(st.sets(st.one_of(MINUTES, st.times(dt.time(8), dt.time(9))), min_size=2, max_size=30))
@settings(max_examples=draws(60), deadline=None)
def test_round_intervals_hold_their_times_and_end_at_round_ones(times):
    column = from_texts("at", [text(each) for each in times])[0]
    rounding = Rounding.from_column(column)
    place = rounding.place
    for low in range(column.n_values):
        for high in range(low, column.n_values):
            begin, end = (each[0] for each in rounding.round_outwards(place[[low]], place[[high]]))
            cell = rounding.format_interval(int(begin), int(end))
            for code in range(column.n_values):
                if low <= code <= high:
                    assert holds(cell, column.text(code), "time"), (cell, column.text(code))


def test_an_interval_of_hours_ends_at_hours():
    texts = [f"{hour:02}:{minute:02}" for hour in range(6, 20) for minute in (3, 17, 41)]
    rounding = Rounding.from_column(from_texts("at", texts)[0])

    def cell(low, high):
        begin, end = rounding.round_outwards(*(rounding.place[[texts.index(each)]] for each in (low, high)))
        return rounding.format_interval(int(begin[0]), int(end[0]))

    assert cell("08:17", "11:41") == "[08:00, 12:00)"
    assert cell("08:03", "08:41") == "[08:00, 08:45)"
    assert cell("08:03", "08:17") == "[08:00, 08:20)"
    assert cell("06:03", "07:41") == "<07:45"
    assert cell("06:03", "09:17") == "<10:00"
    assert cell("12:03", "19:41") == ">=12:00"
    assert cell("08:03", "08:03") == "08:03"


def test_a_rule_makes_quarters_and_hours_of_a_clock():
    column, codes = from_texts("at", ["08:14", "08:15", "09:59:59", "23:50", "00:00"])
    ladder = ht.Hierarchy.times((15, 60, 360)).ladder(column)
    shown = [[level.labels[level.codes[code]] for code in codes] for level in ladder.levels]
    assert shown == [
        ["[08:00, 08:15)", "[08:15, 08:30)", "[09:45, 10:00)", ">=23:45", "[00:00, 00:15)"],
        ["[08:00, 09:00)", "[08:00, 09:00)", "[09:00, 10:00)", ">=23:00", "[00:00, 01:00)"],
        ["[06:00, 12:00)", "[06:00, 12:00)", "[06:00, 12:00)", ">=18:00", "[00:00, 06:00)"],
    ]
    for level in ladder.levels:
        for code in range(column.n_values):
            assert holds(level.labels[level.codes[code]], column.text(code), "time")
    assert [float(level.shares[0]) for level in ladder.levels] == [15 / 1440, 60 / 1440, 360 / 1440]
    with pytest.raises(HierarchyError, match="times of a day"):
        ht.Hierarchy.times(60).ladder(from_texts("n", ["1", "2"])[0])
    for wrong in ((7,), (60, 90), (60, 60), (0,), (1440,), ()):
        with pytest.raises(HierarchyError, match="go into a day"):
            ht.Hierarchy.times(wrong)


@pytest.mark.parametrize("method", ["full_domain", "local_recoding", "mingen"])
def test_other_methods_take_the_rule_of_times_by_themselves(method):
    rng = np.random.default_rng(1)
    at = [f"{m // 60:02}:{m % 60:02}" for m in rng.integers(6 * 60, 20 * 60, 40)]
    people = pl.DataFrame({"at": at, "sex": rng.choice(["f", "m"], 40)})
    release = ht.anonymize(
        people,
        quasi_identifiers=["at", "sex"],
        models=[ht.KAnonymity(3)],
        method=method,
        hierarchies={"at": "auto", "sex": "auto"},
        specs={"at": ColumnSpec("time")},
        budget=ht.Budget(nodes=500),
    )
    assert release.verify().passed
    for cell, own in zip(release.frame["at"], people["at"], strict=True):
        assert holds(cell, own, "time"), (cell, own)


def test_the_next_batch_utility_and_attacks_take_times():
    rng = np.random.default_rng(2)
    minutes = rng.normal(600, 100, 400).clip(0, 1439).astype(int)
    people = pl.DataFrame(
        {"at": [dt.time(m // 60, m % 60) for m in minutes.tolist()], "ill": rng.choice(["a", "b", "c"], 400)}
    )
    asked = {"quasi_identifiers": ["at"], "sensitive": ["ill"], "models": [ht.KAnonymity(10)]}
    release = ht.anonymize(people[:300], **asked, method=ht.Mondrian(recoding="readable"))
    later = release.apply(people[300:])
    assert later.verify().passed
    assert all(holds(cell, own, "time") for cell, own in zip(later.frame["at"], people["at"][300:], strict=True))
    told = release.utility().column("at")
    assert told.kind == "time"
    assert 0 < told.distance < 0.1
    assert 0 <= ht.inference(people[:200], people[200:], secret="at", n_attacks=20).risk.value <= 1
    found = ht.unicity(people.with_row_index("who"), person="who", item="ill", known=1, tolerance={"at": "30m"})
    assert found.known[0].rate < 0.1


def visits_at(n=400, seed=0):
    rng = np.random.default_rng(seed)
    minutes = np.clip(rng.normal(640, 170, n), 0, 1_439).astype(int)
    texts = [f"{each // 60:02d}:{each % 60:02d}" for each in minutes.tolist()]
    return pl.DataFrame({"at": texts, "age": rng.integers(20, 60, n)})


def test_times_of_lazy_frames_and_files_are_grouped_as_those_in_memory(tmp_path):
    typed = visits_at().with_columns(pl.col("at").str.to_time("%H:%M"))
    (tmp_path / "in").mkdir()
    typed.write_parquet(tmp_path / "in" / "part.parquet")
    asked = {"quasi_identifiers": ["at", "age"], "models": [ht.KAnonymity(5)]}
    asked |= {"method": ht.Mondrian(recoding="readable")}
    sources = typed, typed.lazy(), str(tmp_path / "in")
    found = [ht.anonymize(each, **asked).frame.lazy().collect() for each in sources]
    rows = [Counter(each.rows()) for each in found]
    assert rows[0] == rows[1] == rows[2]


def test_the_command_names_the_kind_in_the_codebook(tmp_path):
    visits_at().write_csv(tmp_path / "in.csv")
    policy, out = tmp_path / "policy.yaml", tmp_path / "out.csv"
    policy.write_text(
        "columns:\n  at: {role: quasi-identifier, kind: time}\n  age: quasi-identifier\nmodels: [k-anonymity: 5]\n"
    )
    done("anonymize", tmp_path / "in.csv", "-p", policy, "-o", out)
    done("verify", out, "--original", tmp_path / "in.csv", "-p", policy)
    assert "| time |" in (tmp_path / "out.csv.codebook.md").read_text(encoding="utf-8")
    proposed = tmp_path / "proposed.yaml"
    done("scan", tmp_path / "in.csv", "--persons", "-p", proposed)


def test_a_tolerance_of_times_is_a_span():
    column, _ = from_texts("at", ["08:15", "09:00"])
    assert amount_of("45m", column) == (column.values[1] - column.values[0]).astype(int)
    with pytest.raises(InputError, match="2h"):
        amount_of(3, column)
