"""Draining a webhook: sending what is due to one subscriber, and to no other."""

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from math import ceil

from aws_lambda_powertools import Logger
from pydantic import ValidationError

from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part
from autotune_platform.storage.versioned_states import VersionedStates
from autotune_platform.webhooks.drains import LONGEST_DELAY_SECONDS, Drain, drain_key
from autotune_platform.webhooks.models import Delivery, Webhook, WebhookKey, key_of
from autotune_platform.webhooks.repository import DeliveryRepository, WebhookRepository
from autotune_platform.webhooks.secrets import WebhookSecrets
from autotune_platform.webhooks.sending import GONE, Attempt, WebhookSender
from autotune_platform.webhooks.waking import WakeQueue

logger = Logger()

CALLS_AT_ONCE = 8
"""Most calls to one subscriber at the same time."""

RETRY_DELAYS = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
)
"""How long after each failed attempt the next one starts; after the seventh there is none."""

DISABLED_AFTER = timedelta(days=5)
"""How long a webhook may fail without a success."""

# A call takes up to 15 s, and its outcome has to be written after it.
_LAST_START_SECONDS = 20


@part
class Deliverer:
    """Sends what is due, one webhook at a time.

    Whatever dies half-way leaves a delivery pending, which is then sent again under the same event
    id: twice at worst, never not at all.
    """

    webhooks: WebhookRepository
    deliveries: DeliveryRepository
    drains: VersionedStates
    queue: WakeQueue
    sender: WebhookSender
    secrets: WebhookSecrets
    clock: Clock = SYSTEM_CLOCK

    def drain_all(
        self, messages: Mapping[str, str], *, seconds_left: Callable[[], float]
    ) -> set[str]:
        """Drain the webhooks that messages name; return the messages that could not be read.

        Args:
            messages: the body of each message, by its id.
            seconds_left: how long this function may still run.
        """
        failed = set()
        for message_id, body in messages.items():
            try:
                key = WebhookKey.model_validate_json(body)
            except ValidationError:
                # Not one of ours: it ends among the dead letters, and holds up no other message.
                logger.exception("unreadable message", message_id=message_id)
                failed.add(message_id)
            else:
                self.drain(key, seconds_left=seconds_left)
        return failed

    def drain(self, key: WebhookKey, *, seconds_left: Callable[[], float]) -> None:
        """Send what is due to one webhook, and see that it is woken for the rest.

        Returns at once where another function is at it; that one looks again at its end.

        Args:
            seconds_left: how long this function may still run.

        Raises:
            UnavailableError: a store is busy; draining again is safe.
        """
        holder = secrets.token_hex(8)
        now = self.clock.unix()
        state = drain_key(key.webhook_id)
        taken = self.drains.change(
            state, Drain, now, lambda drain: drain.taken(holder, now, seconds=seconds_left())
        )
        if not taken:
            return
        next_due = self._work(key, seconds_left)
        ended = self.clock.unix()
        wake_at = self.drains.change(
            state, Drain, ended, lambda drain: drain.released(holder, ended, next_due=next_due)
        )
        if wake_at is not None:
            # Rounded up: a wake-up that comes before its delivery is due does nothing.
            delay = min(ceil(wake_at - ended), LONGEST_DELAY_SECONDS)
            self.queue.wake([key], delay_seconds=delay)

    def _work(self, key: WebhookKey, seconds_left: Callable[[], float]) -> float | None:
        """Do what there is to do, and return when there is more, in Unix seconds."""
        while True:
            now = self.clock.now()
            webhook = self.webhooks.get(key)
            if webhook is None or webhook.status != "active":
                done = self._end_all(key, webhook, seconds_left)
                return None if done else now.timestamp()
            sent = self._send_all(webhook, now, seconds_left)
            if seconds_left() < _LAST_START_SECONDS:
                return now.timestamp()
            if not sent:
                due = self.deliveries.next_due(key.webhook_id, after=now)
                return due.timestamp() if due else None

    def _send_all(self, webhook: Webhook, now: datetime, seconds_left: Callable[[], float]) -> int:
        """Send what is due by now as far as there is time; return how much was sent."""
        sent = 0
        current: Webhook | None = webhook
        due = self.deliveries.pending(webhook.id, until=now)
        with ThreadPoolExecutor(CALLS_AT_ONCE) as calls:
            for some in groups(due, CALLS_AT_ONCE):
                if current is None or current.status != "active":
                    break
                if seconds_left() < _LAST_START_SECONDS:
                    break
                # Once for all: what keeps derived secrets is not for several threads.
                signed_with = self.secrets.valid(current, self.clock.now())
                send = partial(self._send, current.url, signed_with)
                attempts = list(calls.map(send, some))
                sent += len(attempts)
                self._note(current, attempts)
                # Whoever disables or deletes a webhook is not sent the rest of a backlog.
                current = self.webhooks.get(key_of(webhook))
        return sent

    def _send(self, url: str, signed_with: Sequence[str], delivery: Delivery) -> Attempt:
        attempt = self.sender.send(
            url,
            event_id=delivery.event_id,
            body=delivery.body,
            secrets=signed_with,
            now=self.clock.now(),
        )
        self.deliveries.replace(delivery, after_attempt(delivery, attempt, self.clock.now()))
        return attempt

    def _note(self, webhook: Webhook, attempts: Iterable[Attempt]) -> None:
        """Store how some attempts left a webhook: failing or not, disabled or not."""
        after = after_attempts(webhook, attempts, self.clock.now())
        # An address or status that its owner has set meanwhile was not the one that was tried.
        stored = self.webhooks.change(webhook, after, unless_changed=("url", "status"))
        if stored and after.status == "disabled":
            logger.warning("webhook disabled", webhook_id=webhook.id, reason=after.disabled_reason)

    def _end_all(
        self, key: WebhookKey, webhook: Webhook | None, seconds_left: Callable[[], float]
    ) -> bool:
        """End what is pending for a webhook that is sent nothing; return whether that is all."""
        ended = {
            "status": "failed",
            "due_at": None,
            "last_error": "webhook_disabled" if webhook else "webhook_deleted",
        }
        with ThreadPoolExecutor(CALLS_AT_ONCE) as writes:
            for some in groups(self.deliveries.pending(key.webhook_id), CALLS_AT_ONCE):
                if seconds_left() < _LAST_START_SECONDS:
                    return False
                after = [one.model_copy(update=ended) for one in some]
                list(writes.map(self.deliveries.replace, some, after))
        return True


