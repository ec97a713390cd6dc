"""Answers of reward URLs: a score for each question, or an error with the reason."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from autotune.protocol.completions import Score
from autotune.protocol.problems import FieldProblem
from autotune_platform.completions.wire import verdict_on_wire
from autotune_platform.http.bodies import parse_json
from autotune_platform.rewards.contracts.reading import Contract
from autotune_platform.rewards.models import Question, RewardUrl
from autotune_platform.rewards.scoring import RewardScoring
from autotune_platform.runtime.errors import (
    MalformedRequestError,
    NotScoredError,
    ScorePendingError,
    ScoringFailedError,
)
from autotune_platform.verdicts.models import Verdict

_ASK_AGAIN_SECONDS = 5
_MOST_FIELDS = 20


class RewardAnswers:
    """Answers requests of any contract.

    An answer has numbers only if every question has a score. One completion that is pending,
    abstained, failed or canceled makes the whole answer an error. The claims keep the other scores
    for the next request.
    """

    def __init__(self, *, scoring: RewardScoring) -> None:
        self._scoring = scoring

    def answer(
        self,
        reward_url: RewardUrl,
        contract: Contract,
        body: bytes,
        *,
        wait_seconds: float,
        stops: Sequence[str] = (),
    ) -> Any:
        """Return the answer that the contract's client expects, as a JSON value.

        Args:
            stops: texts that a trainer may leave at the end of a response, such as ``<|im_end|>``.
                The first one that matches is removed.

        Raises:
            InvalidRequestError: the body does not follow the contract.
            TaskDeletedError: the task is deleted.
            ScorePendingError, ScoringFailedError: repeating the request may help.
            NotScoredError: repeating the request will not help.
            ConflictError, UnavailableError: as for submissions.
        """
        document = _parsed(body)
        questions = [_stopped(question, stops) for question in contract.read(document)]
        verdicts = self._scoring.score(reward_url, questions, wait_seconds=wait_seconds)
        return contract.answer(document, _scores(questions, verdicts))


def _parsed(body: bytes) -> Any:
    try:
        return parse_json(body.decode())
    except json.JSONDecodeError as error:
        raise MalformedRequestError(
            "the body is not JSON", fields=[FieldProblem(field="body", expected="JSON in UTF-8")]
        ) from error


def _stopped(question: Question, stops: Sequence[str]) -> Question:
    for stop in stops:
        if question.response.endswith(stop):
            return replace(question, response=question.response.removesuffix(stop))
    return question


def _scores(questions: Sequence[Question], verdicts: Sequence[Verdict | None]) -> list[Score]:
    """Return the score of each question.

    Raises:
        NotScoredError, ScoringFailedError, ScorePendingError: a question has none. Of several
            reasons the first of these is raised.
    """
    scores: list[Score] = []
    final: list[FieldProblem] = []
    failed: list[FieldProblem] = []
    pending: list[FieldProblem] = []
    for question, verdict in zip(questions, verdicts, strict=True):
        shown = verdict_on_wire(verdict) if verdict is not None else None
        if shown is None:
            unscored, state = pending, "pending"
        elif shown.score is not None:
            scores.append(shown.score)
            continue
        else:
            unscored = failed if shown.state == "failed" else final
            state = shown.state if shown.reason_code is None else f"failed ({shown.reason_code})"
        unscored.append(
            FieldProblem(field=question.field, expected=f"a score, where this one is {state}")
        )
    asked = len(questions)
    if final:
        raise NotScoredError(
            f"{len(final)} of {asked} completions have no score, and asking again will not help",
            fields=final[:_MOST_FIELDS],
        )
    if failed:
        raise ScoringFailedError(
            f"{len(failed)} of {asked} completions could not be scored; asking again asks the "
            "grader anew about them",
            fields=failed[:_MOST_FIELDS],
            retry_after_seconds=_ASK_AGAIN_SECONDS,
        )
    if pending:
        raise ScorePendingError(
            f"{len(pending)} of {asked} completions are not scored yet; asking again waits for "
            "them",
            fields=pending[:_MOST_FIELDS],
            retry_after_seconds=_ASK_AGAIN_SECONDS,
        )
    return scores
