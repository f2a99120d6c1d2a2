"""What is clicked is a policy: its history, what it leads to, and the same by the command."""

import json
import re
import threading
from types import SimpleNamespace

import polars as pl
import pytest

import hushtable as ht
from command import done
from hushtable.errors import InputError
from hushtable.page import actions
from hushtable.page.jobs import Jobs
from hushtable.page.ladders import with_group, with_name, write_ladder
from hushtable.page.versions import PolicyVersions
from hushtable.page.words import PageWords
from served_page import fault_in, place, served

WORD = "Zq7Xcanary"
KNOWN = "Yp3Wcanary"


def test_advice_is_followed_by_a_button_and_importance_is_set(ward):
    desk = ward.server.desk
    before, name = desk.policy_text, desk.rules().quasi_identifiers[0]
    ward.do("columns", **{f"importance-{place(desk, name)}": "3"})
    ward.settle()
    assert desk.rules().importance == {name: 3}
    ward.do("advise")
    ward.settle()
    changes = desk.find_advised_changes()
    assert changes[0].what in ward.get("/choose")
    assert ward.do("follow", change=0) == "/choose"
    ward.settle()
    assert desk.outcome.release.quality.set_ncp == changes[0].after
    assert desk.find_advised_changes() == ()
    assert "no such change" in ward.do("follow", change=0)
    while desk.policy_text != before:
        ward.do("undo")
        ward.settle()


def test_a_release_from_the_first_screen_to_the_last(ward, monkeypatch):
    desk = ward.server.desk
    assert not desk.is_stale
    ward.do("compare", ks="2,3", suppressions="0")
    ward.settle()
    assert "class_sizes" not in ward.get("/choose")
    assert ward.do("choose", run=1) == "/choose"
    ward.settle()
    assert desk.k == 3
    assert ward.do("write", name="daten.csv") == "/sign"
    ward.settle()
    assert desk.written is not None
    assert desk.written.is_verified
    assert "read back and verified" in ward.get("/sign")

    monkeypatch.chdir(desk.folder)
    command = desk.command(desk.folder / "wieder.csv").split()
    assert command[:2] == ["hushtable", "anonymize"]
    again = json.loads(done(*command[1:], "--json").out)
    ours = desk.outcome.release
    assert again["loss"] == ours.loss
    assert again["n_classes"] == ours.to_dict()["n_classes"]
    rows = [
        pl.read_csv(desk.folder / name, separator=";", infer_schema=False).sort(pl.all())
        for name in ("daten.csv", "wieder.csv")
    ]
    assert rows[0].equals(rows[1])
    assert done("verify", "daten.csv").code == 0


def test_a_model_of_a_target_is_trained_on_both(ward):
    pytest.importorskip("sklearn")
    desk = ward.server.desk
    ward.do("target", column=place(desk, "Geschlecht"))
    ward.settle()
    assert desk.fault == ""
    assert "Geschlecht" in desk.target
    assert desk.target.split(":")[0] in ward.get("/look").replace("&#x27;", "'")


def test_a_second_tab_sees_the_same_and_a_new_start_loses_nothing(ward):
    desk = ward.server.desk
    text = desk.policy_text
    assert desk.versions.file.read_text(encoding="utf-8") == text
    ward.do("move", k=4, suppression="1", method="mondrian", recoding="readable")
    ward.settle()
    with served(desk.folder) as other:
        other.do("open", path="aufnahmen.csv")
        found = other.settle()
        assert found.policy_text == desk.policy_text
        assert found.versions.last == desk.versions.last
        other.do("undo", screen="choose")
        other.settle()
        assert found.policy_text == text
    ward.get("/choose")
    assert ward.settle().policy_text == text


def test_undo_and_redo_are_steps_of_the_history(tmp_path):
    versions = PolicyVersions(tmp_path / "policy.yaml")
    for text in ("a", "b", "c"):
        versions.write_state(text)
    versions.go_to_step(versions.at - 1)
    assert (versions.text, versions.at, versions.last) == ("b", 2, 3)
    versions.go_to_step(versions.at - 5)
    assert versions.at == 2
    versions.go_to_step(3)
    assert versions.text == "c"
    versions.go_to_step(1)
    versions.write_state("d")
    assert (versions.text, versions.last, versions.read_step(3)) == ("d", 2, None)
    assert PolicyVersions(tmp_path / "policy.yaml").at == 2


