"""Coefficients of agreement on the wire, and why one may be missing."""

from typing import Literal

from autotune.protocol import types

UndefinedBecause = Literal["no_pairs", "one_level_only"]
"""Why κ or α has no value: nothing to compare, or all of it at one level."""

NoIntervalBecause = Literal[
    "undefined", "one_group", "perfect", "undefined_replicate", "no_variation", "uneven_groups"
]
"""Why an estimate has no interval.

``undefined_replicate``: all hangs on one group. ``no_variation``: no group changes the estimate.
``uneven_groups``: one group has so many samples that the others say too little.
"""

InsufficientBecause = Literal["few_labels", "few_outside_commonest_level", "many_open"]
"""Why nothing can be claimed: fewer than 50 pairs of drawn labels and judge's levels, or fewer than
15 of them outside the commonest level."""


class Coefficient(types.ResponseModel):
    """A coefficient of agreement: from -1 to 1, 0 for chance; ``value`` is null where undefined."""

    value: float | None
    undefined_because: UndefinedBecause | None = None
    n: int
