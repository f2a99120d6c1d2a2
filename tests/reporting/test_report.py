"""Reports: what the page shows is what its twin and the library say, and outsiders are told what the file shows."""

import datetime as dt
import json
import re
from dataclasses import replace
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

import hushtable as ht
from command import done, run
from equal_charts import DRAWN
from hushtable.io import frames
from hushtable.release.exposure import ExposureLimit
from hushtable.reporting import inside, outside, released
from hushtable.reporting.document import Quantity, format_share

PEOPLE = ht.datasets.people(600, seed=0)
COLUMNS = ["sex", "birth_date", "nationality"]
OPTIONS = {
    "quasi_identifiers": COLUMNS,
    "sensitive": ["diagnosis"],
    "identifiers": ["name", "email"],
    "models": [ht.KAnonymity(5), ht.DistinctLDiversity(2, "diagnosis")],
    "method": ht.Mondrian(recoding="readable"),
    "roles": "trust",
}


@pytest.fixture(scope="module")
def release() -> ht.Release:
    return ht.anonymize(PEOPLE, **OPTIONS).with_exposure(ExposureLimit())


@pytest.fixture(scope="module")
def starred() -> ht.Release:
    """A release with suppressed records, which the file has as rows of stars."""
    ills = ["flu", "gout", "mumps"]
    few = pl.DataFrame(
        {
            "age": [20 + i % 10 for i in range(300)] + [1000] * 24,
            "town": [f"town {i % 3}" for i in range(300)] + ["elsewhere"] * 24,
            "ill": [ills[(i + (i % 4 == 0)) % 3] for i in range(300)] + ["rare"] * 23 + ["flu"],
            "visit": [i % 7 for i in range(324)],
        }
    )
    models = [ht.KAnonymity(5), ht.DistinctLDiversity(3, "ill")]
    return ht.anonymize(few, quasi_identifiers=["age", "town"], sensitive=["ill"], models=models,
                        suppression_limit=0.2, roles="trust")  # fmt: skip


def test_a_kept_column_by_which_many_are_found_comes_right_behind_what_is_published(release):
    published, found, *_ = ht.report(release).section("summary").blocks
    most = release.exposure.told[0]
    assert (published.tone, found.tone) == ("plain", "careful")
    assert f"finds {most.n_records:,} of {release.exposure.n_records:,} records: make it a quasi" in found.text


def results(release: ht.Release) -> dict[str, object]:
    """One result of every kind that has a report."""
    few = PEOPLE.head(120).select("sex", "nationality", "occupation", "income")
    masked = ht.mask_dependence(few, a=["occupation"], b=["income"], c=["sex"], clusters=4)
    policy = ht.Policy.parse("columns: {sex: quasi-identifier, nationality: quasi-identifier, occupation: sensitive, "
                             "income: sensitive}\nmodels: [k-anonymity: 2]")  # fmt: skip
    return {
        "release": release,
        "masked": masked,
        "tradeoff": ht.masking_tradeoff(few, a=["occupation"], b=["income"], c=["sex"], clusters=[2, 4]),
        "assessment": ht.assess(
            PEOPLE, quasi_identifiers=COLUMNS, sensitive=["diagnosis"], population_size=9_000, tolerance=5
        ),
        "mpuccs": ht.mpuccs(few, few.tail(60), control=few.head(40), n_cols=[1, 2], n_permutations=20),
        "uniques": ht.minimal_uniques(few),
        "keys": ht.minimal_keys(few, error=0.01),
        "comparison": ht.compare(few, policy, k=[2, 3, 5], suppression=[0]),
    }


@pytest.fixture(scope="module")
def reports(release) -> dict[str, ht.Report]:
    made = {name: ht.report(result) for name, result in results(release).items()}
    return {**made, "external": ht.report(release, audience="external")}


KINDS = [
    "release",
    "external",
    "masked",
    "tradeoff",
    "assessment",
    "mpuccs",
    "uniques",
    "keys",
    "comparison",
]


