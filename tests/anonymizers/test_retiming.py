"""Dates of persons, shifted or counted from the first: what is published, what is told, and what is refused."""

import json
from datetime import date, datetime, timedelta

import pandas as pd
import polars as pl
import pytest

import hushtable as ht
from command import run
from hushtable.errors import ColumnError, HushError, InfeasibleError, InputError
from hushtable.policy import Policy
from twins import naive_timelines as naive

KEY, OTHER = bytes(range(32)), bytes(range(7, 39))
FIRST, LAST = date(2023, 1, 1), date(2024, 12, 31)
WINDOW = (str(FIRST), str(LAST))
SHIFT = ht.DateShift(("admitted",), "26W", WINDOW, KEY)
REACH = 25 * 7
LATE = ("2023-03-01", "2024-12-31")


def stays(n=60, **columns):
    """Rows of persons with 1 to 3 stays, a fortnight apart and more."""
    rows = [(f"P{i:02}", FIRST + timedelta(11 * i % 600 + 40 * j)) for i in range(n) for j in range(1 + i % 3)]
    frame = pl.DataFrame(rows, schema=["pid", "admitted"], orient="row")
    return frame.with_columns(**{name: pl.Series(cells[: len(rows)]) for name, cells in columns.items()})


def protect(frame=None, dates=SHIFT, **options):
    options = {"person": "pid", "identifiers": ["pid"], "models": [ht.KAnonymity(2)], **options}
    frame = stays() if frame is None else frame
    return ht.anonymize(frame, quasi_identifiers=["admitted"], dates=dates, **options)


def shown(release):
    """The shifted dates of each person, as the source of the release has them."""
    source = release.source.native
    return {person: sorted(own["admitted"].to_list()) for (person,), own in source.group_by("pid")}


def expected(frame, key=KEY):
    days = {person: sorted(own["admitted"].to_list()) for (person,), own in frame.group_by("pid")}
    shifted = {
        person: naive.published(own, naive.offset(key, person, 26, 7), FIRST, LAST, REACH)
        for person, own in days.items()
    }
    return {person: own for person, own in shifted.items() if own}


def test_shifted_dates_are_those_of_the_twin_and_cells_cover_them():
    frame = stays()
    release = protect(frame)
    assert shown(release) == expected(frame)
    assert release.verify().passed
    told = release.timelines
    n_shown = sum(map(len, expected(frame).values()))
    assert (told.n_records, told.n_left_out) == (frame.height, frame.height - n_shown)
    assert told.n_persons_left_out == 60 - len(expected(frame))
    assert {each.n_intervals for each in told.intervals["admitted"]} == {1, 2, None}
    for known in told.intervals["admitted"]:
        events = [(int(person[1:]), day.toordinal()) for person, own in shown(release).items() for day in own]
        assert (known.n_persons, pytest.approx(known.found)) == naive.intervals(events, known.n_intervals, 2)


def test_every_date_of_a_person_moves_by_the_same_in_both_columns_and_both_years():
    frame = stays().with_columns(discharged=pl.col("admitted") + timedelta(5))
    both = ht.DateShift(("admitted", "discharged"), "26W", WINDOW, KEY)
    options = {"person": "pid", "identifiers": ["pid"], "models": [ht.KAnonymity(2)]}
    first = ht.anonymize(frame, quasi_identifiers=["admitted", "discharged"], dates=both, **options).source.native
    assert (first["discharged"] - first["admitted"]).unique().to_list() == [timedelta(5)]
    later = stays().with_columns(pl.col("admitted") + timedelta(30))
    window = (WINDOW[0], "2025-06-30")
    second = protect(later, ht.DateShift(("admitted",), "26W", window, KEY)).source.native
    offsets = [
        {
            person: {(after - before).days for before in own["admitted"] for after in released["admitted"]}
            for (person,), own in source.group_by("pid")
            if (released := published.filter(pl.col("pid") == person)).height
        }
        for source, published in ((frame, first), (later, second))
    ]
    for person in offsets[0].keys() & offsets[1].keys():
        assert naive.offset(KEY, person, 26, 7) in offsets[0][person] & offsets[1][person]


