"""A rate that was observed in simulations, beside the one that is promised."""

import math
from dataclasses import dataclass

_NOTES = {-1: " (to be too low)", 0: "", 1: " (to be too high)"}


@dataclass(frozen=True)
class Rate:
    """How often something happened.

    Attributes:
        what: What is counted.
        nominal: Its promised rate, from 0 to 1; None where none is promised.
        count: How often it happened.
        runs: Of how many.
        off: -1 or 1 where it has to be lower or higher than promised, to show what would be wrong.
    """

    what: str
    nominal: float | None
    count: int
    runs: int
    off: int = 0

    @property
    def observed(self) -> float:
        return self.count / self.runs if self.runs else math.nan

    @property
    def margin(self) -> float:
        """Three standard errors of a rate that is as promised."""
        p = self.observed if self.nominal is None else self.nominal
        return 3 * math.sqrt(p * (1 - p) / self.runs)

    def __str__(self) -> str:
        nominal = "      " if self.nominal is None else f"{self.nominal:6.4f}"
        what = self.what + _NOTES[self.off]
        return f"{self.observed:7.4f}  nominal {nominal}  of {self.runs:6d}  {what}"
