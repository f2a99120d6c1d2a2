"""A scan proposes how dates are read, so that no line has to be changed; what is released keeps their precision."""

import datetime as dt
import random
import re

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from command import done, run
from hushtable.columns import ColumnSpec
from hushtable.errors import ColumnError

TODAY = np.datetime64("2026-11-25")
MONTHS = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
GERMAN = MONTHS.split()


@pytest.fixture(autouse=True)
def _today(monkeypatch):
    """Keep the clock out: today is what the expected policies say."""
    monkeypatch.setattr("hushtable.anonymizers.centuries.this_day", lambda: TODAY)
    monkeypatch.setattr("hushtable.policy.dating.this_day", lambda: TODAY)


def draw_births(n=300):
    rng = random.Random(5)
    return [dt.date(1935, 1, 1) + dt.timedelta(rng.randrange(34 * 365)) for _ in range(n)]


def propose(folder, name, cells, ending="csv"):
    """Scan a table, and return what its policy says of a column, and the policy's text."""
    path, policy = folder / f"people.{ending}", folder / "policy.yaml"
    frame = pl.DataFrame({name: cells, "ill": [("a", "b", "c")[i % 3] for i in range(len(cells))]})
    frame.write_parquet(path) if ending == "parquet" else frame.write_csv(path)
    done("scan", path, "--write-policy", policy)
    text = policy.read_text(encoding="utf-8").replace("ill: ask", "ill: other")
    policy.write_text(text, encoding="utf-8")
    return ht.Policy.read(policy).columns[name], text


def release(folder):
    """Anonymize what was scanned by its own policy, without any change, and return the cells of the column."""
    out = folder / "out.csv"
    done("anonymize", folder / "people.csv", "-p", folder / "policy.yaml", "-o", out, "--force")
    done("verify", out, "--original", folder / "people.csv")
    return pl.read_csv(out, infer_schema=False).to_series(0).to_list()


FORMS = {
    "%d. %B %Y": lambda day: f"{day.day}. {GERMAN[day.month - 1]} {day.year}",
    "%d%b%Y": lambda day: f"{day:%d%b%Y}",
    "%d. %m. %Y": lambda day: f"{day.day}. {day.month}. {day.year}",
    "%Y年%m月%d日": lambda day: f"{day.year}年{day.month}月{day.day}日",
    "%d%m%Y": lambda day: f"{day:%d%m%Y}",
    "%Y%m%d": lambda day: f"{day:%Y%m%d}",
    "excel": lambda day: str((day - dt.date(1899, 12, 30)).days),
    "%m/%Y": lambda day: f"{day:%m/%Y}",
    "%Y-%m": lambda day: f"{day:%Y-%m}",
    "%m.%Y": lambda day: f"{day:%m.%Y}",
    "%Y-Q%q": lambda day: f"{day.year}-Q{(day.month + 2) // 3}",
    "%q. Quartal %Y": lambda day: f"{(day.month + 2) // 3}. Quartal {day.year}",
}


@pytest.mark.parametrize("format_", FORMS)
def test_a_scan_proposes_the_form_and_its_policy_runs_unchanged(format_, tmp_path):
    days = draw_births()
    column, _ = propose(tmp_path, "geburtsdatum", [FORMS[format_](day) for day in days])
    assert (column.format, column.latest_year) == (format_, None)
    cells = release(tmp_path)
    years = {int(year) for cell in cells for year in re.findall("[0-9]{4}", cell)}
    assert years <= set(range(1930, 1971))


@pytest.mark.parametrize("format_", ["%d. %B %Y", "%m/%Y", "excel"])
def test_a_scan_of_parquet_proposes_the_same(format_, tmp_path):
    column, _ = propose(tmp_path, "geburtsdatum", [FORMS[format_](day) for day in draw_births()], "parquet")
    assert column.format == format_


def test_digits_of_other_columns_stay_numbers(tmp_path):
    cells = [FORMS["excel"](day) for day in draw_births()]
    frame = pl.DataFrame({"umsatz": cells, "alter": ["31", "32", "33"] * 100})
    frame.write_csv(tmp_path / "people.csv")
    done("scan", tmp_path / "people.csv", "--write-policy", tmp_path / "policy.yaml")
    assert ht.Policy.read(tmp_path / "policy.yaml").columns["umsatz"].format is None


def test_numbers_of_years_stay_numbers_with_a_word_on_dates(tmp_path):
    column, text = propose(tmp_path, "geburtsjahr", [str(day.year) for day in draw_births()])
    assert column.format is None
    assert 'format: "%Y" reads them as dates' in text


@pytest.mark.parametrize("write", ["{:%d.%m.%y}", "{:%d-%b-%y}", "{:%d/%m/%y}"])
def test_births_of_two_digits_are_of_the_last_century(write, tmp_path):
    column, text = propose(tmp_path, "geburtsdatum", [write.format(day) for day in draw_births()])
    assert (column.format, column.latest_year) == (write[2:-1], 2026)
    assert "no birth lies in the future" in " ".join(text.replace("#", "").split())
    years = {int(year) for cell in release(tmp_path) for year in re.findall("[0-9]{4}", cell)}
    assert years <= set(range(1930, 1971))


def test_dates_ahead_are_proposed_with_those_before_them(tmp_path):
    cells = [f"{1 + i % 28:02}.12.{(20, 23, 27)[i % 3]}" for i in range(90)]
    column, text = propose(tmp_path, "appointment", cells)
    # The days of a year of two digits may be years themselves.
    assert (column.format, column.latest_year) == ("ask", 2027)
    assert "closest together" in " ".join(text.replace("#", "").split())


