"""New rows go where a slow walk puts them, are published by cells that cover them, and are judged by themselves."""

import datetime as dt
import json
import pickle
import re
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import hushtable as ht
from command import done
from hushtable.anonymizers.fitted import LearnedRecoding
from hushtable.anonymizers.placement import Below
from hushtable.anonymizers.recoding_files import hash_contents
from reading import holds
from strategies import PALETTES, draws

REGIONS = {"south": ["graz", "linz, am"], "north": ["bonn", "zürich 🏔"], "brackets": ["[1, 2]"]}
TOWNS = ht.Hierarchy.from_dict({"tree": REGIONS}, "town")
PLACES = [town for towns in REGIONS.values() for town in towns]
LABELS = {"town": {**REGIONS, "*": [*PLACES, None]}}
SCHEMA = {
    "age": pl.Int64(),
    "share": pl.Float64(),
    "born": pl.Date(),
    "town": pl.String(),
    "kind": pl.String(),
    "ill": pl.String(),
}
KINDS = {"age": "integer", "share": "decimal", "born": "date", "town": "category", "kind": "category"}
QUASI = list(KINDS)
VALUES = [PALETTES[kind][1] for kind in ("integer", "decimal", "date", "text")]
STYLES = ["readable", "cut", "tight", "label", "set"]


@st.composite
def people(draw, min_rows, max_rows, more=()):
    """Rows with values of every kind; ``more`` are values of the columns that other rows have not."""
    columns = [st.sampled_from([*values, None, *(more[j] if more else [])]) for j, values in enumerate(VALUES)]
    row = st.tuples(*columns, st.sampled_from(["a", "b", "c", None]), st.sampled_from(["flu", "gout", None]))
    rows = draw(st.lists(row, min_size=min_rows, max_size=max_rows))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


NEW_VALUES = ([-50, 5, 9, 60], [0.3, 2.5, -9.75], [dt.date(1984, 5, 6), dt.date(2031, 1, 1)], ["graz"])


def protected(data, style, k, **options):
    options = {"hierarchies": {"town": TOWNS}, "roles": "trust", **options}
    method = ht.Mondrian(recoding=style)
    return ht.anonymize(data, quasi_identifiers=QUASI, models=[ht.KAnonymity(k)], method=method, **options)


def cells_of(frame, rows=None):
    """The published quasi-identifiers, a tuple for every row."""
    picked = frame if rows is None else frame[rows]
    return list(zip(*(picked[name].cast(pl.String).to_list() for name in QUASI), strict=True))


@pytest.mark.parametrize("style", STYLES)
@settings(max_examples=draws(40))
@given(data=people(4, 20), k=st.integers(1, 4), limit=st.sampled_from([0.0, 0.3]))
def test_its_own_rows_get_the_cells_that_they_have(style, data, k, limit):
    release = protected(data, style, k, suppression_limit=limit)
    kept = np.flatnonzero(~release.suppressed)
    recoded = release.learned.recode(data)
    whole = release.edition.frame().native if not release.drops_suppressed else None
    expected = cells_of(release.frame) if whole is None else cells_of(whole, kept)
    assert cells_of(recoded, kept) == expected


def nested(learned):
    """The cuts as nested tuples (column, side, left, right), and classes."""
    nodes = iter(zip(learned.routes.cut.tolist(), learned.routes.test.tolist(), strict=True))
    leaves = iter(learned.class_of_leaf.tolist())

    def subtree():
        cut, test = next(nodes)
        if cut < 0:
            return next(leaves)
        left = subtree()
        return learned.routes.columns[cut], learned.routes.sides[cut][test], left, subtree()

    return subtree()


def slow_class(learned, tree, row):
    """Walk down, then read the cells there."""
    while not isinstance(tree, int):
        column, side, left, right = tree
        value = row[column]
        if isinstance(side, Below):
            goes_left = value is None or (side.edge is not None and holds(f"<{side.edge}", value, KINDS[column]))
        else:
            goes_left = any(holds(cell, value, KINDS[column], LABELS.get(column)) for cell in side.cells)
        tree = left if goes_left else right
    texts = {name: cell.texts[cell.label[tree]] for name, cell in learned.cells.items()}
    covered = all(holds(texts[name], row[name], KINDS[name], LABELS.get(name)) for name in texts)
    return tree if covered else -1