class Page(HTMLParser):
    """What a page holds: its numbers as they are, its texts, and where it points."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.numbers: list[float] = []
        self.texts: list[str] = []
        self.tags: set[str] = set()
        self.points_to: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attributes:
            if tag == "data" and name == "value":
                self.numbers.append(float(value or "nan"))
            if name in ("src", "href", "xlink:href", "action", "data", "poster", "srcset"):
                self.points_to.append(value or "")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def quantities(plain: object) -> list[float]:
    """Return the numbers of a report's dictionary, in order, those of charts left out."""
    if isinstance(plain, dict):
        if plain.get("kind") == "chart":
            return []
        if set(plain) == {"value", "unit"}:
            return [] if plain["value"] is None else [plain["value"]]
        return [each for entry in plain.values() for each in quantities(entry)]
    return [each for entry in plain for each in quantities(entry)] if isinstance(plain, list) else []


def shown(page: str) -> str:
    """Return a page without its pictures and its style."""
    return re.sub(r"<svg.*?</svg>|<style.*?</style>", "", page, flags=re.DOTALL)


def strings(plain: object) -> list[str]:
    """Return the texts of a report's dictionary, without how they are drawn and what charts draw."""
    if isinstance(plain, dict):
        left_out = ("kind", "name", "unit", "tone", "data", "draws", "audience")
        return [each for name, entry in plain.items() if name not in left_out for each in strings(entry)]
    if isinstance(plain, list):
        return [each for entry in plain for each in strings(entry)]
    return [plain] if isinstance(plain, str) else []


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_shows_the_numbers_and_texts_of_its_twin(reports, kind):
    report = reports[kind]
    plain = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    page = Page(report.to_html())
    assert page.numbers == quantities(plain["sections"])
    told = " ".join(" ".join(page.texts).split())
    for text in strings(plain["sections"]):
        assert " ".join(text.split()) in told, text


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_one_small_file_without_scripts(reports, kind):
    text = reports[kind].to_html()
    page = Page(text)
    assert len(text.encode()) < 1_000_000
    assert not {"script", "iframe", "object", "embed", "link", "img"} & page.tags
    assert all(each.startswith("#") for each in page.points_to)
    assert set(re.findall(r"https?://[^\"' <]+", text)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert not re.findall(r"url\((?!#)|@import", text)
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert {each[1:] for each in page.points_to if each != "#"} <= set(ids)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_report_is_the_same_page(reports, kind):
    first = reports[kind].to_html()
    DRAWN.clear()
    assert reports[kind].to_html() == first


def test_the_figures_are_the_librarys(release):
    report = ht.report(release)
    verdict, quality, exposure = release.verify(), release.quality, release.exposure
    before = ht.assess(PEOPLE, quasi_identifiers=COLUMNS, sensitive=["diagnosis"])
    after = ht.assess(release.frame, quasi_identifiers=COLUMNS, sensitive=["diagnosis"])
    assert report.facts == release.facts
    assert f"of at least {verdict.smallest_class} records" in text_of(report, "summary")
    assert f"set-NCP {quality.set_ncp:.4f}" in text_of(report, "summary")
    risk = rows(report, "risk_after", "Risk")
    assert risk["smallest class"] == [before.smallest_class, after.smallest_class]
    assert risk["average risk"] == [before.average_risk, after.average_risk]
    assert risk["records in classes smaller than 5"] == [before.records_below[5], after.records_below[5]]
    done = rows(report, "done", "Columns")
    assert {name: done[name][3] for name in COLUMNS} == quality.by_column
    utility = release.utility()
    told = rows(report, "utility", "Columns")
    assert {name: cells[0] for name, cells in told.items()} == {each.name: each.distance for each in utility.columns}
    who_knows = rows(report, "told", "Who also knows …")
    assert who_knows["diagnosis"][0] == next(each.n_records for each in exposure.told if each.columns == ("diagnosis",))
    found = ht.find_quasi_identifiers(PEOPLE)
    told = rows(report, "data", "Columns, their roles, and what a look at them says")
    assert {name: cells[2:4] for name, cells in told.items()} == {
        each.name: [each.n_distinct, each.n_missing] for each in found.columns
    }


def blocks(report: ht.Report, section: str, kind: str) -> list:
    return [each for each in report.section(section).blocks if each.kind == kind]


def rows(report: ht.Report, section: str, caption: str) -> dict[str, list]:
    """Return a table of a report by its first cell, numbers as they are."""
    (table,) = (each for each in blocks(report, section, "table") if each.caption == caption)
    return {row[0]: [cell.value if isinstance(cell, Quantity) else cell for cell in row[1:]] for row in table.rows}


def test_a_file_and_a_release_in_memory_tell_the_same(release, tmp_path):
    path = tmp_path / "out.csv"
    release.write(path)
    source = tmp_path / "people.csv"
    PEOPLE.write_csv(source)
    of_file = ht.report(path, original=source)
    of_memory = ht.report(release, file=path)
    for name in ("summary", "risk_before", "risk_after", "tests", "unprotected", "done", "told"):
        assert strip(of_file.section(name)) == strip(of_memory.section(name)), name


def strip(section) -> list:
    """Return what a section says, without charts: a file has no order of columns' values that a dataframe may have."""
    plain = json.loads(json.dumps(section.to_dict()))
    return [each for each in plain["blocks"] if each["kind"] != "chart" and each.get("caption") != _TWO]


_TWO = "Two published records, of the largest classes"


def test_without_the_original_nothing_is_said_of_it(release, tmp_path):
    release.write(tmp_path / "out.parquet")
    report = ht.report(tmp_path / "out.parquet")
    for name in ("risk_before", "utility"):
        (told,) = report.section(name).blocks
        assert told.text == inside.NO_ORIGINAL
    assert "after" in blocks(report, "risk_after", "table")[0].titles
    assert "before" not in blocks(report, "risk_after", "table")[0].titles


@pytest.mark.parametrize("which", ["release", "starred"])
def test_outsiders_are_told_nothing_of_what_the_file_does_not_show(which, request):
    """Every fact but the few that an external manifest holds becomes a secret: none is in the report."""
    made = released.from_release(request.getfixturevalue(which))
    kept = ("recoding", "publish", "pseudonymized", "fresh", "accepted", "replaces_earlier")
    secret = replace(
        made,
        facts={
            **{name: fact if name in kept else _secret(fact) for name, fact in made.facts.items()},
            "policy": {"columns": "SECRET", "accept": {"sex": "SECRET"}},
        },
        columns=tuple({**each, "cells": "SECRET", "labels": "SECRET", "left_out": "SECRET"} for each in made.columns),
        original=frames.read(pl.DataFrame({name: ["SECRET"] for name in PEOPLE.columns})),
        inputs=(Path("SECRET"),),
    )
    told = outside.sections(secret)
    assert "SECRET" not in str([each.to_dict() for each in told])
    assert [each.to_dict() for each in told] == [each.to_dict() for each in outside.sections(made)]


def _secret(fact: object) -> object:
    if isinstance(fact, dict):
        return {name: _secret(each) for name, each in fact.items()}
    return "SECRET"


def test_the_list_of_what_outsiders_are_not_told(starred, tmp_path):
    assert starred.n_suppressed == 30
    assert not starred.drops_suppressed
    path = tmp_path / "out.csv"
    policy = ht.Policy.parse("columns: {age: quasi-identifier, visit: other}\nmodels: [k-anonymity: 5]\n"
                             "accept: {visit: a very good reason}")  # fmt: skip
    starred.write(path, external=True, policy=policy.to_dict())
    report = ht.report(starred, audience="external", file=path, policy=policy)
    for text in (shown(report.to_html()), json.dumps(report.to_dict())):
        text = re.sub("[0-9a-f]{64}", "", text)
        for number in (starred.loss, starred.quality.set_ncp, starred.quality.discernibility, starred.trace.seconds):
            assert str(number) not in text
            assert f"{number:.4g}" not in text
        assert not re.search(r"\b30\b", text)
        for word in ("a very good reason", "seed", "bound", "set-NCP", "objective", "trace", "knee", "name and email"):
            assert word not in text, word
        assert "elsewhere" not in text
        assert "[20, " not in text
    names = {each.name for each in report.sections}
    assert names == {"summary", "asked", "data", "risk_after", "tests", "unprotected", "reproduce", "decision"}


def test_shares_for_outsiders_tell_no_group_of_fewer_than_eleven(starred):
    report = ht.report(starred, audience="external")
    (table,) = (each for each in blocks(report, "risk_after", "table"))
    (chart,) = blocks(report, "risk_after", "chart")
    records = starred.partition.n_records
    for (_, share), drawn in zip(table.rows, chart.data["shares"]["published"], strict=True):
        assert share.value == drawn == round(drawn, 2)
        assert share.value * records >= 10


def test_a_release_that_does_not_hold_what_it_claims_is_not_told_of(release, tmp_path):
    claim = replace(release.claim, models=(ht.KAnonymity(500),))
    broken = replace(release, claim=claim)
    with pytest.raises(ht.VerificationError, match="does not hold"):
        ht.report(broken, audience="external")
    told = ht.report(broken)
    assert told.holds is False
    assert "does NOT hold" in told.to_html()


def test_what_was_not_judged_is_not_told_to_outsiders(release):
    made = released.from_release(release)
    unsure = replace(made, verdict=replace(made.verdict, unchecked={made.verdict.conditions[0]: "the population"}))
    with pytest.raises(ht.VerificationError, match="could be judged"):
        outside.sections(unsure)
    assert "not all that the table claims could be judged" in str(inside.sections(unsure)[0].to_dict())


@pytest.mark.parametrize("audience", ["internal", "external"])
def test_names_are_escaped(audience):
    odd = ["<script>alert(1)</script>", "a\"b'c&d", "Größe 🎈 $x$"]
    people = pl.DataFrame({name: [1, 1, 2, 2] * 5 for name in odd})
    made = ht.anonymize(people, quasi_identifiers=odd[:2], sensitive=odd[2:], models=[ht.KAnonymity(2)], roles="trust")
    text = ht.report(made, audience=audience, title="<b>bold</b>").to_html()
    assert "<script" not in text
    assert "<b>" not in text
    assert all(escape(name) in text for name in odd)
    assert odd[0] in unescape(text)


def test_a_report_is_written_whole_and_replaces_nothing_unasked(release, tmp_path):
    report = ht.report(release)
    page, twin = report.write(tmp_path / "r.html")
    assert json.loads(twin.read_text(encoding="utf-8"))["schema_version"] == 2
    assert page.read_text(encoding="utf-8") == report.to_html()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.html", "r.json"]
    with pytest.raises(ht.InputError, match="exists"):
        report.write(tmp_path / "r.html")
    report.write(tmp_path / "r.html", overwrite=True)
    with pytest.raises(ht.InputError, match="ending"):
        report.write(tmp_path / "r.pdf")


def test_an_input_is_never_overwritten(tmp_path):
    source = tmp_path / "people.json"
    PEOPLE.head(50).write_csv(tmp_path / "people.csv")
    (tmp_path / "people.csv").rename(source.with_suffix(".csv"))
    made = ht.anonymize(source.with_suffix(".csv"), **OPTIONS)
    made = replace(made, inputs=(source,))
    source.write_text("{}")
    with pytest.raises(ht.InputError, match="input"):
        ht.report(replace(made, inputs=(source.resolve(),))).write(tmp_path / "people.html", overwrite=True)
    assert source.read_text() == "{}"


@pytest.mark.parametrize(
    ("result", "options", "message"),
    [
        ("release", {"audience": "public"}, "audience"),
        ("release", {"original": PEOPLE}, "original was given"),
        ("assessment", {"audience": "external"}, "no external form"),
        ("comparison", {"audience": "external"}, "no external form"),
        ("assessment", {"policy": "p.yaml"}, "no effect"),
        ("masked", {"policy": "p.yaml"}, "no effect"),
    ],
)
def test_what_means_nothing_is_refused(release, result, options, message):
    with pytest.raises(ht.InputError, match=message):
        ht.report(results(release)[result], **options)


def test_there_is_no_report_of_anything_else():
    with pytest.raises(ht.InputError, match="no report of a DataFrame"):
        ht.report(PEOPLE)


def test_a_masked_table_has_an_external_form(release):
    masked = results(release)["masked"]
    report = ht.report(masked, audience="external")
    text = report.to_html()
    assert "hides a correlation, not people" in text
    assert "stars" not in shown(text)
    assert "guessed" not in shown(text)


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"a": [1], "s": ["x"]}),
        pl.DataFrame({"a": [1, 1, 1], "s": ["x", "x", "x"]}),
        pl.DataFrame({"a": [None, None, 2, 2], "s": [None, "y", "x", None]}),
        pl.DataFrame({"a": ["x"] * 30, "s": list(range(30))}),
    ],
)
def test_small_and_odd_tables_are_told_of(table):
    with_k = ht.KAnonymity(1 if len(table) == 1 else 2)
    made = ht.anonymize(table, quasi_identifiers=["a"], sensitive=["s"], models=[with_k], roles="trust")
    for audience in ("internal", "external"):
        told = ht.report(made, audience=audience)
        json.dumps(told.to_dict(), allow_nan=False)
        assert "NaN" not in told.to_html()
        assert told.holds


