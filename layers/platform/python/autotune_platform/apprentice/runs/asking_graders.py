"""Custom evaluators: a registered grader says how right a version's answer is.

It is asked about one completion, as it is for scoring: ``prompt`` is what the models were asked,
``response`` is the version's answer, and the paid model's stands in ``metadata.reference``. Its
value is the score.
"""

from typing import Any, Final

from aws_lambda_powertools import Logger

from autotune.protocol.grading import GradedCompletion
from autotune_platform.access.models import Caller
from autotune_platform.budgets.permit import SlotRefusedError
from autotune_platform.budgets.permits import Permits, Wait
from autotune_platform.checks.compiling import compile_stored
from autotune_platform.checks.faults import CompletionFaultError
from autotune_platform.checks.templates import Sample
from autotune_platform.gateway.calls import GraderCallError
from autotune_platform.gateway.gateway import GraderGateway
from autotune_platform.gateway.models import Grader, UsableGrader
from autotune_platform.gateway.traced_calls import traced_call
from autotune_platform.graders.directory import GraderDirectory
from autotune_platform.judging.http.answers import read_answer
from autotune_platform.judging.http.questions import question
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import InvalidRequestError, NotFoundError
from autotune_platform.runtime.parts import part

logger = Logger()

ASK_SECONDS: Final = 5
"""How long a grader may take: the run is not settled before it has answered."""


@part
class GraderScores:
    """Asks graders that answer at once: builtin ones, and those behind an endpoint."""

    graders: GraderDirectory
    gateway: GraderGateway
    permits: Permits
    clock: Clock = SYSTEM_CLOCK

    def score(self, caller: Caller, grader_id: str, asked: GradedCompletion) -> float | None:
        """Return a grader's value, from 0 to 1.

        Returns:
            None where the caller may not use it any more, it is down, has no room, fails, abstains
            or does not answer at once. Then there is no pair: no failure is evidence.
        """
        try:
            grader = self.graders.get_visible(caller, "organization", grader_id)
        except NotFoundError:
            return None
        if grader.kind == "builtin":
            return _builtin(grader, asked)
        if grader.kind != "http":
            return None
        return self._called(self.graders.usable(grader), asked)

    def _called(self, usable: UsableGrader, asked: GradedCompletion) -> float | None:
        grader = usable.grader
        until = self.clock.monotonic() + ASK_SECONDS
        permit = self.permits.request(
            grader.id,
            grader.limits,
            calls=1,
            seconds_left=lambda: until - self.clock.monotonic(),
        )
        if isinstance(permit, Wait):
            return None
        path, request = question(usable, [asked])
        try:
            with (
                permit,
                permit.slot(is_down=_is_down),
                traced_call(grader.id, request_id=request.request_id),
            ):
                answer = self.gateway.ask(
                    usable,
                    path,
                    body=request.model_dump_json(by_alias=True, exclude_none=True).encode(),
                    request_id=request.request_id,
                    timeout_seconds=max(1, until - self.clock.monotonic()),
                )
                score = read_answer(path, answer, [asked.id])[asked.id].score
        except (SlotRefusedError, GraderCallError):
            return None
        return None if score is None else score.value


def _builtin(grader: Grader, asked: GradedCompletion) -> float | None:
    sample = Sample(prompt=asked.prompt, response=asked.response, metadata=asked.metadata)
    try:
        return compile_stored(_configured(grader))(sample).value
    except (CompletionFaultError, InvalidRequestError):
        return None
    except Exception as error:  # noqa: BLE001 - a text that breaks a library makes no pair
        # The class alone: a library's message may quote the text.
        logger.warning("builtin grader failed", error=type(error).__name__)
        return None


def _configured(grader: Grader) -> dict[str, Any]:
    assert grader.builtin is not None, "a builtin grader has a configuration"
    return dict(grader.builtin)


def _is_down(error: Exception) -> bool | None:
    if not isinstance(error, GraderCallError):
        return None
    return None if error.retryable and not error.grader_is_down else error.grader_is_down