def test_another_key_gives_other_offsets():
    frame = stays()
    first, second = shown(protect(frame)), shown(protect(frame, ht.DateShift(("admitted",), "26W", WINDOW, OTHER)))
    both = [person for person in first.keys() & second.keys() if len(first[person]) == len(second[person])]
    assert sum(first[person] == second[person] for person in both) <= len(both) / 5


@pytest.mark.parametrize("library", ["pandas", "csv", "pandas text ids", "time zone"])
def test_the_same_dates_from_any_source(library, tmp_path):
    frame, specs = stays(), {}
    if library == "csv":
        data = tmp_path / "stays.csv"
        frame.with_columns(pl.col("admitted").dt.strftime("%d.%m.%Y")).write_csv(data)
    elif library == "time zone":
        # On its own clocks, whose days have 23 or 25 hours: the time of day stays.
        at_two = pl.col("admitted").cast(pl.Datetime("us")) + timedelta(hours=14, minutes=30)
        data = frame.with_columns(at_two.dt.replace_time_zone("Europe/Berlin"))
    else:
        data = pd.DataFrame({"pid": frame["pid"].to_list(), "admitted": pd.to_datetime(frame["admitted"].to_list())})
        data.index = range(5, 5 + len(data))
        data = data.astype({"pid": "category"}) if library == "pandas text ids" else data
    release = protect(data, specs=specs)
    days = {person: [day if type(day) is date else day.date() for day in own] for person, own in shown_any(release)}
    assert days == expected(frame)
    if library == "time zone":
        assert {moment.time() for moment in release.source.native["admitted"]} == {datetime(1, 1, 1, 14, 30).time()}


def shown_any(release):
    source = pl.DataFrame({name: release.source.column(name) for name in ("pid", "admitted")})
    return [(str(person), sorted(own["admitted"].to_list())) for (person,), own in source.group_by("pid")]


def test_days_since_the_first_event_are_those_of_the_twin():
    frame = stays().with_columns(
        admitted=pl.when(pl.int_range(pl.len()) % 7 == 3).then(None).otherwise(pl.col("admitted"))
    )
    release = protect(frame, ht.SinceFirst(("admitted",)))
    first = {person: own["admitted"].min() for (person,), own in frame.group_by("pid")}
    assert release.source.native["admitted"].to_list() == [
        None if day is None else (day - first[person]).days for person, day in frame.iter_rows()
    ]
    assert release.claim.specs["admitted"].kind == "integer"
    assert release.verify().passed
    assert "Dates became days since the first event of each person: admitted." in release.facts