def test_persons_are_counted_as_persons():
    visits = pl.DataFrame(
        {"who": [1, 1, 2, 2, 3, 3, 4, 4], "age": [30, 30, 31, 31, 50, 50, 51, 51], "ill": list("abcdabcd")}
    )
    made = ht.anonymize(visits, quasi_identifiers=["age"], sensitive=["ill"], models=[ht.KAnonymity(2)], person="who",
                        identifiers=["who"], roles="trust")  # fmt: skip
    told = ht.report(made)
    assert "of at least 2 persons" in str(told.section("summary").to_dict())


def text_of(report: ht.Report, *names: str) -> str:
    """Return the texts of some sections."""
    return " ".join(text for name in names for text in strings(json.loads(json.dumps(report.section(name).to_dict()))))


ALONE = pl.DataFrame({"job": [f"job {i}" for i in range(40)], "ill": ["flu", "gout"] * 20})


@pytest.mark.parametrize(
    "options",
    [
        {"models": [ht.TCloseness(0.9, "ill")], "sensitive": ["ill"]},
        {"models": [ht.KMap(2)], "population": pl.concat([ALONE, ALONE])},
    ],
)
def test_where_a_record_may_stand_alone_nobody_is_told_otherwise(options):
    report = ht.report(ht.anonymize(ALONE, quasi_identifiers=["job"], roles="trust", **options))
    told = text_of(report, "summary", "tests", "risk_after")
    assert "40 of 40 records stand alone" in told
    assert "never one" not in told
    assert "job 1" not in json.dumps(report.to_dict())


