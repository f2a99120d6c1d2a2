"""Whether one person is in the table: what an assistant can ask about it, and how often an answer differs."""

import json
import random
from collections import Counter

import polars as pl
import pytest

pytest.importorskip("mcp")

from assistant_client import small_people
from assistant_neighbours import draw_draft, explain_sheets, explain_verdicts, judge, tell
from hushtable import datasets
from hushtable.assistant import AssistantOptions, open_session


def test_own_groups_ask_nothing_of_the_data(tmp_path):
    """Facts 3c: two calls of `compare` told whether somebody lives in Xanten; groups wait for a person now."""
    towns = ["Ulm", "Bonn", "Trier"] * 100
    told = []
    for name, town in (("with", [*towns[:-1], "Xanten"]), ("without", towns)):
        age = [20 + i % 50 for i in range(300)]
        pl.DataFrame({"age": age, "city": town, "sex": ["f", "m"] * 150}).write_csv(tmp_path / f"{name}.csv")
        session = open_session(AssistantOptions(tmp_path / f"{name}.csv", person="", state=tmp_path / name)).session

        def ask(tool, session=session, **arguments):
            return json.dumps(session.answer(tool, arguments, lambda _: None))

        groups = [{"label": "rest", "values": ["Ulm", "Bonn", "Trier"]}, {"label": "X", "values": ["Xanten"]}]
        answers = [ask("look"), ask("values", id="c02"), ask("ladders", id="c02")]
        for change in ({"groups": groups}, {"groups": groups[:1]}, {"ladder": "prefix 1"}, {"reason": "public"}):
            answers.append(ask("propose", columns=[{"id": "c02", **change}], k=5, suppression=0.05))
            draft = json.loads(answers[-1])["data"]["draft"]
            answers += [ask("judge", draft=draft), ask("why_not", draft=draft, k=5)]
        told.append(answers)
    assert told[0] == told[1]


def verdicts_on(cells, folder, name, changes):
    """Return what is said of a draft, with other cells in one column of a small table."""
    people = small_people(130).select("age", "sex", "education", "postcode")
    folder.mkdir()
    people.with_columns(pl.Series(name, cells)).write_csv(folder / "t.csv")
    session = open_session(AssistantOptions(folder / "t.csv", person="", state=folder / "state")).session
    columns = [column.id for column in session.sheet.columns if session.source.aliases[column.id] == name]
    outside = [{"id": each.id, "role": "leave out"} for each in session.sheet.columns if each.id not in columns]
    proposal = {"columns": [*(outside if "ladder" in changes else []), {"id": columns[0], **changes}]}
    told = session.answer("propose", proposal, lambda _: None)["data"]
    judged = session.answer("judge", {"draft": told["draft"], "ks": [5]}, lambda _: None)["data"]
    assert "verdicts" in judged
    return judged


@pytest.mark.parametrize(
    ("name", "usual", "odd", "changes"),
    [
        ("flag", ["no"], "yes", {"role": "sensitive"}),
        ("diagnosis", ["no"], "yes", {"role": "sensitive"}),
        ("education", ["low", "low", "high"], None, {"ladder": "education"}),
        ("postcode", small_people(130)["postcode"].to_list(), "=x", {"ladder": "prefix 3"}),
    ],
)
def test_no_verdict_tells_of_one_odd_cell(name, usual, odd, changes, tmp_path):
    cells = (usual * 130)[:130]
    told = verdicts_on(cells, tmp_path / "usual", name, changes)
    assert verdicts_on([*cells[:-1], odd], tmp_path / "odd", name, changes) == told


def with_somebody(draw, people):
    """Return people with one more person, who has a rare value, a rare pair, or nothing rare."""
    row = dict(zip(people.columns, draw.choice(people.rows()), strict=True))
    row["name"] = "Person 999"
    kind = draw.choice(["value", "pair", "person"])
    if kind == "value":
        row["postcode"] = "47665"
    elif kind == "pair":
        row["education"], row["postcode"] = "high", people["postcode"][0]
        row["age"] = 69
    return kind, pl.concat([people, pl.DataFrame([row], schema=people.schema)])


@pytest.mark.parametrize("n", [2, pytest.param(100, marks=pytest.mark.slow)])
def test_trackers_learn_nothing_but_where_an_edge_is_crossed(n, tmp_path, record_property):
    draw, seen = random.Random(5), Counter()
    people = small_people(263)
    without = tell(people, tmp_path / "without.csv")
    for _ in range(n):
        kind, more = with_somebody(draw, people)
        told = tell(more, tmp_path / "with.csv")
        crossed, wrong = explain_sheets(told, without)
        assert wrong == []
        arguments = draw_draft(draw, told)
        seen[f"{kind}: {explain_verdicts(judge(told, arguments), judge(without, arguments))}"] += 1
        seen.update(f"sheet: {each}" for each in crossed)
    record_property("seen", dict(seen))
    verdicts = {name: each for name, each in seen.items() if not name.startswith("sheet")}
    assert sum(verdicts.values()) == n
    assert not any(name.endswith(("hidden", "feasible", "more than an edge")) for name in verdicts), seen


TABLES = {
    # Of sizes that are not at an edge of rounding.
    "people": lambda: datasets.people(968, seed=1),
    "visits": lambda: datasets.visits(812, seed=2),
    "few people": lambda: datasets.people(402, seed=5),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_most_neighbours_are_told_the_same(name, tmp_path, record_property):
    """No guarantee: figures. Equal sheets: 92 % of people, 83 % of visits, whose many times are near the threshold."""
    draw, table = random.Random(9), TABLES[name]()
    told, seen = tell(table, tmp_path / "all.csv"), Counter()
    drafts = [draw_draft(draw, told) for _ in range(3)]
    verdicts = [judge(told, draft) for draft in drafts]
    for place in draw.sample(range(table.height), 200):
        fewer = pl.concat([table[:place], table[place + 1 :]])
        other = tell(fewer, tmp_path / "fewer.csv")
        crossed, wrong = explain_sheets(told, other)
        assert wrong == []
        seen["sheet equal" if told.sheet == other.sheet else "sheet differs"] += 1
        seen.update(f"crossed {each}" for each in crossed)
        draft, verdict = drafts[place % 3], verdicts[place % 3]
        seen[f"verdict {explain_verdicts(verdict, judge(other, draft))}"] += 1
    record_property("seen", dict(seen))
    assert seen["sheet equal"] >= 0.8 * 200, seen
    assert seen["verdict equal"] >= 0.99 * 200, seen
