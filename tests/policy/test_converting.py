"""Files of other tools: an ARX project becomes the policy that it holds, a tau-Argus code list a hierarchy."""

import json
import re
import zipfile
from pathlib import Path

import polars as pl
import pytest

import hushtable as ht
from command import done, run
from hushtable.policy import convert

# As ARX's WorkerSave and its vocabulary 2.0 write them, spelling included.
PROJECT = "<project>\n<name>p</name>\n<separator>;</separator>\n<locale>EN</locale>\n</project>"
CONFIG = """<config>
<suppressTuplesInNonAnonymousOutput>true</suppressTuplesInNonAnonymousOutput>
<suppressionString>*</suppressionString>
<relativeMaxOutliers>0.05</relativeMaxOutliers>
<metric>Loss (0.5/1.0/1.0)</metric>
<attributeWeights>
<attributeWeight><attribute>sex</attribute><weight>0.5</weight></attributeWeight>
<attributeWeight><attribute>zip code</attribute><weight>0.8</weight></attributeWeight>
<attributeWeight><attribute>name</attribute><weight>0.1</weight></attributeWeight>
</attributeWeights>
<criteria>
<criterion>2-anonymity</criterion>
<criterion>distinct-2-diversity for attribute 'ill'</criterion>
<criterion>0.9-closeness with equal ground-distance for attribute 'ill'</criterion>
<criterion>shannon-entropy-1.5-diversity for attribute 'ill'</criterion>
<criterion>enhanced-2.0-likeness for attribute 'ill'</criterion>
<criterion>(0.01, 1.0E-6)-differential privacy</criterion>
</criteria>
</config>"""


def assigned(name: str, kind: str, datatype: str = "String", more: str = "") -> str:
    return f"<assigment><name>{name}</name><type>{kind}</type><datatype>{datatype}</datatype>{more}</assigment>"


DEFINITION = "\n".join(
    [
        "<definition>",
        assigned("name", "IDENTIFYING_ATTRIBUTE"),
        assigned(
            "sex", "QUASI_IDENTIFYING_ATTRIBUTE", more="<ref>hierarchies/sex.csv</ref><min>All</min><max>All</max>"
        ),
        assigned("zip code", "QUASI_IDENTIFYING_ATTRIBUTE", more="<ref>hierarchies/zip code.csv</ref><min>1</min>"),
        assigned("born", "INSENSITIVE_ATTRIBUTE", "Date/Time", "<format>dd.MM.yyyy</format>"),
        assigned("ill", "SENSITIVE_ATTRIBUTE"),
        "</definition>",
    ]
)
LADDERS = {"sex": "f;*\nm;*\n", "zip code": "".join(f"1011{i};1011*;101**;*\n" for i in range(8))}


def project(path: Path, **changed: str | None) -> Path:
    entries = {"project.xml": PROJECT, "input/config.xml": CONFIG, "input/definition.xml": DEFINITION}
    entries |= {f"input/hierarchies/{name}.csv": text for name, text in LADDERS.items()}
    entries |= {"data/input.csv": "SECRET of Ms Miller", "project.dat": "\xac\xed java", **changed}
    with zipfile.ZipFile(path, "w") as made:
        for name, text in entries.items():
            if text is not None:
                made.writestr(name, text)
    return path


def test_a_project_becomes_the_policy_that_it_holds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = done("convert", project(tmp_path / "p.deid"), "-o", "made").err
    policy = ht.Policy.read("made/policy.yaml")
    assert policy.quasi_identifiers == ("sex", "zip code")
    assert {name: column.role for name, column in policy.columns.items() if name in ("name", "born", "ill")} == {
        "name": "identifier",
        "born": "other",
        "ill": "sensitive",
    }
    assert policy.models == (
        ht.KAnonymity(2),
        ht.DistinctLDiversity(2, "ill"),
        ht.TCloseness(0.9, "ill", ground="equal"),
        ht.EntropyLDiversity(1.5, "ill"),
        ht.BetaLikeness(2, "ill", enhanced=True),
    )
    assert (policy.method.name, policy.loss.name, policy.limits.suppression) == ("full_domain", "arx_loss", 0.05)
    assert dict(policy.loss.weights) == {"sex": 0.5, "zip code": 0.8}
    text = Path("made/policy.yaml").read_text(encoding="utf-8")
    for lacking in ("the minimum level of zip code", "the privacy model (0.01, 1.0E-6)-differential privacy"):
        assert f"no counterpart: {lacking}" in told
        assert f"# no counterpart: {lacking}" in text
    assert not any("Miller" in path.read_text(encoding="utf-8") for path in Path("made").rglob("*") if path.is_file())
    rows = {"name": [*"abcdefgh"], "sex": [*"fmfmfmfm"], "zip code": [f"1011{i}" for i in range(8)]}
    rows |= {"born": ["01.02.1990"] * 8, "ill": [*"xyxyyxyx"]}
    pl.DataFrame(rows).write_csv("in.csv", separator=";")
    done("anonymize", "in.csv", "-p", "made/policy.yaml", "-o", "out.csv")
    assert done("verify", "out.csv", "-p", "made/policy.yaml").code == 0