def test_what_is_judged_beside_other_tables_is_said_to_be():
    people = pl.concat([ALONE, ALONE])
    made = ht.anonymize(ALONE, quasi_identifiers=["job"], models=[ht.KMap(2)], population=people, roles="trust")
    assert "from the published table and the population" in text_of(ht.report(made, audience="external"), "summary")
    few = pl.DataFrame({"a": [1, 1, 2, 2, 3, 3]})
    made = ht.anonymize(few, quasi_identifiers=["a"], models=[ht.Match1K(2)], method=ht.MinGen(), roles="trust")
    beside = {"internal": "published table and its original", "external": "published table beside the original one"}
    for audience, words in beside.items():
        told = text_of(ht.report(made, audience=audience), "summary", "tests")
        assert words in told
        assert "may meet one record" in told


def test_every_sensitive_column_without_a_condition_is_named():
    made = ht.anonymize(PEOPLE, **{**OPTIONS, "sensitive": ["diagnosis", "income"]})
    told = text_of(ht.report(made), "tests")
    assert "Judged from the published cells: distinct-l-diversity" in told
    assert "Of income, no condition was asked." in told


@pytest.fixture(scope="module")
def of_persons() -> tuple[pl.DataFrame, ht.Release]:
    """Persons with 20 records each, and a release that does not say whose they are."""
    visits = pl.DataFrame(
        [(f"p{p}", 20 + p % 8, f"town {p % 3}", "abc"[visit % 3]) for p in range(60) for visit in range(20)],
        schema=["id", "age", "town", "ill"],
        orient="row",
    )
    made = ht.anonymize(visits, quasi_identifiers=["age", "town"], sensitive=["ill"], person="id", identifiers=["id"],
                        models=[ht.KAnonymity(3)], roles="trust")  # fmt: skip
    assert "id" not in made.frame.columns
    return visits, made


