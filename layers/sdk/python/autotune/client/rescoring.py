"""Scoring completions again in place: one request after the other, to one result."""

from collections import Counter
from collections.abc import Iterable
from typing import Unpack

from autotune.client.arguments import request_of
from autotune.client.calls import Call, CallOptions, call, returning
from autotune.client.exchange import Course, Plan, Session
from autotune.client.submissions import LONGEST_KEY, checked_key
from autotune.protocol.completions import ReasonCode, VerdictState
from autotune.protocol.limits import MAX_RESCORED_COMPLETIONS
from autotune.protocol.rescoring import (
    RescoredBatch,
    RescoreRequest,
    RescoreResponse,
    SkipReason,
)

_LONGEST_PART_SUFFIX = 8

_answer = returning(RescoreResponse)


def rescore_completions(
    completion_ids: Iterable[str] | None = None,
    *,
    batch_id: str | None = None,
    task_id: str | None = None,
    states: Iterable[VerdictState] | None = None,
    reason_codes: Iterable[ReasonCode] | None = None,
    deadline_seconds: int | None = None,
    idempotency_key: str | None = None,
    **options: Unpack[CallOptions],
) -> Plan[RescoreResponse]:
    """Score completions again that have a verdict, in place; what they had stays readable.

    Give exactly one of ``completion_ids``, any number of them, ``batch_id`` and ``task_id``.

    Args:
        states: of the verdicts that are replaced; ``failed`` by default for a batch or a task, any
            for ``completion_ids``.
        reason_codes: only what failed for one of these.
        deadline_seconds: how long the new verdicts may take, 60 to 604,800; as long as at first by
            default.
        idempotency_key: 1 to 192 visible ASCII characters; a completion is scored again once for
            each key. A fresh one is made where none is given.

    Raises:
        InvalidInputError: an argument is out of its range; nothing was sent.
        InvalidRequestError: there is no such completion in this organisation, or the key came
            before with other arguments.
        NotFoundError: there is no such batch or task in this organisation.
        ConflictError: the batch was scored again as often as a batch may be.
    """
    key = checked_key(idempotency_key, longest=LONGEST_KEY - _LONGEST_PART_SUFFIX)
    ids = None if completion_ids is None else list(completion_ids)
    parts = [None] if ids is None else _parts(ids)
    # A key is of one body.
    keys = [f"{key}.{number}" if number else key for number in range(len(parts))]
    requests = [
        request_of(
            RescoreRequest,
            completion_ids=some,
            batch_id=batch_id,
            task_id=task_id,
            states=None if states is None else list(states),
            reason_codes=None if reason_codes is None else list(reason_codes),
            deadline_seconds=deadline_seconds,
        )
        for some in parts
    ]

    def rescore(session: Session) -> Course[RescoreResponse]:
        answers: list[RescoreResponse] = []
        for request, own_key in zip(requests, keys, strict=True):
            following: RescoreRequest | None = request
            while following is not None:
                answer = yield from session.course(_call(following, own_key, options))
                answers.append(answer)
                following = None
                if answer.next_token is not None:
                    more = {"next_token": answer.next_token}
                    following = RescoreRequest.model_validate(
                        {**request.model_dump(exclude_unset=True), **more}
                    )
        return _together(answers)

    return rescore


def _parts(ids: list[str]) -> list[list[str] | None]:
    most = MAX_RESCORED_COMPLETIONS
    return [ids[start : start + most] for start in range(0, len(ids) or 1, most)]


def _call(request: RescoreRequest, key: str, options: CallOptions) -> Call[RescoreResponse]:
    return call(
        "POST",
        "completions",
        "rescore",
        read=_answer,
        body=request,
        idempotency_key=key,
        **options,
    )


def _together(answers: list[RescoreResponse]) -> RescoreResponse:
    counts: Counter[tuple[str, int]] = Counter()
    skipped: Counter[SkipReason] = Counter()
    for answer in answers:
        # A walk may come to a batch again; a generation of it is of one request.
        counts |= Counter({(one.batch_id, one.generation): one.count for one in answer.batches})
        skipped.update(answer.skipped)
    return RescoreResponse(
        rescored=counts.total(),
        batches=[
            RescoredBatch(batch_id=batch_id, generation=generation, count=count)
            for (batch_id, generation), count in counts.items()
        ],
        skipped=dict(skipped),
    )
