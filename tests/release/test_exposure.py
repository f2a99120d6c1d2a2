"""Who can be found by the columns that a release keeps as they are, and what is refused because of it."""

import dataclasses
import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, strategies as st

import hushtable as ht
from command import done, run
from hushtable.io import frames
from hushtable.policy import Policy
from hushtable.release import exposing, manifest
from hushtable.release.exposing import KeptColumns, measure_exposure
from hushtable.release.exposure import Exposure, ExposureLimit, Uniques
from hushtable.tables.table import Table
from strategies import counted_tables, tables
from twins.naive_exposure import alone, lone, told

WORD = "Zq7Xcanary"
NAMES_OF_COLUMNS = {field.name for field in dataclasses.fields(KeptColumns)}


def of(data: Any, classes: Sequence[int] | None = None, **options: Any) -> Exposure:
    """Measure all columns of a table as others, in one class where nothing else is said."""
    source = data if isinstance(data, Table) else frames.read(data)
    names = source.names if isinstance(source, Table) else source.columns
    labels = np.zeros(source.n_rows, np.int32) if classes is None else np.array(classes, np.int32)
    columns = {"insensitive": names} | {name: options.pop(name) for name in NAMES_OF_COLUMNS & options.keys()}
    return measure_exposure(source, labels, KeptColumns(**columns), **options)


def assert_as_by_hand(
    found: Exposure, cells: dict[str, list[Any]], classes: list[int], counts: list[int], columns: list[str]
) -> None:
    """Every count is the slow twin's; ``columns`` are those that are told of."""
    assert found.n_records == sum(counts)
    assert found.n_unique == alone(cells, found.columns, counts, found.limit.columns)
    assert found.complete
    for each in found.sets:
        assert each.n_records == len(lone(cells, each.columns, counts)) > 0
        assert not any(len(each.columns) > found.limit.columns for each in found.sets)
    assert {each.columns for each in found.told if len(each.columns) == 1} == {(name,) for name in columns}
    for each in found.told:
        assert each.n_records == told(cells, classes, each.columns, counts)


PERSON_ROW = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1), st.sampled_from(["u", "v", "w", None]))


@given(st.lists(PERSON_ROW, min_size=1, max_size=10))
@example([(0, 0, 0, "u"), (0, 0, 0, "u"), (1, 1, 0, "v"), (1, 1, 0, "w")])
def test_counts_by_persons_are_those_of_the_definition(rows: list[tuple[int, int, int, str | None]]) -> None:
    first, second, classes, persons = (list(column) for column in zip(*rows, strict=True))
    cells = {"a": first, "b": second}
    schema = {"a": pl.Int64, "b": pl.Int64, "p": pl.String}
    found = of(
        pl.DataFrame({**cells, "p": persons}, schema=schema),
        classes,
        insensitive=["a", "b"],
        identifiers=["p"],
        person="p",
    )
    counts = [1] * len(rows)
    assert found.n_unique == alone(cells, ["a", "b"], counts, 2, persons)
    for each in found.sets:
        assert each.n_records == len(lone(cells, each.columns, counts, persons))
    assert {each.columns for each in found.told} == {("a",), ("b",), ("a", "b")}
    for each in found.told:
        assert each.n_records == told(cells, classes, each.columns, counts, persons)


@given(tables(max_rows=14), st.data())
def test_counts_are_those_of_the_definition(table: pl.DataFrame, data: st.DataObject) -> None:
    labels = data.draw(st.lists(st.integers(-1, 2), min_size=table.height, max_size=table.height))
    stars = data.draw(st.lists(st.booleans(), min_size=table.height, max_size=table.height))
    roles = [data.draw(st.sampled_from(["other", "accepted", "sensitive"])) for _ in table.columns]
    by_role = {role: [n for n, given in zip(table.columns, roles, strict=True) if given == role] for role in roles}
    others = [*by_role.get("other", []), *by_role.get("accepted", [])]
    sensitive = by_role.get("sensitive", [])
    most = data.draw(st.integers(1, 3))
    found = of(
        table,
        labels,
        insensitive=others,
        sensitive=sensitive,
        starred=np.array(stars, bool),
        limit=ExposureLimit(columns=most),
        accepted=dict.fromkeys(by_role.get("accepted", []), "a reason"),
    )
    assert found.columns == tuple(by_role.get("other", []))
    kept = [row for row, label in enumerate(labels) if label >= 0]
    cells = {
        name: ["*" if name in sensitive and stars[row] else (column[row],) for row in kept]
        for name, column in table.to_dict(as_series=False).items()
    }
    assert_as_by_hand(found, cells, [labels[row] for row in kept], [1] * len(kept), table.columns)


