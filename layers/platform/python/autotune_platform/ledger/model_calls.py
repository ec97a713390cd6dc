"""Calling language models: one question, one answer, and never a second time by itself."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpcore

from autotune.protocol.limits import MAX_METADATA_DEPTH
from autotune.protocol.types import nests_deeper_than
from autotune_platform.ledger.calls import HttpQuestion, Outcome, Question, Refusal
from autotune_platform.ledger.exchanges import Exchanges, NoAnswerError
from autotune_platform.ledger.models import Connection
from autotune_platform.ledger.providers.documents import document_of
from autotune_platform.ledger.providers.refusals import malformed, without_key_inside
from autotune_platform.ledger.providers.registry import format_of, openai_wire_of
from autotune_platform.ledger.roles import RoleSessions

MAX_ANSWER_BYTES = 10_000_000
"""Most bytes of an answer; what a row may answer at most is less."""


class ModelCalls:
    """Asks providers over HTTPS."""

    def __init__(self, connections: httpcore.ConnectionPool, roles: RoleSessions) -> None:
        self._exchanges = Exchanges(connections)
        self._roles = roles

    def ask(self, connection: Connection, key: str | None, question: Question) -> Outcome:
        """Ask once, within the connection's ``timeout_seconds`` in all.

        Whatever goes wrong is a ``Refusal``: nothing is raised for what the other side does. It is
        ``outcome_unclear`` where the whole question was sent and no answer came.

        Args:
            key: the connection's; None where it has none.
        """
        spoken = format_of(connection.provider)
        answered = self._exchanged(connection, spoken.question(connection, key, question))
        return answered if isinstance(answered, Refusal) else spoken.outcome(*answered, key)

    def pass_on(
        self,
        connection: Connection,
        key: str | None,
        model: str,
        body: Mapping[str, Any],
        max_tokens: int,
    ) -> Outcome:
        """Ask what somebody else has written in OpenAI's JSON; an answer has its ``document``.

        Args:
            connection: of a provider with OpenAI's wire.
            key: the connection's; None where it has none.
        """
        spoken = openai_wire_of(connection.provider)
        if spoken is None:
            return Refusal("rejected", f"{connection.provider} takes no OpenAI chat completions")
        sent = spoken.passed(connection, key, model, body, max_tokens)
        answered = self._exchanged(connection, sent)
        if isinstance(answered, Refusal):
            return answered
        outcome = spoken.outcome(*answered, key)
        if isinstance(outcome, Refusal):
            return outcome
        document = without_key_inside(document_of(answered[2]), key)
        if nests_deeper_than(document, MAX_METADATA_DEPTH):
            return malformed("the answer nests too deep")
        return replace(outcome, document=document)

    def _exchanged(
        self, connection: Connection, sent: HttpQuestion
    ) -> tuple[int, dict[str, str], bytes] | Refusal:
        headers = sent.headers
        if connection.bedrock is not None:
            signed = self._roles.signed(connection, "bedrock", "POST", sent.url, headers, sent.body)
            if isinstance(signed, Refusal):
                return signed
            headers = signed
        try:
            return self._exchanges.exchange(
                "POST",
                sent.url,
                headers,
                sent.body,
                seconds=connection.timeout_seconds,
                most_bytes=MAX_ANSWER_BYTES,
            )
        except NoAnswerError as error:
            return error.refusal
