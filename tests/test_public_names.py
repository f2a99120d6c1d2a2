"""Public names stay: what can be imported, and how it is called, against a list in `public_names.txt`.

A name that is added is added to the list: `python tests/test_public_names.py` writes it anew.
"""

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hushtable as ht

LIST = Path(__file__).with_name("public_names.txt")
PATHS = [
    *("claims", "claims.certificates", "datasets", "discover", "discover.compare", "discover.explain"),
    *("discover.objective", "discover.optimizers", "discover.redundancy", "discover.scores", "errors", "hierarchy"),
    *("masking", "models", "quality", "quality.bound", "quality.measures", "quality.similarity", "risk", "risk.bands"),
    *("models.plugins", "risk.population", "risk.presets", "sklearn", "synthesizers", "testing"),
]


def called(what: Any) -> str:
    """Return how something is called, without types."""
    signature = inspect.signature(what)
    plain = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def public(name: str, what: Any) -> Iterator[str]:
    if inspect.isclass(what):
        yield name
        ours = [home for home in what.__mro__ if home.__module__.startswith("hushtable.")]
        members = {each: member for home in reversed(ours) for each, member in vars(home).items()}
        for each, member in sorted(members.items()):
            member = getattr(member, "__func__", member)
            if not each.startswith("_"):
                yield f"{name}.{each}{called(member) if inspect.isfunction(member) else ''}"
    elif inspect.isfunction(what):
        yield f"{name}{called(what)}"
    else:
        yield name


def public_names() -> list[str]:
    lines = [line for name in dir(ht) for line in public(name, getattr(ht, name))]
    for path in PATHS:
        module = importlib.import_module(f"hushtable.{path}")
        lines += [f"{path}: {name}" for name in getattr(module, "__all__", [])]
    return lines


def test_no_public_name_is_lost() -> None:
    kept = LIST.read_text(encoding="utf-8").splitlines()
    names = set(public_names())
    assert [line for line in kept if line not in names] == []


def test_the_list_holds_every_public_name() -> None:
    listed = set(LIST.read_text(encoding="utf-8").splitlines())
    # Doors of rooms offer more to one another than is promised to those who use the package.
    assert [line for line in public_names() if line not in listed and ": " not in line] == []


def types_by_parameter() -> dict[str, set[str]]:
    """Return what the verbs take under each name."""
    found: dict[str, set[str]] = {}
    for verb in (getattr(ht, name) for name in dir(ht)):
        for parameter in inspect.signature(verb).parameters.values() if inspect.isfunction(verb) else ():
            found.setdefault(parameter.name, set()).add(str(parameter.annotation))
    return found


# One name stands for one thing at every door. These are of today; none may be added. Those of attacks are as the peers
# whom their users know have them.
TWO_TYPES = {
    "aux_columns": {"tuple[Sequence[str], Sequence[str]]", "Sequence[str] | None"},
    "n_cols": {"int", "int | Sequence[int] | None"},
    # One table is checked, several are made.
    "by": {"Sequence[str]", "Sequence[str] | Sequence[Sequence[str]]"},
    "clusters": {"int", "Sequence[int]"},
    "columns": {"Sequence[str]", "Sequence[str] | None"},
    "datetime_precision": {"str | None", "str | Mapping[str, str] | None"},
    "hierarchies": {"Mapping[str, Any] | None", "Mapping[str, Any] | str | os.PathLike[str] | None"},
    "method": {
        *("str | Mapping[str, Any] | Method", "Iterable[str] | None"),
        *("MaskingMethod", "str | optimizers.Optimizer", "str | Mapping[str, object] | PerturbationMethod"),
    },
    # A formula of a regression; the attackers' is theirs.
    "model": {"Literal['nearest', 'boosting']", "str | None"},
    "min_entropy_delta": {"float", "float | None"},
    "missing": {"Missing", "Literal['category', 'never']"},
    "numeric_precision": {"int | None", "Literal['auto'] | int | Mapping[str, int] | None"},
    "person": {"str", "str | None"},
    "policy": {
        *("Policy | str | os.PathLike[str]", "Policy | str | os.PathLike[str] | None"),
        *("LinkedPolicy | str | os.PathLike[str]", "LinkedPolicy | str | os.PathLike[str] | None"),
    },
    "progress": {"Progress | None", "WalkProgress | None"},
    # The seed of a rounding is a secret: a new one if none is given.
    "seed": {"int", "int | None"},
    # A threshold of distances is one of any size, one of counts is whole.
    "threshold": {"float", "int | None"},
    "tolerance": {"float | str | None", "Mapping[str, Any] | None"},
    "weights": {"str | None", "Mapping[str, float] | None"},
}


def test_a_parameter_has_one_type_at_every_door() -> None:
    several = {name: types for name, types in types_by_parameter().items() if len(types) > 1}
    assert several == TWO_TYPES


def test_every_public_name_has_an_example() -> None:
    docs = LIST.parents[1] / "docs"
    shown = "".join(page.read_text(encoding="utf-8") for page in docs.glob("**/*.md"))
    assert [name for name in dir(ht) if not re.search(rf"\bht\.{name}\b", shown)] == []


if __name__ == "__main__":
    promised = [line for line in LIST.read_text(encoding="utf-8").splitlines() if ": " in line]
    lines = [*(line for line in public_names() if ": " not in line), *promised]
    LIST.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
