"""Completions and verdicts as callers see them."""

from autotune.protocol import completions as wire
from autotune.protocol.ids import derived_id
from autotune_platform.access.models import Scope
from autotune_platform.completions.models import Completion
from autotune_platform.completions.service import BatchVerdicts, CompletionStatus
from autotune_platform.completions.sleeps import Sleep
from autotune_platform.verdicts.models import CompletionHeader, Verdict, counts_of


def completion_on_wire(completion: Completion) -> wire.Completion:
    """Return a completion as its organisation sees it."""
    return wire.Completion.model_validate(completion, from_attributes=True)


def verdict_on_wire(
    verdict: Verdict, *, brief: bool = False, shows_model: bool = True
) -> wire.CompletionVerdict:
    """Return a decided completion: only ``scored`` ones carry a score.

    Args:
        brief: leave out dimensions, reasoning and opinions, of which 500 would outgrow a response.
        shows_model: False for whom the task keeps from knowing which model is scored.
    """
    if brief:
        verdict = verdict.model_copy(
            update={"dimensions": None, "reasoning": None, "opinions": None}
        )
    return wire.CompletionVerdict(
        completion_id=verdict.completion_id,
        task_id=verdict.task_id,
        model_id=(verdict.model_id or None) if shows_model else None,
        grader_id=verdict.grader_id,
        state=verdict.state,
        score=_score(verdict),
        reason_code=verdict.reason_code,
        last_reason_code=verdict.last_reason_code,
        attempts=verdict.attempts,
        opinions=_opinions(verdict),
        decided_by=None if verdict.state == "canceled" else verdict.decided_by,
        review_id=verdict.review_id,
        source_request_id=verdict.source_request_id,
        submitted_at=verdict.submitted_at,
        decided_at=verdict.decided_at,
        latency_ms=round((verdict.decided_at - verdict.submitted_at).total_seconds() * 1000),
        generation=verdict.generation,
    )


def status_on_wire(
    status: CompletionStatus, scope: Scope, *, brief: bool = False
) -> wire.CompletionVerdict:
    """Return where one completion stands; in ``own`` a grader's owner reads it.

    Args:
        brief: as ``verdict_on_wire``.
    """
    completion = status.completion
    shows_model = scope == "organization" or (completion is not None and completion.share_identity)
    if status.verdict is not None:
        return verdict_on_wire(status.verdict, brief=brief, shows_model=shows_model)
    assert completion is not None, "what has no verdict has not expired"
    return _pending(completion, shows_model=shows_model, sleep=status.sleep)


def batch_on_wire(status: BatchVerdicts) -> wire.BatchResponse:
    """Return a batch with every completion in the order of the request."""
    batch = status.batch
    verdicts = [
        verdict_on_wire(status.verdicts[completion_id], brief=True)
        if completion_id in status.verdicts
        else _pending(
            batch.header(index, segment),
            shows_model=False,
            sleep=batch.sleep_of(completion_id, segment.grader_id, status.read_at),
        )
        for index, (completion_id, segment) in enumerate(
            zip(batch.completion_ids, batch.by_completion(), strict=True)
        )
    ]
    return wire.BatchResponse(
        batch_id=batch.id,
        generation=batch.generation,
        created_at=batch.created_at,
        counts=counts_of(status.verdicts.values(), expected=batch.size),
        verdicts=verdicts,
    )


def _pending(
    completion: CompletionHeader, *, shows_model: bool, sleep: Sleep | None
) -> wire.CompletionVerdict:
    return wire.CompletionVerdict(
        completion_id=completion.id,
        task_id=completion.task_id,
        model_id=(completion.model_id or None) if shows_model else None,
        grader_id=completion.grader_id,
        state="pending",
        reason_code=sleep.reason_code if sleep else None,
        attempts=sleep.attempts if sleep else 0,
        next_attempt_at=sleep.awake_at if sleep else None,
        submitted_at=completion.started_at,
        generation=completion.generation,
    )


def _opinions(verdict: Verdict) -> list[wire.Opinion] | None:
    if verdict.opinions is None:
        return None
    return [
        wire.Opinion.model_validate(opinion, from_attributes=True) for opinion in verdict.opinions
    ]


def _score(verdict: Verdict) -> wire.Score | None:
    if verdict.state != "scored" or verdict.value is None or verdict.confidence is None:
        return None
    return wire.Score(
        id=derived_id("scr", *verdict.key.parts),
        completion_id=verdict.completion_id,
        grader_id=verdict.grader_id,
        grader_version=verdict.answered_version,
        value=verdict.value,
        confidence=verdict.confidence,
        dimensions=verdict.dimensions,
        reasoning=verdict.reasoning,
        created_at=verdict.decided_at,
    )
