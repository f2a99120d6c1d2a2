"""Worked examples of the papers, what other implementations get wrong, and the figures to beat on Adult."""

import polars as pl
import pytest

import hushtable as ht
from hushtable import DistinctLDiversity, InfeasibleError, KAnonymity, Mondrian

METHODS = pytest.mark.parametrize(
    "method",
    [Mondrian(), Mondrian(recoding="cut"), Mondrian(cut="median"), Mondrian(cut="median", recoding="cut")],
    ids=["gain tight", "gain cut", "median tight", "median cut"],
)

# LeFevre, DeWitt, Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006, figure 1.
PATIENTS = pl.DataFrame(
    {
        "age": [25, 25, 26, 27, 27, 28],
        "sex": ["Male", "Female", "Male", "Male", "Female", "Male"],
        "zipcode": [53711, 53712, 53711, 53710, 53712, 53711],
        "disease": ["Flu", "Hepatitis", "Bronchitis", "Broken Arm", "AIDS", "Hang Nail"],
    }
)
VOTERS = pl.DataFrame(
    {
        "name": ["Ahmed", "Brooke", "Claire", "Dave", "Evelyn"],
        "age": [25, 28, 31, 19, 40],
        "sex": ["Male", "Female", "Female", "Male", "Female"],
        "zipcode": [53711, 55410, 90210, 2174, 2237],
    }
)
KNOWN = ["age", "sex", "zipcode"]

# Sweeney, "k-anonymity: a model for protecting privacy", IJUFKS 10(5), 2002, figure 2: k = 2.
SWEENEY = pl.DataFrame(
    [
        ("Black", "1965", "m", "0214*", "short breath"),
        ("Black", "1965", "m", "0214*", "chest pain"),
        ("Black", "1965", "f", "0213*", "hypertension"),
        ("Black", "1965", "f", "0213*", "hypertension"),
        ("Black", "1964", "f", "0213*", "obesity"),
        ("Black", "1964", "f", "0213*", "chest pain"),
        ("White", "1964", "m", "0213*", "chest pain"),
        ("White", "1964", "m", "0213*", "obesity"),
        ("White", "1964", "m", "0213*", "short breath"),
        ("White", "1967", "m", "0213*", "chest pain"),
        ("White", "1967", "m", "0213*", "chest pain"),
    ],
    schema=["race", "birth", "gender", "zip", "problem"],
    orient="row",
)
SWEENEY_KNOWN = ["race", "birth", "gender", "zip"]

ADULT = ["age", "type_employer", "education_num", "marital", "occupation", "race", "sex", "country"]
ADULT_KIND = {"age": pl.Int64, "education_num": pl.Int64}
ARX = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]


def column(values, k, method=None, dtype=None):
    """Protect a table of one column and return what it publishes."""
    frame = pl.DataFrame({"x": pl.Series(values, dtype=dtype)})
    release = ht.anonymize(frame, quasi_identifiers=["x"], models=[KAnonymity(k)], method=method or Mondrian())
    assert release.verify().passed
    return release.frame["x"].to_list()


def test_mondrian_patients_fall_into_the_classes_of_figure_3():
    # Sex gains most: 6 of 6 records become exact. The women then are two, and the
    # four men are cut between 26 and 27, the only place that leaves two on each side.
    release = ht.anonymize(PATIENTS, quasi_identifiers=KNOWN, models=[KAnonymity(2)])
    assert release.frame.rows() == [
        ("[25, 26]", "Male", "53711", "Flu"),
        ("[25, 27]", "Female", "53712", "Hepatitis"),
        ("[25, 26]", "Male", "53711", "Bronchitis"),
        ("[27, 28]", "Male", "[53710, 53711]", "Broken Arm"),
        ("[25, 27]", "Female", "53712", "AIDS"),
        ("[27, 28]", "Male", "[53710, 53711]", "Hang Nail"),
    ]
    # Ages lose 1/3, 2/3 and 1/3 of their width in two records each, ZIP codes 1/2 in two, sex nothing.
    assert release.quality.by_column == pytest.approx({"age": 4 / 9, "sex": 0.0, "zipcode": 1 / 6})
    assert release.loss == pytest.approx(11 / 54)
    assert release.quality.discernibility == 3 * 2 * 2