@given(counted_tables(max_rows=14), st.data())
def test_rows_of_several_records_are_nobodys_own(table: Table, data: st.DataObject) -> None:
    labels = data.draw(st.lists(st.integers(0, 2), min_size=table.n_rows, max_size=table.n_rows))
    cells = {name: codes.tolist() for name, codes in zip(table.names, table.codes, strict=True)}
    assert_as_by_hand(of(table, labels), cells, labels, table.counts.tolist(), list(table.names))


@given(tables(max_rows=14, min_rows=1), st.randoms())
def test_the_order_of_rows_and_columns_does_not_matter(table: pl.DataFrame, random: Any) -> None:
    rows, names = list(range(table.height)), list(table.columns)
    random.shuffle(rows)
    random.shuffle(names)
    moved, labels = table[rows].select(names), [row % 2 for row in range(table.height)]
    first, second = of(table, labels).to_dict(), of(moved, [labels[row] for row in rows]).to_dict()
    assert {**first, "columns": sorted(first["columns"])} == {**second, "columns": sorted(second["columns"])}


@given(tables(max_rows=10, min_rows=1))
def test_collapsing_to_counts_changes_nothing(table: pl.DataFrame) -> None:
    coded = Table.encode(table)
    assert of(coded.collapse()[0]) == of(coded)


@pytest.mark.parametrize("n_values", [[8, 8, 8], [100, 90, 3, 2], [40, 30, 20, 10, 5]])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_larger_tables(n_values: list[int], most: int) -> None:
    draws = np.random.default_rng(5)
    table = pl.DataFrame({f"c{j}": draws.integers(0, n, 400) for j, n in enumerate(n_values)})
    labels = draws.integers(0, 60, 400).tolist()
    found = of(table, labels, limit=ExposureLimit(most, 0.05))
    assert_as_by_hand(found, table.to_dict(as_series=False), labels, [1] * 400, table.columns)


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame], ids=["polars", "pandas"])
def test_cells_of_any_type_are_compared(make: Any) -> None:
    lists = [[1, 2]] * 3 + [[1, 3]]
    assert of(make({"x": lists})).n_unique == 1
    assert of(make({"x": [{"a": 1}] * 3 + [{"a": 2}]})).n_unique == 1
    assert of(make({"x": [b"a", b"a", b"b"]})).n_unique == 1
    assert of(make({"x": [None, "a", "a", "b", "b"]})).n_unique == 1
    assert of(make({"x": [True, True, False]})).n_unique == 1


@pytest.mark.parametrize("cells", [[{1}, {1}, {2}], [1, "1", 1]], ids=["sets", "mixed types"])
def test_of_cells_that_cannot_be_read_no_two_are_equal(cells: list[Any]) -> None:
    found = of(pd.DataFrame({"x": pd.Series(cells, dtype=object)}))
    assert found.n_unique == 3
    assert found.told == (Uniques(("x",), 3),)


