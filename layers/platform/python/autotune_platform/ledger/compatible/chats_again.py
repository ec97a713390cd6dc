"""Chat completions that are sent again with an idempotency key: they are answered as before.

A program that lost an answer sends the same once more. What was answered, or may have been paid, is
not asked again within a day; what cost nothing is.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from autotune.protocol.llm_requests import LlmErrorCode
from autotune_platform.ledger.call_claims import CallClaim, CallClaimRepository, CallUnderWayError
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.chats import Chat
from autotune_platform.ledger.compatible.chat_bodies import ChatBody
from autotune_platform.ledger.compatible.chat_refusals import AnswerGoneError, NoAnswerError
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.texts import RowTexts
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import IdempotencyKeyReusedError
from autotune_platform.runtime.parts import part
from autotune_platform.storage.counting import Addition

Taking = Callable[[str], Addition]
"""Returns what has a key stand for a row, by its id."""


@dataclass(frozen=True)
class AnsweredBefore:
    """What the provider answered when the same came for the first time."""

    request_id: str
    response: Mapping[str, Any]


@part
class ChatsAgain:
    """Knows what was asked with which key."""

    claims: CallClaimRepository
    rows: RowRepository
    texts: RowTexts
    clock: Clock = SYSTEM_CLOCK

    def find(
        self, organization_id: str, key: str, chat: Chat, asked: ChatBody
    ) -> AnsweredBefore | Taking:
        """Return what was answered before; where it is to be asked, what takes the key for a row.

        Raises:
            IdempotencyKeyReusedError: the key came before with another body.
            CallUnderWayError: the same is being asked.
            NoAnswerError: it has no answer, and may have been paid.
            AnswerGoneError: it was answered, and the answer is deleted.
        """
        # A token reaches one connection, and knows nothing of what is asked by others.
        key = f"{chat.connection_id} {key}"
        fingerprint = _fingerprint(chat, asked)
        now = self.clock.unix()
        before = self.claims.get(organization_id, key)
        if before is not None and before.expires_at > now:
            answered = self._answered(before, fingerprint)
            if answered is not None:
                return answered

        def taking(request_id: str) -> Addition:
            return self.claims.taking(
                organization_id,
                key,
                fingerprint=fingerprint,
                request_id=request_id,
                before=before,
                now=now,
            )

        return taking

    def _answered(self, before: CallClaim, fingerprint: str) -> AnsweredBefore | None:
        if before.fingerprint != fingerprint:
            raise IdempotencyKeyReusedError("this Idempotency-Key came before with another body")
        row = self.rows.get(before.request_id)
        if row is None:
            return None
        if not row.has_ended:
            raise CallUnderWayError
        if row.status == "completed":
            return self._answer(row)
        if row.cost_nano_usd and row.error is not None:
            code = cast("LlmErrorCode", row.error.code)  # a row ends with no other
            refusal = Refusal(code, row.error.message, may_be_paid=True)
            raise NoAnswerError(refusal, request_id=row.id)
        return None

    def _answer(self, row: Row) -> AnsweredBefore:
        answered = self.texts.output_of(row.id)
        if answered is None or answered.chat_response is None:
            raise AnswerGoneError(
                f"request {row.id} was answered, and its texts are deleted: "
                "send another Idempotency-Key to have it asked again"
            )
        return AnsweredBefore(row.id, answered.chat_response)


def _fingerprint(chat: Chat, asked: ChatBody) -> str:
    """Return a digest of what is asked, and in which form; the order of members says nothing."""
    said = [
        chat.model_dump(mode="json", exclude={"retention_days"}),
        asked.is_streamed,
        asked.with_usage,
    ]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
