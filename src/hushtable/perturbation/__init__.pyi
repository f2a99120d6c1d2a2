from .method import METHODS as METHODS
from .microaggregation import Microaggregation as Microaggregation
from .noise import Noise as Noise
from .perturbing import perturb as perturb
from .pram import Pram as Pram
from .rank_swap import RankSwap as RankSwap
from .record_swap import RecordSwap as RecordSwap
from .release import PerturbedRelease as PerturbedRelease
from .shuffle import Shuffle as Shuffle
from .tradeoff import (
    TITLES as TITLES,
    PerturbationTradeoff as PerturbationTradeoff,
    compare_with_release as compare_with_release,
    describe_point as describe_point,
    perturbation_tradeoff as perturbation_tradeoff,
)