def test_spellings_of_one_value_are_several_cells(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text('x,y\n1,a\n1,a\n1.0,a\n 1,""\n')
    found = of(tmp_path / "in.csv")
    assert dict(found.told)[("x",)] == 2
    assert dict(found.told)[("y",)] == 1
    assert of(pl.DataFrame({"x": [0.0, 0.0, -0.0]})).n_unique == 1
    assert of(pl.DataFrame({"x": [1.5, 1.5, float("inf"), None, float("nan")]})).n_unique == 1


@pytest.mark.parametrize("name", ["*", "^.*$", "a b", "ü 😀", 'say "hi"', "two\nlines"])
def test_columns_of_any_name(name: str) -> None:
    found = of(pl.DataFrame({name: [1, 1, 2], "z": [1, 2, 3]}))
    assert (found.columns, found.n_unique) == ((name, "z"), 3)


def test_tables_without_anything_to_look_at() -> None:
    nothing = of(pl.DataFrame({"x": [1, 2]}), insensitive=[])
    assert (nothing.n_unique, nothing.sets, nothing.told, nothing.complete, nothing.lines()) == (0, (), (), True, [])
    empty = of(pl.DataFrame({"x": []}))
    assert (empty.n_records, empty.n_unique, empty.rate, empty.is_above) == (0, 0, 0.0, False)
    assert of(pl.DataFrame({"x": [1]})).n_unique == 1


def test_where_there_are_too_many_sets_the_number_is_a_least_one(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = np.random.default_rng(1)
    table = pl.DataFrame({f"c{j}": draws.integers(0, 9, 200) for j in range(8)})
    whole = of(table)
    monkeypatch.setattr(exposing, "_MAX_ROWS_WALKED", 200 * 12)
    monkeypatch.setattr(exposing, "_MAX_PAIRED_RECORDS", 200)
    part = of(table)
    assert part == of(table)
    assert (whole.complete, whole.complete_to, whole.told_to) == (True, 2, 2)
    assert (part.complete, part.complete_to, part.told_to) == (False, 1, 1)
    assert 0 < part.n_unique < whole.n_unique
    assert {len(each.columns) for each in part.told} == {1}
    assert "at least" in part.sentence
    assert "complete up to 1 columns" in "\n".join(part.lines())


@pytest.mark.parametrize(("n", "is_above"), [(49, False), (50, True)])
def test_below_50_records_nothing_is_refused(n: int, is_above: bool) -> None:
    found = of(pl.DataFrame({"x": range(n)}))
    assert (found.rate, found.is_above) == (1.0, is_above)
    # Those that are not published do not count.
    assert of(pl.DataFrame({"x": range(60)}), [0] * n + [-1] * (60 - n)).is_above is is_above


@pytest.mark.parametrize(("n_unique", "is_above"), [(0, False), (5, False), (6, True)])
def test_the_limit_itself_is_allowed(n_unique: int, is_above: bool) -> None:
    found = of(pl.DataFrame({"x": [*range(n_unique), *[-1] * (100 - n_unique)]}), is_enforced=True)
    assert (found.n_unique, found.is_above) == (n_unique, is_above)
    if is_above:
        with pytest.raises(ht.ExposureError, match=r"6\.00%, above the limit of 5\.00%"):
            found.raise_if_unpublishable()
    else:
        found.raise_if_unpublishable()


# Of releases: counted again from what they publish.


def visits(n: int = 60, seed: int = 0) -> pl.DataFrame:
    draws = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": draws.integers(20, 60, n),
            "ill": draws.choice(["flu", "gout", "hiv"], n, p=[0.8, 0.1, 0.1]),
            "ward": draws.integers(0, 4, n),
            "day": draws.integers(0, 40, n),
            "fee": [[1.5, 2.5, None][i] for i in draws.integers(0, 3, n).tolist()],
        }
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("suppressed", ["nobody", "dropped", "starred"])
@pytest.mark.parametrize("as_table", [False, True])
def test_a_release_is_measured_as_it_is_published(seed: int, suppressed: str, as_table: bool) -> None:
    """Classes that publish the same are one; dropped rows are gone; rows of stars keep their day and fee."""
    data: Any = visits(40, seed)
    release = ht.anonymize(
        Table.encode(data).collapse()[0] if as_table else data,
        quasi_identifiers=["age"],
        models=[ht.KAnonymity(2), *([] if suppressed == "nobody" else [ht.AlphaKAnonymity(0.6, 2, "ill")])],
        sensitive=["ill", "ward"],
        suppression_limit=0.9,
        method=ht.Mondrian(cut="median", strict=False),
    )
    assert release.drops_suppressed is (release.n_suppressed > 0) is (suppressed != "nobody")
    if suppressed == "starred":
        release = dataclasses.replace(release, drops_suppressed=False).with_exposure(ExposureLimit())
    published = release.edition.frame().native
    assert published.height == 40 - release.n_suppressed * (suppressed == "dropped")
    cells = published.to_dict(as_series=False)
    ages = sorted(set(cells["age"]))
    found = release.exposure
    assert found is not None
    assert found.columns == ("day", "fee")
    labels = [ages.index(age) for age in cells["age"]]
    assert_as_by_hand(found, cells, labels, [1] * published.height, ["day", "fee", "ill", "ward"])


def test_alternatives_are_measured_too() -> None:
    release = ht.anonymize(visits(), quasi_identifiers=["age"], models=[ht.KAnonymity(2)], roles="trust")
    found = dataclasses.replace(release, alternatives=(release,)).with_exposure(ExposureLimit(), is_enforced=True)
    with pytest.raises(ht.ExposureError):
        found.alternatives[0].write("never.csv")


# The doors.

RULES = "columns: {age: quasi-identifier, day: other, sex: other}\nmodels: [k-anonymity: 3]\n"
ACCEPT = "accept: {day: no register has it}\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with 60 visits, each on its own day, and a policy that keeps the day."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{20 + i % 9},d{WORD}{i},{'fm'[i % 2]}" for i in range(60)]
    (tmp_path / "in.csv").write_text("\n".join(["age,day,sex", *rows, ""]))
    (tmp_path / "policy.yaml").write_text(RULES)
    return tmp_path


def assert_refused(here: Path, text: str) -> None:
    assert "nothing is written: on at most 2 of the 2 columns kept as they are, 60 of 60 records are unique" in text
    assert "(60 on 'day')" in text
    assert """accept: {'day': "a reason"}""" in text
    assert WORD not in text
    assert {path.name for path in here.iterdir()} == {"in.csv", "policy.yaml"}


@pytest.mark.parametrize(
    "options", [["-p", "policy.yaml"], ["--qi", "age", "--k", "3", "--other", "day"]], ids=["policy", "options"]
)
def test_the_command_refuses(here: Path, options: list[str]) -> None:
    refused = run("anonymize", "in.csv", "-o", "out.csv", *options)
    assert (refused.code, refused.out) == (1, "")
    assert_refused(here, refused.err)
    assert run("anonymize", "in.csv", "-o", "out.csv", "--json", *options).code == 1
    taken = done("anonymize", "in.csv", "-o", "out.csv", *options, "--set", "accept.day=no register has it", "-v")
    assert "accepted: day (no register has it)\n" in taken.out
    assert "on the column kept as it is and not accepted, 0 of 60 records are unique" in taken.out
    assert "careful: a reader who also knows day finds 60 of 60 records.\n" in taken.out
    assert WORD not in taken.out


def test_a_policy_in_python_refuses_to_write(here: Path) -> None:
    for release in (Policy.read("policy.yaml").protect("in.csv"), ht.anonymize("in.csv", policy="policy.yaml")):
        with pytest.raises(ht.ExposureError) as refused:
            release.write("out.csv")
        assert_refused(here, str(refused.value))
        assert refused.value.exit_code == 1
        assert release.exposure is not None
        assert WORD not in repr(release) + repr(release.exposure) + str(release.to_dict())


@pytest.mark.parametrize(
    "more", [ACCEPT, "limits: {exposure: {rate: 1}}\n", "limits: {exposure: {columns: 1, rate: 1.0}}\n"]
)
def test_what_is_accepted_or_allowed_is_written(here: Path, more: str) -> None:
    release = Policy.parse(RULES + more).protect("in.csv")
    assert release.write("out.csv").passed
    assert release.exposure is not None
    assert release.exposure.is_enforced
    assert not release.exposure.is_above


def test_a_column_with_another_role_is_not_in_the_count(here: Path) -> None:
    for role in ("sensitive", "identifier", "quasi-identifier", "{role: identifier, action: pseudonym}"):
        rules = Policy.parse(RULES.replace("day: other", f"day: {role}"))
        release = rules.protect("in.csv", key=bytes(range(32)) if "pseudonym" in role else None)
        assert release.exposure is not None
        assert (release.exposure.columns, release.exposure.n_unique) == (("sex",), 0)
        told_of = {name for each in release.exposure.told for name in each.columns}
        assert told_of == ({"sex", "day"} if role == "sensitive" else {"sex"})


def test_python_without_a_policy_warns_and_writes(here: Path) -> None:
    options: dict[str, Any] = {"quasi_identifiers": ["age"], "models": [ht.KAnonymity(3)]}
    days = {"day": pl.Series(range(60))}
    data = pl.read_csv("in.csv").with_columns(**days)
    with pytest.warns(ht.ExposureWarning) as told_of:
        release = ht.anonymize(data, **options)
    assert [Path(each.filename).name for each in told_of] == ["test_exposure.py"]
    assert "60 of 60 records are unique: 100.00%, above the limit of 5.00% (60 on 'day')" in str(told_of[0].message)
    assert release.exposure is not None
    assert not release.exposure.is_enforced
    assert release.write("out.csv").passed
    trusted = ht.anonymize(data, roles="trust", **options)
    assert trusted.exposure is None
    assert trusted.write("other.csv").passed
    assert manifest.read(Path("other.csv"))["exposure"] is None
    assert ht.anonymize(data, sensitive=["day"], **options).exposure is not None
    assert ht.anonymize(data[:49], **options).exposure is not None


@pytest.mark.parametrize("as_table", [False, True])
def test_python_without_a_policy_refuses_direct_identifiers(as_table: bool) -> None:
    n = 60
    data: Any = pl.DataFrame({"age": [i % 7 for i in range(n)], "email": [f"{WORD}{i}@example.com" for i in range(n)]})
    given_: Any = Table.encode(data) if as_table else data
    options: dict[str, Any] = {"quasi_identifiers": ["age"], "models": [ht.KAnonymity(3)]}
    with pytest.raises(ht.ColumnError, match="column 'email' looks like a direct identifier") as refused:
        ht.anonymize(given_, **options)
    assert "identifiers=['email'] leaves it out, accept={'email': \"a reason\"} keeps it." in str(refused.value)
    assert WORD not in str(refused.value)
    assert ht.anonymize(given_, roles="trust", **options).exposure is None
    assert ht.anonymize(given_, identifiers=["email"], **options).exposure is not None
    with pytest.raises(ht.ExposureError, match="'email'") as refused_too:
        ht.anonymize(given_, sensitive=["email"], **options)
    assert WORD not in str(refused_too.value)
    named = ht.anonymize(given_, sensitive=["email"], accept={"email": "made up"}, **options)
    assert named.exposure is not None
    assert [each.column for each in named.exposure.named] == ["email"]
    assert not named.exposure.refused_names
    with pytest.raises(ht.ColumnError, match=r"no column 'agee'.*\n\n.*'age'"):
        ht.anonymize(given_, quasi_identifiers=["agee"], models=options["models"])


def test_a_plain_call_does_not_warn_of_uniques_among_few_records() -> None:
    data = pl.DataFrame({"age": [i % 7 for i in range(49)], "pay": [i * 1.5 for i in range(49)]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = ht.anonymize(data, quasi_identifiers=["age"], models=[ht.KAnonymity(3)])
    assert release.exposure is not None
    assert release.exposure.n_unique == 49


def test_roles_is_an_argument_like_others() -> None:
    with pytest.raises(ht.InputError, match="roles = 'guess'"):
        ht.anonymize(visits(), quasi_identifiers=["age"], models=[ht.KAnonymity(2)], roles="guess")  # type: ignore[arg-type]
    with pytest.raises(ht.InputError, match="a policy was given, and 'roles' too"):
        ht.anonymize(visits(), policy=Policy.parse(RULES), roles="trust")


# The policy.


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("accept: {dya: x}\n", "line 3: accept.dya: names 'dya', which columns does not declare as other"),
        ("accept:\n  sex: fine\n  day: ' '\n", "line 5: accept.day: expected a reason in words"),
        ("accept: {day: }\n", "line 3: accept.day: expected a reason in words"),
        ("accept: {day: 5}\n", "line 3: accept.day: expected a reason in words"),
        ("accept: [day]\n", "line 3: accept: expected a column and a reason"),
        ("limits: {exposure: {columns: 0}}\n", "line 3: limits.exposure.columns:"),
        ("limits: {exposure: {columns: 1.5}}\n", "line 3: limits.exposure.columns:"),
        ("limits: {exposure: {rate: 1.01}}\n", "line 3: limits.exposure.rate:"),
        ("limits: {exposure: {rate: .nan}}\n", "line 3: limits.exposure.rate:"),
        ("limits: {exposure: {rates: 1}}\n", "limits.exposure.rates: no such entry. Did you mean 'rate'?"),
        ("limits: {exposures: {}}\n", "limits.exposures: no such entry. Did you mean 'exposure'?"),
    ],
)
def test_faults_of_a_policy_name_their_line(more: str, expected: str) -> None:
    with pytest.raises(ht.PolicyError) as caught:
        Policy.parse(RULES + more, "p.yaml")
    assert expected in str(caught.value)


def test_a_policy_comes_back_as_it_was_written() -> None:
    rules = Policy.parse(RULES + ACCEPT + "limits: {exposure: {columns: 3, rate: 0.1}}\n")
    assert Policy.parse(rules.to_yaml()) == rules
    assert rules.to_dict()["accept"] == {"day": "no register has it"}
    plain = Policy.parse(RULES).to_dict()
    usual = {"columns": 2, "rate": 0.05, "named": 0, "linked": 0.0}
    assert plain["limits"]["exposure"] == usual == dataclasses.asdict(ExposureLimit())
    assert "accept" not in plain


# The manifest.


def test_reasons_and_counts_stay_in_the_internal_manifest(here: Path) -> None:
    release = Policy.parse(RULES + ACCEPT).protect("in.csv")
    release.write("in_house.csv")
    release.write("outside.csv", external=True)
    inside, outside = (manifest.read(Path(name)) for name in ("in_house.csv", "outside.csv"))
    assert release.exposure is not None
    assert inside["exposure"] == release.exposure.to_dict() == json.loads(json.dumps(release.exposure.to_dict()))
    assert inside["exposure"]["accepted"] == {"day": "no register has it"}
    assert inside["accepted"] == outside["accepted"] == ["day"]
    assert "exposure" not in outside
    assert "register" not in json.dumps(outside)
    assert WORD not in json.dumps([inside, outside])


# Real tables.

ADULT = """\
columns:
  {age: quasi-identifier, type_employer: quasi-identifier, fnlwgt: other, education: quasi-identifier,
   education_num: quasi-identifier, marital: quasi-identifier, occupation: quasi-identifier,
   relationship: quasi-identifier, race: quasi-identifier, sex: quasi-identifier, capital_gain: other,
   capital_loss: other, hr_per_week: other, country: quasi-identifier, income: sensitive}
models: [k-anonymity: 5]
"""


def test_the_sampling_weight_of_adult_is_refused_until_someone_vouches_for_it(shared_file: Any, tmp_path: Path) -> None:
    source, rules, output = shared_file("data/adult/adult_ori.csv"), tmp_path / "policy.yaml", tmp_path / "out.csv"
    rules.write_text(ADULT)
    refused = run("anonymize", source, "-p", rules, "-o", output)
    assert refused.code == 1
    assert "25,916 on 'fnlwgt', 'hr_per_week'" in refused.err
    assert """accept: {'fnlwgt': "a reason"}""" in refused.err
    assert not output.exists()
    rules.write_text(f"{ADULT}accept: {{fnlwgt: drawn by the census}}\n")
    taken = done("anonymize", source, "-p", rules, "-o", output, "--verbose")
    assert "accepted: fnlwgt (drawn by the census)" in taken.out
    assert "of the 3 columns kept as they are and not accepted, 784 of 32,561 records are unique" in taken.out


def test_the_class_of_adult_is_kept_without_a_word(shared_file: Any, tmp_path: Path) -> None:
    qi = "sex,age,race,marital-status,education,native-country,workclass,occupation"
    made = done(
        "anonymize", shared_file("data/arx_adult/adult.csv"), "--qi", qi, "--k", "5", "-o", tmp_path / "out.csv"
    )
    assert "on the column kept as it is, 0 of 30,162 records are unique" in made.out


@pytest.mark.parametrize("role", ["quasi_identifiers", "sensitive", "identifiers", "person"])
def test_a_column_that_identifies_is_refused_whatever_role_another_has(role: str) -> None:
    n = 60
    data = pl.DataFrame(
        {"age": [1, 2] * (n // 2), "ill": ["x", "y"] * (n // 2), "email": [f"p{i}@example.org" for i in range(n)]}
    )
    asked: dict[str, Any] = {"quasi_identifiers": ["age"], "models": [ht.KAnonymity(2)]}
    if role == "person":
        data = data.with_columns(who=pl.Series(range(n)))
        asked["person"] = "who"
    else:
        asked[role] = [*asked.get(role, []), "ill"]
    with pytest.raises(ht.ColumnError, match="column 'email' looks like a direct identifier"):
        ht.anonymize(data, **asked)
