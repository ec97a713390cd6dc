"""Why a task gave a program no answer, in words that do not tell which model was asked."""

from datetime import datetime

from autotune_platform.runtime.errors import AutotuneError, UnavailableError

_AGAIN_AFTER_SECONDS = 3


class QuotaExhaustedError(AutotuneError):
    """A budget has no room; the openai package knows this by status and code, and asks no more."""

    status = 429
    code = "insufficient_quota"
    title = "The budget is used up"

    def __init__(self, run_id: str, *, resets_at: datetime | None, now: datetime) -> None:
        until = f" until {resets_at:%Y-%m-%dT%H:%M:%SZ}" if resets_at else ""
        super().__init__(
            f"the budget has no room{until} (run {run_id})",
            retry_after_seconds=(
                None if resets_at is None else max(1, int((resets_at - now).total_seconds()))
            ),
        )


class NoModelAnsweredError(UnavailableError):
    """Whoever was asked did not answer, as often as the task has it tried."""

    code = "no_model_answered"
    title = "No model answered"

    def __init__(self, run_id: str) -> None:
        super().__init__(f"no model answered (run {run_id})")


class RunGoesOnError(UnavailableError):
    """The answer takes longer than a caller can wait; the same request, sent again, has it."""

    code = "run_goes_on"
    title = "The answer is not there yet"

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"run {run_id} goes on: send the same with its Idempotency-Key again",
            retry_after_seconds=_AGAIN_AFTER_SECONDS,
        )


class RunGoesOnAloneError(UnavailableError):
    """The same without a key: whoever sends it again pays for another run."""

    status = 504
    code = "run_goes_on_alone"
    title = "The answer is not there yet"

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"run {run_id} goes on, and GET /api/v1/apprentice/runs/{run_id} has its answer; "
            "an Idempotency-Key would have the same request wait for it"
        )