@pytest.mark.parametrize("style", STYLES)
@settings(max_examples=draws(40))
@given(data=people(4, 20), new=people(1, 12, more=NEW_VALUES), k=st.integers(1, 4))
def test_rows_go_where_a_slow_walk_puts_them(style, data, new, k):
    # Groups by frequency have no meaning that the slow walk could read.
    learned = protected(data.with_columns(kind=pl.lit("a")), style, k).learned
    new = new.with_columns(kind=pl.lit("a"))
    table = ht.Table.encode(new, tuple(learned.cells), learned.asked.specs)
    tree = nested(learned)
    assert learned.classes(table).tolist() == [slow_class(learned, tree, row) for row in new.iter_rows(named=True)]


@settings(max_examples=draws(60))
@given(data=people(6, 24), new=people(3, 24, more=NEW_VALUES), k=st.integers(2, 3), style=st.sampled_from(STYLES))
def test_a_class_stays_where_the_new_rows_alone_pass(data, new, k, style):
    models = [ht.KAnonymity(k), ht.DistinctLDiversity(2, "ill")]
    if data.drop_nulls("ill")["ill"].n_unique() < 2:
        return
    method = ht.Mondrian(recoding=style)
    release = ht.anonymize(
        data, quasi_identifiers=QUASI, models=models, method=method, hierarchies={"town": TOWNS}, roles="trust"
    )
    learned = release.learned
    placed = learned.classes(ht.Table.encode(new, tuple(learned.cells), learned.asked.specs)).tolist()
    ill = new["ill"].to_list()
    held = {c: {i for i, at in zip(ill, placed, strict=True) if at == c and i is not None} for c in placed}
    stays = {c for c, n in Counter(placed).items() if c >= 0 and n >= k and len(held[c]) >= 2}
    try:
        later = release.apply(new)
    except ht.InfeasibleError:
        assert not stays
        return
    assert later.batch.n_unfit + later.batch.n_failed == later.n_suppressed
    gone = later.suppressed.tolist()
    assert not any(is_gone for is_gone, c in zip(gone, placed, strict=True) if c in stays)
    assert later.verify().passed
    published = cells_of(later.edition.frame().native)
    rows = [row for row, is_out in zip(new.iter_rows(named=True), gone, strict=True) if not is_out]
    if not later.drops_suppressed:
        published = [row for row, is_out in zip(published, gone, strict=True) if not is_out]
    held_by = {}
    for texts, row in zip(published, rows, strict=True):
        held_by.setdefault(texts, []).append(row)
        known = [name for name in QUASI if name != "kind"]
        assert all(_covers(text, row[name], name) for name, text in zip(QUASI, texts, strict=True) if name in known)
    for members in held_by.values():
        assert len(members) >= k
        assert len({row["ill"] for row in members} - {None}) >= 2
    # Whoever is left out could not even be published by what all rows together publish.
    first = {name: cell.texts[cell.label[0]] for name, cell in learned.cells_of_cuts.items() if len(cell.label)}
    left = [row for row, is_out in zip(new.iter_rows(named=True), gone, strict=True) if is_out]
    fit = [row for row in left if first and all(_covers(first[name], row[name], name) for name in QUASI[:4])]
    if first and first["kind"] == "*":
        assert len(fit) < k or len({row["ill"] for row in fit} - {None}) < 2


def _covers(text, value, name):
    """Whether a cell covers a value; calendar units, which `holds` does not know, are read here."""
    if (
        name == "born"
        and value is not None
        and re.fullmatch("[0-9]{4}(-[0-9]{2})?|[0-9]{4}-Q[1-4]|[0-9]{4}s", text or "")
    ):
        units = {f"{value:%Y-%m}", f"{value.year:04d}", f"{value.year // 10}0s"}
        return text in units | {f"{value.year:04d}-Q{(value.month + 2) // 3}"}
    return holds(text, value, KINDS[name], LABELS.get(name))