POLICY = """
columns:
  pid: {role: identifier, action: pseudonym}
  admitted: {role: quasi-identifier, action: shift, format: "%d.%m.%Y"}
  ward: quasi-identifier
person: pid
dates: {within: 26W, window: [2023-01-01, 2024-12-31]}
models: [linked-k-anonymity: 2]
method: histories
limits: {suppression: 0.5}
budget: {nodes: 5}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "stays.csv"
    stays(ward=["a", "b"] * 80).with_columns(pl.col("admitted").dt.strftime("%d.%m.%Y")).write_csv(path)
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "key.bin").write_bytes(KEY)
    return path


def test_no_file_beside_a_release_has_a_key_an_offset_or_a_true_date(file):
    out = file.with_name("out.csv")
    wrote = run(
        "anonymize", file, "-o", out, "-p", file.with_name("policy.yaml"), "--key-file", file.with_name("key.bin"),
        "--report", file.with_name("report.html"), "--verbose",
    )  # fmt: skip
    assert wrote.code == 0, wrote
    assert "Dates are shifted by 0 to 25 whole weeks" in wrote.err
    assert "a shift alone protects nobody" in wrote.out
    written = [path for path in file.parent.iterdir() if path.name not in ("stays.csv", "policy.yaml", "key.bin")]
    assert {path.suffix for path in written} == {".csv", ".json", ".md", ".html"}
    frame = stays()
    offsets = {person: naive.offset(KEY, person, 26, 7) for person in frame["pid"]}
    texts = [path.read_text() for path in written] + [wrote.out, wrote.err]
    for text in texts:
        assert KEY.hex() not in text
        assert "offset_of" not in text
        assert not [person for person in offsets if person in text]
    # Dates of the input stand in no file but as ends that shifted dates have, too.
    true = {str(day) for day in frame["admitted"]} - {str(day) for own in expected(frame).values() for day in own}
    beside = [text for path, text in zip(written, texts, strict=False) if path.suffix != ".csv"]
    assert not [day for day in true - set(WINDOW) - {"2023-06-25"} if any(day in text for text in beside)]
    assert "dates are shifted by 0 to 25 whole weeks" in (file.parent / "out.csv.codebook.md").read_text()
    assert "who knows 1 and 2 between records" in (file.parent / "report.html").read_text()
    assert run("verify", out).code == 0
    for door in (["verify", out, "--original", file], ["report", out, "--original", file], ["utility", file, out]):
        refused = run(*door)
        assert (refused.code, "changed person by person" in refused.err) == (2, True), door


def test_an_external_manifest_says_that_dates_were_shifted_and_counts_nothing(file):
    release = Policy.read(file.with_name("policy.yaml")).protect(file, key=KEY)
    out = file.with_name("out.csv")
    release.write(out, external=True)
    entries = json.loads(out.with_name("out.csv.manifest.json").read_text())
    assert sorted(entries["timelines"]) == ["action", "columns", "offsets", "window", "within"]
    assert "policy" not in entries


def test_releases_of_two_years_under_one_key_have_no_pseudonym_in_common(file):
    policy = Policy.read(file.with_name("policy.yaml"))
    first, second = (policy.with_entries({"release": year}).protect(file, key=KEY) for year in ("2023", "2024"))
    assert sorted(shown_any(first)) == sorted(shown_any(second))
    assert not {*first.frame["pid"]} & {*second.frame["pid"]}


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"person": None, "identifiers": ["pid"]}, InputError, "nobody said whose they are"),
        ({"models": [ht.KAnonymity(1)]}, InputError, "no model asks for more than one person"),
        ({"dates": ht.DateShift(("pid",), "26W", WINDOW, KEY)}, InputError, "'pid' is no quasi-identifier"),
        ({"dates": ht.DateShift((), "26W", WINDOW, KEY)}, InputError, "no column of them was named"),
        ({"dates": ht.DateShift(("admitted",), "26W", LATE, KEY)}, InputError, "outside the window"),
        ({"dates": ht.DateShift(("admitted",), "26W", ("2020-01-01", "2026-12-31"), KEY)}, None, ""),
        ({"dates": ht.DateShift(("admitted",), "900D", ("2021-01-01", "2026-12-31"), KEY)}, None, ""),
        ({"dates": "shift"}, InputError, "dates was given as str"),
    ],
)  # fmt: skip
def test_what_a_shift_refuses(options, error, words):
    if error is None:
        assert protect(**options).verify().passed
        return
    with pytest.raises(error, match=words):
        protect(**options)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"died": [date(2024, 1, 1)] * 160}, "'died' hold dates that are not shifted"),
        ({"died": ["2024-01-01", None] * 80}, "'died' hold dates that are not shifted"),
        ({"note": [f"seen on Christmas Eve with a cough and number {i}" for i in range(160)]}, "'note' hold free text"),
        ({"birth_year": [1950, 1960] * 80, "age": [73, 64] * 80}, "hold a birth and an age"),
    ],
)
def test_columns_that_would_give_the_offset_away_are_refused(columns, words):
    with pytest.raises(ColumnError, match=words):
        protect(stays(**columns), roles="trust")
    # Left out, they tell nobody.
    assert protect(stays(**columns), leave_out=[*columns]).verify().passed


def test_dates_that_are_declared_a_category_are_dates():
    with pytest.raises(ColumnError, match="'died' hold dates that are not shifted"):
        protect(stays(died=["2024-01-01", None] * 80), specs={"died": ht.ColumnSpec("category")}, roles="trust")


def test_a_column_that_may_be_made_from_the_dates_is_warned_of():
    with pytest.warns(UserWarning, match="columns 'year' may be made from the dates that are shifted"):
        protect(stays(year=[2023, 2024] * 80), roles="trust")


def test_records_of_nobody_and_dates_that_are_none_are_refused():
    frame = stays().with_columns(pid=pl.when(pl.col("pid") == "P03").then(None).otherwise(pl.col("pid")))
    with pytest.raises(InputError, match="1 records do not say in 'pid' whose they are"):
        protect(frame)
    with pytest.raises(ColumnError, match="'admitted' holds no dates: it is of kind integer"):
        protect(stays().with_columns(pl.col("admitted").dt.year()))
    only = stays().with_columns(admitted=pl.lit(FIRST))
    zero = next(i for i in range(99) if naive.offset(KEY, f"P{i:02}", 26, 7) < REACH)
    with pytest.raises(InfeasibleError, match="no record has a shifted date"):
        protect(only.with_columns(pid=pl.lit(f"P{zero:02}")))


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ({"columns.ward": {"role": "other", "action": "shift"}}, "action: shift goes with role: quasi-identifier"),
        ({"columns.ward": {"role": "quasi-identifier", "action": "since-first"}}, "choose one for all dates"),
        ({"person": None}, "need to know whose dates"),
        ({"dates": None}, "action: shift needs dates"),
        ({"columns.admitted": "quasi-identifier"}, "has no effect: no column has action: shift"),
        ({"dates": {"within": "60W", "window": ["2023-01-01", "2023-12-31"]}}, "more than half of the window"),
        ({"columns.pid": "identifier", "release": "2024"}, "has no effect: no column has action: pseudonym"),
    ],
)
def test_a_policy_says_all_of_a_shift(entries, words):
    with pytest.raises(HushError, match=words):
        Policy.parse(POLICY).with_entries(entries)


def test_a_policy_goes_through_yaml_and_takes_a_key(file):
    policy = Policy.parse(POLICY)
    assert Policy.parse(policy.to_yaml()) == policy
    with pytest.raises(HushError, match="there is no key"):
        policy.protect(file)
    classes = {"models": [{"k-anonymity": 2}], "method": "mondrian"}
    unkeyed = policy.with_entries({"columns.pid": {"role": "identifier"}, **classes})
    with pytest.raises(HushError, match="the policy shifts the dates of 'admitted', but there is no key"):
        unkeyed.protect(file)
    assert unkeyed.protect(file, key=KEY).timelines.columns == ("admitted",)


def test_doors_that_a_shift_does_not_go_through_say_so(file):
    release = Policy.read(file.with_name("policy.yaml")).protect(file, key=KEY)
    with pytest.raises(InputError, match="with the same key"):
        release.apply(file)
    with pytest.raises(InputError, match="keep the order of the input"):
        release.write(file.with_name("o.csv"), keep_order=True)
    with pytest.raises(InputError, match="engine='memory'"):
        protect(stays().lazy())
    with pytest.raises(InputError, match="of a Table were coded"):
        protect(ht.Table.encode(stays()))
    asked = ["anonymize", file, "-o", file.with_name("o.csv"), "-p", file.with_name("policy.yaml")]
    for option, words in ((["--keep-order"], "order of the input"), (["--save-recoding", "r.json"], "changes dates")):
        refused = run(*asked, "--key-file", file.with_name("key.bin"), *option)
        assert (refused.code, words in refused.err) == (2, True)


def test_runs_are_compared_with_any_key(file):
    policy = Policy.read(file.with_name("policy.yaml"))
    compared = ht.compare(file, policy, k=[2, 3])
    assert all(row.verified for row in compared.rows)