@pytest.mark.parametrize(
    ("metric", "loss", "lacking"),
    [
        ("Loss (0.7/0.6/1.0)", {"arx_loss": {"gs_factor": 0.7}}, False),
        ("Non-monotonic precision", "precision", False),
        ("Non-monotonic discernability", "discernibility", False),
        ("Average equivalence class size", "average_class_size", False),
        ("Normalized non-uniform entropy", "non_uniform_entropy", False),
        ("EntropyBasedInformationLoss", "arx_loss", True),
        ("Monotonic discernability (DM*)", "arx_loss", True),
    ],
)
def test_quality_models_are_known_by_what_arx_calls_them(tmp_path, metric, loss, lacking):
    config = re.sub("<attributeWeight>.*\n", "", CONFIG.replace("Loss (0.5/1.0/1.0)", metric))
    made = convert(project(tmp_path / "p.deid", **{"input/config.xml": config}))
    assert ht.Policy.parse(without_ladders(made)).loss == ht.Policy.parse(f"{BARE}loss: {json.dumps(loss)}\n").loss
    assert any("the quality model" in each for each in made.lacking) is lacking


BARE = "version: 1\ncolumns: {sex: quasi-identifier}\nmodels: [{k-anonymity: 2}]\nmethod: full_domain\n"


def without_ladders(made):
    return re.sub(r"^ *hierarchy: .*\n", "", made.files["policy.yaml"], flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("java", "ours"),
    [
        ("dd.MM.yyyy HH:mm:ss", "%d.%m.%Y %H:%M:%S"),
        ("d.M.yy", "%d.%m.%y"),
        ("yyyy-MM-dd'T'HH:mm:ss'Z'", "%Y-%m-%dT%H:%M:%SZ"),
        ("EEE, dd MMM yyyy", None),
        ("yyyy-MM-ddZZ", None),
        ("MM/yyyy", None),
    ],
)
def test_formats_of_dates_are_those_of_strptime(tmp_path, java, ours):
    born = assigned("born", "QUASI_IDENTIFYING_ATTRIBUTE", "Date/Time", f"<format>{java}</format>")
    definition = DEFINITION.replace("</definition>", f"{born}</definition>")
    made = convert(project(tmp_path / "p.deid", **{"input/definition.xml": definition}))
    spec = ht.Policy.parse(without_ladders(made)).columns["born"].spec
    assert (spec.kind, spec.format) == ("date", ours)
    assert any(java in each for each in made.lacking) is (ours is None)


def test_what_arx_s_writer_keeps_is_kept(tmp_path):
    # A tab between cells, a space before a name, a hierarchy in the encoding of Windows, and the writer's own spelling.
    definition = DEFINITION.replace(
        "</definition>",
        assigned(" size", "QUASI_IDENTIFYING_ATTRIBUTE", "Decimal", "<format>#,##0</format>")
        + assigned("hour", "QUASI_IDENTIFYING_ATTRIBUTE", "Date/Time", "<format>HH:mm</format>")
        + assigned(
            "blood", "QUASI_IDENTIFYING_ATTRIBUTE", more="<microaggregationFunction>Mean</microaggregationFunction>"
        )
        + "</definition>",
    )
    path = project(
        tmp_path / "p.deid",
        **{"project.xml": "<project><separator>\t</separator></project>", "input/definition.xml": definition},
    )
    with zipfile.ZipFile(path, "a") as held:
        held.writestr("input/hierarchies/blood.csv", "groß;*\nklein;*\n".encode("cp1252"))
    made = convert(path)
    policy = ht.Policy.parse(without_ladders(made))
    assert policy.read_as.delimiter == "\t"
    assert " size" in policy.quasi_identifiers
    assert policy.columns["hour"].spec.kind == "time"
    assert "groß;*\nklein;*\n" in made.files.values()
    assert {"microaggregation of blood (Mean)", "the format #,##0 of  size"} <= {*made.lacking}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"input/config.xml": None}, "lacks 'input/config.xml'"),
        ({"input/config.xml": "<config>"}, "is no XML"),
        ({"input/config.xml": '<!DOCTYPE a [<!ENTITY b "c">]><config/>'}, "declares entities"),
        ({"input/config.xml": "<config/>"}, "asks for no privacy model"),
        ({"input/config.xml": CONFIG.replace("0.05", "many")}, "is no number"),
        ({"input/definition.xml": "<definition/>"}, "columns declares no quasi-identifier|needs 'ill'"),
    ],
)
def test_what_is_no_project_is_refused(tmp_path, changed, told):
    with pytest.raises(ht.InputError, match=told):
        convert(project(tmp_path / "p.deid", **changed))