def after_attempt(delivery: Delivery, attempt: Attempt, now: datetime) -> Delivery:
    """Return a delivery as an attempt left it: delivered, due again, or failed for good."""
    attempts = delivery.attempts + 1
    due_at = next_attempt(attempts, now) if attempt.error else None
    return delivery.model_copy(
        update={
            "status": "delivered" if attempt.error is None else "pending" if due_at else "failed",
            "attempts": attempts,
            "due_at": due_at,
            "last_attempt_at": now,
            "last_status": attempt.status,
            "last_error": attempt.error,
        }
    )


def after_attempts(webhook: Webhook, attempts: Iterable[Attempt], now: datetime) -> Webhook:
    """Return a webhook as some attempts that ended about together left it."""
    listed = list(attempts)
    failed = sum(attempt.error is not None for attempt in listed)
    since = failing_since(webhook.failing_since, now, succeeded=len(listed) - failed, failed=failed)
    after = webhook.model_copy(update={"failing_since": since})
    gone = any(attempt.status == GONE for attempt in listed)
    if not gone and not (failed and is_given_up(since, now)):
        return after
    reason = "gone" if gone else "failing"
    disabled = {"status": "disabled", "disabled_reason": reason, "updated_at": now}
    return after.model_copy(update=disabled)


def next_attempt(failed_attempts: int, now: datetime) -> datetime | None:
    """Return when a delivery is tried again, None if never.

    Args:
        failed_attempts: how often it has failed by now, from 1.
    """
    if failed_attempts > len(RETRY_DELAYS):
        return None
    return now + RETRY_DELAYS[failed_attempts - 1]


def failing_since(
    before: datetime | None, now: datetime, *, succeeded: int, failed: int
) -> datetime | None:
    """Return since when a webhook has failed, after some attempts that ended about together.

    One success shows that the address works, whatever failed beside it.
    """
    if succeeded:
        return None
    return (before or now) if failed else before


def is_given_up(since: datetime | None, now: datetime) -> bool:
    """Return whether a webhook has failed for so long that it is disabled."""
    return since is not None and now - since >= DISABLED_AFTER
