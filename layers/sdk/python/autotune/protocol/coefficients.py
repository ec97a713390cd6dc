"""Coefficients of agreement on the wire, and why one may be missing."""

from typing import Literal

from autotune.protocol import types

UndefinedBecause = Literal["no_pairs", "one_level_only"]
"""Why κ or α has no value: nothing to compare, or all of it at one level."""

NoIntervalBecause = Literal[
    "undefined",
    "one_group",
    "perfect",
    "undefined_replicate",
    "no_variation",
    "uneven_groups",
    "uneven_weights",
]
"""Why an estimate has no interval.

``undefined_replicate``: all hangs on one group. ``no_variation``: no group changes the estimate.
``uneven_groups``: one group has so many samples that the others say too little.
``uneven_weights``: samples came between draws, and the labels that stand for most of them are few:
all labels together say less than 50 of equal weight would.
"""

InsufficientBecause = Literal[
    "few_labels", "few_outside_commonest_level", "many_open", "uneven_weights"
]
"""Why nothing can be claimed: fewer than 50 pairs of drawn labels and judge's levels, or fewer than
15 of them outside the commonest level.

``many_open``: more than 5 % of the drawn samples have no truth that counts: people are apart on
them, left them, or had been shown the judge's result. ``uneven_weights``: of means alone,
as where an interval is missing.
"""


class Coefficient(types.ResponseModel):
    """A coefficient of agreement: from -1 to 1, 0 for chance; ``value`` is null where undefined."""

    value: float | None
    undefined_because: UndefinedBecause | None = None
    n: int
