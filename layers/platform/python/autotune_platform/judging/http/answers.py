"""Reading graders' answers: what one says of each completion, and nothing that it must not say."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic import ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from autotune.protocol.completions import ReasonCode
from autotune.protocol.grading import (
    BatchItemScore,
    DeferredResponse,
    GraderScore,
    GraderVersion,
    ScoreResponse,
)
from autotune.protocol.limits import MAX_GRADED_COMPLETION_VALUES, MAX_GRADER_RESPONSE_VALUES
from autotune_platform.gateway.calls import GraderAnswer, GraderCallError, Path
from autotune_platform.runtime.bounded_json import (
    EXPANDING,
    TooManyValuesError,
    parse_document,
    read_model,
)
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.verdicts.judgements import Judgement


class _Envelope(FrozenModel):
    """A batch answer whose items are still unread, so that one bad item spoils no other."""

    model_config = ConfigDict(alias_generator=to_camel, extra="ignore")

    request_id: str
    grader_version: GraderVersion
    scores: list[Any]


def read_answer(
    path: Path, answer: GraderAnswer, completion_ids: Sequence[str]
) -> dict[str, Judgement]:
    """Return the judgement of each completion in an answer, whenever it came.

    Raises:
        GraderCallError: the answer as a whole is not of the protocol, or is about another request.
    """
    with EXPANDING:
        judgements = (
            {completion_ids[0]: _read_single(answer)}
            if path == "/score"
            else _read_batch(answer, completion_ids)
        )
    return {
        completion_id: replace(judgement, grader_latency_ms=answer.elapsed_ms)
        for completion_id, judgement in judgements.items()
    }


def read_deferral(answer: GraderAnswer) -> DeferredResponse:
    """Return what a 202 answer says.

    Raises:
        GraderCallError: it is not of the protocol, or is about another request.
    """
    try:
        with EXPANDING:
            deferral = read_model(DeferredResponse, answer.body, most_values=_most_values(0))
    except ValueError as error:
        raise _unreadable(error, status=202) from error
    if deferral.request_id != answer.request_id:
        raise GraderCallError("response_mismatched", status=202)
    return deferral


def _read_single(answer: GraderAnswer) -> Judgement:
    """Return the judgement in an answer to ``POST /score``.

    Raises:
        GraderCallError: the answer is not of the protocol, or is about another request.
    """
    try:
        response = read_model(ScoreResponse, answer.body, most_values=_most_values(1))
    except ValueError as error:
        raise _unreadable(error) from error
    if response.request_id != answer.request_id:
        raise GraderCallError("response_mismatched")
    return _judgement(response.score, response.abstained, response.error, response.grader_version)


def _read_batch(answer: GraderAnswer, completion_ids: Sequence[str]) -> dict[str, Judgement]:
    """Return the judgement of each completion in an answer to ``POST /score/batch``.

    Items that are missing, broken or there twice fail alone; items that nobody asked for are
    dropped.

    Raises:
        GraderCallError: the answer as a whole is not of the protocol, or is about another request.
    """
    try:
        document = parse_document(answer.body, most_values=_most_values(len(completion_ids)))
        envelope = _Envelope.model_validate(document)
    except ValueError as error:
        raise _unreadable(error) from error
    if envelope.request_id != answer.request_id:
        raise GraderCallError("response_mismatched")
    named = [(_name(item), item) for item in envelope.scores]
    times = Counter(name for name, _ in named)
    by_name = dict(named)
    version = envelope.grader_version
    return {
        completion_id: _item_judgement(by_name.get(completion_id), times[completion_id], version)
        for completion_id in completion_ids
    }


def _most_values(completions: int) -> int:
    return MAX_GRADER_RESPONSE_VALUES + completions * MAX_GRADED_COMPLETION_VALUES


def _unreadable(error: ValueError, *, status: int | None = None) -> GraderCallError:
    too_large = isinstance(error, TooManyValuesError)
    reason: ReasonCode = "response_too_large" if too_large else "response_malformed"
    return GraderCallError(reason, status=status)


def _item_judgement(item: Any, times: int, version: str) -> Judgement:
    if times == 0:
        return Judgement(reason_code="item_missing", reported_version=version)
    if times > 1:
        # Which of them counts is not ours to guess.
        return Judgement(reason_code="item_duplicated", reported_version=version)
    try:
        read = BatchItemScore.model_validate(item)
    except ValidationError:
        return Judgement(reason_code="item_malformed", reported_version=version)
    return _judgement(read.score, read.abstained, read.error, version)


def _judgement(
    score: GraderScore | None, abstained: bool, error: str | None, version: str
) -> Judgement:
    # The grader's own words in ``error`` end here: they never reach a trainer.
    return Judgement(
        score=score,
        abstained=abstained,
        reason_code="item_failed" if error is not None else None,
        reported_version=version,
    )


def _name(item: Any) -> str | None:
    name = item.get("completionId") if isinstance(item, dict) else None
    return name if isinstance(name, str) else None