def test_mondrian_patients_lose_less_than_a_single_dimensional_recoding():
    # Figure 2: one interval of ages and two of ZIP codes for everybody.
    single = 1 / 3 * (1.0 + 0.0 + 4 / 6 * 0.5)
    release = ht.anonymize(PATIENTS, quasi_identifiers=KNOWN, models=[KAnonymity(2)])
    assert release.loss < single


def test_mondrian_patients_by_the_median_rule():
    # All columns are as wide as the whole table; age comes first and is cut at its
    # median, after 25, 25 and 26. No half of three records can be cut again.
    release = ht.anonymize(PATIENTS, quasi_identifiers=KNOWN, models=[KAnonymity(2)], method=Mondrian(cut="median"))
    assert release.partition.labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert release.frame["age"].to_list() == ["[25, 26]"] * 3 + ["[27, 28]"] * 3
    assert release.frame["zipcode"].to_list() == ["[53711, 53712]"] * 3 + ["[53710, 53712]"] * 3


@METHODS
def test_mondrian_patients_no_voter_finds_one_patient(method):
    # Ahmed of figure 1 is one patient by age, sex and ZIP code; afterwards he is one of two or more.
    ahmed = VOTERS.filter(name="Ahmed").select(KNOWN).row(0)
    assert PATIENTS.select(KNOWN).rows().count(ahmed) == 1
    release = ht.anonymize(PATIENTS, quasi_identifiers=KNOWN, models=[KAnonymity(2)], method=method)
    counts = release.frame.group_by(KNOWN).len()["len"]
    assert counts.min() >= 2


def test_mondrian_patients_by_age_and_zipcode_alone():
    # Halving the ages gains 4 of 6 in age and 1.5 in ZIP codes, cutting off 53712 gains 4 and 2/3:
    # the greedy choice is not figure 4's partition, whose three classes would lose 11/36.
    release = ht.anonymize(PATIENTS, quasi_identifiers=["age", "zipcode"], models=[KAnonymity(2)])
    assert release.partition.labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert release.quality.by_column == pytest.approx({"age": 1 / 3, "zipcode": 3 / 4})


def test_sweeneys_table_is_2_anonymous_and_no_more():
    verdict = ht.verify(SWEENEY, quasi_identifiers=SWEENEY_KNOWN, models=[KAnonymity(2)])
    assert (verdict.passed, verdict.n_classes, verdict.smallest_class, verdict.n_unique) == (True, 5, 2, 0)
    failed = ht.verify(SWEENEY, quasi_identifiers=SWEENEY_KNOWN, models=[KAnonymity(3)])
    assert [(each.n_classes, each.n_records, each.worst) for each in failed.failures] == [(4, 8, 2.0)]


def test_sweeneys_table_tells_the_problem_of_two_classes():
    # All of hypertension, and all of chest pain: what l-diversity was invented for.
    models = [KAnonymity(2), DistinctLDiversity(2, "problem")]
    (failure,) = ht.verify(SWEENEY, quasi_identifiers=SWEENEY_KNOWN, models=models).failures
    assert (failure.n_classes, failure.n_records, failure.worst) == (2, 4, 1.0)


@METHODS
def test_sweeneys_table_is_released_as_it_is(method):
    release = ht.anonymize(SWEENEY, quasi_identifiers=SWEENEY_KNOWN, models=[KAnonymity(2)], method=method)
    assert release.partition.n_classes == 5
    if method.recoding == "tight":
        assert release.frame.equals(SWEENEY)


