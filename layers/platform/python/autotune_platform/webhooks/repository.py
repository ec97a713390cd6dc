"""Where webhooks are stored."""

from collections.abc import Iterable

from autotune.protocol.ids import is_id
from autotune_platform.storage.registry import entity_attributes, entity_from
from autotune_platform.storage.table import Item, Table
from autotune_platform.webhooks.models import Webhook, WebhookKey


class WebhookRepository:
    """Webhooks in the ``registry`` table, under their organisation.

    An organisation's few webhooks are one partition: publishing reads them all at once and
    strongly consistent, which no index could offer.
    """

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, webhook: Webhook) -> None:
        """Store a new webhook."""
        self._table.put_new(_webhook_item(webhook))

    def get(self, key: WebhookKey) -> Webhook | None:
        """Return a webhook of an organisation."""
        if not is_id("whk", key.webhook_id):
            return None
        item = self._table.get(_webhooks(key.organization_id), key.webhook_id)
        return entity_from(item, Webhook) if item else None

    def list(self, organization_id: str) -> list[Webhook]:
        """Return all webhooks of an organisation, oldest first, as they are now."""
        page = self._table.query(_webhooks(organization_id))
        return [entity_from(item, Webhook) for item in page.items]

    def change(self, before: Webhook, after: Webhook, *, unless_changed: Iterable[str]) -> bool:
        """Store what differs; return False where one of the fields named was changed meanwhile."""
        old, new = entity_attributes(before), entity_attributes(after)
        changes = {name: value for name, value in new.items() if value != old.get(name)}
        gone = sorted(set(old) - set(new))
        if not changes and not gone:
            return True
        expected = {name: old[name] for name in unless_changed}
        pk = _webhooks(before.organization_id)
        return self._table.update(pk, before.id, changes, remove=gone, only_if=expected) is not None

    def delete(self, webhook: Webhook) -> None:
        """Delete a webhook; its pending deliveries end on their own."""
        self._table.delete(_webhooks(webhook.organization_id), webhook.id)


def _webhooks(organization_id: str) -> str:
    return f"{organization_id}#webhooks"


def _webhook_item(webhook: Webhook) -> Item:
    return {
        "pk": _webhooks(webhook.organization_id),
        "sk": webhook.id,
        **entity_attributes(webhook),
    }
