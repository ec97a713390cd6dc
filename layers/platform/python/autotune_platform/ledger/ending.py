"""How rows end, or go back to their queue."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from autotune.protocol import verdict_formats as wire
from autotune.protocol.limits import MAX_LLM_ATTEMPTS
from autotune.protocol.llm_requests import LlmErrorCode, LlmStatus
from autotune.protocol.retry import RetryPolicy
from autotune_platform.ledger.calls import Answer, Refusal
from autotune_platform.ledger.claims import ClaimRepository
from autotune_platform.ledger.models import Attempt, Fault, Row, RowInput, RowOutput
from autotune_platform.ledger.parsing import parse
from autotune_platform.ledger.prices import cost, most_input_tokens
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.texts import RowTexts
from autotune_platform.ledger.usage import Usage
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part

_PASSING: frozenset[LlmErrorCode] = frozenset(
    {
        "rate_limited",
        "provider_error",
        "outcome_unclear",
        "result_malformed",
        "result_missing",
        "batch_expired",
    }
)
# Five attempts are to outlast a provider's bad quarter of an hour.
_AGAIN = RetryPolicy(first_seconds=120, longest_seconds=900)
_MESSAGES: Mapping[LlmErrorCode, str] = {
    "canceled": "it was canceled before it was answered",
    "expired": "it was still waiting at its completeBy",
    "account": "its connection was revoked",
    "platform_error": "its texts are gone",
}


@part
class RowEnds:
    """Writes what became of rows, each once."""

    rows: RowRepository
    texts: RowTexts
    clock: Clock = SYSTEM_CLOCK

    def answered(self, row: Row, text: RowInput | None, answer: Answer) -> Row | None:
        """End a row with its answer; return it, or None where it had ended.

        Args:
            text: what it asks; None where that is gone, and then nothing of the answer is kept.
        """
        parse_error = None
        if text is not None:
            output, parse_error = _read(text, answer)
            self.texts.put(row, "output", output)
        usage = answer.usage or _assumed(row)
        return self._end(
            row,
            "completed",
            None,
            _charge(row, answer.usage),
            {
                "usage": usage.model_dump(mode="json", exclude_defaults=True),
                "finish_reason": answer.finish_reason,
                "served_model": answer.served_model,
                "provider_request_id": answer.provider_request_id,
                "parse_error": parse_error and parse_error.model_dump(mode="json"),
            },
        )

    def refused(self, row: Row, refusal: Refusal, *, more_attempts: bool) -> Row | None:
        """End a row, or put it back; return it as it is then, None where it had ended.

        Args:
            more_attempts: whether what passes may be tried again.
        """
        fault = Fault(code=refusal.code, message=refusal.message)
        # It may have been done: what it costs at most is charged, and never less than the bill.
        charge = row.bound_nano_usd if refusal.may_be_paid else 0
        used = (
            {"usage": _assumed(row).model_dump(mode="json", exclude_defaults=True)}
            if charge
            else {}
        )
        if not (more_attempts and refusal.code in _PASSING and row.attempt < MAX_LLM_ATTEMPTS):
            return self._end(row, "error", fault, charge, used)
        now = self.clock.now()
        wait = max(refusal.retry_after_seconds or 0, _AGAIN.pause(row.attempt))
        over = self._over(row, fault, charge, now)

        def requeue(wanted: Row) -> Row | None:
            changes = {"cost_nano_usd": wanted.cost_nano_usd + charge}
            return self.rows.requeue(wanted, changes, over, now, now + timedelta(seconds=wait))

        def end(code: LlmErrorCode) -> Row | None:
            why = Fault(code=code, message=_MESSAGES[code])
            return self._end(row, _status_of(code), why, charge, used, tried=fault)

        return self._requeued(row, requeue, end)

    def put_back(
        self, row: Row, *, wait_seconds: float = 0, together: int | None = None
    ) -> Row | None:
        """Put a row back that was not tried; one that is not wanted any more ends.

        Args:
            wait_seconds: for how long it is left alone.
            together: with how many rows it may share its next batch.
        """
        now = self.clock.now()
        changes = {} if together is None else {"together": together}

        def requeue(wanted: Row) -> Row | None:
            at = now + timedelta(seconds=wait_seconds)
            return self.rows.requeue(wanted, changes, None, now, at)

        return self._requeued(row, requeue, lambda code: self.unasked(row, code))

    def unasked(self, row: Row, code: LlmErrorCode) -> Row | None:
        """End a submitted row that was never asked."""
        return self._end(row, _status_of(code), Fault(code=code, message=_MESSAGES[code]), 0, {})

    def _requeued(
        self,
        row: Row,
        requeue: Callable[[Row], Row | None],
        end: Callable[[LlmErrorCode], Row | None],
    ) -> Row | None:
        """Put a row back, or end one that is canceled, also if that comes in between, or late."""
        if row.cancel_requested_at is not None:
            return end("canceled")
        if row.complete_by is not None and row.complete_by <= self.clock.now():
            return end("expired")
        if (after := requeue(row)) is not None:
            return after
        found = self.rows.get(row.id)
        # Its status and attempt are still those that were read, or its end has no effect.
        return end("canceled") if found and found.cancel_requested_at else None

    def _end(
        self,
        row: Row,
        status: str,
        fault: Fault | None,
        charge: int,
        more: Mapping[str, Any],
        *,
        tried: Fault | None = None,
    ) -> Row | None:
        """End a row.

        Args:
            tried: what came of its attempt, where that is not why it ends.
        """
        now = self.clock.now()
        attempts = [*row.attempts, self._over(row, tried or fault, charge, now)]
        changes = {
            **more,
            "status": status,
            "cost_nano_usd": row.cost_nano_usd + charge,
            "attempts": [one.model_dump(mode="json", exclude_none=True) for one in attempts],
        }
        if fault is not None:
            changes["error"] = fault.model_dump(mode="json")
        present = {name: value for name, value in changes.items() if value is not None}
        return self.rows.end(row, present, now)

    @staticmethod
    def _over(row: Row, fault: Fault | None, charge: int, now: datetime) -> Attempt:
        return Attempt(
            number=row.attempt, batch_id=row.batch_id, error=fault, cost_nano_usd=charge, at=now
        )


def end_unasked(
    rows: RowRepository, claims: ClaimRepository, row: Row, code: LlmErrorCode, now: datetime
) -> Row | None:
    """End a row that is in its queue, and count it as under way no more.

    Returns:
        The row; None where it had left its queue.
    """
    fault = Fault(code=code, message=_MESSAGES[code])
    changes = {"status": _status_of(code), "error": fault.model_dump(mode="json")}
    ended = rows.end(row, changes, now)
    if ended is not None:
        claims.end_queued(row.organization_id, 1)
    return ended


def _status_of(code: LlmErrorCode) -> LlmStatus:
    return "canceled" if code == "canceled" else "error"


def _charge(row: Row, usage: Usage | None) -> int:
    return row.bound_nano_usd if usage is None else cost(usage, row.price)


def _assumed(row: Row) -> Usage:
    """Return the most that a row can have used, where the provider does not say."""
    most = most_input_tokens(row.input_bytes, row.messages)
    return Usage(input_tokens=most, output_tokens=row.max_tokens, assumed=True)


def _read(text: RowInput, answer: Answer) -> tuple[RowOutput, Fault | None]:
    plain = RowOutput(raw_output=answer.text, model_reasoning=answer.reasoning)
    if text.verdict is None:
        return plain, None
    form = wire.VerdictFormat.model_validate(text.verdict)
    parsed = parse(answer.text, form, is_cut=answer.finish_reason == "length")
    if parsed.error is not None:
        return plain, Fault(code=parsed.error.code, message=parsed.error.message)
    found = {
        "reasoning": parsed.reasoning,
        "verdict_text": parsed.verdict_text,
        "parsed_verdict": parsed.parsed_verdict,
    }
    return plain.model_copy(update=found), None