def batches():
    """Two batches of one population, and their release."""
    everyone = ht.datasets.people(3000, seed=5)
    first, second = everyone[:2000], everyone[2000:]
    release = ht.anonymize(
        first,
        quasi_identifiers=["birth_date", "sex", "education"],
        models=[ht.KAnonymity(5)],
        method=ht.Mondrian(recoding="readable"),
        hierarchies={"education": "auto"},
        roles="trust",
    )
    return release, second


def smallest_difference(earlier, later):
    """What somebody sees who holds two releases and subtracts one from the other: the fewest rows of a class left."""
    names = ["birth_date", "sex", "education"]
    counts = [Counter(row for row in frame[names].iter_rows() if row != ("*",) * 3) for frame in (earlier, later)]
    return min(n for n in (counts[1] - counts[0]).values())


def test_whoever_subtracts_finds_nobody_in_batches_that_are_judged_alone():
    release, second = batches()
    alone = release.apply(second)
    assert not alone.batch.replaces_earlier
    union = pl.concat([release.frame, alone.frame])
    assert smallest_difference(release.frame, union) >= 5
    together = release.apply(second, together=True)
    assert together.batch.replaces_earlier
    assert together.verify().passed
    assert together.frame.height == 3000
    assert smallest_difference(release.frame, together.frame) < 5


def test_what_is_published_together_says_so_outside(tmp_path):
    release, second = batches()
    for together in (True, False):
        path = tmp_path / f"{together}.csv"
        release.apply(second, together=together).write(path, external=True)
        told = json.loads((tmp_path / f"{together}.csv.manifest.json").read_text())
        assert told["replaces_earlier"] is together
        assert "batch" not in told


def test_equal_rows_of_another_library_get_the_same_cells():
    release, second = batches()
    labels = release.apply(second).partition.labels.tolist()
    assert release.apply(second.to_arrow()).partition.labels.tolist() == labels
    assert release.apply(ht.Table.encode(second)).partition.labels.tolist() == labels
    coded = ht.anonymize(
        ht.Table.encode(made_of()), quasi_identifiers=["age", "town"], models=[ht.KAnonymity(5)], roles="trust"
    )
    together = coded.apply(made_of(50), together=True)
    assert isinstance(together.frame, ht.Table)
    assert together.frame.n_records == 401 + 51
    assert together.verify().passed


def test_a_batch_is_published_by_the_cells_of_the_first_and_not_of_the_batch_before():
    release, second = batches()
    again = release.apply(second).apply(second)
    assert again.partition.labels.tolist() == release.apply(second).partition.labels.tolist()


def saveable(data, **options):
    """A release of which every cell comes from a grid or from a list that somebody wrote."""
    options = {"models": [ht.KAnonymity(3)], "method": ht.Mondrian(recoding="readable"), "roles": "trust", **options}
    return ht.anonymize(
        data, quasi_identifiers=["age", "share", "born", "town"], hierarchies={"town": TOWNS}, **options
    )


@settings(max_examples=draws(40))
@given(data=people(6, 24), new=people(1, 24, more=NEW_VALUES))
def test_a_saved_recoding_places_rows_as_the_one_in_memory(tmp_path_factory, data, new):
    release = saveable(data)
    if release.learned.from_data:
        # A column of one value, or of none, has no grid.
        return
    path = tmp_path_factory.mktemp("saved") / "recoding.json"
    release.save_recoding(path)
    read = ht.Recoding.read(path)
    assert read.recode(new).equals(release.learned.recode(new))
    assert read.recode(data).equals(release.frame)


def made_of(n=400):
    """People of whom one has values that nobody else has."""
    draws = np.random.default_rng(3)
    data = pl.DataFrame(
        {
            "age": draws.integers(18, 90, n),
            "pay": draws.integers(10, 80, n) * 1000 + 7,
            "town": draws.choice(PLACES, n),
            "ill": draws.choice(["flu", "gout"], n),
        }
    )
    odd = pl.DataFrame({"age": [117], "pay": [987_007], "town": ["graz"], "ill": ["Zq7Xcanary"]}, schema=data.schema)
    return pl.concat([data, odd])


