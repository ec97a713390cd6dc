"""Who has to be woken by a message, and who looks by themselves."""

from datetime import datetime

from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.storage.table import Table
from autotune_platform.storage.versioned_states import VersionedStates
from autotune_platform.webhooks.drains import DRAIN_KEPT_SECONDS, Drain, drain_key
from autotune_platform.webhooks.models import WebhookKey


class DrainCalls:
    """Leaves word with whoever drains a webhook, and notes that a message is on its way."""

    def __init__(self, table: Table) -> None:
        self._drains = VersionedStates(table, kept_seconds=DRAIN_KEPT_SECONDS)

    def must_send(self, key: WebhookKey, now: datetime) -> bool:
        """Tell whether a message has to be sent so that a webhook is drained; see ``Drain``."""
        moment = now.timestamp()
        try:
            return self._drains.change(
                drain_key(key.webhook_id), Drain, moment, lambda drain: drain.called(moment)
            )
        except UnavailableError:  # many call at the same time; one message more does no harm
            return True
