"""The floors under the set-NCP: against slow twins and all partitions of small tables, and under every release."""

import json
import random

import polars as pl
import pytest
from hypothesis import given, strategies as st

import hushtable as ht
from command import done
from hushtable.claims.certificates import Certificate, check_certificate
from hushtable.quality import bound as of_quality
from hushtable.quality.bound import ncp_bound, ncp_lower_bound
from hushtable.search.budget import Clock
from twins.naive_bound import least_loss, least_loss_with_suppression, slack, worst_excess

ROWS = st.lists(st.tuples(st.integers(0, 6) | st.none(), st.sampled_from("abc") | st.none()), min_size=4, max_size=20)
NAMES = ["age", "job"]


def frame_of(rows):
    return pl.DataFrame(rows, schema={"age": pl.Int64, "job": pl.String}, orient="row")


def changed(entries, **others):
    """A certificate with other entries, whose digest fits them."""
    return Certificate.from_entries({name: entry for name, entry in {**entries, **others}.items() if name != "sha256"})


def slow_bound(rows, k):
    """For every record, what it and its k-th nearest record (itself the first) publish together; the mean."""
    ages = [age for age, _ in rows if age is not None]
    width = max(ages, default=0) - min(ages, default=0)
    domain = len({job for _, job in rows})

    def together(one, other):
        age = 0.0
        if one[0] != other[0]:
            age = 1.0 if None in (one[0], other[0]) else abs(one[0] - other[0]) / width
        return age + (2 / domain if one[1] != other[1] else 0.0)

    return sum(sorted(together(row, other) for other in rows)[k - 1] for row in rows) / len(rows) / 2


@given(ROWS, st.integers(1, 4))
def test_the_slow_twin(rows, k):
    assert ncp_lower_bound(frame_of(rows), NAMES, k) == pytest.approx(slow_bound(rows, k), abs=1e-12)


@given(ROWS, st.integers(1, 4), st.booleans())
def test_no_release_goes_below(rows, k, exchange):
    frame = frame_of(rows)
    release = ht.anonymize(
        frame, quasi_identifiers=NAMES, models=[ht.KAnonymity(k)], method=ht.Mondrian(exchange=exchange)
    )
    floor = ncp_lower_bound(frame, NAMES, k)
    assert floor <= release.loss + 1e-9
    assert ncp_bound(frame, NAMES, k).value <= release.loss + 1e-9


def random_rows(rng):
    """Records far apart and side by side, with duplicates, missing cells and chains of ages."""
    ages = rng.choice([[0, 1, 2, 3, 4, 5], [None, 0, 1, 2, 9], [0, 3, 4, 20, 21, 22]])
    jobs = rng.choice([["a"], ["a", "b", "c", None]])
    return [(rng.choice(ages), rng.choice(jobs)) for _ in range(rng.randint(6, 9))]


@pytest.mark.parametrize("n_nodes", [1, 3, 200])
@pytest.mark.parametrize("budget", [None, ht.Budget(nodes=400)])
def test_no_price_is_too_high(n_nodes, budget, monkeypatch):
    monkeypatch.setattr(of_quality, "_NODES_OF_FIRST_PROOF", n_nodes)
    monkeypatch.setattr(of_quality, "_NODES_OF_LAST_PROOF", n_nodes)
    rng = random.Random(n_nodes)
    for _ in range(42):
        rows, k = random_rows(rng), rng.choice([2, 3])
        bound = ncp_bound(frame_of(rows), NAMES, k, budget)
        assert worst_excess(rows, bound.prices.tolist(), k) <= 1e-9
        assert bound.value <= least_loss(rows, k) + 1e-9
        assert check_certificate(frame_of(rows), bound.certificate).passed


def test_a_chain_of_neighbours():
    # A class from one end to the other costs more than any of its members is away from the middle.
    rows = [(age, "a") for age in (*range(10, 18), 90)]
    bound = ncp_bound(frame_of(rows), NAMES, 3)
    assert worst_excess(rows, bound.prices.tolist(), 3) <= 1e-9


@pytest.mark.parametrize("k", [2, 3])
def test_a_certificate_with_one_price_raised_is_refused(k):
    rng = random.Random(7)
    for _ in range(20):
        rows = random_rows(rng)
        entries = ncp_bound(frame_of(rows), NAMES, k).certificate.to_dict()
        assert not check_certificate(frame_of(rows), {**entries, "sum": entries["sum"] + 1}).passed  # by its digest
        for i in range(len(entries["prices"])):
            raised = entries["prices"].copy()
            raised[i] += 2.0
            assert not check_certificate(frame_of(rows), changed(entries, prices=raised)).passed