@METHODS
def test_sweeneys_table_with_a_diverse_problem_merges_the_two_classes(method):
    models = [KAnonymity(2), DistinctLDiversity(2, "problem")]
    release = ht.anonymize(SWEENEY, quasi_identifiers=SWEENEY_KNOWN, models=models, method=method)
    labels = release.partition.labels
    # Rows 3, 4 and 10, 11 may not stay apart from all others; the three classes that are diverse may.
    assert release.partition.sizes[labels[[2, 3, 9, 10]]].min() > 2
    assert release.verify().passed


@METHODS
def test_ties_around_the_median_are_cut(method):
    # mosaicrown and anonypy refuse the column because its median is its lowest value.
    assert column([1] * 6 + [2] * 2 + [3] * 2, 2, Mondrian(cut=method.cut)) == ["1"] * 6 + ["2"] * 2 + ["3"] * 2


@METHODS
@pytest.mark.parametrize(("n", "k"), [(3, 5), (1, 2), (4, 5)])
def test_fewer_records_than_k_are_refused_not_released(method, n, k):
    frame = pl.DataFrame({"x": range(n)})
    with pytest.raises(InfeasibleError, match=rf"k-anonymity \(k = {k}\) reaches {n}"):
        ht.anonymize(frame, quasi_identifiers=["x"], models=[KAnonymity(k)], method=method)


@pytest.mark.parametrize("sickness", [["flu"] * 4, ["flu", None, "flu", None], [None] * 4])
def test_an_impossible_l_is_refused_not_released(sickness):
    frame = pl.DataFrame({"x": range(4), "sickness": pl.Series(sickness, dtype=pl.String)})
    models = [KAnonymity(2), DistinctLDiversity(2, "sickness")]
    with pytest.raises(InfeasibleError, match="distinct-l-diversity"):
        ht.anonymize(frame, quasi_identifiers=["x"], models=models)


def test_floats_stay_inside_their_published_interval():
    # qiyuangong cuts 1.25 to 1.75 down to 1~1.
    assert column([1.25, 1.5, 1.75, 8.25, 8.5, 8.75], 3) == ["[1.25, 1.75]"] * 3 + ["[8.25, 8.75]"] * 3
    assert column([1.25, 1.5, 1.75, 8.25, 8.5, 8.75], 3, Mondrian(recoding="cut")) == ["<5"] * 3 + [">=5"] * 3


def test_negative_ranges_are_written_read_and_measured():
    # mosaicrown splits [-5--2] at its dashes.
    assert column([-5, -2, 3, 4], 2) == ["[-5, -2]"] * 2 + ["[3, 4]"] * 2
    assert column([-50, -49, -21, -20, -3, -2], 2, Mondrian(recoding="cut")) == (
        ["<-30"] * 2 + ["[-30, -10)"] * 2 + [">=-10"] * 2
    )


def test_widths_are_measured_by_value_not_by_number_of_values():
    # mosaicrown divides by the number of distinct values: {0, 1000, 2000, 3000} gives 750 instead of 1.
    frame = pl.DataFrame({"x": [0, 1000, 2000, 3000]})
    release = ht.anonymize(frame, quasi_identifiers=["x"], models=[KAnonymity(4)])
    assert release.loss == 1.0


@METHODS
@pytest.mark.parametrize(
    "values",
    [[None, None, 1, 1, 2, 2, 3, 3], [1, 1, 2, 2, 3, 3, 4, None], [None] * 8],
    ids=["two missing", "one missing", "all missing"],
)
def test_missing_rows_are_never_dropped_nor_left_in_clear(method, values):
    # anonypy drops them, mosaicrown writes them with all other columns in clear.
    frame = pl.DataFrame({"x": pl.Series(values, dtype=pl.Int64), "y": list("aabbccdd")})
    release = ht.anonymize(frame, quasi_identifiers=["x", "y"], models=[KAnonymity(2)], method=method)
    assert release.frame.height == release.partition.n_records == 8
    assert release.partition.sizes.min() >= 2
    assert release.frame.group_by("x", "y").len()["len"].min() >= 2
    assert release.verify().passed


