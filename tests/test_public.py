"""The public face: what `import hushtable` offers, and that all of it explains itself."""

import dataclasses
import importlib
import importlib.metadata
import inspect
import json
import pkgutil
import subprocess
import sys
import typing
from typing import Any

import pytest

import hushtable as ht
from loops import for_each

CLASSES = [name for name in ht.__all__ if inspect.isclass(getattr(ht, name))]
FUNCTIONS = [name for name in ht.__all__ if inspect.isfunction(getattr(ht, name))]
MODULES = ["datasets", "discover", "models", "quality", "risk"]
RECORDS = [name for name in CLASSES if not issubclass(getattr(ht, name), Exception)]
SUBMODULES = [
    module.name
    for module in pkgutil.walk_packages(ht.__path__, "hushtable.")
    if not module.name.endswith(("__main__", "_jit"))
]


def test_all_is_sorted_and_is_what_dir_shows() -> None:
    assert ht.__all__ == sorted(ht.__all__)
    assert dir(ht) == ht.__all__


def test_every_name_is_a_class_a_function_or_a_module() -> None:
    assert sorted([*CLASSES, *FUNCTIONS, *MODULES]) == ht.__all__


@for_each("name", ht.__all__)
def test_every_name_resolves_to_the_one_its_home_exports(name: str) -> None:
    found = getattr(ht, name)
    if inspect.ismodule(found):
        assert found.__name__ == f"hushtable.{name}"
        return
    home = importlib.import_module(found.__module__)
    assert found is getattr(home, found.__name__)


def test_the_version_is_that_of_the_package() -> None:
    assert ht.__version__ == importlib.metadata.version("hushtable")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'anonymise'"):
        ht.anonymise  # noqa: B018


def test_star_import() -> None:
    names: dict[str, Any] = {}
    exec("from hushtable import *", names)
    assert set(ht.__all__) <= set(names)


