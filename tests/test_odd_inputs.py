"""Every public function and command on odd inputs: an answer, or an error of the package; never one of another."""

import datetime as dt
import inspect
import json
import math
import traceback
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hushtable as ht
from command import run
from hushtable import cli
from hushtable.discover import scores

N = 6
OF_TYPES = {
    "text": pl.String,
    "whole": pl.Int64,
    "real": pl.Float64,
    "real32": pl.Float32,
    "date": pl.Date,
    "moment": pl.Datetime("ns", "Europe/Berlin"),
    "truth": pl.Boolean,
    "null": pl.Null,
    "category": pl.Categorical,
    "choice": pl.Enum(["a", "b"]),
    "bytes": pl.Binary,
    "list": pl.List(pl.Int64),
    "struct": pl.Struct({"x": pl.Int64}),
    "decimal": pl.Decimal(10, 2),
    "duration": pl.Duration,
    "time": pl.Time,
}


def of(cells: list[Any], **options: Any) -> pl.DataFrame:
    """Return a table of odd cells beside plain ones."""
    return pl.DataFrame({"a": pl.Series(cells, **options), "b": ["x", "y"] * (len(cells) // 2)})


FRAMES: dict[str, Callable[[], Any]] = {
    "plain": lambda: of([1, 2, 2, 1, 3, 3]),
    "no columns": lambda: pl.DataFrame(),
    "no columns of pandas": lambda: pd.DataFrame(index=range(3)),
    "no rows": lambda: pl.DataFrame({"a": [], "b": []}, schema={"a": pl.Int64, "b": pl.String}),
    "one row": lambda: pl.DataFrame({"a": [1], "b": ["x"]}),
    **{f"nothing but missing {name}": lambda kind=kind: of([None] * N, dtype=kind) for name, kind in OF_TYPES.items()},
    "infinite": lambda: of([math.inf, -math.inf, math.nan, 0.0, -0.0, 1e308]),
    "far apart": lambda: of([1e308, -1e308, 5e-324, -5e-324, 1.0, 2.0]),
    "largest whole": lambda: of([2**63 - 1, -(2**63), 0, 1, 2, 3]),
    "largest unsigned": lambda: of([2**64 - 1, 0, 1, 2, 3, 4], dtype=pl.UInt64),
    "larger than any type": lambda: pd.DataFrame({"a": [10**30, -(10**30), 0, 1, 2, 3], "b": list("xyxyxy")}),
    "mixed": lambda: pd.DataFrame({"a": [1, "x", None, 2.5, b"y", dt.date(2020, 1, 1)], "b": list("xyxyxy")}),
    "objects": lambda: pd.DataFrame({"a": [object(), {}, [], (1,), {1}, print], "b": list("xyxyxy")}),
    "complex": lambda: pd.DataFrame({"a": np.arange(6) * 1j, "b": list("xyxyxy")}),
    "periods": lambda: pd.DataFrame({"a": pd.period_range("2020", periods=6, freq="M"), "b": list("xyxyxy")}),
    "twice the same name": lambda: pd.DataFrame([[1, "x"]] * N, columns=["a", "a"]),
    "names that are no text": lambda: pd.DataFrame([[1, "x"]] * N, columns=[0, ("a", 1)]),
    "a nameless column": lambda: pl.DataFrame({"": [1, 2] * 3, "b": list("xyxyxy")}),
    "odd names": lambda: pl.DataFrame({"a\x1b\n\0*": [1, 2] * 3, "$^": list("xyxyxy"), "n" * 5000: [1] * N}),
    "bytes": lambda: of([b"\0\xff", b"", b"x", b"y", b"x", b"y"]),
    "lists": lambda: of([[1], [], None, [2], [1, 2], [1]]),
    "structs": lambda: of([{"x": i} for i in range(N)]),
    "a long text": lambda: of(["x" * 100_000, "", " ", "\0", "x", "y"]),
    "odd texts": lambda: of(["\u202e", "[1, 2)", '["a"]', "*", "=1+1", "9" * 5000]),
    "far dates": lambda: of([dt.date(1, 1, 1), dt.date(9999, 12, 31)] * 3),
    "far moments": lambda: of([dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31)] * 3),
    "durations": lambda: of([dt.timedelta(days=i) for i in range(N)]),
    "times": lambda: of([dt.time(i) for i in range(N)]),
    "decimals": lambda: of([Decimal("1.50"), Decimal("2.25")] * 3),
    "arrow": lambda: pa.table({"a": pa.array([1.5, None] * 3, pa.float16()), "b": list("xyxyxy")}),
    "an arrow dictionary": lambda: pa.table({"a": pa.array(["x", None] * 3).dictionary_encode(), "b": list("xyxyxy")}),
    "an arrow map": lambda: pa.table(
        {"a": pa.array([[("k", 1)]] * N, pa.map_(pa.string(), pa.int64())), "b": ["x"] * N}
    ),
    "lazy": lambda: of([1, 2] * 3).lazy(),
    "a series": lambda: pl.Series("a", [1, 2]),
    "an array": lambda: np.arange(6).reshape(3, 2),
    "a mapping": lambda: {"a": [1, 2]},
    "nothing": lambda: None,
    "a number": lambda: 7,
    "no file": lambda: "none.csv",
    "an odd path": lambda: "a\0b.csv",
    "a folder": lambda: ".",
}


def names_of(data: Any) -> list[str]:
    """Return the first and the last column, as a caller would name them."""
    try:
        names = [*(data.collect_schema().names() if isinstance(data, pl.LazyFrame) else getattr(data, "columns", ()))]
        names = names if not isinstance(data, pa.Table) else data.column_names
    except TypeError:
        names = []
    return [names[0], names[-1]] if names else ["a", "b"]


def masked(data: Any, **options: Any) -> Any:
    """Mask the first column against the last."""
    first, last = names_of(data)
    return ht.mask_dependence(data, a=[first], b=[last], clusters=2, **options)


def protected(data: Any, **options: Any) -> Any:
    """Release the first column."""
    return ht.anonymize(data, quasi_identifiers=names_of(data)[:1], models=[ht.KAnonymity(2)], **options)


def released(data: Any, **options: Any) -> Any:
    """Release the first column, and look at what is told of it."""
    release = protected(data, **options)
    if release.origin is not None:
        return release
    release.apply(data)
    release.classes()
    told = [release, release.verify(), release.utility(), ht.report(release)]
    return [*told, ht.check_certificate(data, release.certificate)] if release.certificate else told


def attacked(data: Any) -> Any:
    """Release the first column, and attack it by itself and by the table."""
    release = ht.anonymize(
        data,
        quasi_identifiers=names_of(data)[:1],
        models=[ht.KAnonymity(2)],
        sensitive=names_of(data)[1:],
        roles="trust",
    )
    return None if release.origin is not None else [release.attack(release), release.attack(data)]


def known(data: Any) -> Any:
    """Look for persons, who are told by the last column, by the first."""
    first, last = names_of(data)
    found = ht.unicity(data, person=last, item=first, known=[1, 2])
    return [found, ht.unicity(data, person=last, item=[], tolerance={first: 0}, known=1)]


def nearly(data: Any) -> Any:
    """Count who is near."""
    first = names_of(data)[0]
    near = ht.assess(data, quasi_identifiers=[first], known_within={first: 0})
    return [near, ht.minimal_uniques(data, tolerance={first: 0})]


def by_policy(data: Any) -> Any:
    """Protect a table as its scan proposes."""
    columns = dict.fromkeys(names_of(data), "quasi-identifier")
    return ht.Policy.make({"columns": columns, "models": [{"k-anonymity": 2}]}).protect(data)


WAYS: list[dict[str, Any]] = [
    {"roles": "trust", "method": ht.Mondrian(strict=False, cut="median", recoding="readable")},
    {"roles": "trust", "method": "full_domain", "hierarchies": "auto", "suppression_limit": 1.0},
    {"roles": "trust", "method": "local_recoding"},
    {"engine": "stream"},
    {},
]
READERS = [
    ht.Policy.read,
    ht.Pipeline.read,
    ht.Recoding.read,
    ht.Certificate.read,
    ht.Hierarchy.from_domains,
    ht.report,
]


def score(name: str, data: Any) -> Any:
    """Score the first column, for the last where a score is for one."""
    made = getattr(scores, name)
    if not inspect.isfunction(made):
        return None
    first, last = names_of(data)
    known = {"columns": [first], "target": last, "sensitive": last, "treatment": last, "treated": "x"}
    takes = inspect.signature(made).parameters
    lacking = [each for each, one in takes.items() if one.default is one.empty and each not in (*known, "data")]
    return None if lacking else made(data, **{each: known[each] for each in takes if each in known})


CALLS: dict[str, Callable[[Any], Any]] = {
    **{f"anonymize {i}": lambda data, options=options: protected(data, **options) for i, options in enumerate(WAYS)},
    "anonymize": lambda data: released(data, roles="trust"),
    "anonymize_tables": lambda data: ht.anonymize_tables({"rows": data}, LINKED),
    "assess": lambda data: ht.assess(data, quasi_identifiers=names_of(data)[:1], sensitive=names_of(data)[1:]),
    "check_certificate": lambda data: ht.check_certificate(data, ht.Certificate.from_dict({"kind": "lattice"})),
    "collapse": lambda data: ht.collapse(data, names_of(data)[:1]),
    "count_copies": lambda data: ht.count_copies(data, data),
    "dcr": lambda data: ht.dcr(data, data),
    "membership": lambda data: ht.membership(data, data, control=data),
    "inference": lambda data: ht.inference(data, data, secret=names_of(data)[0], n_attacks=2),
    "linkability": lambda data: ht.linkability(
        data, data, aux_columns=(names_of(data)[:1], names_of(data)[1:]), n_attacks=2
    ),
    "minimal_keys": ht.minimal_keys,
    "references": ht.references,
    "nndr": lambda data: ht.nndr(data, data),
    "rapid": lambda data: ht.rapid(data, data, target=names_of(data)[0], keys=names_of(data)[1:]),
    "singling_out": lambda data: ht.singling_out(data, data, n_attacks=2, n_cols=1),
    "tcap": lambda data: ht.tcap(data, data, target=names_of(data)[0], keys=names_of(data)[1:]),
    "compare": lambda data: ht.compare(data, POLICY, k=[2]),
    "find_quasi_identifiers": ht.find_quasi_identifiers,
    "attack": attacked,
    "join_risk": lambda data: ht.join_risk(data, data, on=names_of(data)[:1]),
    "link": lambda data: ht.link(data, data, on=names_of(data)[:1]),
    "near": nearly,
    "unicity": known,
    "check_tables": ht.check_tables,
    "round_tables": lambda data: ht.round_tables(data, by=names_of(data), seed=1),
    "tabulate": lambda data: ht.tabulate(data, by=names_of(data)),
    "mask_dependence": masked,
    "masking_tradeoff": lambda data: ht.masking_tradeoff(
        data, a=names_of(data)[:1], b=names_of(data)[1:], clusters=[2]
    ),
    "minimal_uniques": ht.minimal_uniques,
    "perturbation_tradeoff": lambda data: ht.perturbation_tradeoff(data, columns=names_of(data)[:1], methods=["pram"]),
    "perturb": lambda data: ht.perturb(data, columns=names_of(data)[:1], method="pram"),
    "mpuccs": lambda data: [ht.mpuccs(data), ht.mpuccs(data, data, values=True).details],
    "petsard_mpuccs": lambda data: ht.petsard_mpuccs(data, data),
    "report": ht.report,
    "select_columns": lambda data: ht.select_columns(data, objective={"distinction": 1.0}),
    "split": lambda data: ht.split(data, ratio=0.5),
    "synthesize": lambda data: [ht.synthesize(data), ht.synthesize(data, method="bootstrap", n=3)],
    "verify_tables": lambda data: [ht.verify_tables({"rows": data}, LINKED), ht.verify_tables(data, LINKED)],
    "verify": lambda data: ht.verify(data, quasi_identifiers=names_of(data)[:1], models=[ht.KAnonymity(2)]),
    **{f"score {name}": lambda data, name=name: score(name, data) for name in scores.__all__},
    "Hierarchy": lambda data: ht.Hierarchy.auto(ht.Table.encode(data).column(names_of(data)[0])),
    "Policy": by_policy,
    "Table": ht.Table.encode,
    **{
        f"reader {i}": lambda data, read=read: read(data if isinstance(data, str) else "x")
        for i, read in enumerate(READERS)
    },
}


def parts(result: Any) -> Iterator[Any]:
    """Yield a result, or all of several."""
    yield from result if isinstance(result, (list, tuple)) else (result,)


LINKED = ht.LinkedPolicy.parse(
    """
    unit: {key: b}
    tables: {rows: {columns: {a: quasi-identifier}}}
    models: [linked-k-anonymity: 2]
    """
)
POLICY = ht.Policy.make({"columns": {"a": "quasi-identifier", "b": "other"}, "models": [{"k-anonymity": 2}]})
ODD: dict[str, Any] = {
    **{
        repr(value): value
        for value in (None, -1, 0, 2, math.nan, math.inf, 1e308, "", "x", b"x", True, [], [7], {}, ())
    },
    "a huge number": 10**400,
    "a name": ["a"],
    "a mapping": {"a": 1},
    "a set": {"a"},
    "an object": object(),
    "a function": lambda *given: 1,
}
SYNTHETIC: dict[str, Any] = {"synthetic": FRAMES["plain"]()}
RIGHT: dict[str, dict[str, Any]] = {
    "anonymize": {"quasi_identifiers": ["a"], "models": [ht.KAnonymity(2)], "roles": "trust"},
    "anonymize_tables": {"policy": LINKED},
    "assess": {"quasi_identifiers": ["a"]},
    "check_certificate": {"certificate": ht.Certificate.from_dict({"kind": "lattice"})},
    "check_tables": {"by": ["b"], "value": "a"},
    "collapse": {"columns": ["a"]},
    "count_copies": SYNTHETIC,
    "dcr": SYNTHETIC,
    "membership": {**SYNTHETIC, "control": FRAMES["plain"]()},
    "inference": {**SYNTHETIC, "secret": "a", "n_attacks": 2},
    "linkability": {**SYNTHETIC, "aux_columns": (["a"], ["b"]), "n_attacks": 2},
    "nndr": SYNTHETIC,
    "rapid": {**SYNTHETIC, "target": "b", "keys": ["a"]},
    "singling_out": {**SYNTHETIC, "n_attacks": 2, "n_cols": 1},
    "tcap": {**SYNTHETIC, "target": "b", "keys": ["a"]},
    "compare": {"policy": POLICY, "k": [2]},
    "join_risk": {"second": FRAMES["plain"](), "on": ["a"]},
    "link": {"outside": FRAMES["plain"](), "on": ["a"]},
    "mask_dependence": {"a": ["a"], "b": ["b"], "clusters": 2},
    "masking_tradeoff": {"a": ["a"], "b": ["b"], "clusters": [2]},
    "mpuccs": {"synthetic": FRAMES["plain"]()},
    "perturb": {"columns": ["a"], "method": "pram"},
    "perturbation_tradeoff": {"columns": ["a"], "methods": ["pram"]},
    "petsard_mpuccs": {"synthetic": FRAMES["plain"]()},
    "select_columns": {"objective": {"distinction": 1.0}},
    "round_tables": {"by": ["a", "b"]},
    "tabulate": {"by": ["a", "b"], "rules": ht.CellRules(1)},
    "unicity": {"person": "b", "item": "a", "known": 1},
    "verify": {"quasi_identifiers": ["a"], "models": [ht.KAnonymity(2)]},
    "verify_tables": {"policy": LINKED},
}
FUNCTIONS = [name for name in ht.__all__ if inspect.isfunction(getattr(ht, name))]


def fault_of(call: Callable[[], Any], allowed: tuple[type[Exception], ...] = (ht.HushError,)) -> str | None:
    """Call, look at what comes back, and say which error of another package left; None where none did."""
    try:
        for each in parts(call()):
            if type(each).__module__.startswith("hushtable") and not isinstance(each, ht.Table):
                # JSON has no word for NaN.
                json.dumps(each.to_dict() if hasattr(each, "to_dict") else {}, allow_nan=False)
                repr(each)
                each._repr_html_() if hasattr(each, "_repr_html_") else None
    except allowed as error:
        return str(error) if "fault of hushtable" in str(error) else None
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {str(error)[:200]} ({place.filename}:{place.lineno})"
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_no_error_of_another_package_leaves_what_is_given_an_odd_table(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    faults = {what: fault_of(lambda make=make: CALLS[name](make())) for what, make in FRAMES.items()}
    assert {what: fault for what, fault in faults.items() if fault} == {}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_error_of_another_package_leaves_what_is_given_an_odd_argument(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, right = getattr(ht, name), RIGHT.get(name, {})
    data = FRAMES["plain"]()
    if name in ("references", "report"):
        data = ht.anonymize(data, **RIGHT["anonymize"])
    elif name == "collapse":
        data = data.lazy()
    elif name in ("anonymize_tables", "verify_tables"):
        data = {"rows": data}
    elif name == "check_tables":
        # A cell has one row.
        data = data[:2]
    options = list(inspect.signature(function).parameters)[1:]
    assert function(data, **right) is not None or name == "check_certificate"
    faults = {
        f"{option} = {what}": fault_of(lambda given=given: function(data, **given), (ht.HushError, TypeError))
        for option in options
        for what, value in ODD.items()
        if (given := {**right, option: value})
    }
    assert {what: fault for what, fault in faults.items() if fault} == {}


def test_every_function_is_called():
    assert set(FUNCTIONS) <= set(CALLS)


def deep(path: Path) -> None:
    path.write_text("[" * 100_000 + "]" * 100_000)


FILES: dict[str, Callable[[Path], object]] = {
    "none": lambda path: None,
    "nothing": lambda path: path.touch(),
    "bytes": lambda path: path.write_bytes(bytes(range(256)) * 20),
    "a folder": lambda path: path.mkdir(),
    "a link to itself": lambda path: path.symlink_to(path),
    "no table": lambda path: path.write_text("\n\n\n"),
    "a header": lambda path: path.write_text("a,b\n"),
    "odd lines": lambda path: path.write_text('a,b\n1,2,3\n"'),
    "a deep list": deep,
    "a plain table": lambda path: path.write_text("a,b\n" + "1,x\n2,y\n" * 4),
    "half a parquet": lambda path: path.write_bytes(b"PAR1\x15\x04\x15"),
    "no workbook": lambda path: path.write_bytes(b"PK\x03\x04" + b"x" * 40),
    "no gzip": lambda path: path.write_bytes(b"\x1f\x8b\x08xxxx"),
}
COMMANDS = {
    "scan": "{file} -p new.yaml",
    "assess": "{file} --qi a",
    "anonymize": "{file} --qi a --k 2 --other b -o out.csv",
    "verify": "{file}",
    "apply": "{file} {file} -o out.csv",
    "codebook": "{file}",
    "convert": "{file}",
    "compare": "{file} -p {file}",
    "utility": "{file} {file}",
    "unicity": "{file} --person b --item a --known 1",
    "link": "{file} {file} --on a",
    "join-risk": "{file} {file} --on a",
    "attack-release": "{file}",
    "attack": "{file} {file}",
    "check": "{file}",
    "tables": "{file} --by a -o out.csv",
    "keys": "{file}",
    "report": "{file} -o out.html",
    "mpuccs": "{file} {file} --details out.csv",
    "uniques": "{file}",
    "scores": "{file} --columns a",
    "select": "{file}",
    "run": "{file} --out out --no-cache",
    "mask-dependence": "{file} --a a --b b --clusters 2 -o out.csv",
    "perturb": "{file} --columns a --method pram -o out.csv",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_ends_in_order_on_an_odd_file(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # All read tables alike: of most, a few kinds show it.
    whole = command in ("scan", "apply", "run")
    kinds = ("in.csv", "in.parquet", "in.xlsx", "in.csv.gz") if command == "scan" else ("in.csv",)
    ended = {}
    for name in kinds:
        for what, make in FILES.items():
            if not whole and what not in ("none", "bytes", "a folder", "a plain table"):
                continue
            file = Path(what.replace(" ", "_"), name)
            file.parent.mkdir(exist_ok=True)
            make(file)
            outcome = run(
                command,
                *COMMANDS[command].format(file=file).split(),
                *["--json"] * (command not in ("run", "codebook", "convert")),
            )
            if outcome.code not in (0, 1, 2, 3):
                ended[f"{name}: {what}"] = outcome.err
    assert ended == {}


@pytest.mark.parametrize("sidecar", ["out.csv.manifest.json", "recoding.json", "out.csv.codebook.json", "proof.json"])
def test_json_that_is_too_deep_is_wrong_input(sidecar, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("a,b\n" + "1,x\n2,y\n" * 4)
    files = ("--save-recoding", "recoding.json")
    assert run("anonymize", "in.csv", "--qi", "a", "--k", "2", "--other", "b", "-o", "out.csv", *files).code == 0
    deep(Path(sidecar))
    commands = {
        "recoding.json": ("apply", "recoding.json", "in.csv", "-o", "new.csv"),
        "out.csv.codebook.json": ("report", "out.csv"),
    }
    if sidecar == "proof.json":
        with pytest.raises(ht.InputError):
            ht.Certificate.read(sidecar)
    else:
        outcome = run(*commands.get(sidecar, ("verify", "out.csv")))
        assert outcome.code == 2, outcome


def test_every_command_is_called():
    # What serves a page or an assistant goes on until somebody ends it: tests/cli/test_cli_open.py, tests/assistant.
    takes_no_file = {"warm-up", "demo", "open", "assist", "schema"}
    assert set(COMMANDS) == {each.name for each in cli.build_app().registered_commands} - takes_no_file
