"""The attack by cuts that were not made: against its definition, and against replays of the whole program."""

from __future__ import annotations

import json
import random
import re
from itertools import permutations
from pathlib import Path

import polars as pl
import pytest
import yaml

import hushtable as ht
from command import done, run
from hushtable.anonymizers import untaken_cuts
from hushtable.anonymizers.untaken_cuts import UncutRelease
from twins.naive_untaken_cuts import cuts_of, values_left

K2 = ht.KAnonymity(2)
L2 = ht.DistinctLDiversity(2, "s")
SIX = pl.DataFrame({"x": [1, 2, 3, 4, 5, 6], "s": ["b", "b", "a", "a", "a", "a"]})


def draw_table(seed: int, n: int = 8, values: str = "ab") -> pl.DataFrame:
    draw = random.Random(seed)
    return pl.DataFrame(
        {
            "x": [draw.randrange(12) for _ in range(n)],
            "g": [draw.choice("pqr") for _ in range(n)],
            "s": [*values, *(draw.choice(values) for _ in range(n - len(values)))],
        }
    )


def released(data: pl.DataFrame, models=(K2, L2), method=None, **options) -> ht.Release:
    return ht.anonymize(
        data, quasi_identifiers=["x", "g"], models=[*models], method=method or ht.Mondrian(), roles="trust", **options
    )


def by_cuts(release: ht.Release) -> ht.risk.OwnAttack | None:
    return next((each for each in release.attack().attacks if each.name == "cuts not made"), None)


def test_who_is_left_with_one_value_because_a_class_was_not_cut():
    four = pl.DataFrame({"x": [1, 2, 3, 4], "s": ["a", "a", "b", "b"]})
    release = ht.anonymize(four, quasi_identifiers=["x"], models=[K2, L2], roles="trust")
    assert release.frame["x"].to_list() == ["[1, 4]"] * 4
    # Its size allows a cut in the middle: either half agrees on a value, but nobody knows on which.
    found = by_cuts(release)
    assert (found.n_classes, found.n_targets, found.n_found, found.fell) == (1, 4, 0, False)
    # Two b among six: they are together at either end, so that the two in the middle have a.
    release = ht.anonymize(SIX, quasi_identifiers=["x"], models=[K2, L2], roles="trust")
    found = by_cuts(release)
    assert (found.n_classes, found.n_targets, found.n_found, found.n_right, found.fell) == (1, 6, 2, 2, True)
    assert "By cuts that were not made: 2 records" in " ".join(release.attack().facts)


@pytest.mark.parametrize(("values", "l", "margin"), [("ab", 2, 0), ("ab", 2, 1), ("abc", 3, 0)])
def test_the_attack_is_its_definition(values, l, margin):  # noqa: E741 - the model's own letter
    n_stopped = 0
    for seed in range(6):
        data = draw_table(seed, 7, values)
        release = released(data, (K2, ht.DistinctLDiversity(l, "s")), ht.Mondrian(margin=margin))
        found = by_cuts(release)
        expected = [0, 0, 0]
        rows = data.with_columns(label=pl.Series(release.partition.labels))
        for _, part in rows.group_by("label"):
            cuts = cuts_of(part.select("x", "g").rows(), (True, False), max(2, l) + margin)
            if cuts:
                left = values_left(part["s"].to_list(), cuts, lambda half: len({*half}) >= l)
                counts = 1, len(part), sum(len(each) < l for each in left)
                expected = [a + b for a, b in zip(expected, counts, strict=True)]
        assert [found.n_classes, found.n_targets, found.n_found] == expected
        n_stopped += expected[0]
    assert n_stopped > 0 or margin


def same_file(release: ht.Release) -> list[tuple[str, ...]]:
    return sorted(release.frame.rows())


def compare_with_replays(seeds, **options) -> tuple[int, int]:
    """Replay the program on every arrangement of the column; return persons certain by the attack, and by replays."""
    n_attack = n_replay = 0
    for seed in seeds:
        data = draw_table(seed)
        release = released(data, **options)
        truth, file = data["s"].to_list(), same_file(release)
        agreeing = []
        for arranged in sorted({*permutations(truth)}):
            try:
                other = released(data.with_columns(s=pl.Series(arranged)), **options)
            except ht.InfeasibleError:
                continue
            if same_file(other) == file:
                agreeing.append(arranged)
        assert tuple(truth) in agreeing
        certain = [len({each[i] for each in agreeing}) == 1 for i in range(len(truth))]
        n_found = by_cuts(release).n_found
        assert n_found <= sum(certain)
        n_attack, n_replay = n_attack + n_found, n_replay + sum(certain)
    return n_attack, n_replay


