"""Answers of reward URLs: a score for each question, or an error with the reason."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from autotune.protocol.completions import Score
from autotune.protocol.problems import FieldProblem
from autotune_platform.access.models import Caller
from autotune_platform.budgets.waiting import WaitingShares
from autotune_platform.completions.wire import verdict_on_wire
from autotune_platform.http.problems import too_many_values
from autotune_platform.rewards.contracts.reading import Contract
from autotune_platform.rewards.models import Question, RewardUrl
from autotune_platform.rewards.scoring import RewardScoring
from autotune_platform.runtime.bounded_json import TooManyValuesError, parse_strictly
from autotune_platform.runtime.errors import (
    AutotuneError,
    MalformedRequestError,
    NotScoredError,
    ScorePendingError,
    ScoringFailedError,
)
from autotune_platform.verdicts.models import Verdict

_ASK_AGAIN_SECONDS = 5
_MOST_FIELDS = 20
# The errors for completions without a score; the first one that any of them has is raised.
_UNSCORED: Mapping[type[AutotuneError], str] = {
    NotScoredError: "have no score, and asking again will not help",
    ScoringFailedError: "could not be scored; asking again asks the grader anew about them",
    ScorePendingError: "are not scored yet; asking again waits for them",
}


class RewardAnswers:
    """Answers requests of any contract.

    An answer has numbers only if every question has a score. One completion that is pending,
    abstained, failed or canceled makes the whole answer an error. The claims keep the other scores
    for the next request.
    """

    def __init__(self, *, scoring: RewardScoring, waiting: WaitingShares) -> None:
        self._scoring = scoring
        self._waiting = waiting

    def answer(
        self,
        caller: Caller,
        reward_url: RewardUrl,
        contract: Contract,
        body: bytes,
        *,
        wait_seconds: float,
        stops: Sequence[str] = (),
    ) -> Any:
        """Return the answer that the contract's client expects, as a JSON value.

        Where as many of its organisation's requests wait as may, it answers at once with what is
        decided; what is not goes on being scored.

        Args:
            caller: who bears the reward URL, with what the organisation may ask for.
            stops: texts that a trainer may leave at the end of a response, such as ``<|im_end|>``.
                The first one that matches is removed.

        Raises:
            InvalidRequestError: the body does not follow the contract.
            TaskDeletedError: the task is deleted.
            ScorePendingError, ScoringFailedError: repeating the request may help.
            NotScoredError: repeating the request will not help.
            ConflictError, UnavailableError: as for submissions.
        """
        document = _parsed(body, most_values=contract.most_values)
        questions = [_stopped(question, stops) for question in contract.read(document)]
        with self._waiting.share(caller, wait_seconds) as seconds:
            verdicts = self._scoring.score(caller, reward_url, questions, wait_seconds=seconds)
        return contract.answer(document, _scores(questions, verdicts))


def _parsed(body: bytes, *, most_values: int) -> Any:
    try:
        return parse_strictly(body, most_values=most_values)
    except TooManyValuesError as error:
        raise too_many_values(error) from error
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
    unscored: dict[type[AutotuneError], list[FieldProblem]] = {error: [] for error in _UNSCORED}
    for question, verdict in zip(questions, verdicts, strict=True):
        shown = verdict_on_wire(verdict) if verdict is not None else None
        if shown is not None and shown.score is not None:
            scores.append(shown.score)
            continue
        error: type[AutotuneError] = ScorePendingError
        state = "pending"
        if shown is not None:
            error = ScoringFailedError if shown.state == "failed" else NotScoredError
            state = shown.state
            if shown.reason_code is not None:
                state = f"{shown.state} ({shown.reason_code})"
        expected = f"a score, where this one is {state}"
        unscored[error].append(FieldProblem(field=question.field, expected=expected))
    for error, fields in unscored.items():
        if fields:
            raise error(
                f"{len(fields)} of {len(questions)} completions {_UNSCORED[error]}",
                fields=fields[:_MOST_FIELDS],
                retry_after_seconds=None if error is NotScoredError else _ASK_AGAIN_SECONDS,
            )
    return scores
