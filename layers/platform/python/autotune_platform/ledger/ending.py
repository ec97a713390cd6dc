"""How rows end, or go back to their queue."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from autotune.protocol import verdict_formats as wire
from autotune.protocol.limits import MAX_LLM_ATTEMPTS, MAX_LLM_REASKS
from autotune.protocol.llm_requests import LlmErrorCode, LlmStatus
from autotune.protocol.retry import RetryPolicy
from autotune_platform.ledger.attempts import Attempt, Fault
from autotune_platform.ledger.calls import Answer, Refusal
from autotune_platform.ledger.comparing import check_bound
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.parsing import PARSER_VERSION, parse
from autotune_platform.ledger.prices import cost, most_input_tokens
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.row_texts import RowInput, RowOutput
from autotune_platform.ledger.texts import RowTexts
from autotune_platform.ledger.usage import Usage
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.storage.counting import Addition

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
MESSAGES: Mapping[LlmErrorCode, str] = {
    "canceled": "it was canceled before it was answered",
    "expired": "it was still waiting at its completeBy",
    "account": "its connection was revoked",
    "platform_error": "its texts are gone",
}
"""What is said of rows that end without being asked, or not again."""


@dataclass(frozen=True)
class Ending:
    """How a row ends, as long as that is not written.

    Attributes:
        row: as it is then.
        ended: what ends it, if it is as it was read.
        texts: what is written with that.
    """

    row: Row
    ended: Addition
    texts: Sequence[Addition]


@part
class RowEnds:
    """Writes what became of rows, each once."""

    rows: RowRepository
    texts: RowTexts
    clock: Clock = SYSTEM_CLOCK

    def answered(
        self, row: Row, text: RowInput | None, answer: Answer, *, key_version: int = 0
    ) -> Row | None:
        """End a row with its answer; return it, or None where it had ended.

        Args:
            text: what it asks; None where that is gone, and then nothing of the answer is kept.
            key_version: of the key that it was asked with; 0 for none.
        """
        output, changes = self._answered(row, text, answer, key_version)
        if output is not None:
            self.texts.put(row, "output", output)
        return self.rows.end(row, changes, self.clock.now())

    def answering(
        self, row: Row, text: RowInput, answer: Answer, *, key_version: int = 0
    ) -> Ending:
        """Return how a row ends with its answer; what of that is too large is stored already."""
        output, changes = self._answered(row, text, answer, key_version)
        after, ended = self.rows.ending_with(row, changes, self.clock.now())
        texts = [] if output is None else self.texts.put_most(row, "output", output)
        return Ending(after, ended, texts)

    def refusing(self, row: Row, refusal: Refusal, *, key_version: int = 0) -> Ending:
        """Return how a row ends that is not answered, and not asked again."""
        fault = Fault(code=refusal.code, message=refusal.message)
        charge, used = _charged(row, refusal)
        changes = self._changes(row, "error", fault, charge, used, key_version=key_version)
        return Ending(*self.rows.ending_with(row, changes, self.clock.now()), [])

    def _answered(
        self, row: Row, text: RowInput | None, answer: Answer, key_version: int
    ) -> tuple[RowOutput | None, Mapping[str, Any]]:
        """Return what is stored of an answer, and what changes of its row."""
        output = parse_error = parser_version = None
        if text is not None:
            parser_version = None if text.verdict is None else PARSER_VERSION
            output, parse_error = _read(text, answer)
        counted = _counted(answer)
        is_exact = counted is not None and answer.price_times == 1
        usage = counted if counted is not None and is_exact else _assumed(row)
        charge = _charge(row, counted, answer.price_times)
        check_bound(row, charge, usage)
        more = {
            "usage": usage.model_dump(mode="json", exclude_defaults=True),
            "finish_reason": answer.finish_reason,
            "served_model": answer.served_model,
            "provider_request_id": answer.provider_request_id,
            "parse_error": parse_error and parse_error.model_dump(mode="json"),
            "parser_version": parser_version,
            **_reask(row, text, parse_error),
        }
        changes = self._changes(row, "completed", None, charge, more, key_version=key_version)
        return output, changes

    def refused(
        self, row: Row, refusal: Refusal, *, more_attempts: bool, key_version: int = 0
    ) -> Row | None:
        """End a row, or put it back; return it as it is then, None where it had ended.

        Args:
            more_attempts: whether what passes may be tried again.
            key_version: of the key that it was asked with; 0 for none, or if that is not known.
        """
        fault = Fault(code=refusal.code, message=refusal.message)
        charge, used = _charged(row, refusal)
        is_passing = refusal.code in _PASSING and row.attempt < MAX_LLM_ATTEMPTS
        if not (more_attempts and is_passing and row.may_cost(charge + row.bound_nano_usd)):
            return self._end(row, "error", fault, charge, used, key_version=key_version)
        now = self.clock.now()
        wait = max(refusal.retry_after_seconds or 0, _AGAIN.pause(row.attempt))
        over = self._over(row, fault, charge, now, key_version)

        def requeue(wanted: Row) -> Row | None:
            changes = {"cost_nano_usd": wanted.cost_nano_usd + charge}
            return self.rows.requeue(wanted, changes, over, now, now + timedelta(seconds=wait))

        def end(code: LlmErrorCode) -> Row | None:
            why = Fault(code=code, message=MESSAGES[code])
            status = status_of(code)
            return self._end(row, status, why, charge, used, tried=fault, key_version=key_version)

        return self._requeued(row, requeue, end)

    def put_back(
        self,
        row: Row,
        *,
        wait_seconds: float = 0,
        together: int | None = None,
        halved_of: str | None = None,
    ) -> Row | None:
        """Put a row back that was not tried; one that is not wanted any more ends.

        Args:
            wait_seconds: for how long it is left alone.
            together: with how many rows it may share its next batch.
            halved_of: the batch with whose rows alone it may do so.
        """
        now = self.clock.now()
        given = {"together": together, "halved_of": halved_of}
        changes = {name: value for name, value in given.items() if value is not None}

        def requeue(wanted: Row) -> Row | None:
            at = now + timedelta(seconds=wait_seconds)
            return self.rows.requeue(wanted, changes, None, now, at)

        return self._requeued(row, requeue, lambda code: self.unasked(row, code))

    def unasked(self, row: Row, code: LlmErrorCode) -> Row | None:
        """End a submitted row that was never asked."""
        return self._end(row, status_of(code), Fault(code=code, message=MESSAGES[code]), 0, {})

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
        key_version: int = 0,
    ) -> Row | None:
        """End a row; see ``_changes``."""
        changes = self._changes(
            row, status, fault, charge, more, tried=tried, key_version=key_version
        )
        return self.rows.end(row, changes, self.clock.now())

    def _changes(
        self,
        row: Row,
        status: str,
        fault: Fault | None,
        charge: int,
        more: Mapping[str, Any],
        *,
        tried: Fault | None = None,
        key_version: int = 0,
    ) -> Mapping[str, Any]:
        """Return what changes of a row that ends.

        Args:
            tried: what came of its attempt, where that is not why it ends.
        """
        now = self.clock.now()
        attempts = [*row.attempts, self._over(row, tried or fault, charge, now, key_version)]
        changes = {
            **more,
            "status": status,
            "cost_nano_usd": row.cost_nano_usd + charge,
            "attempts": [one.model_dump(mode="json", exclude_none=True) for one in attempts],
        }
        if fault is not None:
            changes["error"] = fault.model_dump(mode="json")
        return {name: value for name, value in changes.items() if value is not None}

    @staticmethod
    def _over(
        row: Row, fault: Fault | None, charge: int, now: datetime, key_version: int
    ) -> Attempt:
        return Attempt(
            number=row.attempt,
            batch_id=row.batch_id,
            key_version=key_version or None,
            error=fault,
            cost_nano_usd=charge,
            at=now,
        )


def status_of(code: LlmErrorCode) -> LlmStatus:
    """Return how a row ends that ends for a reason."""
    return "canceled" if code == "canceled" else "error"


def _charged(row: Row, refusal: Refusal) -> tuple[int, Mapping[str, Any]]:
    """Return what a row is charged that is not answered, and what is stored of its usage."""
    # It may have been done: what it costs at most is charged, and never less than the bill.
    charge = row.bound_nano_usd if refusal.may_be_paid else 0
    if not charge:
        return 0, {}
    return charge, {"usage": _assumed(row).model_dump(mode="json", exclude_defaults=True)}


def _charge(row: Row, usage: Usage | None, price_times: int) -> int:
    """Return what an answer is charged: never less than the bill.

    What nobody knows the price of is charged at its bound at least, and as the dearest that it may
    be where that is more: an answer at a dearer tier that is as long as it may be.
    """
    if usage is None:
        return row.bound_nano_usd * price_times
    found = cost(usage, row.price)
    return found if price_times == 1 else max(row.bound_nano_usd, price_times * found)


def _counted(answer: Answer) -> Usage | None:
    """Return the usage, None where it counts nothing of what was read or written.

    Some servers answer zeros in place of leaving usage out. What is paid is never charged nothing.
    """
    usage = answer.usage
    if usage is None or not usage.input_tokens:
        return None
    is_silent = not (answer.text or answer.reasoning)
    return usage if usage.output_tokens or is_silent else None


def _assumed(row: Row) -> Usage:
    """Return the most that a row can have used, where the provider does not say."""
    most = most_input_tokens(row.input_bytes, row.messages)
    return Usage(input_tokens=most, output_tokens=row.max_tokens, assumed=True)


def _reask(row: Row, text: RowInput | None, parse_error: Fault | None) -> Mapping[str, str]:
    """Return what is stored with the end of a row that is to be asked again, or why it is not.

    It is in the one write that ends the row, so that nothing can be lost between the two.
    """
    if text is None or text.verdict is None or parse_error is None:
        return {}
    if text.verdict.get("on_parse_failure") != "reask":
        return {}
    if parse_error.code == "output_cut":
        return {"reask_skipped": "output_cut"}
    if (row.reasks or 0) >= MAX_LLM_REASKS:
        return {"reask_skipped": "asked_enough"}
    return {"reask": "due"}


def _read(text: RowInput, answer: Answer) -> tuple[RowOutput, Fault | None]:
    plain = RowOutput(
        raw_output=answer.text, model_reasoning=answer.reasoning, chat_response=answer.document
    )
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
