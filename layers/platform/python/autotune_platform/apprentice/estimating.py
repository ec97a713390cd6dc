"""How many pairs more until a version graduates, if it goes on to agree as it did.

Future scores are drawn from those that were seen, and the bets of ``betting`` are played on from
where they are: many times, so that there is a median and a range. The draw is seeded by nothing
but what is known, so that the same question has the same answer.
"""

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from autotune_platform.apprentice.agreement import PARTS, Scores
from autotune_platform.apprentice.betting import GRADUATION_BETS, Wealth

MOST_PAIRS = 10_000
"""Beyond this nothing is foretold."""
FEWEST_PAIRS = 20
"""With fewer pairs there is no saying how it goes on."""
_GAMES = 300
_CHECKS = 200
_MOST_VALUES = 40


@dataclass(frozen=True)
class PairsLeft:
    """After how many pairs more U reaches its level, of 300 games.

    Attributes:
        low: in a tenth of them it takes fewer.
        median: in half of them it takes fewer; None for more than 10,000, or never.
        high: in a tenth of them it takes more; None for more than 10,000.
        is_never: whether no bet grows at this agreement, so that there were no games.
    """

    low: int | None
    median: int | None
    high: int | None
    is_never: bool = False


NEVER = PairsLeft(None, None, None, is_never=True)


def pairs_left(scores: Scores, *, wealth: Wealth, threshold: float, level: float) -> PairsLeft:
    """Return how many pairs more it takes, if scores go on to come as often as they did.

    It is ``NEVER`` where no bet grows at these scores: their mean is at the threshold or below, or
    so little above it that the smallest bet loses.

    Args:
        scores: what was seen, of one pair at least.
        wealth: of the bets now, as evidence has it.
        threshold: the mean above which a version may serve.
        level: what U has to reach.
    """
    drawn = _few(scores)
    total = sum(drawn.values())
    gains = {
        part: [math.log1p(share * (part / PARTS / threshold - 1)) for share in GRADUATION_BETS]
        for part in drawn
    }
    growth = [
        math.fsum(count * gains[part][bet] for part, count in drawn.items()) / total
        for bet in range(len(GRADUATION_BETS))
    ]
    if max(growth) <= 0:
        return NEVER
    start = [math.log(fraction) + power * math.log(2) for fraction, power in wealth]
    wanted = math.log(level * len(GRADUATION_BETS))
    block = _block(start, growth, wanted)
    # It is no secret: it has to be the same for the same question.
    dice = random.Random(0)  # noqa: S311
    values, weights = list(drawn), list(drawn.values())
    took = sorted(_game(dice, values, weights, gains, start, wanted, block) for _ in range(_GAMES))
    low, median, high = (_whole(took[int(_GAMES * share)]) for share in (0.1, 0.5, 0.9))
    return PairsLeft(low, median, high)


def _few(scores: Scores) -> dict[int, int]:
    """Return scores with few values, so that a game is cheap; neighbours become their mean."""
    if len(scores) <= _MOST_VALUES:
        return dict(scores)
    width = math.ceil(PARTS / (_MOST_VALUES - 1))
    groups: dict[int, list[tuple[int, int]]] = {}
    for part, count in scores.items():
        groups.setdefault(part // width, []).append((part, count))
    merged: dict[int, int] = {}
    for members in groups.values():
        pairs = sum(count for _, count in members)
        middle = sum(part * count for part, count in members) // pairs
        merged[middle] = merged.get(middle, 0) + pairs
    return merged


def _block(start: Sequence[float], growth: Sequence[float], wanted: float) -> int:
    """Return after how many pairs a game is looked at: some two-hundredth of what it is to take."""
    fastest = min(
        (wanted - wealth) / rate for wealth, rate in zip(start, growth, strict=True) if rate > 0
    )
    return max(1, min(int(fastest / _CHECKS), MOST_PAIRS // _CHECKS))


def _game(
    dice: random.Random,
    values: Sequence[int],
    weights: Sequence[int],
    gains: dict[int, list[float]],
    start: Sequence[float],
    wanted: float,
    block: int,
) -> float:
    """Return after how many pairs one game reached what is wanted; infinite for never."""
    wealth = list(start)
    for pairs in range(block, MOST_PAIRS + 1, block):
        for part, count in Counter(dice.choices(values, weights, k=block)).items():
            wealth = [one + count * gain for one, gain in zip(wealth, gains[part], strict=True)]
        largest = max(wealth)
        if largest + math.log(math.fsum(math.exp(one - largest) for one in wealth)) >= wanted:
            return pairs
    return math.inf


def _whole(pairs: float) -> int | None:
    return None if math.isinf(pairs) else int(pairs)
