"""Asking a batch's rows one by one: what stands in for a provider's batch job where there is none.

The endpoint's concurrency, rate and circuit are kept across all batches and functions, as graders'
are. An endpoint that says that there are too many calls is left alone for a while: what it said so
of was not tried, and stays in its batch.
"""

import math
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from autotune.protocol.llm_params import LlmParams
from autotune_platform.budgets.permit import Permit, SlotRefusedError
from autotune_platform.budgets.permits import CONCURRENT_CALLS, Permits, Wait
from autotune_platform.ledger.calls import Answer, Outcome, Question, Refusal
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.connections import pause
from autotune_platform.ledger.ending import RowEnds
from autotune_platform.ledger.keys import ProviderKeys
from autotune_platform.ledger.model_calls import ModelCalls
from autotune_platform.ledger.models import Connection, Row
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.row_texts import RowInput
from autotune_platform.ledger.texts import RowTexts
from autotune_platform.ledger.turns import turns_of
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import TooManyRequestsError, UnavailableError
from autotune_platform.runtime.parts import part

_SPARE_SECONDS = 10


class _RefusedError(Exception):
    """A call came to a refusal: the permit counts what it says of the endpoint."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.code)
        self.refusal = refusal


@dataclass(frozen=True)
class _Limits:
    max_concurrency: int | None
    requests_per_second: float | None


@dataclass
class Asked:
    """What one round came to.

    Attributes:
        requeued: rows that went back to their queue.
        unclear: calls that may have been paid although no answer came.
        answered: rows that were answered or refused for themselves.
        wait_seconds: how long to wait before the next round.
        is_throttled: there were too many calls: the others stay in the batch.
        retry_after_seconds: how long the endpoint asked us to wait, where it is throttled.
        is_paused: the provider refused the account: the others went back to their queue.
        is_idle: there was no permit, so that no row was looked at.
    """

    requeued: int = 0
    unclear: int = 0
    answered: int = 0
    wait_seconds: float = 0
    is_throttled: bool = False
    retry_after_seconds: float = 0
    is_paused: bool = False
    is_idle: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)


@part
class RowAsking:
    """Asks rows of one connection, on several threads."""

    rows: RowRepository
    texts: RowTexts
    ends: RowEnds
    keys: ProviderKeys
    connections: ConnectionRepository
    calls: ModelCalls
    permits: Permits
    clock: Clock = SYSTEM_CLOCK

    def ask_all(
        self, connection: Connection, rows: Iterable[Row], *, seconds_left: Callable[[], float]
    ) -> Asked:
        """Ask rows until there is no more time, or the endpoint takes no more.

        It is down, it has had too many calls, or it refuses the account.
        """
        asked = Asked()
        limits = _Limits(connection.concurrency, connection.requests_per_second)
        permit = self.permits.request(
            connection.id, limits, calls=CONCURRENT_CALLS, seconds_left=seconds_left
        )
        if isinstance(permit, Wait):
            asked.wait_seconds, asked.is_idle = max(permit.seconds, 1), True
            return asked
        key = self.keys.of(connection)

        def may_go_on() -> bool:
            enough = seconds_left() > connection.timeout_seconds + _SPARE_SECONDS
            return enough and not (asked.is_paused or asked.is_throttled or permit.is_down())

        def ask(row: Row) -> None:
            if may_go_on():
                self._ask(connection, key, row, permit, asked)

        with permit, ThreadPoolExecutor(max_workers=permit.concurrency) as threads:
            _feed(threads, ask, rows, may_go_on, permit.concurrency)
        asked.wait_seconds = permit.wait_seconds()
        return asked

    def once(
        self, connection: Connection, row: Row, text: RowInput, params: LlmParams | None = None
    ) -> Outcome:
        """Ask one row outside of any batch, whatever the circuit says.

        Args:
            params: those of the text, where they were just checked.
        """
        return self.calls.ask(connection, self.keys.of(connection), question(row, text, params))

    def permit(self, connection: Connection, *, seconds_left: Callable[[], float]) -> Permit:
        """Return a permit for one call, within the connection's limits.

        Raises:
            TooManyRequestsError: they are full.
            UnavailableError: its endpoint is down, or refuses the account.
        """
        if connection.status == "paused":
            raise UnavailableError(f"the connection is paused: {connection.paused_because}")
        limits = _Limits(connection.concurrency, connection.requests_per_second)
        permit = self.permits.request(connection.id, limits, calls=1, seconds_left=seconds_left)
        if not isinstance(permit, Wait):
            return permit
        seconds = math.ceil(max(permit.seconds, 1))
        if permit.is_down:
            raise UnavailableError(
                "the provider does not answer at present", retry_after_seconds=seconds
            )
        raise TooManyRequestsError(
            "as many calls of this connection are under way as its limits allow",
            retry_after_seconds=seconds,
        )

    def pass_on(
        self, connection: Connection, row: Row, body: Mapping[str, Any], permit: Permit
    ) -> Outcome:
        """Ask a chat completion as it was written, in the time that its permit has."""
        key = self.keys.of(connection)
        try:
            with permit.slot(is_down=_is_down):
                # It may have waited for its moment, and has a second in any case.
                seconds = max(1, min(connection.timeout_seconds, int(permit.seconds_left())))
                within = connection.model_copy(update={"timeout_seconds": seconds})
                return _answer(self.calls.pass_on(within, key, row.model, body, row.max_tokens))
        except SlotRefusedError:
            return Refusal("rate_limited", "the connection's requestsPerSecond are used up")
        except _RefusedError as error:
            return error.refusal

    def _ask(
        self, connection: Connection, key: str | None, row: Row, permit: Permit, asked: Asked
    ) -> None:
        now = self.clock.now()
        if row.cancel_requested_at is not None:
            self.ends.unasked(row, "canceled")
            return
        if row.complete_by is not None and row.complete_by <= now:
            self.ends.unasked(row, "expired")
            return
        text = self.texts.input_of(row.id)
        if text is None:
            self.ends.unasked(row, "platform_error")
            return
        try:
            with permit.slot(is_down=_is_down):
                answer = _answer(self.calls.ask(connection, key, question(row, text)))
        except SlotRefusedError:
            return
        except _RefusedError as error:
            self._refused(connection, row, error.refusal, asked)
        else:
            self.ends.answered(row, text, answer, key_version=connection.key_version)
            with asked.lock:
                asked.answered += 1

    def _refused(self, connection: Connection, row: Row, refusal: Refusal, asked: Asked) -> None:
        if refusal.code == "account":
            with asked.lock:
                if not asked.is_paused:
                    asked.is_paused = True
                    pause(self.connections, connection, refusal.message, self.clock.now())
            return
        if refusal.code == "rate_limited" and not refusal.may_be_paid:
            with asked.lock:
                asked.is_throttled = True
                longest = max(asked.retry_after_seconds, refusal.retry_after_seconds or 0)
                asked.retry_after_seconds = longest
            return
        after = self.ends.refused(
            row, refusal, more_attempts=True, key_version=connection.key_version
        )
        with asked.lock:
            asked.answered += 1
            asked.requeued += after is not None and after.status == "queued"
            asked.unclear += refusal.may_be_paid


def question(row: Row, text: RowInput, params: LlmParams | None = None) -> Question:
    """Return what a row asks, with its variables put in."""
    return Question(
        model=row.model,
        turns=turns_of(text),
        params=params or LlmParams.model_validate(text.params),
    )


def _answer(outcome: Outcome) -> Answer:
    """Return an answer.

    Raises:
        _RefusedError: there is none; the permit counts what raises.
    """
    if isinstance(outcome, Refusal):
        raise _RefusedError(outcome)
    return outcome


def _is_down(error: Exception) -> bool | None:
    """Return whether a refusal shows that the endpoint is down; None where it shows neither."""
    if not isinstance(error, _RefusedError):
        return None
    match error.refusal.code:
        case "provider_error" | "outcome_unclear" | "address_refused":
            return True
        case "rate_limited" | "account":
            return None
        case _:
            return False


def _feed(
    threads: ThreadPoolExecutor,
    work: Callable[[Row], None],
    rows: Iterable[Row],
    may_go_on: Callable[[], bool],
    at_once: int,
) -> None:
    """Have rows worked on, and read no more of them ahead than are worked on at once."""
    remaining: Iterator[Row] = iter(rows)
    running: set[Future[None]] = set()
    while may_go_on() and (row := next(remaining, None)) is not None:
        running.add(threads.submit(work, row))
        if len(running) >= at_once:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for one in done:
                one.result()
    for one in running:
        one.result()