def test_a_saved_recoding_holds_no_value_of_a_person(tmp_path):
    data = made_of()
    release = ht.anonymize(
        data,
        quasi_identifiers=["age", "pay", "town"],
        models=[ht.KAnonymity(5), ht.TCloseness(0.4, "ill")],
        method=ht.Mondrian(recoding="readable"),
        hierarchies={"town": TOWNS},
    )
    release.save_recoding(tmp_path / "recoding.json")
    text = (tmp_path / "recoding.json").read_text(encoding="utf-8")
    for trace in ("canary", "987007", "117"):
        assert trace not in text
    found = json.loads(text)
    assert {name for name, cell in found["cells"].items()} == {"age", "pay", "town"}
    # Whoever reads the file sees where the search cut: no end of pay is somebody's.
    edges = {node["below"] for node in found["routes"] if node.get("column") == "pay"}
    assert not edges & {str(pay) for pay in data["pay"].to_list()}


@pytest.mark.parametrize(
    ("options", "column"),
    [
        ({"method": ht.Mondrian(recoding="tight")}, "age"),
        ({"method": ht.Mondrian(recoding="cut")}, "age"),
        ({"hierarchies": {}}, "town"),
        ({"hierarchies": {"town": "auto"}}, "town"),
        ({"hierarchies": {"town": ht.Hierarchy.frequency()}}, "town"),
        ({"hierarchies": {"town": ht.Hierarchy.prefix([1])}}, "town"),
        ({"hierarchies": {"town": TOWNS, "age": ht.Hierarchy.runs()}}, "age"),
    ],
    ids=["tight", "cut", "lists", "auto", "frequency", "prefix", "runs"],
)
def test_cells_that_come_from_the_data_are_not_saved(tmp_path, options, column):
    given_ = {"models": [ht.KAnonymity(2)], "method": ht.Mondrian(recoding="readable"), "hierarchies": {"town": TOWNS}}
    is_spared = (pl.col("town") != "bonn") | (pl.int_range(pl.len()) < 40)
    people = made_of()[:-1].with_columns(town=pl.when(is_spared).then("town").otherwise(pl.lit("graz")))
    assert 0 < (people["town"] == "bonn").sum() < 20
    release = ht.anonymize(people, quasi_identifiers=["age", "pay", "town"], **{**given_, **options})
    with pytest.raises(ht.InputError, match=f"cannot be saved.*'{column}'"):
        release.save_recoding(tmp_path / "recoding.json")
    assert not list(tmp_path.iterdir())


def test_an_order_that_the_data_have_is_not_saved(tmp_path):
    data = made_of().with_columns(ill=pl.col("ill").cast(pl.Enum(["flu", "gout", "Zq7Xcanary"])))
    models = [ht.KAnonymity(5), ht.TCloseness(0.5, "ill")]
    options = {"quasi_identifiers": ["age"], "models": models, "roles": "trust"}
    method = ht.Mondrian(recoding="readable")
    with pytest.raises(ht.InputError, match="'ill' has an order"):
        ht.anonymize(data, **options, method=method).save_recoding(tmp_path / "recoding.json")
    order = {"ill": ht.ColumnSpec("ordered", ("flu", "gout", "Zq7Xcanary"))}
    release = ht.anonymize(data.cast({"ill": pl.String}), **options, method=method, specs=order)
    release.save_recoding(tmp_path / "recoding.json")
    assert ht.Recoding.read(tmp_path / "recoding.json").apply(data.cast({"ill": pl.String})).verify().passed


def test_a_recoding_is_saved_whole_and_never_over_an_input(tmp_path):
    made_of().write_csv(tmp_path / "people.csv")
    release = saveable_file(tmp_path / "people.csv")
    with pytest.raises(ht.InputError, match="the output is the input"):
        release.save_recoding(tmp_path / "people.csv", overwrite=True)
    release.save_recoding(tmp_path / "recoding.json")
    with pytest.raises(ht.InputError, match="exists"):
        release.save_recoding(tmp_path / "recoding.json")
    release.save_recoding(tmp_path / "recoding.json", overwrite=True)


def saveable_file(path):
    return ht.anonymize(
        path,
        quasi_identifiers=["age", "town"],
        models=[ht.KAnonymity(5)],
        method=ht.Mondrian(recoding="readable"),
        hierarchies={"town": TOWNS},
        roles="trust",
    )


def spoil(**changes):
    return lambda found: found | changes


