"""Groups as people change them: moved, split, joined, renamed, removed; and what each level costs."""

from collections import Counter

import numpy as np
import polars as pl
import pytest

import hushtable as ht
from hushtable.errors import InputError
from hushtable.page.ladders import LevelFigures, measure_levels, with_joined, with_moved, with_name, without_level
from served_page import fault_in, served

TREE = {"tree": {"north": {"a": ["x", "y"], "b": ["z"]}, "south": {"c": ["w"]}}}


@pytest.fixture
def ladder():
    return ht.Hierarchy.from_dict(TREE, "town")


def paths(rows):
    return {row[0]: row[1:] for row in rows}


def nodes(ladder, level, *labels):
    return {ladder.labels[level].index(label) for label in labels}


def test_a_cell_is_moved_with_all_that_is_above_it(ladder):
    (into,) = nodes(ladder, 1, "c")
    moved = paths(with_moved(ladder, 0, nodes(ladder, 0, "y"), into, ""))
    assert moved == {"x": ["a", "north"], "y": ["c", "south"], "z": ["b", "north"], "w": ["c", "south"]}
    (into,) = nodes(ladder, 2, "south")
    assert paths(with_moved(ladder, 1, nodes(ladder, 1, "b"), into, ""))["z"] == ["b", "south"]


def test_a_group_is_split_by_moving_cells_to_a_new_one(ladder):
    assert paths(with_moved(ladder, 0, nodes(ladder, 0, "y"), None, "new, one"))["y"] == ["new, one", "north"]
    with pytest.raises(InputError, match="several groups of the next level"):
        with_moved(ladder, 0, nodes(ladder, 0, "y", "w"), None, "new")
    with pytest.raises(InputError, match="nothing was chosen"):
        with_moved(ladder, 0, set(), None, "new")
    with pytest.raises(InputError, match="no such group"):
        with_moved(ladder, 0, nodes(ladder, 0, "y"), 9, "")


def test_groups_of_one_level_are_joined(ladder):
    joined = paths(with_joined(ladder, 1, nodes(ladder, 1, "a", "b"), "ab"))
    assert joined["x"] == joined["z"] == ["ab", "north"]
    with pytest.raises(InputError, match="several groups of the next level"):
        with_joined(ladder, 1, nodes(ladder, 1, "a", "c"), "ac")
    with pytest.raises(InputError, match="fewer than two"):
        with_joined(ladder, 0, nodes(ladder, 0, "x", "y"), "xy")


def test_a_level_goes_and_the_cells_stay(ladder):
    assert paths(without_level(ladder, 1))["x"] == ["north"]
    with pytest.raises(InputError, match="no level to remove"):
        without_level(ladder, 0)


@pytest.mark.parametrize("name", ["b", "x", "*", " ", "a\nb"])
def test_a_group_has_a_name_of_its_own(ladder, name):
    with pytest.raises(InputError, match="name"):
        with_name(ladder, 1, ladder.labels[1].index("a"), name)


def slow_levels(ladder, cells, records, k):
    """Publish every record at one level, and count from the definition."""
    figures = []
    for level in range(ladder.n_levels):
        sizes, loss = Counter(), 0.0
        for cell, n in zip(cells, records, strict=True):
            if cell is None:
                label, share = ("*", 1.0) if level == ladder.n_levels - 1 else (None, 0.0)
            else:
                node = ladder.level_codes[level][ladder.values.index(cell)]
                label = ladder.labels[level][node]
                share = 0.0 if level == 0 else ladder.shares[level][node]
            sizes[label] += n
            loss += n * share
        below = sum(n for n in sizes.values() if n < k)
        figures.append(LevelFigures(len(sizes), min(sizes.values()), below, loss / sum(records)))
    return figures


def test_levels_cost_what_the_definition_says(ladder):
    draw = np.random.default_rng(3)
    for k in (1, 3, 8):
        cells = [draw.choice(["x", "y", "z", "w", ""]) or None for _ in range(20)]
        records = draw.integers(1, 4, 20)
        codes = np.array([-1 if cell is None else ladder.values.index(cell) for cell in cells], dtype=np.int32)
        found = measure_levels(ladder, codes, records.astype(np.int64), k)
        slow = slow_levels(ladder, cells, records.tolist(), k)
        assert [each.loss for each in found] == pytest.approx([each.loss for each in slow])
        assert [(each.n_groups, each.n_smallest, each.n_below) for each in found] == [
            (each.n_groups, each.n_smallest, each.n_below) for each in slow
        ]


@pytest.fixture
def towns(tmp_path):
    rows = [("Bonn", "Ulm", "Kiel", "Trier")[i % 4] for i in range(80)] + ["Zq7Xcanary"]
    pl.DataFrame({"town": rows, "age": [30 + i % 2 for i in range(81)]}).write_csv(tmp_path / "people.csv")
    (tmp_path / "towns.csv").write_text(
        "Bonn;west;*\nTrier;west;*\nUlm;east;*\nKiel;east;*\nZq7Xcanary;east;*\n", encoding="utf-8"
    )
    columns = "columns: {town: {role: quasi-identifier, hierarchy: towns.csv}, age: quasi-identifier}"
    (tmp_path / "policy.yaml").write_text(f"{columns}\nmodels: [k-anonymity: 2]\n", encoding="utf-8")
    with served(tmp_path) as visitor:
        visitor.open("people.csv")
        yield visitor


def test_groups_are_edited_through_the_page_and_no_rare_cell_is_shown(towns):
    desk, page = towns.server.desk, "/groups?column=0"
    ladder = desk.ladder("town")
    west = ladder.labels[1].index("west")
    shown = [towns.get(page)]
    assert 'draggable="true"' in shown[0]
    assert f'data-into="{west}"' in shown[0]
    assert "1 more, which too few people share" in shown[0]
    assert "The levels compared" in shown[0]
    kiel = ladder.values.index("Kiel")
    assert towns.do("regroup", column=0, level=0, group=kiel, into=west) == page
    ladder = desk.ladder("town")
    assert ladder.labels[1][ladder.level_codes[1][ladder.values.index("Kiel")]] == "west"
    # A name with a comma, and one that is taken.
    shown.append(towns.do("label", column=0, level=1, group=ladder.labels[1].index("east"), name="Ost, Rest"))
    assert "Ost, Rest" in desk.ladder("town").labels[1]
    refused = towns.do("regroup", column=0, level=0, group=kiel, into="new", name="west")
    assert "take another name, or join" in fault_in(refused)
    # The alert stands before the form that it is about.
    assert re_between(refused, 'role="alert"', "/do/").endswith('<form method="post" action=')
    ladder = desk.ladder("town")
    body = (
        f"column=0&level=1&group={ladder.labels[1].index('west')}&group={ladder.labels[1].index('Ost, Rest')}&name=all"
    )
    assert towns.ask("POST", "/do/join", body=body)[0] == 303
    assert desk.ladder("town").labels[1] == ("all",)
    assert towns.do("drop_level", column=0, level=1) == page
    assert desk.ladder("town").n_levels == 2
    for _ in range(4):
        towns.do("undo", screen="groups")
    towns.settle()
    assert set(desk.ladder("town").labels[1]) == {"east", "west"}
    shown += [towns.get(page), refused]
    assert not [text for text in shown if "Zq7Xcanary" in text]


def re_between(text, start, end):
    """Return what lies between two words of a page."""
    return text.partition(start)[2].partition(end)[0].rpartition('"')[0]
