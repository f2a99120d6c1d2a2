"""The table of columns: several changes at once, missing codes as buttons, many columns by pages."""

import random
import re

import polars as pl
import pytest

from hushtable.page import replace_role
from hushtable.policy import Policy
from served_page import fault_in, place, served


def test_several_changes_are_one_step_and_one_search(ward):
    desk = ward.server.desk
    before, last = desk.outcome, desk.versions.last
    answers = {
        f"role-{place(desk, 'Schicht')}": "leave out",
        f"importance-{place(desk, 'PLZ')}": "3",
        f"ladder-{place(desk, 'Geburtsdatum')}": "units",
        f"kind-{place(desk, 'Merkmal')}": "category",
    }
    assert ward.do("columns", **answers, page=1) == "/columns?page=1"
    # The last answer can be read as long as the new one is sought.
    assert desk.outcome is not None
    ward.settle()
    policy = desk.rules()
    assert desk.versions.last == last + 1
    assert policy.left_out == ("Schicht",)
    assert policy.importance == {"PLZ": 3}
    assert policy.columns["Geburtsdatum"].hierarchy == "units"
    assert policy.columns["Merkmal"].kind == "category"
    assert desk.outcome is not before
    text = ward.get("/columns")
    assert re.search(rf'name="importance-{place(desk, "PLZ")}"[^>]*>.*?value="3" selected', text, re.DOTALL)
    assert "The last one took" in text
    assert desk.outcome.quality.cells["PLZ"].n_cells > 0
    ward.do("undo")
    ward.settle()


def test_a_hierarchy_is_taken_back(ward):
    desk = ward.server.desk
    field = f"ladder-{place(desk, 'PLZ')}"
    for word, hierarchy in (("auto", "auto"), ("cuts", None)):
        assert ward.do("columns", **{field: word}, page=1) == "/columns?page=1"
        ward.settle()
        assert desk.rules().columns["PLZ"].hierarchy == hierarchy
    ward.do("undo")
    ward.do("undo")
    ward.settle()


def test_nothing_changed_is_no_step(ward):
    desk = ward.server.desk
    last = desk.versions.last
    ward.do("columns", **{f"role-{place(desk, 'PLZ')}": "quasi-identifier", f"importance-{place(desk, 'PLZ')}": "1"})
    assert desk.versions.last == last


@pytest.mark.parametrize(
    ("field", "typed", "fault"),
    [
        ("role", "king", "is no role"),
        ("kind", "colour", "is no answer"),
        ("importance", "6", "is no answer"),
        ("ladder", "x.csv", "is no answer"),
    ],
)
def test_a_refused_setting_changes_nothing_and_stays_typed(ward, field, typed, fault):
    desk = ward.server.desk
    text, position, other = desk.policy_text, place(desk, "PLZ"), place(desk, "Geschlecht")
    shown = ward.do("columns", **{f"importance-{other}": "4", f"{field}-{position}": typed})
    assert fault in fault_in(shown)
    assert desk.policy_text == text
    assert re.search(rf'name="importance-{other}"[^>]*>.*?value="4" selected', shown, re.DOTALL)


def test_missing_codes_are_answered_by_buttons_and_rare_ones_not_shown(tmp_path):
    draw = random.Random(2)
    incomes = [str(draw.randrange(1000, 1100)) for _ in range(120)]
    incomes[:8] = ["99999"] * 8
    ages = [str(20 + draw.randrange(40)) for _ in range(120)]
    ages[:2] = ["-9"] * 2
    pl.DataFrame({"age": ages, "income": incomes, "sex": [*"fm"] * 60}).write_csv(tmp_path / "people.csv")
    text = (
        "columns: {age: quasi-identifier, income: quasi-identifier, sex: quasi-identifier}\nmodels: [k-anonymity: 2]\n"
    )
    (tmp_path / "policy.yaml").write_text(text, encoding="utf-8")
    with served(tmp_path) as visitor:
        desk = visitor.open("people.csv")
        shown = visitor.get("/columns")
        assert "99999, 8 times" in shown
        assert "-9, 2 times" not in shown
        visitor.do("columns", **{"code-1-0": "missing"})
        assert desk.rules().columns["income"].missing_values == ("99999",)
        assert re.search(r'value="missing" checked id="code-1-0-missing"', visitor.get("/columns"))
        visitor.do("columns", **{"code-1-0": "value"})
        assert desk.rules().columns["income"].missing_values == ()
        assert "is no answer" in fault_in(visitor.do("columns", **{"code-1-0": "king"}))


def test_many_columns_are_paged_and_found_and_nothing_typed_is_lost(tmp_path):
    columns = {f"q{number:03}": [str((i * number) % 7) for i in range(40)] for number in range(28)}
    pl.DataFrame(columns).write_csv(tmp_path / "survey.csv")
    entries = ", ".join(f"{name}: {'quasi-identifier' if name == 'q001' else 'other'}" for name in columns)
    (tmp_path / "policy.yaml").write_text(f"columns: {{{entries}}}\nmodels: [k-anonymity: 2]\n", encoding="utf-8")
    with served(tmp_path) as visitor:
        desk = visitor.open("survey.csv")
        assert visitor.get("/columns").count('id="role-') == 25
        turned = visitor.do("columns", **{"role-3": "sensitive", "page": "1", "turn": "2"})
        assert turned == "/columns?page=2"
        assert desk.rules().columns["q003"].role == "sensitive"
        assert visitor.get(turned).count('id="role-') == 3
        assert (
            visitor.do("columns", find="Q00", of="sensitive", go="find", page=2)
            == "/columns?find=Q00&of=sensitive&page=1"
        )
        found = visitor.get("/columns?find=Q00&of=sensitive&page=1")
        assert re.findall(r'id="role-(\d+)"', found) == ["3"]


def test_a_column_that_is_sensitive_no_more_leaves_the_search() -> None:
    policy = Policy.make(
        {
            "version": 1,
            "columns": {"age": "quasi-identifier", "ill": "sensitive"},
            "models": [{"k-anonymity": 2}],
            "search_models": [{"distinct-l-diversity": {"l": 2, "sensitive": "ill"}}],
        }
    )
    changed = replace_role(policy, "ill", "quasi-identifier", proposal={}, is_judgeable=True)
    assert changed.search_models == ()
    assert changed.quasi_identifiers == ("age", "ill")
