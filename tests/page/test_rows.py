"""Rows before and after: what may be seen of them, in any page, order and filter."""

import random
import re
from collections import Counter, defaultdict
from html import unescape
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from hushtable.page.row_guard import choose_shown_cells
from hushtable.reporting import PeopleCounter
from served_page import served

MASK = "•••"
RARE = "Yp3Wcanary"
N = 240
COLUMNS = ("age", "sex", "town", "job", "ill")


def people_table():
    """People of whom some have rare cells, and some common cells that are rare together."""
    draw = random.Random(3)
    rows = {
        "age": [str(20 + draw.randrange(30)) for _ in range(N)],
        "sex": [draw.choice("fm") for _ in range(N)],
        "town": [draw.choice(("Bonn", "Ulm", "Jena")) for _ in range(N)],
        "job": [draw.choice(("clerk", "cook", "nurse")) for _ in range(N)],
        "ill": [draw.choice(("flu", "gout")) for _ in range(N)],
    }
    for name in ("town", "job", "ill"):
        for row in range(4):
            rows[name][row] = f"{RARE}{name}"
    rows["age"][:3] = ["481516"] * 3
    # Of 40 nurses in Jena, three are men: each cell is common.
    for row in range(60, 100):
        rows["town"][row], rows["job"][row], rows["sex"][row] = "Jena", "nurse", "m" if row < 63 else "f"
    return rows


