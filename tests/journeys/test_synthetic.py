"""A registry makes a synthetic table from one file of steps: a gate stops it, and lets it pass once it is coarse."""

import pytest
from counting_persons import read
from made_up_people import survey
from shell import Shell

STEPS = """\
version: 1
Loader:
  register: {filepath: register.csv}
Splitter:
  control: {train_split_ratio: 0.7}
Synthesizer:
  copula: {method: default, values: observed}
Evaluator:
  singling-out: {method: mpuccs, n_cols: [1, 2], limit: {excess_risk: 0.05}}
Reporter:
  tables: {method: save_data, source: [Splitter, Synthesizer]}
"""


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    """The registry after the gate has stopped the first synthetic table."""
    shell = Shell(tmp_path_factory.mktemp("registry"))
    survey(3_000).drop("respondent", "weight").write_csv(shell.folder / "register.csv")
    (shell.folder / "steps.yaml").write_text(STEPS, encoding="utf-8")
    stopped = shell.type("hushtable run steps.yaml --out exact", code=1)
    assert "excess is 0." in stopped.err
    assert "above the limit of 0.05" in stopped.err
    return shell


def tables(folder):
    """Return the names of the tables that a run wrote: originals, control, synthetic."""
    names = sorted(path.name for path in folder.glob("*.csv"))
    synthetic = next(name for name in names if "Synthesizer" in name)
    control = next(name for name in names if name.removesuffix(".csv").endswith(("control", "[control]")))
    return next(name for name in names if name not in (synthetic, control)), control, synthetic


def test_the_synthetic_table_is_attacked_beside_the_control(registry):
    train, control, synthetic = (f"'exact/{name}'" for name in tables(registry.folder / "exact"))
    singled = registry.type(
        f"hushtable mpuccs {train} {synthetic} --control {control} --sizes 1,2 --fail-above excess=0.05", code=1
    )
    assert "income" in singled.out
    registry.type(f"hushtable attack {train} {synthetic} --control {control} --secret income --attacks 100")
    # A copy is called one, whatever the figures beside it.
    copy = registry.type(
        f"hushtable attack {train} {train} --control {control} --attacks 100 --fail-above copies=0,dcr=0.6", code=1
    )
    assert "copies is" in copy.err
    assert "dcr is" in copy.err


def test_the_gate_lets_a_coarse_table_pass(registry):
    registry.type("hushtable scan register.csv -p policy.yaml --k 10")
    registry.edit("policy.yaml", income="quasi-identifier", trust="sensitive")
    registry.type("hushtable anonymize register.csv -p policy.yaml -o coarse.csv")
    (registry.folder / "coarse.yaml").write_text(STEPS.replace("register.csv", "coarse.csv"), encoding="utf-8")
    registry.type("hushtable run coarse.yaml --out coarse")
    train, control, synthetic = (
        read(registry.folder / "coarse" / name, delimiter=",") for name in tables(registry.folder / "coarse")
    )
    assert len(train) + len(control) == 3_000
    assert len(synthetic) == len(train)
    published = {row["income"] for row in read(registry.folder / "coarse.csv", delimiter=",")}
    assert {row["income"] for row in synthetic} <= published
