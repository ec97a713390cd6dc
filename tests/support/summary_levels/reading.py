"""Reads the levels as arrays."""

import json
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from tests.support.summary_levels import EXPERTS, FOLDER, GPT_35

SHIFT = 3
"""Ratings from 1 to 5 are levels from -2 to +2."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SummaryLevels:
    """Levels of one criterion; arrays have shape (1200,), NaN where there is no level."""

    by_rater: dict[str, Floats]
    groups: npt.NDArray[np.int64]

    @property
    def experts(self) -> Floats:
        """Shape (3, 1200)."""
        return np.stack([self.by_rater[name] for name in EXPERTS])

    @property
    def truth(self) -> Floats:
        return np.median(self.experts, axis=0)

    def judged(self, prompt: str, model: str = GPT_35) -> Floats:
        return self.by_rater[f"{model} {prompt}"]


@cache
def summary_levels(criterion: str) -> SummaryLevels:
    """Reads the levels of a criterion: coherence or relevance."""
    raters = json.loads((FOLDER / "levels.json").read_text("utf-8"))[criterion]
    by_rater = {
        name: np.array(
            [
                [np.nan if rating == "-" else int(rating) - SHIFT for rating in system]
                for system in systems
            ]
        ).ravel()
        for name, systems in raters.items()
    }
    systems = raters[EXPERTS[0]]
    return SummaryLevels(by_rater, np.tile(np.arange(len(systems[0])), len(systems)))
