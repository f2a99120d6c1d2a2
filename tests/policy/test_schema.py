"""Schemas: every policy that is read fits, and what is of no such type does not."""

import re
from pathlib import Path
from typing import Any, ClassVar

import jsonschema
import pytest
import yaml

import hushtable as ht
from command import done
from hushtable.pipeline import pipeline_schema
from hushtable.policy import policy_schema

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCES = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEAD = "columns: {age: quasi-identifier, pay: sensitive, job: {role: other, kind: category}}\n"


class EditorLoader(yaml.SafeLoader):
    """Reads dates as text, as editors do (YAML 1.2), and as hushtable does."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {
        sign: [each for each in resolvers if each[0] != "tag:yaml.org,2002:timestamp"]
        for sign, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def files_of(*entries: str) -> list[tuple[str, dict]]:
    found = []
    for page in PAGES:
        for text in FENCES.findall(page.read_text(encoding="utf-8")) if page.is_file() else ():
            given = yaml.load(text, EditorLoader)
            if isinstance(given, dict) and {*entries} <= {*given}:
                found.append((page.name, given))
    return found


def fits(schema, given) -> bool:
    return jsonschema.Draft202012Validator(schema).is_valid(given)


def test_schemas_are_schemas():
    for schema in (policy_schema(), pipeline_schema()):
        jsonschema.Draft202012Validator.check_schema(schema)


def test_every_policy_of_the_docs_fits():
    given = files_of("columns", "models")
    assert given
    for page, policy in given:
        jsonschema.validate(policy, policy_schema()), page


def test_every_pipeline_of_the_docs_fits():
    given = files_of("Loader")
    assert given
    for page, pipeline in given:
        jsonschema.validate(pipeline, pipeline_schema()), page


def test_what_scan_proposes_fits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ht.datasets.people(300).write_csv("in.csv")
    done("scan", "in.csv", "-p", "plain.yaml")
    assert "yaml-language-server" not in Path("plain.yaml").read_text(encoding="utf-8")
    done("schema", "policy", "-o", "policy.schema.json")
    done("scan", "in.csv", "-p", "policy.yaml")
    text = Path("policy.yaml").read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=policy.schema.json\n")
    jsonschema.validate(yaml.safe_load(text), policy_schema())
    assert done("anonymize", "in.csv", "-p", "policy.yaml", "-o", "out.csv").code == 0
    assert '"A pipeline of hushtable"' in done("schema", "pipeline").out


@pytest.mark.parametrize(
    "rest",
    [
        "models: [k-anonymity: 5]",
        "models: [{k-anonymity: {k: 5}}, {distinct-l-diversity: {l: 2, sensitive: pay}}]",
        "models: [k-anonymity: 5]\nmethod: {mondrian: {cut: median}}\nloss: {ncp: {weights: {age: 2}}}",
        "models: [k-anonymity: 5]\nlimits: {suppression: 0.1}\nbudget: {seconds: 3}\nplugins: none",
        "models: [k-anonymity: 5]\nmethod: genetic\naccept: {job: known to nobody}",
    ],
)
def test_what_is_read_fits(rest):
    ht.Policy.parse(HEAD + rest)
    assert fits(policy_schema(), yaml.safe_load(HEAD + rest))


@pytest.mark.parametrize(
    "text",
    [
        HEAD,
        "models: [k-anonymity: 5]",
        HEAD + "models: [k-anonimity: 5]",
        HEAD + "models: [{k-anonymity: {m: 5}}]",
        HEAD + "models: [k-anonymity: many]",
        HEAD + "models: k-anonymity",
        HEAD + "models: [k-anonymity: 5]\nmethod: {mondrian: {cuts: median}}",
        HEAD + "models: [k-anonymity: 5]\nlimits: {suppression: 2}",
        HEAD + "models: [k-anonymity: 5]\nlimits: {supression: 0.1}",
        HEAD + "models: [k-anonymity: 5]\nunknown: maybe",
        HEAD + "models: [k-anonymity: 5]\nstray: 1",
        "columns: {age: quasi}\nmodels: [k-anonymity: 5]",
        "columns: {age: {role: quasi-identifier, sort: x}}\nmodels: [k-anonymity: 5]",
    ],
)
def test_what_is_refused_by_its_form_fits_not(text):
    with pytest.raises(ht.PolicyError):
        ht.Policy.parse(text)
    assert not fits(policy_schema(), yaml.safe_load(text))


@pytest.mark.parametrize("text", ["Loaderr: {a: {}}", "version: 2", "Loader: [a]"])
def test_what_is_no_pipeline_fits_not(text):
    assert not fits(pipeline_schema(), yaml.safe_load(text))