def test_a_policy_that_is_changed_by_hand_is_seen_and_a_broken_one_told_of(ward):
    desk = ward.server.desk
    file = desk.versions.file
    last = desk.versions.last
    file.write_text("columns: [", encoding="utf-8")
    assert "not YAML" in fault_in(ward.get("/columns"))
    file.write_text(desk.policy.with_entries({"method.mondrian.recoding": "cut"}).to_yaml(), encoding="utf-8")
    assert fault_in(ward.get("/columns")) == ""
    assert desk.policy.method.recoding == "cut"
    assert desk.versions.last == last + 1
    ward.do("undo")
    assert ward.settle().policy.method.recoding == "readable"


def test_a_role_takes_with_it_what_speaks_of_the_column(ward):
    desk = ward.server.desk
    before = desk.policy_text
    assert any("Diagnose" in model.needs.sensitive for model in desk.policy.models)
    ward.do("role", column=place(desk, "Diagnose"), role="other")
    assert not any("Diagnose" in model.needs.sensitive for model in desk.policy.models)
    ward.do("role", column=place(desk, "Diagnose"), role="sensitive")
    assert any("Diagnose" in model.needs.sensitive for model in desk.policy.models)
    ward.do("columns", **{f"round-{place(desk, 'Kreatinin')}": "0.5"})
    assert desk.policy.rounding["Kreatinin"].round == 0.5
    assert "is no number" in fault_in(ward.do("columns", **{f"round-{place(desk, 'Kreatinin')}": "wide"}))
    ward.do("role", column=place(desk, "Diagnose"), role="leave out")
    assert desk.policy.left_out == ("Diagnose",)
    for _ in range(2):
        ward.do("undo")
    ward.do("role", column=place(desk, "PLZ"), role="identifier:fresh")
    assert desk.policy.fresh == ("PLZ",)
    ward.do("role", column=place(desk, "PLZ"), role="quasi-identifier")
    assert desk.policy.columns["PLZ"].hierarchy == {"prefix": {"lengths": [4, 3, 2, 1]}}
    text = ward.do("role", column=place(desk, "PLZ"), role="identifier:wrong")
    assert "is no role" in fault_in(text)
    for _ in range(4):
        ward.do("undo")
    assert ward.settle().policy_text == before


def test_groups_are_named_and_joined_in_files_that_undo_finds(ward):
    desk = ward.server.desk
    before, column = desk.policy_text, place(desk, "Station")
    ward.do("hierarchy", column=column, rule="auto")
    assert desk.policy.columns["Station"].hierarchy == "auto"
    ladder = desk.ladder("Station")
    parents = ladder.parent(0).tolist()
    both = [each for each in range(3) if parents.count(parents[each]) > 1]
    body = f"column={column}&level=0&group={both[0]}&group={both[1]}&name=Medizin"
    status, text, _ = ward.ask("POST", "/do/group", body=body)
    assert status == 303, fault_in(text)
    assert desk.policy.columns["Station"].hierarchy == "hierarchies/Station-1.csv"
    assert "Medizin" in ward.get(f"/groups?column={column}")
    node = desk.ladder("Station").labels[1].index("Medizin")
    ward.do("label", column=column, level=1, group=node, name="innere Fächer")
    assert desk.policy.columns["Station"].hierarchy == "hierarchies/Station-2.csv"
    ward.do("undo")
    assert "Medizin" in desk.ladder("Station").labels[1]
    for _ in range(2):
        ward.do("undo")
    assert ward.settle().policy_text == before
    taken = fault_in(ward.do("hierarchy", column=column, rule="file", options="../../x.csv"))
    assert "outside the folder" in taken
    assert "whole numbers" in fault_in(ward.do("hierarchy", column=column, rule="prefix", options="2, 4"))
    assert desk.policy_text == before


def test_groups_are_written_through_no_link_to_another_folder(tmp_path):
    work, outside = tmp_path / "work", tmp_path / "outside"
    work.mkdir()
    outside.mkdir()
    (work / "hierarchies").symlink_to(outside)
    with pytest.raises(InputError, match="is outside the output folder"):
        write_ladder([["a", "b"]], "job", work)
    assert not list(outside.iterdir())


