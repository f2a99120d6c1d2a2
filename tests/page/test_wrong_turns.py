"""Twelve wrong turns of people on the page: each has a sentence that says what to do, and none is a dead end."""

import re
import threading

import polars as pl
import pytest

from served_page import fault_in, served

TEXT = (
    "read: {encoding: utf-8, delimiter: ','}\n"
    "columns: {age: quasi-identifier, town: quasi-identifier, name: identifier}\nmodels: [k-anonymity: 2]\n"
)
MOVE = {"suppression": "0", "method": "mondrian", "recoding": "readable"}


def write_people(folder, text=TEXT):
    rows = {"age": [30 + i % 4 for i in range(80)], "town": ["Bonn", "Ulm"] * 40, "name": [f"n{i}" for i in range(80)]}
    pl.DataFrame(rows).write_csv(folder / "people.csv")
    (folder / "policy.yaml").write_text(text, encoding="utf-8")


@pytest.fixture
def people(tmp_path):
    write_people(tmp_path)
    with served(tmp_path) as visitor:
        visitor.open("people.csv")
        yield visitor


def test_a_wrong_file_is_refused_beside_its_button_and_another_is_opened(people):
    desk = people.server.desk
    (desk.folder / "ragged.csv").write_text("a,b\n1,2\n1,2,3\n", encoding="utf-8")
    (desk.folder / "letter.csv").write_bytes(b"%PDF-1.4\x00\x01" * 50)
    (desk.folder / "german.csv").write_bytes("Größe;Ort\n1;Köln\n2;Köln\n".encode("cp1252"))
    assert 'href="/open"' in people.get("/columns")
    for name, says in (
        ("ragged.csv", "Mend this line"),
        ("letter.csv", "Choose another file"),
        ("nothing.csv", "look at the name"),
    ):
        refused = people.do("open", path=name)
        people.settle()
        shown = people.get("/open") if refused == "/columns" else refused
        assert says in fault_in(shown), name
        # The table that was open stays open.
        assert desk.looked.path.name == "people.csv"
    # The policy here is of a table that is spelled in another way.
    assert people.do("open", path="german.csv") == "/columns"
    assert people.settle().looked.path.name == "german.csv"
    assert desk.versions.file.name == "german.policy.yaml"


def test_a_wrong_column_is_told_before_signing_and_undone(people):
    people.do("role", column=2, role="other")
    people.settle()
    shown = people.get("/sign")
    assert "look like direct identifiers" in shown
    assert "Give the column another role" in shown
    people.do("undo", screen="columns")
    assert people.settle().policy.removed == ("name",)


def test_whoever_goes_back_to_an_old_form_hears_what_to_do(people):
    people.do("compare", ks="2,3", suppressions="0")
    people.settle()
    assert "compare again" in fault_in(people.do("choose", run=7))
    assert "ask for advice again" in fault_in(people.do("follow", change=3))
    assert "choose a rule first" in fault_in(people.do("label", column=0, level=1, group=0, name="x"))


def test_a_reload_in_the_middle_shows_how_far_it_is(people):
    desk, reached, gate = people.server.desk, threading.Event(), threading.Event()

    def work(_):
        reached.set()
        gate.wait()

    desk.jobs.start("writing", work, lambda job, _: desk.finish_job(job))
    reached.wait()
    for _ in range(2):
        assert 'id="progress"' in people.get("/sign")
    gate.set()
    people.settle()
    assert 'id="progress"' not in people.get("/sign")


def test_a_second_tab_cannot_sign_what_the_first_one_changed(people):
    people.get("/look")
    seen = re.search(r'name="seen" value="(\w+)"', people.get("/sign"))[1]
    people.do("move", k=4, **MOVE)
    people.settle()
    people.get("/look")
    told = people.do("write", name="out.csv", sign="yes", seen=seen, person="A", date="2026-01-01", comment="x")
    assert "in another tab or by hand" in fault_in(told)
    assert "look at what it leads to now, then sign" in fault_in(told)


