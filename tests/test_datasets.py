"""The made-up people table: its shape, its traps and how its columns depend on each other."""

import numpy as np
import polars as pl
import pytest

from hushtable.datasets import PEOPLE_ROLES, people, ratings, visits

SCHEMA = {
    "name": pl.String,
    "email": pl.String,
    "birth_date": pl.Date,
    "sex": pl.String,
    "postcode": pl.String,
    "education": pl.Enum(
        ["none", "primary", "lower secondary", "upper secondary", "bachelor", "master", "doctorate"],
    ),
    "marital_status": pl.String,
    "occupation": pl.String,
    "nationality": pl.String,
    "income": pl.Int64,
    "diagnosis": pl.String,
    "visit_date": pl.Date,
    "blood_pressure": pl.Float64,
}
WITH_MISSING = {"email", "education", "occupation", "nationality", "income", "blood_pressure"}


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return people()


@pytest.fixture(scope="module")
def with_age(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(age=2025 - pl.col("birth_date").dt.year())


def share(frame: pl.DataFrame, condition: pl.Expr) -> float:
    return frame.filter(condition).height / frame.height


def test_same_n_and_seed_give_the_same_table() -> None:
    assert people(500, seed=7).equals(people(500, seed=7))


def test_another_seed_gives_another_table() -> None:
    assert not people(500, seed=7).equals(people(500, seed=8))


def test_default_is_thirty_thousand_rows_with_seed_0(table: pl.DataFrame) -> None:
    assert table.height == 30_000
    assert table.equals(people(30_000, seed=0))


@pytest.mark.parametrize("n", [0, 1, 2, 100])
def test_any_size_has_n_rows_and_the_same_schema(n: int) -> None:
    frame = people(n)
    assert frame.height == n
    assert frame.schema == pl.Schema(SCHEMA)
    assert frame.columns == list(SCHEMA)


@pytest.mark.parametrize("seed", range(40))
def test_one_row_works_whatever_is_missing_in_it(seed: int) -> None:
    assert people(1, seed=seed).schema == pl.Schema(SCHEMA)


def test_negative_n_is_refused_with_its_value() -> None:
    with pytest.raises(ValueError, match=r"n must be a number of rows, 0 or more, got -3"):
        people(-3)


def test_roles_cover_the_columns_in_order(table: pl.DataFrame) -> None:
    assert list(PEOPLE_ROLES) == table.columns
    assert set(PEOPLE_ROLES.values()) == {"identifier", "quasi-identifier", "sensitive", "other"}


def test_roles_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        PEOPLE_ROLES["name"] = "other"  # type: ignore[index]


def test_a_few_percent_are_missing_in_the_stated_columns_only(table: pl.DataFrame) -> None:
    for column in table.columns:
        missing = table[column].null_count() / table.height
        if column in WITH_MISSING:
            assert 0.01 < missing < 0.07, column
        else:
            assert missing == 0, column


def test_emails_are_unique_and_plain_ascii(table: pl.DataFrame) -> None:
    emails = table["email"].drop_nulls()
    assert emails.n_unique() == len(emails)
    assert emails.str.contains(r"^[a-z]+\.[a-z]+\d+@example\.(com|org|net)$").all()


def test_emails_do_not_tell_the_row_number(table: pl.DataFrame) -> None:
    numbers = table.select(
        number=pl.col("email").str.extract(r"(\d+)@").cast(pl.Int64), row=pl.int_range(pl.len(), dtype=pl.Int64)
    )
    assert abs(numbers.drop_nulls().select(pl.corr("number", "row")).item()) < 0.05


def test_names_are_two_words_and_repeat(table: pl.DataFrame) -> None:
    assert (table["name"].str.split(" ").list.len() == 2).all()
    assert table["name"].n_unique() < table.height


def test_given_names_depend_on_sex(table: pl.DataFrame) -> None:
    given = table.with_columns(pl.col("name").str.split(" ").list.first())
    by_sex = {sex: set(given.filter(pl.col("sex") == sex)["name"]) for sex in ("female", "male", "diverse")}
    assert by_sex["female"].isdisjoint(by_sex["male"])
    assert by_sex["diverse"] & by_sex["female"]
    assert by_sex["diverse"] & by_sex["male"]


def test_diverse_is_rare(table: pl.DataFrame) -> None:
    assert set(table["sex"]) == {"female", "male", "diverse"}
    assert 0 < share(table, pl.col("sex") == "diverse") < 0.02


def test_ages_run_from_17_to_95_and_thin_out(with_age: pl.DataFrame) -> None:
    assert with_age["age"].min() == 17
    assert with_age["age"].max() == 95
    assert share(with_age, pl.col("age") >= 85) < share(with_age, pl.col("age").is_between(50, 60)) / 3


def test_visits_are_in_2024(table: pl.DataFrame) -> None:
    assert (table["visit_date"].dt.year() == 2024).all()


def test_postcodes_have_five_digits_and_some_lead_with_zero(table: pl.DataFrame) -> None:
    postcodes = table["postcode"]
    assert postcodes.str.contains(r"^\d{5}$").all()
    assert 0.1 < postcodes.str.starts_with("0").mean() < 0.6
    assert postcodes.n_unique() == 120
    assert postcodes.str.slice(0, 2).n_unique() == 12


def test_postcodes_and_nationalities_are_skewed(table: pl.DataFrame) -> None:
    codes = table["postcode"].value_counts(sort=True)["count"]
    assert codes[0] > 20 * codes[-1]
    countries = table["nationality"].drop_nulls().value_counts(sort=True)["count"]
    assert len(countries) == 25
    assert countries[0] > 0.7 * countries.sum()


def test_being_at_home_is_an_occupation_and_not_null(table: pl.DataFrame) -> None:
    assert table["occupation"].drop_nulls().n_unique() == 14
    assert share(table, pl.col("occupation") == "at home") > 0.1
    assert table["occupation"].null_count() < table.filter(pl.col("occupation") == "at home").height


def test_occupation_depends_on_age_and_education(with_age: pl.DataFrame) -> None:
    known = with_age.drop_nulls(["occupation", "education"])
    not_working = pl.col("occupation") == "at home"
    working_age = pl.col("age").is_between(25, 66)
    assert share(known.filter(pl.col("age") >= 67), not_working) > 0.8
    assert share(known.filter(pl.col("age") < 20), not_working) > 0.6
    assert share(known.filter(working_age), not_working) < 0.2
    physicians = known.filter(pl.col("occupation") == "physician")
    assert physicians.height > 0
    assert (physicians["education"] >= "bachelor").all()


def test_education_depends_on_age(with_age: pl.DataFrame) -> None:
    teens = with_age.filter(pl.col("age") < 20)["education"].drop_nulls()
    assert (teens <= "upper secondary").all()
    assert "doctorate" in with_age.filter(pl.col("age") >= 25)["education"]


def test_marital_status_depends_on_age(with_age: pl.DataFrame) -> None:
    assert share(with_age.filter(pl.col("age") < 20), pl.col("marital_status") == "single") > 0.9
    widowed = pl.col("marital_status") == "widowed"
    old, younger = with_age.filter(pl.col("age") >= 67), with_age.filter(pl.col("age") < 67)
    assert share(old, widowed) > 5 * share(younger, widowed)


def test_income_is_positive_and_rounded_to_100(table: pl.DataFrame) -> None:
    incomes = table["income"].drop_nulls()
    assert (incomes > 0).all()
    assert (incomes % 100 == 0).all()
    assert incomes.mean() > incomes.median()


def test_income_increases_with_education(with_age: pl.DataFrame) -> None:
    working = with_age.drop_nulls(["education", "income"]).filter(pl.col("age").is_between(25, 66))
    medians = working.group_by("education").agg(pl.col("income").median()).sort("education")["income"]
    assert len(medians) == 7
    assert medians.is_sorted()


def test_income_depends_on_occupation(table: pl.DataFrame) -> None:
    medians = dict(table.group_by("occupation").agg(pl.col("income").median()).iter_rows())
    assert medians["at home"] < medians["cleaner"] < medians["clerk"] < medians["physician"]


def test_diagnoses_include_codes_that_look_like_numbers(table: pl.DataFrame) -> None:
    assert table["diagnosis"].n_unique() == 20
    assert {"E11", "J45", "I10", "1E10"} <= set(table["diagnosis"])


def test_diagnosis_depends_on_age_and_sex(with_age: pl.DataFrame) -> None:
    hypertension = pl.col("diagnosis") == "I10"
    old, young = with_age.filter(pl.col("age") >= 67), with_age.filter(pl.col("age") < 40)
    assert share(old, hypertension) > 4 * share(young, hypertension)
    assert with_age.filter((pl.col("sex") == "female") & (pl.col("diagnosis") == "N40")).is_empty()
    assert with_age.filter((pl.col("sex") == "male") & (pl.col("diagnosis") == "N80")).is_empty()


def test_blood_pressure_has_one_decimal_and_rises_with_age(with_age: pl.DataFrame) -> None:
    known = with_age.drop_nulls("blood_pressure")
    assert (known["blood_pressure"].round(1) == known["blood_pressure"]).all()
    assert known.select(pl.corr("age", "blood_pressure")).item() > 0.4


def test_ratings_are_the_same_for_the_same_seed() -> None:
    assert ratings(50, 20, seed=3).equals(ratings(50, 20, seed=3))
    assert not ratings(50, 20, seed=3).equals(ratings(50, 20, seed=4))
    assert ratings(0).schema == ratings(5).schema


def test_few_items_have_most_ratings_and_nobody_rates_twice_on_a_day() -> None:
    frame = ratings(600, 200, seed=1)
    assert frame["user_id"].n_unique() == 600
    assert frame.unique(["user_id", "item", "date"]).height == frame.height
    assert frame["rating"].is_between(1, 5).all()
    by_item = frame["item"].value_counts()["count"].sort(descending=True)
    assert by_item[:20].sum() > 0.4 * frame.height


def test_a_few_dated_ratings_find_nearly_everybody() -> None:
    """The source's sentence, in shape: the more ratings are known, the more of the people are alone with them."""
    frame = ratings(600, 200, seed=1)
    held = {who: rows for (who,), rows in frame.select("user_id", "item", "date").group_by("user_id")}
    rng = np.random.default_rng(0)
    found = []
    for n in (1, 2, 8):
        able = [{*rows.select("item", "date").rows()} for rows in held.values() if rows.height >= n]
        known = [{sorted(each)[i] for i in rng.choice(len(each), n, replace=False)} for each in able[:100]]
        found.append(np.mean([sum(each <= other for other in able) == 1 for each in known]))
    assert found[0] < found[1] <= found[2]
    assert found[2] >= 0.99


def test_ratings_of_no_item_are_refused() -> None:
    with pytest.raises(ValueError, match="got 5 and 0"):
        ratings(5, 0)


def test_visits_are_texts_as_a_german_system_writes_them() -> None:
    table = visits(400, seed=2)
    assert table.equals(visits(400, seed=2))
    assert not table.equals(visits(400, seed=3))
    assert set(table.dtypes) == {pl.String}
    assert visits(0).columns == table.columns
    assert table.null_count().sum_horizontal().item() == 0
    written = {
        "Geburtsdatum": r"^\d\d\.\d\d\.\d{4}$",
        "PLZ": r"^\d{5}$",
        "Größe": r"^[12],\d\d$",
        "Aufnahmezeit": r"^[012]\d:[0-5]\d$",
        "Hauptdiagnose": r"^[A-Z]\d\d(\.\d+)?$",
        "CRP": r"^\d+,\d$",
    }
    for name, pattern in written.items():
        assert table[name].str.contains(pattern).all(), name
    patients = table.select("Patientennummer", "Name", "Geburtsdatum", "PLZ").unique()
    assert patients.height == table["Patientennummer"].n_unique() < 400
    with pytest.raises(ValueError, match="got -1"):
        visits(-1)