def test_persons_that_are_not_published_are_counted_as_the_verdict_does(of_persons):
    report, verdict = ht.report(of_persons[1]), of_persons[1].verify()
    risk = {name: cells[-1] for name, cells in rows(report, "risk_after", "Risk").items()}
    assert risk["smallest class"] == verdict.smallest_class == 3
    assert risk["highest risk"] == 1 / 3
    assert risk["average risk"] == verdict.average_risk
    assert not blocks(report, "utility", "chart")


def test_persons_that_nobody_can_count_are_not_guessed_at(of_persons, tmp_path):
    visits, made = of_persons
    made.write(tmp_path / "out.csv")
    report = ht.report(tmp_path / "out.csv")
    told = text_of(report, "summary", "tests")
    assert "That they are several persons' only the publisher could count." in told
    assert "of at least 3 persons" not in told
    assert not blocks(report, "risk_after", "table")
    outside = text_of(ht.report(tmp_path / "out.csv", audience="external"), "summary", "tests")
    assert "only its publisher could judge that" in outside
    known = ht.report(tmp_path / "out.csv", original=visits)
    assert "of at least 3 persons" in text_of(known, "summary")


def test_what_is_rounded_away_is_not_said_to_be_nothing():
    many = pl.DataFrame({"a": ["x"] * 5_000 + ["y"] * 12})
    report = ht.report(ht.anonymize(many, quasi_identifiers=["a"], models=[ht.KAnonymity(5)], roles="trust"),
                       audience="external")  # fmt: skip
    (table,) = blocks(report, "risk_after", "table")
    assert [share for _, share in table.rows] == ["under 1 %", "over 99 %"]


