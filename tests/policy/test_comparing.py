"""Every row of a comparison is what a single run of the policy gives, and the file that it writes."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from hushtable.models import model_to_dict
from hushtable.policy import Policy
from hushtable.policy.comparing import compare

ROLES = {
    **dict.fromkeys(("birth_date", "sex", "postcode", "education"), "quasi-identifier"),
    **dict.fromkeys(("income", "diagnosis"), "sensitive"),
    "visit_date": "other",
    "name": "identifier",
}
PEOPLE = ht.datasets.people(400, seed=3).select(*ROLES)
RULES = Policy.make(
    {"columns": ROLES, "models": [{"k-anonymity": 4}], "accept": {"visit_date": "nobody outside knows the day"}}
)
L_DIVERSITY = {"distinct-l-diversity": {"l": 2, "sensitive": "diagnosis"}}
DIVERSE = RULES.with_entries({("models",): [{"k-anonymity": 4}, L_DIVERSITY]})


def single(rules, row):
    """Return the policy of one row, put together by hand."""
    models = [model_to_dict(model) for model in rules.models if model.name != "k-anonymity"]
    places = {("models",): [{"k-anonymity": row.k}, *models], ("limits", "suppression"): row.suppression}
    if row.method != rules.method.name:
        places["method",] = row.method
    changed = rules.with_entries(places)
    return changed if row.recoding is None else changed.with_entries({("method", row.method, "recoding"): row.recoding})


def asked(compared):
    return [(row.k, row.suppression, row.recoding, row.method) for row in compared.rows]


def published_risks(frame, columns):
    """Count classes of equal cells in a written file, without records that are all stars."""
    sizes = {}
    for cells in frame.select(columns).rows():
        if set(cells) != {"*"}:
            sizes[cells] = sizes.get(cells, 0) + 1
    return 1 / min(sizes.values()), len(sizes) / sum(sizes.values()), min(sizes.values()), len(sizes)


@pytest.mark.parametrize(
    ("rules", "changes"),
    [
        (RULES, {}),
        (RULES, {("limits", "suppression"): 0.3, ("write",): {"decimal": ","}}),
        (DIVERSE, {("write",): {"encoding": "utf-16"}, ("method", "mondrian", "cut"): "median"}),
    ],
    ids=["plain", "decimal commas", "utf-16"],
)
def test_every_row_is_a_single_run_and_the_file_it_writes(rules, changes, tmp_path):
    rules = rules.with_entries(changes) if changes else rules
    source = tmp_path / "people.csv"
    PEOPLE.write_csv(source, separator=";")
    compared = compare(source, rules, k=[2, 7], suppression=[0, 0.1], recoding=["readable", "central"])
    assert len(compared.rows) == 8
    for row in compared.rows:
        release, path = single(rules, row).protect(source), tmp_path / "release.csv"
        verdict = release.write(path, overwrite=True)
        encoding = rules.writing.encoding
        written = pl.read_csv(path.read_bytes().decode(encoding).encode(), separator=";", infer_schema=False)
        assert row.loss == release.loss
        assert row.loss_by_column == release.quality.by_column
        assert row.n_suppressed == release.n_suppressed
        assert row.verified is verdict.passed is True
        assert row.n_bytes == path.stat().st_size
        assert row.longest_cell == max(written[name].str.len_chars().max() for name in rules.quasi_identifiers)
        found = (row.highest_risk, row.average_risk, row.smallest_class, row.n_classes)
        assert found == pytest.approx(published_risks(written, rules.quasi_identifiers))


@pytest.mark.parametrize("own", ["mondrian", "full_domain"])
@pytest.mark.parametrize("hierarchy", [None, "auto"])
def test_every_method_is_compared_as_it_is_carried_out(own, hierarchy):
    people = PEOPLE.select("birth_date", "education", "income").head(120)
    told = {} if hierarchy is None else {"hierarchy": hierarchy}
    columns = {"birth_date": {"role": "quasi-identifier", **told}, "education": "quasi-identifier", "income": "other"}
    rules = Policy.make({"columns": columns, "models": [{"k-anonymity": 4}], "method": own})
    compared = compare(people, rules, k=[2, 5], suppression=[0, 0.1], method=["mondrian", "full_domain"])
    assert len(compared.rows) == 8
    for row in compared.rows:
        release = single(rules, row).protect(people)
        verdict = release.verify()
        assert row.verified
        assert (row.loss, row.n_suppressed) == (release.loss, release.n_suppressed)
        assert (row.smallest_class, row.n_classes) == (verdict.smallest_class, verdict.n_classes)
        assert row.loss_by_column == release.quality.by_column


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow", "Table"])
def test_a_table_of_any_kind_is_compared_as_it_is_protected_and_written(kind, tmp_path):
    kinds = {"pandas": PEOPLE.to_pandas, "pyarrow": PEOPLE.to_arrow, "Table": lambda: ht.Table.encode(PEOPLE)}
    data = kinds.get(kind, lambda: PEOPLE)()
    for row in compare(data, RULES, k=[3, 9], suppression=[0.05]).rows:
        release, path = single(RULES, row).protect(data), tmp_path / "release.csv"
        release.write(path, overwrite=True)
        assert (row.loss, row.n_bytes, row.n_classes) == (release.loss, path.stat().st_size, release.verify().n_classes)


def test_one_thread_and_many_give_the_same(monkeypatch):
    given = {"k": [2, 5], "suppression": [0, 0.05]}
    rows = compare(PEOPLE, RULES, **given).rows
    monkeypatch.setenv("HUSHTABLE_THREADS", "1")
    assert [replace(row, seconds=0.0) for row in compare(PEOPLE, RULES, **given).rows] == [
        replace(row, seconds=0.0) for row in rows
    ]
    # A budget in seconds, and more rows than one core has for itself, go one after the other.
    slow = RULES.with_entries({("budget", "seconds"): 3600})
    assert [replace(row, seconds=0.0) for row in compare(PEOPLE, slow, **given).rows] == [
        replace(row, seconds=0.0) for row in rows
    ]


@pytest.mark.parametrize(("ages", "n_suppressed"), [([-900, 900], 2), ([900], 1)], ids=["starred", "dropped"])
def test_suppressed_records_are_in_no_class(ages, n_suppressed):
    far = pl.DataFrame({"age": [20, 20, 21, 21, 22, 22, *ages]})
    rules = Policy.make({"columns": {"age": "quasi-identifier"}, "models": [{"k-anonymity": 2}]})
    (row,) = compare(far, rules, k=[2], suppression=[0.3], recoding=["tight"]).rows
    assert single(rules, row).protect(far).drops_suppressed is (n_suppressed < 2)
    assert row.n_suppressed == n_suppressed
    assert (row.highest_risk, row.average_risk, row.smallest_class, row.n_classes) == (0.5, 0.5, 2, 3)


@pytest.mark.parametrize("role", ["identifier", "other"])
def test_persons_are_counted_where_the_policy_counts_them(role):
    visits = pl.DataFrame(
        {
            "who": ["a", "a", "b", "c", "c", "c", "d", "e", "f", "f"],
            "age": [30, 30, 31, 31, 50, 51, 50, 52, 70, 71],
        }
    )
    rules = Policy.make(
        {"columns": {"who": role, "age": "quasi-identifier"}, "models": [{"k-anonymity": 2}], "person": "who"}
    )
    (row,) = compare(visits, rules, k=[2], suppression=[0]).rows
    release = rules.protect(visits)
    groups = {}
    for who, cell in zip(visits["who"], release.frame["age"], strict=True):
        groups.setdefault(cell, []).append(who)
    crowds = [len(set(each)) for each in groups.values()]
    assert row.smallest_class == min(crowds) == release.verify().smallest_class
    assert row.highest_risk == 1 / min(crowds)
    by_hand = sum(len(each) / crowd for each, crowd in zip(groups.values(), crowds, strict=True)) / len(visits)
    assert row.average_risk == pytest.approx(by_hand)
    assert row.verified


def test_k_joins_the_models_or_replaces_that_of_a_notion():
    diverse = RULES.with_entries({("models",): [{"distinct-l-diversity": {"l": 2, "sensitive": "diagnosis"}}]})
    assert [row.smallest_class >= row.k for row in compare(PEOPLE, diverse, k=[3, 30], suppression=[0]).rows] == [
        True
    ] * 2
    few = PEOPLE.head(12).select("sex", "education")
    notion = Policy.make(
        {
            "columns": dict.fromkeys(few.columns, "quasi-identifier"),
            "models": [{"(k,1)-matching": 3}],
            "method": "mingen",
            "loss": "certainty",
        }
    )
    compared = compare(few, notion, k=[2, 4])
    # It lets no record go, so that suppression takes part once.
    assert asked(compared) == [(2, None, None, "mingen"), (4, None, None, "mingen")]
    for row in compared.rows:
        assert row.verified
        assert row.loss == notion.with_entries({("models",): [{"(k,1)-matching": row.k}]}).protect(few).loss


def test_rows_are_combined_once_in_the_order_asked_for():
    few = PEOPLE.head(12).select("sex", "education")
    rules = Policy.make(
        {
            "columns": dict.fromkeys(few.columns, "quasi-identifier"),
            "models": [{"k-anonymity": 2}],
            "method": {"mondrian": {"recoding": "tight", "exchange": True}},
            "loss": "certainty",
        }
    )
    compared = compare(
        few, rules, k=[3, 2, 3], suppression=[0.0, 0], recoding=["set", "label"], method=["mingen", "mondrian"]
    )
    assert asked(compared) == [
        (3, 0.0, None, "mingen"),
        (2, 0.0, None, "mingen"),
        (3, 0.0, "set", "mondrian"),
        (2, 0.0, "set", "mondrian"),
        (3, 0.0, "label", "mondrian"),
        (2, 0.0, "label", "mondrian"),
    ]
    # What a method cannot search by is said of its rows alone.
    assert [row.is_feasible for row in compared.rows] == [True, True, False, False, False, False]
    assert "certainty" in compared.rows[2].reason


def test_what_is_infeasible_stays_with_its_reason():
    compared = compare(PEOPLE.head(1), RULES, k=[1, 2, 10**30], suppression=[0])
    one, *others = compared.rows
    assert (one.highest_risk, one.average_risk, one.smallest_class, one.n_suppressed) == (1.0, 1.0, 1, 0)
    for row in others:
        assert f"k-anonymity (k = {row.k})" in row.reason
        assert "Hint" not in row.reason
        assert (row.highest_risk, row.loss, row.loss_by_column, row.n_bytes, row.verified) == (None,) * 5
    assert compared.knee is None
    nothing = compare(PEOPLE, RULES, k=[500])
    assert len(nothing.rows) == 3
    assert not any(row.is_feasible for row in nothing.rows)
    assert nothing.to_dict()["knee"] is None
    assert "no release" in nothing._repr_html_()
    with pytest.raises(ht.InputError, match="nothing to draw"):
        nothing.plot()


def test_a_table_that_no_csv_holds_has_no_size():
    lists = PEOPLE.head(30).with_columns(visit_date=pl.Series([[1, 2]] * 30))
    (row,) = compare(lists, RULES, k=[3], suppression=[0]).rows
    assert row.n_bytes is None
    assert row.verified
    formulas = PEOPLE.head(30).with_columns(visit_date=pl.lit("=1+1"))
    for given, size in (("refuse", None), ("escape", 30)):
        (row,) = compare(formulas, RULES.with_entries({("write",): {"formulas": given}}), k=[3], suppression=[0]).rows
        (kept,) = compare(formulas, RULES, k=[3], suppression=[0]).rows
        assert row.n_bytes == (None if size is None else kept.n_bytes + size)


def test_odd_names_of_columns():
    odd = {"birth_date": "^a.*$", "sex": "*", "postcode": 'my "code"', "education": "🎓, x"}
    rules = Policy.make({"columns": {odd.get(n, n): r for n, r in ROLES.items()}, "models": [{"k-anonymity": 4}]})
    (row,) = compare(PEOPLE, RULES, k=[4], suppression=[0]).rows
    (named,) = compare(PEOPLE.rename(odd), rules, k=[4], suppression=[0]).rows
    assert named.loss == row.loss
    assert set(named.loss_by_column) == set(odd.values())


def test_progress_rises_to_1_over_all_runs():
    told = []
    compare(PEOPLE, RULES, k=[2, 500, 3], suppression=[0, 0.1], progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert min(np.diff([0.0, *told])) >= 0


def test_warnings_are_given_once():
    twice = PEOPLE.with_columns(name=pl.lit("somebody"))
    with pytest.warns(UserWarning, match="asks nothing") as told:
        compare(twice, RULES, k=[1, 2], suppression=[0, 0.1])
    messages = [str(each.message) for each in told]
    assert len(messages) == len(set(messages)) == 2
    assert any("no identifier tells" in each for each in messages)
    assert told[0].filename == __file__


@pytest.mark.parametrize(
    ("slip", "words"),
    [
        ({"k": []}, "k is empty"),
        ({"k": 5}, "pass a list"),
        ({"k": "5"}, "pass a list"),
        ({"k": ["5"]}, "k = '5'"),
        ({"k": [True]}, "k = True"),
        ({"k": [0]}, "k = 0"),
        ({"k": [2.0]}, "k = 2.0"),
        ({"suppression": []}, "suppression is empty"),
        ({"suppression": 0.1}, "pass a list"),
        ({"suppression": [1.5]}, "holds 1.5"),
        ({"suppression": [-0.1]}, "holds -0.1"),
        ({"suppression": [float("nan")]}, "holds nan"),
        ({"suppression": [True]}, "holds True"),
        ({"suppression": ["0.1"]}, "holds '0.1'"),
        ({"recoding": []}, "recoding is empty"),
        ({"recoding": "cut"}, "pass a list"),
        ({"recoding": ["redable"]}, "did you mean 'readable'"),
        ({"recoding": [None]}, "holds None"),
        ({"method": ["mondriaan"]}, "did you mean 'mondrian'"),
        ({"method": {"mondrian": {}}}, "pass a list"),
        ({"method": ["mingen"], "recoding": ["cut"]}, "no effect"),
        ({"policy": None}, "given as NoneType"),
        ({"key": b"0123456789abcdefg"}, "no pseudonyms, but there is a key"),
        ({"policy": RULES.with_entries({("columns", "education"): "ask"})}, "asks for the role"),
        (
            {"policy": RULES.with_entries({("method", "mondrian", "exchange"): True}), "recoding": ["cut"]},
            "exchange=True",
        ),
    ],
)
def test_slips_say_what_was_expected(slip, words):
    with pytest.raises(ht.InputError, match="Hint") as raised:
        compare(PEOPLE, **{"policy": RULES, **slip})
    assert words in str(raised.value)


def test_a_policy_is_read_from_its_file_and_its_pseudonyms_count(tmp_path):
    path = tmp_path / "policy.yaml"
    asked = {("columns", "name"): {"role": "identifier", "action": "pseudonym"}, ("accept", "name"): "a test"}
    path.write_text(RULES.with_entries(asked).to_yaml())
    key = b"a secret of many bytes"
    (row,) = compare(PEOPLE, path, k=[4], suppression=[0], key=key).rows
    # Nothing is written, so that nobody has to bring the key.
    (without,) = compare(PEOPLE, path, k=[4], suppression=[0]).rows
    assert replace(without, seconds=row.seconds) == row
    release = Policy.read(path).protect(PEOPLE, key=key)
    release.write(tmp_path / "release.csv")
    assert row.n_bytes == (tmp_path / "release.csv").stat().st_size