def test_nobody_is_called_certain_whom_replays_of_the_program_do_not():
    n_attack, n_replay = compare_with_replays((2, 17))
    assert 0 < n_attack < n_replay


@pytest.mark.slow
@pytest.mark.parametrize("method", [ht.Mondrian(), ht.Mondrian(cut="median"), ht.Mondrian(margin=1)])
def test_nobody_is_called_certain_in_25_tables_whom_replays_do_not(method):
    n_attack, n_replay = compare_with_replays(range(25), method=method)
    assert 0 < n_attack <= n_replay


POLICY = """
version: 1
columns: {x: quasi-identifier, s: sensitive}
models: [k-anonymity: 2, distinct-l-diversity: {l: 2, sensitive: s}]
method: {mondrian: {recoding: tight}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    SIX.write_csv("six.csv")
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path


def by_command(*options: str) -> tuple[int | None, str | None]:
    """Attack a written release; return how many records fall to its cuts, or why nobody knows."""
    entries = json.loads(run("attack-release", "out.csv", *options, "--json").out)
    found = [each["n_found"] for each in entries["attacks"] if each["name"] == "cuts not made"]
    return (found[0] if found else None), entries["untried"].get("cuts not made")


def test_the_command_attacks_by_the_policy_or_by_the_internal_manifest(folder: Path) -> None:
    done("anonymize", "six.csv", "-p", "policy.yaml", "-o", "out.csv")
    assert by_command("--original", "six.csv") == (2, None)
    assert by_command("--original", "six.csv", "-p", "policy.yaml") == (2, None)
    assert by_command() == (None, "the people of the release are not known")
    assert "By cuts that were not made: 2 records" in run("attack-release", "out.csv", "--original", "six.csv").out
    # A reader of the file alone has to be told how it was made.
    done("anonymize", "six.csv", "-p", "policy.yaml", "-o", "out.csv", "--external", "--force")
    assert by_command("--original", "six.csv") == (None, "how the release was made is not known: give its policy")
    assert by_command("--original", "six.csv", "-p", "policy.yaml") == (2, None)


@pytest.mark.slow
def test_a_report_of_a_file_has_the_attack_by_cuts(folder: Path) -> None:
    done("anonymize", "six.csv", "-p", "policy.yaml", "-o", "out.csv")
    assert "cuts not made" in ht.report("out.csv", original="six.csv").to_html()
    # With another margin it would fall to nothing: it is attacked, and shown, as its manifest says it was made.
    (folder / "wider.yaml").write_text(POLICY.replace("recoding: tight", "recoding: tight, margin: 1"))
    page = ht.report("out.csv", original="six.csv", policy="wider.yaml").to_html()
    assert "By cuts that were not made: 2 records" in page
    assert "margin: 1" not in page


def test_a_pipeline_attacks_by_cuts_too(folder: Path) -> None:
    columns = "columns: {x: quasi-identifier, s: sensitive}"
    models = "models: [k-anonymity: 2, distinct-l-diversity: {l: 2, sensitive: s}]"
    (folder / "run.yaml").write_text(
        "Loader: {six: {filepath: six.csv}}\n"
        f"Anonymizer: {{two: {{{columns}, {models}, method: {{mondrian: {{recoding: tight}}}}}}}}\n"
        "Evaluator: {tried: {method: attack}}\nReporter: {all: {method: save_report, granularity: [details]}}\n"
    )
    done("run", "run.yaml")
    [details] = folder.rglob("*details*.csv")
    rows = pl.read_csv(details.read_bytes(), infer_schema=False)
    assert rows.filter(pl.col("tried_name") == "cuts not made")["tried_n_found"].to_list() == ["2"]


def test_rows_in_files_and_lazy_frames_are_attacked_alike(folder: Path) -> None:
    SIX[:3].write_csv("part-1.csv")
    SIX[3:].write_csv("part-2.csv")
    for data in (SIX.lazy(), "six.csv"):
        release = ht.anonymize(data, quasi_identifiers=["x"], models=[K2, L2], roles="trust", engine="auto")
        assert by_cuts(release).n_found == 2
    batches = ht.anonymize("six.csv", quasi_identifiers=["x"], models=[K2, L2], roles="trust", engine="stream")
    assert by_cuts(batches).n_found == 2


def test_persons_are_counted_where_they_have_several_records() -> None:
    twice = pl.concat([SIX.with_row_index("who"), SIX.with_row_index("who")])
    release = ht.anonymize(
        twice, quasi_identifiers=["x"], models=[K2, L2], method=ht.Mondrian(), roles="trust", person="who"
    )
    found = by_cuts(release)
    assert (found.unit, found.n_targets) == ("persons", 6)
    assert found.n_found <= 2


def test_the_original_of_a_rounded_column_is_rounded_before_it_is_attacked(folder: Path) -> None:
    # The manifest declares whole numbers, which those of the original are not.
    numbers = pl.when(pl.col("s") == "a").then(11.5).otherwise(29.5)
    SIX.with_columns(s=numbers).write_csv("six.csv")
    (folder / "policy.yaml").write_text(POLICY.replace("s: sensitive}", "s: {role: sensitive, round: 10}}"))
    done("anonymize", "six.csv", "-p", "policy.yaml", "-o", "out.csv")
    assert by_command("--original", "six.csv") == (2, None)
    assert by_command("--original", "six.csv", "-p", "policy.yaml") == (2, None)
    SIX.drop("s").write_csv("other.csv")
    for command in ("attack-release", "verify"):
        lacking = run(command, "out.csv", "--original", "other.csv")
        assert (lacking.code, "no column 's'" in lacking.err) == (2, True)


@pytest.mark.parametrize(
    ("method", "why"),
    [
        (ht.MinGen(), "what mingen could have done instead"),
        (ht.FullDomain(), "what full_domain could have done instead"),
        (ht.Mondrian(exchange=True), "exchanged"),
        (ht.Mondrian(cut="median", strict=False), "dealt to both sides"),
    ],
)
def test_of_other_methods_it_is_said_that_it_is_not_judged(method: object, why: str) -> None:
    found = ht.anonymize(SIX, quasi_identifiers=["x"], models=[K2, L2], method=method, roles="trust").attack()
    assert why in found.untried["cuts not made"]
    assert "cuts not made" not in found.fell


def test_a_class_that_the_policy_would_have_cut_is_not_judged(folder: Path) -> None:
    # Without the margin it would have been cut: the policy is another one.
    SIX.with_columns(s=pl.Series(["a", "b", "a", "b", "a", "b"])).write_csv("mixed.csv")
    options = ("-o", "out.csv", "--set", "method.mondrian.margin=2")
    done("anonymize", "mixed.csv", "-p", "policy.yaml", *options, "--external")
    entries = json.loads(run("attack-release", "out.csv", "--original", "mixed.csv", "-p", "policy.yaml", "--json").out)
    assert any(each.startswith("cuts not made, in 1 classes") for each in entries["untried"])


def test_a_release_is_attacked_by_the_margin_that_its_manifest_records(folder: Path) -> None:
    done("anonymize", "six.csv", "-p", "policy.yaml", "-o", "out.csv")
    # By this margin fewer cuts were allowed, and fewer tell something.
    (folder / "wider.yaml").write_text(POLICY.replace("recoding: tight", "recoding: tight, margin: 1"))
    assert by_command("--original", "six.csv", "-p", "wider.yaml") == (2, None)
    told = run("attack-release", "out.csv", "--original", "six.csv", "-p", "wider.yaml")
    assert "careful: the policy differs from the one in the manifest in method" in told.err
    assert "careful" not in run("attack-release", "out.csv", "--original", "six.csv", "-p", "policy.yaml").err


def test_an_unknown_entry_of_the_recorded_policy_is_not_sought_in_the_one_that_was_given(folder: Path) -> None:
    done("anonymize", "six.csv", "-p", "policy.yaml", "-o", "out.csv")
    path = folder / "out.csv.manifest.json"
    entries = json.loads(path.read_text())
    entries["policy"]["newer"] = 1
    path.write_text(json.dumps(entries))
    refused = run("attack-release", "out.csv", "--original", "six.csv", "-p", "policy.yaml")
    assert (refused.code, "the policy in the manifest: newer: no such entry" in refused.err) == (2, True)


GATE = ("attack-release", "out.csv", "--original", "four.csv", "--fail-above")


@pytest.fixture
def four(folder: Path) -> None:
    # Nobody knows who of the halves has which value: the release falls to no attack.
    pl.DataFrame({"x": [1, 2, 3, 4], "s": ["a", "a", "b", "b"]}).write_csv("four.csv")
    done("anonymize", "four.csv", "-p", "policy.yaml", "-o", "out.csv")


@pytest.mark.usefixtures("four")
def test_a_gate_fails_where_an_attack_was_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(*GATE, "count=0").code == 0
    monkeypatch.setattr(untaken_cuts, "_MAX_CELLS_JUDGED", 1)
    stopped = run(*GATE, "count=0")
    assert stopped.code == 1
    assert "count cannot be said to be at most 0: cuts not made could not be judged (classes whose" in stopped.err
    # It is one attack at most; and without the people nobody asked for it.
    assert run(*GATE, "count=1").code == 0
    assert run("attack-release", "out.csv", "--fail-above", "count=0").code == 0
    entries = json.loads(run(*GATE, "count=0", "--json", "--external").out)
    assert entries["unjudged"] == ["cuts not made"]
    assert "1 classes" not in json.dumps(entries)


@pytest.mark.usefixtures("four")
@pytest.mark.parametrize(
    ("method", "why"), [("full_domain", "may tell more"), ("{mondrian: {cut: median, exchange: true}}", "exchanged")]
)
def test_a_gate_fails_where_a_method_is_not_attacked_that_may_tell_more(method: str, why: str) -> None:
    done("anonymize", "four.csv", "-p", "policy.yaml", "-o", "out.csv", "--force", "--set", f"method={method}")
    failed = run(*GATE, "count=0")
    assert (failed.code, why in failed.err) == (1, True)
    # By k-anonymity alone no value kept a class from being cut: the attack does not apply.
    done("anonymize", "four.csv", "-p", "policy.yaml", "-o", "out.csv", "--force", "--set", f"method={method}",
         "--set", "models=[k-anonymity: 2]")  # fmt: skip
    assert "could not be judged" not in run(*GATE, "count=0").err


@pytest.mark.usefixtures("four")
@pytest.mark.parametrize("n", [0, 1])
def test_a_pipeline_fails_where_an_attack_was_stopped(folder: Path, monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    monkeypatch.setattr(untaken_cuts, "_MAX_CELLS_JUDGED", 1)
    entries = {**yaml.safe_load(POLICY)}
    steps = {
        "Loader": {"four": {"filepath": "four.csv"}},
        "Anonymizer": {"two": {name: entry for name, entry in entries.items() if name != "version"}},
        "Evaluator": {"tried": {"method": "attack", "limit": {"n_fell": n}}},
        "Reporter": {"all": {"method": "save_report", "granularity": ["global"]}},
    }
    (folder / "run.yaml").write_text(yaml.safe_dump(steps, sort_keys=False))
    made = ht.Pipeline.read("run.yaml").run("made")
    assert any("cuts not made could not be judged" in each for each in made.failures) is (n == 0)
    [details] = folder.rglob("*global*.csv")
    assert pl.read_csv(details.read_bytes())["tried_n_unjudged"].to_list() == [1]


def test_classes_whose_cells_fit_others_too_are_not_judged() -> None:
    # A missing value makes the cell of its class "*", which fits everybody.
    data = pl.concat([SIX, pl.DataFrame({"x": [None], "s": ["a"]}, SIX.schema)])
    found = ht.anonymize(data, quasi_identifiers=["x"], models=[K2, L2], roles="trust").attack()
    cuts = next(each for each in found.attacks if each.name == "cuts not made")
    assert (cuts.n_targets, cuts.fell) == (0, False)
    assert any(each.startswith("cuts not made, in ") for each in found.untried)


def test_the_work_is_limited_and_a_class_beyond_it_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    # Six records, three cuts, 15 arrangements: with one cell less they are drawn, and those are too few.
    release = ht.anonymize(SIX, quasi_identifiers=["x"], models=[K2, L2], roles="trust")
    monkeypatch.setattr(untaken_cuts, "_MAX_CELLS_JUDGED", 6 * 3 * 15)
    assert by_cuts(release).n_found == 2
    monkeypatch.setattr(untaken_cuts, "_MAX_CELLS_JUDGED", 6 * 3 * 15 - 1)
    assert by_cuts(release).n_targets == 0
    assert "cuts not made, in 1 classes" in release.attack().untried


def test_a_release_in_memory_draws_by_the_seed_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    # 68 of 70 records have one of three values: no cut leaves all three on both sides, and arrangements are drawn.
    values = pl.Series([*"b", *"a" * 34, *"c", *"a" * 34])
    release = ht.anonymize(
        pl.DataFrame({"x": range(70), "s": values}),
        quasi_identifiers=["x"],
        models=[K2, ht.DistinctLDiversity(3, "s")],
        roles="trust",
    )
    monkeypatch.setattr(untaken_cuts, "_MAX_ARRANGEMENTS", 360)
    found = [next(a for a in release.attack(seed=seed).attacks if a.n_right is None) for seed in (0, 1, 2, 0)]
    assert found[0].n_found == found[3].n_found
    assert len({each.n_found for each in found}) > 1


def test_groups_that_a_release_named_itself_leave_their_classes_unjudged(folder: Path) -> None:
    # Its manifest says nothing of what "alpha and 11 more" means, and the policy has no hierarchy for it.
    letters = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda my ny xi omicron pi rho sigma tau psi"
    data = pl.DataFrame({"x": [*letters.split(), "phi", "chi", "omega", "ypsilon"], "s": [*"aaaaaaaaaaab"] * 2})
    data.write_csv("jobs.csv")
    (folder / "policy.yaml").write_text(POLICY.replace("tight", "readable").replace("y: 2", "y: 6"))
    done("anonymize", "jobs.csv", "-p", "policy.yaml", "-o", "out.csv")
    entries = json.loads(run("attack-release", "out.csv", "--original", "jobs.csv", "--json").out)
    assert any(each.startswith("cuts not made, in ") for each in entries["untried"])


def test_with_k_anonymity_alone_there_is_nothing_to_attack() -> None:
    found = ht.anonymize(SIX, quasi_identifiers=["x"], sensitive=["s"], models=[K2], roles="trust").attack()
    assert "cuts not made" not in found.untried
    assert all(each.name != "cuts not made" for each in found.attacks)


def test_a_search_for_more_values_than_are_claimed_is_a_margin(folder: Path) -> None:
    data = pl.concat([draw_table(seed, 12, "abc") for seed in range(3)])
    options = {"models": [K2, L2], "search_models": [ht.DistinctLDiversity(3, "s")]}
    release = ht.anonymize(data, quasi_identifiers=["x", "g"], roles="trust", **options)
    values = release.frame.group_by("x", "g").agg(n=pl.col("s").n_unique())["n"]
    assert values.min() == 3
    assert release.models == (K2, L2)
    assert release.verify().conditions[1] == "distinct-l-diversity (l = 2, sensitive = 's')"
    # The attack asks what is left of the claim.
    assert "fewer than 2 values" in by_cuts(release).claim
    data.write_csv("abc.csv")
    policy = POLICY.replace("columns: {x:", "columns: {g: quasi-identifier, x:")
    (folder / "more.yaml").write_text(policy + "search_models: [distinct-l-diversity: {l: 3, sensitive: s}]\n")
    done("anonymize", "abc.csv", "-p", "more.yaml", "-o", "out.csv")
    cells = pl.read_csv("out.csv", infer_schema=False).sort("x", "g", "s")
    assert cells.rows() == release.frame.sort("x", "g", "s").rows()
    assert run("verify", "out.csv", "-p", "more.yaml").code == 0
    with pytest.raises(ht.InputError, match="distinct-l-diversity in search_models looks at 'g'"):
        ht.anonymize(data, quasi_identifiers=["x"], models=[K2], search_models=[ht.DistinctLDiversity(3, "g")])


def test_what_only_the_search_asks_of_a_column_is_attacked_and_warned_of(folder: Path) -> None:
    # The claim looks at no sensitive value, and its search did.
    release = ht.anonymize(
        SIX, quasi_identifiers=["x"], sensitive=["s"], models=[K2], search_models=[L2], method=ht.Mondrian()
    )
    assert by_cuts(release).n_found == 2
    (folder / "more.yaml").write_text(
        POLICY.replace(", distinct-l-diversity: {l: 2, sensitive: s}]", "]")
        + "search_models: [distinct-l-diversity: {l: 2, sensitive: s}]\n"
    )
    done("anonymize", "six.csv", "-p", "more.yaml", "-o", "out.csv")
    assert by_command("--original", "six.csv") == by_command("--original", "six.csv", "-p", "more.yaml") == (2, None)
    assert "infer more of s" in run("anonymize", "six.csv", "-p", "more.yaml", "-o", "out.csv", "--force").out
    # A column of the claim, and one that only the search looks at.
    both = SIX.with_columns(t=pl.Series([*"uvuvuv"]))
    found = ht.anonymize(
        both,
        quasi_identifiers=["x"],
        sensitive=["t"],
        models=[K2, L2],
        search_models=[ht.DistinctLDiversity(2, "t")],
        method=ht.Mondrian(),
    ).attack()
    assert [each.column for each in found.attacks if each.name == "cuts not made"] == ["s", "t"]


def test_a_search_keeps_no_other_models_beside_a_matching_notion() -> None:
    with pytest.raises(ht.InputError, match="was given with other models"):
        ht.anonymize(SIX, quasi_identifiers=["x"], models=[ht.GlobalK1(2)], search_models=[K2], method=ht.MinGen())


@pytest.mark.parametrize("values", ["aabbbb", "aaaabb", "bbaaac", "bbaaa"])
def test_another_original_is_not_judged(folder: Path, values: str) -> None:
    done("anonymize", "six.csv", "-p", "policy.yaml", "-o", "out.csv")
    SIX.head(len(values)).with_columns(s=pl.Series([*values])).write_csv("other.csv")
    found = json.loads(run("attack-release", "out.csv", "--original", "other.csv", "--json").out)
    cuts = next(each for each in found["attacks"] if each["name"] == "cuts not made")
    # The two b at the other end are as likely as where they are.
    assert (cuts["n_targets"], cuts["fell"]) == ((6, True) if values == "aaaabb" else (0, False))


def test_outsiders_read_no_count_below_k(folder: Path) -> None:
    (folder / "three.yaml").write_text(POLICY.replace("k-anonymity: 2", "k-anonymity: 3"))
    eight = pl.DataFrame({"x": range(8), "s": [*"bbaaaaaa"]})
    eight.write_csv("eight.csv")
    eight.with_columns(s=pl.Series([*"abababab"])).write_csv("other.csv")
    done("anonymize", "eight.csv", "-p", "three.yaml", "-o", "out.csv")
    for original in ("eight.csv", "other.csv"):
        entries = json.loads(run("attack-release", "out.csv", "--original", original, "--json", "--external").out)
        assert not any(re.search(r"\d (records|classes)", text) for text in (*entries["untried"], *entries["facts"]))
        inside = json.loads(run("attack-release", "out.csv", "--original", original, "--json").out)
        assert any(re.search(r"\d (records|classes)", text) for text in inside["facts"])


@pytest.mark.parametrize("recoding", ["tight", "readable", "nested", "label", "set"])
def test_no_class_is_left_that_the_listed_cuts_would_have_cut(recoding: str) -> None:
    # Of a cut that gains nothing, as between halves of one unit, rounding decides whether it is made: it is not listed.
    people = ht.datasets.people(150, seed=1).with_columns(s=pl.Series([*"aaaab"] * 30))
    release = ht.anonymize(
        people,
        quasi_identifiers=["income", "education", "sex"],
        models=[ht.KAnonymity(3), L2],
        method=ht.Mondrian(recoding=recoding),
        hierarchies={"education": "auto"},
        roles="trust",
    )
    meanings = {**release.hierarchies, **release.recoding.meanings()}
    published = release.edition.frame().with_row_per_record()
    uncut = UncutRelease.from_release(published, release.source, release.learner.request, meanings)
    values, n_cuts = people["s"].to_numpy(), 0
    for rows in uncut.classes:
        for side in uncut.list_cuts(rows):
            assert min(len({*values[rows[side]]}), len({*values[rows[~side]]})) == 1
            n_cuts += 1
    assert n_cuts > 0
