"""Events that were stored beside what happened: they are published, and those of note audited."""

from collections.abc import Sequence

from autotune_platform.audit.events import EventAudit
from autotune_platform.runtime.parts import part
from autotune_platform.storage.changes import Change
from autotune_platform.webhooks.outbox import event_in
from autotune_platform.webhooks.publisher import EventPublisher


@part
class EventFollower:
    """Follows stored events."""

    publisher: EventPublisher
    audit: EventAudit

    def follow(self, changes: Sequence[Change]) -> None:
        """Publish the events that changes of a table store, and write the audit log.

        Raises:
            UnavailableError: the queue refused a message; follow them again.
            ClientError: a table refused something; the same.
        """
        events = [event_in(change) for change in changes]
        self.publisher.publish(events)
        for event in events:
            self.audit.write(
                event.organization_id,
                event_id=event.id,
                event_type=event.type,
                occurred_at=event.occurred_at,
                data=event.data,
            )
