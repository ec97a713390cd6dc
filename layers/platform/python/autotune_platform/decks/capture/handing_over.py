"""Handing answered calls over to capture: by their ids, since the ledger has all the rest.

It takes one brief call of a queue. What goes wrong with it is logged, an alarm counts it, and the
call that was answered knows nothing of it.
"""

import threading
from typing import TYPE_CHECKING, Final

from aws_lambda_powertools import Logger
from cachetools import TTLCache

from autotune_platform.decks.capture.settings import CaptureRepository, CaptureSettings
from autotune_platform.ledger.models import Row
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import UnavailableError

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

logger = Logger()

NOT_HANDED_OVER: Final = "a call was not handed over to capture"
"""What the log says of a call that might have been captured; an alarm counts it."""

_CACHED_ORGANIZATIONS = 1_024
_CACHED_SECONDS = 60
# A queue that fails once is left alone for so long, so that no further call waits for it.
_LEFT_ALONE_SECONDS = 30


class CaptureHandover:
    """Hears of answers, and hands over those that are drawn."""

    def __init__(
        self,
        *,
        repository: CaptureRepository,
        sqs: "SQSClient",
        queue_url: str,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._repository = repository
        self._sqs = sqs
        self._queue_url = queue_url
        self._clock = clock
        self._cache: TTLCache[str, CaptureSettings | None] = TTLCache(
            _CACHED_ORGANIZATIONS, _CACHED_SECONDS
        )
        self._lock = threading.Lock()
        self._left_alone_until = 0.0

    def answered(self, row: Row) -> None:
        """Hand a call over, if it is drawn; nothing is raised for what goes wrong with that."""
        try:
            settings = self._settings(row.organization_id)
            if settings is None or not settings.draws(row.id):
                return
            if self._clock.monotonic() < self._left_alone_until:
                logger.warning(NOT_HANDED_OVER, llm_request_id=row.id, reason="left alone")
                return
            named = f"{row.organization_id} {row.id}"
            self._sqs.send_message(QueueUrl=self._queue_url, MessageBody=named)
        except (*REFUSALS, UnavailableError):
            self._left_alone_until = self._clock.monotonic() + _LEFT_ALONE_SECONDS
            logger.warning(NOT_HANDED_OVER, llm_request_id=row.id, exc_info=True)

    def _settings(self, organization_id: str) -> CaptureSettings | None:
        """Return settings as they were up to a minute ago; who stores a sample reads them anew."""
        with self._lock:
            if organization_id in self._cache:
                return self._cache[organization_id]
        if self._clock.monotonic() < self._left_alone_until:
            return None
        found = self._repository.get(organization_id)
        with self._lock:
            self._cache[organization_id] = found
        return found