def test_what_is_no_number_is_not_shown_as_little():
    assert format_share(float("nan")) == "not known"
    assert Quantity(float("nan"), "share").shown == ""


def test_a_masked_table_promises_outsiders_no_more_than_it_holds(release):
    told = text_of(ht.report(results(release)["masked"], audience="external"), "summary", "asked")
    assert "coarsened" not in told
    assert "whom it protects" not in told


def test_signs_that_nobody_sees_turn_nothing_around():
    name = "\u202eevil\x1b[31m"
    few = pl.DataFrame({name: [1, 1, 2, 2]})
    page = ht.report(ht.anonymize(few, quasi_identifiers=[name], models=[ht.KAnonymity(2)], roles="trust")).to_html()
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "evil [31m" in page


@pytest.mark.parametrize("of", ["file", "memory"])
@pytest.mark.parametrize("beside", ["manifest", "codebook"])
def test_no_report_goes_over_what_it_was_made_from(release, tmp_path, of, beside):
    path = tmp_path / "out.csv"
    release.write(path)
    report = ht.report(path) if of == "file" else ht.report(release, file=path)
    with pytest.raises(ht.InputError, match="is the input"):
        report.write(tmp_path / f"out.csv.{beside}.html", overwrite=True)


def test_dropped_records_count_among_those_of_the_input(tmp_path):
    ills = ["flu", "gout"] * 100 + ["rare"] * 3
    few = pl.DataFrame({"a": ["x"] * 100 + ["y"] * 100 + ["q1", "q2", "q3"], "ill": ills})
    models = [ht.KAnonymity(5), ht.DistinctLDiversity(2, "ill")]
    made = ht.anonymize(few, quasi_identifiers=["a"], sensitive=["ill"], models=models, suppression_limit=0.2,
                        method=ht.Mondrian(recoding="readable"), roles="trust")  # fmt: skip
    assert made.drops_suppressed
    made.write(tmp_path / "out.csv")
    for report in (ht.report(made), ht.report(tmp_path / "out.csv")):
        assert "203 records became 2 classes" in text_of(report, "summary")


_SHIFTED = {"action": "shift", "columns": ["day"], "within": "8W", "window": ["2024-02-19", "2024-12-31"]}