def test_a_group_holds_groups_of_one_parent():
    tree = {"tree": {"north": {"a": ["x", "y"], "b": ["z"]}, "south": {"c": ["w"]}}}
    ladder = ht.Hierarchy.from_dict(tree, "town")
    names = list(ladder.labels[1])
    with pytest.raises(InputError, match="several groups"):
        with_group(ladder, 1, [names.index("a"), names.index("c")], "both")
    with pytest.raises(InputError, match="fewer than two"):
        with_group(ladder, 1, [0], "one")
    rows = with_group(ladder, 1, [names.index("a"), names.index("b")], "ab")
    assert {row[0]: row[1:] for row in rows}["x"] == ["a", "ab", "north"]
    renamed = with_name(ladder, 2, list(ladder.labels[2]).index("south"), "S")
    assert [row[2] for row in renamed if row[0] == "w"] == ["S"]
    with pytest.raises(InputError, match="needs a name"):
        with_name(ladder, 1, 0, "\n")


def test_groups_whose_names_hold_marks_are_read_as_they_were_written(tmp_path):
    west, east = ["a, b, c", "d, e, f"], ["g, h; i", "j, k, l"]
    tree = {"tree": {"Innere, allgemein, West": west, "Chirurgie, allgemein, Ost": east}}
    ladder = ht.Hierarchy.from_dict(tree, "Station")
    place = write_ladder(with_name(ladder, 1, 0, "Medizin, allgemein, West"), "Station", tmp_path)
    again = ht.Hierarchy.from_csv(tmp_path / place, "Station")
    assert again.values == ladder.values
    assert again.labels[1] == ("Medizin, allgemein, West", "Chirurgie, allgemein, Ost")
    rows = [["value", "level 1"], ["b", "c"]]
    assert ht.Hierarchy.from_csv(tmp_path / write_ladder(rows, "Station", tmp_path)).values == ("value", "b")


def test_groups_that_the_policy_refuses_leave_no_file(tmp_path, monkeypatch):
    def refuse(*_):
        raise InputError("refused")

    monkeypatch.setattr(actions, "_change_hierarchy", refuse)
    desk = SimpleNamespace(versions=PolicyVersions(tmp_path / "policy.yaml"))
    with pytest.raises(InputError, match="refused"):
        actions._write_groups(desk, "Station", [["a", "b"]])
    assert not [*tmp_path.rglob("*.csv")]


def test_no_cell_that_few_share_is_on_any_screen(tmp_path):
    """A planted secret is in every column, once or twice; what at least five people share may be shown."""
    n = 60
    people = pl.DataFrame(
        {
            "name": [f"{WORD} {i}" for i in range(n)],
            "age": [481516 if i < 2 else 30 + i % 3 for i in range(n)],
            "town": [f"{KNOWN}town" if i < 2 else ("Bonn", "Ulm")[i % 2] for i in range(n)],
            "job": [f"{KNOWN}job" if i < 4 else ("clerk", "cook")[i % 2] for i in range(n)],
            "diagnosis": [f"{WORD}ill" if i < 3 else ("flu", "gout")[i % 2] for i in range(n)],
            "visit": [f"{WORD}v{i}" if i < 4 else "once" for i in range(n)],
        }
    )
    people.write_csv(tmp_path / "people.csv")
    with served(tmp_path) as visitor:
        desk = visitor.open("people.csv")
        visitor.do("compare", ks="2,3", suppressions="0")
        visitor.settle()
        shown = [visitor.get(path) for path in ("/columns", "/choose", "/look", "/sign")]
        for column in range(len(people.columns)):
            for rule in ("cuts", "auto", "frequency"):
                shown.append(visitor.do("hierarchy", column=column, rule=rule))
                shown.append(visitor.get(f"/groups?column={column}"))
        visitor.settle()
        shown += [visitor.get("/look"), visitor.get("/sign"), visitor.do("write", name="people.csv")]
        assert desk.min_people == 5
        shown += [visitor.get("/open"), visitor.do("write", name="out.csv", sign="yes", person="A", comment="x")]
        visitor.do("move", k=1000, suppression="0", method="mondrian", recoding="readable")
        visitor.settle()
        shown += [visitor.get(path) for path in ("/choose", "/look", "/sign")]
        assert "Bonn" in shown[0]
        assert not [text[max(0, text.find(WORD) - 100) :][:300] for text in shown if WORD in text]
        # What the largest classes publish, a report shows.
        own = [re.sub("<caption>Two published records.*?</table>", "", text, flags=re.DOTALL) for text in shown]
        assert not [text[text.find(each) - 100 :][:300] for text in own for each in (KNOWN, "481516") if each in text]