@pytest.mark.parametrize("order", [1, -1], ids=["forwards", "backwards"])
def test_importing_submodules_hides_no_public_name(order: int) -> None:
    script = f"""
import importlib
import hushtable as ht
for name in {SUBMODULES[::order]!r}:
    importlib.import_module(name)
for name in ht.__all__:
    found = getattr(ht, name)
    assert name in {MODULES!r} or callable(found), name
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_no_submodule_has_the_name_of_a_public_function() -> None:
    assert not {name.removeprefix("hushtable.") for name in SUBMODULES} & {*CLASSES, *FUNCTIONS}


@for_each("name", SUBMODULES)
def test_every_module_can_be_imported_first(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__
    for exported in getattr(module, "__all__", []):
        assert hasattr(module, exported), exported


@for_each("name", FUNCTIONS)
def test_functions_document_every_parameter(name: str) -> None:
    function = getattr(ht, name)
    section = function.__doc__.partition("Parameters\n")[2]
    parameters = list(inspect.signature(function).parameters)
    for parameter in parameters:
        assert parameter in section
    assert ">>> " in function.__doc__
    kinds = [each.kind for each in inspect.signature(function).parameters.values()]
    # mpuccs and petsard_mpuccs compare two tables; all other verbs have one. Of split, ratio and seed go without names,
    # of collapse and minimal_keys the columns do, of compare the policy, which the release's verbs are methods of. What
    # report takes are results; whoever attacks has a table of their own beside the released one.
    pairs = (["original", "synthetic"], ["release", "outside"], ["first", "second"])
    n_tables = 2 if parameters[:2] in pairs else 1
    n_plain = {"split": 3, "collapse": 2, "minimal_keys": 2, "compare": 2, "check_certificate": 3, **OF_TABLES}.get(
        name, n_tables
    )
    assert all(kind is inspect.Parameter.KEYWORD_ONLY for kind in kinds[n_plain:])
    assert n_tables == 2 or parameters[0] == ("result" if name in ("references", "report") else "data")


@for_each("name", [name for name in RECORDS if name not in ("PrivacyModel",)])
def test_classes_document_every_field(name: str) -> None:
    kind = getattr(ht, name)
    doc = inspect.getdoc(kind)
    assert doc
    fields = [each.name for each in dataclasses.fields(kind) if each.init] if dataclasses.is_dataclass(kind) else []
    sections = [section for section in ("Parameters\n", "Attributes\n") if section in doc]
    assert sections
    described = doc.partition(sections[0])[2]
    for field in fields:
        assert field in described


@for_each("name", CLASSES)
def test_classes_and_their_methods_say_what_they_are(name: str) -> None:
    kind = getattr(ht, name)
    assert kind.__doc__
    for member, found in vars(kind).items():
        if member.startswith("_") or not (inspect.isfunction(found) or isinstance(found, property)):
            continue
        assert inspect.getdoc(found), f"{name}.{member}"


@for_each("name", FUNCTIONS)
def test_functions_are_fully_annotated(name: str) -> None:
    function = getattr(ht, name)
    hints = typing.get_type_hints(function)
    assert set(hints) == {*inspect.signature(function).parameters, "return"}


OF_TABLES = {"anonymize_tables": 2, "verify_tables": 2}
LINKED = ht.LinkedPolicy.parse(
    """
    unit: {key: email}
    tables: {rows: {columns: {sex: quasi-identifier}}}
    models: [linked-k-anonymity: 2]
    limits: {suppression: 0.5}
    """
)
POLICY = ht.Policy.parse("columns: {sex: quasi-identifier, diagnosis: sensitive}\nmodels: [k-anonymity: 5]")


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    """One object of every public class that results or rules are made of."""
    people = ht.datasets.people(60)
    release = ht.anonymize(
        people,
        quasi_identifiers=["sex", "marital_status"],
        models=[ht.KAnonymity(3), ht.DistinctLDiversity(2, "diagnosis")],
        identifiers=["name"],
        pseudonyms=ht.Pseudonyms(("email",), b"a secret of many bytes"),
        roles="trust",
        budget=ht.Budget(nodes=10),
    )
    return {
        "Advice": POLICY.advise(people[["sex", "diagnosis"]]),
        "AlphaKAnonymity": ht.AlphaKAnonymity(0.5, 2, "diagnosis"),
        "ArxLoss": ht.ArxLoss("arithmetic"),
        "BetaLikeness": ht.BetaLikeness(2, "diagnosis"),
        "Bootstrap": ht.Bootstrap(),
        "Budget": ht.Budget(seconds=1.5),
        "Certificate": ht.Certificate.from_entries({"kind": "lattice"}),
        "CellRules": ht.CellRules(threshold=5),
        "Certainty": ht.Certainty({"sex": 2.0}, variant="mg-ga"),
        "Distances": ht.Distances({"sex": {"f": {"m": 1.0}}}),
        "Column": ht.Table.encode(people, ["sex"]).columns[0],
        "ColumnSpec": ht.ColumnSpec("ordered", ("low", "high")),
        "Comparison": ht.compare(people[["sex", "diagnosis"]], POLICY, k=[2, 3], suppression=[0]),
        "Copies": ht.count_copies(people, people),
        "Membership": ht.membership(people, people, control=people, attacks=["copies"]),
        "Copula": ht.Copula("observed"),
        "FullDomain": ht.FullDomain(alternatives=2),
        "NonUniformEntropy": ht.NonUniformEntropy({"sex": 2.0}),
        "Precision": ht.Precision(),
        "DeltaDisclosure": ht.DeltaDisclosure(1, "diagnosis"),
        "DeltaPresence": ht.DeltaPresence(0, 0.5),
        "Effort": ht.Effort(10, 3, 2, 8.26, 1, ((0.5, 1.0, 2.0),)),
        "EntropyLDiversity": ht.EntropyLDiversity(2, "diagnosis"),
        "Genetic": ht.Genetic(seed=3),
        "Histories": ht.Histories(),
        "GlobalK1": ht.GlobalK1(2),
        "Global1K": ht.Global1K(2),
        "MatchK1": ht.MatchK1(2),
        "MatchKK": ht.MatchKK(2),
        "KMAnonymity": ht.KMAnonymity(5, 2),
        "KMap": ht.KMap(5),
        "LinkedKAnonymity": ht.LinkedKAnonymity(5),
        "LinkedPolicy": LINKED,
        "LinkedRelease": ht.anonymize_tables({"rows": people[["email", "sex"]].drop_nulls()}, LINKED),
        "MaskedRelease": ht.mask_dependence(people, a=["sex"], b=["income"], clusters=3, c=["education"]),
        "MaskingTradeoff": ht.masking_tradeoff(people, a=["sex"], b=["income"], clusters=[2, 3], c=["education"]),
        "PerturbationTradeoff": ht.perturbation_tradeoff(people, columns=["income"]),
        "PerturbedRelease": ht.perturb(people, columns=["income"], keep=["sex"]),
        "Microaggregation": ht.Microaggregation(k=5),
        "Noise": ht.Noise(),
        "Pram": ht.Pram(),
        "RankSwap": ht.RankSwap(),
        "RecordSwap": ht.RecordSwap(),
        "Shuffle": ht.Shuffle(),
        "MinGen": ht.MinGen(n_best=3),
        "MinimalDistortion": ht.MinimalDistortion({"sex": 0.0}),
        "Match1K": ht.Match1K(2),
        "RecursiveCLDiversity": ht.RecursiveCLDiversity(3, 2, "diagnosis"),
        "TCloseness": ht.TCloseness(0.2, "diagnosis"),
        "DistinctLDiversity": ht.DistinctLDiversity(2, "diagnosis"),
        "Hierarchy": ht.Hierarchy.auto(ht.Table.encode(people, ["nationality"]).columns[0]),
        "Independent": ht.Independent(),
        "KAnonymity": ht.KAnonymity(5),
        "Attack": ht.inference(people[["sex", "income"]], people[["sex", "income"]], secret="sex", n_attacks=9),
        "PrivacyFigure": ht.dcr(people[["income"]], people[["income"]]),
        "Keys": ht.minimal_keys(people, columns=["sex", "marital_status"]),
        "MinimalUniques": ht.minimal_uniques(people, columns=["sex", "marital_status"]),
        "JoinRisk": ht.join_risk(people[["sex", "education"]], people[["sex"]], on=["sex"]),
        "Linking": ht.link(people[["sex", "education"]], people, on=["sex"]),
        "LocalRecoding": ht.LocalRecoding(),
        "LocalSuppression": ht.LocalSuppression(),
        "Mondrian": ht.Mondrian(cut="median"),
        "Mpuccs": ht.mpuccs(people, columns=["sex", "marital_status"]),
        "Objective": ht.Objective.paper(),
        "Partition": release.partition,
        "PetsardMpuccs": ht.petsard_mpuccs(people[["sex"]], people[["sex"]]),
        "Pipeline": ht.Pipeline.parse("Loader: {people: {filepath: people.csv}}"),
        "PipelineRun": ht.PipelineRun((), ("excess_risk is 1, above the limit of 0",), ()),
        "DateShift": ht.DateShift(("day",), "26W", ("2023-01-01", "2024-12-31"), bytes(range(16))),
        "SinceFirst": ht.SinceFirst(("day",)),
        "Policy": ht.Policy.parse("columns: {age: quasi-identifier}\nmodels: [k-anonymity: 5]"),
        "Pseudonyms": release.pseudonyms,
        "Recoding": release.learned,
        "Release": release,
        "RemoteRelease": ht.anonymize(people[["sex"]].lazy(), quasi_identifiers=["sex"], models=[ht.KAnonymity(3)]),
        "Report": ht.report(release, audience="external"),
        "RiskAssessment": ht.assess(people, quasi_identifiers=["sex"], sensitive=["diagnosis"]),
        "Roles": ht.find_quasi_identifiers(people),
        "Selection": ht.select_columns(
            people, columns=["sex", "marital_status"], objective={"distinction": 1.0}, method="greedy"
        ),
        "SetNCP": ht.SetNCP({"sex": 2.0}),
        "Trees": ht.Trees(),
        "ReaderKnowledge": ht.ReaderKnowledge(zeros="hidden"),
        "Table": ht.Table.encode(people, ["sex"]),
        "RoundedTables": ht.round_tables(people, by=["sex"], base=5, seed=1),
        "Tabulation": ht.tabulate(people, by=["sex"], rules=ht.CellRules(3)),
        "TableAudit": ht.check_tables(people["sex"].value_counts(), value="count"),
        "Term": ht.Term("gini", -1.0, options={"target": "diagnosis"}),
        "Trace": release.trace,
        "Unicity": ht.unicity(people, person="name", item="sex", known=1),
        "Utility": release.utility(),
        "Verdict": release.verify(),
    }


def test_results_cover_every_class(results: dict[str, Any]) -> None:
    assert set(results) == set(RECORDS) - {"PrivacyModel"}


@for_each("name", [name for name in RECORDS if name != "PrivacyModel"])
def test_repr_and_dict_are_plain_and_short(results: dict[str, Any], name: str) -> None:
    result = results[name]
    assert isinstance(result, getattr(ht, name))
    assert type(result).__name__ in repr(result) or "Policy" in name
    assert len(repr(result)) < 5_000
    if hasattr(result, "to_dict"):
        assert json.loads(json.dumps(result.to_dict()))


RESULTS = [
    "Comparison",
    "Copies",
    "JoinRisk",
    "Linking",
    "Membership",
    "LinkedRelease",
    "MaskedRelease",
    "MaskingTradeoff",
    "Keys",
    "MinimalUniques",
    "Mpuccs",
    "PerturbationTradeoff",
    "PerturbedRelease",
    "PetsardMpuccs",
    "PipelineRun",
    "Release",
    "RemoteRelease",
    "Report",
    "RiskAssessment",
    "Roles",
    "Selection",
    "TableAudit",
    "RoundedTables",
    "Tabulation",
    "Unicity",
    "Utility",
    "Verdict",
]


@for_each("name", RESULTS)
def test_results_have_to_dict_and_html(results: dict[str, Any], name: str) -> None:
    assert results[name].to_dict()
    assert results[name]._repr_html_().startswith("<")


# Bootstrap has no fields.
@for_each("name", [name for name in RECORDS if name not in ("PrivacyModel", "Bootstrap")])
def test_records_are_frozen(results: dict[str, Any], name: str) -> None:
    result = results[name]
    first = next(iter(type(result).model_fields if "Policy" in name else [f.name for f in dataclasses.fields(result)]))
    with pytest.raises(Exception, match=r"frozen|cannot assign"):
        setattr(result, first, None)


def test_models_follow_the_protocol(results: dict[str, Any]) -> None:
    assert isinstance(results["KAnonymity"], ht.PrivacyModel)
    assert isinstance(results["DistinctLDiversity"], ht.PrivacyModel)


@for_each("name", [name for name in CLASSES if name.endswith("Error") or name == "BudgetExceeded"])
def test_errors_have_an_exit_code(name: str) -> None:
    error = getattr(ht, name)
    assert issubclass(error, ht.HushError)
    assert error.exit_code in (1, 2, 3, 70)
    assert issubclass(error, ValueError) is issubclass(error, ht.InputError)