@pytest.mark.parametrize(
    ("ending", "entry", "value"),
    [
        ("manifest", "n_suppressed", "x"),
        ("manifest", "removed", None),
        ("manifest", "accepted", [1]),
        ("manifest", "exposure", {"a": 1}),
        ("manifest", "quality", 5),
        ("manifest", "trace", {"a": 1}),
        ("manifest", "policy", [1]),
        ("manifest", "timelines", {"action": "shift"}),
        ("manifest", "timelines", {**_SHIFTED, "columns": 5}),
        ("manifest", "timelines", {**_SHIFTED, "window": ["2024-01-01"]}),
        ("manifest", "timelines", {**_SHIFTED, "n_records": "many"}),
        ("manifest", "timelines", {**_SHIFTED, "intervals": []}),
        ("manifest", "timelines", {**_SHIFTED, "curve": {"n_offsets": 8}}),
        ("codebook", "cells", "x"),
        ("codebook", "cells", {"any": 0}),
    ],
)
def test_what_was_edited_beside_a_release_is_refused_in_words(release, tmp_path, ending, entry, value):
    path = tmp_path / "out.csv"
    release.write(path)
    edited = tmp_path / f"out.csv.{ending}.json"
    entries = json.loads(edited.read_text(encoding="utf-8"))
    (entries if ending == "manifest" else entries["columns"][0])[entry] = value
    edited.write_text(json.dumps(entries), encoding="utf-8")
    with pytest.raises(ht.InputError, match=r"cannot be read|not the codebook"):
        ht.report(path)


def test_the_file_of_a_masked_table_has_an_external_report_only(release, tmp_path):
    results(release)["masked"].write(tmp_path / "out.csv", tmp_path / "values.csv")
    with pytest.raises(ht.InputError, match="is a masked or perturbed table"):
        ht.report(tmp_path / "out.csv")
    assert "4 clusters of equal size" in text_of(ht.report(tmp_path / "out.csv", audience="external"), "risk_after")


def test_a_name_that_is_no_text_is_written_nevertheless(release, tmp_path):
    page, twin = ht.report(release, title="a\ud800b").write(tmp_path / "r.html")
    assert json.loads(twin.read_text(encoding="utf-8"))["title"] == "a\ud800b"
    assert r"<h1>a\ud800b</h1>" in page.read_text(encoding="utf-8")


def test_insiders_too_are_told_that_an_earlier_release_is_replaced(release):
    made = released.from_release(release)
    facts = {**made.facts, "replaces_earlier": True}
    assert "it replaces the earlier release" in str(inside.sections(replace(made, facts=facts))[0].to_dict())


def test_what_is_written_in_other_forms_is_reported_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    born = [dt.date(1940, 1, 1) + dt.timedelta(days=317 * (i % 60)) for i in range(120)]
    people = {
        "number": [f"V{i % 60}" for i in range(120)],
        "born": [each.strftime("%d.%m.%Y") for each in born],
        "sex": ["mw"[i % 2] for i in range(120)],
    }
    pl.DataFrame(people).write_csv("in.csv")
    Path("key").write_text("0123456789abcdef0123456789abcdef")
    Path("policy.yaml").write_text(
        "columns:\n  number: {role: identifier, action: pseudonym}\n"
        "  born: {role: quasi-identifier, kind: date, format: '%d.%m.%Y'}\n  sex: quasi-identifier\n"
        "person: number\nmodels: [k-anonymity: 3]\n"
    )
    done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv", "--key-file", "key", "--report", "in.html")
    told = json.loads(Path("in.json").read_text())
    assert told["holds"] is True
    # From the file alone, the same.
    done("report", "out.csv", "--original", "in.csv", "-p", "policy.yaml", "-o", "again.html")


@pytest.mark.parametrize(
    ("error", "code"), [(ht.InputError("odd"), 2), (ht.VerificationError("odd"), 2), (KeyError(), 70)]
)
def test_a_report_that_fails_is_told_apart_from_its_release(tmp_path, monkeypatch, error, code):
    def fail(*_, **__):
        raise error

    pl.DataFrame({"a": ["x", "y"] * 6}).write_csv(tmp_path / "in.csv")
    monkeypatch.setattr("hushtable.reporting.report", fail)
    out, page = tmp_path / "out.csv", tmp_path / "r.html"
    for as_json in (False, True):
        options = ("-o", out, "--report", page, "--force", *["--json"] * as_json)
        outcome = run("anonymize", tmp_path / "in.csv", "--qi", "a", "--k", "2", *options)
        assert outcome.code == code
        assert out.is_file()
        if as_json:
            assert json.loads(outcome.out)["verified"]["passed"] is True
        else:
            assert outcome.out.startswith(f"Wrote {out}")
        if code == 2:
            assert "is written and verified; what was asked for besides failed: odd" in outcome.err
