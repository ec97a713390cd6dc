"""Verifying that an endpoint is a grader which knows its secret and refuses strangers."""

import json

from autotune.protocol.graders import VerificationCheck
from autotune.protocol.grading import HealthResponse
from autotune.protocol.ids import new_id
from autotune_platform.budgets.states import BudgetStates
from autotune_platform.gateway.calls import GraderCallError
from autotune_platform.gateway.gateway import GraderGateway
from autotune_platform.gateway.models import Grader, UsableGrader
from autotune_platform.graders.service import GraderService
from autotune_platform.runtime.parts import part

# Two calls have to fit into the 29 s of an API request.
_CALL_SECONDS = 10


@part
class GraderVerification:
    """Asks an endpoint for its health, signed, and sees that a wrong signature is refused."""

    graders: GraderService
    gateway: GraderGateway
    budgets: BudgetStates

    def verify(self, grader: Grader) -> tuple[Grader, list[VerificationCheck]]:
        """Try a grader; return it as it is now registered, and each check.

        One without an endpoint is verified since it was registered: there is nothing to check.

        Raises:
            ConflictError: the registration changed meanwhile.
        """
        if not grader.is_called:
            return grader, []
        usable = self.graders.usable(grader)
        health, signed = self._check_health(usable)
        checks = [signed]
        if health is not None:
            checks += [_check_batch_size(grader, health), self._check_refusal(usable)]
        passed = health is not None and all(check.passed for check in checks)
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

    def _check_refusal(self, usable: UsableGrader) -> VerificationCheck:
        name = "wrongly signed score request is refused with 401"
        # A well-formed question, so that nothing but the signature can be what the grader refuses.
        request_id = new_id("req")
        asked = {"id": new_id("cmp"), "taskId": new_id("task"), "prompt": "", "response": ""}
        probe = {"requestId": request_id, "completion": asked}
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
            if error.status == 401:
                return VerificationCheck(name=name, passed=True)
            if error.status != 200:
                return VerificationCheck(name=name, passed=False, reason_code=error.reason_code)
        return VerificationCheck(
            name=name, passed=False, reason_code="unauthenticated_request_accepted"
        )


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
