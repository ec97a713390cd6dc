"""Where connections are stored; their keys are apart."""

from autotune_platform.ledger.models import Connection
from autotune_platform.storage.registry import EntityRepository, unchanged
from autotune_platform.storage.transactions import Condition, Put
from autotune_platform.webhooks.models import Event
from autotune_platform.webhooks.outbox import outbox_item


class ConnectionRepository(EntityRepository[Connection]):
    """Connections in the ``registry`` table."""

    model = Connection
    kind = "llc"
    listed_as = "connection"
    named = "connection"
    is_counted = True

    def change_status(self, before: Connection, after: Connection, event: Event) -> bool:
        """Store a connection of another status and the event of it together, or neither.

        Returns:
            False where it changed or went in the meantime.
        """
        as_read = Condition(exists=True, only_if={**unchanged(before), "status": before.status})
        changed = Put(item=self._item(after), condition=as_read)
        return not self._table.transact([changed, Put(item=outbox_item(event, pk=after.id))])