def test_persons_count_where_a_person_has_several_rows(tmp_path):
    n = 60
    pl.DataFrame(
        {
            "patient": [i // 6 for i in range(n)],
            "age": [30 + i // 6 % 2 for i in range(n)],
            # Twelve records, and two persons.
            "town": [f"{WORD}town" if i < 12 else "Bonn" for i in range(n)],
        }
    ).write_csv(tmp_path / "visits.csv")
    policy = "columns: {patient: identifier, age: quasi-identifier, town: quasi-identifier}\nmodels: [k-anonymity: 2]\n"
    (tmp_path / "policy.yaml").write_text(f"{policy}person: patient\n", encoding="utf-8")
    with served(tmp_path) as visitor:
        desk = visitor.open("visits.csv")
        assert desk.policy.person == "patient"
        shown = [visitor.get(path) for path in ("/columns", "/groups?column=2")]
        assert all("Bonn" in text and WORD not in text for text in shown)


def test_names_of_columns_are_text(tmp_path):
    names = ['<script>alert("1")</script>', "a&b", "age", "\u202ename", "{0}"]
    rows = {
        name: [f"{place}{i % 30}" if "name" in name else f"{i % 2}" for i in range(60)]
        for place, name in enumerate(names)
    }
    pl.DataFrame(rows).write_csv(tmp_path / "odd.csv")
    with served(tmp_path) as visitor:
        visitor.open("odd.csv", "quasi-identifier")
        for path in ("/columns", "/groups?column=0", "/groups?column=4", "/choose", "/look", "/sign"):
            text = visitor.get(path)
            assert "<script>alert" not in text
            assert "\u202e" not in text
            assert "&lt;script&gt;" in text or path in ("/choose",)


@pytest.mark.parametrize("answer", ["missing", "text"])
def test_odd_cells_are_asked_about_by_form_and_answered_once(tmp_path, answer):
    born = [f"{1 + i % 28:02}.{1 + i % 12:02}.{1940 + i % 60}" for i in range(100)]
    born[7] = "31.02.1950"
    rows = (f"{each};{'mf'[i % 2]};J{i % 5}" for i, each in enumerate(born))
    (tmp_path / "t.csv").write_text("\n".join(["Geburtsdatum;Geschlecht;Diagnose", *rows]), encoding="utf-8")
    with served(tmp_path) as visitor:
        desk = visitor.open("t.csv")
        asked = visitor.get("/columns")
        assert "What are the odd cells of Geburtsdatum?" in asked
        assert "99.99.9999 (1)" in asked
        assert "31.02.1950" not in asked
        assert "is no answer" in visitor.do("odd_cells", column=0, answer="refuse")
        visitor.do("odd_cells", column=0, answer=answer)
        assert desk.rules().columns["Geburtsdatum"].odd_cells == answer
        assert "What are the odd cells" not in visitor.get("/columns")


def test_another_table_has_a_policy_of_its_own(tmp_path):
    for name, column in (("a.csv", "age"), ("b.csv", "zip")):
        pl.DataFrame({column: [10115 + i % 3 for i in range(30)], "sex": ["f", "m"] * 15}).write_csv(tmp_path / name)
    with served(tmp_path) as visitor:
        visitor.open("a.csv", "quasi-identifier")
        desk = visitor.open("b.csv", "quasi-identifier")
        assert desk.versions.file.name == "b.policy.yaml"
        assert visitor.open("a.csv").versions.file.name == "policy.yaml"


@pytest.mark.parametrize("role", ["quasi-identifier", "sensitive", "other"])
def test_an_identifier_is_not_written_until_somebody_vouches_for_it(role, tmp_path):
    people = {"age": [30, 31] * 6, "Nachname": ["Meier", "Lang", "Kurz"] * 4}
    pl.DataFrame(people).write_csv(tmp_path / "people.csv")
    text = f"columns: {{age: quasi-identifier, Nachname: {role}}}\nmodels: [k-anonymity: 2]\n"
    (tmp_path / "policy.yaml").write_text(text, encoding="utf-8")
    with served(tmp_path) as visitor:
        visitor.open("people.csv")
        assert "look like direct identifiers" in visitor.get("/sign")
        visitor.do("write", name="out.csv")
        assert "nothing is written" in visitor.settle().fault
        assert not (tmp_path / "out.csv").exists()
        visitor.do("accept", column=1, reason="made up")
        visitor.settle()
        visitor.do("write", name="out.csv")
        assert visitor.settle().written.is_verified


def test_what_cannot_be_written_is_told_and_vouched_for(tmp_path):
    n = 120
    pl.DataFrame(
        {"age": [30 + i % 2 for i in range(n)], "sex": ["f", "m"] * (n // 2), "code": [f"c{i * 7919 % 997}" for i in
         range(n)]}
    ).write_csv(tmp_path / "people.csv")  # fmt: skip
    text = "columns: {age: quasi-identifier, sex: quasi-identifier, code: other}\nmodels: [k-anonymity: 3]\n"
    (tmp_path / "policy.yaml").write_text(text, encoding="utf-8")
    with served(tmp_path) as visitor:
        desk = visitor.open("people.csv")
        assert "Refused: nothing is written" in visitor.get("/sign")
        visitor.do("write", name="out.csv")
        assert "nothing is written" in visitor.settle().fault
        assert not (tmp_path / "out.csv").exists()
        visitor.do("accept", column=2, reason="drawn by the page's test")
        visitor.settle()
        assert "Refused: nothing is written" not in visitor.get("/sign")
        visitor.do("write", name="out.csv")
        assert visitor.settle().written.is_verified
        assert desk.fault == ""


def test_an_input_is_never_written_over(ward):
    for name in ("aufnahmen.csv", "policy.yaml", "out.ods"):
        assert fault_in(ward.do("write", name=name, overwrite="yes"))


def test_a_job_is_stopped_and_does_not_begin_again_by_itself(ward):
    desk = ward.server.desk
    reached, gate = threading.Event(), threading.Event()

    def work(job):
        reached.set()
        gate.wait()
        job.tell(0.5)

    job = desk.jobs.start("comparing", work, lambda *_: None)
    reached.wait()
    assert 'id="progress"' in ward.get("/choose")
    ward.do("stop", screen="choose")
    gate.set()
    ward.settle()
    assert job.is_stopped
    assert "It was stopped" in ward.get("/choose")
    ward.do("again", screen="choose")


def test_a_fault_in_a_job_is_told_without_its_text():
    jobs = Jobs(lambda error: f"a fault: {type(error).__name__}")

    def work(_):
        raise KeyError(WORD)

    job = jobs.start("reading", work, lambda *_: None)
    assert jobs.wait()
    assert job.error == "a fault: KeyError"


def test_the_page_speaks_german(ward):
    status, text, _ = ward.ask("GET", "/columns", {"Accept-Language": "fr, de-AT;q=0.8, en"})
    assert status == 200
    assert '<html lang="de">' in text
    assert "Quasi-Identifikator" in text


def test_a_language_that_nobody_speaks_is_english():
    assert PageWords("xx").language == "en"


def test_a_box_adds_columns_of_bounds(ward):
    asked = {"k": "3", "suppression": "0", "method": "mondrian", "recoding": "readable"}
    assert ward.do("move", **asked, bounds="yes") == "/choose"
    ward.settle()
    desk = ward.server.desk
    assert desk.rules().writing.bounds
    release = desk.outcome.release
    assert release.claim.bounds
    assert {f"{name}_from" for name in release.claim.bounds} <= {*release.edition.names}
    assert re.search(r'<input[^>]*name="bounds"[^>]*checked', ward.get("/choose"))
    ward.do("move", **asked)
    ward.settle()
    assert not desk.rules().writing.bounds
    assert not desk.outcome.release.claim.bounds