@pytest.mark.parametrize("k", [2, 3, 4])
def test_a_price_that_is_a_little_too_high_is_refused(k):
    rng = random.Random(k)
    for _ in range(12):
        rows = random_rows(rng)
        bound = ncp_bound(frame_of(rows), NAMES, k)
        entries, of_records = bound.certificate.to_dict(), bound.prices.tolist()
        for i, row in enumerate(dict.fromkeys(rows)):
            most = slack(rows, of_records, k, row)
            for more, is_too_high in ((most - 1e-6, False), (most + 1e-6, True)):
                raised = entries["prices"].copy()
                raised[i] += more
                verdict = check_certificate(frame_of(rows), changed(entries, prices=raised, sum=-100.0))
                assert verdict.passed is not is_too_high


def test_a_certificate_whose_sum_is_not_that_of_its_prices_is_refused():
    frame = frame_of([(20, "a"), (30, "a"), (60, "a")])
    entries = ncp_bound(frame, NAMES, 2).certificate.to_dict()
    assert not check_certificate(frame, changed(entries, sum=entries["sum"] + 0.01)).passed


def test_a_certificate_is_for_one_table():
    frame = frame_of([(20, "a"), (30, "a"), (60, "a")])
    certificate = ncp_bound(frame, NAMES, 2).certificate
    with pytest.raises(ht.InputError, match="speaks of 3 records"):
        check_certificate(frame.head(2), certificate)


def test_a_certificate_of_prices_that_reads_the_input_otherwise_is_refused():
    frame = pl.DataFrame({"age": [20, 21, 40, 41, 60, 61, 80, 81]})
    release = ht.anonymize(frame, quasi_identifiers=["age"], models=[ht.KAnonymity(2)])
    bound = ncp_bound(frame, ["age"], 2)
    entries = bound.certificate.to_dict()
    as_names = changed(entries, specs={"age": {"kind": "category"}}, prices=[0.25] * 8, sum=2.0)
    by_rank = changed(entries, by_rank=["age"], prices=[1 / 7] * 8, sum=8 / 7)
    for forged in (as_names, by_rank):
        assert forged.entries["sum"] / 8 > release.loss
        verdict = check_certificate(frame, forged)
        assert not verdict.passed
        assert not verdict.held
    # Whoever asks may read it so, and is told.
    verdict = check_certificate(frame, by_rank, by_rank=["age"])
    assert verdict.passed
    assert verdict.figures["readings"] == {"age": "integer, by rank"}
    verdict = check_certificate(frame, as_names, specs={"age": ht.ColumnSpec("category")})
    assert verdict.passed
    assert verdict.conditions[-1].endswith("loses less than set-NCP 0.25, reading 'age' as category")
    verdict = check_certificate(frame, entries)
    assert verdict.passed
    assert verdict.figures["bound"] == bound.value


@pytest.mark.parametrize("entries", [{"kind": "lot"}, {"kind": "prices"}, {"kind": "prices", "form": 2}])
def test_what_is_no_certificate(entries):
    with pytest.raises(ht.InputError):
        check_certificate(frame_of([(20, "a")]), changed(entries))


def test_prices_speak_of_no_hierarchies():
    frame = frame_of([(20, "a"), (30, "a")])
    with pytest.raises(ht.InputError, match="hierarchies"):
        check_certificate(frame, ncp_bound(frame, NAMES, 2).certificate, {"age": "auto"})


def test_a_certificate_in_a_file_is_its_owners(tmp_path):
    frame = frame_of([(20, "a"), (30, "b"), (60, "a")])
    bound = ncp_bound(frame, NAMES, 2)
    certificate = bound.certificate
    certificate.write(tmp_path / "floor.json")
    assert (tmp_path / "floor.json").stat().st_mode & 0o077 == 0
    read = Certificate.read(tmp_path / "floor.json")
    assert read.to_dict() == certificate.to_dict()
    assert check_certificate(frame, read).figures["bound"] == bound.value


def test_prices_are_in_no_repr_and_no_report():
    bound = ncp_bound(frame_of([(20, "a"), (30, "b"), (60, "a")]), NAMES, 2)
    assert "prices" not in repr(bound)
    assert "0." not in repr(bound.certificate)
    assert set(bound.to_dict()) == {"value", "k", "n_records", "nodes", "seconds", "columns"}


