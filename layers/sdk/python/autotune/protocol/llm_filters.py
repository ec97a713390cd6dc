"""Filters of requests to language models on the wire, and what is done to all that match."""

from typing import Annotated

from pydantic import StringConstraints

from autotune.protocol.llm_batches import LlmBatchStatus
from autotune.protocol.llm_connections import LlmProvider
from autotune.protocol.llm_limits import ModelName
from autotune.protocol.llm_requests import CustomId, LlmErrorCode, LlmStatus, Purpose
from autotune.protocol.types import Moment, RequestModel, ResponseModel

_Named = Annotated[str, StringConstraints(min_length=1, max_length=128)]


class LlmRequestFilter(RequestModel):
    """Which requests are meant: those that match all that is given.

    Attributes:
        batch_id: the batch that it is in, or was in last.
        import_id: the import that it came with, or that it was retried or asked again from.
        experiment_id: as in its ``trace``, like the four after it.
        custom_id: the name that its caller gave it, which may be that of several.
        error_code: why it ended without an answer.
        created_after: the earliest moment of its creation, included.
        created_before: the latest one, left out.
    """

    status: LlmStatus | None = None
    purpose: Purpose | None = None
    provider: LlmProvider | None = None
    model: ModelName | None = None
    connection_id: _Named | None = None
    batch_id: _Named | None = None
    import_id: _Named | None = None
    experiment_id: _Named | None = None
    rubric_id: _Named | None = None
    score_id: _Named | None = None
    evidence_id: _Named | None = None
    sample_id: _Named | None = None
    completion_id: _Named | None = None
    deck_id: _Named | None = None
    custom_id: CustomId | None = None
    error_code: LlmErrorCode | None = None
    created_after: Moment | None = None
    created_before: Moment | None = None


class LlmBatchFilter(RequestModel):
    """Which batches are meant: those that match all that is given.

    Attributes:
        needs_operator: whether only those are meant that do not go on by themselves.
        differs: whether only those are meant that were charged otherwise than is reported.
        created_after: the earliest moment of its creation, included.
        created_before: the latest one, left out.
    """

    needs_operator: bool = False
    differs: bool = False
    status: LlmBatchStatus | None = None
    connection_id: _Named | None = None
    model: ModelName | None = None
    created_after: Moment | None = None
    created_before: Moment | None = None


class ChangeLlmRequests(RequestModel):
    """Requests that are to be changed in some way, a page of them at a time.

    ``next_token`` is that of the page before; the first page has none.
    """

    filter: LlmRequestFilter
    next_token: Annotated[str, StringConstraints(max_length=2_000)] | None = None


class ChangedLlmRequests(ResponseModel):
    """What one page changed; it may be empty while ``next_token`` says that there is more.

    ``request_ids`` are those that were canceled, or whose texts are gone, or the new ones of those
    that were retried; ``skipped`` matched and were left as they are.
    """

    request_ids: list[str]
    skipped: int = 0
    next_token: str | None = None
