"""From a judgement of a completion to its verdict."""

from dataclasses import dataclass
from datetime import datetime

from autotune.protocol.completions import ReasonCode, VerdictState
from autotune.protocol.grading import GraderScore
from autotune_platform.verdicts.models import CompletionHeader, OfGrader, OfTask, Verdict


@dataclass(frozen=True)
class Judgement:
    """What became of one completion: a score, an abstention, a cancellation, or a failure.

    ``grader_latency_ms`` is how long the grader's answer took that this is read from. A failure
    without an answer may name what the last attempt failed with, and the run that made it.
    ``source_request_id`` is the request to a language model that it was read from.
    """

    score: GraderScore | None = None
    abstained: bool = False
    canceled: bool = False
    reason_code: ReasonCode | None = None
    reported_version: str | None = None
    grader_latency_ms: int | None = None
    last_reason_code: ReasonCode | None = None
    run_id: str | None = None
    source_request_id: str | None = None

    @property
    def is_answer(self) -> bool:
        """Whether it is a grader's answer; a completion that the answer left out has none."""
        return self.reported_version is not None and self.reason_code != "item_missing"

    @property
    def state(self) -> VerdictState:
        """The verdict's state: ``failed`` unless it is scored, abstained or canceled."""
        if self.score is not None:
            return "scored"
        if self.canceled:
            return "canceled"
        return "abstained" if self.abstained else "failed"


def opinion_of(verdict: Verdict, grader: OfGrader) -> Verdict:
    """Return what a grader says in its own name: a verdict, or its opinion in a panel."""
    if grader.panel_id is None:
        return verdict
    return verdict.model_copy(
        update={
            "grader_id": grader.grader_id,
            "grader_version": grader.grader_version,
            "panel_id": grader.panel_id,
        }
    )


def verdict_of(
    completion: CompletionHeader,
    judgement: Judgement,
    *,
    at: datetime,
    attempts: int = 0,
    share_reasoning: bool = False,
) -> Verdict:
    """Return the verdict that a judgement comes to.

    Args:
        at: when it is decided.
        attempts: passes that it took.
        share_reasoning: keep the grader's reasoning; without its owner's consent none is stored.
    """
    score = judgement.score
    return Verdict(
        completion_id=completion.id,
        **completion.model_dump(include=set(OfTask.model_fields)),
        state=judgement.state,
        value=score.value if score else None,
        confidence=score.confidence if score else None,
        dimensions=score.dimensions if score else None,
        reasoning=score.reasoning if score and share_reasoning else None,
        reason_code=judgement.reason_code,
        last_reason_code=judgement.last_reason_code,
        run_id=judgement.run_id,
        source_request_id=judgement.source_request_id,
        reported_version=judgement.reported_version,
        grader_latency_ms=judgement.grader_latency_ms,
        attempts=attempts,
        submitted_at=completion.started_at,
        decided_at=at,
    )
