"""Every method by its name: those of the package register themselves when this file imports them."""

from hushtable.anonymizers.fulldomain import FullDomain
from hushtable.anonymizers.histories import Histories
from hushtable.anonymizers.local.recode import LocalRecoding
from hushtable.anonymizers.method import METHODS, register
from hushtable.anonymizers.minimal.genetic import Genetic
from hushtable.anonymizers.minimal.mingen import MinGen
from hushtable.anonymizers.mondrian import Mondrian

__all__ = ["METHODS", "FullDomain", "Genetic", "Histories", "LocalRecoding", "MinGen", "Mondrian", "register"]
