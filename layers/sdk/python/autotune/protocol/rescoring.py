"""Scoring completions again, on the wire."""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationInfo, field_validator, model_validator

from autotune.protocol.completions import ReasonCode, VerdictState
from autotune.protocol.ids import ID_BODY
from autotune.protocol.limits import MAX_NAMES, MAX_RESCORED_COMPLETIONS
from autotune.protocol.tasks import DeadlineSeconds
from autotune.protocol.types import RequestModel, ResponseModel, TaskId, at_most

CompletionId = Annotated[str, StringConstraints(pattern=rf"^cmp_{ID_BODY}$")]
BatchId = Annotated[str, StringConstraints(pattern=rf"^bat_{ID_BODY}$")]

SkipReason = Literal["pending", "text_gone", "not_asked_for", "too_many_generations"]
"""Why a completion was not scored again: it has no verdict yet, its text was deleted or expired,
its verdict has no state or reason that was asked for, or its batch was scored again too often.
"""


LASTING_REASONS: frozenset[ReasonCode] = frozenset(
    {
        "builtin_input_missing",
        "builtin_input_too_large",
        "builtin_out_of_range",
        "builtin_error",
    }
)
"""Reasons that follow from the completion itself: scored again, it fails again."""


class RescoreRequest(RequestModel):
    """Body of ``POST /api/v1/completions/rescore``: which completions, by exactly one of three.

    ``states`` are those of the verdicts that are replaced: ``failed`` by default for a batch or a
    task, any for ``completion_ids``. ``reason_codes`` leave only what failed for one of them.
    ``deadline_seconds`` is how long the new verdicts may take, as long as at first by default.
    ``next_token`` goes on where an answer ended.
    """

    completion_ids: (
        Annotated[
            list[CompletionId],
            Field(min_length=1, max_length=MAX_RESCORED_COMPLETIONS),
            at_most(MAX_RESCORED_COMPLETIONS),
        ]
        | None
    ) = None
    batch_id: BatchId | None = None
    task_id: TaskId | None = None
    states: Annotated[list[VerdictState], Field(min_length=1), at_most(MAX_NAMES)] | None = None
    reason_codes: Annotated[list[ReasonCode], Field(min_length=1), at_most(MAX_NAMES)] | None = None
    deadline_seconds: DeadlineSeconds | None = None
    next_token: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _named_where_missing(cls, data: Any) -> Any:
        # What is not there is not validated; as null it is, and the error names the field.
        if isinstance(data, dict) and not {"taskId", "task_id"} & data.keys():
            return {**data, "taskId": None}
        return data

    @field_validator("task_id")
    @classmethod
    def _one_of_them(cls, task_id: str | None, info: ValidationInfo) -> str | None:
        if not {"completion_ids", "batch_id"} <= info.data.keys():
            return task_id  # one of these is invalid, and named so
        given = [info.data["completion_ids"], info.data["batch_id"], task_id]
        if sum(one is not None for one in given) != 1:
            raise ValueError("exactly one of completionIds, batchId and taskId must be given")
        return task_id


class RescoredBatch(ResponseModel):
    """Completions of a batch that are scored again, and its generation that they are in."""

    batch_id: str
    generation: int
    count: int


class RescoreResponse(ResponseModel):
    """What is scored again; with ``next_token`` there is more to do, by the same request with it.

    ``skipped`` is how many completions are not, by why.
    """

    rescored: int
    batches: list[RescoredBatch]
    skipped: dict[SkipReason, int]
    next_token: str | None = None
