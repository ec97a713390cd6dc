"""From an answer that came later to verdicts."""

from autotune_platform.completions.service import CompletionService
from autotune_platform.gateway.calls import GraderAnswer, GraderCallError
from autotune_platform.gateway.models import UsableGrader
from autotune_platform.judging.http.answers import read_answer
from autotune_platform.judging.http.calls import Call
from autotune_platform.judging.http.repository import CallRepository
from autotune_platform.scoring.deciding import Decisions
from autotune_platform.verdicts.judgements import Judgement
from autotune_platform.verdicts.service import VerdictService


def judgements_in(call: Call, body: bytes, *, elapsed_ms: int) -> dict[str, Judgement]:
    """Return what an answer says of each completion of its call; what it misses has failed.

    Raises:
        GraderCallError: the answer as a whole is not of the protocol, or is about another request.
    """
    answer = GraderAnswer(request_id=call.request_id, body=body, elapsed_ms=elapsed_ms)
    return read_answer(call.path, answer, call.completion_ids)


class RecordedAnswers:
    """Applies answers that are recorded: doing it again changes nothing."""

    def __init__(
        self,
        *,
        repository: CallRepository,
        completions: CompletionService,
        verdicts: VerdictService,
        decisions: Decisions,
    ) -> None:
        self._repository = repository
        self._completions = completions
        self._verdicts = verdicts
        self._decisions = decisions

    def apply(self, call: Call, usable: UsableGrader) -> None:
        """Decide what an answered call asked about and is still undecided; forget the answer."""
        body = self._repository.answer(call)
        if body is None:
            return
        answered_at = call.answered_at or call.due_at
        elapsed_ms = round((answered_at - call.created_at).total_seconds() * 1000)
        said = self._judgements(call, body, elapsed_ms)
        undecided = self._verdicts.undecided(call.completion_ids, call.progress)
        headers = self._completions.headers(undecided)
        self._decisions.decide(
            call.progress,
            headers,
            {id_: said[id_] for id_ in headers},
            attempts=call.attempts,
            share_reasoning=usable.grader.share_reasoning,
            recorded_at=answered_at,
        )
        self._repository.forget_answer(call)

    def _judgements(self, call: Call, body: bytes, elapsed_ms: int) -> dict[str, Judgement]:
        try:
            return judgements_in(call, body, elapsed_ms=elapsed_ms)
        except GraderCallError as error:
            # It was read before it was recorded: the protocol has changed since.
            failure = Judgement(reason_code=error.reason_code)
            return dict.fromkeys(call.completion_ids, failure)