@pytest.mark.parametrize(
    "spoiled",
    [
        spoil(recoding=3),
        spoil(unknown={}),
        spoil(routes=[]),
        spoil(routes=[{"class": 0}, {"class": 0}]),
        spoil(routes=[{"class": 10_000}]),
        spoil(routes=[{"column": "no such", "below": "3"}, {"class": 0}, {"class": 0}]),
        spoil(cells={}),
        spoil(kinds={}),
        spoil(models=None),
        spoil(quasi_identifiers=["age"]),
        lambda found: {name: entry for name, entry in found.items() if name != "routes"},
        lambda found: [found],
    ],
)
def test_a_file_that_is_no_recoding_is_refused(tmp_path, spoiled):
    path = tmp_path / "recoding.json"
    release = ht.anonymize(
        made_of(), quasi_identifiers=["age", "pay"], models=[ht.KAnonymity(5)], method=ht.Mondrian(recoding="readable")
    )
    release.save_recoding(path)
    found = spoiled(json.loads(path.read_text()))
    if isinstance(found, dict) and found.get("quasi_identifiers") == ["age"]:
        # The cuts of another column are left.
        assert any(node.get("column") == "pay" for node in found["routes"])
    # As somebody writes it who knows the digest.
    path.write_text(json.dumps({**found, "sha256": hash_contents(found)} if isinstance(found, dict) else found))
    with pytest.raises(ht.InputError):
        ht.Recoding.read(path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"recoding": 1}'])
def test_a_file_that_is_no_json_of_ours_is_refused(tmp_path, text):
    path = tmp_path / "recoding.json"
    path.write_text(text)
    with pytest.raises(ht.InputError):
        ht.Recoding.read(path)
    with pytest.raises(ht.InputError, match="cannot read"):
        ht.Recoding.read(tmp_path / "none.json")


def test_new_rows_have_the_columns_and_kinds_of_the_earlier_ones():
    data = made_of()
    release = ht.anonymize(data, quasi_identifiers=["age", "town"], models=[ht.KAnonymity(5)], sensitive=["ill", "pay"])
    with pytest.raises(ht.ColumnError, match=r"lack columns 'ill'"):
        release.apply(data.drop("ill"))
    with pytest.raises(ht.ColumnError, match=r"columns 'name' besides"):
        release.apply(data.with_columns(name=pl.lit("x")))
    with pytest.raises(ht.ColumnError, match="'age'"):
        release.apply(data.with_columns(age=pl.lit("old")))
    with pytest.raises(ht.ColumnError, match="kind"):
        release.apply(ht.Table.encode(data.cast({"age": pl.String}), specs={"age": ht.ColumnSpec("category")}))
    # The order of columns says nothing.
    assert release.apply(data.select(data.columns[::-1])).verify().passed


def test_what_has_no_next_batch():
    data = made_of()
    by_map = ht.anonymize(data, quasi_identifiers=["age"], models=[ht.KMap(5)], population=data, roles="trust")
    with pytest.raises(ht.InputError, match="'k-map' has no next batch"):
        by_map.apply(data)
    central = ht.anonymize(
        data,
        quasi_identifiers=["age"],
        models=[ht.KAnonymity(5)],
        method=ht.Mondrian(recoding="central"),
        roles="trust",
    )
    with pytest.raises(ht.InputError, match="central values"):
        central.apply(data)


def test_a_search_that_does_not_cut_gives_the_narrowest_cells_that_cover(tmp_path):
    data = made_of()[:60]
    options = {"models": [ht.KAnonymity(4)], "method": "mingen", "roles": "trust"}
    learned = ht.anonymize(data, quasi_identifiers=["age"], **options).learned
    assert learned.routes is None
    new = pl.DataFrame({"age": [*range(15, 95)], "pay": [1] * 80, "town": ["graz"] * 80, "ill": ["flu"] * 80})
    cells = learned.cells["age"]
    found = learned.classes(ht.Table.encode(new, ("age",)))
    for age, at in zip(new["age"].to_list(), found.tolist(), strict=True):
        covering = [c for c in range(learned.n_classes) if holds(cells.texts[cells.label[c]], age, "integer")]
        assert at == min(covering, key=lambda c: (cells.lost[c], c), default=-1)
    with pytest.raises(ht.InputError, match="where its cells overlap"):
        ht.anonymize(data, quasi_identifiers=["town"], hierarchies={"town": TOWNS}, **options).save_recoding(
            tmp_path / "recoding.json"
        )


