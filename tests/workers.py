"""Workers for records that lie in parts, in this process: what other machines do, as they would be given it."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np


@dataclass
class Here:
    """Workers in this process, to which all that they are given goes as it goes to others; some work is done twice."""

    seed: int = 0

    def map(self, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Return what comes of every item, in their order."""
        lots, made = random.Random(self.seed), []
        for item in items:
            for _ in range(lots.choice([1, 2])):
                done = pickle.loads(pickle.dumps(work))(pickle.loads(pickle.dumps(item)))
            made.append(done)
        return made

    def sum(self, work: Callable[[Any], Any], items: Sequence[Any]) -> Any:
        """Return the sum of what comes of the items."""
        return reduce(np.add, self.map(work, items))