def test_a_budget_in_nodes_is_reproducible_and_raises_the_floor():
    rng = random.Random(3)
    frame = frame_of([(rng.randint(0, 60), rng.choice("abcd")) for _ in range(150)])
    quick, long = ncp_bound(frame, NAMES, 5), ncp_bound(frame, NAMES, 5, ht.Budget(nodes=60_000))
    assert long.prices.tolist() == ncp_bound(frame, NAMES, 5, ht.Budget(nodes=60_000)).prices.tolist()
    assert ncp_lower_bound(frame, NAMES, 5) <= quick.value < long.value


@pytest.mark.parametrize("k", [5, 10])
def test_more_nodes_never_lower_the_floor_and_none_given_raise_it_too(k):
    rng = random.Random(k)
    people = [(rng.randint(0, 60), rng.choice("abcdefgh"), rng.choice((0, 1, 2, 5, 9, 30))) for _ in range(200)]
    frame = pl.DataFrame(people, schema=["age", "job", "pay"], orient="row")
    table, _ = ht.Table.encode(frame).collapse()
    rows, _ = of_quality.lay_out_rows(table, frame.columns)
    search = of_quality._PriceSearch(rows, k, Clock())
    first = (
        search.sum_prices(
            search.prove_prices(
                of_quality._START_FACTOR * of_quality.nearest_shares(rows, k, Clock()), of_quality._NODES_OF_FIRST_PROOF
            )
        )
        / 600
    )
    floors = [
        ncp_bound(frame, frame.columns, k, ht.Budget(nodes=nodes)).value for nodes in (2_000, 8_000, 30_000, 90_000)
    ]
    assert floors == sorted(floors)
    assert first * 1.1 < floors[-1]
    assert first * 1.01 < ncp_bound(frame, frame.columns, k).value


def test_what_a_proof_comes_to_that_has_no_time_is_not_the_floor(monkeypatch):
    # The last proof has a node a row: what it comes to lies below what was proven on the way there.
    rng = random.Random(5)
    frame = frame_of([(rng.randint(0, 60), rng.choice("abcdefgh")) for _ in range(200)])
    monkeypatch.setattr(of_quality, "_PROOFS", ((1.0, 1, 1.0),))
    late = ncp_bound(frame, NAMES, 10, ht.Budget(nodes=20_000)).value
    monkeypatch.undo()
    assert late < ncp_bound(frame, NAMES, 10, ht.Budget(nodes=20_000)).value


def test_rows_of_a_table_with_counts_have_a_price_each():
    frame = frame_of([(20, "a"), (20, "a"), (30, "b"), (60, "a")])
    table, inverse = ht.Table.encode(frame, NAMES).collapse()
    by_row = ncp_bound(table, NAMES, 2).prices
    assert by_row[inverse].tolist() == ncp_bound(frame, NAMES, 2).prices.tolist()


def test_fewer_records_than_k():
    for floor in (ncp_lower_bound, ncp_bound):
        with pytest.raises(ht.InputError, match="k = 3"):
            floor(pl.DataFrame({"a": [1, 2]}), ["a"], 3)


@pytest.mark.parametrize("options", [{}, {"exchange": True}, {"cut": "median"}])
def test_a_release_says_how_far_it_may_be_from_the_best(options):
    rng = random.Random(5)
    frame = pl.DataFrame(
        {"age": [rng.randint(0, 60) for _ in range(80)], "pay": [rng.randint(0, 9) for _ in range(80)]}
    )
    release = ht.anonymize(
        frame, quasi_identifiers=["age", "pay"], models=[ht.KAnonymity(3)], method=ht.Mondrian(**options)
    )
    assert release.trace.bound is None
    trace = release.with_bound(ht.Budget(nodes=2_000)).trace
    assert 0 < trace.bound <= release.loss
    assert trace.gap == pytest.approx((release.loss - trace.bound) / release.loss)


@pytest.mark.parametrize("k", [2, 3])
def test_the_floor_of_a_release_that_may_suppress(k):
    rng, n_cut = random.Random(k), 0
    for _ in range(25):
        rows = [*random_rows(rng)[:6], (None, "z")]
        release = ht.anonymize(
            frame_of(rows), quasi_identifiers=NAMES, models=[ht.KAnonymity(k)], suppression_limit=0.5
        )
        if not release.n_suppressed:
            continue
        bound = ncp_bound(frame_of(rows), NAMES, k)
        paid = bound.prices.clip(max=len(NAMES)).tolist()
        n_cut += paid != bound.prices.tolist()
        assert worst_excess(rows, paid, k) <= 1e-9
        floor = release.with_bound().trace.bound
        assert floor == pytest.approx(max(0.0, sum(paid) / len(rows) / 2), abs=1e-9) or floor == release.loss
        assert floor <= least_loss_with_suppression(rows, k) + 1e-9 <= release.loss + 2e-9
    assert n_cut


