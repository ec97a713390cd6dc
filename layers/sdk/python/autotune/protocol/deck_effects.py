"""What an edit of a rubric changes, on the wire: measured on labels of a deck."""

from typing import Literal

from autotune.protocol import types
from autotune.protocol.coefficients import Coefficient, InsufficientBecause, NoIntervalBecause

EditOutcome = Literal["acceptable", "needs_consent", "refused", "no_evidence", "insufficient"]
"""What may become of an edit, by the numbers.

``needs_consent``: acceptable once a person consents to what is newly called positive, or newly gets
a level where people say that the question does not apply.
``no_evidence``: the difference may be chance. ``insufficient``: labels are too few to claim
anything.
"""

EditRefusal = Literal["agrees_less", "scores_less", "bias_grows", "scores_inapplicable"]
"""What an edit is refused for: κ falls by more than chance explains, the share of samples with a
level falls by more than two points, |bias| grows by more than chance explains, or so do the samples
that get a level and to which, as people say, the question does not apply."""


EditInsufficientBecause = Literal[InsufficientBecause, "other_model"]
"""Why nothing can be claimed of an edit: labels are too few, or they are because too many samples
were judged by one model before and by another after."""


class ScoredShare(types.ResponseModel):
    """How many of ``n`` samples got a level, before and after."""

    n: int
    old: int
    new: int
    holds: bool


class BiasEffect(types.ResponseModel):
    """Mean of level minus truth before and after, and how its distance from 0 grows.

    Attributes:
        low: the lower end of the growth, one-sided; above 0 it is more than chance explains.
    """

    old: float | None = None
    new: float | None = None
    growth: float | None = None
    low: float | None = None
    holds: bool


class EditTrial(types.ResponseModel):
    """What an edit changes on the development half, for choosing one; it backs no claim.

    Attributes:
        old: κ of the version that it changes, of samples that both scored.
        delta: ``new`` minus ``old``; null where one of them is undefined.
        inapplicable: of the samples to which, as people say, the question does not apply, how many
            got a level. Null where it was measured before this was counted.
        newly_positive: samples at -3 or -2 that are called positive and were not before.
        other_model: samples that are left out, because no model judged them by both versions.
    """

    old: Coefficient
    new: Coefficient
    delta: float | None = None
    scored: ScoredShare
    inapplicable: ScoredShare | None = None
    newly_positive: int
    other_model: int = 0
    measured_at: types.Timestamp


class EditEffect(EditTrial):
    """What an edit changes on drawn samples that are held out.

    Attributes:
        se: standard error of ``delta``, jackknifed by group.
        low: ``delta`` minus as many of them as ``alpha`` asks for; above 0 it is an improvement.
        high: the other end; below 0 it is a deterioration.
        detectable: the least change that so many labels would find in 80 of 100 cases.
        alpha: the level of this look at the same labels, which is 0.05 / 2^look.
        look: its number, from 1.
        groups: groups of samples.
        effective_groups: how many of equal size would say as much, n² / Σ n_g²; one less are the
            degrees of freedom. Null where it was measured before this was counted.
        missing_because: why there is no standard error.
        outside_commonest: labels at another level than the commonest.
        outcome: what may become of the edit; an agreement in percent decides nothing.
        refusals: what it is refused for.
    """

    se: float | None = None
    low: float | None = None
    high: float | None = None
    detectable: float | None = None
    alpha: float
    look: int
    groups: int
    effective_groups: float | None = None
    missing_because: NoIntervalBecause | None = None
    outside_commonest: int
    insufficient_because: EditInsufficientBecause | None = None
    bias: BiasEffect
    outcome: EditOutcome
    refusals: list[EditRefusal] = []
