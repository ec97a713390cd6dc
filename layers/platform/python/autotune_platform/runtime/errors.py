"""Errors that a caller can cause or must know of; ``http.problems`` turns them into responses."""

from collections.abc import Sequence
from typing import Self

from autotune.protocol.problems import BudgetProblem, FieldProblem, LimitProblem


class AutotuneError(Exception):
    """Base of all errors that have an answer of their own.

    Attributes:
        status: HTTP status code.
        code: stable word for programs.
        title: the same for people, without particulars.
        detail: what was wrong this time; never holds a prompt, a response or a grader's text.
    """

    status = 500
    code = "internal_error"
    title = "Something went wrong on our side"

    def __init__(
        self,
        detail: str,
        *,
        fields: Sequence[FieldProblem] = (),
        limit: LimitProblem | None = None,
        retry_after_seconds: int | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.fields = list(fields)
        self.limit = limit
        self.retry_after_seconds = retry_after_seconds


class UnauthenticatedError(AutotuneError):
    """The request is not signed by a key that is valid now."""

    status = 401
    code = "unauthenticated"
    title = "The request is not signed by a valid key"


class StaleRequestError(UnauthenticatedError):
    """The request's timestamp is too far from the current time."""

    code = "stale_request"
    title = "The request's timestamp is too old or in the future"


class ReplayedRequestError(UnauthenticatedError):
    """The request id was used before."""

    code = "replayed_request"
    title = "A request with this id was received before"


class LinkExpiredError(UnauthenticatedError):
    """The reviewer's link was good until its time was over."""

    code = "link_expired"
    title = "The link has expired"


class ForbiddenError(AutotuneError):
    """The key's role does not allow this."""

    status = 403
    code = "forbidden"
    title = "This key's role does not allow the action"


class OrganizationSuspendedError(AutotuneError):
    """An operator suspended the organisation of whoever calls."""

    status = 403
    code = "organization_suspended"
    title = "The operator of this installation suspended the organisation"


class NotFoundError(AutotuneError):
    """Nothing of that id exists, or it belongs to somebody else: both look the same."""

    status = 404
    code = "not_found"
    title = "There is no such thing here"


class ConflictError(AutotuneError):
    """The thing is not in a state that allows this."""

    status = 409
    code = "conflict"
    title = "The current state does not allow the action"


class GraderNotVerifiedError(ConflictError):
    """The grader has not passed verification since its endpoint was set."""

    code = "grader_not_verified"
    title = "The grader is not verified"


class GraderNotCalibratedError(ConflictError):
    """Nobody measured how far the grader agrees with people, and the task takes no such one."""

    code = "grader_not_calibrated"
    title = "The grader is not calibrated"


class InvalidRequestError(AutotuneError):
    """A field is missing or wrong; ``fields`` says which."""

    status = 422
    code = "invalid_request"
    title = "The request has missing or wrong fields"

    @classmethod
    def of_field(cls, field: str, expected: str, *, detail: str | None = None) -> Self:
        """Return the error of one field; ``detail`` says what is wrong where that is not enough."""
        return cls(
            f"{field}: {detail or expected}", fields=[FieldProblem(field=field, expected=expected)]
        )


class MalformedRequestError(InvalidRequestError):
    """The body cannot be read as JSON."""

    status = 400


class UnsupportedMediaTypeError(InvalidRequestError):
    """The content type is another than JSON."""

    status = 415


class IdempotencyKeyReusedError(AutotuneError):
    """The idempotency key came before with another body."""

    status = 422
    code = "idempotency_key_reused"
    title = "The idempotency key was used for another request"


class RequestTooLargeError(AutotuneError):
    """The body is over the limit."""

    status = 413
    code = "request_too_large"
    title = "The request body is too large"


class AnswerTooLargeError(AutotuneError):
    """What was asked for does not fit one answer; ``detail`` says how to get it."""

    status = 422
    code = "answer_too_large"
    title = "What was asked for is too large for one answer"


class TooManyExportsError(AutotuneError):
    """The organisation has as many exports under way as it may have."""

    status = 429
    code = "too_many_exports"
    title = "Too many exports are under way"


class TooManyRequestsError(AutotuneError):
    """A key or its organisation sends more requests, in a second or at once, than it may."""

    status = 429
    code = "too_many_requests"
    title = "Too many requests"


class TooManyOpenCompletionsError(AutotuneError):
    """The organisation has as many undecided completions as it may have."""

    status = 429
    code = "too_many_open_completions"
    title = "Too many completions are undecided"


class BudgetExhaustedError(AutotuneError):
    """A budget for language models has no room for what was asked for.

    Attributes:
        budget: which one, and when it has room again.
    """

    status = 402
    code = "budget_exhausted"
    title = "The budget for language models is used up"

    def __init__(self, detail: str, *, budget: BudgetProblem) -> None:
        super().__init__(detail)
        self.budget = budget


class CallsHaltedError(ConflictError):
    """Nothing more is paid for a task until somebody has looked at it."""

    code = "remote_calls_halted"
    title = "The paid calls of this task are halted"


class TooManyOpenRowsError(AutotuneError):
    """The organisation has as many requests to language models under way as it may have."""

    status = 429
    code = "too_many_open_requests"
    title = "Too many requests to language models are under way"


class TooManyImportsError(AutotuneError):
    """The organisation has as many imports under way as it may have."""

    status = 429
    code = "too_many_imports"
    title = "Too many imports are under way"


class TooManyRunsError(AutotuneError):
    """One request would begin more runs than it may; smaller ones may be sent."""

    status = 422
    code = "too_many_runs"
    title = "The request would begin too many runs"


class TooManyEntitiesError(ConflictError):
    """The organisation has as many of something as it may have."""

    code = "limit_reached"
    title = "The organisation has as many as it may have"


class TooManyParsesError(ConflictError):
    """An answer was parsed as often as it may be."""

    code = "too_many_parses"
    title = "The answer was parsed as often as it may be"


class MethodNotAllowedError(AutotuneError):
    """The path exists, the method on it does not."""

    status = 405
    code = "method_not_allowed"
    title = "The path does not support this method"


class UnavailableError(AutotuneError):
    """A service below us refuses work at the moment; the same request may succeed soon."""

    status = 503
    code = "unavailable"
    title = "Temporarily unavailable"


class TaskDeletedError(AutotuneError):
    """The task that a reward URL asks about is gone."""

    status = 410
    code = "task_deleted"
    title = "The task of this reward URL was deleted"


class ScorePendingError(UnavailableError):
    """Not everything that was asked is decided yet; what is, and will be, is kept."""

    code = "score_pending"
    title = "Not every completion is scored yet"


class ScoringFailedError(UnavailableError):
    """The grader failed for some completions; a repeated request scores those again."""

    code = "scoring_failed"
    title = "The grader could not score every completion"


class NotScoredError(AutotuneError):
    """Some completions are decided and have no score; a repeated request changes nothing."""

    status = 422
    code = "not_scored"
    title = "Not every completion has a score"
