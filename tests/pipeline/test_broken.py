"""Files that cannot be read: each fault with its line, and with what is allowed there."""

import pytest

import hushtable as ht
from command import run

HEAD = "Loader:\n  data: {filepath: people.csv}\n"

BROKEN = {
    "a module that there is not": ("Loder:\n  data: {filepath: a.csv}\n", 1, ["Did you mean 'Loader'?", "Splitter"]),
    "no modules": ("- Loader\n", None, ["expected modules, such as Loader", "for instance:"]),
    "nothing": ("", None, ["expected modules"]),
    "no experiments": ("Loader:\n", 1, ["expected experiments"]),
    "an experiment without parameters": ("Loader:\n  data: people.csv\n", 2, ["expected parameters"]),
    "a name that ends as a sample's": (
        "Loader:\n  'data_[1-1]': {filepath: a.csv}\n",
        2,
        ["does not end in _[...]"],
    ),
    "a name that is a path": ("Loader:\n  '../data': {filepath: a.csv}\n", 2, ["text without / or \\"]),
    "a parameter that there is not": (
        "Loader:\n  data:\n    filepath: a.csv\n    na_value: '?'\n",
        4,
        ["no such entry", "Did you mean 'na_values'?", "header_names"],
    ),
    "a path that is a mapping": (
        "Loader:\n  p:\n    filepath: {a: b}\nDescriber:\n  all: {}\n",
        3,
        ["Loader.p.filepath: Input should be a valid string"],
    ),
    "no table to read": ("Loader:\n  data: {na_values: '?'}\n", 2, ["give filepath"]),
    "a method that there is not": (
        f"{HEAD}Synthesizer:\n  a:\n    method: copulla\n",
        5,
        ["no such method", "Did you mean 'copula'?", "bootstrap"],
    ),
    "a method that is not given": (f"{HEAD}Evaluator:\n  a: {{n_cols: 3}}\n", 4, ["method is not given", "mpuccs"]),
    "a share above 1": (f"{HEAD}Splitter:\n  a:\n    train_split_ratio: 1.5\n", 5, ["less than 1"]),
    "half a sample": (f"{HEAD}Splitter:\n  a:\n    num_samples: 1.5\n", 5, ["valid integer"]),
    "a granularity that there is not": (
        f"{HEAD}Reporter:\n  a:\n    method: save_report\n    granularity: [global, colum]\n",
        6,
        ["Input should be", "columnwise", "Did you mean 'columnwise'?"],
    ),
    "a source that there is not": (
        f"{HEAD}Reporter:\n  a:\n    method: save_data\n    source: Loadr\n",
        6,
        ["there is no 'Loadr'", "Did you mean 'Loader'?"],
    ),
    "an evaluator that there is not": (
        f"{HEAD}Evaluator:\n  risk: {{method: mpuccs}}\nReporter:\n  a:\n    method: save_report\n    eval: rsk\n",
        8,
        ["there is no 'rsk'", "Did you mean 'risk'?"],
    ),
    "a limit that no figure has": (
        f"{HEAD}Evaluator:\n  risk:\n    method: mpuccs\n    limit: {{excess: 0.1}}\n",
        6,
        ["limit names 'excess'", "excess_risk"],
    ),
    "a limit of what is not built": (
        f"{HEAD}Evaluator:\n  risk:\n    method: stats\n    limit: {{risk: 0.1}}\n",
        6,
        ["no figure to limit"],
    ),
    "a limit that nothing is above": (
        f"{HEAD}Evaluator:\n  risk:\n    method: mpuccs\n    limit: {{excess_risk: .nan}}\n",
        6,
        ["finite number"],
    ),
    "what has no effect beside another": (
        f"{HEAD}Evaluator:\n  risk:\n    method: mpuccs\n    compat: petsard-1.6\n    control: c.csv\n",
        7,
        ["control has no effect with compat"],
    ),
    "a rule that is no expression": (
        f"{HEAD}Constrainer:\n  a:\n    field_constraints: ['age >> 18']\n",
        4,
        ["field_constraints 1, character", "no sign"],
    ),
    "a number whose zeros YAML drops": (
        "Loader:\n  a:\n    filepath: a.csv\n    na_values: [12.50]\n",
        4,
        ["put a number with decimals in quotes"],
    ),
    "the beginning of a name that is a path": (
        f"{HEAD}Reporter:\n  a:\n    method: save_timing\n    output: sub/x\n",
        6,
        ["expected the beginning of a file's name"],
    ),
    "a step without a table": ("Synthesizer:\n  a: {method: default}\n", 1, ["there is no table yet", "Loader"]),
    "a word of a step that there is not": (
        f"{HEAD}Preprocessor:\n  a:\n    missing: {{age: missing_dorp}}\n",
        5,
        ["no such word", "drop"],
    ),
    "a type that there is not": (
        "Loader:\n  a:\n    filepath: a.csv\n    schema:\n      fields:\n        age: {type: whole}\n",
        6,
        ["Input should be", "'int'"],
    ),
    "a column named as a kind of record is": (
        "Loader:\n  a:\n    filepath: a.csv\n    schema:\n      fields:\n        age: {type: int}\n"
        "        Schema:\n          type: whole\n",
        8,
        ["Loader.a.schema.fields.Schema.type: Input should be", "'int'"],
    ),
    "a column named as a type is": (
        "Loader:\n  a:\n    filepath: a.csv\n    schema:\n      fields:\n        age: {type: int}\n"
        "        int:\n          typ: int\n",
        8,
        ["Loader.a.schema.fields.int.typ: no such entry", "Did you mean 'type'?"],
    ),
    "an entry of a schema that there is not": (
        "Loader:\n  a:\n    filepath: a.csv\n    schema:\n      fields:\n        age: {typ: int}\n",
        6,
        ["no such entry", "Did you mean 'type'?"],
    ),
    "a version that there is not": (f"version: 2\n{HEAD}", 1, ["expected 1"]),
    "a seed that is none": (f"seed: today\n{HEAD}", 1, ["expected a whole number"]),
    "a policy that is none": (
        f"{HEAD}Anonymizer:\n  a:\n    columns: {{age: quasi-identifier}}\n    models: [k-anonimity: 5]\n",
        6,
        ["k-anonymity"],
    ),
    "a policy beside a policy": (
        f"{HEAD}Anonymizer:\n  a:\n    policy: p.yaml\n    models: [k-anonymity: 5]\n",
        6,
        ["stands beside policy"],
    ),
    "two of one name": (f"{HEAD}{HEAD}", 3, ["'Loader' stands twice"]),
    "an anchor": ("Loader: &all\n  data: {filepath: a.csv}\n", 1, ["an anchor or alias"]),
    "a tab": ("Loader:\n\tdata: {filepath: a.csv}\n", 2, ["check the indents"]),
    "a log level that there is not": (f"Executor:\n  log_level: LOUD\n{HEAD}", 2, ["Input should be", "DEBUG"]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_fault_has_its_line_and_what_is_allowed(name: str) -> None:
    text, line, words = BROKEN[name]
    with pytest.raises(ht.PipelineError) as caught:
        ht.Pipeline.parse(text, "broken.yaml")
    told = str(caught.value)
    if line is not None:
        assert f"broken.yaml line {line}:" in told
    for word in words:
        assert word in told


def test_all_faults_are_told_at_once() -> None:
    text = "Loader:\n  a: {filepth: a.csv}\nSplitter:\n  b: {num_samples: 0}\nDescribr:\n  c: {}\n"
    with pytest.raises(ht.PipelineError) as caught:
        ht.Pipeline.parse(text, "broken.yaml")
    for line in (2, 4, 5):
        assert f"broken.yaml line {line}:" in str(caught.value)


def test_the_command_leaves_with_2(tmp_path) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text("Loder: {a: {filepath: a.csv}}\n")
    # What was kept can be removed whatever the file says.
    assert run("run", file, "--clean").out == "Nothing was kept.\n"
    for more in ((), ("--dry-run",), ("--clean", "--dry-run")):
        outcome = run("run", file, *more)
        assert (outcome.code, outcome.out) == (2, "")
        assert ("line 1" if "--clean" not in more else "no effect with --clean") in outcome.err
    assert run("run", tmp_path / "none.yaml").code == 2


def test_a_file_with_windows_line_ends_is_read() -> None:
    assert ht.Pipeline.parse(HEAD.replace("\n", "\r\n")).modules
