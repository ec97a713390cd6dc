"""Results of deck graders on the wire: what judges said of samples."""

from typing import Literal

from autotune.protocol import types
from autotune.protocol.deck_samples import Split

DeckResultStatus = Literal["scored", "abstained", "failed", "canceled"]
"""``scored`` has a level. ``abstained``: the rubric does not apply, or the judge cannot say.
``failed``: no answer, or none that can be read. ``canceled``: the request was canceled."""


class DeckResult(types.ResponseModel):
    """What one version of a grader's judge says of one sample.

    What is scored or abstained is never replaced. A result that is failed or canceled gives way to
    that of a later run.

    Attributes:
        split: the half that the sample is in.
        score: the level, from -3 to 3; 0 is one, and no abstention.
        explanation: what the judge says for it, in a few sentences; ``reasoning`` stands before.
        reason: why there is no level.
        answered_model: the model that answered, by the name that its provider gives it.
        request_id: the row of the ledger that was paid for it.
        repeated: whether it was judged again, by a run with ``repeat``.
    """

    id: str
    deck_id: str
    sample_id: str
    split: Split
    grader_id: str
    version: int
    status: DeckResultStatus
    score: int | None = None
    explanation: str | None = None
    reasoning: str | None = None
    reason: str | None = None
    answered_model: str | None = None
    request_id: str | None = None
    run_id: str
    cost_nano_usd: int
    repeated: bool = False
    created_at: types.Timestamp


class DeckResultList(types.ResponseModel):
    """A page of results, those of the newest samples first; one that filters may be short.

    Attributes:
        withheld: results on held-out samples are left out, because the version has no look at their
            labels: its agreement spends one, or its edit is to be measured.
    """

    results: list[DeckResult]
    withheld: bool = False
    next_token: str | None = None


class SampleResults(types.ResponseModel):
    """All results of one sample, by grader and version.

    Attributes:
        withheld: the sample is held out, and results are left out whose version has no look at the
            labels.
    """

    results: list[DeckResult]
    withheld: bool = False
