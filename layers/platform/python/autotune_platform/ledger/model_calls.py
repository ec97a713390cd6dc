"""Calling language models: one question, one answer, and never a second time by itself."""

import httpcore

from autotune_platform.ledger.calls import Outcome, Question, Refusal
from autotune_platform.ledger.exchanges import Exchanges, NoAnswerError
from autotune_platform.ledger.models import Connection
from autotune_platform.ledger.providers.registry import format_of
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
        sent = spoken.question(connection, key, question)
        headers = sent.headers
        if connection.bedrock is not None:
            signed = self._roles.signed(connection, "bedrock", "POST", sent.url, headers, sent.body)
            if isinstance(signed, Refusal):
                return signed
            headers = signed
        try:
            status, received, body = self._exchanges.exchange(
                "POST",
                sent.url,
                headers,
                sent.body,
                seconds=connection.timeout_seconds,
                most_bytes=MAX_ANSWER_BYTES,
            )
        except NoAnswerError as error:
            return error.refusal
        return spoken.outcome(status, received, body, key)
