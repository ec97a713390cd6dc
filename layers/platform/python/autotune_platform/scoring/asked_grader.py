"""Where one grader is with a completion: what it answered, or what it is waited for."""

from collections.abc import Mapping
from datetime import datetime

from autotune.protocol.explanations import AskedGrader, WaitsFor
from autotune.protocol.runs import RunStep
from autotune_platform.completions.models import Batch
from autotune_platform.judging.http.calls import Call
from autotune_platform.ledger.models import Row
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.panels import PanelMember

_WAITS_FOR: Mapping[RunStep | None, WaitsFor] = {
    "retry": "next_attempt",
    "wait_for_limit": "limit",
    "wait_for_circuit": "circuit",
}


def asked_grader(
    batch: Batch,
    completion_id: str,
    asked: PanelMember,
    answer: Verdict | None,
    call: Call | None,
    row: Row | None,
    *,
    now: datetime,
    weight: float | None = None,
    is_over: bool = False,
) -> AskedGrader:
    """Return where one grader is with a completion.

    Args:
        answer: its verdict or opinion.
        call: the one that it may still answer.
        row: what a language model was asked for it.
        is_over: whether the completion has its verdict, with or without this grader's opinion.
    """
    story = AskedGrader(
        grader_id=asked.grader_id,
        grader_version=answer.answered_version if answer else asked.grader_version,
        weight=weight,
        state="pending",
    )
    if answer is not None:
        return story.model_copy(
            update={
                "state": answer.state,
                "attempts": answer.attempts,
                "reason_code": answer.reason_code,
                "last_reason_code": answer.last_reason_code,
                "run_id": answer.run_id,
                "source_request_id": answer.source_request_id or (row.id if row else None),
            }
        )
    if is_over:
        return story
    if call is not None:
        return story.model_copy(
            update={
                "waits_for": "callback",
                "run_id": call.run_id,
                "attempts": call.attempts,
                "next_attempt_at": call.until,
            }
        )
    sleep = batch.sleep_of(completion_id, asked.grader_id, now)
    if row is not None:
        story = story.model_copy(update={"source_request_id": row.id})
        # Nobody is woken by its end: a run looks again by itself.
        if not row.has_ended or sleep is None:
            return story.model_copy(
                update={
                    "waits_for": "model",
                    "run_id": row.labels.get("run"),
                    "attempts": sleep.attempts if sleep else 1,
                    "next_attempt_at": batch.headers([completion_id])[completion_id].deadline,
                }
            )
    if sleep is None:
        return story
    return story.model_copy(
        update={
            "waits_for": _WAITS_FOR.get(sleep.step),
            "run_id": sleep.run_id,
            "attempts": sleep.attempts,
            "reason_code": sleep.reason_code,
            "next_attempt_at": sleep.awake_at,
        }
    )
