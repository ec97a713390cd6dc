"""What a task saved: what its local answers would have cost, less what it cost to have them.

That is what checks cost, trainings, hosting, and additional models: nobody but the task had those.

Costs are in billionths of a US dollar.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Self

FEWEST_COSTS = 100
"""With fewer paid answers an interval of unlike costs would hold the truth far too rarely."""
SURE = 0.95
_DEVIATIONS = 1.959963984540054  # of the normal distribution, for 95 % on both sides


@dataclass(frozen=True)
class Costs:
    """Of answers of the paid model: how many, what they cost in all, and the sum of squares."""

    count: int = 0
    total: int = 0
    squares: int = 0

    @classmethod
    def of(cls, cost: int) -> Self:
        """Return the costs of one answer."""
        return cls(1, cost, cost * cost)

    def __add__(self, other: Self) -> Self:
        """Return the costs of both."""
        return type(self)(
            self.count + other.count, self.total + other.total, self.squares + other.squares
        )

    @property
    def mean(self) -> float | None:
        """What one costs; None of none."""
        return self.total / self.count if self.count else None

    @property
    def variance(self) -> float:
        """How costs vary, of two at least."""
        # In whole numbers as long as can be: two large ones of nearly the same size are subtracted.
        spread = self.count * self.squares - self.total * self.total
        return max(spread, 0) / (self.count * (self.count - 1))


@dataclass(frozen=True)
class Savings:
    """What was saved, with an interval of 95 %.

    Attributes:
        local_answers: so many the paid model did not give.
        avoided: what they would have cost at the mean of this task's paid answers; None where
            there was none.
        checks: what it cost to have the paid model check local answers.
        additional: what additional models cost.
        training: what jobs that train cost.
        hosting: what instances cost that host versions; None where the price of one is not known.
        net: the first less all of these. It is below 0 where they cost more than answers saved, and
            None where one is not known.
        low: the interval's end; None where there are too few paid answers to say.
        high: the other one.
    """

    local_answers: int
    avoided: int | None
    checks: int
    additional: int
    training: int
    hosting: int | None
    net: int | None
    low: int | None
    high: int | None


def savings(
    local_answers: int,
    *,
    paid: Costs,
    checks: int,
    additional: int = 0,
    training: int = 0,
    hosting: int | None = 0,
) -> Savings:
    """Return what local answers saved.

    The interval is that of a sum of costs that nobody saw, foretold from those that were seen: they
    vary, and their mean is not known exactly. What was paid is known, and moves it as a whole. It
    says nothing of inputs that would have cost more than those which were paid for, such as longer
    ones that only the local model gets.
    """
    saved = partial(
        Savings,
        local_answers,
        checks=checks,
        additional=additional,
        training=training,
        hosting=hosting,
    )
    avoided: float | None = local_answers * paid.mean if paid.mean is not None else None
    if not local_answers:
        avoided = 0
    shown = None if avoided is None else round(avoided)
    if avoided is None or hosting is None:
        return saved(avoided=shown, net=None, low=None, high=None)
    spent = checks + additional + training + hosting
    net = round(avoided) - spent
    if not local_answers:
        return saved(avoided=shown, net=net, low=net, high=net)
    if paid.count < FEWEST_COSTS:
        return saved(avoided=shown, net=net, low=None, high=None)
    spread = local_answers + local_answers * local_answers / paid.count
    off = _DEVIATIONS * math.sqrt(paid.variance * spread)
    low, high = round(avoided - off) - spent, round(avoided + off) - spent
    return saved(avoided=shown, net=net, low=low, high=high)