@pytest.fixture(scope="module", params=[None, "person"])
def seen(request, tmp_path_factory):
    """A table, and all pages of its rows, in every order."""
    folder, rows = tmp_path_factory.mktemp("rows"), people_table()
    rows["person"] = [str(1000 + i // 2) for i in range(N)]
    pl.DataFrame(rows).write_csv(folder / "people.csv")
    text = "columns: {age: quasi-identifier, sex: quasi-identifier, town: quasi-identifier, job: quasi-identifier, "
    text += "ill: sensitive, person: identifier}\nmodels: [k-anonymity: 3]\n"
    (folder / "policy.yaml").write_text(
        text + (f"person: {request.param}\n" if request.param else ""), encoding="utf-8"
    )
    with served(folder) as visitor:
        visitor.open("people.csv")
        orders = ["", *(f"&sort={side}-{place}" for side in ("before", "after") for place in range(5))]
        pages = {
            (order, page): visitor.get(f"/look?kept=1&page={page}{order}&down={page % 2 if order else ''}")
            for order in orders
            for page in range(1, 6)
        }
        classes = [visitor.get(f"/sign?class={number}&kept=1") for number in (0, 1, 2, 7)]
        persons = rows["person"] if request.param else [str(row) for row in range(N)]
        yield visitor, rows, persons, pages, classes


def read_rows(text):
    """Return the rows on a page: the class, and the cells before and after of each column."""
    table = re.search(r'<div class="table rows".*?</table>', text, re.DOTALL)
    found = []
    for row in re.findall(r"<tr>(<th scope=\"row\">.*?)</tr>", table[0], re.DOTALL):
        plain = [_read_cell(each) for each in re.findall(r"<td.*?</td>", row, re.DOTALL)]
        number = re.search(r"<a [^>]*>(.*?)</a>", row)[1]
        found.append((number, tuple(zip(plain[::2], plain[1::2], strict=True))))
    return found


def _read_cell(html):
    html = re.sub('<span class="sign".*?</span>|<span class="unseen">.*?</span>', "", html)
    return unescape(re.sub("<[^>]+>", "", html)).replace("\u00a0", " ").strip()


def test_no_rare_cell_leaves_in_any_order_page_or_filter(seen):
    _, _, _, pages, classes = seen
    for text in (*pages.values(), *classes):
        rows = re.search(r'<div class="table rows".*?</table>', text, re.DOTALL)[0]
        assert RARE not in rows
        assert "481516" not in rows
    assert any("Bonn" in text for text in pages.values())


def test_what_a_row_shows_is_shared_by_five_people(seen):
    """Judged from the screens and the table alone: common cells that are rare together are not in one row."""
    _, rows, persons, pages, _ = seen
    shown = [row for page in range(1, 6) for row in read_rows(pages["", page])]
    assert len(shown) == N
    for _, cells in shown:
        known = {}
        for name, (before, after) in zip(COLUMNS, cells, strict=True):
            if before != MASK:
                known[name] = before
            elif after in rows[name]:
                known[name] = after
        fitting = {persons[i] for i in range(N) if all(rows[name][i] == cell for name, cell in known.items())}
        assert len(fitting) >= 5, known
    patterns = Counter(tuple(before for before, _ in cells[:4]) for _, cells in shown)
    assert min(patterns.values()) >= 5


def test_every_order_shows_masked_cells_last(seen):
    _, _, _, pages, _ = seen
    orders = sorted({order for order, _ in pages})
    for order in orders:
        shown = [row for page in range(1, 6) for row in read_rows(pages[order, page])]
        if "sort" in order:
            # Odd pages are descending.
            first = read_rows(pages[order, 2])
            place = int(order[-1])
            cells = [cells[place]["after" in order] for _, cells in first]
            masked = [cell == MASK for cell in cells]
            assert masked == sorted(masked)
            if "before" in order and place:
                known = [cell for cell in cells if cell != MASK]
                assert known == sorted(known)
        else:
            assert [number for number, _ in shown] == sorted((number for number, _ in shown), key=_class_number)


def _class_number(text):
    return 0 if text == "*" else int(text)


def test_masked_rows_keep_the_order_that_they_have_without_sorting(seen):
    visitor, *_ = seen
    rows = visitor.server.desk.outcome.rows
    place = {row: i for i, row in enumerate(rows.order.tolist())}
    for column in rows.columns:
        for is_after in (False, True):
            found = rows.select_rows(column, is_after=is_after)
            _, is_shown = column.labels_of_rows(found, rows.class_of_row[found])
            is_shown = is_shown if is_after else column.is_shown[found]
            hidden = [place[row] for row in found[~is_shown].tolist()]
            assert hidden == sorted(hidden)
            assert not is_shown[len(found) - len(hidden) :].any()
    # Neither is the order of rows within a class that of the file.
    within = [
        pair for pair in pairwise(rows.order.tolist()) if rows.class_of_row[pair[0]] == rows.class_of_row[pair[1]]
    ]
    assert 0.2 < np.mean([first < second for first, second in within]) < 0.8


def test_a_class_is_asked_for_by_its_number(seen):
    _, _, _, _, classes = seen
    for number, text in zip(("*", "1", "2", "7"), classes, strict=True):
        assert {each for each, _ in read_rows(text)} <= {number}
    assert "people</small>" in classes[1]


def test_an_address_that_does_not_fit_shows_the_first_rows(seen):
    visitor, *_ = seen
    for query in ("page=0", "page=99999999999", "sort=before-99", "sort=x", "class=99999", "class=-1&down=x"):
        assert "Rows before and after" in visitor.get(f"/look?{query}")


def slowly_chosen(codes, groups, alike, bundles, persons, n):
    """Return which cells are shown, from the definition."""
    rows = range(len(codes))

    def people(chosen):
        return len({persons[row] for row in chosen})

    shown = set(rows)
    while True:
        pairs = defaultdict(list)
        for row in shown:
            pairs[alike[row], codes[row]].append(row)
        kept = {row for pair in pairs.values() if people(pair) >= n for row in pair}
        for parts in (alike, groups):
            for part in set(parts):
                members = {row for row in rows if parts[row] == part}
                if members - kept and people(members - kept) < n:
                    kept -= members
        torn = {bundles[row] for row in rows if row not in kept} - {-1}
        kept -= {row for row in rows if bundles[row] in torn}
        if kept == shown:
            return [row in shown for row in rows]
        shown = kept


@pytest.mark.parametrize("has_persons", [False, True])
def test_masks_are_those_of_the_definition(has_persons):
    draw = random.Random(5)
    n_shown = 0
    for _ in range(150):
        n_rows = draw.randint(1, 40)
        codes = [draw.choice((-1, 0, 0, 1, 2)) for _ in range(n_rows)]
        alike = [draw.randrange(4) for _ in range(n_rows)]
        groups = [part // 2 for part in alike]
        bundles = [draw.choice((-1, -1, -1, 0, 1)) for _ in range(n_rows)]
        persons = [draw.randrange(n_rows) if has_persons else row for row in range(n_rows)]
        n = draw.randint(1, 4)
        people = PeopleCounter(np.ones(n_rows, np.int64), np.array(persons, np.int32) if has_persons else None)
        arrays = (np.array(each, np.int32) for each in (codes, groups, alike, bundles))
        found = choose_shown_cells(*arrays, people, n).tolist()
        assert found == slowly_chosen(codes, groups, alike, bundles, persons, n)
        n_shown += sum(found)
    assert n_shown


def test_what_is_published_by_frequency_ends_at_no_rare_value_either(tmp_path):
    ages = ["481516"] * 3 + [str(480000 + i % 7) for i in range(57)]
    pl.DataFrame({"age": ages, "sex": [*"fm"] * 30}).write_csv(tmp_path / "people.csv")
    text = "columns: {age: quasi-identifier, sex: quasi-identifier}\nmodels: [k-anonymity: 20]\n"
    (tmp_path / "policy.yaml").write_text(f"{text}method: {{mondrian: {{recoding: tight}}}}\n", encoding="utf-8")
    with served(tmp_path) as visitor:
        desk = visitor.open("people.csv")
        assert any("481516" in each.text for each in desk.outcome.labels["age"][0])
        published, _ = desk.find_published_cells("age")
        assert published
        assert not any("481516" in each.text for each in published)