def test_whoever_comes_back_goes_on_and_sees_who_signed(people, tmp_path):
    people.get("/look")
    seen = re.search(r'name="seen" value="(\w+)"', people.get("/sign"))[1]
    audience = "own organisation"
    signed = {"sign": "yes", "seen": seen, "person": "A. Muster", "date": "2026-01-01", "comment": "x"}
    people.do("write", name="people.release.csv", audience=audience, **signed)
    assert people.settle().written.signed
    with served(tmp_path) as again:
        again.open("people.csv")
        assert again.server.desk.policy_text == people.server.desk.policy_text
        assert "Signed by A. Muster on 2026-01-01 for own organisation" in again.get("/sign")
        record = tmp_path / "people.release.csv.signed.json"
        record.write_text(record.read_text(encoding="utf-8").replace("Muster", "Other"), encoding="utf-8")
        assert "was altered after it was signed" in again.get("/sign")


def test_undo_back_to_a_stopped_search_offers_to_go_on(people):
    desk = people.server.desk
    before = desk.policy_text
    # The search for a changed policy is stopped, another policy is searched, and undo goes back to the stopped one.
    with desk.lock:
        people_policy = desk.rules().with_entries({("limits", "suppression"): 0.1})
        desk.change_policy(people_policy)
        desk.stop_job()
        stopped = desk.policy_text
    people.settle()
    people.do("move", k=3, **MOVE)
    people.settle()
    assert not desk.is_stale
    people.do("undo", screen="choose")
    people.settle()
    assert desk.policy_text == stopped
    if desk.is_stale:
        for screen in ("/choose", "/look", "/sign", "/columns"):
            assert re.search(r'action="/do/again".*?Go on', people.get(screen)), screen
        assert "Go on with it, or change the policy" in people.get("/sign")
        people.do("again", screen="choose")
        people.settle()
    assert not desk.is_stale
    people.do("undo", screen="choose")
    assert people.settle().policy_text == before


def test_an_impossible_k_says_so_beside_its_field_and_the_other_good_news_goes(people):
    desk = people.server.desk
    people.do("move", k=1000, **MOVE)
    people.settle()
    shown = people.get("/choose")
    assert "Set a smaller k" in fault_in(shown)
    assert shown.index('role="alert"') < shown.index('action="/do/move"') < shown.index('action="/do/compare"')
    assert shown.index("<main") < shown.index('role="alert"')
    assert 'class="good"' not in shown
    assert "Choose other conditions" in people.get("/look") or desk.outcome is not None
    people.do("undo", screen="choose")
    assert not people.settle().is_stale
    assert fault_in(people.get("/choose")) == ""


def test_a_group_is_renamed_with_a_comma(people):
    people.do("hierarchy", column=1, rule="auto")
    ladder = people.settle().ladder("town")
    if ladder.n_levels < 3:
        nodes = "&".join(f"group={node}" for node in range(2))
        people.ask("POST", "/do/group", body=f"column=1&level=0&{nodes}&name=Rhein, Donau")
    else:
        people.do("label", column=1, level=1, group=0, name="Rhein, Donau")
    assert "Rhein, Donau" in people.settle().ladder("town").labels[1]


def test_a_symbolic_link_leads_nowhere(people, tmp_path_factory):
    desk, outside = people.server.desk, tmp_path_factory.mktemp("outside")
    (desk.folder / "hierarchies").symlink_to(outside)
    (desk.folder / "link").symlink_to(outside)
    told = people.ask("POST", "/do/group", body="column=1&level=0&group=0&group=1&name=x")[1]
    people.do("hierarchy", column=1, rule="auto")
    told += people.ask("POST", "/do/group", body="column=1&level=0&group=0&group=1&name=x")[1]
    assert "is outside the output folder" in told
    assert "outside the folder that hushtable was started in" in fault_in(people.do("write", name="link/out.csv"))
    assert not list(outside.iterdir())


def test_an_existing_output_says_which_box_to_tick(people):
    for _ in range(2):
        told = people.do("write", name="out.csv")
        people.settle()
    assert "Replace files of this name" in fault_in(told)
    assert people.do("write", name="out.csv", overwrite="yes") == "/sign"
    assert people.settle().written.is_verified


@pytest.mark.slow
def test_three_hundred_columns_are_shown_and_asked_about_one_by_one(tmp_path):
    rows = {f"c{i}": [(j * 7 + i) % 5 for j in range(40)] for i in range(300)}
    pl.DataFrame(rows).write_csv(tmp_path / "wide.csv")
    with served(tmp_path) as visitor:
        assert visitor.do("open", path="wide.csv") == "/columns"
        desk = visitor.settle()
        assert desk.fault == ""
        for screen in ("/columns", "/groups", "/choose", "/look", "/sign"):
            assert len(visitor.get(screen)) < 1_000_000
        assert "Answer what is asked first" in visitor.get("/sign")