def test_a_day_and_month_that_may_be_swapped_stay_asked_about(tmp_path):
    column, _ = propose(tmp_path, "geburtsdatum", [f"0{1 + i % 9}.0{1 + i % 7}.{35 + i % 30}" for i in range(60)])
    assert (column.format, column.latest_year) == ("ask", 2026)


def ask(cells, name="born", **said):
    frame = pl.DataFrame({name: cells})
    specs = {name: ColumnSpec(**said)}
    return ht.anonymize(frame, quasi_identifiers=[name], models=[ht.KAnonymity(2)], specs=specs)


def test_undeclared_two_digits_stop_a_command(tmp_path):
    path = tmp_path / "people.csv"
    pl.DataFrame({"born": ["31.12.43"] * 5}).write_csv(path)
    failed = run("anonymize", path, "--qi", "born", "--k", "2", "-o", tmp_path / "out.csv")
    assert failed.code != 0
    assert "latest_year" in failed.err


def test_declared_two_digits_of_the_future_are_asked_about():
    with pytest.raises(ColumnError, match="2 of its dates would lie in the future") as raised:
        ask(["01.02.43", "01.02.50", "01.02.80"] * 3, format="%d.%m.%y")
    assert "latest_year: 2026" in str(raised.value)
    assert "43" not in str(raised.value)


def test_declared_two_digits_of_the_past_are_warned_of():
    with pytest.warns(UserWarning, match="years of two digits, which are read as 1969 to 2068"):
        ask(["01.02.80", "01.02.90", "01.02.10"] * 3, format="%d.%m.%y")


def test_a_declared_century_is_not_asked_about():
    cells = {*ask(["01.02.43", "01.02.50"] * 3, format="%d.%m.%y", latest_year=2026).frame["born"].to_list()}
    assert cells == {"1943-02-01", "1950-02-01"}


@pytest.mark.parametrize(("name", "said"), [("geburtsdatum", "1 births after today"), ("valid until", None)])
def test_births_after_today_are_warned_of(name, said, recwarn):
    ask(["2950-01-01", "1950-01-01"] * 3, name, kind="date")
    assert [said is not None and said in str(each.message) for each in recwarn] == ([] if said is None else [True])


def test_years_below_a_thousand_are_warned_of():
    with pytest.warns(UserWarning, match="1 dates before the year 1000"):
        ask(["0043-10-05", "1950-01-01"] * 3, kind="date")


def test_a_scan_says_that_births_are_impossible(tmp_path):
    days = ["2950-01-01", *(day.isoformat() for day in draw_births())]
    assert "1 births after today" in propose(tmp_path, "geburtsdatum", days)[1]


LEVELS = {
    "%m/%Y": (r"[0-9]{4}-[0-9]{2}", lambda day: f"{day:%Y-%m}"),
    "%Y-Q%q": (r"[0-9]{4}-Q[1-4]", lambda day: f"{day.year}-Q{(day.month + 2) // 3}"),
    "%Y": (r"[0-9]{4}", lambda day: str(day.year)),
}


@pytest.mark.parametrize("format_", LEVELS)
@pytest.mark.parametrize("recoding", ["readable", "tight", "cut", "label", "set", "central"])
@pytest.mark.filterwarnings("ignore:tight intervals")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_is_released_is_no_finer_than_what_came(format_, recoding, tmp_path):
    days = [day.replace(day=15) for day in draw_births(200) for _ in range(2)]
    write = FORMS.get(format_, lambda day: str(day.year))
    frame = pl.DataFrame({"day": [write(day) for day in days]})
    specs = {"day": ColumnSpec(format=format_)}
    method = ht.Mondrian(recoding=recoding)
    made = ht.anonymize(frame, quasi_identifiers=["day"], models=[ht.KAnonymity(2)], specs=specs, method=method)
    made.write(tmp_path / "out.csv")
    assert made.claim.verify(tmp_path / "out.csv", original=frame).passed
    cells = pl.read_csv(tmp_path / "out.csv", infer_schema=False)["day"].to_list()
    pattern, in_unit = LEVELS[format_]
    single = {cell for cell in cells if re.fullmatch(pattern, cell)}
    assert single
    assert single <= {in_unit(day) for day in days} | (
        {str(day.year) for day in days} if recoding == "readable" else set()
    )
    assert not any(re.search("[0-9]{4}-[0-9]{2}-[0-9]{2}", cell) for cell in cells)


@pytest.mark.parametrize(("format_", "finest"), [("%m/%Y", "2024-03"), ("%Y-Q%q", "2024-Q1"), ("%Y", "2024")])
def test_a_hierarchy_of_dates_covers_what_the_formats_give(format_, finest, tmp_path):
    write = {"%m/%Y": "03/2024", "%Y-Q%q": "2024-Q1", "%Y": "2024"}
    other = {"%m/%Y": "04/1951", "%Y-Q%q": "1951-Q2", "%Y": "1951"}
    frame = pl.DataFrame({"day": [write[format_]] * 4 + [other[format_]] * 4})
    specs, rule = {"day": ColumnSpec(format=format_)}, ht.hierarchy.Dates(("day", "month", "quarter", "year", "decade"))
    asked = {"quasi_identifiers": ["day"], "specs": specs, "hierarchies": {"day": rule}, "method": ht.FullDomain()}
    fine = ht.anonymize(frame, models=[ht.KAnonymity(4)], **asked)
    assert fine.frame["day"].to_list()[:4] == [finest] * 4
    assert {*ht.anonymize(frame, models=[ht.KAnonymity(8)], **asked).frame["day"].to_list()} == {"*"}