def test_an_entry_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("hushtable.policy.converting._MAX_BYTES_PER_ENTRY", 1_000)
    with pytest.raises(ht.InputError, match="unpacks to more than"):
        convert(project(tmp_path / "p.deid", **{"project.xml": "x" * 5_000}))
    (tmp_path / "q.deid").write_bytes(b"PK\x03\x04nothing")
    with pytest.raises(ht.InputError, match="is not a project"):
        convert(tmp_path / "q.deid")


def test_a_code_list_becomes_a_hierarchy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("region.hrc").write_text("North\n@N1\n@@N11\n@@N12\n@N2\nSouth\n@S1\n", encoding="utf-8")
    done("convert", "region.hrc")
    hierarchy = ht.Hierarchy.from_csv("region.csv")
    assert Path("region.csv").read_text(encoding="utf-8").splitlines() == [
        "N11;N1;North;*",
        "N12;N1;North;*",
        "N2;N2;North;*",
        "S1;S1;South;*",
    ]
    assert hierarchy.values == ("N11", "N12", "N2", "S1")
    for text in ("@N1\n", "North\n@@N11\n", "", "a;b\n"):
        Path("bad.hrc").write_text(text, encoding="utf-8")
        assert run("convert", "bad.hrc", "-o", "x").code == 2
    assert run("convert", "region.csv").code == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("North\n@N1\n\n@N1\n", "line 4: the value of line 2 again"),
        ("North\n@N1\nSouth\n@N1\n", "line 4: the value of line 2 again"),
        ("North\n@N1\nSouth\n@S1\n@@N1\n", "line 5: the value of line 2 again"),
        ("North\n@N1\nSouth\n@North\n", "value of another branch"),
    ],
)
def test_a_code_that_stands_twice_makes_no_hierarchy(tmp_path, text, told):
    (tmp_path / "x.hrc").write_text(text, encoding="utf-8")
    with pytest.raises(ht.HierarchyError, match=told):
        convert(tmp_path / "x.hrc")


def test_a_code_may_have_the_name_of_the_one_above_it(tmp_path):
    (tmp_path / "x.hrc").write_text("A\n@A\nB\n@B1\n", encoding="utf-8")
    assert convert(tmp_path / "x.hrc").files == {"x.csv": "A;A;*\nB1;B;*\n"}


AMNESIA = """distinct
name places
type string
height 4

North has N1 N2
South has S1

N1 has N11 N12

World has North South
"""


def test_a_tree_of_amnesia_becomes_a_hierarchy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("places.txt").write_text(AMNESIA, encoding="utf-8")
    done("convert", "places.txt")
    assert sorted(Path("places.csv").read_text(encoding="utf-8").splitlines()) == [
        "N11;N1;North;World;*",
        "N12;N1;North;World;*",
        "N2;N2;North;World;*",
        "S1;S1;South;World;*",
    ]
    assert sorted(ht.Hierarchy.from_csv("places.csv").values) == ["N11", "N12", "N2", "S1"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name x\n", "first line"),
        ("", "first line"),
        ("range\nheight 2\n\n0,10 has 0,5 5,10\n", "intervals"),
        ("distinct\n\nA has\n", "line 3"),
        ("distinct\n\nA B\n", "line 3"),
        ("distinct\n\nA has B B\n", "line 3"),
        ("distinct\n\nA has B\nC has B\n", "line 4"),
        ("distinct\n\nA has B;C\n", "line 3"),
        ("distinct\n\nA has B\nC has D\n", "one root"),
        ("distinct\n\nA has B\nB has A\n", "one root"),
        ("distinct\n\nA has B\nB has A C\n", "one root"),
        ("distinct\nheight 3\n", "one root"),
    ],
)
def test_what_is_no_tree_of_amnesia_is_refused(tmp_path, text, told):
    (tmp_path / "x.txt").write_text(text, encoding="utf-8")
    with pytest.raises(ht.InputError, match=told):
        convert(tmp_path / "x.txt")
