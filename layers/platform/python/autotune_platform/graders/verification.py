"""Verifying that an endpoint is a grader which knows its secret, refuses strangers and scores."""

import json
from collections.abc import Sequence

from autotune.protocol.completions import ReasonCode
from autotune.protocol.graders import VerificationCheck
from autotune.protocol.grading import (
    VERIFICATION_METADATA,
    DeferredResponse,
    GradedCompletion,
    HealthResponse,
    ScoreRequest,
    ScoreResponse,
)
from autotune.protocol.ids import new_id
from autotune.protocol.limits import MAX_GRADER_RESPONSE_VALUES
from autotune_platform.budgets.states import BudgetStates
from autotune_platform.gateway.calls import GraderAnswer, GraderCallError
from autotune_platform.gateway.gateway import GraderGateway
from autotune_platform.gateway.models import Grader, UsableGrader
from autotune_platform.gateway.traced_calls import traced_call
from autotune_platform.graders.service import GraderService
from autotune_platform.runtime.bounded_json import TooManyValuesError, read_model
from autotune_platform.runtime.parts import part

# Three calls have to fit into the 29 s of an API request.
_CALL_SECONDS = 6
_QUESTION_SECONDS = 14
LONGEST_SECONDS = 2 * _CALL_SECONDS + _QUESTION_SECONDS
"""How long a verification may take."""

_PASSING = {"grader_rate_limited", "grader_timeout", "grader_unreachable"}


@part
class GraderVerification:
    """Asks an endpoint for its health and for a score, and sees that it refuses a wrong signature.

    Attributes:
        api_url: where a grader that answers later would send its answer.
    """

    graders: GraderService
    gateway: GraderGateway
    budgets: BudgetStates
    api_url: str

    def verify(self, grader: Grader) -> tuple[Grader, list[VerificationCheck]]:
        """Try a grader; return it as it is now registered, and each check.

        One without an endpoint is verified since it was registered: there is nothing to check.

        A verified grader that could not be tried, because it is down or busy, stays verified:
        probes see to its status.

        Raises:
            ConflictError: the registration changed meanwhile.
        """
        if not grader.is_called:
            return grader, []
        usable = self.graders.usable(grader)
        health, signed = self._check_health(usable)
        checks = [signed]
        if health is not None:
            checks += [
                _check_batch_size(grader, health),
                self._check_refusal(usable),
                self._check_question(usable),
            ]
        passed = health is not None and all(check.passed for check in checks)
        if grader.verified_at is not None and not passed and _says_nothing(checks):
            return grader, checks
        version = health.version if health is not None and passed else None
        if passed:
            # Its owner has mended it: what waits is not to wait for the circuit's next probe.
            self.budgets.answered(grader.id)
        return self.graders.record_verification(grader, version=version), checks

    def _check_health(
        self, usable: UsableGrader
    ) -> tuple[HealthResponse | None, VerificationCheck]:
        name = "signed health request is answered with a signed, healthy response"
        found = self.gateway.ask_health(usable, timeout_seconds=_CALL_SECONDS)
        if found.answer is None:
            return None, VerificationCheck(name=name, passed=False, reason_code=found.reason_code)
        return found.answer, VerificationCheck(name=name, passed=True)

    def _check_question(self, usable: UsableGrader) -> VerificationCheck:
        """See that a question is scored or abstained from, or answered later where it may be.

        The question says in its metadata that it is one of verification. What is answered later is
        answered to a call that nobody waits for.
        """
        name = "question of a verification is answered with a score"
        can_defer = usable.grader.capabilities.supports_async
        question = ScoreRequest(
            request_id=new_id("req"),
            completion=GradedCompletion(
                id=new_id("cmp"),
                task_id=new_id("task"),
                prompt="What is 2 + 2?",
                response="4",
                metadata={VERIFICATION_METADATA: True},
            ),
            callback_url=f"{self.api_url}/api/v1/callbacks/{new_id('call')}" if can_defer else None,
        )
        try:
            with traced_call(usable.grader.id, request_id=question.request_id) as call:
                answer = self.gateway.ask(
                    usable,
                    "/score",
                    body=question.model_dump_json(by_alias=True, exclude_none=True).encode(),
                    request_id=question.request_id,
                    timeout_seconds=_QUESTION_SECONDS,
                    deferrable=can_defer,
                )
                call.outcome = "deferred" if answer.deferred else call.outcome
                if (reason_code := _fault_in(answer)) is not None:
                    call.failed(reason_code)
        except GraderCallError as error:
            reason_code = error.reason_code
        return VerificationCheck(name=name, passed=reason_code is None, reason_code=reason_code)

    def _check_refusal(self, usable: UsableGrader) -> VerificationCheck:
        name = "wrongly signed score request is refused with 401"
        # A well-formed question, so that nothing but the signature can be what the grader refuses.
        request_id = new_id("req")
        asked = {"id": new_id("cmp"), "taskId": new_id("task"), "prompt": "", "response": ""}
        probe = {"requestId": request_id, "completion": asked}
        try:
            with traced_call(usable.grader.id, request_id=request_id) as call:
                try:
                    self.gateway.ask(
                        usable,
                        "/score",
                        body=json.dumps(probe).encode(),
                        request_id=request_id,
                        secrets=("not the shared secret",),
                        timeout_seconds=_CALL_SECONDS,
                    )
                except GraderCallError as error:
                    if error.status != 401:
                        raise
                    call.outcome = "refused"  # as it should be
                    return VerificationCheck(name=name, passed=True)
        except GraderCallError as error:
            if error.status != 200:
                return VerificationCheck(name=name, passed=False, reason_code=error.reason_code)
        return VerificationCheck(
            name=name, passed=False, reason_code="unauthenticated_request_accepted"
        )


def _says_nothing(checks: Sequence[VerificationCheck]) -> bool:
    """Return whether all that failed may pass in a moment, and shows nothing that is wrong."""
    return all(check.passed or check.reason_code in _PASSING for check in checks)


def _fault_in(answer: GraderAnswer) -> ReasonCode | None:
    """Return what is wrong with an answer to the question; None where nothing is."""
    expected: type[DeferredResponse | ScoreResponse]
    expected = DeferredResponse if answer.deferred else ScoreResponse
    try:
        read = read_model(expected, answer.body, most_values=MAX_GRADER_RESPONSE_VALUES)
    except TooManyValuesError:
        return "response_too_large"
    except ValueError:
        return "response_malformed"
    if read.request_id != answer.request_id:
        return "response_mismatched"
    # The owner's code raised, or refused what any grader is asked to score or to leave out.
    return "item_failed" if isinstance(read, ScoreResponse) and read.error is not None else None


def _check_batch_size(grader: Grader, health: HealthResponse) -> VerificationCheck:
    """Check that requests of the registered size are not more than the grader takes."""
    is_named = "capabilities" in health.model_fields_set
    taken = health.capabilities.max_batch_size
    too_many = is_named and grader.capabilities.max_batch_size > taken
    return VerificationCheck(
        name="registered maxBatchSize is one that the grader takes",
        passed=not too_many,
        reason_code="batch_size_too_large" if too_many else None,
    )
