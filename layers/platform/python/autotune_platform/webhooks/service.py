"""Keeping webhooks."""

from collections.abc import Mapping
from typing import Any

from autotune.protocol.ids import new_id
from autotune.protocol.limits import MAX_WEBHOOKS
from autotune.protocol.problems import LimitProblem
from autotune.protocol.webhooks import CreateWebhookRequest, UpdateWebhookRequest
from autotune_platform.access.models import Caller
from autotune_platform.outbound.addresses import check_url
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError, NotFoundError
from autotune_platform.runtime.parts import part
from autotune_platform.webhooks.models import Webhook, WebhookKey, key_of
from autotune_platform.webhooks.repository import WebhookRepository
from autotune_platform.webhooks.secrets import ROTATION, WebhookSecrets
from autotune_platform.webhooks.waking import WakeQueue


@part
class WebhookService:
    """Keeps an organisation's webhooks."""

    webhooks: WebhookRepository
    queue: WakeQueue
    secrets: WebhookSecrets
    admit_private: bool
    clock: Clock = SYSTEM_CLOCK

    def create(self, caller: Caller, request: CreateWebhookRequest) -> tuple[Webhook, str]:
        """Create a webhook; return it and its secret.

        Raises:
            InvalidRequestError: the URL is none that may be called.
            ConflictError: the organisation has as many webhooks as it may have.
        """
        self._check(request.url)
        now = self.clock.now()
        webhook = Webhook(
            id=new_id("whk"),
            organization_id=caller.organization_id,
            created_at=now,
            created_by=caller.key_id,
            updated_at=now,
            **_fields(request),
        )
        self._require_room(caller, taken=MAX_WEBHOOKS)
        self.webhooks.add(webhook)
        try:
            # Others may have been created between the look and the write.
            self._require_room(caller, taken=MAX_WEBHOOKS + 1)
        except ConflictError:
            self.webhooks.delete(webhook)
            raise
        return webhook, self.secrets.current(webhook)

    def get(self, caller: Caller, webhook_id: str) -> Webhook:
        """Return a webhook of the caller's organisation.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        key = WebhookKey(organization_id=caller.organization_id, webhook_id=webhook_id)
        webhook = self.webhooks.get(key)
        if webhook is None:
            raise NotFoundError(f"no webhook {webhook_id}")
        return webhook

    def list(self, caller: Caller) -> list[Webhook]:
        """Return all webhooks of the organisation, oldest first."""
        return self.webhooks.list(caller.organization_id)

    def update(self, caller: Caller, webhook_id: str, request: UpdateWebhookRequest) -> Webhook:
        """Change a webhook; a new URL, or taking it up again, forgets its failures.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
            InvalidRequestError: the URL is none that may be called.
            ConflictError: it changed at the same time.
        """
        before = self.get(caller, webhook_id)
        changes = _fields(request)
        if request.url is not None and request.url != before.url:
            self._check(request.url)
            changes["failing_since"] = None
        if request.status == "active":
            changes |= {"failing_since": None, "disabled_reason": None}
        elif request.status == "disabled" and before.status == "active":
            changes["disabled_reason"] = "requested"
        after = self._change(before, changes)
        if after.status == "disabled":
            # Its drain ends what is pending.
            self.queue.wake([key_of(after)])
        return after

    def delete(self, caller: Caller, webhook_id: str) -> None:
        """Delete a webhook with its deliveries; nothing is sent any more.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        webhook = self.get(caller, webhook_id)
        self.webhooks.delete(webhook)
        self.queue.wake([key_of(webhook)])

    def rotate_secret(self, caller: Caller, webhook_id: str) -> tuple[Webhook, str]:
        """Give a webhook its next secret; for 24 hours the one before signs, too.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
            ConflictError: it changed at the same time.
        """
        before = self.get(caller, webhook_id)
        until = self.clock.now() + ROTATION
        changes = {"secret_version": before.secret_version + 1, "previous_secret_until": until}
        after = self._change(before, changes)
        return after, self.secrets.current(after)

    def _check(self, url: str) -> None:
        check_url(url, field="url", admit_private=self.admit_private, may_have_query=True)

    def _require_room(self, caller: Caller, *, taken: int) -> None:
        count = len(self.webhooks.list(caller.organization_id))
        if count >= taken:
            raise ConflictError(
                f"the organisation has {MAX_WEBHOOKS} webhooks; delete one first",
                limit=LimitProblem(
                    name="webhooks", maximum=MAX_WEBHOOKS, unit="webhooks", actual=MAX_WEBHOOKS
                ),
            )

    def _change(self, before: Webhook, changes: Mapping[str, Any]) -> Webhook:
        after = before.model_copy(update={**changes, "updated_at": self.clock.now()})
        if not self.webhooks.change(before, after, unless_changed=["updated_at"]):
            raise ConflictError(f"webhook {before.id} changed at the same time; read it again")
        return after


def _fields(request: CreateWebhookRequest | UpdateWebhookRequest) -> dict[str, Any]:
    """Return what a request sets; each type of event once."""
    fields = request.model_dump(exclude_none=True)
    if isinstance(types := fields.get("event_types"), list):
        fields["event_types"] = tuple(dict.fromkeys(types))
    return fields
