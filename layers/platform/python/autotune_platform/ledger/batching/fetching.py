"""Fetching results of a job that has ended: copied to S3 as they are, with a key that sees them."""

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from http import HTTPStatus
from typing import Final

from aws_lambda_powertools import Logger

from autotune_platform.ledger.batching.files import LONGEST_LINE_BYTES, JobFiles
from autotune_platform.ledger.batching.stepping import Advanced, Desk, job_of, shown, state_of
from autotune_platform.ledger.job_states import JobEnd
from autotune_platform.ledger.jobs.contract import Results
from autotune_platform.ledger.jobs.session import FETCH_SECONDS, FetchError, Session
from autotune_platform.ledger.models import Batch, Connection
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part

logger = Logger()

MOST_RESULT_BYTES: Final = 5_000_000_000
"""Most bytes of one object of results; as many as each row may answer with, where that is less."""

FETCHED_WITHIN: Final = timedelta(hours=48)
"""How long results that cannot be reached are tried: they are paid. Gemini keeps a file so long."""

REFUSED_FOR: Final = timedelta(hours=72)
"""For how long results are not given up whose key is refused: somebody has time to give another."""

_PASSING: Final = frozenset({"account", "outcome_unclear", "provider_error", "rate_limited"})
# Who may not see a file is told at some that there is none.
_NOT_SEEN = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND})
# Lines of nobody may be as long as any.
_SPARE_LINES = 10
_MOST_TRIES = 12
_SPARE_SECONDS = 30


class _TooLargeError(Exception):
    """What comes is more than all rows can have been answered with."""


@part
class JobFetching:
    """Fetches results, as whole objects."""

    desk: Desk
    files: JobFiles
    clock: Clock = SYSTEM_CLOCK

    def fetch(
        self, batch: Batch, connection: Connection, seconds_left: Callable[[], float]
    ) -> Advanced:
        """Fetch the next of the results that is not there yet."""
        state, end = state_of(batch), end_of(batch)
        number = len(state.sizes)
        if number == len(end.places):
            return Advanced(self.desk.store(batch, phase="ingesting", job={"tries": 0}))
        if seconds_left() < FETCH_SECONDS + _SPARE_SECONDS:
            return Advanced(batch, 1)
        session, is_too_large = self.desk.session(connection, batch), state.is_too_large
        try:
            size, session = self._fetched(batch, connection, session)
        except _TooLargeError:
            # Another try would be as large: rows without a result are what is missing of it.
            logger.warning("results too large", batch_id=batch.id)
            size, is_too_large = 0, True
        except FetchError as error:
            refusal = shown(error.refusal, session.key)
            logger.warning("results not fetched", batch_id=batch.id, reason=refusal.message)
            if refusal.code == "account" and self.desk.has_newest_key(connection, batch):
                self.desk.pause(connection, refusal)
            tried_for = REFUSED_FOR if refusal.code == "account" else FETCHED_WITHIN
            may_pass = refusal.code in _PASSING and self.clock.now() < end.seen_at + tried_for
            if may_pass or state.tries < _MOST_TRIES:
                return self.desk.failed(batch, refusal)
            logger.warning("results given up", batch_id=batch.id, reason=refusal.message)
            size = 0
        version = session.connection.key_version
        if version != state.key_version:
            self.desk.keys.use(session.connection, batch.id)
        fetched = {
            "sizes": [*state.sizes, size],
            "tries": 0,
            "is_too_large": is_too_large,
            "key_version": version,
        }
        return Advanced(self.desk.store(batch, job=fetched))

    def _fetched(
        self, batch: Batch, connection: Connection, session: Session
    ) -> tuple[int, Session]:
        """Store the next results; with the present key where one before it may not have them.

        Returns:
            Their length, and the way that they came.

        Raises:
            FetchError: neither key fetches them.
            _TooLargeError: they are too large.
        """
        try:
            return self._copied(batch, session), session
        except FetchError as error:
            newer = self.desk.newer_session(connection, batch)
            if newer is None or not _may_be_the_keys(error):
                raise
            try:
                return self._copied(batch, newer), newer
            except FetchError as again:
                if again.refusal.code == "account":
                    self.desk.pause(connection, shown(again.refusal, newer.key))
                raise error from again

    def _copied(self, batch: Batch, session: Session) -> int:
        state, number = state_of(batch), len(state_of(batch).sizes)
        results = Results(end_of(batch).places[number])
        parts = self.desk.provider(batch).fetch(session, job_of(batch), results)
        most_bytes = min((state.rows + _SPARE_LINES) * LONGEST_LINE_BYTES, MOST_RESULT_BYTES)
        return self.files.store(batch.id, result_name(number), _at_most(parts, most_bytes))


def _at_most(parts: Iterable[bytes], most_bytes: int) -> Iterator[bytes]:
    """Yield parts until they are more than so many bytes together.

    Raises:
        _TooLargeError: they are more.
    """
    size = 0
    for some in parts:
        size += len(some)
        if size > most_bytes:
            raise _TooLargeError
        yield some


def _may_be_the_keys(error: FetchError) -> bool:
    return error.refusal.code == "account" or error.status in _NOT_SEEN


def result_name(number: int) -> str:
    """Return the name of an object of results."""
    return f"results-{number}"


def end_of(batch: Batch) -> JobEnd:
    """Return how a batch's job ended."""
    end = state_of(batch).end
    assert end is not None, "results are fetched once the job has ended"
    return end
