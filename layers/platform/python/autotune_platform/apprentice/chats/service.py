"""Chat completions of programs that have a token of a task: each is a run like others."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from autotune.protocol.limits import MAX_APPRENTICE_WAIT_SECONDS
from autotune_platform.access.models import Caller
from autotune_platform.apprentice.chats.answers import completion_of, model_of
from autotune_platform.apprentice.chats.bodies import TaskChat, input_of, task_chat_of
from autotune_platform.apprentice.chats.refusals import (
    NoModelAnsweredError,
    QuotaExhaustedError,
    RunGoesOnAloneError,
    RunGoesOnError,
)
from autotune_platform.apprentice.configuration.models import ApprenticeTask
from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.routing import Refusal
from autotune_platform.apprentice.runs.models import Run
from autotune_platform.apprentice.runs.reading import RunAnswers
from autotune_platform.apprentice.runs.starting import WORKER_SECONDS, RunStarting, Started
from autotune_platform.apprentice.standing import Standing, Standings
from autotune_platform.budgets.waiting import Work
from autotune_platform.ledger.compatible.chat_bodies import refused
from autotune_platform.ledger.compatible.chat_headers import DECK_HEADER, LABELS_HEADER
from autotune_platform.ledger.compatible.chat_places import ChatPlaces
from autotune_platform.ledger.compatible.chat_refusals import AnswerGoneError, ModelNotFoundError
from autotune_platform.ledger.compatible.passing import Passed, passed
from autotune_platform.ledger.token_proofs import UNKNOWN, Token
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    AutotuneError,
    InvalidRequestError,
    MalformedRequestError,
    UnauthenticatedError,
    UnavailableError,
)
from autotune_platform.runtime.parts import part

# No key of a run that is started in other ways has a space in it.
_KEY: Final = "chat "
_INPUT: Final = "input"


@part
class TaskChats:
    """Has a task answer chat completions."""

    tasks: TaskRepository
    standings: Standings
    starting: RunStarting
    answers: RunAnswers
    places: ChatPlaces
    clock: Clock = SYSTEM_CLOCK

    def complete(
        self,
        caller: Caller,
        token: Token,
        body: bytes,
        *,
        headers: Mapping[str, str],
        idempotency_key: str | None,
        seconds_left: Callable[[], float],
    ) -> Passed:
        """Return what the task answers.

        Args:
            headers: of the request; what is for chats of connections alone is refused.
            idempotency_key: what the same has that is sent again, which is answered as before.
            seconds_left: for the answer.

        Raises:
            UnauthenticatedError: the token's task was deleted.
            ModelNotFoundError: the model is not the token's task.
            MalformedRequestError: the body has what the task does not take, or cannot heed.
            IdempotencyKeyReusedError: the key came before with another input.
            QuotaExhaustedError, NoModelAnsweredError: the run has ended without an answer.
            RunGoesOnError, RunGoesOnAloneError: it has not ended yet.
            AnswerGoneError: it was answered before, and the answer is deleted.
            TooManyRequestsError, UnavailableError: nothing was asked.
        """
        task = self.task(token)
        for name in (DECK_HEADER, LABELS_HEADER):
            if name in headers:
                raise refused(name, "left out", "runs of a task have neither deck nor labels")
        asked = task_chat_of(body)
        if asked.model != model_of(task.name):
            raise ModelNotFoundError.of(asked.model[:200], model_of(task.name))
        standing = self._standing(task)
        value = input_of(asked, standing.document)
        began_at = self.clock.now()
        key = None if idempotency_key is None else _KEY + idempotency_key
        work = Work(WORKER_SECONDS)
        with self.places.place(caller, seconds_left(), work=work):
            seconds = int(min(MAX_APPRENTICE_WAIT_SECONDS, seconds_left()))
            if seconds < 1:
                raise UnavailableError("there is no time left to wait", retry_after_seconds=1)
            try:
                started = self.starting.start(
                    caller, task.name, value, idempotency_key=key, wait_seconds=seconds, work=work
                )
            except InvalidRequestError as error:
                raise _of_message(error, asked) from error
            work.goes_on = started.goes_on
        run = started.run
        if not run.has_ended:
            raise RunGoesOnAloneError(run.id) if key is None else RunGoesOnError(run.id)
        if run.refusal is not None:
            raise self._refused(run)
        return self._passed(asked, started, is_replayed=run.created_at < began_at)

    def models(self, token: Token) -> list[dict[str, Any]]:
        """Return the token's task, as OpenAI lists models.

        Raises:
            UnauthenticatedError: it was deleted.
        """
        task = self.task(token)
        return [
            {
                "id": model_of(task.name),
                "object": "model",
                "created": int(task.created_at.timestamp()),
                "owned_by": "apprentice",
            }
        ]

    def task(self, token: Token) -> ApprenticeTask:
        """Return the task of a token, which is read each time: with it the token ends at once.

        Raises:
            UnauthenticatedError: it was deleted, whatever has its name now.
        """
        found = self.tasks.find(token.organization_id, token.apprentice_task or "")
        if found is None or found.state == "deleting" or found.id != token.apprentice_task_id:
            raise UnauthenticatedError(UNKNOWN)
        return found

    def _standing(self, task: ApprenticeTask) -> Standing:
        standing = self.standings.of(task.organization_id, task.name)
        if standing.task.id != task.id:  # what is remembered is of one that was deleted
            raise UnavailableError("the task was just made", retry_after_seconds=5)
        return standing

    def _refused(self, run: Run) -> AutotuneError:
        if run.refusal is Refusal.BUDGET_EXHAUSTED:
            resets_at = None if run.exhausted is None else run.exhausted.resets_at
            return QuotaExhaustedError(run.id, resets_at=resets_at, now=self.clock.now())
        return NoModelAnsweredError(run.id)

    def _passed(self, asked: TaskChat, started: Started, *, is_replayed: bool) -> Passed:
        run = started.run
        output = started.output if started.is_known else self.answers.of(run)
        if output is None:
            raise AnswerGoneError(
                f"run {run.id} was answered, and its texts are deleted: "
                "send another Idempotency-Key to have it asked again"
            )
        return passed(
            completion_of(run, output, asked.texts),
            is_streamed=asked.is_streamed,
            with_usage=asked.with_usage,
            named_by="x-autotune-run",
            stored_as=run.id,
            stored_at="/api/v1/apprentice/runs",
            is_replayed=is_replayed,
        )


def _of_message(error: InvalidRequestError, asked: TaskChat) -> MalformedRequestError:
    """Return the error of an input as one of the message that it stood in."""
    fault = error.fields[0]
    within = fault.field.removeprefix(_INPUT) if fault.field.startswith(_INPUT) else ""
    return MalformedRequestError.of_field(f"{asked.user.field}{within}", fault.expected)