def test_missing_rows_make_a_class_of_their_own_where_they_are_many_enough():
    assert column([None, None, 5, 6], 2, dtype=pl.Int64) == [None, None, "[5, 6]", "[5, 6]"]
    assert column([None, 4, 5, 6], 2, dtype=pl.Int64) == ["*", "*", "[5, 6]", "[5, 6]"]


def test_sets_are_written_so_that_commas_inside_values_do_not_split_them():
    # anonypy writes d,c,a,b in the order of a hash.
    assert column(["c, d", "a", "b", "c, d", "a", "b"], 3) == ["*"] * 6
    assert column(["a, b", "c", "x", "x", "x"], 2) == ['["a, b", "c"]'] * 2 + ["x"] * 3


def test_other_columns_and_duplicates_all_stay():
    # anonypy gives one row per class and sensitive value, without the other columns.
    frame = pl.DataFrame({"x": [1, 1, 9, 9], "note": ["a", "a", "b", "c"], "id": [7, 7, 7, 8]})
    release = ht.anonymize(frame, quasi_identifiers=["x"], models=[KAnonymity(2)])
    assert release.frame.drop("x").equals(frame.drop("x"))


@pytest.fixture(scope="module")
def adult(shared_file):
    frame = pl.read_csv(shared_file("data/adult/adult_ori.csv"), infer_schema=False)
    complete = frame.filter(~pl.any_horizontal(pl.all() == "?"))
    assert complete.height == 30_162
    return complete.select(*ADULT, "income").cast(ADULT_KIND)


@pytest.mark.parametrize(("k", "most"), [(2, 0.0098), (5, 0.0310), (10, 0.0535), (50, 0.1325)])
def test_adult_loses_no_more_than_the_figures_to_beat(adult, k, most):
    release = ht.anonymize(adult, quasi_identifiers=ADULT, models=[KAnonymity(k)])
    assert release.partition.sizes.min() >= k
    assert release.partition.n_records == 30_162
    assert release.verify().passed
    assert set_ncp(adult, release.partition.labels) == pytest.approx(release.loss, abs=1e-12)
    assert release.loss <= most


@pytest.mark.parametrize("k", [5, 50])
def test_adult_by_the_median_rule_satisfies_k(adult, k):
    release = ht.anonymize(adult, quasi_identifiers=ADULT, models=[KAnonymity(k)], method=Mondrian(cut="median"))
    assert release.partition.sizes.min() >= k
    assert release.verify().passed


@pytest.mark.parametrize("recoding", ["tight", "cut"])
def test_arx_adult_from_file_to_file_with_two_salaries_in_every_class(shared_file, tmp_path, recoding):
    models = [KAnonymity(5), DistinctLDiversity(2, "salary-class")]
    source = shared_file("data/arx_adult/adult.csv")
    release = ht.anonymize(source, quasi_identifiers=ARX, models=models, method=Mondrian(recoding=recoding))
    assert release.partition.n_records == 30_162
    assert release.write(tmp_path / "adult.csv", keep_order=True).passed
    written = pl.read_csv(tmp_path / "adult.csv", separator=";", infer_schema=False)
    classes = written.group_by(ARX).agg(pl.len(), pl.col("salary-class").n_unique().alias("salaries"))
    assert classes["len"].min() >= 5
    assert classes["salaries"].min() >= 2
    original = pl.read_csv(source, separator=";", infer_schema=False)
    assert written["salary-class"].equals(original["salary-class"])
    assert written.columns == original.columns


def set_ncp(frame, labels):
    """Measure the set-NCP from the labels alone, in polars."""
    spans = [
        (pl.col(name).max() - pl.col(name).min()) / (frame[name].max() - frame[name].min())
        if frame.schema[name].is_numeric()
        else pl.when(pl.col(name).n_unique() > 1).then(pl.col(name).n_unique() / frame[name].n_unique()).otherwise(0.0)
        for name in ADULT
    ]
    classes = (
        frame.with_columns(label=pl.Series(labels))
        .group_by("label")
        .agg(pl.len(), pl.mean_horizontal(spans).alias("share"))
    )
    return (classes["len"] * classes["share"]).sum() / frame.height