def test_a_matching_that_has_no_time_gives_what_the_nearest_cost(monkeypatch):
    monkeypatch.setattr(of_quality, "_MAX_TIME_PER_STEP_BEFORE", float("inf"))
    frame = frame_of([(20, "a"), (31, "a"), (60, "b"), (64, "b"), (70, "c")])
    bound = ncp_bound(frame, NAMES, 2, ht.Budget(seconds=3600))
    assert bound.value == pytest.approx(ncp_lower_bound(frame, NAMES, 2))
    assert bound.value < ncp_bound(frame, NAMES, 2).value
    assert check_certificate(frame, bound.certificate).passed


def test_no_floor_is_known_under_weights_and_centres():
    frame = pl.DataFrame({"age": [1, 2, 8, 9], "pay": [1, 1, 5, 6]})
    asked = {"quasi_identifiers": ["age", "pay"], "models": [ht.KAnonymity(2)]}
    for options in ({"loss": ht.SetNCP({"age": 5.0})}, {"method": ht.Mondrian(recoding="central")}):
        with pytest.raises(ht.InputError, match="no lower bound of the loss"):
            ht.anonymize(frame, **asked, **options).with_bound()


@given(
    st.lists(
        st.tuples(st.integers(0, 40) | st.none(), st.sampled_from("abcdefghijkl") | st.none()), min_size=6, max_size=60
    )
)
def test_readable_cells_cost_no_less_than_what_the_floor_counts(rows):
    frame = frame_of(rows)
    release = ht.anonymize(
        frame, quasi_identifiers=NAMES, models=[ht.KAnonymity(2)], method=ht.Mondrian(recoding="readable")
    )
    assert release.with_bound().trace.bound <= release.loss
    labels = release.partition.labels
    ages = [age for age, _ in rows if age is not None]
    width, n_jobs = max(ages, default=0) - min(ages, default=0), len({job for _, job in rows})
    for label in set(labels.tolist()):
        of_class = [row for row, each in zip(rows, labels.tolist(), strict=True) if each == label]
        held, jobs = {age for age, _ in of_class}, {job for _, job in of_class}
        paid = [release.recoding.cells[j].shares(release.recoding.columns[j])[label] for j in (0, 1)]
        if len(held) > 1:
            assert paid[0] >= (1.0 if None in held else (max(held) - min(held)) / width) - 1e-12
        if len(jobs) > 1:
            assert paid[1] >= len(jobs) / n_jobs - 1e-12


@pytest.mark.filterwarnings("ignore:tight intervals")
def test_an_external_manifest_holds_no_floor(tmp_path):
    frame = pl.DataFrame({"age": [1, 2, 8, 9]})
    release = ht.anonymize(frame, quasi_identifiers=["age"], models=[ht.KAnonymity(2)])
    release.with_bound().write(tmp_path / "out.csv", external=True)
    text = (tmp_path / "out.csv.manifest.json").read_text(encoding="utf-8")
    assert not any(word in text for word in ('"bound"', '"gap"', '"loss"', '"trace"'))


def test_the_command_writes_the_floor_of_a_release_that_the_search_could_not_prove(tmp_path):
    frame_of([(20, "a"), (30, "b"), (60, "a"), (61, "b"), (62, "a")]).write_csv(tmp_path / "in.csv")
    asked = ("anonymize", tmp_path / "in.csv", "--qi", "age,job", "--k", "2")
    told = json.loads(done(*asked, "-o", tmp_path / "out.csv", "--certificate", tmp_path / "p.json", "--json").out)
    assert 0 < told["trace"]["bound"] <= told["loss"]
    certificate = ht.Certificate.read(tmp_path / "p.json")
    assert certificate.kind == "prices"
    assert check_certificate(tmp_path / "in.csv", certificate).passed


def test_local_recoding_says_by_itself_how_far_it_may_be_from_the_best():
    rng = random.Random(6)
    frame = frame_of([(rng.randint(0, 60), rng.choice("abcd")) for _ in range(60)])
    asked = {"quasi_identifiers": NAMES, "models": [ht.KAnonymity(3)], "method": "local_recoding"}
    for budget in (None, ht.Budget(seconds=1), ht.Budget(nodes=500)):
        release = ht.anonymize(frame, **asked, budget=budget)
        assert 0 < release.trace.bound <= release.loss
        assert check_certificate(frame, release.certificate).passed
    assert ht.anonymize(frame, **asked, loss=ht.SetNCP({"age": 2.0})).trace.bound is None
    assert ht.anonymize(frame, **asked, hierarchies={"age": "auto"}).trace.bound is None
