"""Runs of the apprentice on the wire: one input of a task, and what was answered."""

from typing import Annotated, Any, Literal

from autotune.protocol import limits
from autotune.protocol.types import RequestModel, ResponseModel, Timestamp, bounded_json

ApprenticeRunState = Literal["pending", "answered", "refused", "failed"]
"""``refused`` where the budget had no room, ``failed`` where whoever was to answer could not. All
but ``pending`` are for good."""

ApprenticeRefusal = Literal["budget_exhausted", "local_unavailable", "remote_unavailable"]
"""Why nobody answered."""

ApprenticeOutcome = Literal["answered", "unsure", "unparseable", "unavailable"]
"""What came of asking a version of the small model."""

ApprenticeLocalFault = Literal[
    "timed_out",
    "unreachable",
    "address_refused",
    "not_ready",
    "busy",
    "no_model",
    "another_version",
    "refused",
    "failed",
    "unreadable",
    "too_large",
    "no_version",
]
"""Why a version of the small model has no answer: it did not answer within ``local.timeoutMs``;
nobody listens there, or the connection broke off; its URL leads to no public address; it is
loading, or scaled to zero; it has too much to do; its server has no such model; what answered is
not the model that was registered; it refused the question; it failed, or led elsewhere; its answer
is none of such a server, such as a confidence that is no number; it is too large; or the task has
no such version any more."""

ApprenticeCheck = Literal["none", "due", "done", "skipped", "failed"]
"""Whether the paid model is still to check what the small one answered. ``skipped`` where the
budget had no room, ``failed`` where the paid model did not answer."""


ApprenticeInput = Annotated[dict[str, Any], bounded_json(limits.MAX_APPRENTICE_INPUT_BYTES)]
"""What a task is asked: an object of up to 100,000 bytes as compact JSON."""


class StartApprenticeRun(RequestModel):
    """What a task is to answer.

    Attributes:
        input: an object of the task's ``inputSchema``, of up to 100,000 bytes as compact JSON.
    """

    input: ApprenticeInput


class ApprenticePair(ResponseModel):
    """How far a version of the small model agreed with the paid one, from 0 to 1.

    ``is_drawn`` is whether chance alone chose the run: others are no evidence. ``is_sure`` is
    whether the version was as sure as its gate asks for: behind one, others are none either.
    """

    version: int
    score: float
    is_drawn: bool
    is_sure: bool = True


class ApprenticeRouting(ResponseModel):
    """Which way a run went.

    Attributes:
        phase: 1 is the paid model alone, 2 both, 3 the small one; None until it is begun.
        answers: who answered.
        is_drawn: whether chance chose the run for a comparison.
        in_canary: whether chance chose it for a version that is tried on a share.
        local_version: the version of the small model that was asked.
        local: what came of it; ``unsure`` where it was less sure than its gate asks for.
        local_fault: why it has no answer; None where it has one, also one that cannot be read.
        local_confidence: how sure it was, 0 to 1; None where its backend does not say.
        shadow_version: one that was asked beside it, and answers nobody.
        shadow: what came of that.
        shadow_fault: why that one has no answer.
        shadow_confidence: how sure it was.
        request_ids: of the ledger, one for each time that the paid model was asked.
        escalated: the small model would have answered but was unsure, and the paid one did.
        unmonitored: the budget had no room, and a version of the small model that has graduated
            answered unchecked, sure or not.
        check: whether the answer is still to be checked.
        pairs: what was learned.
        additional_request_ids: of the ledger: other models that were asked the same afterwards.
        cost_nano_usd: what the paid model cost, in billionths of a US dollar; additional ones are
            not in it.
    """

    phase: Literal[1, 2, 3] | None = None
    answers: Literal["local", "remote"] | None = None
    is_drawn: bool = False
    in_canary: bool = False
    local_version: int | None = None
    local: ApprenticeOutcome | None = None
    local_fault: ApprenticeLocalFault | None = None
    local_confidence: float | None = None
    shadow_version: int | None = None
    shadow: ApprenticeOutcome | None = None
    shadow_fault: ApprenticeLocalFault | None = None
    shadow_confidence: float | None = None
    request_ids: list[str] = []
    escalated: bool = False
    unmonitored: bool = False
    check: ApprenticeCheck = "none"
    pairs: list[ApprenticePair] = []
    additional_request_ids: list[str] = []
    cost_nano_usd: int = 0


class ApprenticeRunError(ResponseModel):
    """Why a run has no answer.

    Attributes:
        code: why, for programs.
        message: the same for people.
    """

    code: ApprenticeRefusal
    message: str


class ApprenticeRun(ResponseModel):
    """A run.

    Attributes:
        configuration_version: of the task, by which it goes.
        input: what was asked; left out of lists, and once it is deleted.
        output: the answer, of the task's ``outputSchema``; None without one, and in lists.
        content_deleted_at: when ``DELETE …/content`` deleted what was asked and answered; left out
            of lists.
        error: why it was refused, or failed.
        routing: which way it went.
    """

    id: str
    task_id: str
    task_name: str
    configuration_version: int
    state: ApprenticeRunState
    input: dict[str, Any] | None = None
    output: dict[str, Any] | None = None
    error: ApprenticeRunError | None = None
    routing: ApprenticeRouting | None = None
    created_at: Timestamp
    ended_at: Timestamp | None = None
    content_deleted_at: Timestamp | None = None


class ApprenticeRunResponse(ResponseModel):
    """One run."""

    run: ApprenticeRun


class ApprenticeRunList(ResponseModel):
    """A page of a task's runs of a day, without their inputs and outputs."""

    runs: list[ApprenticeRun]
    next_token: str | None = None
