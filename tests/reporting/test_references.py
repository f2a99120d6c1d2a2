"""BibTeX of the papers behind results."""

import re

import pytest

import hushtable as ht
from hushtable.anonymizers import METHODS
from hushtable.models import MODELS
from hushtable.quality import LOSSES
from hushtable.reporting.papers import _ENTRY, _read_bibliography


def test_every_model_has_a_paper_and_every_name_means_something():
    names = {name for told, _ in _ENTRY.findall(_read_bibliography()) for name in told.split()}
    others = {"hushtable", "mpuccs", "keys", "uniques", "suda", "unicity", "mask-dependence"}
    assert names - set(MODELS) - set(METHODS) - set(LOSSES) - others <= {"singling-out", "linkability", "inference"}
    assert set(MODELS) <= names


def test_all_entries_are_read_and_have_keys_of_their_own():
    keys = re.findall(r"^@\w+\{(\w+),", ht.references(), re.MULTILINE)
    assert len(keys) == len(set(keys)) == _read_bibliography().count("@")


def test_a_release_cites_its_models_method_and_loss():
    release = ht.anonymize(ht.datasets.people(50), quasi_identifiers=["sex"], models=[ht.KAnonymity(2)], roles="trust")
    keys = re.findall(r"^@\w+\{(\w+),", ht.references(release, "unicity"), re.MULTILINE)
    assert keys == ["hushtable", "sweeney2002kanonymity", "lefevre2006mondrian", "xu2006utility", "narayanan2008robust"]


def test_a_name_without_a_paper_is_refused():
    with pytest.raises(ht.InputError, match=r"no paper for 'mondrain'.*\n*.*did you mean 'mondrian'"):
        ht.references("mondrain")