def test_pseudonyms_of_new_rows_need_a_key(tmp_path):
    data = made_of().with_row_index("person").cast({"person": pl.String})
    key = bytes(range(32))
    release = ht.anonymize(
        data,
        quasi_identifiers=["age"],
        models=[ht.KAnonymity(5)],
        method=ht.Mondrian(recoding="readable"),
        pseudonyms=ht.Pseudonyms(("person",), key),
        person="person",
        sensitive=["pay", "town", "ill"],
    )
    release.save_recoding(tmp_path / "recoding.json")
    assert key.hex() not in (tmp_path / "recoding.json").read_text()
    learned = ht.Recoding.read(tmp_path / "recoding.json")
    with pytest.raises(ht.InputError, match="there is no key"):
        learned.apply(data)
    assert learned.apply(data, key=key).frame["person"].equals(release.frame["person"])
    assert not learned.apply(data, key=key[::-1]).frame["person"].equals(release.frame["person"])
    assert release.apply(data).frame["person"].equals(release.frame["person"])
    with pytest.raises(ht.InputError, match="no column becomes a pseudonym"):
        ht.anonymize(data, quasi_identifiers=["age"], models=[ht.KAnonymity(5)], roles="trust").apply(data, key=key)


def test_a_learned_recoding_pickles_and_says_little():
    release, second = batches()
    learned = pickle.loads(pickle.dumps(release.learned))
    assert isinstance(learned, LearnedRecoding)
    assert learned.recode(second).equals(release.learned.recode(second))
    assert len(repr(learned)) < 800


def test_policies_limits_hold_for_the_next_batch_too(tmp_path):
    data = made_of()[:-1].with_columns(visit=pl.int_range(400))
    policy = ht.Policy.parse(
        "columns: {age: quasi-identifier, pay: sensitive, town: {role: quasi-identifier, hierarchy: auto}, "
        "ill: sensitive, visit: other}\nmodels: [k-anonymity: 4]\nlimits: {highest_risk: 0.1, exposure: {rate: 0.01}}"
    )
    release = policy.protect(data)
    later = release.apply(data)
    assert later.verify().smallest_class >= 10
    with pytest.raises(ht.ExposureError):
        later.write(tmp_path / "later.csv")


def test_values_that_are_published_whole_and_held_by_many_are_saved(tmp_path):
    people = pl.DataFrame({"age": [20 + i % 40 for i in range(400)], "sex": ["f", "m"] * 200})
    asked = {"quasi_identifiers": ["age", "sex"], "models": [ht.KAnonymity(5)]}
    release = ht.anonymize(people, method=ht.Mondrian(recoding="readable"), **asked)
    release.save_recoding(tmp_path / "recoding.json")
    assert ht.Recoding.read(tmp_path / "recoding.json").apply(people[:200]).verify().passed
    rare = people.with_columns(sex=pl.when(pl.int_range(400) < 6).then(pl.lit("d")).otherwise("sex"))
    few = ht.anonymize(rare, method=ht.Mondrian(recoding="readable"), **asked)
    with pytest.raises(ht.InputError, match=r"cannot be saved.*'sex'"):
        few.save_recoding(tmp_path / "few.json")


def test_lists_of_values_and_prefixes_that_many_have_are_saved(tmp_path):
    draws = np.random.default_rng(5)
    people = pl.DataFrame(
        {
            "age": draws.integers(18, 90, 2400),
            "status": draws.choice([letter * 3 for letter in "abcdefghij"], 2400),
            "zip": [f"{a}{b}" for a, b in zip(draws.integers(1, 6, 2400), draws.integers(10, 20, 2400), strict=True)],
        }
    )
    release = ht.anonymize(
        people,
        quasi_identifiers=["age", "status", "zip"],
        models=[ht.KAnonymity(30)],
        method=ht.Mondrian(recoding="readable"),
        hierarchies={"zip": ht.Hierarchy.prefix([2, 1])},
    )
    texts = {text for cell in release.learned.cells.values() for text in cell.texts}
    assert any(text.startswith('["') for text in texts)
    assert any(text.startswith("[1*, ") for text in texts)
    release.save_recoding(tmp_path / "recoding.json")
    assert ht.Recoding.read(tmp_path / "recoding.json").recode(people).equals(release.learned.recode(people))


def visits(month, n, seed):
    """Visits to a clinic in one month, as a steward gets them."""
    draws = np.random.default_rng(seed)
    days = [dt.date(2023 + month // 12, month % 12 + 1, int(day)) for day in draws.integers(1, 29, n)]
    towns = zip(draws.choice([10, 12, 20, 45, 80], n), draws.integers(0, 40, n), strict=True)
    return pl.DataFrame(
        {
            "patient_id": [f"P{seed}{i:05d}" for i in range(n)],
            "sex": draws.choice(["f", "m"], n),
            "age": np.clip(draws.normal(52, 20, n).round(), 0, 99).astype(int),
            "zip": [f"{a}{b:03d}" for a, b in towns],
            "admission_date": [str(day) for day in days],
            "marital_status": draws.choice(["single", "married", "divorced", "widowed"], n),
            "diagnosis": draws.choice(["I10", "E11", "J45", "F32", "M54", "K21"], n),
        }
    )


@pytest.mark.parametrize("units", [False, True], ids=["round dates", "calendar units"])
def test_the_second_month_is_published_by_the_cells_of_the_first(tmp_path, units):
    first, second = visits(11, 3000, 1), visits(12, 1500, 2)
    first.write_csv(tmp_path / "first.csv")
    second.write_csv(tmp_path / "second.csv")
    policy = tmp_path / "policy.yaml"
    done("scan", tmp_path / "first.csv", "--write-policy", policy)
    text = policy.read_text() + "method: {mondrian: {recoding: readable, margin: 10}}\n"
    if units:
        dates = "admission_date: {role: quasi-identifier, hierarchy: {dates: [month, quarter, year]}}"
        text = text.replace("admission_date: quasi-identifier", dates)
    policy.write_text(text)
    saved, out = tmp_path / "cells.json", tmp_path / "second.release.csv"
    released = ("-o", tmp_path / "first.release.csv", "--save-recoding", saved)
    done("anonymize", tmp_path / "first.csv", "-p", policy, *released)
    told = json.loads(done("apply", saved, tmp_path / "second.csv", "-o", out, "--json").out)
    assert told["n_suppressed"] <= 0.02 * 1500
    batch = told["batch"]
    assert max(batch["unfit_by_column"].values(), default=0) <= batch["n_unfit"]
    assert batch["n_unfit"] <= sum(batch["unfit_by_column"].values())
    said = done("apply", saved, tmp_path / "second.csv", "-o", out, "--force").out
    assert all(f"{name} {n:,}" in said for name, n in batch["unfit_by_column"].items())
    assert done("verify", out).code == 0
    if units:
        published = pl.read_csv(out, infer_schema=False)
        assert set(published["admission_date"]) <= {"2024-01", "*"}
        # In memory, and without a judge, the same units.
        recoded = ht.Recoding.read(saved).recode(tmp_path / "second.csv")
        assert set(recoded["admission_date"]) <= {"2024-01", "*"}


def test_prefixes_and_units_go_on_into_classes_of_their_own():
    first = pl.DataFrame({"code": [f"A{i % 3}{i % 7}" for i in range(42)], "day": [dt.date(2023, 5, 3)] * 42})
    ladders = {"code": ht.Hierarchy.prefix([2, 1]), "day": ht.Hierarchy.dates(["month", "year"])}
    asked = {"quasi_identifiers": ["code", "day"], "models": [ht.KAnonymity(3)], "hierarchies": ladders}
    release = ht.anonymize(first, method=ht.Mondrian(recoding="label"), **asked)
    new = pl.DataFrame({"code": ["B11", "B12", "B19", "A01", "A04", "A03", None], "day": [dt.date(2024, 6, 9)] * 7})
    later = release.apply(new)
    assert later.verify().passed
    assert later.batch.n_unfit == 1
    assert later.batch.unfit_by_column == {"code": 1} or later.batch.unfit_by_column == {"code": 1, "day": 1}
    published = set(later.frame.rows())
    assert not any(str(code).startswith("B1") and len(code) > 3 for code, _ in published)
